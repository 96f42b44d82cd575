"""MCA in order: along the first axis ordered answers ascend or descend, and everything else stays coherent."""

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import correspondence as co
from correspondence.core.order.monotone import OrderedSide, find_monotone_pair
from correspondence.core.order.ordered_axes import _climb, _OrderedColumns

LEVELS = ["never", "seldom", "often", "always"]


def survey(n=80, seed=0, noise=1.5, k=4):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    columns = {}
    for j in range(k):
        codes = np.digitize(z * (-1) ** j + noise * rng.normal(size=n), [-1.2, 0.0, 1.2])
        columns[f"q{j}"] = pd.Categorical.from_codes(codes, LEVELS, ordered=True)
    columns["sex"] = np.where(z + rng.normal(size=n) > 0, "f", "m")
    return pd.DataFrame(columns)


def get_values(mca, name, axis=0):
    own = [str(label).startswith(f"{name}:") for label in mca.columns_.labels]
    return mca.columns_.standard[own, axis]


def is_monotone(values):
    steps = np.diff(values)
    return bool((steps >= -1e-9).all() or (steps <= 1e-9).all())


def as_text(frame):
    return frame.astype(dict.fromkeys(frame.columns, str))


def bends(frame):
    """Tell whether the first axis without an order is out of order."""
    free = co.MCA(ordered=None).fit(frame)
    return not all(is_monotone(get_values(free, f"q{j}")) for j in range(4))


SEEDS = [seed for seed in range(8) if bends(survey(seed=seed))][:3]


@pytest.fixture(params=SEEDS)
def frame(request):
    return survey(seed=request.param)


def test_the_first_axis_is_in_order_and_the_others_are_free(frame):
    mca = co.MCA().fit(frame)
    assert all(is_monotone(get_values(mca, f"q{j}")) for j in range(4))
    assert not all(is_monotone(get_values(mca, f"q{j}", 1)) for j in range(4))
    assert mca.inertias_[0] < co.MCA(ordered=None).fit(frame).inertias_[0]


def test_the_contract_of_decompositions(frame):
    mca = co.MCA().fit(frame)
    z, mass, g = mca.rows_.standard, mca.columns_.mass, mca.columns_.standard
    n, d = z.shape
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(z.T @ z / n, np.eye(d), atol=1e-8)
    np.testing.assert_allclose(mass @ g, 0, atol=1e-9)
    np.testing.assert_allclose((mass[:, None] * g).T @ g, np.eye(d), atol=1e-8)
    indicators = pd.get_dummies(as_text(frame), prefix_sep=":")[list(mca.columns_.labels)].to_numpy(float)
    np.testing.assert_allclose(z.T @ indicators @ g / (n * 5), np.diag(mca.correlations_), atol=1e-8)
    np.testing.assert_allclose(z, indicators @ g / 5 / mca.correlations_, atol=1e-7)


def test_values_are_isotonic_regressions_of_the_scores(frame):
    from scipy.optimize import isotonic_regression

    mca = co.MCA(1).fit(frame)
    z = mca.rows_.standard[:, 0]
    for j in range(4):
        codes = frame[f"q{j}"].cat.codes.to_numpy()
        counts = np.bincount(codes, minlength=4)
        means = np.bincount(codes, z, minlength=4) / counts
        sign = np.sign(get_values(mca, f"q{j}")[-1] - get_values(mca, f"q{j}")[0])
        fitted = sign * isotonic_regression(sign * means, weights=counts).x
        np.testing.assert_allclose(get_values(mca, f"q{j}") * mca.correlations_[0], fitted, atol=1e-7)
        correlation = np.corrcoef(get_values(mca, f"q{j}")[codes], z)[0, 1]
        np.testing.assert_allclose(mca.eta2_[j, 0], correlation**2, rtol=1e-6)
    np.testing.assert_allclose(mca.eta2_[:, 0].mean(), mca.pics_[0], rtol=1e-9)


def find_best_by_brute_force(frame, names, n_starts=6):
    analysis = co.MCA(ordered=None).fit(frame)._analysis
    W, rng = analysis.whitening, np.random.default_rng(0)
    M, best = W.T @ (analysis.moments.cov @ W), 0.0
    parts = [np.arange(b.features.start, b.features.stop) for b in analysis.blocks if b.name in names]
    cones = _OrderedColumns(parts, W.diagonal())
    for signs in itertools.product([1, -1], repeat=len(parts)):
        for _ in range(n_starts):
            v = _climb(M, cones, cones.project(rng.normal(size=len(M)), signs), signs)
            best = max(best, v @ M @ v)
    return best / len(analysis.blocks)


