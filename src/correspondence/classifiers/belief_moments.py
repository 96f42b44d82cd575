"""From moments of beliefs to their decomposition."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from correspondence._util.arguments import find_user_stacklevel
from correspondence._util.text import list_names
from correspondence._util.user_warnings import FewerComponents, LeftOut
from correspondence.classifiers.beliefs import Beliefs
from correspondence.core.decomposition import Decomposition
from correspondence.core.functions import LabelFunctions, LinearFunctions
from correspondence.core.moments import Moments
from correspondence.core.signs import choose_signs

__all__ = ["MIN_BELIEF_FOR_SINGLE_PRECISION", "PIC_NOISE_BY_PRECISION", "decompose_beliefs", "sum_belief_moments"]


MIN_BELIEF_FOR_SINGLE_PRECISION = (
    1e-6  # classes that are never believed more than this need double precision: their products underflow
)
PIC_NOISE_BY_PRECISION = {np.dtype(np.float64): 1e-15, np.dtype(np.float32): 1e-7}  # PICs that rounding alone can make


def decompose_beliefs(
    moments: Moments, classes: np.ndarray, beliefs: Beliefs, n_components: int | None
) -> tuple[Decomposition, np.ndarray]:
    """PICs, f and g of the belief channel, and the second moments E[P P^T], from the moments of the beliefs."""
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
            "All inputs have the same beliefs: there are no components.",
            FewerComponents,
            stacklevel=find_user_stacklevel(),
        )
    elif n_components is not None and n_components > len(pics):
        warnings.warn(
            f"n_components = {n_components} is more than there are: {len(pics)} are kept.",
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
    """PICs and g of classes that all occur: eigenvectors orthogonal to the constant, whatever rounding does to it."""
    root = np.sqrt(p / p.sum())
    mirror = root + np.eye(1, len(p))[0]
    mirror /= np.linalg.norm(mirror)

    def reflect(A: np.ndarray) -> np.ndarray:
        """Householder's reflection of the constant, that is root, on to the first axis."""
        return A - 2 * np.outer(mirror, mirror @ A)

    scaled = reflect(reflect(cov / np.outer(root, root)).T)[1:, 1:]
    values, vectors = np.linalg.eigh((scaled + scaled.T) / 2)
    keep = np.flatnonzero(values > noise)[::-1]
    U = reflect(np.vstack([np.zeros(len(keep)), vectors[:, keep]]))
    return np.minimum(values[keep], 1.0), U / root[:, None] * choose_signs(U, labels)


def sum_belief_moments(beliefs: Beliefs, x: Any, y: Any, first: int) -> Moments:
    """Sum the moments of beliefs about some inputs; of labels there are none."""
    moments = Moments()
    for P in beliefs.iterate_batches(x):
        moments.update(P, np.empty((len(P), 0)))
    return moments
