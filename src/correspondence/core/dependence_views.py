"""Tests of components on all pairs, without holding any out.

A view is a way to look for dependence: features of both variables, each learned from one variable alone, and singular
values of the matrix of covariances between them. For the first component they are compared with those of pairs whose
partners are exchanged at random, which is exact. Component k + 1 is tested by singular value k + 1, which is compared
with that of a matrix of rank k, the best fit to the given one, plus noise: that of the covariances, drawn by giving
each pair a random sign, or for labels that of tables drawn from the model of rank k. So the noise allows for strong
components that are found only roughly, and for a spread of y that depends on x.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.stats import gamma

from correspondence._util.threads import limit_blas_threads
from correspondence.results.component_tests import ALL_PAIRS

__all__ = [
    "FeatureView",
    "InTurn",
    "View",
    "find_singular_value",
    "run_in_turn",
    "view_whitened",
]

MAX_FEATURES = 60  # leading features of each side of a view
MIN_EXCHANGES = 199
MAX_MULTIPLICATIONS = 1.5e9  # multiplications for the exchanges of one view: about a second
CLEAR_PVALUE = 0.005  # a component with at most this p-value at a scale lets the next be tested there
WEAK_PVALUE = 0.05  # the same if no scale has a clear component
RANK_TOLERANCE = 1e-26  # a direction of features whose variance is a smaller share of the largest is rounding
NEARLY_COLLINEAR = 1e-6  # below this share of the largest variance squares are not exact enough
TIED_VARIANCE_TOLERANCE = 1e-6  # variances of two directions are equal up to this relative difference
MIN_PRODUCT_MEAN_SQUARE = 1e-9  # smallest mean square of a product of two features of variance 1
MAX_BLOCKS = 1000  # blocks of pairs that share a random sign, if there are more pairs: all are used at little cost
STATISTIC_TOLERANCE = 1e-9  # statistics are equal up to this relative difference
HOPELESS_PVALUE = 0.5  # above this p-value later components are not tested


class View(ABC):
    """One way to look for dependence between two variables."""

    n: int
    kind: ClassVar[str] = ALL_PAIRS

    @property
    @abstractmethod
    def cost(self) -> float:
        """Number of multiplications for one exchange and one row."""

    @abstractmethod
    def take_rows(self, rows: np.ndarray) -> View:
        """Return the view of some of the rows."""

    @abstractmethod
    def exchange_partners(self, orders: np.ndarray) -> np.ndarray:
        """Compute statistics of the first component for the given pairs, and below for exchanged partners.

        Parameters
        ----------
        orders : ndarray of shape (draws, n)
            Each row is one order of the partners.
        """

    @classmethod
    def plan_chance(cls, views: Sequence[Any], n_draws: int, seed: int) -> tuple[int, Callable[[], np.ndarray]]:
        """Say how often chance can be drawn, and how: here by the same exchanges of partners in all views.

        Parameters
        ----------
        views : sequence of View
            Views of the same pairs, and of this class.
        n_draws : int
            Draw this many times, or fewer if the pairs are many.
        seed : int
            The draws depend on this seed.

        Returns
        -------
        int
            The number of draws.
        callable
            It computes statistics of the first component in all views for the pairs, and below for each draw.
        """
        rng = np.random.default_rng([seed, 7])
        n_draws, rows = limit_work(views, n_draws, rng)

        def draw() -> np.ndarray:
            exchanged = views if rows is None else [view.take_rows(rows) for view in views]
            orders = np.empty(
                (n_draws, exchanged[0].n), dtype=np.int32
            )  # hundreds of orders of 200,000 pairs fill memory
            for order in orders:
                order[:] = rng.permutation(len(order))
            return np.hstack([view.exchange_partners(orders) for view in exchanged])

        return n_draws, draw

    @abstractmethod
    def draw_noise(self, k: int, n_draws: int, seed: int) -> np.ndarray:
        """Compute statistics of component k + 1 for the pairs, and below for draws of variables with k components.

        There are none if component k does not stand out.

        Parameters
        ----------
        k : int
            The model has this many components, at least 1.
        n_draws : int
            Draw this many times.
        seed : int
            The draws depend on this seed.
        """


@dataclass(frozen=True, eq=False)
class FeatureView(View):
    """Features x and y, uncorrelated with mean 0 and variance 1, and their weights at several scales.

    The statistics of a scale are singular values of the weighted matrix of covariances, and for the first component its
    norm. There each covariance is in units of its own standard error: variables that merely share a scale then look
    uncorrelated, as they are.
    """

    x: np.ndarray
    y: np.ndarray
    scales: Sequence[tuple[np.ndarray, np.ndarray]]

    @property
    def n(self) -> int:  # type: ignore[override]  # noqa: D102
        return len(self.x)

    @property
    def cost(self) -> float:  # noqa: D102
        return 2.0 * self.x.shape[1] * self.y.shape[1]

    def take_rows(self, rows: np.ndarray) -> FeatureView:  # noqa: D102
        return FeatureView(self.x[rows], self.y[rows], self.scales)

    def exchange_partners(self, orders: np.ndarray) -> np.ndarray:  # noqa: D102
        x2, y2 = self.x**2, self.y**2
        K = np.empty((1 + len(orders), self.x.shape[1], self.y.shape[1]))
        for i, order in enumerate([np.arange(self.n), *orders]):
            error = np.sqrt(np.maximum(x2.T @ y2[order] / self.n, MIN_PRODUCT_MEAN_SQUARE))
            K[i] = self.x.T @ self.y[order] / self.n / error
        statistics = []
        for weights_x, weights_y in self.scales:
            M = weights_x[:, None] * K * weights_y
            statistics += [find_singular_value(M, 0), np.sqrt((M**2).sum(axis=(1, 2)))]
        return np.column_stack(statistics)

    def draw_noise(self, k: int, n_draws: int, seed: int) -> np.ndarray:
        """Draw the noise of the covariances by random signs of the pairs, or of blocks of them where there are many."""
        rng = np.random.default_rng([seed, k])
        K = self.x.T @ self.y / self.n
        noise = self._draw_covariances(K, n_draws, rng)
        scales = (
            [_Scale(x[:, None] * K * y, x[:, None] * noise * y) for x, y in self.scales] if k < min(K.shape) else []
        )
        # Where component k does not stand out, the model has noise in its place, and later ones look too large.
        clearness = [scale.compare_with_draws(k - 1) for scale in scales]
        limit = next((p for p in (CLEAR_PVALUE, WEAK_PVALUE) if min(clearness, default=1.0) <= p), 0.0)
        tested = [scale.compute_statistics(k) for scale, p in zip(scales, clearness, strict=True) if p <= limit]
        return np.column_stack([np.empty((1 + n_draws, 0)), *tested])

    def _draw_covariances(self, K: np.ndarray, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        draw = self._draw_by_pairs if self.n <= MAX_BLOCKS else self._draw_by_blocks
        return draw(K, n_draws, rng)

    def _draw_by_pairs(self, K: np.ndarray, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        noise = np.empty((n_draws, *K.shape))
        for draw in noise:
            signs = rng.choice([-1.0, 1.0], self.n)
            draw[:] = (self.x * signs[:, None]).T @ self.y / self.n - signs.mean() * K
        return noise

    def _draw_by_blocks(self, K: np.ndarray, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the same noise from sums over blocks of pairs, which vary as much as the pairs in them do."""
        order = rng.permutation(self.n)  # neighbours in a file may be alike
        parts = np.array_split(order, MAX_BLOCKS)
        sums = np.array([self.x[rows].T @ self.y[rows] - len(rows) * K for rows in parts]) / self.n
        signs = rng.choice([-1.0, 1.0], (n_draws, MAX_BLOCKS))
        return (signs @ sums.reshape(MAX_BLOCKS, -1)).reshape(n_draws, *K.shape)


