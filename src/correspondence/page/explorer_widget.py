"""The explorer page as a widget of notebooks, whose selection Python reads and sets; it needs anywidget."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import anywidget
import numpy as np
import traitlets

from correspondence._util.text import list_names, short_repr
from correspondence.page.explorer_page import FRAME_STYLE, SANDBOX, ExplorerPage
from correspondence.page.packing import read_description

__all__ = ["ExplorerWidget"]

SCRIPT = resources.files("correspondence.page").joinpath("script", "widget.js").read_text(encoding="utf-8")


class Positions(traitlets.TraitType):
    """Positions of the points of one side, in ascending order and each once."""

    default_value = ()
    info_text = "whole numbers from 0"

    def __init__(self, role: str) -> None:
        super().__init__([])
        self.role = role

    def make_dynamic_default(self) -> list[int]:
        """Begin with nothing selected, a new list for each widget."""
        return []

    def validate(self, obj: Any, value: Any) -> list[int]:
        """Return the positions as a list, or say what is wrong with them."""
        n, name = obj._sizes[self.role], self.name
        advice = (
            f"Give positions from 0 to {n - 1}, such as numpy.flatnonzero(mask)." if n else "There is none to select."
        )
        try:
            array = np.asarray(value)
        except (TypeError, ValueError):  # lists of different lengths
            array = np.empty((0, 0))
        if not array.size and array.ndim == 1:
            return []
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError(f"{name} must be a list of whole numbers, got {short_repr(value)}. {advice}")
        outside = array[(array < 0) | (array >= n)]
        if len(outside):
            raise ValueError(f"{name} must be from 0 to {n - 1}, got {list_names(outside.tolist(), 3)}. {advice}")
        return [int(position) for position in np.unique(array)]


class ExplorerWidget(anywidget.AnyWidget):
    """The page of `explore` in a notebook, whose selection Python reads and sets; `widget` makes it.

    Attributes
    ----------
    selection : list of int
        The positions of the selected rows of X, or of the rows of the table, in ascending order. Assign positions to
        select these in the page; ``widget.observe(function, names="selection")`` calls a function on each change.
    selected_columns : list of int
        The same for the columns of the table, or the rows of Y.
    page : ExplorerPage
        The page, which `page.save` writes to a file.

    Examples
    --------
    >>> import correspondence as co
    >>> widget = co.widget(co.CA().fit(co.datasets.load_housetasks()))
    >>> widget.selection = [3, 1, 1]
    >>> widget.selection
    [1, 3]
    """

    _esm = f"const SANDBOX = {json.dumps(SANDBOX)}, STYLE = {json.dumps(FRAME_STYLE)};\n{SCRIPT}"
    html = traitlets.Unicode(read_only=True).tag(sync=True)  # sent once, when the widget is made
    selection = Positions("x").tag(sync=True)
    selected_columns = Positions("y").tag(sync=True)

    def __init__(self, page: ExplorerPage) -> None:
        clouds = read_description(page.html).get("clouds", [])
        self._sizes = {"x": 0, "y": 0} | {cloud["role"]: int(cloud["given"]) for cloud in clouds}
        self.page = page
        self.set_trait("html", page.html)
        super().__init__()

    def __repr__(self) -> str:
        return f"ExplorerWidget({self.page!r}, {len(self.selection)} selected)"
