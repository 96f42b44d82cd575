"""What is left of features of columns once others are given: on all rows for tests, and in each fold for figures."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from correspondence._util.threads import count_threads, limit_blas_threads, run_in_threads
from correspondence.association.coded_columns import CodedColumn
from correspondence.association.column_rows import MemoryRows
from correspondence.association.conditional_moments import MAX_LEVERAGE, LeftSums
from correspondence.association.fold_products import group_by_width
from correspondence.association.held_out_pairs import FoldCovariances, centre_products
from correspondence.association.pair_moments import RowSums, WhitenedBlock, whiten_halves
from correspondence.core.given.regression import Given
from correspondence.core.given.smooth_regression import SplineFeatures, SplineResiduals, regress_on_splines

__all__ = ["LeftBlock", "LeftColumn", "leave_given", "make_left_blocks"]

MIN_SHARE_LEFT = 1e-3  # features of which z leaves less variance follow from it; ranks are known to 0.2 % of the rows
MIN_ROWS_TO_REGRESS = 10  # rows with a value; of fewer nothing is left
COLLINEAR = 1e-3  # share of the size of a feature, below which it is taken for a combination of those before it


@dataclass(frozen=True, eq=False)
class LeftColumn:
    """What is left of the features of one column.

    Attributes
    ----------
    tested : ndarray of shape (m, width)
        What the regressions on all rows leave, orthonormal; of rows in the same group one counts.
    leverages : ndarray of shape (m,)
        The leverages of these rows.
    smoothness : ndarray of shape (width,)
        The weight of each feature in the test.
    folds : list of ndarray of shape (n, width)
        What the regressions on the training rows of each fold leave.
    target : ndarray of shape (width,)
        Which features have to be predicted.
    is_given : ndarray of bool of shape (n,)
        The rows in which the column says something.
    """

    tested: np.ndarray
    leverages: np.ndarray
    smoothness: np.ndarray
    folds: list[np.ndarray]
    target: np.ndarray
    is_given: np.ndarray

    @property
    def width(self) -> int:
        """The number of features: as many as the test or the figures need."""
        return max(len(self.target), len(self.smoothness))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left."""
        return not len(self.target) or not len(self.smoothness)


