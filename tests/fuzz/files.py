"""Hostile files, by name, and the judge of what is done with them.

Each file has, or should have, a column (or array) `a` of numbers and `b` of labels, and is written by a function of a
folder. The judge takes a result whose numbers are finite, or one sentence of our own that names what is wrong.
"""

import contextlib
import datetime
import gzip
import io
import json
import linecache
import re
import signal
import traceback
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import scipy.sparse as sp

import correspondence as co

PACKAGE = Path(co.__file__).parent
SECONDS = 120  # of one call on a slow machine
LONGEST = 1000  # characters of a sentence, a path included
FOREIGN = (  # what only the makers of a library understand, or advice that is none
    "infer_schema",
    "dtype",
    "strict=",
    "pickle=",
    "Series",
    "sys.",
    "recursion",
    "object at 0x",
    "Traceback",
    "'NoneType' object",
    "context stack",
    "which has .",
    "nan ",
)

# --- the catalogue

N = 30
NUMBERS = [round(0.37 * i % 3 - 1, 2) for i in range(N)]
LABELS = ["low" if a < 0 else "high" if a > 1 else "mid" for a in NUMBERS]
RTL = "\u05e9\u05dc\u05d5\u05dd"  # right to left
EMOJI = "\U0001f469\u200d\U0001f680"  # of three characters


def lines(*header, rows=None, separator=",", end="\n"):
    rows = list(zip(NUMBERS, LABELS, strict=True)) if rows is None else rows
    return end.join(separator.join(map(str, row)) for row in [header, *rows]) + end


def csv_with(*values):
    """Good rows, and then one with each of these in column a."""
    return lines("a", "b") + "".join(f"{value},mid\n" for value in values)


