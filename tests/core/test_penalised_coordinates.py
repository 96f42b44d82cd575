"""Coordinates of penalised problems: the same functions however they are found."""

import numpy as np
import pytest

from correspondence.core import penalised_coordinates
from correspondence.core.moments import Moments
from correspondence.core.penalised_coordinates import DiagonalPenalty, WholePenalty, diagonalise_penalty
from correspondence.core.regularised import compute_fold_moments, fit_penalised


def ones(F, G):
    return np.ones(F.shape[1]), np.ones(G.shape[1])


@pytest.mark.parametrize("shape", [(40, 30), (30, 40), (35, 35)])
@pytest.mark.parametrize("rank", [30, 4])
def test_leading_vectors_by_eigenvalues_are_those_by_svd(rng, monkeypatch, shape, rank):
    K = rng.normal(size=(shape[0], rank)) @ rng.normal(size=(rank, shape[1]))
    exact = penalised_coordinates.lead_pairs(K, 4)
    monkeypatch.setattr(penalised_coordinates, "MAX_FEATURES_FOR_FULL_SVD", 10)
    fast = penalised_coordinates.lead_pairs(K, 4)
    np.testing.assert_allclose(fast[1], exact[1])
    for ours, theirs in ((fast[0], exact[0]), (fast[2], exact[2])):
        np.testing.assert_allclose(np.abs((ours * theirs).sum(axis=0)), 1, atol=1e-9)
        np.testing.assert_allclose(ours.T @ ours, np.eye(4), atol=1e-9)


@pytest.mark.parametrize("shape", [(80, 90), (90, 80)])
@pytest.mark.parametrize("rank", [60, 4, 3, 0])
def test_leading_vectors_by_lanczos_are_those_by_svd(rng, monkeypatch, shape, rank):
    K = rng.normal(size=(shape[0], rank)) @ rng.normal(size=(rank, shape[1]))
    exact = penalised_coordinates.lead_pairs(K, 4)
    monkeypatch.setattr(penalised_coordinates, "MAX_FEATURES_FOR_FULL_SVD", 10)
    monkeypatch.setattr(penalised_coordinates, "MAX_FEATURES_FOR_DENSE_EIGH", 20)
    fast = penalised_coordinates.lead_pairs(K, 4)
    np.testing.assert_allclose(fast[1], exact[1], atol=1e-6)
    for ours, theirs in ((fast[0], exact[0]), (fast[2], exact[2])):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(np.abs((ours * theirs).sum(axis=0))[:rank], 1, atol=1e-9)


def test_equal_penalties_need_no_second_rotation(rng):
    cov = np.cov(rng.normal(size=(6, 50)))
    directions, rough = diagonalise_penalty(cov, np.full(6, 3.0))
    np.testing.assert_allclose(directions.T @ cov @ directions, np.eye(6), atol=1e-10)
    np.testing.assert_allclose(3 * directions.T @ directions, np.diag(rough), atol=1e-9)


@pytest.mark.slow
def test_more_features_than_are_decomposed_in_full(rng, monkeypatch):
    F = rng.normal(size=(700, 310))
    G = F[:, :305] + rng.normal(size=(700, 305))
    folds = compute_fold_moments([(F, G)])
    fast = fit_penalised(folds, ones(F, G), 3, [2.0])
    monkeypatch.setattr(penalised_coordinates, "MAX_FEATURES_FOR_FULL_SVD", 1000)
    slow = fit_penalised(folds, ones(F, G), 3, [2.0])
    np.testing.assert_allclose(fast.correlations, slow.correlations, atol=1e-9)
    np.testing.assert_allclose(np.abs(fast.A), np.abs(slow.A), atol=1e-7)


def test_leading_vectors_beyond_the_rank_are_still_functions(rng, monkeypatch):
    """Nothing is shared beyond the first component: the others are uncorrelated functions all the same."""
    monkeypatch.setattr(penalised_coordinates, "MAX_FEATURES_FOR_FULL_SVD", 3)
    F = rng.normal(size=(400, 8))
    G = np.column_stack([F[:, 0], rng.normal(size=(400, 5))])
    residual = G[:, 1:] - F @ np.linalg.lstsq(F, G[:, 1:], rcond=None)[0]
    G[:, 1:] = residual - residual.mean(axis=0)
    fit = fit_penalised(compute_fold_moments([(F, G)]), ones(F, G), 3, [0.0])
    assert fit.correlations[0] == pytest.approx(1)
    np.testing.assert_allclose(fit.A.T @ np.cov(F.T, bias=True) @ fit.A, np.eye(3), atol=1e-8)


def test_covariance_becomes_one_and_penalty_diagonal(rng):
    Z, R = rng.normal(size=(200, 4)), np.diag(rng.random(4))
    cov = np.cov(Z.T, bias=True)
    directions, rough = diagonalise_penalty(cov, R)
    np.testing.assert_allclose(directions.T @ cov @ directions, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(directions.T @ R @ directions, np.diag(rough), atol=1e-10)
    np.testing.assert_allclose(diagonalise_penalty(cov, np.diag(R))[1], rough)


def test_both_coordinates_have_the_same_functions(rng):
    F = rng.normal(size=(300, 5))
    moments = Moments().update(F, F[:, :4] + rng.normal(size=(300, 4)))
    penalty = np.diag(rng.random(5)), np.diag(rng.random(4))
    whole, diagonal = (kind(moments, penalty, 3) for kind in (WholePenalty, DiagonalPenalty))
    for strength in (0.0, 0.3):
        (U, s, V), (P, t, Q) = (coordinates.get_family(strength) for coordinates in (whole, diagonal))
        np.testing.assert_allclose(s, t)
        np.testing.assert_allclose(np.abs(whole.on_features(U, V)[0]), np.abs(diagonal.on_features(P, Q)[0]), atol=1e-8)
    np.testing.assert_allclose(whole.invert_covariances(moments.cov_f, moments.cov_g)[0], np.eye(5), atol=1e-8)
