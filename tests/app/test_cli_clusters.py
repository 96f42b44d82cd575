"""``correspondence analyze --clusters``."""

import base64
import gzip
import json
import re

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from correspondence.app.cli import main


@pytest.fixture
def survey(tmp_path):
    rng = np.random.default_rng(0)
    hidden = np.repeat([0, 1], 50)
    numbers = {name: 40 + 6 * hidden + rng.normal(size=100) for name in ("age", "height", "weight")}
    answers = {f"q{j}": np.where(rng.random(100) < 0.8, hidden, 1 - hidden).astype(str) for j in range(2)}
    path = tmp_path / "survey.csv"
    pl.DataFrame(numbers | answers).write_csv(path)
    return path


def run(*arguments):
    done = CliRunner().invoke(main, [str(argument) for argument in ("analyze", *arguments)])
    return done, done.output


def read_page(path):
    packed = re.search(r'id="data"[^>]*>([^<]+)<', path.read_text())[1]
    return gzip.decompress(base64.b64decode(packed)).decode("utf-8", errors="replace")


@pytest.mark.slow
def test_all_columns(survey, tmp_path):
    done, output = run(survey, "--clusters", "-o", tmp_path / "out")  # auto
    assert done.exit_code == 0, output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(summary["files"])
    rows, table = (pl.read_csv(tmp_path / "out" / name) for name in ("rows.csv", "clusters.csv"))
    assert summary["clusters"]["found"]
    assert table["cluster"].to_list() == [1, 2]
    assert table["size"].to_list() == rows["cluster"].value_counts().sort("cluster")["count"].to_list()
    assert np.abs(np.corrcoef(rows["cluster"], np.repeat([0, 1], 50))[0, 1]) > 0.9
    assert (table["stability"] > 0.95).all()
    assert all(text.endswith("more") or "overall" in text for text in table["description"])
    assert "Cluster 2" in output
    assert "Cluster 2" in (tmp_path / "out" / "report.html").read_text()
    assert "cluster" in pl.read_parquet(tmp_path / "out" / "rows.parquet").columns


@pytest.mark.slow
def test_two_variables(survey, tmp_path):
    done, output = run(survey, "--y", "age", "--clusters", "2", "-o", tmp_path / "out")
    assert done.exit_code == 0, output
    x = pl.read_csv(tmp_path / "out" / "x.csv")
    assert set(x["cluster"]) == {1, 2}
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["clusters"]["number"] == 2
    # The next analysis of this folder leaves no file of this one.
    done, output = run(survey, "--y", "age", "-o", tmp_path / "out")
    assert done.exit_code == 0, output
    assert not (tmp_path / "out" / "clusters.csv").exists()


@pytest.mark.slow
def test_labels(tmp_path):
    counts = np.array([[50, 2, 2], [48, 3, 1], [2, 40, 1], [1, 44, 3], [2, 2, 60], [1, 3, 55]])
    pl.DataFrame({"who": list("abcdef")} | dict(zip("xyz", counts.T, strict=True))).write_csv(tmp_path / "table.csv")
    done, output = run(tmp_path / "table.csv", "--table", "--clusters", "3", "-o", tmp_path / "out")
    assert done.exit_code == 0, output
    x = pl.read_csv(tmp_path / "out" / "x.csv")
    own = dict(zip(x[x.columns[0]], x["cluster"], strict=True))
    assert own["a"] == own["b"]
    assert len(set(own.values())) == 3


@pytest.mark.parametrize("number", ["1", "0", "many", "2.5"])
def test_wrong_numbers(survey, number):
    done, output = run(survey, f"--clusters={number}")
    assert done.exit_code == 2
    assert "clusters" in output


def test_a_file_after_the_option(survey):
    done, output = run("--clusters", survey)
    assert done.exit_code == 2
    assert "--clusters=auto" in output


@pytest.mark.slow
def test_more_clusters_than_rows(survey, tmp_path):
    done, output = run(survey, "--clusters", "500", "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert "n_clusters" in output
    assert not (tmp_path / "out").exists()


@pytest.fixture
def counted(tmp_path):
    rng = np.random.default_rng(1)
    answers = pl.DataFrame({f"q{j}": rng.choice(list("abc"), size=9) for j in range(3)}).unique(maintain_order=True)
    lines = answers.with_columns(times=pl.Series([0, *rng.integers(1, 12, size=len(answers) - 1)]))
    lines.write_csv(tmp_path / "counted.csv")
    rows = lines[np.repeat(np.arange(len(lines)), lines["times"].to_numpy())].drop("times")
    rows.write_csv(tmp_path / "rows.csv")
    return tmp_path


@pytest.mark.slow
def test_rows_that_were_counted_are_those_of_the_file_that_repeats_them(counted):
    done, _ = run(counted / "counted.csv", "--weights", "times", "--clusters", 3, "-o", counted / "a")
    again, _ = run(counted / "rows.csv", "--clusters", 3, "-o", counted / "b")
    assert done.exit_code == again.exit_code == 0
    first, second = (json.loads((counted / name / "summary.json").read_text()) for name in "ab")
    assert first["clusters"]["found"] == second["clusters"]["found"]
    assert first["sentences"] == second["sentences"]
    lines = pl.read_csv(counted / "counted.csv").with_columns(pl.read_csv(counted / "a" / "rows.csv")["cluster"])
    sizes = lines.group_by("cluster").agg(pl.col("times").sum()).sort("cluster")["times"].to_list()
    assert pl.read_csv(counted / "a" / "clusters.csv")["size"].to_list() == sizes
    assert "cluster 2" in read_page(counted / "a" / "report.html")


@pytest.mark.slow
def test_so_many_counted_rows_that_each_line_counts_once(counted, monkeypatch):
    monkeypatch.setattr("correspondence.app.analyze.clusters.MAX_ROWS_TO_EXPAND", 10)
    done, output = run(counted / "counted.csv", "--weights", "times", "--clusters", 2, "-o", counted / "a")
    assert done.exit_code == 0
    assert "each line is one row" in output
    total = pl.read_csv(counted / "counted.csv")["times"].sum()
    assert pl.read_csv(counted / "a" / "clusters.csv")["size"].sum() == total
    assert f"of {total}" in output


def test_a_time_limit_leaves_out_tests_and_says_so(survey, tmp_path):
    done, output = run(survey, "--clusters", "--time-limit", 1e-6, "-o", tmp_path / "out")
    assert done.exit_code == 0, output
    assert output.count("cut off by the time limit") == 3
    assert "was not tested" in output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["significant"] is None
    assert summary["predicted"] == []
    assert summary["clusters"]["found"] is None
    assert len(pl.read_csv(tmp_path / "out" / "rows.csv")["cluster"].unique()) == summary["clusters"]["number"]
