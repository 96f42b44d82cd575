"""Which options a picture or a page of some kind of analysis takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from correspondence._util.text import short_repr

__all__ = ["choose_options"]


def choose_options(
    draw: Callable[..., Any], shown: str, options: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Choose the options that a function takes; others must be as by default.

    Parameters
    ----------
    draw : callable
        The function that draws or renders an analysis of this kind.
    shown : str
        What errors call this kind of analysis.
    options : mapping
        The values of all options, by their names.
    defaults : mapping
        What the options are if they are not given, where that is not None.
    """
    taken = signature(draw).parameters
    for name, value in options.items():
        if name not in taken and not _is_unset(value, defaults.get(name)):
            raise TypeError(f"{name} must be left out for {shown}, got {short_repr(value)}.")
    return {name: value for name, value in options.items() if name in taken}


def _is_unset(value: Any, default: Any) -> bool:
    if value is None or value is default:
        return True
    are_empty = isinstance(value, list | tuple) and not value and default is not None and not default
    return are_empty or (isinstance(value, str | bool) and value == default)
