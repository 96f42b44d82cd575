"""Hostile inputs by name, and the judge of what comes out; `entries` has the public entry points.

The rule of the judge, for anything that is given to anything:

- a result, all numbers of which are finite (an entry leaves out what is documented as NaN, such as the coordinates of
  rows without any count), or
- a ValueError or a TypeError, not a subclass (LinAlgError and UnicodeError are ValueErrors too), or a FileNotFoundError
  where text is taken for a path, which a `raise` statement of this package has raised: the innermost frame of the
  traceback lies in src/correspondence and has stopped at a `raise`, not at a call of NumPy that failed. Its message is
  one line of at most 400 characters that ends with a full stop, or asks "do you mean ...?", and names an argument;
- within 30 seconds of the processor, and with no other warnings than CorrespondenceWarnings of this package.
"""

import datetime
import dis
import inspect
import re
import signal
import sys
import traceback
import warnings
from collections import deque
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

import correspondence as co

SOURCE = Path(co.__file__).parent
SECONDS = 30  # after which a call counts as hanging
N = 24  # rows of an input, where it has rows
LONG = "long " * 2000
UNICODE = ["😀", "e\u0301", "é", "שלום", "", " ", "\u202eabc", "\x00", "a\nb", "ﬀ", "\ud800", "İ"]

# --- inputs


def _rng():
    return np.random.default_rng(7)


def _numbers(columns=2):
    return _rng().normal(size=(N, columns))


def _labels():
    return np.array(["a", "b", "c"], dtype=object)[np.arange(N) % 3]


def _with(value, dtype=float):
    """Column of numbers with one other value."""
    values = np.arange(N).astype(dtype)
    values[3] = value
    return values


def _frame(**columns):
    return pd.DataFrame(columns)


def _duplicated(values):
    frame = pd.DataFrame(values)
    frame.columns = ["a"] * frame.shape[1]
    return frame


def _read_only():
    values = _numbers()
    values.flags.writeable = False
    return values


def _dates():
    return pd.date_range("2020-01-01", periods=N)


def _tensor(values):
    import torch

    return torch.as_tensor(values)


class Liar:
    """Object that says it has a length, and nothing else."""

    def __len__(self):
        return N


