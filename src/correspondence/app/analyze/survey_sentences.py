"""What an analysis of all columns of a file found, in sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

from correspondence._util.text import list_names
from correspondence.estimators.many.base import ManyColumnsEstimator
from correspondence.results.score_descriptions import ScoresDescription

__all__ = ["write_survey_sentences"]

MAX_AXES_IN_WORDS = 3
N_WORDS = 4  # answers and numbers that a sentence names at each end of an axis
MIN_CONTRIBUTION = 1.0  # times the average; what contributes less is not named


def write_survey_sentences(
    est: ManyColumnsEstimator, dimension: Any, held_out: Any, described: ScoresDescription
) -> list[str]:
    """Write what was found: the number of axes, what lies at their ends, which columns the others predict."""
    found = dimension.n_components
    verb = "is" if found == 1 else "are"
    number = f"At least {found}" if dimension.at_least else found or "No"
    sentences = [f"{number} {'axis' if found == 1 else 'axes'} {verb} more than chance."]
    for i in range(min(len(est.pics_), found, MAX_AXES_IN_WORDS)):
        share = f"{100 * est.shares_[i]:.1f} % of the inertia"
        holding = name_holding(described, i + 1)
        if not holding:
            sentences.append(f"Axis {i + 1} ({share}) goes with no single column on held-out rows.")
            continue
        low, high = list_ends(est, i, holding)
        sentences.append(f"Axis {i + 1} ({share}) sets {', '.join(high)} against {', '.join(low)}.")
    final = held_out.r2[:, -1]
    best = np.argsort(-final)[: min(3, len(final))]
    told = [f"{held_out.names[k]} {100 * max(final[k], 0):.0f} %" for k in best]
    sentences.append(
        f"Of held-out rows the other columns predict {100 * max(float(final.mean()), 0):.0f} % of a column on average, "
        f"most of {list_names(told, 3)}."
    )
    return sentences


def name_holding(described: ScoresDescription, axis: int) -> set[str]:
    """Name the answers and numbers that go with an axis by their tests, on held-out rows too."""
    found = described.find_characteristics(axis)[0]
    answers = {f"{one['column']}:{one['category']}" for one in found if "category" in one}
    return answers | {f"{word} {one['column']}" for one in found if "category" not in one for word in ("high", "low")}


def list_ends(est: ManyColumnsEstimator, axis: int, holding: set[str]) -> tuple[list[str], list[str]]:
    """List the answers and numbers that contribute most to both ends of an axis, strongest first, if they hold."""
    columns: Any = est.columns_
    labels, places = list(columns.labels), columns.standard[:, axis].tolist()
    contributions = columns.contributions[:, axis].tolist()
    numbers = getattr(est, "numbers_", None)
    if numbers is not None:
        labels += [f"high {label}" for label in numbers.labels] + [f"low {label}" for label in numbers.labels]
        places += [*numbers.correlations[:, axis].tolist(), *(-numbers.correlations[:, axis]).tolist()]
        contributions += 2 * numbers.contributions[:, axis].tolist()
    order = np.argsort(-np.array(contributions))
    least = MIN_CONTRIBUTION * np.mean(contributions)
    telling = [j for j in order.tolist() if str(labels[j]) in holding]
    strong = [j for j in telling if contributions[j] >= least] or telling
    ends = tuple([str(labels[j]) for j in strong if sign * places[j] > 0][:N_WORDS] for sign in (-1, 1))
    return ends[0] or ["the rest"], ends[1] or ["the rest"]
