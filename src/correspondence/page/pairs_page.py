"""The page of two variables: what lies near what in the plane of both, and what the axes mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from correspondence.core.decomposition import as_decomposition
from correspondence.describe.axis_words import AxisWords, find_axis_words
from correspondence.describe.sentences import write_sentences
from correspondence.page.clouds import Cloud, add_data, colour_clouds, limit_columns, list_class_items, make_clouds
from correspondence.page.column_marks import add_column_clouds, list_structure
from correspondence.page.filling import list_paragraphs, render_page
from correspondence.page.making import Making
from correspondence.page.packing import lay_out_scree
from correspondence.page.payload import pack_payload
from correspondence.results.evidence import CrossFit, Evidence, list_components
from correspondence.scene.classes import make_scene
from correspondence.scene.points import check_names
from correspondence.search.cross_modal import CrossModalIndex

__all__ = ["render_pairs_page"]


def render_pairs_page(
    d_or_est: Any,
    *,
    made: Making,
    X: Any,
    Y: Any,
    held_out: Any,
    crossfit: CrossFit | None,
    groups: Any,
    classes: Any,
    data: Any,
    names: Sequence[str] | None,
    x_labels: Any,
    y_labels: Any,
    x_images: Any,
    y_images: Any,
    marks: tuple[Sequence[Any], Any] | None,
    index: CrossModalIndex | None,
    boundaries: bool | Sequence[tuple[Any, Any]],
    recorder: Any,
    title: str,
    about: Sequence[str] | None,
    words: Sequence[AxisWords] | None,
    max_points: int,
) -> str:
    """Render the page of two variables; the parameters are those of `explore`."""
    if groups is not None and classes is not None:
        raise ValueError("classes must be left out where groups are given: both colour the points of X.")
    seen = make_scene(d_or_est, X, classes, X if hasattr(d_or_est, "on_beliefs") else None, False)
    if names is None:
        names = ("x", "y") if seen.names == ("rows", "columns") else seen.names
    called = check_names(names)
    clouds = make_clouds(
        seen, d_or_est, X, Y, called, max_points, (x_labels, y_labels), (x_images, y_images), marks, index
    )
    clouds = limit_columns(add_data(clouds, data))
    clouds, colours = colour_clouds(clouds, seen, Y if index is None else None, groups)
    clouds, described = add_column_clouds(clouds, as_decomposition(seen.est), X, Y, has_index=index is not None)
    if held_out is None:
        held_out = getattr(d_or_est, "validation_", None) or getattr(d_or_est, "held_out_", None)
    evidence = None if held_out is None else held_out.evidence
    rows = list_components(as_decomposition(seen.est), evidence)
    fitted = "claimed" if hasattr(seen.est, "on_beliefs") else "training"
    if words is None:
        class_names = None if colours is None else colours["names"]
        words = find_pair_words(d_or_est, X, Y, index, clouds[0], class_names)
    packed = ""
    if rows:
        packed = pack_payload(seen, clouds, rows, called, colours, index, boundaries, recorder, fitted, described)
    return render_page(
        made=made,
        title=str(title),
        about=write_sentences(d_or_est, words, held_out, called[:2]) if about is None else list_paragraphs(about),
        level=round(100 * evidence.level, 1) if evidence else None,
        facts=list_facts(seen.est, clouds, evidence, has_groups=groups is not None),
        names=called,
        rows=rows,
        scree=lay_out_scree(rows),
        n_read=len(words) if evidence is None else evidence.n_holding,
        words=[axis.complete_words(called[:2]) for axis in words],
        structure=list_structure(described, called, clouds, held_out if crossfit is None else crossfit),
        has_frames=recorder is not None,
        data=packed,
        fitted=fitted,
    )


def find_pair_words(
    d_or_est: Any, X: Any, Y: Any, index: CrossModalIndex | None, x: Cloud, class_names: list[str] | None
) -> list[AxisWords]:
    """Find words for the axes in the data, or else in the classes of the points of x."""
    d = as_decomposition(d_or_est)
    items = None if index is None else (index.items_y, index.g, index.prior)
    words = find_axis_words(d, X, Y, y_items=items)
    if class_names is not None and words and not any(axis.x or axis.y for axis in words):
        return list(find_axis_words(d, X, Y, x_items=list_class_items(x, class_names)))
    return list(words)


def list_facts(
    d_or_est: Any, clouds: list[Cloud], evidence: Evidence | None, has_groups: bool = False
) -> list[tuple[str, str]]:
    """List figures, each with its name."""
    d = as_decomposition(d_or_est)
    facts = [("pairs", f"{d.n:,.10g}") if float(d.n).is_integer() else ("total", f"{d.n:,.6g}")]
    if getattr(d_or_est, "group", None) is not None:
        facts = [("sum of the belief in the group", f"{d.n:,.1f}")]
    facts += [cloud.count() for cloud in clouds]
    groupless = int((clouds[0].classes < 0).sum()) if has_groups and clouds[0].classes is not None else 0
    if groupless:
        facts.append(("without a group", f"{groupless:,}"))
    facts.append(("total inertia", f"{d.chi2:.4g}"))
    if evidence is None or evidence.captured is None:
        return facts
    return [*facts, ("captured of pairs held out", f"{evidence.captured:.4g}")]
