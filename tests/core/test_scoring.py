import numpy as np
import pytest

import correspondence as co
from correspondence.core.moments import Moments
from correspondence.core.scoring import compute_captured_terms, score_moments, score_pairs


def direct_captured(F, G, s, w):
    """The score of NOTES.md, term by term, of a population."""
    F = np.column_stack([np.ones(len(F)), F])
    G = np.column_stack([np.ones(len(G)), G])
    s = np.r_[1, s]
    p = w / w.sum()
    first = 2 * sum(s[i] * (p @ (F[:, i] * G[:, i])) for i in range(len(s)))
    second = sum(
        s[i] * s[j] * (p @ (F[:, i] * F[:, j])) * (p @ (G[:, i] * G[:, j]))
        for i in range(len(s))
        for j in range(len(s))
    )
    return first - second - 1


def double_sum(F, G, s):
    """The same without the terms of a pair with itself, one by one."""
    ratio = 1 + (F * s) @ G.T
    return 2 * np.diag(ratio).mean() - 1 - (ratio**2)[~np.eye(len(F), dtype=bool)].mean()


def test_captured_of_a_population_is_the_formula(rng):
    F, G, s, w = rng.normal(size=(50, 3)), rng.normal(size=(50, 3)), np.array([0.9, 0.5, 0.2]), rng.random(50)
    assert score_pairs(F, G, s, w / w.sum()).captured == pytest.approx(direct_captured(F, G, s, w))
    moments = Moments().update(F, G)
    found = score_moments(moments, np.zeros(3), np.eye(3), np.zeros(3), np.eye(3), s)
    assert found == pytest.approx(direct_captured(F, G, s, np.ones(50)))


def test_captured_of_pairs_leaves_out_each_pair_with_itself(rng):
    F, G, s = rng.normal(size=(50, 3)), rng.normal(size=(50, 3)), np.array([0.9, 0.5, 0.2])
    result = score_pairs(F, G, s)
    assert result.captured == pytest.approx(double_sum(F, G, s))
    assert compute_captured_terms(F, G, s).mean() == pytest.approx(result.captured)
    w = rng.integers(1, 5, 50)
    weighted, copies = score_pairs(F, G, s, w), score_pairs(np.repeat(F, w, axis=0), np.repeat(G, w, axis=0), s)
    assert weighted.captured == pytest.approx(copies.captured) == double_sum(np.repeat(F, w, 0), np.repeat(G, w, 0), s)
    np.testing.assert_allclose(weighted.captured_interval, copies.captured_interval)
    np.testing.assert_allclose(weighted.intervals, copies.intervals)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 10])
def test_captured_has_no_bias(n):
    """Strong dependence and few pairs, where products of moments of the same pairs are too low by far."""
    rng = np.random.default_rng(1)
    s, found = np.array([0.9]), []
    for _ in range(1500):
        x = rng.normal(size=(n, 1))
        found.append(score_pairs(x, 0.9 * x + np.sqrt(0.19) * rng.normal(size=(n, 1)), s).captured)
    assert np.mean(found) == pytest.approx(0.81, abs=4 * np.std(found) / np.sqrt(1500))


def test_correlations_are_weighted(rng):
    F, G, s, w = rng.normal(size=(50, 3)), rng.normal(size=(50, 3)), np.array([0.9, 0.5, 0.2]), rng.random(50)
    result = score_pairs(F, G, s, w)
    r = [np.cov(F[:, i], G[:, i], aweights=w, ddof=0) for i in range(3)]
    np.testing.assert_allclose(result.correlations, [c[0, 1] / np.sqrt(c[0, 0] * c[1, 1]) for c in r])
    assert result.n == pytest.approx(w.sum())


def test_captured_never_exceeds_the_dependence_there_is(rng):
    P = rng.dirichlet(np.ones(20)).reshape(4, 5)
    truth = co.CA().fit(P).decomposition_
    x, y = np.divmod(np.arange(20), 5)
    for _ in range(200):
        k = rng.integers(1, 4)
        F, G, s = rng.normal(size=(4, k)), rng.normal(size=(5, k)), rng.random(k)
        assert score_pairs(F[x], G[y], s, P.ravel()).captured <= truth.chi2 + 1e-12
    perfect = score_pairs(truth.f(x), truth.g(y), truth.correlations, P.ravel())
    assert perfect.captured == pytest.approx(truth.chi2)


def test_overfitting_shows(rng):
    x, y = rng.integers(0, 30, 500), rng.integers(0, 30, 500)
    ca = co.CA(handle_unknown="nan").fit(x[:250], y[:250])
    assert ca.decomposition_.chi2 > 1
    assert ca.score(x[250:], y[250:]) < 0