FRAMES = {
    "pandas nothing": lambda: pd.DataFrame(),
    "pandas no rows": lambda: pd.DataFrame({"a": [], "b": []}),
    "pandas no columns": lambda: pd.DataFrame(index=range(N)),
    "pandas one row": lambda: pd.DataFrame({"a": [1.0], "b": [2.0]}),
    "pandas two rows": lambda: pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 1.0]}),
    "pandas all NaN": lambda: pd.DataFrame(np.full((N, 2), np.nan)),
    "pandas one NaN": lambda: _frame(a=_with(np.nan), b=_with(1)),
    "pandas inf": lambda: _frame(a=_with(np.inf), b=_with(1)),
    "pandas mixed column": lambda: _frame(a=[1, "b", 2.5, None] * 6),
    "pandas mixed without None": lambda: _frame(a=[1, "b", 2.5, (1, 2)] * 6),
    "pandas mixed columns": lambda: _frame(a=_numbers()[:, 0], b=_labels(), c=np.arange(N) % 2 == 0),
    "pandas duplicate names": lambda: _duplicated(_numbers()),
    "pandas duplicate labels": lambda: _duplicated(np.column_stack([_labels(), _labels()])),
    "pandas names of all kinds": lambda: pd.DataFrame(_numbers(3), columns=[1, None, ("a", 2)]),
    "pandas NaN for a name": lambda: pd.DataFrame(_numbers(), columns=[np.nan, "b"]),
    "pandas multiindex columns": lambda: pd.DataFrame(
        _numbers(4), columns=pd.MultiIndex.from_product([["a", "b"], [1, 2]])
    ),
    "pandas multiindex rows": lambda: pd.DataFrame(
        _numbers(), index=pd.MultiIndex.from_product([range(N // 2), list("ab")]), columns=list("ab")
    ),
    "pandas duplicate index": lambda: pd.DataFrame(np.abs(_numbers()), index=[0] * N, columns=list("ab")),
    "pandas dates": lambda: _frame(a=_dates(), b=np.arange(N)),
    "pandas timezones": lambda: _frame(a=_dates().tz_localize("Asia/Kolkata")),
    "pandas timedeltas": lambda: _frame(a=_dates() - _dates()[0]),
    "pandas periods": lambda: _frame(a=pd.period_range("2020", periods=N, freq="M")),
    "pandas intervals": lambda: _frame(a=pd.interval_range(0, N)),
    "pandas dates missing": lambda: _frame(a=[pd.NaT, *_dates()[1:]]),
    "pandas categorical": lambda: _frame(a=pd.Categorical(_labels(), categories=list("abcz"))),
    "pandas categorical missing": lambda: _frame(a=pd.Categorical([None, *_labels()[1:]])),
    "pandas ordered": lambda: _frame(a=pd.Categorical(_labels(), categories=list("cba"), ordered=True)),
    "pandas categorical numbers": lambda: _frame(a=pd.Categorical(np.arange(N) % 3)),
    "pandas nullable": lambda: _frame(a=pd.array(range(N), dtype="Int64"), b=pd.array(_numbers()[:, 0], "Float64")),
    "pandas nullable missing": lambda: _frame(a=pd.array([None, *range(N - 1)], dtype="Int64")),
    "pandas nullable bool": lambda: _frame(a=pd.array([True, None] * 12, dtype="boolean")),
    "pandas string dtype": lambda: _frame(a=pd.array(_labels(), dtype="string")),
    "pandas string missing": lambda: _frame(a=pd.array(["a", None] * 12, dtype="string")),
    "pandas sparse": lambda: pd.DataFrame.sparse.from_spmatrix(sp.eye_array(N, 2, format="csr")),
    "pandas arrow": lambda: _frame(a=pd.array(range(N), dtype="int64[pyarrow]")),
    "pandas bytes": lambda: _frame(a=[b"a", b"\xff"] * 12),
    "pandas lists": lambda: _frame(a=[[1, 2], [3]] * 12),
    "pandas sets": lambda: _frame(a=[{1}, {2}] * 12),
    "pandas dicts": lambda: _frame(a=[{"a": 1}, {}] * 12),
    "pandas complex": lambda: _frame(a=_numbers()[:, 0] + 1j),
    "pandas Decimal": lambda: _frame(a=[Decimal(i) / 7 for i in range(N)]),
    "pandas Decimal NaN": lambda: _frame(a=[Decimal("NaN"), *map(Decimal, range(N - 1))]),
    "pandas Fraction": lambda: _frame(a=[Fraction(i, 7) for i in range(N)]),
    "pandas unicode": lambda: pd.DataFrame({"😀": UNICODE * 2, "": UNICODE * 2}, dtype=object),
    "pandas series": lambda: pd.Series(_numbers()[:, 0], name="s"),
    "pandas series labels": lambda: pd.Series(_labels()),
    "pandas index": lambda: pd.Index(_labels()),
    "pandas other index": lambda: pd.DataFrame(np.abs(_numbers()), index=range(100, 100 + N), columns=list("ab")),
    "pandas groupby": lambda: pd.DataFrame({"a": _labels()}).groupby("a"),
    "polars nothing": lambda: pl.DataFrame(),
    "polars no rows": lambda: pl.DataFrame({"a": [], "b": []}),
    "polars one row": lambda: pl.DataFrame({"a": [1.0], "b": [2.0]}),
    "polars nulls": lambda: pl.DataFrame({"a": [None] * N}),
    "polars NaN": lambda: pl.DataFrame({"a": _with(np.nan)}),
    "polars lists": lambda: pl.DataFrame({"a": [[1, 2], [3]] * 12}),
    "polars array column": lambda: pl.DataFrame(
        {"a": np.zeros((N, 2)).tolist()}, schema={"a": pl.Array(pl.Float64, 2)}
    ),
    "polars structs": lambda: pl.DataFrame({"a": [{"b": 1}, {"b": 2}] * 12}),
    "polars dates": lambda: pl.DataFrame({"a": [datetime.date(2020, 1, 1)] * N, "b": list(range(N))}),
    "polars time": lambda: pl.DataFrame({"a": [datetime.time(1), datetime.time(2)] * 12}),
    "polars categorical": lambda: pl.DataFrame({"a": pl.Series(_labels(), dtype=pl.Categorical)}),
    "polars enum": lambda: pl.DataFrame({"a": pl.Series(_labels(), dtype=pl.Enum(list("zcba")))}),
    "polars enum missing": lambda: pl.DataFrame({"a": pl.Series([None, *_labels()[1:]], dtype=pl.Enum(list("abc")))}),
    "polars decimal": lambda: pl.DataFrame({"a": [Decimal(i) for i in range(N)]}),
    "polars int128": lambda: pl.DataFrame({"a": pl.Series([2**100 + i for i in range(N)], dtype=pl.Int128)}),
    "polars objects": lambda: pl.DataFrame({"a": pl.Series([object() for _ in range(N)], dtype=pl.Object)}),
    "polars binary": lambda: pl.DataFrame({"a": [b"a", b"b"] * 12}),
    "polars unicode": lambda: pl.DataFrame({"😀": [u for u in UNICODE if u != "\ud800"] * 2 + ["a"] * 2}),
    "polars lazy": lambda: pl.LazyFrame({"a": range(N), "b": range(N)}),
    "polars series": lambda: pl.Series("s", _labels()),
    "arrow no rows": lambda: pa.table({"a": pa.array([], pa.float64())}),
    "arrow numbers": lambda: pa.table({"a": _numbers()[:, 0], "b": _numbers()[:, 1]}),
    "arrow nulls": lambda: pa.table({"a": pa.nulls(N)}),
    "arrow dictionary": lambda: pa.table({"a": pa.array(_labels()).dictionary_encode()}),
    "arrow duplicate names": lambda: pa.table([pa.array(range(N)), pa.array(range(N))], names=["a", "a"]),
    "arrow timestamps": lambda: pa.table({"a": pa.array(_dates())}),
    "arrow half": lambda: pa.table({"a": pa.array(np.arange(N, dtype=np.float16))}),
    "arrow lists": lambda: pa.table({"a": pa.array([[1], [2, 3]] * 12)}),
    "arrow array": lambda: pa.array(_labels()),
    "arrow chunks": lambda: pa.chunked_array([_labels()[:5], _labels()[5:]]),
    "arrow chunks missing": lambda: pa.chunked_array([[None, "a"] * 12]),
}

ARRAYS = {
    "numbers": _numbers,
    "counts": lambda: _rng().integers(0, 9, (N, 3)),
    "labels": _labels,
    "empty list": list,
    "empty array": lambda: np.empty((0, 2)),
    "no columns": lambda: np.empty((N, 0)),
    "one row": lambda: np.ones((1, 2)),
    "two rows": lambda: np.eye(2),
    "one column": lambda: _numbers(1),
    "all NaN": lambda: np.full((N, 2), np.nan),
    "one NaN": lambda: _with(np.nan),
    "inf": lambda: _with(np.inf),
    "-inf": lambda: np.column_stack([_with(-np.inf), _with(2)]),
    "constant": lambda: np.ones((N, 2)),
    "zeros": lambda: np.zeros((N, 2)),
    "negative": lambda: -np.ones((N, 2)) * np.arange(N)[:, None],
    "constant label": lambda: ["a"] * N,
    "1e200": lambda: _with(1e200),
    "1e308": lambda: _with(1e308),
    "all 1e300": lambda: _numbers() * 1e300,
    "-1e308 to 1e308": lambda: np.linspace(-1, 1, N)[:, None] * 1e308,
    "table of 1e200": lambda: np.abs(_numbers(3)) * 1e200,
    "table of 1e-200": lambda: np.abs(_numbers(3)) * 1e-200,
    "table from 1e-200 to 1e200": lambda: np.abs(_numbers(3)) * np.logspace(-200, 200, N)[:, None],
    "5e-324": lambda: _with(5e-324) * 0 + 5e-324 * (np.arange(N) % 2),
    "all tiny": lambda: np.abs(_numbers()) * 1e-310,
    "big offset": lambda: 1e16 + 2.0 * np.arange(N),
    "int64 extremes": lambda: np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max] * 12),
    "uint64": lambda: np.arange(N, dtype=np.uint64) + np.uint64(2**63),
    "beyond 2**53": lambda: 2**53 + np.arange(N),
    "beyond 2**64": lambda: [2**70 + i for i in range(N)],
    "10**400": lambda: [10**400, *range(N - 1)],
    "int8": lambda: np.arange(N, dtype=np.int8),
    "float16": lambda: _numbers().astype(np.float16),
    "float16 huge": lambda: np.full(N, 65504, np.float16) * (np.arange(N) % 2).astype(np.float16),
    "longdouble": lambda: _numbers().astype(np.longdouble),
    "big endian": lambda: _numbers().astype(">f8"),
    "complex": lambda: _numbers() + 1j,
    "booleans": lambda: np.arange(N) % 2 == 0,
    "table of booleans": lambda: _numbers(3) > 0,
    "bytes": lambda: np.array([b"a", b"b"] * 12),
    "strings": lambda: np.array(["a", "b"] * 12),
    "strings of numbers": lambda: ["1", "2.5"] * 12,
    "string dtype": lambda: np.array(["a", "b"] * 12, dtype=np.dtypes.StringDType()),
    "table of strings": lambda: np.array([["1", "2"]] * N),
    "ragged": lambda: [[1, 2], [3]] * 12,
    "ragged objects": lambda: np.array([np.zeros(2), np.zeros(3)] * 12, dtype=object),
    "nested": lambda: [[[1], [2]], [[3], [4]]] * 12,
    "None": lambda: None,
    "Nones": lambda: [None] * N,
    "objects with None": lambda: np.array([1, None, 2] * 8, dtype=object),
    "objects with NaN": lambda: np.array(["a", np.nan] * 12, dtype=object),
    "objects with NA": lambda: np.array(["a", pd.NA] * 12, dtype=object),
    "objects of numbers": lambda: _numbers().astype(object),
    "mixed types": lambda: [1, "1", 1.5, b"1", True, (1,)] * 4,
    "mixed rows": lambda: [[1.5, "a"], [2.5, "b"]] * 12,
    "1, 1.0 and True": lambda: np.array([1, 1.0, True, "1"] * 6, dtype=object),
    "0-d": lambda: np.array(3.0),
    "3-d": lambda: _rng().normal(size=(N, 2, 2)),
    "4-d": lambda: _rng().normal(size=(N, 1, 2, 2)),
    "4-d without pixels": lambda: np.empty((N, 1, 0, 2)),
    "4-d huge": lambda: _rng().normal(size=(N, 1, 2, 2)) * 1e300,
    "5-d": lambda: np.zeros((N, 1, 1, 1, 1)),
    "masked": lambda: np.ma.masked_array(_numbers(), np.eye(N, 2)),
    "masked labels": lambda: np.ma.masked_array(_labels(), np.arange(N) == 0),
    "structured": lambda: np.zeros(N, dtype=[("a", float), ("b", int)]),
    "void": lambda: np.zeros(N, dtype="V4"),
    "dates": lambda: np.arange(N).astype("datetime64[D]"),
    "nanoseconds": lambda: np.arange(N).astype("datetime64[ns]"),
    "timedeltas": lambda: np.arange(N).astype("timedelta64[s]"),
    "NaT": lambda: np.array(["NaT"] * N, dtype="datetime64[D]"),
    "years": lambda: np.arange(N).astype("datetime64[Y]") + np.timedelta64(10**6, "Y"),
    "python dates": lambda: [datetime.date(2020, 1, 1 + i) for i in range(N)],
    "python times with zones": lambda: [datetime.datetime(2020, 1, 1 + i % 3, tzinfo=datetime.UTC) for i in range(N)],
    "python times mixed zones": lambda: [
        datetime.datetime(2020, 1, 1, i, tzinfo=datetime.UTC if i % 2 else None) for i in range(N)
    ],
    "Decimals": lambda: [Decimal(i) / 3 for i in range(N)],
    "Decimal NaN": lambda: [Decimal("NaN"), *map(Decimal, range(N - 1))],
    "signalling NaN": lambda: [Decimal("sNaN"), *map(Decimal, range(N - 1))],
    "Decimal huge": lambda: [Decimal("1e999"), *map(Decimal, range(N - 1))],
    "Fractions": lambda: [Fraction(i, 3) for i in range(N)],
    "read-only": _read_only,
    "strided": lambda: _rng().normal(size=(2 * N, 6))[::2, ::3],
    "reversed": lambda: _numbers()[::-1, ::-1],
    "fortran": lambda: np.asfortranarray(_numbers()),
    "memoryview": lambda: memoryview(np.arange(N)),
    "range": lambda: range(N),
    "tuple": lambda: tuple(range(N)),
    "tuples": lambda: [(i % 2, i % 3) for i in range(N)],
    "set": lambda: set(range(N)),
    "dict": lambda: {i: i for i in range(N)},
    "dict of lists": lambda: {"a": list(range(N)), "b": list(range(N))},
    "generator": lambda: (i for i in range(N)),
    "iterator of batches": lambda: iter([_numbers(), _numbers()]),
    "iterator of nothing": lambda: iter([]),
    "deque": lambda: deque(range(N)),
    "sets": lambda: [{1}, {2}] * 12,
    "frozensets": lambda: [frozenset([1]), frozenset(["a", 2])] * 12,
    "lists": lambda: [[1, "a"], [2, "b"]] * 12,
    "unicode": lambda: UNICODE * 2,
    "unicode array": lambda: np.array([u for u in UNICODE if u != "\ud800"] * 2 + ["a", "b"]),
    "long labels": lambda: [LONG + "a", LONG + "b"] * 12,
    "texts": lambda: [f"some words {i} here" for i in range(N)],
    "texts without words": lambda: ["! ?", "? !"] * 11 + ["- +", "+ -"],
    "all different labels": lambda: [f"label{i}" for i in range(N)],
    "objects": lambda: [object() for _ in range(N)],
    "liar": Liar,
    "string": lambda: "a string",
    "empty string": lambda: "",
    "number": lambda: 3,
    "object": object,
    "class": lambda: dict,
    "function": lambda: len,
    "sparse": lambda: sp.csr_array(_rng().integers(0, 3, (N, 3)).astype(float)),
    "sparse matrix": lambda: sp.coo_matrix(_rng().integers(0, 3, (N, 3))),
    "sparse without rows": lambda: sp.csr_array((0, 3)),
    "sparse without columns": lambda: sp.csr_array((N, 0)),
    "sparse of zeros": lambda: sp.csr_array((N, 3)),
    "sparse NaN": lambda: sp.csr_array(np.full((N, 3), np.nan)),
    "sparse inf": lambda: sp.csr_array(np.full((N, 3), np.inf)),
    "sparse 1e300": lambda: sp.csr_array(_numbers() * 1e300),
    "sparse -1e308": lambda: sp.csr_array(-1e308 * (np.arange(N) % 2).astype(float)[:, None]),
    "sparse negative": lambda: sp.csr_array(-np.eye(N, 3)),
    "sparse complex": lambda: sp.csr_array(np.eye(N, 3) * 1j),
    "sparse booleans": lambda: sp.csr_array(np.eye(N, 3, dtype=bool)),
    "sparse one row": lambda: sp.csr_array(np.ones((1, 3))),
    "sparse 1-d": lambda: sp.coo_array(np.arange(N)),
    "sparse dia": lambda: sp.eye_array(N, 3, format="dia"),
    "tensor": lambda: _tensor(_numbers()),
    "tensor half": lambda: _tensor(_numbers()).bfloat16(),
    "tensor with gradients": lambda: _tensor(_numbers()).requires_grad_(),
    "tensor of NaN": lambda: _tensor(np.full((N, 2), np.nan)),
    "tensor complex": lambda: _tensor(_numbers() + 1j),
    "tensor 0-d": lambda: _tensor(np.array(3.0)),
    "tensor sparse": lambda: _tensor(np.eye(N, 2)).to_sparse(),
    "longer": lambda: _rng().normal(size=(N + 1, 2)),
}