@pytest.mark.parametrize("seed", range(5))
def test_no_direction_and_no_start_is_better(seed):
    frame = survey(n=25, seed=seed, noise=4, k=3)
    found = co.MCA().fit(frame).pics_[0]
    assert found >= find_best_by_brute_force(frame, ["q0", "q1", "q2"]) * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_two_columns_are_a_monotone_pair(seed):
    frame = survey(n=40, seed=seed, noise=3, k=2)[["q0", "q1"]]
    table = pd.crosstab(frame["q0"], frame["q1"]).to_numpy() / len(frame)
    r, c = table.sum(axis=1), table.sum(axis=0)
    Q = table / np.sqrt(np.outer(r, c)) - np.sqrt(np.outer(r, c))
    pair = find_monotone_pair(Q, *(OrderedSide(np.sqrt(m), np.arange(len(m))) for m in (r, c)))
    mca = co.MCA(1).fit(frame)
    np.testing.assert_allclose(mca.pics_[0], (1 + pair.correlation) / 2, rtol=1e-8)
    f = pair.u / np.sqrt(r)
    np.testing.assert_allclose(np.abs(get_values(mca, "q0")), np.abs(f), atol=1e-5)


@pytest.mark.parametrize("correction", ["indicator", "burt", "adjusted", "joint"])
def test_without_ordered_columns_nothing_changes(correction):
    frame = as_text(survey())
    a, b = (co.MCA(2, correction=correction, ordered=ordered).fit(frame) for ordered in ("auto", None))
    np.testing.assert_array_equal(a.columns_.principal, b.columns_.principal)
    np.testing.assert_array_equal(a.rows_.principal, b.rows_.principal)
    np.testing.assert_array_equal(a.eta2_, b.eta2_)


def test_an_order_that_the_data_have_changes_nothing():
    frame = survey(n=3000, noise=0.5)
    a, b = (co.MCA(ordered=ordered).fit(frame) for ordered in ("auto", None))
    np.testing.assert_array_equal(a.columns_.principal, b.columns_.principal)


def test_all_ways_to_give_an_order_agree(frame):
    plain, names = as_text(frame), [f"q{j}" for j in range(4)]
    found = [
        co.MCA(2).fit(frame),
        co.MCA(2, ordered=names).fit(frame),
        co.MCA(2, ordered=dict.fromkeys(names, LEVELS)).fit(plain),
        co.MCA(2).fit(pl.DataFrame(plain).with_columns(pl.col(name).cast(pl.Enum(LEVELS)) for name in names)),
        co.MCA(2).fit(pl.DataFrame(plain).with_columns(pl.col(name).cast(pl.Enum(LEVELS)) for name in names).lazy()),
        co.MCA(2, ordered=dict.fromkeys(names, LEVELS)).fit(pl.DataFrame(plain).lazy()),
    ]
    for other in found[1:]:
        assert other.columns_.labels.tolist() == found[0].columns_.labels.tolist()
        np.testing.assert_allclose(other.columns_.principal, found[0].columns_.principal, atol=1e-7)


def test_the_opposite_order_is_the_same(frame):
    ordered = {f"q{j}": LEVELS[:: (-1) ** j] for j in range(4)}
    np.testing.assert_allclose(co.MCA(2, ordered=ordered).fit(frame).pics_, co.MCA(2).fit(frame).pics_, rtol=1e-9)


def test_only_the_named_columns_are_in_order(frame):
    mca = co.MCA(1, ordered=["q0"]).fit(frame)
    assert is_monotone(get_values(mca, "q0"))
    assert mca.pics_[0] >= co.MCA(1).fit(frame).pics_[0]


def test_numbers_have_an_order_of_their_own():
    rng = np.random.default_rng(0)
    answers = pd.DataFrame(rng.integers(1, 6, size=(60, 4)), columns=list("abcd"))
    mca = co.MCA(1, ordered=list("abcd")).fit(answers)
    assert all(is_monotone(get_values(mca, name)) for name in "abcd")
    by_place = co.MCA(1, ordered=[0, 1, 2, 3]).fit(answers.to_numpy())
    np.testing.assert_allclose(by_place.pics_, mca.pics_)