def leave_given(rows: MemoryRows, given: Given) -> list[LeftColumn]:
    """Regress the features of all columns on z, and return what is left; of those that follow from z nothing is.

    Parameters
    ----------
    rows : MemoryRows
        The columns.
    given : Given
        The encoded rows of z.
    """
    regressors = Regressors.from_rows(rows, given)
    parts = [part for part in np.array_split(np.arange(len(rows.columns)), count_threads()) if len(part)]
    with limit_blas_threads(len(parts) > 1):
        found = run_in_threads(lambda part: [regressors.leave_column(j) for j in part.tolist()], parts)
    return list(itertools.chain.from_iterable(found))


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Some encoded rows of z, with their features.

    Attributes
    ----------
    given : Given
        The rows.
    is_tested : bool
        Whether the regressions are for tests, and follow z up to the last row, or for figures of other rows.
    """

    given: Given
    is_tested: bool

    @cached_property
    def features(self) -> SplineFeatures:
        """The features of the rows, which the regressions of all columns without gaps share."""
        rows, is_number = self.given.rows, self.given.encoder.is_number
        return SplineFeatures.from_rows(rows, is_number, reach_extremes=self.is_tested)

    def take_rows(self, rows: np.ndarray) -> GivenRows:
        """Keep some of the rows, by positions."""
        return self if len(rows) == len(self.given) else replace(self, given=self.given.take_rows(rows))

    def regress(self, F: np.ndarray) -> SplineResiduals:
        """Regress features on sums of functions of z, and of what z predicts if it has several columns."""
        encoder = self.given.encoder
        return regress_on_splines(
            F,
            self.given.rows,
            encoder.is_number,
            is_rough=self.is_tested,
            has_indices=len(encoder.columns.columns) > 1,
            features=self.features,
        )


@dataclass(frozen=True, eq=False)
class Regressors:
    """What the regressions of all columns need.

    Attributes
    ----------
    rows : MemoryRows
        The columns.
    given : Given
        The encoded rows of z.
    first : MemoryRows
        The columns in the rows of the test, one of each group.
    tested : GivenRows
        The rows of z of the test.
    folds : list of tuple
        The training rows of each fold, the held-out rows, and the training rows of z.
    """

    rows: MemoryRows
    given: Given
    first: MemoryRows
    tested: GivenRows
    folds: list[tuple[np.ndarray, np.ndarray, GivenRows]]

    @classmethod
    def from_rows(cls, rows: MemoryRows, given: Given) -> Regressors:
        """Split the rows."""
        first, tested = (rows, given) if rows.firsts is None else (rows.take_firsts(), given.take_rows(rows.firsts))
        folds = []
        for fold in range(rows.n_folds):
            train, test = np.flatnonzero(rows.parts // 2 != fold), np.flatnonzero(rows.parts // 2 == fold)
            folds.append((train, test, GivenRows(given.take_rows(train), is_tested=False)))
        return cls(rows, given, first, GivenRows(tested, is_tested=True), folds)

    def leave_column(self, j: int) -> LeftColumn:
        """Leave what z says of a column."""
        values, leverages, smoothness = self._leave_all_rows(j)
        column, features = self.rows.columns[j], self.rows.features[j]
        is_given = find_given_rows(column, self.rows.missing)
        if not values.shape[1]:
            return LeftColumn(values, leverages, smoothness, [], features.target[:0], is_given)
        F = features.table[column.codes]
        left = [self._leave_fold(F, is_given, *fold) for fold in self.folds]
        squares = np.mean([(own**2).mean(axis=0) for own in left], axis=0)
        is_left = squares > MIN_SHARE_LEFT * (F**2).mean(axis=0)
        scaled = [(own[:, is_left] / np.sqrt(squares[is_left])).astype(self.rows.dtype) for own in left]
        return LeftColumn(values, leverages, smoothness, scaled, features.target[is_left], is_given)

    def _leave_all_rows(self, j: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what rough regressions leave of all rows, the leverages, and the weights of the features left."""
        column, features = self.first.columns[j], self.first.features[j]
        F, some = features.table[column.codes], np.flatnonzero(find_given_rows(column, self.first.missing))
        left, leverages = np.zeros_like(F), np.zeros(len(F))
        if len(some) >= MIN_ROWS_TO_REGRESS and features.width:
            # A test must not mistake for dependence what smooth functions leave of the influence of z.
            fit = self.tested.take_rows(some).regress(F[some])
            left[some], leverages[some] = fit.own, fit.leverages[:, 0]
        is_left = (left**2).mean(axis=0) > MIN_SHARE_LEFT * (F**2).mean(axis=0)
        return orthonormalise_rows(left[:, is_left]), leverages, features.smoothness[is_left]

    def _leave_fold(
        self, F: np.ndarray, is_given: np.ndarray, train: np.ndarray, test: np.ndarray, given: GivenRows
    ) -> np.ndarray:
        """Return what regressions on the training rows of a fold leave of features, in all rows."""
        left, own = np.zeros_like(F), np.flatnonzero(is_given[train])
        if len(own) < MIN_ROWS_TO_REGRESS:
            return left
        train, test = train[own], test[is_given[test]]
        fit = given.take_rows(own).regress(F[train])
        # Scaled so, what is left of training rows is spread as noise is, however closely an extreme row is followed.
        left[train] = fit.own / np.sqrt(1 - np.minimum(fit.leverages, MAX_LEVERAGE))
        if len(test):
            # Beyond the training rows, what is expected is nothing more extreme than within.
            within, expected = F[train] - fit.own, fit.regression(self.given.rows[test])
            left[test] = F[test] - np.clip(expected, within.min(axis=0), within.max(axis=0))
        return left


def find_given_rows(column: CodedColumn, missing: str) -> np.ndarray:
    """Tell in which rows a column says something."""
    if column.missing < 0 or column.has_gap_answer(missing):
        return np.ones(len(column.codes), dtype=bool)
    return np.asarray(column.codes != column.missing)


def orthonormalise_rows(values: np.ndarray) -> np.ndarray:
    """Make features uncorrelated, with variance 1, in their order; combinations of those before them become 0."""
    if not values.shape[1]:
        return values
    Q, R = np.linalg.qr(values)
    is_new = np.abs(np.diag(R)) > COLLINEAR * np.linalg.norm(R, axis=0)
    return Q * is_new * np.sqrt(len(values))


