"""Recording a training: what is kept, on disk, in any case; and coordinates that neither flip nor jump."""

import ast
import gc
import inspect
import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import orthogonal_procrustes
from sklearn.datasets import load_iris
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

import correspondence as co
from correspondence.classifiers.estimator import ClassifierCA
from correspondence.recording.recorder import TrainingRecorder
from correspondence.recording.recording import Recording

X, Y = load_iris(return_X_y=True)
X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)
NAMES = np.array(["setosa", "versicolor", "virginica"], object)


class Growing:
    """A model whose certainty grows from step to step: its beliefs are a known function of the step."""

    def __init__(self, k=4, n=60, seed=0):
        rng = np.random.default_rng(seed)
        self.step, self.n, self.k = 0, n, k
        self.codes = rng.integers(0, k, n)
        self.noise = rng.normal(size=(n, k))

    def at(self, step):
        logits = 0.3 * self.noise + 0.1 * step * np.eye(self.k)[self.codes]
        P = np.exp(logits)
        return P / P.sum(axis=1, keepdims=True)

    def __call__(self, rows):
        return self.at(self.step)[rows]

    def train(self, recorder, steps):
        for _ in range(steps):
            self.step += 1
            recorder.step()
        return recorder


def record_steps(steps=20, k=4, n=60, **settings):
    model = Growing(k, n)
    return model.train(TrainingRecorder(model, np.arange(n), model.codes, **settings), steps)