class _Scale:
    """Weighted covariances, and draws of their noise."""

    def __init__(self, M: np.ndarray, noise: np.ndarray) -> None:
        self.U, self.s, self.Vt = np.linalg.svd(M, full_matrices=False)
        self.noise = noise

    def compute_statistics(self, k: int) -> np.ndarray:
        """Compute singular value k + 1, and below those of the best fit of rank k with noise."""
        model = (self.U[:, :k] * self.s[:k]) @ self.Vt[:k]
        return np.append(self.s[k], find_singular_value(model + self.noise, k))

    def compare_with_draws(self, k: int) -> float:
        """Compute the share of draws whose singular value k + 1 reaches that of the pairs."""
        own, *drawn = self.compute_statistics(k)
        return float(np.mean(np.array(drawn) >= own))


def view_whitened(F: np.ndarray, G: np.ndarray, *, by_variance: bool = False) -> FeatureView | None:
    """Make a view of features by their principal directions; None if one side does not vary.

    Parameters
    ----------
    F, G : ndarray of shape (n, p) and (n, q)
        These are the features of the two variables.
    by_variance : bool
        If true, a direction counts by its standard deviation, as in the space of a kernel, and at a second scale by
        what a ridge of a tenth of the largest variance leaves of it. Otherwise all directions count alike if there are
        enough rows for them, and by what a ridge leaves of them if there are not.
    """
    (x, a), (y, b) = (whiten_features(Z, standardise=not by_variance) for Z in (F, G))
    if not (len(a) and len(b)):
        return None
    if by_variance:
        scales = [(np.sqrt(a), np.sqrt(b)), (_shrink_deviations(a, 0.1 * a[0]), _shrink_deviations(b, 0.1 * b[0]))]
    elif len(F) >= 4 * (F.shape[1] + G.shape[1]):
        scales = [(np.ones(len(a)), np.ones(len(b)))]
    else:
        scales = [(_shrink_deviations(a, 1.0), _shrink_deviations(b, 1.0)), (np.sqrt(a), np.sqrt(b))]
    return FeatureView(x, y, scales)