WEIGHTS = {
    "weights": lambda: np.ones(N),
    "negative weights": lambda: -np.ones(N),
    "one negative weight": lambda: _with(-1),
    "weights of zero": lambda: np.zeros(N),
    "weights of NaN": lambda: np.full(N, np.nan),
    "one weight": lambda: np.eye(N)[0],
    "huge weights": lambda: np.full(N, 1e308),
    "tiny weights": lambda: np.full(N, 5e-324),
    "weights from 1e-300 to 1e300": lambda: np.logspace(-300, 300, N),
    "too many weights": lambda: np.ones(N + 1),
    "weights for three": lambda: np.ones(3),
}

INPUTS = FRAMES | ARRAYS | WEIGHTS

SCALARS = {
    "None": None,
    "True": True,
    "zero": 0,
    "one": 1,
    "two": 2,
    "minus one": -1,
    "minus zero": -0.0,
    "2**40": 2**40,
    "2**63": 2**63,
    "10**400": 10**400,
    "1.5": 1.5,
    "1e308": 1e308,
    "5e-324": 5e-324,
    "nan": np.nan,
    "inf": np.inf,
    "np.int8": np.int8(2),
    "np.float32": np.float32(0.5),
    "np.str": np.str_("auto"),
    "text": "😀",
    "empty": "",
    "auto": "auto",
    "bytes": b"auto",
    "list": [],
    "list of one": [1],
    "array": np.ones(3),
    "dict": {},
    "set": {1},
    "object": object(),
    "class": int,
    "function": len,
    "Decimal": Decimal(2),
    "complex": 1j,
    "date": datetime.date(2020, 1, 1),
}


