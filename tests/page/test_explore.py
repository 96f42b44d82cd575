"""The page as a file: complete, one file, labels that stay text, the figures of the fit, clear errors."""

import os
import re
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pages import Elements, data_of
from PIL import Image
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, SGDClassifier

import correspondence as co
from correspondence.page import pairs_page
from correspondence.page.packing import lay_out_scree, make_sprites, shorten_mantissas
from correspondence.results.evidence import Component

HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "--><script>alert(1)</script>",
    "<svg/onload=alert(1)>",
    "]]><b>bold</b>",
    "{{ 7 * 7 }}",
    "&lt;kept&gt; \"quoted\" 'too'",
]


@pytest.fixture(scope="module")
def ca():
    return co.CA().fit(co.datasets.load_housetasks())


@pytest.fixture(scope="module")
def page(ca, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    return co.explore(ca, path=path, names=("task", "who"), title="Who does <what> & when?")


@pytest.fixture(scope="module")
def mixed(rng_module):
    """Pairs of a mixed frame and labels, and a fit to them."""
    n = 300
    frame = pd.DataFrame({"size": rng_module.normal(size=n), "colour": rng_module.choice(["red", "green"], n)})
    y = np.where(frame["size"] + rng_module.normal(size=n) > 0, "large", "small").astype(object)
    return frame, y, co.ACE(n_components=1).fit(frame, y)


@pytest.fixture(scope="module")
def rng_module():
    return np.random.default_rng(0)


def places(content, cloud):
    return content["arrays"][f"{cloud}.places"].reshape(content["clouds"][cloud]["n"], content["kept"])


# --- one file that needs nothing else


def test_the_page_points_to_nothing_outside(page):
    html = page.html
    attributes = ("src", "srcset", "href", "xlink:href", "action", "data", "poster")
    found = [attrs[name] for _, attrs in Elements(html).tags for name in attributes if name in attrs]
    found += re.findall(r"url\(([^)]*)\)", html)
    assert found, "nothing was looked at"
    assert [link for link in found if not link.startswith(("#", "data:"))] == []
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|WebSocket|sendBeacon|@import", html)
    assert not re.findall(r"https?://", html)


def test_no_other_script_may_run(page):
    policy = next(
        attrs["content"] for tag, attrs in Elements(page.html).tags if "content" in attrs and "http-equiv" in attrs
    )
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[\w+/]{43}='", policy)


def test_the_page_is_small(page):
    assert page.path.stat().st_size < 250_000


def test_the_same_analysis_gives_the_same_page(ca, page, tmp_path):
    again = co.explore(
        ca.decomposition_, path=tmp_path / "again.html", names=("task", "who"), title="Who does <what> & when?"
    )
    assert again.path.read_bytes() == page.path.read_bytes()


def test_the_path_comes_back(ca, tmp_path):
    assert co.explore(ca, path=str(tmp_path / "a.html")).path == tmp_path / "a.html"
    assert co.explore(ca, None, None, tmp_path / "b.html").path.is_file()


# --- what it says


def test_the_figures_stand_in_the_page_itself(page, ca):
    text = Elements(page.html).text
    for pic, correlation in zip(ca.pics_, ca.correlations_, strict=True):
        assert f"{pic:.4f}" in text
        assert f"{correlation:.4f}" in text
    assert re.search(r"pairs\s*1,744", text)
    assert "Axis 1 separates" in text
    assert "no single component was judged on held-out pairs" in text


def test_the_title_and_what_is_said_are_text(ca, tmp_path):
    html = co.explore(ca, path=tmp_path / "a.html", title="<b>&", about=["<i>one", "two"]).html
    assert '<h1 title="&lt;b&gt;&amp;">&lt;b&gt;&amp;</h1>' in html
    assert "<p>&lt;i&gt;one</p>" in html
    assert "<p>two</p>" in html


def test_the_script_gets_the_functions_at_all_labels(page, ca):
    content = data_of(page)
    assert content["clouds"][0]["labels"] == ca.rows_.labels.tolist()
    assert content["clouds"][1]["labels"] == ca.columns_.labels.tolist()
    np.testing.assert_allclose(places(content, 0), ca.rows_.standard, rtol=1e-4)
    np.testing.assert_allclose(places(content, 1), ca.columns_.standard, rtol=1e-4)
    np.testing.assert_allclose(content["arrays"]["1.prior"], ca.columns_.mass, rtol=1e-4)
    assert set(content["maps"]) == set(co.plot.MAPS)
    assert content["by"] == "posterior"


def test_pairs_of_labels_are_shown_once_each(rng, tmp_path):
    x, y = rng.choice(["a", "b", "c"], 200), rng.choice(["u", "v"], 200)
    content = data_of(co.explore(co.CA().fit(x, y), x, y, tmp_path / "p.html"))
    assert [cloud["labels"] for cloud in content["clouds"]] == [list(dict.fromkeys(x)), list(dict.fromkeys(y))]
    assert content["classes"] is None


def test_values_come_with_their_columns_and_labels_of_y_colour_them(mixed, tmp_path):
    frame, y, est = mixed
    content = data_of(co.explore(est, frame, y, tmp_path / "p.html"))
    np.testing.assert_allclose(places(content, 0), est.transform(frame), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(content["arrays"]["0.column.0"], frame["size"].astype(np.float32))
    names = content["clouds"][0]["columns"][1]["labels"]
    assert [names[code] for code in content["arrays"]["0.column.1"]] == frame["colour"].tolist()
    classes = content["classes"]["names"]
    assert [classes[code] for code in content["arrays"]["0.classes"]] == y.tolist()
    assert [classes[code] for code in content["arrays"]["1.classes"]] == content["clouds"][1]["labels"]
    assert "mass" not in {scaling for pair in content["maps"].values() for scaling in pair}


def test_texts_are_their_own_labels(tmp_path):
    texts = [f"{food} number {i}" for i in range(40) for food in ("red beef", "green rice")]
    labels = ["meat", "veg"] * 40
    est = co.ACE(n_components=1, x_regressor=LogisticRegression()).fit(texts, labels)
    content = data_of(co.explore(est, texts[:4], labels[:4], tmp_path / "p.html"))
    assert content["clouds"][0]["labels"] == texts[:4]
    assert not content["clouds"][0]["named"]


def test_the_sample_of_the_fit_stands_for_a_missing_y(rng, tmp_path):
    x = rng.normal(size=(60, 2))
    est = co.ACE(n_components=1).fit(x, x[:, 0] + rng.normal(size=60))
    content = data_of(co.explore(est, x, path=tmp_path / "p.html"))
    assert content["clouds"][1]["n"] == 60
    assert content["by"] == "gaussian"


def test_labels_classes_and_marks_are_the_users(rng, tmp_path):
    x = rng.normal(size=(40, 2))
    est = co.CCA(n_components=1).fit(x, x[:, :1] + rng.normal(size=(40, 1)))
    classes = np.where(x[:, 0] > 0, "hi", "lo")
    names = [chr(65 + i % 26) * (1 + i // 26) for i in range(40)]
    path = co.explore(
        est, x, x[:, :1], tmp_path / "p.html", x_labels=names, classes=classes, marks=(["origin"], [[0, 0]]),
        names=("inputs", "outputs", "places"),
    )  # fmt: skip
    content = data_of(path)
    assert content["clouds"][0]["labels"] == names
    assert content["clouds"][0]["named"]
    assert [content["classes"]["names"][code] for code in content["arrays"]["0.classes"]] == classes.tolist()
    assert content["clouds"][2]["labels"] == ["origin"]
    np.testing.assert_allclose(places(content, 2), est.transform([[0, 0]]), rtol=1e-3)
    assert [cloud["name"] for cloud in content["clouds"]] == ["inputs", "outputs", "places"]


@pytest.mark.parametrize(
    "labels", [["a name"] * 301, [f"row {i}" for i in range(50)], ["a long caption of a photograph " * 2] * 50]
)
def test_many_or_long_labels_are_not_written_in_the_plane(labels, rng, tmp_path):
    x = rng.normal(size=(len(labels), 2))
    est = co.CCA(n_components=1).fit(x, x + rng.normal(size=x.shape))
    cloud = data_of(co.explore(est, x, x[:5], tmp_path / "p.html", x_labels=labels))["clouds"][0]
    assert cloud["labels"] == labels
    assert not cloud["named"]


def test_numbers_colour_their_pairs_in_ranges(rng, tmp_path):
    x = rng.normal(size=(90, 2))
    y = x[:, 0] + rng.normal(size=90)
    est = co.ACE(n_components=1).fit(x, y)
    content = data_of(co.explore(est, x, y, tmp_path / "p.html"))
    codes, names = content["arrays"]["0.classes"], content["classes"]["names"]
    assert len(names) == len(content["classes"]["colours"]) == 7
    for code, name in enumerate(names):
        low, high = map(float, name.split(" to "))
        assert ((y[codes == code] >= low - 0.02) & (y[codes == code] <= high + 0.02)).all()
        assert (codes == code).sum() >= 90 // 7 - 1
    few = data_of(co.explore(est, x, y, tmp_path / "q.html", classes=np.arange(90) % 3))
    assert few["classes"]["names"] == ["0", "1", "2"]


def test_missing_classes_have_no_colour(rng):
    x = rng.normal(size=(60, 2))
    est = co.CCA(n_components=1).fit(x, x + rng.normal(size=x.shape))
    for classes in (np.where(np.arange(60) % 3, 1.0, np.nan), [None, "a", "b"] * 20, [np.inf, *range(59)]):
        content = data_of(co.explore(est, x, x[:5], classes=classes))
        missing = [c is None or not np.isfinite(c) if not isinstance(c, str) else False for c in classes]
        assert ((content["arrays"]["0.classes"] < 0) == missing).all()
        assert not {"nan", "None", "inf"} & set(content["classes"]["names"])


def test_too_many_classes(rng, tmp_path):
    x = rng.normal(size=(600, 2))
    est = co.CCA(n_components=1).fit(x, x + rng.normal(size=x.shape))
    with pytest.raises(ValueError, match=r"classes must .*600"):
        co.explore(est, x, x[:5], tmp_path / "p.html", classes=[f"c{i}" for i in range(600)])


def test_names_of_ranges_tell_them_apart(rng, tmp_path):
    x = rng.normal(size=(70, 2))
    est = co.CCA(n_components=1).fit(x, x + rng.normal(size=x.shape))
    years = data_of(co.explore(est, x, x[:5], tmp_path / "p.html", classes=np.arange(1950, 2020)))["classes"]["names"]
    assert years[0].startswith("1950 to 19")
    large = data_of(co.explore(est, x, x[:5], tmp_path / "q.html", classes=10**6 + np.arange(70)))["classes"]["names"]
    assert len(set(large)) == 7


def test_whole_numbers_and_huge_ones_keep_their_digits(rng, tmp_path):
    frame = pd.DataFrame({"id": 123456700 + np.arange(50), "huge": 1e300 * rng.random(50), "x": rng.normal(size=50)})
    y = frame["x"] + rng.normal(size=50)
    est = co.CCA(n_components=1).fit(frame[["x"]], y)
    content = data_of(co.explore(est, frame, y, tmp_path / "p.html"))
    assert content["arrays"]["0.column.0"].tolist() == frame["id"].tolist()
    np.testing.assert_allclose(content["arrays"]["0.column.1"], frame["huge"])


def test_own_labels_of_a_table_keep_its_masses(ca, tmp_path):
    names = [f"task {i}" for i in range(13)]
    content = data_of(co.explore(ca, path=tmp_path / "p.html", x_labels=names))
    assert content["clouds"][0]["labels"] == names
    np.testing.assert_allclose(content["arrays"]["0.prior"], ca.rows_.mass, rtol=1e-4)


def test_one_sentence_is_one_paragraph_and_intervals_have_their_level(rng, tmp_path):
    x = rng.normal(size=(200, 2))
    est = co.CCA(n_components=1).fit(x, x + rng.normal(size=x.shape))
    held = co.latent_dimension(co.CCA(n_components=1), x, x + rng.normal(size=x.shape), alpha=0.2)
    html = co.explore(est, x, x, tmp_path / "p.html", about="Hello", held_out=held).html
    assert "<p>Hello</p>" in html
    assert "with 80 % interval" in html


def test_an_index_replaces_y(ca, rng, tmp_path):
    X = rng.normal(size=(80, 2))
    texts = ["wet cold" if a > 0 else "dry" for a in X[:, 0]]
    est = co.ACE(n_components=1).fit(X, X[:, :1] + 0.1 * rng.normal(size=(80, 1)))
    has_tag = np.array([["wet" in text, "dry" in text] for text in texts], dtype=float)
    index = co.CrossModalIndex.of_tags(est, ["wet", "dry"], X[:, :1], has_tag)
    content = data_of(co.explore(est, X, X[:, :1], tmp_path / "p.html", index=index))
    assert content["clouds"][1]["labels"] == ["wet", "dry"]


def test_an_index_brings_its_tags_and_its_ranking(ca, tmp_path):
    index = co.CrossModalIndex(ca, ["he", "she"], ["Husband", "Wife"], by="distance", scaled=True)
    content = data_of(co.explore(ca, path=tmp_path / "p.html", index=index))
    assert content["clouds"][1]["labels"] == ["he", "she"]
    assert (content["by"], content["scaled"]) == ("distance", True)
    np.testing.assert_allclose(places(content, 1), index.g, rtol=1e-4)


def test_too_many_points_are_sampled_and_labels_chosen_by_inertia(rng, tmp_path):
    x = rng.normal(size=(500, 2))
    est = co.CCA(n_components=1).fit(x, x[:, :1] + rng.normal(size=(500, 1)))
    path = co.explore(est, x, x[:20, :1], tmp_path / "p.html", max_points=100)
    rows = data_of(path)["arrays"]["0.rows"]
    assert len(set(rows.tolist())) == 100
    np.testing.assert_allclose(places(data_of(path), 0), est.transform(x[rows]), rtol=1e-3, atol=1e-4)
    assert "100 of 500" in Elements(path.html).text
    table = co.CA(n_components=2).fit(rng.integers(1, 50, size=(60, 4)))
    content = data_of(co.explore(table, path=tmp_path / "q.html", max_points=10))
    most = np.argsort(-(table.rows_.mass * (table.rows_.standard**2).sum(axis=1)))[:10]
    assert content["clouds"][0]["labels"] == [str(i) for i in sorted(most)]


def test_empty_rows_have_no_place(tmp_path):
    with pytest.warns(co.LeftOut, match="zero"):
        ca = co.CA().fit([[9, 2, 3], [0, 0, 0], [2, 8, 4], [1, 5, 9]])
    assert data_of(co.explore(ca, path=tmp_path / "p.html"))["clouds"][0]["labels"] == ["0", "2", "3"]


def test_no_components(tmp_path):
    ca = co.CA(n_components=0).fit(co.datasets.load_smoke())
    text = Elements(co.explore(ca, path=tmp_path / "page.html").html).text
    assert "There are no components" in text


def test_labels_in_any_script(tmp_path):
    labels = np.array(["日本", "😀", "Ελλάδα", "half \ud800"], object)
    counts = np.array([[3, 9, 4], [8, 1, 2], [5, 5, 9], [1, 2, 7]])
    ca = co.CA().fit(co.Table(counts, labels, np.array(["x", "y", "z"], object)))
    content = data_of(co.explore(ca, path=tmp_path / "page.html"))
    assert content["clouds"][0]["labels"] == ["日本", "😀", "Ελλάδα", "half ?"]


def test_hostile_labels_are_text_in_the_file(tmp_path):
    counts = np.random.default_rng(0).integers(1, 30, size=(len(HOSTILE), 4))
    ca = co.CA().fit(co.Table(counts, np.array(HOSTILE, object), np.array(["a", "b", "c", HOSTILE[0]], object)))
    path = co.explore(ca, path=tmp_path / "page.html", title=HOSTILE[0], names=(HOSTILE[1], HOSTILE[2]))
    elements = Elements(path.html)
    assert {tag for tag, _ in elements.tags}.isdisjoint({"img", "b", "iframe", "object", "image"})
    assert [tag for tag, _ in elements.tags].count("script") == 2
    assert not [name for _, attrs in elements.tags for name in attrs if name.startswith("on")]
    assert data_of(path)["clouds"][0]["labels"] == HOSTILE


# --- what is known of pairs not seen


def test_what_an_estimator_held_out_itself_is_shown(tmp_path):
    X, y = load_iris(return_X_y=True)
    cca = co.ClassifierCA(LogisticRegression(max_iter=1000).fit(X[::2], y[::2])).fit(X[1::2], y[1::2])
    axes = data_of(co.explore(cca, X[1::2], path=tmp_path / "p.html"))["axes"]
    assert [axis["held_out"] for axis in axes] == cca.held_out_.correlations.tolist()


@given(arrays.arrays(float, st.integers(1, 30), elements=st.floats(-1, 1)))
def test_the_drawing_keeps_the_order_of_correlations(values):
    rows = [Component(i, v**2, abs(v), v) for i, v in enumerate(values)]
    drawn = lay_out_scree(rows)
    assert len(drawn["bars"]) == min(20, len(values))
    for row, bar in zip(rows, drawn["bars"], strict=False):
        assert 0 <= bar["training"] <= drawn["zero"] <= drawn["base"]
        assert (bar["held_out"] > drawn["zero"]) == (round(row.held_out, 2) < 0) or abs(row.held_out) < 0.02
        assert bar["held_out"] <= drawn["base"] + 0.1


# --- classifiers


@pytest.fixture(scope="module")
def trained():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"], object)[y]
    model = SGDClassifier(loss="log_loss", alpha=0.01, random_state=0)
    recorder = co.TrainingRecorder(model, X[1::2], names[1::2], every=5)
    recorder.partial_fit(X[::2], names[::2], batch_size=5, epochs=4)
    return co.ClassifierCA(model).fit(X[1::2]), recorder, X[1::2], names[1::2]


def test_a_classifier_comes_with_boundaries_and_close_calls(trained, tmp_path):
    cca, _, X, _ = trained
    content = data_of(co.explore(cca, X, path=tmp_path / "p.html"))
    assert len(content["boundaries"]) == 3
    lines = content["arrays"]["boundaries"].reshape(3, content["boundary_points"], content["kept"])
    for pair, line in zip(content["boundaries"], lines, strict=True):
        np.testing.assert_allclose(line, cca.boundary(*pair, content["boundary_points"]), rtol=1e-3, atol=1e-4)
    found = cca.confusing(X, 12)
    assert [row[0] for row in content["confusing"]] == found.index.tolist()
    assert [row[3] for row in content["confusing"]] == pytest.approx(found.margin, abs=1e-4)
    predicted = [content["classes"]["names"][code] for code in content["arrays"]["0.classes"]]
    assert predicted == cca.predict(X).tolist()
    assert data_of(co.explore(cca, X, path=tmp_path / "q.html", boundaries=False)).get("boundaries") is None
    only = data_of(co.explore(cca, X, path=tmp_path / "r.html", boundaries=[("setosa", "virginica")]))
    assert only["boundaries"] == [["setosa", "virginica"]]


def test_a_training_comes_with_its_frames(trained, tmp_path):
    cca, recorder, X, y = trained
    content = data_of(co.explore(cca, X, path=tmp_path / "p.html", recorder=recorder, classes=y))
    frames = content["frames"]
    assert frames["steps"] == recorder.steps.tolist()
    assert frames["accuracy"] == pytest.approx(recorder.accuracy, abs=1e-4)
    x = content["arrays"]["frames.x"].reshape(len(frames["steps"]), len(X), frames["axes"])
    for t in (0, -1):
        np.testing.assert_allclose(x[t], recorder.coordinates(t)[0][:, : frames["axes"]], rtol=2e-3, atol=1e-3)
    last = places(content, 0) * cca.correlations_
    np.testing.assert_allclose(np.abs(x[-1]), np.abs(last), rtol=0.02, atol=0.02)


# --- pictures


@pytest.mark.parametrize(
    ("shape", "kind"),
    [((5, 8, 8), "png"), ((5, 8, 8, 3), "png"), ((5, 3, 30, 20), "jpeg"), ((5, 1, 60, 100), "png")],
)
def test_thumbnails_can_be_cut_from_their_sheets(rng, shape, kind):
    images = rng.integers(0, 256, shape).astype(np.uint8)
    made = make_sprites(images, np.array([3, 1]))
    assert made.kind == kind
    assert max(made.width, made.height) <= 48
    sheet = Image.open(BytesIO(made.sheets[0]))
    assert sheet.size == (2 * made.width, made.height)
    if shape == (5, 8, 8):
        np.testing.assert_array_equal(np.asarray(sheet)[:, :8], images[3])
        np.testing.assert_array_equal(np.asarray(sheet)[:, 8:], images[1])


def test_many_thumbnails_take_several_sheets():
    made = make_sprites(np.zeros((1800, 48, 48), np.uint8), np.arange(1800))
    assert (made.per_row, made.per_sheet, len(made.sheets)) == (42, 42 * 42, 2)


def test_images_are_their_own_thumbnails(rng, tmp_path):
    images = rng.random((30, 6, 6))
    labels = np.where(images.mean(axis=(1, 2)) > 0.5, "light", "dark")
    est = co.ACE(n_components=1, x_regressor=LogisticRegression()).fit(images.reshape(30, -1), labels)
    path = co.explore(est, images.reshape(30, -1), labels, tmp_path / "p.html", x_images=images)
    content = data_of(path)
    assert content["clouds"][0]["sprites"]["sheets"] == 1
    assert content["arrays"]["0.image"].tolist() == list(range(30))


def test_classes_are_the_words_of_images(rng, tmp_path):
    z = rng.integers(3, size=200)
    x, y = (np.eye(3)[z] @ rng.normal(size=(3, 64)) + 0.3 * rng.normal(size=(200, 64)) for _ in range(2))
    est = co.CCA(n_components=2).fit(x, y)
    kind = np.array(["cat", "dog", "owl"], object)[z]
    text = Elements(co.explore(est, x, y, tmp_path / "p.html", classes=kind).html).text
    mean = {name: est.transform(x)[kind == name, 0].mean() for name in ("cat", "dog", "owl")}
    low, high = min(mean, key=mean.get), max(mean, key=mean.get)
    assert re.search(rf"Axis 1 separates .*{low}.* from .*{high}", text)
    nothing = Elements(co.explore(est, x, y, tmp_path / "q.html").html).text
    assert "no words" not in nothing


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.zeros((13, 0, 0)), "x_images must .*pixels"),
        (np.full((13, 4, 4), np.nan), "x_images must .*finite"),
        (np.zeros((13, 4, 4), complex), "x_images must .*finite"),
        ([np.zeros((4, 4))] * 12 + [np.zeros((5, 4))], "x_images must .*one size"),
        (np.zeros((13, 5, 4, 7)), "x_images must .*shape"),
    ],
)
def test_images_that_are_none(ca, images, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        co.explore(ca, path=tmp_path / "p.html", x_images=images)


# --- packing


@given(arrays.arrays(np.float32, 20, elements=st.floats(-(2.0**99), 2.0**99, width=32)))
def test_short_mantissas_keep_four_digits(values):
    np.testing.assert_allclose(shorten_mantissas(values), values, rtol=1e-4, atol=1e-37)


# --- errors, and files that are left alone


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"X": "page.html"}, TypeError, "X must .*path="),
        ({"names": "ab"}, ValueError, "names must"),
        ({"max_points": 0}, ValueError, "max_points must"),
        ({"marks": 3}, ValueError, "marks must"),
        ({"marks": (["a"], ["Laundry", "Dinner"])}, ValueError, "marks has 1 labels for 2"),
        ({"index": 3}, TypeError, "index must"),
        ({"classes": [1, 2]}, ValueError, "classes must .*13"),
        ({"x_images": np.zeros((2, 4, 4))}, ValueError, "x_images must .*13 .*got 2"),
        ({"x_labels": ["a"]}, ValueError, "x_labels must .*13 .*got 1"),
        ({"X": ["nothing", "known"]}, ValueError, "X must have a value"),
        ({"boundaries": [("a", "b")]}, TypeError, "boundaries need"),
        ({"names": 5}, ValueError, "names must"),
        ({"held_out": 3}, TypeError, "held_out must"),
        ({"recorder": 3}, TypeError, "recorder must .*int"),
        ({"classes": ["a"] * 12}, ValueError, "classes must .*13"),
    ],
)
def test_wrong_arguments_are_named_and_leave_no_file(ca, tmp_path, arguments, error, message):
    with pytest.raises(error, match=message):
        co.explore(ca, path=tmp_path / "page.html", **arguments)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("what", [co.CA(), None, "page"])
