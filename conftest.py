"""Shared by the tests, the docstrings and the pages."""

import gc

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest

# Cycles are looked for in all objects less often: there are half a million, of modules and tests.
gc.set_threshold(*gc.get_threshold()[:2], 100)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")
