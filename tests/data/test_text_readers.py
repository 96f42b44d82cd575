"""Texts that stand for dates, times, durations and lists."""

from itertools import permutations

import numpy as np
import pytest

from correspondence._util.labels import to_object_array
from correspondence.data.text_readers import TextReader, find_text_reader

DAY = np.timedelta64(1, "D")


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["Jun 12 1998", "Aug 7 1998"], "1998-06-12"),
        (["June 12, 1998", "May 1, 2000"], "1998-06-12"),
        (["2020-01-31", "2020-02-03"], "2020-01-31"),
        (["2020-01-01T12:30:00Z", "2020-02-03T01:02:03Z"], "2020-01-01T12:30"),
        (["2020-01-01 12:30:00+02:00", "2020-02-03 01:02:03+02:00"], "2020-01-01T12:30"),
        (["2020-01-01 12:00:00.5", "2020-02-03 01:02:03.25"], "2020-01-01T12:00:00.500"),
        (["12/31/1998", "01/05/1999"], "1998-12-31"),
        (["31/12/1998", "01/05/1999"], "1998-12-31"),
        (["1/28/90 0:00", "4/10/90 0:00"], "1990-01-28"),
        (["31.12.1998", "01.05.1999"], "1998-12-31"),
        (["12-Jun-98", "3-Jul-01"], "1998-06-12"),
        (["Fri, 12 Jun 1998 10:00:00", "Sat, 13 Jun 1998 11:00:00"], "1998-06-12T10:00"),
        (["2020-01", "2020-05"], "2020-01-01"),
        (["Jan 2020", "Mar 2021"], "2020-01-01"),
        (["Mar-2018", "Feb-2018"], "2018-03-01"),
    ],
)
def test_dates(texts, first):
    reader = find_text_reader(texts)
    assert reader.kind == "date"
    assert reader(to_object_array([*texts, None]))[0] == np.datetime64(first)
    assert np.isnat(reader(to_object_array([*texts, None, "soon"]))[-2:]).all()


def test_month_first_is_said_where_both_fit():
    assert "month first" in find_text_reader(["01/02/2020", "03/04/2020"]).note
    assert find_text_reader(["01/13/2020", "03/04/2020"]).note == ""
    assert find_text_reader(["2020-01-02", "2020-03-04"]).note == ""


def test_the_whole_column_decides():
    texts = [f"{day:02d}/01/2020" for day in range(1, 13)]
    assert find_text_reader(texts).format == "%m/%d/%Y"
    assert find_text_reader([*texts, "13/01/2020"]).format == "%d/%m/%Y"
    assert find_text_reader([*texts, "somewhen 1"]) is None


@pytest.mark.parametrize(
    ("texts", "kind", "seconds"),
    [
        (["14:30", "2:15"], "time", 52200),
        (["2:30 PM", "2:15 am"], "time", 52200),
        (["1:30:00", "26:00:05"], "duration", 5400),
        (["90 min", "2 h 30 min"], "duration", 5400),
        (["3 days", "1 day and 2 hours"], "duration", 259200),
        (["PT1H30M", "P1DT2H"], "duration", 5400),
        (["1.5 hours", "2 hours"], "duration", 5400),
    ],
)
def test_times_and_durations(texts, kind, seconds):
    reader = find_text_reader(texts)
    assert reader.kind == kind
    assert reader(to_object_array(texts))[0] == np.timedelta64(seconds, "s")


@pytest.mark.parametrize(
    "texts",
    [
        ["red", "blue"],
        ["1998", "1999"],
        ["01234", "12345"],
        ["A1", "B2"],
        ["12:99", "13:00"],
        ["a; b", "no list at all", "another text", "and one more"],
        ["Paris, France", "Rome, Italy"],
        ["only one"],
        ["1970s", "1980s"],
        ["120 m", "80 m"],
    ],
)
def test_texts_that_stand_for_themselves(texts):
    assert find_text_reader(texts) is None


def test_lists():
    bars = find_text_reader(["Comedy|Drama", "Drama", "Comedy", "Drama|War", "Comedy|War"])
    assert bars == TextReader("list", "|")
    commas = find_text_reader([", ".join(pair) for pair in permutations(["Laptop", "Paper", "Server", "Email"], 2)])
    assert commas == TextReader("list", ",")
    literal = find_text_reader(["['a', 'b']", "['b']", "[]"])
    assert literal(to_object_array(["['a', 'b']", None, "[]", "broken"])).tolist() == [("a", "b"), None, (), None]
    assert find_text_reader(["[1, 2", "(3)"]) is None


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["$1,234.50", "$7"], 1234.5),
        (["12.5 %", "3 %"], 12.5),
        (["1.234,5", "2,25"], 1234.5),
        (["12", "?", "15"], 12.0),
        (["(5 €)", "7 €"], -5.0),
    ],
)
def test_numbers_in_texts(texts, first):
    reader = find_text_reader(texts)
    assert reader.kind == "number"
    read = reader(to_object_array([texts[0], "what", None]))
    assert read[0] == first
    assert np.isnan(read[1:]).all()


def test_plain_digits_are_labels():
    assert find_text_reader(["1", "2", "3"]) is None
