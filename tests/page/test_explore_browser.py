"""The page in a real browser: offline, without errors, with every hand that a user has."""

import csv
from pathlib import Path

import numpy as np
import pytest
from browser import opened
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier
from test_explore import HOSTILE

import correspondence as co

pytestmark = pytest.mark.slow

WIDE = {"viewport": {"width": 1300, "height": 900}}


@pytest.fixture(scope="module")
def ca():
    return co.CA().fit(co.datasets.load_housetasks())


@pytest.fixture(scope="module")
def tasks(ca, tmp_path_factory):
    path = tmp_path_factory.mktemp("tasks") / "page.html"
    return co.explore(ca, path=path, names=("task", "who"), title="Household tasks")


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """A small net and its training on digits, with pictures."""
    X, y = load_digits(return_X_y=True)
    probes, labels = X[1::6] / 16, y[1::6]
    net = MLPClassifier((16,), random_state=0, learning_rate_init=0.01)
    recorder = co.TrainingRecorder(net, probes, labels, every=5)
    recorder.partial_fit(X[::6] / 16, y[::6], batch_size=30, epochs=10)
    cca = co.ClassifierCA(net).fit(probes, labels)
    images = (255 - 255 * probes.reshape(-1, 8, 8)).astype(np.uint8)
    path = tmp_path_factory.mktemp("digits") / "page.html"
    return co.explore(
        cca, probes, path=path, recorder=recorder, x_images=images, classes=labels, names=("image", "digit")
    )


def ready(seen):
    seen.page.wait_for_selector("html[data-ready=yes]")
    return seen.page


def point(page, label):
    """Where a point is on the screen."""
    return page.evaluate(
        """label => {
            const { model, plane } = explorer, box = document.querySelector("#plane").getBoundingClientRect();
            const i = Array.from({ length: model.size }, (_, k) => k).findLast(k => model.label(k) === label);
            const [x, y] = plane.at(i);
            return [x + box.left, y + box.top];
        }""",
        label,
    )


def view(page):
    return page.evaluate("({ ...explorer.plane.view })")


def assert_quiet(seen, path):
    """Nothing on the console, no dialog, and the file itself is all that was asked for."""
    assert seen.problems == []
    assert [url for url in seen.requests if not url.startswith("blob:")] == [Path(path).resolve().as_uri()]


def test_hover_tells_what_a_point_is(tasks, ca):
    with opened(tasks, **WIDE) as seen:
        page = ready(seen)
        assert page.locator("#tip").is_hidden()
        page.mouse.move(*point(page, "Laundry"))
        text = page.inner_text("#tip")
        page.mouse.move(5, 5)
        assert page.locator("#tip").is_hidden()
    laundry = ca.rows_.labels.tolist().index("Laundry")
    assert text.startswith("Laundry\ntask")
    assert f"axis 1\n{ca.rows_.principal[laundry, 0]:.2f}, " in text
    assert f"contributes {100 * ca.rows_.contributions[laundry, 0]:.1f} %" in text
    assert_quiet(seen, tasks)


def test_a_click_lists_what_belongs_to_a_point_as_the_index_does(tasks, ca):
    who, tasks_of = ca.columns_.labels.tolist(), ca.rows_.labels.tolist()
    index = co.CrossModalIndex(ca, who, who, tasks_of, tasks_of)
    with opened(tasks, **WIDE) as seen:
        page = ready(seen)
        page.mouse.click(*point(page, "Repairs"))
        assert page.inner_text("#point strong") == "Repairs"
        listed = page.locator("#matches .match").all_inner_texts()
        found = page.evaluate("explorer.model.matches(explorer.chosen, explorer.model.role('y'), 3)")
        page.mouse.click(*point(page, "Wife"))
        from_y = page.locator("#matches .match .name").all_inner_texts()
        page.locator("#matches .match").first.click()
        followed = page.inner_text("#point strong")
        page.mouse.click(*point(page, "Wife"))
        page.keyboard.press("Escape")
    expected = index.tags(["Repairs"], k=3)
    assert listed[0].startswith("Husband")
    assert f"{100 * expected.scores[0, 0]:.0f} %" in listed[0]
    np.testing.assert_allclose([match["ratio"] for match in found], expected.ratios[0], rtol=1e-3)
    np.testing.assert_allclose([match["probability"] for match in found], expected.scores[0], atol=1e-3)
    likely = index.items(["Wife"], k=8)
    ratios = {label: ratio for label, ratio in zip(likely.labels[0], likely.ratios[0], strict=True) if ratio > 1}
    assert set(from_y) == set(ratios)
    assert followed == from_y[0]
    assert_quiet(seen, tasks)