# --- judge


class Hang(BaseException):
    """Raised by the alarm; no `except Exception` catches it."""


def _ring(*_):
    raise Hang


@contextmanager
def _alarm():
    """Of seconds of the processor, so that a busy machine is no hang; ten times as long if it only waits."""
    timers = ((signal.SIGPROF, signal.ITIMER_PROF, SECONDS), (signal.SIGALRM, signal.ITIMER_REAL, 10 * SECONDS))
    before = [signal.signal(number, _ring) for number, _, _ in timers]
    for _, timer, seconds in timers:
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for (number, timer, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


def judge(call, *arguments):
    """What is wrong with what a call does, or an empty text."""
    own, listened = [], warnings.warn

    def warn(message, category=None, stacklevel=1, **options):
        if sys._getframe(1).f_globals.get("__name__", "").startswith("correspondence"):
            own.append(str(message))
        listened(message, category, stacklevel + 1, **options)

    with warnings.catch_warnings(record=True) as caught, _alarm():
        warnings.simplefilter("always")
        warnings.warn = warn
        try:
            fault = _fault_of_result(call(*arguments))
        except Hang:
            fault = "hangs"
        except Exception as error:
            fault = fault_of_error(error)
        finally:
            warnings.warn = listened
    foreign = [w for w in caught if not issubclass(w.category, co.CorrespondenceWarning) or str(w.message) not in own]
    if foreign and not fault:
        fault = (
            f"warns {foreign[0].category.__name__}: {foreign[0].message} ({foreign[0].filename}:{foreign[0].lineno})"
        )
    return fault


def fault_of_error(error):
    """What is wrong with an error, or an empty text."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    last = traceback.extract_tb(error.__traceback__)[-1]
    told = f"{type(error).__name__}: {str(error)[:150]!r} ({last.filename.split('/src/')[-1]}:{line})"
    if type(error) not in (ValueError, TypeError, FileNotFoundError):
        return f"raw error {told}"
    if not Path(frame.f_code.co_filename).is_relative_to(SOURCE):
        return f"error from the depths {told}"
    if not _stopped_at_raise(error.__traceback__):
        return f"error of a call {told}"
    return _fault_of_message(str(error)) and f"{_fault_of_message(str(error))} {told}"


def _stopped_at_raise(tb):
    while tb.tb_next is not None:
        tb = tb.tb_next
    return dis.opname[tb.tb_frame.f_code.co_code[tb.tb_lasti]] == "RAISE_VARARGS"


def _arguments():
    """Names of all arguments of the public functions, classes and their methods."""
    for thing in (getattr(co, name) for name in co.__all__):
        if inspect.isclass(thing) and issubclass(thing, Warning):  # which take none
            continue
        methods = vars(thing).values() if inspect.isclass(thing) else ()
        for function in (thing, *methods):
            function = getattr(function, "__func__", function)
            if inspect.isfunction(function) or inspect.isclass(function):
                yield from inspect.signature(function).parameters


# and what messages call parts of them: labels of a column, beliefs that a model returns, values of a function
NAMES = {*_arguments(), "x", "y", "labels", "label", "class", "beliefs", "features", "values", "pairs"}


def _fault_of_message(text):
    if "\n" in text or len(text) > 400 or not text.endswith((".", "?")):
        return "message is no sentence:"
    words = set(re.findall(r"\w+", text))
    if not words & NAMES:
        return "message names no argument:"
    return ""


def _fault_of_result(result):
    return next((f"not finite: {what}" for what in _not_finite(result, "result")), "")


def _not_finite(value, where):
    """Places of numbers that are not finite in results, arrays, lists and dictionaries of them."""
    if isinstance(value, co.Decomposition):
        yield from _not_finite([value.pics, value.chi2, value.n], where)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _not_finite(getattr(value, field.name), f"{where}.{field.name}")
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _not_finite(part, f"{where}[{key!r}]")
    elif isinstance(value, list | tuple):
        for i, part in enumerate(value):
            yield from _not_finite(part, f"{where}[{i}]")
    elif sp.issparse(value):
        yield from _not_finite(value.data, where)
    elif isinstance(value, np.ndarray | float | np.floating) and np.asarray(value).dtype.kind in "fc":
        is_unknown = where.endswith("captured_interval") and np.isinf(value).all()  # of one or two pairs
        if not np.isfinite(value).all() and not is_unknown:
            yield f"{where}: {str(value)[:60]}"
    elif isinstance(value, np.ndarray) and value.dtype == object:
        for part in value.ravel()[:50]:
            if isinstance(part, np.ndarray):
                yield from _not_finite(part, where)
