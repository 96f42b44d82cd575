"""Confidence ellipses of correspondence analysis points by multinomial resampling.

The spread of a point is its mean squared deviation from the point drawn, not from the mean of the resamples: the axes
of a noisy table are too strong, those of its resamples more so, and the difference belongs to the uncertainty. The
quantile is Hotelling's, which allows for the number of resamples.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from correspondence._util.arguments import check_seed, check_whole
from correspondence._util.constraints import check_parameter
from correspondence._util.progress import make_progress_bar
from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.data.counting import are_whole
from correspondence.data.table import Table
from correspondence.results.points import Bootstrap

__all__ = ["ALIGNMENT_FUNCTIONS", "PointSpread", "bootstrap_points"]


def bootstrap_points(
    ca: Any, n_resamples: int, n_components: int, n: int | None, align: str, random_state: Any, progress: bool | None
) -> Bootstrap:
    """Refit a correspondence analysis to resampled tables; see ``CA.bootstrap``."""
    check_whole(n_resamples, "n_resamples", 3)
    check_parameter(align, "align", tuple(ALIGNMENT_FUNCTIONS))
    k = min(check_whole(n_components, "n_components", 1), len(ca.pics_))
    if k < 1:
        raise ValueError("There are no components whose spread could be estimated.")
    draw = make_sampler(ca._unweighted, n, check_seed(random_state))
    # A ridge chosen by "auto" keeps its strength; its claims are a share of those with that strength alone.
    # Resamples are tables, which do not declare the order of their labels.
    ordered = ca.ordered_ or None
    refit = clone(ca).set_params(n_components=k, regularization=ca.regularization_, ordered=ordered)
    rows, columns = ca._analysed.rows, ca._analysed.columns
    target = stack_points(ca, k)
    # Labels of a response count once on the axes, whatever their masses.
    mass = np.concatenate([getattr(points, "weights", points.mass) for points in (ca.rows_, ca.columns_)])
    spread = PointSpread(target)
    with make_progress_bar(n_resamples, "bootstrap", progress) as done:
        for _ in range(n_resamples):
            resample = draw()
            done.update()
            if not has_drawn_labels(resample, ca):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CorrespondenceWarning)  # labels that were not drawn
                refit.fit(resample, row_weights=rows.weights, column_weights=columns.weights)
            points = stack_points(refit, k) * ca._claimed_share[:k]
            spread.add_points(ALIGNMENT_FUNCTIONS[align](points, target, mass))
    covariance, m = spread.compute_covariance(), len(ca.rows_)
    return Bootstrap(covariance[:m], covariance[m:], n_resamples, spread.count[:m], spread.count[m:], align)


def make_sampler(table: Table, n: int | None, rng: np.random.Generator) -> Any:
    """Make a function that draws tables of n observations with the proportions of a table."""
    cells = sp.coo_array(table.counts)
    if n is None and not are_whole(cells):
        raise ValueError(
            "n must be given for a table that does not hold whole counts: say how many observations it has."
        )
    size = check_whole(round(table.total) if n is None else n, "n", 1, 2**62)
    probability = cells.data / cells.data.sum()

    def draw() -> Table:
        counts = rng.multinomial(size, probability).astype(np.float64)
        drawn = sp.csr_array(sp.coo_array((counts, (cells.row, cells.col)), shape=table.shape))
        return Table(drawn if sp.issparse(table.counts) else drawn.toarray(), table.rows, table.columns, table.named)

    return draw


def has_drawn_labels(resample: Table, ca: Any) -> bool:
    """Whether a label of the analysis was drawn on both sides: those of a rare subset may all be missing."""
    r, c = resample.counts.sum(axis=1), resample.counts.sum(axis=0)
    return bool(
        r[np.isin(resample.rows, ca.rows_.labels)].any() and c[np.isin(resample.columns, ca.columns_.labels)].any()
    )


def stack_points(ca: Any, k: int) -> np.ndarray:
    """Stack the principal coordinates of rows and columns; axes that a resample lacks are 0."""
    points = np.vstack([ca.rows_.principal, ca.columns_.principal])[:, :k]
    return np.pad(points, ((0, 0), (0, k - points.shape[1])))


def rotate_points(points: np.ndarray, target: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Rotate and reflect points on to the target (orthogonal Procrustes, weighted by mass)."""
    known = np.isfinite(points).all(axis=1) & np.isfinite(target).all(axis=1)
    U, _, Vt = np.linalg.svd((points[known] * mass[known, None]).T @ target[known])
    return points @ (U @ Vt)


def reflect_points(points: np.ndarray, target: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Choose for each axis the sign that brings points closer to the target (weighted by mass)."""
    known = np.isfinite(points).all(axis=1) & np.isfinite(target).all(axis=1)
    along = np.einsum("ij,ij,i->j", points[known], target[known], mass[known])
    return points * np.where(along < 0, -1.0, 1.0)


ALIGNMENT_FUNCTIONS = {"signs": reflect_points, "rotation": rotate_points}


class PointSpread:
    """Running products of the deviations of each point from its target, over the resamples in which it occurs."""

    def __init__(self, target: np.ndarray) -> None:
        m, k = target.shape
        self.target = target
        self.count = np.zeros(m)
        self.products = np.zeros((m, k, k))

    def add_points(self, points: np.ndarray) -> None:
        """Add the points of a resample; those that it lacks are NaN."""
        seen = np.isfinite(points).all(axis=1)
        deviation = points[seen] - self.target[seen]
        self.count[seen] += 1
        self.products[seen] += deviation[:, :, None] * deviation[:, None, :]

    def compute_covariance(self) -> np.ndarray:
        """Compute the mean products; NaN for points that occur fewer than three times."""
        return self.products / np.where(self.count > 2, self.count, np.nan)[:, None, None]
