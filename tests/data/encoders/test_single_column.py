"""Encoders of one column."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from correspondence._util.labels import to_object_array
from correspondence.data.column_reading import ItemList
from correspondence.data.encoders.single_column import (
    Category,
    Dates,
    Indicated,
    Items,
    Linear,
    Number,
    Parsed,
    Words,
    column_from_state,
    column_to_state,
)
from correspondence.data.text_readers import TextReader

DATES = (np.datetime64("2000-01-01") + np.arange(0, 2000, 3) * np.timedelta64(1, "D")).astype("M8[us]")
TEXTS = [f"{a} {b} film" for a in ("red", "blue", "green") for b in ("moon", "sun", "star")]


def test_a_missing_number_is_the_middle():
    x = np.array([1.0, 2.0, 3.0, np.nan])
    np.testing.assert_allclose(Linear.fit(x[:3])(x)[:, 0], [-1.2247, 0, 1.2247, 0], atol=1e-4)
    encoded = Indicated(Number.fit(x[:3]))(x)
    np.testing.assert_array_equal(encoded[:, 1], [0, 0, 0, 1])
    assert encoded[3, 0] == 0


def test_dates_are_trend_season_weekday_and_time():
    encoder = Dates.fit(DATES)
    assert encoder.parts == ["season", "weekday"]
    rows = encoder(np.append(DATES, np.datetime64("NaT")))
    assert rows.shape == (len(DATES) + 1, encoder.width) == (len(DATES) + 1, 9)
    assert (np.diff(rows[:-1, 0]) > 0).all()
    np.testing.assert_allclose((rows[:-1, 1:3] ** 2).sum(axis=1), 2)
    monday = encoder(np.array(["2024-01-01", "2024-01-02", "2024-01-07"], dtype="M8[us]"))[:, 3:]
    np.testing.assert_array_equal(monday, [[0] * 6, [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]])
    assert (rows[-1] == 0).all()


def test_parts_of_dates_that_do_not_vary():
    months = np.arange("2000-01", "2010-01", dtype="M8[M]").astype("M8[us]")
    assert Dates.fit(months).parts == ["season"]
    assert Dates.fit(DATES[:20]).parts == ["weekday"]
    hours = DATES[0] + np.arange(48) * np.timedelta64(1, "h")
    assert Dates.fit(hours).parts == ["time"]


def test_missing_labels_are_a_level_or_the_mean():
    encoder = Category.fit({"a": 3, "b": 1, None: 4})
    assert encoder.labels == ["(missing)", "a", "b"]
    np.testing.assert_array_equal(encoder(to_object_array([None, "a"])).toarray(), [[1, 0, 0], [0, 1, 0]])
    without = Category.fit({"a": 3, "b": 1})
    np.testing.assert_array_equal(without(to_object_array([None])).toarray(), [[0.75, 0.25]])
    with pytest.raises(ValueError, match="label 'c'"):
        without(to_object_array(["c"]))


def test_unknown_labels_are_like_missing_ones_where_accepted():
    encoder = Category(["(missing)", "a"], [0.5, 0.5], is_unknown_accepted=True)
    np.testing.assert_array_equal(encoder(to_object_array(["new"])).toarray(), [[1, 0]])


def test_items_of_lists():
    encoder = Items.fit({ItemList(["a", "b"]): 3, ItemList(["a"]): 2, ItemList(["rare"]): 1, None: 2})
    assert encoder.items == ["a", "b"]
    rows = encoder(to_object_array([ItemList(["b", "new", "b"]), None]))
    np.testing.assert_array_equal(rows.toarray(), [[0, 1], [0, 0]])


def test_words_of_texts():
    encoder = Words.fit(dict.fromkeys(TEXTS, 1))
    rows = encoder(to_object_array([*TEXTS, None]))
    similar = rows[:-1] @ rows[:-1].T
    assert similar[0, 1] > similar[0, 4]  # one word more in common
    assert (rows[-1] == 0).all()
    assert Words.fit({"one two": 1, "three four": 1}) is None


@pytest.mark.parametrize(
    ("encoder", "column"),
    [
        (Indicated(Number(1.0, 2.0)), np.array([1.0, np.nan])),
        (Dates.fit(DATES), DATES[:5]),
        (Parsed(TextReader("date", "%Y-%m-%d"), Dates.fit(DATES)), to_object_array(["2001-05-03", "?", None])),
        (Items(["a", "b"]), to_object_array([ItemList(["a"]), None])),
        (Words.fit(dict.fromkeys(TEXTS, 1)), to_object_array(TEXTS)),
        (Category.fit({1: 2, None: 3}), to_object_array([1, None])),
    ],
    ids=["indicated", "dates", "parsed", "items", "words", "category"],
)
def test_states_survive_json(encoder, column):
    again = column_from_state(json.loads(json.dumps(column_to_state(encoder))))
    ours, theirs = (rows.toarray() if hasattr(rows, "toarray") else rows for rows in (encoder(column), again(column)))
    np.testing.assert_array_equal(ours, theirs)
    assert len(encoder.coordinates) == encoder.width == ours.shape[1]


@given(st.lists(st.one_of(st.none(), st.sampled_from("abc")), min_size=1, max_size=30))
def test_each_row_of_a_category_sums_to_one(labels):
    counts = {label: labels.count(label) for label in set(labels)}
    rows = Category.fit(counts)(to_object_array(labels))
    np.testing.assert_allclose(rows.sum(axis=1), 1)


def test_an_own_label_other_does_not_take_unknown_ones():
    with pytest.raises(ValueError, match="label 'new'"):
        Category.fit({"(other)": 3, "a": 2})(to_object_array(["new"]))


def test_texts_that_cannot_be_read_are_errors():
    encoder = Parsed(TextReader("date", "%Y-%m-%d"), Dates.fit(DATES))
    for value in ("rubbish", "12/31/2001"):
        with pytest.raises(ValueError, match="cannot be read"):
            encoder(to_object_array([value]))
    with pytest.raises(ValueError, match="date"):
        encoder(np.array([5.0]))
    with pytest.raises(ValueError, match="dates"):
        Dates.fit(DATES)(np.array([5.0]))
    with pytest.raises(ValueError, match="numbers"):
        Number(0.0, 1.0)(DATES)
    assert (encoder(np.array([np.nan])) == 0).all()


def test_missing_lists_have_an_indicator_and_may_be_nan():
    encoder = Indicated(Items(["a"]))
    np.testing.assert_array_equal(encoder(to_object_array([ItemList(["a"]), None])), [[1, 0], [0, 1]])
    np.testing.assert_array_equal(encoder(np.array([np.nan])), [[0, 1]])