@pytest.mark.parametrize("by", ["posterior", "gaussian", "ratio", "distance", "cosine"])
def test_the_page_ranks_as_the_index_it_is_given(by, rng, tmp_path):
    x = rng.normal(size=(200, 3))
    y = x[:, :2] + rng.normal(size=(200, 2))
    est = co.CCA(n_components=2).fit(x, y)
    index = co.CrossModalIndex(est, [f"y{i}" for i in range(30)], y[:30], [f"x{i}" for i in range(40)], x[:40], by=by)
    path = co.explore(est, x[:40], path=tmp_path / "p.html", index=index)
    with opened(path, **WIDE) as seen:
        found = ready(seen).evaluate("[0, 1, 2].map(i => explorer.model.matches(i, explorer.model.role('y'), 4))")
    expected = index.tags(x[:3], k=4)
    for matches, row in zip(found, range(3), strict=True):
        start = 40
        assert [match["point"] - start for match in matches] == expected.index[row].tolist()
        ratios = est.decomposition_.density_ratio(x[[row] * 4], y[expected.index[row]])
        np.testing.assert_allclose([match["ratio"] for match in matches], ratios, rtol=5e-3, atol=5e-3)
        if by in ("posterior", "gaussian"):
            everything = index.tags(x[row : row + 1], k=30).scores.sum()  # above 1, since none is below 0
            probabilities = [match["probability"] for match in matches]
            np.testing.assert_allclose(probabilities, expected.scores[row] / everything, rtol=5e-3, atol=1e-3)


@pytest.mark.parametrize("by", ["posterior", "gaussian", "ratio", "distance", "cosine"])
@pytest.mark.parametrize("has_tags", [False, True])
def test_the_page_claims_what_a_calibrated_index_does(by, has_tags, rng, tmp_path):
    x = rng.normal(size=(300, 3))
    y = x[:, :2] + rng.normal(size=(300, 2))
    est, has_tag = co.CCA(n_components=2).fit(x[:200], y[:200]), np.hstack([y > 0, y > 1])
    if has_tags:
        index = co.CrossModalIndex.of_tags(est, list("abcd"), y, has_tag, by=by, held_out=(x[200:], has_tag[200:]))
    else:
        index = co.CrossModalIndex(est, None, y[:30], by=by, held_out=(x[200:], y[200:]))
    path = co.explore(est, x[:40], path=tmp_path / "p.html", index=index)
    with opened(path, **WIDE) as seen:
        found = ready(seen).evaluate("[0, 1, 2].map(i => explorer.model.matches(i, explorer.model.role('y'), 4))")
    expected = index.tags(x[:3], k=4)
    for matches, row in zip(found, range(3), strict=True):
        probabilities = [match["probability"] for match in matches]
        np.testing.assert_allclose(probabilities, expected.probabilities[row], rtol=1e-2, atol=1e-3)


def test_search_finds_and_centres_a_label(tasks):
    with opened(tasks, **WIDE) as seen:
        page = ready(seen)
        page.keyboard.press("/")
        page.keyboard.type(" dRI")
        assert page.locator("#found li").all_inner_texts() == ["Driving task"]
        page.keyboard.press("Enter")
        assert page.inner_text("#point strong") == "Driving"
        x, y = point(page, "Driving")
        middle = page.evaluate(
            "(() => { const box = document.querySelector('#plane').getBoundingClientRect(), "
            "[x, y] = explorer.plane.middle(); return [box.left + x, box.top + y]; })()"
        )
        assert (x, y) == pytest.approx(middle, abs=1)
        page.fill("#search", "zzz")
        assert page.inner_text("#found") == "Nothing found"
        page.fill("#search", "")
        assert page.locator("#found").is_hidden()
    assert_quiet(seen, tasks)


