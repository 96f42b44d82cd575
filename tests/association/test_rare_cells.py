"""Tables of labels with cells that are hardly ever expected."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom

import correspondence as co


def make_labels(counts):
    return np.repeat(np.array(list("abcdefghij"), dtype=object)[: len(counts)], counts)


def compare(x, y):
    return co.associations(pd.DataFrame({"x": x, "y": y}), groups=None).raw_pvalues[0, 1]


def test_two_rows_in_a_rare_cell_have_their_own_probability():
    x = make_labels([990, 10])
    others = np.random.default_rng(0).permutation(make_labels([300, 250, 200, 150, 90, 8]))
    y = np.concatenate([others, np.array(["f", "f"], dtype=object)])
    assert ((x == "b") & (y == "f")).sum() == 2
    assert compare(x, y) >= hypergeom.sf(1, 1000, 10, 10)
    assert compare(x, make_labels([300, 250, 200, 150, 90, 10])) < 1e-12  # all ten are


@pytest.mark.slow
def test_sparse_tables_keep_their_level():
    rng = np.random.default_rng(0)
    x, y = make_labels([980, 5, 5, 5, 5]), make_labels([900, 60, 20, 10, 10])
    columns = {f"y{i}": rng.permutation(y) for i in range(60)}
    found = [
        co.associations(pd.DataFrame({"x": rng.permutation(x)} | columns), target="x", groups=None).raw_pvalues[0, 1:]
        for _ in range(25)
    ]
    pooled = np.concatenate(found)
    assert np.mean(pooled <= 0.001) < 0.004
    assert np.mean(pooled <= 0.05) < 0.07


def test_dependence_of_frequent_labels_is_seen_beside_rare_ones():
    rng = np.random.default_rng(0)
    x = rng.choice(list("abcdef"), 1000, p=[0.4, 0.3, 0.2, 0.08, 0.01, 0.01])
    y = np.where(rng.random(1000) < 0.4, x, rng.permutation(x))
    assert compare(x.astype(object), y.astype(object)) < 1e-30
