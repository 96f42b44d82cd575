"""Pairs that are not in memory: read in batches and mapped over partitions, on every engine."""

import itertools
import subprocess
import sys

import engines
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import correspondence as co
from correspondence.data.column_summary import ROWS_TO_SAMPLE, Survey
from correspondence.data.pairs.arrow_tables import ROWS_PER_BATCH
from correspondence.data.pairs.pairs import Layout, Memory

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("dask.dataframe")

N = 2 * ROWS_PER_BATCH + 1000


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return pa.table({"i": np.arange(N), "a": rng.normal(size=N), "s": rng.choice(list("uvw"), N).tolist()})


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("files")
    pq.write_table(table.slice(0, 100_000), path / "1.parquet", row_group_size=7_000)
    pq.write_table(table.slice(100_000), path / "2.parquet", row_group_size=11_000)
    pl.from_arrow(table).write_csv(path / "all.csv")
    return path


def sources(table, folder):
    connection = duckdb.connect()
    return {
        "parquet": str(folder / "*.parquet"),
        "csv": folder / "all.csv",
        "duckdb": connection.read_parquet(str(folder / "*.parquet")),
        "lazy": pl.scan_parquet(folder / "*.parquet"),
        "polars": pl.from_arrow(table),
        "pandas": table.to_pandas(),
        "pyarrow": table,
        "dask": engines.on_dask(table, 3),
    }


@pytest.mark.parametrize("kind", ["parquet", "csv", "duckdb", "lazy", "polars", "pandas", "pyarrow", "dask"])
def test_batches_hold_all_rows_in_order_each_time(kind, table, folder):
    pairs = co.Pairs(sources(table, folder)[kind], x=["i", "a"], y="s")
    for _ in range(2):
        batches = list(pairs)
        assert all(isinstance(x, pa.Table) and isinstance(y, pa.ChunkedArray) for x, y in batches)
        assert all(0 < x.num_rows == len(y) <= ROWS_PER_BATCH for x, y in batches)
        np.testing.assert_array_equal(np.concatenate([x["i"].to_numpy() for x, _ in batches]), np.arange(N))
        assert [label for _, y in batches for label in y.to_pylist()] == table["s"].to_pylist()


@pytest.mark.parametrize("kind", ["parquet", "csv", "duckdb", "lazy", "pandas", "dask"])
def test_the_layout_says_where_each_partition_begins(kind, table, folder):
    pairs = co.Pairs(sources(table, folder)[kind], x="i", y="s")
    assert pairs.layout.n == N
    for number, rows, first in pairs.map(lambda x, y, number: (number, len(x), x[0].as_py())):
        assert pairs.layout.find_first_row(number, rows) == first
        with pytest.raises(ValueError, match="other rows"):
            pairs.layout.find_first_row(number, rows - 1)


def test_empty_partitions_are_left_out_and_keep_their_numbers(table):
    pairs = co.Pairs(engines.on_dask(table, 7), x="i", y="s")
    numbers = pairs.map(lambda x, y, number: number)
    assert numbers == [0, 2, 3, 4, 5, 6]
    assert sum(pairs.map(lambda x, y, number: len(x))) == N


def test_nothing_at_all(table):
    pairs = co.Pairs(table.slice(0, 0), x="i", y="s")
    assert list(pairs) == []
    assert pairs.map(lambda x, y, number: number) == []
    for est in (co.CCA(1), co.ACE(1), co.KernelCCA(1), co.ClassifierCA(lambda x: x)):
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            est.fit(pairs)


def test_two_loops_read_the_same_files(folder):
    pairs = co.Pairs(str(folder / "*.parquet"), x="i", y="a")
    assert all(a[0][0] == b[0][0] for a, b in zip(pairs, pairs, strict=True))


def test_a_second_loop_over_a_relation_ends_the_first(table, folder):
    pairs = co.Pairs(sources(table, folder)["duckdb"], x="i", y="a")
    first = iter(pairs)
    next(first)
    assert sum(len(x) for x, _ in pairs) == N
    with pytest.raises(RuntimeError, match="one loop at a time"):
        next(first)


def test_a_loop_that_was_left_does_not_block_a_relation(table, folder):
    pairs = co.Pairs(sources(table, folder)["duckdb"], x="i", y="a")
    for _ in pairs:
        break
    assert sum(len(x) for x, _ in pairs) == N


@pytest.mark.parametrize("kind", ["parquet", "dask", "pandas"])
def test_a_column_that_is_not_there(kind, table, folder):
    with pytest.raises(ValueError, match=r"no column 'z' .* i, a, s"):
        co.Pairs(sources(table, folder)[kind], x=["a", "z"], y="s")


@pytest.mark.parametrize("x", [0, [0], [["a"]], None])
def test_names_are_text(x):
    with pytest.raises((TypeError, ValueError), match="must be names of columns"):
        co.Pairs(pd.DataFrame({0: [1.0, 2.0], "s": ["u", "v"]}), x=x, y="s")


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file"):
        co.Pairs(tmp_path / "*.parquet", x="a", y="b")


