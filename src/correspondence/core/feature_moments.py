"""Moments of the features of many columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from correspondence.core.answer_pairs import count_answer_pairs
from correspondence.core.column_blocks import FeatureMoments
from correspondence.core.column_features import LabelColumn, ManyColumns
from correspondence.core.moments import Moments

__all__ = ["compute_feature_moments", "freeze_moments"]


def compute_feature_moments(
    features: ManyColumns, arrays: Sequence[np.ndarray], weights: np.ndarray | None = None
) -> Moments:
    """Compute the moments of the features of rows, some of them at a time.

    Parameters
    ----------
    features : ManyColumns
        The features of the columns.
    arrays : sequence of ndarray
        The rows, as ``features.read`` returns them.
    weights : ndarray of shape (n,), optional
        The weights of the rows; each is 1 by default.

    Returns
    -------
    Moments
        Those of y are empty.
    """
    if features.filler is None and all(isinstance(column, LabelColumn) for column in features.columns):
        return _count_label_moments(features, arrays, weights)
    moments = Moments()
    for rows, block in features.iterate_features(arrays):
        own = None if weights is None else weights[rows]
        moments.update(block, np.empty((len(block), 0)), own)
    return moments


def _count_label_moments(features: ManyColumns, arrays: Sequence[np.ndarray], weights: np.ndarray | None) -> Moments:
    """Compute the moments of indicators from counts of pairs of answers."""
    codes, widths, shares = [], [], []
    for column, values in zip(features.columns, arrays, strict=True):
        assert isinstance(column, LabelColumn)
        is_averaged = not column.is_passive and bool((values < 0).any())  # for a while an answer of its own
        codes.append(np.where(values < 0, column.width, values) if is_averaged else values)
        widths.append(column.width + is_averaged)
        identity = sp.eye_array(column.width)
        shares.append(sp.vstack([identity, sp.csr_array(column.shares[None])]) if is_averaged else identity)
    n = float(len(arrays[0]) if weights is None else weights.sum())
    of_sums = of_products = weights
    if features.is_passive:
        factors = features.compute_row_factors(arrays)
        of_sums = factors if weights is None else weights * factors
        of_products = of_sums * factors
    products = count_answer_pairs(codes, widths, of_products)
    sums = products.diagonal()
    if features.is_passive:
        parts = [np.where(own < 0, width, own) for own, width in zip(codes, widths, strict=True)]
        counted = [np.bincount(own, of_sums, w + 1)[:w] for own, w in zip(parts, widths, strict=True)]
        sums = np.concatenate(counted)
    together = sp.csr_array(sp.block_diag(shares))
    return Moments.from_sums(n, together.T @ sums, together.T @ (together.T @ products.T).T)


def freeze_moments(moments: Moments) -> FeatureMoments:
    """Return the numbers that the algebra needs."""
    return FeatureMoments(moments.n, moments.mean_f, moments.cov_f)
