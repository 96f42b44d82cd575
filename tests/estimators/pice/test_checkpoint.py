"""Interrupted training goes on as if nothing had happened."""

import time

import numpy as np
import pytest
import torch
from forks import get_context
from torch.utils.data import DataLoader, TensorDataset

import correspondence as co
from correspondence.estimators.pice.checkpoint import CHECKPOINT_FILE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ranks")]  # which share the process that others are forked from

STEPS = {"batch_size": 32, "max_steps": 300, "evaluate_every": 30, "patience": 100, "checkpoint_every": 7}


def train(folder, pipe):
    """Train, and send whatever came out of it."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    Y = np.sign(X[:, 0] * X[:, 1]) + 0.3 * rng.normal(size=1500)
    est = co.PICE(2, checkpoint=folder, progress=False, **STEPS).fit(X, Y)
    pipe.send([est.model_, est.transform(X).tolist(), est.history_, est.validation_.captured])


def start(folder):
    """Process that trains, and the end of its pipe."""
    here, there = get_context().Pipe()
    process = get_context().Process(target=train, args=(folder, there))
    process.start()
    there.close()
    return process, here


def finish(folder):
    process, pipe = start(folder)
    assert pipe.poll(300)
    result = pipe.recv()
    process.join()
    return result


def test_killed_at_any_moment_it_ends_with_the_same_numbers(tmp_path):
    whole = finish(None)
    folder = tmp_path / "run"
    for _ in range(2):
        seen = (folder / CHECKPOINT_FILE).stat().st_mtime_ns if (folder / CHECKPOINT_FILE).exists() else 0
        process, _ = start(folder)
        while process.is_alive() and not (
            (folder / CHECKPOINT_FILE).exists() and (folder / CHECKPOINT_FILE).stat().st_mtime_ns > seen
        ):
            time.sleep(0.01)
        time.sleep(0.1)
        process.kill()
        process.join()
        assert (folder / CHECKPOINT_FILE).exists()
    assert finish(folder) == whole
    assert finish(folder) == whole


def data(rng):
    X = rng.normal(size=(300, 2))
    return X, X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=300)


def options(folder, **others):
    return {
        "n_components": 1,
        "max_steps": 30,
        "progress": False,
        "checkpoint": folder,
        "checkpoint_every": 10,
    } | others


def test_other_data_or_settings_are_refused(tmp_path, rng):
    X, Y = data(rng)
    co.PICE(**options(tmp_path)).fit(X, Y)
    with pytest.raises(ValueError, match="checkpoint must"):
        co.PICE(**options(tmp_path)).fit(X, Y + 1e-3 * X[:, 0])
    with pytest.raises(ValueError, match="checkpoint must"):
        co.PICE(**options(tmp_path, learning_rate=1e-4)).fit(X, Y)


def test_nets_made_by_a_function_go_on(tmp_path, rng):
    X, Y = data(rng)
    first, second = (
        co.PICE(**options(tmp_path, x_net=lambda i, k: torch.nn.Linear(i, k), y_net=lambda i, k: torch.nn.Linear(i, k)))
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.fit(X, Y).transform(X), second.fit(X, Y).transform(X))
    with pytest.raises(ValueError, match="checkpoint must"):
        co.PICE(**options(tmp_path, x_net=torch.nn.Linear(2, 3), y_net=torch.nn.Linear(1, 3))).fit(X, Y)


def test_warm_starts_go_beyond_a_finished_run(tmp_path, rng):
    X, Y = data(rng)
    est = co.PICE(**options(tmp_path, warm_start=True)).fit(X, Y)
    first = est._nets[0].net.state_dict()["body.0.weight"].clone()
    est.fit(X, Y)
    assert not torch.equal(est._nets[0].net.state_dict()["body.0.weight"], first)


def test_a_damaged_checkpoint_is_named(tmp_path, rng):
    X, Y = data(rng)
    co.PICE(**options(tmp_path)).fit(X, Y)
    (tmp_path / CHECKPOINT_FILE).write_bytes((tmp_path / CHECKPOINT_FILE).read_bytes()[:-100])
    with pytest.raises(ValueError, match="damaged"):
        co.PICE(**options(tmp_path)).fit(X, Y)


def test_nothing_but_the_checkpoint_is_left(tmp_path, rng):
    co.PICE(**options(tmp_path / "new" / "folder")).fit(*data(rng))
    assert [path.name for path in (tmp_path / "new" / "folder").iterdir()] == [CHECKPOINT_FILE]


def test_a_stream_goes_on_too(tmp_path, rng):
    X, Y = data(rng)
    loader = DataLoader(TensorDataset(torch.tensor(X), torch.tensor(Y)), batch_size=32, shuffle=True)
    whole = co.PICE(**options(None, evaluate_every=15)).fit(loader)

    def interrupt(step, d):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        co.PICE(**options(tmp_path, evaluate_every=15, callbacks=[interrupt], checkpoint_every=5)).fit(loader)
    assert (tmp_path / CHECKPOINT_FILE).exists()
    resumed = co.PICE(**options(tmp_path, evaluate_every=15)).fit(loader)
    assert resumed.history_ == whole.history_
    np.testing.assert_array_equal(resumed.transform(X), whole.transform(X))
