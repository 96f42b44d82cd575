"""``correspondence embed``: the places of new rows are those that the fit would give them."""

import csv
import json
import shutil

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from PIL import Image

import correspondence as co
from correspondence.app.analyze import pace
from correspondence.app.cli import main


@pytest.fixture
def run():
    def invoke(*arguments):
        result = CliRunner().invoke(main, [str(a) for a in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), "a traceback"
        return result

    return invoke


@pytest.fixture
def analysed(run, tmp_path):
    """Analyse a file into a folder, and embed a file by it."""

    def analyse_and_embed(file, *options, new=None, more=(), method="cca"):
        done = run("analyze", file, *options, "-o", tmp_path / "out", *(("--method", method) if method else ()))
        assert done.exit_code == 0, done.output
        done = run("embed", tmp_path / "out", new or file, "-o", tmp_path / "e.parquet", *more)
        assert done.exit_code == 0, done.output
        return done, pl.read_parquet(tmp_path / "e.parquet")

    return analyse_and_embed


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    return pl.DataFrame(
        {
            "name": [f"w{i}" for i in range(80)],
            "acidity": x[:, 0],
            "colour": rng.choice(["red", "white"], 80),
            "sugar": x[:, 1],
            "grade": np.digitize(x[:, 0] + 0.3 * rng.normal(size=80), [-0.5, 0.5]) + 3,
        }
    )


@pytest.fixture
def file(frame, tmp_path):
    frame.write_csv(tmp_path / "d.csv")
    return tmp_path / "d.csv"


def places(frame, letter):
    return frame.select(pl.col(f"^{letter}_.*$")).to_numpy()


def same_places(found, folder):
    """Coordinates of the training file are those that analyze has written."""
    x = pl.read_parquet(folder / "x.parquet")
    np.testing.assert_allclose(places(found, "f"), places(x, "f"), atol=1e-6)


WINE = ("--x", "acidity,sugar,colour", "--y", "grade", "--labels", "grade")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cca", "ace", "kernel"])
def test_the_training_file(file, frame, analysed, tmp_path, method):
    done, found = analysed(file, *WINE, "--id", "name", "--components", 2, method=method)
    assert found.columns == ["name", "f_1", "f_2", "g_1", "g_2", "density_ratio"]
    assert found["name"].to_list() == frame["name"].to_list()
    same_places(found, tmp_path / "out")
    y = pl.read_parquet(tmp_path / "out" / "y.parquet").with_columns(pl.col("grade").cast(int))
    expected = frame.join(y, on="grade", how="left", maintain_order="left")
    np.testing.assert_allclose(places(found, "g"), places(expected, "g"), atol=1e-6)
    d = co.load(tmp_path / "out" / "model.safetensors")
    ratio = 1 + (places(found, "f") * d.correlations * places(found, "g")).sum(axis=1)
    np.testing.assert_allclose(found["density_ratio"], ratio)
    assert done.stderr == ""


@pytest.mark.slow
def test_one_side_only(file, frame, analysed, tmp_path):
    frame.drop("grade").write_parquet(tmp_path / "new.parquet")
    _, found = analysed(file, *WINE, "--components", 1, new=tmp_path / "new.parquet")
    assert found.columns == ["row", "f_1"]
    same_places(found, tmp_path / "out")
    frame.select("grade").write_ndjson(tmp_path / "new.jsonl")
    _, found = analysed(file, *WINE, "--components", 1, new=tmp_path / "new.jsonl")
    assert found.columns == ["row", "g_1"]
    assert found["g_1"].null_count() == 0


def test_missing_values_and_unknown_labels(file, frame, analysed, tmp_path):
    new = pl.DataFrame(
        {
            "acidity": [0.1, None, 0.3, 0.1],
            "sugar": [0.1] * 4,
            "colour": ["red", "red", "pink", "red"],
            "grade": [3, 4, 5, 99],
        }
    )
    new.write_csv(tmp_path / "new.csv")
    done, found = analysed(file, *WINE, "--components", 1, new=tmp_path / "new.csv")
    for name in ("f_1", "g_1", "density_ratio"):
        assert found[name].is_null().to_list() == [False] * 4
    assert found["row"].to_list() == [1, 2, 3, 4]
    assert done.stderr.splitlines() == [
        "x: 1 row(s) have a label that is not in the fit, taken as missing.",
        "y: 1 row(s) have a label that is not in the fit, taken as missing.",
    ]


def test_labels_of_ca(analysed, run, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.choice([1, 2, 3], 200)
    pl.DataFrame({"a": x, "b": np.where(rng.random(200) < 0.7, x, 1)}).write_csv(tmp_path / "d.csv")
    (tmp_path / "new.csv").write_text("a\n2.0\n9\n\n1\n")
    done, found = analysed(tmp_path / "d.csv", "--labels", "a,b", method="ca", new=tmp_path / "new.csv")
    x_places = dict(pl.read_parquet(tmp_path / "out" / "x.parquet").select("a", "f_1").iter_rows())
    assert [None if v is None else round(v, 9) for v in found["f_1"]][:2] == [round(x_places["2"], 9), None]
    assert found["f_1"][-1] == pytest.approx(x_places["1"])
    assert "1 row(s) with a label that is not in the fit" in done.stderr


def test_a_model_of_ca_that_takes_unknown_labels_places_them(run, tmp_path):
    ca = co.CA(1, handle_unknown="missing").fit(["a", "b", None, "a", "c"] * 4, ["u", "v", "v", "u", "u"] * 4)
    ca.decomposition_.save(tmp_path / "m.safetensors")
    (tmp_path / "n.csv").write_text("x,k\na,1\nnew,2\n,3\n")
    done = run("embed", tmp_path / "m.safetensors", tmp_path / "n.csv", "--x", "x", "-o", tmp_path / "e.parquet")
    assert "taken as missing" in done.output
    np.testing.assert_allclose(pl.read_parquet(tmp_path / "e.parquet")["f_1"], ca.transform(["a", "new", None])[:, 0])


@pytest.mark.slow
def test_counted_pairs(analysed, tmp_path):
    frame = pl.DataFrame({"h": ["d", "d", "f", "f"], "e": ["x", "y", "x", "y"], "n": [30, 5, 10, 40]})
    frame.write_csv(tmp_path / "d.csv")
    _, found = analysed(tmp_path / "d.csv", "--x", "h", "--y", "e", "--weights", "n", method=None)
    ratio = np.array([30, 5, 10, 40]) * 85 / (np.array([35, 35, 50, 50]) * np.array([40, 45, 40, 45]))
    np.testing.assert_allclose(found["density_ratio"], ratio)


@pytest.mark.slow
def test_table(analysed, tmp_path):
    co.datasets.load_housetasks().to_frame("polars").write_csv(tmp_path / "t.csv")
    _, found = analysed(tmp_path / "t.csv", "--table", method=None)
    same_places(found, tmp_path / "out")
    assert found.columns[0] == "label"
    (tmp_path / "new.csv").write_text("Jointly,more,Wife,Alternating,Husband\n30,x,10,10,10\n0,x,0,0,0\n")
    done, found = analysed(tmp_path / "t.csv", "--table", method=None, new=tmp_path / "new.csv")
    ca = co.CA().fit(co.datasets.load_housetasks())
    expected = ca.supplementary(rows=[[10, 10, 10, 30]]).principal / ca.correlations_
    np.testing.assert_allclose(places(found, "f")[0].astype(float), expected[0], atol=1e-9)
    assert found["f_1"][1] is None
    assert "1 row(s) without any count" in done.stderr


def test_beliefs(analysed, tmp_path):
    rng = np.random.default_rng(0)
    P = rng.dirichlet([0.5, 0.5, 0.5], size=60)
    np.savez(tmp_path / "b.npz", P=P, truth=P.argmax(axis=1))
    _, found = analysed(tmp_path / "b.npz", "--beliefs", "--y", "truth", method=None)
    same_places(found, tmp_path / "out")
    pl.DataFrame(P.round(3), schema=["0", "1", "2"]).write_csv(tmp_path / "b.csv")
    _, again = analysed(tmp_path / "b.npz", "--beliefs", "--y", "truth", method=None, new=tmp_path / "b.csv")
    np.testing.assert_allclose(places(again, "f"), places(found, "f"), atol=0.02)


def test_arrays(analysed, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    np.savez(tmp_path / "a.npz", X=X, Y=X[:, :2] + rng.normal(size=(60, 2)))
    _, found = analysed(tmp_path / "a.npz", "--components", 2)
    same_places(found, tmp_path / "out")
    assert {"g_1", "g_2", "density_ratio"} <= set(found.columns)


@pytest.mark.slow
def test_texts(analysed, tmp_path):
    words = {"hot": ["sun", "beach", "sand"], "cold": ["snow", "ice", "wind"]}
    rng = np.random.default_rng(0)
    kinds = rng.choice(list(words), 120)
    texts = [" ".join([*rng.choice(words[kind], 2), f"w{i}"]) for i, kind in enumerate(kinds)]
    pl.DataFrame({"text": texts, "kind": kinds}).write_csv(tmp_path / "t.csv")
    _, found = analysed(tmp_path / "t.csv", "--components", 1, method="kernel")
    same_places(found, tmp_path / "out")


@pytest.mark.slow
def test_images(analysed, run, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for i in range(60):
        Image.fromarray(rng.integers(60, size=(6, 6, 3)).astype(np.uint8) + np.uint8(150 * (i % 2))).save(
            folder / f"{i:02}.png"
        )
    (tmp_path / "l.csv").write_text("file,kind\n" + "".join(f"{i:02},{'ab'[i % 2]}\n" for i in range(60)))
    options = ("--images", folder, "--size", 6, "--components", 1)
    _, found = analysed(tmp_path / "l.csv", *options, method="kernel", more=("--images", folder))
    same_places(found, tmp_path / "out")
    assert {"g_1", "density_ratio"} <= set(found.columns)
    _, alone = analysed(tmp_path / "l.csv", *options, method="kernel", new=folder)
    assert alone["file"].to_list() == [f"{i:02}.png" for i in range(60)]
    same_places(alone, tmp_path / "out")


# --- a model without its summary, and other names


def test_a_model_alone_needs_names(file, frame, analysed, run, tmp_path):
    _, expected = analysed(file, *WINE, "--components", 1)
    shutil.copy(tmp_path / "out" / "model.safetensors", tmp_path / "alone.safetensors")
    result = run("embed", tmp_path / "alone.safetensors", file, "-o", tmp_path / "e2.parquet")
    assert result.exit_code == 1
    assert "--x or --y is needed" in result.stderr
    result = run(
        "embed", tmp_path / "alone.safetensors", file, "--x", "acidity,sugar,colour", "-o", tmp_path / "e2.parquet"
    )
    assert result.exit_code == 0, result.output
    found = pl.read_parquet(tmp_path / "e2.parquet")
    np.testing.assert_allclose(places(found, "f"), places(expected, "f"))


def test_other_names(file, frame, analysed, run, tmp_path):
    frame.rename({"acidity": "A", "sugar": "S", "colour": "C", "grade": "G"}).write_csv(tmp_path / "new.csv")
    _, expected = analysed(file, *WINE, "--components", 1)
    result = run(
        *("embed", tmp_path / "out", tmp_path / "new.csv", "--x", "A,S,C", "--y", "G", "--id", "name"),
        *("-o", tmp_path / "e.csv"),
    )
    assert result.exit_code == 0, result.output
    found = pl.read_csv(tmp_path / "e.csv")
    np.testing.assert_allclose(found["density_ratio"], expected["density_ratio"], rtol=1e-8)
    assert found["name"].to_list() == frame["name"].to_list()


def test_csv_is_safe(file, frame, analysed, run, tmp_path):
    frame.with_columns(pl.lit("=1+1").alias("name")).write_csv(tmp_path / "new.csv")
    analysed(file, *WINE, "--components", 1)
    run("embed", tmp_path / "out", tmp_path / "new.csv", "--id", "name", "-o", tmp_path / "e.csv")
    with (tmp_path / "e.csv").open(newline="") as text:
        assert {row["name"] for row in csv.DictReader(text)} == {"'=1+1"}


def test_the_output_is_named_after_the_file(file, analysed, run, tmp_path, monkeypatch):
    analysed(file, *WINE, "--components", 1)
    monkeypatch.chdir(tmp_path)
    result = run("embed", "out", "d.csv")
    assert result.exit_code == 0
    assert str(tmp_path / "d-embedded.parquet") in result.stdout
    assert (tmp_path / "d-embedded.parquet").is_file()


# --- errors


def test_what_is_wrong_is_said_in_a_sentence(file, analysed, run, tmp_path):
    analysed(file, *WINE, "--components", 1)
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "texts.csv").write_text("acidity,sugar,colour\nx,y,red\n")
    (tmp_path / "damaged.safetensors").write_bytes((tmp_path / "out" / "model.safetensors").read_bytes()[:-9])
    sp.save_npz(tmp_path / "s.npz", sp.csr_array(np.eye(3)))
    for arguments, message in (
        (("nowhere", file), "MODEL must be a folder"),
        (("nowhere.safetensors", file), "There is no file"),
        ((file, file), "MODEL must be a folder"),
        (("empty", file), "There is no model.safetensors in"),
        (("damaged.safetensors", file), "is damaged"),
        (("out", "none.csv"), "There is no file"),
        (("out", "other.csv"), "neither all columns of x nor of y"),
        (("out", "other.csv", "--x", "c,d,e"), "There is no column 'c'"),
        (("out", "other.csv", "--x", "a"), "--x must name 3 column(s)"),
        (("out", "texts.csv"), "must hold numbers"),
        (("out", "empty"), "not images"),
        (("out", file, "-o", tmp_path / "gone" / "e.csv"), "no folder"),
    ):
        named = [
            tmp_path / argument if isinstance(argument, str) and i < 2 else argument
            for i, argument in enumerate(arguments)
        ]
        result = run("embed", *named)
        assert result.exit_code == 1, (arguments, result.output)
        assert result.stdout == ""
        (error,) = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
        assert message in error
        assert error.endswith(".")


def test_wrong_usage(file, run, tmp_path):
    assert run("embed", tmp_path, file, "-o", "e.txt").exit_code == 2
    assert run("embed", tmp_path).exit_code == 2


def test_a_variable_that_lacks_a_column_is_told(file, analysed, tmp_path):
    pl.DataFrame({"acidity": [0.1, 0.2], "colour": ["red", "red"], "grade": [3, 4]}).write_csv(tmp_path / "new.csv")
    done, found = analysed(file, *WINE, "--components", 1, new=tmp_path / "new.csv")
    assert "g_1" in found.columns
    assert "f_1" not in found.columns
    assert "no column 'sugar'" in done.stderr


# --- columns are read as in the analysis


@pytest.fixture
def prices(tmp_path):
    """Two columns that disagree on the sign of decimals, two on the order of dates, and codes."""
    rng = np.random.default_rng(1)
    n = 200
    day, month = rng.integers(1, 29, (2, n)), rng.integers(1, 13, (2, n))
    frame = pl.DataFrame(
        {
            "euro": [f"{v:.3f}".replace(".", ",") for v in 20 * rng.random(n)],
            "dollar": [f"{v:.2f}" for v in 20 * rng.random(n)],
            "due": [f"{d:02d}/{m:02d}/2020" for d, m in zip(day[0], month[0], strict=True)],
            "paid": [f"{m:02d}/{d:02d}/2021" for d, m in zip(day[1], month[1], strict=True)],
            "code": rng.choice(["1.50", "2.50", "x"], n),
        }
    )
    kind = np.where(frame["euro"].str.replace(",", ".").cast(float).to_numpy() > 10, "dear", "cheap")
    frame = frame.with_columns(pl.Series("kind", kind))
    frame.write_csv(tmp_path / "prices.csv", separator=";")
    return frame


@pytest.mark.slow
def test_columns_that_disagree_are_read_as_in_the_analysis(prices, analysed, tmp_path):
    """One row of the new file alone says nothing about decimals, dates and codes."""
    clear = pl.col("due").str.slice(0, 2).cast(int) < 13, pl.col("paid").str.slice(3, 2).cast(int) < 13
    few = prices.with_row_index("row", 1).filter(*clear, pl.col("code") != "x")[:4]
    few.drop("row").write_csv(tmp_path / "few.csv", separator=";")
    file = tmp_path / "prices.csv"
    _, whole = analysed(file, "--y", "kind")
    done, part = analysed(file, "--y", "kind", new=tmp_path / "few.csv")
    assert "analysis" not in done.output
    rows = whole.join(few.select(pl.col("row").cast(whole["row"].dtype)), on="row")
    np.testing.assert_allclose(part["f_1"], rows["f_1"], rtol=1e-9)


@pytest.mark.slow
def test_a_file_that_contradicts_the_analysis_is_told(prices, analysed, tmp_path):
    file = tmp_path / "prices.csv"
    other = prices.with_columns(
        pl.col("euro").str.replace(",", "."),
        pl.col("due").str.replace(r"(\d\d)/(\d\d)/(\d+)", "$2/$1/$3"),
    )
    other.write_csv(tmp_path / "other.csv", separator=";")
    _, whole = analysed(file, "--y", "kind")
    done, part = analysed(file, "--y", "kind", new=tmp_path / "other.csv")
    assert "euro: " in done.output
    assert "a comma in the analysis" in done.output
    assert "due: " in done.output
    assert "day-first in the analysis" in done.output
    np.testing.assert_allclose(part["f_1"], whole["f_1"], rtol=1e-9)


@pytest.mark.slow
def test_a_choice_comes_before_the_analysis(prices, analysed, tmp_path):
    file = tmp_path / "prices.csv"
    prices[:1].with_columns(euro=pl.lit("1,234")).write_csv(tmp_path / "one.csv", separator=";")
    _, comma = analysed(file, "--y", "kind", new=tmp_path / "one.csv")
    _, point = analysed(file, "--y", "kind", new=tmp_path / "one.csv", more=("--decimal", "point"))
    assert abs(comma["f_1"][0] - point["f_1"][0]) > 1


def test_analyses_without_readings_of_columns_still_embed(prices, analysed, run, tmp_path):
    file = tmp_path / "prices.csv"
    _, whole = analysed(file, "--y", "kind")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    del summary["readings"]["columns"]
    (tmp_path / "out" / "summary.json").write_text(json.dumps(summary))
    run("embed", tmp_path / "out", file, "-o", tmp_path / "e.parquet")
    np.testing.assert_allclose(pl.read_parquet(tmp_path / "e.parquet")["f_1"], whole["f_1"])


@pytest.mark.slow
@pytest.mark.parametrize(("column", "text"), [("euro", "abc"), ("due", "17")])
def test_a_column_of_another_kind_is_refused_with_its_value(prices, analysed, run, tmp_path, column, text):
    analysed(tmp_path / "prices.csv", "--y", "kind")
    prices[:5].with_columns(pl.lit(text).alias(column)).write_csv(tmp_path / "new.csv", separator=";")
    done = run("embed", tmp_path / "out", tmp_path / "new.csv", "-o", tmp_path / "e.csv")
    assert done.exit_code == 1
    assert f"'{column}'" in done.output
    assert text in done.output


def test_many_rows_are_placed_part_by_part(file, analysed, tmp_path, monkeypatch):
    monkeypatch.setattr(pace, "ROWS_PER_PART", 30)
    _, found = analysed(file, *WINE, "--id", "name", "--components", 2)
    same_places(found, tmp_path / "out")


def test_rows_after_the_time_limit_have_no_coordinates(file, analysed, monkeypatch):
    """Each part ends, but the clock of the limit has run out after the first."""
    monkeypatch.setattr(pace, "ROWS_PER_PART", 30)
    done, found = analysed(file, *WINE, "--components", 2, more=("--time-limit", 1e-6))
    assert "50 row(s) have no coordinates" in done.output
    assert "time limit" in done.output
    assert np.isfinite(places(found, "f")[:30]).all()
    assert found["f_1"][30:].is_null().all()
    assert len(found) == 80
