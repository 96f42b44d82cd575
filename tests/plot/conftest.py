"""What all tests of pictures share: no window, and no figure left open."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")