TEXTS = {
    "nothing": b"",
    "one newline": b"\n",
    "spaces": b"   \n  \n",
    "header only": b"a,b\n",
    "header without newline": b"a,b",
    "one row": b"a,b\n1,low\n",
    "two rows": b"a,b\n1,low\n2,high\n",
    "all missing": b"a,b\n,\n,\n,\n",
    "all NaN": b"a,b\n" + b"NaN,low\nNaN,high\n" * 5,
    "constant": b"a,b\n" + b"1,low\n" * 20,
    "mixed types": csv_with("text", "2020-01-01", "true", "1e3"),
    "infinite": csv_with("inf", "-inf"),
    "huge numbers": csv_with("1e308", "-1e308"),
    "tiny numbers": lines("a", "b", rows=[(f"{a}e-308", b) for a, b in zip(NUMBERS, LABELS, strict=True)]),
    "numbers beyond floats": csv_with("1e400", "9" * 400),
    "whole numbers beyond 2**53": lines("a", "b", rows=[(2**53 + i, b) for i, b in enumerate(LABELS)]),
    "whole numbers beyond 2**64": lines("a", "b", rows=[(2**64 + i, b) for i, b in enumerate(LABELS)]),
    "whole numbers beyond 2**128": lines("a", "b", rows=[(2**128 + i, b) for i, b in enumerate(LABELS)]),
    "columns of one name": lines("a", "b", "a", rows=[(a, b, -a) for a, b in zip(NUMBERS, LABELS, strict=True)]),
    "columns without names": lines("", "", rows=[(a, b) for a, b in zip(NUMBERS, LABELS, strict=True)]),
    "columns as polars renames them": lines("a", "b", "a_duplicated_0", rows=[(1, 2, 3), (4, 5, 6), (7, 8, 9)]),
    "unicode": lines("a", "b", rows=[(a, EMOJI + b + RTL) for a, b in zip(NUMBERS, LABELS, strict=True)]),
    "byte order mark": "\ufeff" + lines("a", "b"),
    "two byte order marks": "\ufeff\ufeff" + lines("a", "b"),
    "NUL bytes": lines("a", "b").replace("mid", "m\0d"),
    "NUL bytes only": b"\0" * 100,
    "control characters": lines("a", "b").replace("mid", "m\x1b[31md\x07"),
    "latin-1": lines("a", "b").replace("mid", "m\xefd").encode("latin-1"),
    "UTF-16": lines("a", "b").encode("utf-16"),
    "UTF-32": lines("a", "b").encode("utf-32"),
    "ragged, longer": lines("a", "b") + "1,low,3,4\n",
    "ragged, shorter": lines("a", "b", "c", rows=[(1, "low", 3), (2, "high"), (3,), (4, "low", 5)] * 8),
    "open quote": lines("a", "b") + '1,"low\n2,high\n',
    "quotes inside": lines("a", "b") + '1,lo"w\n2,"hi"gh\n',
    "only quotes": b'"""""\n""""\n',
    "Mac line ends": lines("a", "b", end="\r"),
    "mixed line ends": lines("a", "b", end="\r\n") + "1,low\r2,mid\n\r3,high\n",
    "dates": lines("a", "b", rows=[(datetime.date(2020, 1, 1 + i), b) for i, b in enumerate(LABELS)]),
    "dates of both kinds": csv_with("2020-01-01", "31.12.2020", "2020-01-01T00:00:00Z"),
    "decimal commas": lines("a", "b", separator=";").replace(".", ","),
    "thousands and decimal commas": lines(
        "a", "b", separator=";", rows=[(f"1.{100 + i},5", b) for i, b in enumerate(LABELS)]
    ),
    "thousands with commas": lines("a", "b", rows=[(f'"1,{100 + i}.5"', b) for i, b in enumerate(LABELS)]),
    "percent signs": lines("a", "b", rows=[(f"{a}%", b) for a, b in zip(NUMBERS, LABELS, strict=True)]),
    "money": csv_with("$5", "($6)"),
    "markers": csv_with("?", "-", "n/a"),
    "spellings": csv_with('"1,234"', '"1.234,5"', "1 234"),
    "leading zeros": lines("a", "b", rows=[(f"0{i}", b) for i, b in enumerate(LABELS)]),
    "days and months": lines("a", "b", rows=[(f"0{1 + i % 9}/0{1 + i % 7}/2020", b) for i, b in enumerate(LABELS)]),
    "a Cyrillic encoding": "a,b\n1,\u043d\u0438\u0437\n".encode("cp1251"),
    "a comment": "# made by hand\n" + lines("a", "b"),
    "separators at the ends": lines("a", "b").replace("\n", ",\n"),
    "one column": lines("a", rows=[(a,) for a in NUMBERS]),
    "long cell": lines("a", "b") + f"1,{'x' * 200_000}\n",
    "many columns": lines(*(f"c{i}" for i in range(3000)), rows=[range(3000)] * 3),
    "formulas": lines("a", "b", rows=[(a, f"=HYPERLINK(1)+{b}") for a, b in zip(NUMBERS, LABELS, strict=True)]),
    "script": lines("a", "b", rows=[(a, f"<script>alert({b})</script>") for a, b in zip(NUMBERS, LABELS, strict=True)]),
    "a PNG": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)),
    "a ZIP": b"PK\x03\x04" + bytes(range(256)),
    "a gzip": gzip.compress(lines("a", "b").encode(), mtime=0),
    "a Parquet": b"PAR1" + bytes(100) + b"PAR1",
    "an HTML page": b"<!DOCTYPE html>\n<html><body>Please log in, then download.</body></html>\n",
    "a JSON": b'{"a": [1, 2], "b": ["low", "high"]}\n',
}

JSON_LINES = {
    "nothing": "",
    "empty objects": "{}\n{}\n",
    "one row": '{"a": 1, "b": "low"}\n',
    "nested": '{"a": {"x": 1}, "b": "low"}\n{"a": {"x": 2}, "b": "high"}\n' * 4,
    "nested in one row": '{"a": 1, "b": "low"}\n' * 9 + '{"a": {"x": [1, {"y": 2}]}, "b": "high"}\n',
    "lists of lists": '{"a": [[1], [2]], "b": "low"}\n{"a": [[3]], "b": "high"}\n' * 4,
    "mixed types": '{"a": 1, "b": "low"}\n{"a": "text", "b": 2}\n{"a": true, "b": null}\n{"a": [1], "b": {}}\n' * 4,
    "true and numbers": '{"a": 1, "b": true}\n{"a": 2.5, "b": 3}\n' * 4,
    "NaN and Infinity": '{"a": NaN, "b": "low"}\n{"a": Infinity, "b": "high"}\n{"a": 1, "b": "high"}\n' * 4,
    "huge": '{"a": 1' + "0" * 400 + ', "b": "low"}\n{"a": 1, "b": "high"}\n',
    "too many digits": '{"a": 1' + "0" * 5000 + ', "b": "low"}\n{"a": 1, "b": "high"}\n',
    "deep": "[" * 100_000 + "\n",
    "a key twice": '{"a": 1, "a": 2, "b": "low"}\n{"a": 3, "b": "high"}\n',
    "half a surrogate": '{"a": 1, "b": "\\ud800"}\n{"a": 2, "b": "high"}\n' * 4,
    "an array": '[{"a": 1, "b": "low"}]\n',
    "one object on several lines": '{\n"a": 1,\n"b": "low"\n}\n',
    "latin-1": b'{"a": 1, "b": "m\xefd"}\n',
    "CSV": lines("a", "b"),
    "dates": "".join(json.dumps({"a": f"2020-01-{i + 1:02}", "b": b}) + "\n" for i, b in enumerate(LABELS)),
}


