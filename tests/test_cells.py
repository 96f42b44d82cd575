"""Counting where the pairs are: the same table from files and from every engine."""

import datetime
import warnings

import engines
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import correspondence as co
from correspondence import cells

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("dask.dataframe")

LOCAL = ["parquet", "csv", "paths", "duckdb", "polars", "dask"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 40, 5000)
    labels = np.array([f"Tüte {i}" if i % 2 else f"bag {i}" for i in range(40)])
    y = (x + rng.integers(0, 9, 5000)) % 23
    return pl.DataFrame({"x": labels[x], "y": y, "w": rng.random(5000).round(3), "other": 0.5})


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("pairs")
    frame[:2000].write_parquet(path / "a.parquet")
    frame[2000:].write_parquet(path / "b.parquet")
    frame.write_csv(path / "all.csv")
    return path


def on_engine(kind, frame, folder):
    match kind:
        case "parquet":
            return str(folder / "*.parquet")
        case "csv":
            return folder / "all.csv"
        case "paths":
            return [folder / "b.parquet", folder / "a.parquet"]
        case "duckdb":
            return duckdb.connect().read_parquet(str(folder / "*.parquet"))
        case "polars":
            return frame.lazy()
        case "dask":
            return engines.on_dask(frame.to_arrow(), 3)


def assert_same(table, expected):
    assert table.rows.tolist() == expected.rows.tolist()
    assert table.columns.tolist() == expected.columns.tolist()
    assert table.counts.has_canonical_format
    np.testing.assert_allclose(table.toarray(), expected.toarray(), rtol=1e-13)


def assert_counts(given, frame):
    assert_same(co.count_pairs(given, "x", "y"), co.count_pairs(frame, "x", "y"))
    assert_same(co.count_pairs(given, "x", "y", weights="w"), co.count_pairs(frame, "x", "y", weights="w"))


@pytest.mark.parametrize("kind", LOCAL)
def test_every_engine_counts_the_same(kind, frame, folder):
    assert_counts(on_engine(kind, frame, folder), frame)


@pytest.mark.xdist_group("dask")
def test_two_workers_of_dask_count_the_same(dask_client, frame):
    assert len(dask_client.scheduler_info()["workers"]) == 2
    assert_counts(engines.on_dask(frame.to_arrow(), 5), frame)


@pytest.mark.xdist_group("spark")
def test_spark_counts_the_same(spark, frame, folder):
    given = spark.read.parquet(str(folder / "a.parquet"), str(folder / "b.parquet"))
    assert_counts(given, frame)
    ca = co.CA(n_components=3).fit(co.Pairs(given, x="x", y="y"))
    expected = co.CA(n_components=3).fit(frame["x"], frame["y"])
    np.testing.assert_allclose(ca.rows_.principal, expected.rows_.principal, atol=1e-12)


@pytest.mark.parametrize("kind", LOCAL)
def test_ca_of_pairs_that_are_not_in_memory(kind, frame, folder):
    pairs = co.Pairs(on_engine(kind, frame, folder), x="x", y="y")
    ca, expected = co.CA(n_components=3).fit(pairs), co.CA(n_components=3).fit(frame["x"], frame["y"])
    np.testing.assert_allclose(ca.pics_, expected.pics_, rtol=1e-12)
    np.testing.assert_allclose(ca.rows_.principal, expected.rows_.principal, atol=1e-12)
    np.testing.assert_allclose(ca.transform(["bag 2"], [3])[1], expected.transform(["bag 2"], [3])[1], atol=1e-12)
    np.testing.assert_allclose(ca.score(pairs), expected.score(frame["x"], frame["y"]), rtol=1e-12)
    assert ca.chi2_test_.dof == expected.chi2_test_.dof
    assert ca.n_features_in_ == 1


def test_ca_of_two_columns_needs_no_names(frame, folder):
    two = frame.lazy().select("x", "y")
    expected = co.CA().fit(frame["x"], frame["y"]).pics_
    np.testing.assert_allclose(co.CA().fit(two).pics_, expected, rtol=1e-12)
    with pytest.raises(ValueError, match=r"X has the columns x, y, w, other: say which are the pair"):
        co.CA().fit(folder / "all.csv")


