"""Files of pairs: which they are, and what is wrong with them."""

import numpy as np
import polars as pl
import pytest

import correspondence as co

pytest.importorskip("duckdb")


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file"):
        co.Pairs(tmp_path / "*.parquet", x="a", y="b")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_numbered_column_that_only_one_of_the_files_has(tmp_path, order):
    (tmp_path / "0.csv").write_text("a,b\n1,u\n2,v\n")
    (tmp_path / "1.csv").write_text("a,b,a_1\n1,u,3\n2,v,4\n")
    assert co.count_pairs([str(tmp_path / f"{i}.csv") for i in order], "a", "b").total == 4


def test_a_name_that_two_columns_of_one_of_the_files_have(tmp_path):
    (tmp_path / "0.csv").write_text("a,b\n1,u\n2,v\n")
    (tmp_path / "1.csv").write_text("a,b,a\n1,u,3\n2,v,4\n")
    with pytest.raises(ValueError, match="two columns of one of the 2 files"):
        co.count_pairs(str(tmp_path / "*.csv"), "a", "b")


def test_paths_are_taken_as_they_are(tmp_path):
    for name in ("a[1].csv", "a1.csv", "b*.csv", "bb.csv"):
        (tmp_path / name).write_text(f"x,y\n{name},u\n")
    assert co.count_pairs(tmp_path / "a[1].csv", "x", "y").rows.tolist() == ["a[1].csv"]
    assert co.count_pairs([tmp_path / "b*.csv"], "x", "y").rows.tolist() == ["b*.csv"]
    assert co.count_pairs(str(tmp_path / "*.csv"), "x", "y").total == 4
    with pytest.raises(FileNotFoundError, match=r"no file .*c.csv"):
        co.count_pairs([tmp_path / "bb.csv", tmp_path / "c.csv"], "x", "y")


# --- types: all rows of all files decide


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_whole_numbers_in_one_parquet_file_and_decimals_in_another(tmp_path, rng, order):
    x = np.r_[rng.integers(0, 3, 500).astype(float), rng.random(500) * 2]
    y = x + 0.1 * rng.normal(size=1000)
    pl.DataFrame({"x": x[:500].astype(np.int64), "y": y[:500]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"x": x[500:], "y": y[500:]}).write_parquet(tmp_path / "b.parquet")
    pairs = co.Pairs([str(tmp_path / f"{name}.parquet") for name in order], x="x", y="y")
    whole = co.CCA(n_components=1).fit(x, y).correlations_
    np.testing.assert_allclose(co.CCA(n_components=1).fit(pairs).correlations_, whole, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("late", ["1.5", "one", "007"])
def test_what_comes_late_in_a_csv_file_is_not_rounded(tmp_path, late):
    (tmp_path / "a.csv").write_text("x,y\n" + "1,u\n" * 30_000 + f"{late},v\n")
    labels = co.count_pairs(tmp_path / "a.csv", "x", "y").rows
    assert {str(label) for label in labels} in ({"1", late}, {"1.0", late})


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_folder_does_not_replace_a_column(tmp_path, rng, kind):
    c = rng.integers(0, 4, 400)
    y = (c + rng.integers(0, 2, 400)) % 4
    for k, part in enumerate(("train", "test")):
        rows = slice(200 * k, 200 * k + 200)
        (tmp_path / f"label={part}").mkdir()
        frame = pl.DataFrame({"x": c[rows], "label": y[rows]})
        (frame.write_csv if kind == "csv" else frame.write_parquet)(tmp_path / f"label={part}" / f"a.{kind}")
    ca = co.CA().fit(co.Pairs(str(tmp_path / "*" / f"a.{kind}"), x="x", y="label"))
    assert ca.columns_.labels.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(ca.correlations_, co.CA().fit(c, y).correlations_)


def test_a_folder_is_a_column_that_the_files_do_not_have(tmp_path):
    for part in ("train", "test"):
        (tmp_path / f"part={part}").mkdir()
        (tmp_path / f"part={part}" / "a.csv").write_text("x\n1\n2\n")
    assert co.count_pairs(str(tmp_path / "*" / "a.csv"), "x", "part").columns.tolist() == ["test", "train"]
