"""Pictures of classifiers: boundaries, rings and thumbnails where the numbers say, and the model asked only once."""

from io import BytesIO
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import sklearn
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from scipy.special import softmax

import correspondence as co
from correspondence import plot
from correspondence.plot.overlays import Thumbnail
from correspondence.scene.colours import COLUMNS, choose_class_colours

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 2))
W = 2 * RNG.normal(size=(2, 5))
NAMES = ["ant", "bee", "cat", "dog", "eel"]
POWERS = {"symmetric": 1, "rowprincipal": 1, "colprincipal": 0, "symbiplot": 0.5, "rowgab": 1, "rowgreen": 1}


class Model:
    """Beliefs of the first two numbers of each input, and how often they were asked for."""

    def __init__(self, k=3):
        self.k, self.calls = k, 0

    def __call__(self, inputs):
        self.calls += 1
        flat = np.asarray(inputs, dtype=float).reshape(len(inputs), -1)[:, :2]
        flat = (flat - 100) / 60 if getattr(inputs, "dtype", float) == np.uint8 else flat
        return softmax(flat @ W[:, : self.k], axis=1)


def analysis(k=3, inputs=X, **parameters):
    return co.ClassifierCA(Model(k), classes=NAMES[:k], **parameters).fit(inputs)


def boundaries(ax):
    """Points of the lines that are boundaries."""
    return [np.column_stack(line.get_data()) for line in ax.lines if line.get_zorder() == 2.5]


def clouds(ax):
    return [c for c in ax.collections if isinstance(c, PathCollection)]


def rings(ax):
    (found,) = [np.asarray(c.get_offsets()) for c in clouds(ax) if c.get_label() == "confusing"]
    return found


def thumbnails(ax):
    return [artist for artist in ax.get_children() if isinstance(artist, Thumbnail)]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def images(kind=float, shape=(6, 6), k=3, n=80):
    """Images whose first two numbers decide."""
    pictures = np.random.default_rng(1).random((n, *shape))
    pictures.reshape(n, -1)[:, :2] = X[:n]
    if kind is np.uint8:
        return np.clip(60 * pictures + 100, 0, 255).astype(np.uint8)
    return pictures.astype(kind)


# --- boundaries


@pytest.mark.parametrize("name", POWERS)
@pytest.mark.parametrize("axes", [(1, 2), (2, 1)])
def test_boundaries_lie_where_they_are(name, axes):
    cca = analysis()
    ax = plot.plane(cca, axes, name, X=X, boundaries=[("ant", "cat"), ("bee", "ant")])
    index = [axis - 1 for axis in axes]
    drawn = boundaries(ax)
    assert len(drawn) == 2
    for points, pair in zip(drawn, [("ant", "cat"), ("bee", "ant")], strict=True):
        expected = cca.boundary(*pair, len(points)) * cca.correlations_ ** POWERS[name]
        np.testing.assert_allclose(points, expected[:, index], atol=1e-12)
    inputs = np.asarray(clouds(ax)[0].get_offsets())
    np.testing.assert_allclose(inputs, (cca.transform(X) * cca.correlations_ ** POWERS[name])[:, index], atol=1e-12)
    assert len(drawn[0]) >= 2


@pytest.mark.parametrize("name", ["colgab", "colgreen"])
def test_maps_that_need_masses_of_inputs(name):
    with pytest.raises(ValueError, match="map must"):
        plot.plane(analysis(), map=name, X=X, boundaries=True)


def ends(points):
    return tuple(np.round(points[0], 9)), tuple(np.round(points[-1], 9))


@pytest.mark.parametrize("k", [3, 4, 5])
def test_all_pairs_of_few_classes(k):
    cca = analysis(k)
    ax = plot.plane(cca, X=X, boundaries=True)
    expected = {ends(cca.boundary(a, b)[:, :2] * cca.correlations_[:2]) for a, b in combinations(NAMES[:k], 2)}
    assert {ends(points) for points in boundaries(ax)} == expected
    assert len(boundaries(ax)) == k * (k - 1) / 2
    assert legend(ax).count("boundary") == 1


