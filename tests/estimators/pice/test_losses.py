"""Losses as functions of covariances."""

import numpy as np
import pytest
import torch

from correspondence.core.moments import Moments
from correspondence.estimators.pice.losses import DCCA_RELATIVE_RIDGE, LOSS_FUNCTIONS, PICE_EPSILON, Covariances


@pytest.fixture
def outputs(rng):
    f = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 3)) + 5
    g = f @ rng.normal(size=(3, 3)) + rng.normal(size=(400, 3))
    return torch.tensor(f), torch.tensor(g)


def power(matrix, exponent):
    values, vectors = np.linalg.eigh(matrix)
    return vectors * values**exponent @ vectors.T


def covariances(f, g):
    m = Moments().update(f.numpy(), g.numpy())
    return m.cov_f, m.cov_g, m.cov_fg


def test_covariances_of_a_large_batch_are_its_own(outputs):
    for ours, exact in zip(Covariances()(*outputs), covariances(*outputs), strict=True):
        np.testing.assert_allclose(ours, exact, atol=1e-10)


def test_pice_is_the_loss_of_the_paper(outputs):
    cov_f, cov_g, cov_fg = covariances(*outputs)
    whitened = power(cov_f + PICE_EPSILON * np.eye(3), -0.5) @ cov_fg
    exact = -2 * np.linalg.svd(whitened)[1].sum() + np.trace(cov_g)
    assert LOSS_FUNCTIONS["pice"](*Covariances()(*outputs)).item() == pytest.approx(exact)


def test_dcca_is_minus_the_sum_of_the_canonical_correlations(outputs):
    cov_f, cov_g, cov_fg = covariances(*outputs)
    roots = [power(c + DCCA_RELATIVE_RIDGE * np.trace(c) / 3 * np.eye(3), -0.5) for c in (cov_f, cov_g)]
    exact = -np.linalg.svd(roots[0] @ cov_fg @ roots[1])[1].sum()
    assert LOSS_FUNCTIONS["dcca"](*Covariances()(*outputs)).item() == pytest.approx(exact)


def test_lowrank_is_least_at_the_decomposition(outputs):
    """There it is minus the sum of the PICs."""
    f, g = outputs
    d = Moments().update(f.numpy(), g.numpy()).decompose()
    root = np.sqrt(d.correlations)
    best = torch.tensor(d.f(f.numpy()) * root), torch.tensor(d.g(g.numpy()) * root)
    assert LOSS_FUNCTIONS["lowrank"](*Covariances()(*best)).item() == pytest.approx(-d.pics.sum())
    for scale in (0.9, 1.1):
        assert LOSS_FUNCTIONS["lowrank"](*Covariances()(best[0] * scale, best[1])).item() > -d.pics.sum()


def test_outputs_are_clipped():
    f = torch.tensor([[1e30], [0.0], [1.0]] * 10)
    assert all(torch.isfinite(c).all() for c in Covariances()(f, f))


@pytest.mark.slow
def test_small_batches_remember_the_ones_before(outputs):
    f, g = outputs
    memory = Covariances()
    rng = np.random.default_rng(0)
    for _ in range(2000):
        rows = rng.integers(400, size=2)
        small = memory(f[rows], g[rows])
    for ours, exact in zip(small, covariances(f, g), strict=True):
        assert np.abs(ours.numpy() - exact).max() < 0.5 * np.abs(exact).max()
    f.requires_grad_()
    LOSS_FUNCTIONS["dcca"](*memory(f[:2], g[:2])).backward()
    assert torch.isfinite(f.grad).all()
    assert f.grad[:2].abs().sum() > 0
