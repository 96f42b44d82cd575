"""The movie of a training: as a gif, as an mp4, and as a page that works in a real browser; and the timeline drawn."""

import re
import shutil
import sys
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from browser import opened
from matplotlib.animation import FFMpegWriter
from matplotlib.figure import Figure
from PIL import Image

import correspondence as co
from correspondence.plot.timelines import move_apart
from correspondence.recording import movie
from correspondence.recording.movie import Film, write_movie
from correspondence.recording.recorder import TrainingRecorder
from correspondence.scene.colours import list_distinct_colours

HOSTILE = ["</script><img src=x onerror=alert(1)>", "{{ 7 * 7 }}", '"quoted" $x^2$', "字"]


def made(k=4, n=120, steps=12, y=True, classes=None, seed=0):
    """Recorder of a model that becomes certain of its classes."""
    rng = np.random.default_rng(seed)
    codes, noise, now = np.arange(n) % k, rng.normal(size=(n, k)), [0]

    def answer(rows):
        P = np.exp(0.5 * noise + 0.5 * now[0] * np.eye(k)[codes])
        return (P / P.sum(axis=1, keepdims=True))[rows]

    names = np.arange(k) if classes is None else np.array(classes, object)
    recorder = TrainingRecorder(answer, np.arange(n), names[codes] if y else None, every=1, classes=classes)
    for _ in range(steps):
        now[0] += 1
        recorder.step()
    return recorder


@pytest.fixture(scope="module")
def recorder():
    return made()


@pytest.fixture(scope="module")
def film(recorder):
    return recorder.film()


# --- what is shown


def test_a_film_holds_some_frames_and_points_the_first_and_last_among_them():
    recorder = made(steps=40, n=300)
    film = recorder.film(max_frames=7, max_points=50)
    assert len(film) == 7
    assert film.timeline.steps[[0, -1]].tolist() == [0, 40]
    assert np.abs(np.diff(film.timeline.steps) - 40 / 6).max() < 1
    assert film.inputs.shape == (7, 50, 2)
    np.testing.assert_allclose(film.inputs[-1], recorder.coordinates(-1)[0][film.index, :2])
    assert film.labels.tolist() == (film.index % 4).tolist()
    np.testing.assert_allclose(film.belief[-1], recorder.beliefs(-1).max(axis=1)[film.index])
    assert (np.diff(film.index) > 0).all()


def test_classes_stand_at_the_means_of_their_inputs(recorder, film):
    inputs = recorder.coordinates(3)[0][:, :2]
    np.testing.assert_allclose(film.positions[3], [inputs[np.arange(120) % 4 == c].mean(axis=0) for c in range(4)])
    unlabelled = made(y=False)
    guesses = unlabelled.beliefs(3).argmax(axis=1)
    expected = [inputs[guesses == c].mean(axis=0) for c in range(4)]
    np.testing.assert_allclose(unlabelled.film().positions[3], expected)


def test_the_view_holds_the_last_frame_and_almost_all_others(film):
    middle, half = film.find_view()
    assert (np.abs(film.inputs[-1] - middle) < half).all()
    assert np.mean(np.abs(film.inputs - middle) < half) > 0.98


def test_an_outlier_in_an_early_frame_does_not_blow_up_the_view(film):
    inputs = film.inputs.copy()
    inputs[0, 0] = 1000
    outlier = Film(film.timeline, film.index, film.labels, inputs, film.positions, film.guesses, film.belief)
    assert outlier.find_view()[1].max() < 2 * film.find_view()[1].max()


def test_colours_of_classes_differ():
    for k in (2, 10, 30, 50):
        assert len(set(list_distinct_colours(k))) == k


# --- files


@pytest.mark.slow
def test_a_gif_has_all_frames_and_holds_the_last_one(recorder, tmp_path):
    path = recorder.movie(tmp_path / "a.gif", fps=5, max_frames=4)
    with Image.open(path) as image:
        durations = []
        pictures = []
        for i in range(image.n_frames):
            image.seek(i)
            durations.append(image.info["duration"])
            pictures.append(np.array(image.convert("RGB")))
    assert sum(durations) == 200 * (4 + 5)
    assert len(pictures) == 4
    assert pictures[0].shape == (512, 896, 3)
    changed = [np.mean(a != b) for a, b in pairwise(pictures)]
    assert min(changed) > 0.001
    assert max(changed) < 0.2
    assert [file.name for file in tmp_path.iterdir()] == ["a.gif"]


