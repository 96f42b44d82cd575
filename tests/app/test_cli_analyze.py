"""``correspondence analyze``: from a file to a page, tables, a model and sentences, or to one sentence."""

import csv
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
from pages import Elements

import correspondence as co
from correspondence.app.analyze import job
from correspondence.app.analyze.files import RESULT_FILES
from correspondence.app.cli import main

HOSTILE = "=cmd|' /C calc'!A0"
ESCAPE = "\x1b[31mred\x07"


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 2))
    return pl.DataFrame(
        {
            "name": [f"w{i}" for i in range(90)],
            "acidity": x[:, 0],
            "sugar": x[:, 1],
            "grade": np.digitize(x[:, 0] + 0.3 * rng.normal(size=90), [-0.5, 0.5]) + 3,
        }
    )


@pytest.fixture
def file(frame, tmp_path):
    path = tmp_path / "my wines.csv"
    frame.write_csv(path)
    return path


@pytest.fixture
def run(tmp_path):
    def invoke(*arguments, output=tmp_path / "out"):
        where = [] if output is None else ["-o", output]
        return CliRunner().invoke(main, [str(a) for a in ["analyze", *arguments, *where]])

    return invoke


WINE = ("--y", "grade", "--labels", "grade", "--method", "ace")


def pics_of(folder):
    with (folder / "pics.csv").open(newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text))


def assert_done(result, folder, files=RESULT_FILES):
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in folder.iterdir()) == sorted(files)


def assert_sentence(result, folder, code=1):
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit), "a traceback"
    assert result.stdout == ""
    error = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert len(error) == 1
    assert error[0].endswith(".")
    assert not folder.exists()
    assert not [path for path in folder.parent.iterdir() if path.name.startswith(".")]
    return error[0]


# --- what it does


@pytest.mark.slow
def test_end_to_end(file, frame, run, tmp_path):
    result = run(file, *WINE, "--id", "name", "--seed", 3)
    folder = tmp_path / "out"
    assert_done(result, folder)
    X, Y = frame.select("acidity", "sugar"), frame["grade"].cast(str).to_numpy().astype(object)
    tested = co.latent_dimension(co.ACE(n_components=2), X, Y, n_permutations=499, random_state=3)
    d = co.ACE(n_components=tested.n_components).fit(X, Y).decomposition_
    rows = pics_of(folder)
    assert list(rows[0]) == ["component", "pic", "training", "held_out", "low", "high", "pvalue"]
    for i, row in enumerate(rows):
        assert int(row["component"]) == i + 1
        assert float(row["pic"]) == pytest.approx(d.pics[i], rel=1e-9)
        assert float(row["training"]) == pytest.approx(d.correlations[i], rel=1e-9)
        assert float(row["held_out"]) == pytest.approx(tested.correlations[i], rel=1e-9)
        assert float(row["low"]) == pytest.approx(tested.intervals[i, 0], rel=1e-9)
        assert float(row["high"]) == pytest.approx(tested.intervals[i, 1], rel=1e-9)
        assert float(row["pvalue"]) == pytest.approx(tested.pvalues[i], rel=1e-9)
    x, y = (pl.read_parquet(folder / f"{side}.parquet") for side in "xy")
    k = d.n_components
    assert len(rows) == k
    assert x.columns == ["name", *(f"f_{i + 1}" for i in range(k))]
    assert x["name"].to_list() == frame["name"].to_list()
    np.testing.assert_allclose(x.drop("name").to_numpy(), d.f(X), atol=1e-9)
    assert y.columns == ["grade", "mass", *(f"g_{i + 1}" for i in range(k))]
    assert y["mass"].sum() == pytest.approx(1)
    np.testing.assert_allclose(y.drop("grade", "mass").to_numpy(), d.g(y["grade"].to_numpy()), atol=1e-9)
    np.testing.assert_array_equal(co.load(folder / "model.safetensors").f(X), d.f(X))
    assert (folder / "report.html").read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")


