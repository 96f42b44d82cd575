"""``correspondence associations FILE``, from the file to the tables."""

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from correspondence.app.cli import main


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(0)
    height = rng.normal(170, 10, 200)
    frame = pl.DataFrame(
        {
            "person": [f"person {i}" for i in range(200)],
            "height": height,
            "weight": [f"{value:.1f}".replace(".", ",") for value in height / 2 + rng.normal(0, 5, 200)],
            "size": np.where(height > 170, "tall", "short"),
            "born": np.datetime64("1990-01-01") + rng.integers(0, 900, 200),
            "club": rng.choice(["red", "blue", ""], 200),
            "times": rng.integers(1, 4, 200),
        }
    )
    path = tmp_path / "people.csv"
    frame.write_csv(path, separator=";")
    return path


def run(*arguments):
    return CliRunner().invoke(main, ["associations", *map(str, arguments)])


@pytest.mark.slow
def test_from_a_file_to_tables(people, tmp_path):
    done = run(people, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "height goes with size" in done.stdout
    assert "'person'" in done.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["significant"] == 3
    assert {row["column"]: row["kind"] for row in summary["columns"]} == {
        "height": "number", "weight": "number", "size": "label", "born": "date", "club": "label", "times": "number",
    }  # fmt: skip
    pairs = pl.read_csv(tmp_path / "out" / "associations.csv")
    assert pairs.columns[:3] == ["x", "y", "correlation"]
    assert len(pairs) == summary["pairs"] == 15
    matrix = pl.read_csv(tmp_path / "out" / "correlations.csv")
    assert matrix.columns == ["column", *matrix["column"].to_list()]
    assert set(summary["files"]) == {path.name for path in (tmp_path / "out").iterdir()}


@pytest.mark.slow
def test_counted_rows(people, tmp_path):
    done = run(people, "--weights", "times", "-o", tmp_path / "out", "--json")
    summary = json.loads(done.stdout)
    assert summary["n"] == pl.read_csv(people, separator=";")["times"].sum()
    assert "times" not in {row["column"] for row in summary["columns"]}


def test_one_target_and_a_few_columns(people, tmp_path):
    done = run(people, "--target", "weight", "--x", "height,club", "-o", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary["target"] == "weight"
    assert summary["pairs"] == 2
    assert [(row["x"], row["y"]) for row in summary["strongest"]] == [("height", "weight")]


@pytest.mark.slow
def test_given_columns_are_said_everywhere(people, tmp_path):
    done = run(people, "--given", "size,club", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "given size, club" in done.stdout.split("\n")[0]
    assert "height goes with weight" in done.stdout
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["given"] == ["size", "club"]
    assert "given size, club" in summary["sentences"][0]
    assert not {"size", "club"} & {row["column"] for row in summary["columns"]}
    assert set(pl.read_csv(tmp_path / "out" / "associations.csv")["given"]) == {"size, club"}
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "given size, club" in page
    assert page.count("rows are left out, in which what is given (size, club) is missing") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--given", "hieght"], "hieght"),
        (["--given", "height", "--target", "height"], "--target"),
        (["--given", "height", "--x", "height,size"], "--given"),
        (["--target", "wieght"], "wieght"),
        (["--target", "person"], "target"),
        (["--x", "height"], "two columns"),
        (["--weights", "size"], "--weights"),
        (["--target", "times", "--weights", "times"], "--target"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(people, tmp_path, options, message):
    done = run(people, "-o", tmp_path / "out", *options)
    assert done.exit_code == 1
    assert message in done.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_wrong_usage_has_another_exit_code(people):
    assert run(people, "--alpha", "7").exit_code == 2
