"""The result of testing components by permutations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from correspondence._util.arguments import read_only
from correspondence.results.evidence import Evidence

__all__ = ["PermutationTest"]


@dataclass(frozen=True, eq=False, repr=False)
class PermutationTest:
    """Test of whether each component is more than chance.

    Attributes
    ----------
    pvalues : ndarray of shape (d,)
        P-value of each component, never smaller than that of the one before.
    correlations : ndarray of shape (d,)
        Correlations on the held-out pairs, without what a component has in common with earlier ones; for a test on all
        pairs, the training correlations.
    statistics : ndarray of shape (d,)
        What is compared with chance: the held-out correlation, or for a test on all pairs singular value i of the
        covariances of its first kind of features (for the first component, of covariances in units of their standard
        errors). It is 0 for components that were not tested because an earlier one failed.
    null : ndarray of shape (n_permutations, d)
        The same statistics by chance: for permuted pairs, or, for later components of a test on all pairs, for
        variables without these components.
    n_permutations : int
        Number of permutations drawn.
    kind : {"all pairs", "held-out pairs", "refitted"}
        Kind of the test.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)); Y = X + rng.normal(size=(300, 2))
    >>> test = co.permutation_test(co.CCA(n_components=2), X, Y, 99)
    >>> test.pvalues                                    # none of 99 exchanges does as well
    array([0.01, 0.01])
    >>> bool((test.statistics > test.band).all())
    True
    """

    pvalues: np.ndarray
    correlations: np.ndarray
    statistics: np.ndarray
    null: np.ndarray
    n_permutations: int
    kind: str

    def __post_init__(self) -> None:
        read_only(self, "pvalues", "correlations", "statistics", "null")

    @property
    def band(self) -> np.ndarray:
        """Statistic of each component that chance exceeds in 5 % of the permutations."""
        return np.quantile(self.null, 0.95, axis=0)

    def take_first(self, d: int) -> PermutationTest:
        """Return the test of the first components.

        Parameters
        ----------
        d : int
            Keep this many components.

        Returns
        -------
        PermutationTest
            The same test without the other components.
        """
        arrays = {name: getattr(self, name)[..., :d] for name in ("pvalues", "correlations", "statistics", "null")}
        return replace(self, **arrays)

    @property
    def evidence(self) -> Evidence:
        """Evidence about the components, in the form that pictures and sentences read."""
        is_held_out = self.kind == "held-out pairs"
        return Evidence(self.correlations, is_held_out, pvalues=self.pvalues, band=self.band if is_held_out else None)

    def __repr__(self) -> str:
        figure = "held out" if self.kind == "held-out pairs" else "training"
        lines = [
            f"PermutationTest on {self.kind}, {self.n_permutations} permutations"
            if self.kind != "refitted"
            else f"PermutationTest of training correlations, refitted {self.n_permutations} times",
            f"  component  {figure:>11}  p-value",
        ]
        rows = zip(self.correlations, self.pvalues, strict=True)
        return "\n".join(lines + [f"  {i:>9}  {r:>11.4f}  {p:>7.4f}" for i, (r, p) in enumerate(rows, 1)])
