"""The movie of a training: as a gif, as an mp4, and in the explorer's page in a browser; and the timeline drawn."""

import shutil
import sys
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from browser import opened
from matplotlib.animation import FFMpegWriter
from matplotlib.figure import Figure
from pages import data_of
from PIL import Image

import correspondence as co
from correspondence.plot.timelines import move_apart
from correspondence.recording import movie
from correspondence.recording.film import Film
from correspondence.recording.movie import write_movie
from correspondence.recording.recorder import TrainingRecorder
from correspondence.scene.colours import list_distinct_colours

HOSTILE = ["</script><img src=x onerror=alert(1)>", "{{ 7 * 7 }}", '"quoted" $x^2$', "字"]


def make_recorder(k=4, n=120, steps=12, y=True, classes=None, path=None):
    """Recorder of a model that becomes certain of its classes."""
    rng = np.random.default_rng(0)
    codes, noise, now = np.arange(n) % k, rng.normal(size=(n, k)), [0]

    def answer(rows):
        P = np.exp(0.5 * noise + 0.5 * now[0] * np.eye(k)[codes])
        return (P / P.sum(axis=1, keepdims=True))[rows]

    names = np.arange(k) if classes is None else np.array(classes, object)
    y = names[codes] if y else None
    recorder = TrainingRecorder(answer, np.arange(n), y, every=1, classes=classes, path=path)
    for _ in range(steps):
        now[0] += 1
        recorder.step()
    return recorder


@pytest.fixture(scope="module")
def recorder():
    return make_recorder()


@pytest.fixture(scope="module")
def film(recorder):
    return recorder.film()


# --- what is shown


def test_a_film_holds_some_frames_and_points_the_first_and_last_among_them():
    recorder = make_recorder(steps=40, n=300)
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
    unlabelled = make_recorder(y=False)
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
    with pytest.raises(ImportError, match=r"\[movie\]") as error:
        recorder.movie(tmp_path / "a.mp4")
    assert str(error.value).endswith(".")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("a.avi", {}, "path must end"),
        ("a", {}, "path must end"),
        ("a.gif", {"fps": 0}, "fps must"),
        ("a.gif", {"fps": "fast"}, "fps must"),
        ("a.gif", {"max_frames": 1}, "max_frames must"),
        ("a.gif", {"max_points": 0}, "max_points must"),
        ("a.html", {"max_frames": 1}, "max_frames must"),
        ("a.html", {"max_points": 0}, "max_points must"),
    ],
)
def test_bad_arguments_get_one_sentence(recorder, tmp_path, name, settings, said):
    with pytest.raises(ValueError, match=said) as error:
        recorder.movie(tmp_path / name, **settings)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(recorder, tmp_path):
    with pytest.raises(FileNotFoundError, match="folder"):
        recorder.movie(tmp_path / "none" / "a.gif")


@pytest.mark.slow
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


def draw_pixels(scene):
    scene.figure.canvas.draw()
    return np.array(scene.figure.canvas.buffer_rgba())[..., :3]


@pytest.mark.slow
def test_what_stays_the_same_is_drawn_once_and_in_place(film):
    scene = movie._MovieFigure(film, 50)
    assert not any(ax.xaxis.get_visible() for ax in scene.figure.axes)
    scene.show_frame(0)
    first = draw_pixels(scene)
    for ax in scene.figure.axes:  # the line below each of them
        (x0, y0), (x1, _) = np.floor(ax.bbox.get_points()).astype(int)
        rows = first[first.shape[0] - 1 - y0 - 1 : first.shape[0] - y0 + 1, x0 + 5 : x1 - 5]
        assert rows.min(axis=(0, 2)).max() < 120
    scene.show_frame(len(film) - 1)
    assert 0.001 < np.mean(first != draw_pixels(scene)) < 0.3


@pytest.mark.slow
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


@pytest.mark.slow
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
    path = make_recorder(**({"steps": 2} | settings)).movie(tmp_path / "a.gif", fps=1)
    with Image.open(path) as image:
        assert image.n_frames == (1 if settings.get("steps") == 0 else 3)


# --- the page


@pytest.fixture(scope="module")
def page(recorder, tmp_path_factory):
    return recorder.movie(tmp_path_factory.mktemp("page") / "page.html")


