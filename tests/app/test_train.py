"""`correspondence train`: from files to a model, by several processes, one of which may die."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from safetensors.numpy import load_file

import correspondence as co
from correspondence.app.cli import main
from correspondence.app.train.inputs import Split
from correspondence.app.train.options import Job
from correspondence.app.train.worker import train_job
from correspondence.estimators.pice import processes
from correspondence.estimators.pice.checkpoint import CHECKPOINT_FILE, read_last_step

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("train")]  # which share the fixtures of the module

FILES = ["history.csv", "model.safetensors", "summary.json"]
OPTIONS = ("--y", "y", "--steps", 60, "--evaluate-every", 20, "--batch-size", 256, "--checkpoint-every", 2)


def run(*arguments):
    return CliRunner().invoke(main, ["train", *(str(argument) for argument in arguments)])


def table(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.sign(X[:, 0] * X[:, 1]) + 0.3 * rng.normal(size=n)
    return pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})


def one_sentence(result, code=1):
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit), "a traceback"
    assert "Traceback" not in result.output
    (error,) = [line for line in result.output.splitlines() if line.startswith("Error: ")]
    return error


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "pairs.parquet"
    table().write_parquet(path)
    return path


@pytest.fixture(scope="module")
def whole(file, tmp_path_factory):
    """Result of two processes that nobody has disturbed."""
    folder = tmp_path_factory.mktemp("train") / "whole"
    result = run(file, *OPTIONS, "--nproc", 2, "-o", folder)
    assert result.exit_code == 0, result.output
    return folder, result


def test_what_is_told_and_written(whole, file):
    folder, result = whole
    assert sorted(path.name for path in folder.iterdir()) == FILES  # neither a checkpoint nor logs
    assert "x: 3 columns of numbers (a, b, c)" in result.output
    assert re.search(r"step 40 of 60: captured, held out: 0\.\d+, [\d,]+ samples/s", result.output)
    assert re.search(r"1,500 pairs, [\d.]+ s, 2 processes, 60 steps, [\d,]+ samples/s, \w+ model\.", result.output)
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["processes"], summary["threads"], summary["steps"]) == (2, 1, 60)
    assert summary["samples_per_second"] > 0
    first = summary["components"][0]
    assert first["low"] < first["held_out"] < first["high"]
    assert summary["held_out"]["n"] == 225
    history = pl.read_csv(folder / "history.csv")
    assert history["step"].to_list() == [20, 40, 60]
    assert history.columns == ["step", "loss", "learning_rate", "captured", "correlation_1", "correlation_2"]


def test_it_is_the_model_of_a_fit(whole):
    folder, _ = whole
    data = table()
    X, Y = data.select("a", "b", "c"), data.select("y")
    d = co.load(folder / "model.safetensors")
    est = co.PICE(2, max_steps=60, evaluate_every=20, batch_size=256, progress=False).fit(X, Y)
    np.testing.assert_allclose(d.correlations, est.correlations_, atol=1e-4)
    F, G = d.f(X), est.transform(X)
    np.testing.assert_allclose(F * np.sign(F[0]), G * np.sign(G[0]), atol=0.05)
    fresh = table(5000, seed=1)
    assert d.evaluate(fresh.select("a", "b", "c"), fresh.select("y")).correlations[0] > 0.5


def test_embed_takes_the_model(whole, file, tmp_path):
    folder, _ = whole
    for model, more in ((folder, ()), (folder / "model.safetensors", ())):
        result = CliRunner().invoke(main, ["embed", str(model), str(file), *more, "-o", str(tmp_path / "e.csv")])
        assert result.exit_code == 0, result.output
    assert pl.read_csv(tmp_path / "e.csv").columns == ["row", "f_1", "f_2", "g_1", "g_2", "density_ratio"]


def test_what_is_done_is_not_done_again(whole, file):
    folder, first = whole
    before = (folder / "summary.json").stat().st_mtime_ns
    again = run(file, *OPTIONS, "--nproc", 1, "-o", folder)
    assert again.exit_code == 0
    assert "holds the result of this command already" in again.output
    assert again.stdout == first.stdout
    assert (folder / "summary.json").stat().st_mtime_ns == before
    assert "steps 60 instead of 70" in one_sentence(run(file, *OPTIONS, "--steps", 70, "-o", folder))


# --- processes that die


class Running:
    """The command in a process of its own."""

    def __init__(self, folder, *arguments):
        self.folder = folder
        command = [sys.executable, "-m", "correspondence", "train", *map(str, arguments), "-o", str(folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def wait_for_a_checkpoint(self):
        end = time.monotonic() + 120
        while not (self.folder / "checkpoint" / CHECKPOINT_FILE).exists():
            assert self.process.poll() is None, self.process.communicate()[0]
            assert time.monotonic() < end
            time.sleep(0.01)

    def workers(self):
        """Processes by their rank."""
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if int((path / "stat").read_text().rsplit(")", 1)[1].split()[1]) == self.process.pid:
                    environment = (path / "environ").read_bytes().decode().split("\0")
                    found[int(next(e for e in environment if e.startswith("RANK=")).removeprefix("RANK="))] = int(
                        path.name
                    )
            except (OSError, StopIteration):
                continue
        return found

    def end(self):
        output, _ = self.process.communicate(timeout=120)
        return self.process.returncode, output


def is_alive(pid):
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def here(monkeypatch):
    monkeypatch.setattr("correspondence.app.train.launch.launch_processes", train_job)


linux = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks processes up in /proc")


@linux
def test_a_rank_dies_and_the_same_command_goes_on(whole, file, tmp_path):
    folder = tmp_path / "killed"
    arguments = (file, *OPTIONS, "--nproc", 2)
    running = Running(folder, *arguments)
    running.wait_for_a_checkpoint()
    workers = running.workers()
    assert sorted(workers) == [0, 1]
    os.kill(workers[1], signal.SIGKILL)
    code, output = running.end()
    assert code == 1
    assert "Traceback" not in output
    step = read_last_step(folder / "checkpoint")
    (error,) = [line for line in output.splitlines() if line.startswith("Error: ")]
    assert "Process 1 (of 0 to 1) of the training was killed (SIGKILL" in error
    assert f"holds step {step} of 60: the same command goes on from there." in error
    assert not any(map(is_alive, workers.values()))
    assert not (folder / "summary.json").exists()

    other = run(file, *OPTIONS, "--nproc", 2, "--learning-rate", 0.1, "-o", folder)
    assert "learning_rate 0.003 instead of 0.1" in one_sentence(other)
    result = run(*arguments, "-o", folder)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in folder.iterdir()) == FILES
    resumed, undisturbed = (load_file(place / "model.safetensors") for place in (folder, whole[0]))
    assert resumed.keys() == undisturbed.keys()
    for name, array in resumed.items():  # to the last bit
        np.testing.assert_array_equal(array, undisturbed[name], err_msg=name)
    assert (folder / "history.csv").read_text() == (whole[0] / "history.csv").read_text()


@linux
def test_after_ctrl_c_another_number_of_processes_goes_on(file, tmp_path, here):
    """Of a file that is read in blocks, whose closed form is merged from the processes, with other rounding errors.

    The process that goes on is this one, which spares the start of another.
    """
    folder = tmp_path / "stopped"
    arguments = (file, *OPTIONS, "--steps", 200, "--schedule", "anneal", "--stream")
    running = Running(folder, *arguments, "--nproc", 2)
    running.wait_for_a_checkpoint()
    workers = running.workers()
    running.process.send_signal(signal.SIGINT)
    code, output = running.end()
    assert code == 130
    assert "Interrupted." in output
    assert "Traceback" not in output
    assert not any(map(is_alive, workers.values()))
    step = read_last_step(folder / "checkpoint")
    assert 2 <= step < 200
    assert f"holds step {step} of 200: the same command goes on from there." in output

    result = run(*arguments, "-o", folder)
    assert result.exit_code == 0, result.output
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["steps"], summary["processes"]) == (200, 1)


# --- other data, by a single process: this one, which spares the start of another


def test_several_files_are_read_in_blocks(here, tmp_path):
    parts = [table(800, seed) for seed in range(2)]
    for i, part in enumerate(parts):
        labels = (part["y"] > 0).cast(pl.Int64)
        part = part.with_columns(
            grade=labels.cast(pl.Float64), y=pl.when(pl.int_range(800) == 5).then(None).otherwise("y")
        )
        part.write_csv(tmp_path / f"part-{i}.csv")
    folder = tmp_path / "out"
    pattern = tmp_path / "part-*.csv"
    arguments = (pattern, "--x", "a,b,y", "--y", "grade", "--labels", "grade", "--components", 1, "--steps", 40)
    result = run(*arguments, "-o", folder)
    assert result.exit_code == 0, result.output
    assert "y: labels, 2 different (grade)" in result.output
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["n"] + summary["held_out"]["n"] == 1598  # two rows have no y
    assert summary["x"]["columns"] == ["a", "b", "y"]
    embedded = CliRunner().invoke(
        main, ["embed", str(folder), str(tmp_path / "part-0.csv"), "-o", str(tmp_path / "e.csv")]
    )
    assert embedded.exit_code == 0, embedded.output
    assert pl.read_csv(tmp_path / "e.csv")["g_1"].null_count() == 0


def test_what_is_held_out_is_never_trained_on(tmp_path):
    frame = pl.DataFrame({"a": np.arange(200_000.0), "b": np.arange(200_000.0)})
    split = Split(co.Pairs(frame.lazy(), x=["a"], y="b"), 0.15, seed=3)
    held, _ = split.held_out()
    held = set(held["a"].to_pylist())
    assert 18_000 < len(held) < 22_000
    trained = [x["a"].to_pylist() for x, _ in split]
    assert len(trained) > 1
    trained = set().union(*trained)
    assert not trained & held
    assert len(trained | held) == 200_000
    assert set(split.held_out()[1].to_pylist()) == held
    assert all(abs(sum(low <= value < low + 50_000 for value in held) - 5000) < 500 for low in (0, 50_000, 150_000))


def test_images(here, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=200)
    np.savez("pictures.npz", X=rng.normal(size=(200, 8, 8)) + y[:, None, None], y=y)
    result = run("pictures.npz", "--labels", "y", "--components", 1, "--steps", 20, "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert summary["processes"] == 1
    assert summary["x"]["kind"] == "images"
    assert Path("pictures-training", "model.safetensors").exists()


# --- mistakes


def test_mistakes_in_the_data_are_told_in_a_sentence(file, tmp_path):
    error = one_sentence(run(file, "--y", "yy", "-o", tmp_path / "out"))
    assert re.search(r"There is no column 'yy' in .*pairs.parquet", error)
    assert not (tmp_path / "out").exists()


def test_a_time_limit_stops_the_training(file, tmp_path):
    result = run(file, *OPTIONS, "--time-limit", 1e-3, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "time limit" in result.output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["steps"] == 20  # the first look at the held-out pairs
    assert "another command" in one_sentence(run(file, *OPTIONS, "-o", tmp_path / "out"))


def test_mistakes_of_usage(file, tmp_path):
    for arguments, text in (
        ([file, "--nproc", 0], "0 is not in the range"),
        ([file, "--nproc", 9, "--batch-size", 8], "--batch-size 8 must"),
        ([], "Missing argument"),
    ):
        result = run(*arguments, "-o", tmp_path / "out")
        assert result.exit_code == 2
        assert text in result.output
    assert "There is no file" in one_sentence(run(tmp_path / "nothing.csv", "-o", tmp_path / "out"))
    assert "--output: cannot write" in one_sentence(run(file, "--y", "y", "-o", file))
    assert not (tmp_path / "out").exists()


def test_more_processes_than_pairs(monkeypatch):
    monkeypatch.setattr(processes, "count_processes", lambda: 500)
    monkeypatch.setattr(processes, "get_rank", lambda: 0)
    data = table(100)
    with pytest.raises(ValueError, match=r"80 pairs .* 500 processes"):
        co.PICE(progress=False).fit(data.select("a", "b"), data["y"])


def test_only_large_or_many_files_are_read_in_blocks(file, tmp_path):
    def job(*files, stream=False):
        options = dict.fromkeys(Job.__dataclass_fields__, 0) | {"files": list(map(str, files)), "stream": stream}
        return Job(**options)

    (tmp_path / "b.parquet").write_bytes(file.read_bytes())
    assert not job(file).is_streamed
    assert job(file, stream=True).is_streamed
    assert job(file, tmp_path / "b.parquet").is_streamed
    assert job(file, tmp_path / "*.parquet").paths == [file, tmp_path / "b.parquet"]
    with pytest.raises(ValueError, match="twice"):
        _ = job(file, file.parent / ".." / file.parent.name / file.name).paths


def test_the_commands_of_the_page(tmp_path, monkeypatch):
    root = Path(__file__).parents[2]
    page = (root / "docs" / "command-line.md").read_text(encoding="utf-8")
    train, embed = (
        re.search(rf"^correspondence ({command} .*?)(  +#.*)?$", page, re.M)[1].split()
        for command in ("train", "embed training")
    )
    monkeypatch.chdir(root)
    for command in (train, embed):
        command[-1] = str(tmp_path / command[-1])
    embed[1] = train[-1]
    for command in ([*train, "--steps", "20"], embed):
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 0, result.output
    assert "2 processes" in CliRunner().invoke(main, [*train, "--steps", "20"]).output
    assert len((tmp_path / "places.csv").read_text().splitlines()) == 872


def test_every_file_must_be_there_and_have_rows(file, here, tmp_path):
    missing = tmp_path / "missing.parquet"
    assert "There is no file" in one_sentence(run(file, missing, "--y", "y", "-o", tmp_path / "out"))
    table().clear().write_parquet(missing)
    assert "missing.parquet has no rows" in one_sentence(run(missing, "--y", "y", "--stream", "-o", tmp_path / "out"))
    missing.write_text("no Parquet")
    assert "missing.parquet cannot be read (" in one_sentence(
        run(missing, "--y", "y", "--stream", "-o", tmp_path / "out")
    )


@linux
def test_no_process_outlives_the_one_that_started_it(file, tmp_path):
    """Though it looks at the held-out pairs, where it used to find out, only once in a million steps."""
    rare = ("--evaluate-every", 10**6, "--schedule", "anneal")
    running = Running(tmp_path / "out", file, *OPTIONS, "--steps", 10**6, *rare, "--nproc", 2)
    running.wait_for_a_checkpoint()
    workers = running.workers()
    assert sorted(workers) == [0, 1]
    running.process.kill()
    running.end()
    deadline = time.monotonic() + 30
    while any(map(is_alive, workers.values())):
        assert time.monotonic() < deadline, "an orphan is left"
        time.sleep(0.1)


def test_overwrite_trains_anew(file, here, tmp_path):
    def steps(*more):
        result = run(file, *OPTIONS, "--schedule", "anneal", *more, "-o", tmp_path / "out")
        assert result.exit_code == 0, result.output
        return json.loads((tmp_path / "out" / "summary.json").read_text())["steps"]

    assert steps("--steps", 20) == 20
    assert "holds the result of another command" in one_sentence(run(file, *OPTIONS, "-o", tmp_path / "out"))
    assert steps("--steps", 40, "--overwrite") == 40
    written = (tmp_path / "out" / "summary.json").stat().st_mtime_ns
    assert steps("--steps", 40) == 40
    assert (tmp_path / "out" / "summary.json").stat().st_mtime_ns == written
    assert steps("--steps", 40, "--overwrite") == 40
    assert (tmp_path / "out" / "summary.json").stat().st_mtime_ns > written


def test_without_torch_nothing_is_written(file, monkeypatch, tmp_path):
    monkeypatch.setattr(sys.modules["correspondence.app.train.launch"], "find_spec", lambda name: None)
    assert "Training needs torch" in one_sentence(run(file, *OPTIONS, "-o", tmp_path / "out"))
    assert not (tmp_path / "out").exists()
