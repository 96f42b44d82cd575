"""Which methods are tried for which data, and that each of them can be made and fitted."""

import importlib.util
import inspect
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import correspondence as co
from correspondence.selection.method_registry import (
    MAX_COMPONENTS,
    METHODS,
    MIN_PAIRS_FOR_MODELS,
    MIN_PAIRS_FOR_NET,
    MIN_PAIRS_FOR_RIDGE,
    PairsProfile,
    list_sensible_methods,
    make_estimator,
)

TABLE_AND_LABELS = ["cca", "ace", "kernel", "logistic", "forest", "pice"]


def data(kind, n=MIN_PAIRS_FOR_MODELS):
    """Pairs of some kind whose two variables have to do with each other."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    labels = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    text = [f"{label} and w{i % 7} of row {i}" for i, label in enumerate(labels)]
    words = sp.csr_array(rng.poisson(0.3 + (labels[:, None] == ["low", "middle", "high"]) @ np.eye(3, 8)).astype(float))
    images = rng.random((n, 1, 6, 6)) + X[:, 0, None, None, None]
    many = np.array([f"label {i}" for i in range(60)])[np.arange(n) % 60]
    return {
        "labels, labels": (labels, np.where(rng.random(n) < 0.8, labels, "low")),
        "table, labels": (X, labels),
        "labels, table": (labels, X),
        "number, number": (X[:, 0], X[:, 0] ** 2 + rng.normal(size=n)),
        "table, number": (X, X[:, 0] * X[:, 1]),
        "table, table": (X, X + rng.normal(size=(n, 2))),
        "text, labels": (text, labels),
        "labels, text": (labels, text),
        "text, number": (text, X[:, 0]),
        "text, text": (text, text[::-1]),
        "sparse, labels": (words, labels),
        "sparse, sparse": (words, words[:, [1, 0, 2]]),
        "images, labels": (images, labels),
        "images, images": (images, images[:, :, ::-1]),
        "table, many labels": (X, many),
        "text, many labels": (text, many),
        "wide table, number": (rng.normal(size=(n, 301)), X[:, 0]),
        "wide table, labels": (rng.normal(size=(n, 301)), labels),
        "mixed frame, labels": (pd.DataFrame({"a": X[:, 0], "b": labels}), labels),
        "frame, frame of labels": (pl.DataFrame(X, schema=["a", "b"]), pl.DataFrame({"y": labels})),
    }[kind]


SENSIBLE = {
    "labels, labels": ["ca", "ridge-ca"],
    "table, labels": TABLE_AND_LABELS,
    "labels, table": TABLE_AND_LABELS,
    "mixed frame, labels": TABLE_AND_LABELS,
    "frame, frame of labels": TABLE_AND_LABELS,
    "number, number": ["cca", "ace", "kernel", "forest", "pice"],
    "table, number": ["cca", "ace", "kernel", "forest", "pice"],
    "table, table": ["cca", "ace", "kernel", "pice"],
    "text, labels": ["cca", "kernel", "logistic", "pice"],
    "labels, text": ["cca", "kernel", "logistic", "pice"],
    "text, number": ["cca", "kernel", "pice"],
    "text, text": ["cca", "kernel", "pice"],
    "sparse, labels": ["cca", "kernel", "logistic", "pice"],
    "sparse, sparse": ["cca", "kernel", "pice"],
    "images, labels": ["kernel", "logistic"],
    "images, images": ["kernel"],
    "table, many labels": ["cca", "ace", "kernel", "pice"],
    "text, many labels": ["cca", "kernel", "pice"],
    "wide table, number": ["cca", "kernel", "pice"],
    "wide table, labels": ["cca", "kernel", "logistic", "pice"],
}


@pytest.mark.parametrize("kind", SENSIBLE)
def test_sensible_methods(kind):
    n = MIN_PAIRS_FOR_MODELS if "many" not in kind else 180  # with fewer, the labels would be names of the rows
    assert list_sensible_methods(PairsProfile.from_data(*data(kind, n))) == SENSIBLE[kind]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("labels, labels", ["ca", "ridge-ca"]),
        ("table, labels", ["cca", "ace"]),
        ("number, number", ["cca", "ace"]),
        ("table, table", ["cca", "ace"]),
        ("wide table, number", ["cca"]),
    ],
)
def test_only_the_simplest_of_few_pairs(kind, expected):
    assert list_sensible_methods(PairsProfile.from_data(*data(kind, MIN_PAIRS_FOR_MODELS - 1))) == expected


@pytest.mark.parametrize(("n", "tried"), [(MIN_PAIRS_FOR_RIDGE - 1, False), (MIN_PAIRS_FOR_RIDGE, True)])
def test_a_ridge_needs_counts_to_deal_out(n, tried):
    x = np.array(["a", "b", "c"])[np.arange(n) % 3]
    assert ("ridge-ca" in list_sensible_methods(PairsProfile.from_data(x, x[::-1]))) is tried


def test_costly_methods_are_those_that_fit_models_or_nets():
    assert {name for name, method in METHODS.items() if method.is_costly} == {"logistic", "forest", "mlp", "pice"}


@pytest.mark.parametrize("kind", ["text, labels", "sparse, labels", "images, labels", "text, number"])
def test_some_method_suits_few_pairs_of_anything(kind):
    assert list_sensible_methods(PairsProfile.from_data(*data(kind, MIN_PAIRS_FOR_MODELS - 1)))


@pytest.mark.parametrize(("n", "tried"), [(MIN_PAIRS_FOR_NET - 1, False), (MIN_PAIRS_FOR_NET, True)])
def test_a_net_needs_enough_pairs(n, tried):
    assert ("mlp" in list_sensible_methods(PairsProfile.from_data(*data("table, labels", n)))) is tried


@pytest.mark.parametrize(("n", "tried"), [(MIN_PAIRS_FOR_NET - 1, False), (MIN_PAIRS_FOR_NET, True)])
def test_nets_of_images_need_enough_and_are_trained_for_less_time(n, tried):
    pairs = PairsProfile.from_data(*data("images, labels", n))
    assert ("pice" in list_sensible_methods(pairs)) is tried
    table = PairsProfile.from_data(*data("table, labels", n))
    assert make_estimator("pice", pairs, 2).max_steps < make_estimator("pice", table, 2).max_steps


def test_without_torch_there_is_no_pice(monkeypatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "torch" else find_spec(name, *a))
    assert list_sensible_methods(PairsProfile.from_data(*data("table, table"))) == ["cca", "ace", "kernel"]


def test_the_order_is_from_simple_to_flexible():
    assert list(METHODS) == ["ca", "ridge-ca", "cca", "ace", "kernel", "logistic", "forest", "mlp", "pice"]


@pytest.mark.parametrize("function", [co.compare, co.decompose])
def test_docstrings_name_every_method(function):
    text = inspect.getdoc(function)
    assert all(f'"{name}"' in text for name in METHODS)


def made(name, kind, n=MIN_PAIRS_FOR_MODELS, n_components=1):
    est = make_estimator(name, PairsProfile.from_data(*data(kind, n)), n_components, random_state=7)
    return est.set_params(max_steps=20, evaluate_every=10) if name == "pice" else est


def assert_fits(name, kind, n=MIN_PAIRS_FOR_MODELS):
    X, Y = data(kind, n)
    est = made(name, kind, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.CorrespondenceWarning)
        d = est.fit(X, Y).decomposition_
    assert 1 >= d.n_components >= 0
    assert np.isfinite(d.f(X)).all()
    assert np.isfinite(d.g(Y)).all()


def fits():
    """Every method for every kind of data, but of forests, which take seconds, only three."""
    for kind, names in SENSIBLE.items():
        for name in names:
            if name == "forest" and kind not in ("table, labels", "number, number", "frame, frame of labels"):
                continue
            yield kind, name


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), list(fits()))
def test_sensible_methods_can_be_fitted(kind, name):
    assert_fits(name, kind, MIN_PAIRS_FOR_MODELS if "many" not in kind else 180)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kernel", "pice"])
def test_methods_for_images(name):
    n = MIN_PAIRS_FOR_NET if name == "pice" else MIN_PAIRS_FOR_MODELS
    assert name in list_sensible_methods(PairsProfile.from_data(*data("images, labels", n)))
    assert_fits(name, "images, labels", n)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["logistic", "mlp"])
def test_classifiers_of_images(name):
    n = MIN_PAIRS_FOR_NET if name == "mlp" else MIN_PAIRS_FOR_MODELS
    if name in list_sensible_methods(PairsProfile.from_data(*data("images, labels", n))):
        assert_fits(name, "images, labels", n)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["table, labels", "sparse, labels"])
def test_a_net_of_scikit_learn_can_be_fitted(kind):
    assert "mlp" in list_sensible_methods(PairsProfile.from_data(*data(kind, MIN_PAIRS_FOR_NET)))
    assert_fits("mlp", kind, MIN_PAIRS_FOR_NET)


@pytest.mark.parametrize("name", ["logistic", "forest", "mlp"])
def test_the_side_without_labels_is_regressed_on(name):
    assert made(name, "table, labels").y_regressor is None
    assert made(name, "labels, table").x_regressor is None
    assert made(name, "labels, table").y_regressor is not None


@pytest.mark.parametrize("name", ["kernel", "logistic", "forest", "mlp", "pice"])
def test_the_seed_is_passed_on(name):
    assert made(name, "table, labels").random_state == 7


@pytest.mark.parametrize("name", METHODS)
def test_the_number_of_components_is_passed_on(name):
    assert made(name, "table, labels", n_components=2).n_components == 2


def test_a_forest_is_of_the_right_kind():
    assert type(made("forest", "table, labels").x_regressor).__name__ == "RandomForestClassifier"
    assert type(made("forest", "table, number").x_regressor).__name__ == "RandomForestRegressor"


@pytest.mark.parametrize(
    ("kind", "n", "limit", "most"),
    [
        ("table, table", 1000, MAX_COMPONENTS, 3),
        ("table, table", 50, 5, 3),
        ("table, table", 5, 1, 1),
        ("table, labels", 1000, 2, 2),
        ("labels, table", 1000, 2, 2),
        ("labels, labels", 1000, 2, 2),
    ],
)
def test_how_many_components_are_looked_for(kind, n, limit, most):
    pairs = PairsProfile.from_data(*data(kind, n))
    assert (pairs.max_components, pairs.max_components_compared) == (limit, most)


def test_constant_columns_are_no_reason_for_a_warning():
    X = np.column_stack([np.arange(20.0), np.ones(20)])
    assert PairsProfile.from_data(X, np.arange(20) % 2).x.columns == 1


@pytest.mark.parametrize(("name", "kind"), [("logistic", "number, number"), ("ace", "text, labels")])
def test_a_method_that_does_not_suit_says_so(name, kind):
    with pytest.raises(ValueError, match=r"x_regressor must|must be a table"):
        made(name, kind).fit(*data(kind))


def test_errors():
    pairs = PairsProfile.from_data(*data("table, labels"))
    with pytest.raises(ValueError, match="method must"):
        make_estimator("pca", pairs, 1)
    with pytest.raises(ValueError, match="same length"):
        PairsProfile.from_data([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="X is empty"):
        PairsProfile.from_data([], [])
