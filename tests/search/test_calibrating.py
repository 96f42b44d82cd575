"""Probabilities and rankings of an index, learned on held-out pairs."""

import numpy as np
import pytest
import scipy.sparse as sp

import correspondence as co
from correspondence.search.calibrating import ScoredQueries, choose_ranking, fit_slope, smooth_targets

RANKINGS = [(by, scaled) for by in ("posterior", "gaussian", "ratio", "distance", "cosine") for scaled in (False, True)]


def draw_views(rng, n, k=8, width=30, noise=1.8):
    """Two views of k numbers that nobody sees."""
    shared, (a, b) = rng.normal(size=(n, k)), rng.normal(size=(2, k, width))
    return tuple(shared @ side + noise * rng.normal(size=(n, width)) for side in (a, b))


def split_views(seed=0, n_fit=400, n_held=1000, n_test=1000, **options):
    """A fit that claims too much, held-out pairs and test pairs."""
    X, Y = draw_views(np.random.default_rng(seed), n_fit + n_held + n_test, **options)
    ends = np.split(np.arange(len(X)), [n_fit, n_fit + n_held])
    est = co.CCA(n_components=8).fit(X[ends[0]], Y[ends[0]])
    return est, (X[ends[1]], Y[ends[1]]), (X[ends[2]], Y[ends[2]])


EST, HELD, TEST = split_views(n_held=300, n_test=300)


def find_hits(found):
    return found.index[:, 0] == np.arange(len(found))


# --- claims that hold


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_what_is_claimed_of_the_first_item_holds_on_new_pairs(seed):
    est, held, (X, Y) = split_views(seed)
    before = co.CrossModalIndex(est, None, Y).tags(X, k=1)
    after = co.CrossModalIndex(est, None, Y, held_out=held).tags(X, k=1)
    assert before.scores.mean() - find_hits(before).mean() > 0.05  # a fit to few pairs claims too much
    assert abs(after.probabilities.mean() - find_hits(after).mean()) < 0.03
    # Not only on average: among the claims below and above the median too.
    is_high = after.probabilities[:, 0] > np.median(after.probabilities)
    for part in (is_high, ~is_high):
        assert abs(after.probabilities[part].mean() - find_hits(after)[part].mean()) < 0.06


@pytest.mark.slow
@pytest.mark.parametrize(("by", "scaled"), RANKINGS)
def test_claims_of_every_ranking_hold(by, scaled):
    est, held, (X, Y) = split_views(1)
    found = co.CrossModalIndex(est, None, Y, by=by, scaled=scaled, held_out=held).tags(X, k=1)
    assert abs(found.probabilities.mean() - find_hits(found).mean()) < 0.04


@pytest.mark.slow
def test_known_truth_needs_no_correction():
    # X and Y are jointly normal with the correlations of the fit: Mehler's formula is the truth, and the slope is 1.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 3))
    Y = 0.98 * X + np.sqrt(1 - 0.98**2) * rng.normal(size=X.shape)
    est = co.CCA(n_components=3).fit(X[:58_000], Y[:58_000])
    index = co.CrossModalIndex(est, None, Y[59_000:], by="gaussian", held_out=(X[58_000:59_000], Y[58_000:59_000]))
    assert index.calibration["tags"].slope == pytest.approx(1, abs=0.1)


@pytest.mark.slow
def test_labels_keep_their_conditional_distribution():
    rng = np.random.default_rng(0)
    x = rng.choice(list("abcd"), 6000, p=[0.4, 0.3, 0.2, 0.1])
    y = np.where(rng.random(6000) < 0.6, x, rng.choice(list("abcd"), 6000))
    ca = co.CA().fit(x[:3000], y[:3000])
    labels = list("abcd")
    index = co.CrossModalIndex(ca, labels, labels, held_out=(x[3000:], y[3000:]))
    assert index.calibration["tags"].slope == pytest.approx(1, abs=0.15)
    found = index.tags(labels, k=4)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(found.probabilities[:, 0], 0.6 + 0.1, atol=0.04)


@pytest.mark.slow
def test_tags_are_right_as_often_as_claimed():
    rng = np.random.default_rng(0)
    X, Y = draw_views(rng, 2400, k=4, width=12)
    has_tag = rng.random((2400, 20)) < 1 / (1 + np.exp(2 - 0.3 * Y @ rng.normal(size=(12, 20))))
    names = [f"tag {i}" for i in range(20)]
    est = co.CCA(n_components=6).fit(X[:200], Y[:200])
    fitted = est, names, Y[:200], has_tag[:200]
    index = co.CrossModalIndex.of_tags(*fitted, None, X[1200:], held_out=(X[200:1200], has_tag[200:1200]))
    sparse = co.CrossModalIndex.of_tags(*fitted).calibrate(X[200:1200], sp.csr_array(has_tag[200:1200]), by="auto")
    found = index.tags(X[1200:], k=5)
    is_right = np.take_along_axis(has_tag[1200:], found.index, axis=1)
    np.testing.assert_allclose(found.probabilities.mean(axis=0), is_right.mean(axis=0), atol=0.05)
    assert (np.diff(found.probabilities, axis=1) <= 0).all()
    np.testing.assert_allclose(sparse.tags(X[1200:], k=5).probabilities, found.probabilities)
    for by in ("posterior", "gaussian", "ratio", "distance", "cosine"):
        other = index.calibrate(X[200:1200], has_tag[200:1200], by=by).tags(X[1200:], k=5)
        is_right = np.take_along_axis(has_tag[1200:], other.index, axis=1)
        assert abs(other.probabilities.mean() - is_right.mean()) < 0.03
    assert "precision" in repr(index.calibration["tags"])
    assert not index.items(tags=names[:1]).is_calibrated  # x given a tag stay scores


