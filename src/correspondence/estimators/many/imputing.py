"""Missing values of many columns filled in by the axes of the completed table, whose number is chosen on masked values.

From the means of what is given, two steps alternate until nothing moves: the axes of the completed features are found
from their moments, and the gaps are filled by what the leading axes, shrunk by the noise, say of them. Rows without
gaps are read once, because moments add up.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from correspondence._util.arguments import find_user_stacklevel
from correspondence._util.user_warnings import Inexact
from correspondence.core.column_blocks import FeatureMoments, find_block_axes, whiten_blocks
from correspondence.core.column_features import FeatureColumn, ManyColumns, compute_feature_moments, freeze_moments
from correspondence.core.gap_filling import GapFiller, choose_axes, make_gap_filler, measure_axes
from correspondence.core.moments import Moments
from correspondence.data.answers import MISSING_CODE

__all__ = ["Imputation", "fit_gap_filler"]

N_MASKS = 6  # sets of values that are masked to choose the number of axes
MASKED_SHARE = 0.1  # share of the given values that each set masks
MAX_ROWS_FOR_CHOICE = 3000  # rows of a sample that is used to choose the number of axes
MAX_STEPS = 1000
TOLERANCE = 1e-8  # change of a correlation between features in a step
CHOICE_TOLERANCE = 1e-3  # the same while the number of axes is being chosen


@dataclass(frozen=True, eq=False)
class Imputation:
    """How gaps are filled in.

    Attributes
    ----------
    filler : GapFiller
        The axes that fill them.
    errors : ndarray of shape (d + 1,)
        The squared error of masked values filled in by 0, 1, ... axes, relative to the variance of their columns: 1 is
        no better than shares and means.
    """

    filler: GapFiller
    errors: np.ndarray


def fit_gap_filler(
    features: ManyColumns, arrays: Sequence[np.ndarray], weights: np.ndarray | None = None, seed: int = 0
) -> Imputation:
    """Find the axes that fill in missing values.

    Parameters
    ----------
    features : ManyColumns
        The columns.
    arrays : sequence of ndarray
        The rows, as ``features.read`` returns them.
    weights : ndarray of shape (n,), optional
        The weights of the rows; each is 1 by default.
    seed : int
        It decides which values are masked to choose the number of axes.

    Returns
    -------
    Imputation
        The axes, and the errors by which their number was chosen.

    Warns
    -----
    Inexact
        If the axes still move after many steps.
    """
    own = np.ones(len(arrays[0])) if weights is None else weights
    errors = measure_errors(features, arrays, own, np.random.default_rng(seed))
    table = _GappedTable(features, list(arrays), own)
    filler, change = table.find_filler(choose_axes(errors), table.average(), TOLERANCE)
    if change > TOLERANCE:
        warnings.warn(
            f'missing="impute" moved a correlation by {change:.1e} in the last of {MAX_STEPS} steps, more than '
            f"{TOLERANCE:g}: the table may hold too little to fill its gaps.",
            Inexact,
            stacklevel=find_user_stacklevel(),
        )
    return Imputation(filler, errors.mean(axis=0))


def measure_errors(
    features: ManyColumns, arrays: Sequence[np.ndarray], weights: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Measure how well 0, 1, ... axes fill in given values that are masked.

    Returns
    -------
    ndarray of shape (m, d + 1)
        One row for each set of masked values; the search ends when more axes only make it worse.
    """
    counted = np.flatnonzero(weights > 0)
    if len(counted) > MAX_ROWS_FOR_CHOICE:
        counted = np.sort(rng.choice(counted, MAX_ROWS_FOR_CHOICE, replace=False))
    sample, own = [values[counted] for values in arrays], weights[counted]
    masked = [_MaskedTable.draw(features, sample, own, rng) for _ in range(N_MASKS)]
    limit = features.width - sum(column.kind == "labels" for column in features.columns) - 1  # one is left as noise
    return measure_axes([table.fill for table in masked], limit)


