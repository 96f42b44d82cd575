"""Scores of a constrained ordination at the four scalings of ecologists, with the names of R's vegan."""

from __future__ import annotations

from typing import Any

import numpy as np

from correspondence._util.arguments import check_flag
from correspondence._util.labels import to_object_array
from correspondence._util.text import short_repr
from correspondence.data.table import Table
from correspondence.estimators.ca.constrained.algebra import Axes, ConstrainedTable
from correspondence.results.ordination_scores import Scores

__all__ = ["ScoreMaker"]

DISPLAYS = {
    "sites": "sites",
    "wa": "sites",
    "species": "species",
    "sp": "species",
    "constraints": "constraints",
    "lc": "constraints",
    "bp": "bp",
    "cn": "cn",
    "reg": "reg",
}
SCALINGS = ("none", "sites", "species", "symmetric")
SITE_POWERS = {"none": 0.0, "sites": 0.5, "species": 0.0, "symmetric": 0.25}  # of the inertias of the axes
MIN_SPREAD_OF_SPECIES = 1e-12  # 1 - inertia, the variance of sites within species: an axis without it has no Hill units
SPECIES_POWERS = {"none": 0.0, "sites": 0.0, "species": 0.5, "symmetric": 0.25}


class ScoreMaker:
    """Makes the scores of a table on all its axes.

    Parameters
    ----------
    explained : ConstrainedTable
        The table with its constraints.
    constrained, unconstrained : Axes
        The axes that are kept.
    table : Table
        All rows and columns, for their labels.
    """

    def __init__(self, explained: ConstrainedTable, constrained: Axes, unconstrained: Axes, table: Table) -> None:
        self._explained, self._constrained, self._unconstrained = explained, constrained, unconstrained
        self._table = table
        self._inertias = np.concatenate([constrained.s, unconstrained.s]) ** 2
        self._axes = tuple(f"CCA{i + 1}" for i in range(len(constrained.s)))
        self._axes += tuple(f"CA{i + 1}" for i in range(len(unconstrained.s)))

    def make_scores(self, display: Any, scaling: Any, hill: Any = False) -> Scores:
        """Make scores of one kind."""
        wanted, scaling, hill = check_display(display), check_scaling(scaling), check_flag(hill, "hill")
        labels, values = getattr(self, f"_find_{wanted}")()
        values = np.hstack([values, np.zeros((len(values), len(self._axes) - values.shape[1]))])
        powers = SPECIES_POWERS if wanted == "species" else SITE_POWERS
        factors = self._inertias ** powers[scaling]
        if hill and scaling != "none" and wanted not in ("bp", "reg"):  # as in vegan, arrows stay correlations
            left = 1 - self._inertias
            factors = factors / np.sqrt(np.where(left > MIN_SPREAD_OF_SPECIES, left, np.nan))
        return Scores(labels, values * factors, self._axes, wanted, scaling)

    @property
    def weighted_averages(self) -> np.ndarray:
        """The averages of the species scores on the constrained axes, divided by the correlations."""
        explained, axes = self._explained, self._constrained
        return explained.partial_residuals @ axes.V / axes.s / np.sqrt(explained.row_mass)[:, None]

    @property
    def linear_combinations(self) -> np.ndarray:
        """The linear combinations of the constraints, on the constrained axes."""
        return self._constrained.U / np.sqrt(self._explained.row_mass)[:, None]

    def _find_sites(self) -> tuple[np.ndarray, np.ndarray]:
        return self._table.rows, self._spread_rows(self.weighted_averages)

    def _find_constraints(self) -> tuple[np.ndarray, np.ndarray]:
        return self._table.rows, self._spread_rows(self.linear_combinations)

    def _find_species(self) -> tuple[np.ndarray, np.ndarray]:
        V = np.hstack([self._constrained.V, self._unconstrained.V])
        values = np.full((len(self._table.columns), V.shape[1]), np.nan)
        values[self._explained.columns] = V / np.sqrt(self._explained.column_mass)[:, None]
        return self._table.columns, values

    def _spread_rows(self, constrained: np.ndarray) -> np.ndarray:
        """Put scores of the rows beside those on unconstrained axes; NaN for rows that take no part."""
        left = self._unconstrained.U / np.sqrt(self._explained.row_mass)[:, None]
        values = np.full((len(self._table.rows), constrained.shape[1] + left.shape[1]), np.nan)
        values[self._explained.rows] = np.hstack([constrained, left])
        return values

    def _find_bp(self) -> tuple[np.ndarray, np.ndarray]:
        """Correlate the columns of the constraints with the axes, each row weighted by its mass."""
        explained = self._explained
        kept = explained.basis.kept[explained.given_rank :]
        columns = explained.basis.centred[:, kept]
        values = columns.T @ self._constrained.U / np.linalg.norm(columns, axis=0)[:, None]
        return explained.constraints.labels[kept - explained.n_given], values

    def _find_cn(self) -> tuple[np.ndarray, np.ndarray]:
        """Average the linear combinations over the rows of each level."""
        explained = self._explained
        weights = explained.row_mass[:, None] * explained.constraints.indicators
        return explained.constraints.levels, weights.T @ self.linear_combinations / weights.sum(axis=0)[:, None]

    def _find_reg(self) -> tuple[np.ndarray, np.ndarray]:
        """Find the regression coefficients of the axes, for columns of variance 1; those of conditions come first."""
        explained = self._explained
        basis = explained.basis
        values = basis.find_coefficients(self._constrained.U) * np.linalg.norm(basis.centred, axis=0)[:, None]
        values[np.setdiff1d(np.arange(len(values)), basis.kept)] = np.nan
        return to_object_array([*explained.given.labels, *explained.constraints.labels]), values


def check_display(display: Any) -> str:
    """Return the full name of a kind of scores."""
    if not isinstance(display, str) or display not in DISPLAYS:
        names = ", ".join(f'"{name}"' for name in DISPLAYS)
        raise ValueError(f"display must be one of {names}, got {short_repr(display)}.")
    return DISPLAYS[display]


def check_scaling(scaling: Any) -> str:
    """Return the name of a scaling, which vegan also gives by a number from 0 to 3."""
    is_number = isinstance(scaling, int | np.integer) and not isinstance(scaling, bool)
    if is_number and 0 <= scaling < len(SCALINGS):
        return SCALINGS[scaling]
    if not isinstance(scaling, str) or scaling not in SCALINGS:
        names = ", ".join(f'"{name}"' for name in SCALINGS)
        raise ValueError(f"scaling must be one of {names} or a number from 0 to 3, got {short_repr(scaling)}.")
    return scaling
