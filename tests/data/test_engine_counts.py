"""Counting where the pairs are: the same table from files and from every engine."""

import datetime
import warnings

import engines
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import correspondence as co
from correspondence.data import engine_counts

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


@pytest.mark.slow
@pytest.mark.parametrize("kind", LOCAL)
def test_every_engine_counts_the_same(kind, frame, folder):
    assert_counts(on_engine(kind, frame, folder), frame)


@pytest.mark.slow
@pytest.mark.xdist_group("engines")
def test_two_workers_of_dask_count_the_same(dask_client, frame):
    assert len(dask_client.scheduler_info()["workers"]) == 2
    assert_counts(engines.on_dask(frame.to_arrow(), 5), frame)


@pytest.mark.slow
@pytest.mark.xdist_group("engines")
def test_spark_counts_the_same(spark, frame, folder):
    given = spark.read.parquet(str(folder / "a.parquet"), str(folder / "b.parquet"))
    assert_counts(given, frame)
    ca = co.CA(n_components=3).fit(co.Pairs(given, x="x", y="y"))
    expected = co.CA(n_components=3).fit(frame["x"], frame["y"])
    np.testing.assert_allclose(ca.rows_.principal, expected.rows_.principal, atol=1e-12)


@pytest.mark.slow
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
    with pytest.raises(ValueError, match="X must have two columns"):
        co.CA().fit(folder / "all.csv")


def test_weights_of_pairs_that_are_counted_already(frame):
    counted = frame.group_by("x", "y").len("n").lazy()
    ca = co.CA(n_components=2).fit(co.Pairs(counted, x="x", y="y", weights="n"))
    np.testing.assert_allclose(ca.pics_, co.CA(n_components=2).fit(frame["x"], frame["y"]).pics_, rtol=1e-12)
    assert ca.decomposition_.n == 5000


def test_a_source_takes_no_y_and_no_weights_beside_it(frame):
    for arguments in ({"Y": frame["y"]}, {"sample_weight": frame["w"]}):
        with pytest.raises(ValueError, match="X is a source"):
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


@pytest.mark.slow
@settings(max_examples=40)
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
    monkeypatch.setattr(engine_counts, "TEXT_KEY", "length({})")
    relation = duckdb.connect().from_arrow(frame.to_arrow())
    assert_same(co.count_pairs(relation, "x", "y"), co.count_pairs(frame, "x", "y"))


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
        with pytest.raises(ValueError, match="'x' has 2 missing"):
            co.count_pairs(given, "x", "z", weights)
    with pytest.raises(ValueError, match="'y' has 1 missing"):
        co.count_pairs(given, "z", "y")


@pytest.mark.parametrize("weights", [[1.0, -1.0], [1.0, None], [1.0, float("nan")], [1.0, float("inf")]])
def test_weights_must_be_finite_and_positive(weights):
    frame = pl.DataFrame({"x": ["a", "b"], "y": ["u", "v"], "w": weights})
    for source in (frame.lazy(), duckdb.connect().from_arrow(frame.to_arrow())):
        with pytest.raises(ValueError, match=r"weights: .* must be finite"):
            co.count_pairs(source, "x", "y", weights="w")
    with pytest.raises(ValueError, match="weights must be"):
        co.count_pairs(frame.lazy(), "x", "y", weights="y")


def test_nothing_to_count(frame, tmp_path):
    for empty in (frame.lazy().filter(pl.lit(False)), duckdb.connect().from_arrow(frame[:0].to_arrow())):
        with pytest.raises(ValueError, match="no pairs"):
            co.count_pairs(empty, "x", "y")
    with pytest.raises(ValueError, match="no pairs"):
        co.count_pairs(frame.lazy().with_columns(w=pl.lit(0.0)), "x", "y", weights="w")
    (tmp_path / "notes.txt").write_text("no pairs")
    with pytest.raises(ValueError, match="frame must be Parquet or CSV"):
        co.count_pairs(tmp_path / "notes.txt", "x", "y")
    with pytest.raises(FileNotFoundError, match=r"no file .*\*\.parquet.* frame"):
        co.count_pairs(str(tmp_path / "*.parquet"), "x", "y")
    with pytest.raises(ValueError, match=r"x must be .*\(x, y, w, other\)"):
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


# --- careless users


@pytest.mark.parametrize(
    "names", [("label", "other"), ("other", "label"), ("key", "code"), ("n", "x"), ("cells", "hash")]
)
def test_names_of_columns_that_our_own_sql_uses(names, tmp_path):
    frame = pl.DataFrame([["b", "a", "b"], ["u", "v", "v"], [1, 2, 3]], schema=[*names, "y"])
    frame.write_parquet(tmp_path / "pairs.parquet")
    assert_same(co.count_pairs(tmp_path / "pairs.parquet", *names), co.count_pairs(frame, *names))
    weighted = co.count_pairs(tmp_path / "pairs.parquet", *names, weights="y")
    assert_same(weighted, co.count_pairs(frame, *names, weights="y"))


@pytest.mark.parametrize("has_collisions", [False, True])
@pytest.mark.parametrize("setting", ["default_order = 'DESC'", "default_collation = 'nocase'"])
def test_settings_of_a_connection_change_nothing(setting, has_collisions, monkeypatch):
    if has_collisions:
        monkeypatch.setattr(engine_counts, "TEXT_KEY", "length({})")
    frame = pl.DataFrame({"x": ["b", "a", "B", "c", "c"], "y": ["u", "v", "V", "u", "w"]})
    connection = duckdb.connect()
    connection.execute(f"SET {setting}")
    connection.register("given", frame.to_arrow())
    connection.execute("CREATE TABLE pairs AS SELECT * FROM given")
    assert_same(co.count_pairs(connection.table("pairs"), "x", "y"), co.count_pairs(frame, "x", "y"))


