"""``correspondence analyze FILE`` without --y: all columns together."""

import json
import re

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import correspondence as co
from correspondence.app.cli import main


@pytest.fixture
def survey(tmp_path):
    rng = np.random.default_rng(0)
    n, hidden = 200, np.random.default_rng(1).integers(3, size=200)
    columns = {f"q{j}": np.where(rng.random(n) < 0.7, hidden, rng.integers(3, size=n)) for j in range(5)}
    frame = pl.DataFrame({name: [["low", "mid", "high"][v] for v in values] for name, values in columns.items()})
    frame = frame.with_columns(
        person=pl.Series([f"person {i}" for i in range(n)]),
        country=pl.lit("NL"),
        joined=pl.Series(np.datetime64("2020-01-01") + rng.integers(0, 900, n)),
        remark=pl.Series([f"I said that {i} is the {i % 7}th of all, and that {i * 7} is not" for i in range(n)]),
        age=pl.Series(40 + 10 * hidden + rng.normal(size=n) * 8),
    )
    path = tmp_path / "survey.csv"
    frame.write_csv(path)
    return path


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in ("analyze", *arguments)])


@pytest.mark.slow
def test_all_columns_together(survey, tmp_path):
    done = run(survey, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["form"] == "columns"
    assert summary["method"] == "mixed"
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(summary["files"])
    for name in ("person", "country", "remark"):
        assert name in done.output  # left out, and told
        assert not any(fact["is_used"] for fact in summary["columns"] if fact["column"] == name)
    assert "joined" in done.output
    assert summary["significant"] >= 2
    assert 0.2 < next(c["held_out"] for c in summary["predicted"] if c["column"] == "age") < 1
    rows = pl.read_parquet(tmp_path / "out" / "rows.parquet")
    assert len(rows) == 200
    described = pl.read_csv(tmp_path / "out" / "description.csv")
    assert set(described["axis"]) == set(range(1, len(summary["axes"]) + 1))
    assert described["held_out_pvalue"].null_count() < len(described) / 10
    d = co.load(tmp_path / "out" / "model.safetensors")
    assert d.n_components == len(summary["axes"])


@pytest.mark.slow
def test_answers_only_are_mca(survey, tmp_path):
    pl.read_csv(survey).select(pl.col("^q.$")).write_csv(tmp_path / "answers.csv")
    done = run(tmp_path / "answers.csv", "--components", 2, "--json", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout[done.stdout.index("{") :])
    mca = co.MCA(2).fit(pl.read_csv(tmp_path / "answers.csv"))
    assert [axis["inertia"] for axis in summary["axes"]] == pytest.approx(mca.inertias_.tolist())
    columns = pl.read_csv(tmp_path / "out" / "columns.csv")
    assert columns["label"].to_list() == mca.columns_.labels.tolist()
    np.testing.assert_allclose(columns["coordinate_1"], mca.columns_.principal[:, 0], atol=1e-8)


@pytest.mark.slow
def test_sentences_name_what_holds_on_held_out_rows(tmp_path):
    rng = np.random.default_rng(0)
    hidden = rng.integers(2, size=(400, 1))
    told = np.where(rng.random((400, 3)) < 0.9, hidden, 1 - hidden)
    frame = {f"told{j}": told[:, j].astype(str) for j in range(3)}
    frame |= {f"noise{j}": rng.choice(["a", "b", "c"], 400) for j in range(3)}
    pl.DataFrame(frame).with_columns(pl.all().replace({"0": "no", "1": "yes"})).write_csv(tmp_path / "answers.csv")
    done = run(tmp_path / "answers.csv", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    sentence = json.loads((tmp_path / "out" / "summary.json").read_text())["sentences"][1]
    assert sentence.startswith("Axis 1")
    assert "told0" in sentence
    assert "noise" not in sentence


def test_noise_is_called_that(tmp_path):
    rng = np.random.default_rng(3)
    pl.DataFrame({f"q{j}": rng.choice(["a", "b", "c"], 150) for j in range(4)}).write_csv(tmp_path / "noise.csv")
    done = run(tmp_path / "noise.csv", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "No axes are more than chance" in done.output


@pytest.mark.slow
def test_another_analysis_replaces_its_files(survey, tmp_path):
    assert run(survey, "-o", tmp_path / "out").exit_code == 0
    assert run(survey, "--y", "q0", "--method", "cca", "-o", tmp_path / "out").exit_code == 0
    assert not (tmp_path / "out" / "axes.csv").exists()
    assert (tmp_path / "out" / "pics.csv").exists()


@pytest.mark.slow
def test_answers_are_named_in_one_form(survey, tmp_path):
    done = run(survey, "-o", tmp_path / "out")
    told = [line for line in done.output.splitlines() if line.startswith("Axis 1 ")]
    assert re.search(r"q\d = (low|mid|high)", told[0])
    assert ":" not in told[0]


@pytest.mark.slow
def test_large_tables_are_permuted_less(survey, tmp_path, monkeypatch):
    monkeypatch.setattr("correspondence.app.analyze.survey.MAX_CELLS_FOR_ALL_DRAWS", 100)
    assert run(survey, "-o", tmp_path / "out").exit_code == 0
    axes = json.loads((tmp_path / "out" / "summary.json").read_text())["axes"]
    assert axes[0]["pvalue"] == pytest.approx(1 / 200)


@pytest.mark.slow
def test_little_time_for_permutations(survey, tmp_path, monkeypatch):
    monkeypatch.setattr("correspondence.app.analyze.survey.MIN_ROWS_TO_PERMUTE", 60)
    monkeypatch.setattr("correspondence.app.analyze.survey.MAX_CELL_DRAWS_PER_SECOND", 1)
    done = run(survey, "--time-limit", 300, "-o", tmp_path / "out")
    assert "tested on 60 of 200 rows" in done.output
    axes = json.loads((tmp_path / "out" / "summary.json").read_text())["axes"]
    assert axes[0]["pvalue"] == pytest.approx(1 / 100)


@pytest.mark.slow
def test_rows_with_gaps(survey, tmp_path):
    is_first = pl.int_range(pl.len()) < 20
    frame = pl.read_csv(survey).with_columns(q1=pl.when(is_first).then(None).otherwise(pl.col("q1")))
    frame.write_csv(survey)
    whole = run(survey, "-o", tmp_path / "whole")
    assert whole.exit_code == 0, whole.output
    assert json.loads((tmp_path / "whole" / "summary.json").read_text())["n"] == 200
    dropped = run(survey, "--missing", "drop", "-o", tmp_path / "dropped")
    assert json.loads((tmp_path / "dropped" / "summary.json").read_text())["n"] == 180
    assert "20 of 200 rows" in dropped.output
    assert run(survey, "--missing", "error", "-o", tmp_path / "error").exit_code == 1
    assert not (tmp_path / "error").exists()


@pytest.mark.slow
def test_some_columns_only(survey, tmp_path):
    done = run(survey, "--x", "q0,q1,q2", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [fact["column"] for fact in summary["columns"]] == ["q0", "q1", "q2"]


@pytest.mark.slow
def test_counted_rows(survey, tmp_path):
    frame = pl.read_csv(survey).select(pl.col("^q.$"))
    frame.group_by(pl.all(), maintain_order=True).len("times").write_csv(tmp_path / "counted.csv")
    done = run(tmp_path / "counted.csv", "--weights", "times", "--components", 2, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    axes = json.loads((tmp_path / "out" / "summary.json").read_text())["axes"]
    assert [axis["inertia"] for axis in axes] == pytest.approx(co.MCA(2).fit(frame).inertias_.tolist())
    assert axes[0]["pvalue"] < 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"), [(("--components", 99), "--components 99"), (("--weights", "age"), "--weights")]
)
def test_wrong_options(survey, tmp_path, options, words):
    done = run(survey, *options, "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert words in done.output
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_embed_says_what_to_do(survey, tmp_path):
    assert run(survey, "-o", tmp_path / "out").exit_code == 0
    done = CliRunner().invoke(main, ["embed", str(tmp_path / "out"), str(survey), "-o", str(tmp_path / "e.csv")])
    assert done.exit_code == 1
    assert "all columns" in done.output


def test_one_column(tmp_path):
    pl.DataFrame({"sex": ["f", "m", "f"]}).write_csv(tmp_path / "one.csv")
    done = run(tmp_path / "one.csv", "-o", tmp_path / "out")
    assert done.exit_code == 1
    assert "at least two columns" in done.output
