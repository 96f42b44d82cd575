"""Functions under a penalty: none is the plain problem, more is smoother, and the folds choose."""

import numpy as np
import pytest
from scipy.linalg import eigh

from correspondence.core import penalised_coordinates, regularised
from correspondence.core.moments import Moments
from correspondence.core.regularised import N_FOLDS, compute_fold_moments, fit_penalised
from correspondence.core.scoring import score_pairs


def pairs(rng, n=300, p=6, q=5):
    F = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    return F, F[:, :q] + 2 * rng.normal(size=(n, q)) @ rng.normal(size=(q, q)) + 10


def ones(F, G):
    return np.ones(F.shape[1]), np.ones(G.shape[1])


def penalty_of(weights, R):
    """Of each function, which has variance 1."""
    return np.einsum("pi,pq,qi->i", weights, np.diag(R) if R.ndim == 1 else R, weights)


# --- folds


def test_rows_are_dealt_out_in_turn_however_they_come(rng):
    F, G = pairs(rng, n=103)
    whole = compute_fold_moments([(F, G)])
    for sizes in ([1] * 103, [50, 53], [3, 0, 100], [102, 1]):
        ends = np.cumsum(sizes)
        parts = compute_fold_moments(
            (F[end - size : end], G[end - size : end]) for size, end in zip(sizes, ends, strict=True)
        )
        for a, b in zip(parts, whole, strict=True):
            assert a.n == b.n
            np.testing.assert_allclose(a.cov_fg, b.cov_fg, atol=1e-10)
            np.testing.assert_allclose(a.mean_g, b.mean_g, atol=1e-12)
    for k, fold in enumerate(whole):
        np.testing.assert_allclose(fold.cov_f, np.cov(F[k::N_FOLDS].T, bias=True), atol=1e-10)


# --- the solution for one strength


def test_no_penalty_is_the_plain_problem(rng):
    F, G = pairs(rng)
    fit = fit_penalised(compute_fold_moments([(F, G)]), ones(F, G), 3, [0.0])
    plain = Moments().update(F, G).decompose(3)
    np.testing.assert_allclose(fit.correlations, plain.correlations, atol=1e-10)
    for ours, theirs in ((fit.A, plain.f.weights), (fit.B, plain.g.weights)):
        np.testing.assert_allclose(ours, theirs * np.sign((ours * theirs).sum(axis=0)), atol=1e-8)
    assert fit.strength.tolist() == [0, 0, 0]


@pytest.mark.parametrize("strength", [0.01, 1.0, 100.0])
def test_the_shape_is_that_of_the_penalised_problem_and_the_size_is_not(rng, strength):
    """One component, by the generalised eigenvalue problem of both sides at once."""
    F, G = pairs(rng)
    R = tuple(np.diag(rng.random(k)) + 0.1 for k in (6, 5))
    fit = fit_penalised(compute_fold_moments([(F, G)]), R, 1, [strength])
    C = np.cov(np.hstack([F, G]).T, bias=True)
    left, right = np.zeros((11, 11)), np.zeros((11, 11))
    left[:6, 6:], left[6:, :6] = C[:6, 6:], C[6:, :6]
    right[:6, :6], right[6:, 6:] = C[:6, :6] + strength * R[0], C[6:, 6:] + strength * R[1]
    first = eigh(left, right)[1][:, -1]
    for weights, shape, cov in ((fit.A, first[:6], C[:6, :6]), (fit.B, first[6:], C[6:, 6:])):
        expected = shape / np.sqrt(shape @ cov @ shape)
        np.testing.assert_allclose(weights[:, 0] * np.sign(weights[:, 0] @ expected), expected, atol=1e-8)
    r = np.corrcoef((F @ fit.A)[:, 0], (G @ fit.B)[:, 0])[0, 1]
    assert fit.correlations[0] == pytest.approx(r)