def _shrink_deviations(variances: np.ndarray, ridge: float) -> np.ndarray:
    return np.sqrt(variances / (variances + ridge))


def whiten_features(Z: np.ndarray, standardise: bool) -> tuple[np.ndarray, np.ndarray]:
    """Find leading principal directions, scaled to variance 1, and the variances that they had."""
    Z = Z - Z.mean(axis=0)
    scale = Z.std(axis=0)
    Z = Z[:, scale > 0] / (scale[scale > 0] if standardise else 1.0)
    rows, values = find_principal_rows(Z)
    most = min(MAX_FEATURES, Z.shape[1], len(Z) - 1)  # the rank of centred rows
    keep = values[:most] > RANK_TOLERANCE * values.max(initial=0)
    if len(values) > MAX_FEATURES:
        # A choice among directions that vary alike, as those of labels that occur once each, has no meaning.
        keep &= values[:most] > (1 + TIED_VARIANCE_TOLERANCE) * values[MAX_FEATURES]
    rows, values = rows[:, :most][:, keep], values[:most][keep]
    return rows / np.maximum(rows.std(axis=0), np.finfo(float).tiny), values


def find_principal_rows(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the principal components of centred rows, in any units, and their variances, largest first."""
    n, p = Z.shape
    if not p:
        return Z, np.empty(0)
    if n < p:
        values, vectors = np.linalg.eigh(Z @ Z.T / n)
        return vectors[:, ::-1], values[::-1]
    values, vectors = np.linalg.eigh(Z.T @ Z / n)
    if values[0] < NEARLY_COLLINEAR * values[-1] and n * p**2 < MAX_MULTIPLICATIONS:
        U, s, _ = np.linalg.svd(Z, full_matrices=False)  # squares lose what distinguishes nearly collinear columns
        return U, s**2 / n
    return Z @ vectors[:, ::-1], values[::-1]


def find_singular_value(M: np.ndarray, k: int) -> np.ndarray:
    """Find singular value k + 1 of each of some matrices, 0 where there is none."""
    if k >= min(M.shape[1:]):
        return np.zeros(len(M))
    gram = M @ M.transpose(0, 2, 1) if M.shape[1] <= M.shape[2] else M.transpose(0, 2, 1) @ M
    return np.sqrt(np.maximum(np.linalg.eigvalsh(gram)[:, -1 - k], 0))


# --- one component after the other


@dataclass(frozen=True, eq=False)
class InTurn:
    """Result of testing components one after the other.

    Attributes
    ----------
    pvalues : ndarray of shape (d,)
        P-value of each component, never smaller than that of the one before.
    statistics : ndarray of shape (d,)
        First statistic of the first view for each component; 0 for components that were not tested.
    null : ndarray of shape (n_draws, d)
        The same statistic for variables that have the earlier components and no other.
    """

    pvalues: np.ndarray
    statistics: np.ndarray
    null: np.ndarray


def run_in_turn(
    views: Sequence[View], d: int, n_draws: int, seed: int, stop_above: float = HOPELESS_PVALUE, start: int = 0
) -> InTurn:
    """Test d components one after the other, until one is not more than chance.

    Parameters
    ----------
    views : sequence of View
        Look for dependence in these views. Each statistic is compared with its own spread under chance, and the one
        that stands out most decides; after the first component its p-value is multiplied by the number of statistics.
    d : int
        Test at most this many components.
    n_draws : int
        Compare with this many random draws; fewer for many pairs, but at least 199.
    seed : int
        The draws depend on this seed.
    stop_above : float
        After a larger p-value later components are not tested; theirs is 1.
    start : int
        This many components need no test; their p-value is 0.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3)); Y = rng.normal(size=(300, 3)); Y[:, :1] += X[:, :1]
    >>> run_in_turn([view_whitened(X, Y)], 2, 199, 0).pvalues <= 0.05
    array([ True, False])
    """
    n_draws, draw_first = type(views[0]).plan_chance(views, n_draws, seed)
    pvalues, observed, null = np.ones(d), np.zeros(d), np.zeros((n_draws, d))
    pvalues[:start] = 0.0
    for k in range(start, d):
        with limit_blas_threads(True):  # thousands of small matrices
            if k == 0:
                S = draw_first()
                pvalues[k] = compare_jointly(S)
            else:
                S = np.hstack([view.draw_noise(k, n_draws, seed) for view in views])
                pvalues[k] = compare_each_statistic(S)
        if S.shape[1]:
            observed[k], null[:, k] = S[0, 0], S[1:, 0]
        if pvalues[: k + 1].max() > stop_above:
            break
    return InTurn(np.maximum.accumulate(pvalues), observed, null)


def limit_work(views: Sequence[View], n_draws: int, rng: np.random.Generator) -> tuple[int, np.ndarray | None]:
    """Limit the exchanges, then the rows, of the first test to the cost of `MAX_MULTIPLICATIONS`."""
    n, cost = views[0].n, max(view.cost for view in views)
    n_draws = max(min(n_draws, MIN_EXCHANGES), min(n_draws, int(MAX_MULTIPLICATIONS / (n * cost))))
    most = max(1000, int(MAX_MULTIPLICATIONS / (n_draws * cost)))
    return n_draws, np.sort(rng.permutation(n)[:most]) if n > most else None


def compare_jointly(S: np.ndarray) -> float:
    """Compute the p-value of the first row by the statistic that stands out most; exact for exchangeable rows."""
    centred, spread = S - S.mean(axis=0), S.std(axis=0)
    # Where every exchange gives the same table, as with a label for each row, statistics differ by rounding alone.
    varies = spread > STATISTIC_TOLERANCE * np.abs(S).max(axis=0)
    if not varies.any():
        return 1.0
    largest = (centred[:, varies] / spread[varies]).max(axis=1)
    return float((1 + (largest[1:] >= largest[0] - STATISTIC_TOLERANCE).sum()) / len(largest))


def compare_each_statistic(S: np.ndarray) -> float:
    """Compute the p-value of the first row: the smallest of any statistic, times the number of statistics.

    Draws of noise are exact on average over data sets, but too wide or too narrow for a given one, differently at each
    scale, so that their joint spread would promise too much. What no draw reaches has the p-value of the gamma
    distribution with their mean and variance, but none below that of as many exchanges.
    """
    S = S[:, S.any(axis=0)]
    if not S.shape[1]:
        return 1.0
    own, drawn = S[0], S[1:]
    reached = (drawn >= own * (1 - STATISTIC_TOLERANCE)).sum(axis=0)
    pvalues = (1 + reached) / len(S)
    mean, variance = drawn.mean(axis=0), drawn.var(axis=0)
    is_coarse = (reached == 0) & (variance > STATISTIC_TOLERANCE**2 * own**2)
    shape, scale = mean[is_coarse] ** 2 / variance[is_coarse], variance[is_coarse] / mean[is_coarse]
    pvalues[is_coarse] = np.minimum(pvalues[is_coarse], gamma.sf(own[is_coarse], shape, scale=scale))
    return float(np.clip(S.shape[1] * pvalues.min(), 1 / len(S), 1.0))