def test_the_structure_of_the_columns(file, frame, run, tmp_path):
    assert_done(run(file, *WINE), tmp_path / "out")
    found = pl.read_csv(tmp_path / "out" / "structure.csv", schema_overrides={"category": pl.String})
    d = co.load(tmp_path / "out" / "model.safetensors")
    r = np.corrcoef(frame["sugar"], d.f(frame.select("acidity", "sugar"))[:, 0])[0, 1]
    sugar = found.row(by_predicate=pl.col("column") == "sugar", named=True)
    assert sugar["correlation_1"] == pytest.approx(r, rel=1e-4)
    assert (sugar["side"], sugar["kind"], sugar["n"], sugar["mean_1"]) == ("x", "number", len(frame), None)
    assert 0 < sugar["held_out_n"] <= len(frame)
    assert sugar["held_out_correlation_1"] == pytest.approx(r, abs=0.2)
    assert sugar["held_out_correlation_1"] != sugar["correlation_1"]
    page = Elements((tmp_path / "out" / "report.html").read_text(encoding="utf-8")).text
    assert f"({sugar['held_out_correlation_1']:.2f})".replace("-", "\N{MINUS SIGN}") in page
    grade = found.filter(pl.col("column") == "grade", pl.col("category").is_not_null())
    labels = grade["category"].to_numpy().astype(object)
    np.testing.assert_allclose(grade["mean_1"].to_numpy(), d.g(labels)[:, 0], rtol=1e-4)


def test_what_is_said(file, run, tmp_path):
    result = run(file, *WINE)
    assert result.stderr.splitlines() == [
        "x: 2 columns of numbers (acidity, sugar)",
        "y: labels, 3 different (grade)",
        "Not used: name, which looks like an id.",
        "3 of 4 columns take part, not name.",
    ]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    for text in (*summary["sentences"], str((tmp_path / "out").resolve()), *RESULT_FILES):
        assert text in result.stdout
    first = summary["components"][0]
    assert f"{first['held_out']:.4f} [{first['low']:.4f}, {first['high']:.4f}]" in result.stdout


def test_json_and_nothing_else(file, run, tmp_path):
    result = run(file, *WINE, "--json", "--title", "Wines")
    assert result.exit_code == 0
    summary = json.loads(result.stdout)
    assert summary == json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["title"] == "Wines"
    assert summary["method"] == "ace"
    assert summary["x"]["columns"] == ["acidity", "sugar"]
    assert summary["n"] == 90
    assert len(summary["sentences"]) == 3
    assert len(summary["components"]) == len(summary["axes"]) == len(pics_of(tmp_path / "out"))


