"""What pictures show of an analysis of many columns: rows, answers by variable, numbers, what groups see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import count_observations
from correspondence._util.labels import MISSING, to_object_array
from correspondence._util.text import one_line
from correspondence.core.column_blocks import ColumnBlock
from correspondence.core.column_features import CurveColumn, LabelColumn
from correspondence.results.points import Points
from correspondence.scene.column_marks import is_plain_answer
from correspondence.scene.points import ScenePoints

__all__ = [
    "AnswerPoints",
    "GroupView",
    "ManyColumnsScene",
    "NumberArrows",
    "find_numbers",
    "find_shares",
    "has_many_columns",
    "make_columns_scene",
    "name_share",
    "write_axis_title",
]

MAX_CLEAR_VARIABLES = 8  # so many colours can be told apart; with more, answers carry the names of their variables
MAX_NAMED_ROWS = 60
CURVE_POINTS, CURVE_RANGE = 15, (0.02, 0.98)  # of a path, and the quantiles between which it is drawn
MIN_BEND = 0.05  # share of the variance of an axis that a straight line misses
CONVENTIONS = {"burt": " (Burt)", "adjusted": " (adjusted)", "joint": " (joint)"}


def has_many_columns(est: Any) -> bool:
    """Tell whether something is a fitted analysis of many columns, such as `MCA`."""
    return all(hasattr(est, name) for name in ("decomposition_", "eta2_", "variables_", "shares_"))


@dataclass(frozen=True, eq=False)
class AnswerPoints:
    """Answers of several variables as points.

    Attributes
    ----------
    points : Points
        Their coordinates, masses and contributions.
    variables : list of str
        The names of the variables.
    codes : ndarray of int of shape (m,)
        The position of the variable of each answer.
    answers : list of str
        What was answered, without the variable.
    texts : ndarray of shape (m,)
        What is written beside a point: the answer, after its variable where it could be misread without.
    shares : ndarray of shape (m,)
        The share of the rows that gave each answer; NaN where it is not known.
    lines : list of ndarray of int
        The answers of each variable that has an order, in this order.
    """

    points: Points
    variables: list[str]
    codes: np.ndarray
    answers: list[str]
    texts: np.ndarray
    shares: np.ndarray
    lines: list[np.ndarray]

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def full_texts(self) -> np.ndarray:
        """What is written where no colour tells the variable."""
        return write_answers(self.variables, self.codes, self.answers, is_coloured=False)


@dataclass(frozen=True, eq=False)
class NumberCurve:
    """A number of which the analysis takes a smooth function.

    Attributes
    ----------
    path : ndarray of shape (m, d)
        The scores that rows have on average, from low numbers to high ones.
    bends : ndarray of bool of shape (d,)
        Whether a straight line would miss much of that.
    explained : ndarray of shape (d,)
        The share of the variance of each axis that the function explains.
    """

    path: np.ndarray
    bends: np.ndarray
    explained: np.ndarray


@dataclass(frozen=True, eq=False)
class NumberArrows:
    """Numbers, by their correlations with the axes.

    Attributes
    ----------
    labels : ndarray of shape (m,)
        The names of the numbers.
    correlations : ndarray of shape (m, d)
        The correlations with the scores of the rows.
    is_supplementary : ndarray of bool of shape (m,)
        Whether the number took no part in the fit.
    groups : ndarray of int of shape (m,)
        The position of the group of each number, -1 for none.
    curves : list of NumberCurve or None
        Where the smooth function of a number puts the rows; None for numbers that are taken as they are.
    """

    labels: np.ndarray
    correlations: np.ndarray
    is_supplementary: np.ndarray
    groups: np.ndarray
    curves: list[NumberCurve | None]

    def __len__(self) -> int:
        return len(self.labels)

    def choose(self, axes: Sequence[int], least: float, most: int) -> NumberArrows:
        """Return the numbers that go most with some axes, unless their correlation with these is below `least`."""
        length = np.sqrt(self.explained[:, list(axes)].sum(axis=1))
        order = np.argsort(-length, kind="stable")
        return self.take(order[length[order] >= least][:most])

    @property
    def explained(self) -> np.ndarray:
        """The share of the variance of each axis that a number explains; 0 where that is not known."""
        straight = np.nan_to_num(self.correlations) ** 2
        for own, curve in zip(straight, self.curves, strict=True):
            if curve is not None:
                np.maximum(own, curve.explained, out=own)
        return straight

    def find_path(self, j: int, axes: Sequence[int]) -> np.ndarray | None:
        """Return the path of a number that bends on some axes; None if an arrow is enough."""
        curve = self.curves[j]
        return None if curve is None or not curve.bends[list(axes)].any() else curve.path

    def take(self, index: np.ndarray) -> NumberArrows:
        """Return some of the numbers."""
        curves = [self.curves[i] for i in index.tolist()]
        return NumberArrows(
            self.labels[index], self.correlations[index], self.is_supplementary[index], self.groups[index], curves
        )


@dataclass(frozen=True, eq=False)
class GroupView:
    """The rows as one group of columns sees them.

    Attributes
    ----------
    name : str
        The name of the group.
    position : int
        Its position among all groups, as `NumberArrows` has it.
    places : ndarray of shape (n, d)
        Standard coordinates: those that the map multiplies as it does the rows.
    """

    name: str
    position: int
    places: np.ndarray


@dataclass(frozen=True, eq=False)
class ManyColumnsScene:
    """Everything that pictures show of an analysis of many columns.

    Attributes
    ----------
    rows : ScenePoints or None
        The rows by their scores, which have variance 1; None if they are not in memory.
    row_correlations : ndarray of shape (d,)
        What makes principal coordinates of these.
    answers, supplementary : AnswerPoints or None
        The answers that took part in the fit, and those that did not.
    supplementary_rows : Points or None
        The rows that took no part in the fit.
    numbers : NumberArrows
        The numbers, of both kinds.
    groups : list of GroupView
        The rows as each group of columns sees them.
    is_barycentric : bool
        Whether answers lie at the mean of their rows, and are scaled as these are.
    """

    rows: ScenePoints | None
    row_correlations: np.ndarray
    answers: AnswerPoints | None
    supplementary: AnswerPoints | None
    supplementary_rows: Points | None
    numbers: NumberArrows
    groups: list[GroupView]
    is_barycentric: bool

    @property
    def has_row_names(self) -> bool:
        """Whether the rows are few and have names, not mere numbers."""
        if self.rows is None or self.rows.labels is None or len(self.rows) > MAX_NAMED_ROWS:
            return False
        return all(isinstance(label, str) and not label.strip().isdigit() for label in self.rows.labels.tolist())


def make_columns_scene(est: Any, X: Any = None, most: int | None = None) -> ManyColumnsScene:
    """Collect what pictures show of an analysis of many columns.

    Parameters
    ----------
    est : estimator
        The analysis.
    X : frame or array-like, optional
        Show these rows instead of those of the fit.
    most : int, optional
        If there are more rows than this, so many are drawn at random.
    """
    points = None if est._analysis.arrays is None and X is None else est.rows_ if X is None else None
    rows = _locate_rows(est, points, X, most)
    correlations = est._row_correlations if points is None else points.correlations
    is_barycentric = hasattr(est, "numbers_")
    names = list(getattr(est, "groups", None) or {})
    groups = [
        GroupView(str(name), names.index(name), np.asarray(places) / correlations)
        for name, places in (getattr(est, "partial_rows_", None) or {}).items()
    ]
    return ManyColumnsScene(
        rows,
        correlations,
        _find_answers(est),
        _find_supplementary_answers(est, is_barycentric),
        getattr(est, "supplementary_rows_", None),
        find_numbers(est, len(est.shares_)),
        groups if X is None else [],
        is_barycentric,
    )


def _locate_rows(est: Any, points: Points | None, X: Any, most: int | None) -> ScenePoints | None:
    if points is None and X is None:
        return None
    n = count_observations(X, "X") if points is None else len(points)
    scores = np.asarray(est.transform(X)) if points is None else points.standard
    rows = np.arange(n)
    if most is not None and n > most:
        rows = np.sort(np.random.default_rng(0).choice(n, most, replace=False))
    rows = rows[np.isfinite(scores[rows]).all(axis=1)]
    labels = None if points is None else to_object_array(points.labels[rows].tolist())
    return ScenePoints(np.asarray(scores[rows]), labels, None, rows, n, n)


def _list_kept_features(est: Any) -> Iterator[tuple[int, LabelColumn, int, int]]:
    """Yield the position of a variable, its column, and the positions of an answer there and among the features."""
    variable = 0
    for column, block in zip(est._analysis.features.columns, est._analysis.blocks, strict=True):
        if not isinstance(column, LabelColumn):
            continue
        kept = np.ones(column.width, bool) if block.kept is None else block.kept
        for answer in np.flatnonzero(kept).tolist():
            yield variable, column, answer, block.features.start + answer
        variable += 1


def _find_answers(est: Any) -> AnswerPoints | None:
    """Find the answers that took part in the fit."""
    found = list(_list_kept_features(est))
    if not found:
        return None
    columns = [column for column in est._analysis.features.columns if isinstance(column, LabelColumn)]
    codes = np.array([code for code, *_ in found])
    raw = [column.answers[answer] for _, column, answer, _ in found]
    shares = est._analysis.moments.mean[[feature for *_, feature in found]]
    names, answers = [str(column.name) for column in columns], [str(answer) for answer in raw]
    is_missing = np.array([answer == MISSING for answer in answers])
    lines = [np.flatnonzero((codes == j) & ~is_missing) for j, column in enumerate(columns) if column.is_ordered]
    texts = write_answers(names, codes, answers, is_coloured=len(names) <= MAX_CLEAR_VARIABLES)
    return AnswerPoints(est.columns_, names, codes, answers, texts, shares, [line for line in lines if len(line) > 1])


def _find_supplementary_answers(est: Any, is_barycentric: bool) -> AnswerPoints | None:
    """Find the answers that took no part in the fit, whose labels are all that is known of them."""
    points = getattr(est, "supplementary_columns_", None)
    if points is None:
        return None
    names = [str(name) for name in est.supplementary_eta2_]
    codes, code = [], 0
    for label in points.labels.tolist():
        while code + 1 < len(names) and not str(label).startswith(f"{names[code]}:"):
            code += 1
        codes.append(code)
    answers = [str(label).removeprefix(f"{names[c]}:") for label, c in zip(points.labels.tolist(), codes, strict=True)]
    # In an analysis of answers only, the distance from the centre says how rare an answer is: 1 / share - 1.
    shares = np.full(len(points), np.nan) if is_barycentric else 1 / (1 + points.chi2_distance**2)
    texts = write_answers(names, np.array(codes), answers, is_coloured=False)
    return AnswerPoints(points, names, np.array(codes), answers, texts, shares, [])


def write_answers(variables: list[str], codes: np.ndarray, answers: list[str], is_coloured: bool) -> np.ndarray:
    """Write answers, after their variables where nothing else says whose they are.

    Parameters
    ----------
    variables : list of str
        The names of the variables.
    codes : ndarray of int
        The position of the variable of each answer.
    answers : list of str
        The answers.
    is_coloured : bool
        Whether a legend tells the variables by their colours.
    """
    times = Counter(answers)
    texts = []
    for code, answer in zip(codes.tolist(), answers, strict=True):
        is_clear = is_coloured or (times[answer] == 1 and not is_plain_answer(answer))
        texts.append(one_line(answer if is_clear and answer != MISSING else f"{variables[code]}: {answer}"))
    return to_object_array(texts)


def find_numbers(est: Any, d: int) -> NumberArrows:
    """Find the numbers that took part in an analysis with d axes, and those that did not."""
    parts = [(getattr(est, name, None), name) for name in ("numbers_", "supplementary_numbers_")]
    found = [(numbers, name) for numbers, name in parts if numbers is not None and len(numbers.labels)]
    labels = to_object_array([str(label) for numbers, _ in found for label in numbers.labels])
    groups = getattr(est, "groups", None) or {}
    owner = {str(column): j for j, columns in enumerate(groups.values()) for column in columns}
    return NumberArrows(
        labels,
        np.vstack([np.empty((0, d)), *(numbers.correlations for numbers, _ in found)]),
        np.concatenate([np.empty(0, bool), *(np.full(len(n.labels), name != "numbers_") for n, name in found)]),
        np.array([owner.get(label, -1) for label in labels.tolist()], dtype=int),
        _find_curves(est, labels),
    )


def _find_curves(est: Any, labels: np.ndarray) -> list[NumberCurve | None]:
    """Find where the smooth functions of numbers put the rows."""
    analysis = getattr(est, "_analysis", None)
    if analysis is None or analysis.arrays is None:
        return [None] * len(labels)
    parts = zip(analysis.features.columns, analysis.blocks, analysis.arrays, strict=True)
    curves = {
        str(column.name): trace_curve(analysis, column, block, values, len(est.shares_))
        for column, block, values in parts
        if isinstance(column, CurveColumn)
    }
    return [curves.get(label) for label in labels.tolist()]


def trace_curve(analysis: Any, column: CurveColumn, block: ColumnBlock, values: np.ndarray, d: int) -> NumberCurve:
    """Trace the regression of the scores on a number, with the penalty of the analysis, from low to high."""
    whitening = analysis.whitening[block.features].toarray()
    # W W' is the inverse of the penalised covariance, times the weight of the column.
    coefficients = whitening @ (whitening.T @ analysis.axes.covariance[block.features, :d]) / block.weight
    mean = analysis.axes.mean[block.features]
    fitted = (column.expand(values) - mean) @ coefficients
    places = np.nanquantile(values, np.linspace(*CURVE_RANGE, CURVE_POINTS))
    straight = np.array([np.corrcoef(column.expand(values)[:, 0], own)[0, 1] for own in fitted.T]) ** 2
    explained = np.clip(fitted.var(axis=0), 0, 1)
    bends = explained * (1 - np.nan_to_num(straight, nan=1.0)) > MIN_BEND
    return NumberCurve((column.expand(places) - mean) @ coefficients, bends, explained)


def find_shares(est: Any) -> np.ndarray | None:
    """Return the shares of the axes in the inertia by the convention of the analysis; None if they have none."""
    return est.shares_ if np.isfinite(est.shares_).all() else None


def name_share(est: Any) -> str:
    """Say what shares of axes are shares of."""
    return f"inertia{CONVENTIONS.get(getattr(est, 'correction', ''), '')}"


def write_axis_title(est: Any, i: int) -> str:
    """Write the title of an axis, counted from 0: its share in the inertia, and by which convention."""
    if find_shares(est) is None:
        return f"Axis {i + 1}: inertia {est.inertias_[i]:.4f}{CONVENTIONS.get(getattr(est, 'correction', ''), '')}"
    return f"Axis {i + 1}: {100 * est.shares_[i]:.1f} % of {name_share(est)}"
