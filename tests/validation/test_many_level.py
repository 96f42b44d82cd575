"""A small run of benchmarks/many_level.py: level and power of the test of axes, and coverage of the ellipses."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import correspondence as co

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import many_level

N_TABLES = 80


@pytest.mark.slow
@pytest.mark.parametrize("name", many_level.DESIGNS)
@pytest.mark.parametrize("classes", [1, 2])
def test_the_axis_after_the_true_ones_is_chance(name, classes):
    level, power = many_level.count_found(many_level.DESIGNS[name], 300, classes, 0.7, N_TABLES, 39)
    assert level * N_TABLES * power <= binom.ppf(0.999, N_TABLES, 0.05)
    if len(many_level.DESIGNS[name][0]) > 4:
        assert power > 0.8


@pytest.mark.slow
def test_ellipses_cover_the_population():
    mean, worst = many_level.measure_coverage(many_level.MIXED, 500, 0.9, 20, 60)
    assert 0.88 < mean <= 1
    assert worst > 0.6


def test_the_population_is_that_of_very_many_rows():
    rng = np.random.default_rng(0)
    population = many_level.Population.draw(many_level.MIXED, 3, 0.9, rng)
    places, mca = population.find_places(2), co.MCA(2).fit(population.sample(100_000, rng))
    found = dict(zip(mca.columns_.labels, mca.columns_.principal, strict=True))
    for label, place in places.items():
        np.testing.assert_allclose(np.abs(found[label]), np.abs(place), atol=0.05)
