"""How a page was made: what its panel of code needs to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Making", "describe_making"]

NOT_IN_CODE = ("d_or_est", "path", "overwrite", "command")


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


def describe_making(arguments: dict[str, Any], defaults: Mapping[str, Any]) -> Making:
    """Describe how a page was made.

    Parameters
    ----------
    arguments : dict
        The values of all arguments of `explore`, by their names.
    defaults : mapping
        What the arguments are if they are not given, where that is not None.
    """
    taken = {name: value for name, value in arguments.items() if name not in NOT_IN_CODE}
    return Making([name for name, value in taken.items() if value is not defaults.get(name)], arguments["command"])
