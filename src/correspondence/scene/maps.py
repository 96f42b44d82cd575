"""Maps of correspondence analysis by the names that R and factoextra use."""

from __future__ import annotations

from typing import Literal

__all__ = ["MAPS", "Scaling"]


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
