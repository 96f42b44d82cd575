"""The page of an analysis of many columns: answers by variable over their rows, numbers, and a table of eta2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from correspondence._util.arguments import as_frame
from correspondence._util.labels import MISSING
from correspondence._util.text import one_line
from correspondence.core.column_features import LabelColumn
from correspondence.describe.axes import describe_axes
from correspondence.describe.axis_words import AxisWords, find_axis_words
from correspondence.page.clouds import Cloud, add_data, limit_columns
from correspondence.page.column_marks import MAX_AXES_LISTED, MAX_NUMBERS, StructureRow, pack_number_marks
from correspondence.page.data_columns import MAX_COLUMNS_SHOWN, Column, make_column, to_texts, write_access
from correspondence.page.packing import pack_arrays, shorten_mantissas
from correspondence.page.payload import N_COLOURS, collect_arrays, count_axes, describe_cloud
from correspondence.results.evidence import Component
from correspondence.results.points import Points
from correspondence.scene.colours import list_variable_colours
from correspondence.scene.column_marks import NumberMark
from correspondence.scene.groups import MISSING_COLOUR, Grouping, find_row_weights
from correspondence.scene.many_columns import (
    AnswerPoints,
    ManyColumnsScene,
    NumberArrows,
    find_shares,
    name_share,
    write_axis_title,
)
from correspondence.scene.points import ScenePoints, list_maps

__all__ = [
    "adjust_components",
    "find_answer_words",
    "list_column_facts",
    "list_eta2",
    "make_column_clouds",
    "name_groups",
    "pack_columns_payload",
    "write_column_sentences",
]

MAX_ANSWERS = 600
MAX_PAIRED_ANSWERS = 300  # of which the page knows how often each goes with each
MAX_NAMED_COLUMNS = 3  # in a sentence about an axis
MAX_PARTIAL_POINTS = 100_000  # rows as groups of columns see them
NO_ANSWER = "\N{EN DASH}"
MIN_ROWS_TO_HOLD_OUT = 20
MAX_CELLS_TO_HOLD_OUT = 200_000  # of the table, up to which axes are fitted again to parts of the rows


def make_column_clouds(
    est: Any,
    scene: ManyColumnsScene,
    names: tuple[str, ...],
    grouping: Grouping | None = None,
    groups: Any = None,
    X: Any = None,
    data: Any = None,
) -> list[Cloud]:
    """Make the points of rows (of X), with their groups, and answers, and of those that took no part in the fit."""
    d = len(est.shares_)
    rows = _make_row_cloud(est, scene, names[0], d, X)
    if data is not None and scene.rows is None:
        raise ValueError("data must be left out if the rows are not in memory: give some rows as X.")
    [rows] = limit_columns(add_data([rows], data, None if X is not None else est))
    if grouping is not None:
        own = grouping.codes[rows.points.rows]
        codes = np.where(own < 0, len(grouping.names), own).astype(np.uint32)
        # Clusters were found in the axes: they are no evidence of their own.
        column = Column(name_groups(groups), codes, [*to_texts(grouping.names), MISSING])
        rows = add_group_column(rows, replace(column, is_beside=not hasattr(groups, "labels_")))
    clouds = [rows, _make_answer_cloud(scene.answers, est, names[1], "y", d)]
    if scene.supplementary is not None:
        clouds.append(_make_answer_cloud(scene.supplementary, est, f"supplementary {names[1]}", "ys", d))
    if scene.supplementary_rows is not None:
        clouds.append(_make_passive_rows(scene.supplementary_rows, f"supplementary {names[0]}"))
    return clouds


def add_group_column(rows: Cloud, groups: Column) -> Cloud:
    """Add the groups to the columns of the rows, last, and in the place of a column that says the same."""
    twins = [column for column in rows.columns if is_same_column(column, groups)]
    others = [column for column in rows.columns if not any(column is twin for twin in twins)]
    if twins:
        groups = replace(groups, name=twins[0].name, is_beside=twins[0].is_beside)
    return replace(rows, columns=[*others, groups])


def is_same_column(column: Column, groups: Column) -> bool:
    """Tell whether a column has the names of the groups as its labels, row by row, however it writes missing ones."""
    texts = []
    for labels, codes in ((column.labels, column.values), (groups.labels, groups.values)):
        if labels is None:
            return False
        known = ["" if label in (MISSING, NO_ANSWER) else label for label in labels]
        texts.append(np.array(known, dtype=object)[codes])
    return bool((texts[0] == texts[1]).all())


def name_groups(groups: Any) -> str:
    """Return what the groups of rows are called: the name of their column, if it has one."""
    name = getattr(groups, "name", None)
    return to_texts([name])[0] if isinstance(name, str) else "cluster" if hasattr(groups, "labels_") else "group"


def _make_row_cloud(est: Any, scene: ManyColumnsScene, name: str, d: int, X: Any) -> Cloud:
    if scene.rows is None:
        empty = ScenePoints(np.empty((0, d)), None, None, np.arange(0), 0, 0)
        return Cloud("x", name, empty, None, False, is_faint=True, correlations=scene.row_correlations)
    labels = to_texts(scene.rows.labels) if scene.rows.labels is not None and scene.has_row_names else None
    columns = _list_row_values(est, scene, X)
    positions = est._row_positions[scene.rows.rows] if X is None else None
    return Cloud(
        "x",
        name,
        scene.rows,
        labels,
        labels is not None,
        columns,
        is_faint=True,
        correlations=scene.row_correlations,
        positions=positions,
    )


def _list_row_values(est: Any, scene: ManyColumnsScene, X: Any) -> list[Column]:
    """List what each row answered, if it is in memory and the columns are few."""
    features = est._analysis.features
    columns, arrays = features.columns, est._analysis.arrays if X is None else features.read(X)
    assert scene.rows is not None
    if arrays is None:
        return []
    values = []
    is_frame = X is not None and as_frame(X, "X") is not None
    is_array = not is_frame and [column.name for column in columns] == list(range(len(columns)))
    for column, array in list(zip(columns, arrays, strict=True))[:MAX_COLUMNS_SHOWN]:
        own = array[scene.rows.rows]
        if isinstance(column, LabelColumn):
            answers = [*to_texts(column.answers), NO_ANSWER]  # the last is for missing ones, whose code is negative
            codes = np.where(own < 0, len(answers) - 1, own).astype(np.uint32)
            read = Column(str(column.name), codes, answers)
        else:
            read = make_column(str(column.name), np.asarray(own, dtype=float))
        values.append(replace(read, at=f"[:, {column.name}]" if is_array else write_access(column.name)))
    return values


def _make_answer_cloud(answers: AnswerPoints | None, est: Any, name: str, role: str, d: int) -> Cloud:
    """Make the cloud of answers, of very many those that contribute most."""
    if answers is None:
        return Cloud(role, name, ScenePoints(np.empty((0, d)), None, np.empty(0), np.arange(0), 0, 0), [], True)
    points, n = answers.points, len(answers)
    is_active = role == "y"
    weight = np.nan_to_num(points.contributions).sum(axis=1) if is_active else (points.principal**2).sum(axis=1)
    known = np.flatnonzero(np.isfinite(points.standard).all(axis=1))
    kept = np.sort(known[np.argsort(-weight[known], kind="stable")[:MAX_ANSWERS]])
    mass = points.mass[kept] if is_active else None
    seen = ScenePoints(points.standard[kept], answers.texts[kept], mass, kept, n, n)
    counts = answers.shares[kept] * est._analysis.moments.n
    columns = [
        Column("variable", answers.codes[kept].astype(np.uint32), to_texts(answers.variables)),
        make_column("answer", np.array(answers.answers, dtype=object)[kept]),
    ]
    if np.isfinite(counts).all():
        columns.append(make_column("rows", np.round(counts, 6)))
    return Cloud(
        role,
        name,
        seen,
        to_texts(answers.full_texts[kept]),
        True,
        columns,
        classes=answers.codes[kept].astype(np.int16) if is_active else None,
        correlations=points.correlations,
        row_shares=answers.shares[kept] if np.isfinite(counts).all() else None,
        contributions=points.contributions[kept] if is_active else None,
        cos2=points.cos2[kept],
        short_labels=to_texts(write_short_answers(answers)[kept]),
    )


def write_short_answers(answers: AnswerPoints) -> np.ndarray:
    """Write answers, after their variable where another has the same; a page has no legend beside the points."""
    times = Counter(answers.answers)
    is_shared = np.array([times[answer] > 1 for answer in answers.answers], dtype=bool)
    return np.where(is_shared, answers.full_texts, answers.texts)


def _make_passive_rows(points: Points, name: str) -> Cloud:
    seen = ScenePoints.from_places(points.standard, points.labels)
    return Cloud("xs", name, seen, to_texts(points.labels[seen.rows]), True, correlations=points.correlations)


def adjust_components(rows: list[Component], est: Any) -> list[Component]:
    """Return the components with inertias and shares by the convention of the analysis."""
    shares = find_shares(est)
    return [
        replace(row, pic=float(est.inertias_[i]), share=None if shares is None else float(shares[i]))
        for i, row in enumerate(rows)
    ]


def pack_columns_payload(
    est: Any,
    scene: ManyColumnsScene,
    clouds: list[Cloud],
    rows: list[Component],
    names: tuple[str, ...],
    fitted: str,
    grouping: Grouping | None = None,
) -> str:
    """Pack everything that the script needs, as `pack_arrays` writes it.

    Parameters
    ----------
    est : estimator
        The analysis.
    scene : ManyColumnsScene
        What is shown of it.
    clouds : list of Cloud
        The points, as `make_column_clouds` returns them.
    rows : list of Component
        The components.
    names : tuple of str
        What rows and answers are called.
    fitted : str
        What the correlations of the fit are called.
    grouping : Grouping, optional
        The groups of the rows, which are the last of their columns.
    """
    kept = count_axes(rows, clouds)
    variables = [] if scene.answers is None else scene.answers.variables
    colours = list_variable_colours(len(variables))
    content: dict[str, Any] = {
        "names": names,
        "kept": kept,
        "axes": [asdict(row) for row in rows[:kept]],
        "titles": [write_axis_title(est, i) for i in range(kept)],
        "classes": {"names": to_texts(variables), "colours": colours} if variables else None,
        "fitted": fitted,
        "many": {"barycentric": scene.is_barycentric, "colours": list_variable_colours(N_COLOURS)}
        | _describe_groups(clouds[0], grouping),
        "by": "posterior",
        "scaled": False,
        "claims": True,
        "learned": None,
        "maps": list_maps(has_mass=False),
        "clouds": [describe_cloud(cloud) for cloud in clouds],
        "joined": _list_joined(scene, clouds[1]),
    }
    arrays = collect_arrays(kept, clouds)
    weights = None if scene.rows is None else find_row_weights(est, scene)
    if weights is not None:
        arrays["0.weights"] = shorten_mantissas(weights[clouds[0].points.rows])
    numbers = scene.numbers.choose(range(kept), 0.0, MAX_NUMBERS)
    more, data = pack_number_marks([("x", mark) for mark in _list_number_marks(numbers)], kept)
    for said, colour in zip(more.get("numbers", []), _choose_number_colours(numbers, len(variables)), strict=True):
        said["colour"] = colour
    views, places = _pack_group_views(scene, kept)
    content["many"] |= views
    return pack_arrays(content | more, arrays | data | places | _collect_pairs(est, clouds[1]))


def _pack_group_views(scene: ManyColumnsScene, kept: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Pack where each group of columns sees the rows that are shown, if these are not too many."""
    n = 0 if scene.rows is None else len(scene.rows.rows)
    if scene.rows is None or not scene.groups or n * len(scene.groups) > MAX_PARTIAL_POINTS:
        return {}, {}
    palette = list_variable_colours(max(group.position for group in scene.groups) + 1)
    said = [{"name": group.name, "colour": palette[group.position]} for group in scene.groups]
    places = np.vstack([group.places[scene.rows.rows, :kept] for group in scene.groups])
    return {"groups": said}, {"groups.places": shorten_mantissas(places)}


