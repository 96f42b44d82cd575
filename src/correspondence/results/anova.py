"""Permutation tests of constraints, as the table that ecologists know from vegan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import read_only
from correspondence._util.text import one_line
from correspondence.results.points import FrameResult

__all__ = ["Anova"]

NAME_WIDTH = 30  # characters of a name in a printed table
KINDS = {
    None: "all constraints together",
    "term": "terms added sequentially (first to last)",
    "margin": "marginal effects of terms (each after all others)",
    "axis": "each axis after those before it",
}


@dataclass(frozen=True, eq=False, repr=False)
class Anova(FrameResult):
    """Permutation tests of what constraints explain; print it, or see `to_frame`.

    `to_frame` has one row for each test, a last one for what is left (Residual), and the columns term, df, chi_square,
    f, pvalue and site_pvalue.

    Attributes
    ----------
    terms : ndarray of object of shape (k + 1,)
        What is tested: "Model", the names of the variables or of the axes; the last is "Residual".
    df : ndarray of int of shape (k + 1,)
        The degrees of freedom.
    chi_square : ndarray of shape (k + 1,)
        The inertia explained.
    f : ndarray of shape (k + 1,)
        The pseudo-F: inertia by degree of freedom, divided by that of what is left. NaN where that is not defined.
    pvalues : ndarray of shape (k + 1,)
        P-values of vegan's test: residuals are permuted, the masses stay.
    site_pvalues : ndarray of shape (k + 1,)
        P-values of the test that permutes which site has which environment. These hold their level where totals of
        sites are unequal and counts scatter more than Poisson's, where those of vegan's test may be far too small.
    by : {None, "term", "margin", "axis"}
        The kind of test.
    n_permutations : int
        The number of permutations; the given order is not counted.
    is_complete : bool
        Whether these are all permutations that there are: then p-values are exact.
    stratum_sizes : ndarray of int or None
        The numbers of rows of the strata within which rows were permuted; None without strata.

    Examples
    --------
    >>> import numpy as np
    >>> Anova(["Model", "Residual"], [1, 3], [0.3, 0.2], [4.5, np.nan], [0.2, np.nan], [0.2, np.nan], None, 119, True)
    Permutation test of constraints: all constraints together
    All 119 permutations that there are
              Df  ChiSquare       F  Pr(>F)  Pr(sites)
    Model      1    0.30000  4.5000  0.2000     0.2000
    Residual   3    0.20000
    """

    _n_text_lines = 2

    terms: np.ndarray
    df: np.ndarray
    chi_square: np.ndarray
    f: np.ndarray
    pvalues: np.ndarray
    site_pvalues: np.ndarray
    by: str | None
    n_permutations: int
    is_complete: bool
    stratum_sizes: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", np.array([*self.terms, None], dtype=object)[:-1])
        read_only(self, "terms", "df", "chi_square", "f", "pvalues", "site_pvalues")

    def __len__(self) -> int:
        return len(self.terms)

    def _collect_columns(self) -> dict[str, Any]:
        figures = {"term": self.terms, "df": self.df, "chi_square": self.chi_square, "f": self.f}
        return figures | {"pvalue": self.pvalues, "site_pvalue": self.site_pvalues}

    def __repr__(self) -> str:
        cells = [["", "Df", "ChiSquare", "F", "Pr(>F)", "Pr(sites)"]]
        for term, df, *figures in zip(*self._collect_columns().values(), strict=True):
            digits = zip(figures, (5, 4, 4, 4), strict=True)
            shown = ["" if np.isnan(value) else f"{value:.{d}f}" for value, d in digits]
            cells.append([one_line(str(term), NAME_WIDTH), str(df), *shown])
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [f"Permutation test of constraints: {KINDS[self.by]}", self._describe_permutations()]
        for name, *others in cells:
            padded = [f"{text:>{width}}" for text, width in zip(others, widths[1:], strict=True)]
            lines.append("  ".join([f"{name:<{widths[0]}}", *padded]).rstrip())
        if np.isnan(self.f[:-1]).all():
            lines.append("F is not defined: the model leaves nothing to compare with.")
        return "\n".join(lines)

    def _describe_permutations(self) -> str:
        if not self.n_permutations:
            return "No permutations"
        many = f"{self.n_permutations:,} permutation{'s' * (self.n_permutations != 1)}"
        whole = f"All {many} that there are" if self.n_permutations > 1 else "The only permutation that there is"
        text = whole if self.is_complete else many
        if self.stratum_sizes is None:
            return text
        alone = int((self.stratum_sizes == 1).sum())
        fixed = f", {alone} of which have one row, which stays" if alone else ""
        n = len(self.stratum_sizes)
        return f"{text}, within {n} strat{'um' if n == 1 else 'a'}{fixed}"
