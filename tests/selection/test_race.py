"""The race of methods: who takes part, who is dropped, who wins, and whether trees see what sums cannot."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import correspondence as co
from correspondence.estimators.cca import CCA
from correspondence.results.comparison import MethodResult, pick_simplest
from correspondence.results.evidence import CrossFit
from correspondence.selection import race
from correspondence.selection.method_registry import METHODS, PairsProfile
from correspondence.selection.race import Contest, Race, choose_folds, run_race
from correspondence.validation.crossfit import crossfit


def a_crossfit(terms, n_components=1):
    """What a method with the given captured terms would have had from crossfit, all by its first component."""
    terms = np.asarray(terms, dtype=float)
    d, values = n_components, np.zeros((len(terms), n_components))
    interval, ones = np.array([0.0, 1.0]), np.ones(d)
    nested = np.tile(terms, (d, 1))
    return CrossFit(
        *(ones, np.tile(interval, (d, 1)), float(terms.mean()), interval, ones, values, values, [], 1.0, terms, nested)
    )


def ahead(by, n=400):
    """Terms whose mean is so many standard errors above that of zeros."""
    return np.tile([-1.0, 1.0], n // 2) + by / np.sqrt(n)


@pytest.fixture
def scores(monkeypatch):
    """Race by given terms in the place of fits: a dictionary to fill, and a list of the (method, folds) judged."""
    terms, asked = {}, []

    def make(name, pairs, n_components, random_state):
        return name

    def cross(self, name, n_components, parts):
        asked.append((name, len(parts)))
        return terms[name]

    monkeypatch.setattr(race, "make_estimator", make)
    monkeypatch.setattr(Contest, "cross_fit", cross)
    return terms, asked


def let_race(names, n=500, n_components=None, x=None):
    X = np.random.default_rng(0).normal(size=(n, 2)) if x is None else x
    Y = np.random.default_rng(1).normal(size=(n, 2))
    return run_race(Contest(X, Y, PairsProfile.from_data(X, Y)), names, n_components)


def answer(monkeypatch, value):
    """Let the trees say whether anything is left, and count how often they are asked."""
    asked = []
    monkeypatch.setattr(race, "leaves_dependence", lambda *a: asked.append(1) or value)
    return asked


# --- who is dropped, and who wins


def test_a_method_that_is_clearly_behind_after_one_fold_is_dropped(scores):
    terms, asked = scores
    terms |= {"cca": a_crossfit(ahead(-5)), "ace": a_crossfit(np.zeros(400)), "kernel": a_crossfit(ahead(-1))}
    found = let_race(["cca", "ace", "kernel"])
    assert asked == [("cca", 1), ("ace", 1), ("kernel", 1), ("ace", 3), ("kernel", 3)]
    assert found.winner.method == "ace"
    assert [result.method for result in found.others] == ["kernel"]


def test_the_only_survivor_is_judged_by_more_than_one_fold(scores):
    terms, asked = scores
    terms |= {"cca": a_crossfit(ahead(-5)), "ace": a_crossfit(np.ones(400))}
    assert let_race(["cca", "ace"]).describe_winner() == "captures 1 on 400 held-out pairs"
    assert asked == [("cca", 1), ("ace", 1), ("ace", 3)]


def test_the_simplest_and_the_leader_are_judged_by_all_folds_if_they_differ(scores):
    terms, asked = scores
    terms |= {"cca": a_crossfit(np.zeros(400)), "ace": a_crossfit(ahead(0.9)), "kernel": a_crossfit(ahead(0.5))}
    let_race(["cca", "ace", "kernel"])
    assert [name for name, folds in asked if folds == 5] == ["cca", "ace"]
    asked.clear()
    terms["cca"] = a_crossfit(np.full(400, 0.06))
    let_race(["cca", "ace", "kernel"])
    assert ("kernel", 3) in asked
    assert not [name for name, folds in asked if folds == 5]  # the simplest leads


def test_one_split_of_many_pairs_is_not_repeated(scores):
    terms, asked = scores
    terms |= {"cca": a_crossfit(np.zeros(400)), "ace": a_crossfit(np.zeros(400))}
    assert let_race(["cca", "ace"], 20_000).winner.method == "cca"
    assert asked == [("cca", 1), ("ace", 1)]


def test_the_simplest_wins_unless_it_is_clearly_behind(scores):
    terms, _ = scores
    terms |= {"cca": a_crossfit(np.zeros(400)), "ace": a_crossfit(ahead(0.5)), "kernel": a_crossfit(ahead(0.8))}
    assert let_race(["cca", "ace", "kernel"]).winner.method == "cca"
    terms["kernel"] = a_crossfit(ahead(1.5))
    assert let_race(["cca", "ace"]).winner.method == "cca"
    assert let_race(["cca", "kernel"]).winner.method == "kernel"


def test_a_method_with_too_few_components_does_not_win(scores):
    terms, _ = scores
    terms |= {"cca": a_crossfit(ahead(1)), "ace": a_crossfit(np.zeros(400), 2)}
    assert let_race(["cca", "ace"], n_components=2).winner.method == "ace"
    assert let_race(["cca", "ace"], n_components=1).winner.method == "cca"
    terms["ace"] = a_crossfit(np.zeros(400))
    assert let_race(["cca", "ace"], n_components=2).winner.method == "cca", "no method has two"


def test_a_method_is_judged_by_the_components_that_suit_it():
    made = a_crossfit(np.zeros(400), 3)
    nested = np.array([np.full(400, value) for value in (0.1, 0.3, 0.2)])
    made = replace(made, nested_terms=nested)
    assert (
        MethodResult.from_cross_fit("ace", made, None).n_components,
        MethodResult.from_cross_fit("ace", made, None).captured,
    ) == (
        2,
        pytest.approx(0.3),
    )
    assert MethodResult.from_cross_fit("ace", made, 3).captured == pytest.approx(0.2)
    assert MethodResult.from_cross_fit("ace", made, 7).n_components == 3


def test_the_reason_names_the_others_from_best_to_worst():
    judged = a_crossfit(np.zeros(400), 2)
    values = (("ca", 0.5), ("ace", 1e-17), ("cca", 0.3))
    results = [MethodResult(name, 1, value, np.zeros(3), judged) for name, value in values]
    assert Race(results[0], results[1:]).describe_winner() == "captures 0.5 on 400 held-out pairs (cca 0.3, ace 0)"


def test_the_reason_is_of_the_components_that_are_kept():
    nested = np.array([np.full(400, value) for value in (0.3, 0.2)])
    made = replace(a_crossfit(np.zeros(400), 2), nested_terms=nested)
    made_race = Race(MethodResult.from_cross_fit("ace", made, None), [])
    assert [made_race.describe_winner(k).split()[1] for k in (None, 1, 2, 3)] == ["0.3", "0.3", "0.2", "0.3"]


def test_order_decides_between_equals():
    equal = {"b": a_crossfit(np.ones(400)), "a": a_crossfit(np.ones(400))}
    assert pick_simplest(equal) == "b"


# --- costly methods


ALL = ["cca", "ace", "kernel", "forest", "pice"]


def test_costly_methods_are_not_fitted_where_trees_find_nothing(scores, monkeypatch):
    terms, asked = scores
    terms |= {name: a_crossfit(np.zeros(400)) for name in ALL}
    trees = answer(monkeypatch, False)
    let_race(ALL, 1000)
    assert {name for name, _ in asked} == {"cca", "ace", "kernel"}
    assert trees == [1]


def test_costly_methods_take_part_where_trees_find_something(scores, monkeypatch):
    terms, asked = scores
    terms |= {name: a_crossfit(np.zeros(400)) for name in ("cca", "ace")} | {"forest": a_crossfit(np.ones(400))}
    answer(monkeypatch, True)
    assert let_race(["cca", "ace", "forest"]).winner.method == "forest"
    assert asked == [("cca", 1), ("ace", 1), ("forest", 1), ("forest", 3)]
    asked.clear()
    monkeypatch.setattr(race, "MAX_NUMBERS_FOR_FOLDS", 1999)  # there are 500 pairs of 4 numbers
    assert let_race(["cca", "ace", "forest"]).winner.method == "forest"
    assert asked == [("cca", 1), ("ace", 1), ("forest", 1)], "one fold is enough for what is costly"


def test_nets_are_judged_by_one_fold(scores, monkeypatch):
    terms, asked = scores
    terms |= {"cca": a_crossfit(ahead(-5)), "pice": a_crossfit(np.zeros(400))}
    answer(monkeypatch, True)
    assert let_race(["cca", "pice"], 1000).winner.method == "pice"
    assert asked == [("cca", 1), ("pice", 1)]


def test_nets_wait_where_a_classifier_leads(scores, monkeypatch):
    """Forests and perceptrons see the interactions that nets would see, and are quicker."""
    terms, asked = scores
    terms |= {"ace": a_crossfit(ahead(-5))} | {name: a_crossfit(np.zeros(400)) for name in ("logistic", "forest")}
    answer(monkeypatch, False)
    assert let_race(["ace", "logistic", "forest", "pice"], 1000).winner.method == "logistic"
    assert asked == [("ace", 1), ("logistic", 1), ("forest", 1), ("logistic", 3), ("forest", 3)]


def test_trees_are_not_asked_if_nothing_depends_on_it(scores, monkeypatch):
    terms, _ = scores
    terms |= {name: a_crossfit(np.zeros(400)) for name in ("cca", "ace")}
    trees = answer(monkeypatch, True)
    let_race(["cca", "ace"])
    assert trees == []


@pytest.mark.parametrize(("n", "kernel", "tried"), [(1000, 0, False), (1000, -5, True), (999, -5, False)])
def test_nets_take_part_where_a_kernel_falls_behind(scores, monkeypatch, n, kernel, tried):
    terms, asked = scores
    terms |= {name: a_crossfit(np.zeros(400)) for name in ALL} | {"kernel": a_crossfit(ahead(kernel))}
    answer(monkeypatch, True)
    let_race(["cca", "kernel", "pice"], n)
    assert ("pice" in {name for name, _ in asked}) is tried


def test_costly_methods_race_if_there_are_no_others(scores, monkeypatch):
    terms, asked = scores
    terms |= {name: a_crossfit(np.zeros(400)) for name in ("logistic", "mlp")}
    trees = answer(monkeypatch, False)
    assert let_race(["logistic", "mlp"]).winner.method == "logistic"
    assert asked == [("logistic", 1), ("mlp", 1), ("logistic", 3), ("mlp", 3)]
    assert trees == []


def test_some_methods_are_cheap_and_some_costly():
    assert {method.is_costly for method in METHODS.values()} == {True, False}


@pytest.mark.parametrize(("n", "folds"), [(2, 2), (3, 3), (1999, 5), (2000, 3), (19_999, 3)])
def test_number_of_folds(n, folds):
    X = np.arange(2.0 * n).reshape(n, 2)
    assert choose_folds(PairsProfile.from_data(X, X), None, 0) == folds
    assert choose_folds(PairsProfile.from_data(X, X), np.arange(n) % 2, 0) == 2, "no more than groups"


# --- a race of real methods


def test_a_parabola_drops_lines():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(400, 1))
    y = x**2 + 0.1 * rng.normal(size=(400, 1))
    found = run_race(Contest(x, y, PairsProfile.from_data(x, y)), ["cca", "ace"], 1)
    assert found.winner.method == "ace"
    assert found.others == []
    assert found.winner.captured > 0.5


def test_a_method_that_cannot_be_fitted_to_a_part_is_dropped():
    """Of a label that occurs once, a logistic regression cannot learn anything where it is missing."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(120, 2)), np.array(["a"] * 118 + ["b"] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.CorrespondenceWarning)
        d = co.decompose(x, y, verbose=False, progress=False)
    assert d.n_components == 1