def test_a_column_that_takes_no_heed_of_case_loses_no_pairs():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE pairs (x VARCHAR COLLATE NOCASE, y VARCHAR)")
    connection.execute("INSERT INTO pairs VALUES ('a', 'u'), ('A', 'v'), ('b', 'u')")
    table = co.count_pairs(connection.table("pairs"), "x", "y")
    assert table.rows.tolist() == ["A", "a", "b"]
    assert table.toarray().tolist() == [[0, 1], [1, 0], [1, 0]]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT (random() * 1e6)::INT AS x, (random() * 3)::INT AS y FROM range(500)",
        "SELECT i AS x, i % 3 AS y FROM range(500 + (random() * 1e4)::INT) r(i)",
    ],
)
def test_a_query_that_gives_other_rows_each_time_is_told(query):
    connection = duckdb.connect()
    connection.execute("SELECT setseed(0.5)").fetchall()
    with pytest.raises(ValueError, match="source gave other rows"):
        co.count_pairs(connection.sql(query), "x", "y")


def test_times_that_python_cannot_tell_apart_are_one_label():
    times = pl.Series([1, 2, 2, 5000], dtype=pl.Int64).cast(pl.Datetime("ns"))
    frame = pl.DataFrame({"x": times, "y": list("uuvu")})
    table = co.count_pairs(frame.lazy(), "x", "y")
    assert_same(table, co.count_pairs(frame, "x", "y"))
    assert table.counts.nnz == 3
    np.testing.assert_allclose(co.CA().fit(table).pics_, co.CA().fit(table.toarray()).pics_, atol=1e-12)


def test_truths_are_weights():
    frame = pl.DataFrame({"x": ["a", "b", "a"], "y": ["u", "v", "v"], "w": [True, True, False]})
    expected = co.count_pairs(frame, "x", "y", weights="w")
    for source in (frame.lazy(), duckdb.connect().from_arrow(frame.to_arrow()), engines.on_dask(frame.to_arrow(), 2)):
        assert_same(co.count_pairs(source, "x", "y", weights="w"), expected)


def test_csv_files_with_their_columns_in_another_order(tmp_path):
    (tmp_path / "1.csv").write_text("x,y\na,u\n")
    (tmp_path / "2.csv").write_text("y,x\nv,b\n")
    table = co.count_pairs(str(tmp_path / "*.csv"), "x", "y")
    assert (table.rows.tolist(), table.columns.tolist()) == (["a", "b"], ["u", "v"])
    (tmp_path / "3.csv").write_text("x,z\na,u\n")
    with pytest.raises(ValueError, match="'y' has 1 missing"):
        co.count_pairs(str(tmp_path / "*.csv"), "x", "y")


def test_what_duckdb_cannot_read_is_told_in_a_sentence(tmp_path):
    (tmp_path / "bad.parquet").write_text("x,y")
    closed = duckdb.connect()
    relation = closed.sql("SELECT 1 AS x, 2 AS y")
    closed.close()
    failing = duckdb.connect().sql(
        "SELECT (CASE WHEN i = 3 THEN 'q' ELSE '1' END)::INT AS x, i AS y FROM range(4) r(i)"
    )
    for source, why in (
        (tmp_path / "bad.parquet", "too small to be a Parquet file"),
        (relation, "Connection has already been closed"),
        (failing, "Could not convert string 'q'"),
    ):
        with pytest.raises(ValueError, match=rf"^frame cannot be read \(.*{why}"):
            co.count_pairs(source, "x", "y")
        with pytest.raises(ValueError, match=rf"^source cannot be read \(.*{why}"):
            list(co.Pairs(source, x="x", y="y"))


@pytest.mark.slow
@pytest.mark.xdist_group("engines")
@pytest.mark.parametrize("name", ["a.b", "a`b", "*"])
def test_names_that_spark_takes_for_syntax(spark, name):
    frame = pl.DataFrame([["p", "q", "p", "r"], [1.0, 2.0, 5.0, 0.0]], schema=[name, "w.w"])
    given = spark.createDataFrame(frame.to_arrow())
    assert_same(co.count_pairs(given, name, "w.w"), co.count_pairs(frame, name, "w.w"))
    assert_same(co.count_pairs(given, name, name, weights="w.w"), co.count_pairs(frame, name, name, weights="w.w"))
    pairs = co.Pairs(given, x=["w.w"], y=name)
    assert sorted(label for _, y in pairs for label in y.to_pylist()) == ["p", "p", "q", "r"]
    expected = co.CCA(1).fit(frame.select("w.w"), frame[name]).correlations_
    np.testing.assert_allclose(co.CCA(1).fit(pairs).correlations_, expected, atol=1e-12)


def test_texts_in_several_chunks_have_one_dictionary():
    chunks = nw.from_native(pa.chunked_array([["b", "a"], ["c", "a"], ["b"]]), series_only=True)
    codes, labels = engine_counts.encode_series(chunks, "x")
    assert labels.tolist() == ["a", "b", "c"]
    assert codes.tolist() == [1, 0, 2, 0, 1]


def test_a_glob_goes_into_folders(frame, tmp_path):
    (tmp_path / "2020" / "01").mkdir(parents=True)
    frame[:3000].write_parquet(tmp_path / "2020" / "01" / "a.parquet")
    frame[3000:].write_parquet(tmp_path / "2020" / "b.parquet")
    assert_same(co.count_pairs(str(tmp_path / "**" / "*.parquet"), "x", "y"), co.count_pairs(frame, "x", "y"))
