"""Test of independence for a contingency table whose p-value also holds where most cells are rare.

Given the margins, all tables that a permutation of the pairs can give are equally likely under independence. The
exact mean and variance of chi-square under these permutations are known in closed form (Haldane 1940, Dawson 1954).
The chi-square distribution has neither: with rare labels its variance is far too small, and the test rejects too often.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2, gamma, random_table

from correspondence._util.html_tables import render_record

__all__ = ["Chi2Test", "assess_independence"]

ENOUGH_EXPECTED = 5.0  # pairs expected in every cell, from which on the gamma distribution needs no check by draws
MAX_CELLS_TO_DRAW = 5000  # of a table whose permutations are drawn
CELLS_DRAWN = 4_000_000  # in all, if that makes enough draws: a tenth of a second
MIN_DRAWS, MAX_DRAWS = 1999, 9999
CELLS_AT_ONCE = 1_000_000
MAX_MARGIN_TO_ENUMERATE = 1_000_000  # pairs in the rarest label of a 2 x 2 table whose permutations are all enumerated
MIN_SHAPE = 5.0  # of a gamma distribution: below, a few rare cells may make up the whole variance
RELATIVE_TOLERANCE = 1e-9  # relative difference between equal statistics
LARGEST_WHOLE = 2.0**53  # total up to which floats hold every whole number


class _Fields(NamedTuple):
    statistic: float
    dof: int
    pvalue: float


class Chi2Test(_Fields):
    """Pearson's test of independence, as a tuple of statistic, dof and pvalue.

    Attributes
    ----------
    statistic : float
        Chi-square is n times the total inertia.
    dof : int
        There are (rows - 1) (columns - 1) degrees of freedom.
    pvalue : float
        The probability of a statistic at least as large if rows and columns are independent, given the margins. It
        holds its level for rare labels too.
    classical_pvalue : float
        The p-value of the chi-square distribution, as in R. With rare labels it rejects too often.
    distribution : {"gamma", "permutations", "exact", "chi2"}
        Where `pvalue` comes from. "gamma": the gamma distribution with the exact mean and variance of the
        statistic over all permutations of the pairs. "permutations": up to 9999 random tables with the same margins
        (always the same ones), for tables of at most 5000 cells of which some expect fewer than 5 pairs; when no
        draw reaches the statistic, p is at most 1 / (draws + 1). "exact": all permutations, for a 2 x 2 table.
        "chi2": the classical one, for weights or counts that are not whole numbers, which cannot be permuted.

    Examples
    --------
    >>> import correspondence as co
    >>> test = co.CA().fit(co.datasets.load_smoke()).chi2_test_
    >>> round(test.statistic, 2), test.dof, round(test.pvalue, 2), test.distribution
    (16.44, 12, 0.17, 'permutations')
    >>> round(test.classical_pvalue, 3)
    0.172
    """

    distribution: str = "chi2"

    def __new__(cls, statistic: float, dof: int, pvalue: float, distribution: str = "chi2") -> Chi2Test:
        """Make the tuple, and note where the p-value comes from."""
        test = super().__new__(cls, statistic, dof, pvalue)
        test.distribution = distribution
        return test

    @property
    def classical_pvalue(self) -> float:
        """The p-value of the chi-square distribution."""
        return compute_classical_pvalue(self.statistic, self.dof)

    def _repr_html_(self) -> str:
        return render_record(self, ("statistic", "dof", "pvalue", "classical_pvalue", "distribution"))

    def __repr__(self) -> str:
        return (
            f"Chi2Test(statistic={self.statistic!r}, dof={self.dof!r}, pvalue={self.pvalue!r}, "
            f"classical_pvalue={self.classical_pvalue!r}, distribution={self.distribution!r})"
        )


def compute_classical_pvalue(statistic: float, dof: int) -> float:
    """Compute the p-value of the chi-square distribution; 1 for a table of one row or column."""
    return float(chi2.sf(statistic, dof)) if dof else 1.0


def assess_independence(statistic: float, rows: np.ndarray, columns: np.ndarray, *, are_counts: bool) -> Chi2Test:
    """Test whether rows and columns of a table are independent, given its margins.

    Parameters
    ----------
    statistic : float
        Pearson's chi-square of the table.
    rows, columns : ndarray of shape (r,) and (c,)
        The sums of its rows and of its columns, all of them positive.
    are_counts : bool
        Whether the cells count observations, which can be permuted. Weights cannot.

    Returns
    -------
    Chi2Test
        The statistic with both p-values.

    Examples
    --------
    >>> assess_independence(4.0, np.array([1, 3]), np.array([3, 1]), are_counts=True).pvalue
    0.25
    """
    dof = (len(rows) - 1) * (len(columns) - 1)
    if not (dof and are_counts and rows.sum() < LARGEST_WHOLE):
        return Chi2Test(statistic, dof, compute_classical_pvalue(statistic, dof))
    # The same tables are drawn whatever the order of the labels, and for the transposed table.
    sides = (np.sort(np.rint(side)) for side in (rows, columns))
    r, c = sorted(sides, key=lambda side: (len(side), side.tolist()))
    pvalue, distribution = compute_pvalue(statistic, r, c)
    return Chi2Test(statistic, dof, pvalue, distribution)


def compute_pvalue(statistic: float, r: np.ndarray, c: np.ndarray) -> tuple[float, str]:
    n_cells, rarest = len(r) * len(c), r[0] * c[0] / r.sum()
    if n_cells == 4 and min(r[0], c[0]) <= MAX_MARGIN_TO_ENUMERATE:
        return enumerate_two_by_two(statistic, r, c), "exact"
    if rarest >= ENOUGH_EXPECTED or n_cells > MAX_CELLS_TO_DRAW:
        return compute_gamma_pvalue(statistic, r, c), "gamma"
    n_draws = int(np.clip(CELLS_DRAWN // n_cells, MIN_DRAWS, MAX_DRAWS))
    n_reached = count_draws_at_least(statistic, r, c, n_draws)
    pvalue = (1 + n_reached) / (1 + n_draws)
    if not n_reached:  # all that the draws say is that p is small: how small, the gamma distribution says
        pvalue = min(pvalue, compute_gamma_pvalue(statistic, r, c, MIN_SHAPE))
    return pvalue, "permutations"


def compute_gamma_pvalue(statistic: float, r: np.ndarray, c: np.ndarray, min_shape: float = 0.0) -> float:
    """Compute the p-value of the gamma distribution with the exact moments; 1 if its shape is below `min_shape`."""
    mean, variance = compute_permutation_moments(r, c)
    if not RELATIVE_TOLERANCE * mean < variance < np.inf:  # all permutations have the same statistic, or are too few
        return 1.0
    shape = mean**2 / variance
    return float(gamma.sf(statistic, shape, scale=variance / mean)) if shape >= min_shape else 1.0


def compute_permutation_moments(r: np.ndarray, c: np.ndarray) -> tuple[float, float]:
    """Compute the exact mean and variance of chi-square over all tables with the margins r and c.

    Parameters
    ----------
    r, c : ndarray
        The sums of the rows and of the columns, whole numbers of at least 1.

    Returns
    -------
    mean, variance : float
        The variance is infinite for fewer than four observations, where its formula divides by zero.

    Examples
    --------
    >>> compute_permutation_moments(np.array([2.0, 2.0]), np.array([2.0, 2.0]))    # chi2 is 4, 0, 4: 1/6, 4/6, 1/6
    (1.3333333333333333, 3.5555555555555554)
    """
    n, dof = float(r.sum()), (len(r) - 1) * (len(c) - 1)
    if n <= 3:
        return n / max(n - 1, 1) * dof, np.inf
    (v_r, w_r), (v_c, w_c) = _compute_side_terms(r, n), _compute_side_terms(c, n)
    return n / (n - 1) * dof, 2 * n / (n - 3) * (v_r - w_r) * (v_c - w_c) + n**2 / (n - 1) * w_r * w_c


def _compute_side_terms(margin: np.ndarray, n: float) -> tuple[float, float]:
    """Dawson's two terms of a margin; n sum 1/m - k^2 is written as a sum of squares, which does not cancel."""
    k = len(margin)
    spread = float(((n - k * margin) ** 2 / margin).sum()) / n
    return (k - 1) * (n - k) / (n - 1), spread / (n - 2)


