"""Clouds of points as the data would give them if there were no clusters."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.signal import find_peaks
from sklearn.decomposition import FastICA

from correspondence.describe.clusters.reading import LabelledPoints

__all__ = ["AnswersOfOneCloud", "OneModeCloud", "Reference", "choose_reference"]

MAX_ROWS_OF_CLOUD = 5000
N_BINS = 512
MIN_ROWS_OF_MODE = 4  # fewer rows that lie apart are outliers, no mode
N_BANDWIDTHS = 12  # halvings of the interval in which the critical bandwidth lies


class Reference(Protocol):
    """A cloud without clusters, from which points can be drawn."""

    def draw_points(self, n: int, random_state: np.random.Generator) -> np.ndarray:
        """Draw n points in principal coordinates."""


@dataclass(frozen=True, eq=False)
class OneModeCloud:
    """Independent directions, each with the distribution of the data, smoothed until it has one mode.

    The directions are those of an independent component analysis. The bandwidth is the smallest with a single mode
    (Silverman's critical bandwidth). So long tails, skewness and flat tops of the data are in the cloud, but no
    valleys. All points drawn together have the covariance of the data.

    Attributes
    ----------
    moments : CloudMoments
        The mean and the covariance of the data.
    scores : ndarray of shape (n, d)
        The points along these directions, with variance 1.
    mixing : ndarray of shape (d, d)
        What leads from the scores back to the points.
    bandwidths : ndarray of shape (d,)
        The critical bandwidth of each direction.
    shares : ndarray of shape (n,)
        The shares of the points, by which they are drawn.
    """

    moments: CloudMoments
    scores: np.ndarray
    mixing: np.ndarray
    bandwidths: np.ndarray
    shares: np.ndarray

    @classmethod
    def from_points(cls, points: np.ndarray, weights: np.ndarray) -> OneModeCloud:
        """Smooth the directions of some points."""
        moments = CloudMoments.from_points(points, weights)
        if len(points) > MAX_ROWS_OF_CLOUD:
            rows = np.random.default_rng(0).choice(len(points), MAX_ROWS_OF_CLOUD, replace=False)
            points, weights = points[rows], weights[rows]
        shares = weights / weights.sum()
        white = (points - moments.mean) @ np.linalg.pinv(moments.root)
        turn = _find_independent_directions(white)
        scores = white @ turn
        bandwidths = np.array([_find_critical_bandwidth(own, shares) for own in scores.T])
        return cls(moments, scores, turn.T @ moments.root, bandwidths, shares)

    def draw_points(self, n: int, random_state: np.random.Generator) -> np.ndarray:
        """Draw n points: each direction is drawn on its own."""
        d = self.scores.shape[1]
        rows = np.column_stack([_draw_evenly(self.shares, n, random_state) for _ in range(d)])
        drawn = np.take_along_axis(self.scores, rows, axis=0)
        drawn += self.bandwidths * random_state.normal(size=(n, d))
        return self.moments.match_points(drawn @ self.mixing)


@dataclass(frozen=True, eq=False)
class CloudMoments:
    """The mean of a cloud of points, and the symmetric root of their covariance."""

    mean: np.ndarray
    root: np.ndarray

    @classmethod
    def from_points(cls, points: np.ndarray, weights: np.ndarray) -> CloudMoments:
        """Compute the weighted moments of some points."""
        shares = weights / weights.sum()
        mean = shares @ points
        values, vectors = np.linalg.eigh((shares[:, None] * (points - mean)).T @ (points - mean))
        return cls(mean, (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)

    def match_points(self, points: np.ndarray) -> np.ndarray:
        """Move, turn and stretch other points, as little as possible, so that they have these moments."""
        own = CloudMoments.from_points(points, np.ones(len(points)))
        return self.mean + (points - own.mean) @ np.linalg.pinv(own.root) @ self.root


def _draw_evenly(shares: np.ndarray, n: int, random_state: np.random.Generator) -> np.ndarray:
    """Draw n rows in random order, each as often as its share says, but for rounding.

    Rows that are drawn independently are repeated by chance, and an outlier that is drawn three times is a cluster.
    """
    order = random_state.permutation(len(shares))
    ends = np.cumsum(shares[order])
    places = (np.arange(n) + random_state.random()) / n * ends[-1]
    return random_state.permutation(order[np.minimum(np.searchsorted(ends, places), len(order) - 1)])


def _find_independent_directions(white: np.ndarray) -> np.ndarray:
    """Return the rotation of uncorrelated axes to the directions that are most independent of each other."""
    if white.shape[1] == 1:
        return np.eye(1)
    model = FastICA(whiten=False, random_state=0, tol=1e-3)
    with warnings.catch_warnings(action="ignore"):  # of a Gaussian cloud all directions are as good
        return np.asarray(model.fit(white).components_.T)


def _find_critical_bandwidth(values: np.ndarray, shares: np.ndarray) -> float:
    """Find the smallest bandwidth at which a kernel density of the values has one mode."""
    low, high = values.min(), values.max()
    width = high - low
    if width < 1e-12:
        return 0.0
    bins = np.histogram(values, N_BINS, (low - width / 2, high + width / 2), weights=shares)[0]
    too_small, enough = 0.0, float(N_BINS)
    for _ in range(N_BANDWIDTHS):
        middle = (too_small + enough) / 2
        density = gaussian_filter1d(bins, middle, mode="constant")
        least = MIN_ROWS_OF_MODE / (len(values) * np.sqrt(2 * np.pi) * middle)  # what so many rows add to the density
        peaks = find_peaks(density, prominence=least)[0]
        too_small, enough = (middle, enough) if len(peaks) > 1 else (too_small, middle)
    return float(enough * 2 * width / N_BINS)


@dataclass(frozen=True, eq=False)
class AnswersOfOneCloud:
    """Rows whose answers depend on a Gaussian position only, as much as those of the data depend on the axes.

    The chance of an answer is its share plus a linear function of the position, and columns are independent given the
    position. Independent columns have no position, and a horseshoe is one: both are clouds without clusters, with as
    few different rows as the data.

    Attributes
    ----------
    shares : list of ndarray
        The shares of the answers of each column.
    slopes : list of ndarray of shape (answers, d)
        What the chances gain for each unit along the axes.
    places : list of ndarray of shape (answers, d)
        What each answer adds to the coordinates of a row.
    moments : CloudMoments
        The mean and the covariance of the data, which all points drawn together have: chances cannot be negative, so
        that strong dependence comes out too weak.
    """

    shares: list[np.ndarray]
    slopes: list[np.ndarray]
    places: list[np.ndarray]
    moments: CloudMoments

    @classmethod
    def from_analysis(cls, analysis: Any, scale: np.ndarray, d: int, moments: CloudMoments) -> AnswersOfOneCloud:
        """Read the axes of an analysis of columns of answers, whose rows have scores times `scale` as coordinates."""
        axes, k = analysis.axes, len(analysis.blocks)
        # An axis explains the share pic of the columns on average, but each column by its own part in the axis too:
        # pic = 1/k + (k - 1)/k * between, and only what is between columns comes from the position.
        pics = np.maximum(axes.eigenvalues[:d] / k, 1e-300)
        between = np.maximum((pics - 1 / k) * k / max(k - 1, 1), 0)
        slopes = axes.covariance[:, :d] * np.sqrt(between / pics)
        places = axes.weights[:, :d] * scale[:d]
        parts = [block.features for block in analysis.blocks]
        mean = np.maximum(analysis.moments.mean, 0)
        return cls(
            [mean[part] / mean[part].sum() for part in parts],
            [slopes[part] for part in parts],
            [places[part] for part in parts],
            moments,
        )

    def draw_points(self, n: int, random_state: np.random.Generator) -> np.ndarray:
        """Draw n rows and place them by the axes of the data."""
        position = random_state.normal(size=(n, len(self.moments.mean)))
        places = np.zeros(position.shape)
        for shares, slopes, own in zip(self.shares, self.slopes, self.places, strict=True):
            chances = np.maximum(shares + position @ slopes.T, 0)
            cumulated = np.cumsum(chances, axis=1)
            draws = random_state.random(n) * cumulated[:, -1]
            places += own[np.minimum((cumulated <= draws[:, None]).sum(axis=1), len(shares) - 1)]
        return self.moments.match_points(places)


def choose_reference(est: Any, side: str, points: LabelledPoints, usable: np.ndarray) -> Reference:
    """Return the cloud without clusters that is likest to the points."""
    analysis = getattr(est, "_analysis", None)
    d = points.coordinates.shape[1]
    if analysis is None or side != "x" or analysis.is_subpopulation:
        return OneModeCloud.from_points(points.coordinates[usable], points.weights[usable])
    if all(block.kind == "labels" for block in analysis.blocks):
        moments = CloudMoments.from_points(points.coordinates[usable], points.weights[usable])
        return AnswersOfOneCloud.from_analysis(analysis, est._row_correlations, d, moments)
    return OneModeCloud.from_points(points.coordinates[usable], points.weights[usable])