def _describe_groups(cloud: Cloud, grouping: Grouping | None) -> dict[str, Any]:
    """Describe the groups of the rows: which column they are, and their colours."""
    if grouping is None:
        return {"grouping": None}
    return {"grouping": {"column": len(cloud.columns) - 1, "colours": [*grouping.colours, MISSING_COLOUR]}}


def _list_joined(scene: ManyColumnsScene, cloud: Cloud) -> list[list[int]]:
    """List the answers of ordered variables in their order, as positions in their cloud."""
    if scene.answers is None:
        return []
    position = {row: i for i, row in enumerate(cloud.points.rows.tolist())}
    return [[position[row] for row in line.tolist() if row in position] for line in scene.answers.lines]


def _choose_number_colours(numbers: NumberArrows, n_variables: int) -> list[str | None]:
    """Choose colours for numbers that have groups, or paths, which cross; others have that of texts."""
    if (numbers.groups >= 0).any():
        palette = list_variable_colours(int(numbers.groups.max()) + 1)
        return [palette[group] if group >= 0 else None for group in numbers.groups.tolist()]
    if any(curve is not None for curve in numbers.curves):
        return [*list_variable_colours(n_variables + len(numbers))[n_variables:]]
    return [None] * len(numbers)


def _list_number_marks(numbers: NumberArrows) -> list[NumberMark]:
    """Make marks of numbers, as the page draws them."""
    d = numbers.correlations.shape[1]
    marks = []
    for j, label in enumerate(numbers.labels.tolist()):
        name = f"{label} (supplementary)" if numbers.is_supplementary[j] else str(label)
        straight, curve = np.nan_to_num(numbers.correlations[j]), numbers.curves[j]
        mark = NumberMark(name, 0, straight, np.zeros(d, bool), np.empty((0, d)), np.empty(0), numbers.explained[j])
        marks.append(mark if curve is None else replace(mark, bends=curve.bends, path=curve.path))
    return marks


