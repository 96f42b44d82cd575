"""The explorer page in a notebook that tells Python what is selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from correspondence._util.extras import explain_missing_extra
from correspondence.page import explore
from correspondence.results.associations import Associations

if TYPE_CHECKING:
    from correspondence.page.explorer_widget import ExplorerWidget

__all__ = ["widget"]


def widget(d_or_est: Any, X: Any = None, Y: Any = None, **options: Any) -> ExplorerWidget:
    """Make the page of `explore` as a widget: what is selected in it is known in Python, and can be set there.

    It works in JupyterLab, in marimo and wherever else anywidgets do, and needs the extra ``notebook``.

    Parameters
    ----------
    d_or_est : Decomposition or fitted estimator
        The page shows this analysis.
    X, Y : array-like, frame, ..., optional
        The values to show, as for `explore`.
    **options
        The other arguments of `explore`, except `path` and `overwrite`: ``widget.page.save(path)`` writes a file.

    Returns
    -------
    ExplorerWidget
        The widget, with the positions ``selection`` and ``selected_columns``. Put it last in a cell to see it; in
        marimo put it into ``mo.ui.anywidget(...)``.

    Examples
    --------
    >>> import correspondence as co
    >>> widget = co.widget(co.CA().fit(co.datasets.load_housetasks()), names=("task", "who"))
    >>> widget.selected_columns = [0]
    >>> widget
    ExplorerWidget(ExplorerPage(0.1 MB), 0 selected)
    """
    for name in ("path", "overwrite"):
        if name in options:
            raise TypeError(f"{name} must be left out. Write a file by widget.page.save(path).")
    if isinstance(d_or_est, Associations):
        raise TypeError("d_or_est must have points to select, got Associations. Show these by co.explore(a).")
    try:
        from correspondence.page.explorer_widget import ExplorerWidget
    except ImportError as error:
        raise ImportError(explain_missing_extra("co.widget needs anywidget", "notebook")) from error
    return ExplorerWidget(explore(d_or_est, X, Y, **options))
