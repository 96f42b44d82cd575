"""Data sets with a known number of components.

In those of `draw_classes`, X and Y are independent given a hidden class. With k + 1 classes the density ratio then has
exactly k components, whatever the functions; with one class X and Y are independent.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

import correspondence as co

SHIFT = 3.0  # distance of the classes, in units of the noise
KINDS: dict[str, Callable] = {}


def kind(name: str) -> Callable:
    def keep(function: Callable) -> Callable:
        KINDS[name] = function
        return function

    return keep


def draw_classes(name: str, n: int, k: int, rng: np.random.Generator):
    """Draw n pairs of one of `KINDS` that share exactly k components."""
    return KINDS[name](rng.integers(k + 1, size=n), rng)


def _shifted(classes: np.ndarray, noise: np.ndarray) -> np.ndarray:
    return SHIFT * classes + noise


@kind("normal")
def _normal(classes, rng):
    return tuple(_shifted(classes, rng.normal(size=len(classes))) for _ in "xy")


@kind("copied rows")
def _copied_rows(classes, rng):
    """Half of the rows are copies, some rows of several copies."""
    different = len(classes) // 2
    rows = np.r_[np.arange(different), rng.integers(different // 4, size=len(classes) - different)]
    sides = (_shifted(classes[:different, None], rng.normal(size=(different, p))) for p in (3, 2))
    return tuple(side[rows] for side in sides)


@kind("t2")
def _t2(classes, rng):
    return tuple(_shifted(2 * classes, rng.standard_t(2, size=len(classes))) for _ in "xy")


@kind("Cauchy")
def _cauchy(classes, rng):
    return tuple(_shifted(4 * classes, rng.standard_cauchy(size=len(classes))) for _ in "xy")


@kind("Zipf labels")
def _zipf_labels(classes, rng):
    return _draw_zipf(classes, 50, "a", rng), _draw_zipf(classes, 20, "b", rng)


def _draw_zipf(classes, count, letter, rng) -> np.ndarray:
    """Labels with probabilities 1, 1/2, 1/3, ...; each class has its own order of them."""
    weights = 1 / np.arange(1, count + 1)
    codes = rng.choice(count, len(classes), p=weights / weights.sum())
    return np.array([f"{letter}{code:02d}" for code in range(count)])[(codes + classes * (count // 3)) % count]


@kind("class labels")
def _class_labels(classes, rng):
    """Each class has its own few labels, many of them rare."""
    tables = np.random.default_rng(5)
    return tuple(
        _draw_from_rows(tables.dirichlet(np.full(count, 0.3), classes.max() + 1), classes, letter, rng)
        for count, letter in ((40, "a"), (25, "b"))
    )


def _draw_from_rows(table, classes, letter, rng) -> np.ndarray:
    """Draw a label for each class, with the probabilities of its row."""
    codes = (rng.random((len(classes), 1)) > np.cumsum(table, axis=1)[classes, :-1]).sum(axis=1)
    return np.array([f"{letter}{code:02d}" for code in range(table.shape[1])])[codes]


@kind("rare binary")
def _rare_binary(classes, rng):
    return _draw_rare(classes, rng), _draw_rare(classes, rng)


def _draw_rare(classes, rng) -> np.ndarray:
    return np.where(rng.random(len(classes)) < np.where(classes == 0, 0.05, 0.5), "yes", "no")


@kind("rare binary, number")
def _rare_binary_and_number(classes, rng):
    return _draw_rare(classes, rng), _shifted(classes, rng.normal(size=len(classes)))


@kind("mixed 3+2 columns")
def _mixed(classes, rng):
    """X has two columns of numbers and one of labels, Y one of each."""
    n = len(classes)
    numbers = _shifted(classes, rng.normal(size=n))
    X = {"age": numbers, "income": rng.lognormal(size=n), "town": _draw_zipf(classes, 6, "t", rng)}
    Y = {"spent": _shifted(classes, rng.standard_t(4, size=n)), "shop": _draw_zipf(classes, 4, "s", rng)}
    return pd.DataFrame(X), pd.DataFrame(Y)


@kind("20 columns")
def _twenty_columns(classes, rng):
    """Each class but the first is shifted in a column of its own, so that linear functions find all components."""
    sides = rng.normal(size=(2, len(classes), 20))
    for c in range(1, classes.max() + 1):
        sides[:, classes == c, c - 1] += SHIFT
    return tuple(sides)


@kind("zero-inflated")
def _zero_inflated(classes, rng):
    n = len(classes)
    return tuple(np.exp(classes) * rng.lognormal(size=n) * (rng.random(n) < 0.4) for _ in "xy")


def make_tested_estimator(name: str, n_components: int):
    """Return what a user would test these data with."""
    if name in ("Zipf labels", "class labels", "rare binary"):
        return co.CA(n_components=n_components, handle_unknown="nan")
    return (co.CCA if name == "20 columns" else co.ACE)(n_components=n_components)


# --- weak dependence


def _draw_linear(n, rng):
    x = rng.normal(size=n)
    return x, 0.15 * x + np.sqrt(1 - 0.15**2) * rng.normal(size=n)


def _draw_square(n, rng):
    x = rng.normal(size=n)
    return x, 0.15 * (x**2 - 1) + rng.normal(size=n)


def _draw_one_of_ten(n, rng):
    X = rng.normal(size=(n, 10))
    return X, 0.2 * X[:, 0] + rng.normal(size=n)


def _draw_scale(n, rng):
    x = rng.normal(size=n)
    return x, np.exp(0.25 * x) * rng.normal(size=n)


WEAK = {
    "correlation .15": _draw_linear,
    "y = .15 (x^2 - 1) + noise": _draw_square,
    "one of ten columns, .2": _draw_one_of_ten,
    "scale exp(.25 x)": _draw_scale,
}


def draw_canonical(correlations: tuple[float, ...], columns: int, n: int, rng: np.random.Generator):
    """Draw Gaussian X and Y with these canonical correlations, in columns mixed by random matrices."""
    r = np.pad(correlations, (0, columns - len(correlations)))
    X, noise = rng.normal(size=(2, n, columns))
    mix_x, mix_y = rng.normal(size=(2, columns, columns))
    return X @ mix_x, (X * r + noise * np.sqrt(1 - r**2)) @ mix_y


# --- what is left once z is known


def _bend(t):
    return (t**2 - 1) / np.sqrt(2)


def _draw_cause(columns, of_x, of_y, n, rng):
    """Draw z, what x and y owe to a weighted sum of its columns, and the spread of what is left."""
    Z = rng.normal(size=(n, columns))
    total = Z.sum(axis=1) / np.sqrt(columns)
    return Z, of_x(total), of_y(total), np.ones(n)


def _draw_label_cause(n, rng):
    """Draw a label, which moves both x and y, and decides how widely they are spread."""
    codes = rng.integers(5, size=n)
    moves_x, moves_y, spread = np.array([[-1.5, -0.5, 0, 0.5, 1.5], [1, -1, 0, 0.5, 1.5], [0.5, 1, 1.5, 1, 0.7]])
    return np.array([f"town {code}" for code in codes]), moves_x[codes], moves_y[codes], spread[codes]


CAUSES = {
    "linear cause": partial(_draw_cause, 1, np.asarray, np.asarray),
    "quadratic cause": partial(_draw_cause, 1, np.asarray, _bend),
    "quadratic cause of both": partial(_draw_cause, 1, _bend, _bend),
    "5 confounders": partial(_draw_cause, 5, np.asarray, np.asarray),
    "5 confounders, curved": partial(_draw_cause, 5, np.asarray, _bend),
    "label as cause": _draw_label_cause,
}


def draw_given(cause: str, left: str, strength: float, n: int, rng: np.random.Generator):
    """Draw x, y and z: z causes both, and what is left of y depends on what is left of x with this correlation."""
    Z, of_x, of_y, spread = CAUSES[cause](n, rng)
    own, noise = rng.normal(size=(2, n))
    function = _bend(own) if left == "curve" else own
    x = of_x + 0.7 * spread * own
    return x, of_y + 0.7 * spread * (strength * function + np.sqrt(1 - strength**2) * noise), Z
