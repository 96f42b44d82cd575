"""Figures of held-out pairs, and differences between two of them."""

import numpy as np

from correspondence.results.held_out import HeldOut, compute_gain


def test_a_difference_by_rounding_is_no_gain(rng):
    terms = rng.random(80)
    assert compute_gain(terms, terms * (1 + 2e-16) + 1e-17) == 0
    assert compute_gain(terms, terms) == 0
    assert compute_gain(terms, terms + 0.1 + 0.01 * rng.random(80)) > 50


def test_a_constant_difference_is_beyond_any_error():
    assert compute_gain(np.zeros(5), np.full(5, 0.1)) == np.inf
    assert compute_gain(np.full(5, 0.1), np.zeros(5)) == -np.inf


def test_evidence_and_text():
    held = HeldOut(np.array([0.5]), np.array([[0.3, 0.7]]), 0.2, np.array([0.1, 0.3]), 100, 0.9)
    assert held.evidence.n_holding == 1
    assert (held.evidence.level, held.evidence.captured) == (0.9, 0.2)
    assert repr(held) == "HeldOut on n 100: captured 0.2 [0.1, 0.3] (90 %)\n  correlation 1: 0.5000 [0.3000, 0.7000]"
