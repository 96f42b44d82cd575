"""Files written before the modules were moved into rooms are read, and give the same answers."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from saved import make

import correspondence as co
from correspondence.estimators.pice.checkpoint import read_last_step

FOLDER = Path(__file__).parent / "saved"
NAMES = sorted(path.stem for path in FOLDER.glob("*.safetensors") if path.stem != "index")
CROSS_FITTED = [f"ace-{name}" for name in ("logistic", "forest", "boosting", "histogram-boosting", "net")]
ANSWERS = dict(np.load(FOLDER / "answers.npz")) | dict(np.load(FOLDER / "answers-cross-fitted.npz"))
VALUES = {
    "ca": make.draw_labels,
    "ridge-ca": make.draw_labels,
    "ace-frames": make.draw_frames,
    "cca-texts": make.draw_texts,
    "pice-texts": make.draw_texts,
} | dict.fromkeys(CROSS_FITTED, make.draw_classes)


def test_every_kind_of_functions_is_there():
    assert len(NAMES) == 16


@pytest.mark.parametrize("name", [name for name in NAMES if name != "beliefs"])
def test_a_decomposition_answers_as_before(name):
    d = co.load(FOLDER / f"{name}.safetensors")
    for key, answer in make.ask_decomposition(d, VALUES.get(name, make.draw_pairs)()).items():
        np.testing.assert_allclose(answer, ANSWERS[f"{name}.{key}"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "beliefs"])
def test_a_decomposition_is_saved_with_the_same_bytes(name, tmp_path):
    co.load(FOLDER / f"{name}.safetensors").save(tmp_path / "again.safetensors")
    paths = FOLDER / f"{name}.safetensors", tmp_path / "again.safetensors"
    before, after = ({key: (a.dtype, a.shape, a.tobytes()) for key, a in load_file(path).items()} for path in paths)
    assert before == after  # the description included


def test_beliefs_answer_as_before():
    d = co.load(FOLDER / "beliefs.safetensors")
    np.testing.assert_allclose(d.pics, ANSWERS["beliefs.pics"])
    np.testing.assert_allclose(d.g(make.draw_labels()[1][:20]), ANSWERS["beliefs.g"])


def test_an_index_answers_as_before():
    index = co.CrossModalIndex.load(FOLDER / "index.safetensors")
    found = index.tags(make.draw_pairs()[0][:5], k=3).labels
    assert np.array(found, dtype=str).tolist() == ANSWERS["index.tags"].tolist()


def test_a_training_goes_on_from_its_checkpoint(tmp_path):
    shutil.copytree(FOLDER / "checkpoint", tmp_path / "checkpoint")
    assert read_last_step(tmp_path / "checkpoint") == 60
    est = make.train_with_checkpoint(tmp_path / "checkpoint")
    assert est.history_[-1]["step"] == 60
    np.testing.assert_allclose(est.correlations_, ANSWERS["checkpoint.correlations"], rtol=1e-4)


def test_a_recording_is_read():
    recorder = co.TrainingRecorder.load(FOLDER / "recording")
    assert recorder.beliefs(-1).shape == (20, 3)
    np.testing.assert_allclose(recorder.beliefs(-1).sum(axis=1), 1, atol=1e-2)
