"""Scores of a constrained ordination, at the scalings of ecologists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import read_only
from correspondence._util.html_tables import HtmlTable
from correspondence._util.text import list_names
from correspondence.results.points import FrameResult

__all__ = ["ResidualAxes", "Scores"]


@dataclass(frozen=True, eq=False, repr=False)
class Scores(FrameResult):
    """Scores of sites, species or constraints on all axes.

    `to_frame` has one row for each label and the columns label, CCA1, CCA2, ..., CA1, CA2, ...

    Attributes
    ----------
    labels : ndarray of shape (m,)
        The names of the sites, species or constraints.
    values : ndarray of shape (m, d)
        The scores; 0 on unconstrained axes for what only constrained axes have, and NaN for a row or column that took
        no part and for a constraint that was left out.
    axes : tuple of str
        The names of the axes: CCA1, CCA2, ... are constrained, CA1, CA2, ... are not.
    display : str
        What the scores are of: "sites", "constraints", "species", "bp", "cn" or "reg".
    scaling : str
        "none", "sites", "species" or "symmetric".

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA().fit([[9, 2, 1], [5, 5, 3], [2, 6, 4], [1, 3, 8]], constraints=[[1.0], [2.0], [3.0], [4.0]])
    >>> ca.scores("bp")
    Scores of 1 bp on 3 axes (CCA1, CA1, CA2), scaling "species": 0
    >>> ca.scores("species").values.shape
    (3, 3)
    """

    labels: np.ndarray
    values: np.ndarray
    axes: tuple[str, ...]
    display: str
    scaling: str

    def __post_init__(self) -> None:
        read_only(self, "values")

    @property
    def n_constrained(self) -> int:
        """The number of constrained axes."""
        return sum(axis.startswith("CCA") for axis in self.axes)

    @property
    def arrows(self) -> np.ndarray:
        """Ends of arrows from the centre on the constrained axes; of biplot scores and regression coefficients only."""
        if self.display not in ("bp", "reg"):
            raise ValueError(f'display must be "bp" or "reg" for arrows, got "{self.display}". The others are points.')
        return self.values[:, : self.n_constrained]

    def _collect_columns(self) -> dict[str, Any]:
        return {"label": self.labels} | dict(zip(self.axes, self.values.T, strict=True))

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        axes = list_names(self.axes, 6)
        return (
            f'Scores of {len(self)} {self.display} on {len(self.axes)} axes ({axes}), scaling "{self.scaling}": '
            f"{list_names(self.labels, 6)}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ResidualAxes(HtmlTable):
    """Axes of what conditions and constraints leave of a table: CA1, CA2, ...

    Attributes
    ----------
    pics : ndarray of shape (d,)
        The inertias of the axes, largest first.
    rows, columns : Points
        The points on these axes, with the distances and inertias of what is left.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA().fit([[9, 2, 1], [5, 5, 3], [2, 6, 4], [1, 3, 8]], constraints=[[1.0], [2.0], [3.0], [4.0]])
    >>> ca.unconstrained_
    ResidualAxes: 2 unconstrained axes of 4 rows and 3 columns, inertias 0.0656, 0.0021
    """

    pics: np.ndarray
    rows: Any
    columns: Any

    def __post_init__(self) -> None:
        read_only(self, "pics")

    @property
    def correlations(self) -> np.ndarray:
        """The roots of the inertias."""
        return np.sqrt(self.pics)

    def _collect_columns(self) -> dict[str, np.ndarray]:
        return {"axis": np.arange(1, len(self.pics) + 1), "inertia": self.pics, "correlation": self.correlations}

    def __repr__(self) -> str:
        shown = list_names([f"{value:.4f}" for value in self.pics], 5)
        plural = "axis" if len(self.pics) == 1 else "axes"
        return (
            f"ResidualAxes: {len(self.pics)} unconstrained {plural} of {len(self.rows)} rows and "
            f"{len(self.columns)} columns, inertias {shown}"
        )
