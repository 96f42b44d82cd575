"""Functions of all pairs, each judged by a fit that did not use the pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from correspondence._util.arguments import check_whole, read_only
from correspondence.results.evidence import Evidence
from correspondence.results.held_out import HeldOut

__all__ = ["CrossFit"]


@dataclass(frozen=True, eq=False, repr=False)
class CrossFit:
    """Functions of all pairs, each pair judged by a fit that did not use it.

    Attributes
    ----------
    correlations : ndarray of shape (d,)
        Correlations of f_i and g_i over all held-out pairs.
    intervals : ndarray of shape (d, 2)
        Confidence intervals of the correlations of the functions found. Whether a component exists is tested by
        `permutation_test`.
    captured, captured_interval : float, ndarray of shape (2,)
        What the functions capture of the held-out pairs, on average over the splits, and the confidence interval of
        what the fits capture in the population, on average.
    training : ndarray of shape (d,)
        Correlations of the fits on their own pairs, averaged over the splits.
    F, G : ndarray of shape (n, d)
        Out-of-fold values of f and g, with the signs of the first fit; NaN for pairs that no split holds out, and the
        value of the last split for pairs held out several times.
    splits : list of HeldOut
        Figures of each split on its own.
    seconds : float
        Mean duration of a fit.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)); Y = X + rng.normal(size=(300, 2))
    >>> result = co.crossfit(co.CCA(n_components=2), X, Y)
    >>> result.correlations.round(2)                    # the exact ones are 0.71
    array([0.74, 0.74])
    >>> result.F.shape, len(result.splits)
    ((300, 2), 5)
    """

    correlations: np.ndarray
    intervals: np.ndarray
    captured: float
    captured_interval: np.ndarray
    training: np.ndarray
    F: np.ndarray
    G: np.ndarray
    splits: list[HeldOut]
    seconds: float
    terms: np.ndarray
    """One term for each held-out pair, or group; their mean is `captured`."""
    nested_terms: np.ndarray | None = None
    """The terms of the first 1, 2, ..., d components alone, one row for each; see `captured_first`."""

    def __post_init__(self) -> None:
        read_only(self, "correlations", "intervals", "captured_interval", "training", "F", "G", "terms")
        if self.nested_terms is not None:
            read_only(self, "nested_terms")

    @property
    def n_held_out(self) -> int:
        """Number of pairs that a split holds out."""
        return int(np.isfinite(self.F).all(axis=1).sum())

    def captured_first(self, n_components: int) -> tuple[float, np.ndarray]:
        """Return what the first components capture without the others.

        Parameters
        ----------
        n_components : int
            Judge this many components, from 1 to all of them.

        Returns
        -------
        captured : float
            What these components capture of the held-out pairs, on average over the splits.
        terms : ndarray of shape (n,)
            One term for each pair, or group, whose mean is `captured`, to compare with those of another cross-fit.

        Examples
        --------
        >>> import numpy as np
        >>> import correspondence as co
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(300, 3)); Y = rng.normal(size=(300, 3)); Y[:, 0] += X[:, 0]      # one component
        >>> result = co.crossfit(co.CCA(n_components=3), X, Y)
        >>> [round(result.captured_first(k)[0], 2) for k in (1, 2, 3)]
        [0.49, 0.45, 0.45]
        """
        check_whole(n_components, "n_components", 1, len(self.correlations))
        if self.nested_terms is None:
            raise ValueError("nested_terms must be given to judge the first components alone. Use crossfit.")
        terms = self.nested_terms[n_components - 1]
        return float(terms.mean()), terms

    @property
    def evidence(self) -> Evidence:
        """Evidence about the components, in the form that pictures and sentences read."""
        return Evidence(self.correlations, intervals=self.intervals, training=self.training, captured=self.captured)

    def __repr__(self) -> str:
        low, high = self.captured_interval
        lines = [
            f"CrossFit with {len(self.splits)} splits, {self.n_held_out} pairs held out: "
            f"captured {self.captured:.4g} [{low:.4g}, {high:.4g}] (95 %)",
            "  component  training  held out",
        ]
        rows = zip(self.training, self.correlations, self.intervals, strict=True)
        lines += [f"  {i:>9}  {t:>8.4f}  {r:>8.4f} [{a:.4f}, {b:.4f}]" for i, (t, r, (a, b)) in enumerate(rows, 1)]
        return "\n".join(lines)
