"""Name the command that installs an extra, for the way in which this package was installed."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

__all__ = ["explain_missing_extra", "make_install_command"]

PACKAGE = "correspondence"
CONSTRAINTS_FILE = "constraints.txt"  # of a checkout: it keeps torch small


def explain_missing_extra(what: str, extra: str, otherwise: str = "") -> str:
    """Say that something needs an extra, and how to install that.

    Parameters
    ----------
    what : str
        The beginning of the sentence, such as "PICE needs torch".
    extra : str
        The extra that installs what is missing.
    otherwise : str
        What to do instead, such as "write a .gif".

    Examples
    --------
    >>> explain_missing_extra("PICE needs torch", "neural")  # doctest: +ELLIPSIS
    'PICE needs torch: pip install ...[neural]".'
    """
    return f"{what}: {make_install_command(extra)}{f', or {otherwise}' if otherwise else ''}."


def make_install_command(extra: str) -> str:
    """Make the command that adds an extra to this installation.

    A checkout is installed again from its folder, an archive or a repository from its address, and anything else from
    the index: no other command gives the same version of the package with the extra.
    """
    origin = _read_origin()
    url = str(origin.get("url", ""))
    if "dir_info" in origin:
        return _install_folder(Path(url2pathname(urlsplit(url).path)), extra, bool(origin["dir_info"].get("editable")))
    if "vcs_info" in origin:
        source = origin["vcs_info"]
        return f'pip install "{PACKAGE}[{extra}] @ {source["vcs"]}+{url}@{source["commit_id"]}"'
    return f'pip install "{PACKAGE}[{extra}]{f" @ {url}" if url else ""}"'


def _install_folder(folder: Path, extra: str, is_editable: bool) -> str:
    if not folder.is_dir():  # moved or removed since
        return f'pip install "{PACKAGE}[{extra}]"'
    constraints = folder / CONSTRAINTS_FILE
    limits = f'-c "{constraints}" ' if constraints.is_file() else ""
    return f'pip install {limits}{"-e " if is_editable else ""}"{folder}[{extra}]"'


def _read_origin() -> dict[str, Any]:
    """Read where the package was installed from; nothing is recorded of a package from an index."""
    try:
        text = metadata.distribution(PACKAGE).read_text("direct_url.json")
    except metadata.PackageNotFoundError:  # run from its sources, which are not installed
        return _find_checkout()
    try:
        origin = json.loads(text or "{}")
    except ValueError:
        return {}
    return origin if isinstance(origin, dict) else {}


def _find_checkout() -> dict[str, Any]:
    folder = Path(__file__).resolve().parents[3]
    is_checkout = (folder / "pyproject.toml").is_file()
    return {"url": folder.as_uri(), "dir_info": {"editable": True}} if is_checkout else {}
