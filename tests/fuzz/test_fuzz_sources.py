"""Pairs over files, frames and engines that hold what they should not, and what is made of them."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from files import EMOJI, FILES, LABELS, NUMBERS, RTL, N, finite, judged

import correspondence as co

pytestmark = pytest.mark.slow

NAMES = ("source", "column", "'a'", "'b'", "x ", "y ", "data", "n_components", "pairs", "observations")


def labelled(a, b=LABELS):
    return {"a": a, "b": b}


COLUMNS = {
    "good": labelled(NUMBERS),
    "no rows": labelled([], []),
    "one row": labelled([1.0], ["low"]),
    "two rows": labelled([1.0, 2.0], ["low", "high"]),
    "all null": labelled([None] * N),
    "all NaN": labelled([np.nan] * N),
    "some null": labelled([None, *NUMBERS[1:]]),
    "labels that are null": labelled(NUMBERS, [None, *LABELS[1:]]),
    "constant": labelled([1.0] * N),
    "one label": labelled(NUMBERS, ["low"] * N),
    "infinite": labelled([np.inf, *NUMBERS[1:]]),
    "huge": labelled([1e308, -1e308, *NUMBERS[2:]]),
    "tiny": labelled([a * 1e-308 for a in NUMBERS]),
    "whole numbers beyond 2**53": labelled([2**53 + i for i in range(N)]),
    "whole numbers up to 2**63": labelled([2**63 - 1 - i * 2**50 for i in range(N)]),
    "true and false": labelled([a > 0 for a in NUMBERS]),
    "texts": labelled([str(a) for a in NUMBERS]),
    "empty texts": labelled(NUMBERS, ["", *LABELS[1:]]),
    "dates": labelled([datetime.date(2020, 1, 1 + i) for i in range(N)]),
    "times": labelled([datetime.datetime(2020, 1, 1, i % 24, tzinfo=datetime.UTC) for i in range(N)]),
    "durations": labelled([datetime.timedelta(days=i) for i in range(N)]),
    "decimals": labelled([Decimal(f"{a:.2f}") for a in NUMBERS]),
    "bytes": labelled(NUMBERS, [b.encode() for b in LABELS]),
    "lists": labelled([[a, a] for a in NUMBERS]),
    "structs": labelled([{"x": a} for a in NUMBERS]),
    "unicode": labelled(NUMBERS, [EMOJI + b + RTL for b in LABELS]),
    "texts with NUL": labelled(NUMBERS, [b + "\0" for b in LABELS]),
    "long texts": labelled(NUMBERS, [b * 200 for b in LABELS]),
}


def _polars(columns):
    return pl.LazyFrame(columns)


def _duckdb(columns):
    import duckdb

    table = pa.table(columns)
    connection = duckdb.connect()
    return connection.from_arrow(table)


def _dask(columns):
    import dask.dataframe as dd

    return dd.from_pandas(pd.DataFrame(columns), npartitions=2, sort=False)


ENGINES = {
    "polars": _polars,
    "duckdb": _duckdb,
    "dask": _dask,
    "pandas": lambda columns: pd.DataFrame(columns),
    "pyarrow": lambda columns: pa.table(columns),
    "parquet": None,
}


def source_of(engine, columns, folder):
    """The same columns on an engine; None if it cannot hold them."""
    try:
        if engine == "parquet":
            pl.DataFrame(columns).write_parquet(folder / "data.parquet")
            return folder / "data.parquet"
        return ENGINES[engine](columns)
    except (pa.ArrowException, pl.exceptions.PolarsError, TypeError):
        return None


def fitted(est, pairs):
    est.fit(pairs)
    finite(est.pics_)
    return est


SLOW = {"dask": ("read", "cca"), "parquet": ("read",)}  # then come the same tables of pyarrow as from the others
USES = {
    "read": lambda pairs, folder: sum(len(y) for _, y in pairs) == pairs.layout.n or pytest.fail("rows are lost"),
    "cca": lambda pairs, folder: fitted(co.CCA(1), pairs),
    "moments": lambda pairs, folder: finite(co.distributed.moments(pairs, y_features=_lengths).decompose().pics),
    "transform": lambda pairs, folder: _transformed(pairs, folder),
}


def _lengths(column):
    return np.array([[len(str(value))] for value in column.to_pylist()], dtype=float)


def _transformed(pairs, folder):
    """Functions of good pairs at others."""
    model = co.CCA(1).fit(pd.DataFrame({"a": NUMBERS}), LABELS)
    for file in co.distributed.transform(model, pairs, folder / "out", overwrite=True):
        values = pl.read_parquet(file)
        finite(*(values[name] for name in ("f1", "g1")))


@pytest.mark.filterwarnings("ignore::correspondence.FewerComponents")  # components: of these pairs there is one at most
@pytest.mark.parametrize("engine", ENGINES)
def test_pairs_of_engines(engine, tmp_path):
    failed = {}
    for name, columns in COLUMNS.items():
        source = source_of(engine, columns, tmp_path)
        if source is None:
            continue
        pairs = judged(lambda source=source: co.Pairs(source, x=["a"], y="b"), *NAMES)
        for use, call in USES.items() if pairs is not None else ():
            if use not in SLOW.get(engine, USES):
                continue
            try:
                judged(lambda call=call, pairs=pairs: call(pairs, tmp_path), *NAMES)
            except AssertionError as error:
                failed[name, use] = error
    assert failed == {}


# --- files


def test_pairs_of_files_of_the_catalogue(tmp_path):
    failed = {}
    for name, write in FILES.items():
        if name.startswith(("jsonl", "npz")) and not name.endswith("nothing"):
            continue  # refused by their names
        path = write(tmp_path)
        try:
            pairs = judged(lambda path=path: co.Pairs(path, x=["a"], y="b"), "source")
            if pairs is not None:
                judged(lambda pairs=pairs: sum(len(y) for _, y in pairs), "source")
        except AssertionError as error:
            failed[name] = error
    assert failed == {}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_two_columns_of_one_name(ending, tmp_path):
    """DuckDB would call the second a_1."""
    path = FILES[f"{ending} columns of one name"](tmp_path)
    with pytest.raises(ValueError, match=r"source: two columns of .*data\..* have the name 'a', so rename one\."):
        co.Pairs(path, x=["a"], y="b")


def test_columns_that_look_renamed_are_not(tmp_path):
    (tmp_path / "data.csv").write_text("a,a_1,b\n1,2,u\n3,4,v\n")
    pl.DataFrame({"a": [1], "a_1": [2], "b": ["u"]}).write_parquet(tmp_path / "data.parquet")
    for ending in ("csv", "parquet"):
        assert co.Pairs(tmp_path / f"data.{ending}", x=["a", "a_1"], y="b").layout.n > 0


def test_a_file_counts_once(tmp_path):
    path = tmp_path / "data.parquet"
    pl.DataFrame(COLUMNS["good"]).write_parquet(path)
    for files in (
        [path, path],
        [path, str(tmp_path / "*.parquet")],
        [path, tmp_path / ".." / tmp_path.name / path.name],
    ):
        with pytest.raises(ValueError, match=r"source names the file .* twice"):
            co.Pairs(files, x=["a"], y="b")


# --- arguments

SOURCES = [
    None,
    3,
    "",
    "none.parquet",
    "*.none",
    [],
    [None],
    ["none.csv", 3],
    {},
    {"a": [1]},
    b"data",
    np.eye(3),
    co.CA(),
]
SIDES = [None, 3, "", [], [None], ["a", "none"], "none", {"a": 1}, ["a" * 5000], b"a"]


def test_pairs_refuse(tmp_path):
    frame = pl.LazyFrame(COLUMNS["good"])
    wide = pl.LazyFrame({f"c{i}": [1] for i in range(3000)})
    calls = [(lambda v: co.Pairs(v, x="a", y="b"), SOURCES)]
    calls += [(lambda v: co.Pairs(frame, x=v, y="b"), SIDES), (lambda v: co.Pairs(frame, x="a", y=v), SIDES)]
    calls += [(lambda v: co.Pairs(frame, x="a", y="b", weights=v), ["none", 3, ["none"]])]
    calls += [(lambda v: co.Pairs(wide, x=v, y="b"), ["a"])]
    pairs, model = co.Pairs(frame, x=["a"], y="b"), co.CCA(1).fit(pd.DataFrame({"a": NUMBERS}), LABELS[::-1])
    calls += [(co.distributed.moments, [None, 3, frame, "data.csv"])]
    calls += [(lambda v: co.distributed.transform(model, v, tmp_path / "out"), [None, 3, frame])]
    calls += [(lambda v: co.distributed.transform(v, pairs, tmp_path / "out"), [None, 3, co.CA()])]
    calls += [(lambda v: co.distributed.transform(model, pairs, v), [None, 3, b"out", ""])]
    calls += [(lambda v: co.distributed.transform(model, pairs, tmp_path / "o", keep=v), [3, ["none"], [None], "f1"])]
    failed = {}
    for number, (call, values) in enumerate(calls):
        for value in values:
            try:
                found = judged(lambda call=call, value=value: call(value))
                assert found is None
            except AssertionError as error:
                failed[number, str(value)[:40]] = error
    assert failed == {}
    assert list(tmp_path.iterdir()) == []
