"""Counts of pairs of answers: the same as products of indicators, in any order of parts."""

import numpy as np
import polars as pl
import pytest

from correspondence.core import answer_pairs
from correspondence.core.answer_pairs import count_answer_pairs, count_part, merge_parts
from correspondence.core.column_features import LabelColumn, ManyColumns, compute_feature_moments
from correspondence.core.moments import Moments


def draw_codes(rng, widths, n=500):
    return [rng.integers(-1, width, n).astype(np.int32) for width in widths]


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("cells", [64, 1 << 18])
def test_counts_are_products_of_indicators(rng, monkeypatch, is_weighted, cells):
    monkeypatch.setattr(answer_pairs, "CELLS_PER_BATCH", cells)
    widths = [3, 1, 5]
    codes = draw_codes(rng, widths)
    weights = rng.random(500) if is_weighted else None
    Z = np.hstack([own[:, None] == np.arange(width) for own, width in zip(codes, widths, strict=True)]).astype(float)
    expected = Z.T @ (Z if weights is None else weights[:, None] * Z)
    np.testing.assert_allclose(count_answer_pairs(codes, widths, weights), expected, rtol=1e-13)


@pytest.mark.parametrize("is_passive", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_moments_of_labels_equal_those_of_their_features(rng, is_passive, is_weighted):
    widths = [3, 2, 5]
    arrays = draw_codes(rng, widths)
    columns = [
        LabelColumn(j, np.arange(w).astype(object), rng.dirichlet(np.ones(w)), is_passive=is_passive)
        for j, w in enumerate(widths)
    ]
    features = ManyColumns(tuple(columns))
    weights = rng.random(500) if is_weighted else None
    made = compute_feature_moments(features, arrays, weights)
    expected = Moments()
    for rows, block in features.iterate_features(arrays):
        expected.update(block, np.empty((len(block), 0)), None if weights is None else weights[rows])
    assert made.n == pytest.approx(expected.n)
    np.testing.assert_allclose(made.mean_f, expected.mean_f, atol=1e-13)
    np.testing.assert_allclose(made.cov_f, expected.cov_f, atol=1e-13)


@pytest.mark.parametrize("missing", ["indicator", "passive", "drop"])
def test_parts_add_up(rng, missing):
    frame = pl.DataFrame({"a": rng.choice(["u", "v", None], 300), "b": rng.choice(["x", "y", "z", None], 300)})
    parts = [count_part(missing, 100, part) for part in (frame[:1], frame[1:50], frame[50:])]
    one, other = merge_parts(100, parts), merge_parts(100, parts[::-1])
    whole = count_part(missing, 100, frame).align(one.answers)
    places = other.find_places(one.answers)
    np.testing.assert_allclose(one.products[np.ix_(places, places)], other.products)
    np.testing.assert_allclose(one.sums[places], other.sums)
    assert one.rows == other.rows == 300
    np.testing.assert_allclose(one.products, whole.products)
    assert one.n == pytest.approx(whole.n)


def test_the_widest_columns_are_given_up():
    frame = pl.DataFrame({"id": range(100), "a": ["u", "v"] * 50, "b": ["x"] * 60 + ["y"] * 40})
    parts = [count_part("indicator", 30, part) for part in (frame[:20], frame[20:90], frame[90:])]
    assert not parts[0].given_up
    total = merge_parts(30, parts)
    assert list(total.given_up) == [0]
    assert total.answers[1:] == [["u", "v"], ["x", "y"]]
    np.testing.assert_array_equal(total.products, count_part("indicator", 30, frame.select("a", "b")).products)
