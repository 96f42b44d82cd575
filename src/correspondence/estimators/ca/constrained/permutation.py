"""Tests of constraints by permutation: F of what they explain beside that of permuted rows.

Two kinds of permutations:

- "residuals" is the usual test under the reduced model: the rows of what the conditions leave of Q are permuted, the
  masses stay where they are. It supposes that these rows are exchangeable whatever their masses.
- "sites" permutes the rows of what W leaves of the tested variables themselves, without weights: which site has which
  environment. Counts and masses stay together, so nothing is supposed about how the scatter of a site depends on its
  total.

All statistics of a permutation follow from products of the size of F (see `tested_model`): with F_p the permuted
directions, P = F_p^T F, M = F_p^T F_p, C = F_p^T Q, N = C C^T and J = C Q^T F. Permuted sites are F_p = D_r^(1/2) times
the permuted rows of D_r^(-1/2) F. So a permutation costs one product with Q, for all hypotheses together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence.estimators.ca.constrained.orders import RowOrders
from correspondence.estimators.ca.constrained.tested_model import Hypothesis, TestedModel

__all__ = ["count_at_least", "find_expected_inertia"]

MIN_GRAM_SHARE = 1e-10  # of the largest eigenvalue: directions of permuted columns that vary less are rounding errors
TIE_TOLERANCE = 1.5e-8  # statistics that differ by less are equal: permutations often repeat the given arrangement
BYTES_AT_ONCE = 2**26


@dataclass(frozen=True, eq=False)
class PermutedProducts:
    """Products of a block of permutations, of shape (b, K, K): see the module."""

    P: np.ndarray
    M: np.ndarray
    N: np.ndarray
    J: np.ndarray

    @classmethod
    def from_orders(cls, model: TestedModel, orders: np.ndarray, *, are_sites: bool) -> PermutedProducts:
        """Permute the directions, and multiply them with each other and with the residuals."""
        F, root = model.directions, np.sqrt(model.mass)[:, None]
        K = F.shape[1]
        permuted = np.swapaxes((F / root if are_sites else F)[orders], 1, 2)
        if are_sites:
            permuted = permuted * root[:, 0]
        flat = np.ascontiguousarray(permuted).reshape(-1, len(F))
        C = flat @ model.residuals
        shape = (len(orders), K, K)
        stacked = C.reshape(len(orders), K, -1)
        M = np.matmul(permuted, np.swapaxes(permuted, 1, 2)) if are_sites else np.broadcast_to(np.eye(K), shape)
        N = np.matmul(stacked, np.swapaxes(stacked, 1, 2))
        return cls((flat @ F).reshape(shape), M, N, (C @ model.loadings.T).reshape(shape))

    def leave_out(self, S: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Return what N is if the directions W are taken out of the residuals."""
        left = self.P @ W
        crossed = (self.J @ W) @ np.swapaxes(left, 1, 2)
        return self.N - crossed - np.swapaxes(crossed, 1, 2) + left @ (W.T @ S @ W) @ np.swapaxes(left, 1, 2)


def count_at_least(
    model: TestedModel,
    hypotheses: Sequence[Hypothesis],
    orders: RowOrders,
    *,
    are_sites: bool,
    bar: Any = None,
) -> np.ndarray:
    """Count for each hypothesis the permutations whose F is at least that of the data.

    Parameters
    ----------
    model : TestedModel
        The table with its conditions and constraints.
    hypotheses : sequence of Hypothesis
        The blocks to test.
    orders : RowOrders
        The permutations.
    are_sites : bool
        Permute sites, not residuals.
    bar : progress bar, optional
        It is told how many permutations are done.

    Returns
    -------
    ndarray of int of shape (number of hypotheses,)
        The counts.
    """
    compute = compare_sites if are_sites else compare_residuals
    given = np.arange(len(model.mass))[None]
    first = PermutedProducts.from_orders(model, given, are_sites=are_sites)
    observed = np.array([compute(model, h, first)[0] for h in hypotheses])
    threshold = observed - TIE_TOLERANCE * observed
    counts = np.zeros(len(hypotheses), dtype=np.intp)
    for products in iterate_products(model, orders, are_sites=are_sites):
        ratios = (compute(model, h, products) for h in hypotheses)
        counts += [np.count_nonzero(own >= low) for own, low in zip(ratios, threshold, strict=True)]
        if bar is not None:
            bar.update(len(products.P))
    return counts