def test_search_shows_what_was_hidden(tasks):
    with opened(tasks, **WIDE) as seen:
        page = ready(seen)
        page.locator(".chip.y").click()
        shown = "explorer.plane.isShown(explorer.model.role('y').start)"
        assert not page.evaluate(shown)
        page.fill("#search", "wife")
        page.press("#search", "Enter")
        assert page.evaluate(shown)
        assert page.locator(".chip.y").get_attribute("aria-pressed") == "true"


def test_other_axes_and_maps_move_the_points_where_the_fit_has_them(tasks, ca):
    with opened(tasks, **WIDE) as seen:
        page = ready(seen)
        coordinates = """() => { const { model, plane } = explorer, y = model.role('y').start;
            return [[0, 0], [1, 0], [0, y], [1, y]].map(([k, i]) => plane.xy[2 * i + k]); }"""
        start = page.evaluate(coordinates)
        page.select_option("#first", "2")
        page.select_option("#second", "0")
        turned = page.evaluate(coordinates)
        page.select_option("#map", "rowprincipal")
        row_principal = page.evaluate(coordinates)
        page.select_option("#map", "rowgreen")
        note = page.inner_text("#note")
        green = page.evaluate(coordinates)
        page.select_option("#second", "-1")
        assert view(page)["zoom"] > 0
    rows, columns = ca.rows_, ca.columns_
    np.testing.assert_allclose(start, [*rows.principal[0, :2], *columns.principal[0, :2]], rtol=1e-3)
    np.testing.assert_allclose(turned, [*rows.principal[0, [2, 0]], *columns.principal[0, [2, 0]]], rtol=1e-3)
    np.testing.assert_allclose(row_principal, [*rows.principal[0, [2, 0]], *columns.standard[0, [2, 0]]], rtol=1e-3)
    root = np.sqrt(columns.mass[0])
    np.testing.assert_allclose(green[2:], columns.standard[0, [2, 0]] * root, rtol=1e-3)
    assert note.startswith("Contribution biplot")
    assert_quiet(seen, tasks)


def test_dragging_pans_the_wheel_zooms_and_the_button_goes_back(tasks):
    with opened(tasks, **WIDE) as seen:
        page = ready(seen)
        start = view(page)
        box = page.locator("#plane").bounding_box()
        middle = box["x"] + box["width"] / 2, box["y"] + 200
        page.mouse.move(*middle)
        page.mouse.down()
        page.mouse.move(middle[0] + 100, middle[1] + 50, steps=4)
        page.mouse.up()
        panned = view(page)
        page.mouse.wheel(0, -300)
        page.wait_for_timeout(100)
        zoomed = view(page)
        page.click("#reset")
        again = view(page)
    assert panned["x"] == pytest.approx(start["x"] - 100 / start["zoom"])
    assert panned["y"] == pytest.approx(start["y"] + 50 / start["zoom"])
    assert zoomed["zoom"] > 1.3 * panned["zoom"]
    assert again == pytest.approx(start)


def test_a_phone_pinches_and_taps(tasks):
    with opened(tasks, viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True) as seen:
        page = ready(seen)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.locator("#plane").scroll_into_view_if_needed()
        start = view(page)
        page.evaluate(
            """() => { const layer = document.querySelector(".layer"), box = layer.getBoundingClientRect();
            const send = (type, id, x) => layer.dispatchEvent(new PointerEvent(type,
                { pointerId: id, clientX: box.left + x, clientY: box.top + 150, bubbles: true, pointerType: "touch" }));
            layer.setPointerCapture = () => {};
            send("pointerdown", 1, 100); send("pointerdown", 2, 200);
            for (let k = 1; k <= 10; k++) { send("pointermove", 1, 100 - 5 * k); send("pointermove", 2, 200 + 5 * k); }
            send("pointerup", 1, 50); send("pointerup", 2, 250); }"""
        )
        assert view(page)["zoom"] == pytest.approx(2 * start["zoom"], rel=0.05)
        assert page.locator("#card").is_hidden(), "a pinch is no tap"
        page.tap("#more")
        page.tap("#reset")
        page.touchscreen.tap(*point(page, "Holidays"))
        assert page.inner_text("#point strong") == "Holidays"
    assert_quiet(seen, tasks)


