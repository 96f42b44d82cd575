import numpy as np
import pytest

import correspondence as co
from correspondence.heldout import gain, held_out


def direct_captured(F, G, s, w):
    """The score of NOTES.md, term by term."""
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


def test_captured_is_the_formula(rng):
    F, G, s, w = rng.normal(size=(50, 3)), rng.normal(size=(50, 3)), np.array([0.9, 0.5, 0.2]), rng.random(50)
    result = held_out(F, G, s, w)
    assert result.captured == pytest.approx(direct_captured(F, G, s, w))
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
        assert held_out(F[x], G[y], s, P.ravel()).captured <= truth.chi2 + 1e-12
    perfect = held_out(truth.f(x), truth.g(y), truth.correlations, P.ravel())
    assert perfect.captured == pytest.approx(truth.chi2)


def test_overfitting_shows(rng):
    x, y = rng.integers(0, 30, 500), rng.integers(0, 30, 500)
    ca = co.CA(handle_unknown="nan").fit(x[:250], y[:250])
    assert ca.decomposition_.chi2 > 1
    assert ca.score(x[250:], y[250:]) < 0


def test_intervals_cover_the_truth(rng):
    P = np.array([[0.25, 0.05, 0.05], [0.05, 0.2, 0.05], [0.05, 0.05, 0.25]])
    truth = co.CA().fit(P).decomposition_
    hits, captured = np.zeros(2), 0
    for _ in range(300):
        x, y = np.divmod(rng.choice(9, 400, p=P.ravel()), 3)
        result = held_out(truth.f(x), truth.g(y), truth.correlations)
        low, high = result.intervals.T
        hits += (low <= truth.correlations) & (truth.correlations <= high)
        captured += result.captured_interval[0] <= truth.chi2 <= result.captured_interval[1]
    assert ((hits / 300 > 0.9) & (hits / 300 < 0.99)).all()
    assert 0.9 < captured / 300 <= 1


def test_errors_are_those_of_a_bootstrap_away_from_the_truth(rng):
    n = 2000
    x = rng.exponential(size=n)
    F = np.column_stack([x, np.sin(3 * x)])
    G = F + rng.normal(size=(n, 2)) * (1 + x[:, None])
    s = np.array([0.5, 0.3])
    result = held_out(F, G, s)
    again = []
    for _ in range(400):
        i = rng.integers(0, n, n)
        other = held_out(F[i], G[i], s)
        again.append([other.captured, *np.arctanh(other.correlations)])
    error = np.std(again, axis=0)
    assert np.diff(result.captured_interval)[0] / 3.92 == pytest.approx(error[0], rel=0.15)
    half = np.diff(np.arctanh(result.intervals), axis=1)[:, 0] / 3.92
    np.testing.assert_allclose(half, error[1:], rtol=0.15)


def test_perfect_and_constant_functions_have_no_nan():
    one = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    perfect = held_out(one, one, np.ones(1))
    assert perfect.correlations == pytest.approx([1])
    assert perfect.intervals == pytest.approx(np.array([[1, 1]]))
    for value in (1.0, 0.1, 1 / 3):
        constant = held_out(np.full((4, 1), value), one, np.ones(1))
        assert constant.correlations.tolist() == [0]
        assert constant.intervals.tolist() == [[-1, 1]]


def test_repr_and_bad_calls():
    text = repr(co.CA().fit(co.datasets.load_smoke()).evaluate(co.datasets.load_smoke()))
    assert "captured 0.08519" in text
    assert "correlation 1: 0.2734" in text
    one = np.ones((2, 1))
    for weights, level, message in (
        ([0, 0], 0.95, "not all zero"),
        ([1, -1], 0.95, "at least 0"),
        ([1], 0.95, "must have 2 numbers"),
        (None, 95, "level must be between 0 and 1"),
    ):
        with pytest.raises(ValueError, match=message):
            held_out(one, one, np.ones(1), weights, level)
    with pytest.raises(ValueError, match="no pairs"):
        held_out(one[:0], one[:0], np.ones(1))


def test_a_difference_by_rounding_is_no_gain(rng):
    terms = rng.random(80)
    assert gain(terms, terms * (1 + 2e-16) + 1e-17) == 0
    assert gain(terms, terms) == 0
    assert gain(terms, terms + 0.1 + 0.01 * rng.random(80)) > 50
