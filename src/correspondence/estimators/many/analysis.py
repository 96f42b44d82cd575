"""One analysis of many columns: the algebra together with its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from correspondence.core.column_blocks import BlockAxes, ColumnBlock, FeatureMoments, find_block_axes
from correspondence.core.column_features import ManyColumns
from correspondence.core.feature_moments import compute_feature_moments, freeze_moments
from correspondence.core.order.ordered_axes import order_axes
from correspondence.core.sparse_moments import SparseCovariance

__all__ = ["ColumnAnalysis"]


@dataclass(frozen=True, eq=False)
class ColumnAnalysis:
    """One analysis of many columns, as the algebra sees it.

    Attributes
    ----------
    features : ManyColumns
        The columns.
    blocks : list of ColumnBlock
        Their places among the features, weights, and the answers that are kept.
    moments : FeatureMoments
        The moments of the rows that are analysed.
    whitening : scipy.sparse array
        The matrix that whitens the features.
    axes : BlockAxes
        The axes.
    arrays : list of ndarray, optional
        The rows; None if they are in a source.
    weights : ndarray of shape (n,), optional
        The weights of the rows.
    is_subpopulation : bool
        Whether the rows are a part of those whose moments whiten the features.
    """

    features: ManyColumns
    blocks: list[ColumnBlock]
    moments: FeatureMoments
    whitening: sp.csr_array
    axes: BlockAxes
    arrays: list[np.ndarray] | None = None
    weights: np.ndarray | None = None
    is_subpopulation: bool = False

    @property
    def is_sparse(self) -> bool:
        """Whether the features are too many for a matrix of their moments."""
        return isinstance(self.moments.cov, SparseCovariance)

    def describe_rows(self, arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Compute the scores of rows, and their squared distances from the mean.

        Parameters
        ----------
        arrays : sequence of ndarray
            The rows, as ``features.read`` returns them.

        Returns
        -------
        scores : ndarray of shape (n, d)
            They are NaN for a row with an unknown answer.
        squares : ndarray of shape (n,)
            The squared lengths of the whitened features.
        """
        axes, n = self.axes, len(arrays[0])
        scores, squares = np.empty((n, axes.weights.shape[1])), np.empty(n)
        if self.is_sparse:
            features = self.features.expand_sparsely(arrays)
            scores[:] = features @ axes.weights - axes.mean @ axes.weights
            whitened, centre = features @ self.whitening, self.whitening.T @ axes.mean
            squares[:] = whitened.power(2).sum(axis=1) - 2 * (whitened @ centre) + centre @ centre
        else:
            for rows, block in self.features.iterate_features(arrays):
                centred = block - axes.mean
                scores[rows] = centred @ axes.weights
                squares[rows] = ((centred @ self.whitening) ** 2).sum(axis=1)
        is_unknown = self.features.find_unknown(arrays)
        scores[is_unknown], squares[is_unknown] = np.nan, np.nan
        return scores, squares

    def measure_means(self, membership: np.ndarray) -> np.ndarray:
        """Compute the squared distances of groups of rows from the centre, in the space of the whitened features.

        Parameters
        ----------
        membership : ndarray of shape (m, n)
            The masses of the rows of the fit in each group.

        Returns
        -------
        ndarray of shape (m,)
            One squared distance for each group.
        """
        assert self.arrays is not None
        whitened = np.zeros((len(membership), self.whitening.shape[1]))
        for rows, block in self.features.iterate_features(self.arrays):
            whitened += membership[:, rows] @ ((block - self.axes.mean) @ self.whitening)
        return ((whitened / membership.sum(axis=1)[:, None]) ** 2).sum(axis=1)

    def take_subpopulation(self, rows: np.ndarray) -> ColumnAnalysis:
        """Analyse some rows in the space of all: their own moments, whitened by those of all.

        Parameters
        ----------
        rows : ndarray of int
            The positions of the rows.

        Returns
        -------
        ColumnAnalysis
            Masses and distances are those of all rows.
        """
        assert self.arrays is not None
        if self.is_sparse:
            raise ValueError(f"subpopulation must be None for as many as {self.features.width:,} answers.")
        arrays = [values[rows] for values in self.arrays]
        weights = None if self.weights is None else self.weights[rows]
        own = freeze_moments(compute_feature_moments(self.features, arrays, weights))
        axes = order_axes(own, self.whitening, self.blocks, find_block_axes(own, self.whitening))
        moments = replace(own, mean=self.moments.mean)
        return replace(self, arrays=arrays, weights=weights, moments=moments, axes=axes, is_subpopulation=True)
