"""Pictures of learned functions and of comparisons: points and markers where the numbers say."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex

import correspondence as co
from correspondence import plot

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
Y = np.array(["a", "b", "c"], object)[np.digitize(X[:, 0] + 0.3 * RNG.normal(size=150), [-0.5, 0.5])]
HOSTILE = [
    ("$x$", "$x$"),
    (r"$\frac{$", r"$\frac{$"),
    ("</script>", "</script>"),
    ("a\nb", "a b"),
    ("z" * 500, "z" * 39 + "…"),
    ("_hidden", "_hidden"),
    ("", "''"),
]


@pytest.fixture(scope="module")
def d():
    return co.CCA(n_components=2).fit(X, Y).decomposition_


@pytest.fixture(scope="module")
def numbers():
    """Functions of numbers on both sides."""
    Z = X + RNG.normal(size=X.shape)
    return co.ACE(n_components=3).fit(X, Z).decomposition_, Z


def clouds(ax):
    """Coordinates of X, of Y and of what else is drawn."""
    return [np.asarray(c.get_offsets()) for c in ax.collections if isinstance(c, PathCollection)]


def colours(ax, side):
    found = [c.get_facecolor() for c in ax.collections if isinstance(c, PathCollection)][side]
    return [to_hex(colour) for colour in found]


def written(ax):
    return [text.get_text() for text in ax.texts]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# --- where the points are


def test_the_symmetric_map_has_principal_coordinates(numbers):
    d, Z = numbers
    x, y = clouds(plot.plane(d, X=X, Y=Z))
    np.testing.assert_allclose(x, (d.f(X) * np.sqrt(d.pics))[:, :2])
    np.testing.assert_allclose(y, (d.g(Z) * np.sqrt(d.pics))[:, :2])


@pytest.mark.parametrize(
    ("name", "of_x", "of_y"), [("rowprincipal", 1, 0), ("colprincipal", 0, 1), ("symbiplot", 0.5, 0.5)]
)
def test_other_maps_have_other_powers_of_the_correlations(numbers, name, of_x, of_y):
    d, Z = numbers
    x, y = clouds(plot.plane(d, X=X, Y=Z, map=name))
    np.testing.assert_allclose(x, (d.f(X) * d.correlations**of_x)[:, :2])
    np.testing.assert_allclose(y, (d.g(Z) * d.correlations**of_y)[:, :2])


def test_other_axes(numbers):
    d, Z = numbers
    x, y = clouds(plot.plane(d, (3, 1), X=X, Y=Z))
    np.testing.assert_allclose(x, (d.f(X) * d.correlations)[:, [2, 0]])
    np.testing.assert_allclose(y, (d.g(Z) * d.correlations)[:, [2, 0]])


def test_new_values_may_be_drawn(d):
    x, _ = clouds(plot.plane(d, X=X[:7]))
    np.testing.assert_allclose(x, d.f(X[:7]) * d.correlations)


def test_one_component_is_drawn_on_a_line():
    d = co.CCA(n_components=1).fit(X, Y).decomposition_
    x, y, marked = clouds(plot.plane(d, X=X, classes=Y, marks=(["here"], X[:1])))
    np.testing.assert_allclose(x, np.column_stack([d.f(X) * d.correlations, np.zeros(150)]))
    assert not y[:, 1].any()
    assert not marked[:, 1].any()


def test_nothing_is_written_at_numbers(numbers):
    d, Z = numbers
    assert written(plot.plane(d, X=X, Y=Z)) == []


# --- labels of y


def test_labels_of_y_are_drawn_by_default(d):
    ax = plot.plane(d, X=X)
    assert sorted(written(ax)) == ["a", "b", "c"]
    np.testing.assert_allclose(clouds(ax)[1], d.g(np.array(["a", "b", "c"])) * d.correlations)


def test_some_labels_of_y(d):
    ax = plot.plane(d, X=X, Y=["c", "a"])
    assert sorted(written(ax)) == ["a", "c"]
    np.testing.assert_allclose(clouds(ax)[1], d.g(["c", "a"]) * d.correlations)


@pytest.mark.parametrize(
    "as_labels",
    [
        lambda y: y.astype(str),
        pytest.param(lambda y: y.tolist(), id="list"),
        pytest.param(pd.Series, id="pandas"),
        pytest.param(lambda y: pl.Series(y.tolist()), id="polars"),
        pytest.param(lambda y: pd.DataFrame({"y": y}), id="frame"),
    ],
)
def test_labels_of_any_kind_are_drawn_by_default(as_labels):
    fit = co.CCA(n_components=2).fit(X, as_labels(Y))
    assert sorted(written(plot.plane(fit, X=X))) == ["a", "b", "c"]


def test_truth_values_are_labels():
    ax = plot.plane(co.CCA(n_components=1).fit(X, X[:, 0] > 0), X=X)
    assert sorted(written(ax)) == ["False", "True"]


def test_a_model_that_was_saved_has_its_labels(d, tmp_path):
    d.save(tmp_path / "model")
    ax = plot.plane(co.load(tmp_path / "model"), X=X)
    assert sorted(written(ax)) == ["a", "b", "c"]


@pytest.mark.parametrize(("label", "shown"), HOSTILE)
def test_hostile_labels_are_text(label, shown):
    y = np.where(Y == "a", label, Y)
    ax = plot.plane(co.CCA(n_components=2).fit(X, y), X=X, marks=([label], X[:1]))
    ax.figure.canvas.draw()
    assert sorted(written(ax)) == sorted([shown, shown, "b", "c"])
    assert not any(text.get_parse_math() for text in ax.texts)


# --- classes


def test_each_class_has_a_colour(d):
    ax = plot.plane(d, X=X, classes=Y)
    of_class = {label: {c for c, y in zip(colours(ax, 0), Y, strict=True) if y == label} for label in "abc"}
    assert [len(found) for found in of_class.values()] == [1, 1, 1]
    assert len(set.union(*of_class.values())) == 3
    assert [{colour} for colour in colours(ax, 1)] == [of_class[label] for label in "abc"]
    assert {text.get_text(): {to_hex(text.get_color())} for text in ax.texts} == of_class
    assert legend(ax) == ["rows", "columns"]


def test_classes_that_are_not_written_are_in_the_legend(d):
    kinds = np.where(X[:, 1] > 0, "up", "down")
    ax = plot.plane(d, X=X, classes=kinds)
    assert legend(ax) == ["rows", "columns", "down", "up"]
    handles = {handle.get_label(): to_hex(handle.get_facecolor()) for handle in ax.get_legend().legend_handles[2:]}
    assert colours(ax, 0) == [handles[kind] for kind in kinds]


def test_numbers_go_from_dark_to_light(d):
    classes = np.array([10, 9, 2])[np.arange(150) % 3]
    ax = plot.plane(d, X=X, classes=classes)
    assert legend(ax)[2:] == ["2", "9", "10"]
    light = [sum(handle.get_facecolor()[:3]) for handle in ax.get_legend().legend_handles[2:]]
    assert light == sorted(light)


@pytest.mark.parametrize("kind", [list, pd.Series, lambda y: pl.Series(y.tolist()), lambda y: y.astype(str)])
def test_classes_of_any_kind(d, kind):
    assert colours(plot.plane(d, X=X, classes=kind(Y)), 0) == colours(plot.plane(d, X=X, classes=Y), 0)


def test_more_classes_than_colours(d):
    ax = plot.plane(d, X=X, classes=[f"class {i % 30}" for i in range(150)])
    assert legend(ax) == ["rows", "columns"]
    assert len(set(colours(ax, 0))) >= 20


@pytest.mark.parametrize(("label", "shown"), HOSTILE)
def test_hostile_classes_are_text(d, label, shown):
    ax = plot.plane(d, X=X, classes=np.where(Y == "a", label, Y))
    ax.figure.canvas.draw()
    assert sorted(legend(ax)) == sorted(["rows", "columns", shown, "b", "c"])  # in as many columns as there is room
    if label.startswith("$"):
        assert not any(text.get_parse_math() for text in ax.get_legend().get_texts())


@pytest.mark.parametrize("classes", [Y[1:], Y[:, None], [], "a"])
def test_classes_of_the_wrong_length(d, classes):
    with pytest.raises(ValueError, match=r"classes must .*150"):
        plot.plane(d, X=X, classes=classes)
    assert not plt.get_fignums()


# --- marks


def test_marks_are_where_f_puts_them_with_their_labels(d):
    ax = plot.plane(d, X=X, marks=(["first", "second"], X[:2]), map="colprincipal")
    np.testing.assert_allclose(clouds(ax)[2], d.f(X[:2]))
    assert {"first", "second"} <= set(written(ax))
    assert legend(ax) == ["rows", "columns", "marked"]


def test_the_third_name_is_that_of_the_marks(d):
    ax = plot.plane(d, X=X, marks=(["first"], X[:1]), names=("wines", "grades", "estates"))
    assert legend(ax) == ["wines", "grades", "estates"]


def test_marks_in_the_symmetric_map(d):
    np.testing.assert_allclose(clouds(plot.plane(d, X=X, marks=("p", X[:1])))[2], d.f(X[:1]) * d.correlations)


@pytest.mark.parametrize(("labels", "values"), [(["one"], X[:2]), (["one", "two"], X[:1]), ([], X[:1])])
def test_as_many_marks_as_labels(d, labels, values):
    with pytest.raises(ValueError, match=f"marks has {len(labels)} labels for {len(values)}"):
        plot.plane(d, X=X, marks=(labels, values))
    assert not plt.get_fignums()


def test_marks_of_other_columns(d):
    with pytest.raises(ValueError, match="X has 2 features"):
        plot.plane(d, X=X, marks=(["one"], X[:1, :2]))


def test_marks_that_are_no_pair(d):
    with pytest.raises((TypeError, ValueError), match="marks"):
        plot.plane(d, X=X, marks=["one"])


# --- what cannot be drawn


def test_x_is_needed(d):
    with pytest.raises(TypeError, match="X is needed"):
        plot.plane(d)


def test_y_is_needed_unless_it_is_labels(numbers):
    with pytest.raises(TypeError, match="Y is needed"):
        plot.plane(numbers[0], X=X)
    assert not plt.get_fignums()


@pytest.mark.parametrize("arguments", [{"size": "mass"}, *({"map": name} for name in ("rowgab", "rowgreen"))])
def test_numbers_have_no_mass(numbers, arguments):
    d, Z = numbers
    with pytest.raises(ValueError, match=r"(map|size) must .*mass"):
        plot.plane(d, X=X, Y=Z, **arguments)
    assert not plt.get_fignums()


@pytest.mark.parametrize("name", ["colgab", "colgreen"])
def test_x_has_no_mass(d, name):
    with pytest.raises(ValueError, match=r"map must .*mass"):
        plot.plane(d, X=X, map=name)


def test_labels_of_y_have_a_mass(d):
    _, y = clouds(plot.plane(d, X=X, map="rowgab"))
    mass = np.array([np.mean(label == Y) for label in "abc"])
    np.testing.assert_allclose(y, d.g(np.array(["a", "b", "c"])) * mass[:, None])


def test_names_are_two_or_three(d):
    for names in (("one",), ("1", "2", "3", "4"), "ab"):
        with pytest.raises(ValueError, match="names must"):
            plot.plane(d, X=X, names=names)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_figure_can_be_saved(d, tmp_path, ending):
    ax = plot.plane(d, X=X, classes=Y, marks=(["here & <there>"], X[:1]))
    path = tmp_path / f"plane.{ending}"
    ax.figure.savefig(path)
    assert path.read_bytes()[:5] == {"png": b"\x89PNG\r", "svg": b"<?xml", "pdf": b"%PDF-"}[ending]


# --- comparison


@pytest.fixture(scope="module")
def compared():
    return co.compare(X, Y, {"one": co.CCA(n_components=1), "two": co.ACE(n_components=2)}, cv=2)


def heights(ax, filled):
    """Heights of the held-out or of the training markers, method by method."""
    lines = [line for line in ax.lines if line.get_linestyle() == "None"]
    return [line.get_ydata() for line in lines if (line.get_markerfacecolor() != "none") is filled]


def test_markers_are_at_the_correlations(compared):
    ax = plot.comparison(compared)
    for result, held_out, training in zip(
        compared.results.values(), heights(ax, True), heights(ax, False), strict=True
    ):
        np.testing.assert_array_equal(held_out, result.correlations)
        np.testing.assert_array_equal(training, result.training)


def test_intervals_are_those_of_the_results(compared):
    segments = [c.get_segments() for c in plot.comparison(compared).collections if isinstance(c, LineCollection)]
    for result, found in zip(compared.results.values(), segments, strict=True):
        np.testing.assert_allclose([segment[:, 1] for segment in found], result.intervals)


def test_methods_stand_beside_each_other(compared):
    places = [line.get_xdata() for line in plot.comparison(compared).lines if line.get_linestyle() == "None"]
    assert places[0][0] == places[1][0] < 1 < places[2][0] == places[3][0]
    assert np.abs(np.concatenate(places) - np.round(np.concatenate(places))).max() < 0.5


def test_the_legend_says_what_is_captured(compared):
    assert legend(plot.comparison(compared)) == [
        f"{name}: captured {result.captured:.3g}" for name, result in compared.results.items()
    ]


def test_only_so_many_components(compared):
    ax = plot.comparison(compared, n_components=1)
    assert [len(values) for values in heights(ax, True)] == [1, 1]
    assert ax.get_xlim() == (0.5, 1.5)


def test_comparison_on_the_given_axes(compared, tmp_path):
    figure, (left, right) = plt.subplots(1, 2)
    assert plot.comparison(compared, right) is right
    assert not left.lines
    figure.savefig(tmp_path / "comparison.png")
    assert (tmp_path / "comparison.png").stat().st_size > 5000


def test_one_method_stands_in_the_middle():
    ax = plot.comparison(co.compare(X, Y, {"alone": co.CCA(n_components=1)}, cv=2))
    assert next(line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "None") == 1


@pytest.mark.parametrize(("label", "shown"), HOSTILE)
def test_hostile_names_of_methods_are_text(label, shown):
    ax = plot.comparison(co.compare(X, Y, {label: co.CCA(n_components=1)}, cv=2))
    ax.figure.canvas.draw()
    (text,) = ax.get_legend().get_texts()
    assert text.get_text().startswith(f"{shown}: captured ")
    assert "$" not in label or not text.get_parse_math()


@pytest.mark.parametrize("what", [None, {}, "cca", co.CCA()])
def test_what_is_no_comparison(what):
    with pytest.raises(TypeError, match="results must"):
        plot.comparison(what)


def test_wrong_options_of_comparison(compared):
    with pytest.raises(ValueError, match="n_components must"):
        plot.comparison(compared, n_components=0)
    with pytest.raises(TypeError, match=r"ax must .*str"):
        plot.comparison(compared, "here")


# --- number of components


@pytest.fixture(scope="module")
def counted():
    rng = np.random.default_rng(0)
    w = rng.integers(4, size=500)
    X, Y = (rng.normal(size=(4, 6))[w] + rng.normal(size=(500, 6)) for _ in range(2))
    return co.latent_dimension(co.CCA(6), X, Y)


def test_dimension_has_the_correlations_their_intervals_and_the_training(counted):
    ax = plot.dimension(counted)
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    np.testing.assert_allclose(lines["held out, 95 %"], counted.correlations)
    np.testing.assert_allclose(lines["training"], counted.training)
    (bars,) = [c for c in ax.collections if isinstance(c, LineCollection)]
    np.testing.assert_allclose([segment[:, 1] for segment in bars.get_segments()], counted.intervals)
    assert ax.get_title(loc="left") == counted.write_summary()


def test_dimension_has_the_band_of_chance_and_the_cut(counted):
    ax = plot.dimension(counted)
    (band,) = [c for c in ax.collections if c.get_label() == "chance"]
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx(counted.band.max())
    assert heights.min() == pytest.approx(-counted.band.max())
    (cut,) = [line for line in ax.lines if line.get_label() == "cut"]
    assert set(cut.get_xdata()) == {counted.n_components + 0.5}
    low, high = counted.interval
    assert low < high
    (strip,) = ax.patches
    assert strip.get_extents().transformed(ax.transData.inverted()).intervalx.tolist() == pytest.approx(
        [low + 0.5, high + 0.5]
    )


def test_dimension_of_some_components_on_the_given_axes(counted, tmp_path):
    figure, ax = plt.subplots()
    assert plot.dimension(counted, ax, n_components=2) is ax
    assert ax.get_xlim() == (0.4, 2.6)
    figure.savefig(tmp_path / "dimension.png")


def test_dimension_of_something_else():
    with pytest.raises(TypeError, match=r"result must .*CCA"):
        plot.dimension(co.CCA())


def test_the_legend_of_few_components_is_not_cut(rng):
    shared = rng.normal(size=(300, 2))
    X, Y = (np.hstack([shared + rng.normal(size=(300, 2)), rng.normal(size=(300, 2))]) for _ in range(2))
    ax = co.plot.dimension(co.latent_dimension(co.CCA(n_components=4), X, Y))
    ax.figure.canvas.draw()
    assert len(ax.get_legend().get_texts()) == 5
    assert ax.get_legend().get_window_extent().x1 <= ax.figure.bbox.x1
