"""Pictures: points where the definitions put them, labels that can be read, errors that say what is wrong."""

import itertools

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.collections import PathCollection
from matplotlib.patches import Ellipse

import correspondence as co
from correspondence import plot
from correspondence.plot.label_placement import find_distinct_points


@pytest.fixture(scope="module")
def ca():
    return co.CA().fit(co.datasets.load_housetasks())


@pytest.fixture(scope="module")
def bootstrap(ca):
    return ca.bootstrap(20, random_state=0)


def random_ca(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(3 * np.exp(rng.normal(size=(rows, 2)) @ rng.normal(size=(2, columns)) / 2)) + 1
    names = [
        np.array([f"{side} number {i}" for i in range(m)], object) for side, m in zip("rc", counts.shape, strict=True)
    ]
    return co.CA().fit(co.Table(counts, *names))


def labelled(labels):
    """Analysis of a table with the given row labels."""
    rng = np.random.default_rng(1)
    columns = np.array(["u", "v", "w"], object)
    return co.CA().fit(co.Table(rng.integers(1, 20, size=(len(labels), 3)), np.array(labels, object), columns))


def offsets(ax):
    """Coordinates of the rows and of the columns in a picture."""
    return [np.asarray(c.get_offsets()) for c in ax.collections if isinstance(c, PathCollection)]


def areas(ax):
    return [c.get_sizes() for c in ax.collections if isinstance(c, PathCollection)]


def written(ax, draw=True):
    """Labels that are seen after drawing, with their boxes in pixels."""
    if draw:
        ax.figure.canvas.draw()
    texts = [text for text in ax.texts if text.get_visible() and text.get_gid() != "caption"]
    return {text.get_text(): text.get_window_extent() for text in texts}


def assert_apart(ax, draw=True):
    boxes = list(written(ax, draw).values())
    assert len(boxes) > 1
    frame = ax.bbox
    for box in boxes:
        assert frame.x0 <= box.x0, "a label sticks out"
        assert box.x1 <= frame.x1, "a label sticks out"
        assert frame.y0 <= box.y0, "a label sticks out"
        assert box.y1 <= frame.y1, "a label sticks out"
    for a, b in itertools.combinations(boxes, 2):
        overlap = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert min(overlap) < 1, "two labels overlap by a pixel or more"


# --- where the points are


def test_plane_draws_on_the_given_axes(ca):
    _, (left, right) = plt.subplots(1, 2)
    assert plot.plane(ca, ax=right) is right
    assert not left.collections


def test_plane_makes_axes_of_its_own(ca):
    before = plt.get_fignums()
    ax = plot.plane(ca)
    assert [n for n in plt.get_fignums() if n not in before] == [ax.figure.number]


def expected(points, scaling):
    standard, mass, s = points.standard[:, :2], points.mass[:, None], points.correlations[:2]
    return {
        "principal": points.principal[:, :2],
        "standard": standard,
        "root sigma": standard * np.sqrt(s),
        "mass": standard * mass,
        "root mass": standard * np.sqrt(mass),
    }[scaling]


@pytest.mark.parametrize(
    ("name", "of_rows", "of_columns"),
    [
        ("symmetric", "principal", "principal"),
        ("rowprincipal", "principal", "standard"),
        ("colprincipal", "standard", "principal"),
        ("symbiplot", "root sigma", "root sigma"),
        ("rowgab", "principal", "mass"),
        ("colgab", "mass", "principal"),
        ("rowgreen", "principal", "root mass"),
        ("colgreen", "root mass", "principal"),
    ],
)
def test_maps_have_the_coordinates_of_r_ca(ca, name, of_rows, of_columns):
    rows, columns = offsets(plot.plane(ca, map=name))
    np.testing.assert_allclose(rows, expected(ca.rows_, of_rows), atol=1e-12)
    np.testing.assert_allclose(columns, expected(ca.columns_, of_columns), atol=1e-12)


def test_there_are_eight_maps():
    assert len(plot.MAPS) == 8


def test_other_axes_in_either_order(ca):
    rows, columns = offsets(plot.plane(ca, axes=(3, 1)))
    np.testing.assert_allclose(rows, ca.rows_.principal[:, [2, 0]])
    np.testing.assert_allclose(columns, ca.columns_.principal[:, [2, 0]])


def test_a_decomposition_is_drawn_like_its_estimator(ca):
    np.testing.assert_array_equal(offsets(plot.plane(ca.decomposition_))[0], offsets(plot.plane(ca))[0])


def test_axis_labels_carry_pic_and_share(ca):
    ax = plot.plane(ca)
    assert ax.get_xlabel() == "Axis 1: PIC 0.5429, 48.7 % of inertia"
    assert ax.get_ylabel() == "Axis 2: PIC 0.4450, 39.9 % of inertia"


def test_dashed_lines_through_the_origin(ca):
    dashed = [line for line in plot.plane(ca).lines if line.get_linestyle() == "--"]
    assert sorted((tuple(line.get_xdata()), tuple(line.get_ydata())) for line in dashed) == [
        ((0, 0), (0, 1)),
        ((0, 1), (0, 0)),
    ]


def test_both_axes_have_the_same_scale_and_a_margin(ca):
    ax = plot.plane(ca)
    ax.figure.canvas.draw()
    scale = ax.transData.transform([[1, 1]]) - ax.transData.transform([[0, 0]])
    assert scale[0, 0] == pytest.approx(scale[0, 1], rel=0.01)
    xy = np.vstack(offsets(ax))
    inner = ax.transAxes.inverted().transform(ax.transData.transform(xy))
    assert inner.min() > 0.04
    assert inner.max() < 0.96


def test_legend_has_the_names(ca):
    legend = plot.plane(ca, names=("task", "who")).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["task", "who"]


def test_areas_are_proportional_to_mass(ca):
    ax = plot.plane(ca, size="mass")
    for area, points in zip(areas(ax), (ca.rows_, ca.columns_), strict=True):
        np.testing.assert_allclose(area / area.max(), points.mass / points.mass.max())
    assert len(set(areas(plot.plane(ca))[0])) == 1


# --- labels


def test_every_label_of_a_small_table_is_written(ca):
    wanted = set(ca.rows_.labels) | set(ca.columns_.labels)
    assert set(written(plot.plane(ca))) == wanted


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "columns"), [(5, 4), (25, 10), (60, 40)])
@pytest.mark.parametrize("size", [None, "mass"])
def test_labels_are_apart(rows, columns, size):
    assert_apart(plot.plane(random_ca(rows, columns), size=size))


