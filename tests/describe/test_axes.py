"""Axes described: equal to dimdesc of FactoMineR, with held-out figures that keep their level."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import ShuffleSplit

import correspondence as co
from tests.estimators.many.reference import ORACLE, data, read


def assert_close(ours, theirs, rtol):
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    assert len(theirs) > 0
    assert np.abs(ours / theirs - 1).max() < rtol


def compare(found, name, scores):
    """Compare all tables with dimdesc, whose axes may have other signs; `scores` is a column of their coordinates."""
    signs = pd.Series(scores)
    parts = {"quanti": ("numbers", "correlation", "correlation"), "quali": ("variables", "eta2", "R2")}
    parts |= {"category": ("categories", "estimate", "Estimate")}
    for kind, (table, own, other) in parts.items():
        theirs, ours = read(f"{name}_dimdesc_{kind}"), getattr(found, table).to_frame("pandas")
        key = ["axis", "column"]
        theirs = theirs.rename(columns={"dim": "axis", "variable": "column"})
        if kind == "category":
            theirs[["column", "category"]] = theirs["category"].str.split("=", expand=True)
            key = [*key, "category"]
        ours, theirs = ours.set_index(key), theirs.set_index(key)
        assert len(ours) == len(theirs)
        ours = ours.loc[theirs.index]
        sign = 1 if kind == "quali" else signs.loc[theirs.index.get_level_values("axis")].to_numpy()
        assert_close(ours[own] * sign, theirs[other], 1e-8)
        assert_close(ours["pvalue"], theirs["p.value"], 1e-6)


def find_signs(points, theirs):
    own = points.principal[:, :3]
    assert np.abs(np.abs(own) - np.abs(theirs)).max() < 1e-8
    return dict(enumerate(np.sign((own * theirs).sum(axis=0)), start=1))


@pytest.fixture(scope="module")
def poison():
    return data("poison")


@pytest.fixture(scope="module")
def mca(poison):
    return co.MCA(n_components=3).fit(poison, supplementary=["Age", "Time", "Sick", "Sex"])


def test_many_columns_are_described_as_by_dimdesc(mca, poison):
    theirs = read("poison_MCA_ind", {"variant": "base"})[["coord.1", "coord.2", "coord.3"]].to_numpy()
    signs = find_signs(mca.rows_, theirs)
    compare(co.describe_axes(mca), "poison_MCA", signs)
    compare(co.describe_axes(mca, poison), "poison_MCA", signs)


def test_numbers_are_described_as_by_dimdesc():
    frame = data("decathlon")
    pca = co.MixedCA(n_components=3).fit(frame, supplementary=["Rank", "Points", "Competition"])
    theirs = read("decathlon_PCA_ind", {"variant": "base"})[["coord.1", "coord.2", "coord.3"]].to_numpy()
    found = co.describe_axes(pca)
    for table in (found.numbers, found.variables, found.categories):  # R writes dots for spaces
        renamed = np.array([name.replace(" ", ".") for name in table["column"]], dtype=object)
        object.__setattr__(table, "columns", dict(table.columns) | {"column": renamed})
    compare(found, "decathlon_PCA", find_signs(pca.rows_, theirs))


def test_variables_of_the_rows_of_a_table_are_described_as_by_dimdesc():
    frame = pd.read_csv(ORACLE.parent / "children_supvars_data.csv", index_col=0)
    ca = co.CA(n_components=3).fit(frame.iloc[:, :5])
    found = co.describe_axes(ca, frame[["theme", "score", "half"]].iloc[::-1])  # rows are found by their names
    theirs = read("children_CA_supvars_dimdesc_rowcol").set_index(["dim", "kind", "name"])["coord"]
    points = found.points.to_frame("pandas").replace({"side": {"column": "col"}}).set_index(["axis", "side", "label"])
    ours = points.loc[theirs.index, "coordinate"]
    assert len(points) == len(theirs)
    signs = {axis: np.sign((ours.loc[axis] * theirs.loc[axis]).sum()) for axis in (1, 2, 3)}
    assert_close(ours * theirs.index.get_level_values(0).map(signs), theirs, 1e-8)
    compare(found, "children_CA_supvars", signs)
    assert (np.abs(found.categories["vtest"]) < 4).all()  # of 14 rows, not of 1592 pairs


def test_tables_are_sorted_and_say_what_was_active(mca):
    found = co.describe_axes(mca, axes=2)
    table = found.categories.to_frame("pandas")
    assert (np.diff(table["vtest"]) <= 1e-12).all()
    assert set(table["axis"]) == {2}
    assert set(table.loc[~table["active"].astype(bool), "column"]) == {"Sick", "Sex"}
    assert (np.diff(found.variables["eta2"]) <= 1e-12).all()
    active = table[table["active"].astype(bool)]
    labels = [f"{a}:{b}" for a, b in zip(active["column"], active["category"], strict=True)]
    places = [mca.columns_.labels.tolist().index(label) for label in labels]
    assert active["vtest"].to_numpy() == pytest.approx(mca.vtests_[places, 1])


def test_weights_are_repetitions(poison):
    weights = 1 + np.arange(55) % 3
    often = poison.iloc[np.repeat(np.arange(55), weights)]
    once = co.describe_axes(co.MCA(n_components=2).fit(poison, supplementary=["Age", "Time"], sample_weight=weights))
    whole = co.describe_axes(co.MCA(n_components=2).fit(often, supplementary=["Age", "Time"]))
    assert once.categories["vtest"] == pytest.approx(whole.categories["vtest"])
    assert once.numbers["correlation"] == pytest.approx(whole.numbers["correlation"])


@pytest.mark.slow
def test_held_out_pvalues_of_active_columns_keep_their_level(rng):
    held, training = [], []
    for _ in range(25):
        frame = pl.DataFrame({f"x{i}": rng.integers(3, size=120).astype(str) for i in range(6)})
        found = co.describe_axes(co.MCA(n_components=2).fit(frame), held_out=5)
        held.append(found.variables["held_out_pvalue"])
        training.append(found.variables["pvalue"])
    assert (np.concatenate(training) <= 0.05).mean() > 0.5  # the axes were fitted to these columns
    assert (np.concatenate(held) <= 0.05).mean() < 0.1


@pytest.mark.slow
def test_sentences_of_independent_columns_tell_nothing(rng):
    told = 0
    for _ in range(15):
        frame = pl.DataFrame({f"x{i}": rng.integers(4, size=300).astype(str) for i in range(20)})
        found = co.describe_axes(co.MCA(n_components=2).fit(frame), held_out=5)
        told += any(found.find_characteristics(axis)[0] for axis in (1, 2))
        assert all(found.find_characteristics(axis)[1] for axis in (1, 2))
    assert told <= 4


def test_what_holds_on_other_rows(rng):
    hidden = rng.integers(2, size=600)
    answers = {f"q{i}": np.where(rng.random(600) < 0.85, hidden, 1 - hidden).astype(str) for i in range(4)}
    noise = {f"n{i}": rng.integers(2, size=600).astype(str) for i in range(3)}
    frame = pl.DataFrame(answers | noise | {"size": hidden + rng.normal(size=600)})
    mca = co.MCA(n_components=2).fit(frame[:300], supplementary=["size"])
    found = co.describe_axes(mca, held_out=frame[300:])
    told = {one["column"] for one in found.find_characteristics(1)[0]}
    assert told == {"q0", "q1", "q2", "q3", "size"}
    assert found.n_held_out == 300
    assert "held-out" in found.write_sentences()[1]


def test_a_share_of_the_rows_is_tested_by_a_fit_to_the_others(rng):
    hidden = rng.integers(2, size=200)
    frame = pl.DataFrame({f"q{i}": np.where(rng.random(200) < 0.8, hidden, 1 - hidden).astype(str) for i in range(4)})
    frame = frame.with_columns(pl.Series("size", hidden + rng.normal(size=200)))
    found = co.describe_axes(co.MCA(n_components=1).fit(frame, supplementary=["size"]), held_out=0.3)
    assert (found.n, found.n_held_out) == (200, 60)
    _, test = next(ShuffleSplit(1, test_size=0.3, random_state=0).split(frame))
    others = np.setdiff1d(np.arange(200), test)
    fit = co.MCA(n_components=1).fit(frame[others.tolist()], supplementary=["size"])
    apart = co.describe_axes(fit, held_out=frame[test.tolist()])
    assert found.numbers["held_out_pvalue"] == pytest.approx(apart.numbers["held_out_pvalue"])
    pvalues = [dict(zip(f.variables["column"], f.variables["held_out_pvalue"], strict=True)) for f in (found, apart)]
    assert pvalues[0] == pytest.approx(pvalues[1])
    x, y = frame["q0"].to_numpy(), frame["size"].to_numpy()
    assert co.describe_axes(co.CCA(1).fit(x, y), x, y, held_out=0.25).n_held_out == 50


def test_mixed_columns_and_gaps(rng):
    n = 200
    u = rng.normal(size=n)
    a, c = u + 0.3 * rng.normal(size=n), rng.normal(size=n)
    frame = pd.DataFrame({"a": a, "b": np.where(u > 0, "high", "low"), "c": c})
    frame.loc[:9, "a"] = np.nan
    frame.loc[5:20, "b"] = None
    for missing in ("indicator", "average", "impute"):
        mixed = co.MixedCA(n_components=2, missing=missing).fit(frame)
        found = co.describe_axes(mixed, held_out=4)
        assert dict(zip(found.numbers["column"], found.numbers["n"], strict=True))["a"] == 190
        assert found.variables["n"][0] == (200 if missing == "indicator" else 184)
        assert found.numbers["held_out_pvalue"].min() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: co.CCA(2), lambda: co.ACE(2), lambda: co.KernelCCA(2, random_state=0)])
def test_two_variables_are_tested_with_the_function_of_the_other(make):
    wine = load_wine(as_frame=True)
    X, y = wine.data[["alcohol", "flavanoids", "ash"]], wine.target_names[wine.target]
    est = make().fit(X, y)
    found = co.describe_axes(est, X, y, held_out=4)
    assert set(found.numbers["side"]) == {"x"}
    assert set(found.categories["side"]) == {"y"}
    best = found.numbers.take_rows(found.numbers["axis"] == 1)
    flavanoids = best["column"].tolist().index("flavanoids")
    assert best["held_out_pvalue"][flavanoids] < 1e-10
    f, g = est.transform(X, y)
    assert abs(best["correlation"][flavanoids]) == pytest.approx(abs(np.corrcoef(X["flavanoids"], g[:, 0])[0, 1]))
    alone = co.describe_axes(est, X)
    own = alone.numbers["correlation"][(alone.numbers["axis"] == 1) & (alone.numbers["column"] == "ash")]
    assert abs(own[0]) == pytest.approx(abs(np.corrcoef(X["ash"], f[:, 0])[0, 1]))


def test_pairs_of_labels_and_other_pairs(rng):
    x = rng.integers(4, size=600)
    y = np.where(rng.random(600) < 0.6, x, rng.integers(4, size=600))
    x, y = np.array(list("abcd"))[x], np.array(list("ABCD"))[y]
    ca = co.CA(n_components=2).fit(x[:300], y[:300])
    found = co.describe_axes(ca, x[:300], y[:300], held_out=(x[300:], y[300:]))
    assert found.variables["held_out_pvalue"].max() < 1e-10
    rows = found.categories.to_frame("pandas").query("axis == 1 and side == 'x'").set_index("category")
    own = co.describe_axes(ca).points.to_frame("pandas").query("axis == 1 and side == 'row'").set_index("label")
    assert rows["vtest"].to_numpy() == pytest.approx(own.loc[rows.index, "vtest"].to_numpy(), rel=1e-6)


def test_sentences_of_a_table():
    ca = co.CA(n_components=2).fit(co.datasets.load_housetasks())
    first, second = co.describe_axes(ca).write_sentences(2)
    assert first.startswith("Axis 1 rises with Husband (1.16), Repairs (1.53) and 1 more; falls with Wife (-0.84), ")
    assert "Jointly" in second


def test_bad_input_is_one_sentence(mca, poison, tmp_path):
    poison.iloc[:, 4:].to_csv(tmp_path / "poison.csv", index=False)
    from_file = co.MCA(n_components=2).fit(tmp_path / "poison.csv")
    cca = co.CCA(1).fit(np.eye(4) + 1, np.arange(4.0))
    ca = co.CA().fit(co.datasets.load_smoke())
    for call, argument in [
        (lambda: co.describe_axes(from_file), "X"),
        (lambda: co.describe_axes(cca), "X"),
        (lambda: co.describe_axes(mca, axes=4), "axes"),
        (lambda: co.describe_axes(mca, axes=[]), "axes"),
        (lambda: co.describe_axes(mca, held_out=1), "held_out"),
        (lambda: co.describe_axes(mca, held_out=True), "held_out"),
        (lambda: co.describe_axes(mca, held_out=2.5), "held_out"),
        (lambda: co.describe_axes(mca, held_out=0.001), "held_out"),
        (lambda: co.describe_axes(mca, held_out=56), "held_out"),
        (lambda: co.describe_axes(mca, held_out=poison[["Nausea"]]), "held_out"),
        (lambda: co.describe_axes(mca, None, poison), "Y"),
        (lambda: co.describe_axes(ca, held_out=3), "held_out"),
        (lambda: co.describe_axes(ca, pl.DataFrame({"a": [1, 2]})), "X"),
        (lambda: co.describe_axes(mca, alpha=0), "alpha"),
    ]:
        with pytest.raises(ValueError, match=rf"\b{argument}\b") as error:
            call()
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("options", [{}, {"held_out": 3}, {"held_out": "pair"}])
def test_variables_of_other_lengths_are_no_pairs(options):
    x = np.random.default_rng(0).normal(size=(40, 2))
    cca = co.CCA(n_components=1).fit(x, x + 1)
    is_pair = options.get("held_out") == "pair"
    X, Y = (x, x) if is_pair else (x, x[:5])
    with pytest.raises(ValueError, match=r"(Y|held_out) must .*rows"):
        co.describe_axes(cca, X, Y, **({"held_out": (x, x[:5])} if is_pair else options))


def test_weights_of_the_fit_count_rows():
    rng = np.random.default_rng(0)
    frame, weights = pd.DataFrame({name: rng.choice(list("abc"), 60) for name in "qrs"}), rng.integers(1, 4, 60)
    repeated = frame.iloc[np.repeat(np.arange(60), weights)].reset_index(drop=True)
    pairs = [(frame, weights, repeated), (frame, np.full(60, 1 / 60), frame)]
    for rows, own, same in pairs:
        mca, plain = co.MCA(n_components=1).fit(rows, sample_weight=own), co.MCA(n_components=1).fit(same)
        a, b = co.describe_axes(mca), co.describe_axes(plain)
        assert a.n == b.n
        assert np.sort(a.categories["pvalue"]) == pytest.approx(np.sort(b.categories["pvalue"]), rel=1e-9)
