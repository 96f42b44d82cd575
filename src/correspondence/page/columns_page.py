"""The page of an analysis of many columns, put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from correspondence.core.decomposition import as_decomposition
from correspondence.describe.axis_words import AxisWords
from correspondence.page.filling import list_paragraphs, render_page
from correspondence.page.making import Making
from correspondence.page.many_columns import (
    adjust_components,
    find_answer_words,
    list_column_facts,
    list_eta2,
    make_column_clouds,
    pack_columns_payload,
    write_column_sentences,
)
from correspondence.page.packing import lay_out_scree
from correspondence.results.evidence import list_components
from correspondence.scene.groups import read_row_groups
from correspondence.scene.many_columns import make_columns_scene, name_share
from correspondence.scene.points import check_names

__all__ = ["render_columns_page"]


def render_columns_page(
    est: Any,
    *,
    made: Making,
    X: Any,
    held_out: Any,
    groups: Any,
    data: Any,
    names: Sequence[str] | None,
    title: str,
    about: Sequence[str] | None,
    words: Sequence[AxisWords] | None,
    max_points: int,
) -> str:
    """Render the page of an analysis of many columns; the parameters are those of `explore`."""
    called = check_names(("rows", "answers") if names is None else names)
    scene = make_columns_scene(est, X, max_points)
    grouping = read_row_groups(est, scene, groups, None)
    clouds = make_column_clouds(est, scene, called, grouping, groups, X, data)
    evidence = None if held_out is None else held_out.evidence
    rows = adjust_components(list_components(as_decomposition(est), evidence), est)
    words = find_answer_words(est, scene) if words is None else words
    return render_page(
        made=made,
        title=str(title),
        about=write_column_sentences(est, words) if about is None else list_paragraphs(about),
        level=round(100 * evidence.level, 1) if evidence else None,
        facts=list_column_facts(est, scene, clouds),
        names=called,
        rows=rows,
        scree=lay_out_scree(rows),
        words=[axis.complete_words(called[:2]) for axis in words],
        n_read=len(words) if evidence is None else evidence.n_holding,
        structure=list_eta2(est),
        has_frames=False,
        data=pack_columns_payload(est, scene, clouds, rows, called, "training", grouping),
        fitted="training",
        many={"share": name_share(est)},
    )
