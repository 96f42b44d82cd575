"""``correspondence analyze --ordered``: pairs, counted pairs, tables and all columns, with labels in order."""

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import correspondence as co
from correspondence.app.cli import main

INCOMES, ANSWERS = ["< 5", "5-15", "15-25", "> 25"], ["very bad", "bad", "good", "very good"]
COUNTS = 2 * np.array([[2, 4, 13, 3], [2, 6, 22, 4], [0, 1, 15, 8], [0, 3, 13, 8]])  # income 4 is less content than 3
INCOME, ANSWER = f"income={'|'.join(INCOMES)}", f"answer={'|'.join(ANSWERS)}"


@pytest.fixture
def folder(tmp_path):
    cells = [(i, j, int(COUNTS[i, j])) for i in range(4) for j in range(4)]
    counted = pl.DataFrame(
        {
            "income": [INCOMES[i] for i, _, _ in cells],
            "grade": [i for i, _, _ in cells],
            "answer": [ANSWERS[j] for _, j, _ in cells],
            "n": [n for *_, n in cells],
        }
    )
    counted.write_csv(tmp_path / "counted.csv")
    pairs = counted.select(pl.all().repeat_by("n").list.explode()).drop("n")
    pairs.write_csv(tmp_path / "pairs.csv")
    pairs.with_columns(age=30.0 + 9 * pl.col("grade") + pl.int_range(len(pairs)) % 31).write_csv(tmp_path / "ages.csv")
    pl.DataFrame({"income": INCOMES} | dict(zip(ANSWERS, COUNTS.T.tolist(), strict=True))).write_csv(
        tmp_path / "table.csv"
    )
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["analyze", *map(str, arguments)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("pairs.csv", ["--x", "income", "--y", "answer", "--ordered", INCOME, "--ordered", ANSWER]),
        ("counted.csv", ["--x", "income", "--y", "answer", "--weights", "n", "--ordered", INCOME, "--ordered", ANSWER]),
        ("table.csv", ["--table", "--ordered", "rows,columns"]),
    ],
)
def test_the_first_functions_keep_the_order(folder, file, options):
    done = run(folder / file, *options, "-o", folder / "out")
    assert done.exit_code == 0, done.output
    exact = co.CA(2, ordered=["rows", "columns"]).fit(pl.read_csv(folder / "table.csv"))
    f = pl.read_csv(folder / "out" / "x.csv")
    places = [f[f.columns[0]].to_list().index(label) for label in INCOMES]
    np.testing.assert_allclose(f["f_1"].to_numpy()[places], exact.rows_.standard[:, 0], atol=1e-6)
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert list(summary["ordered"].values()) == [INCOMES, ANSWERS]
    assert any("In order" in note and "income" in note for note in summary["notes"])
    assert "In order" in done.stderr
    assert "In order" in (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "keeps the order" in done.stdout
    plain = run(folder / "table.csv", "--table", "-o", folder / "plain", "--json")
    assert json.loads(plain.stdout)["ordered"] == {}


@pytest.mark.slow
def test_numbers_have_their_own_order_and_meet_other_numbers(folder):
    done = run(folder / "ages.csv", "--x", "grade", "--y", "age", "--ordered", "grade", "--json", "-o", folder / "out")
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary["method"] == "ace"
    assert summary["ordered"] == {"grade": ["0", "1", "2", "3"]}
    steps = np.diff(pl.read_csv(folder / "out" / "x.csv", schema_overrides={"grade": pl.String}).sort("grade")["f_1"])
    assert (steps >= 0).all() or (steps <= 0).all()


@pytest.mark.slow
def test_all_columns(folder):
    done = run(
        folder / "pairs.csv", "--ordered", "grade", "--ordered", ANSWER, "--labels", "grade", "-o", folder / "out"
    )
    assert done.exit_code == 0, done.output
    points = pl.read_csv(folder / "out" / "columns.csv")
    answers = points.filter(pl.col("label").str.starts_with("answer:"))
    places = [answers["label"].to_list().index(f"answer:{label}") for label in ANSWERS]
    steps = np.diff(answers["coordinate_1"].to_numpy()[places])
    assert (steps >= -1e-9).all() or (steps <= 1e-9).all()
    assert json.loads((folder / "out" / "summary.json").read_text())["ordered"]["answer"] == ANSWERS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ordered", "answer"], "low|mid|high"),
        (["--ordered", "answr"], "answr"),
        (["--ordered", "answer=bad|good"], "very bad"),
        (["--ordered", "answer=bad|bad"], "different"),
        (["--ordered", "grade"], "x and y"),
        (["--ordered", INCOME, "--method", "cca"], "--method"),
        (["--ordered", INCOME, "--min-count", "3"], "--min-count"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(folder, options, message):
    done = run(folder / "pairs.csv", "--x", "income", "--y", "answer", *options, "-o", folder / "out")
    assert done.exit_code == 1
    assert message in done.stderr.splitlines()[-1]
    assert not (folder / "out").exists()


def test_categories_of_a_file_have_their_own_order(folder):
    labels = pl.Enum(["low", "mid", "high"])
    codes = np.random.default_rng(0).integers(0, 3, (90, 2))
    columns = [pl.Series(name, labels.categories.to_numpy()[codes[:, i]], labels) for i, name in enumerate("ab")]
    pl.DataFrame(columns).write_parquet(folder / "enum.parquet")
    done = run(folder / "enum.parquet", "--x", "a", "--y", "b", "--ordered", "a,b", "--json", "-o", folder / "enum")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["ordered"] == {"a": ["low", "mid", "high"], "b": ["low", "mid", "high"]}


def test_a_column_has_one_order(folder):
    done = run(folder / "pairs.csv", "--ordered", INCOME, "--ordered", "income=a|b", "-o", folder / "out")
    assert done.exit_code == 2
    assert "income twice" in done.stderr


def test_orders_are_of_no_use_with_images(folder):
    assert run(folder / "pairs.csv", "--images", folder, "--ordered", "answer").exit_code == 2
