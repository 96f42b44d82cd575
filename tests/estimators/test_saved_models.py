"""Models of scikit-learn as arrays: what they predict, their files, and files that were tampered with."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.ensemble._forest import ForestClassifier
from sklearn.linear_model import ElasticNet, LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import correspondence as co
from correspondence._util import files
from correspondence.core import decomposition
from correspondence.describe.axis_words import find_axis_words
from correspondence.describe.sentences import write_sentences
from correspondence.estimators import model_readers, saved_trees
from correspondence.estimators.conditional_expectations import LabelMeans
from correspondence.estimators.model_readers import read_fitted_model
from correspondence.estimators.saved_models import SavedModel

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

CLASSIFIERS = {
    "logistic": LogisticRegression(max_iter=50),
    "liblinear": LogisticRegression(solver="liblinear"),
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(4, random_state=0),
    "forest grown leaf by leaf": RandomForestClassifier(4, max_leaf_nodes=9, random_state=0),
    "extra trees": ExtraTreesClassifier(4, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=4, random_state=0),
    "histogram boosting": HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3),
    "net": MLPClassifier((5, 4), activation="tanh", max_iter=5, random_state=0),
    "scaled net": make_pipeline(StandardScaler(), MLPClassifier((5,), max_iter=5, random_state=0)),
    "scaled logistic": make_pipeline(StandardScaler(with_mean=False), LogisticRegression()),
}
REGRESSORS = {
    "linear": LinearRegression(),
    "ridge": Ridge(),
    "elastic net": ElasticNet(alpha=0.1),
    "tree": DecisionTreeRegressor(random_state=0),
    "forest": RandomForestRegressor(4, random_state=0),
    "extra trees": ExtraTreesRegressor(4, max_leaf_nodes=9, random_state=0),
    "boosting": MultiOutputRegressor(GradientBoostingRegressor(n_estimators=4, random_state=0)),
    "histogram boosting": MultiOutputRegressor(HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=3)),
    "net": MLPRegressor(hidden_layer_sizes=(5,), activation="logistic", max_iter=5, random_state=0),
    "scaled ridge": make_pipeline(StandardScaler(), "passthrough", Ridge()),
    "search": GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=2),
}


def reloaded(model):
    """What is read from a file in which the numbers of a model were kept."""
    description, arrays = read_fitted_model(model).state()
    return SavedModel.from_state(json.loads(json.dumps(description)), arrays)


def hard_rows(seed, n, p):
    """Rows with ties, near ties in single precision, and of very different sizes."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-2, 3, size=p)
    rows = np.where(rng.random((n, p)) < 0.3, rows.round(1), rows)
    return np.where(rng.random((n, p)) < 0.2, rows.astype(np.float32) * (1 + 1e-9), rows)


