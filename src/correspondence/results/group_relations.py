"""How groups of columns go with the axes of an analysis, and with each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from correspondence.results.points import FrameResult, number_columns

__all__ = ["GroupRelations"]


@dataclass(frozen=True, eq=False, repr=False)
class GroupRelations(FrameResult):
    """Groups of columns in a multiple factor analysis.

    `to_frame` has one row for each group.

    Attributes
    ----------
    labels : ndarray of shape (g,)
        The names of the groups.
    is_active : ndarray of bool
        Which of them take part; the others are supplementary.
    coordinates : ndarray of shape (g, d)
        How much of each axis a group explains (the Lg coefficient with it), from 0 to 1 for active groups.
    contributions : ndarray of shape (g, d)
        Shares of the active groups in the inertia of each axis.
    correlations : ndarray of shape (g, d)
        Correlations of the axes with the scores as the group alone sees them.
    Lg : ndarray of shape (g + 1, g + 1)
        Lg coefficients between groups; the last row and column are those of the whole analysis.
    partial_axes : list of ndarray
        For each group the correlations of the axes of its own analysis with those of all.
    separate_inertias : list of ndarray
        For each group the inertias of its own analysis, divided by the first.
    inertia_ratio : ndarray of shape (d,)
        The share of the inertia of all partial points that lies between their means: 1 if all groups agree.

    Examples
    --------
    >>> import correspondence as co
    >>> survey = co.datasets.load_poison()
    >>> groups = {"symptoms": survey.columns[4:9], "food": survey.columns[9:]}
    >>> co.MixedCA(n_components=2, groups=groups).fit(survey[:, 4:]).groups_
    GroupRelations: 2 groups, coordinates on 2 axes
      symptoms        0.7727    0.1102
      food            0.6827    0.7337
    """

    labels: np.ndarray
    is_active: np.ndarray
    coordinates: np.ndarray
    contributions: np.ndarray
    correlations: np.ndarray
    Lg: np.ndarray
    partial_axes: list[np.ndarray]
    separate_inertias: list[np.ndarray]
    inertia_ratio: np.ndarray

    @property
    def RV(self) -> np.ndarray:  # noqa: N802 (its name in statistics)
        """RV coefficients between groups, and with the whole analysis: 1 for clouds of the same shape."""
        root = np.sqrt(np.diag(self.Lg))
        return self.Lg / np.outer(root, root)

    @property
    def cos2(self) -> np.ndarray:
        """Quality of representation of the groups."""
        return self.coordinates**2 / np.diag(self.Lg)[:-1, None]

    def _collect_columns(self) -> dict[str, np.ndarray]:
        columns = {"group": self.labels, "is_active": self.is_active}
        for name in ("coordinates", "contributions", "cos2", "correlations"):
            columns |= number_columns(f"{name}_", getattr(self, name))
        return columns

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        lines = [f"GroupRelations: {len(self)} groups, coordinates on {self.coordinates.shape[1]} axes"]
        for label, values in zip(self.labels, self.coordinates, strict=True):
            lines.append(f"  {label!s:<12}" + "".join(f"{value:>10.4f}" for value in values[:8]))
        return "\n".join(lines)
