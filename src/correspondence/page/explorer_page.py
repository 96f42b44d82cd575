"""What `explore` returns: a page that a notebook shows, and that can be written to a file."""

from __future__ import annotations

import html
from pathlib import Path

from correspondence._util.files import check_new_file, new_file

__all__ = ["FRAME_STYLE", "SANDBOX", "ExplorerPage", "make_frame"]

FRAME_STYLE = "width: 100%; height: 720px; border: 0"
# Scripts run, files can be saved and the page printed; but nothing of the notebook can be read or changed.
SANDBOX = "allow-scripts allow-downloads allow-modals"


class ExplorerPage:
    """A self-contained page, which a notebook shows where it stands last in a cell.

    Parameters
    ----------
    html : str
        The page is this text.
    path : Path or None
        The page was written to this file.

    Attributes
    ----------
    html : str
        The page as text.
    path : Path or None
        The file that the page was last written to, or None.

    Examples
    --------
    >>> import correspondence as co
    >>> page = co.explore(co.CA().fit(co.datasets.load_housetasks()))
    >>> page.path is None, page.html[:15]
    (True, '<!doctype html>')
    """

    def __init__(self, html: str, path: Path | None = None) -> None:
        self.html = html.encode("utf-8", errors="replace").decode("utf-8")  # no file can hold half a character
        self.path = path

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Write the page to a file, which is there only once it is complete.

        Parameters
        ----------
        path : str or Path
            The HTML file is written here.
        overwrite : bool
            An existing file is replaced; by default that is an error.

        Returns
        -------
        Path
            The path of the file.

        Examples
        --------
        >>> import correspondence as co
        >>> page = co.explore(co.CA().fit(co.datasets.load_housetasks()))
        >>> page.save("tasks.html").name      # doctest: +SKIP
        'tasks.html'
        """
        target = check_new_file(path, overwrite)
        with new_file(target) as temporary:
            temporary.write_bytes(self.html.encode())
            check_new_file(target, overwrite)  # another program may have been faster
        self.path = target
        return target

    def __fspath__(self) -> str:
        if self.path is None:
            raise TypeError("The page must be written before it can be opened as a file: call page.save(path).")
        return str(self.path)

    def __repr__(self) -> str:
        size = f"{len(self.html.encode()) / 1e6:.1f} MB"
        return f"ExplorerPage({size}{'' if self.path is None else f', {self.path.name}'})"

    def _repr_html_(self) -> str:
        return make_frame(self.html)


def make_frame(page: str) -> str:
    """Make an element that shows a page within another, where it can read and change nothing."""
    return f'<iframe title="Explorer" sandbox="{SANDBOX}" style="{FRAME_STYLE}" srcdoc="{html.escape(page)}"></iframe>'
