"""Links that work in the repository work on the site too.

The README, the changelog and the rules are pages of the site, a tutorial is the page made of it, and any other file
outside docs becomes a download.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parents[1]
PAGES = {"README.md": "readme.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
LINK = re.compile(r"\]\(([^()#:\s]+)(#[^()\s]*)?\)")


def on_site(text: str, folder: Path, page_folder: Path) -> str:
    """Return the text of a file in a folder, with the links that a page in another folder needs."""

    def link(match: re.Match[str]) -> str:
        path = (folder / match[1]).resolve()
        return f"]({_target(path, page_folder)}{match[2] or ''})" if path.is_file() else match[0]

    return LINK.sub(link, text)


def _target(path: Path, page_folder: Path) -> str:
    if path.parent == DOCS.parent and path.name in PAGES:
        path = DOCS / PAGES[path.name]
    elif path.parent == DOCS / "tutorials":
        path = DOCS / "generated" / "tutorials" / f"{path.stem}.rst"
    scheme = "" if path.is_relative_to(DOCS) else "path:"
    return scheme + os.path.relpath(path, page_folder)


def _page(app: Sphinx, page: str, source: list[str]) -> None:
    folder = (DOCS / page).parent
    source[0] = on_site(source[0], folder, folder)


def _included(app: Sphinx, path: Path, page: str, source: list[str]) -> None:
    source[0] = on_site(source[0], (DOCS / path).parent, DOCS)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("source-read", _page)
    app.connect("include-read", _included)
    return {"parallel_read_safe": True}