@pytest.mark.slow
def test_intervals_cover_the_truth(rng):
    P = np.array([[0.25, 0.05, 0.05], [0.05, 0.2, 0.05], [0.05, 0.05, 0.25]])
    truth = co.CA().fit(P).decomposition_
    hits, captured = np.zeros(2), 0
    for _ in range(300):
        x, y = np.divmod(rng.choice(9, 400, p=P.ravel()), 3)
        result = score_pairs(truth.f(x), truth.g(y), truth.correlations)
        low, high = result.intervals.T
        hits += (low <= truth.correlations) & (truth.correlations <= high)
        captured += result.captured_interval[0] <= truth.chi2 <= result.captured_interval[1]
    assert ((hits / 300 > 0.9) & (hits / 300 < 0.99)).all()
    assert 0.9 < captured / 300 <= 1


@pytest.mark.slow
def test_errors_are_those_of_a_bootstrap_away_from_the_truth(rng):
    n = 2000
    x = rng.exponential(size=n)
    F = np.column_stack([x, np.sin(3 * x)])
    G = F + rng.normal(size=(n, 2)) * (1 + x[:, None])
    s = np.array([0.5, 0.3])
    result = score_pairs(F, G, s)
    again = []
    for _ in range(400):
        i = rng.integers(0, n, n)
        other = score_pairs(F[i], G[i], s)
        again.append([other.captured, *np.arctanh(other.correlations)])
    error = np.std(again, axis=0)
    assert np.diff(result.captured_interval)[0] / 3.92 == pytest.approx(error[0], rel=0.15)
    half = np.diff(np.arctanh(result.intervals), axis=1)[:, 0] / 3.92
    np.testing.assert_allclose(half, error[1:], rtol=0.15)


def test_perfect_and_constant_functions_have_no_nan():
    one = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    perfect = score_pairs(one, one, np.ones(1))
    assert perfect.correlations == pytest.approx([1])
    # With a share q of exchanged pairs all four would be on the line with probability (1 - q)^4.
    assert perfect.intervals == pytest.approx(np.array([[0.025**0.25, 1]]))
    opposite = score_pairs(one, -one, np.ones(1))
    assert opposite.intervals == pytest.approx(np.array([[-1, -(0.025**0.25)]]))
    for value in (1.0, 0.1, 1 / 3):
        constant = score_pairs(np.full((4, 1), value), one, np.ones(1))
        assert constant.correlations.tolist() == [0]
        assert constant.intervals.tolist() == [[-1, 1]]


def test_repr_and_bad_calls():
    text = repr(co.CA().fit(co.datasets.load_smoke()).evaluate(co.datasets.load_smoke()))
    assert "captured 0.0" in text
    assert "correlation 1: 0.2734" in text
    one = np.ones((2, 1))
    for weights, level, message in (
        ([0, 0], 0.95, "not all zero"),
        ([1, -1], 0.95, "at least 0"),
        ([1], 0.95, "2 numbers"),
        (None, 95, "level must"),
    ):
        with pytest.raises(ValueError, match=message):
            score_pairs(one, one, np.ones(1), weights, level)
    with pytest.raises(ValueError, match="must be pairs"):
        score_pairs(one[:0], one[:0], np.ones(1))


# --- what the intervals promise


def make_normal(rng, n):
    x = rng.normal(size=n)
    return x, 0.7 * x + np.sqrt(0.51) * rng.normal(size=n)


def make_square(rng, n):
    x = rng.normal(size=n)
    return x, x**2 + rng.normal(size=n)


def make_rare_labels(rng, n):
    x = rng.choice(6, n, p=[0.5, 0.25, 0.1, 0.08, 0.04, 0.03])
    y = np.where(rng.random(n) < 0.5, x, rng.choice(6, n, p=[0.5, 0.25, 0.1, 0.08, 0.04, 0.03]))
    return x.astype(str), y.astype(str)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "est"),
    [
        (make_normal, co.CCA(n_components=1)),
        (make_normal, co.ACE(n_components=2)),
        (make_square, co.ACE(n_components=1)),
        (make_rare_labels, co.CA(n_components=2, handle_unknown="nan")),
    ],
)
def test_intervals_cover_what_the_functions_have_in_the_population(make, est):
    rng = np.random.default_rng(2)
    d = est.fit(*make(rng, 400)).decomposition_
    many = make(rng, 200_000)
    truth = score_pairs(d.f(many[0]), d.g(many[1]), d.correlations)
    hits = []
    for _ in range(250):
        x, y = make(rng, 100)
        result = score_pairs(d.f(x), d.g(y), d.correlations)
        ends, values = (
            np.vstack([result.captured_interval, result.intervals]),
            np.r_[truth.captured, truth.correlations],
        )
        hits.append((ends[:, 0] <= values) & (values <= ends[:, 1]))
    coverage = np.mean(hits, axis=0)
    assert (coverage >= 0.91 - 2 * np.sqrt(0.91 * 0.09 / 250)).all()
    assert (coverage <= 0.995).all()
