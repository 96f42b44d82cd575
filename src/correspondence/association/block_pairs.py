"""The pairs of columns of two blocks: their figures on held-out rows, and p-values; of all or once others are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from correspondence.association.coded_columns import warn_of_left_out
from correspondence.association.column_rows import MemoryRows, check_column_number
from correspondence.association.conditional_moments import compute_left_pvalues
from correspondence.association.fold_products import EqualWidths, make_blocks
from correspondence.association.given_columns import follows_from, rank_values
from correspondence.association.held_out_pairs import PairScores, judge_pairs, split_covariances
from correspondence.association.left_columns import LeftBlock, LeftColumn, leave_given, make_left_blocks
from correspondence.association.pair_moments import WhitenedBlock, whiten_block, whiten_sums
from correspondence.association.permutation_moments import compute_pvalues
from correspondence.association.rare_cells import guard_rare_cells
from correspondence.association.source_rows import SourceRows
from correspondence.association.tail_probabilities import compute_two_answer_pvalues, correct_tails
from correspondence.core.given.regression import Given
from correspondence.core.given.smooth_regression import find_smooth_functions

__all__ = ["BlockPairs", "LeftPairs", "WholePairs", "make_left_pairs"]

MAX_DIRECTIONS, MIN_DIRECTIONS, ROWS_PER_DIRECTION = 64, 8, 20  # functions of z for the spread of what is left


class BlockPairs(Protocol):
    """What can be compared block by block."""

    @property
    def blocks(self) -> Sequence[Any]:
        """The columns in blocks."""

    def take_column(self, place: int) -> Any:
        """Return a block of one column."""

    def compare(self, x: Any, y: Any, inflation: np.ndarray) -> tuple[PairScores, np.ndarray]:
        """Return the figures and the p-values of the pairs of two blocks.

        Parameters
        ----------
        x, y
            Two blocks.
        inflation : ndarray of shape (columns of x, columns of y)
            How gaps change squared covariances; see `compare_gaps`.
        """


class WholePairs:
    """Pairs of columns as they are.

    Parameters
    ----------
    rows : MemoryRows or SourceRows
        The columns.
    """

    def __init__(self, rows: MemoryRows | SourceRows) -> None:
        self.rows = rows

    @cached_property
    def blocks(self) -> list[EqualWidths]:  # noqa: D102
        return make_blocks(self.rows.features, self.rows.counts, self.rows.has_gaps)

    def take_column(self, place: int) -> EqualWidths:  # noqa: D102
        rows, features = self.rows, self.rows.features[place]
        return EqualWidths(np.array([place]), [features], [rows.counts[place]], features.width, rows.has_gaps[place])

    def compare(  # noqa: D102
        self, x: EqualWidths, y: EqualWidths, inflation: np.ndarray
    ) -> tuple[PairScores, np.ndarray]:
        products = self.rows.sum_products(x, y)
        one, other = self._whiten(x, y)
        scores = judge_pairs(split_covariances(products, one, other), one, other)
        return scores, test_pairs(self.rows, products, x, y, inflation)

    def _whiten(self, x: EqualWidths, y: EqualWidths) -> tuple[WhitenedBlock, WhitenedBlock]:
        if not x.has_gaps and not y.has_gaps:
            return whiten_block(x), whiten_block(y).swap_sides()
        of_x, of_y = self.rows.sum_pairs(x, y)
        one = whiten_sums(of_x, x.widths, x.target, has_gaps=True)
        return one, whiten_sums(of_y.swap_sides(), y.widths, y.target, has_gaps=True).swap_sides()


def test_pairs(
    rows: MemoryRows | SourceRows, products: np.ndarray, x: EqualWidths, y: EqualWidths, inflation: np.ndarray
) -> np.ndarray:
    """Compute the p-values of the pairs of columns of two blocks."""
    test = rows.test
    one, other = test.choose_block(x), test.choose_block(y)
    covariances = test.compute_covariances(products, rows.n, one, other)
    covariances = covariances / np.sqrt(inflation)[:, None, :, None]
    statistics = np.einsum("iajb,ia,jb->ij", covariances**2, one.smoothness, other.smoothness, optimize=True)
    sums = test.sums.take(x.columns[:, None]), test.sums.take(y.columns[None])
    pvalues = correct_tails(compute_pvalues(statistics, test.n, *sums), one.smoothness, other.smoothness)
    if test.n != int(test.n):
        return pvalues

    def test_again(statistic: float, i: int, j: int) -> float:
        own = test.sums.take(x.columns[i]), test.sums.take(y.columns[j])
        return float(compute_pvalues(np.array(statistic), test.n, *own))

    pvalues = guard_rare_cells(pvalues, covariances, test.n, one, other, test_again)
    (x_rows, x_signs), (y_rows, y_signs) = test.find_two_answers(one), test.find_two_answers(other)
    correlations = covariances[:, 0, :, 0] * np.outer(x_signs, y_signs)
    return compute_two_answer_pvalues(pvalues, correlations, int(test.n), x_rows, y_rows)


@dataclass(frozen=True, eq=False)
class LeftPairs:
    """Pairs of columns once others are given.

    Attributes
    ----------
    left : list of LeftColumn
        What is left of each column.
    parts : ndarray of int of shape (n,)
        The half of a fold that each row is dealt to.
    Q : ndarray of shape (m, r)
        Orthonormal functions of z on the rows of the test, the first constant.
    blocks : list of LeftBlock
        The columns in blocks.
    """

    left: list[LeftColumn]
    parts: np.ndarray
    Q: np.ndarray
    blocks: list[LeftBlock]

    def take_column(self, place: int) -> LeftBlock:  # noqa: D102
        own = self.left[place]
        return LeftBlock.from_columns(np.array([place]), [own], own.width, self.parts, self.Q)

    def compare(  # noqa: D102
        self, x: LeftBlock, y: LeftBlock, inflation: np.ndarray
    ) -> tuple[PairScores, np.ndarray]:
        one, other = x.whiten_beside(y), y.whiten_beside(x).swap_sides()
        scores = judge_pairs((x.covary(y, fold, one, other) for fold in range(len(x.folds))), one, other)
        pvalues = compute_left_pvalues(len(self.Q), x.sums, y.sums, inflation)
        return scores, correct_tails(pvalues, x.smoothness, y.smoothness)


def make_left_pairs(rows: MemoryRows) -> tuple[MemoryRows, LeftPairs]:
    """Leave what is given, and leave out columns of which nothing is left; return the rows of the others.

    Parameters
    ----------
    rows : MemoryRows
        The columns, with what is given.
    """
    assert rows.given is not None
    if rows.weights is not None:
        raise ValueError(
            "sample_weight must be whole numbers of rows with given, got others. Round them, or leave them out."
        )
    different = np.arange(len(rows.parts)) if rows.different is None else rows.different
    ranks = rank_values(rows.given.take_rows(different).data)
    given = Given.read(rows.given.data)
    candidates = [own for own in rows.columns if not follows_from(own.take_rows(different), ranks)]
    found = leave_given(replace(rows, columns=candidates), given)
    some = {own.name: left for own, left in zip(candidates, found, strict=True) if not left.is_empty}
    gone = {own.name: "given" for own in rows.columns if own.name not in some}
    warn_of_left_out({"given": list(gone)})
    kept = replace(rows, columns=[own for own in candidates if own.name in some], left_out={**rows.left_out, **gone})
    check_column_number(kept.columns, kept.left_out)
    tested = given if rows.firsts is None else given.take_rows(rows.firsts)
    most = int(np.clip(len(tested) // ROWS_PER_DIRECTION, MIN_DIRECTIONS, MAX_DIRECTIONS))
    Q = find_smooth_functions(tested.rows, tested.encoder.is_number, most)
    left = list(some.values())
    return kept, LeftPairs(left, rows.parts, Q, make_left_blocks(left, rows.parts, Q))
