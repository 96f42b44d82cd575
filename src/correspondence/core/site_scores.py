"""Scores of functions on the rows of a table, such as sites: intervals are by leaving out rows, not single counts.

The counts of a row share its x. As units that vary independently there are the rows, or groups of them, so that means
over independent x and y are taken over different groups, and errors come from leaving out each group in turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from correspondence.core.pair_summary import (
    Spread,
    compute_correlations,
    compute_jackknife_terms,
    find_correlation_intervals,
)
from correspondence.results.evidence import LEVEL, HeldOut

__all__ = ["HeldOutRows", "compute_row_terms", "correlate_rows", "score_rows", "sum_groups"]

MIN_VARIANCE_SHARE = 1e-9  # a function of less of the total weight does not vary


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Functions at rows of a table, and the counts of these rows.

    Attributes
    ----------
    F : ndarray of shape (n, d)
        The values of f at the rows.
    G : ndarray of shape (m, d)
        The values of g at the columns.
    correlations : ndarray of shape (d,)
        What the fit claims.
    counts : ndarray of shape (n, m)
        The counts.
    """

    F: np.ndarray
    G: np.ndarray
    correlations: np.ndarray
    counts: np.ndarray

    def iterate_ratios(self) -> Iterator[np.ndarray]:
        """Yield the ratios r(x, y) of rows and columns by the first 1, 2, ... components."""
        ratio = np.ones(self.counts.shape)
        for i, claim in enumerate(self.correlations):
            ratio = ratio + claim * np.outer(self.F[:, i], self.G[:, i])
            yield ratio

    @property
    def weights(self) -> np.ndarray:
        """The totals of the rows."""
        return np.asarray(self.counts.sum(axis=1))


def score_rows(held: HeldOutRows, groups: np.ndarray | None = None, level: float = LEVEL) -> HeldOut:
    """Evaluate functions on the rows of a table.

    Parameters
    ----------
    held : HeldOutRows
        The functions and counts of rows that were not used in the fit.
    groups : ndarray of int of shape (n,), optional
        Rows of the same group are not independent.
    level : float
        The confidence level of the intervals.

    Examples
    --------
    >>> x = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> score_rows(HeldOutRows(x, x[:2], np.array([0.5]), np.array([[3, 1], [1, 3], [3, 1], [1, 3]]))).correlations
    array([0.5])
    """
    groups = np.arange(len(held.F)) if groups is None else groups
    r, intervals = correlate_rows([held], [groups], np.ones(held.F.shape[1]), level)
    terms = compute_row_terms(held.counts, held.iterate_ratios(), groups)
    of_groups = sum_groups(terms, groups) * (groups.max() + 1) / held.weights.sum()
    last = of_groups[:, -1] if terms.shape[1] else np.zeros(len(of_groups))
    captured = float(last.mean())
    reach = Spread.from_terms(last).compute_reach(level)
    return HeldOut(r, intervals, captured, captured + reach, float(held.weights.sum()), level)


def sum_groups(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Sum rows of an array over groups."""
    sums = np.zeros((int(groups.max()) + 1, *values.shape[1:]))
    np.add.at(sums, groups, values)
    return sums


def compute_row_terms(counts: np.ndarray, ratios: Iterable[np.ndarray], groups: np.ndarray) -> np.ndarray:
    """Compute what each row (rows) adds to what the first 1, 2, ... components (columns) capture.

    Their sum, divided by the total weight, is what is captured: 2 E[r(X, Y)] - E[r(X, Y')^2] - 1, where Y' is of
    another group than X.

    Parameters
    ----------
    counts : ndarray of shape (n, m)
        The counts of the rows.
    ratios : iterable of ndarray of shape (n, m)
        The ratios r by the first 1, 2, ... components.
    groups : ndarray of int of shape (n,)
        The groups of the rows.
    """
    groups = np.unique(groups, return_inverse=True)[1]
    weights = np.asarray(counts.sum(axis=1))
    total, alone = weights.sum(), groups.max() < 1  # a single group has no others, so that nothing can be left out
    own_counts = np.zeros_like(counts, dtype=np.float64) if alone else sum_groups(counts, groups)[groups]
    other_weights = np.full(len(weights), total) if alone else total - sum_groups(weights, groups)[groups]
    n_groups = groups.max() + 1
    inflation = (n_groups - 1) / max(n_groups - 2, 1)
    terms = [np.empty((len(weights), 0))]
    for ratio in ratios:
        squares = weights[:, None] * ratio**2
        own_squares = 0.0 if alone else sum_groups(squares, groups)[groups]
        lead = (counts * ratio).sum(axis=1)
        of_x = weights * ((counts.sum(axis=0) - own_counts) * ratio**2).sum(axis=1)
        of_y = (counts * (squares.sum(axis=0) - own_squares)).sum(axis=1)
        captured = 2 * lead.sum() / total - of_x.sum() / (weights @ other_weights) - 1
        influence = 2 * lead - (of_x + of_y) / np.where(other_weights > 0, other_weights, np.inf)
        terms.append((weights * captured + inflation * (influence - weights * influence.sum() / total))[:, None])
    return np.hstack(terms)


def correlate_rows(
    parts: list[HeldOutRows], groups: list[np.ndarray], shared: np.ndarray, level: float = LEVEL
) -> tuple[np.ndarray, np.ndarray]:
    """Correlate f and g over the counts of several parts, with intervals by leaving out groups of rows.

    Parameters
    ----------
    parts : list of HeldOutRows
        The parts may have functions of their own.
    groups : list of ndarray of int
        The groups of the rows of each part, numbered over all parts.
    shared : ndarray of shape (d,)
        Factors by which the variances are larger than those of independent parts.
    level : float
        The confidence level of the intervals.
    """
    cluster = np.unique(np.concatenate(groups), return_inverse=True)[1]
    total = sum(part.weights.sum() for part in parts)
    mean_f = sum(part.weights @ part.F for part in parts) / total
    mean_g = sum(part.counts.sum(axis=0) @ part.G for part in parts) / total

    def sum_by_group(compute: str) -> np.ndarray:
        """Sum moments of the counts over the rows of each group."""
        sums = []
        for part in parts:
            f, g = part.F - mean_f, part.G - mean_g
            rows = {
                "w": part.weights[:, None],
                "f": part.weights[:, None] * f,
                "g": part.counts @ g,
                "ff": part.weights[:, None] * f**2,
                "gg": part.counts @ g**2,
                "fg": f * (part.counts @ g),
            }
            sums.append(rows[compute])
        return sum_groups(np.vstack(sums), cluster)

    own = {name: sum_by_group(name) for name in ("w", "f", "g", "ff", "gg", "fg")}
    ff, gg, fg = (own[name].sum(axis=0) for name in ("ff", "gg", "fg"))
    least = MIN_VARIANCE_SHARE * total
    r = np.clip(compute_correlations(ff, gg, fg, least), -1, 1)
    # Sums without each group in turn, about their own means.
    left = {name: values.sum(axis=0) - values for name, values in own.items()}
    w = np.where(left["w"] > 0, left["w"], 1.0)
    without = compute_correlations(
        left["ff"] - left["f"] ** 2 / w, left["gg"] - left["g"] ** 2 / w, left["fg"] - left["f"] * left["g"] / w, least
    )
    spread = Spread.from_terms(compute_jackknife_terms(r, without, len(w))).scale_variance(shared)
    return r, find_correlation_intervals(r, spread, (ff > least) & (gg > least), level)
