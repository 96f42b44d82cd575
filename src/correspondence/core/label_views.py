"""Tests of components of two columns of labels, on all pairs: singular values of their table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from correspondence.core.dependence_views import View

__all__ = ["LabelView", "fit_rank_model", "view_labels"]

MAX_CELLS = 250_000  # cells of a table of labels that is tested as a whole
PSEUDO_COUNT = 8.0  # added to the count of each label, so that rare ones cannot carry a component on their own


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

    def take_rows(self, rows: np.ndarray) -> LabelView:  # noqa: D102
        return LabelView(self.x[rows], self.y[rows], self.shape)

    def exchange_partners(self, orders: np.ndarray) -> np.ndarray:  # noqa: D102
        tables = [self._count_cells(self.y), *(self._count_cells(self.y[order]) for order in orders)]
        return np.array([summarise_table(counts, 0) for counts in tables])

    def draw_noise(self, k: int, n_draws: int, seed: int) -> np.ndarray:
        """Draw tables from the model of k components."""
        table, rng = self._count_cells(self.y), np.random.default_rng([seed, k])
        totals, given_x = fit_rank_model(table, k)
        tables = [table, *(rng.multinomial(totals, given_x).astype(np.float64) for _ in range(n_draws))]
        return np.array([summarise_table(counts, k)[:1] for counts in tables])

    def _count_cells(self, y: np.ndarray) -> np.ndarray:
        cells = np.bincount(self.x * self.shape[1] + y, minlength=self.shape[0] * self.shape[1])
        return cells.reshape(self.shape).astype(np.float64)


def view_labels(x: np.ndarray, y: np.ndarray) -> LabelView | None:
    """Make a view of two columns of codes; None if their table is too large to be tested as a whole."""
    shape = int(x.max()) + 1, int(y.max()) + 1
    if shape[0] * shape[1] > MAX_CELLS:
        return None
    # The longer side has the rows, whose totals are kept when tables are drawn.
    return LabelView(x, y, shape) if shape[0] > shape[1] else LabelView(y, x, shape[::-1])


def compute_ridge_residuals(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Compute the deviation from independence in units of margins with pseudo-counts, the units, and p(x) p(y)."""
    n = counts.sum()
    p, q = counts.sum(axis=1) / n, counts.sum(axis=0) / n
    x, y = np.sqrt(p + PSEUDO_COUNT / n), np.sqrt(q + PSEUDO_COUNT / n)
    independent = np.outer(p, q)
    return (counts / n - independent) / np.outer(x, y), x, y, independent


def summarise_table(counts: np.ndarray, k: int) -> tuple[float, float]:
    """Compute singular value k + 1 of the table, and the norm of all from there on."""
    K = compute_ridge_residuals(counts)[0]
    gram = K @ K.T if K.shape[0] <= K.shape[1] else K.T @ K
    values = np.maximum(np.linalg.eigvalsh(gram)[::-1], 0)[k:]
    return (float(np.sqrt(values[0])), float(np.sqrt(values.sum()))) if len(values) else (0.0, 0.0)


def fit_rank_model(counts: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Fit the model of k components: totals of the rows, and probabilities of the columns given the row."""
    K, x, y, independent = compute_ridge_residuals(counts)
    U, s, Vt = np.linalg.svd(K, full_matrices=False)
    joint = np.maximum(independent + np.outer(x, y) * ((U[:, :k] * s[:k]) @ Vt[:k]), 0)
    totals = joint.sum(axis=1, keepdims=True)
    given_x = np.where(totals > 0, joint / np.where(totals > 0, totals, 1), counts.sum(axis=0) / counts.sum())
    return counts.sum(axis=1).round().astype(np.int64), given_x
