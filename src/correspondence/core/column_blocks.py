"""Many columns at once: the scores that are best explained by all of them, from one matrix of moments.

Each column k has features phi_k: indicators of its answers, the number itself, or splines of it. A score z of the rows
has with column k the squared multiple correlation R2_k(z) with these features. The scores z_1, z_2, ... maximise the
sum of a_k R2_k(z), where a_k are weights of the columns, each uncorrelated with those before. With the covariance C of
all features and the matrix W that whitens those of each column (times sqrt(a_k)), they are the eigenvectors of
W' C W, and the eigenvalues are the maxima. So the moments of the features are all that is needed of the rows.

Answers only: the eigenvalues divided by the number of columns are those of multiple correspondence analysis. Numbers
only: principal component analysis. Both: factor analysis of mixed data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from correspondence.core.penalised_coordinates import whiten_with_penalty
from correspondence.core.whitening import choose_signs, compute_whitening

__all__ = ["BlockAxes", "ColumnBlock", "FeatureMoments", "find_block_axes", "whiten_block", "whiten_blocks"]

MIN_EIGENVALUE_SHARE = 1e-12  # of the largest; smaller eigenvalues are rounding errors of 0
MIN_STANDARD_DEVIATION_SHARE = 1e-14  # of the mean, below which a feature is constant


@dataclass(frozen=True, eq=False)
class ColumnBlock:
    """The place of one column among the features.

    Attributes
    ----------
    name : object
        The name of the column.
    kind : {"labels", "number", "curve"}
        Indicators of answers, one number, or several functions of a number, which are whitened together.
    features : slice
        The features of the column.
    weight : float
        The weight a_k of the column.
    kept : ndarray of bool, optional
        The indicators that take part; all by default.
    penalty : ndarray of shape (p_k, p_k), optional
        The roughness of the functions of a curve, already multiplied by its strength.
    order : ndarray of int, optional
        The indicators of the answers in their order, along which the first axis ascends or descends.
    """

    name: Any
    kind: str
    features: slice
    weight: float = 1.0
    kept: np.ndarray | None = None
    penalty: np.ndarray | None = None
    order: np.ndarray | None = None

    @property
    def width(self) -> int:
        """The number of features."""
        return self.features.stop - self.features.start


@dataclass(frozen=True, eq=False)
class FeatureMoments:
    """The total weight of the rows, and the means and covariances of the features.

    The covariances of very many features are a `SparseCovariance`, which has products, blocks and a diagonal only.
    """

    n: float
    mean: np.ndarray
    cov: Any


@dataclass(frozen=True, eq=False)
class BlockAxes:
    """The scores that are best explained by all columns, as linear functions of the features.

    Attributes
    ----------
    eigenvalues : ndarray of shape (d,)
        The sums of a_k R2_k.
    mean : ndarray of shape (p,)
        The means of the features.
    weights : ndarray of shape (p, d)
        ``(features - mean) @ weights`` are the scores, with variance 1.
    covariance : ndarray of shape (p, d)
        The covariance of each feature with each score.
    total : float
        The sum of all eigenvalues, those not kept included.
    quantified : ndarray of shape (p, d), optional
        The covariances that the values of the answers stand for, if they are not those of the rows because of an order.
    """

    eigenvalues: np.ndarray
    mean: np.ndarray
    weights: np.ndarray
    covariance: np.ndarray
    total: float
    quantified: np.ndarray | None = None

    @property
    def modelled_covariance(self) -> np.ndarray:
        """The covariance of each feature with each score, as far as the order of its column allows."""
        return self.covariance if self.quantified is None else self.quantified

    def fix_signs(self, loadings: np.ndarray, labels: np.ndarray) -> BlockAxes:
        """Make the largest of the loadings of each axis positive."""
        sign = choose_signs(loadings, labels)
        quantified = None if self.quantified is None else self.quantified * sign
        return replace(self, weights=self.weights * sign, covariance=self.covariance * sign, quantified=quantified)

    def truncate(self, k: int) -> BlockAxes:
        """Keep the first k axes."""
        return self.select(slice(k))

    def select(self, which: Any) -> BlockAxes:
        """Keep some axes, given by their positions."""
        return replace(
            self,
            eigenvalues=self.eigenvalues[which],
            weights=self.weights[:, which],
            covariance=self.covariance[:, which],
            quantified=None if self.quantified is None else self.quantified[:, which],
        )


def whiten_blocks(moments: FeatureMoments, blocks: Sequence[ColumnBlock]) -> sp.csr_array:
    """Compute the matrix W of shape (p, r) that whitens the features of each column, times the root of its weight.

    Indicators that sum to 1 are whitened by the roots of their means: the projection on what they span is the same.

    Parameters
    ----------
    moments : FeatureMoments
        The moments of the features.
    blocks : sequence of ColumnBlock
        The columns.

    Returns
    -------
    scipy.sparse.csr_array
        A constant feature has no weight.

    Examples
    --------
    >>> moments = FeatureMoments(10, np.array([0.8, 0.2, 5.0]), np.diag([0.16, 0.16, 4.0]))
    >>> blocks = [ColumnBlock("tea", "labels", slice(0, 2)), ColumnBlock("age", "number", slice(2, 3))]
    >>> whiten_blocks(moments, blocks).toarray().diagonal().round(3).tolist()
    [1.118, 2.236, 0.5]
    """
    parts = [np.sqrt(block.weight) * whiten_block(moments, block) for block in blocks]
    return sp.csr_array(sp.block_diag(parts, format="csr"))


def whiten_block(moments: FeatureMoments, block: ColumnBlock) -> sp.sparray:
    """Compute the matrix that whitens the features of one column, without its weight."""
    mean = moments.mean[block.features]
    spread = mean if block.kind == "labels" else moments.cov[block.features, block.features]
    if block.penalty is not None:
        return sp.csr_array(whiten_with_penalty(spread, block.penalty, 1.0))
    if block.kind == "curve":
        return sp.csr_array(compute_whitening(spread, mean))
    spread = spread if block.kind == "labels" else spread.diagonal()
    is_used = spread > MIN_STANDARD_DEVIATION_SHARE**2 * mean**2
    if block.kept is not None:
        is_used &= block.kept
    return sp.diags_array(np.where(is_used, 1 / np.sqrt(np.where(is_used, spread, 1)), 0))


def find_block_axes(moments: FeatureMoments, whitening: sp.csr_array, n_components: int | None = None) -> BlockAxes:
    """Find the leading scores from the moments of the features.

    Parameters
    ----------
    moments : FeatureMoments
        The moments of the rows that are analysed.
    whitening : scipy.sparse array of shape (p, r)
        The matrix of `whiten_blocks`, of the same rows, or of a population that they are part of.
    n_components : int, optional
        The number of axes; by default as many as there are.

    Returns
    -------
    BlockAxes
        Axes without inertia are left out.

    Examples
    --------
    Two columns of which each is the other: their scores agree, and the sum of both squared correlations is 2.

    >>> cov = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> moments = FeatureMoments(9, np.zeros(2), cov)
    >>> find_block_axes(moments, sp.csr_array(np.eye(2))).eigenvalues.round(12)
    array([2.])
    """
    together = whitening.T @ (moments.cov @ whitening)
    values, vectors = scipy.linalg.eigh((together + together.T) / 2, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = int((values > MIN_EIGENVALUE_SHARE * max(values[0], 0)).sum())
    d = rank if n_components is None else min(n_components, rank)
    weights = whitening @ vectors[:, :d] / np.sqrt(values[:d])
    return BlockAxes(values[:d], moments.mean, weights, moments.cov @ weights, float(np.trace(together)))
