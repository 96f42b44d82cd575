"""Same numbers as other packages, where they do the same thing; and every call of docs/migration.md runs."""

import doctest
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import cross_decomposition, feature_selection
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV

import correspondence as co

PAGE = Path(__file__).parents[2] / "docs" / "migration.md"
EXACT = {"rtol": 1e-8, "atol": 1e-10}


def up_to_sign(actual, expected):
    actual, expected = np.asarray(actual), np.asarray(expected)
    np.testing.assert_allclose(actual * np.sign((actual * expected).sum(axis=0)), expected, **EXACT)


def table_of(name):
    """Table of counts with row labels, as pandas keeps it."""
    if name == "children":
        return co.datasets.load_children().table.to_frame("pandas").set_index("label")
    if name in ("housetasks", "hair_eye", "smoke"):
        return getattr(co.datasets, f"load_{name}")().to_frame("pandas").set_index("label")
    seed, rows, columns = map(int, name.split())
    counts = np.random.default_rng(seed).poisson(3, size=(rows, columns)) + np.eye(rows, columns) * 10
    return pd.DataFrame(counts, index=[f"r{i}" for i in range(rows)], columns=[f"c{j}" for j in range(columns)])


def number_pairs(rng, n=300):
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4))
    return X, X[:, :3] @ rng.normal(size=(3, 3)) + [1, 3, 5] * rng.normal(size=(n, 3))


# --- prince, with its exact engine


@pytest.mark.slow
@pytest.mark.parametrize("name", ["smoke", "hair_eye", "housetasks", "children", "0 9 6", "1 5 12", "2 40 30"])
def test_prince_ca(name):
    prince = pytest.importorskip("prince", reason="prince is not installed")
    table = table_of(name)
    ours = co.CA().fit(table)
    theirs = prince.CA(n_components=len(ours.pics_), engine="scipy").fit(table)
    np.testing.assert_allclose(ours.pics_, theirs.eigenvalues_, **EXACT)
    np.testing.assert_allclose(100 * ours.decomposition_.inertia_ratios, theirs.percentage_of_variance_, **EXACT)
    assert ours.decomposition_.chi2 == pytest.approx(theirs.total_inertia_, rel=1e-12)
    for points, coordinates, contributions, cos2, masses in (
        (
            ours.rows_,
            theirs.row_coordinates(table),
            theirs.row_contributions_,
            theirs.row_cosine_similarities(table),
            theirs.row_masses_,
        ),
        (
            ours.columns_,
            theirs.column_coordinates(table),
            theirs.column_contributions_,
            theirs.column_cosine_similarities(table),
            theirs.col_masses_,
        ),
    ):
        assert points.labels.tolist() == coordinates.index.tolist()
        up_to_sign(points.principal, coordinates)
        np.testing.assert_allclose(points.contributions, contributions, **EXACT)
        np.testing.assert_allclose(points.cos2, cos2, **EXACT)
        np.testing.assert_allclose(points.mass, masses, **EXACT)


def test_prince_supplementary_points():
    prince = pytest.importorskip("prince", reason="prince is not installed")
    children = co.datasets.load_children()
    active, rows, columns = (part.to_frame("pandas").set_index("label") for part in children)
    theirs = prince.CA(n_components=4, engine="scipy").fit(active)
    ours = co.CA().fit(active)
    placed_rows, placed_columns = ours.supplementary(rows=rows, columns=columns)
    up_to_sign(placed_rows.principal, theirs.row_coordinates(rows))
    up_to_sign(placed_columns.principal, theirs.column_coordinates(columns))
    np.testing.assert_allclose(placed_rows.cos2, theirs.row_cosine_similarities(rows), **EXACT)
    whole = pd.concat([active, columns], axis=1)
    np.testing.assert_allclose(placed_columns.cos2, theirs.column_cosine_similarities(whole)[5:], **EXACT)


def test_prince_mca(rng):
    prince = pytest.importorskip("prince", reason="prince is not installed")
    first = rng.choice(list("abc"), 200)
    answers = pd.DataFrame(
        {
            "x": first,
            "y": np.where(rng.random(200) < 0.5, first, rng.choice(list("abc"), 200)),
            "z": rng.choice(list("uv"), 200),
        }
    )
    indicator = co.indicator_table(answers[:150])
    ours = co.CA(n_components=4).fit(indicator)
    theirs = prince.MCA(n_components=4, engine="scipy").fit(answers[:150])
    np.testing.assert_allclose(ours.pics_, theirs.eigenvalues_, **EXACT)
    up_to_sign(ours.rows_.principal, theirs.row_coordinates(answers[:150]))
    up_to_sign(ours.columns_.principal, theirs.column_coordinates(answers[:150]))
    np.testing.assert_allclose(ours.columns_.contributions, theirs.column_contributions_, **EXACT)
    np.testing.assert_allclose(ours.columns_.cos2, theirs.column_cosine_similarities(answers[:150]), **EXACT)
    new = co.indicator_table(answers[150:], columns=indicator.columns)
    up_to_sign(ours.supplementary(rows=new).principal, theirs.transform(answers[150:]))
    corrected = prince.MCA(n_components=4, engine="scipy", correction="benzecri").fit(answers[:150])
    np.testing.assert_allclose((3 / 2 * (ours.pics_ - 1 / 3).clip(0)) ** 2, corrected.eigenvalues_, **EXACT)