def test_of_many_classes_the_pairs_most_confused():
    P = np.random.default_rng(0).dirichlet(np.ones(7), 60)
    cca = co.ClassifierCA.from_beliefs(P)
    pairs = sorted(combinations(range(7), 2), key=lambda pair: -cca.overlap_[pair])[:10]
    expected = {ends(cca.boundary(a, b)[:, :2] * cca.correlations_[:2]) for a, b in pairs}
    ax = plot.plane(cca, X=P, boundaries=True)
    assert {ends(points) for points in boundaries(ax)} == expected
    assert len(boundaries(ax)) == 10


def test_all_pairs_of_five_classes_if_two_are_never_confused():
    P = np.random.default_rng(0).dirichlet(np.ones(5), 40)
    P[:20, 3] = 0
    P[20:, 4] = 0
    P /= P.sum(axis=1, keepdims=True)
    assert len(boundaries(plot.plane(co.ClassifierCA.from_beliefs(P), X=P, boundaries=True))) == 10


def test_classes_never_predicted_have_no_boundary():
    P = np.insert(Model()(X), 1, 0.0, axis=1)
    with pytest.warns(co.LeftOut, match="never predicted"):
        cca = co.ClassifierCA.from_beliefs(P, ["ant", "asp", "bee", "cat"])
    ax = plot.plane(cca, X=P, boundaries=True)
    assert len(boundaries(ax)) == 3
    assert "asp" not in [text.get_text() for text in ax.texts]
    ax.figure.canvas.draw()
    with pytest.raises(ValueError, match="asp"):
        plot.plane(cca, X=P, boundaries=[("asp", "ant")])


def test_one_pair_needs_no_list():
    cca = analysis()
    (points,) = boundaries(plot.plane(cca, X=X, boundaries=("ant", "bee")))
    np.testing.assert_allclose(points[0], (cca.boundary("ant", "bee", 1) * cca.correlations_)[0], atol=1e-12)
    assert boundaries(plot.plane(cca, X=X, boundaries=[])) == []
    assert boundaries(plot.plane(cca, X=X)) == []


@pytest.mark.parametrize("name", ["symmetric", "colprincipal", "symbiplot"])
def test_two_classes_have_one_axis(name):
    cca = analysis(2)
    ax = plot.plane(cca, map=name, boundaries=True, confusing=X)
    (points,) = boundaries(ax)
    at = cca.boundary("ant", "bee", 1)[0, 0] * cca.correlations_[0] ** POWERS[name]
    np.testing.assert_allclose(points[:, 0], at, atol=1e-12)
    found = cca.confusing(X, 12)
    expected = np.column_stack([found.position * cca.correlations_ ** POWERS[name], np.zeros(12)])
    np.testing.assert_allclose(rings(ax), expected, atol=1e-12)
    pictures = images()
    ax = plot.plane(analysis(2, pictures), boundaries=True, confusing=pictures, thumbnails=True)
    ax.figure.canvas.draw()
    assert len(thumbnails(ax)) == 12


def test_boundaries_part_the_predictions():
    """Of three classes the whole plane is parted: on a line from one input to another the class changes at them."""
    cca = analysis()
    F = cca.transform(X)
    for a, b in combinations(NAMES[:3], 2):
        middle = cca.boundary(a, b, 50)[1:-1]
        towards = cca.locate(np.eye(3)[[NAMES.index(a)]]) - cca.locate(np.eye(3)[[NAMES.index(b)]])
        for side, name in ((1e-6, a), (-1e-6, b)):
            near = cca.beliefs_at(middle + side * towards)
            assert {NAMES[i] for i in near.argmax(axis=1)} == {name}
    assert F.shape == (80, 2)


# --- confusing inputs


@pytest.mark.parametrize("name", ["symmetric", "rowprincipal", "colprincipal", "symbiplot"])
def test_rings_are_where_the_inputs_are(name):
    cca = analysis(4)
    found = cca.confusing(X, 12)
    expected = (found.position * cca.correlations_ ** POWERS[name])[:, :2]
    np.testing.assert_allclose(rings(plot.plane(cca, map=name, confusing=X)), expected, atol=1e-12)
    few = cca.confusing(X, 3)
    ax = plot.plane(cca, map=name, X=X, confusing=few)
    np.testing.assert_allclose(rings(ax), expected[:3], atol=1e-12)
    assert "confusing" in legend(ax)
    assert clouds(ax)[-1].get_facecolor().size == 0