def test_the_page_is_the_explorer_of_the_last_frame_with_all_frames(recorder, page):
    content = data_of(page)
    frames = content["frames"]
    assert frames["steps"] == recorder.steps.tolist()
    assert frames["accuracy"] == pytest.approx(recorder.accuracy, abs=1e-4)
    x = content["arrays"]["frames.x"].reshape(13, 120, -1)
    np.testing.assert_allclose(x[4], recorder.coordinates(4)[0], rtol=2e-3, atol=1e-3)
    assert content["classes"]["names"] == ["0", "1", "2", "3"]
    assert content["arrays"]["0.classes"].tolist() == (np.arange(120) % 4).tolist()
    claimed = [axis["training"] for axis in content["axes"]]
    np.testing.assert_allclose(claimed, np.sqrt(recorder.decomposition(-1).pics))


def test_labels_judge_what_the_page_claims(recorder, page, tmp_path):
    expected = fit_last_frame(recorder).evaluate(recorder.beliefs(-1), np.arange(120) % 4).correlations
    np.testing.assert_allclose([axis["held_out"] for axis in data_of(page)["axes"]], expected)
    unlabelled = data_of(make_recorder(y=False).movie(tmp_path / "a.html"))
    assert unlabelled["frames"]["accuracy"] is None
    assert {axis["held_out"] for axis in unlabelled["axes"]} == {None}


def fit_last_frame(recorder):
    return co.ClassifierCA.from_beliefs(recorder.beliefs(-1), recorder.classes)


def test_a_page_shows_some_of_the_points_and_frames(tmp_path):
    content = data_of(make_recorder(n=300, steps=60).movie(tmp_path / "a.html", max_points=50))
    assert content["clouds"][0]["n"] == 50
    assert len(content["frames"]["steps"]) == 40
    assert content["frames"]["steps"][0] == 0
    assert content["frames"]["steps"][-1] == 60


def test_a_loaded_recording_makes_the_same_page(tmp_path):
    recorder = make_recorder(path=tmp_path / "frames")
    first, again = recorder.movie(tmp_path / "a.html"), TrainingRecorder.load(tmp_path / "frames")
    assert again.movie(tmp_path / "b.html").read_bytes() == first.read_bytes()


@pytest.mark.parametrize("y", [None, np.arange(10) % 3])
def test_beliefs_without_a_component_make_a_page_that_says_so(y, tmp_path):
    recorder = TrainingRecorder(lambda rows: np.tile([0.2, 0.3, 0.5], (len(rows), 1)), np.arange(10), y)
    assert "no components to show" in recorder.movie(tmp_path / "a.html").read_text("utf-8")


@pytest.mark.slow
def test_slider_and_button_play_the_training(page):
    with opened(page, viewport={"width": 1200, "height": 900}) as seen:
        tab = seen.page
        assert tab.title() == "What a classifier learnt"
        assert tab.inner_text("h1") == "What a classifier learnt"
        assert tab.inner_text("#step").startswith("step 12, accuracy")  # it opens with the last frame
        tab.fill("#frame", "5")
        assert tab.inner_text("#step").startswith("step 5, accuracy")
        places = "Array.from(explorer.plane.xy.slice(0, 240))"
        before = tab.evaluate(places)
        tab.click("#play")
        tab.wait_for_function("document.getElementById('frame').value === '12'")
        tab.wait_for_function("document.getElementById('play').textContent === '▶'")
        assert np.abs(np.subtract(before, tab.evaluate(places))).max() > 0.1
        assert seen.problems == []
        assert len(seen.requests) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", [{"k": 2}, {"y": False}, {"steps": 0}, {"k": 300, "n": 600, "steps": 1}, {"classes": HOSTILE}]
)
def test_any_recording_makes_a_page_that_plays(settings, tmp_path):
    with opened(make_recorder(**settings).movie(tmp_path / "a.html")) as seen:
        last = settings.get("steps", 12)
        assert seen.page.inner_text("#step").startswith(f"step {last}")
        seen.page.click("#play")
        seen.page.wait_for_function(f"document.getElementById('frame').value === '{last}'")
        seen.page.wait_for_function("document.getElementById('play').textContent === '▶'")
        assert seen.page.locator("img").count() == 0
        assert seen.problems == []


# --- the timeline


def test_a_timeline_is_drawn_with_pics_above_and_classes_below():
    recorder = make_recorder(classes=["ant", "bee", "cat", "a name with $x^2$"], steps=30)
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
    with pytest.raises(TypeError, match="timeline must"):
        co.plot.timeline(recorder)


def test_names_at_the_ends_are_moved_apart():
    values = np.array([0.5, 0.5, 0.51, 0.9, 1.0, 1.0])
    places = move_apart(values, 0.06, 0, 1.03)
    assert np.diff(np.sort(places)).min() > 0.06 - 1e-9
    assert places.max() <= 1.03 + 1e-9
    assert (np.argsort(places, kind="stable") == np.argsort(values, kind="stable")).all()
    assert np.abs(places - values).max() < 0.16
