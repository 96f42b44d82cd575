"""What pictures show of the columns of a variable: categories at the mean of their rows, numbers as arrows or paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import chi2

from correspondence._util.arguments import take_rows
from correspondence._util.labels import MISSING
from correspondence._util.text import one_line
from correspondence.core.column_structure import ColumnStructure, find_column_kinds, summarise_columns
from correspondence.core.functions import PrincipalFunctions
from correspondence.data.readable_columns import (
    ReadableColumn,
    find_telling_words,
    is_bare_number,
    is_hash,
    read_columns,
)
from correspondence.scene.points import ScenePoints

__all__ = ["ARROW_DEVIATIONS", "CategoryMarks", "ColumnMarks", "NumberMark", "find_column_marks", "is_plain_answer"]

ARROW_DEVIATIONS = 2.0  # standard deviations above the mean at which an arrow ends
MIN_ROWS_OF_CATEGORY, MIN_SHARE_OF_CATEGORY = 5, 0.02  # fewer rows have no mean to speak of, unless rows are few
MAX_PVALUE = 0.001  # of categories and numbers that are shown, after Bonferroni's correction
MIN_ARROW_LENGTH = 0.1  # correlation with the plane
MIN_CONTRIBUTION = 0.003  # share of the variance of the axes that a category explains
PLAIN_ANSWERS = {"yes", "no", "true", "false", "none", "other", "unknown", "y", "n", "na", "n/a", MISSING}


@dataclass(frozen=True, eq=False)
class CategoryMarks:
    """Categories of all columns of a variable.

    Attributes
    ----------
    places : ndarray of shape (m, d)
        Mean of the functions over the rows of each category, in standard coordinates.
    labels : ndarray of shape (m,)
        What is written: the category, after the name of its column where it could be misread without.
    columns : list of str
        The name of the column of each category.
    counts : ndarray of shape (m,)
        Number of rows of each category.
    """

    places: np.ndarray
    labels: np.ndarray
    columns: list[str]
    counts: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, index: np.ndarray) -> CategoryMarks:
        """Return some of the categories."""
        columns = [self.columns[i] for i in index.tolist()]
        return CategoryMarks(self.places[index], self.labels[index], columns, self.counts[index])

    def choose(self, n_rows: int, axes: Sequence[int], scale: np.ndarray, most: int) -> np.ndarray:
        """Choose the categories that matter on some axes, those that contribute most first.

        Parameters
        ----------
        n_rows : int
            Number of all rows.
        axes : sequence of int
            The axes, counted from 0.
        scale : ndarray of shape (number of axes,)
            The standard deviations of the axes in the picture.
        most : int
            Choose at most this many.
        """
        there = self.places[:, axes]
        # If the rows of a category were drawn at random, count * |mean|^2 would have this distribution.
        share = np.maximum(1 - self.counts / max(1, n_rows), 1e-9)
        limit = chi2.isf(MAX_PVALUE / max(1, len(self)), len(axes))
        fewest = min(MIN_ROWS_OF_CATEGORY, MIN_SHARE_OF_CATEGORY * n_rows)
        matters = (self.counts * (there**2).sum(axis=1) / share > limit) & (self.counts >= fewest)
        weight = self.counts / max(1, n_rows) * ((there * scale) ** 2).sum(axis=1)
        matters &= weight >= MIN_CONTRIBUTION * (scale**2).sum()
        order = np.argsort(-weight, kind="stable")
        chosen = order[matters[order]]
        # A word of several columns of texts is written once, where it matters most.
        firsts = {label: i for i, label in reversed(list(zip(chosen.tolist(), self.labels[chosen], strict=True)))}
        return chosen[np.isin(chosen, list(firsts.values()))][:most]


@dataclass(frozen=True, eq=False)
class NumberMark:
    """A column of numbers.

    Attributes
    ----------
    name : str
        The name of the column.
    n : int
        Number of rows that have a number.
    correlations : ndarray of shape (d,)
        Correlations of the ranks of the column with the functions: the direction of the arrow.
    bends : ndarray of bool of shape (d,)
        Whether a straight line misses much of what the column says about a function.
    path : ndarray of shape (bins, d)
        Means of the functions in quantile bins, from the lowest to the highest.
    edges : ndarray of shape (bins + 1,)
        Where the bins begin and end.
    explained : ndarray of shape (d,)
        Share of the variance of each function that the bins explain.
    """

    name: str
    n: int
    correlations: np.ndarray
    bends: np.ndarray
    path: np.ndarray
    edges: np.ndarray
    explained: np.ndarray

    def is_path(self, axes: Sequence[int]) -> bool:
        """Tell whether the column is drawn as a path on some axes, and not as an arrow."""
        return bool(self.bends[list(axes)].any())

    def matters(self, axes: Sequence[int], n_numbers: int) -> bool:
        """Tell whether the column is worth drawing on some axes."""
        length = float((self.correlations[list(axes)] ** 2).sum())
        limit = float(chi2.isf(MAX_PVALUE / max(1, n_numbers), len(axes)))
        return self.is_path(axes) or (length >= MIN_ARROW_LENGTH**2 and self.n * length > limit)


@dataclass(frozen=True, eq=False)
class ColumnMarks:
    """What is shown of the columns of one variable.

    Attributes
    ----------
    categories : CategoryMarks
        The categories of all columns of labels, texts and lists.
    numbers : list of NumberMark
        The columns of numbers.
    n_rows : int
        Number of rows.
    left_out : list of str
        Columns about which nothing can be said: ids and constants.
    columns : list of ColumnStructure
        All other columns.
    """

    categories: CategoryMarks
    numbers: list[NumberMark]
    n_rows: int
    left_out: list[str]
    columns: list[ColumnStructure]

    @property
    def category_noun(self) -> tuple[str, str]:
        """What one category, and several of them, are called."""
        kinds = {one.column.kind for one in self.columns if not one.column.is_number}
        if kinds == {"text"}:
            return "word", "words"
        return ("item", "items") if kinds == {"list"} else ("category", "categories")

    def choose_numbers(self, axes: Sequence[int], scale: np.ndarray, most: int) -> list[NumberMark]:
        """Choose the columns of numbers that matter on some axes, the longest arrows and paths first."""
        mattering = [mark for mark in self.numbers if mark.matters(axes, len(self.numbers))]
        return sorted(mattering, key=lambda mark: -float(mark.explained[list(axes)] @ scale**2))[:most]


def find_column_marks(
    functions: PrincipalFunctions, points: ScenePoints, values: Any, side: str, with_nameless: bool = False
) -> ColumnMarks | None:
    """Find what is shown of the columns of a variable.

    Parameters
    ----------
    functions : PrincipalFunctions
        The f or g of the variable, which know what its columns are.
    points : ScenePoints
        The rows, where they lie.
    values : array-like, frame, ...
        The data that the rows were taken from.
    side : str
        Errors call the data so.
    with_nameless : bool
        Whether columns of arrays, which are called by their position, are shown too.

    Returns
    -------
    ColumnMarks or None
        None if the points are labels, or the data have no columns that could be shown.
    """
    if points.mass is not None or values is None or not len(points) or getattr(values, "ndim", 0) > 2:
        return None
    if isinstance(values, list | tuple) and not with_nameless and not _is_text_list(values):
        return None
    shown = values if len(points) == points.given else take_rows(values, points.rows)
    try:
        columns = read_columns(shown, side, find_column_kinds(functions))
    except ValueError:  # a user's model may take what cannot be read here
        return None
    columns = [column for column in columns if _is_shown(column, with_nameless)]
    if not columns:
        return None
    found = summarise_columns(columns, points.places)
    numbers = [make_number_mark(one) for one in found if one.column.is_number]
    left_out = [column.name for column in columns if not column.is_told]
    return ColumnMarks(collect_categories(found, points.places.shape[1]), numbers, len(points), left_out, found)


def _is_text_list(values: Sequence[Any]) -> bool:
    return bool(values) and isinstance(values[0], str)


def _is_shown(column: ReadableColumn, with_nameless: bool) -> bool:
    return column.is_named or column.kind == "text" or with_nameless


def make_number_mark(one: ColumnStructure) -> NumberMark:
    """Make the mark of a column of numbers."""
    parts = (one.rank_correlations, one.bends, one.path, one.edges, one.explained)
    return NumberMark(one.column.name, one.n, *parts)


def collect_categories(found: Sequence[ColumnStructure], d: int) -> CategoryMarks:
    """Collect the categories of all columns that occur."""
    groups = [leave_out_mute_categories(one) for one in found if not one.column.is_number]
    times = Counter(text for one in groups for text in one.column.categories)
    labels = [_write_category(one.column, text, times[text] > 1) for one in groups for text in one.column.categories]
    columns = [one.column.name for one in groups for _ in one.column.categories]
    places = np.vstack([np.empty((0, d)), *(one.means for one in groups)])
    counts = np.concatenate([np.empty(0, int), *(one.counts for one in groups)])
    marks = CategoryMarks(places, np.array(labels, dtype=object), columns, counts)
    return marks.take(np.flatnonzero(counts > 0))


def leave_out_mute_categories(one: ColumnStructure) -> ColumnStructure:
    """Leave out what says nothing on a map: words of texts such as "of", labels that are hashes."""
    texts = one.column.categories
    is_text = one.column.kind == "text"
    telling = find_telling_words(texts) if is_text else [i for i, text in enumerate(texts) if not is_hash(text)]
    column = replace(one.column, categories=tuple(texts[i] for i in telling))
    return replace(one, column=column, counts=one.counts[telling], means=one.means[telling])


def _write_category(column: ReadableColumn, text: str, is_ambiguous: bool) -> str:
    """Write a category, after the name of its column where it says little without."""
    if column.kind == "text":
        return one_line(text)
    if is_bare_number(text):
        return one_line(f"{column.name} {text}")
    return one_line(f"{column.name}: {text}" if is_ambiguous or is_plain_answer(text) else text)


def is_plain_answer(text: str) -> bool:
    """Tell whether a text, such as yes or 3, says nothing without the name of its column."""
    return text.lower() in PLAIN_ANSWERS or not any(letter.isalpha() for letter in text) or len(text) < 3