@pytest.fixture(scope="module")
def iris():
    """A network in torch, on the iris."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    recorder = TrainingRecorder(net, X[1::2], NAMES[Y[1::2]], every=2, classes=NAMES)
    inputs, labels = torch.from_numpy(X[::2]), torch.from_numpy(Y[::2])
    for _ in range(80):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
        recorder.step()
    return recorder, net


# --- what is recorded


def test_the_first_frame_is_before_the_training_and_then_every_tenth_step():
    assert record_steps(35).steps.tolist() == [0, 10, 20, 30]
    assert record_steps(7, every=3).steps.tolist() == [0, 3, 6]


def test_frames_are_the_beliefs_at_their_steps_and_rows_sum_to_one():
    model = Growing()
    recorder = model.train(TrainingRecorder(model, np.arange(60), every=4), 20)
    assert len(recorder) == len(recorder.frames) == 6
    for step, P in zip(recorder.steps, recorder.frames, strict=True):
        np.testing.assert_allclose(P, model.at(step), atol=1e-3)
        np.testing.assert_allclose(P.sum(axis=1), 1, rtol=0, atol=1e-15)
        assert P.dtype == np.float64
    assert np.array_equal(recorder.beliefs(-1), recorder.frames[5])
    assert len(recorder.frames[1:3]) == 2


def test_it_is_a_callback_that_ignores_its_arguments():
    recorder = record_steps(0, every=2)
    for i in range(4):
        recorder(i, "loss", metrics={})
    assert recorder.steps.tolist() == [0, 2, 4]


def test_record_adds_the_present_state_once():
    recorder = record_steps(7, every=5)
    recorder.record()
    recorder.record()
    assert recorder.steps.tolist() == [0, 5, 7]


@pytest.mark.slow
def test_a_torch_network_is_recorded_in_two_lines(iris):
    recorder, net = iris
    torch = sys.modules["torch"]
    assert recorder.steps.tolist() == list(range(0, 81, 2))
    with torch.inference_mode():
        expected = torch.softmax(net(torch.from_numpy(X[1::2])), dim=1).numpy()
    np.testing.assert_allclose(recorder.beliefs(-1), expected, atol=1e-3)
    assert recorder.accuracy[0] < 0.7 < 0.9 < recorder.accuracy[-1]


@pytest.mark.slow
def test_recording_changes_nothing_in_a_torch_training():
    torch = pytest.importorskip("torch", reason="torch is not installed")

    def trained(is_recorded):
        torch.manual_seed(3)
        parts = [torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 3)]
        net = torch.nn.Sequential(*parts)
        recorder = TrainingRecorder(net, torch.from_numpy(X), torch.from_numpy(Y), every=1) if is_recorded else None
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(5):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(torch.from_numpy(X)), torch.from_numpy(Y)).backward()
            optimizer.step()
            if recorder is not None:
                recorder.step()
        assert net.training
        return net.state_dict()

    with_it, without = trained(True), trained(False)
    assert all(torch.equal(with_it[name], without[name]) for name in without)


def test_accuracy_is_that_of_the_labels_and_none_without_them():
    recorder = record_steps(20, every=5)
    codes = Growing().codes
    expected = [np.mean(P.argmax(axis=1) == codes) for P in recorder.frames]
    assert recorder.accuracy.tolist() == expected
    assert TrainingRecorder(Growing(), np.arange(60)).accuracy is None


# --- scikit-learn


def test_an_untrained_model_of_scikit_learn_is_first_asked_after_its_first_step():
    model = SGDClassifier(loss="log_loss", random_state=0)
    recorder = TrainingRecorder(model, X, Y, every=10)
    assert len(recorder) == 0
    assert recorder.classes is None
    with pytest.raises(ValueError, match="no frames yet"):
        recorder.timeline()
    recorder.partial_fit(X, Y, batch_size=10, epochs=2)
    assert recorder.steps.tolist() == [1, 10, 20, 30]
    assert recorder.classes.tolist() == [0, 1, 2]
    np.testing.assert_allclose(recorder.beliefs(-1), model.predict_proba(X), atol=1e-3)


def test_partial_fit_is_reproducible_and_ends_with_a_frame():
    runs = [
        TrainingRecorder(MLPClassifier((5,), random_state=0), X, every=4).partial_fit(X, NAMES[Y], batch_size=20)
        for _ in range(2)
    ]
    assert runs[0].steps.tolist() == [1, 4, 8]
    assert np.array_equal(runs[0].beliefs(-1), runs[1].beliefs(-1))
    assert runs[0].classes.tolist() == NAMES.tolist()
    other = TrainingRecorder(MLPClassifier((5,), random_state=0), X, every=4)
    other.partial_fit(X, NAMES[Y], batch_size=20, random_state=1)
    assert not np.array_equal(runs[0].beliefs(-1), other.beliefs(-1))


def test_classes_that_the_training_data_lack_are_passed_on_the_first_call():
    two = Y < 2
    model = SGDClassifier(loss="log_loss", random_state=0)
    TrainingRecorder(model, X, Y).partial_fit(X[two], Y[two])
    assert model.classes_.tolist() == [0, 1, 2]


def test_classes_in_another_order_do_not_rename_the_columns():
    model = SGDClassifier(loss="log_loss", random_state=0)
    recorder = TrainingRecorder(model, X, NAMES[Y], classes=NAMES[::-1])
    recorder.partial_fit(X, NAMES[Y], batch_size=10, epochs=5)
    assert recorder.classes.tolist() == NAMES.tolist()
    assert recorder.accuracy[-1] == model.score(X, NAMES[Y])


def test_errors_other_than_not_fitted_are_not_hidden():
    def broken(rows):
        raise RuntimeError("out of order")

    with pytest.raises(ValueError, match="out of order"):
        TrainingRecorder(broken, X)


# --- bounded


@pytest.mark.slow
@given(st.integers(2, 12), st.integers(0, 120), st.integers(1, 3))
def test_frames_are_thinned_and_the_first_and_newest_stay(most, steps, every):
    recorder = record_steps(steps, k=3, n=5, max_frames=most, every=every)
    kept = recorder.steps
    assert len(kept) <= most
    assert kept[0] == 0
    assert steps - recorder.every < kept[-1] <= steps
    assert recorder.every % every == 0
    model = Growing(3, 5)
    for step, P in zip(kept, recorder.frames, strict=True):
        np.testing.assert_allclose(P, model.at(step), atol=1e-3)


def test_every_doubles_with_each_thinning():
    recorder = record_steps(8, max_frames=8, every=1)
    assert recorder.every == 2
    assert recorder.steps.tolist() == [0, 2, 4, 6, 8]
    assert record_steps(5, max_frames=5, every=1).steps.tolist() == [0, 2, 4, 5]  # the newest stays
    assert record_steps(6, max_frames=5, every=1).steps.tolist() == [0, 2, 4, 5, 6]
    assert record_steps(8, max_frames=5, every=1).steps.tolist() == [0, 4, 8]


def test_memory_and_disk_are_bounded(tmp_path):
    recorder = record_steps(300, k=5, n=40, max_frames=10, every=1, path=tmp_path / "run")
    frames = [file for file in (tmp_path / "run").iterdir() if file.suffix == ".f16"]
    assert len(frames) == 1
    assert frames[0].stat().st_size == len(recorder) * 40 * 5 * 2
    assert sorted(file.suffix for file in (tmp_path / "run").iterdir()) == [".f16", ".json"]


@pytest.mark.slow
def test_a_temporary_folder_goes_with_the_recorder():
    recorder = record_steps(20)
    folder = recorder._recording.folder
    assert folder.is_dir()
    del recorder
    gc.collect()
    assert not folder.exists()


# --- files


def test_a_recording_is_loaded_as_it_was(tmp_path):
    recorder = record_steps(30, every=5, path=tmp_path / "a" / "run")
    loaded = TrainingRecorder.load(tmp_path / "a" / "run")
    assert loaded.steps.tolist() == recorder.steps.tolist()
    assert loaded.classes.tolist() == recorder.classes.tolist()
    assert loaded.classes.dtype == recorder.classes.dtype
    assert all(np.array_equal(a, b) for a, b in zip(loaded.frames, recorder.frames, strict=True))
    assert loaded.accuracy.tolist() == recorder.accuracy.tolist()
    assert repr(loaded.timeline()) == repr(recorder.timeline())
    for call in (loaded.step, loaded.record, loaded, lambda: loaded.partial_fit(X, Y)):
        with pytest.raises(ValueError, match="was loaded"):
            call()


def test_names_of_classes_survive(tmp_path):
    model = Growing(3)
    names = ["a", ("b", 1), 2.5]
    TrainingRecorder(model, np.arange(60), classes=names, path=tmp_path / "run")
    assert TrainingRecorder.load(tmp_path / "run").classes.tolist() == names


def test_a_recording_is_not_overwritten(tmp_path):
    record_steps(10, path=tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(FileExistsError, match=r"path: .* a recording"):
        record_steps(20, path=tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("steps", [0, 3, 7])
def test_a_run_killed_between_a_frame_and_its_index_can_be_loaded(tmp_path, monkeypatch, steps):
    model = Growing()
    recorder = TrainingRecorder(model, np.arange(60), every=1, path=tmp_path / "run")
    model.train(recorder, steps)
    monkeypatch.setattr(Recording, "write_index", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        model.train(recorder, 1)
    loaded = TrainingRecorder.load(tmp_path / "run")
    assert loaded.steps.tolist() == list(range(steps + 1))
    np.testing.assert_allclose(loaded.beliefs(-1), model.at(steps), atol=1e-3)


def test_a_run_killed_while_frames_are_dropped_can_be_loaded(tmp_path, monkeypatch):
    recorder = record_steps(7, every=1, max_frames=8, path=tmp_path / "run")
    write = Recording.write_index

    def killed(self):
        if self.file == "frames-1.f16":
            raise KeyboardInterrupt
        write(self)

    monkeypatch.setattr(Recording, "write_index", killed)
    with pytest.raises(KeyboardInterrupt):
        recorder.step()
    loaded = TrainingRecorder.load(tmp_path / "run")
    assert loaded.steps.tolist() == list(range(9))
    assert loaded.beliefs(8).shape == (60, 4)


@pytest.mark.slow
def test_a_killed_process_leaves_a_recording(tmp_path):
    program = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_recorder import Growing, TrainingRecorder, np
model = Growing()
recorder = TrainingRecorder(model, np.arange(60), every=1, path={str(tmp_path / "run")!r})
model.train(recorder, 5)
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=False).returncode == -9
    assert TrainingRecorder.load(tmp_path / "run").steps.tolist() == list(range(6))


def test_what_a_run_left_that_was_killed_in_its_first_frame_does_no_harm(tmp_path):
    (tmp_path / "frames-0.f16").write_bytes(b"\xff" * 7)
    record_steps(10, path=tmp_path)
    np.testing.assert_allclose(TrainingRecorder.load(tmp_path).beliefs(0), Growing().at(0), atol=1e-3)


def test_what_is_no_recording_is_not_loaded(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"path: .* no recording"):
        TrainingRecorder.load(tmp_path)
    record_steps(10, path=tmp_path)
    frames, index = tmp_path / "frames-0.f16", tmp_path / "recording.json"
    whole, said = frames.read_bytes(), index.read_text()
    frames.write_bytes(whole[:-1])
    with pytest.raises(ValueError, match="cut short"):
        TrainingRecorder.load(tmp_path)
    frames.write_bytes(whole)
    index.write_text(json.dumps(json.loads(said) | {"version": 99}))
    with pytest.raises(ValueError, match="version 99"):
        TrainingRecorder.load(tmp_path)
    index.write_text("{}")
    with pytest.raises(ValueError, match="not written"):
        TrainingRecorder.load(tmp_path)
    index.write_text(said[:20])
    with pytest.raises(ValueError, match="is damaged"):
        TrainingRecorder.load(tmp_path)


# --- coordinates


def test_coordinates_of_the_last_frame_are_those_of_its_decomposition(iris):
    recorder, _ = iris
    d = recorder.decomposition(-1)
    inputs, classes = recorder.coordinates(-1)
    np.testing.assert_allclose(inputs, d.f(recorder.beliefs(-1)) * d.correlations, atol=1e-10)
    np.testing.assert_allclose(classes, d.g.values, atol=1e-10)


def test_decomposition_is_that_of_classifier_ca(iris):
    recorder, _ = iris
    expected = ClassifierCA.from_beliefs(recorder.beliefs(5), NAMES).decomposition_
    np.testing.assert_allclose(recorder.decomposition(5).pics, expected.pics)


@pytest.mark.parametrize("i", [0, 3, 10, 20])
def test_coordinates_keep_all_distances_and_chi2(i):
    recorder = record_steps(20, k=5, every=1)
    inputs, _ = recorder.coordinates(i)
    d = recorder.decomposition(i)
    own = d.f(recorder.beliefs(i)) * d.correlations
    np.testing.assert_allclose(inputs @ inputs.T, own @ own.T, atol=1e-10)
    np.testing.assert_allclose(inputs.var(axis=0).sum(), d.chi2)


@pytest.mark.parametrize("i", [0, 3, 10])
def test_coordinates_are_the_procrustes_rotation_onto_the_last_frame(i):
    recorder = record_steps(20, k=5, every=1)
    frames = [(recorder.decomposition(j), recorder.beliefs(j)) for j in (i, -1)]
    V, last = (np.sqrt(P.mean(axis=0))[:, None] * d.g.values for d, P in frames)
    rotation, _ = orthogonal_procrustes(V, last)
    d, P = frames[0]
    inputs, classes = recorder.coordinates(i)
    np.testing.assert_allclose(inputs, (d.f(P) * d.correlations) @ rotation, atol=1e-9)
    np.testing.assert_allclose(classes, d.g.values @ rotation, atol=1e-9)


def test_a_class_is_where_an_input_wholly_believed_to_be_it_is():
    certain = np.eye(4)[[0, 1, 2, 3, 0, 1]]
    model = Growing(4, 54)
    model.noise[0] = 0
    step = {"now": 0}

    def answer(rows):
        return np.vstack([certain, model.at(step["now"])])[rows]

    recorder = TrainingRecorder(answer, np.arange(60), every=1)
    step["now"] = 9
    recorder.step()
    for i in range(2):
        inputs, classes = recorder.coordinates(i)
        np.testing.assert_allclose(inputs[:4], classes, atol=1e-10)


def scale_beliefs(P):
    """(P - p) D^{-1/2} and sqrt(p)."""
    root = np.sqrt(P.mean(axis=0))
    return P / root - root, root


def bound_jump(P, Q):
    """How far an input may move when beliefs change from P to Q.

    By the change of (P - p) D^{-1/2}, and by the turn of the axes, which is at most three times that of sqrt(p).
    """
    (before, a), (after, b) = scale_beliefs(P), scale_beliefs(Q)
    return (
        np.linalg.norm(after - before, axis=1).max() + 3 * np.linalg.norm(a - b) * np.linalg.norm(before, axis=1).max()
    )


def measure_jumps(coordinates):
    return np.array([np.linalg.norm(b - a, axis=1).max() for a, b in pairwise(coordinates)])


def make_crossing(steps=20):
    """A model in which the two components change places half way: PICs a^2 and b^2 of two contrasts of four classes."""
    codes, contrasts = np.arange(80) % 4, np.array([[1, 1, -1, -1], [1, -1, 1, -1]])
    model = Growing(4, 80)

    def at(step):
        sizes = np.array([0.6, 0.3]) + step / steps * np.array([-0.3, 0.3])
        return (1 + (contrasts[:, codes].T * sizes) @ contrasts) / 4

    model.at = at
    return model.train(TrainingRecorder(model, np.arange(80), every=1), steps)


@pytest.mark.parametrize("make", [lambda: record_steps(30, every=1, k=6), make_crossing], ids=["growing", "crossing"])
def test_frames_do_not_jump_more_than_the_beliefs_and_axes_never_flip(make):
    recorder = make()
    frames = [recorder.coordinates(i)[0] for i in range(len(recorder))]
    allowed = np.array([bound_jump(P, Q) for P, Q in pairwise(recorder.frames)])
    assert (measure_jumps(frames) <= allowed + 1e-9).all()
    for before, after in pairwise(frames):
        size = np.linalg.norm(before, axis=0)
        along = np.sum(before * after, axis=0)[size > 0.01]  # what is below is rounding
        assert (along > 0).all()


def test_a_real_network_does_not_jump_more_than_its_beliefs(iris):
    recorder, _ = iris
    frames = [recorder.coordinates(i)[0] for i in range(len(recorder))]
    allowed = np.array([bound_jump(P, Q) for P, Q in pairwise(recorder.frames)])
    assert (measure_jumps(frames) <= allowed + 1e-9).all()
    _, axes = recorder.coordinates(-1)
    last = axes * np.sqrt(recorder.beliefs(-1).mean(axis=0))[:, None]
    for i, inputs in enumerate(frames):  # each axis goes the same way as the last frame's, whatever is believed
        direct = scale_beliefs(recorder.beliefs(i))[0] @ last
        assert (np.sum(inputs * direct, axis=0) > 0).all()


def test_components_that_swap_their_order_do_not_swap_places():
    recorder = make_crossing()
    own = [recorder.decomposition(i).f(P)[:, :2] for i, P in enumerate(recorder.frames)]
    assert abs(np.corrcoef(own[0][:, 0], own[-1][:, 0])[0, 1]) < 0.1  # the first component is another one
    allowed = [bound_jump(P, Q) for P, Q in pairwise(recorder.frames)]
    raw = [f * recorder.decomposition(i).correlations[:2] for i, f in enumerate(own)]
    assert (measure_jumps(raw) > np.array(allowed)).any()  # so that frames as they are would jump
    assert measure_jumps([recorder.coordinates(i)[0] for i in range(len(recorder))]).max() < 0.05


def test_a_class_that_is_never_believed_has_no_place_and_makes_no_noise():
    step = {"now": 0}
    P = Growing(4).at(5)
    none = P.copy()
    none[:, 3] = 0
    none /= none.sum(axis=1, keepdims=True)

    def answer(rows):
        return (P if step["now"] else none)[rows]

    recorder = TrainingRecorder(answer, np.arange(60), Growing(4).codes, every=1)
    assert np.isfinite(recorder.coordinates(0)[0]).all()
    step["now"] = 1
    recorder.step()
    inputs, classes = recorder.coordinates(0)
    assert inputs.shape == (60, 3)
    assert np.isfinite(inputs).all()
    assert np.isnan(classes[3]).all()
    assert np.isfinite(classes[:3]).all()
    assert len(recorder.decomposition(0).pics) == 2


def test_beliefs_that_are_all_the_same_are_at_the_origin():
    recorder = TrainingRecorder(lambda rows: np.full((len(rows), 3), 1 / 3), np.arange(10), every=1)
    inputs, classes = recorder.coordinates(0)
    np.testing.assert_allclose(inputs, 0, atol=1e-12)
    assert classes.shape == (3, 2)
    assert recorder.timeline().chi2.tolist() == [0.0]


# --- errors and weight


def check_sentence(error):
    text = str(error.value)
    assert text.endswith(".")
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"y": [0, 1]}, "y must"),
        ({"y": [9] * 60}, "y: 9 is not"),
        ({"every": 0}, "every must"),
        ({"every": 1.5}, "every must"),
        ({"max_frames": 1}, "max_frames must"),
        ({"X_probe": []}, "X_probe must"),
        ({"X_probe": iter([np.arange(3)])}, "X_probe must"),
        ({"outputs": "odds"}, "outputs must"),
        ({"batch_size": 0}, "batch_size must"),
        ({"classes": ["a", "b"]}, "classes has 2"),
    ],
)
def test_bad_arguments_get_one_sentence_and_leave_no_folder(tmp_path, change, said):
    arguments = {"model": Growing(), "X_probe": np.arange(60), "path": tmp_path / "run"} | change
    with pytest.raises((ValueError, TypeError), match=said) as error:
        TrainingRecorder(**arguments)
    check_sentence(error)
    assert not (tmp_path / "run").exists()


def test_a_path_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "run").touch()
    with pytest.raises(NotADirectoryError, match="path must") as error:
        record_steps(1, path=tmp_path / "run")
    check_sentence(error)


def test_frames_that_are_not_there_and_models_that_cannot_be_fitted():
    recorder = record_steps(10)
    for i in (2, -3, "last"):
        with pytest.raises(ValueError, match="i must") as error:
            recorder.beliefs(i)
        check_sentence(error)
    with pytest.raises(TypeError, match="partial_fit") as error:
        recorder.partial_fit(X, Y)
    check_sentence(error)
    with pytest.raises(IndexError):
        recorder.frames[5]


def test_classes_may_not_become_more():
    answers = [np.full((10, 2), 0.5), np.full((10, 4), 0.25)]
    recorder = TrainingRecorder(lambda rows: answers.pop(0), np.arange(10), every=1)
    with pytest.raises(ValueError, match="may change") as error:
        recorder.step()
    check_sentence(error)


def test_pictures_are_imported_only_for_a_movie():
    tree = ast.parse(Path(inspect.getsourcefile(TrainingRecorder)).read_text())
    imported = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    imported |= {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    assert "correspondence.classifiers.beliefs" in imported
    pictures = r"matplotlib|correspondence\.(plot|page|scene|recording\.movie)"
    assert not {name for name in imported if re.match(pictures, name)}


def test_frames_recorded_by_hand_are_thinned_by_every_second_one():
    recorder = TrainingRecorder(lambda rows: np.full((len(rows), 2), 0.5), np.arange(5), every=1000, max_frames=6)
    for i in range(1, 65):
        recorder.step()
        if i & (i - 1) == 0:
            recorder.record()
    assert recorder.steps.tolist()[:2] == [0, 2]
    assert 4 <= len(recorder) <= 6
    assert recorder.steps[-1] == 64


def test_beliefs_of_a_diverged_net_are_left_out_with_a_warning():
    answers = [np.full((4, 2), 0.5), np.full((4, 2), np.nan), np.full((4, 2), 0.5)]
    recorder = TrainingRecorder(lambda rows: answers.pop(0), np.arange(4), every=1)
    with pytest.warns(co.LeftOut, match=r"Step 1 .* NaN"):
        recorder.step()
    recorder.step()
    assert recorder.steps.tolist() == [0, 2]
    with pytest.raises(ValueError, match="NaN"):
        TrainingRecorder(lambda rows: np.full((4, 2), np.nan), np.arange(4))


@pytest.mark.parametrize(
    "damage", [{"steps": None}, {"n": "x"}, {"classes": None}, {"labels": [0]}, {"labels": [9] * 4}]
)
def test_a_damaged_index_is_one_sentence(tmp_path, damage):
    TrainingRecorder(lambda rows: np.full((4, 2), 0.5), np.arange(4), [0, 1, 0, 1], path=tmp_path / "run")
    index = tmp_path / "run" / "recording.json"
    index.write_text(json.dumps(json.loads(index.read_text()) | damage))
    with pytest.raises(ValueError, match=r"path: .* damaged"):
        TrainingRecorder.load(tmp_path / "run")