def _collect_pairs(est: Any, cloud: Cloud) -> dict[str, np.ndarray]:
    """Collect how much more often two answers go together than by chance, if they are not too many."""
    analysis, n = est._analysis, len(cloud)
    if not n or n > MAX_PAIRED_ANSWERS:
        return {}
    blocks = [block for block in analysis.blocks if block.kind == "labels"]
    kept = [np.arange(b.features.start, b.features.stop)[slice(None) if b.kept is None else b.kept] for b in blocks]
    features = np.concatenate(kept)[cloud.points.rows]
    mean = analysis.moments.mean[features]
    together = analysis.moments.cov[np.ix_(features, features)] + np.outer(mean, mean)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.nan_to_num(np.maximum(together, 0) / np.outer(mean, mean))
    return {"pairs": shorten_mantissas(ratios)}


def list_column_facts(est: Any, scene: ManyColumnsScene, clouds: list[Cloud]) -> list[tuple[str, str]]:
    """List figures, each with its name."""
    facts = [("rows", f"{est._analysis.moments.n:,.10g}"), ("columns", f"{len(est.variables_):,}")]
    if len(clouds[0]) < clouds[0].points.total:
        facts.append(clouds[0].count())
    facts += [cloud.count() for cloud in clouds[1:] if len(cloud)]
    if len(scene.numbers):
        facts.append(("numbers" if len(scene.numbers) > 1 else "number", f"{len(scene.numbers):,}"))
    return [*facts, (f"total {name_share(est)}", f"{est.total_inertia_:.4g}")]