def test_rings_of_other_inputs_than_are_drawn():
    cca = analysis()
    ax = plot.plane(cca, X=X[:30], confusing=X[30:])
    np.testing.assert_allclose(rings(ax), (cca.confusing(X[30:], 12).position * cca.correlations_), atol=1e-12)
    np.testing.assert_allclose(clouds(ax)[0].get_offsets(), cca.transform(X[:30]) * cca.correlations_, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("given", [X, pd.DataFrame(X), X.tolist()], ids=["array", "frame", "list"])
def test_the_model_is_asked_once(given):
    cca = analysis()
    model = cca.model
    model.calls = 0
    plot.plane(cca, confusing=given, boundaries=True)
    assert model.calls == 1
    plot.plane(cca, X=given, confusing=given, boundaries=True)
    assert model.calls == 2
    plot.plane(cca, X=given, boundaries=True)
    assert model.calls == 3
    plot.plane(cca, X=given, confusing=cca.confusing(given), boundaries=True)
    assert model.calls == 5
    pictures = images()
    pictured = analysis(3, pictures)
    pictured.model.calls = 0
    plot.plane(pictured, confusing=pictures, thumbnails=True, boundaries=True)
    assert pictured.model.calls == 1


def test_streams_of_inputs():
    cca = analysis()
    ax = plot.plane(cca, confusing=(X[i : i + 20] for i in range(0, 80, 20)), boundaries=True)
    np.testing.assert_allclose(rings(ax), cca.confusing(X, 12).position * cca.correlations_, atol=1e-12)
    assert len(clouds(ax)[0].get_offsets()) == 80


# --- colours


def test_inputs_have_the_colour_of_the_class_predicted():
    cca = analysis()
    expected = choose_class_colours(np.array(NAMES[:3], object), nominal=True)
    ax = plot.plane(cca, X=X)
    inputs, classes = clouds(ax)[:2]
    assert [to_hex(c) for c in inputs.get_facecolor()] == [expected[label] for label in cca.predict(X)]
    assert [to_hex(c) for c in classes.get_facecolor()] == [expected[name] for name in NAMES[:3]]
    assert {text.get_text(): to_hex(text.get_color()) for text in ax.texts} == expected
    assert legend(ax) == ["inputs", "classes"]


def test_the_same_colours_whichever_classes_occur():
    cca = analysis(5)
    every = dict(zip(cca.predict(X), map(to_hex, clouds(plot.plane(cca, X=X))[0].get_facecolor()), strict=True))
    for name in set(cca.predict(X)):
        some = X[cca.predict(X) == name]
        assert {to_hex(c) for c in clouds(plot.plane(cca, X=some))[0].get_facecolor()} == {every[name]}
    assert len(set(every.values())) == len(every)


def test_digits_are_names_and_other_classes_a_scale():
    P = Model(3)(X)
    cca = co.ClassifierCA.from_beliefs(P, [0, 1, 2])
    colours = {to_hex(c) for c in clouds(plot.plane(cca, X=P))[0].get_facecolor()}
    names = choose_class_colours(np.arange(3), nominal=True)
    assert colours == {names[i] for i in P.argmax(axis=1).tolist()}
    assert colours.isdisjoint(choose_class_colours(np.arange(3)).values())
    years = np.repeat([1990, 2000, 2010, 2020], 20)
    ax = plot.plane(cca, X=P, classes=years)
    assert len({to_hex(c) for c in clouds(ax)[0].get_facecolor()}) == 4
    assert legend(ax)[-4:] == ["1990", "2000", "2010", "2020"]
    labels = np.array([2, 1] * 40)
    ax = plot.plane(cca, X=P, classes=labels)
    assert [to_hex(c) for c in clouds(ax)[0].get_facecolor()] == [names[i] for i in labels.tolist()]


# --- thumbnails


def shown(ax):
    ax.figure.canvas.draw()
    return [np.asarray(picture.offsetbox.get_data()) for picture in thumbnails(ax)]


@pytest.mark.parametrize(
    ("kind", "shape", "expected"),
    [
        (float, (6, 6), lambda x: x),
        (np.float32, (6, 5), lambda x: x),
        (np.uint8, (6, 6), lambda x: x),
        (float, (1, 6, 6), lambda x: x[0]),
        (float, (6, 6, 1), lambda x: x[..., 0]),
        (float, (3, 6, 7), lambda x: np.moveaxis(x, 0, -1)),
        (np.uint8, (3, 6, 7), lambda x: np.moveaxis(x, 0, -1)),
        (float, (6, 7, 3), lambda x: x),
        (np.uint8, (6, 7, 3), lambda x: x),
        (float, (6, 7, 4), lambda x: x),
    ],
)
def test_thumbnails_are_the_inputs(kind, shape, expected):
    pictures = images(kind, shape)
    cca = analysis(3, pictures)
    found = cca.confusing(pictures, 12)
    ax = plot.plane(cca, confusing=pictures, thumbnails=True)
    seen = shown(ax)
    assert len(seen) == 12
    chosen = pictures[found.index]
    low, high = (0, 1) if kind is np.uint8 else (min(0, chosen.min()), max(1, chosen.max()))
    for image, original in zip(seen, chosen, strict=True):
        wanted = expected(original)
        assert image.shape == wanted.shape
        np.testing.assert_allclose(image, wanted if kind is np.uint8 else (wanted - low) / (high - low), atol=1e-6)
    positions = np.array([picture.xy for picture in thumbnails(ax)])
    np.testing.assert_allclose(positions, found.position * cca.correlations_, atol=1e-12)
    colours = choose_class_colours(np.array(NAMES[:3], object), nominal=True)
    frames = [to_hex(picture.patch.get_edgecolor()) for picture in thumbnails(ax)]
    assert frames == [colours[first] for first in found.pairs[:, 0]]


@pytest.mark.slow
def test_thumbnails_given_beside_the_inputs():
    cca = analysis()
    pictures = images(np.uint8)
    found = cca.confusing(X, 12)
    for arguments in (
        {"confusing": X, "thumbnails": pictures},
        {"confusing": X, "thumbnails": list(pictures)},
        {"X": X, "confusing": found, "thumbnails": pictures},
        {"X": X, "confusing": found, "thumbnails": pictures[found.index]},
    ):
        for image, i in zip(shown(plot.plane(cca, **arguments)), found.index, strict=True):
            np.testing.assert_array_equal(image, pictures[i])


def box(artist, renderer):
    return artist.get_window_extent(renderer).extents


def overlap(one, other):
    """By how many pixels two boxes overlap in the direction in which it is less."""
    return (np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])).min()


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "k"), [(0, 3), (1, 4), (2, 5), (3, 3)])
@pytest.mark.parametrize("size", [(8, 6.5), (5, 4)])
def test_thumbnails_and_labels_keep_clear_of_each_other(seed, k, size):
    pictures = images()
    pictures.reshape(80, -1)[:, :2] = np.random.default_rng(seed).normal(size=(80, 2))
    cca = analysis(k, pictures)
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    plot.plane(cca, ax=ax, confusing=pictures, thumbnails=True, boundaries=True)
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    boxes = [box(picture, renderer) for picture in thumbnails(ax) if picture.get_visible()]
    labels = [box(text, renderer) for text in ax.texts if text.get_visible()]
    assert len(boxes) >= 4
    assert len(labels) >= 2
    for one, other in combinations([*boxes, *labels], 2):
        assert overlap(one, other) <= 0.1
    frame = ax.bbox.extents
    assert all((b[:2] >= frame[:2]).all() and (b[2:] <= frame[2:]).all() for b in boxes)
    points = ax.transData.transform(np.vstack(boundaries(ax)))
    for b in labels:
        assert not ((points > b[:2]) & (points < b[2:])).all(axis=1).any()
    centres = ax.transData.transform(rings(ax))
    assert not any(((centres > b[:2]) & (centres < b[2:])).all(axis=1).any() for b in boxes)


