"""Two black boxes of a table in one plane: a random forest and boosted trees on COMPAS, and where they disagree."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import correspondence as co
from correspondence.studies import markdown as md
from correspondence.studies.report import Exhibit, Line, Report, make_claim_lines, make_panels
from correspondence.studies.runs import Settings

__all__ = ["run_study"]

N_BINS = 4


def run_study(settings: Settings) -> Report:
    """Fit both models with their default settings, and compare their beliefs on held-out defendants."""
    data = co.datasets.fetch_compas()
    comparisons = [_compare_models(data, seed, settings.quick) for seed in range(settings.seeds)]
    first = comparisons[0]
    calibrations = {
        name: cca.calibration(P, data.y_test)
        for (name, cca), P in zip(first.models.items(), first.beliefs, strict=True)
    }
    sections = [
        f"Five attributes of {len(data.X_train)} defendants, and a risk of low, medium or high; {len(data.X_test)} "
        "others are held out. Settings are scikit-learn's defaults, with 500 trees in the forest.",
        md.show_picture("Both models in their common plane", "compas.png", PLANE_CAPTION),
        f"```\n{first}\n```",
        _make_prediction_table(first),
        make_calibration_table(calibrations),
        md.show_picture("Where they disagree", "compas-where.png", WHERE_CAPTION),
        make_disagreement_table(first, data),
    ]
    rows = [row for seed, comparison in enumerate(comparisons) for row in make_csv_rows(seed, comparison)]
    figures = {"": co.plot.classifiers(first), "-where": draw_disagreement(first, data)}
    return Report(rows, sections, figures, exhibits=[make_exhibit(first, calibrations)])


def make_exhibit(comparison: co.ClassifierComparison, calibrations: dict[str, co.Calibration]) -> Exhibit:
    lines = [
        Line("share of defendants on whom both models agree", held_out=float(comparison.agreement[0, 1])),
        *(
            line
            for name, result in calibrations.items()
            for line in make_claim_lines(
                f"correlation {{}}, {name}: claimed, and shown by labels",
                result.before.correlations,
                result.before.held_out.correlations,
            )
        ),
    ]
    sentence = (
        "Two models with nearly the same predictions may claim different strengths; the labels of held-out defendants "
        "tell how much of it is real."
    )
    return Exhibit("Beyond the paper: two classifiers of COMPAS", lines, sentence, "")


PLANE_CAPTION = """\
*The same defendants as each model sees them, in the colour of the class that it predicts; the boundaries are the same
for both. Right: the largest moves from one model to the other.*"""
WHERE_CAPTION = """\
*Mean disagreement (total variation between the beliefs) by attribute, in groups of about equal size, with two standard
errors.*"""


def _compare_models(data: co.datasets.Compas, seed: int, quick: bool) -> co.ClassifierComparison:
    models = {
        "forest": RandomForestClassifier(20 if quick else 500, random_state=seed),
        "boosting": HistGradientBoostingClassifier(max_iter=10 if quick else 100, random_state=seed),
    }
    fitted = {name: model.fit(data.X_train, data.y_train) for name, model in models.items()}
    return co.compare_classifiers(fitted, data.X_test, data.y_test)


def make_csv_rows(seed: int, comparison: co.ClassifierComparison) -> list[dict[str, Any]]:
    return [
        {
            "seed": seed,
            "model": name,
            **{f"correlation_{i + 1}": r for i, r in enumerate(comparison.models[name].correlations_)},
            **comparison.scores[name],
            "agreement": comparison.agreement[0, 1],
            "mean_disagreement": comparison.disagreement.mean(),
        }
        for name in comparison.names
    ]


def _make_prediction_table(comparison: co.ClassifierComparison) -> str:
    counts = comparison.table().toarray().astype(int)
    a, b = comparison.names
    header = [f"{a} \\ {b}", *map(str, comparison.classes)]
    lines = [[name, *row] for name, row in zip(comparison.classes, counts.tolist(), strict=True)]
    return md.make_section("Predictions of both", md.make_table(header, lines))


def make_calibration_table(calibrations: dict[str, co.Calibration]) -> str:
    header = ["model", "", "claimed", "on labels", "captured", "log loss", "calibration error"]
    lines: list[list[Any]] = []
    for name, result in calibrations.items():
        for what, claims in (("as it is", result.before), (f"temperature {result.temperature:.2f}", result.after)):
            claimed, shown = (
                ", ".join(f"{r:.3f}" for r in values) for values in (claims.correlations, claims.held_out.correlations)
            )
            losses = [claims.held_out.captured, claims.log_loss, claims.calibration_error]
            lines.append([name, what, claimed, shown, *losses])
    return md.make_section(
        "Do they claim too much?",
        "Correlations that the beliefs claim, beside those that the labels show; each before and after a temperature "
        "found on the other half of the labels. An overconfident model claims more than there is.",
        md.make_table(header, lines),
    )


def group_by_value(values: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Cut values into parts of about equal size, named by their range."""
    edges = np.unique(np.quantile(values, np.linspace(0, 1, N_BINS + 1)))
    part = np.searchsorted(edges[1:-1], values, side="left" if len(edges) > 2 else "right")
    members = [np.flatnonzero(part == i) for i in np.unique(part)]
    named = []
    for rows in members:
        low, high = values[rows].min(), values[rows].max()
        named.append((f"{low:g}" if low == high else f"{low:g} to {high:g}", rows))
    return named


def draw_disagreement(comparison: co.ClassifierComparison, data: co.datasets.Compas) -> Figure:
    figure, panels = make_panels((12, 3.4), 1, len(data.features), sharey=True)
    for ax, name, values in zip(panels, data.features, data.X_test.T, strict=True):
        distinct = np.unique(values)
        groups = group_by_value(values) if len(distinct) > 2 else [(f"{v:g}", values == v) for v in distinct]
        parts = [comparison.disagreement[rows] for _, rows in groups]
        errors = [2 * part.std() / np.sqrt(len(part)) for part in parts]
        ax.errorbar(range(len(parts)), [part.mean() for part in parts], errors, fmt="o", color=co.plot.ROWS, capsize=3)
        ax.set_xticks(range(len(parts)), [label for label, _ in groups], fontsize=8)
        ax.set_xlabel(name.replace("_", " "))
        ax.margins(0.15)
    panels[0].set_ylabel("Mean disagreement")
    panels[0].set_ylim(0)
    return figure


def make_disagreement_table(comparison: co.ClassifierComparison, data: co.datasets.Compas) -> str:
    lines = [
        [
            i,
            comparison.disagreement[i],
            *(str(value) for value in comparison.predictions[:, i]),
            str(data.y_test[i]),
            *(f"{value:g}" for value in data.X_test[i]),
        ]
        for i in comparison.most_index(10)
    ]
    header = ["defendant", "disagreement", *comparison.names, "truth", *data.features]
    return md.make_section("The defendants on whom they disagree most", md.make_table(header, lines))