def test_the_folder_is_named_after_the_file(file, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_done(run(file, *WINE, output=None), tmp_path / "my wines-analysis")


@pytest.mark.slow
def test_twice_into_the_same_folder(file, run, tmp_path):
    for method in ("ace", "cca"):
        assert_done(run(file, *WINE[:-1], method), tmp_path / "out")
        assert json.loads((tmp_path / "out" / "summary.json").read_text())["method"] == method


@pytest.mark.slow
def test_table(run, tmp_path):
    table = co.datasets.load_housetasks()
    table.to_frame("polars").rename({"label": "task"}).write_csv(tmp_path / "t.csv")
    result = run(tmp_path / "t.csv", "--table")
    assert_done(result, tmp_path / "out")
    ca = co.CA().fit(table)
    x, y = (pl.read_parquet(tmp_path / "out" / f"{side}.parquet") for side in "xy")
    assert x["task"].to_list() == table.rows.tolist()
    np.testing.assert_allclose(x["mass"], ca.rows_.mass)
    np.testing.assert_allclose(x.drop("task", "mass").to_numpy(), ca.rows_.standard, atol=1e-9)
    np.testing.assert_allclose(y.drop("columns", "mass").to_numpy(), ca.columns_.standard, atol=1e-9)
    assert "3 of these are significant" in result.stdout


def test_copies_are_told_everywhere(run, tmp_path, rng):
    """Rows that are copied: on the terminal, in summary.json, on the page; and they can be split."""
    X = rng.normal(size=(60, 3)).round(6)[np.r_[:60, :20]]
    pl.DataFrame(X, schema=["a", "b", "c"]).write_csv(tmp_path / "x.csv")
    result = run(tmp_path / "x.csv", "--y", "c", "--method", "cca")
    text = "40 of 80 rows are copies of another row; copies are kept on one side of every split"
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert text in result.stderr
    assert f"{text}." in summary["notes"]
    assert text in summary["reason"]
    assert text in (tmp_path / "out" / "report.html").read_text()
    run(tmp_path / "x.csv", "--y", "c", "--method", "cca", "--split-copies")
    assert "rows are copies" not in (tmp_path / "out" / "summary.json").read_text()


@pytest.mark.slow
def test_rare_labels_are_merged_and_embedded(run, tmp_path, rng):
    kind = rng.integers(3, size=200)
    x = [f"x{k}" if i % 4 else f"once {i}" for i, k in enumerate(kind)]
    pl.DataFrame({"a": x, "b": [f"y{k}" for k in kind]}).write_csv(tmp_path / "x.csv")
    result = run(tmp_path / "x.csv", "--min-count", "2")
    assert "50 labels of x that occur once (50 rows) are merged" in result.stderr
    labels = pl.read_parquet(tmp_path / "out" / "x.parquet")["a"].to_list()
    assert sorted(labels) == ["other (50 labels)", "x0", "x1", "x2"]
    assert co.load(tmp_path / "out" / "model.safetensors").f(["once 0", "x1"]).shape[0] == 2
    result = run(tmp_path / "x.csv", "--min-count", "1")
    assert "merged" not in result.stderr


@pytest.mark.slow
def test_few_groups_and_few_pairs(run, tmp_path, rng):
    x = rng.normal(size=100)
    pl.DataFrame({"x": x, "y": x + rng.normal(size=100), "g": np.arange(100) % 4}).write_csv(tmp_path / "g.csv")
    result = run(tmp_path / "g.csv", "--x", "x", "--y", "y", "--groups", "g")
    assert "No held-out figures of single components" in result.stdout
    assert "No pairs were held out" not in result.stdout
    pl.DataFrame({"a": ["u", "v"], "b": [1.5, 2.5]}).write_csv(tmp_path / "two.csv")
    assert "too few pairs (2)" in run(tmp_path / "two.csv").stdout


def test_beliefs(run, tmp_path):
    P = np.random.default_rng(0).dirichlet([0.5, 0.5, 0.5], size=60)
    pl.DataFrame(P, schema=["a", "b", "c"]).write_csv(tmp_path / "b.csv")
    result = run(tmp_path / "b.csv", "--beliefs")
    assert_done(result, tmp_path / "out")
    assert "No held-out figures: the true labels are not given." in result.stdout
    assert [row["held_out"] for row in pics_of(tmp_path / "out")] == ["", ""]
    assert pl.read_parquet(tmp_path / "out" / "x.parquet")["row"].to_list() == list(range(1, 61))


def test_a_model_that_cannot_be_saved(file, run, tmp_path, monkeypatch):
    """Everything else is written, and the terminal, the summary and the page say why."""
    monkeypatch.setattr("correspondence.estimators.model_readers.READERS", {})
    result = run(file, *WINE[:-1], "logistic", "--components", 1)
    assert_done(result, tmp_path / "out", [name for name in RESULT_FILES if name != "model.safetensors"])
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert "model.safetensors" not in summary["files"]
    for text in (result.stderr, summary["not_saved"], (tmp_path / "out" / "report.html").read_text()):
        assert "The model is not saved" in text
        assert "LogisticRegression is not among" in text


@pytest.mark.slow
@pytest.mark.parametrize("method", ["logistic", "forest", "mlp"])
def test_cross_fitted_models_place_new_rows(file, run, tmp_path, method, monkeypatch):
    """What `embed` reads from the file gives the rows of the fit the coordinates that `analyze` wrote."""
    monkeypatch.setattr("correspondence.selection.method_registry.N_TREES", 5)
    assert_done(run(file, *WINE[:-1], method, "--components", 1), tmp_path / "out")
    arguments = ["embed", str(tmp_path / "out"), str(file), "--output", str(tmp_path / "new.parquet")]
    placed = CliRunner().invoke(main, arguments)
    assert placed.exit_code == 0, placed.output
    new, old = (pl.read_parquet(path)["f_1"] for path in (tmp_path / "new.parquet", tmp_path / "out" / "x.parquet"))
    np.testing.assert_allclose(new, old, atol=1e-9)


@pytest.mark.slow
def test_auto_may_choose_a_classifier(run, tmp_path, monkeypatch):
    """Labels by a plane through many columns: a logistic regression is ahead of functions of the columns."""
    monkeypatch.setattr("correspondence.selection.method_registry.N_TREES", 5)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8))
    labels = np.array(list("abcd"))[(X[:, :4] + 0.3 * rng.normal(size=(400, 4))).argmax(axis=1)]
    pl.DataFrame(X, schema=list("pqrstuvw")).with_columns(label=pl.Series(labels)).write_csv(tmp_path / "t.csv")
    result = run(tmp_path / "t.csv", "--y", "label")
    assert_done(result, tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["method"] == "logistic"
    assert summary["not_saved"] == ""


@pytest.mark.slow
def test_a_net(run, tmp_path, monkeypatch):
    """The one run with torch: what it has found can be read again."""
    from correspondence.estimators.pice import PICE

    monkeypatch.setattr("correspondence.selection.method_registry.METHODS", quick_pice(PICE))
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 2))
    np.savez(tmp_path / "n.npz", x=x, y=x[:, 0] * x[:, 1] + 0.1 * rng.normal(size=120))
    assert_done(run(tmp_path / "n.npz", "--method", "pice", "--components", 1), tmp_path / "out")
    d = co.load(tmp_path / "out" / "model.safetensors")
    places = pl.read_parquet(tmp_path / "out" / "x.parquet")["f_1"]
    np.testing.assert_allclose(d.f(x)[:, 0], places, atol=1e-6)