def test_what_cannot_be_explored(what, tmp_path):
    with pytest.raises(TypeError, match="fitted estimator"):
        co.explore(what, path=tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def test_functions_of_values_need_them(tmp_path, rng):
    X = rng.normal(size=(50, 2))
    with pytest.raises(TypeError, match="X is needed"):
        co.explore(co.CCA(n_components=1).fit(X, X), path=tmp_path / "page.html")


def test_probes_of_another_training(trained, tmp_path):
    cca, recorder, X, _ = trained
    with pytest.raises(ValueError, match=r"X must .*75 probes .*got 10"):
        co.explore(cca, X[:10], path=tmp_path / "p.html", recorder=recorder)


def test_a_failure_of_writing_keeps_the_old_file(ca, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def fail(self, data):
        with self.open("wb") as file:
            file.write(data[:9])
        raise OSError("disk full")

    page = co.explore(ca)
    monkeypatch.setattr("pathlib.Path.write_bytes", fail)
    with pytest.raises(OSError, match="disk full"):
        page.save(path, overwrite=True)
    assert page.path is None
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("page.html", b"old")]


def test_an_existing_file_is_replaced_only_if_asked_for_and_a_missing_folder_named(ca, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")
    page = co.explore(ca)
    with monkeypatch.context() as patched:
        patched.setattr("correspondence.page.pairs_page.make_scene", None)  # the work is not begun
        for write in (page.save, lambda path: co.explore(ca, path=path)):
            with pytest.raises(FileExistsError, match=r"page.html.*overwrite=True"):
                write(path)
    assert path.read_text() == "old"
    assert co.explore(ca, path=path, overwrite=True).path == path
    assert path.read_text(encoding="utf-8") == page.html
    with pytest.raises(FileNotFoundError, match="no folder"):
        co.explore(ca, path=tmp_path / "missing" / "page.html")
    for write in (page.save, lambda path, overwrite: co.explore(ca, path=path, overwrite=overwrite)):
        with pytest.raises(ValueError, match="overwrite must be True or False"):
            write(path, "no")
    link = tmp_path / "link.html"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError, match="overwrite"):
        page.save(link)


def test_a_file_that_appears_during_the_work_is_kept(ca, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    render = pairs_page.render_page

    def render_slowly(**content):
        path.write_text("of another program")
        return render(**content)

    monkeypatch.setattr(pairs_page, "render_page", render_slowly)
    with pytest.raises(FileExistsError, match="overwrite"):
        co.explore(ca, path=path)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["of another program"]


def test_a_page_without_a_path_writes_nothing(ca, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = co.explore(ca)
    assert list(tmp_path.iterdir()) == []
    assert page.path is None
    assert re.fullmatch(r"ExplorerPage\(0\.\d MB\)", repr(page))
    with pytest.raises(TypeError, match="save"):
        os.fspath(page)
    assert page.save("p.html") == page.path == Path(page)
    assert repr(page) == "ExplorerPage(0.2 MB, p.html)"


def test_a_notebook_shows_the_page_in_a_frame_that_reaches_nothing(ca):
    page = co.explore(ca, title=HOSTILE[0], names=(HOSTILE[1], "\ud800 " + HOSTILE[5]))
    ((tag, attributes),) = Elements(page._repr_html_()).tags
    assert tag == "iframe"
    assert attributes["srcdoc"] == page.html
    assert "allow-scripts" in attributes["sandbox"].split()
    assert not {"allow-same-origin", "allow-top-navigation"} & set(attributes["sandbox"].split())


def test_axes_that_do_not_hold_are_not_put_into_words(tmp_path, rng):
    x, y = rng.choice(list("abc"), 200), rng.choice(list("uvw"), 200)
    found = co.latent_dimension(co.CA(), x, y, progress=False)
    assert not found.n_components
    page = co.explore(co.CA().fit(x, y), path=tmp_path / "page.html", held_out=found).html
    assert "none is put into words" in page
    assert "Axis 1 separates" not in page