def find_answer_words(est: Any, scene: ManyColumnsScene) -> list[AxisWords]:
    """Find what the axes separate: the answers and numbers that contribute most at each end."""
    texts: list[str] = []
    places, mass = [np.empty((0, len(est.pics_)))], [np.empty(0)]
    if scene.answers is not None:
        answers, scale = scene.answers, est.correlations_ if scene.is_barycentric else 1.0
        known = np.flatnonzero(np.isfinite(answers.points.standard).all(axis=1))
        texts += answers.full_texts[known].tolist()
        places.append(answers.points.standard[known] / scale)
        mass.append(answers.points.mass[known])
    numbers = getattr(est, "numbers_", None)
    if numbers is not None:  # a number lies at both ends: high at one, low at the other
        for word, sign in (("high", 1), ("low", -1)):
            texts += [f"{word} {label}" for label in numbers.labels]
            places.append(sign * numbers.correlations / est.correlations_)
            mass.append(np.ones(len(numbers.labels)))
    return list(find_axis_words(est.decomposition_, y_items=(texts, np.vstack(places), np.concatenate(mass))))


def write_column_sentences(est: Any, words: Sequence[AxisWords]) -> list[str]:
    """Say how much the first axes have of the inertia, what they separate, and which columns go with them."""
    shares, first = find_shares(est), min(2, len(est.shares_))
    if shares is None:
        told = f"The axes together explain {100 * est.explained_share_:.1f} % of the {name_share(est)}."
    else:
        told = f"Axis 1 has {100 * shares[0]:.1f} % of the {name_share(est)}"
        told += f", axis 2 {100 * shares[1]:.1f} %." if first > 1 else "."
    if "adjusted" in name_share(est):
        told += " Adjusted shares need not add up to 100 %."
    held = find_held_out_shares(est, first)
    sentences = [told]
    for i in range(first):
        order = np.argsort(-est.eta2_[:, i], kind="stable")[:MAX_NAMED_COLUMNS]
        named = [str(est.variables_[j]) for j in order]
        columns = ", ".join(f"{name} ({est.eta2_[j, i]:.2f})" for name, j in zip(named, order, strict=True))
        if held is not None and not held[i]:
            sentences.append(f"Axis {i + 1} goes most with {columns}, and with no column on held-out rows.")
            continue
        has_words = i < len(words) and words[i].y
        start = f"{words[i].write_sentence(('rows', 'answers'))} It" if has_words else f"Axis {i + 1}"
        again = "" if held is None else ", ".join(f"{held[i].get(one_line(name), 0):.2f}" for name in named)
        sentences.append(f"{start} goes most with {columns}{again and f'; on held-out rows {again}'}.")
    return sentences