SIZES = {"seed": st.integers(0, 2**16), "n": st.integers(30, 80), "p": st.integers(1, 5), "k": st.integers(2, 4)}


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSIFIERS)
@settings(max_examples=12, deadline=None)
@given(**SIZES)
def test_classifiers_predict_as_scikit_learn_does(name, seed, n, p, k):
    k = 2 if name == "liblinear" else k
    X, y = hard_rows(seed, n, p), np.random.default_rng(seed).integers(k, size=n)
    y[:k] = np.arange(k)
    model = CLASSIFIERS[name].fit(X, y)
    again, new = reloaded(model), hard_rows(seed + 1, 100, p)
    for rows in (X, new):
        np.testing.assert_allclose(again.predict(rows), model.predict_proba(rows), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(again.classes, model.classes_)


@pytest.mark.slow
@pytest.mark.parametrize("name", REGRESSORS)
@settings(max_examples=12, deadline=None)
@given(**SIZES)
def test_regressors_predict_as_scikit_learn_does(name, seed, n, p, k):
    X = hard_rows(seed, n, p)
    Y = np.random.default_rng(seed).normal(size=(n, k)) + X[:, :1]
    model = REGRESSORS[name].fit(X, Y)
    again = reloaded(model)
    for rows in (X, hard_rows(seed + 1, 100, p)):
        expected = model.predict(rows)
        np.testing.assert_allclose(again.predict(rows), expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("model", [RandomForestRegressor(5, random_state=0), ExtraTreesRegressor(5, random_state=0)])
def test_rows_at_a_threshold_fall_to_the_same_side(rng, model):
    X = rng.normal(size=(200, 2)).round(1)
    model.fit(X, X[:, 0] * X[:, 1])
    thresholds = np.concatenate([tree.tree_.threshold for tree in model.estimators_])
    near = np.concatenate([thresholds, np.nextafter(thresholds, np.inf), np.nextafter(thresholds, -np.inf)])
    rows = np.column_stack([near, rng.permutation(near)])
    np.testing.assert_allclose(reloaded(model).predict(rows)[:, 0], model.predict(rows), atol=1e-12)


@pytest.mark.parametrize(
    "model", [RandomForestRegressor(5, random_state=0), HistGradientBoostingRegressor(max_iter=5, random_state=0)]
)
def test_missing_values_go_where_they_went(rng, model):
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + rng.normal(size=300) / 10
    X[rng.random(X.shape) < 0.3] = np.nan
    model.fit(X, y)
    np.testing.assert_allclose(reloaded(model).predict(X)[:, 0], model.predict(X), atol=1e-12)


def test_many_rows_are_predicted_in_blocks(rng, monkeypatch):
    X = rng.normal(size=(100, 3))
    model = reloaded(RandomForestRegressor(3, random_state=0).fit(X, X))
    together = model.predict(X)
    monkeypatch.setattr(saved_trees, "MAX_CELLS_AT_ONCE", 21)
    np.testing.assert_array_equal(model.predict(X), together)
    assert model.predict(X[:0]).shape == (0, 3)


@pytest.mark.parametrize("model", [LogisticRegression(), RandomForestClassifier(5), MLPClassifier((4,), max_iter=5)])
def test_sparse_rows(rng, model):
    X = sp.random_array((80, 30), density=0.1, random_state=0, format="csr")
    model.fit(X, rng.integers(3, size=80))
    np.testing.assert_allclose(reloaded(model).predict(X), model.predict_proba(X), atol=1e-12)


def test_means_over_labels(rng):
    rows, targets = np.eye(4)[rng.integers(4, size=50)], rng.normal(size=(50, 2))
    model = LabelMeans().fit(rows, targets)
    np.testing.assert_allclose(reloaded(model).predict(rows), model.predict(rows), atol=1e-15)


def test_a_forest_of_one_class():
    X = np.arange(10.0)[:, None]
    model = RandomForestClassifier(2, random_state=0).fit(X, np.ones(10, dtype=int))
    assert reloaded(model).predict(X).tolist() == [[1.0]] * 10


def test_equal_leaves_are_kept_once(rng):
    X = rng.normal(size=(1000, 3))
    (step,) = read_fitted_model(RandomForestClassifier(20, random_state=0).fit(X, rng.integers(2, size=1000))).steps
    assert len(step.values) == 2 < 1000 < len(step.leaf)
    assert step.threshold.dtype == np.float32


# --- what cannot be saved


class OwnRidge(Ridge):
    """A model that predicts otherwise than the class that it is derived from."""

    def predict(self, X):
        return super().predict(X) ** 2


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (KNeighborsRegressor(), "not among"),
        (OwnRidge(), "not among"),
        (make_pipeline(MinMaxScaler(), Ridge()), "StandardScaler"),
        (make_pipeline(StandardScaler(), KNeighborsRegressor()), "not among"),
        (GradientBoostingRegressor(n_estimators=2, init=Ridge()), "init"),
        (HistGradientBoostingRegressor(loss="poisson", max_iter=3), "does not predict"),
        (HistGradientBoostingRegressor(categorical_features=[0], max_iter=3, min_samples_leaf=2), "categorical"),
    ],
)
def test_other_models_are_refused_with_the_reason(rng, model, reason):
    X = np.column_stack([np.repeat(np.arange(4.0), 10), rng.normal(size=40)])
    with pytest.raises(TypeError, match=reason):
        read_fitted_model(model.fit(X, rng.random(40) + (X[:, 0] % 2)))