def test_functions_are_standardised_and_correlated_in_pairs(rng):
    F, G = pairs(rng)
    fit = fit_penalised(compute_fold_moments([(F, G)]), ones(F, G), 3, [5.0])
    f, g = (F - F.mean(axis=0)) @ fit.A, (G - G.mean(axis=0)) @ fit.B
    np.testing.assert_allclose(f.T @ f / len(f), np.eye(3), atol=1e-9)
    np.testing.assert_allclose(g.T @ g / len(g), np.eye(3), atol=1e-9)
    np.testing.assert_allclose(f.T @ g / len(g), np.diag(fit.correlations), atol=1e-9)


def test_more_penalty_gives_smaller_weights_and_correlations(rng):
    F, G = pairs(rng, n=60, p=20, q=15)
    fits = [fit_penalised(compute_fold_moments([(F, G)]), ones(F, G), 1, [s]) for s in (0.0, 0.1, 1.0, 10.0, 1e6)]
    for weights in ([fit.A for fit in fits], [fit.B for fit in fits]):
        sizes = [penalty_of(w, np.ones(len(w)))[0] for w in weights]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[-1] < sizes[0] / 5
    correlations = [fit.correlations[0] for fit in fits]
    assert correlations == sorted(correlations, reverse=True)


def test_what_is_not_penalised_stays(rng):
    """An infinite penalty on all but the first two features of x leaves these."""
    F, G = pairs(rng)
    R = np.where(np.arange(6) < 2, 0.0, 1.0), np.zeros(5)
    strong = fit_penalised(compute_fold_moments([(F, G)]), R, 2, [1e12])
    np.testing.assert_allclose(strong.A[2:], 0, atol=1e-5)
    plain = Moments().update(F[:, :2], G).decompose(2)
    np.testing.assert_allclose(strong.correlations, plain.correlations, atol=1e-6)


def test_vectors_are_diagonal_matrices(rng):
    F, G = pairs(rng)
    R = rng.random(6), rng.random(5)
    vector = fit_penalised(compute_fold_moments([(F, G)]), R, 2, [1.0])
    matrix = fit_penalised(compute_fold_moments([(F, G)]), (np.diag(R[0]), np.diag(R[1])), 2, [1.0])
    np.testing.assert_allclose(np.abs(vector.A), np.abs(matrix.A), atol=1e-9)  # signs come later


def test_features_that_repeat_others_and_constants_do_no_harm(rng):
    F, G = pairs(rng)
    more = np.column_stack([F, F[:, 0] - F[:, 1], np.full(len(F), 3.0)])
    fit = fit_penalised(compute_fold_moments([(more, G)]), ones(more, G), 5, [0.0])
    np.testing.assert_allclose(fit.correlations, Moments().update(F, G).decompose().correlations, atol=1e-9)
    assert fit_penalised(compute_fold_moments([(more, G)]), ones(more, G), 50, [1.0]).A.shape == (8, 5)


# --- many features


# --- the choice of the strength


def test_the_strongest_within_a_standard_error_of_the_best():
    scores = np.array([[1.0, 2.0, 1.9, 0.0], [1.0, 2.2, 2.3, 0.0], [1.0, 2.1, 1.9, 0.0]])
    assert (
        regularised.find_strongest_penalty(scores, np.inf) == 2
    )  # differences 0.1, -0.1 and 0.2: mean 0.07, standard error 0.09
    scores[:, 2] = [1.9, 2.1, 2.0]
    assert regularised.find_strongest_penalty(scores, np.inf) == 1  # 0.1 worse in every fold
    assert regularised.find_strongest_penalty(np.ones((5, 4)), np.inf) == 3


def test_a_clear_component_does_not_lose_more_than_a_share_to_smoothness():
    gains = np.array([[1.0, 0.9], [1.1, 0.4], [1.0, 1.2], [0.9, 0.4], [1.0, 1.1]])  # 0.2 less, standard error 0.17
    assert regularised.find_strongest_penalty(np.column_stack([gains, gains[:, 1] - 5]), np.inf) == 0
    gains[:, 1] += 0.05
    assert regularised.find_strongest_penalty(gains, np.inf) == 1
    assert regularised.find_strongest_penalty(gains, 0.1) == 0
    gains -= 1.0  # what is gained may be chance: then the standard error decides alone
    assert regularised.find_strongest_penalty(gains, 0.1) == 1