def test_weights_of_pairs_that_are_counted_already(frame):
    counted = frame.group_by("x", "y").len("n").lazy()
    ca = co.CA(n_components=2).fit(co.Pairs(counted, x="x", y="y", weights="n"))
    np.testing.assert_allclose(ca.pics_, co.CA(n_components=2).fit(frame["x"], frame["y"]).pics_, rtol=1e-12)
    assert ca.decomposition_.n == 5000


def test_a_source_takes_no_y_and_no_weights_beside_it(frame):
    for arguments in ({"Y": frame["y"]}, {"sample_weight": frame["w"]}):
        with pytest.raises(ValueError, match=r"X is a source of pairs: name its columns"):
            co.CA().fit(frame.lazy().select("x", "y"), **arguments)


LABELS = {
    "numbers": [3, -1, 3, 2**40],
    "fractions": [0.5, -2.0, 0.5, 1e300],
    "dates": [datetime.date(2020, 1, d) for d in (3, 1, 3, 2)],
    "truths": [True, False, True, True],
    "texts": ["b", "B", "ä", ""],
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_of_every_type_keep_their_order(labels, tmp_path):
    frame = pl.DataFrame({"x": labels, "y": ["u", "v", "v", "u"]})
    expected = co.count_pairs(frame, "x", "y")
    assert_same(co.count_pairs(frame.lazy(), "x", "y"), expected)
    with duckdb.connect() as connection:
        connection.register("frame", frame.to_arrow())
        assert_same(co.count_pairs(connection.table("frame"), "x", "y"), expected)


def test_categories_keep_their_order():
    labels = ["mid", "low", "mid", "high"]
    frame = pl.DataFrame({"x": pl.Series(labels, dtype=pl.Enum(["low", "mid", "high"])), "y": list("uvvu")})
    expected = co.count_pairs(frame, "x", "y")
    assert_same(co.count_pairs(frame.lazy(), "x", "y"), expected)
    connection = duckdb.connect()
    connection.execute("CREATE TYPE level AS ENUM ('low', 'mid', 'high')")
    connection.execute("CREATE TABLE t AS SELECT unnest($1)::level AS x, unnest($2) AS y", [labels, list("uvvu")])
    assert_same(co.count_pairs(connection.table("t"), "x", "y"), expected)


@given(st.lists(st.tuples(st.text(max_size=3), st.integers(-3, 3)), min_size=1, max_size=40))
def test_any_texts(pairs):
    frame = pl.DataFrame(pairs, schema={"x": pl.String, "y": pl.Int64}, orient="row")
    expected = co.count_pairs(frame, "x", "y")
    assert_same(co.count_pairs(frame.lazy(), "x", "y"), expected)
    with duckdb.connect() as connection:
        connection.register("frame", frame.to_arrow())
        assert_same(co.count_pairs(connection.table("frame"), "x", "y"), expected)


def test_texts_with_the_same_hash_are_told_apart(frame, monkeypatch):
    """The table of keys is seen to have fewer of them than labels, and the labels themselves become keys."""
    run, commands = cells._Sql.__call__, []

    def with_collisions(self, command):
        commands.append(command)
        return run(self, command.replace("hash(", "length("))

    monkeypatch.setattr(cells._Sql, "__call__", with_collisions)
    relation = duckdb.connect().from_arrow(frame.to_arrow())
    assert_same(co.count_pairs(relation, "x", "y"), co.count_pairs(frame, "x", "y"))
    assert any("hash(" in command for command in commands)
    assert any("label AS key" in command for command in commands)


def test_a_connection_is_left_as_it_was(frame):
    connection = duckdb.connect()
    connection.register("given", frame.to_arrow())
    connection.execute('CREATE TABLE pairs AS SELECT x, y AS "a ""b""" FROM given')
    assert co.count_pairs(connection.table("pairs"), "x", 'a "b"').total == 5000
    with pytest.raises(ValueError, match="missing label"):
        co.count_pairs(connection.sql('SELECT NULL AS x, "a ""b""" AS y FROM pairs'), "x", "y")
    assert connection.sql("SELECT table_name FROM duckdb_tables()").fetchall() == [("pairs",)]
    assert not connection.sql("SELECT * FROM duckdb_views() WHERE NOT internal AND view_name <> 'given'").fetchall()


@pytest.mark.parametrize("kind", ["duckdb", "polars", "dask"])
def test_missing_labels_are_counted_in_the_message(kind):
    frame = pl.DataFrame({"x": ["a", None, "b", None], "y": [1.0, 2.0, float("nan"), 1.0], "z": [1, 2, 2, 1], "w": 0.1})
    given = {
        "duckdb": lambda: duckdb.connect().from_arrow(frame.to_arrow()),
        "polars": frame.lazy,
        "dask": lambda: engines.on_dask(frame.to_arrow(), 1),
    }[kind]()
    for weights in (None, "w"):
        with pytest.raises(ValueError, match=r"column 'x' has 2 missing label\(s\): leave them out"):
            co.count_pairs(given, "x", "z", weights)
    with pytest.raises(ValueError, match=r"column 'y' has 1 missing label\(s\)"):
        co.count_pairs(given, "z", "y")


@pytest.mark.parametrize("weights", [[1.0, -1.0], [1.0, None], [1.0, float("nan")], [1.0, float("inf")]])
def test_weights_must_be_finite_and_positive(weights):
    frame = pl.DataFrame({"x": ["a", "b"], "y": ["u", "v"], "w": weights})
    for source in (frame.lazy(), duckdb.connect().from_arrow(frame.to_arrow())):
        with pytest.raises(ValueError, match="weights: column 'w' must be finite and at least 0 in every row"):
            co.count_pairs(source, "x", "y", weights="w")
    with pytest.raises(ValueError, match="weights must be a column of numbers, but column 'y' is not"):
        co.count_pairs(frame.lazy(), "x", "y", weights="y")


def test_nothing_to_count(frame, tmp_path):
    for empty in (frame.lazy().filter(pl.lit(False)), duckdb.connect().from_arrow(frame[:0].to_arrow())):
        with pytest.raises(ValueError, match="There are no pairs to count"):
            co.count_pairs(empty, "x", "y")
    with pytest.raises(ValueError, match="There are no pairs to count"):
        co.count_pairs(frame.lazy().with_columns(w=pl.lit(0.0)), "x", "y", weights="w")
    (tmp_path / "notes.txt").write_text("no pairs")
    with pytest.raises(ValueError, match=r"frame must be Parquet or CSV files, all of one kind, got .*notes.txt"):
        co.count_pairs(tmp_path / "notes.txt", "x", "y")
    with pytest.raises(FileNotFoundError, match=r"frame: there is no file .*\*\.parquet"):
        co.count_pairs(str(tmp_path / "*.parquet"), "x", "y")
    with pytest.raises(ValueError, match=r"x must be the name of a column \(x, y, w, other\): there is no column 'z'"):
        co.count_pairs(frame.lazy(), "z", "y")


def test_counts_that_do_not_fit_into_32_bits():
    frame = pl.DataFrame({"x": ["a", "b"], "y": ["u", "v"], "w": [5e9, 1.0]})
    table = co.count_pairs(duckdb.connect().from_arrow(frame.to_arrow()), "x", "y", weights="w")
    assert table.toarray().tolist() == [[5e9, 0], [0, 1]]


def test_no_folder_of_duckdb_is_left_behind(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert co.count_pairs(str(folder / "*.parquet"), "x", "y").total == 5000
    assert list(tmp_path.iterdir()) == []


def test_pandas_frames_are_counted_as_before(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(co.count_pairs(pd.DataFrame(frame.to_dict()), "x", "y"), co.count_pairs(frame, "x", "y"))
