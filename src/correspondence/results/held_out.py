"""How far a decomposition holds on pairs not used in the fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from correspondence.results.evidence import Evidence

__all__ = ["HeldOut", "compute_gain"]


@dataclass(frozen=True, eq=False, repr=False)
class HeldOut:
    """What a decomposition reaches on pairs not used in the fit.

    Attributes
    ----------
    correlations : ndarray of shape (d,)
        Pearson correlation of f_i(x) and g_i(y) over the pairs; 0, with the interval [-1, 1], where one of them is
        constant.
    intervals : ndarray of shape (d, 2)
        Confidence intervals of the correlations, for any distribution: by leaving out each pair in turn, on Fisher's z
        scale, with a quantile of Student's t that allows for heavy tails. If few pairs decide, evaluation gives the
        warning `UncertainInterval`.
    captured : float
        Lower bound on chi2(X; Y) that the functions prove: in the population equal to it only for the true
        decomposition, and negative if they predict worse than no dependence at all. The estimate has no bias: the
        moments of x and y are multiplied without the terms of a pair with itself. Nothing is left out for a single
        pair, or for the shares of a population (weights that add up to 1 at most).
    captured_interval : ndarray of shape (2,)
        Confidence interval of `captured`, from -inf to inf for two pairs or fewer.
    n : float
        Number of pairs. Weights count as numbers of pairs: a weight of 3 is the same as three copies of the pair, and
        the sum of the weights is the sample size. Scale weights that are not counts accordingly.
    level : float
        Confidence level of the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(1000, 1)); y = x + rng.normal(size=(1000, 1))          # the exact correlation is 0.71
    >>> held = co.CCA(n_components=1).fit(x[:500], y[:500]).evaluate(x[500:], y[500:])
    >>> held
    HeldOut on n 500: captured 0.4976 [0.4315, 0.5636] (95 %)
      correlation 1: 0.7090 [0.6604, 0.7517]
    """

    correlations: np.ndarray
    intervals: np.ndarray
    captured: float
    captured_interval: np.ndarray
    n: float
    level: float

    @property
    def evidence(self) -> Evidence:
        """Evidence about the components, in the form that pictures and sentences read."""
        return Evidence(self.correlations, intervals=self.intervals, level=self.level, captured=self.captured)

    def __repr__(self) -> str:
        low, high = self.captured_interval
        lines = [
            f"HeldOut on n {self.n:g}: captured {self.captured:.4g} [{low:.4g}, {high:.4g}] ({100 * self.level:g} %)"
        ]
        for i, (value, (low, high)) in enumerate(zip(self.correlations, self.intervals, strict=True), start=1):
            lines.append(f"  correlation {i}: {value:.4f} [{low:.4f}, {high:.4f}]")
        return "\n".join(lines)


def compute_gain(first: np.ndarray, second: np.ndarray) -> float:
    """Compute by how many standard errors the second of two `captured` values exceeds the first, from their terms."""
    difference = second - first
    if np.abs(difference).max(initial=0) <= 1e-9 * np.abs(first).max(initial=0):
        return 0.0  # the same functions but for rounding, whose errors may all have one sign
    error = difference.std() / np.sqrt(len(difference))
    return float(difference.mean() / error if error > 0 else np.sign(difference.mean()) * np.inf)
