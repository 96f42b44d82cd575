"""Functions of two views evaluated on test images, and linear CCA on the same pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.svm import LinearSVC

import correspondence as co

__all__ = ["FALSE_ALARM_RATE", "LinearBaseline", "ViewRun", "fit_linear_baseline", "measure_views"]

N_PERMUTATIONS = 999
FALSE_ALARM_RATE = 0.01  # probability of any component above chance if the views share nothing
MAX_LINEAR_PAIRS = 20_000  # pairs to which linear CCA is fitted
TEST_SEED = 10_000  # seed of the partners and views of test images


@dataclass(frozen=True, eq=False)
class ViewRun:
    """Functions of one seed, evaluated on test images."""

    seed: int
    pice: co.PICE
    seconds: float
    """Time of the fit."""
    n: int
    """Images used in the fit."""
    checked: int
    """Held-out training images, whose pairs tell how many components are shared."""
    shared: np.ndarray
    """Whether each component is more than chance on those pairs; only these functions are used further."""
    held: co.HeldOut
    """Evaluation on pairs of test images."""
    band: float
    """The limit that chance exceeds there with `FALSE_ALARM_RATE`, with the largest of all components."""
    X: np.ndarray
    """Views of the test images."""
    Y: np.ndarray
    F: np.ndarray
    """Functions of X."""
    labels: np.ndarray
    svm_error: float
    cluster_accuracy: float

    @property
    def n_found(self) -> int:
        """Number of components that are more than chance on pairs of test images."""
        return int((self.held.correlations > self.band).sum())


def measure_views(recipe: Any, data: co.datasets.ImageClasses, seed: int) -> ViewRun:
    """Fit to views of training images, and evaluate the functions on those of test images."""
    from correspondence.studies import views  # here, because it needs torch

    pice, seconds = views.fit_views(recipe, data.train_images, data.train_labels, seed)
    rest = slice(len(data.train_labels) - recipe.held_out, None)
    checked = views.pair_all_images(recipe, data.train_images[rest], data.train_labels[rest], seed)
    shared = pice.evaluate(*checked).correlations > find_chance_band(*pice.transform(*checked))
    X, Y = views.pair_all_images(recipe, data.test_images, data.test_labels, TEST_SEED)
    F, G = pice.transform(X, Y)
    seen, labels = data.train_images[: -recipe.held_out], data.train_labels[: -recipe.held_out]
    F_seen = pice.transform(views.pair_all_images(recipe, seen, labels, seed)[0])
    return ViewRun(
        seed,
        pice,
        seconds,
        len(labels),
        recipe.held_out,
        shared,
        pice.evaluate(X, Y),
        find_chance_band(F, G),
        X,
        Y,
        F,
        data.test_labels,
        _measure_svm_error(F_seen[:, shared], labels, F[:, shared], data.test_labels),
        measure_cluster_accuracy(F[:, shared], data.test_labels, seed),
    )


def find_chance_band(F: np.ndarray, G: np.ndarray) -> float:
    """Find the limit that the largest correlation exceeds with `FALSE_ALARM_RATE` if partners are exchanged."""
    # With partners exchanged at random f and g share nothing; the largest of all correlations bounds every one.
    rng = np.random.default_rng(0)
    f, g = ((values - values.mean(axis=0)) / values.std(axis=0) for values in (F, G))
    largest = [np.einsum("ij,ij->j", f, g[rng.permutation(len(g))]).max() / len(g) for _ in range(N_PERMUTATIONS)]
    return float(np.quantile(largest, 1 - FALSE_ALARM_RATE))


def _measure_svm_error(F: np.ndarray, labels: np.ndarray, F_test: np.ndarray, truth: np.ndarray) -> float:
    """Return the share of test images that a linear SVM on the functions gets wrong."""
    guesses = LinearSVC(dual=False).fit(F, labels.astype(str)).predict(F_test)
    return float((guesses != truth.astype(str)).mean())


def measure_cluster_accuracy(F: np.ndarray, truth: np.ndarray, seed: int) -> float:
    """Return the share of images in the right one of as many clusters as classes, matched one to one."""
    names, classes = np.unique(truth.astype(str), return_inverse=True)
    clusters = KMeans(len(names), n_init=10, random_state=seed).fit_predict(F)
    table = np.zeros((len(names), len(names)), dtype=int)
    np.add.at(table, (clusters, classes), 1)
    return float(table[linear_sum_assignment(-table)].sum() / len(truth))


@dataclass(frozen=True, eq=False)
class LinearBaseline:
    """Linear CCA of the same pairs."""

    n: int
    columns: int
    held: co.HeldOut
    training: np.ndarray


def fit_linear_baseline(recipe: Any, data: co.datasets.ImageClasses, run: ViewRun) -> LinearBaseline:
    """Fit linear CCA to the same kind of pairs, and evaluate it on the same test pairs."""
    from correspondence.studies import views

    n = min(MAX_LINEAR_PAIRS, run.n)
    X, Y = map(_average_pixels, views.pair_all_images(recipe, data.train_images[:n], data.train_labels[:n], run.seed))
    cca = co.CCA(n_components=len(run.held.correlations)).fit(X, Y)
    held = cca.evaluate(_average_pixels(run.X), _average_pixels(run.Y))
    return LinearBaseline(n, int(np.prod(X.shape[1:])), held, cca.correlations_)


def _average_pixels(images: np.ndarray) -> np.ndarray:
    """Average 2 x 2 pixels, so that CCA has a moderate number of columns even with colours."""
    n, channels, height, width = images.shape
    return images.reshape(n, channels, height // 2, 2, width // 2, 2).mean(axis=(3, 5))