@pytest.mark.slow
def test_an_mp4_is_written_with_ffmpeg(recorder, tmp_path):
    if shutil.which("ffmpeg") is None:
        pytest.importorskip("imageio_ffmpeg", reason="there is no ffmpeg")
    path = recorder.movie(tmp_path / "a.mp4", max_frames=3)
    assert path.read_bytes()[4:8] == b"ftyp"
    assert path.stat().st_size > 5000


def test_without_ffmpeg_the_error_names_what_to_install(recorder, tmp_path, monkeypatch):
    monkeypatch.setattr(FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ImportError, match=re.escape('pip install "correspondence[movie]"')) as error:
        recorder.movie(tmp_path / "a.mp4")
    assert str(error.value).endswith(".")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("a.avi", {}, "path must end with .mp4, .gif or .html, got '"),
        ("a", {}, "path must end with"),
        ("a.gif", {"fps": 0}, "fps must be a number above 0 and at most 100, got 0"),
        ("a.gif", {"fps": "fast"}, "fps must be a number"),
        ("a.gif", {"max_frames": 1}, "max_frames must be a whole number of at least 2"),
        ("a.html", {"max_points": 0}, "max_points must be a whole number of at least 1"),
    ],
)
def test_bad_arguments_get_one_sentence(recorder, tmp_path, name, settings, said):
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        recorder.movie(tmp_path / name, **settings)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(recorder, tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        recorder.movie(tmp_path / "none" / "a.gif")


def test_a_movie_that_fails_leaves_the_old_one(film, tmp_path, monkeypatch):
    path = tmp_path / "a.gif"
    path.write_bytes(b"old")

    def fail(*_):
        raise RuntimeError("full")

    monkeypatch.setattr(movie._MovieFigure, "show_frame", fail)
    with pytest.raises(RuntimeError, match="full"):
        write_movie(film, path)
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


# --- with matplotlib


def pixels(scene):
    scene.figure.canvas.draw()
    return np.array(scene.figure.canvas.buffer_rgba())[..., :3]


def test_what_stays_the_same_is_drawn_once_and_in_place(film):
    scene = movie._MovieFigure(film, 50)
    assert not any(ax.xaxis.get_visible() for ax in scene.figure.axes)
    scene.show_frame(0)
    first = pixels(scene)
    for ax in scene.figure.axes:  # the line below each of them
        (x0, y0), (x1, _) = np.floor(ax.bbox.get_points()).astype(int)
        rows = first[first.shape[0] - 1 - y0 - 1 : first.shape[0] - y0 + 1, x0 + 5 : x1 - 5]
        assert rows.min(axis=(0, 2)).max() < 120
    scene.show_frame(len(film) - 1)
    assert 0.001 < np.mean(first != pixels(scene)) < 0.3


def test_each_frame_says_its_step_and_shows_its_pics_and_mistakes(film):
    scene = movie._MovieFigure(film, 50)
    scene.show_frame(2)
    assert scene.title.get_text() == f"Step 2, accuracy {film.timeline.accuracy[2]:.1%}"
    np.testing.assert_allclose([bar.get_height() for bar in scene.bars], film.timeline.pics[2])
    np.testing.assert_allclose(scene.points.get_offsets(), film.inputs[2])
    hollow = scene.points.get_facecolor()[:, 3] == 0
    assert hollow.tolist() == (film.guesses[2] != film.labels).tolist()
    assert 0 < hollow.sum() < len(hollow)
    assert len(scene.lines[0][0].get_xdata()) == 3


def test_names_that_would_cover_each_other_fade(film):
    positions = film.positions.copy()
    positions[-1, 1] = positions[-1, 0]
    positions[-1, 2] = np.nan
    scene = movie._MovieFigure(
        Film(film.timeline, film.index, film.labels, film.inputs, positions, film.guesses, film.belief), 50
    )
    assert [text.get_visible() for text in scene.texts] == [False, False, False, True]


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"k": 2}, {"y": False}, {"classes": HOSTILE}, {"steps": 0}, {"k": 25}])
def test_any_recording_makes_a_gif_without_a_warning(settings, tmp_path):
    path = made(**({"steps": 2} | settings)).movie(tmp_path / "a.gif", fps=1)
    with Image.open(path) as image:
        assert image.n_frames == (1 if settings.get("steps") == 0 else 3)


