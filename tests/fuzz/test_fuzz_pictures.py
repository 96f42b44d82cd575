"""Pictures and pages with arguments and labels that are meant to break them."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from files import EMOJI, RTL, judged, limited
from sklearn.linear_model import LogisticRegression, SGDClassifier

import correspondence as co

# matplotlib warns of characters that the fonts of the machine lack, and draws boxes for them
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Glyph", "ignore:Matplotlib currently does not support"),
]

ODD = [
    EMOJI,
    RTL,
    "$\\frac{1}{$",
    "$x^2$",
    "$",
    "\\",
    "{}%s%d{0}",
    "<script>alert(1)</script>",
    "<b>bold</b> &amp; \"quoted\" 'single'",
    "</textarea></style><img src=x onerror=alert(1)>",
    "two\nlines\r\nand\ttabs",
    "",
    " ",
    "_hidden",
    "a\0b\x1b[31m",
    "x" * 5000,
    "\u202eevil",
    "\ud800",
    "نص " * 200,
]
RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def ca():
    return co.CA().fit(co.datasets.load_smoke())


@pytest.fixture(scope="module")
def numbers():
    x = RNG.normal(size=(40, 2))
    return co.CCA(2).fit(x, x + RNG.normal(size=(40, 2))), x


@pytest.fixture(scope="module")
def classifier():
    x = RNG.normal(size=(60, 3))
    y = np.array(["u", "v", "w"], object)[x.argmax(axis=1)]
    models = {"a": LogisticRegression().fit(x, y), "b": LogisticRegression(C=0.01).fit(x, y)}
    return x, y, co.ClassifierCA(models["a"]).fit(x), co.compare_classifiers(models, x)


@pytest.fixture(scope="module")
def timeline(tmp_path_factory):
    x = RNG.normal(size=(30, 2))
    y = np.where(x[:, 0] > 0, "<b>u</b>", "$v$")
    model = SGDClassifier(loss="log_loss", random_state=0)
    recorder = co.TrainingRecorder(model, x, y, every=5, path=tmp_path_factory.mktemp("frames") / "r")
    recorder.partial_fit(x, y, batch_size=10, epochs=2)
    return recorder.timeline()


def drawn(picture):
    """Draw it: labels find their places only then."""
    figure = getattr(picture, "figure", picture)
    figure.set_dpi(40)
    figure.canvas.draw()
    return picture


# --- labels


def odd_table():
    counts = RNG.integers(1, 30, size=(len(ODD), 4))
    return co.Table(counts, np.array(ODD, object), np.array(ODD[7:11], object))


def test_pictures_of_odd_labels():
    ca = co.CA().fit(odd_table())
    with limited():
        drawn(co.plot.plane(ca, names=(ODD[2], ODD[7]), marks=(["$\\bad{$"], [ODD[0]])))
        drawn(co.plot.scree(ca))
        for side in ("rows", "columns"):
            drawn(co.plot.contributions(ca, side=side))


def test_pages_of_odd_labels(tmp_path):
    ca = co.CA().fit(odd_table())
    with limited():
        path = co.explore(
            ca,
            path=tmp_path / "p.html",
            names=(ODD[7], ODD[9]),
            title=ODD[7],
            about=[ODD[9]],
            marks=([ODD[8]], [ODD[0]]),
        )
    text = path.html
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert text.rstrip().endswith("</html>")


@pytest.mark.parametrize("names", [ODD[:9], ODD[9:]])
def test_odd_groups_and_columns(tmp_path, names):
    table = odd_table()
    ca = co.CA().fit(table)
    groups = (names * len(ODD))[: len(ODD)]
    frame = pd.DataFrame(RNG.normal(size=(60, len(names))), columns=pd.Index(names, dtype=object))
    with limited():
        drawn(co.plot.plane(ca, groups=groups, ellipses="concentration", hulls=True))
        drawn(co.plot.multiples(ca, groups, ellipses="confidence", hulls=0.5))
        pages = [co.explore(ca, path=tmp_path / "groups.html", groups=groups)]
        for target in (None, names[0]):
            a = co.associations(frame, target=target)
            drawn(co.plot.associations(a, "predicted"))
            pages.append(co.explore(a, path=tmp_path / f"{target is None}.html"))
    for page in pages:
        text = page.html
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert text.rstrip().endswith("</html>")


def test_odd_names_of_methods_and_models(classifier, numbers):
    x, y = classifier[:2]
    points = numbers[1]
    comparison = co.compare(points, points[:, :1] + 1, {ODD[2]: co.CCA(1), ODD[7]: co.CCA(1)}, 1, 2)
    models = dict(
        zip((ODD[2], ODD[1]), (LogisticRegression().fit(x, y), LogisticRegression(C=0.1).fit(x, y)), strict=True)
    )
    with limited():
        drawn(co.plot.comparison(comparison))
        drawn(co.plot.classifiers(co.compare_classifiers(models, x)))


def test_a_timeline_of_odd_classes(timeline):
    with limited():
        drawn(co.plot.timeline(timeline))


# --- decompositions


def test_one_component_and_none(tmp_path):
    one = co.CA().fit(co.Table([[9, 1], [2, 8]], ["a", "b"], ["c", "d"]))
    with limited():
        drawn(co.plot.plane(one))
        co.explore(one, path=tmp_path / "one.html")
    nothing = co.CA().fit(co.Table([[1, 1], [1, 1]], ["a", "b"], ["c", "d"]))
    for picture in (co.plot.plane, co.plot.scree, co.plot.contributions):
        judged(lambda picture=picture: drawn(picture(nothing)), "component", "axis")
    judged(lambda: co.explore(nothing, path=tmp_path / "none.html"), "component")


def test_points_without_a_place(tmp_path):
    """A label that never occurred has no place: it is left out of pictures, and of a page."""
    with pytest.warns(co.LeftOut, match="Left out"):
        ca = co.CA().fit(co.Table([[9, 1, 0], [2, 8, 0], [0, 0, 0], [4, 4, 9]], list("abcd"), list("xyz")))
    assert np.isnan(ca.decomposition_.f.values[2]).all()
    with limited():
        ax = drawn(co.plot.plane(ca, size="mass"))
        drawn(co.plot.contributions(ca, side="rows"))
        assert all(np.isfinite(points.get_offsets()).all() for points in ax.collections if len(points.get_offsets()))
        co.explore(ca, path=tmp_path / "p.html")


# --- arguments

NOT_FITTED = [None, 3, "ca", [], {}, co.CA, co.CA(), np.eye(3), pd.DataFrame({"a": [1]})]
COUNTS = [0, -1, 1.5, None, "many", np.nan, [3], True, 10**30]
PLANE = {
    "axes": [
        (0, 1),
        (1, 1),
        (1, 9),
        (1, 2, 3),
        (),
        "12",
        5,
        None,
        (1.5, 2),
        ("a", "b"),
        (None, 1),
        ([1], 2),
        (np.nan, 1),
    ],
    "map": ["none", 3, ["symmetric"]],
    "ax": ["ax", 3, [None]],
    "ellipses": [3, "x", [1, 2], "confidence"],
    "groups": ["SE", ["a"], 3, np.eye(5), co.CA(), {"a": 1}, [["a", "b"]] * 5, [None] * 4],
    "hulls": [True, None, 0, -1, 2, "x", np.nan, [True]],
    "supplementary": [3, [3], "x", None],
    "labels": [None, "all", -3, True, ["rows"], [["SE"]], {"SE"}],
    "rows": [None, "yes", 1.5, []],
    "variables": [3, "yes"],
    "size": [True, "cos2", 3, ["mass"]],
    "colour": ["age", [1, 2], ["a"] * 5, 3, np.eye(5), ([1] * 5,), {"a": 1}],
    "arrows": [True, "sites", 3, ["rows"]],
    "max_labels": [-1, 1.5, None, "many", np.nan],
    "names": ["ab", ("a",), 3, (1, 2, 3, 4), {"a": 1}],
    "X": [["SE", None], ["nobody"], [np.nan], 3, {"a": 1}, "SE"],
    "Y": [["nothing"], 3],
    "marks": [3, ("a",), (["a"], ["nobody"]), (["a", "b"], ["SE"]), (3, ["SE"]), "ab"],
    "boundaries": [True, "x", [("a", "b")], 3],
    "confusing": [3, ["SE"]],
    "thumbnails": [True, [1]],
}


@pytest.mark.parametrize("argument", PLANE)
def test_planes_refuse(argument, ca):
    for value in PLANE[argument]:
        found = judged(
            lambda value=value: co.plot.plane(ca, **{argument: value}), argument, "axis", "label", "Confusing"
        )
        assert found is None, value
        plt.close("all")


def test_pictures_refuse(ca, numbers, classifier, timeline):
    calls = [(lambda v, p=p: p(v), NOT_FITTED) for p in (co.plot.plane, co.plot.scree, co.plot.contributions)]
    calls += [(lambda v: co.plot.scree(ca, n_components=v), COUNTS[:-1])]
    calls += [(lambda v: co.plot.scree(ca, ax=v), ["ax", 3])]
    calls += [(lambda v: co.plot.contributions(ca, v), [0, 99, -1, "1", None, 1.5, [1, 1], [], np.nan])]
    calls += [(lambda v: co.plot.contributions(ca, 1, v), ["left", None, 3, ["rows"]])]
    calls += [(lambda v: co.plot.contributions(ca, most=v), COUNTS[:-1])]
    calls += [(co.plot.contributions, [numbers[0]])]
    for picture in (co.plot.comparison, co.plot.dimension, co.plot.classifiers, co.plot.timeline):
        calls += [(picture, [None, 3, "x", [], {}, ca])]
    calls += [(lambda v: co.plot.classifiers(classifier[3], v), PLANE["axes"])]
    calls += [(lambda v: co.plot.classifiers(classifier[3], n=v), COUNTS[:-1])]
    calls += [(lambda v: co.plot.multiples(v, ["a"] * 5), NOT_FITTED)]
    calls += [(lambda v: co.plot.multiples(ca, v), PLANE["groups"])]
    for name in ("axes", "map", "ellipses"):
        calls += [(lambda v, n=name: co.plot.multiples(ca, list("aabbb"), **{n: v}), PLANE[name][:4:2])]
    calls += [(lambda v: co.plot.multiples(ca, list("aabbb"), max_panels=v), COUNTS[:-1])]
    calls += [(lambda v: co.plot.multiples(ca, list("aabbb"), figure=v), ["x", 3])]
    calls += [(co.plot.associations, [*NOT_FITTED, ca])]
    calls += [(lambda v: co.plot.timeline(timeline, figure=v), ["x", 3])]
    calls += [(lambda v: co.plot.timeline(timeline, n_components=v), COUNTS[:-1])]
    failed = {}
    for number, (call, values) in enumerate(calls):
        for value in values:
            try:
                assert judged(lambda call=call, value=value: call(value)) is None
            except AssertionError as error:
                failed[number, str(value)[:40]] = error
            plt.close("all")
    assert failed == {}


PAGE = {
    "names": ["ab", ("a",), 3, (1, 2, 3, 4)],
    "max_points": COUNTS[:-1],
    "held_out": [3, "x", {}],
    "recorder": [3, "x"],
    "marks": [3, ("a",), (["a"], ["nobody"]), (["a", "b"], ["SE"]), "ab"],
    "index": [3, "x", []],
    "x_labels": [["a"], 3, "SE"],
    "x_images": [["a"], 3, np.zeros((2, 2)), np.full((5, 4, 4), np.nan), ["a"] * 5],
    "classes": [["a"], 3, "SE"],
    "groups": [["a"], 3, "SE", np.eye(5), co.CA()],
    "about": [3],
    "X": [[], ["nobody"], 3],
    "path": [3, "none/p.html", ".", ""],
}


@pytest.mark.parametrize("argument", PAGE)
def test_pages_refuse(argument, ca, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed = {}
    for value in PAGE[argument]:
        options = {"path": "p.html"} | {argument: value}
        try:
            assert judged(lambda options=options: co.explore(ca, **options), argument, "label", "folder") is None
        except AssertionError as error:
            failed[str(value)[:40]] = error
    assert failed == {}
    assert list(tmp_path.iterdir()) == []
