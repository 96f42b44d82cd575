"""Points of a table in order, whose coordinates are not those of their profiles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from correspondence._util.arguments import read_only
from correspondence.results.points import MIN_CHI2_DISTANCE, Points

__all__ = ["OrderedPoints"]


@dataclass(frozen=True, eq=False, repr=False)
class OrderedPoints(Points):
    """Points of one side of a table whose first function was made monotone, so that neighbours may share a place.

    Attributes
    ----------
    labels, mass, chi2_distance, inertia, standard, correlations, side
        See `Points`; distances and inertias are those of the table.
    averages : ndarray of shape (m, d)
        The means of the other side's functions over the profile of each label, which the principal coordinates of
        ordered labels no longer equal. `cos2` is the share of a label's squared distance along these.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA(n_components=1, ordered=["rows", "columns"]).fit([[9, 4, 2], [3, 1, 6], [4, 3, 6], [1, 2, 9]])
    >>> ca.rows_.principal.ravel().round(3)
    array([-0.673,  0.117,  0.117,  0.616])
    >>> ca.rows_.averages.ravel().round(3)
    array([-0.673,  0.235,  0.026,  0.616])
    """

    averages: np.ndarray

    def __post_init__(self) -> None:
        super().__post_init__()
        read_only(self, "averages")

    @property
    def cos2(self) -> np.ndarray:
        """Share of each axis in a label's squared distance from the centre: of its profile, not of its coordinate."""
        squares = self.chi2_distance[:, None] ** 2
        is_centre = squares < MIN_CHI2_DISTANCE**2
        return np.where(is_centre, 0.0, self.averages**2 / np.where(is_centre, 1.0, squares))
