"""The contract of all estimators, run on every one found in the package, and scikit-learn's own checks."""

import importlib
import inspect
import pickle
import pkgutil
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import check_array
from sklearn.utils.estimator_checks import parametrize_with_checks

import correspondence as co
from correspondence.core.estimator import Estimator
from correspondence.core.moments import Moments


class Linear(Estimator):
    """Smallest estimator of continuous variables: what the base class is for, besides CA."""

    def __init__(self, n_components=None):
        self.n_components = n_components

    def fit(self, X, Y=None):
        self.decomposition_ = Moments().update(X, Y).decompose(self.n_components, y_sample=Y)
        return self


def found():
    """Every concrete estimator of the package."""
    for module in pkgutil.walk_packages(co.__path__, "correspondence."):
        importlib.import_module(module.name)

    def below(cls):
        return {cls} | {c for child in cls.__subclasses__() for c in below(child)}

    ours = [c for c in below(Estimator) if c.__module__.startswith("correspondence.") and not inspect.isabstract(c)]
    return sorted(ours, key=lambda c: c.__name__)


def label_pairs(rng, n=400):
    x = rng.choice(["a", "b", "c", "d"], n)
    y = np.where(rng.random(n) < 0.5, np.char.upper(x), rng.choice(["A", "B", "C", "D"], n))
    return x, y


def number_pairs(rng, n=400):
    X = rng.normal(size=(n, 3))
    return X, X[:, :2] + rng.normal(size=(n, 2))


