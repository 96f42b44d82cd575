"""Columns of numbers and labels."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import correspondence as co
from correspondence.data.encoders.choosing import encoder_for


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


def test_constant_columns_are_left_out():
    with pytest.warns(co.LeftOut, match="'b' of X"):
        encoder = encoder_for(pd.DataFrame({"a": [1, 2, 3], "b": [5, 5, 5]}), "X")
    assert encoder.width == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([["x", 1.0]], "label 'x'"),
        ([["a", 1.0, 2.0]], "3 features"),
        ([[1, 1.0]], "label 1.0"),
        ([["a", "b"]], "must hold numbers"),
    ],
)
def test_new_data_of_another_kind(values, message):
    encoder = encoder_for(np.array([["a", 1.0], ["b", 2.0]], dtype=object), "X")
    with pytest.raises(ValueError, match=message):
        encoder(np.array(values, dtype=object), "X")


def test_many_labels_become_sparse():
    labels = np.array([f"label{i}" for i in range(400)])
    encoder = encoder_for(np.tile(labels, 3), "X")
    rows = encoder(labels[:3], "X")
    assert encoder.is_sparse
    assert sp.issparse(rows)
    assert rows.shape == (3, 400)


def test_rare_labels_beside_other_columns_share_a_level():
    labels = np.repeat([f"label{i}" for i in range(400)], 3)
    frame = pd.DataFrame({"label": ["often"] * 300 + labels.tolist(), "x": np.arange(1500.0)})
    with pytest.warns(co.LeftOut, match="'label' is taken with 342 rare labels"):
        encoder = encoder_for(frame, "X")
    assert encoder.width == 61
    rows = encoder(pd.DataFrame({"label": ["often", "label399", "new"], "x": [0.0, 1.0, 2.0]}), "X")
    assert rows[0, :60].argmax() != rows[1, :60].argmax() == rows[2, :60].argmax()


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


def test_an_unknown_label_can_be_the_mean_of_those_known():
    encoder = encoder_for(["a", "b", "b", "b"], "X")
    tolerant = encoder.accept_unknown()
    np.testing.assert_array_equal(tolerant(["a", "z"], "X"), [[1, 0], [0.25, 0.75]])
    assert tolerant.state() == encoder.state()