def test_scores_are_what_is_captured_of_the_fold(rng):
    F, G = pairs(rng)
    fold = np.arange(len(F)) % N_FOLDS == 1
    held, rest = Moments().update(F[fold], G[fold]), Moments().update(F[~fold], G[~fold])
    for strength in (0.1, 10.0):
        pairs_found = regularised._PairsFound.make_empty(penalised_coordinates.DiagonalPenalty(rest, ones(F, G), 12))
        for i in range(2):
            pairs_found = pairs_found.add_pair(regularised.Step(strength, "turn" if i else "keep"))
        score = pairs_found.score_fold(held)
        fit = fit_penalised([rest, Moments()], ones(F, G), 2, [strength])  # nothing to choose by: all pairs rotate
        f, g = (F[fold] - F[~fold].mean(axis=0)) @ fit.A, (G[fold] - G[~fold].mean(axis=0)) @ fit.B
        shares = np.full(len(f), 1 / len(f))  # moments do not say what each pair contributes together with itself
        assert score == pytest.approx(score_pairs(f, g, fit.correlations, shares).captured)


def test_noise_asks_for_more_than_signal(rng):
    strengths = (10.0 ** np.arange(-3, 4)).tolist()
    F = rng.normal(size=(200, 30))
    clear, blurred = F[:, :20] + 0.1 * rng.normal(size=(200, 20)), rng.normal(size=(200, 20))
    chosen = [
        fit_penalised(compute_fold_moments([(F, G)]), ones(F, G), 2, strengths).strength for G in (clear, blurred)
    ]
    assert (chosen[0] < chosen[1]).all()
    assert set(np.concatenate(chosen)) <= set(strengths)


def test_nothing_to_choose_from(rng):
    """No penalty at all, or fewer pairs than folds: the first strength."""
    F, G = pairs(rng)
    assert fit_penalised(compute_fold_moments([(F, G)]), (np.zeros(6), np.zeros(5)), 1, [0.5, 1.0]).strength == 0.5
    assert fit_penalised(compute_fold_moments([(F[:4], G[:4])]), ones(F, G), 1, [0.5, 1.0]).strength == 0.5


# --- one pair after the other


def weak_pairs(rng, n=200):
    """One weak component, and many features in which noise is found."""
    F, G = rng.normal(size=(n, 20)), rng.normal(size=(n, 15))
    G[:, 0] += 0.5 * F[:, 0]
    return F, G


STRENGTHS = (10.0 ** np.arange(-3, 3)).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_more_components_of_noise_leave_the_first_as_it_is(seed):
    F, G = weak_pairs(np.random.default_rng(seed))
    one, ten = (fit_penalised(compute_fold_moments([(F, G)]), ones(F, G), d, STRENGTHS) for d in (1, 10))
    first = int(np.argmax(np.abs(np.corrcoef((F @ one.A)[:, 0], (F @ ten.A).T)[0, 1:])))
    for single, many, Z in ((one.A, ten.A, F), (one.B, ten.B, G)):
        assert abs(np.corrcoef((Z @ single)[:, 0], (Z @ many)[:, first])[0, 1]) > 0.85


@pytest.mark.parametrize("strengths", [STRENGTHS, [0.5], np.array([[3.0], [0.01], [1.0], [0.2]])])
def test_functions_are_uncorrelated_but_in_pairs_whatever_the_strengths(rng, strengths):
    F, G = weak_pairs(rng)
    G[:, 1] += 2 * F[:, 1]
    fit = fit_penalised(compute_fold_moments([(F, G)]), ones(F, G), 4, strengths)
    f, g = (F - F.mean(axis=0)) @ fit.A, (G - G.mean(axis=0)) @ fit.B
    np.testing.assert_allclose(f.T @ f / len(f), np.eye(4), atol=1e-8)
    np.testing.assert_allclose(g.T @ g / len(g), np.eye(4), atol=1e-8)
    np.testing.assert_allclose(f.T @ g / len(g), np.diag(fit.correlations), atol=1e-8)
    assert (np.diff(fit.correlations) <= 0).all()


