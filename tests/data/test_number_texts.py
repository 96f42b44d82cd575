"""Texts that are numbers: one spelling for a whole column, and nothing read in two ways without a word."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from correspondence.data.number_texts import parse_number_texts


def parse(*texts, decimal=None):
    return parse_number_texts(pl.Series("c", texts, dtype=pl.String), decimal)


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1", None, "-2", "+3"], [1, None, -2, 3]),
        (["1.5", "2", ".5", "1e3"], [1.5, 2, 0.5, 1000]),
        (["1,234.5", "999", "1,234,567"], [1234.5, 999, 1234567]),
        (["1.234,5", "999", "7,25"], [1234.5, 999, 7.25]),
        (["1.234.567", "999"], [1234567, 999]),
        (["1 234", "12"], [1234, 12]),
        (["1\u202f234,5", "1\u00a0000"], [1234.5, 1000]),
        (["1'234.50", "2\u2019000"], [1234.5, 2000]),
        (["12,34,567", "5"], [1234567, 5]),
        (["0,5", "12"], [0.5, 12]),
        (["0,123", "5"], [0.123, 5]),
        (["\u22125", "3"], [-5, 3]),
        ([" 1 ", "\u00a02"], [1, 2]),
        (["inf", "1"], [np.inf, 1]),
        (["9" * 30, "-1"], [int("9" * 30), -1]),
        (["9" * 40, "1"], [1e40, 1]),
    ],
)
def test_numbers_in_one_spelling(texts, numbers):
    found = parse(*texts)
    assert found.numbers.to_list() == numbers
    assert found.numbers.name == "c"
    assert (found.unit, found.sign, found.n_markers) == ("", "", 0)
    assert found.numbers.dtype.is_integer() == all(isinstance(number, int) for number in numbers if number is not None)


@pytest.mark.parametrize(
    "texts",
    [
        ["01234", "1234"],  # codes
        ["01234", "20001"],
        ["-01", "5"],
        ["1,234", "5678"],  # separators here and not there
        ["1,234.5", "1.234,5"],
        ["0.5", "0,5"],
        ["5 €", "$5"],
        ["$5", "6"],
        ["5%", "6"],
        ["(1)", "(2)"],
        ["1", "a"],
        ["1.2.3", "4"],
        ["192.168.1.1"],
        ["12:30"],
        ["2020-01-02"],
        ["1-2"],
        ["5-"],
        ["--5"],
        ["1,23,4"],
        ["$", "5"],
        [".", "-", "?"],
        ["", None],
        [None],
        [],
    ],
)
def test_what_is_not_numbers_in_one_spelling(texts):
    assert parse(*texts) is None


@pytest.mark.parametrize(
    ("texts", "numbers", "unit", "sign"),
    [
        (["$1,234.50", "($99)", "-$5", "$-6"], [1234.5, -99, -5, -6], "money", "$"),
        (["5 €", "1.234,50 €", "0"], [5, 1234.5, 0], "money", "€"),
        (["USD 5", "USD 1,000.5"], [5, 1000.5], "money", "USD"),
        (["£3", "£4"], [3, 4], "money", "£"),
        (["CHF 1'000", "CHF 2"], [1000, 2], "money", "CHF"),
        (["5%", "7.5 %"], [5, 7.5], "percent", "%"),
        (["5,5\u00a0%", "\u22127 %"], [5.5, -7], "percent", "%"),
    ],
)
def test_money_and_percentages(texts, numbers, unit, sign):
    found = parse(*texts)
    assert found.numbers.to_list() == numbers
    assert (found.unit, found.sign) == (unit, sign)
    assert any(str(texts[0])[:3] in note or unit[:5] in note for note in found.list_notes("c"))


@pytest.mark.parametrize("marker", ["?", "NA", "N/A", "n/a", "-", "--", ".", "null", "None", "nan", "Unknown", "#N/A"])
def test_markers_of_missing_values(marker):
    found = parse("1.5", marker, "2", marker, "")
    assert found.numbers.to_list() == [1.5, None, 2, None, None]
    assert (found.n_markers, found.markers) == (2, (marker,))
    (note,) = found.list_notes("c")
    assert repr(marker) in note
    assert "missing" in note
    assert parse("$1", marker).numbers.to_list() == [1, None]
    assert parse("one", marker) is None


def test_one_text_far_below_decides():
    texts = ["1,234"] * 5000
    assert parse(*texts).numbers[0] == 1234
    assert parse(*texts, "1,5").numbers[0] == 1.234
    assert parse(*texts, "five") is None
    assert parse(*["1.5"] * 5000, "?").numbers.null_count() == 1


@pytest.mark.parametrize(
    ("texts", "decimal", "taken", "other"),
    [
        (["1,234", "999"], None, 1234, "1.234"),
        (["1,234", "999"], "comma", 1.234, "1234"),
        (["1,234", "999"], "point", 1234, "1.234"),
        (["1.234", "999"], None, 1.234, "1234"),
        (["1.234", "999"], "comma", 1234, "1.234"),
        (["1.234", "2.500"], None, 1.234, ""),
        (["1.234", "2.500"], "comma", 1234, "1.234"),
        (["1,234.5", "999"], "comma", 1234.5, ""),
        (["1 234", "999"], None, 1234, ""),
    ],
)
def test_two_readings_are_told(texts, decimal, taken, other):
    found = parse(*texts, decimal=decimal)
    assert found.numbers[0] == taken
    assert found.other_reading == other
    if other:
        (note,) = found.list_notes("income", "--decimal")
        assert note.startswith("income: ")
        assert other in note
        assert f"--decimal {found.other_decimal}" in note
        assert found.other_decimal != decimal


def test_a_chosen_separator_settles_mixed_commas():
    assert parse("1,234", "5678", decimal="comma").numbers.to_list() == [1.234, 5678]


def test_only_texts():
    with pytest.raises(TypeError, match="texts"):
        parse_number_texts(pl.Series([1, 2]))


@pytest.mark.slow
@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20))
def test_whole_numbers_however_they_are_grouped(values):
    """Whatever separates the thousands, either the numbers come back or another reading is told."""
    for separator in (",", " ", "'", "\u202f"):
        texts = [f"{value:,}".replace(",", separator) for value in values]
        assert parse(*texts).numbers.to_list() == values
    found = parse(*[f"{value:,}".replace(",", ".") for value in values], decimal="comma")
    assert found.numbers.to_list() == values


@pytest.mark.slow
@given(st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 2)), min_size=1, max_size=20))
def test_decimals_in_either_locale(values):
    english = [f"{value:,.2f}" for value in values]
    german = [text.translate(str.maketrans(",.", ".,")) for text in english]
    assert parse(*english).numbers.to_list() == values
    assert parse(*german).numbers.to_list() == values
    assert parse(*[f"{text} €" for text in german]).numbers.to_list() == values


@given(st.lists(st.text(alphabet="01239.,-+ $%()eE?'x", max_size=6), max_size=6))
def test_any_texts_give_numbers_or_nothing(texts):
    found = parse(*texts)
    assert found is None or (len(found.numbers) == len(texts) and found.numbers.dtype.is_numeric())
    assert found is None or all(note.endswith(".") and "\n" not in note for note in found.list_notes("c"))
