"""Variables of the rows as the columns of a design: numbers as they are, categories as contrasts of their levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.labels import MISSING, to_object_array
from correspondence._util.text import list_names, short_repr
from correspondence.core.column_features import CurveColumn, FeatureColumn, LabelColumn, ManyColumns, NumberColumn
from correspondence.data.answers import MISSING_CODE, Answers, list_answers
from correspondence.data.column_kinds import decide_column_kind
from correspondence.data.column_reading import read_array_column, read_series, to_numbers
from correspondence.data.column_summary import summarise_column
from correspondence.estimators.ca.constrained.curves import bend_column, find_curves
from correspondence.estimators.many.reading import warn_of_unused_kinds

__all__ = ["Design", "RowVariable", "read_variables"]

POWERS = (".L", ".Q", ".C")  # names of polynomial contrasts, as in R; then ^4, ^5, ...


@dataclass(frozen=True, eq=False)
class RowVariable:
    """A variable of all rows of the table: numbers, NaN where they are missing, or answers.

    Attributes
    ----------
    name : object
        The name of the column.
    numbers : ndarray or None
        The numbers of the rows.
    answers : Answers or None
        The levels of the rows.
    reader : TextReader or None
        It turns texts into the numbers.
    """

    name: Any
    numbers: np.ndarray | None
    answers: Answers | None
    reader: Any = None

    @property
    def is_missing(self) -> np.ndarray:
        """Which rows have no value."""
        return np.isnan(self.numbers) if self.answers is None else self.answers.codes == MISSING_CODE  # type: ignore[arg-type]

    def make_column(self, rows: np.ndarray, weights: np.ndarray, bends: int = 0) -> tuple[FeatureColumn, np.ndarray]:
        """Make a column of features of some rows, of positive weights, and return their values beside it."""
        if self.answers is None:
            assert self.numbers is not None
            values = self.numbers[rows]
            known = ~np.isnan(values)
            mean = float(np.average(values[known], weights=weights[known])) if known.any() else 0.0
            column = NumberColumn(self.name, mean, self.reader)
            return (bend_column(column, values[known]) if bends else column), values
        codes, levels = self.answers.codes[rows], self.answers.different
        has_missing = bool((codes == MISSING_CODE).any())
        if has_missing:
            levels = levels if MISSING in levels.tolist() else to_object_array([*levels, MISSING])
            codes = np.where(codes == MISSING_CODE, levels.tolist().index(MISSING), codes)
        shares = np.bincount(codes, weights, len(levels))
        occurs = shares > 0
        codes = (np.cumsum(occurs) - 1)[codes].astype(np.int32)
        shares = shares[occurs] / shares.sum()
        return LabelColumn(self.name, levels[occurs], shares, self.answers.is_ordered, False, has_missing), codes


def read_variables(columns: Sequence[tuple[Any, Any]], argument: str) -> list[RowVariable]:
    """Read columns as numbers or categories, each as what it is; those of other kinds are left out with a warning.

    Parameters
    ----------
    columns : sequence of (name, values)
        Columns of a frame or an array, in the order of the rows of the table.
    argument : str
        Errors call the columns so.
    """
    found, unused = [], {}
    for key, column in columns:
        name = argument if key is None else key
        where = f"Column {short_repr(name)} of {argument}"
        is_series = isinstance(column, nw.Series)
        values = read_series(column, where, name) if is_series else read_array_column(column, where)
        kind = decide_column_kind(name, summarise_column(values), len(values), is_alone=False, linear=True)
        if kind.kind in ("number", "date", "duration") or (kind.kind == "constant" and _are_numbers(values)):
            numbers = to_numbers(values if kind.reader is None else kind.reader(values))
            found.append(RowVariable(name, numbers, None, kind.reader))
        elif kind.kind in ("label", "boolean", "constant"):
            found.append(RowVariable(name, None, _order_levels(column, list_answers(column, str(name)))))
        else:
            unused[name] = kind.kind
    if not found:
        kinds = list_names([f"{name} ({kind})" for name, kind in unused.items()], 5)
        advice = "Give a variable that all rows have, or leave the argument out."
        raise ValueError(f"{argument} must have a column of numbers, categories or dates, got only {kinds}. {advice}")
    warn_of_unused_kinds(unused)
    return found


def _are_numbers(values: Any) -> bool:
    try:
        to_numbers(values)
    except (TypeError, ValueError):
        return False
    return True


def _order_levels(column: Any, answers: Answers) -> Answers:
    """Put the levels of a categorical column of pandas in its own order, whose first level is the reference."""
    is_pandas = isinstance(column, nw.Series) and column.implementation.is_pandas()
    if not is_pandas or column.dtype != nw.Categorical:
        return answers
    place = {level: i for i, level in enumerate(column.to_native().cat.categories)}
    order = np.array(sorted(range(len(answers.different)), key=lambda i: place[answers.different[i]]), dtype=np.intp)
    inverse = np.append(np.argsort(order), MISSING_CODE).astype(np.int32)
    return Answers(inverse[answers.codes], answers.different[order], answers.is_ordered)


@dataclass(frozen=True, eq=False)
class Design:
    """Columns of a design, which are combinations of features of the variables.

    Attributes
    ----------
    features : ManyColumns
        It turns a frame of the variables into an indicator of each level, and the numbers.
    contrasts : ndarray of shape (number of features, p)
        The columns of the design are ``features @ contrasts``.
    expanded : ndarray of shape (n, number of features)
        The features of the rows of the fit.
    matrix : ndarray of shape (n, p)
        The design of the rows of the fit, neither centred nor weighted.
    labels : ndarray of shape (p,)
        The names of the columns of the design, such as A1 or ManagementHF.
    terms : tuple
        The names of the variables.
    term_of_column : ndarray of int of shape (p,)
        The position of the variable of each column.
    indicators : ndarray of shape (n, number of levels)
        The indicators of all levels of categories, the first ones included.
    levels : ndarray of shape (number of levels,)
        Their names, such as ManagementBF.
    answers : ndarray of shape (number of levels,)
        The levels themselves, such as BF.
    term_of_level : ndarray of int of shape (number of levels,)
        The position of the variable of each level.
    """

    features: ManyColumns
    contrasts: np.ndarray
    expanded: np.ndarray
    matrix: np.ndarray
    labels: np.ndarray
    terms: tuple[Any, ...]
    term_of_column: np.ndarray
    indicators: np.ndarray
    levels: np.ndarray
    answers: np.ndarray
    term_of_level: np.ndarray

    @classmethod
    def from_variables(
        cls,
        variables: Sequence[RowVariable],
        rows: np.ndarray,
        weights: np.ndarray,
        handle_unknown: str,
        bends: Mapping[Any, int] = MappingProxyType({}),
    ) -> Design:
        """Make the design of some rows of the table, which have positive weights.

        Parameters
        ----------
        variables : sequence of RowVariable
            The variables of all rows of the table.
        rows : ndarray of int
            The positions of the rows.
        weights : ndarray
            Their weights.
        handle_unknown : str
            What will be done with levels that were not in the fit.
        bends : dict of str to int
            The number of curves that numbers enter by, beside themselves.
        """
        made = [variable.make_column(rows, weights, bends.get(variable.name, 0)) for variable in variables]
        features = ManyColumns(tuple(column for column, _ in made), handle_unknown)
        expanded = features.expand([values for _, values in made]) if made else np.empty((len(rows), 0))
        parts = [contrast_column(*each, bends.get(each[0].name, 0)) for each in made]
        contrasts = np.zeros((features.width, sum(part.shape[1] for part, _ in parts)))
        start = 0
        for block, (part, _) in zip(features.blocks, parts, strict=True):
            contrasts[block.features, start : start + part.shape[1]] = part
            start += part.shape[1]
        of_levels = [(t, column) for t, (column, _) in enumerate(made) if isinstance(column, LabelColumn)]
        indicators = [expanded[:, features.blocks[t].features] for t, _ in of_levels]
        return cls(
            features,
            contrasts,
            expanded,
            expanded @ contrasts,
            to_object_array([label for _, labels in parts for label in labels]),
            tuple(variable.name for variable in variables),
            np.repeat(np.arange(len(parts)), [part.shape[1] for part, _ in parts]),
            np.hstack([np.empty((len(rows), 0)), *indicators]),
            to_object_array([name_level(c.name, answer) for _, c in of_levels for answer in c.answers]),
            to_object_array([answer for _, c in of_levels for answer in c.answers]),
            np.array([t for t, c in of_levels for _ in c.answers], dtype=np.intp),
        )

    @property
    def kinds(self) -> list[str]:
        """What each variable is: "number" for a straight line, "curve" or "category"."""
        kinds = {LabelColumn: "category", CurveColumn: "curve"}
        return [kinds.get(type(column), "number") for column in self.features.columns]

    @property
    def columns_of_terms(self) -> Mapping[Any, list[str]]:
        """The names of the columns of each variable."""
        return {term: self.labels[self.term_of_column == position].tolist() for position, term in enumerate(self.terms)}


def contrast_column(column: FeatureColumn, values: np.ndarray, bends: int) -> tuple[np.ndarray, list[str]]:
    """Make the contrasts of a column, and their names: as R does, polynomials for ordered levels."""
    if isinstance(column, CurveColumn):
        curves = find_curves(column, values)[:, : bends + 1]
        return curves, [str(column.name), *(f"{column.name} (curve {i})" for i in range(1, curves.shape[1]))]
    if not isinstance(column, LabelColumn):
        return np.eye(column.width), column.list_labels()
    levels = column.answers.tolist()
    if column.is_ordered and MISSING not in levels and len(levels) > 1:
        powers = [POWERS[i] if i < len(POWERS) else f"^{i + 1}" for i in range(len(levels) - 1)]
        return make_polynomials(len(levels)), [f"{column.name}{power}" for power in powers]
    return np.eye(len(levels))[:, 1:], [name_level(column.name, level) for level in levels[1:]]


def make_polynomials(k: int) -> np.ndarray:
    """Make orthonormal polynomials of degree 1, ..., k - 1 in k equidistant levels.

    Examples
    --------
    >>> make_polynomials(3).round(4)
    array([[-0.7071,  0.4082],
           [ 0.    , -0.8165],
           [ 0.7071,  0.4082]])
    """
    Q, R = np.linalg.qr(np.vander(np.arange(k) - (k - 1) / 2, increasing=True))
    polynomials = (Q * np.sign(np.diag(R)))[:, 1:]
    return np.where(np.abs(polynomials) < 1e-15, 0.0, polynomials)


def name_level(name: Any, level: Any) -> str:
    """Name a level of a variable as R does: ManagementHF; with a colon if the variable has a number, not a name."""
    return f"{name}{level}" if isinstance(name, str) else f"{name}:{level}"
