"""Templates of pages, filled with content, style and script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

__all__ = ["TITLE", "fill_template", "list_paragraphs", "render_page"]

TITLE = "Correspondence analysis"  # of a page whose title is not given
PAGE_SCRIPTS = (
    "unpack.js",
    "parts.js",
    "layout.js",
    "model.js",
    "fields.js",
    "groups.js",
    "group_tests.js",
    "plane.js",
    "labels.js",
    "layer.js",
    "state.js",
    "history.js",
    "embedding.js",
    "svg.js",
    "twin.js",
    "multiples.js",
    "export.js",
    "code.js",
    "colouring.js",
    "filters.js",
    "selecting.js",
    "comparing.js",
    "notes.js",
    "card.js",
    "search.js",
    "training.js",
    "tables.js",
    "page.js",
)


def list_paragraphs(about: str | Sequence[str]) -> list[str]:
    """Return the paragraphs that a user gave."""
    if not isinstance(about, Sequence):
        raise TypeError(f"about must be a list of texts, got {type(about).__name__}.")
    return [about] if isinstance(about, str) else [str(text) for text in about]


def render_page(**content: Any) -> str:
    """Fill the template of a plane with style, scripts and content."""
    return fill_template("page.html.j2", PAGE_SCRIPTS, content)


def fill_template(name: str, script_names: Sequence[str], content: dict[str, Any]) -> str:
    """Fill a template with style, scripts and content.

    Parameters
    ----------
    name : str
        The name of the template.
    script_names : sequence of str
        The files of the script, in their order.
    content : dict
        What the template needs; its texts are escaped.
    """
    environment = Environment(loader=PackageLoader("correspondence.page", "templates"), autoescape=True)
    folder = resources.files("correspondence.page")
    files = [("templates", "page.css"), *(("script", name) for name in script_names)]
    style, *scripts = (Markup(folder.joinpath(*file).read_text(encoding="utf-8")) for file in files)
    script = Markup("\n").join(scripts)
    # No other script than this one may run, and no text is run as a script.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template(name).render(content, style=style, script=script, digest=digest)