def test_a_column_of_several_kinds():
    frame = pd.DataFrame({"a": [1, "b", 2.5, None], "s": list("uvuv")})
    with pytest.raises(ValueError, match="several kinds"):
        list(co.Pairs(frame, x="a", y="s"))


def test_sides_pass_through_functions():
    memory = Memory(np.arange(3), np.arange(3) * 10, 3)
    pairs = co.Pairs(pl.LazyFrame({"x": range(3), "y": [0, 10, 20]}), x="x", y="y")
    for parts in (memory, pairs):
        doubled = parts.through(lambda x: 2 * np.asarray(x), lambda y: np.asarray(y) + 1)
        ((x, y, number),) = doubled.map(lambda x, y, number: (x.tolist(), y.tolist(), number))
        assert (x, y, number) == ([0, 2, 4], [1, 11, 21], 0)
        assert doubled.layout.n == 3


@pytest.mark.slow
def test_importing_the_package_imports_no_engine():
    code = "import sys, correspondence; print([m for m in ('torch', 'dask', 'pyspark', 'duckdb') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


# --- surveys


def parted(columns, cuts):
    n = len(next(iter(columns.values())))
    bounds = [0, *sorted(cut % (n + 1) for cut in cuts), n]
    spans = [(a, b) for a, b in itertools.pairwise(bounds) if b > a]
    parts = [Survey.from_columns({key: v[a:b] for key, v in columns.items()}, a, n) for a, b in spans]
    return Survey.merge_parts(parts, "X")


@pytest.mark.slow
@given(st.lists(st.integers(0, 10**6), max_size=5))
def test_a_survey_does_not_depend_on_the_parts(cuts):
    n = ROWS_TO_SAMPLE + 20_000
    columns = {"a": np.arange(n) * 0.5, "s": np.array(["u", "v", "w"] * (n // 3), dtype=object)}
    whole, merged = Survey.from_columns(columns), parted(columns, cuts)
    assert whole.columns == merged.columns
    assert (whole.n, merged.n) == (n, n)
    for key in columns:
        np.testing.assert_array_equal(whole.rows[key], merged.rows[key])


def test_a_survey_of_few_rows_has_them_all():
    columns = {"a": np.arange(1000.0)}
    np.testing.assert_array_equal(Survey.from_columns(columns).rows["a"], columns["a"])


def test_a_survey_draws_evenly_and_keeps_the_extremes():
    n = 1_000_000
    values = np.arange(n, dtype=float)
    survey = Survey.from_columns({"a": values})
    rows = survey.rows["a"]
    assert abs(len(rows) - ROWS_TO_SAMPLE) < 5 * np.sqrt(ROWS_TO_SAMPLE)
    assert (rows[-2:] == [0, n - 1]).all()
    np.testing.assert_allclose(np.quantile(rows, [0.1, 0.5, 0.9]), [0.1 * n, 0.5 * n, 0.9 * n], rtol=0.02)


@pytest.mark.slow
def test_rare_values_of_many_rows_are_kept():
    n = 3 * ROWS_TO_SAMPLE
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    once = np.zeros(n)
    once[n // 3] = 1
    labels = np.where(np.arange(n) == 5, "once", np.where(x > 0, "up", "down"))
    X = pd.DataFrame({"x": x, "once": once, "label": labels})
    for est in (co.ACE(1), co.CCA(1)):
        est.fit(X, x + rng.normal(size=n))
        assert est.correlations_[0] == pytest.approx(np.sqrt(0.5), abs=0.01)
        encoder = est.decomposition_.f.features.encoder
        assert list(encoder.columns) == ["x", "once", "label"]
        assert encoder.columns["label"].labels == ["down", "once", "up"]


def test_a_column_of_numbers_here_and_labels_there():
    parts = [Survey.from_columns({"a": np.arange(3.0)}), Survey.from_columns({"a": np.array(["u"], dtype=object)})]
    with pytest.raises(ValueError, match="Column 'a' of X holds"):
        Survey.merge_parts(parts, "X")


def test_layout_of_batches():
    layout = Layout(ROWS_PER_BATCH + 10)
    assert [layout.find_first_row(0, ROWS_PER_BATCH), layout.find_first_row(1, 10)] == [0, ROWS_PER_BATCH]


def test_pairs_say_where_they_are(table, folder):
    path = str(folder / "*.parquet")
    assert repr(co.Pairs(path, x=["i", "a"], y="s")) == f"Pairs({path!r}, x=['i', 'a'], y='s')"
    assert repr(co.Pairs(pl.from_arrow(table).lazy(), x="i", y="s", weights="a")) == (
        "Pairs(polars, x='i', y='s', weights='a')"
    )


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
