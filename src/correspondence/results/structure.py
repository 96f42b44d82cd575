"""Which columns the functions are made of: correlations of each column with each function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import read_only
from correspondence._util.text import list_names
from correspondence.results.points import FrameResult, number_columns

__all__ = ["Structure", "StructureFigures"]


@dataclass(frozen=True, eq=False)
class StructureFigures:
    """Figures of the m columns and categories on one set of rows; NaN where there is none.

    Attributes
    ----------
    n : ndarray of shape (m,)
        Number of rows: those with a value for a column, those of the category for a category.
    correlations : ndarray of shape (m, d)
        Correlation of a number, or of the indicator of a category, with each function of its own variable. For a column
        of labels as a whole it is the correlation ratio, which has no sign.
    explained : ndarray of shape (m, d)
        Share of the variance of each function that a column explains, by its labels or by ten quantile bins, so that
        a bent relation counts too; for a category the square of its correlation.
    means : ndarray of shape (m, d)
        Mean of each function over the rows of a category, in standard coordinates; NaN for whole columns.
    cross_correlations : ndarray of shape (m, d)
        Correlation with the functions of the other variable; NaN unless X and Y are pairs.
    """

    n: np.ndarray
    correlations: np.ndarray
    explained: np.ndarray
    means: np.ndarray
    cross_correlations: np.ndarray

    def __post_init__(self) -> None:
        read_only(self, "n", "correlations", "explained", "means", "cross_correlations")

    def collect_columns(self, prefix: str = "") -> dict[str, Any]:
        """Return the columns of a frame, whose names begin with a prefix."""
        columns: dict[str, Any] = {f"{prefix}n": self.n}
        parts = {"correlation": self.correlations, "explained": self.explained}
        parts |= {"cross": self.cross_correlations, "mean": self.means}
        for name, values in parts.items():
            columns |= number_columns(f"{prefix}{name}_", values)
        return columns


@dataclass(frozen=True, eq=False, repr=False)
class Structure(FrameResult):
    """Which columns of both variables the functions are made of.

    There is one row for each column of numbers, one for each column of labels, and one for each of its categories.
    `to_frame` has the columns side, column, category, kind, n, correlation_1, ..., explained_1, ..., cross_1, ...
    and mean_1, ...; those of held-out pairs are beside them and begin with ``held_out_``.

    Attributes
    ----------
    sides : tuple of str
        "x" or "y" for each row.
    columns : tuple of str
        The name of the column.
    categories : tuple of str or None
        The category; None for a whole column. Of texts these are words, of lists their members. A missing label is the
        category "(missing)".
    kinds : tuple of str
        What the column holds: "number", "date", "time", "duration", "label", "boolean", "text" or "list".
    figures : StructureFigures
        Figures of the rows given as X and Y.
    held_out : StructureFigures or None
        The same of pairs not used in the fit.

    Examples
    --------
    >>> import pandas as pd
    >>> import correspondence as co
    >>> X = pd.DataFrame({"size": [1.0, 2, 3, 4, 5, 6], "colour": list("rrbbrb")})
    >>> Y = pd.DataFrame({"price": [1.0, 2, 4, 4, 4, 7]})
    >>> found = co.structure(co.CCA(n_components=1).fit(X, Y), X, Y)
    >>> found
    Structure of 3 columns and 2 categories, 1 component (size, colour, price)
    >>> found.correlations[found.columns.index("size")].round(2)
    array([0.96])
    """

    sides: tuple[str, ...]
    columns: tuple[str, ...]
    categories: tuple[str | None, ...]
    kinds: tuple[str, ...]
    figures: StructureFigures
    held_out: StructureFigures | None = None

    @property
    def correlations(self) -> np.ndarray:
        """Correlation of each column or category with each function."""
        return self.figures.correlations

    @property
    def explained(self) -> np.ndarray:
        """Share of the variance of each function that each column or category explains."""
        return self.figures.explained

    @property
    def means(self) -> np.ndarray:
        """Mean of each function over the rows of each category."""
        return self.figures.means

    @property
    def n(self) -> np.ndarray:
        """Number of rows of each column or category."""
        return self.figures.n

    def _collect_columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {
            "side": list(self.sides),
            "column": list(self.columns),
            "category": list(self.categories),
            "kind": list(self.kinds),
        }
        columns |= self.figures.collect_columns()
        return columns if self.held_out is None else columns | self.held_out.collect_columns("held_out_")

    def __len__(self) -> int:
        return len(self.sides)

    def __repr__(self) -> str:
        whole = [name for name, category in zip(self.columns, self.categories, strict=True) if category is None]
        categories, d = len(self) - len(whole), self.correlations.shape[1]
        plural = "" if d == 1 else "s"
        said = f"{len(whole)} columns and {categories} categories, {d} component{plural}"
        return f"Structure of {said} ({list_names(whole, 6)})" + (", held out beside" if self.held_out else "")
