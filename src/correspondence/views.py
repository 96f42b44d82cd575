"""Tests of components on all pairs, none of which has to be held out.

A view is a way to look for dependence: features of both variables, each learned from one variable alone, and singular
values of the matrix of covariances between them. For the first component they are compared with those of pairs whose
partners are exchanged at random, which is exact. Component k + 1 is tested by singular value k + 1, which is compared
with that of a matrix of rank k, the best fit to the given one, plus noise: that of the covariances, drawn by giving
each pair a random sign, or for labels that of tables drawn from the model of rank k. So what is counted as noise knows
that a strong component is found only roughly, and that the spread of y may depend on x.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["FeatureView", "InTurn", "LabelView", "View", "label_view", "run_in_turn", "whitened_view"]

MAX_FEATURES = 60  # of each side of a view; the leading ones
MAX_CELLS = 250_000  # of a table of labels that is tested as a whole
MIN_EXCHANGES = 199
WORK = 1.5e9  # multiplications for the exchanges of one view: about a second
PSEUDO_COUNT = 8.0  # added to the count of each label, so that rare ones cannot carry a component on their own
SCALES_OF_LATER = 2  # the smoothest, for components after the first: noise of many features is hard to draw
SEEN = 0.05  # p-value of a component at a scale, up to which later ones are tested there
RANK = 1e-26  # variance of a direction of features, of the largest, below which it is rounding
NEARLY_COLLINEAR = 1e-6  # variance of a direction, of the largest, below which squares are not exact enough
TINY = 1e-9  # smallest mean square of a product of two features of variance 1
HOPELESS = 0.5  # p-value after which later components are not tested


class View(ABC):
    """One way to look for dependence between two variables."""

    n: int

    @property
    @abstractmethod
    def cost(self) -> float:
        """Multiplications for one exchange and one row."""

    @abstractmethod
    def take(self, rows: np.ndarray) -> View:
        """Return the view of some of the rows."""

    @abstractmethod
    def compute_statistics(self, k: int, orders: np.ndarray, seed: int) -> np.ndarray:
        """Statistics of component k + 1 for the given pairs, and below for variables that have k components.

        Parameters
        ----------
        k : int
            Number of components that there are.
        orders : ndarray of shape (draws, n)
            Exchanges of partners, for k = 0.
        seed : int
            Seed of other draws.
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

    def take(self, rows: np.ndarray) -> FeatureView:  # noqa: D102
        return FeatureView(self.x[rows], self.y[rows], self.scales)

    def compute_statistics(self, k: int, orders: np.ndarray, seed: int) -> np.ndarray:  # noqa: D102
        return self._exchange(orders) if k == 0 else self._flip(k, len(orders), seed)

    def _exchange(self, orders: np.ndarray) -> np.ndarray:
        """Statistics of independent variables: partners are exchanged."""
        x2, y2 = self.x**2, self.y**2
        K = np.empty((1 + len(orders), self.x.shape[1], self.y.shape[1]))
        for i, order in enumerate([np.arange(self.n), *orders]):
            error = np.sqrt(np.maximum(x2.T @ y2[order] / self.n, TINY))
            K[i] = self.x.T @ self.y[order] / self.n / error
        statistics = []
        for weights_x, weights_y in self.scales:
            M = weights_x[:, None] * K * weights_y
            statistics += [_find_singular_value(M, 0), np.sqrt((M**2).sum(axis=(1, 2)))]
        return np.column_stack(statistics)

    def _flip(self, k: int, n_draws: int, seed: int) -> np.ndarray:
        """Statistics of variables with k components: these, and the noise of the covariances with random signs."""
        rng = np.random.default_rng([seed, k])
        K = self.x.T @ self.y / self.n
        noise = np.empty((n_draws, *K.shape))
        for draw in noise:
            signs = rng.choice([-1.0, 1.0], self.n)
            draw[:] = (self.x * signs[:, None]).T @ self.y / self.n - signs.mean() * K
        statistics = []
        for weights_x, weights_y in self.scales[:SCALES_OF_LATER]:
            scaled = weights_x[:, None] * noise * weights_y
            U, s, Vt = np.linalg.svd(weights_x[:, None] * K * weights_y, full_matrices=False)
            before, null = (_find_singular_value((U[:, :j] * s[:j]) @ Vt[:j] + scaled, j) for j in (k - 1, k))
            # Where component k does not stand out, the model has noise in its place, and the rest looks too large.
            is_seen = k < len(s) and s[k - 1] > np.quantile(before, 1 - SEEN)
            statistics.append(np.append(s[k], null) if is_seen else np.zeros(1 + n_draws))
        return np.column_stack(statistics)


