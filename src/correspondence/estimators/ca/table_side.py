"""Rows or columns of the table of a fit: who takes part, and where new ones would lie."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from correspondence._util.labels import as_labels
from correspondence._util.text import list_names, short_repr
from correspondence.core.residual_svd import absent_mass
from correspondence.data.table import Table, weighted_columns
from correspondence.estimators.ca.ridge import shrink_labels
from correspondence.results.points import Points

__all__ = ["TableSide", "TransitionFormula"]


@dataclass(frozen=True)
class TransitionFormula:
    """How functions of one side give those of the other: averages over profiles, divided by singular values.

    Attributes
    ----------
    singular_values : ndarray of shape (d,)
        Those of the matrix that was decomposed; the correlations claimed may be smaller.
    strength : float
        The strength of the ridge in observations, 0 without one.
    shrinkage : ndarray of shape (m,) or None
        By which the ridge multiplies the labels of the side that is averaged over.
    offset : ndarray of shape (d,) or None
        The mean of the averages of the fit, which is subtracted.
    """

    singular_values: np.ndarray
    strength: float = 0.0
    shrinkage: np.ndarray | None = None
    offset: np.ndarray | None = None

    def place_profiles(self, profiles: Any, totals: np.ndarray, mass: np.ndarray, standard: np.ndarray) -> np.ndarray:
        """Standard coordinates of profiles of given totals; 0 on axes without inertia."""
        if self.shrinkage is not None:
            standard = standard * self.shrinkage[:, None]
        placed = profiles @ standard - mass @ standard
        if self.offset is not None:
            placed = placed * shrink_labels(totals, self.strength)[:, None] - self.offset
        s = self.singular_values
        return placed * np.divide(1, s, out=np.zeros(len(s)), where=s > 0)


@dataclass(frozen=True)
class TableSide:
    """One side of a table.

    Attributes
    ----------
    name : {"rows", "columns"}
    labels, mass : ndarray of shape (m,)
        Of all labels of the table.
    named : bool
        Whether the labels mean something, or are just positions.
    weights : ndarray of shape (m,) or None
        By which the counts were multiplied.
    shown : ndarray of int
        Positions of the labels in the output: all, or the subset that was asked for.
    kept : ndarray of int
        Those of them that take part: the others have no mass and lie at NaN.
    """

    name: str
    labels: np.ndarray
    mass: np.ndarray
    named: bool
    weights: np.ndarray | None
    shown: np.ndarray
    kept: np.ndarray

    @classmethod
    def from_table(cls, table: Table, name: str, weights: np.ndarray | None, subset: Iterable[Any] | None) -> TableSide:
        """Rows or columns of a table, restricted to a subset of the labels if there is one."""
        labels, axis = (table.rows, 1) if name == "rows" else (table.columns, 0)
        mass = np.asarray(table.counts.sum(axis=axis)).ravel() / table.total
        everything = np.arange(len(labels)) if table.named else labels  # which are positions then
        shown = everything if subset is None else find_positions(labels, subset, name)
        _check_mass(mass, labels, name)
        occurs = mass[shown] > 0
        kept = shown if occurs.all() else shown[occurs]  # the same array where it can be: there may be millions
        if not len(kept):
            raise ValueError(f"subset_{name} has no label with a count.")
        return cls(name, labels, mass, table.named, weights, shown, kept)

    @property
    def occurring_positions(self) -> np.ndarray:
        """Positions of all labels with a count."""
        return np.flatnonzero(self.mass > 0)

    @property
    def is_whole(self) -> bool:
        """Whether all labels with a count take part."""
        return len(self.kept) == len(self.occurring_positions)

    @property
    def is_weighted(self) -> bool:
        """Whether weights changed the counts: a weight of 0 only leaves a label out."""
        return self.weights is not None and not np.isin(self.weights, (0, 1)).all()

    def make_points(self, inertia: np.ndarray, standard: np.ndarray, correlations: np.ndarray) -> Points:
        """Points of all labels shown, from inertias and coordinates of those kept."""
        position = np.searchsorted(self.shown, self.kept)
        mass = self.mass[self.shown]
        distance = np.sqrt(inertia / mass[position])
        if len(self.kept) < len(self.shown):
            inertia, distance, standard = (
                _spread_values(values, position, len(mass), fill)
                for values, fill in ((inertia, 0.0), (distance, np.nan), (standard, np.nan))
            )
        return Points(self.labels[self.shown], mass, distance, inertia, standard, correlations)

    def place_labels(self, table: Table, own: Points, name: str, transition: TransitionFormula) -> Points:
        """Points of new labels of the other side, given by a table whose columns are the labels of this one.

        By the transition formula: principal coordinates are averages of this side's standard ones.
        """
        profiles, totals = self._compute_profiles(self.align_counts(table, name))
        mass = self.mass[self.kept]
        standard = transition.place_profiles(
            profiles, totals, mass, own.standard[np.searchsorted(self.shown, self.kept)]
        )
        distance = compute_distances(profiles, mass)
        standard[totals == 0], distance[totals == 0] = np.nan, np.nan
        unknown = np.full(len(distance), np.nan)
        return Points(table.rows, unknown, distance, unknown, standard, own.correlations)

    def align_counts(self, table: Table, name: str) -> Any:
        """Counts of a table with its columns in the order of the labels of this side."""
        if not (table.named and self.named):
            if table.shape[1] != len(self.labels):
                raise ValueError(
                    f"{name} has {table.shape[1]} {self.name}, but the fit had {len(self.labels)}: give the same ones."
                )
            return table.counts
        positions = {label: i for i, label in enumerate(table.columns.tolist())}
        missing = [label for label in self.labels.tolist() if label not in positions]
        if missing:
            raise ValueError(f"{name} lacks {self.name} of the fit: {list_names(missing)}.")
        extra = sorted(set(positions) - set(self.labels.tolist()), key=str)
        if extra:
            raise ValueError(f"{name} has {self.name} that were not in the fit: {list_names(extra)}.")
        return table.counts[:, [positions[label] for label in self.labels.tolist()]]

    def _compute_profiles(self, counts: Any) -> tuple[Any, np.ndarray]:
        """Rows divided by their sums, over the labels kept; and these sums."""
        weights = np.ones(len(self.labels)) if self.weights is None else self.weights
        counts = weighted_columns(counts, np.where(self.mass > 0, weights, 0))
        total = np.asarray(counts.sum(axis=1)).ravel()
        profiles = weighted_columns(counts.T, 1 / np.where(total > 0, total, 1)).T
        return (profiles.tocsr() if sp.issparse(profiles) else profiles)[:, self.kept], total


def _check_mass(mass: np.ndarray, labels: np.ndarray, name: str) -> None:
    """The functions grow with the root of one over the mass, and their fourth powers must not overflow."""
    tiny = np.flatnonzero((mass > 0) & (mass < 1e-100))
    if len(tiny):
        raise ValueError(
            f"The {name} {list_names(labels[tiny[:3]].tolist(), show=short_repr)} have next to no share of all "
            f"counts, {mass[tiny[0]]:.1g}: leave them out, or give them as supplementary."
        )


def find_positions(labels: np.ndarray, subset: Iterable[Any], name: str) -> np.ndarray:
    """Where the labels of a subset stand, in the order of the table."""
    if isinstance(subset, str | bytes | Iterator) or not isinstance(subset, Iterable):
        raise ValueError(f"subset_{name} must be a list of labels, got {short_repr(subset)}.")
    known = {label: i for i, label in enumerate(labels.tolist())}
    wanted = as_labels(subset, f"subset_{name}").tolist()
    if any(isinstance(label, bool) for label in wanted) and not any(isinstance(label, bool) for label in known):
        raise ValueError(f"subset_{name} looks like a mask: give the labels instead.")
    unknown = [label for label in wanted if not _is_among(label, known)]
    if unknown:
        raise ValueError(f"subset_{name}: there is no label {short_repr(unknown[0])} among the {name}.")
    return np.unique(np.array([known[label] for label in wanted], dtype=np.intp))


def _is_among(label: Any, known: dict[Any, int]) -> bool:
    try:
        return label in known
    except TypeError:  # it cannot be hashed
        return False


def _spread_values(values: np.ndarray, position: np.ndarray, size: int, fill: float) -> np.ndarray:
    result = np.full((size, *values.shape[1:]), fill)
    result[position] = values
    return result


def compute_distances(profiles: Any, mass: np.ndarray) -> np.ndarray:
    """Chi-square distances of profiles from the average one."""
    if not sp.issparse(profiles):
        return np.sqrt(((profiles - mass) ** 2 / mass).sum(axis=1))
    expected = mass[profiles.indices]
    squares = (profiles.data - expected) ** 2 / expected
    row = np.repeat(np.arange(profiles.shape[0]), np.diff(profiles.indptr))
    return np.sqrt(np.bincount(row, squares, profiles.shape[0]) + absent_mass(profiles, mass))
