"""Texts for messages."""

import pytest

from correspondence._util.text import list_names


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], "none"),
        (["a"], "a"),
        (range(12), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"),
        (["", " ", "a\nb", "ж"], r"'', ' ', 'a\nb', ж"),
        (["a" * 50], "a" * 39 + "…"),
    ],
)
def test_names_in_a_sentence(names, text):
    assert list_names(names) == text


def test_names_shown_in_another_way():
    assert list_names(["a", "b", "c"], 2, " or ", repr) == "'a' or 'b' and 1 more"