@pytest.mark.slow
def test_labels_are_clear_of_the_points():
    ax = plot.plane(random_ca(25, 10))
    boxes = written(ax).values()
    centres = ax.transData.transform(np.vstack(offsets(ax)))
    for box in boxes:
        assert not ((centres > [box.x0, box.y0]) & (centres < [box.x1, box.y1])).all(axis=1).any()


@pytest.mark.slow
def test_labels_are_apart_in_a_grid_whose_layout_changes_later(ca):
    figure, grid = plt.subplots(2, 4, figsize=(13, 6), layout="constrained")
    for ax, name in zip(grid.flat, plot.MAPS, strict=True):
        plot.plane(ca, map=name, ax=ax).set_title(name, loc="right")
    figure.suptitle("A title\nof two lines")
    figure.canvas.draw()
    for ax in grid.flat:
        assert_apart(ax, draw=False)


@pytest.mark.slow
def test_labels_find_new_places_when_the_figure_shrinks(ca):
    ax = plot.plane(ca)
    assert_apart(ax)
    ax.figure.set_size_inches(3.5, 3)
    assert_apart(ax)


@pytest.mark.slow
def test_labels_stay_where_they_are_when_nothing_changes(ca):
    ax = plot.plane(ca)
    first, second = written(ax), written(ax)
    assert first.keys() == second.keys()
    np.testing.assert_allclose(
        [box.bounds for box in first.values()], [box.bounds for box in second.values()], atol=1e-6
    )
    ax.figure.canvas.draw()
    assert not ax.figure.stale, "drawing asks for another drawing, for ever"


def test_labels_stay_beside_their_points(ca):
    ax = plot.plane(ca)
    boxes = written(ax)
    centres = ax.transData.transform(ca.rows_.principal[:, :2])
    for label, (x, y) in zip(ca.rows_.labels, centres, strict=True):
        box = boxes[label]
        gap = np.hypot(max(box.x0 - x, 0, x - box.x1), max(box.y0 - y, 0, y - box.y1))
        assert gap < 50 * ax.figure.dpi / 72