def belief_pairs(rng, n=400):
    """Beliefs in quarters, each four times and with just the labels that they promise."""
    believed = np.sort(rng.integers(0, 3, (n // 4, 4)), axis=1)
    P = np.stack([(believed == y).mean(axis=1) for y in range(3)], axis=1)
    order = rng.permutation(n)
    return np.repeat(P, 4, axis=0)[order], believed.ravel()[order]


DATA = {
    "ACE": number_pairs,
    "CA": label_pairs,
    "CCA": number_pairs,
    "ClassifierCA": belief_pairs,
    "KernelCCA": number_pairs,
    "Linear": number_pairs,
    "PICE": number_pairs,
}


def test_every_estimator_has_data_for_its_contract():
    assert {cls.__name__ for cls in found()} <= set(DATA)
    assert co.CA in found()


TRAINED = (co.PICE,)
"""Estimators whose fits take long: their tests are slow, with few steps."""
STEPS = {"max_steps": 100, "progress": False}


@pytest.fixture(
    params=[pytest.param(cls, marks=[pytest.mark.slow] * (cls in TRAINED)) for cls in [*found(), Linear]],
    ids=lambda cls: cls.__name__,
)
def case(request):
    X, Y = DATA[request.param.__name__](np.random.default_rng(0))
    return partial(request.param, **STEPS) if request.param in TRAINED else request.param, X, Y


def test_fit_returns_itself_and_sets_the_result(case):
    cls, X, Y = case
    est = cls(n_components=2)
    assert est.fit(X, Y) is est
    d = est.decomposition_
    assert d.n_components == 2
    np.testing.assert_array_equal(est.pics_, d.pics)
    np.testing.assert_allclose(est.correlations_, np.sqrt(est.pics_))
    assert 0 < est.pics_[1] <= est.pics_[0] <= 1


def test_transform_gives_standardised_correlated_functions(case):
    cls, X, Y = case
    est = cls(n_components=2).fit(X, Y)
    F, G = est.transform(X, Y)
    np.testing.assert_array_equal(est.transform(X), F)
    np.testing.assert_array_equal(est.transform_y(Y), G)
    np.testing.assert_array_equal(est.fit_transform(X, Y), F)
    for values in (F, G):
        np.testing.assert_allclose(values.mean(0), 0, atol=1e-9)
        np.testing.assert_allclose(values.T @ values / len(values), np.eye(2), atol=1e-9)
    np.testing.assert_allclose(F.T @ G / len(F), np.diag(est.correlations_), atol=1e-9)


def test_evaluate_and_score(case):
    cls, X, Y = case
    est = cls(n_components=2).fit(X[:300], Y[:300])
    result = est.evaluate(X[300:], Y[300:])
    assert isinstance(result, co.HeldOut)
    assert result.correlations.shape == (2,)
    assert result.intervals.shape == (2, 2)
    assert result.n == 100
    assert est.score(X[300:], Y[300:]) == result.captured
    weighted = est.evaluate(X[300:], Y[300:], sample_weight=np.ones(100))
    assert weighted.captured == pytest.approx(result.captured)
    with pytest.raises(ValueError, match="same length"):
        est.evaluate(X[300:], Y[301:])


def test_refitting_and_cloning_are_deterministic(case):
    cls, X, Y = case
    est = cls(n_components=2).fit(X, Y)
    copy = clone(est)
    assert copy.get_params() == est.get_params()
    assert not hasattr(copy, "decomposition_")
    np.testing.assert_array_equal(copy.fit(X, Y).transform(X), est.transform(X))
    np.testing.assert_array_equal(est.fit(X, Y).transform(X), copy.transform(X))


def test_not_fitted(case):
    cls, X, Y = case
    for use in (
        lambda e: e.transform(X),
        lambda e: e.transform_y(Y),
        lambda e: e.score(X, Y),
        lambda e: e.pics_,
        lambda e: e.get_feature_names_out(),
    ):
        with pytest.raises(NotFittedError):
            use(cls())


def test_pickled_it_still_works(case):
    cls, X, Y = case
    est = cls(n_components=2).fit(X, Y)
    again = pickle.loads(pickle.dumps(est))
    np.testing.assert_array_equal(again.transform(X), est.transform(X))


def test_frames_out(case):
    cls, X, Y = case
    est = cls(n_components=2).fit(X, Y)
    assert est.get_feature_names_out().tolist() == ["f1", "f2"]
    frame = est.set_output(transform="pandas").transform(X)
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == ["f1", "f2"]
    f, g = est.transform(X, pd.Series(Y, index=range(5, 405)) if Y.ndim == 1 else Y)
    assert isinstance(f, pd.DataFrame)
    assert g.columns.tolist() == ["g1", "g2"]
    assert Y.ndim > 1 or g.index[0] == 5
    assert isinstance(est.set_output(transform="polars").transform(X), pl.DataFrame)
    assert isinstance(clone(est).fit(X, Y).transform_y(Y), pl.DataFrame)
    assert isinstance(est.set_output(transform="default").transform_y(Y), np.ndarray)


def test_save_and_load(case, tmp_path):
    cls, X, Y = case
    est = cls(n_components=2).fit(X, Y)
    est.decomposition_.save(tmp_path / "model")
    np.testing.assert_array_equal(co.load(tmp_path / "model").f(X), est.transform(X))


def test_cross_validation_by_score(case):
    cls, X, Y = case
    scores = cross_val_score(cls(n_components=2), X, Y, cv=4)
    assert scores.shape == (4,)
    assert (scores > 0).all()


def test_the_base_class_asks_for_pairs(rng):
    X, Y = number_pairs(rng)
    with pytest.raises(ValueError, match="Y must"):
        Linear().fit(X, Y).evaluate(X)


def test_ca_in_a_pipeline(rng):
    counts = rng.poisson(3, (120, 8)) + 1
    target = counts[:, 0] > counts[:, 1]
    with pytest.warns(co.LeftOut, match="Y is ignored"):
        model = make_pipeline(co.CA(n_components=5), LogisticRegression()).fit(counts, target)
    assert model.score(counts, target) > 0.8


def test_ca_remembers_the_names_of_columns():
    frame = co.datasets.load_smoke().to_frame().set_index("label")
    ca = co.CA().fit(frame)
    assert ca.feature_names_in_.tolist() == ["none", "light", "medium", "heavy"]
    assert ca.n_features_in_ == 4
    assert not hasattr(ca.fit(frame.to_numpy()), "feature_names_in_")


# --- scikit-learn's checks

PAIRS = "X with a single column and Y are pairs of labels, of any hashable type"
NOT_FOR_CA = {
    "check_complex_data": PAIRS,
    "check_fit1d": PAIRS,
    "check_fit2d_predict1d": "a single column of new values is one of labels, with its own error for unknown ones",
    "check_n_features_in_after_fitting": "the number of columns is checked, but the error speaks of rows and columns",
    "check_sample_weight_equivalence_on_dense_data": "the second argument of fit is called Y, as in the paper",
    "check_sample_weight_equivalence_on_sparse_data": "the second argument of fit is called Y, as in the paper",
}
NOT_FOR_PAIRS = {
    "check_dtype_object": "labels may be of any hashable type, and the error says so",
    "check_fit1d": "a single column may be given as a vector",
    "check_fit2d_predict1d": "a vector is a single column: the error says that there were more in the fit",
    "check_n_features_in_after_fitting": "the number of columns is checked, but the error names the columns",
}
OWN_CCA = "the check goes by the name of the class, and expects what scikit-learn's own CCA returns"
NOT_FOR_CCA = {"check_transformer_data_not_an_array": OWN_CCA, "check_transformer_general": OWN_CCA}
BY_THE_MODEL = "X is checked by the model, and by it alone"
LABELS = "Y must be among the classes of the model"
NOT_FOR_CLASSIFIER = {
    "check_dtype_object": LABELS,
    "check_estimator_sparse_array": LABELS,
    "check_estimator_sparse_matrix": LABELS,
    "check_n_features_in_after_fitting": BY_THE_MODEL,
    "check_sample_weight_equivalence_on_dense_data": NOT_FOR_CA["check_sample_weight_equivalence_on_dense_data"],
    "check_sample_weight_equivalence_on_sparse_data": NOT_FOR_CA["check_sample_weight_equivalence_on_sparse_data"],
    "check_transformer_general": BY_THE_MODEL,
}
NOT_FOR = {
    "CA": NOT_FOR_CA,
    "ClassifierCA": NOT_FOR_CLASSIFIER,
    "CCA": NOT_FOR_PAIRS | NOT_FOR_CCA,
    **dict.fromkeys(("ACE", "KernelCCA", "PICE"), NOT_FOR_PAIRS),
}


class BlackBox:
    """Beliefs in three classes from any table of numbers, by a model that checks it as scikit-learn's own do."""

    def __call__(self, X):
        X = check_array(X, accept_sparse=True)
        first = X[:, [0]].toarray() if sp.issparse(X) else X[:, [0]]
        return softmax(np.column_stack([first, -first, np.asarray(X.sum(axis=1)).ravel() / 10]), axis=1)

    def __repr__(self):
        return "BlackBox()"  # names of tests must not have an address in them


QUICK = {"ClassifierCA": {"model": BlackBox()}, "PICE": STEPS}


def checks_of(classes):
    """Checks of scikit-learn for each of these estimators."""
    return parametrize_with_checks(
        [cls(**QUICK.get(cls.__name__, {})) for cls in classes],
        expected_failed_checks=lambda est: NOT_FOR.get(type(est).__name__, {}),
    )


ignore_warnings = pytest.mark.filterwarnings(
    *(f"ignore::correspondence.{kind}" for kind in ("LeftOut", "FewerComponents", "NotHeldOut", "NothingFound"))
)


@checks_of([cls for cls in found() if cls not in TRAINED])
@ignore_warnings
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@checks_of(TRAINED)
@ignore_warnings
def test_scikit_learn_with_training(estimator, check):
    check(estimator)


def test_ca_weights_of_rows_are_repetitions(rng):
    """What scikit-learn's check of sample weights would test, with Y left out."""
    counts, weights = rng.poisson(3, (30, 5)) + 1, rng.integers(1, 4, 30)
    weighted = co.CA().fit(counts, sample_weight=weights)
    repeated = co.CA().fit(np.repeat(counts, weights, axis=0))
    np.testing.assert_allclose(weighted.transform(counts), repeated.transform(counts), atol=1e-9)


def test_import_is_light():
    import subprocess
    import sys

    heavy = ("torch", "plotly", "dask", "duckdb", "polars")
    code = f"import sys, correspondence; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