def _parquet(**columns):
    def content():
        buffer = io.BytesIO()
        pl.DataFrame(columns).write_parquet(buffer)
        return buffer.getvalue()

    return content


def _npz(**arrays):
    def content():
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        return buffer.getvalue()

    return content


def _cut(content, share):
    return lambda: content()[: int(len(content()) * share)]


def _flipped(content):
    def changed():
        data = bytearray(content())
        for i in range(len(data) // 3, 2 * len(data) // 3):
            data[i] ^= 255
        return bytes(data)

    return changed


def _columns_of_one_name():
    import pyarrow as pa
    from pyarrow import parquet

    sink = io.BytesIO()
    parquet.write_table(pa.table([NUMBERS, NUMBERS, LABELS], names=["a", "a", "b"]), sink)
    return sink.getvalue()


def _bomb():
    """A header that promises more than any memory."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }"
        header += b" " * (63 - len(header) % 64 + 54) + b"\n"
        archive.writestr("a.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    return buffer.getvalue()


def _sparse():
    buffer = io.BytesIO()
    sp.save_npz(buffer, sp.csr_array(np.eye(3)))
    return buffer.getvalue()


GOOD_PARQUET = _parquet(a=NUMBERS, b=LABELS)
GOOD_NPZ = _npz(a=np.array(NUMBERS), b=np.array(LABELS))

PARQUETS = {
    "nothing": lambda: b"",
    "no rows": _parquet(a=pl.Series([], dtype=pl.Float64), b=pl.Series([], dtype=pl.String)),
    "no columns": _parquet(),
    "one row": _parquet(a=[1.0], b=["low"]),
    "all null": _parquet(a=[None] * 9, b=[None] * 9),
    "all NaN": _parquet(a=[np.nan] * N, b=LABELS),
    "cut at half": _cut(GOOD_PARQUET, 0.5),
    "cut at the end": _cut(GOOD_PARQUET, 0.98),
    "flipped": _flipped(GOOD_PARQUET),
    "columns of one name": _columns_of_one_name,
    "lists": _parquet(a=[[1.0, 2.0]] * N, b=LABELS),
    "lists of different lengths": _parquet(a=[[1.0] * (i % 3) for i in range(N)], b=LABELS),
    "structs": _parquet(a=[{"x": a} for a in NUMBERS], b=LABELS),
    "bytes": _parquet(a=[bytes([i]) for i in range(N)], b=LABELS),
    "dates": _parquet(a=[datetime.date(2020, 1, 1 + i) for i in range(N)], b=LABELS),
    "times": _parquet(a=[datetime.datetime(2020, 1, 1, i % 24, tzinfo=datetime.UTC) for i in range(N)], b=LABELS),
    "durations": _parquet(a=[datetime.timedelta(days=i) for i in range(N)], b=LABELS),
    "decimals": _parquet(a=pl.Series(NUMBERS).cast(pl.Decimal(10, 2)), b=LABELS),
    "categories": _parquet(a=NUMBERS, b=pl.Series(LABELS, dtype=pl.Categorical)),
    "true and false": _parquet(a=[a > 0 for a in NUMBERS], b=LABELS),
    "huge": _parquet(a=[*NUMBERS[1:], 1e308], b=LABELS),
    "infinite": _parquet(a=[*NUMBERS[1:], np.inf], b=LABELS),
    "128 bits": _parquet(a=[2**100 + i for i in range(N)], b=LABELS),
    "a CSV": lambda: lines("a", "b").encode(),
}


def _excel(**columns):
    def content():
        buffer = io.BytesIO()
        pl.DataFrame(columns, strict=False).write_excel(buffer)
        return buffer.getvalue()

    return content


def _arff(rows, kind="numeric"):
    return lambda: f"@relation r\n@attribute a {kind}\n@attribute b {{low,mid,high}}\n@data\n{rows}".encode()


GOOD_EXCEL = _excel(a=NUMBERS, b=LABELS)
GOOD_ARFF = _arff("".join(f"{a},{b}\n" for a, b in zip(NUMBERS, LABELS, strict=True)))
OTHERS = {
    "good.xlsx": GOOD_EXCEL,
    "cut.xlsx": _cut(GOOD_EXCEL, 0.5),
    "flipped.xlsx": _flipped(GOOD_EXCEL),
    "no rows.xlsx": _excel(a=pl.Series([], dtype=pl.Float64), b=pl.Series([], dtype=pl.String)),
    "a CSV.xlsx": lambda: lines("a", "b").encode(),
    "a CSV.xls": lambda: lines("a", "b").encode(),
    "a CSV.sav": lambda: lines("a", "b").encode(),
    "a CSV.dta": lambda: lines("a", "b").encode(),
    "a head.sav": lambda: b"$FL2@(#) SPSS DATA FILE" + bytes(200),
    "good.arff": GOOD_ARFF,
    "cut.arff": _cut(GOOD_ARFF, 0.4),
    "texts.arff": _arff("x,low\n"),
    "quotes.arff": _arff("1,'low\n"),
    "unknown.arff": _arff("1,low\n", "relational"),
    "no rows.arff": _arff(""),
    "sparse.arff": _arff("{0 1, 9 x}\n"),
    "binary.arff": lambda: bytes(range(256)),
    "good.csv.gz": lambda: gzip.compress(lines("a", "b").encode(), mtime=0),
    "cut.csv.gz": lambda: gzip.compress(lines("a", "b").encode(), mtime=0)[:-20],
    "a CSV.csv.gz": lambda: lines("a", "b").encode(),
    "a CSV.csv.zip": lambda: lines("a", "b").encode(),
    "a CSV.csv.zst": lambda: lines("a", "b").encode(),
    "a CSV.csv.xz": lambda: lines("a", "b").encode(),
    "a CSV.csv.bz2": lambda: lines("a", "b").encode(),
    "binary.csv.gz": lambda: gzip.compress(bytes(range(256)), mtime=0),
    "records.json": lambda: json.dumps([{"a": a, "b": b} for a, b in zip(NUMBERS, LABELS, strict=True)]).encode(),
    "deep.json": lambda: b"[" * 100_000,
    "an object.json": lambda: b'{"a": [1, 2]}',
}

NPZS = {
    "nothing": lambda: b"",
    "no arrays": _npz(),
    "pickled objects": _npz(a=np.array([{"x": 1}, None] * 15, dtype=object), b=np.array(LABELS)),
    "cut at half": _cut(GOOD_NPZ, 0.5),
    "flipped": _flipped(GOOD_NPZ),
    "bomb": _bomb,
    "no rows": _npz(a=np.zeros(0), b=np.zeros(0, str)),
    "one row": _npz(a=np.ones(1), b=np.array(["low"])),
    "scalars": _npz(a=np.float64(1), b=np.str_("low")),
    "no columns": _npz(a=np.zeros((N, 0)), b=np.array(LABELS)),
    "lengths": _npz(a=np.zeros(3), b=np.array(LABELS)),
    "all NaN": _npz(a=np.full(N, np.nan), b=np.array(LABELS)),
    "infinite": _npz(a=np.array([*NUMBERS[1:], np.inf]), b=np.array(LABELS)),
    "complex": _npz(a=np.array(NUMBERS) * 1j, b=np.array(LABELS)),
    "dates": _npz(a=np.arange(N).astype("datetime64[D]"), b=np.array(LABELS)),
    "not a date": _npz(a=np.full(N, np.datetime64("NaT", "D")), b=np.array(LABELS)),
    "bytes": _npz(a=np.array(NUMBERS), b=np.array(LABELS, dtype="S")),
    "records": _npz(a=np.zeros(N, dtype=[("x", float), ("y", int)]), b=np.array(LABELS)),
    "huge": _npz(a=np.array([*NUMBERS[1:], 1e308]), b=np.array(LABELS)),
    "long doubles": _npz(a=np.array(NUMBERS, dtype=np.longdouble), b=np.array(LABELS)),
    "half floats": _npz(a=np.array(NUMBERS, dtype=np.float16), b=np.array(LABELS)),
    "five axes": _npz(a=np.ones((N, 1, 2, 1, 2)), b=np.array(LABELS)),
    "sparse": _sparse,
    "a CSV": lambda: lines("a", "b").encode(),
}


def _writer(name, content):
    def write(folder):
        value = content() if callable(content) else content
        path = folder / name
        path.write_bytes(value.encode() if isinstance(value, str) else value)
        return path

    return write


FILES = {
    f"{ending} {name}": _writer(f"data.{ending}", content)
    for ending, catalogue in (("csv", TEXTS), ("jsonl", JSON_LINES), ("parquet", PARQUETS), ("npz", NPZS))
    for name, content in catalogue.items()
} | {
    "tsv good": _writer("data.tsv", lines("a", "b", separator="\t")),
    "tsv with commas": _writer("data.tsv", lines("a", "b")),
    "csv.gz": _writer("data.csv.gz", gzip.compress(lines("a", "b").encode(), mtime=0)),
    "xlsx": _writer("data.xlsx", b"PK\x03\x04" + bytes(100)),
    "no ending": _writer("data", lines("a", "b")),
    "npy with columns": _writer("data.npy", b"\x93NUMPY\x01\x00"),
    **{name: _writer(f"data.{name.partition('.')[2]}", content) for name, content in OTHERS.items()},
}


# --- the judge


class JudgedError(AssertionError):
    """What the judge does not take."""


@contextlib.contextmanager
def limited(seconds=SECONDS):
    """A hang is an error."""

    def ring(number, frame):
        raise JudgedError(f"no answer after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def judged(call, *names):
    """The result of a call; None if it was refused by one sentence that has one of these names in it."""
    try:
        with limited():
            return call()
    except JudgedError:
        raise
    except Exception as error:
        refusal(error, names)
        return None


def refusal(error, names):
    """Check that an error is of our own making, and a sentence."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(last.filename, last.lineno or 0).strip()
    where = f"{type(error).__name__}: {error}\n({last.filename}:{last.lineno}: {line})"
    if not isinstance(error, ValueError | TypeError | FileNotFoundError | IsADirectoryError | ImportError):
        raise JudgedError(f"of a wrong kind: {where}") from error
    if not Path(last.filename).is_relative_to(PACKAGE) or not line.startswith("raise "):
        raise JudgedError(f"not raised by us: {where}") from error
    sentence(str(error), names, where)


def sentence(text, names, where=""):
    """Check that a text is one sentence, or two, which names what is wrong."""
    if not text.isprintable() or not text.endswith(".") or text.endswith(".."):
        raise JudgedError(f"not a sentence: {text!r} {where}")
    if len(text) > LONGEST:
        raise JudgedError(f"too long: {len(text)} characters, {text[:200]!r} {where}")
    foreign = next((word for word in FOREIGN if word in text), None)
    if foreign is not None:
        raise JudgedError(f"{foreign!r} is said to nobody: {text!r} {where}")
    if names and not any(name.lower() in text.lower() for name in names):
        raise JudgedError(f"names none of {names}: {text!r} {where}")


def told(result, *names):
    """Whether a command of the command line did its work; if not, whether it says why, as README has it."""
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise JudgedError(f"a traceback: {result.exception!r}") from result.exception
    if result.exit_code == 0:
        return True
    if result.exit_code not in (1, 2):
        raise JudgedError(f"exit code {result.exit_code}: {result.output}")
    said = result.stderr.rstrip("\n").split("\n")
    errors = [line for line in said if line.startswith("Error: ")]
    if len(errors) != 1 or said[-1] != errors[0] or result.stdout:
        raise JudgedError(f"not one line: {result.output}")
    hint = r" Did you mean '[^']+'\?$"  # of click
    sentence(re.sub(hint, "", errors[0].removeprefix("Error: ")), names)
    return False


def finite(*arrays):
    """Check that numbers are finite."""
    for array in arrays:
        if not np.isfinite(np.asarray(array, dtype=float)).all():
            raise JudgedError(f"not finite: {array}")
