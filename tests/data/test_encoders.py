"""Data of any kind as arrays."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import correspondence as co
from correspondence.data.encoders.choosing import encoder_for, encoder_from_state
from correspondence.data.encoders.columns import Columns
from correspondence.data.encoders.images import Images
from correspondence.data.encoders.plain import Plain
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


def test_numbers_are_standardised_robustly(rng):
    x = rng.normal(5, 2, 1001)
    x[0] = 1e6
    z = encoder_for(x, "X")(x, "X")[:, 0]
    np.testing.assert_allclose(
        z[1:], (x[1:] - np.median(x)) / (np.subtract(*np.quantile(x, [0.75, 0.25])) / 1.349), atol=1
    )
    assert np.abs(z).max() < 6


def test_heavy_tails_become_normal_scores(rng):
    x = rng.standard_cauchy(2000)
    encoder = encoder_for(x, "X")
    z = encoder(x, "X")
    assert np.abs(z).max() < 4
    assert z.std() == pytest.approx(1, abs=0.05)
    monotone = np.arctan(x) ** 3 + x
    np.testing.assert_allclose(encoder_for(monotone, "X")(monotone, "X"), z, atol=0.1)


def test_a_frame_of_both_kinds():
    frame = pd.DataFrame(
        {"size": [1.0, 2, 3, 4], "colour": pd.Categorical(["r", "g", "r", "b"]), "ok": [True, False, True, True]}
    )
    encoder = encoder_for(frame, "X")
    assert encoder.width == 1 + 3 + 2
    assert encoder.coordinates.tolist() == [True, False, False, False, False, False]
    np.testing.assert_array_equal(encoder(frame, "X")[:, 1:4].sum(axis=1), 1)
    np.testing.assert_array_equal(encoder(frame[["ok", "size", "colour"]], "X"), encoder(frame, "X"))
    np.testing.assert_array_equal(encoder(pl.from_pandas(frame), "X"), encoder(frame, "X"))


def test_integers_declared_categorical_are_categories():
    numbers, categories = pd.DataFrame({"a": [1, 2, 3] * 4}), pd.DataFrame({"a": pd.Categorical([1, 2, 3] * 4)})
    assert encoder_for(numbers, "X").width == 1
    assert encoder_for(categories, "X").width == 3


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pd.DataFrame({"a": [1.0, np.nan], "b": [1, 2]}), "Column 'a' of X contains NaN"),
        (np.array([[1.0, 2], [3, np.inf]]), "Column 1 of X contains NaN"),
        (["a", None], "X has 1 missing label"),
        (np.ones((4, 2)), "X has one value only"),
        (["a", "a"], "X has one class only"),
        (np.empty((0, 2)), "0 sample"),
        (np.empty((3, 0)), r"0 feature\(s\)"),
        (np.array([1j, 2j]), "Complex data not supported"),
        (np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"), "dates or times"),
        (np.zeros((3, 4, 4)), r"write X\[:, None\]"),
        (np.zeros((3, 1, 4, 4)), "X has the same image"),
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


def test_constant_columns_are_left_out():
    with pytest.warns(co.LeftOut, match="'b' of X"):
        encoder = encoder_for(pd.DataFrame({"a": [1, 2, 3], "b": [5, 5, 5]}), "X")
    assert encoder.width == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([["x", 1.0]], "label 'x'"),
        ([["a", 1.0, 2.0]], "3 features"),
        ([[1.0, 1.0]], "label 1.0"),
        ([["a", "b"]], "must hold numbers"),
    ],
)
def test_new_data_of_another_kind(values, message):
    encoder = encoder_for(np.array([["a", 1.0], ["b", 2.0]], dtype=object), "X")
    with pytest.raises(ValueError, match=message):
        encoder(np.array(values, dtype=object), "X")


def test_new_bags_and_images_of_another_shape():
    with pytest.raises(ValueError, match="3 features, but"):
        encoder_for(sp.csr_array(np.eye(2)), "X")(sp.csr_array(np.eye(3)), "X")
    with pytest.raises(ValueError, match="must be a sparse matrix"):
        encoder_for(sp.csr_array(np.eye(2)), "X")(np.eye(2), "X")
    images = np.random.default_rng(0).normal(size=(3, 1, 4, 4))
    with pytest.raises(ValueError, match="images of shape"):
        encoder_for(images, "X")(images[:, :, :3], "X")


def test_numbers_left_as_they_are():
    encoder = encoder_for(np.array([[1.0, 200.0], [3.0, 4.0]]), "X", plain=True)
    assert isinstance(encoder, Plain)
    assert encoder([[5.0, 600.0]], "X").tolist() == [[5.0, 600.0]]
    with pytest.raises(ValueError, match="shape"):
        encoder([[5.0]], "X")


def test_text_with_unknown_words_only():
    assert encoder_for(SENTENCES, "X")(["zebra quagga"], "X").nnz == 0


def test_many_labels_become_sparse():
    labels = np.array([f"label {i}" for i in range(400)])
    encoder = encoder_for(pd.DataFrame({"label": np.tile(labels, 3), "x": np.arange(1200.0)}), "X")
    rows = encoder(pd.DataFrame({"label": labels[:3], "x": [0.0, 1.0, 2.0]}), "X")
    assert encoder.is_sparse
    assert sp.issparse(rows)
    assert rows.shape == (3, 401)


def test_frames_without_names(rng):
    values = rng.normal(size=(10, 2))
    encoder = encoder_for(pd.DataFrame(values), "X")
    np.testing.assert_array_equal(encoder(values, "X"), encoder_for(values, "X")(values, "X"))
    np.testing.assert_array_equal(encoder(pd.DataFrame(values, columns=[5, 9]), "X"), encoder(values, "X"))


def test_rows_of_numbers_and_strings_keep_their_types():
    encoder = encoder_for([[1.0, "a"], [2.0, "b"], [3.0, "a"]], "X")
    assert encoder.coordinates.tolist() == [True, False, False]


def test_outliers_do_not_set_the_scale(rng):
    x = rng.normal(size=300)
    x[:5] = 1e20
    z = encoder_for(x, "X")(x, "X")
    assert z[5:].std() > 0.5
    zeros = np.zeros(300)
    zeros[:2] = 1e300, 1
    assert np.isfinite(encoder_for(zeros, "X")(zeros, "X")).all()


def test_columns_that_name_the_rows_are_left_out(rng):
    frame = pd.DataFrame({"id": [f"r{i}" for i in range(50)], "x": rng.normal(size=50)})
    with pytest.warns(co.LeftOut, match="own label.*'id'"):
        assert encoder_for(frame, "X").width == 1


def test_labels_are_the_same_as_numbers_or_booleans():
    encoder = encoder_for(pd.Series([1, 2, "a", "b"] * 3, dtype=object), "X")
    assert encoder([1, 2], "X").sum() == 2
    assert encoder_for([True, False, True], "X")([1, 0], "X").sum() == 2


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