# --- scikit-learn and scipy


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_scikit_learn_cca(seed):
    """Their scores have another scale, and are off by 1e-6 where the power method stops; correlations are not."""
    X, Y = number_pairs(np.random.default_rng(seed))
    ours = co.CCA(n_components=3).fit(X, Y)
    theirs = cross_decomposition.CCA(n_components=3, max_iter=20_000, tol=1e-14).fit(X, Y)
    scores = [score / score.std(axis=0) for score in theirs.transform(X, Y)]
    for mine, other in zip(ours.transform(X, Y), scores, strict=True):
        np.testing.assert_allclose(mine * np.sign((mine * other).sum(axis=0)), other, atol=1e-5)
    np.testing.assert_allclose(np.diag(np.corrcoef(*scores, rowvar=False)[:3, 3:]), ours.correlations_, **EXACT)


def test_expectations_of_cca_are_least_squares(rng):
    X, Y = number_pairs(rng)
    expected = LinearRegression().fit(X, Y).predict(X)
    predicted = co.CCA(n_components=3).fit(X, Y).decomposition_.conditional_expectation(lambda y: y, X)
    np.testing.assert_allclose(predicted, expected, **EXACT)


@pytest.mark.parametrize("name", ["smoke", "housetasks", "2 40 30"])
def test_scipy_chi2_test(name):
    table = table_of(name)
    ours = co.CA().fit(table).chi2_test_
    theirs = stats.chi2_contingency(table, correction=False)
    classical = (ours.statistic, ours.dof, ours.classical_pvalue)
    np.testing.assert_allclose(classical, [theirs.statistic, theirs.dof, theirs.pvalue], rtol=1e-10)
    cramer = np.sqrt(ours.statistic / table.to_numpy().sum() / (min(table.shape) - 1))
    assert cramer == pytest.approx(stats.contingency.association(table.astype(int), method="cramer"), rel=1e-12)


def test_scikit_learn_f_test_of_a_column_and_classes(rng):
    """The F statistic of one column and classes is that of their only squared canonical correlation."""
    labels = rng.integers(4, size=200)
    column = rng.normal(size=(200, 1)) + labels[:, None]
    (pic,) = co.CCA(n_components=1).fit(column, labels.astype(str)).pics_
    statistic, _ = feature_selection.f_classif(column, labels)
    assert pic / (1 - pic) * (200 - 4) / (4 - 1) == pytest.approx(statistic[0], rel=1e-10)


# --- docs/migration.md


def sections():
    """Headings, and the rows of the table below each, as dictionaries."""
    for section in re.split(r"^## ", PAGE.read_text(), flags=re.M)[1:]:
        lines = [line for line in section.splitlines() if line.startswith("|")]
        if lines:
            header, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
            yield section.splitlines()[0], [dict(zip(header, row, strict=True)) for row in rows]


def names_of_the_page():
    """What the first block of the page defines, and what the tables take from scikit-learn."""
    first = re.search(r"```python\n(.*?)```", PAGE.read_text(), flags=re.S).group(1)
    names = {
        "cross_decomposition": cross_decomposition,
        "GridSearchCV": GridSearchCV,
        "RandomForestRegressor": RandomForestRegressor,
    }
    for example in doctest.DocTestParser().get_examples(first):
        exec(example.source, names)
    return names


SECTIONS = dict(sections())


def test_the_page_has_all_tables():
    assert list(SECTIONS) == [
        "From prince",
        "From R's ca",
        "From FactoMineR",
        "From FactoMineR's dimdesc and catdes, and Xplortext",
        "From GDAtools",
        "From ade4's dudi.nsc, CAvariants, homals and Gifi",
        "From R's vegan, and ade4's pcaiv",
        "From phik, dython and ppscore",
        "From scikit-learn's CCA",
        "From cca-zoo",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS)
def test_calls_of_the_page_run(section):
    names = names_of_the_page()
    rows, columns = SECTIONS[section], ["here"]
    assert 8 <= len(rows) <= 20
    if section == "From cca-zoo":
        pytest.importorskip("torch", reason="PICE needs torch")
    if section == "From scikit-learn's CCA":
        columns.insert(0, "scikit-learn")
    if section == "From prince":
        names["prince"] = pytest.importorskip("prince", reason="prince is not installed")
        columns.insert(0, "prince")
    for row in rows:
        for column in columns:
            calls = re.findall(r"`([^`]+)`", row[column])
            assert calls or row[column] in ("none", "overfits"), row
            for call in calls:
                exec(call, names)
