"""One self-contained page to look at a decomposition, without a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from correspondence._util.arguments import check_whole
from correspondence._util.files import check_new_file
from correspondence.core.decomposition import as_decomposition, refuse_given
from correspondence.describe.axis_words import AxisWords, find_axis_words
from correspondence.describe.sentences import write_sentences
from correspondence.page.associations import render_associations_page
from correspondence.page.clouds import Cloud, add_data, colour_clouds, limit_columns, list_class_items, make_clouds
from correspondence.page.column_marks import add_column_clouds, list_structure
from correspondence.page.explorer_page import ExplorerPage
from correspondence.page.filling import list_paragraphs, render_page
from correspondence.page.making import Making, describe_making
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
from correspondence.page.payload import pack_payload
from correspondence.page.triplot import render_triplot_page
from correspondence.results.associations import Associations
from correspondence.results.evidence import CrossFit, Evidence, list_components
from correspondence.scene.classes import make_scene
from correspondence.scene.groups import read_row_groups
from correspondence.scene.many_columns import check_unused, has_many_columns, make_columns_scene, name_share
from correspondence.scene.points import check_names
from correspondence.scene.triplot import is_constrained
from correspondence.search.cross_modal import CrossModalIndex

__all__ = ["explore"]

TITLE = "Correspondence analysis"


def explore(
    d_or_est: Any,
    X: Any = None,
    Y: Any = None,
    path: str | Path | None = None,
    *,
    overwrite: bool = False,
    held_out: Any = None,
    crossfit: CrossFit | None = None,
    tests: Any = None,
    groups: Any = None,
    classes: Any = None,
    data: Any = None,
    names: Sequence[str] | None = None,
    x_labels: Any = None,
    y_labels: Any = None,
    x_images: Any = None,
    y_images: Any = None,
    marks: tuple[Sequence[Any], Any] | None = None,
    index: CrossModalIndex | None = None,
    boundaries: bool | Sequence[tuple[Any, Any]] = True,
    recorder: Any = None,
    title: str = TITLE,
    about: Sequence[str] | None = None,
    words: Sequence[AxisWords] | None = None,
    max_points: int = 100_000,
    command: str | None = None,
) -> ExplorerPage:
    """Make a page to explore: the factoring plane, what lies near what, how strong it is and what the axes mean.

    A notebook shows the page below the cell; it is one file that needs no network. Any two axes and any kind of map can
    be chosen; a point shows its label, values and picture, and a click on it lists what belongs to it on the other
    side. The columns of a frame X or Y are drawn over its rows, which become a faint cloud: categories at the mean of
    their rows, numbers as arrows, or as paths where they bend (see `plot.plane`).

    Of an analysis of many columns, such as `MCA`, the answers are drawn in the colours of their variables over the
    rows; a click on one lists what else was answered, and rows can be coloured by any question.

    Of a `CA` with constraints, the page shows the triplot: sites with their constraints, species, arrows of numbers and
    categories, the partition of the inertia, and the axes.

    Of what `associations` returned, the page shows a heatmap of all pairs of columns, in an order that shows blocks,
    and a table of them that can be sorted and searched.

    Parameters
    ----------
    d_or_est : Decomposition, fitted estimator or Associations
        The page shows this decomposition of any two variables, or these associations of columns, which take no other
        argument than `path`, `overwrite`, `title` and `about`.
    X, Y : array-like, frame, ..., optional
        The values to show, in the form that `fit` takes; the labels of a single column are shown once each. By default
        all labels of the fit (for Y also its sample) are shown. If X and Y are pairs, the labels or numbers Y colour
        the points of X.
    path : str or Path, optional
        The page is written to this HTML file too, by default to none.
    overwrite : bool
        An existing file is replaced, once the new one is complete; by default that is an error.
    held_out : HeldOut, CrossFit, LatentDimension or PermutationTest, optional
        What is known of held-out pairs is drawn beside the training; `latent_dimension` knows most. By default it is
        what a `PICE` or a `ClassifierCA` with labels has held out itself.
    crossfit : CrossFit, optional
        The table of columns has figures of held-out pairs beside, by these out-of-fold functions of the pairs X and Y;
        by default `held_out`, if it is one.
    tests : Anova or list of Anova, optional
        What `anova` of a `CA` with constraints returned: all tests are shown, and those of axes beside these.
    groups : array-like, series or fitted Clusters, optional
        Points of X (rows) are coloured, and can be filtered, by these groups, one label for each (many different
        numbers are put into ranges); the page draws ellipses of the groups, or their hulls.
    classes : array-like, optional
        The same as `groups`, an earlier name: ellipses and hulls are drawn when the reader asks for them. By default a
        `ClassifierCA` gives the classes that it predicts.
    data : frame, optional
        Further columns, with one row for each value of X (row of the table, labels of the fit in their order): points
        can be coloured, filtered and compared by them, as by the columns of X, though they took no part in the fit.
    names : (str, str) or (str, str, str), optional
        The two variables, and marks, are called by these names.
    x_labels, y_labels : array-like, optional
        Each of X and Y has such a text; up to 300 short ones are written in the plane.
    x_images, y_images : array-like, optional
        Each of X and Y has such a picture, shown as a thumbnail. By default X or Y are shown themselves, if they are
        images.
    marks : (labels, X), optional
        More values of x are shown, each with a label that is written, such as recipes of one ingredient.
    index : CrossModalIndex, optional
        The y of this index (tags) are shown instead of Y, and its ranking is used for what belongs to a point.
    boundaries : bool or list of (label, label)
        For a `ClassifierCA`, lines between these pairs of classes are drawn, by default between the ten pairs most
        confused.
    recorder : TrainingRecorder, optional
        A slider goes through the frames of this training, whose probes must be X.
    title : str
        The heading of the page.
    about : sequence of str, optional
        These paragraphs stand below the heading; by default the sentences of `correspondence.describe.sentences`.
    words : sequence of AxisWords, optional
        The page explains the axes by these words; by default it finds them itself.
    max_points : int
        If X or Y has more points than this, so many are drawn at random (of labels, those that matter most).
    command : str, optional
        The page shows this command line, which wrote it, beside the code of a view.

    Returns
    -------
    ExplorerPage
        The page, which a notebook shows; `save` writes it to a file.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA().fit(co.datasets.load_housetasks())
    >>> co.explore(ca, path="tasks.html", names=("task", "who does it"))      # doctest: +SKIP
    ExplorerPage(0.2 MB, tasks.html)
    """
    made = describe_making(dict(locals()), explore.__kwdefaults__ or {})
    check_whole(max_points, "max_points", 1)
    if path is not None:
        check_new_file(path, overwrite)
    if isinstance(d_or_est, Associations):
        unused = {"Y": Y, "held_out": held_out, "crossfit": crossfit, "groups": groups, "classes": classes}
        unused |= {"data": data}
        unused |= {"names": names, "x_labels": x_labels, "y_labels": y_labels, "x_images": x_images, "marks": marks}
        check_unused(
            unused | {"y_images": y_images, "index": index, "recorder": recorder, "words": words}, "associations"
        )
        page = render_associations_page(d_or_est, None if title == TITLE else title, about, X, max_points)
        return _finish_page(page, path, overwrite)
    advice = "Draw what is left by co.plot.plane(est, X=X, Y=Y, given=Z)."
    refuse_given(as_decomposition(d_or_est), "a page to explore", advice)
    if is_constrained(d_or_est):
        unused = {"X": X, "Y": Y, "crossfit": crossfit, "classes": classes, "x_labels": x_labels, "y_labels": y_labels}
        unused |= {"x_images": x_images, "y_images": y_images, "marks": marks, "index": index, "recorder": recorder}
        check_unused(unused, "an analysis with constraints")
        _check_result_types(held_out, None)
        page = render_triplot_page(
            d_or_est, held_out, tests, groups, data, names, title, about, words, max_points, made
        )
        return _finish_page(page, path, overwrite)
    if tests is not None:
        raise ValueError("tests must be left out, except for a CA with constraints.")
    if has_many_columns(d_or_est):
        unused = {"Y": Y, "classes": classes, "x_labels": x_labels, "y_labels": y_labels, "x_images": x_images}
        check_unused(unused | {"y_images": y_images, "marks": marks, "index": index, "recorder": recorder})
        page = render_columns_page(d_or_est, X, held_out, groups, data, names, title, about, words, max_points, made)
        return _finish_page(page, path, overwrite)
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
    _check_result_types(held_out, recorder)
    if held_out is None:
        held_out = getattr(d_or_est, "validation_", None) or getattr(d_or_est, "held_out_", None)
    evidence = None if held_out is None else held_out.evidence
    rows = list_components(as_decomposition(seen.est), evidence)
    fitted = "claimed" if hasattr(seen.est, "on_beliefs") else "training"
    items = None if index is None else (index.items_y, index.g, index.prior)
    if words is None:
        words = find_axis_words(as_decomposition(d_or_est), X, Y, y_items=items)
    if colours is not None and words and not any(axis.x or axis.y for axis in words):
        words = find_axis_words(as_decomposition(d_or_est), X, Y, x_items=list_class_items(clouds[0], colours["names"]))
    page = render_page(
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
        data=pack_payload(seen, clouds, rows, called, colours, index, boundaries, recorder, fitted, described)
        if rows
        else "",
        fitted=fitted,
    )
    return _finish_page(page, path, overwrite)


def render_columns_page(
    est: Any,
    X: Any,
    held_out: Any,
    groups: Any,
    data: Any,
    names: Sequence[str] | None,
    title: str,
    about: Sequence[str] | None,
    words: Sequence[AxisWords] | None,
    most: int,
    made: Making,
) -> str:
    """Render the page of an analysis of many columns; the parameters are those of `explore`."""
    called = check_names(("rows", "answers") if names is None else names)
    scene = make_columns_scene(est, X, most)
    grouping = read_row_groups(est, scene, groups, None)
    clouds = make_column_clouds(est, scene, called, grouping, groups, X, data)
    _check_result_types(held_out, None)
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


def _finish_page(html: str, path: str | Path | None, overwrite: bool) -> ExplorerPage:
    page = ExplorerPage(html)
    if path is not None:
        page.save(path, overwrite)
    return page


def _check_result_types(held_out: Any, recorder: Any) -> None:
    if held_out is not None and not hasattr(held_out, "evidence"):
        raise TypeError(
            "held_out must be what evaluate, crossfit, latent_dimension or permutation_test has returned, "
            f"got {type(held_out).__name__}."
        )
    if recorder is not None and not hasattr(recorder, "coordinates"):
        raise TypeError(f"recorder must be a TrainingRecorder, got {type(recorder).__name__}.")


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
