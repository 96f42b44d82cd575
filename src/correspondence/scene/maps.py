"""Maps of correspondence analysis, by the names that R and factoextra use, and the axes they are drawn on."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from correspondence.core.decomposition import Decomposition

__all__ = ["MAPS", "Scaling", "check_axes", "check_map", "find_scale_factor", "list_maps", "needs_mass"]


Scaling = Literal["principal", "standard", "symmetric", "mass", "root_mass"]
MAPS: dict[str, tuple[Scaling, Scaling]] = {
    "symmetric": ("principal", "principal"),
    "rowprincipal": ("principal", "standard"),
    "colprincipal": ("standard", "principal"),
    "symbiplot": ("symmetric", "symmetric"),
    "rowgab": ("principal", "mass"),
    "colgab": ("mass", "principal"),
    "rowgreen": ("principal", "root_mass"),
    "colgreen": ("root_mass", "principal"),
}


def check_map(map: Any) -> tuple[Scaling, Scaling]:
    """Return the scalings of x and y in a map."""
    if not isinstance(map, str) or map not in MAPS:
        raise ValueError(f"map must be one of {', '.join(MAPS)}, got {map!r}.")
    return MAPS[map]


def needs_mass(scaling: Scaling) -> bool:
    """Tell whether a scaling multiplies points by their masses."""
    return scaling in ("mass", "root_mass")


def list_maps(has_mass: bool) -> dict[str, tuple[Scaling, Scaling]]:
    """List the maps that can be drawn of points with or without masses."""
    return {name: pair for name, pair in MAPS.items() if has_mass or not any(needs_mass(part) for part in pair)}


def find_scale_factor(scaling: Scaling, correlations: np.ndarray, mass: np.ndarray | None = None) -> np.ndarray:
    """Return what standard coordinates are multiplied by: an array that broadcasts to (points, axes).

    Parameters
    ----------
    scaling : str
        One of the two scalings of a map.
    correlations : ndarray of shape (k,)
        sqrt(lambda_i) of the axes drawn.
    mass : ndarray of shape (n,), optional
        Masses of the points, which the scalings "mass" and "root_mass" need.
    """
    if needs_mass(scaling):
        if mass is None:
            raise ValueError('map must be one that needs no masses, such as "symmetric", because points have no mass.')
        return (mass if scaling == "mass" else np.sqrt(mass))[:, None]
    powers = {"standard": 0.0, "symmetric": 0.5, "principal": 1.0}
    return correlations[None, :] ** powers[scaling]


def check_axes(d: Decomposition, axes: tuple[int, ...]) -> list[int]:
    """Return the indices of the components, counted from 0; of one component the plane (1, 2) is a line."""
    if d.n_components == 0:
        raise ValueError("There are no components to draw.")
    if not isinstance(axes, tuple | list):
        raise ValueError(f"axes must be two components such as (1, 2), got {axes!r}.")
    wanted = [1] if d.n_components == 1 and list(axes) == [1, 2] else list(axes)
    for axis in wanted:
        if not isinstance(axis, int | float | np.number) or axis not in range(1, d.n_components + 1):
            raise ValueError(f"axes must be components from 1 to {d.n_components}, got {axis!r}.")
    if len(wanted) not in (1, 2) or len(set(wanted)) < len(wanted):
        raise ValueError(f"axes must be two different components, got {axes}.")
    return [int(axis) - 1 for axis in wanted]