@dataclass(frozen=True, eq=False)
class LabelView(View):
    """Two columns of labels as codes from 0 on: singular values of the table, with pseudo-counts in the margins."""

    x: np.ndarray
    y: np.ndarray
    shape: tuple[int, int]

    @property
    def n(self) -> int:  # type: ignore[override]  # noqa: D102
        return len(self.x)

    @property
    def cost(self) -> float:  # noqa: D102
        return 10.0 + self.shape[0] * self.shape[1] * min(self.shape) / self.n

    def take(self, rows: np.ndarray) -> LabelView:  # noqa: D102
        return LabelView(self.x[rows], self.y[rows], self.shape)

    def compute_statistics(self, k: int, orders: np.ndarray, seed: int) -> np.ndarray:  # noqa: D102
        table = self._count(self.y)
        if k == 0:
            tables = [table, *(self._count(self.y[order]) for order in orders)]
            return np.array([_summarise_table(counts, 0) for counts in tables])
        rng = np.random.default_rng([seed, k])
        totals, given_x = _fit_rank(table, k)
        tables = [table, *(rng.multinomial(totals, given_x).astype(np.float64) for _ in orders)]
        return np.array([_summarise_table(counts, k)[:1] for counts in tables])

    def _count(self, y: np.ndarray) -> np.ndarray:
        cells = np.bincount(self.x * self.shape[1] + y, minlength=self.shape[0] * self.shape[1])
        return cells.reshape(self.shape).astype(np.float64)


def label_view(x: np.ndarray, y: np.ndarray) -> LabelView | None:
    """View of two columns of codes; None if their table is too large to be tested as a whole."""
    shape = int(x.max()) + 1, int(y.max()) + 1
    if shape[0] > shape[1]:  # totals of the longer side are kept when tables are drawn
        return LabelView(x, y, shape) if shape[0] * shape[1] <= MAX_CELLS else None
    return LabelView(y, x, shape[::-1]) if shape[0] * shape[1] <= MAX_CELLS else None


def whitened_view(F: np.ndarray, G: np.ndarray, *, by_variance: bool = False) -> FeatureView | None:
    """View of features by their principal directions; None if one side does not vary.

    Parameters
    ----------
    F, G : ndarray of shape (n, p) and (n, q)
        Features of the two variables.
    by_variance : bool
        Whether a direction counts by its standard deviation, as in the space of a kernel, and at a second scale by
        what a ridge of a tenth of the largest variance leaves of it. Otherwise all directions count alike if there are
        enough rows for them, and by what a ridge leaves of them if there are not.
    """
    (x, a), (y, b) = (_whiten(Z, standardise=not by_variance) for Z in (F, G))
    if not (len(a) and len(b)):
        return None
    if by_variance:
        scales = [(np.sqrt(a), np.sqrt(b)), (_shrink(a, 0.1 * a[0]), _shrink(b, 0.1 * b[0]))]
    elif len(F) >= 4 * (F.shape[1] + G.shape[1]):
        scales = [(np.ones(len(a)), np.ones(len(b)))]
    else:
        scales = [(_shrink(a, 1.0), _shrink(b, 1.0)), (np.sqrt(a), np.sqrt(b))]
    return FeatureView(x, y, scales)


def _shrink(variances: np.ndarray, ridge: float) -> np.ndarray:
    return np.sqrt(variances / (variances + ridge))


def _whiten(Z: np.ndarray, standardise: bool) -> tuple[np.ndarray, np.ndarray]:
    """Leading principal directions with variance 1, and the variances that they had."""
    Z = Z - Z.mean(axis=0)
    scale = Z.std(axis=0)
    Z = Z[:, scale > 0] / (scale[scale > 0] if standardise else 1.0)
    rows, values = _find_principal_rows(Z)
    rank = min(Z.shape[1], len(Z) - 1)  # of centred rows
    keep = (values[:MAX_FEATURES] > RANK * values.max(initial=0)) & (np.arange(len(values))[:MAX_FEATURES] < rank)
    rows, values = rows[:, :MAX_FEATURES][:, keep], values[:MAX_FEATURES][keep]
    return rows / np.maximum(rows.std(axis=0), np.finfo(float).tiny), values