def quick_pice(kind):
    from dataclasses import replace

    from correspondence.selection.method_registry import METHODS

    quick = replace(METHODS["pice"], make=lambda pairs, d, seed: kind(n_components=d, max_steps=20, random_state=seed))
    return {**METHODS, "pice": quick}


# --- hostile labels


@pytest.mark.slow
@pytest.mark.parametrize("hostile", [HOSTILE, ESCAPE, "</script><img src=x onerror=alert(1)>", "-2+3", "\t=1"])
def test_labels_are_only_text(run, tmp_path, hostile):
    rng = np.random.default_rng(0)
    x = rng.choice(["a", "b", hostile], 200)
    y = np.where(rng.random(200) < 0.8, x, rng.choice(["a", "b", hostile], 200))
    pl.DataFrame({hostile: x, "other": y}).write_parquet(tmp_path / "d.parquet")
    result = run(tmp_path / "d.parquet", "--title", hostile)
    assert_done(result, tmp_path / "out")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", result.output)
    found = pl.read_parquet(tmp_path / "out" / "x.parquet")
    assert set(found[hostile]) == {"a", "b", hostile}
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<img src=x" not in page
    for row in csv.reader((tmp_path / "out" / "pics.csv").open(newline="")):
        assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for cell in row)
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["x"]["name"] == hostile


def test_errors_are_only_text(run, tmp_path):
    (tmp_path / "d.csv").write_text(f'"{ESCAPE}",b,c\n1,2,3\n4,5,6\n')
    error = assert_sentence(run(tmp_path / "d.csv"), tmp_path / "out")
    assert "\x1b" not in error