def test_the_labels_that_contribute_most_are_written(ca):
    contribution = ca.rows_.mass * (ca.rows_.principal[:, :2] ** 2).sum(axis=1)
    first = ca.rows_.labels[np.argmax(contribution)]
    texts = [text.get_text() for text in plot.plane(ca, max_labels=5).texts if text.get_gid() != "caption"]
    assert len(texts) == 5
    assert first in texts


def test_no_labels(ca):
    assert not plot.plane(ca, max_labels=0).texts


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("5$ and 10$", "5$ and 10$"),
        ("$x^2", "$x^2"),
        (r"\frac{$", r"\frac{$"),
        ("a_b^c", "a_b^c"),
        ("two\nlines\tand a tab", "two lines and a tab"),
        ("x" * 200, "x" * 39 + "…"),
        ("Größe Ελλάδα Россия", "Größe Ελλάδα Россия"),
        ("", "''"),
        ("bell \x07 \ud800", "bell"),
        (7, "7"),
        (2.5, "2.5"),
        (("a", 1), "('a', 1)"),
    ],
)
def test_odd_labels_are_written(label, shown):
    labels = np.empty(4, object)
    labels[:] = [label, "b", "c", "d"]
    ca = labelled(labels)
    assert shown in written(plot.plane(ca))
    bars = plot.contributions(ca, side="rows")
    bars.figure.canvas.draw()
    texts = [text.get_text().replace("\n", "") for text in bars.get_yticklabels()]  # a very long label has two lines
    assert shown in texts or (len(shown) == 40 and any(text.startswith(shown[:39]) for text in texts))


def test_a_glyph_that_the_font_lacks_is_only_a_warning():
    ax = plot.plane(labelled(["日本", "b", "c", "d"]))
    with pytest.warns(UserWarning, match=r"Glyph .* missing"):
        ax.figure.canvas.draw()


# --- ellipses


def ellipses(ax):
    return [patch for patch in ax.patches if isinstance(patch, Ellipse)]


def test_an_ellipse_for_each_point_in_principal_coordinates(ca, bootstrap):
    ax = plot.plane(ca, ellipses=bootstrap)
    drawn = ellipses(ax)
    assert len(drawn) == 13 + 4
    np.testing.assert_allclose([e.center for e in drawn], np.vstack(offsets(ax)))
    want = bootstrap.row_ellipses()
    np.testing.assert_allclose([e.width for e in drawn[:13]], want.width)
    np.testing.assert_allclose([e.height for e in drawn[:13]], want.height)
    np.testing.assert_allclose([e.angle for e in drawn[:13]], want.angle)


def test_ellipses_of_the_principal_side_only(ca, bootstrap):
    assert len(ellipses(plot.plane(ca, map="rowprincipal", ellipses=bootstrap))) == 13
    assert len(ellipses(plot.plane(ca, map="colgreen", ellipses=bootstrap))) == 4


def test_ellipses_grow_with_the_level(ca, bootstrap):
    narrow, wide = (ellipses(plot.plane(ca, ellipses=bootstrap, level=level))[0].width for level in (0.5, 0.99))
    assert narrow < wide


def test_ellipses_lie_within_the_picture(ca, bootstrap):
    ax = plot.plane(ca, ellipses=bootstrap)
    ax.figure.canvas.draw()
    for ellipse in ellipses(ax):
        assert ax.bbox.contains(*ellipse.get_window_extent().min)
        assert ax.bbox.contains(*ellipse.get_window_extent().max)


def test_ellipses_of_a_table_with_an_empty_row():
    with pytest.warns(co.LeftOut, match="zero"):
        ca = co.CA().fit([[9, 2, 3], [0, 0, 0], [2, 8, 4], [1, 5, 9]])
    ax = plot.plane(ca, ellipses=ca.bootstrap(10, random_state=0))
    drawn = ellipses(ax)
    assert len(drawn) == 3 + 3
    np.testing.assert_allclose(drawn[1].center, ca.rows_.principal[2])
    np.testing.assert_allclose(drawn[1].width, ca.bootstrap(10, random_state=0).row_ellipses().width[2])


def test_ellipses_need_principal_coordinates(ca, bootstrap):
    with pytest.raises(ValueError, match="principal coordinates"):
        plot.plane(ca, map="symbiplot", ellipses=bootstrap)
    assert not plt.get_fignums(), "an error leaves an empty figure behind"


def test_ellipses_of_another_table(bootstrap):
    with pytest.raises(ValueError, match="another table"):
        plot.plane(co.CA().fit(co.datasets.load_smoke()), ellipses=bootstrap)