# --- what a calibration changes, and what not


@pytest.mark.slow
def test_order_and_sum():
    for by, scaled in RANKINGS:
        plain = co.CrossModalIndex(EST, None, TEST[1], by=by, scaled=scaled)
        index = plain.calibrate(*HELD)
        found = index.tags(TEST[0][:40], k=300)
        np.testing.assert_array_equal(found.index, plain.tags(TEST[0][:40], k=300).index)
        assert (np.diff(found.probabilities, axis=1) <= 1e-12).all()
        np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)
        near = index.tags(TEST[0][:40], radius=3.0)
        for i, each in enumerate(near.index):
            np.testing.assert_allclose(near.probabilities[i], found.probabilities[i, np.isin(found.index[i], each)])


def test_without_held_out_pairs_there_are_only_scores():
    index = co.CrossModalIndex(EST, None, TEST[1])
    found = index.tags(TEST[0][:2])
    assert not found.is_calibrated
    assert index.calibration == {}
    assert "score" in repr(found)
    assert "probability" not in repr(found)
    with pytest.raises(AttributeError, match=r"probabilities .*calibrate"):
        _ = found.probabilities
    assert "probability" not in found.to_frame("pandas").columns


def test_with_held_out_pairs_there_are_both():
    index = co.CrossModalIndex(EST, None, TEST[1], held_out=HELD)
    found = index.tags(TEST[0][:2])
    assert found.to_frame("pandas").columns.tolist()[-2:] == ["score", "probability"]
    assert "probability" in repr(found)
    assert "calibrated" in repr(index)


@pytest.mark.slow
def test_x_are_calibrated_too():
    index = co.CrossModalIndex(EST, None, TEST[1], None, TEST[0], held_out=HELD)
    assert list(index.calibration) == ["tags", "items"]
    found = index.items(TEST[1], k=1)
    assert abs(found.probabilities.mean() - find_hits(found).mean()) < 0.08


def test_another_ranking_is_not_calibrated():
    index = co.CrossModalIndex(EST, None, TEST[1], held_out=HELD).ranked("cosine", scaled=True)
    assert (index.by, index.scaled, index.calibration) == ("cosine", True, {})
    assert not index.tags(TEST[0][:2]).is_calibrated


@pytest.mark.slow
@pytest.mark.parametrize("held_out", [None, HELD])
def test_saved_and_loaded(tmp_path, held_out):
    before = co.CrossModalIndex(EST, None, TEST[1], None, TEST[0], by="cosine", held_out=held_out)
    before.save(tmp_path / "index.safetensors")
    after = co.CrossModalIndex.load(tmp_path / "index.safetensors")
    assert repr(after) == repr(before)
    assert repr(after.calibration) == repr(before.calibration)
    for one, other in ((before.tags(TEST[0]), after.tags(TEST[0])), (before.items(TEST[1]), after.items(TEST[1]))):
        np.testing.assert_array_equal(one.scores, other.scores)
        assert one.is_calibrated == other.is_calibrated == (held_out is not None)
        if held_out is not None:
            np.testing.assert_array_equal(one.probabilities, other.probabilities)


def test_a_saved_index_of_tags_is_calibrated_as_one(tmp_path):
    has_tag = TEST[1] > 0
    index = co.CrossModalIndex.of_tags(EST, None, TEST[1], has_tag)
    index.save(tmp_path / "tags.safetensors")
    after = co.CrossModalIndex.load(tmp_path / "tags.safetensors").calibrate(HELD[0], HELD[1] > 0)
    np.testing.assert_array_equal(
        after.tags(TEST[0]).probabilities, index.calibrate(HELD[0], HELD[1] > 0).tags(TEST[0]).probabilities
    )


# --- the best ranking


@pytest.mark.slow
def test_auto_is_the_best_on_held_out_pairs():
    index = co.CrossModalIndex(EST, None, TEST[1], held_out=HELD)
    rankings = index.calibration["tags"].rankings
    assert rankings[index.by, index.scaled] == max(rankings.values())
    for (by, scaled), value in rankings.items():
        # By hand: each held-out y joins the items of the index.
        ranks = []
        for x, y in zip(*HELD, strict=True):
            joined = co.CrossModalIndex(EST, None, np.vstack([TEST[1], y]), by=by, scaled=scaled)
            found = joined.tags(x[None], k=301).index[0]
            ranks.append(1 + np.flatnonzero(found == 300)[0])
            if len(ranks) == 30:
                break
        own = index.calibrate(HELD[0][:30], HELD[1][:30]).calibration["tags"].rankings[by, scaled]
        assert own == pytest.approx(np.mean(1 / np.array(ranks)))
        assert 0 < value < 1