def test_a_thumbnail_is_where_it_was_put():
    pictures = images()
    ax = plot.plane(analysis(3, pictures), confusing=pictures, thumbnails=True)
    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    for picture in thumbnails(ax):
        corner = ax.transData.transform(picture.xy) + np.array(picture.xybox) * renderer.points_to_pixels(1)
        np.testing.assert_allclose(box(picture, renderer)[:2], corner, atol=0.5)


@pytest.mark.slow
def test_thumbnails_have_the_same_size_whatever_the_images():
    for shape in ((6, 6), (28, 28), (40, 20)):
        pictures = images(shape=shape)
        ax = plot.plane(analysis(3, pictures), confusing=pictures, thumbnails=True)
        ax.figure.canvas.draw()
        renderer = ax.figure.canvas.get_renderer()
        width, height = box(thumbnails(ax)[0], renderer)[2:] - box(thumbnails(ax)[0], renderer)[:2]
        points = renderer.points_to_pixels(1)
        assert max(width, height) / points == pytest.approx(34, abs=0.5)
        assert width < height if shape == (40, 20) else width == pytest.approx(height)


# --- errors


def test_bad_thumbnails():
    cca = analysis()
    found = cca.confusing(X, 12)
    for arguments, message in (
        ({"X": X, "thumbnails": True}, "^thumbnails need confusing"),
        ({"confusing": X, "thumbnails": True}, r"^thumbnails must .*shape \(12, 2\)"),
        ({"confusing": X, "thumbnails": images(shape=(2, 6, 6))}, "^thumbnails must .*shape"),
        ({"confusing": X, "thumbnails": images(n=5)}, "^thumbnails must .*got 5"),
        ({"X": X, "confusing": found, "thumbnails": True}, "^thumbnails must .*Confusing"),
        ({"X": X, "confusing": found, "thumbnails": images(n=11)}, "^thumbnails must .*got 11"),
    ):
        with pytest.raises(ValueError, match=message):
            plot.plane(cca, **arguments)