def test_a_model_that_answers_otherwise_is_not_saved(rng, monkeypatch):
    model = Ridge().fit(rng.normal(size=(20, 2)), rng.normal(size=20))
    monkeypatch.setattr(Ridge, "predict", lambda self, X: X @ self.coef_)
    with pytest.raises(TypeError, match="does not predict"):
        read_fitted_model(model)


# --- files


def class_pairs(rng, n=300):
    X = rng.normal(size=(n, 3))
    index = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n)
    return X, np.array(["low", "middle", "high"])[np.digitize(index, [0, 1.5])]


def vector_pairs(rng, n=300):
    X = rng.normal(size=(n, 3))
    return X, np.column_stack([X[:, 0] + rng.normal(size=n), X[:, 1] ** 2 + rng.normal(size=n)])


FITS = {
    "logistic": (class_pairs, {"x_regressor": LogisticRegression()}),
    "forest": (class_pairs, {"x_regressor": RandomForestClassifier(5, random_state=0)}),
    "mlp": (class_pairs, {"x_regressor": MLPClassifier((20,), solver="lbfgs", random_state=0)}),
    "learns from y": (lambda rng: class_pairs(rng)[::-1], {"y_regressor": LogisticRegression()}),
    "both sides": (vector_pairs, {"x_regressor": RandomForestRegressor(5, random_state=0), "y_regressor": Ridge()}),
    "number": (lambda rng: (lambda X, Y: (X, Y[:, 0]))(*vector_pairs(rng)), {"x_regressor": Ridge()}),
    "boosting": (vector_pairs, {"x_regressor": GradientBoostingRegressor(n_estimators=3, random_state=0)}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FITS)
def test_a_loaded_decomposition_answers_as_before(rng, tmp_path, name):
    make, options = FITS[name]
    X, Y = make(rng)
    d = co.ACE(2, **options).fit(X, Y).decomposition_
    d.save(tmp_path / "model.safetensors")
    again = co.load(tmp_path / "model.safetensors")
    np.testing.assert_allclose(again.f(X), d.f(X), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(again.g(Y), d.g(Y), rtol=1e-10, atol=1e-10)
    again.truncate(1).save(tmp_path / "first.safetensors")
    np.testing.assert_allclose(co.load(tmp_path / "first.safetensors").f(X)[:, 0], d.f(X)[:, 0], atol=1e-10)
    again.save(tmp_path / "again.safetensors")
    before, after = (load_file(tmp_path / f"{file}.safetensors") for file in ("model", "again"))
    assert {key: a.tobytes() for key, a in before.items()} == {key: a.tobytes() for key, a in after.items()}


def draw_texts(y):
    return [f"some words on {label} and number {i % 7}" for i, label in enumerate(y)]


@pytest.mark.parametrize(
    "values",
    [
        lambda X, y: sp.csr_array(np.abs(X)),
        lambda X, y: np.repeat(X, 4, axis=1).reshape(-1, 1, 3, 4),
        lambda X, y: draw_texts(y),
        lambda X, y: pd.DataFrame({"number": X[:, 0], "label": np.where(X[:, 1] > 0, "yes", "no")}),
    ],
    ids=["sparse", "images", "texts", "frame"],
)
def test_every_kind_of_data(rng, tmp_path, values):
    X, y = class_pairs(rng)
    x = values(X, y)
    d = co.ACE(1, x_regressor=LogisticRegression()).fit(x, y).decomposition_
    d.save(tmp_path / "model.safetensors")
    np.testing.assert_allclose(co.load(tmp_path / "model.safetensors").f(x), d.f(x), atol=1e-9)


def test_a_file_without_scikit_learns_models(rng, tmp_path, monkeypatch):
    """A release of scikit-learn that has other models reads the same file."""
    X, y = class_pairs(rng)
    d = co.ACE(2, x_regressor=RandomForestClassifier(5, random_state=0)).fit(X, y).decomposition_
    expected = d.f(X)
    d.save(tmp_path / "model.safetensors")
    monkeypatch.delattr(ForestClassifier, "predict_proba")
    monkeypatch.setattr(model_readers, "READERS", {})
    np.testing.assert_allclose(co.load(tmp_path / "model.safetensors").f(X), expected, atol=1e-10)


def test_regressors_of_other_kinds_get_one_sentence(rng, tmp_path):
    est = co.ACE(1, x_regressor=KNeighborsRegressor()).fit(*vector_pairs(rng))
    with pytest.raises(TypeError, match=r"regressors of X, such as KNeighborsRegressor\(\), cannot be saved"):
        est.decomposition_.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def saved_parts(rng, tmp_path, model):
    est = co.ACE(2, x_regressor=model).fit(*class_pairs(rng))
    est.decomposition_.save(tmp_path / "model.safetensors")
    arrays = load_file(tmp_path / "model.safetensors")
    return files.decode_json(arrays.pop("description")), arrays


def model_of(description):
    return description["f"]["features"]["models"][0]["model"]


@pytest.mark.slow
def test_any_change_of_sizes_or_positions_is_found(rng, tmp_path):
    """Each array of a model in turn is cut, and positions lead nowhere; nothing is built from that."""
    for model in (
        RandomForestClassifier(3, random_state=0),
        LogisticRegression(),
        MLPClassifier((20,), solver="lbfgs"),
    ):
        description, arrays = saved_parts(rng, tmp_path, model)
        names = [name for name in arrays if name.startswith("f.features.0.")]
        assert len(names) >= 3
        changed = [arrays | {name: arrays[name][:-1]} for name in names]
        whole = [n for n in names if arrays[n].dtype.kind in "iu" and not n.endswith("missing_left")]
        changed += [arrays | {n: arrays[n] + arrays[n].dtype.type(999)} for n in whole]
        changed += [arrays | {n: np.full_like(arrays[n], np.nan)} for n in names if arrays[n].dtype.kind == "f"]
        changed += [{key: array for key, array in arrays.items() if key != name} for name in names]
        for parts in changed:
            assert_damaged(tmp_path, description, parts)


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model["steps"][0].update(n_features=2),
        lambda model: model["steps"][0].update(n_outputs=2),
        lambda model: model["steps"][0].update(n_trees=2),
        lambda model: model["steps"][0].update(kind="other"),
        lambda model: model.update(activation="eval"),
        lambda model: model.update(steps=[]),
        lambda model: model["steps"].append(model["steps"][0]),
    ],
)
def test_a_description_that_does_not_fit_is_refused(rng, tmp_path, change):
    description, arrays = saved_parts(rng, tmp_path, RandomForestClassifier(3, random_state=0))
    change(model_of(description))
    assert_damaged(tmp_path, description, arrays)


