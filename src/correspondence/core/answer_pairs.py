"""How often each two answers of many columns occur together: what an analysis of answers needs of the rows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.threads import count_threads, limit_blas_threads, run_in_threads
from correspondence.core.moments import Moments
from correspondence.data.answers import list_answers

__all__ = ["AnswerPairs", "count_answer_pairs", "count_part", "merge_parts"]

CELLS_PER_BATCH = 1 << 18  # indicators that are laid out at a time: few enough to stay in a core's cache


def count_answer_pairs(
    codes: Sequence[np.ndarray], widths: Sequence[int], weights: np.ndarray | None = None
) -> np.ndarray:
    """Count how often each two answers occur in the same row: the product of the indicators with themselves.

    Parameters
    ----------
    codes : sequence of ndarray of int
        The number of each row's answer, for each column; one below 0 is no answer.
    widths : sequence of int
        The number of answers of each column.
    weights : ndarray of shape (n,), optional
        The weights of the rows; each is 1 by default.

    Returns
    -------
    ndarray of shape (p, p)
        The sums of weights; p is the sum of `widths`.

    Examples
    --------
    >>> count_answer_pairs([np.array([0, 1, 1]), np.array([0, 0, -1])], [2, 1]).tolist()
    [[1.0, 0.0, 1.0], [0.0, 2.0, 1.0], [1.0, 1.0, 2.0]]
    """
    n, p = len(codes[0]), sum(widths)
    is_small = n * (p + 1) <= CELLS_PER_BATCH
    bounds = np.linspace(0, n, (1 if is_small else count_threads()) + 1).astype(int).tolist()
    parts = [slice(start, stop) for start, stop in itertools.pairwise(bounds)]
    with limit_blas_threads(not is_small):  # a batch is too small to be shared by threads
        return np.asarray(sum(run_in_threads(partial(_count_rows, codes, widths, weights), parts)))


def _count_rows(
    codes: Sequence[np.ndarray], widths: Sequence[int], weights: np.ndarray | None, rows: slice
) -> np.ndarray:
    """Lay out the indicators of some rows at a time, and multiply them with themselves."""
    p = sum(widths)
    starts = np.cumsum([0, *widths[:-1]])
    # Batches of fewer than 2**24 rows: sums of ones are exact in single precision, which takes half the time.
    dtype = np.float32 if weights is None else np.float64
    step = max(64, CELLS_PER_BATCH // (p + 1))
    room = np.empty((min(step, rows.stop - rows.start), p + 1), dtype)  # the last place is for no answer
    first = np.arange(len(room)) * (p + 1)
    total = np.zeros((p, p))
    for start in range(rows.start, rows.stop, step):
        some = slice(start, min(start + step, rows.stop))
        batch = room[: some.stop - start]
        batch.fill(0)
        cells = batch.reshape(-1)
        values: Any = 1 if weights is None else np.sqrt(weights[some])
        for own, begin in zip(codes, starts, strict=True):
            place = own[some] + begin
            if place.min() < begin:
                place[place < begin] = p
            place += first[: len(place)]
            cells[place] = values
        indicators = batch[:, :p]
        total += indicators.T @ indicators
    return total


@dataclass(frozen=True, eq=False)
class AnswerPairs:
    """The answers of some rows, and how often each two of them occur together; those of other rows can be added.

    Attributes
    ----------
    rows : int
        The number of rows.
    n : float
        Their total weight.
    answers : list of list
        The answers of each column; None is a missing one.
    sums : ndarray of shape (p,)
        The means of the indicators of all answers, times n.
    products : ndarray of shape (p, p)
        The means of the products of two indicators, times n.
    given_up : dict
        The position of a column with too many answers, and how many there were when it was given up.
    """

    rows: int
    n: float
    answers: list[list[Any]]
    sums: np.ndarray
    products: np.ndarray
    given_up: dict[int, int]

    def list_counts(self, j: int) -> dict[Any, float]:
        """Return how often each answer of a column occurs."""
        start = sum(map(len, self.answers[:j]))
        own = self.answers[j]
        return dict(zip(own, self.sums[start : start + len(own)].tolist(), strict=True))

    def find_places(self, answers: Sequence[Sequence[Any]]) -> np.ndarray:
        """Return the position of each own answer among others."""
        places, start = [], 0
        for own, other in zip(self.answers, answers, strict=True):
            position = {answer: start + i for i, answer in enumerate(other)}
            places += [position[answer] for answer in own]
            start += len(other)
        return np.array(places, dtype=np.intp)

    def align(self, answers: Sequence[list[Any]]) -> AnswerPairs:
        """Return the same counts for more answers."""
        if all(own == other for own, other in zip(self.answers, answers, strict=True)):
            return self
        p, places = sum(map(len, answers)), self.find_places(answers)
        sums, products = np.zeros(p), np.zeros((p, p))
        sums[places], products[np.ix_(places, places)] = self.sums, self.products
        return replace(self, answers=list(answers), sums=sums, products=products)

    def give_up_columns(self, limit: int, known: dict[int, int] | None = None) -> AnswerPairs:
        """Leave out those columns that are known to have too many answers, and the widest until the rest are few."""
        widths = {j: len(own) for j, own in enumerate(self.answers)}
        gone = {j: max(widths[j], size) for j, size in (known or {}).items()}
        while sum(size for j, size in widths.items() if j not in gone) > limit:
            widest = max((j for j in widths if j not in gone), key=lambda j: (widths[j], -j))
            gone[widest] = widths[widest]
        if not any(widths[j] for j in gone):
            return replace(self, given_up=gone)
        kept = np.concatenate([np.full(size, j not in gone) for j, size in widths.items()])
        answers = [[] if j in gone else own for j, own in enumerate(self.answers)]
        products = self.products[np.ix_(kept, kept)] if len(self.products) else self.products
        return replace(self, answers=answers, sums=self.sums[kept], products=products, given_up=gone)

    def make_moments(self, mapping: Any) -> Moments:
        """Make moments of linear combinations of the indicators, which are the columns of a sparse matrix."""
        return Moments.from_sums(self.n, mapping.T @ self.sums, mapping.T @ (mapping.T @ self.products.T).T)


def count_part(missing: str, limit: int, table: Any) -> AnswerPairs:
    """Count the answers of a part of a table.

    Parameters
    ----------
    missing : str
        "passive" lets a row count as much as it answered, "drop" leaves out rows with missing answers; otherwise they
        are answers of their own.
    limit : int
        The number of answers of all columns together above which the widest columns are given up.
    table : frame
        The rows.

    Returns
    -------
    AnswerPairs
        The counts of this part.

    Examples
    --------
    >>> import polars as pl
    >>> part = count_part("indicator", 100, pl.DataFrame({"drink": ["tea", None], "time": ["am", "am"]}))
    >>> part.answers, part.products.tolist()
    ([['tea', None], ['am']], [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0]])
    """
    columns = nw.from_native(table, eager_only=True).iter_columns()
    found = [list_answers(column, column.name) for column in columns]
    codes, n = [own.codes for own in found], len(found[0].codes)
    if missing == "drop":
        complete = np.logical_and.reduce([own >= 0 for own in codes])
        codes = [own[complete] for own in codes]
    answers = [own.different.tolist() for own in found]
    if missing not in ("drop", "passive"):
        for own, values in zip(codes, answers, strict=True):
            if (own < 0).any():
                own[own < 0] = len(values)
                values.append(None)
    widths = [len(own) for own in answers]
    rough = AnswerPairs(n, 0.0, answers, np.zeros(sum(widths)), np.empty((0, 0)), {}).give_up_columns(limit)
    codes = [own for j, own in enumerate(codes) if j not in rough.given_up]
    widths = [len(own) for j, own in enumerate(answers) if j not in rough.given_up]
    if not codes:
        return replace(rough, n=float(n), products=np.zeros((0, 0)))
    sums = np.concatenate([np.bincount(own[own >= 0], minlength=w) for own, w in zip(codes, widths, strict=True)])
    # With g of K answers a row has the weight g / K, and each of its indicators is K / g: the weight of their products
    # is K / g, that of the indicators 1.
    given, k = np.sum([own >= 0 for own in codes], axis=0), len(codes)
    weights = k / np.maximum(given, 1) if missing == "passive" else None
    products = count_answer_pairs(codes, widths, weights)
    return replace(rough, n=float(given.sum() / k), sums=sums.astype(np.float64), products=products)


def merge_parts(limit: int, parts: Sequence[AnswerPairs]) -> AnswerPairs:
    """Add up the counts of parts.

    Parameters
    ----------
    limit : int
        See `count_part`.
    parts : sequence of AnswerPairs
        They are of the same columns.

    Returns
    -------
    AnswerPairs
        The counts of all rows.
    """
    total = parts[0]
    for part in parts[1:]:
        gone = {j: max(total.given_up.get(j, 0), part.given_up.get(j, 0)) for j in total.given_up | part.given_up}
        total, part = total.give_up_columns(limit, gone), part.give_up_columns(limit, gone)
        answers = [list(dict.fromkeys([*a, *b])) for a, b in zip(total.answers, part.answers, strict=True)]
        one, two = total.align(answers), part.align(answers)
        total = AnswerPairs(
            one.rows + two.rows, one.n + two.n, one.answers, one.sums + two.sums, one.products + two.products, gone
        ).give_up_columns(limit, gone)
    return total
