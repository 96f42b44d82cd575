"""What a hostile tester tried on the page: odd inputs, and numbers that no other test compares."""

import csv
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from browser import opened
from pages import Elements, data_of
from PIL import Image
from sklearn.linear_model import SGDClassifier

import correspondence as co
from correspondence.page.clouds import Cloud, list_class_items
from correspondence.page.packing import make_sprites
from correspondence.scene.points import ScenePoints

ODD = ["__proto__", "constructor", "", " ", "A", "a", "\u202eevil", "a\0b", "\n", "é", "e\u0301"]


@pytest.fixture(scope="module")
def pairs():
    """Pairs of numbers, and a fit to them."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 3))
    y = x[:, :2] + rng.normal(size=(120, 2))
    return x, y, co.CCA(n_components=2).fit(x, y)


@pytest.fixture(scope="module")
def trained():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 4))
    y = np.array(["u", "v", "w"], object)[(x @ rng.normal(size=(4, 3))).argmax(axis=1)]
    model = SGDClassifier(loss="log_loss", alpha=0.01, random_state=0)
    recorder = co.TrainingRecorder(model, x, y, every=5)
    recorder.partial_fit(x, y, batch_size=10, epochs=3)
    return co.ClassifierCA(model).fit(x), recorder, x


# --- odd labels


def test_odd_labels_are_kept_apart(tmp_path):
    counts = np.random.default_rng(0).integers(1, 30, size=(len(ODD), 4))
    ca = co.CA().fit(co.Table(counts, np.array(ODD, object), np.array(["w", "x", "y", "z"], object)))
    assert data_of(co.explore(ca, path=tmp_path / "p.html"))["clouds"][0]["labels"] == ODD


def test_long_labels_are_cut(tmp_path):
    labels = np.array(["x" * 10_000, "y" * 300, "z"], object)
    ca = co.CA().fit(co.Table([[3, 9, 4], [8, 1, 2], [5, 5, 9]], labels, np.array(["a", "b", "c"], object)))
    assert data_of(co.explore(ca, path=tmp_path / "p.html"))["clouds"][0]["labels"] == [
        "x" * 299 + "…",
        "y" * 300,
        "z",
    ]


@pytest.mark.parametrize("values", [[1, 2, 3], [True, False], [1.5, 2.5], [pd.Timestamp("2020-01-01"), pd.NaT]])
def test_labels_of_any_type(values, tmp_path):
    rng = np.random.default_rng(0)
    x = np.array(values, object)[np.arange(200) % len(values)]
    y = np.where(rng.random(200) < 0.5, np.arange(200) % len(values), rng.integers(3, size=200)).astype(str)
    content = data_of(co.explore(co.CA().fit(x, y), x, y, tmp_path / "p.html"))
    expected = ["(missing)" if pd.isna(value) else str(value) for value in values]
    assert sorted(content["clouds"][0]["labels"]) == sorted(expected)


# --- of many points, what is told of each is its own


def test_what_is_told_of_sampled_points_is_theirs(pairs, tmp_path):
    x, y, est = pairs
    images = np.repeat(np.arange(120, dtype=np.uint8), 4).reshape(120, 2, 2)
    content = data_of(co.explore(est, x, y, tmp_path / "p.html", x_images=images, max_points=30))
    rows = content["arrays"]["0.rows"]
    assert (rows != np.arange(30)).any()
    np.testing.assert_allclose(content["arrays"]["0.column.0"], x[rows, 0].astype(np.float32))
    sheet = np.asarray(_sheet(content))
    np.testing.assert_array_equal(sheet[0, ::2], rows[: sheet.shape[1] // 2])


def _sheet(content):
    return Image.open(BytesIO(content["arrays"]["0.sheet.0"].tobytes()))


def test_close_calls_and_frames_of_sampled_inputs(trained, tmp_path):
    cca, recorder, x = trained
    content = data_of(co.explore(cca, x, path=tmp_path / "p.html", recorder=recorder, max_points=40))
    rows, margins = content["arrays"]["0.rows"], np.sort(cca.beliefs(x), axis=1)
    assert content["confusing"], "nothing was looked at"
    for position, _, _, margin in content["confusing"]:
        assert margin == pytest.approx(margins[rows[position], -1] - margins[rows[position], -2], abs=1e-3)
    frames = content["frames"]
    places = content["arrays"]["frames.x"].reshape(len(frames["steps"]), 40, frames["axes"])
    np.testing.assert_allclose(places[0], recorder.coordinates(0)[0][rows, : frames["axes"]], rtol=2e-3, atol=1e-3)


def test_of_wide_tables_no_columns_are_told():
    rng = np.random.default_rng(0)
    for width, told in ((30, 30), (31, 0)):
        x = rng.normal(size=(80, width))
        est = co.CCA(n_components=1).fit(x, x[:, :1] + rng.normal(size=(80, 1)))
        assert len(data_of(co.explore(est, x, x[:, :1]))["clouds"][0]["columns"]) == told


# --- classes


def test_a_number_on_an_edge_is_in_the_upper_range(pairs, tmp_path):
    x, y, est = pairs
    numbers = np.repeat(np.arange(40.0), 3)
    content = data_of(co.explore(est, x, y, tmp_path / "p.html", classes=numbers))
    codes = content["arrays"]["0.classes"]
    lower = [float(name.split(" to ")[0]) for name in content["classes"]["names"]]
    for code in range(1, len(lower)):
        assert numbers[codes == code].min() >= lower[code] - 0.05
        assert numbers[codes == code - 1].max() < lower[code]
    assert codes[numbers == 39].tolist() == [len(lower) - 1] * 3


def test_classes_as_words_weigh_as_much_as_they_are_many():
    places = np.array([[-1.0], [-1.0], [-1.0], [3.0]])
    points = ScenePoints(places, None, None, np.arange(4), 4, 4)
    cloud = Cloud("x", "x", points, None, False, classes=np.array([0] * 3 + [2]))
    names, means, shares = list_class_items(cloud, ["often", "never", "once"])
    assert names == ["often", "once"]
    np.testing.assert_allclose(means, [[-1], [3]])
    np.testing.assert_allclose(shares, [0.75, 0.25])


# --- evidence


def test_the_band_of_chance_and_what_was_captured(pairs, tmp_path):
    x, y, est = pairs
    test = co.permutation_test(co.CCA(n_components=2), x, y, 99, refit=False)
    axes = data_of(co.explore(est, x, y, tmp_path / "p.html", held_out=test))["axes"]
    assert axes[0]["chance_low"] == pytest.approx(-np.quantile(test.null[:, 0], 0.95))
    held = co.HeldOut(np.array([0.6, 0.5]), np.array([[0.5, 0.7], [0.4, 0.6]]), 0.25, np.array([0.1, 0.3]), 100, 0.95)
    text = Elements(co.explore(est, x, y, tmp_path / "q.html", held_out=held).html).text
    assert "captured of pairs held out0.25" in text


# --- pictures


@pytest.mark.parametrize(
    "images",
    [
        np.linspace(0, 1, 12).reshape(3, 2, 2),
        np.linspace(0, 65535, 12).astype(np.uint16).reshape(3, 2, 2),
        np.array([0, 1] * 6, bool).reshape(3, 2, 2),
        np.linspace(-4, 4, 12).reshape(3, 2, 2),
    ],
    ids=["float", "uint16", "bool", "signed"],
)
def test_pictures_of_any_type_reach_from_black_to_white(images):
    sheet = np.asarray(Image.open(BytesIO(make_sprites(images, np.arange(3)).sheets[0])))
    assert (sheet.min(), sheet.max()) == (0, 255)


@pytest.mark.parametrize("shape", [(3, 1, 1), (3, 2, 2, 4), (3, 4, 40, 40), (3, 1, 5000)])
def test_pictures_of_odd_shapes(shape):
    made = make_sprites(np.zeros(shape), np.arange(3))
    assert 1 <= min(made.width, made.height) <= max(made.width, made.height) <= 48


# --- wrong inputs


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.full((5, 3), np.inf)}, "infinity"),
        ({"X": np.zeros((0, 3))}, "empty|0 sample"),
        ({"X": np.zeros((5, 2))}, "features"),
        ({"x_labels": "abc"}, "x_labels must"),
        ({"x_labels": [None] * 120}, "x_labels has .*missing"),
        ({"classes": "abc"}, "classes must"),
        ({"max_points": 2.5}, "max_points must"),
    ],
)
def test_wrong_values_are_told_in_a_sentence(pairs, tmp_path, change, message):
    x, y, est = pairs
    with pytest.raises(ValueError, match=message):
        co.explore(est, **({"X": x, "Y": y} | change), path=tmp_path / "p.html")
    assert not list(tmp_path.iterdir())


def test_a_loaded_decomposition(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 2))
    y = np.where(x[:, 0] + 0.3 * rng.normal(size=90) > 0, "p", "q")
    est = co.ACE(n_components=1).fit(x, y)
    est.decomposition_.save(tmp_path / "d.safetensors")
    loaded = co.load(tmp_path / "d.safetensors")
    with pytest.raises(TypeError, match="X is needed"):
        co.explore(loaded, path=tmp_path / "p.html")
    content = data_of(co.explore(loaded, x, path=tmp_path / "p.html"))
    assert sorted(content["clouds"][1]["labels"]) == ["p", "q"]


# --- mended


def test_many_numbered_classes_of_a_classifier_are_classes_and_no_ranges(tmp_path):
    beliefs = np.random.default_rng(0).dirichlet(np.full(40, 0.05), size=400)
    content = data_of(co.explore(co.ClassifierCA.from_beliefs(beliefs), beliefs, path=tmp_path / "p.html"))
    names = content["classes"]["names"]
    assert sorted(names, key=int) == [str(i) for i in range(40)]
    assert [names[code] for code in content["arrays"]["0.classes"]] == beliefs.argmax(axis=1).astype(str).tolist()
    assert [names[code] for code in content["arrays"]["1.classes"]] == content["clouds"][1]["labels"]


# --- in the browser: numbers that no other test compares

WIDE = {"viewport": {"width": 1300, "height": 900}}


@pytest.fixture(scope="module")
def shown(trained, tmp_path_factory):
    """A page with everything on it: sampled inputs with pictures and columns, frames, marks."""
    cca, recorder, x = trained
    images = np.repeat(np.arange(90, dtype=np.uint8), 4).reshape(90, 2, 2)
    path = tmp_path_factory.mktemp("shown") / "page.html"
    mean = x.mean(axis=0, keepdims=True)
    return co.explore(
        cca, x, path=path, recorder=recorder, x_images=images, marks=(["middle"], mean), max_points=60
    )  # fmt: skip


@pytest.mark.slow
def test_what_the_script_tells_is_what_the_fit_says(shown, trained):
    cca, recorder, x = trained
    rows = data_of(shown)["arrays"]["0.rows"]
    with opened(shown, **WIDE) as seen:
        page = seen.page
        page.wait_for_selector("html[data-ready=yes]")
        table = page.evaluate("explorer.model.csv([7, explorer.model.role('mark').start])")
        values = page.evaluate("explorer.model.values(explorer.model.clouds[0], 7).map(pair => Number(pair[1]))")
        frames = page.evaluate(
            "[1, 2].map(t => [0, explorer.model.size - 1].map(i => "
            "Array.from(explorer.model.framePositions(t, 1, 0).slice(2 * i, 2 * i + 2))))"
        )
        line = page.evaluate("[0, 5].map(p => [0, 1].map(a => explorer.model.boundary(1, p, a, 'rowprincipal')))")
        pair = page.evaluate("explorer.model.data.boundaries[1]")
        found = page.evaluate(
            "explorer.choose(explorer.model.role('y').start), "
            "[...document.querySelectorAll('#matches h3')].map(h => h.innerText)"
        )
        labels = page.evaluate("explorer.model.role('y').labels")
        ends = page.evaluate(
            "[-1, 1].map(sign => document.querySelector(`.strip[data-axis='0'][data-sign='${sign}'] button`).ariaLabel)"
        )
        inside = page.evaluate("explorer.model.search('ddl', 3).map(i => explorer.model.label(i))")
        grey = page.evaluate("explorer.thumbnail(7, 96).getContext('2d').getImageData(96, 96, 1, 1).data[0]")
        made_up = page.locator("#contributions tbody tr").first.locator("td").all_inner_texts()
    head, first, mark = csv.reader(table.splitlines())
    assert [first[0], first[1], first[2]] == ["inputs", str(rows[7]), f"inputs {rows[7]}"]
    assert first[3] == cca.predict(x[rows[7]][None])[0]
    assert mark[2] == "middle"
    np.testing.assert_allclose([float(v) for v in first[4:6]], cca.transform(x[rows[7]][None])[0], rtol=1e-3)
    assert head[6:] == [f"column {i}" for i in range(4)]
    np.testing.assert_allclose([float(v) for v in first[6:]], x[rows[7]], rtol=1e-4)
    np.testing.assert_allclose(values, x[rows[7]], rtol=1e-3)
    for t, (input_, class_) in zip((1, 2), frames, strict=True):
        inputs, classes = recorder.coordinates(t)
        np.testing.assert_allclose(input_, inputs[rows[0], [1, 0]], rtol=5e-3, atol=1e-3)
        np.testing.assert_allclose(class_, classes[recorder.classes.tolist().index(labels[-1]), [1, 0]], rtol=5e-3)
    expected = cca.boundary(*pair, 30)[[0, 5]] * cca.correlations_
    np.testing.assert_allclose(line, expected, rtol=1e-3, atol=1e-4)
    assert [text.removeprefix("Belongs here: ") for text in found] == ["marked", "inputs"]
    order = np.argsort(cca.transform(x[rows])[:, 0])
    assert ends == [f"inputs {rows[order[0]]}", f"inputs {rows[order[-1]]}"]
    assert inside == ["middle"]
    assert grey == rows[7], "its own picture"
    k = cca.classes_.tolist().index(made_up[0])
    f = cca.decomposition_.g(cca.classes_)[k, 0]
    assert float(made_up[1]) == pytest.approx(100 * cca.prior_[k], rel=0.01)
    assert float(made_up[2]) == pytest.approx(f, abs=0.01)
    assert float(made_up[3]) == pytest.approx(100 * cca.prior_[k] * f**2, abs=0.1)


@pytest.mark.slow
def test_a_mark_has_no_place_during_the_training_and_leaves_the_view_alone(shown):
    with opened(shown, **WIDE) as seen:
        page = seen.page
        page.wait_for_selector("html[data-ready=yes]")
        page.locator("#frame").press("Home")
        page.fill("#search", "middle")
        page.press("#search", "Enter")
        view = page.evaluate("({ ...explorer.plane.view })")
    assert np.isfinite(list(view.values())).all()


@pytest.mark.slow
def test_whole_numbers_are_exported_with_all_their_digits(pairs, tmp_path):
    x, y, est = pairs
    frame = pd.DataFrame(x, columns=["a", "b", "c"]).assign(number=1_234_567 + np.arange(120))
    est = co.CCA(n_components=2).fit(frame, y)
    path = co.explore(est, frame, y, tmp_path / "p.html")
    with opened(path, **WIDE) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        table = seen.page.evaluate("explorer.model.csv([7])")
    rows = list(csv.DictReader(table.splitlines()))
    assert rows[0]["number"] == "1234574"


@pytest.mark.slow
def test_all_maps_weights_and_hidden_points(tmp_path):
    ca = co.CA().fit(co.datasets.load_housetasks())
    path = co.explore(ca, path=tmp_path / "p.html", names=("task", "who"))
    with opened(path, **WIDE) as seen:
        page = seen.page
        page.wait_for_selector("html[data-ready=yes]")
        maps = page.evaluate(
            "Object.entries(explorer.model.data.maps).map(([name, pair]) => "
            "[pair, Array.from(explorer.model.positions(1, 0, name))])"
        )
        order = page.evaluate("Array.from(explorer.named.y).map(i => explorer.model.label(i))")
        everything = "explorer.plane.within([-1e6, -1e6, 1e6, 1e6]).length"
        inside = page.evaluate(
            "Array.from({ length: 17 }, (_, i) => i).every(i => explorer.plane.isInside(explorer.plane.at(i)))"
        )
        found = page.evaluate(
            "explorer.model.role('x').labels[0] = 'Dishwashers', "
            "explorer.model.search('dish', 3).map(i => explorer.model.label(i))"
        )
        before = page.evaluate(everything)
        page.locator(".chip.y").click()
        after = page.evaluate(everything)
        wife = page.evaluate("explorer.plane.nearest(...explorer.plane.at(explorer.model.role('y').start), 5)")
    s = ca.correlations_[[1, 0]]
    assert len(maps) == 8
    for pair, xy in maps:
        for k, (side, scaling) in enumerate(zip((ca.rows_, ca.columns_), pair, strict=True)):
            mass = side.mass[:, None]
            factor = {"principal": s, "symmetric": np.sqrt(s), "standard": 1, "mass": mass, "root_mass": np.sqrt(mass)}
            drawn = np.reshape(xy, (-1, 2))[13 * k : 13 + 4 * k]
            np.testing.assert_allclose(drawn, side.standard[:, [1, 0]] * factor[scaling], rtol=1e-3, atol=1e-4)
    weights = ca.columns_.mass * (ca.columns_.principal[:, :2] ** 2).sum(axis=1)
    assert order == ca.columns_.labels[np.argsort(-weights)].tolist()
    assert found == ["Dishes", "Dishwashers"], "the shortest first"
    assert inside, "the whole view shows everything"
    assert (before, after) == (17, 13)
    assert wife < 13, "what is hidden cannot be hit"


@pytest.mark.slow
def test_the_slider_tells_its_step_and_goes_to_the_map_of_the_frames(shown, trained):
    _, recorder, _ = trained
    with opened(shown, **WIDE) as seen:
        page = seen.page
        page.wait_for_selector("html[data-ready=yes]")
        page.select_option("#map", "symmetric")
        page.locator("#frame").press("Home")
        page.locator("#frame").press("ArrowRight")
        told, chosen = page.inner_text("#step"), page.input_value("#map")
    assert told == f"step {recorder.steps[1]}, accuracy {100 * recorder.accuracy[1]:.1f} %"
    assert recorder.accuracy[1] != recorder.accuracy[0]
    assert chosen == "rowprincipal"


@pytest.mark.slow
def test_webgl_draws_points_where_the_layer_has_them(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3100, 2))
    est = co.CCA(n_components=2).fit(x, x + rng.normal(size=x.shape))
    path = co.explore(est, x, x[:5], tmp_path / "p.html")
    with opened(path, **WIDE) as seen:
        page = seen.page
        page.wait_for_selector("html[data-ready=yes]")
        drawn = page.evaluate(
            """() => { const { plane } = explorer, { gl } = plane, pixel = new Uint8Array(4);
            plane.zoomBy(0.6);
            plane.panBy(40, 25);
            plane.paint();
            const all = Array.from({ length: 3100 }, (_, i) => i);
            const outermost = (k, sign) => all.reduce((a, b) =>
                sign * plane.xy[2 * a + k] > sign * plane.xy[2 * b + k] ? a : b);
            return [outermost(0, 1), outermost(0, -1), outermost(1, 1), outermost(1, -1)].map(i => {
                const [px, py] = plane.at(i).map(v => v * plane.ratio);
                gl.readPixels(px, plane.points.height - py, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
                return pixel[3]; }); }"""
        )
        corner = page.evaluate(
            """() => { const { gl } = explorer.plane, pixel = new Uint8Array(4);
            explorer.plane.paint();
            gl.readPixels(2, 2, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
            return pixel[3]; }"""
        )
    assert min(drawn) > 0
    assert corner == 0
