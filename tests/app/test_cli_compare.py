"""``correspondence compare``: from a file to a table and a figure, or to one sentence."""

import csv
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import correspondence as co
from correspondence._util import progress
from correspondence.app.cli import main
from correspondence.selection import comparing
from correspondence.selection.method_registry import METHODS

FILES = ["comparison.csv", "comparison.png"]


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 2))
    return pl.DataFrame(
        {
            "fixed acidity": x[:, 0],
            "sugar": x[:, 1],
            "grade": np.digitize(x[:, 0] + 0.3 * rng.normal(size=90), [-0.5, 0.5]) + 3,
            "year": np.repeat(np.arange(30), 3),
            "colour": np.where(x[:, 0] > 0, "red", "white"),
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
        return CliRunner().invoke(main, [str(a) for a in ["compare", *arguments, *where]])

    return invoke


def table_of(folder):
    with (folder / "comparison.csv").open(newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text))


def assert_sentence(result, folder):
    assert result.exit_code != 0
    assert isinstance(result.exception, SystemExit), "a traceback"
    error = [line for line in result.output.splitlines() if line.startswith("Error: ")]
    assert len(error) == 1
    assert error[0].endswith(".")
    assert result.output.rstrip().endswith(error[0])
    assert not folder.exists() or not any(folder.iterdir())
    assert not plt.get_fignums()
    return error[0]


def assert_done(result, folder):
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert (folder / "comparison.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert (folder / "comparison.png").stat().st_size > 5000
    assert not plt.get_fignums()


# --- what it does


@pytest.mark.slow
def test_end_to_end(file, frame, run, tmp_path):
    result = run(file, "--x", "fixed acidity,sugar", "--y", "colour", "--methods", "cca,ace", "--seed", 3)
    assert_done(result, tmp_path / "out")
    assert result.stderr.splitlines() == [
        "x: 2 columns of numbers (fixed acidity, sugar)",
        "y: labels, 2 different (colour)",
    ]
    compared = co.compare(
        frame.select("fixed acidity", "sugar"), frame.select("colour"), ["cca", "ace"], random_state=3
    )
    rows = table_of(tmp_path / "out")
    assert [row["method"] for row in rows] == ["cca", "ace"]
    for row, found in zip(rows, compared.results.values(), strict=True):
        assert float(row["captured"]) == pytest.approx(found.captured, rel=1e-5)
        assert float(row["held_out_1"]) == pytest.approx(found.correlations[0], rel=1e-5)
    lines = result.stdout.splitlines()
    assert lines[0].split()[:2] == ["captured", "seconds"]
    assert f"{compared.results['ace'].captured:.4f}" in result.stdout
    assert str((tmp_path / "out" / "comparison.csv").resolve()) in lines[-2]
    assert str((tmp_path / "out" / "comparison.png").resolve()) in lines[-1]


@pytest.mark.slow
def test_twice_into_the_same_folder(file, run, tmp_path):
    for method in ("cca", "ace"):
        assert_done(run(file, "--x", "sugar,fixed acidity", "--y", "colour", "--methods", method), tmp_path / "out")
        assert [row["method"] for row in table_of(tmp_path / "out")] == [method]


def test_all_other_columns_and_all_sensible_methods_by_default(file, run, tmp_path):
    result = run(file, "--y", "colour")
    assert_done(result, tmp_path / "out")
    assert [row["method"] for row in table_of(tmp_path / "out")] == ["cca", "ace"]


def test_options_may_be_repeated(file, run, tmp_path):
    result = run(
        *(file, "--x", "fixed acidity", "--x", "sugar", "--y", "colour"), *("--methods", "cca", "--methods", "ace")
    )
    assert_done(result, tmp_path / "out")
    assert len(table_of(tmp_path / "out")) == 2


def test_components(file, run, tmp_path):
    result = run(file, "--x", "fixed acidity,sugar", "--y", "grade,year", "--methods", "cca", "--components", 2)
    assert_done(result, tmp_path / "out")
    assert {"held_out_2", "training_2"} <= set(table_of(tmp_path / "out")[0])
    assert "held_out_3" not in table_of(tmp_path / "out")[0]


def test_labels(file, run, tmp_path):
    """As a number the grade has one component, as labels, of which it has three, two."""
    options = [file, "--x", "fixed acidity,sugar", "--y", "grade", "--methods", "cca"]
    run(*options, "--numbers", "grade")
    assert "held_out_2" not in table_of(tmp_path / "out")[0]
    assert_done(run(*options), tmp_path / "out")
    assert "held_out_2" in table_of(tmp_path / "out")[0]


def test_groups_are_no_column_of_x(file, frame, run, tmp_path):
    assert_done(run(file, "--y", "colour", "--methods", "cca", "--groups", "year"), tmp_path / "out")
    X = frame.select("fixed acidity", "sugar", "grade")
    expected = co.crossfit(co.CCA(n_components=1), X, frame.select("colour"), groups=frame["year"].to_list())
    assert float(table_of(tmp_path / "out")[0]["captured"]) == pytest.approx(expected.captured, rel=1e-5)


def test_cv(file, frame, run, tmp_path):
    assert_done(run(file, "--x", "sugar", "--y", "grade", "--methods", "cca", "--cv", 2), tmp_path / "out")
    expected = co.crossfit(co.CCA(n_components=1), frame.select("sugar"), frame["grade"].cast(pl.String).to_list(), 2)
    assert float(table_of(tmp_path / "out")[0]["captured"]) == pytest.approx(expected.captured, rel=1e-5)


@pytest.mark.slow
def test_missing_values_are_counted_on_the_error_output(frame, run, tmp_path):
    path = tmp_path / "holes.csv"
    frame.with_columns(pl.when(pl.col("year") > 0).then("sugar").alias("sugar")).write_csv(path)
    result = run(path, "--x", "sugar", "--y", "grade", "--methods", "cca")
    assert_done(result, tmp_path / "out")
    assert "All 90 rows take part; missing values are marked as missing: sugar 3." in result.stderr
    dropped = run(path, "--x", "sugar", "--y", "grade", "--methods", "cca", "--missing", "drop")
    assert "Only 87 of 90 rows" in dropped.stderr


@pytest.mark.parametrize("ending", ["parquet", "ndjson"])
def test_other_files(frame, run, tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    getattr(frame, f"write_{ending}")(path)
    assert_done(run(path, "--x", "sugar", "--y", "grade", "--methods", "cca"), tmp_path / "out")


def test_a_table_of_counts(run, tmp_path):
    path = tmp_path / "tasks.csv"
    path.write_text("task,wife,husband\nlaundry,156,4\ntaxes,10,61\ndinner,77,13\n", encoding="utf-8")
    result = run(path, "--table")
    assert_done(result, tmp_path / "out")
    counts = pd.DataFrame({"wife": [156, 10, 77], "husband": [4, 61, 13]}, index=["laundry", "taxes", "dinner"])
    compared = co.compare(counts)
    assert f"{compared.results['ca'].captured:.4f}" in result.stdout
    assert [row["method"] for row in table_of(tmp_path / "out")] == ["ca", "ridge-ca"]


def test_a_table_that_is_not_of_whole_counts(run, tmp_path):
    path = tmp_path / "tasks.csv"
    path.write_text("task,wife,husband\nlaundry,156.5,4\ntaxes,10,61\n", encoding="utf-8")
    assert "counts are not whole numbers" in assert_sentence(run(path, "--table"), tmp_path / "out")


def test_the_folder_has_a_name_by_default(file, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(file, "--x", "sugar", "--y", "grade", "--methods", "cca", output=None)
    assert_done(result, tmp_path / "comparison")


def test_a_new_folder_below_new_folders(file, run, tmp_path):
    folder = tmp_path / "a new" / "földer"
    assert_done(run(file, "--x", "sugar", "--y", "grade", "--methods", "cca", output=folder), folder)


def test_logistic_regression_on_a_file(file, run, tmp_path):
    result = run(file, "--x", "fixed acidity,sugar", "--y", "colour", "--methods", "logistic")
    assert_done(result, tmp_path / "out")


def test_help_lists_the_methods():
    result = CliRunner().invoke(main, ["compare", "--help"])
    assert result.exit_code == 0
    lines = [line.split() for line in result.output.splitlines()]
    for name, method in METHODS.items():
        assert [name, *method.text.split()] in lines


# --- mistakes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--y", "quality"], "no column 'quality' .* fixed acidity, sugar"),
        (["--y", "colour", "--x", "Sugar"], "There is no column 'Sugar'"),
        (["--y", "colour", "--groups", "month"], "There is no column 'month'"),
        (["--y", "colour", "--labels", "month"], "There is no column 'month'"),
        (["--y", "colour", "--x", "colour,sugar"], "must be different columns, .*'colour'"),
        (["--y", ","], "'--y': .* name"),
        (["--y", "colour", "--methods", "pca"], "method .*pca"),
        (["--y", "colour", "--methods", "cca", "--cv", "1000"], "cv must .* 90"),
        (["--y", "sugar", "--methods", "logistic"], "must be a regressor"),
        (["--y", "colour", "--components", "0"], "0 is not in the range"),
        (["--y", "colour", "--cv", "1"], "1 is not in the range"),
        (["--y", "colour", "--seed", "-1"], "-1 is not in the range"),
        ([], "Missing option '--y'"),
        (["--table", "--groups", "year"], "--groups .* --table"),
    ],
)
def test_wrong_options(file, run, tmp_path, options, message):
    error = assert_sentence(run(file, *options), tmp_path / "out")
    assert re.search(message, error)


def test_a_column_named_twice(file, run):
    result = run(file, "--x", "sugar,sugar", "--y", "grade", "--methods", "cca")
    assert isinstance(result.exception, SystemExit | None)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("header.csv", b"a,b\n"),
        ("garbage.csv", bytes(range(256)) * 4),
        ("garbage.parquet", bytes(range(256)) * 4),
        ("data.xlsx", b"a,b\n1,2\n"),
        ("constant.csv", b"a,b\n" + b"1,2\n" * 30),
        ("one.csv", b"a,b\n1,2\n"),
        ("two.csv", b"a,b\n1,2\n2,3\n"),
    ],
)
def test_wrong_files(run, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert_sentence(run(tmp_path / name, "--x", "a", "--y", "b"), tmp_path / "out")


def test_no_file(run, tmp_path):
    result = run(tmp_path / "none.csv", "--y", "b")
    assert "no file" in assert_sentence(result, tmp_path / "out")
    assert result.exit_code == 1  # that of analyze: the data or files cannot be used


def test_where_a_file_is(file, run, tmp_path):
    other = tmp_path / "file"
    other.write_text("mine")
    options = [file, "--x", "sugar", "--y", "grade", "--methods", "cca"]
    for output in (other, other / "below"):
        result = run(*options, output=output)
        assert result.exit_code != 0
        assert isinstance(result.exception, SystemExit)
        assert result.output.rstrip().endswith(".")
    assert other.read_text() == "mine"


def test_a_figure_that_cannot_be_drawn_leaves_nothing_half_written(file, run, tmp_path, monkeypatch):
    def fail(path, **options):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(plt, "savefig", fail)
    result = run(file, "--x", "sugar", "--y", "grade", "--methods", "cca")
    assert result.exit_code != 0
    assert isinstance(result.exception, SystemExit)
    assert "No space left on device." in result.output
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["comparison.csv"]
    assert not plt.get_fignums()


def test_warnings_are_notes(tmp_path, run):
    rng = np.random.default_rng(0)
    heavy = rng.standard_cauchy(200)
    frame = pl.DataFrame({"a": heavy, "b": heavy + rng.standard_cauchy(200)})
    frame.write_csv(tmp_path / "heavy.csv")
    result = run(tmp_path / "heavy.csv", "--y", "b", "--methods", "cca", "--components", "1")
    assert result.exit_code == 0
    assert "intervals" in result.stderr
    assert "UncertainInterval" not in result.stderr


def test_what_cannot_finish_is_skipped_with_a_sentence(run, file, monkeypatch):
    monkeypatch.setattr(comparing, "estimate_fit_seconds", lambda *a: 1e6)
    result = run(file, "--y", "colour", "--methods", "cca,ace", "--time-limit", 1000)
    assert result.exit_code == 0, result.output
    assert "ace was skipped" in result.stderr
    assert "cca" in result.stdout


@pytest.mark.parametrize("limit", ["0", "-1", "soon"])
def test_wrong_time_limits(run, file, limit):
    result = run(file, "--y", "colour", "--time-limit", limit)
    assert result.exit_code == 2
    assert "--time-limit" in result.output


@pytest.mark.parametrize("flag", ["--progress", "--no-progress"])
def test_stages_are_told_on_request(run, file, monkeypatch, flag):
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.0)
    monkeypatch.setattr(progress, "REFRESH_SECONDS", 0.001)
    result = run(file, "--y", "colour", "--methods", "cca,ace", flag)
    assert result.exit_code == 0, result.output
    assert ("trying" in result.stderr) == (flag == "--progress")
