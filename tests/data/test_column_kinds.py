"""What a column is."""

import pytest

from correspondence.data.column_kinds import decide_column_kind
from correspondence.data.column_reading import ItemList
from correspondence.data.column_summary import Extent

WORDS = {f"a title with words {i}": 1 for i in range(50)}


@pytest.mark.parametrize(
    ("summary", "n", "kind"),
    [
        (Extent(0.5, 2.5), 100, "number"),
        (Extent(2.0, 2.0), 100, "constant"),
        (Extent(1.0, 1.0, 40, "f"), 100, "label"),
        (Extent(1.0, 1.0, 40, "M"), 100, "constant"),
        (Extent(float("nan"), float("nan"), 100), 100, "empty"),
        (Extent(1, 5, 0, "i", {1: 50, 3: 30, 5: 20}), 100, "label"),
        (Extent(1, 5, 0, "i", {1: 5, 3: 3, 5: 2}), 10, "number"),
        (Extent(1, 500, 0, "i"), 100, "number"),
        (Extent(100.0, 5000.0, 0, "M"), 100, "date"),
        (Extent(100.0, 5000.0, 0, "m"), 100, "duration"),
        ({"a": 60, "b": 40}, 100, "label"),
        ({True: 60, False: 40}, 100, "boolean"),
        ({"yes": 60, None: 40}, 100, "label"),
        ({"yes": 100}, 100, "constant"),
        ({None: 100}, 100, "empty"),
        ({f"k{i}": 1 for i in range(100)}, 100, "id"),
        ({"2020-01-01": 50, "2020-01-02": 50}, 100, "date"),
        ({ItemList(["a", "b"]): 50, ItemList(["a"]): 50}, 100, "list"),
        (WORDS, 50, "text"),
        ({"$1,000": 50, "$5": 50}, 100, "number"),
        ({"1": 50, "2": 50}, 100, "label"),
        ({f"{i}.5": 1 for i in range(100)}, 100, "number"),
        ({f"0{i:03d}": 1 for i in range(100)}, 100, "id"),
    ],
)
def test_kinds_beside_other_columns(summary, n, kind):
    assert decide_column_kind("column", summary, n, is_alone=False).kind == kind


def test_class_labels_of_a_single_column():
    digits = Extent(0, 9, 0, "i", dict.fromkeys(range(10), 30))
    assert decide_column_kind(0, digits, 300).kind == "label"
    assert decide_column_kind(0, digits, 300, is_alone=False).kind == "number"  # one of many pixels
    assert decide_column_kind("grade", digits, 300, is_alone=False).kind == "label"
    assert decide_column_kind("grade", digits, 300, is_alone=False, linear=True).kind == "number"
    assert "whole numbers" in decide_column_kind("grade", digits, 300).note


def test_rows_that_are_numbered():
    numbering = Extent(1, 100, 0, "i")
    assert decide_column_kind("Unnamed: 0", numbering, 100, is_alone=False).kind == "id"
    assert decide_column_kind("year", numbering, 100, is_alone=False).kind == "number"


def test_a_single_column_is_never_left_out():
    assert decide_column_kind("key", {f"k{i}": 1 for i in range(100)}, 100).kind == "label"
    assert decide_column_kind("key", {str(i): 1 for i in range(100)}, 100).kind == "label"
    assert decide_column_kind("price", {f"{i}.5": 1 for i in range(100)}, 100).kind == "number"
    assert decide_column_kind("title", WORDS, 50).kind == "text"


def test_many_labels_are_noted():
    many = {f"k{i}": 10 for i in range(80)}
    assert "21 rare labels" in decide_column_kind("director", many, 800, is_alone=False).note
    assert decide_column_kind("director", many, 800).note == ""
