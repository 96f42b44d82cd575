"""From beliefs to their moments, and from these to their decomposition."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from correspondence._util.arguments import check_weights, count_observations, find_user_stacklevel
from correspondence._util.progress import make_progress_bar
from correspondence._util.text import list_names
from correspondence._util.user_warnings import FewerComponents, LeftOut
from correspondence.classifiers.beliefs import Beliefs, is_stream
from correspondence.core.decomposition import Decomposition
from correspondence.core.functions import LabelFunctions, LinearFunctions
from correspondence.core.moments import Moments
from correspondence.core.whitening import choose_signs
from correspondence.data.pairs.pairs import Pairs

__all__ = ["decompose_beliefs", "sum_over_inputs", "sum_over_pairs"]

# Classes that are never believed more than this need double precision: their products underflow.
MIN_BELIEF_FOR_SINGLE_PRECISION = 1e-6
PIC_NOISE_BY_PRECISION = {np.dtype(np.float64): 1e-15, np.dtype(np.float32): 1e-7}  # PICs that rounding alone can make
ROWS_ASKED_FIRST = 256  # rows that a model is asked before it is sent to workers


def sum_over_inputs(
    beliefs: Beliefs, X: Any, sample_weight: Any = None, keep: bool = False, progress: bool | None = None
) -> tuple[Moments, list[np.ndarray]]:
    """Sum the moments of the beliefs about X, and return the beliefs themselves if they are to be kept.

    Of a group of classes, these are the moments of the distribution of inputs and classes given that the class is one
    of the group: an input counts by the belief in the group.
    """
    n = None if is_stream(X) else count_observations(X, "X")
    if sample_weight is not None and n is None:
        raise ValueError("sample_weight cannot be given with batches. Repeat rows instead.")
    weights = None if sample_weight is None or n is None else check_weights(sample_weight, n, "sample_weight")
    moments, kept, done = None, [], 0
    with make_progress_bar(n or 0, "beliefs", progress) as shown:
        for whole in beliefs.iterate_whole(X):
            P, mass = beliefs.restrict(whole)
            if moments is None:
                is_single = P.dtype == np.float32 and P.max(axis=0).min() > MIN_BELIEF_FOR_SINGLE_PRECISION
                moments = Moments(np.float32, centre=False) if is_single else Moments()
            weight = None if weights is None else weights[done : done + len(P)]
            _add_beliefs(moments, P, weight, mass if beliefs.group is not None else None)
            done += len(P)
            shown.update(len(P))
            if keep:
                kept.append(P)
    if moments is None or done < 2:
        raise ValueError(f"The beliefs of at least two inputs are needed, got {done} sample(s).")
    _check_group_mass(moments)
    return moments, kept


def _add_beliefs(moments: Moments, P: np.ndarray, weight: np.ndarray | None, mass: np.ndarray | None) -> None:
    """Add beliefs to moments, those in a group weighted by its mass."""
    if mass is not None:
        rows = np.flatnonzero(mass > 0)  # beliefs given the group are NaN for all others
        P, weight = P[rows], mass[rows] * (1 if weight is None else weight[rows])
    moments.update(P, np.empty((len(P), 0), P.dtype), weight)


def _check_group_mass(moments: Moments) -> None:
    if not moments.n > 0:
        raise ValueError("group must have a class that is believed of some input, but all beliefs in it are 0.")


def sum_over_pairs(beliefs: Beliefs, pairs: Pairs) -> Moments:
    """Sum the moments of the beliefs about x, in double precision, where the pairs are."""
    rows = next(iter(pairs), None)
    if rows is not None:  # errors come before workers start, and logits are recognised
        next(beliefs.iterate_batches(rows[0].slice(0, ROWS_ASKED_FIRST)))
    moments: Moments = pairs.sums(partial(_sum_part, beliefs), partial(sum, start=Moments()), "beliefs", numbered=False)
    if moments.n < 2 and beliefs.group is None:
        raise ValueError(f"The beliefs of at least two inputs are needed, got {moments.n:g} sample(s).")
    _check_group_mass(moments)
    return moments


def _sum_part(beliefs: Beliefs, x: Any, y: Any, first: int) -> Moments:
    """Sum the moments of the beliefs about some inputs; their labels are not used."""
    moments = Moments()
    for whole in beliefs.iterate_whole(x):
        P, mass = beliefs.restrict(whole)
        _add_beliefs(moments, P, None, mass if beliefs.group is not None else None)
    return moments


def decompose_beliefs(
    moments: Moments, classes: np.ndarray, beliefs: Beliefs, n_components: int | None
) -> tuple[Decomposition, np.ndarray]:
    """Find PICs, f and g of the belief channel, and the second moments E[P P^T], from the moments of the beliefs."""
    p, cov = moments.mean_f / moments.mean_f.sum(), moments.cov_f
    used = p > 0
    if not used.all():
        warnings.warn(
            f"{(~used).sum()} class(es) never predicted, so placed at NaN: {list_names(classes[~used], 5)}.",
            LeftOut,
            stacklevel=find_user_stacklevel(),
        )
    pics, values = decompose_covariance(
        cov[np.ix_(used, used)], p[used], PIC_NOISE_BY_PRECISION[moments.dtype], classes[used]
    )
    if not len(pics):
        warnings.warn(
            "All inputs have the same beliefs, so there are no components.",
            FewerComponents,
            stacklevel=find_user_stacklevel(),
        )
    elif n_components is not None and n_components > len(pics):
        warnings.warn(
            f"n_components = {n_components} is more than there are; {len(pics)} are kept.",
            FewerComponents,
            stacklevel=find_user_stacklevel(),
        )
    kept = slice(None, n_components)
    G = np.full((len(p), len(pics)), np.nan)
    G[used] = values
    d = Decomposition(
        pics=pics[kept],
        f=LinearFunctions(p, np.nan_to_num(G / np.sqrt(pics))[:, kept], beliefs),
        g=LabelFunctions(classes, G[:, kept], p),
        chi2=float(pics.sum()),
        n=moments.n,
    )
    second, product = cov + np.outer(p, p), np.outer(p, p)
    rounding = 1e2 * np.finfo(moments.dtype).eps * product  # so much may be left of classes never believed together
    return d, np.where(second > rounding, second, 0)


def decompose_covariance(
    cov: np.ndarray, p: np.ndarray, noise: float, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Find PICs and g of classes that all occur, with eigenvectors orthogonal to the constant despite rounding."""
    # D_Y^{-1/2} cov D_Y^{-1/2} has the PICs as eigenvalues, U = D_Y^{1/2} G as eigenvectors, and sqrt(p_Y) with 0.
    root = np.sqrt(p / p.sum())
    mirror = root + np.eye(1, len(p))[0]
    mirror /= np.linalg.norm(mirror)

    def reflect(A: np.ndarray) -> np.ndarray:
        """Apply Householder's reflection that takes the constant, which is root, to the first axis."""
        return A - 2 * np.outer(mirror, mirror @ A)

    scaled = reflect(reflect(cov / np.outer(root, root)).T)[1:, 1:]
    values, vectors = np.linalg.eigh((scaled + scaled.T) / 2)
    keep = np.flatnonzero(values > noise)[::-1]
    U = reflect(np.vstack([np.zeros(len(keep)), vectors[:, keep]]))
    return np.minimum(values[keep], 1.0), U / root[:, None] * choose_signs(U, labels)
