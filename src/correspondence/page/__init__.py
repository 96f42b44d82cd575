"""One self-contained page to look at a decomposition, without a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from correspondence._util.arguments import check_whole
from correspondence._util.files import check_new_file
from correspondence.core.decomposition import as_decomposition, refuse_given
from correspondence.describe.axis_words import AxisWords
from correspondence.page.associations import render_associations_page
from correspondence.page.columns_page import render_columns_page
from correspondence.page.explorer_page import ExplorerPage
from correspondence.page.filling import TITLE
from correspondence.page.making import describe_making
from correspondence.page.pairs_page import render_pairs_page
from correspondence.page.triplot import render_triplot_page
from correspondence.results.associations import Associations
from correspondence.results.evidence import CrossFit
from correspondence.scene.many_columns import has_many_columns
from correspondence.scene.options import choose_options
from correspondence.scene.triplot import is_constrained
from correspondence.search.cross_modal import CrossModalIndex

__all__ = ["explore"]

NOT_ON_PAGE = ("d_or_est", "path", "overwrite", "command")  # arguments that choose no content


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
        A column with the name of one of X is not repeated.
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
    arguments = dict(locals())
    defaults = explore.__kwdefaults__ or {}
    check_whole(max_points, "max_points", 1)
    if path is not None:
        check_new_file(path, overwrite)
    render, shown = choose_page(d_or_est)
    if tests is not None and render is not render_triplot_page:
        raise ValueError("tests must be left out, except for a CA with constraints.")
    options = {name: value for name, value in arguments.items() if name not in NOT_ON_PAGE}
    made = describe_making(options, defaults, command)  # which pages without a panel of code do not take
    if boundaries is False and render is not render_pairs_page:
        del options["boundaries"]  # there are none, as is wanted
    taken = choose_options(render, shown, options | {"made": made}, defaults | {"made": made})
    _check_result_types(held_out, recorder)
    page = ExplorerPage(render(d_or_est, **taken))
    if path is not None:
        page.save(path, overwrite)
    return page


def choose_page(d_or_est: Any) -> tuple[Callable[..., str], str]:
    """Choose the function that renders the page of an analysis, and say what kind of analysis that is."""
    if isinstance(d_or_est, Associations):
        return render_associations_page, "associations"
    advice = "Draw what is left by co.plot.plane(est, X=X, Y=Y, given=Z)."
    refuse_given(as_decomposition(d_or_est), "a page to explore", advice)
    if is_constrained(d_or_est):
        return render_triplot_page, "an analysis with constraints"
    if has_many_columns(d_or_est):
        return render_columns_page, "an analysis of many columns"
    return render_pairs_page, "an analysis of two variables"


def _check_result_types(held_out: Any, recorder: Any) -> None:
    if held_out is not None and not hasattr(held_out, "evidence"):
        raise TypeError(
            "held_out must be what evaluate, crossfit, latent_dimension or permutation_test has returned, "
            f"got {type(held_out).__name__}."
        )
    if recorder is not None and not hasattr(recorder, "coordinates"):
        raise TypeError(f"recorder must be a TrainingRecorder, got {type(recorder).__name__}.")