@pytest.mark.parametrize(
    ("est", "drawn"),
    [
        (co.CA().fit(np.eye(3) + 1), None),
        (co.CA().fit(np.eye(3) + 1).decomposition_, None),
        (analysis().decomposition_, X),
    ],
    ids=["CA", "decomposition", "decomposition of a classifier"],
)
def test_only_classifiers_have_boundaries_and_confusing_inputs(est, drawn):
    name = type(est).__name__
    with pytest.raises(TypeError, match=rf"^confusing needs .*{name}"):
        plot.plane(est, X=drawn, confusing=X)
    with pytest.raises(TypeError, match=rf"^boundaries need .*{name}"):
        plot.plane(est, X=drawn, boundaries=True)


def test_only_classifiers_have_thumbnails():
    with pytest.raises((TypeError, ValueError), match=r"^thumbnails need"):
        plot.plane(co.CA().fit(np.eye(3) + 1), thumbnails=True)


def test_not_fitted():
    for arguments in ({"confusing": X}, {"X": X, "boundaries": True}):
        with pytest.raises(TypeError, match="fitted"):
            plot.plane(co.ClassifierCA(Model()), **arguments)
    with pytest.raises(TypeError, match=r"^X is needed"):
        plot.plane(analysis())


@pytest.mark.parametrize(
    "pairs", ["ab", ["ant", "bee", "cat"], [("ant",)], [("ant", "bee", "cat")], ["ab", "bc", "cd"]]
)
def test_bad_boundaries(pairs):
    with pytest.raises(ValueError, match=r"^boundaries must .*pairs"):
        plot.plane(analysis(), X=X, boundaries=pairs)


@pytest.mark.parametrize("pairs", [5, None])
def test_boundaries_of_other_types(pairs):
    with pytest.raises((TypeError, ValueError), match=r"^boundaries must .*pairs"):
        plot.plane(analysis(), X=X, boundaries=pairs)


def test_unknown_classes():
    with pytest.raises(ValueError, match=r"^b: .*fly"):
        plot.plane(analysis(), X=X, boundaries=[("ant", "fly")])
    with pytest.raises(ValueError, match=r"^classes must .*80"):
        plot.plane(analysis(), X=X, classes=["ant"])


# --- several classifiers


@pytest.fixture(scope="module")
def comparison():
    shifted = lambda inputs: Model(4)(inputs + np.array([0.5, -0.3]))  # noqa: E731
    return co.compare_classifiers({"one": Model(4), "other": shifted}, X, classes=NAMES[:4])