class _GappedTable:
    """Rows with gaps, and the moments of those without any."""

    def __init__(self, features: ManyColumns, arrays: list[np.ndarray], weights: np.ndarray) -> None:
        self.features, self.all, self.all_weights = features, arrays, weights
        is_open = features.find_gaps(arrays).any(axis=1)
        self.open, self.weights = [values[is_open] for values in arrays], weights[is_open]
        whole = [values[~is_open] for values in arrays]
        self.whole = compute_feature_moments(features, whole, weights[~is_open]) if not is_open.all() else Moments()

    def average(self) -> GapFiller:
        """Return the filler without axes: the means of what is given."""
        gaps, means = self.features.find_gaps(self.all), []
        for j, (column, values) in enumerate(zip(self.features.columns, self.all, strict=True)):
            given = ~gaps[:, j] & (self.all_weights > 0)
            if not given.any():  # the only values are masked
                means.append(column.expand(values[:1])[0])
                continue
            means.append(np.average(column.expand(values[given]), axis=0, weights=self.all_weights[given]))
        mean = np.concatenate(means)
        return GapFiller(mean, np.zeros((len(mean), 0)), np.zeros((len(mean), 0)))

    def find_filler(self, n_axes: int, start: GapFiller, tolerance: float) -> tuple[GapFiller, float]:
        """Alternate between axes and gaps; return the filler and how much the last step moved."""
        filler, change = start, 0.0
        if n_axes == 0:
            return filler, change
        moments = self._compute_moments(filler)
        for _ in range(MAX_STEPS):
            axes = find_block_axes(moments, whiten_blocks(moments, self.features.blocks))
            filler, before = make_gap_filler(axes, n_axes), moments
            if not len(self.weights):  # nothing to be filled in, so that nothing can move
                break
            moments = self._compute_moments(filler)
            change = _compare_moments(before, moments)
            if change <= tolerance:
                break
        return filler, change

    def _compute_moments(self, filler: GapFiller) -> FeatureMoments:
        if not len(self.weights):
            return freeze_moments(self.whole)
        completed = replace(self.features, filler=filler)
        return freeze_moments(self.whole + compute_feature_moments(completed, self.open, self.weights))


def _compare_moments(before: FeatureMoments, after: FeatureMoments) -> float:
    """Return the largest change of a covariance, or of a mean, in units of the standard deviations."""
    scale = np.sqrt(np.maximum(np.diag(after.cov), 1e-300))
    scale = np.where(scale > 1e-100, scale, np.inf)
    moved = np.abs(after.cov - before.cov) / np.outer(scale, scale)
    return float(max(moved.max(), (np.abs(after.mean - before.mean) / scale).max()))


class _MaskedTable:
    """A table of which some given values are masked, and how well they are filled in."""

    def __init__(
        self, features: ManyColumns, arrays: list[np.ndarray], weights: np.ndarray, is_masked: np.ndarray
    ) -> None:
        self.features, self.weights, self.is_masked, self.truth = features, weights, is_masked, arrays
        hidden = [_hide_values(column, values, is_masked[:, j]) for j, (column, values) in self._number_columns()]
        self.table = _GappedTable(features, hidden, weights)
        self.filler = self.table.average()
        self.scale = self._measure_columns()

    @classmethod
    def draw(
        cls, features: ManyColumns, arrays: list[np.ndarray], weights: np.ndarray, rng: np.random.Generator
    ) -> _MaskedTable:
        """Mask a random share of the given values."""
        given = np.argwhere(~features.find_gaps(arrays))
        chosen = given[rng.choice(len(given), max(1, round(MASKED_SHARE * len(given))), replace=False)]
        is_masked = np.zeros((len(weights), len(arrays)), dtype=bool)
        is_masked[tuple(chosen.T)] = True
        return cls(features, arrays, weights, is_masked)

    def _number_columns(self) -> list[tuple[int, tuple[FeatureColumn, np.ndarray]]]:
        return list(enumerate(zip(self.features.columns, self.truth, strict=True)))

    def _measure_columns(self) -> np.ndarray:
        """Return the variance of each column, over all its given values."""
        gaps, scale = self.features.find_gaps(self.truth), np.ones(len(self.truth))
        for j, (column, values) in self._number_columns():
            given = ~gaps[:, j]
            known = _select_judged(column, column.expand(values[given]))
            mean = np.average(known, axis=0, weights=self.weights[given])
            scale[j] = np.average(((known - mean) ** 2).sum(axis=1), weights=self.weights[given]) or 1
        return scale

    def fill(self, n_axes: int) -> float:
        """Fill in by so many axes; return the mean squared error relative to the variance of the columns."""
        self.filler, _ = self.table.find_filler(n_axes, self.filler, CHOICE_TOLERANCE)
        rows = np.flatnonzero(self.is_masked.any(axis=1))
        completed = replace(self.features, filler=self.filler).expand([values[rows] for values in self.table.all])
        squares, total = 0.0, 0.0
        for block, (j, (column, values)) in zip(self.features.blocks, self._number_columns(), strict=True):
            own = self.is_masked[rows, j]
            weights = self.weights[rows][own]
            wanted = _select_judged(column, column.expand(values[rows][own]))
            error = _select_judged(column, completed[own, block.features]) - wanted
            squares += float(weights @ (error**2).sum(axis=1)) / self.scale[j]
            total += float(weights.sum())
        return squares / total


def _hide_values(column: FeatureColumn, values: np.ndarray, is_masked: np.ndarray) -> np.ndarray:
    return np.where(is_masked, MISSING_CODE if column.kind == "labels" else np.nan, values).astype(values.dtype)


def _select_judged(column: FeatureColumn, features: np.ndarray) -> np.ndarray:
    """Return what is judged of features: all indicators, but of curves only the number itself."""
    return features if column.kind == "labels" else column.restore(features)[:, None]
