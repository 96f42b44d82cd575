"""Loadings: correlations of columns with the functions."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import correspondence as co
from correspondence.describe.structure import align_with_functions

MISSING = "(missing)"


def make_tables(rng, n=400):
    size, kind = rng.normal(size=n), rng.choice(["oak", "pine"], n)
    X = pd.DataFrame({"size": size, "noise": rng.normal(size=n), "kind": kind})
    Y = pd.DataFrame({"price": size + (kind == "oak") + 0.5 * rng.normal(size=n), "place": rng.choice(list("abc"), n)})
    return X, Y


def row(found, column, category=None):
    return list(zip(found.columns, found.categories, strict=True)).index((column, category))


@pytest.mark.parametrize(
    "est", [co.CCA(2), co.ACE(2), co.KernelCCA(2), pytest.param(co.PICE(2, max_steps=50), marks=pytest.mark.slow)]
)
def test_correlations_are_those_of_columns_and_functions(rng, est):
    X, Y = make_tables(rng)
    est.fit(X, Y)
    found = co.structure(est, X, Y)
    F, G = est.transform(X, Y)
    i, j = row(found, "size"), row(found, "price")
    np.testing.assert_allclose(found.correlations[i], np.corrcoef(X["size"], F, rowvar=False)[0, 1:])
    np.testing.assert_allclose(found.correlations[j], np.corrcoef(Y["price"], G, rowvar=False)[0, 1:])
    np.testing.assert_allclose(
        found.figures.cross_correlations[i], np.corrcoef(X["size"], G, rowvar=False)[0, 1:], atol=1e-12
    )
    oak = row(found, "kind", "oak")
    np.testing.assert_allclose(found.means[oak], F[X["kind"] == "oak"].mean(axis=0), atol=1e-12)
    assert found.n[oak] == (X["kind"] == "oak").sum()
    assert np.isnan(found.means[i]).all()


def test_the_frame_has_one_row_for_each_column_and_category(rng):
    X, Y = make_tables(rng)
    frame = co.structure(co.ACE(2).fit(X, Y), X, Y).to_frame("polars")
    assert frame["column"].to_list() == ["size", "noise", *["kind"] * 3, "price", *["place"] * 4]
    assert frame["category"].to_list() == [None, None, None, "oak", "pine", None, None, "a", "b", "c"]
    assert frame["side"].to_list() == ["x"] * 5 + ["y"] * 5
    assert {"kind", "n", "correlation_1", "explained_2", "cross_1", "mean_2"} <= set(frame.columns)
    assert not any(name.startswith("held_out") for name in frame.columns)


def test_a_decomposition_and_polars_say_the_same(rng):
    X, Y = make_tables(rng)
    est = co.ACE(2).fit(X, Y)
    one, other = co.structure(est, X, Y), co.structure(est.decomposition_, pl.from_pandas(X), pl.from_pandas(Y))
    np.testing.assert_allclose(one.correlations, other.correlations)
    assert one.columns == other.columns


def test_held_out_pairs_are_beside(rng):
    X, Y = make_tables(rng)
    est = co.ACE(2).fit(X[:200], Y[:200])
    found = co.structure(est, X[:200], Y[:200], held_out=(X[200:], Y[200:]))
    alone = co.structure(est, X[200:], Y[200:])
    is_straight = [
        kind == "number" or category is not None for kind, category in zip(found.kinds, found.categories, strict=True)
    ]
    np.testing.assert_allclose(found.held_out.correlations[is_straight], alone.correlations[is_straight])
    assert (found.held_out.explained <= alone.explained + 1e-12).all()  # less what labels and bins explain by chance
    assert "held_out_correlation_1" in found.to_frame("polars").columns
    assert "held out" in repr(found)


def test_a_category_that_is_not_held_out_is_empty_there(rng):
    X, Y = make_tables(rng)
    est = co.ACE(1).fit(X, Y)
    rest = X["kind"] == "oak"
    found = co.structure(est, X, Y, held_out=(X[rest], Y[rest]))
    pine = row(found, "kind", "pine")
    assert found.held_out.n[pine] == 0
    assert np.isnan(found.held_out.means[pine]).all()


@pytest.mark.slow
def test_a_crossfit_gives_out_of_fold_figures(rng):
    X, Y = make_tables(rng)
    est, fold = co.ACE(2).fit(X, Y), co.crossfit(co.ACE(1), X, Y)
    found = co.structure(est, X, Y, held_out=fold)
    i = row(found, "size")
    r = np.corrcoef(X["size"], fold.F[:, 0])[0, 1]
    assert abs(found.held_out.correlations[i, 0]) == pytest.approx(abs(r))
    assert found.held_out.correlations[i, 0] * found.correlations[i, 0] > 0  # the signs are those of the fit
    assert np.isnan(found.held_out.correlations[i, 1])  # the crossfit has one component


def test_missing_values(rng):
    X, Y = make_tables(rng)
    X.loc[:50, "size"], X.loc[100:150, "kind"] = np.nan, None
    est = co.ACE(2).fit(X, Y)
    found = co.structure(est, X, Y)
    F, known = est.transform(X), X["size"].notna()
    i = row(found, "size")
    assert found.n[i] == known.sum()
    np.testing.assert_allclose(found.correlations[i], np.corrcoef(X["size"][known], F[known], rowvar=False)[0, 1:])
    gone = row(found, "kind", MISSING)
    np.testing.assert_allclose(found.means[gone], F[100:151].mean(axis=0), atol=1e-12)


def test_texts_have_words(rng):
    words = rng.choice(["soy", "basil"], 300)
    texts = [f"{word} and salt w{i}" for i, word in enumerate(words)]
    y = (words == "soy") + 0.3 * rng.normal(size=300)
    est = co.CCA(1).fit(texts, y)
    found = co.structure(est, texts, y, names=("recipe", "rating"))
    soy = row(found, "recipe", "soy")
    np.testing.assert_allclose(found.means[soy], est.transform(texts)[words == "soy"].mean(axis=0))
    assert abs(found.correlations[soy, 0]) > 0.9
    assert row(found, "rating") >= 0


def test_a_correspondence_analysis_has_its_labels():
    ca = co.CA().fit(co.datasets.load_smoke())
    found = co.structure(ca, names=("staff", "smoking"))
    place = row(found, "staff", "SE")
    np.testing.assert_allclose(found.means[place], ca.rows_.standard[2])
    assert found.n[place] == 51
    np.testing.assert_allclose(found.explained[row(found, "smoking")], 1)


def test_y_that_the_fit_keeps_is_not_paired_with_new_rows(rng):
    X, Y = make_tables(rng)
    est = co.CCA(1).fit(X, Y["price"])
    found = co.structure(est, X[::-1].reset_index(drop=True))
    assert "price" in found.columns or "y" in found.columns
    assert np.isnan(found.figures.cross_correlations).all()


def test_wrong_arguments(rng):
    X, Y = make_tables(rng)
    est = co.CCA(1).fit(X, Y)
    with pytest.raises(TypeError, match="est must"):
        co.structure(co.CCA(1), X, Y)
    with pytest.raises(ValueError, match="held_out must"):
        co.structure(est, X, Y, held_out=X)
    with pytest.raises(ValueError, match="held_out must"):
        co.structure(est, X[:50], Y[:50], held_out=co.crossfit(co.CCA(1), X, Y))
    with pytest.raises(ValueError, match="names must"):
        co.structure(est, X, Y, names="x")


@pytest.mark.parametrize("est", [co.CCA(1), co.ACE(1)])
def test_a_loaded_model_has_the_kinds_of_its_fit(rng, est, tmp_path):
    """Of a few rows, every column would be taken for something else."""
    n = 300
    X = pd.DataFrame(
        {
            "day": (pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D")).strftime("%d/%m/%Y"),
            "grade": rng.integers(1, 5, n),
            "price": [f"{v:.3f}".replace(".", ",") for v in rng.normal(size=n)],
            "flag": rng.random(n) < 0.5,
        }
    )
    y = X["grade"] + rng.normal(size=n)
    est.fit(X, y).decomposition_.save(tmp_path / "model.safetensors")
    loaded = co.load(tmp_path / "model.safetensors")
    few = X[X["day"].str[:2].astype(int) < 13][:12], y[X["day"].str[:2].astype(int) < 13][:12]
    ours, theirs = co.structure(est, *few), co.structure(loaded, *few)
    assert ours.kinds == theirs.kinds
    assert "date" in theirs.kinds
    np.testing.assert_allclose(ours.figures.correlations, theirs.figures.correlations)


def test_models_without_kinds_take_them_from_their_encoders(rng, tmp_path):
    from correspondence.data.encoders.columns import Columns

    X = pd.DataFrame({"grade": rng.integers(1, 5, 300), "size": rng.normal(size=300), "on": rng.random(300) < 0.5})
    state = Columns.fit(X, "X").state().description
    del state["kinds"]
    kinds = Columns.from_state(state, {}).kinds
    assert {key: kind.kind for key, kind in kinds.items()} == {"grade": "label", "size": "number", "on": "label"}


def test_labels_of_ca_are_labels_whatever_they_look_like(rng, tmp_path):
    x, y = rng.integers(0, 40, 500), rng.choice(list("ab"), 500)
    ca = co.CA(1).fit(x, y)
    ca.decomposition_.save(tmp_path / "model.safetensors")
    for d in (ca, co.load(tmp_path / "model.safetensors")):
        assert set(co.structure(d, x, y).kinds) == {"label"}


def test_many_labels_explain_nothing_of_held_out_pairs_by_chance(rng):
    X = pd.DataFrame({"size": rng.normal(size=600), "name": rng.choice([f"n{i}" for i in range(60)], 600)})
    y = X["size"].to_numpy() + rng.normal(size=600)
    est = co.CCA(n_components=1)
    found = co.structure(est.fit(X, y), X, y, held_out=co.crossfit(co.CCA(n_components=1), X, y, progress=False))
    at = next(i for i, name in enumerate(found.columns) if name == "name" and found.categories[i] is None)
    assert found.held_out.explained[at, 0] < 0.05 < found.explained[at, 0]
    at = found.columns.index("size")
    assert found.held_out.explained[at, 0] > 0.5


def test_out_of_fold_functions_have_the_order_and_signs_of_the_fit(rng):
    own = rng.normal(size=(200, 3))
    folds = np.column_stack([own[:, 1], -own[:, 0], rng.normal(size=200), own[:, 2]]) + 0.1 * rng.normal(size=(200, 4))
    folds[:50] = np.nan
    aligned = align_with_functions(folds, own)
    np.testing.assert_array_equal(aligned[50:], folds[50:, [1, 0, 3]] * [-1, 1, 1])
    assert np.isnan(aligned[:50]).all()
    assert align_with_functions(folds[:, :2], own).shape == (200, 2)
