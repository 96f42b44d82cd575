"""Whether trees find more than sums of functions of single columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge, RidgeCV

from correspondence._util.arguments import take_rows
from correspondence.core.feature_maps import to_dense
from correspondence.core.splines import SplineBasis
from correspondence.data.encoders.columns import MAX_DENSE_COLUMNS, Columns
from correspondence.selection.method_registry import PairsProfile

__all__ = ["leaves_dependence"]

MAX_ROWS = 3000  # two thirds to learn from, one third to predict
MAX_TARGETS = 8
N_TREES = 50
OUTLIER_SHARE = 0.005  # of the values at each end
MIN_STANDARD_ERRORS_OUTSTANDING = 3.5  # of a correlation with what additive functions leave


def leaves_dependence(X: Any, Y: Any, pairs: PairsProfile, seed: int = 0) -> bool:
    """Tell whether there is dependence that sums of functions of single columns cannot see.

    Trees learn what an additive regression of one variable on the other leaves, and its square. If they predict that on
    other pairs, methods that can see interactions are worth their time. Two single columns have no interactions; for
    images, texts and very wide tables the answer is not known, so it is yes.

    Parameters
    ----------
    X, Y : array-like, frame, ...
        The pairs.
    pairs : PairsProfile
        What the pairs are like, with the encoders of both variables.
    seed : int
        The seed of the trees, and of the choice of pairs that they learn from.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> Y = X[:, 0] * X[:, 1] + rng.normal(size=1000)
    >>> leaves_dependence(X, Y, PairsProfile.from_data(X, Y))
    True
    >>> Y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=1000)
    >>> leaves_dependence(X, Y, PairsProfile.from_data(X, Y))
    False
    """
    x, y = pairs.x.encoder, pairs.y.encoder
    if not (isinstance(x, Columns) and isinstance(y, Columns) and max(x.width, y.width) <= MAX_DENSE_COLUMNS):
        return True
    order = np.random.default_rng(seed).permutation(pairs.n)[:MAX_ROWS]
    rows_x, rows_y = to_dense(x(take_rows(X, order), "X")), to_dense(y(take_rows(Y, order), "Y"))
    sides = ((x, rows_x, rows_y), (y, rows_y, rows_x))
    return any(
        _trees_find_more(own, encoder.coordinates, _list_targets(other), seed)
        for encoder, own, other in sides
        if len(encoder.columns) > 1
    )


def _list_targets(rows: np.ndarray) -> np.ndarray:
    """Return the first columns of a variable that vary, without outliers that would decide a regression alone."""
    first = rows[:, :MAX_TARGETS]
    first = np.clip(first, *np.quantile(first, [OUTLIER_SHARE, 1 - OUTLIER_SHARE], axis=0))
    return first[:, first.std(axis=0) > 1e-9]


def _trees_find_more(x: np.ndarray, is_number: np.ndarray, targets: np.ndarray, seed: int) -> bool:
    """Tell whether trees predict, on a third of the rows, what additive regressions leave of the targets."""
    if not targets.size:
        return False
    train, test = slice(0, 2 * len(x) // 3), slice(2 * len(x) // 3, None)
    basis = SplineBasis.for_columns(x[train], is_number, 8)
    features = basis(basis.temper_extremes(x))
    scale = np.maximum(features[train].std(axis=0), 1e-9)

    def find_residuals(values: np.ndarray) -> np.ndarray:
        additive = RidgeCV(10.0 ** np.arange(-1, 5)).fit(features[train] / scale, values[train])
        return values - additive.predict(features / scale).reshape(values.shape)

    # Squares of what is left show a changing spread; squares of the targets would be full of products of columns.
    left = find_residuals(targets)
    left = np.hstack([left, find_residuals(left**2)])
    trees = ExtraTreesRegressor(N_TREES, min_samples_leaf=5, random_state=seed).fit(x[train], left[train])
    predicted = trees.predict(x).reshape(left.shape)
    # What the ridge has left of additive functions is found by trees too, but is not an interaction: it is subtracted.
    additive = Ridge(1.0).fit(features[train] / scale, predicted[train])
    predicted -= additive.predict(features / scale).reshape(left.shape)
    a, b = (values[test] - values[test].mean(axis=0) for values in (predicted, left))
    # Studentised, so that a single outlier among the targets does not decide.
    z = (a * b).sum(axis=0) / np.sqrt(np.maximum(((a * b) ** 2).sum(axis=0), 1e-300))
    return bool(z.max() > MIN_STANDARD_ERRORS_OUTSTANDING)
