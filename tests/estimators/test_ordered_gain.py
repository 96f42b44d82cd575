"""Telling the order pays where it is true: the small version of benchmarks/ordered.py."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import ordered

METHODS = {name: ordered.METHODS[name] for name in ("CA, 1 component", "in order, 1")}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "steps"])
def test_more_of_a_population_in_order_is_captured(kind):
    found, _ = ordered.measure_tables(kind, 5, 0.5, 100, n_tables=25, methods=METHODS)
    gain = found["in order, 1"] - found["CA, 1 component"]
    assert gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(len(gain))


def test_a_wrong_order_costs_what_it_hides():
    found, _ = ordered.measure_tables("shuffled", 5, 0.5, 1000, n_tables=3, methods=METHODS)
    assert found["in order, 1"].mean() < 0.1 < found["CA, 1 component"].mean()


def test_what_is_captured_of_a_population_is_at_most_its_chi2():
    P = ordered.make_population("normal", 5, 0.5)
    found, chi2 = ordered.measure_tables("normal", 5, 0.5, 10**6, n_tables=1, methods=METHODS)
    assert found["in order, 1"][0] < chi2
    r, c = P.sum(axis=1), P.sum(axis=0)
    first = np.linalg.svd(P / np.sqrt(np.outer(r, c)) - np.sqrt(np.outer(r, c)))[1][0] ** 2
    assert found["CA, 1 component"][0] == pytest.approx(first, abs=1e-4)
