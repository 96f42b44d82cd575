"""CSV that no spreadsheet runs."""

import csv
import datetime
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from correspondence._util.files import csv_text
from correspondence.studies.report import Report, write_report

HOSTILE = [
    '=HYPERLINK("http://x")',
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "-",
    "=",
    "-2+3+cmd|' /C calc'!A0",
]


def read(text):
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("text", HOSTILE)
def test_formulas_become_text(text):
    assert read(csv_text([[text, text]])) == [["'" + text, "'" + text]]


@pytest.mark.parametrize("text", ["a=b", "3-4", "x@y", "", " =1", "</script><img src=x onerror=alert(1)>", "'=1"])
def test_other_texts_stay(text):
    assert read(csv_text([[text, 1]])) == [[text, "1"]]


@pytest.mark.parametrize("text", ["-1", "+3", "-0.25", "-1e-9"])
def test_labels_that_are_numbers_stay(text):
    assert read(csv_text([[text]])) == [[text]]


@pytest.mark.parametrize("text", ["-1\n", "-1.", "-\u0661", "--1", "-1e", "+1+1"])
def test_only_plain_numbers_stay(text):
    assert read(csv_text([[text]])) == [["'" + text]]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1, "-1"),
        (-0.5, "-0.5"),
        (np.float32(-0.5), "-0.5"),
        (np.int64(-7), "-7"),
        (-1e-12, "-1e-12"),
        (float("-inf"), "-inf"),
        (float("nan"), ""),
        (np.float32("nan"), ""),
        (None, ""),
        (True, "True"),
        (10**9, "1000000000"),
        (1 / 3, "0.333333"),
    ],
)
def test_numbers_stay_numbers(value, text):
    assert csv_text([["a", value]]) == f"a,{text}\n"


def test_labels_that_are_not_texts():
    cells = [datetime.date(2026, 1, 2), datetime.timedelta(days=-1), ("=1", 2), b"=1"]
    assert read(csv_text([cells])) == [["2026-01-02", "'-1 day, 0:00:00", "('=1', 2)", "b'=1'"]]


def test_floats_as_asked_for():
    assert csv_text([[-1 / 3, 2, "a"]], floats=".2f") == "-0.33,2,a\n"


def test_lines_end_in_lf_and_cells_keep_their_own_ends():
    text = csv_text([["a\r\nb", "c\rd"], ["e", "f\ng"]])
    assert text == '"a\r\nb","c\rd"\ne,"f\ng"\n'


@pytest.mark.slow
@given(st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=4), min_size=1))
def test_nothing_is_lost_and_nothing_runs(rows):
    found = read(csv_text(rows))
    assert len(found) == len(rows)
    for cells, row in zip(found, rows, strict=True):
        for cell, text in zip(cells, row, strict=True):
            assert cell in (text, "'" + text)
            assert not cell.startswith(("=", "@", "\t", "\r")), cell


def test_pandas_reads_it():
    frame = pd.read_csv(io.StringIO(csv_text([["label", "value"], ["=a", -0.25], ["b,c", None]])))
    assert frame["label"].tolist() == ["'=a", "b,c"]
    assert frame["value"].tolist()[0] == -0.25
    assert np.isnan(frame["value"].tolist()[1])


def test_tables_of_studies(tmp_path):
    report = Report([{"label": "=1+1", "r": -0.5, "n": -3}, {"label": None, "r": 1 / 3, "more": 1}], [], {})
    write_report(report, "name", "Title", tmp_path, "origin")
    assert (tmp_path / "name.csv").read_bytes() == b"label,r,n,more\n'=1+1,-0.500000,-3,\n,0.333333,,1\n"