def test_a_box_selects_points_and_their_rows_are_exported(tasks, ca):
    with opened(tasks, **WIDE) as seen:
        page = ready(seen)
        assert page.locator("#export").is_disabled()
        page.click("#select")
        box = page.locator("#plane").bounding_box()
        page.mouse.move(box["x"] + 50, box["y"] + 10)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] - 10, box["y"] + box["height"] - 45, steps=5)
        page.mouse.up()
        assert page.inner_text("#selected") == "17 selected"
        with page.expect_download() as download:
            page.click("#export")
        text = download.value.path().read_text(encoding="utf-8")
        page.click("#clear")
        assert page.inner_text("#selected") == ""
    rows = list(csv.reader(text.splitlines()))
    assert rows[0] == ["kind", "row", "label", "class", "axis_1", "axis_2", "axis_3"]
    found = {row[2]: row for row in rows[1:]}
    assert set(found) == {*ca.rows_.labels, *ca.columns_.labels}
    np.testing.assert_allclose([float(v) for v in found["Wife"][4:]], ca.columns_.standard[0], rtol=1e-3)
    assert found["Wife"][0] == "who"
    assert_quiet(seen, tasks)


def test_exported_cells_are_neither_split_nor_run_by_a_spreadsheet(tmp_path):
    labels = np.array(['=cmd|"/c calc"!A0', "+1", "-2", "@x", "a, b\nc", 'say "hi"', "\t=1"], object)
    counts = np.random.default_rng(0).integers(1, 30, size=(len(labels), 3))
    path = co.explore(
        co.CA().fit(co.Table(counts, labels, np.array(["u", "v", "w"], object))), path=tmp_path / "p.html"
    )
    with opened(path, **WIDE) as seen:
        text = ready(seen).evaluate("explorer.model.csv(Array.from({ length: explorer.model.size }, (_, i) => i))")
    rows = list(csv.reader(text.splitlines(keepends=True)))
    assert [row[2] for row in rows[1:8]] == ['\'=cmd|"/c calc"!A0', "'+1", "'-2", "'@x", "a, b\nc", 'say "hi"', "'\t=1"]
    assert any(float(row[4]) < 0 for row in rows[1:]), "negative numbers stay numbers"


def test_hostile_labels_are_text_and_do_nothing(tmp_path):
    counts = np.random.default_rng(0).integers(1, 30, size=(len(HOSTILE), 4))
    ca = co.CA().fit(co.Table(counts, np.array(HOSTILE, object), np.array(["a", "b", "c", HOSTILE[0]], object)))
    path = co.explore(ca, path=tmp_path / "page.html", title=HOSTILE[1], names=(HOSTILE[0], HOSTILE[2]))
    with opened(path, **WIDE) as seen:
        page = ready(seen)
        page.mouse.move(*point(page, HOSTILE[0]))
        tip = page.inner_text("#tip strong")
        page.mouse.click(*point(page, HOSTILE[3]))
        card = page.inner_text("#point strong")
        page.fill("#search", "<")
        found = page.locator("#found li").all_inner_texts()
        table = page.locator("#contributions td:first-child").all_inner_texts()
        images = page.locator("img, iframe, b").count()
        page.wait_for_timeout(200)
    assert tip == HOSTILE[0]
    assert card == HOSTILE[3]
    assert any(HOSTILE[2] in text for text in found)
    assert set(HOSTILE) <= set(table)
    assert images == 0
    assert_quiet(seen, path)


def test_classes_can_be_hidden(digits):
    with opened(digits, **WIDE) as seen:
        page = ready(seen)
        count = """() => { const { model, plane } = explorer, x = model.role('x');
            return Array.from({ length: x.n }, (_, j) => j).filter(j => plane.isShown(x.start + j)).length; }"""
        everything = page.evaluate(count)
        page.locator("#classes .chip").first.click()
        without = page.evaluate(count)
        page.locator("#classes button", has_text="none").click()
        nothing = page.evaluate(count)
        page.locator("#classes button", has_text="all").click()
        again = page.evaluate(count)
        colours = page.evaluate("[...document.querySelectorAll('.dot')].map(dot => dot.style.background)")
    assert 0 == nothing < without < everything == again
    assert len(set(colours)) == 10
    assert_quiet(seen, digits)