# --- the page


@pytest.fixture(scope="module")
def page(recorder, tmp_path_factory):
    return recorder.movie(tmp_path_factory.mktemp("page") / "page.html", fps=60)


def test_the_page_is_one_file_without_a_network(page):
    html = page.read_text(encoding="utf-8")
    assert re.findall(r'(?:src|href)="?([^"> ]+)', html) == ["data:,"]
    assert "http" not in html


def test_a_long_movie_makes_a_page_below_three_megabytes(film, tmp_path):
    T, m, k = 150, 2000, 4
    rng = np.random.default_rng(0)
    few = rng.integers(0, len(film), T)
    many = Film(
        movie.Timeline.of(
            np.arange(T),
            film.timeline.pics[few],
            None,
            film.timeline.classes,
            film.timeline.certainty[few],
            film.timeline.certainty[few] > 0,
            film.timeline.pairs,
            film.timeline.separation[few],
        ),
        np.arange(m),
        rng.integers(0, k, m),
        rng.normal(size=(T, m, 2)),
        rng.normal(size=(T, k, 2)),
        rng.integers(0, k, (T, m)),
        rng.random((T, m)),
    )
    assert write_movie(many, tmp_path / "a.html").stat().st_size < 3e6


@pytest.mark.slow
def test_slider_keys_and_button_move_the_page(page, film):
    with opened(page, viewport={"width": 1200, "height": 800}) as seen:
        tab = seen.page

        def step():
            return int(re.match(r"Step ([\d,]+)", tab.inner_text("#now"))[1].replace(",", ""))

        assert step() == 12  # it opens with the last frame
        tab.fill("#frame", "5")
        assert step() == 5
        assert f"accuracy {100 * film.timeline.accuracy[5]:.1f} %" in tab.inner_text("#now")
        tab.locator("body").press("ArrowLeft")
        assert step() == 4
        tab.locator("body").press("End")
        assert step() == 12
        tab.locator("body").press("Home")
        assert step() == 0
        tab.click("#play")
        tab.wait_for_function("document.getElementById('play').textContent === 'Play' && time === 12")
        press = "const button = document.getElementById('play'); button.click(); return button.textContent"
        assert tab.evaluate(f"[1, 2].map(() => {{ {press} }})") == ["Pause", "Play"]  # at once: the film is short
        assert seen.problems == []
        assert len(seen.requests) == 1


@pytest.mark.slow
def test_points_of_the_page_are_where_they_were_and_say_what_they_are(page, film):
    with opened(page, viewport={"width": 1200, "height": 800}) as seen:
        tab = seen.page
        tab.fill("#frame", "6")
        box = tab.locator("#plane canvas").bounding_box()
        where = (
            "i => { const at = geometry(%f, %f); return [at.x(inputs[6*2*n + 2*i]), at.y(inputs[6*2*n + 2*i + 1])]; }"
        )
        spots = np.array([tab.evaluate(where % (box["width"], box["height"]), i) for i in range(120)])
        for axis, sign in ((0, 1), (1, -1)):
            slope, start = np.polyfit(film.inputs[6, :, axis], spots[:, axis], 1)
            assert np.sign(slope) == sign
            np.testing.assert_allclose(slope * film.inputs[6, :, axis] + start, spots[:, axis], atol=0.5)
        i = int(
            np.argmax(
                np.linalg.norm(spots[:, None] - spots[None], axis=2).min(
                    axis=1, where=~np.eye(120, dtype=bool), initial=99
                )
            )
        )
        tab.mouse.move(box["x"] + spots[i, 0], box["y"] + spots[i, 1])
        said = tab.inner_text("#tip").split("\n")
        assert said[:2] == [f"input {film.index[i]}", f"label {film.labels[i]}"]
        assert said[2] == f"believed {film.guesses[6, i]}, {100 * round(255 * film.belief[6, i]) / 255:.0f} %"
        tab.mouse.move(2, 2)
        assert tab.locator("#tip").is_hidden()


