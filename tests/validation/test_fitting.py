"""Tables of counts where pairs are split, exchanged and drawn in halves."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import correspondence as co
from correspondence.data.counting import take_apart
from correspondence.data.table import as_table

TABLE = co.datasets.load_housetasks()
COUNTS = TABLE.toarray().astype(int)
FUNCTIONS = {
    "crossfit": lambda *data, **options: co.crossfit(co.CA(2), *data, cv=2, **options),
    "permutation_test": lambda *data, **options: co.permutation_test(co.CA(2), *data, n_permutations=19, **options),
    "blocks": lambda *data, **options: co.permutation_test(co.CA(2), *data, n_permutations=19, refit=False, **options),
    "latent_dimension": lambda *data, **options: co.latent_dimension(co.CA(2), *data, n_permutations=19, **options),
    "pic_intervals": lambda *data, **options: co.pic_intervals(co.CA(2), *data, n_resamples=5, **options),
}
every_function = pytest.mark.parametrize("run", FUNCTIONS.values(), ids=FUNCTIONS)


def collect_figures(result):
    """All arrays of numbers of a result, but for seconds."""
    found = {name: value for name, value in vars(result).items() if isinstance(value, np.ndarray | float)}
    return {name: value for name, value in found.items() if name != "seconds"}


def check_equal(one, other):
    one, other = collect_figures(one), collect_figures(other)
    assert one.keys() == other.keys()
    assert len(one) >= 3
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)


@every_function
def test_a_table_is_judged_as_the_pairs_that_it_counts(run):
    check_equal(run(TABLE, random_state=3), run(*take_apart(TABLE), random_state=3))


@pytest.mark.parametrize(
    "as_kind",
    [
        np.asarray,
        sp.csr_array,
        sp.coo_matrix,
        lambda counts: pd.DataFrame(counts, index=[f"{i:02}" for i in range(13)], columns=list("abcd")),
        lambda counts: pl.DataFrame(
            {"task": [f"{i:02}" for i in range(13)]} | dict(zip("abcd", counts.T, strict=True))
        ),
        lambda counts: co.Table(counts, [f"{i:02}" for i in range(13)], list("abcd")),
        lambda counts: counts.tolist(),
    ],
    ids=["ndarray", "csr", "coo", "pandas", "polars", "Table", "list"],
)
def test_tables_of_any_kind(as_kind):
    table = as_kind(COUNTS)
    check_equal(co.crossfit(co.CA(2), table, cv=2), co.crossfit(co.CA(2), *take_apart(as_table(table)), cv=2))
    assert co.permutation_test(co.CA(1), table, n_permutations=19).pvalues[0] == 0.05


def test_a_ridge_takes_a_table_too():
    ridge = co.CA(2, regularization=5.0)
    check_equal(co.crossfit(ridge, TABLE, cv=2), co.crossfit(ridge, *take_apart(TABLE), cv=2))


def test_a_subset_is_named_by_the_labels_of_the_table():
    est = co.CA(1, subset_columns=["Wife", "Husband"])
    pairs = take_apart(TABLE, keep_labels=True)
    assert set(pairs[1]) == set(TABLE.columns)
    check_equal(co.crossfit(est, TABLE, cv=2), co.crossfit(est, *pairs, cv=2))


@every_function
def test_many_counts_are_sampled_and_that_is_said(run, monkeypatch):
    monkeypatch.setattr("correspondence.data.counting.MAX_COUNTS", 1000)
    with pytest.warns(co.LeftOut, match=r"1,744 pairs: \d{3,4} ") as caught:
        found = run(TABLE)
    assert len(caught) == 1
    check_equal(found, run(*take_apart(TABLE)))


@every_function
@pytest.mark.parametrize(
    ("table", "key"),
    [
        ([[0.5, 0.2], [0.1, 0.9]], "X must .*whole"),
        ([[30, 20], [0, 0]], "X must .*one row"),
        ([[-1, 3], [1, 3]], "Y is missing.*Negative"),
        ("counts.csv", "Y is missing.*X must .*str"),
        (["a", "b"], "Y is missing.*X must"),
    ],
)
def test_tables_that_cannot_be_taken_apart(run, table, key):
    with pytest.raises(ValueError, match=key):
        run(table)


@every_function
def test_groups_are_refused_for_a_table(run):
    with pytest.raises(ValueError, match=r"groups must .*table"):
        run(TABLE, None, groups=np.arange(13))


@pytest.mark.parametrize("est", [co.CCA(1), co.ACE(1)])
def test_estimators_that_take_no_table_need_pairs(est):
    with pytest.raises(ValueError, match=r"Y is missing.*pairs"):
        co.crossfit(est, COUNTS)


def test_few_counts_are_tested_like_few_pairs():
    few = co.Table([[6, 1], [1, 6]], list("ab"), list("xy"))
    assert co.permutation_test(co.CA(1), few).pvalues[0] < 0.1
    check_equal(co.permutation_test(co.CA(1), few), co.permutation_test(co.CA(1), *take_apart(few)))


@pytest.mark.slow
def test_the_test_of_a_table_keeps_its_level():
    rng = np.random.default_rng(0)
    share = np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1]).ravel()
    pvalues = [
        co.permutation_test(co.CA(1), rng.multinomial(200, share).reshape(3, 4), n_permutations=99).pvalues[0]
        for _ in range(200)
    ]
    assert 0.01 < np.mean(np.array(pvalues) <= 0.05) < 0.10