def test_a_plane_for_each_classifier_and_one_for_the_moves(comparison):
    figure = plot.classifiers(comparison, n=7)
    first, second, moves = figure.axes
    common, s = comparison.common, comparison.common.correlations_[:2]
    for ax, name in ((first, "one"), (second, "other")):
        assert ax.get_title(loc="left") == name
        np.testing.assert_allclose(clouds(ax)[0].get_offsets(), comparison.positions(name)[:, :2] * s, atol=1e-12)
        np.testing.assert_allclose(clouds(ax)[1].get_offsets(), common.transform_y(NAMES[:4])[:, :2], atol=1e-12)
    rows = comparison.most_index(7)
    arrows = [text for text in moves.texts if text.arrow_patch is not None]
    np.testing.assert_allclose([a.xyann for a in arrows], (comparison.positions("one")[rows, :2] * s), atol=1e-12)
    np.testing.assert_allclose([a.xy for a in arrows], (comparison.positions("other")[rows, :2] * s), atol=1e-12)
    changed = comparison.predictions[0, rows] != comparison.predictions[1, rows]
    red = [to_hex(a.arrow_patch.get_edgecolor()) == COLUMNS.lower() for a in arrows]
    assert red == changed.tolist()
    assert moves.get_title(loc="left") == "from one to other,\n7 largest moves (red: other class)"
    assert first.get_xlim() == second.get_xlim() == moves.get_xlim()
    figure.canvas.draw()


def test_classes_have_the_same_colours_and_boundaries_in_all_panels(comparison):
    figure = plot.classifiers(comparison)
    expected = choose_class_colours(np.array(NAMES[:4], object), nominal=True)
    for ax, predicted in zip(figure.axes, comparison.predictions, strict=False):
        assert [to_hex(c) for c in clouds(ax)[0].get_facecolor()] == [expected[label] for label in predicted]
    for ax in figure.axes:
        assert [to_hex(c) for c in clouds(ax)[1].get_facecolor()] == [expected[name] for name in NAMES[:4]]
        assert len(boundaries(ax)) == 6
        for one, other in zip(boundaries(ax), boundaries(figure.axes[0]), strict=True):
            np.testing.assert_array_equal(one, other)


def test_panels_of_four_models_and_other_axes(comparison):
    four = co.compare_classifiers([Model(4)] * 2 + [lambda x: Model(4)(0.5 * x)] * 2, X)
    figure = plot.classifiers(four, (1, 3), n=2)
    assert [ax.get_visible() for ax in figure.axes] == [True] * 5 + [False]
    s = four.common.correlations_[[0, 2]]
    np.testing.assert_allclose(
        clouds(figure.axes[2])[0].get_offsets(), four.positions(four.names[2])[:, [0, 2]] * s, atol=1e-12
    )
    assert figure.axes[0].get_ylabel().startswith("Axis 3")


def test_classifiers_whatever_scikit_learn_is_set_to(comparison):
    with sklearn.config_context(transform_output="pandas"):
        assert len(plot.classifiers(comparison).axes) == 3


def test_bad_comparisons(comparison):
    with pytest.raises(TypeError, match=r"^comparison must .*ClassifierCA"):
        plot.classifiers(comparison.common)
    with pytest.raises(ValueError, match="one component"):
        plot.classifiers(co.compare_classifiers([Model(2), lambda x: Model(2)(-x)], X))
    with pytest.raises(ValueError, match=r"^n must .*0"):
        plot.classifiers(comparison, n=0)
    with pytest.raises(ValueError, match=r"^axes must .*4"):
        plot.classifiers(comparison, (1, 4))


def test_the_caption_fits_at_any_resolution():
    """Letters are placed at whole pixels, so that at few pixels a line is longer than the sum of its words."""
    P = np.random.default_rng(0).dirichlet(np.full(8, 0.3), 400)
    figure = co.plot.plane(co.ClassifierCA.from_beliefs(P).focus(P, range(4)), X=P).figure
    for dpi in (100, 80):
        picture = BytesIO()
        figure.savefig(picture, dpi=dpi)
        picture.seek(0)
        shown = plt.imread(picture)
        below = shown[-len(shown) // 20 :, -4:, :3]
        assert below.min() == 1, dpi  # white: no letter of the caption reaches the edge
    plt.close(figure)