@dataclass(frozen=True, eq=False)
class LeftBlock:
    """Columns of which about as many features are left, filled up by zeros to be equally many.

    Attributes
    ----------
    columns : ndarray of int
        The positions of the columns.
    widths : ndarray of int
        The number of features of each in the folds, without zeros.
    target : ndarray of shape (columns, width)
        Which features have to be predicted.
    smoothness : ndarray of shape (columns, width)
        The weights of the features in the test.
    folds : list of ndarray of shape (n, columns, width)
        What is left of all rows in each fold.
    parts : ndarray of int of shape (n,)
        The half of a fold that each row is dealt to.
    is_given : ndarray of bool of shape (n, columns)
        The rows in which each column says something.
    sums : LeftSums
        What the test needs.
    """

    columns: np.ndarray
    widths: np.ndarray
    target: np.ndarray
    smoothness: np.ndarray
    folds: list[np.ndarray]
    parts: np.ndarray
    is_given: np.ndarray
    sums: LeftSums

    @classmethod
    def from_columns(
        cls, columns: np.ndarray, left: Sequence[LeftColumn], width: int, parts: np.ndarray, Q: np.ndarray
    ) -> LeftBlock:
        """Put columns side by side.

        Parameters
        ----------
        columns : ndarray of int
            The positions of the columns.
        left : sequence of LeftColumn
            What is left of each of them.
        width : int
            The number of features with zeros.
        parts : ndarray of int of shape (n,)
            The half of a fold that each row is dealt to.
        Q : ndarray of shape (m, r)
            Orthonormal functions of z on the rows of the test, the first constant.
        """
        widths = np.array([len(own.target) for own in left])
        smoothness, target = (
            np.array([np.pad(own, (0, width - len(own))) for own in arrays])
            for arrays in ([own.smoothness for own in left], [own.target for own in left])
        )
        values, *folds = (
            np.stack([np.pad(own, ((0, 0), (0, width - own.shape[1]))) for own in arrays], axis=1)
            for arrays in ([own.tested for own in left], *zip(*(own.folds for own in left), strict=True))
        )
        leverages = np.column_stack([own.leverages for own in left])
        sums = LeftSums.from_values(values, smoothness, leverages, Q)
        is_given = np.column_stack([own.is_given for own in left])
        return cls(columns, widths, target, smoothness, folds, parts, is_given, sums)

    @cached_property
    def known(self) -> np.ndarray:
        """In which rows each column is given, a single column of True if all are given everywhere."""
        return self.is_given[:, :1] if self.is_given.all() else self.is_given

    @cached_property
    def whitened(self) -> WhitenedBlock:
        """The whitening of each fold, and the moments of the held-out rows, on all rows."""
        return self._whiten_where(np.ones((len(self.parts), 1), dtype=bool), has_gaps=False)

    def whiten_beside(self, other: LeftBlock) -> WhitenedBlock:
        """Whiten the features of each column on the rows in which it and each column of another block are given."""
        has_gaps = not (self.is_given.all() and other.is_given.all())
        return self._whiten_where(other.known, has_gaps=True) if has_gaps else self.whitened

    def _whiten_where(self, known: np.ndarray, *, has_gaps: bool) -> WhitenedBlock:
        train, halves = [], []
        own = self.known if has_gaps else np.ones_like(self.known[:, :1])
        for fold, X in enumerate(self.folds):
            parts = [self.parts // 2 != fold, *(self.parts == 2 * fold + half for half in range(2))]
            found = [RowSums.from_rows(X[rows].astype(np.float64), own[rows], known[rows]) for rows in parts]
            train.append(found[0])
            halves.append(RowSums.stack(found[1:]))
        return whiten_halves(RowSums.stack(train), RowSums.stack(halves), self.widths, self.target, has_gaps=has_gaps)

    def covary(self, other: LeftBlock, fold: int, x: WhitenedBlock, y: WhitenedBlock) -> FoldCovariances:
        """Compute the covariances with the features of another block in a fold.

        Parameters
        ----------
        other : LeftBlock
            The other block.
        fold : int
            The fold.
        x, y : WhitenedBlock
            The whitened features of both blocks beside each other.
        """
        is_test, found = self.parts // 2 == fold, []
        for rows in (~is_test, is_test):
            X, Y = self.folds[fold][rows], other.folds[fold][rows]
            products = X.reshape(len(X), -1).T @ Y.reshape(len(Y), -1)
            found.append(products.reshape(*X.shape[1:], *Y.shape[1:]))
        return centre_products(found[0], found[1], fold, x, y)


def make_left_blocks(left: Sequence[LeftColumn], parts: np.ndarray, Q: np.ndarray) -> list[LeftBlock]:
    """Put columns of similar widths into blocks; see `LeftBlock.from_columns` for the parameters."""
    return [
        LeftBlock.from_columns(columns, [left[j] for j in columns.tolist()], width, parts, Q)
        for columns, width in group_by_width([own.width for own in left], [not own.is_given.all() for own in left])
    ]