def find_held_out_shares(est: Any, n_axes: int) -> list[dict[str, float]] | None:
    """Find the columns that go with the first axes on held-out rows too, and how much of these axes they explain there.

    The score of the other columns stands for the axis there. None if there are too few rows, too many, or none at all.
    """
    arrays = est._analysis.arrays
    if arrays is None or not MIN_ROWS_TO_HOLD_OUT <= len(arrays[0]) <= MAX_CELLS_TO_HOLD_OUT / len(arrays):
        return None
    described = describe_axes(est, held_out=5, axes=range(1, n_axes + 1))
    shares = []
    for axis in range(1, n_axes + 1):
        holding = {one["column"] for one in described.find_characteristics(axis)[0]}
        own: dict[str, float] = {}
        for table, name, power in ((described.variables, "eta2", 1), (described.numbers, "correlation", 2)):
            rows = table.take_rows((table["axis"] == axis) & np.isin(table["column"], list(holding)))
            own |= dict(zip(rows["column"].tolist(), (rows[f"held_out_{name}"] ** power).tolist(), strict=True))
        shares.append(own)
    return shares


def list_eta2(est: Any) -> list[StructureRow]:
    """List the share of the variance of the first axes that each column explains, the strongest first."""
    widths = {str(c.name): c.width for c in est._analysis.features.columns if isinstance(c, LabelColumn)}
    rows = [(str(name), "active", eta2) for name, eta2 in zip(est.variables_, est.eta2_, strict=True)]
    passive = [(str(name), "supplementary", eta2) for name, eta2 in getattr(est, "supplementary_eta2_", {}).items()]
    numbers = getattr(est, "supplementary_numbers_", None)
    if numbers is not None:
        squares = zip(numbers.labels, numbers.cos2, strict=True)
        passive += [(str(name), "supplementary", r2) for name, r2 in squares]
    kinds = {str(name) for name in getattr(est, "supplementary_eta2_", {})} | set(widths)
    listed = []
    for part in (rows, passive):
        for name, side, eta2 in sorted(part, key=lambda one: -float(np.nan_to_num(one[2][:2]).max(initial=0))):
            cells = ["\N{EN DASH}" if np.isnan(value) else f"{value:.2f}" for value in eta2[:MAX_AXES_LISTED]]
            n = str(widths[name]) if name in widths and side == "active" else ""
            listed.append(StructureRow(side, name, "label" if name in kinds else "number", n, cells))
    return listed