def assert_damaged(tmp_path, description, arrays):
    path = tmp_path / "changed.safetensors"
    files.write_safetensors(path, arrays, description, decomposition.FILE_FORMAT, decomposition.FILE_FORMAT_VERSION)
    with pytest.raises(ValueError, match="damaged"):
        co.load(path)


# --- what uses them


@pytest.mark.slow
@pytest.mark.parametrize("name", ["logistic", "forest", "mlp", "learns from y"])
def test_words_pictures_pages_and_searches_of_loaded_models(rng, tmp_path, name):
    """A loaded model does all that the fitted one does, with the same result."""
    make, options = FITS[name]
    X, Y = make(rng)
    X, Y = (pd.DataFrame(v, columns=list("pqr")) if v.ndim == 2 else v for v in (X, Y))
    d = co.ACE(2, **options).fit(X, Y).decomposition_
    d.save(tmp_path / "model.safetensors")
    again = co.load(tmp_path / "model.safetensors")
    words = [write_sentences(each, find_axis_words(each, X, Y), None, ("x", "y")) for each in (d, again)]
    assert words[0] == words[1]
    assert "low" in words[0][1]  # the class, or the low end of a column
    given = {"X": X} if name != "learns from y" else {"Y": Y}
    shown = [co.plot.plane(each, **given) for each in (d, again)]
    texts = [sorted(text.get_text() for text in ax.texts) for ax in shown]
    assert texts[0] == texts[1]
    assert {"low", "middle", "high"} <= set(texts[0])
    pages = [co.explore(each, X, Y).html for each in (d, again)]
    assert "middle" in pages[1]
    items = [f"item {i}" for i in range(20)]
    found = [co.CrossModalIndex(each, items, Y[:20]).tags(X[:5], k=2).labels for each in (d, again)]
    np.testing.assert_array_equal(*found)
    plt.close("all")
