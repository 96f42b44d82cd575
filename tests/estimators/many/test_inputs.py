"""What analyses of many columns do with bad and unusual input: one clear sentence, or the right thing."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import correspondence as co

ESTIMATORS = [cls for cls in (co.MCA, getattr(co, "MixedCA", None)) if cls is not None]
"""All estimators of many columns; every test with `cls` runs on each."""


def survey(n=200, seed=0):
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)

    def ask(answers):
        return np.array(answers, dtype=object)[
            np.digitize(hidden + rng.normal(size=n), np.linspace(-1, 1, len(answers) - 1))
        ]

    return pd.DataFrame(
        {"drink": ask(["tea", "coffee"]), "size": ask(["large", "small", "medium"]), "place": ask(list("wxyz"))}
    )


@pytest.fixture(params=ESTIMATORS, ids=lambda cls: cls.__name__)
def cls(request):
    return request.param


# --- tables


def test_one_column(cls):
    with pytest.raises(ValueError, match="X must have at least two"):
        cls().fit(survey()[["drink"]])


@pytest.mark.parametrize("value", ["same", None])
def test_a_column_with_one_answer_is_left_out(cls, value):
    frame = survey().assign(constant=pd.Series([value] * 200, dtype=object))
    with pytest.warns(co.LeftOut, match="constant"):
        est = cls(2).fit(frame)
    np.testing.assert_allclose(est.pics_, cls(2).fit(survey()).pics_, rtol=1e-12)


def test_all_missing(cls):
    frame = survey().astype(object)
    frame.iloc[:, :] = None
    with pytest.warns(co.LeftOut, match="drink"), pytest.raises(ValueError, match="X must have"):
        cls().fit(frame)


def test_a_category_that_occurs_once(cls):
    frame = survey()
    frame.loc[17, "drink"] = "cocoa"
    est = cls().fit(frame)
    assert "drink:cocoa" in est.columns_.labels.tolist()
    assert np.isfinite(est.columns_.principal).all()
    assert np.isfinite(est.rows_.principal).all()


def test_ordered_categoricals_keep_their_order(cls):
    frame = survey().astype({"size": pd.CategoricalDtype(["small", "medium", "large", "huge"], ordered=True)})
    est = cls(2).fit(frame)
    assert [label for label in est.columns_.labels if "size" in label] == ["size:small", "size:medium", "size:large"]
    free = {"ordered": None} if cls is co.MCA else {}
    np.testing.assert_allclose(cls(2, **free).fit(frame).pics_, cls(2).fit(survey()).pics_, rtol=1e-12)


def test_booleans(cls):
    frame = survey()
    as_text = frame.assign(drink=np.where(frame["drink"] == "tea", "True", "False"))
    truth = frame.assign(drink=frame["drink"] == "tea")
    np.testing.assert_allclose(cls(2).fit(truth).pics_, cls(2).fit(as_text).pics_, rtol=1e-12)


def test_duplicate_names(cls):
    frame = survey()
    with pytest.raises(ValueError, match="drink"):
        cls().fit(frame[["drink", "drink", "size"]])


def test_ten_thousand_categories():
    rng = np.random.default_rng(0)
    frame = survey(12_000).assign(account=rng.permutation(12_000) % 10_000)
    with pytest.warns(co.LeftOut, match="account"):
        co.MCA(1).fit(frame)
    with pytest.warns(co.LeftOut, match="account"):
        mca = co.MCA(1).fit(frame.assign(account=np.arange(12_000)))
    assert mca.variables_.tolist() == ["drink", "size", "place"]


def test_numbers_with_many_values_are_hinted_at():
    rng = np.random.default_rng(0)
    frame = survey(300).assign(age=rng.normal(40, 10, 300).round(1))
    with pytest.warns(co.LeftOut, match=r"MixedCA.*age"):
        co.MCA(2).fit(frame)
    with pytest.warns(co.LeftOut, match=r"age.*MixedCA"):
        mca = co.MCA(2).fit(frame.assign(age=frame["age"].round()))
    assert "age" in mca.variables_.tolist()


@pytest.mark.parametrize("frame", [pd.DataFrame(), survey()[:0], np.empty((0, 3)), pl.DataFrame({"a": [], "b": []})])
def test_empty_tables(cls, frame):
    with pytest.raises(ValueError, match="X is empty"):
        cls().fit(frame)


def test_no_table(cls):
    with pytest.raises(ValueError, match="X"):
        cls().fit(np.array(["a", "b"]))
    with pytest.raises((TypeError, ValueError), match="X"):
        cls().fit(None)


def test_arrays_of_mixed_types_equal_frames(cls):
    frame = survey().assign(flag=np.arange(200) % 2 == 0)
    frame["level"] = [1, "1", 2.5, "b"] * 50  # a number and its text are two answers
    est = cls(2).fit(frame.to_numpy(dtype=object))
    np.testing.assert_allclose(est.pics_, cls(2).fit(frame).pics_, rtol=1e-12)
    assert len([label for label in est.columns_.labels if label.startswith("4:")]) == 4


def test_unhashable_answers():
    frame = survey()
    frame["members"] = pd.Series([["a"], ["b", "c"]] * 100, dtype=object)
    with pytest.raises((TypeError, ValueError), match="members"):
        co.MCA().fit(frame)


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.NaT], ids=str)
def test_all_kinds_of_missing_answers_are_one(cls, gap):
    frame, expected = survey().astype(object), survey().astype(object)
    frame.loc[:9, "drink"] = pd.Series([gap] * 10, dtype=object)
    expected.loc[:9, "drink"] = None
    est = cls(2).fit(frame)
    assert "drink:(missing)" in est.columns_.labels.tolist()
    np.testing.assert_allclose(est.pics_, cls(2).fit(pl.DataFrame(expected.to_dict("list"))).pics_, rtol=1e-12)


def test_categories_that_do_not_occur(cls):
    frame = survey().astype({"drink": pd.CategoricalDtype(["water", "tea", "coffee"])})
    assert "drink:water" not in cls().fit(frame).columns_.labels.tolist()


# --- weights and names


def test_weights(cls):
    frame, rng = survey(), np.random.default_rng(0)
    weights = rng.integers(0, 3, 200)
    weighted = cls(2).fit(frame, sample_weight=weights)
    repeated = cls(2).fit(frame.loc[np.repeat(np.arange(200), weights)].reset_index(drop=True))
    np.testing.assert_allclose(weighted.pics_, repeated.pics_, rtol=1e-10)
    np.testing.assert_allclose(weighted.transform(frame), repeated.transform(frame), atol=1e-9)
    np.testing.assert_allclose(weighted.columns_.mass, repeated.columns_.mass, rtol=1e-10)
    assert np.isfinite(weighted.rows_.principal).all()  # rows of weight 0 have a place


@pytest.mark.parametrize(
    "weights",
    [np.zeros(200), -np.ones(200), np.ones(199), np.full(200, np.nan), ["a"] * 200, 1.0],
    ids=lambda w: str(w)[:9],
)
def test_bad_weights(cls, weights):
    with pytest.raises((TypeError, ValueError), match="sample_weight"):
        cls().fit(survey(), sample_weight=weights)


def test_supplementary_columns(cls):
    frame = survey()
    with pytest.raises(ValueError, match=r"supplementary.*nothing"):
        cls().fit(frame, supplementary=["nothing"])
    with pytest.raises(ValueError, match="X must have at least two"):
        cls().fit(frame, supplementary=["drink", "size"])
    est = cls().fit(frame[["drink", "size"]])
    with pytest.raises(ValueError, match=r"columns.*active.*drink"):
        est.supplementary(columns=frame[["drink"]])
    with pytest.raises(ValueError, match="columns must have the 200 rows"):
        est.supplementary(columns=frame[["place"]][:10])
    with pytest.raises(ValueError, match="rows or columns"):
        est.supplementary()


def test_bad_supplementary_rows(cls):
    for rows in ([200], [-201], ["a"], [True, False], np.ones(200, bool), 0.5):
        with pytest.raises(ValueError, match="supplementary_rows"):
            cls().fit(survey(), supplementary_rows=rows)


def test_unknown_names_in_exclude():
    with pytest.raises(ValueError, match=r"exclude.*water"):
        co.MCA(exclude=["drink:water"]).fit(survey())


@pytest.mark.parametrize(
    "options", [{"n_components": 0}, {"n_components": 1.5}, {"correction": "no"}, {"min_share": 2}, {"missing": "no"}]
)
def test_bad_parameters(options):
    with pytest.raises((TypeError, ValueError), match=next(iter(options))):
        co.MCA(**options).fit(survey())


# --- new rows


def test_unknown_answers_of_new_rows(cls):
    frame, new = survey(), survey()[:5]
    new.loc[1, "size"] = "huge"
    with pytest.raises(ValueError, match=r"size.*huge"):
        cls(2).fit(frame).transform(new)
    scores = cls(2, handle_unknown="nan").fit(frame).transform(new)
    np.testing.assert_array_equal(np.isnan(scores).all(axis=1), [False, True, False, False, False])
    est = cls(2, handle_unknown="missing").fit(frame)
    new_missing = new.astype(object)
    new_missing.loc[1, "size"] = None
    np.testing.assert_array_equal(est.transform(new), est.transform(new_missing))
    assert np.isfinite(est.transform(new)).all()


def test_order_of_columns_does_not_matter(cls):
    frame = survey()
    est = cls(2).fit(frame)
    other = frame[["place", "drink", "size"]].assign(more=1)
    np.testing.assert_array_equal(est.transform(other), est.transform(frame))
    np.testing.assert_array_equal(est.transform(pl.from_pandas(other)), est.transform(frame))
    with pytest.raises(ValueError, match="place"):
        est.transform(frame[["drink", "size"]])


def test_a_failed_fit_leaves_everything_as_it_was(cls):
    est = cls(2).fit(survey())
    before = est.transform(survey())
    with pytest.raises(ValueError, match="X"):
        est.fit(survey()[:0])
    np.testing.assert_array_equal(est.transform(survey()), before)


# --- the contract


def test_contract(cls, tmp_path):
    frame = survey()
    est = cls(n_components=2)
    with pytest.raises(NotFittedError):
        est.transform(frame)
    assert est.fit(frame) is est
    assert est.get_params()["n_components"] == 2
    copy = clone(est)
    assert copy.get_params() == est.get_params()
    assert not hasattr(copy, "decomposition_")
    scores = est.transform(frame)
    np.testing.assert_array_equal(copy.fit_transform(frame), scores)
    np.testing.assert_allclose(scores.T @ scores / 200, np.eye(2), atol=1e-9)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(est)).transform(frame), scores)
    assert est.feature_names_in_.tolist() == ["drink", "size", "place"]
    assert est.n_features_in_ == 3
    est.decomposition_.save(tmp_path / "model")
    np.testing.assert_allclose(co.load(tmp_path / "model").f(frame), scores, atol=1e-12)


@pytest.mark.parametrize("handle_unknown", ["error", "nan", "missing"])
def test_saved_functions_equal_transform(cls, handle_unknown, tmp_path):
    frame = survey().astype(object)
    frame.iloc[3:9, 1] = None
    est = cls(2, handle_unknown=handle_unknown).fit(frame)
    est.decomposition_.save(tmp_path / "model")
    new = frame[:20].copy()
    if handle_unknown != "error":
        new.iloc[0, 0] = "cocoa"
    np.testing.assert_allclose(co.load(tmp_path / "model").f(new), est.transform(new), atol=1e-12)


def test_frames_out(cls):
    frame = survey().set_index(np.arange(5, 205))
    est = cls(2).fit(frame).set_output(transform="pandas")
    out = est.transform(frame)
    assert out.columns.tolist() == est.get_feature_names_out().tolist()
    assert out.index[0] == 5
    assert isinstance(est.set_output(transform="polars").transform(frame), pl.DataFrame)


def test_in_a_pipeline(cls):
    frame = survey(400)
    target = frame["drink"] == "tea"
    model = make_pipeline(cls(2), LogisticRegression()).fit(frame[["size", "place"]], target)
    assert model.score(frame[["size", "place"]], target) > 0.55


# --- scikit-learn's checks


class CoarseMCA(co.MCA):
    """MCA of numbers that are rounded first: those of scikit-learn's checks are nearly all different, like ids."""

    def fit(self, X, Y=None, **options):
        return super().fit(_coarsen(X), Y, **options)

    def transform(self, X):
        return super().transform(_coarsen(X))


def _coarsen(X):
    """Round the numbers of an array or a frame to at most three; leave anything else as it is."""
    values = np.asarray(X)
    if values.ndim != 2 or values.dtype.kind not in "iuf":
        return X
    rounded = np.floor(2 * values) % 3
    return pd.DataFrame(rounded, columns=X.columns, index=X.index) if isinstance(X, pd.DataFrame) else rounded


LABELS = "every value is an answer, of any hashable type"
NOT_FOR = {
    "CoarseMCA": {
        "check_complex_data": LABELS,
        "check_dtype_object": LABELS,
        "check_estimators_empty_data_messages": "the error says how many rows and columns there are, in other words",
        "check_fit2d_1sample": "the error speaks of rows, not of samples",
        "check_fit2d_1feature": "the error speaks of columns, not of features",
        "check_n_features_in_after_fitting": "the columns are checked, but the error names those that are missing",
    },
}


@parametrize_with_checks(
    [CoarseMCA(handle_unknown="missing")], expected_failed_checks=lambda est: NOT_FOR[type(est).__name__]
)
@pytest.mark.filterwarnings("ignore::correspondence.LeftOut", "ignore::correspondence.FewerComponents")
def test_scikit_learn(estimator, check):
    check(estimator)