def test_the_slider_goes_through_the_training(digits):
    with opened(digits, **WIDE) as seen:
        page = ready(seen)
        xy = "Array.from(explorer.plane.xy.slice(0, 200))"
        end, told = page.evaluate(xy), page.inner_text("#step")
        page.locator("#frame").press("Home")
        start, note = page.evaluate(xy), page.inner_text("#note")
        first = page.inner_text("#step")
        title = "explorer.layer.axisTitle(0, 900)"
        early = page.evaluate(title)
        page.locator("#frame").press("End")
        late = page.evaluate(title)
        again = page.evaluate(xy)
        page.click("#play")
        page.wait_for_function("Number(document.querySelector('#frame').value) >= 2")
        page.click("#play")
    assert "last step" in early
    assert "0." not in early, "no figure of another step"
    assert "0." in late
    assert told != first
    assert "accuracy" in told
    assert first.startswith("step 0") or first.startswith("step 1,") or first.startswith("step 5,")
    assert note.startswith("During the training")
    assert np.abs(np.subtract(start, end)).max() > 0.1
    assert again == end
    assert_quiet(seen, digits)


def test_pictures_boundaries_and_close_calls(digits):
    with opened(digits, **WIDE) as seen:
        page = ready(seen)
        pixels = "document.querySelector('.layer').toDataURL()"
        drawn = {}
        for box in ("pictures", "lines", "confused", "labels"):
            before = page.evaluate(pixels)
            page.click(f"#{box}")
            page.wait_for_timeout(60)
            drawn[box] = page.evaluate(pixels) != before
        calls = page.locator("#close .match")
        first = calls.first.inner_text()
        calls.first.click()
        assert page.locator("#point canvas").count() == 1
        strips = page.locator(".strip canvas").count()
        assert calls.count() == 12
    assert all(drawn.values()), drawn
    assert " or " in first
    assert "margin" in first
    assert strips >= 16
    assert_quiet(seen, digits)


def test_keys_do_what_the_mouse_does(tasks):
    with opened(tasks, **WIDE) as seen:
        page = ready(seen)
        start = view(page)
        page.focus("#plane")
        page.keyboard.press("ArrowRight")
        assert view(page)["x"] > start["x"]
        page.keyboard.press("+")
        assert view(page)["zoom"] > start["zoom"]
        page.keyboard.press("0")
        assert view(page) == pytest.approx(start)
        page.keyboard.press("n")
        first = page.inner_text("#said")
        page.keyboard.press("n")
        second = page.inner_text("#said")
        page.keyboard.press("p")
        assert page.inner_text("#said") == first != second
        assert ": " in first, "the point and what belongs to it are told to a screen reader"
        page.keyboard.press("l")
        assert not page.is_checked("#labels")
        page.keyboard.press("?")
        assert page.locator("#keys").is_visible()
        page.keyboard.press("Escape")
        assert page.locator("#keys").is_hidden()
    assert_quiet(seen, tasks)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_dark_and_paper(tasks, scheme):
    with opened(tasks, **WIDE, color_scheme=scheme) as seen:
        page = ready(seen)
        lightness = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
        is_light = page.evaluate(lightness) > 128
        page.click("#theme")
        page.click("#theme")
        assert page.evaluate(lightness) < 128, "dark was asked for"
        assert page.inner_text("#theme") == "☾ dark"
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate("explorer.isDark") is False, "paper is white"
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.evaluate("explorer.isDark") is True
        pdf = page.pdf()
    assert is_light == (scheme == "light")
    assert len(pdf) > 20_000
    assert_quiet(seen, tasks)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read(tasks, scheme):
    """Contrast of at least 4.5, as WCAG asks for."""
    with opened(tasks, **WIDE, color_scheme=scheme) as seen:
        style = ready(seen).evaluate("explorer.style")

    def luminance(colour):
        parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    for name in ("ink", "soft", "accent", "x", "y", "mark"):
        low, high = sorted([luminance(style[name]), luminance(style["paper"])])
        assert (high + 0.05) / (low + 0.05) >= 4.5, name


