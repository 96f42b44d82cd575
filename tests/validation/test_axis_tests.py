"""Tests of the axes of a table: Malinvaud's equal to those of R, and the level of both on sparse tables."""

import numpy as np
import pandas as pd
import pytest

import correspondence as co
from tests.estimators.many.reference import read

TABLES = {
    "smoke": lambda: co.datasets.load_smoke(),
    "housetasks": lambda: co.datasets.load_housetasks(),
    "children": lambda: co.datasets.load_children().table,
}


@pytest.mark.parametrize("name", TABLES)
def test_malinvauds_tests_are_those_of_the_oracle(name):
    theirs = read(f"{name}_malinvaud")
    tests = co.axis_tests(co.CA().fit(TABLES[name]()), 0)
    assert tests.dof.tolist() == theirs["df"].tolist()
    assert tests.inertia == pytest.approx(theirs["remaining_inertia"].to_numpy(), rel=1e-8)
    assert tests.statistic == pytest.approx(theirs["chi2"].to_numpy(), rel=1e-8)
    assert tests.malinvaud_pvalues == pytest.approx(theirs["p.value"].to_numpy(), rel=1e-6, abs=0)
    assert np.isnan(tests.pvalues).all()
    frame = tests.to_frame("pandas")
    assert frame["n_axes"].tolist() == theirs["axes_kept_k"].tolist()


def test_permutations_stand_beside():
    table = co.datasets.load_children().table
    tests = co.axis_tests(co.CA(n_components=2).fit(table), 99)
    assert len(tests) == 2
    assert tests.pvalues == pytest.approx(co.permutation_test(co.CA(n_components=2), table, n_permutations=99).pvalues)
    assert "1 axis" in repr(tests)


@pytest.mark.slow
def test_permutations_hold_their_level_on_a_sparse_table_and_malinvauds_test_does_not(rng):
    share = 1 / np.arange(1, 31) ** 1.2
    rejected = np.zeros(2)
    for seed in range(40):
        x, y = (rng.choice(30, 300, p=share / share.sum()) for _ in range(2))
        tests = co.axis_tests(co.CA(n_components=1).fit(x, y), 99, random_state=seed)
        rejected += [tests.pvalues[0] <= 0.05, tests.malinvaud_pvalues[0] <= 0.05]
    assert rejected[0] <= 6
    assert rejected[1] >= 8


def test_weights_are_not_permuted():
    weights = pd.DataFrame({"a": [1.5, 2.0], "b": [2.5, 0.5], "c": [1.0, 1.0]})
    assert np.isnan(co.axis_tests(co.CA().fit(weights)).pvalues).all()


def test_bad_input_is_one_sentence():
    table = co.datasets.load_smoke()
    for ca in (
        co.CA(subset_rows=["SM", "JM"]).fit(table),
        co.CA(regularization=1.0).fit(table),
        co.CCA(1).fit(np.eye(4) + 1, np.arange(4.0)),
    ):
        with pytest.raises(ValueError, match=r"\bca\b"):
            co.axis_tests(ca)
    with pytest.raises(ValueError, match=r"\bca\b.*Fit CA"):
        co.axis_tests(pd.DataFrame({"a": [1, 2], "b": [3, 1]}))
    with pytest.raises(ValueError, match="n_permutations"):
        co.axis_tests(co.CA().fit(table), -1)
