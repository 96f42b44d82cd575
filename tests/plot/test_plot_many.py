"""The plane of many columns: answers by variable, rows behind them, numbers as arrows, groups; circle and scree."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.patches import Circle, Ellipse
from matplotlib.text import Annotation
from surveys import make_survey

import correspondence as co
from correspondence import plot
from correspondence.results.points import Bootstrap
from correspondence.scene.colours import VARIABLES, list_variable_colours


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def mca():
    return co.MCA().fit(make_survey(), supplementary=["age", "sex"], supplementary_rows=[3, 5])


def clouds_of(ax):
    return {c.get_label(): c for c in ax.collections if isinstance(c, PathCollection)}


def written(ax):
    ax.figure.canvas.draw()
    texts = [text for text in ax.texts if isinstance(text, Annotation) and text.get_visible()]
    return [text for text in texts if text.get_text() and text.get_gid() != "caption"]


def caption_of(ax):
    return " ".join(text.get_text() for text in ax.texts if text.get_gid() == "caption").replace("\n", " ")


def overlap(ax):
    """Count pairs of labels that overlap."""
    renderer = ax.figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in written(ax)]
    return sum(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_each_variable_has_its_colour_and_marker_in_the_legend(mca):
    ax = plot.plane(mca)
    clouds = clouds_of(ax)
    assert [len(clouds[name].get_offsets()) for name in ("often", "drink", "sugar")] == [3, 2, 2]
    colours = [to_hex(clouds[name].get_facecolor()[0][:3]) for name in ("often", "drink", "sugar")]
    assert colours == [colour.lower() for colour in VARIABLES[:3]]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(legend) == sorted(["rows", "supplementary rows", "often", "drink", "sugar", "supplementary"])
    np.testing.assert_allclose(clouds["drink"].get_offsets(), mca.columns_.principal[3:5, :2])


@pytest.mark.slow
def test_answers_have_short_labels_in_the_colour_of_their_variable(mca):
    ax = plot.plane(mca)
    texts = {text.get_text(): to_hex(text.get_color()) for text in written(ax)}
    assert {"never", "seldom", "often", "coffee", "tea", "no", "yes"} <= set(texts)
    assert texts["tea"] == VARIABLES[1].lower()
    assert "0" not in texts  # rows have no numbers
    assert overlap(ax) == 0


def test_ordered_answers_are_joined_in_their_order(mca):
    ax = plot.plane(mca)
    (line,) = [line for line in ax.lines if line.get_gid() == "ordered"]
    np.testing.assert_allclose(line.get_xydata(), mca.columns_.principal[:3, :2])
    assert line.get_color() == VARIABLES[0]
    assert "order" in caption_of(ax)


def test_what_took_no_part_is_marked_differently(mca):
    ax = plot.plane(mca)
    clouds = clouds_of(ax)
    assert len(clouds["supplementary"].get_facecolor()) == 0  # hollow
    assert len(clouds["supplementary"].get_offsets()) == 2
    assert len(clouds["supplementary rows"].get_offsets()) == 2
    arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None) is not None]
    assert [arrow.arrow_patch.get_linestyle() for arrow in arrows] == ["--"]
    # The arrow ends where rows two standard deviations above the mean age lie on average.
    tip = 2 * mca.supplementary_numbers_.correlations[0, :2] * mca.rows_.correlations[:2]
    np.testing.assert_allclose(arrows[0].xy, tip)
    assert "dashed" in caption_of(ax)


def test_axes_tell_their_share_of_inertia_and_the_convention():
    frame = make_survey()[["often", "drink", "sugar"]]
    mca = co.MCA(correction="adjusted").fit(frame)
    ax = plot.plane(mca, axes=(1, 2))
    assert ax.get_xlabel() == f"Axis 1: {100 * mca.shares_[0]:.1f} % of inertia (adjusted)"
    bars = plot.scree(mca)
    assert bars.get_ylabel() == "Principal inertia (adjusted)"
    assert [text.get_text() for text in bars.texts] == [f"{100 * share:.1f} %" for share in mca.shares_]
    np.testing.assert_allclose([bar.get_height() for bar in bars.patches], mca.inertias_)
    joint = plot.scree(co.MCA(correction="joint").fit(frame))
    assert len(joint.texts) == 0
    assert joint.get_xlabel() == "Component"


@pytest.mark.parametrize("map", plot.MAPS)
def test_every_map_can_be_drawn(mca, map):
    clouds = clouds_of(plot.plane(mca, map=map))
    assert np.isfinite(np.asarray(clouds["often"].get_offsets())).all()


def test_answers_lie_at_the_mean_of_their_rows_in_a_column_principal_map():
    frame = make_survey()[["often", "drink", "sugar"]]
    mca = co.MCA().fit(frame)
    tea = np.asarray(clouds_of(plot.plane(mca, map="colprincipal"))["drink"].get_offsets())[1]
    np.testing.assert_allclose(tea, mca.transform(frame)[frame["drink"] == "tea", :2].mean(axis=0))


def test_ellipses_of_answers_are_drawn_in_their_colours(mca):
    spread = Bootstrap(np.empty((0, 2, 2)), np.tile(0.01 * np.eye(2), (7, 1, 1)), 100)
    ax = plot.plane(mca, ellipses=spread)
    ellipses = [patch for patch in ax.patches if isinstance(patch, Ellipse)]
    assert len(ellipses) == 7
    assert {to_hex(ellipse.get_facecolor()[:3]) for ellipse in ellipses} == {c.lower() for c in VARIABLES[:3]}
    np.testing.assert_allclose(ellipses[3].center, mca.columns_.principal[3, :2])
    with pytest.raises(ValueError, match=r"map .* principal"):
        plot.plane(mca, map="rowprincipal", ellipses=spread)
    with pytest.raises(ValueError, match=r"ellipses .* another"):
        plot.plane(mca, ellipses=Bootstrap(np.empty((0, 2, 2)), np.ones((3, 2, 2)), 100))
    with pytest.raises(TypeError, match=r"ellipses .* bootstrap"):
        plot.plane(mca, ellipses=3)


def test_rows_are_coloured_by_classes_then_answers_are_grey_and_named_in_full(mca):
    groups = np.delete(make_survey()["sex"].to_numpy(), [3, 5])
    ax = plot.plane(mca, classes=groups)
    rows = clouds_of(ax)["rows"]
    assert len(np.unique(rows.get_facecolor(), axis=0)) == 2
    assert {"f", "m"} <= {text.get_text() for text in ax.get_legend().get_texts()}
    assert "sugar: yes" in {text.get_text() for text in written(ax)}
    with pytest.raises(ValueError, match="classes"):
        plot.plane(mca, classes=groups[:-1])


@pytest.mark.slow
def test_labels_can_be_chosen(mca):
    passive = {"sex: f", "sex: m", "3", "5"}
    assert {text.get_text() for text in written(plot.plane(mca, labels="none"))} <= passive
    rows = {text.get_text() for text in written(plot.plane(mca, labels="rows", max_labels=50))}
    assert rows & {str(i) for i in range(200)} - {"3", "5"}
    with pytest.raises(ValueError, match="labels"):
        plot.plane(mca, labels="all")
    assert len(written(plot.plane(mca, max_labels=0))) == 0


@pytest.mark.slow
def test_many_variables_have_labels_with_their_names_and_no_legend():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"question {j}": rng.choice(["yes", "no", "perhaps"], 300) for j in range(25)})
    ax = plot.plane(co.MCA(n_components=2).fit(frame))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["rows"]
    texts = [text.get_text() for text in written(ax)]
    assert texts
    assert all(text.replace("\n", " ").startswith("question ") for text in texts)
    assert overlap(ax) == 0
    assert "colour" in caption_of(ax)


@pytest.mark.slow
def test_of_very_many_answers_those_that_say_least_are_left_out_and_counted():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 400, 3000).astype(str), "b": rng.choice(["x", "yy", "z"], 3000)})
    frame["b"] = np.where(frame["a"].astype(int) < 150, "low", frame["b"])
    mca = co.MCA(n_components=2).fit(frame)
    ax = plot.plane(mca)
    drawn = sum(len(clouds_of(ax)[name].get_offsets()) for name in ("a", "b"))
    assert drawn == 300
    assert f"{len(mca.columns_) - 300} answers" in caption_of(ax)
    assert {"low"} <= {text.get_text() for text in written(ax)}


@pytest.mark.slow
def test_a_hundred_thousand_rows_are_a_density_without_names():
    rng = np.random.default_rng(0)
    n = 100_000
    frame = make_survey(n)[["often", "drink", "sugar"]]
    for j in range(8):
        frame[f"mood {j}"] = rng.integers(0, 5, n).astype(str)
    ax = plot.plane(co.MCA(n_components=2).fit(frame))
    rows = clouds_of(ax)["rows"]
    assert len(rows.get_offsets()) < 23_000
    alphas = rows.get_facecolor()[:, 3]
    assert 0.05 < alphas.min() < alphas.max() <= 0.4
    assert "100,000 rows" in caption_of(ax)
    assert len(written(ax)) < 90
    # No label covers another, however many rows there are.
    assert overlap(ax) == 0


def test_one_axis_is_a_strip_and_ellipses_need_a_plane(mca):
    one = co.MCA(n_components=1).fit(make_survey()[["often", "drink", "sugar"]])
    ax = plot.plane(one)
    assert np.asarray(clouds_of(ax)["often"].get_offsets())[:, 1].tolist() == [0, 0, 0]
    assert len(ax.get_yticks()) == 0
    with pytest.raises(ValueError, match="axes"):
        plot.plane(one, axes=(1, 3))
    with pytest.raises(ValueError, match=r"ellipses .* plane"):
        plot.plane(one, ellipses=Bootstrap(np.empty((0, 1, 1)), np.ones((7, 1, 1)), 100))
    with pytest.raises(ValueError, match="two components"):
        plot.correlation_circle(one)
    assert len(plot.scree(one).patches) == 1


@pytest.mark.parametrize("name", ["Y", "marks", "confusing", "variables", "arrows", "boundaries", "thumbnails"])
def test_what_many_columns_do_not_have_is_refused(mca, name):
    with pytest.raises(TypeError, match=f"{name} .* many columns"):
        plot.plane(mca, **{name: True})


def test_hostile_labels_are_drawn_as_they_are():
    names = ["$\\frac{1}$", "_hidden", "a\nb", "<b>", "x" * 300, "", "\u00e9\u4e2d"[:1], "a:b"]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(["$x^", "\x00", "y" * 200], 80) for name in names})
    ax = plot.plane(co.MCA(n_components=2).fit(frame))
    assert all(len(text.get_text()) <= 40 for text in written(ax))
    assert "$x^" in {text.get_text() for text in written(ax)}
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(legend) == 9
    assert "$\\frac{1}$" in legend
    assert " _hidden" in legend  # matplotlib would leave out a name that begins with _


def test_user_points_are_drawn_hollow_and_named(mca):
    placed = mca.supplementary(make_survey(4, seed=9))
    ax = plot.plane(co.MCA().fit(make_survey()[["often", "drink", "sugar"]]), supplementary=placed)
    assert len(clouds_of(ax)["supplementary"].get_offsets()) == 4
    with pytest.raises(TypeError, match="supplementary"):
        plot.plane(mca, supplementary=[3])


def test_numbers_of_a_mixed_analysis_are_arrows_and_answers_lie_at_their_rows():
    frame = make_survey()
    mixed = co.MixedCA().fit(frame)
    ax = plot.plane(mixed, map="rowprincipal")
    f = np.asarray(clouds_of(ax)["sex"].get_offsets())[0]
    np.testing.assert_allclose(f, mixed.rows_.principal[frame["sex"] == "f", :2].mean(axis=0), atol=1e-12)
    arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None) is not None]
    assert [arrow.arrow_patch.get_linestyle() for arrow in arrows] == ["solid"]


def test_few_rows_are_joined_to_their_partial_points():
    frame = make_survey(20).assign(height=lambda f: f["age"] + np.arange(20))
    groups = {"habits": ["often", "drink", "sugar"], "body": ["age", "height", "sex"]}
    mixed = co.MixedCA(groups=groups).fit(frame)
    ax = plot.plane(mixed)
    segments = [c for c in ax.collections if isinstance(c, LineCollection) and len(c.get_segments()) == 20]
    assert len(segments) == 2
    first = np.array(segments[0].get_segments())
    np.testing.assert_allclose(first[:, 0], mixed.rows_.principal[:, :2], atol=1e-12)
    np.testing.assert_allclose(first[:, 1], mixed.partial_rows_["habits"][:, :2], atol=1e-12)
    assert {"habits", "body"} <= {text.get_text() for text in ax.get_legend().get_texts()}
    many = plot.plane(co.MixedCA(groups=groups).fit(make_survey(100).assign(height=lambda f: -f["age"])))
    assert "groups" in caption_of(many)


def test_a_number_that_bends_is_a_path():
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, 400)
    frame = pd.DataFrame({"x": x, "u": np.where(x**2 + 0.05 * rng.normal(size=400) > 0.3, "far", "near"), "y": x**2})
    ax = plot.plane(co.MixedCA(numeric="smooth", n_components=2).fit(frame))
    assert "paths" in caption_of(ax)
    assert max(len(line.get_xydata()) for line in ax.lines) > 5


def test_the_circle_has_an_arrow_for_each_number(mca):
    ax = plot.correlation_circle(mca)
    arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None) is not None]
    np.testing.assert_allclose(arrows[0].xy, mca.supplementary_numbers_.correlations[0, :2])
    assert [patch.radius for patch in ax.patches if isinstance(patch, Circle)] == [1]
    assert "age" in {text.get_text() for text in written(ax)}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["supplementary"]
    assert ax.get_xlabel().startswith("Axis 1: ")


def test_the_circle_has_the_colours_of_groups():
    frame = make_survey().assign(height=lambda f: f["age"] ** 2)
    groups = {"habits": ["often", "drink", "sugar"], "body": ["age", "height", "sex"]}
    ax = plot.correlation_circle(co.MixedCA(groups=groups).fit(frame))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["body"]
    assert {to_hex(text.get_color()) for text in written(ax)} == {list_variable_colours(2)[1].lower()}


def test_a_circle_needs_numbers():
    mca = co.MCA().fit(make_survey()[["often", "drink", "sugar"]])
    with pytest.raises(ValueError, match="numbers"):
        plot.correlation_circle(mca)
    with pytest.raises(TypeError, match="numbers"):
        plot.correlation_circle(mca, numbers=[1, 2])
    placed = mca.supplementary(columns=make_survey()[["age"]])
    assert plot.correlation_circle(mca, numbers=placed.numbers).get_xlim()[1] > 1


def test_colours_of_many_variables_can_be_read_as_text():
    for n in (3, 12, 40):
        colours = list_variable_colours(n)
        assert len(set(colours)) == n
        light = [max(int(colour[at : at + 2], 16) for at in (1, 3, 5)) for colour in colours]
        assert max(light) <= 245
