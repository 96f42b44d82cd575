"""The page of associations: a heatmap of columns, and the table of their pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence.page.data_columns import to_texts
from correspondence.page.filling import TITLE, fill_template, list_paragraphs
from correspondence.page.packing import pack_arrays, shorten_mantissas
from correspondence.page.pair_columns import collect_pair_columns
from correspondence.results.associations import Associations
from correspondence.scene.associations import HEAT_COLOURS, HEAT_VALUES, make_heatmap

__all__ = ["render_associations_page"]

MAX_COLUMNS = 500  # the file takes 3 MB, and grows with their square
MAX_PAIRS_WITHOUT_SCRIPT = 30
SCRIPTS = ("unpack.js", "parts.js", "layout.js", "pair.js", "associations.js")


def render_associations_page(
    a: Associations, *, X: Any, title: str, about: Sequence[str] | None, max_points: int
) -> str:
    """Render the page of associations; the parameters are those of `explore`."""
    shown = choose_columns(a)
    n_tested = int(np.isfinite(a.raw_pvalues[np.triu_indices(len(a), 1)]).sum())
    n_found = int(a.found[np.triu_indices(len(a), 1)].sum())
    facts = [("rows", f"{a.n:,.10g}"), ("columns", f"{len(a):,}"), ("pairs tested", f"{n_tested:,}")]
    facts.append((f"more than chance (false discovery rate {100 * a.alpha:g} %)", f"{n_found:,}"))
    if a.given:
        facts.insert(1, ("given", ", ".join(to_texts(list(a.given)))))
    if len(shown) < len(a):
        facts.append(("columns shown, which go most with others", f"{len(shown):,}"))
    default = "What goes with what" if a.target is None else f"What goes with {to_texts([a.target])[0]}"
    default += f", {' '.join(to_texts([a.condition]))}" if a.given else ""
    content = {
        "title": default if title == TITLE else str(title),
        "about": a.write_summary().split("\n") if about is None else list_paragraphs(about),
        "facts": facts,
        "notes": [str(note) for note in a.notes],
        "condition": to_texts([a.condition])[0] if a.given else "",
        "has_table": X is not None,
        "has_target": a.target is not None,
        "values": HEAT_VALUES,
        "pairs": list_pairs(a),
        "data": pack_associations(a, shown, X, max_points),
    }
    return fill_template("associations.html.j2", SCRIPTS, content)


def choose_columns(a: Associations) -> np.ndarray:
    """Choose the columns that are shown, in the order of the heatmap: of very many those that go most with others."""
    if len(a) <= MAX_COLUMNS:
        return np.asarray(a.order)
    strength = np.where(a.found, np.nan_to_num(a.correlations), 0.0)
    np.fill_diagonal(strength, 0.0)
    rank = np.sort(strength, axis=1)[:, ::-1][:, :3].sum(axis=1)
    rank[[str(name) == str(a.target) for name in a.columns]] = np.inf
    kept = np.argsort(-rank, kind="stable")[:MAX_COLUMNS]
    return np.asarray(a.order)[np.isin(a.order, kept)]


@dataclass(frozen=True)
class ListedPair:
    """A pair of columns with its figures as texts."""

    x: str
    y: str
    figures: list[str]


def list_pairs(a: Associations) -> list[ListedPair]:
    """List the strongest pairs for readers without a script."""
    columns = a._collect_columns()
    listed = []
    for i in range(min(MAX_PAIRS_WITHOUT_SCRIPT, len(columns["x"]))):
        figures = [f"{columns[name][i]:.2f}" for name in ("correlation", "captured", "y_from_x", "x_from_y")]
        x, y = to_texts([columns["x"][i], columns["y"][i]])
        listed.append(ListedPair(x, y, [*figures, f"{columns['adjusted_pvalue'][i]:.2g}"]))
    return listed


def pack_associations(a: Associations, shown: np.ndarray, X: Any, most: int) -> str:
    """Pack everything that the script needs: matrices row by row, in the order of the heatmap; the columns of X."""
    chosen = np.ix_(shown, shown)
    names = to_texts(np.asarray(a.columns, dtype=object)[shown])
    target = None if a.target is None else [str(name) for name in np.asarray(a.columns)[shown]].index(str(a.target))
    content: dict[str, Any] = {
        "given": to_texts(list(a.given)),
        "names": names,
        "kinds": to_texts(a.kinds[shown]),
        "alpha": a.alpha,
        "target": target,
    }
    content |= {"colours": HEAT_COLOURS, "values": {name: {"title": title} for name, title in HEAT_VALUES.items()}}
    for name in HEAT_VALUES:
        content["values"][name]["limit"] = make_heatmap(a, name).limit
    matrices = ("correlations", "captured", "predicted", "pvalues", "n_pairs")
    arrays = {name: shorten_mantissas(np.asarray(getattr(a, name), dtype=float)[chosen]) for name in matrices}
    if X is not None:
        said, data = collect_pair_columns(X, [a.columns[i] for i in shown], most)
        content |= said
        arrays |= data
    return pack_arrays(content, arrays | {"found": a.found[chosen].astype(np.uint8)})