@pytest.mark.slow
def test_a_ranking_that_was_asked_for_stays():
    index = co.CrossModalIndex(EST, None, TEST[1], by="ratio", held_out=HELD)
    assert index.by == "ratio"
    assert index.calibrate(*HELD).by == "ratio"
    assert index.calibrate(*HELD, by="cosine").by == "cosine"
    best = index.calibrate(*HELD, by="auto")
    assert best.by == co.CrossModalIndex(EST, None, TEST[1], held_out=HELD).by


def test_the_usual_ranking_is_taken_if_no_other_is_better():
    values = np.random.default_rng(0).random(100)
    rankings = {("gaussian", False): values, ("cosine", True): values + 0.1, ("cosine", False): values[::-1]}
    assert choose_ranking(rankings, ("gaussian", False), may_scale=True) == ("cosine", True)
    assert choose_ranking(rankings, ("gaussian", False), may_scale=False) == ("gaussian", False)
    assert choose_ranking(rankings, ("gaussian", True), may_scale=True) == ("cosine", True)


def test_values_that_the_index_holds_do_not_join():
    x = np.tile(list("abc"), 40)
    y = np.tile(list("uvw"), 40)
    y[:30] = "u"
    ca = co.CA().fit(x, y)
    learned = co.CrossModalIndex(ca, list("uvw"), list("uvw"), held_out=(x, y)).calibration["tags"]
    assert learned.hit_rate == pytest.approx(np.mean(y == np.select([x == "a", x == "b"], ["u", "v"], "w")))


# --- small parts


def test_a_slope_is_found_by_its_likelihood():
    rng = np.random.default_rng(0)
    truth = 2.5 * rng.normal(size=(4000, 30))
    right = np.array([rng.choice(30, p=p) for p in np.exp(truth) / np.exp(truth).sum(axis=1, keepdims=True)])
    scored = ScoredQueries(truth / 2.5, np.arange(30) == right[:, None])
    assert fit_slope(scored) == pytest.approx(2.5, rel=0.1)


def test_no_hit_claims_no_certainty():
    scores = np.random.default_rng(0).normal(size=(50, 10))
    none = np.zeros((50, 10), dtype=bool)
    assert fit_slope(ScoredQueries(scores, none)) < 0.1
    assert smooth_targets(np.ones(8, dtype=bool)).max() == 0.9


def test_equal_scores_share_their_ranks():
    scored = ScoredQueries(np.zeros((1, 5)), np.array([[True, False, False, False, False]]))
    assert scored.find_reciprocal_ranks().tolist() == [pytest.approx(1 / 3)]


def test_many_items_take_fewer_queries(monkeypatch):
    monkeypatch.setattr("correspondence.search.calibrating.MAX_CELLS", 300 * 100)
    with pytest.warns(co.LeftOut, match="held_out .*100"):
        index = co.CrossModalIndex(EST, None, TEST[1], held_out=HELD)
    assert index.calibration["tags"].n == 100


def test_as_a_frame():
    learned = co.CrossModalIndex(EST, None, TEST[1], held_out=HELD).calibration["tags"]
    frame = learned.to_frame("pandas")
    assert frame.columns.tolist() == ["by", "scaled", "value"]
    assert frame["by"].iloc[0] == learned.by
    assert frame["value"].is_monotonic_decreasing
    assert "(used)" in repr(learned).splitlines()[2]


@pytest.mark.parametrize(
    ("held_out", "message"),
    [
        (HELD[0], "held_out must .*pair"),
        ((HELD[0][:5], HELD[1][:5]), "held_out must .*20.*5"),
        ((HELD[0], HELD[1][1:]), "held_out must .*300.*299"),
        ((HELD[0][:0], HELD[1][:0]), "held_out X is empty"),
    ],
)
def test_mistakes_get_one_sentence(held_out, message):
    with pytest.raises(ValueError, match=message):
        co.CrossModalIndex(EST, None, TEST[1], held_out=held_out)


def test_mistakes_with_tags():
    has_tag = TEST[1] > 0
    with pytest.raises(ValueError, match=r"held_out must .*30 tags.*29"):
        co.CrossModalIndex.of_tags(EST, None, TEST[1], has_tag, held_out=(HELD[0], HELD[1][:, 1:] > 0))
    with pytest.raises(ValueError, match=r"held_out has_tag must .*300"):
        co.CrossModalIndex.of_tags(EST, None, TEST[1], has_tag, held_out=(HELD[0], HELD[1][1:] > 0))
    with pytest.raises(ValueError, match="by must"):
        co.CrossModalIndex(EST, None, TEST[1]).calibrate(*HELD, by="angle")
