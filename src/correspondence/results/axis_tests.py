"""How many axes of a table are more than chance: Malinvaud's tests beside one that holds its level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import read_only
from correspondence.results.points import FrameResult

__all__ = ["AxisTests"]

MIN_EXPECTED = 5.0  # pairs in a cell, below which the chi-square distribution is not to be trusted
MAX_AXES_SHOWN = 10


@dataclass(frozen=True, eq=False, repr=False)
class AxisTests(FrameResult):
    """Tests of whether a table has more than 0, 1, 2, ... axes.

    `to_frame` has one row for each number of axes and the columns n_axes, inertia, statistic, dof, pvalue and
    malinvaud_pvalue.

    Attributes
    ----------
    inertia : ndarray of shape (d,)
        The inertia that is left after 0, 1, 2, ... axes.
    statistic : ndarray of shape (d,)
        n times that, which is Pearson's chi-square for 0 axes.
    dof : ndarray of shape (d,)
        The degrees of freedom, (I - k - 1) (J - k - 1) for I rows, J columns and k axes.
    malinvaud_pvalues : ndarray of shape (d,)
        The p-values of the chi-square distribution. With rare labels they are far too small.
    pvalues : ndarray of shape (d,)
        Those of `permutation_test`, which hold their level; NaN for a table of weights. After a p-value above 0.5
        later axes are not tested, and theirs is 1.
    n : float
        The total of the table.
    least_expected : float
        The number of pairs that are expected in the rarest cell.
    n_permutations : int
        The number of permutations.

    Examples
    --------
    >>> import correspondence as co
    >>> co.axis_tests(co.CA().fit(co.datasets.load_smoke()))
    AxisTests on 193 pairs: some cells expect fewer than 5 (1.4), so trust the permutations
      more than  chi-square   dof  p (Malinvaud)  p (999 permutations)
        0 axes        16.44    12         0.1718                0.0300
        1 axis         2.01     6         0.9185                0.8720
        2 axes         0.08     2         0.9609                1.0000
    """

    inertia: np.ndarray
    statistic: np.ndarray
    dof: np.ndarray
    malinvaud_pvalues: np.ndarray
    pvalues: np.ndarray
    n: float
    least_expected: float
    n_permutations: int

    def __post_init__(self) -> None:
        read_only(self, "inertia", "statistic", "dof", "malinvaud_pvalues", "pvalues")

    def _collect_columns(self) -> dict[str, Any]:
        figures = {"inertia": self.inertia, "statistic": self.statistic, "dof": self.dof, "pvalue": self.pvalues}
        return {"n_axes": np.arange(len(self.dof))} | figures | {"malinvaud_pvalue": self.malinvaud_pvalues}

    def __len__(self) -> int:
        return len(self.dof)

    def __repr__(self) -> str:
        sparse = f"some cells expect fewer than {MIN_EXPECTED:g} ({self.least_expected:.2g}), so trust the permutations"
        verdict = sparse if self.least_expected < MIN_EXPECTED else f"every cell expects at least {MIN_EXPECTED:g}"
        permutations = f"p ({self.n_permutations} permutations)"
        lines = [f"AxisTests on {self.n:,.6g} pairs: {verdict}"]
        lines.append(f"  {'more than':<9}  chi-square   dof  p (Malinvaud)  {permutations:>20}")
        for k in range(min(len(self), MAX_AXES_SHOWN)):
            figures = f"{self.statistic[k]:>10.2f}  {self.dof[k]:>4}  {self.malinvaud_pvalues[k]:>13.4f}"
            axes = f"{k} {'axis' if k == 1 else 'axes'}"
            lines.append(f"  {axes:>8}   {figures}  {self.pvalues[k]:>20.4f}")
        return "\n".join([*lines, *(["  ..."] if len(self) > MAX_AXES_SHOWN else [])])