def iterate_products(model: TestedModel, orders: RowOrders, *, are_sites: bool) -> Iterator[PermutedProducts]:
    """Yield the products of all permutations, in blocks of bounded memory."""
    n, K = model.directions.shape
    size = max(1, BYTES_AT_ONCE // (8 * K * (2 * n + model.residuals.shape[1] + 8 * K)))
    for block in orders.iterate_blocks(size):
        yield PermutedProducts.from_orders(model, block, are_sites=are_sites)


def compare_residuals(model: TestedModel, h: Hypothesis, products: PermutedProducts) -> np.ndarray:
    """Return ratios that are proportional to F, if what the reduced model leaves is permuted."""
    S = model.products
    N = products.leave_out(S, h.reduced)
    explained = np.einsum("bii->b", N[:, 1:, 1:])
    total = model.total - np.trace(h.reduced.T @ S @ h.reduced)
    own = h.tested.T @ N @ h.tested
    return _divide_inertias(_measure_block(own, is_first=h.is_first), total - explained)


def compare_sites(model: TestedModel, h: Hypothesis, products: PermutedProducts) -> np.ndarray:
    """Return ratios that are proportional to F, if it is permuted which site has which value of the tested block."""
    S, W, A = model.products, h.before, np.hstack([h.before, h.after])
    own = _explain_with_permuted(products, S, h.tested, W)
    all_own = own if not h.after.shape[1] else _explain_with_permuted(products, S, h.tested, A)
    left = model.total - np.trace(A.T @ S @ A) - np.einsum("bii->b", all_own)
    return _divide_inertias(_measure_block(own, is_first=h.is_first), left)


def _explain_with_permuted(products: PermutedProducts, S: np.ndarray, B: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return the products of the loadings of the permuted block beyond W, in an orthonormal basis of it."""
    beyond = B.T @ products.P @ W
    gram = B.T @ products.M @ B - beyond @ np.swapaxes(beyond, 1, 2)
    values, vectors = np.linalg.eigh(gram)
    varies = values > MIN_GRAM_SHARE * np.maximum(values[:, -1:], 1e-300)
    basis = vectors * np.where(varies, np.where(varies, values, 1) ** -0.5, 0)[:, None, :]
    return np.swapaxes(basis, 1, 2) @ (B.T @ products.leave_out(S, W) @ B) @ basis


def _measure_block(own: np.ndarray, *, is_first: bool) -> np.ndarray:
    return np.linalg.eigvalsh(own)[:, -1] if is_first else np.einsum("bii->b", own)


def _divide_inertias(explained: np.ndarray, left: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(left > 0, explained / left, np.where(explained > 0, np.inf, 0.0))


def find_expected_inertia(directions: np.ndarray, residuals: np.ndarray) -> float:
    """Find the mean of what directions explain of the residuals, over all permutations of their rows.

    With the columns u of the directions, and G = Q Q^T, the mean of u^T G_p u over all permutations p is
    d u^T u + o ((1^T u)^2 - u^T u), where d is the mean of the diagonal of G, and o that of the other entries.

    Parameters
    ----------
    directions : ndarray of shape (n, k)
        Orthonormal columns.
    residuals : ndarray of shape (n, s)
        The residuals Q.

    Examples
    --------
    >>> find_expected_inertia(np.eye(3)[:, :1], np.array([[1.0], [2.0], [4.0]]))       # the mean of 1, 4 and 16
    7.0
    """
    n = len(residuals)
    own = float((residuals**2).sum())
    other = (float((residuals.sum(axis=0) ** 2).sum()) - own) / max(n * (n - 1), 1)
    squares, sums = (directions**2).sum(axis=0), directions.sum(axis=0) ** 2
    return float((own / n * squares + other * (sums - squares)).sum())