def _find_principal_rows(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal components of centred rows in any units, and their variances, largest first."""
    n, p = Z.shape
    if not p:
        return Z, np.empty(0)
    if n < p:
        values, vectors = np.linalg.eigh(Z @ Z.T / n)
        return vectors[:, ::-1], values[::-1]
    values, vectors = np.linalg.eigh(Z.T @ Z / n)
    if values[0] < NEARLY_COLLINEAR * values[-1] and n * p**2 < WORK:
        U, s, _ = np.linalg.svd(Z, full_matrices=False)  # squares lose what tells nearly collinear columns apart
        return U, s**2 / n
    return Z @ vectors[:, ::-1], values[::-1]


def _find_singular_value(M: np.ndarray, k: int) -> np.ndarray:
    """Singular value k + 1 of each of some matrices, 0 where there is none."""
    if k >= min(M.shape[1:]):
        return np.zeros(len(M))
    gram = M @ M.transpose(0, 2, 1) if M.shape[1] <= M.shape[2] else M.transpose(0, 2, 1) @ M
    return np.sqrt(np.maximum(np.linalg.eigvalsh(gram)[:, -1 - k], 0))


# --- tables of labels


def _ridge_residuals(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Deviation from independence in units of the margins with pseudo-counts, these units, and the independent part."""
    n = counts.sum()
    p, q = counts.sum(axis=1) / n, counts.sum(axis=0) / n
    x, y = np.sqrt(p + PSEUDO_COUNT / n), np.sqrt(q + PSEUDO_COUNT / n)
    independent = np.outer(p, q)
    return (counts / n - independent) / np.outer(x, y), x, y, independent


def _summarise_table(counts: np.ndarray, k: int) -> tuple[float, float]:
    """Singular value k + 1 of the table, and the norm of all from there on."""
    K = _ridge_residuals(counts)[0]
    gram = K @ K.T if K.shape[0] <= K.shape[1] else K.T @ K
    values = np.maximum(np.linalg.eigvalsh(gram)[::-1], 0)[k:]
    return (float(np.sqrt(values[0])), float(np.sqrt(values.sum()))) if len(values) else (0.0, 0.0)


def _fit_rank(counts: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Totals of the rows, and probabilities of the columns given the row in the model of k components."""
    K, x, y, independent = _ridge_residuals(counts)
    U, s, Vt = np.linalg.svd(K, full_matrices=False)
    joint = np.maximum(independent + np.outer(x, y) * ((U[:, :k] * s[:k]) @ Vt[:k]), 0)
    totals = joint.sum(axis=1, keepdims=True)
    given_x = np.where(totals > 0, joint / np.where(totals > 0, totals, 1), counts.sum(axis=0) / counts.sum())
    return counts.sum(axis=1).round().astype(np.int64), given_x


# --- one component after the other


@dataclass(frozen=True, eq=False)
class InTurn:
    """Result of testing components one after the other.

    Attributes
    ----------
    pvalues : ndarray of shape (d,)
        P-value of each component, never smaller than that of the one before.
    statistics : ndarray of shape (d,)
        The first statistic of the first view for each component; 0 for components that were not tested.
    null : ndarray of shape (n_draws, d)
        The same for variables that have the components before, and no other.
    """

    pvalues: np.ndarray
    statistics: np.ndarray
    null: np.ndarray


def run_in_turn(
    views: Sequence[View], d: int, n_draws: int, seed: int, stop_above: float = HOPELESS, start: int = 0
) -> InTurn:
    """Test d components one after the other, until one is not more than chance.

    Parameters
    ----------
    views : sequence of View
        Where dependence is looked for. Each statistic is compared with its own spread under chance, and the one that
        stands out most decides.
    d : int
        Number of components to test.
    n_draws : int
        Random draws to compare with; fewer for many pairs, but at least 199.
    seed : int
        Seed of the draws.
    stop_above : float
        P-value above which later components are not tested; theirs is 1.
    start : int
        Components that need no test; their p-value is 0.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3)); Y = rng.normal(size=(300, 3)); Y[:, :1] += X[:, :1]
    >>> run_in_turn([whitened_view(X, Y)], 2, 199, 0).pvalues <= 0.05
    array([ True, False])
    """
    rng = np.random.default_rng([seed, 7])
    n_draws, rows = _afford(views, n_draws, rng)
    if rows is not None:
        views = [view.take(rows) for view in views]
    orders = np.array([rng.permutation(views[0].n) for _ in range(n_draws)])
    pvalues, observed, null = np.ones(d), np.zeros(d), np.zeros((n_draws, d))
    pvalues[:start] = 0.0
    for k in range(start, d):
        S = np.hstack([view.compute_statistics(k, orders, seed) for view in views])
        observed[k], null[:, k] = S[0, 0], S[1:, 0]
        pvalues[k] = _compare(S)
        if pvalues[: k + 1].max() > stop_above:
            break
    return InTurn(np.maximum.accumulate(pvalues), observed, null)


def _afford(views: Sequence[View], n_draws: int, rng: np.random.Generator) -> tuple[int, np.ndarray | None]:
    """Exchanges and rows that cost no more than `WORK`: first fewer exchanges, then fewer rows."""
    n, cost = views[0].n, max(view.cost for view in views)
    n_draws = max(min(n_draws, MIN_EXCHANGES), min(n_draws, int(WORK / (n * cost))))
    most = max(1000, int(WORK / (n_draws * cost)))
    return n_draws, np.sort(rng.permutation(n)[:most]) if n > most else None


def _compare(S: np.ndarray) -> float:
    """P-value of the first row, by the statistic that stands out most from all rows."""
    spread = S.std(axis=0)
    Z = (S - S.mean(axis=0)) / np.where(spread > 0, spread, 1)
    largest = Z.max(axis=1)
    return float((1 + (largest[1:] >= largest[0] - 1e-9).sum()) / len(largest))
