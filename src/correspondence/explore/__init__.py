"""One self-contained page to look at a decomposition, without a network."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from jinja2 import Environment, PackageLoader

from correspondence import plot
from correspondence.decomposition import Decomposition, as_decomposition
from correspondence.functions import LabelFunctions
from correspondence.io import new_file

__all__ = ["describe", "explore"]

MOST_LABELS = 2000


def explore(d_or_est: Any, path: str | Path, *, title: str = "Correspondence analysis") -> Path:
    """Write a page with the factoring plane, the PICs and a searchable table of all points.

    Parameters
    ----------
    d_or_est : Decomposition or fitted estimator
        Of two discrete variables.
    path : str or Path
        The HTML file; replaced only once the new one is complete.
    title : str
        Heading of the page.

    Returns
    -------
    Path
        Of the file.
    """
    d = as_decomposition(d_or_est)
    environment = Environment(loader=PackageLoader("correspondence.explore", "."), autoescape=True)
    page = environment.get_template("page.html.j2").render(describe(d), title=title, plane=_plane(d), scree=_scree(d))
    with new_file(path) as temporary:
        temporary.write_text(page, encoding="utf-8", errors="replace")
    return Path(path)


def describe(d: Decomposition) -> dict[str, Any]:
    """Everything the page says, as plain values."""
    return {
        "n": f"Total count {d.n:,.10g}" if float(d.n).is_integer() else f"Total {d.n:,.6g}",
        "chi2": f"{d.chi2:.4g}",
        "components": [
            {"pic": f"{pic:.4f}", "correlation": f"{r:.4f}", "share": f"{100 * share:.1f}"}
            for pic, r, share in zip(d.pics, d.correlations, d.inertia_ratios, strict=True)
        ],
        "sides": [_side("Rows", d.f, d), _side("Columns", d.g, d)],
        "most": MOST_LABELS,
    }


def _side(name: str, functions: Any, d: Decomposition) -> dict[str, Any]:
    if not isinstance(functions, LabelFunctions):
        raise TypeError("The page needs a decomposition of two discrete variables, such as that of a fitted CA.")
    k = min(d.n_components, 3)
    principal = functions.values[:, :k] * d.correlations[:k]
    share = 100 * functions.mass[:, None] * functions.values[:, :k] ** 2
    weight = np.nan_to_num(share @ d.pics[:k])
    first = np.lexsort([-functions.mass, -weight])[:MOST_LABELS]
    points = [
        {
            "label": str(functions.labels[i]),
            "mass": f"{functions.mass[i]:.3g}",
            "axes": [
                (_number(x, 3), _number(c, 1 if c >= 0.1 else 3)) for x, c in zip(principal[i], share[i], strict=True)
            ],
        }
        for i in first
    ]
    return {"name": name, "axes": range(1, k + 1), "points": points, "count": len(functions.labels)}


def _plane(d: Decomposition) -> str:
    return _svg(plot.plane(d).figure) if d.n_components else ""


def _scree(d: Decomposition) -> str:
    return _svg(plot.scree(d).figure) if d.n_components else ""


def _svg(figure: Any) -> str:
    """Figure as an element to be put into a page; its texts stay texts, which matplotlib escapes."""
    with io.StringIO() as buffer, plt.rc_context({"svg.hashsalt": "correspondence", "svg.fonttype": "none"}):
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the browser has other fonts
                figure.savefig(buffer, format="svg", metadata=dict.fromkeys(["Creator", "Date", "Format", "Type"]))
        finally:
            plt.close(figure)
        text = buffer.getvalue()
    return text[text.index("<svg") :]


def _number(value: float, digits: int) -> str:
    """Rounded number: never minus zero, and a dash for a label that does not occur."""
    return f"{value:z.{digits}f}" if np.isfinite(value) else "—"
