"""The encoder that suits the data."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from correspondence.data.encoders.choosing import encoder_for, encoder_from_state
from correspondence.data.encoders.columns import Columns
from correspondence.data.encoders.images import Images
from correspondence.data.encoders.text import Bag, Text

SENTENCES = ["a dog runs", "two cats sleep", "the dog sleeps here", "a man runs fast"] * 2 + [
    "birds fly",
    "one cat sits",
]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.arange(10.0), Columns),
        (np.arange(20).reshape(10, 2), Columns),
        (["red", "blue"] * 5, Columns),
        (np.array([True, False] * 5), Columns),
        (pd.DataFrame({"a": range(10), "b": list("xy") * 5}), Columns),
        (pl.DataFrame({"a": range(10)}), Columns),
        (pd.Series(list("xy") * 5), Columns),
        (SENTENCES, Text),
        (np.array(SENTENCES), Text),
        (pd.Series(SENTENCES), Text),
        (sp.csr_array(np.eye(10)), Bag),
        (np.random.default_rng(0).normal(size=(10, 1, 4, 4)), Images),
    ],
)
def test_the_kind_is_found(values, kind):
    encoder = encoder_for(values, "X")
    assert isinstance(encoder, kind)
    rows = encoder(values, "X")
    assert rows.shape[0] == 10
    again = encoder_from_state(*json.loads(json.dumps(encoder.state())))
    difference = again(values, "X") - rows
    assert abs(difference).max() == 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pd.DataFrame({"a": [1.0, np.inf], "b": [1, 2]}), "Column 'a' of X contains infinity"),
        (np.array([[1.0, 2], [3, np.inf]]), "Column 1 of X contains infinity"),
        ([None, None], "X has one"),
        (np.ones((4, 2)), "X has one value only"),
        (["a", "a"], "X has one class only"),
        (np.empty((0, 2)), "0 sample"),
        (np.empty((3, 0)), r"0 feature\(s\)"),
        (np.array([1j, 2j]), "Complex data not supported"),
        (np.array(["2020-01-01", "2020-01-01"], dtype="datetime64[D]"), "X has one value only"),
        (np.zeros((3, 4, 4)), r"write X\[:, None\]"),
        (np.zeros((3, 1, 4, 4)), "X has the same image"),
        (np.zeros((3, 8, 8, 3)), "X must have its channels before"),
        (sp.csr_array(np.array([[1.0, np.nan]])), "Column 1 of X contains NaN"),
        (5.0, "single value"),
        (np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), "masked entries"),
        (np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), "structured array"),
        ([[1, 2], [3]], "rows of different lengths"),
        (sp.csr_array((3, 2)), "X has zeros only"),
    ],
)
def test_bad_data(values, message):
    with pytest.raises(ValueError, match=message):
        encoder_for(values, "X")


@pytest.mark.parametrize("values", [np.eye(3), pl.DataFrame(np.eye(3)), pd.DataFrame(np.eye(3), dtype=object)])
def test_no_rows(values):
    encoder = encoder_for(values, "X")
    with pytest.raises(ValueError, match=r"^X is empty: it has 0 sample"):
        encoder(values[:0], "X")


def test_rows_are_counted_not_cells():
    values = np.ones((4, 1, 3, 3))
    values[1:3, 0, 0] = np.nan
    with pytest.raises(ValueError, match=r"in 2 row\(s\)"):
        encoder_for(values, "X")


def test_tensors_that_need_gradients():
    torch = pytest.importorskip("torch")
    assert encoder_for(torch.rand(5, 1, 4, 4, requires_grad=True), "X").kind == "images"
    assert encoder_for(torch.rand(5, 2, dtype=torch.bfloat16), "X").kind == "columns"