def test_ellipses_need_two_axes():
    ca = co.CA().fit([[10, 3], [4, 9], [2, 2]])
    with pytest.raises(ValueError, match="only one axis"):
        plot.plane(ca, ellipses=ca.bootstrap(5, random_state=0))


def test_ellipses_of_axes_that_were_not_resampled(ca, bootstrap):
    with pytest.raises(ValueError, match="axes must"):
        plot.plane(ca, axes=(1, 3), ellipses=bootstrap)


# --- wrong and unusual input


@pytest.mark.parametrize("axes", [(0, 1), (1, 4), (-1, 2), (1, 1), (1, 2, 3), (1, "2")])
def test_axes_that_there_are_not(ca, axes):
    with pytest.raises(ValueError, match="axes must"):
        plot.plane(ca, axes=axes)


def test_unknown_map(ca):
    with pytest.raises(ValueError, match=r"map must .*rowprincipal"):
        plot.plane(ca, map="nearest")


def test_one_component_is_drawn_on_a_line():
    ca = co.CA().fit([[10, 3], [4, 9], [2, 2], [9, 1]])
    ax = plot.plane(ca)
    rows, columns = offsets(ax)
    np.testing.assert_allclose(rows, np.column_stack([ca.rows_.principal, np.zeros(4)]))
    assert not columns[:, 1].any()
    assert ax.get_ylabel() == ""
    assert_apart(ax)


def test_other_axes_of_one_component():
    with pytest.raises(ValueError, match=r"axes must .*3"):
        plot.plane(co.CA().fit([[10, 3], [4, 9], [2, 2]]), axes=(1, 3))


@pytest.mark.parametrize("draw", [plot.plane, plot.scree, plot.contributions])
def test_no_components(draw):
    ca = co.CA(n_components=0).fit(co.datasets.load_smoke())
    with pytest.raises(ValueError, match="no components"):
        draw(ca)


@pytest.mark.parametrize("draw", [plot.plane, plot.scree, plot.contributions])
@pytest.mark.parametrize("what", [co.CA(), "smoke", None, np.eye(3)])
def test_what_cannot_be_drawn(draw, what):
    with pytest.raises(TypeError, match="fitted estimator"):
        draw(what)


@pytest.mark.parametrize("draw", [plot.plane, plot.contributions])
def test_continuous_variables_have_no_points(draw):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    d = co.Moments().update(X, X + rng.normal(size=X.shape)).decompose()
    with pytest.raises(TypeError, match=r"two discrete variables|X is needed"):
        draw(d)
    assert len(plot.scree(d).patches) == 2


def test_empty_rows_are_skipped():
    with pytest.warns(co.LeftOut, match="zero"):
        ca = co.CA().fit([[9, 2, 3], [0, 0, 0], [2, 8, 4], [1, 5, 9]])
    ax = plot.plane(ca)
    np.testing.assert_allclose(offsets(ax)[0], ca.rows_.principal[[0, 2, 3]])
    assert len(ax.texts) == 3 + 3
    bars = plot.contributions(ca, side="rows")
    assert len(bars.patches) == 3


def test_independent_table_draws_quietly():
    ca = co.CA().fit(np.outer([1, 2, 3], [4, 5, 6, 7]))
    ax = plot.plane(ca)
    assert_apart(ax)
    assert np.abs(np.vstack(offsets(ax))).max() < 1e-12
    assert plot.scree(ca).get_ylim() == (0, 1)


def test_shared_axes(ca):
    figure, grid = plt.subplots(1, 2, sharex=True, sharey=True)
    for ax in grid:
        plot.plane(ca, ax=ax)
    figure.canvas.draw()
    assert grid[0].get_xlim() == grid[1].get_xlim()


@pytest.mark.slow
def test_a_large_sparse_table():
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.integers(1, 9, (2500, 50)) * (rng.random((2500, 50)) < 0.3))
    ax = plot.plane(co.CA(n_components=2).fit(counts))
    assert len(offsets(ax)[0]) == 2500
    assert_apart(ax)


def test_of_many_points_only_those_apart_are_in_the_way(rng):
    few, many = rng.normal(size=(100, 2)), rng.normal(size=(30_000, 2)) * 20
    assert len(find_distinct_points(few)) == 100
    kept = many[find_distinct_points(many)]
    assert len(kept) < 3000
    nearest = np.abs(many[:100, None] - kept).max(axis=2).min(axis=1)
    assert (nearest <= 3).all()


