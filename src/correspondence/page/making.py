"""How a page was made: what its panel of code needs to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Making", "describe_making"]


@dataclass(frozen=True)
class Making:
    """How a page was made.

    Attributes
    ----------
    given : list of str
        The arguments of `explore` that were given, apart from the first.
    command : str or None
        The command line that wrote the page.
    """

    given: list[str]
    command: str | None


def describe_making(options: Mapping[str, Any], defaults: Mapping[str, Any], command: str | None) -> Making:
    """Describe how a page was made.

    Parameters
    ----------
    options : mapping
        The values of the arguments of `explore` that choose what the page shows, by their names.
    defaults : mapping
        What the arguments are if they are not given, where that is not None.
    command : str or None
        The command line that writes the page.
    """
    return Making([name for name, value in options.items() if value is not defaults.get(name)], command)