def enumerate_two_by_two(statistic: float, r: np.ndarray, c: np.ndarray) -> float:
    """Add up the probabilities of all tables that are at least as far from the expected one."""
    n, expected = r.sum(), r[0] * c[0] / r.sum()
    cell = np.arange(max(0, r[0] + c[0] - n), min(r[0], c[0]) + 1)
    # Ratios of successive hypergeometric probabilities: factorials of huge totals would lose all digits.
    up = cell[:-1]
    ratios = np.log(r[0] - up) + np.log(c[0] - up) - np.log(up + 1) - np.log(n - r[0] - c[0] + up + 1)
    logs = np.concatenate([[0.0], np.cumsum(ratios)])
    probabilities = np.exp(logs - logs.max())
    distance = np.sqrt(statistic * r[0] * r[1] / n * c[0] * c[1] / n / n)
    reached = np.abs(cell - expected) >= distance - RELATIVE_TOLERANCE * (distance + expected)
    return float(probabilities[reached].sum() / probabilities.sum())


def count_draws_at_least(statistic: float, r: np.ndarray, c: np.ndarray, n_draws: int) -> int:
    """Count how many random tables with these margins reach the statistic."""
    rng, expected = np.random.default_rng(0), np.outer(r, c) / r.sum()
    tables: Any = random_table(r.astype(np.int64), c.astype(np.int64))
    size = max(1, CELLS_AT_ONCE // expected.size)
    count = 0
    for start in range(0, n_draws, size):
        drawn = tables.rvs(min(size, n_draws - start), random_state=rng)
        values = ((drawn - expected) ** 2 / expected).sum(axis=(1, 2))
        count += int(np.count_nonzero(values >= statistic * (1 - RELATIVE_TOLERANCE) - RELATIVE_TOLERANCE))
    return count
