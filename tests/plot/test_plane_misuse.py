"""Planes in which options meet that are rarely used together, on axes that are used already, or in dark figures."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

import correspondence as co
from correspondence import plot


@pytest.fixture(scope="module")
def ca():
    return co.CA().fit(co.datasets.load_housetasks())


@pytest.fixture(scope="module")
def resampled(ca):
    return ca.bootstrap(20, random_state=0)


def written(ax):
    ax.figure.canvas.draw()
    return {t.get_text() for t in ax.texts if t.get_visible() and t.get_text() and t.get_gid() != "caption"}


def caption_of(ax):
    return " ".join(t.get_text() for t in ax.texts if t.get_gid() == "caption").replace("\n", " ")


def arrow_colours(ax):
    return [to_hex(t.arrow_patch.get_facecolor()) for t in ax.texts if getattr(t, "arrow_patch", None)]


# --- colours, sizes and arrows


def test_arrows_have_the_colours_of_their_points_and_keep_their_sizes(ca):
    ax = plot.plane(ca, arrows="columns", colour="quality", size="mass")
    marks = next(c for c in ax.collections if len(c.get_offsets()) == 4)
    assert arrow_colours(ax) == [to_hex(colour) for colour in marks.get_edgecolors()]
    assert len(set(arrow_colours(ax))) == 4
    np.testing.assert_allclose(marks.get_sizes() / marks.get_sizes().max(), ca.columns_.mass / ca.columns_.mass.max())
    response = co.CA(response="columns").fit(co.datasets.load_housetasks())
    assert len(set(arrow_colours(plot.plane(response, colour="quality")))) == 4


def test_colours_and_arrows_of_a_side_that_is_not_drawn_are_errors(ca):
    mca = co.MCA().fit(co.datasets.load_poison())
    for est, arguments in (
        (ca, {"rows": False, "colour": np.arange(13)}),
        (ca, {"columns": False, "colour": (None, np.arange(4))}),
        (mca, {"columns": False, "colour": "quality"}),
        (mca, {"rows": False, "colour": np.arange(55)}),
    ):
        with pytest.raises(ValueError, match=r"colour .*drawn"):
            plot.plane(est, **arguments)
    with pytest.raises(ValueError, match=r"ellipses .*drawn"):
        plot.plane(mca, columns=False, ellipses=mca.bootstrap(5, random_state=0))
    with pytest.raises(ValueError, match=r"arrows .*drawn"):
        plot.plane(ca, rows=False, arrows="rows")
    assert len(arrow_colours(plot.plane(ca, rows=False, arrows="both"))) == 4
    ax = plot.plane(ca, rows=False, colour="mass")
    assert ax.figure.axes[1].get_ylim() == (ca.columns_.mass.min(), ca.columns_.mass.max()), "of what is drawn"


@pytest.mark.filterwarnings("error")
def test_infinite_numbers_are_grey_and_numbers_too_far_apart_are_an_error(ca):
    ax = plot.plane(ca, colour=[np.inf, -np.inf, *range(11)])
    assert "2 without a number are grey" in caption_of(ax)
    with pytest.raises(ValueError, match=r"colour .*1e308"):
        plot.plane(ca, colour=[1e308, -1e308, *range(11)])


# --- names


def test_lists_of_labels_may_be_series_and_a_single_text_is_explained(ca, resampled):
    chosen = pd.Series(["Wife", "Laundry"], index=[7, 3])
    for labels in (chosen, pd.Index(chosen), chosen.to_numpy(), iter(["Wife", "Laundry"])):
        assert written(plot.plane(ca, labels=labels)) == {"Wife", "Laundry"}
    with pytest.raises(ValueError, match=r"ellipses_of must be a list .*'Wife'"):
        plot.plane(ca, ellipses=resampled, ellipses_of="Wife")
    with pytest.raises(ValueError, match=r"ellipses_of must be a list .*'ab'"):
        plot.plane(ca, groups=["ab"] * 6 + ["c"] * 7, ellipses="concentration", ellipses_of="ab")
    with pytest.raises(ValueError, match=r"ellipses_of .*Wife"):  # in standard coordinates
        plot.plane(ca, map="rowprincipal", ellipses=resampled, ellipses_of=["Wife"])


def test_labels_listed_beyond_the_most_are_not_said_to_contribute_least(ca):
    ax = plot.plane(ca, labels=ca.rows_.labels, max_labels=5)
    assert "contribute" not in caption_of(ax)
    assert "8 of the labels listed are not written" in caption_of(ax)


def test_names_that_begin_with_an_underscore_are_in_the_legend(ca):
    ax = plot.plane(ca, names=("_task", "$who$"))
    assert [text.get_text().strip() for text in ax.get_legend().get_texts()] == ["_task", "$who$"]


def test_supplementary_points_without_a_place_are_counted(ca):
    with pytest.warns(UserWarning, match="NaN"):
        points = ca.supplementary(rows=np.array([[0, 0, 0, 0], [1, 2, 3, 4], [0, 0, 0, 0]]))
    assert "2 supplementary points have no place" in caption_of(plot.plane(ca, supplementary=points))


# --- axes and figures


def test_an_error_leaves_no_empty_figure_behind(ca, resampled):
    for arguments in ({"labels": ["Cooking"]}, {"ellipses": resampled, "ellipses_of": ["Cooking"]}):
        with pytest.raises(ValueError, match="Cooking"):
            plot.plane(ca, **arguments)
    assert not plt.get_fignums()


@pytest.mark.parametrize("projection", ["polar", "3d"])
def test_planes_need_rectangular_axes(ca, projection):
    with pytest.raises(ValueError, match=rf"ax .*{projection}"):
        plot.plane(ca, ax=plt.figure().add_subplot(projection=projection))


def test_axes_that_were_cleared_forget_the_plane_they_had(ca):
    ax = plot.plane(ca, labels=3)
    ax.figure.canvas.draw()
    ax.clear()
    plot.plane(ca, ax=ax)
    ax.figure.canvas.draw()
    assert caption_of(ax) == ""
    ax.clear()
    ax.plot([1, 2])
    ax.figure.canvas.draw()
    assert not ax.texts


def test_tight_layout_finds_room_for_planes(ca):
    figure, panels = plt.subplots(2, 2, figsize=(9, 8), layout="tight")
    for ax in panels.ravel():
        plot.plane(ca, ax=ax, colour="quality", labels=3)
    figure.canvas.draw()
    boxes = [ax.get_tightbbox() for ax in panels.ravel()]
    assert all(box.x0 > -2 and box.y0 > -2 and box.x1 < 902 and box.y1 < 802 for box in boxes)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_outlines_have_the_colour_of_the_background():
    survey = co.datasets.load_poison()
    mca = co.MCA().fit(survey, supplementary=["Age", "Time", "Sick", "Sex"])
    with plt.style.context("dark_background"):
        ax = plot.plane(mca, groups=survey["Sick"])
    effects = [effect for text in ax.texts for effect in text.get_path_effects()]
    assert {to_hex(effect._gc["foreground"]) for effect in effects if hasattr(effect, "_gc")} == {"#000000"}


def test_bars_of_one_component_and_names_of_their_argument():
    one = co.CA().fit(np.array([[3, 1], [2, 6], [4, 4]]))
    assert plot.quality(one).get_xlabel() == "Quality of columns on axis 1 (cos2, %)"
    with pytest.raises(ValueError, match=r"axis must .*2"):
        plot.contributions(one, axis=2)
