"""Small multiples: a panel for each group, the same limits, the rest said."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PathCollection
from surveys import make_survey

import correspondence as co
from correspondence import plot

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def survey():
    return make_survey()


@pytest.fixture(scope="module")
def mca(survey):
    return co.MCA().fit(survey[["often", "drink", "sugar"]])


@pytest.fixture(scope="module")
def cca():
    return co.CCA(2).fit(X, X + 1)


def points_of(ax):
    return [np.asarray(c.get_offsets()) for c in ax.collections if isinstance(c, PathCollection)]


def caption_of(figure):
    return " ".join(text.get_text() for text in figure.texts if text.get_gid() == "caption").replace("\n", " ")


def test_each_group_has_a_panel_with_all_points_behind(survey, mca):
    figure = plot.multiples(mca, survey["sex"], ellipses="confidence")
    sizes = survey["sex"].value_counts()
    assert [ax.get_title() for ax in figure.axes] == [f"f ({sizes['f']})", f"m ({sizes['m']})"]
    for ax, sex in zip(figure.axes, ("f", "m"), strict=True):
        behind, own = points_of(ax)
        np.testing.assert_allclose(behind, mca.rows_.principal[:, :2])
        np.testing.assert_allclose(own, mca.rows_.principal[survey["sex"] == sex, :2])
        (ellipse,) = [patch for patch in ax.patches if patch.get_gid() == "ellipse"]
        np.testing.assert_allclose(ellipse.center, own.mean(axis=0))
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    assert figure.get_supxlabel().startswith("Axis 1: ")
    assert "95 %" in caption_of(figure)


def test_of_many_groups_the_largest_are_drawn_in_their_order_and_the_others_counted(cca):
    sizes = [5, 40, 1, 30, 44]
    groups = np.repeat(["a", "b", "c", "d", "e"], sizes)
    figure = plot.multiples(cca, groups, X=X, max_panels=3, hulls=True)
    assert [ax.get_title() for ax in figure.axes] == ["b (40)", "d (30)", "e (44)"]
    assert "2 smaller groups with 6 points" in caption_of(figure)
    assert len(plot.multiples(cca, np.arange(120) % 40, X=X).axes) <= 12  # many numbers become ranges


def test_points_without_a_group_are_only_behind(cca):
    groups = np.array([None] * 20 + ["a"] * 60 + ["b"] * 40, object)
    figure = plot.multiples(cca, groups, X=X)
    assert [len(points) for ax in figure.axes for points in points_of(ax)] == [120, 60, 120, 40]
    assert "20 without a group" in caption_of(figure)


def test_very_many_rows_are_thinned_out():
    many = RNG.normal(size=(25_000, 2))
    figure = plot.multiples(co.CCA(2).fit(many, many), np.where(many[:, 0] > 0, "a", "b"), X=many)
    behind, _ = points_of(figure.axes[0])
    assert len(behind) < 20_000
    assert figure.axes[0].get_title() == f"a ({(many[:, 0] > 0).sum():,})"


def test_tables_and_a_figure_of_ones_own():
    own = plt.figure()
    ca = co.CA().fit(co.datasets.load_smoke())
    assert plot.multiples(ca, ["managers"] * 2 + ["staff"] * 3, figure=own) is own
    assert [ax.get_title() for ax in own.axes] == ["managers (2)", "staff (3)"]


def test_nothing_is_written_over_anything_else(survey, mca):
    figure = plot.multiples(mca, survey["sex"], ellipses="concentration", hulls=0.5)
    figure.canvas.draw()
    texts = [text for text in (*figure.texts, figure._supxlabel, figure._supylabel) if text.get_text()]
    boxes = [text.get_window_extent() for text in texts] + [ax.get_tightbbox() for ax in figure.axes]
    boxes = list({box.bounds: box for box in boxes}.values())
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1 for box in boxes)


def test_what_cannot_be_drawn_is_refused(mca, survey):
    wrong = {"axes": (1,), "figure": 3, "ellipses": "mean", "max_panels": 0, "hulls": "all", "groups": ["a"]}
    for name, value in wrong.items():
        with pytest.raises((ValueError, TypeError), match=name):
            plot.multiples(mca, **({"groups": survey["sex"]} | {name: value}))
    with pytest.raises(ValueError, match="groups"):
        plot.multiples(mca, [None] * 200)