@pytest.mark.slow
def test_missing_answers_have_no_place_in_the_order(frame):
    holes = frame.copy()
    holes.loc[holes.index[:15], "q0"] = None
    for missing in ("indicator", "average", "passive", "impute", "drop"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", co.CorrespondenceWarning)
            mca = co.MCA(2, missing=missing).fit(holes)
        answers = [label for label in mca.columns_.labels if label.startswith("q0:") and "missing" not in label]
        values = [mca.columns_.standard[mca.columns_.labels.tolist().index(label), 0] for label in answers]
        assert answers == [f"q0:{level}" for level in LEVELS]
        assert is_monotone(values), missing
        kept = holes.dropna() if missing == "drop" else holes
        np.testing.assert_allclose(mca.transform(kept), mca.rows_.standard, atol=1e-9)


def test_corrections_keep_the_axes(frame):
    plain = co.MCA().fit(frame)
    burt, adjusted = co.MCA(correction="burt").fit(frame), co.MCA(correction="adjusted").fit(frame)
    np.testing.assert_allclose(burt.inertias_, plain.inertias_**2)
    used = len(adjusted.inertias_)
    np.testing.assert_allclose(adjusted.inertias_, (5 / 4 * (plain.inertias_[:used] - 1 / 5)) ** 2, rtol=1e-9)
    for other in (burt, adjusted):
        d = len(other.inertias_)
        np.testing.assert_allclose(other.columns_.standard, plain.columns_.standard[:, :d], atol=1e-9)
        np.testing.assert_allclose(other.rows_.standard, plain.rows_.standard[:, :d], atol=1e-9)
        np.testing.assert_allclose(other.columns_.contributions.sum(axis=0), 1)
    assert 0 < adjusted.shares_[0] < 1
    assert (plain.rows_.cos2.sum(axis=1) <= 1 + 1e-9).all()


def test_excluded_answers(frame):
    mca = co.MCA(exclude=["q0:seldom", "sex:f"]).fit(frame)
    assert len(get_values(mca, "q0")) == 3
    assert is_monotone(get_values(mca, "q0"))
    with pytest.warns(co.LeftOut, match="order"):
        co.MCA(correction="adjusted", exclude=["q0:seldom"]).fit(frame)


def test_weights_are_repetitions(frame):
    weights = np.random.default_rng(0).integers(0, 4, len(frame))
    repeated = frame.loc[np.repeat(np.arange(len(frame)), weights)]
    a, b = co.MCA(2).fit(frame, sample_weight=weights), co.MCA(2).fit(repeated)
    np.testing.assert_allclose(a.columns_.principal, b.columns_.principal, atol=1e-8)


def test_a_subpopulation(frame):
    mca = co.MCA(2).fit(frame, subpopulation=np.arange(60))
    assert all(is_monotone(get_values(mca, f"q{j}")) for j in range(4))
    np.testing.assert_allclose((mca.rows_.standard**2).mean(axis=0), 1)


def test_supplementary_rows_and_columns(frame):
    mca = co.MCA(2).fit(frame, supplementary=["sex"], supplementary_rows=[0, 1])
    np.testing.assert_allclose(mca.supplementary_rows_.standard, mca.transform(frame[:2]), atol=1e-12)
    assert mca.supplementary_columns_.labels.tolist() == ["sex:f", "sex:m"]
    z = mca.rows_.standard[(frame["sex"] == "f").to_numpy()[2:]]
    np.testing.assert_allclose(mca.supplementary_columns_.principal[0], z.mean(axis=0), atol=1e-9)


def test_vtests_are_those_of_the_rows(frame):
    mca = co.MCA(2).fit(frame)
    own, n = (frame["q1"] == "seldom").to_numpy(), len(frame)
    share = own.mean()
    expected = mca.rows_.standard[own].mean(axis=0) * np.sqrt(share * (n - 1) / (1 - share))
    np.testing.assert_allclose(mca.vtests_[mca.columns_.labels.tolist().index("q1:seldom")], expected, rtol=1e-6)


def test_it_survives_clone_set_params_pickle_and_save(frame, tmp_path):
    ordered = {"q0": LEVELS}
    mca = clone(co.MCA(2).set_params(ordered=ordered)).fit(frame)
    assert mca.get_params()["ordered"] == ordered
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(mca)).transform(frame), mca.transform(frame))
    mca.decomposition_.save(tmp_path / "ordered.safetensors")
    d = co.load(tmp_path / "ordered.safetensors")
    np.testing.assert_allclose(d.f(frame), mca.transform(frame))
    np.testing.assert_allclose(d.g(["q0:never"]), mca.decomposition_.g(["q0:never"]))


def test_the_bootstrap_refits_in_order(frame):
    spread = co.MCA(2).fit(frame).bootstrap(5, random_state=0)
    free = co.MCA(2, ordered=None).fit(frame).bootstrap(5, random_state=0)
    assert np.isfinite(spread.column_covariance).all()
    assert not np.allclose(spread.column_covariance, free.column_covariance)


@pytest.mark.slow
def test_held_out_figures_are_those_of_the_ordered_fit(frame):
    held = co.crossfit(co.MCA(1), frame)
    free = co.crossfit(co.MCA(1, ordered=None), frame)
    assert not np.allclose(held.r2, free.r2)
    train, test = frame[:60], frame[60:]
    own = co.MCA(1).fit(train).evaluate(test)
    by_hand = co.crossfit(co.MCA(1), frame, cv=[(np.arange(60), np.arange(60, 80))])
    np.testing.assert_allclose(by_hand.r2, own.r2, atol=1e-9)


@pytest.mark.parametrize(
    ("ordered", "words"),
    [
        (["income"], "active columns"),
        ({"q0": LEVELS[:3]}, "always"),
        ({"q0": [*LEVELS, "never"]}, "once"),
        ({"q0": "never"}, "levels"),
        (["sex"], "levels"),
        (3, "ordered"),
        ("yes", "active columns"),
    ],
)
def test_errors(ordered, words):
    with pytest.raises(ValueError, match=words) as error:
        co.MCA(ordered=ordered).fit(survey())
    assert "ordered" in str(error.value)
    assert len(str(error.value)) < 200


def test_joint_and_very_many_answers_have_no_order():
    frame = survey()
    with pytest.raises(ValueError, match="joint"):
        co.MCA(correction="joint", ordered=["q0"]).fit(frame)
    joint = co.MCA(correction="joint").fit(frame)
    np.testing.assert_array_equal(joint.inertias_, co.MCA(correction="joint", ordered=None).fit(frame).inertias_)