def test_a_strength_for_each_component(rng):
    F, G = weak_pairs(rng)
    given = np.array([[3.0], [0.01], [1.0]])
    fit = fit_penalised(compute_fold_moments([(F, G)]), ones(F, G), 3, given)
    assert sorted(fit.strength) == sorted(given.ravel())
    first = fit_penalised(compute_fold_moments([(F, G)]), ones(F, G), 1, [3.0])
    own = int(np.flatnonzero(fit.strength == 3.0)[0])
    np.testing.assert_allclose(np.abs(fit.A[:, own]), np.abs(first.A[:, 0]), atol=1e-8)


def test_components_that_are_there_may_turn_the_first(rng):
    """Two equally strong components: what a fit of one finds is a mixture, which a fit of two takes apart."""
    F, G = rng.normal(size=(500, 12)), rng.normal(size=(500, 12))
    G[:, :2] += 2 * F[:, :2]
    one, two = (fit_penalised(compute_fold_moments([(F, G)]), ones(F, G), d, STRENGTHS) for d in (1, 2))
    assert two.correlations[0] >= one.correlations[0] - 1e-9
    for weights in (two.A, two.B):
        assert (np.sum(weights[:2] ** 2, axis=0) > 0.9 * np.sum(weights**2, axis=0)).all()


def test_rounding_does_not_choose_directions(rng):
    """Indicators of y add up to 1: their fourth direction shares nothing, and which one of x goes with it is chance."""
    F = rng.normal(size=(500, 7)) @ rng.normal(size=(7, 7))
    G = np.column_stack([np.eye(3)[np.digitize(F[:, 0] + rng.normal(size=500), [-0.5, 0.5])], F[:, 1] + F[:, 0]])
    one, other = (
        fit_penalised(compute_fold_moments([(F @ mixing, G)]), (mixing.T @ mixing, np.ones(4)), 2, [1.0])
        for mixing in (np.eye(7), np.linalg.qr(rng.normal(size=(7, 7)))[0])
    )
    np.testing.assert_allclose(one.correlations, other.correlations, atol=1e-10)


def test_a_rotation_needs_a_component_that_is_clearly_there_or_leaves_the_others_as_they_are():
    steps = [regularised.Step(s, kind) for kind in ("turn", "keep") for s in (0.1, 1.0)]
    before, kept = np.full(5, 1.0), np.full(4, 0.5)
    noise = np.array([0.3, -0.3, 0.3, -0.3, 0.1])
    scores = np.column_stack([1.05 + noise, 1.0 + noise, np.full(5, 1.01), np.full(5, 1.0)])
    assert (
        regularised.choose_best_step(scores, steps, before, kept, np.inf) == 2
    )  # gains by chance: the pairs before stay
    assert regularised.choose_best_step(scores, steps, before, np.full(4, 0.99), np.inf) == 0
    scores[:, :2] += 0.5
    assert regularised.choose_best_step(scores, steps, before, kept, np.inf) == 0


def test_one_pair_far_outside_does_not_decide_whether_to_rotate():
    steps = [regularised.Step(1.0, kind) for kind in ("turn", "keep")]
    before, kept = np.zeros(5), np.full(2, 0.5)
    scores = np.column_stack([[0.3, 0.35, 0.4, 0.3, -30.0], [0.1, 0.12, 0.1, 0.1, -32.0]])
    assert regularised.choose_best_step(scores, steps, before, kept, np.inf) == 0


def test_means_and_errors_without_the_extremes():
    gains = np.array([[0.0], [1.0], [2.0], [3.0], [100.0]])
    mean, error = regularised.compute_trimmed_mean(gains)
    assert mean == pytest.approx(2.0)
    assert error == pytest.approx(np.std([1, 1, 2, 3, 3], ddof=1) * np.sqrt(5) / 3)
    few = gains[:3]  # too few to leave any out
    mean, error = regularised.compute_trimmed_mean(few)
    assert (mean, error) == (pytest.approx(1.0), pytest.approx(1 / np.sqrt(3)))
