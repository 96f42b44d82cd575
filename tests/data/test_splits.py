"""Splits of pairs: what is held out, what stays together and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold

from correspondence.data.splits import deal_out_rare, make_splits


def as_sets(pairs):
    return [(set(train.tolist()), set(test.tolist())) for train, test in pairs]


def shares(pairs, labels):
    return np.array([np.mean(np.asarray(labels)[test] == labels[0]) for _, test in pairs])


@pytest.mark.parametrize("k", [2, 3, 5, 17, np.int64(4)])
@pytest.mark.parametrize("with_labels", [False, True])
@pytest.mark.parametrize("with_groups", [False, True])
def test_folds_are_a_partition(rng, k, with_labels, with_groups):
    labels = rng.choice(["u", "v"], 100) if with_labels else None
    groups = np.repeat(np.arange(25), 4) if with_groups else None
    parts = make_splits(k, 100, labels=labels, groups=groups)
    assert len(parts) == k
    assert sorted(np.concatenate([test for _, test in parts]).tolist()) == list(range(100))
    for train, test in parts:
        assert sorted([*train, *test]) == list(range(100))


@pytest.mark.parametrize("with_labels", [False, True])
def test_groups_stay_together(rng, with_labels):
    groups = rng.permutation(np.repeat([f"group {i}" for i in range(20)], 6))
    labels = rng.choice(["u", "v"], 120) if with_labels else None
    for train, test in make_splits(4, 120, labels=labels, groups=groups):
        assert not set(groups[train]) & set(groups[test])


def test_labels_are_not_spread_evenly(rng):
    """Labels of a fold that are not independent would bias what is captured."""
    labels = rng.permutation(np.repeat(["rare", "often"], [20, 180]))
    assert as_sets(make_splits(5, 200, labels=labels)) == as_sets(make_splits(5, 200))
    assert np.ptp(shares(make_splits(5, 200, labels=labels), labels)) > 0


@pytest.mark.parametrize("kind", [list, pd.Series, lambda v: pd.Series(v).astype("category"), lambda v: v == "u"])
def test_labels_of_any_kind(rng, kind):
    labels = rng.choice(["u", "v"], 60)
    assert as_sets(make_splits(3, 60, labels=kind(labels))) == as_sets(make_splits(3, 60, labels=labels))


def test_labels_and_groups_of_several_types(rng):
    labels = np.array([1, "a"], dtype=object)[np.arange(60) % 2]
    np.testing.assert_allclose(shares(make_splits(StratifiedKFold(3), 60, labels=labels), labels), 0.5)
    for train, test in make_splits(2, 60, groups=labels):
        assert not set(labels[train]) & set(labels[test])


def test_seeds():
    assert as_sets(make_splits(5, 50)) == as_sets(make_splits(5, 50))
    assert as_sets(make_splits(5, 50)) != as_sets(make_splits(5, 50, random_state=1))
    groups = np.arange(50) // 2
    assert as_sets(make_splits(5, 50, groups=groups)) != as_sets(make_splits(5, 50, groups=groups, random_state=1))


def test_splitters_are_asked_as_they_are(rng):
    labels, groups = rng.choice(["u", "v"], 60), np.arange(60) // 3
    assert as_sets(make_splits(KFold(4), 60)) == as_sets(KFold(4).split(np.zeros(60)))
    assert len(make_splits(LeaveOneOut(), 7)) == 7
    some = make_splits(ShuffleSplit(3, test_size=0.2, random_state=0), 60)
    assert [len(test) for _, test in some] == [12, 12, 12]
    stratified = StratifiedKFold(3)
    assert as_sets(make_splits(stratified, 60, labels=labels)) == as_sets(stratified.split(np.zeros(60), labels))
    grouped = GroupKFold(4)
    assert as_sets(make_splits(grouped, 60, groups=groups)) == as_sets(grouped.split(np.zeros(60), groups=groups))


def test_pairs_of_positions():
    given = [([0, 1], [2, 3]), (range(2, 4), (0, 1))]
    for cv in (given, iter(given), (pair for pair in given)):
        assert as_sets(make_splits(cv, 4)) == [({0, 1}, {2, 3}), ({2, 3}, {0, 1})]


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "cv must be a whole number from 2 to 10"),
        (11, "cv must be a whole number from 2 to 10"),
        (-3, "cv must be a whole number"),
        (None, "cv must be a number of folds"),
        (2.0, "cv must be a number of folds"),
        (True, "cv must be a number of folds"),
        ([], "cv must give at least one split"),
        ([([0, 1], [])], "cv must give at least one split"),
        ([([], [0, 1])], "cv must give at least one split"),
    ],
)
def test_bad_folds(cv, message):
    with pytest.raises(ValueError, match=message):
        make_splits(cv, 10)


@pytest.mark.parametrize("cv", ["five", [1, 2, 3], [([0, 1], [2], [3])], [([0, 1], [10])], [([0, 1], [-11])]])
def test_what_is_no_pair_of_positions(cv):
    with pytest.raises(ValueError, match="cv"):
        make_splits(cv, 10)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2, 3], "groups must have one value"),
        (np.zeros((10, 2)), "groups must be one column"),
        (np.ones(10), "groups must contain at least two"),
    ],
)
def test_bad_groups(groups, message):
    with pytest.raises(ValueError, match=message):
        make_splits(2, 10, groups=groups)


def test_more_folds_than_groups():
    with pytest.raises(ValueError, match=r"groups has only 3 .* cv=5"):
        make_splits(5, 30, groups=np.arange(30) % 3)


def test_groups_of_rare_labels_are_dealt_out_whole():
    labels, groups = np.repeat([0, 1], [90, 10]), np.repeat(np.arange(50), 2)
    folds = deal_out_rare(labels, 5, 20, groups, random_state=3)
    assert [int((labels[test] == 1).sum()) for _, test in folds] == [2, 2, 2, 2, 2]
    for train, test in folds:
        assert not set(groups[train]) & set(groups[test])