@pytest.mark.slow
def test_without_a_part_that_can_be_fitted_there_is_no_race():
    """A single 1 is missing in some training parts; what is wrong with all pairs is told all the same."""
    x = np.random.default_rng(0).normal(size=200)
    origins = set()
    for place in range(0, 200, 10):
        y = np.zeros(200)
        y[place] = 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", co.CorrespondenceWarning)
            origins.add(co.decompose(x, y, verbose=False, progress=False).origin)
    assert any("no part of the pairs can be judged" in origin for origin in origins)
    with pytest.raises(ValueError, match="Y has one value"):
        co.decompose(x, np.zeros(200), verbose=False)


# --- rare labels: the choice does not depend on the split


def draw_with_rare_class(seed, n=600, n_rare=7):
    """Draw numbers and labels of things, and their classes, of which one has a few rows."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["fan", "jet", "prop"], n, p=[0.7, 0.2, 0.1]).astype(object)
    y[:n_rare] = "shaft"
    level = np.array([{"fan": 0.0, "jet": 1.0, "prop": 2.0, "shaft": 5.0}[label] for label in y])
    seats = np.exp(0.5 * rng.normal(size=n) + 0.5 * (y == "fan"))
    year, speed = level + 1.5 * rng.normal(size=n), rng.normal(size=n) + 0.4 * (level - 1) ** 2
    usual = np.array([{"fan": "A", "jet": "B"}.get(label, "C") for label in y])
    maker = np.where(rng.random(n) < 0.6, usual, rng.choice(list("ABCDE"), n))
    return pd.DataFrame({"seats": seats, "year": year, "speed": speed, "maker": maker}), y


@pytest.mark.slow
@pytest.mark.parametrize("data_seed", [0, 5])
def test_the_choice_with_a_rare_class_does_not_depend_on_the_seed(data_seed):
    X, y = draw_with_rare_class(data_seed)
    pairs = PairsProfile.from_data(X, y)
    names = ["cca", "ace", "kernel", "logistic"]
    winners = {run_race(Contest(X, y, pairs, random_state=seed), names).winner.method for seed in range(4)}
    assert winners == {"logistic"}


def test_rare_labels_are_dealt_out_to_the_folds():
    X, y = draw_with_rare_class(0)
    contest = Contest(X, y, PairsProfile.from_data(X, y))
    for folds in (contest.split_pairs(), contest.split_pairs(repeat=1)):
        assert sorted(int((y[test] == "shaft").sum()) for _, test in folds) == [1, 1, 1, 2, 2]
        assert np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(len(y)))
    assert not np.array_equal(contest.split_pairs()[0][1], contest.split_pairs(repeat=1)[0][1])


def test_other_splits_are_tried_only_where_few_pairs_decide(scores):
    terms, asked = scores
    few = np.zeros(400)
    few[:3] = 100.0
    terms |= {"cca": a_crossfit(np.zeros(400)), "ace": a_crossfit(few)}
    let_race(["cca", "ace"])
    assert max(folds for _, folds in asked) == 10
    asked.clear()
    terms["ace"] = a_crossfit(ahead(0.9))
    let_race(["cca", "ace"])
    assert max(folds for _, folds in asked) == 5


def test_a_method_too_slow_for_more_folds_does_not_keep_others_from_them(scores, monkeypatch):
    terms, asked = scores
    answer(monkeypatch, True)
    monkeypatch.setattr(race, "MAX_NUMBERS_FOR_FOLDS", 1999)  # there are 500 pairs of 4 numbers
    terms |= {"cca": a_crossfit(np.zeros(400)), "forest": a_crossfit(ahead(0.5))}
    assert let_race(["cca", "forest"]).winner.method == "cca"
    assert asked == [("cca", 1), ("forest", 1), ("cca", 3)]


def test_a_method_is_fitted_to_each_part_once():
    X, y = draw_with_rare_class(0, n=100)
    contest = Contest(X, y, PairsProfile.from_data(X, y))
    folds = contest.split_pairs()
    first = contest.cross_fit("cca", 1, folds[:2])
    assert len(contest.fits) == 2
    assert len(contest.cross_fit("cca", 1, folds).splits) == len(contest.fits) == 5
    again = contest.cross_fit("cca", 1, folds[:2])
    assert np.array_equal(first.terms, again.terms)
    assert np.allclose(first.terms, crossfit(CCA(1), X, y, folds[:2]).terms)