def test_without_webgl_all_points_are_drawn_as_well(rng, tmp_path):
    x = rng.normal(size=(4000, 2))
    est = co.CCA(n_components=2).fit(x, x + rng.normal(size=(4000, 2)))
    path = co.explore(est, x, x[:10], tmp_path / "p.html")
    with opened(path, **WIDE) as seen:
        page = ready(seen)
        assert page.evaluate("!!explorer.plane.gl")
        flat = page.evaluate(
            """() => { const canvas = HTMLCanvasElement.prototype, get = canvas.getContext;
            canvas.getContext = function (kind, ...more) {
                return kind === "webgl" ? null : get.call(this, kind, ...more); };
            const old = document.querySelector(".points"), fresh = old.cloneNode();
            old.replaceWith(fresh);
            const again = new Plane(document.querySelector("#plane"), explorer.model.size);
            again.setPoints(explorer.plane.xy, 4000);
            again.setLooks(explorer.plane.colours, explorer.plane.looks);
            again.view = explorer.plane.view;
            again.resize();
            const pixels = again.flat.getImageData(0, 0, fresh.width, fresh.height).data;
            let drawn = 0;
            for (let i = 3; i < pixels.length; i += 4) drawn += pixels[i] > 0;
            return drawn; }"""
        )
    assert flat > 4000
    assert_quiet(seen, path)


def test_a_hundred_thousand_points_load_and_move(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100_000, 3)).astype(np.float32)
    labels = np.array([f"class {i}" for i in range(8)], object)
    y = labels[(x @ rng.normal(size=(3, 8)) + rng.gumbel(size=(100_000, 8))).argmax(axis=1)]
    path = co.explore(co.CCA(n_components=3).fit(x, y), x, y, tmp_path / "p.html")
    assert path.path.stat().st_size < 6_000_000
    with opened(path, **WIDE) as seen:
        page = ready(seen)
        page.evaluate(
            """async () => { for (let k = 0; k < 20; k++) {
                explorer.plane.panBy(3, 1);
                await new Promise(requestAnimationFrame);
            } }"""
        )
        page.wait_for_timeout(300)
        whole = page.evaluate("explorer.plane.isMoving")
        page.mouse.click(*point(page, "class 3"))
        assert page.inner_text("#point strong") == "class 3"
        assert page.locator("#matches .match").count() > 0
    assert whole is False, "all points are drawn again once the view rests"
    assert_quiet(seen, path)


# --- what a hostile tester found


def test_the_view_is_the_same_after_any_way_of_resizing(tasks):
    with opened(tasks, **WIDE) as seen:
        page = ready(seen)
        page.evaluate("explorer.plane.zoomBy(1.5)")
        start = view(page)
        for width, height in ((500, 900), (844, 390), (390, 844), (2000, 500), (1300, 900)):
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(50)
        assert view(page) == pytest.approx(start, rel=1e-6)
        assert page.evaluate("explorer.plane.base") == pytest.approx(start["zoom"] / 1.5)


def test_axes_and_maps_that_a_frame_does_not_know_lead_to_the_end_of_the_training(digits):
    with opened(digits, **WIDE) as seen:
        page = ready(seen)
        for box, value in (("#first", "6"), ("#map", "symmetric")):
            page.locator("#frame").press("Home")
            assert not page.evaluate("explorer.isLast")
            page.select_option(box, value)
            assert page.evaluate("explorer.isLast")
            assert page.input_value(box) == value
        page.locator("#frame").press("Home")
        assert page.input_value("#first") == "0", "axis 7 is not known of frames"
        assert page.input_value("#map") == "rowprincipal"
        page.evaluate("explorer.choose(0)")
        tip = page.inner_text("#point")
        drawn = page.evaluate("explorer.plane.xy[0].toFixed(2)")
        assert f"axis 1\n{drawn}" in tip, "the model of this step, not the last one"
        assert "At the end of the training" in page.inner_text("#matches")


def test_the_plane_is_not_distorted_on_paper(tasks):
    with opened(tasks, viewport={"width": 1900, "height": 1000}) as seen:
        page = ready(seen)
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.querySelector('.layer')).objectFit") == "contain"


def test_two_classes_have_a_boundary(tmp_path, rng):
    P = rng.dirichlet([1, 1], 60)
    path = co.explore(co.ClassifierCA.from_beliefs(P, ["no", "yes"]), P, path=tmp_path / "p.html")
    with opened(path, **WIDE) as seen:
        page = ready(seen)
        pixels = "document.querySelector('.layer').toDataURL()"
        before = page.evaluate(pixels)
        page.click("#lines")
        page.wait_for_timeout(60)
        assert page.evaluate(pixels) != before