# --- scree and contributions


def test_scree_has_the_pics(ca):
    _, ax = plt.subplots()
    assert plot.scree(ca, ax=ax) is ax
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], ca.pics_)
    assert [text.get_text() for text in ax.texts] == ["48.7 %", "39.9 %", "11.4 %"]


def test_scree_of_many_components():
    ca = random_ca(60, 40)
    ax = plot.scree(ca)
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], ca.pics_[:20])
    assert len(plot.scree(ca, n_components=3).patches) == 3
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert all(a.x1 <= b.x0 for a, b in itertools.pairwise(boxes)), "shares overlap"
    assert max(box.y1 for box in boxes) <= ax.figure.bbox.y1, "a share is cut off"


@pytest.mark.parametrize("side", ["rows", "columns"])
def test_contributions_are_those_of_the_points(ca, side):
    points = {"rows": ca.rows_, "columns": ca.columns_}[side]
    _, ax = plt.subplots()
    assert plot.contributions(ca, 2, side, ax=ax) is ax
    bars = {text.get_text(): bar for text, bar in zip(ax.get_yticklabels(), ax.patches, strict=True)}
    for label, value, x in zip(points.labels, points.contributions[:, 1], points.standard[:, 1], strict=True):
        assert bars[label].get_width() == pytest.approx(100 * value)
        assert bars[label].get_facecolor() == mpl.colors.to_rgba(plot.ROWS if x >= 0 else plot.COLUMNS)
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == sorted(widths), "the largest is not on top"


def test_contributions_show_the_largest(ca):
    ax = plot.contributions(ca, 1, "rows", most=3)
    largest = ca.rows_.labels[np.argsort(ca.rows_.contributions[:, 0])[-3:]]
    assert [text.get_text() for text in ax.get_yticklabels()] == largest.tolist()


def test_contributions_mark_the_average(ca):
    (line,) = plot.contributions(ca).lines
    assert line.get_xdata()[0] == pytest.approx(100 / 4)


def test_wrong_options_of_bars(ca):
    with pytest.raises(ValueError, match=r"axis must .*4"):
        plot.contributions(ca, 4)
    with pytest.raises(ValueError, match="side must be"):
        plot.contributions(ca, side="row")
    with pytest.raises(ValueError, match="most must"):
        plot.contributions(ca, most=0)
    with pytest.raises(ValueError, match="n_components must"):
        plot.scree(ca, n_components=0)


def test_supplementary_points_are_drawn_where_they_lie():
    children = co.datasets.load_children()
    ca = co.CA().fit(children.table)
    rows, columns = ca.supplementary(rows=children.rows, columns=children.columns)
    ax = plot.plane(ca, supplementary=[rows, columns])
    np.testing.assert_allclose(ax.collections[2].get_offsets(), rows.principal[:, :2])
    np.testing.assert_allclose(ax.collections[3].get_offsets(), columns.principal[:, :2])
    ax.figure.canvas.draw()
    shown = {text.get_text() for text in ax.texts if text.get_visible()}
    assert {*rows.labels, *columns.labels} <= shown
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "rows",
        "columns",
        "supplementary rows",
        "supplementary columns",
    ]
    assert all(len(cloud.get_facecolor()) == 0 for cloud in ax.collections[2:4]), "they are hollow"
    plot.plane(ca, supplementary=rows)
    with pytest.raises(TypeError, match="supplementary must"):
        plot.plane(ca, supplementary=[[1, 2]])


@pytest.mark.parametrize(("labels", "sides"), [("rows", ["rows_"]), ("columns", ["columns_"]), ("none", [])])
def test_whose_labels_are_written(ca, labels, sides):
    ax = plot.plane(ca, labels=labels)
    assert {text.get_text() for text in ax.texts} == {name for side in sides for name in getattr(ca, side).labels}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"labels": "all"}, ValueError, "labels must be"),
        ({"axes": 3}, ValueError, "axes must"),
        ({"axes": "12"}, ValueError, "axes must"),
        ({"ellipses": True}, TypeError, "ellipses must .*confidence.*concentration"),
        ({"ax": "here"}, TypeError, "ax must .*str"),
        ({"names": "ab"}, ValueError, "names must"),
        ({"max_labels": -1}, ValueError, "max_labels must"),
    ],
)
def test_wrong_arguments_of_plane(ca, arguments, error, message):
    with pytest.raises(error, match=message):
        plot.plane(ca, **arguments)
