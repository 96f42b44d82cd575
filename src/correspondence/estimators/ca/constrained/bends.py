"""How many curves numbers enter by: as many as capture most of the counts of held-out rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from correspondence._util.threads import limit_blas_threads
from correspondence.core.site_scores import compute_row_terms
from correspondence.estimators.ca.constrained.algebra import Axes, DesignBasis
from correspondence.results.evidence import compute_gain

__all__ = ["BendChooser"]

N_FOLDS = 10  # of rows
MIN_GAIN = 1.5  # standard errors by which curves must capture more than straight lines
MIN_GAIN_OF_BENDS = 1.0  # standard errors by which one more curve must
SEED = 0  # of the folds


class BendChooser:
    """Chooses how many curves each number enters by: what captures most of the counts of held-out rows.

    Parameters
    ----------
    counts : ndarray of shape (n, m)
        The counts of the rows that take part.
    given : ndarray of shape (n, q)
        The design of the conditions.
    matrix : ndarray of shape (n, p)
        The design of the constraints with all curves.
    columns_of_terms : sequence of ndarray of int
        The positions of the columns of each constraint; of a number, first itself and then its curves.
    is_curve : ndarray of bool
        Which constraints are curves.
    n_components : int or None
        The number of axes to keep.
    """

    def __init__(
        self,
        counts: np.ndarray,
        given: np.ndarray,
        matrix: np.ndarray,
        columns_of_terms: Sequence[np.ndarray],
        is_curve: np.ndarray,
        n_components: int | None,
    ) -> None:
        self._counts, self._given, self._matrix, self._n_components = counts, given, matrix, n_components
        self._columns, self._is_curve = columns_of_terms, is_curve
        fold = np.random.default_rng(SEED).permutation(len(counts)) % min(N_FOLDS, len(counts))
        self._tests = [np.flatnonzero(fold == k) for k in range(fold.max() + 1)]
        self._known: dict[tuple[int, ...], np.ndarray] = {}

    def choose(self) -> tuple[int, ...]:
        """Return the number of curves of each constraint: the same for all first, then one by one."""
        with limit_blas_threads(True):  # hundreds of small decompositions
            return self._choose()

    def _choose(self) -> tuple[int, ...]:
        most = [len(own) - 1 if curve else 0 for own, curve in zip(self._columns, self._is_curve, strict=True)]
        straight = tuple(0 for _ in most)
        common = [tuple(min(k, limit) for limit in most) for k in range(1, max(most, default=0) + 1)]
        best = max([straight, *common], key=lambda bends: float(self._score(bends).mean()))
        for position in np.flatnonzero(most):
            for k in range(most[position] + 1):
                other = (*best[:position], k, *best[position + 1 :])
                gain = compute_gain(self._score(best), self._score(other))
                if gain > (MIN_GAIN_OF_BENDS if k > best[position] else 0.0):
                    best = other
        return best if compute_gain(self._score(straight), self._score(best)) > MIN_GAIN else straight

    def _score(self, bends: tuple[int, ...]) -> np.ndarray:
        """Compute terms of the rows whose mean is what a fit to the other folds captures."""
        if bends not in self._known:
            own = [
                columns[: 1 + k] if curve else columns
                for columns, k, curve in zip(self._columns, bends, self._is_curve, strict=True)
            ]
            design = np.hstack([self._given, self._matrix[:, np.concatenate(own)]])
            ratio = np.ones(self._counts.shape)
            for test in self._tests:
                ratio[test] = self._predict_rows(design, test)
            terms = compute_row_terms(self._counts, [ratio], np.arange(len(ratio)))[:, 0]
            self._known[bends] = terms * len(terms) / self._counts.sum()
        return self._known[bends]

    def _predict_rows(self, design: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Compute the ratios r(x, y) of held-out rows by a fit to the others."""
        train = np.setdiff1d(np.arange(len(design)), test)
        counts = self._counts[train]
        occurs = counts.sum(axis=0) > 0
        P = counts[:, occurs] / counts.sum()
        r, c = P.sum(axis=1), P.sum(axis=0)
        expected = np.outer(r, c)
        basis = DesignBasis.from_matrix(design[train], r)
        n_given = int((basis.kept < self._given.shape[1]).sum())
        axes = Axes.from_matrix((P - expected) / np.sqrt(expected), basis.vectors[:, n_given:], np.arange(len(c)))
        axes = axes if self._n_components is None else axes.truncate(self._n_components)
        F = (design[test] - basis.mean) @ basis.find_coefficients(axes.U)
        ratio = np.ones((len(test), len(occurs)))
        ratio[:, occurs] += (F * axes.s) @ (axes.V / np.sqrt(c)[:, None]).T
        return ratio