def test_axis_titles_say_what_is_held_out_and_fit_a_phone(digits):
    with opened(digits, **WIDE) as seen:
        page = ready(seen)
        axis = page.evaluate("explorer.model.axes[1]")
        long = page.evaluate("explorer.layer.axisTitle(1, 800)")
        short = page.evaluate("explorer.layer.axisTitle(1, 300)")
        ticks = page.evaluate("ticks(-0.31, 0.92, 5)")
        few = page.evaluate(
            "[[-3.3, 3.1], [-0.9, 0.9], [1.1, 1.9], [-4.9, 4.9]].map(([a, b]) => ticks(a, b, 1).length)"
        )
    assert long.startswith(f"Axis 2: claimed correlation {axis['training']:.2f}, held out {axis['held_out']:.2f}, ")
    assert short == f"Axis 2: {axis['held_out']:.2f} held out"
    assert [(round(tick["at"], 6), tick["text"]) for tick in ticks] == [(0, "0.0"), (0.5, "0.5")]
    assert min(few) >= 2  # a single 0 tells no scale


def test_labels_are_written_in_colours_that_can_be_read(digits):
    with opened(digits, **WIDE) as seen:
        ratios = ready(seen).evaluate(
            """explorer.model.data.classes.colours.map(colour => {
                const text = luminance(explorer.text(rgb(colour))), paper = luminance(rgb(explorer.style.paper));
                return (paper + .05) / (text + .05); })"""
        )
    assert min(ratios) >= 4.5


def test_probabilities_of_labels_add_up_to_one(rng, tmp_path):
    """Of two of eight components: some labels would have probabilities below 0, and the others more than 1."""
    counts = rng.integers(1, 40, size=(12, 9))
    path = co.explore(co.CA(n_components=2).fit(counts), path=tmp_path / "p.html")
    with opened(path, **WIDE) as seen:
        sums = ready(seen).evaluate(
            """Array.from({ length: 12 }, (_, i) => explorer.model.matches(i, explorer.model.role("y"), 9)
                .reduce((sum, match) => sum + match.probability, 0))"""
        )
    np.testing.assert_allclose(sums, 1, atol=1e-6)


def test_choosing_an_axis_twice_swaps_them(tasks):
    with opened(tasks, **WIDE) as seen:
        page = ready(seen)
        page.select_option("#first", "1")
        assert (page.input_value("#first"), page.input_value("#second")) == ("1", "0")
        page.select_option("#second", "1")
        assert (page.input_value("#first"), page.input_value("#second")) == ("0", "1")


def test_a_single_number_is_its_own_label(rng, tmp_path):
    x = rng.normal(size=(50, 2))
    spend = 100 * x[:, 0] + rng.normal(size=50)
    path = co.explore(co.CCA(n_components=1).fit(x, spend), x, spend, tmp_path / "p.html", names=("x", "spend"))
    with opened(path, **WIDE) as seen:
        label = ready(seen).evaluate("explorer.model.label(explorer.model.role('y').start + 3)")
    assert label.startswith("spend ")
    assert float(label.split()[1].replace(",", "")) == pytest.approx(spend[3], rel=1e-3)


def test_a_match_that_is_hidden_is_shown_again(tasks):
    with opened(tasks, **WIDE) as seen:
        page = ready(seen)
        page.mouse.click(*point(page, "Repairs"))
        page.locator(".chip.y").click()
        page.locator("#matches .match").first.click()
        assert page.inner_text("#point strong") == "Husband"
        assert page.evaluate("explorer.plane.isShown(explorer.chosen)")


def test_values_of_many_sheets_of_thumbnails(tmp_path, rng):
    """Each picture is of one grey, which is told by the drawing of its thumbnail."""
    n = 2000
    x = rng.normal(size=(n, 2))
    est = co.CCA(n_components=1).fit(x, x + rng.normal(size=(n, 2)))
    grey = (np.arange(n) * 37 % 200 + 30).astype(np.uint8)
    images = np.repeat(np.repeat(grey[:, None, None], 48, axis=1), 48, axis=2)
    path = co.explore(est, x, x[:5], tmp_path / "p.html", x_images=images)
    with opened(path, **WIDE) as seen:
        found = ready(seen).evaluate(
            """[0, 41, 42, 1763, 1764, 1999].map(i => {
                const canvas = explorer.thumbnail(i, 40);
                return canvas.getContext("2d").getImageData(40, 40, 1, 1).data[0]; })"""
        )
    assert found == grey[[0, 41, 42, 1763, 1764, 1999]].tolist()