@pytest.mark.slow
def test_something_is_drawn_and_changes_with_the_frame(page):
    ink = """() => [...document.querySelectorAll("canvas")].map(c => {
      const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; let s = 0;
      for (let i = 0; i < d.length; i += 4) s += d[i + 3] > 0 && d[i] + d[i + 1] + d[i + 2] < 600; return s; })"""
    with opened(page, viewport={"width": 1200, "height": 800}) as seen:
        last = seen.page.evaluate(ink)
        seen.page.fill("#frame", "1")
        first = seen.page.evaluate(ink)
        assert min(last) > 300
        assert all(a != b for a, b in zip(first, last, strict=True))
        assert first[1] < last[1]  # PICs grow
        seen.page.click("#legend button:nth-child(2)")
        assert seen.page.evaluate(ink)[0] < first[0]  # the other classes are dimmed
        assert seen.page.get_attribute("#legend button:nth-child(2)", "aria-pressed") == "true"


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1200, 800), (390, 700)])
def test_the_page_fits_the_screen(page, size):
    with opened(page, viewport={"width": size[0], "height": size[1]}) as seen:
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= size[0]
        if size[0] > 1000:
            assert seen.page.evaluate("document.documentElement.scrollHeight") <= size[1]
        plane = seen.page.locator("#plane canvas").bounding_box()
        assert plane["width"] > 0.55 * size[0]
        assert plane["height"] > 250


@pytest.mark.slow
def test_names_of_classes_stay_text(tmp_path):
    path = made(classes=HOSTILE).movie(tmp_path / "a.html")
    with opened(path) as seen:
        assert seen.page.locator("#legend button").all_inner_texts() == [
            name if len(name) <= 24 else name[:23] + "…" for name in HOSTILE
        ]
        assert seen.page.locator("img").count() == 0
        assert seen.problems == []


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"k": 2}, {"y": False}, {"steps": 0}, {"k": 300, "n": 600, "steps": 1}])
def test_any_recording_makes_a_page_that_works(settings, tmp_path):
    with opened(made(**settings).movie(tmp_path / "a.html")) as seen:
        assert seen.page.inner_text("#now").startswith(f"Step {settings.get('steps', 12)}")
        seen.page.locator("body").press("ArrowLeft")
        assert seen.problems == []


# --- the timeline


def test_a_timeline_is_drawn_with_pics_above_and_classes_below():
    recorder = made(classes=["ant", "bee", "cat", "a name with $x^2$"], steps=30)
    timeline = recorder.timeline()
    figure = co.plot.timeline(timeline)
    assert isinstance(figure, Figure)
    top, bottom = figure.axes
    for ax, values in ((top, timeline.pics), (bottom, timeline.certainty)):
        curves = [line.get_ydata() for line in ax.lines if len(line.get_ydata()) == len(timeline)]
        for column in values.T:
            assert any(np.array_equal(column, curve) for curve in curves)
    assert [text.get_text() for text in bottom.texts] == ["ant", "bee", "cat", "a name with $x^2$"]
    figure.canvas.draw()
    heights = sorted(text.get_window_extent().y0 for text in bottom.texts)
    assert min(np.diff(heights)) > 5
    assert len([patch for patch in bottom.patches if patch.get_alpha() == 0.22]) == len(timeline.transitions)


def test_a_timeline_goes_into_a_figure_that_is_given(recorder):
    mine = plt.figure()
    assert co.plot.timeline(recorder.timeline(), mine) is mine
    with pytest.raises(TypeError, match=r"timeline must be what .* returns, got TrainingRecorder"):
        co.plot.timeline(recorder)


def test_names_at_the_ends_are_moved_apart():
    values = np.array([0.5, 0.5, 0.51, 0.9, 1.0, 1.0])
    places = move_apart(values, 0.06, 0, 1.03)
    assert np.diff(np.sort(places)).min() > 0.06 - 1e-9
    assert places.max() <= 1.03 + 1e-9
    assert (np.argsort(places, kind="stable") == np.argsort(values, kind="stable")).all()
    assert np.abs(places - values).max() < 0.16