# --- errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "ace"), r"--y must name .* name, acidity, sugar, grade"),
        (("--y", "Grade"), "no column 'Grade' .* grade"),
        (("--y", "grade", "--id", "nme"), "no column 'nme'"),
        (("--y", "grade", "--labels", "grade", "--components", "9"), "--components 9 is too many"),
        (("--y", "grade", "--method", "ca"), "--method ca needs labels"),
        (("--table",), "--table: column 'name'"),
        (("--beliefs",), "--beliefs: row 1 of"),
        (("--images", "nowhere"), "--images: .* nowhere"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(frame, run, tmp_path, options, message):
    frame.write_csv(tmp_path / "d.csv")
    if options == ("--table",):
        frame.select("acidity", "name").write_csv(tmp_path / "d.csv")
    assert re.search(message, assert_sentence(run(tmp_path / "d.csv", *options), tmp_path / "out"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "There is no file"),
        ("d.csv", b"", "it is empty"),
        ("d.docx", b"x", "must end in"),
        ("d.xlsx", b"x", "not a spreadsheet"),
        ("d.csv.gz", b"x", "damaged"),
        ("d.parquet", b"PAR1 damaged", "cannot be read as .parquet"),
        ("d.npz", b"PK damaged", "cannot be read as .npz"),
        ("d.jsonl", b"[1, 2]\n", "cannot be read as .jsonl"),
        ("d.csv", b"a,b\n1,2\n", "has 1 row"),
    ],
)
def test_files_that_are_no_good(run, tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert message in assert_sentence(run(tmp_path / name), tmp_path / "out")


@pytest.mark.parametrize(
    "options",
    [
        ("--method", "pca"),
        ("--components", "0"),
        ("--table", "--beliefs"),
        ("--table", "--y", "grade"),
        ("--table", "--images", "x"),
        ("--beliefs", "--weights", "x"),
        ("--seed", "-1"),
        ("--nonsense",),
    ],
)
def test_wrong_usage(file, run, tmp_path, options):
    result = run(file, *options)
    assert result.exit_code == 2
    assert "Error: " in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written(file, run, tmp_path):
    (tmp_path / "taken").write_text("")
    for output in (tmp_path / "taken", tmp_path / "taken" / "below"):
        result = run(file, *WINE, output=output)
        assert result.exit_code == 1
        assert re.search("Error: --output: cannot write to the folder .*: .*[.]", result.stderr)
        assert result.stdout == ""


def test_a_full_disk(file, run, tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("correspondence.app.analyze.files.write_report", full)
    error = assert_sentence(run(file, *WINE), tmp_path / "out")
    assert "--output: cannot write" in error
    assert "No space left" in error


def test_a_file_that_may_not_be_read(file, run, tmp_path, monkeypatch):
    def forbidden(*arguments, **options):
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr("correspondence.app.analyze.inputs.read_data", forbidden)
    monkeypatch.setattr("correspondence.app.analyze.survey.read_survey", forbidden)
    for options in (("--y", "grade"), ()):
        error = assert_sentence(run(file, *options), tmp_path / "out")
        assert error == f"Error: {file} cannot be read: Permission denied."


def test_torch_is_missing(file, run, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("correspondence.estimators.pice")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    error = assert_sentence(run(file, *WINE[:-1], "pice"), tmp_path / "out")
    assert "pip install" in error
    assert error.endswith('[neural]".')


# --- Ctrl-C


SLOW = """
import sys, time
import correspondence.app.analyze.files as files
report = files.write_report
def slow(*arguments):
    report(*arguments)
    print("writing", file=sys.stderr, flush=True)
    time.sleep(60)
files.write_report = slow
from correspondence.__main__ import main
main()
"""


class Interrupted:
    """A command in a process of its own, which hears Ctrl-C even if those who run the tests do not."""

    def __init__(self, *command):
        self.process = subprocess.Popen(
            [sys.executable, *map(str, command)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 130, err
        assert out == ""
        assert err.endswith("\nInterrupted.\n")
        assert "Traceback" not in err


@pytest.mark.slow
def test_ctrl_c_leaves_nothing(file, run, tmp_path):
    assert_done(run(file, *WINE), tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    for folder in ("out", "new"):
        arguments = ["analyze", str(file), *WINE, "-o", str(tmp_path / folder)]
        running = Interrupted("-c", SLOW, *arguments)
        lines = []
        while "writing" not in (line := running.process.stderr.readline()):
            assert line, lines
            lines.append(line)
        assert [path for path in tmp_path.iterdir() if path.name.startswith(f".{folder}-")]
        time.sleep(0.1)
        running.interrupt()
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my wines.csv", "out"]


GUARDED = """
import sys
from correspondence.__main__ import main
print("guarded", file=sys.stderr, flush=True)
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.01, 0.03, 0.06, 0.1, 0.2, 0.4, 0.8, 1.0])
def test_ctrl_c_at_any_time(file, tmp_path, delay):
    """Up to a second, because the whole command takes little more where nothing else runs."""
    running = Interrupted("-c", GUARDED, "analyze", file, *WINE, "-o", tmp_path / "out")
    assert running.process.stderr.readline() == "guarded\n"
    time.sleep(delay)
    running.interrupt()
    assert [path.name for path in tmp_path.iterdir()] == ["my wines.csv"]


HARD_TO_HEAR = {
    "in code that exec runs": "exec('import signal; signal.raise_signal(signal.SIGINT)')",
    "where exceptions are dropped": """
class Dropped:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
Dropped()
for _ in range(1000):
    time.sleep(0.01)
""",
    "in what becomes another error": """
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    raise ImportError("a module imported by halves") from None
""",
    "while a thread goes on": """
import threading
threading.Thread(target=time.sleep, args=(30,)).start()
signal.raise_signal(signal.SIGINT)
""",
    "after the command": """
import atexit
atexit.register(signal.raise_signal, signal.SIGINT)
raise SystemExit(0)
""",
}


@pytest.mark.parametrize("code", HARD_TO_HEAR.values(), ids=HARD_TO_HEAR)
def test_ctrl_c_where_it_is_hard_to_hear(code, tmp_path):
    """A command line that does nothing but this stands in for the real one."""
    (tmp_path / "code.py").write_text(f"import signal, time\n{code}")
    start = f"""
import runpy, sys, types
module = sys.modules["correspondence.app.cli"] = types.ModuleType("cli")
module.main = lambda prog_name: runpy.run_path({str(tmp_path / "code.py")!r})
from correspondence.__main__ import main
main()
"""
    begin = time.monotonic()
    running = Interrupted("-c", start)
    out, err = running.process.communicate(timeout=60)
    assert (running.process.returncode, out, err) == (130, "", "\nInterrupted.\n")
    assert time.monotonic() - begin < 9


# --- help and completion


def test_help():
    text = CliRunner().invoke(main, ["analyze", "--help"]).output
    for part in ("Examples:", "Exit codes: 0 done, 1", "130 Ctrl-C", "Methods:"):
        assert part in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(shell):
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    assert "_CORRESPONDENCE_COMPLETE" in result.stdout
    assert f"completion {shell}" in CliRunner().invoke(main, ["completion", "--help"]).output


@pytest.mark.parametrize(
    ("word", "expected"),
    [("", {"name", "acidity", "sugar", "grade"}), ("a", {"acidity"}), ("sugar,g", {"sugar,grade"}), ("zz", set())],
)
@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_columns_are_completed(frame, tmp_path, word, expected, ending):
    from click.shell_completion import BashComplete

    path = tmp_path / f"d.{ending}"
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}[ending](path)
    shell = BashComplete(main, {}, "correspondence", "_CORRESPONDENCE_COMPLETE")
    for option in ("--x", "--id"):
        found = shell.get_completions(["analyze", str(path), option], word)
        assert {item.value for item in found} == expected


def test_nothing_is_completed_from_no_file(tmp_path):
    from click.shell_completion import BashComplete

    shell = BashComplete(main, {}, "correspondence", "_CORRESPONDENCE_COMPLETE")
    assert shell.get_completions(["analyze", str(tmp_path / "none.csv"), "--x"], "") == []
    assert shell.get_completions(["analyze", "--x"], "") == []


@pytest.mark.slow
def test_as_a_module(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "correspondence", "analyze", "none.csv"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "Error: There is no file none.csv.\n"


@pytest.mark.slow
def test_dates_with_missing_values_cost_no_rows(run, tmp_path, rng):
    x = rng.normal(size=60)
    days = [f"2024-0{1 + i % 9}-1{i % 10}" if i % 5 else "" for i in range(60)]
    rows = [f"{day},{a:.3f},{a + 0.1 * b:.3f}" for day, a, b in zip(days, x, rng.normal(size=60), strict=True)]
    path = tmp_path / "dates.csv"
    path.write_text("\n".join(["day,a,b", *rows]) + "\n")
    result = run(path, "--y", "b", "--method", "cca")
    assert result.exit_code == 0, result.output
    assert "1 of dates" in result.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["rows"] == {"in_file": 60, "used": 60}
    assert summary["columns"][0] == {
        "column": "day",
        "kind": "date",
        "is_used": True,
        "n_missing": 12,
        "n_different": 48,
        "note": "",
    }
    assert run(path, "--x", "day", "--y", "b", "--method", "cca", output=tmp_path / "other").exit_code == 0


def test_gaps_of_y_are_told(run, tmp_path, rng):
    rows = [f"{a:.3f},{'' if i % 4 else 'yes'}" for i, a in enumerate(rng.normal(size=80))]
    path = tmp_path / "gaps.csv"
    path.write_text("\n".join(["a,b", *rows]) + "\n")
    result = run(path, "--y", "b", "--method", "cca")
    assert "60 rows have no b" in result.stderr


def test_few_rows_are_the_first_sentence(run, tmp_path, rng):
    rows = [f"{'' if i % 3 else i},{a:.3f},{b:.3f}" for i, (a, b) in enumerate(rng.normal(size=(90, 2)))]
    path = tmp_path / "holes.csv"
    path.write_text("\n".join(["a,b,c", *rows]) + "\n")
    result = run(path, "--y", "c", "--method", "cca", "--missing", "drop")
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("Only 30 of 90 rows (33%) take part")
    assert "Only 30 of 90 rows" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_columns_are_shown(run, tmp_path):
    path = tmp_path / "grades.csv"
    lines = (f"k{i},{1 + i % 3},{i / 7:.3f},{'' if i % 2 else 'x'}" for i in range(60))
    path.write_text("\n".join(["key,grade,size,gap", *lines]) + "\n")
    result = run(path, "--columns")
    assert result.exit_code == 0, result.output
    assert "3 different whole numbers" in result.stdout
    assert "4 columns, 60 rows" in result.stdout
    assert "left out" in result.stdout.splitlines()[2]
    assert run(path, "--columns", "--numbers", "gap").exit_code == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_same_counts_in_any_form_have_the_same_held_out_figures(run, tmp_path, rng):
    counts = rng.integers(1, 30, size=(4, 3))
    rows, columns = ["d", "b", "c", "a"], ["z", "x", "y"]
    lines = [f"{label},{','.join(map(str, line))}" for label, line in zip(rows, counts, strict=True)]
    (tmp_path / "table.csv").write_text("\n".join([f",{','.join(columns)}", *lines]) + "\n")
    cells = [f"{r},{c},{counts[i, j]}" for i, r in enumerate(rows) for j, c in enumerate(columns)]
    (tmp_path / "pairs.csv").write_text("\n".join(["r,c,n", *cells]) + "\n")
    table = run(tmp_path / "table.csv", "--table", output=tmp_path / "t")
    pairs = run(tmp_path / "pairs.csv", "--x", "r", "--y", "c", "--weights", "n", output=tmp_path / "p")
    assert table.exit_code == pairs.exit_code == 0, table.output + pairs.output
    for one, other in zip(pics_of(tmp_path / "t"), pics_of(tmp_path / "p"), strict=True):
        assert {key: float(value) for key, value in one.items()} == pytest.approx(
            {key: float(value) for key, value in other.items()}, abs=1e-8
        )


@pytest.mark.slow
def test_the_page_shows_what_the_command_says(tmp_path):
    root = Path(__file__).parents[2]
    page = (root / "docs" / "command-line.md").read_text(encoding="utf-8")
    shown = page.split("and what the axes mean:\n\n```\n")[1].split("```")[0].splitlines()
    table = root / "tests" / "oracle" / "housetasks_table.csv"
    result = CliRunner().invoke(main, ["analyze", str(table), "--table", "-o", str(tmp_path / "tasks")])
    said = [*result.stderr.splitlines(), *result.stdout.splitlines()]
    assert len(shown) > 10
    assert [line for line in shown if line not in said and " counts, " not in line] == [], "but for the seconds"


@pytest.mark.slow
def test_a_method_that_was_chosen_by_the_same_pairs_is_told(run, tmp_path, rng):
    x = rng.normal(size=60)
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join(["a,b", *(f"{a:.3f},{a + 0.1 * b:.3f}" for a, b in zip(x, x[::-1], strict=True))]) + "\n")
    chosen = run(path)
    assert chosen.exit_code == 0, chosen.output
    assert "The method was chosen by the same pairs" in chosen.stderr
    named = run(path, "--method", "cca")
    assert named.exit_code == 0, named.output
    assert "chosen" not in named.stderr


def test_a_significant_component_with_a_wide_interval_is_explained():
    component = {
        "component": 1,
        "pic": 0.2,
        "training": 0.45,
        "held_out": 0.1,
        "low": -0.05,
        "high": 0.25,
        "pvalue": 0.01,
    }
    summary = {"not_held_out": "", "significant": 1, "components": [component]}
    assert "held out" in job.explain_figures(summary)[1]
    assert len(job.explain_figures(summary | {"components": [component | {"low": 0.02}]})) == 1
    assert len(job.explain_figures(summary | {"significant": 0})) == 1
    not_judged = component | dict.fromkeys(("held_out", "low", "high"))
    assert "Not judged" in job.explain_figures(summary | {"components": [not_judged]})[1]
    assert "not judged" in job.format_components([component, not_judged])[2]


def test_a_column_that_names_the_rows_is_refused_by_its_name(tmp_path, rng):
    path = tmp_path / "prices.csv"
    path.write_text("name,price\n" + "".join(f"n{i},{v:.3f}\n" for i, v in enumerate(rng.normal(size=100))))
    result = CliRunner().invoke(main, ["analyze", str(path), "-o", str(tmp_path / "out")])
    assert result.exit_code == 1
    assert "--x must" in result.output
    assert "'name' names the rows" in result.output
    assert not (tmp_path / "out").exists()
