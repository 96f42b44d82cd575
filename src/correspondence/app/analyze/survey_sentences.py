"""What an analysis of all columns of a file found, in sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

from correspondence._util.text import list_names
from correspondence.estimators.many.base import ManyColumnsEstimator
from correspondence.results.effect_texts import format_category
from correspondence.results.score_descriptions import ScoresDescription

__all__ = ["write_survey_sentences"]

MAX_AXES_IN_WORDS = 3
N_WORDS = 4  # answers and numbers that a sentence names at each end of an axis
MIN_CONTRIBUTION = 1.0  # times the average; what contributes less is not named


def write_survey_sentences(
    est: ManyColumnsEstimator, dimension: Any, held_out: Any, described: ScoresDescription
) -> list[str]:
    """Write what was found: the number of axes, what lies at their ends, which columns the others predict."""
    found = len(est.pics_) if dimension is None else dimension.n_components
    sentences = [count_axes_in_words(dimension)]
    for i in range(min(len(est.pics_), found, MAX_AXES_IN_WORDS)):
        share = f"{100 * est.shares_[i]:.1f} % of the inertia"
        holding = name_holding(described, i + 1)
        if not holding:
            sentences.append(f"Axis {i + 1} ({share}) goes with no single column on held-out rows.")
            continue
        low, high = list_ends(est, i, holding)
        sentences.append(f"Axis {i + 1} ({share}) sets {', '.join(high)} against {', '.join(low)}.")
    if held_out is None:
        return sentences
    final = held_out.r2[:, -1]
    best = np.argsort(-final)[: min(3, len(final))]
    told = [f"{held_out.names[k]} {100 * max(final[k], 0):.0f} %" for k in best]
    sentences.append(
        f"Of held-out rows the other columns predict {100 * max(float(final.mean()), 0):.0f} % of a column on average, "
        f"most of {list_names(told, 3)}."
    )
    return sentences


def count_axes_in_words(dimension: Any) -> str:
    """Say how many axes are more than chance, or that the time limit left no time to test it."""
    if dimension is None:
        return "How many axes are more than chance was not tested."
    found = dimension.n_components
    number = f"At least {found}" if dimension.at_least else found or "No"
    return f"{number} {'axis is' if found == 1 else 'axes are'} more than chance."


def name_holding(described: ScoresDescription, axis: int) -> dict[str, str]:
    """Name the answers and numbers that go with an axis by their tests, on held-out rows too; by their labels."""
    found = described.find_characteristics(axis)[0]
    answers = [(one["column"], one["category"]) for one in found if "category" in one]
    numbers = [f"{word} {one['column']}" for one in found if "category" not in one for word in ("high", "low")]
    return {f"{c}:{a}": format_category(str(c), "label", str(a)) for c, a in answers} | {text: text for text in numbers}


def list_ends(est: ManyColumnsEstimator, axis: int, holding: dict[str, str]) -> tuple[list[str], list[str]]:
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
    ends = tuple([holding[str(labels[j])] for j in strong if sign * places[j] > 0][:N_WORDS] for sign in (-1, 1))
    return ends[0] or ["the rest"], ends[1] or ["the rest"]
