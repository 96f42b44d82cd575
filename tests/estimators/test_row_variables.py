"""Supplementary variables of the rows: numbers and categories, against counts."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from test_ca import oracle

import correspondence as co

DATA = oracle("children_supvars_data")
COUNTS = DATA.iloc[:, :5]
CA = co.CA().fit(COUNTS)


def check_up_to_sign(found, expected, sign):
    np.testing.assert_allclose(found * sign, expected, rtol=1e-10, atol=1e-12)


def find_signs(points, expected):
    return np.sign((points * expected).sum(axis=0))


# --- reference values computed with R


def test_numbers_and_categories_are_those_of_factominer():
    numbers, categories = CA.supplementary(numbers=DATA[["score"]], categories=DATA[["theme", "half"]])
    quanti, quali = oracle("children_CA_supvars_quantisup"), oracle("children_CA_supvars_qualisup")
    axes = [f"coord.{i}" for i in range(1, 5)]
    assert numbers.labels.tolist() == quanti.index.tolist()
    assert [label.replace(":", ".") for label in categories.labels] == quali.index.tolist()
    sign = find_signs(categories.principal, quali[axes].to_numpy())
    check_up_to_sign(categories.principal, quali[axes], sign)
    check_up_to_sign(numbers.correlations, quanti[axes], sign)
    squares = [f"cos2.{i}" for i in range(1, 5)]
    np.testing.assert_allclose(numbers.cos2, quanti[squares], rtol=1e-9)
    np.testing.assert_allclose(categories.cos2, quali[squares], rtol=1e-9)
    assert np.isnan(categories.mass).all()


# --- rows found by name or position


@pytest.mark.parametrize(
    "kind",
    [
        lambda frame: frame[["score"]],
        lambda frame: frame[["score"]].sample(frac=1, random_state=0),
        lambda frame: frame["score"],
        lambda frame: frame["score"].to_numpy(),
        lambda frame: frame["score"].tolist(),
        lambda frame: frame[["score"]].to_numpy(),
        lambda frame: pl.DataFrame({"reason": frame.index.to_list()[::-1], "score": frame["score"].to_numpy()[::-1]}),
        lambda frame: pl.DataFrame({"score": frame["score"].to_numpy()}),
        lambda frame: pl.Series("score", frame["score"].to_numpy()),
        lambda frame: frame[["score"]].reset_index(drop=True),
    ],
)
def test_numbers_of_any_kind(kind):
    expected = CA.supplementary(numbers=DATA[["score"]]).correlations
    np.testing.assert_allclose(CA.supplementary(numbers=kind(DATA)).correlations, expected)


def test_categories_of_any_kind():
    expected = CA.supplementary(categories=DATA[["theme"]])
    turned = pl.DataFrame({"reason": DATA.index.to_list()[::-1], "theme": DATA["theme"].to_list()[::-1]})
    for given in (DATA["theme"], turned, pl.DataFrame({"theme": DATA["theme"].to_list()})):
        found = CA.supplementary(categories=given)
        assert found.labels.tolist() == expected.labels.tolist() == ["theme:x", "theme:y", "theme:z"]
        np.testing.assert_allclose(found.principal, expected.principal)
    assert CA.supplementary(categories=DATA["theme"].tolist()).labels.tolist() == ["x", "y", "z"]


def test_measurements_equal_to_labels_are_measurements():
    counts = np.array([[20, 5, 1], [8, 9, 7], [2, 6, 21]])
    ca = co.CA(1).fit(counts)  # rows 0, 1, 2
    ranks = pl.DataFrame({"rank": [2, 0, 1], "size": [1.5, 2.0, 4.0]})
    found = ca.supplementary(numbers=ranks)
    assert found.labels.tolist() == ["rank", "size"]
    np.testing.assert_allclose(found.correlations[0], ca.supplementary(numbers=[2, 0, 1]).correlations[0])


def test_pairs_of_labels_have_variables_too():
    x = np.repeat(["a", "b", "c"], [20, 30, 10])
    y = np.tile(["u", "v", "v", "u", "v"], 12)
    y[:20] = "u"
    age = pd.Series({"c": 3.0, "a": 1.0, "b": 2.5}, name="age")
    ca = co.CA(1).fit(x, y)
    f, z = ca.transform(x)[:, 0], age[x].to_numpy()
    assert ca.supplementary(numbers=age).correlations[0, 0] == pytest.approx(np.corrcoef(f, z)[0, 1])


def test_weights_count():
    weights = np.arange(1, 15.0)
    ca = co.CA(2).fit(COUNTS, row_weights=weights)
    by_hand = co.CA(2).fit(COUNTS.mul(weights, axis=0))
    both = {"numbers": DATA[["score"]], "categories": DATA[["theme"]]}
    for found, expected in zip(ca.supplementary(**both), by_hand.supplementary(**both), strict=True):
        name = "correlations" if isinstance(found, co.SupplementaryNumbers) else "principal"
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name))


def test_a_category_lies_at_the_mean_of_its_rows():
    theme = DATA["theme"].to_numpy()
    found = CA.supplementary(categories=theme)
    for label, place in zip(found.labels, found.principal, strict=True):
        own = theme == label
        mean = np.average(CA.rows_.principal[own], axis=0, weights=CA.rows_.mass[own])
        np.testing.assert_allclose(place, mean, atol=1e-12)


# --- missing and constant values


def test_missing_values_are_left_out_and_counted():
    score = DATA["score"].astype(float).copy()
    score.iloc[[0, 5]] = np.nan
    with pytest.warns(co.LeftOut, match=r"numbers.*score \(2\)"):
        found = CA.supplementary(numbers=score).correlations[0]
    known = score.notna().to_numpy()
    weights, f = CA.rows_.mass[known], CA.rows_.standard[known, 0]
    covariance = np.cov(np.vstack([score[known], f]), aweights=weights)
    assert found[0] == pytest.approx(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))
    with pytest.warns(co.LeftOut, match=r"categories.*theme \(1\)"):
        placed = CA.supplementary(categories=pl.DataFrame({"theme": [None, *DATA["theme"].to_list()[1:]]}))
    assert placed.labels.tolist() == ["theme:x", "theme:y", "theme:z"]


def test_a_constant_has_no_correlation():
    with pytest.warns(co.LeftOut, match="variation.*one"):
        found = CA.supplementary(numbers=pd.DataFrame({"one": 1.1, "score": DATA["score"]}))
    assert np.isnan(found.correlations).all(axis=1).tolist() == [True, False]


def test_scale_does_not_matter():
    expected = CA.supplementary(numbers=DATA["score"]).correlations
    for factor in (1e-300, 1e300, -1.0):
        found = CA.supplementary(numbers=DATA["score"] * factor + factor).correlations
        np.testing.assert_allclose(found, np.sign(factor) * expected, atol=1e-12)


# --- counts against measurements


def test_fractions_among_counts_are_said():
    ages = pd.DataFrame({"age": DATA["score"] + 0.25, "count": DATA["score"]})
    with pytest.warns(co.CorrespondenceWarning, match="columns.*'age'.*numbers=") as caught:
        CA.supplementary(columns=ages)
    assert "'count'" not in str(caught[0].message)
    with pytest.warns(co.CorrespondenceWarning, match="rows.*fractions"):
        CA.supplementary(rows=[[1.5, 2, 3, 4, 5]])


def test_shares_and_tables_of_fractions_are_no_measurements():
    column = COUNTS.iloc[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shares, percent = (CA.supplementary(columns=(column / column.sum() * k).to_frame()) for k in (1, 100))
        np.testing.assert_allclose(shares.principal, percent.principal)
        rounded = CA.supplementary(rows=[[20.3, 33.7, 20.2, 17.9, 7.8]])
        assert np.isfinite(rounded.principal).all()
        co.CA(2).fit(COUNTS / 7).supplementary(columns=COUNTS / 3)


def test_negative_numbers_are_refused_with_advice():
    with pytest.raises(ValueError, match=r"columns must .*-1.*numbers="):
        CA.supplementary(columns=DATA[["score"]] - 2)


# --- mistakes


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"numbers": DATA[["theme"]]}, "numbers must .*'theme'.*categories"),
        ({"numbers": [1, 2, 3]}, "numbers must .*14 rows.*3"),
        ({"numbers": DATA[["score"]].iloc[1:]}, "numbers must .*lacks money"),
        ({"numbers": pd.concat([DATA[["score"]]] * 2)}, "numbers must .*more than once"),
        ({"numbers": pd.DataFrame({"s": range(15)}, index=[*DATA.index, "x"])}, "numbers must .*also x"),
        ({"numbers": np.full(14, np.inf)}, "numbers must .*infinity"),
        ({"numbers": np.zeros((14, 2, 2))}, "numbers must .*shape"),
        ({"numbers": DATA[[]]}, "numbers must .*column"),
        ({"categories": ["a"]}, "categories must .*14 rows.*1"),
        ({}, "numbers or categories must"),
    ],
)
def test_mistakes_get_one_sentence(given, message):
    with pytest.raises(ValueError, match=message):
        CA.supplementary(**given)


def test_as_a_frame():
    found = CA.supplementary(numbers=DATA[["score"]])
    frame = found.to_frame("pandas")
    assert frame.columns.tolist() == [
        f"{kind}_{i}" if i else "label"
        for kind in ("correlation", "cos2")
        for i in range(0 if kind == "correlation" else 1, 5)
    ]
    assert frame["label"].tolist() == ["score"]
    assert repr(found).splitlines()[1].split()[0] == "score"
    assert len(found) == 1
