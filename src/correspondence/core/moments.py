"""Moments of features: additive, mergeable, and all that a decomposition needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.arguments import (
    as_frame,
    check_flag,
    check_weights,
    check_whole,
    count_observations,
    to_floats,
)
from correspondence._util.html_tables import HtmlTable
from correspondence._util.text import short_repr
from correspondence.core.decomposition import Decomposition
from correspondence.core.functions import LinearFunctions
from correspondence.core.whitening import (
    FLOAT64_EPS,
    Rounding,
    Spectrum,
    choose_signs,
    compute_whitening,
    find_scale,
    warn_of_lost,
)
from correspondence.data.pairs.opening import series_to_floats
from correspondence.data.pairs.pairs import Pairs, check_source

__all__ = ["ROWS_PER_BATCH", "Features", "Moments", "check_is_pairs", "moments"]


class Moments(HtmlTable):
    """Additive moments of features f(x) and g(y): computed in batches, merged in any order, always the same.

    They are exact even for means that are large against the spread, because deviations are summed about a nearby origin
    instead of raw squares.

    Parameters
    ----------
    dtype : dtype
        Compute the products of a batch in this type: float32 takes half the time and is right to about seven digits.
        Sums over batches are always float64.
    centre : bool
        If true, subtract the mean of each batch before summing squares. Raw squares are faster, and as good for
        features such as probabilities, whose means are not large against their spread.

    Attributes
    ----------
    n : float
        Total weight of the observations.
    mean_f, mean_g : ndarray of shape (p,) and (q,)
        Means of the features.
    cov_f, cov_g, cov_fg : ndarray of shape (p, p), (q, q) and (p, q)
        Covariances, divided by n.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> F = rng.normal(size=(1000, 3)); G = F[:, :2] + rng.normal(size=(1000, 2))
    >>> whole = Moments().update(F, G)
    >>> halves = Moments().update(F[:500], G[:500]) + Moments().update(F[500:], G[500:])
    >>> np.allclose(whole.cov_fg, halves.cov_fg, rtol=1e-13)
    True
    >>> whole.decompose().correlations.round(2)
    array([0.72, 0.69])
    """

    def __init__(self, dtype: Any = np.float64, centre: bool = True) -> None:
        self.dtype, self.centre = _check_dtype(dtype), check_flag(centre, "centre")
        self.n = 0.0
        self._origin = np.empty(0)  # the mean is origin + offset: two numbers, so that nothing is lost near 1e6
        self._offset = np.empty(0)
        self._scatter = np.empty((0, 0))  # sum of w (z - mean)(z - mean)^T over z = (f(x), g(y))
        self._p = 0
        self._digits = FLOAT64_EPS  # relative rounding of the features, the coarsest seen

    @classmethod
    def from_sums(cls, n: float, sums: np.ndarray, products: np.ndarray) -> Moments:
        """Make the moments of features f(x) from sums over the observations; there are no g(y).

        Parameters
        ----------
        n : float
            The total weight of the observations.
        sums : ndarray of shape (p,)
            The sums of the features, which must not be large against their spread, as indicators are not.
        products : ndarray of shape (p, p)
            The sums of the products of two features.

        Returns
        -------
        Moments
            The same as of `update`.

        Examples
        --------
        >>> import numpy as np
        >>> F = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
        >>> Moments.from_sums(3, F.sum(axis=0), F.T @ F).cov_f.round(3).tolist()
        [[0.222, -0.222], [-0.222, 0.222]]
        """
        made = cls(centre=False)
        made.n, made._p = float(n), len(sums)
        made._origin, made._offset = np.zeros(len(sums)), sums / n
        made._scatter = products - np.outer(sums, made._offset)
        return made

    def update(self, F: Any, G: Any, sample_weight: Any = None) -> Moments:
        """Add a batch of observations.

        Parameters
        ----------
        F, G : array-like of shape (n, p) and (n, q)
            The features of the two variables must be in the same order of observations.
        sample_weight : array-like of shape (n,), optional
            The weights of the observations must be at least 0; each is 1 by default.

        Returns
        -------
        Moments
            The object itself.
        """
        digits = max(_find_rounding(F), _find_rounding(G))
        F, G, weights = _check_batch(F, G, sample_weight, self.dtype)
        if self.n and (self._p, len(self._origin)) != (F.shape[1], F.shape[1] + G.shape[1]):
            raise ValueError(
                f"F and G must have {self._p} and {len(self._origin) - self._p} columns as in the batches before, "
                f"got {F.shape[1]} and {G.shape[1]}."
            )
        if len(F) and weights.sum() > 0:
            self._absorb_moments(compute_batch_moments(F, G, weights, self.centre))
            self._digits = max(self._digits, digits)
        return self

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if self.n and other.n and (self._p, len(self._origin)) != (other._p, len(other._origin)):
            raise ValueError("Moments must be of the same numbers of features to be merged.")
        total = Moments()
        for part in (self, other):
            if part.n:
                total._absorb_moments(part)
        return total

    def __radd__(self, other: Any) -> Moments:
        """Make ``sum(parts)`` work, which starts from 0."""
        return Moments() + self if isinstance(other, int) and other == 0 else NotImplemented

    def _absorb_moments(self, other: Moments) -> None:
        if not self.n:
            self.__dict__.update({name: np.copy(v) if np.ndim(v) else v for name, v in vars(other).items()})
            return
        # Scatter about the common mean: that of both parts about their own, and of their means (Chan, Golub, LeVeque).
        n = self.n + other.n
        self._digits = max(self._digits, other._digits)
        shift = (other._origin - self._origin) + (other._offset - self._offset)
        self._scatter += other._scatter
        self._scatter += np.outer(shift, shift) * (self.n / n * other.n)
        self._offset = self._offset + shift * (other.n / n)
        self.n = n

    @property
    def mean_f(self) -> np.ndarray:
        """Means of the features of x."""
        return (self._origin + self._offset)[: self._p]

    @property
    def mean_g(self) -> np.ndarray:
        """Means of the features of y."""
        return (self._origin + self._offset)[self._p :]

    @property
    def cov_f(self) -> np.ndarray:
        """Covariance of the features of x."""
        return self._scatter[: self._p, : self._p] / self.n

    @property
    def cov_g(self) -> np.ndarray:
        """Covariance of the features of y."""
        return self._scatter[self._p :, self._p :] / self.n

    @property
    def cov_fg(self) -> np.ndarray:
        """Covariance between the features of x and those of y."""
        return self._scatter[: self._p, self._p :] / self.n

    def decompose(
        self,
        n_components: int | None = None,
        *,
        tol: float | None = None,
        span: tuple[np.ndarray, np.ndarray] | None = None,
        x_features: Callable[[Any], np.ndarray] | None = None,
        y_features: Callable[[Any], np.ndarray] | None = None,
        y_sample: Any = None,
        y_weight: Any = None,
    ) -> Decomposition:
        """Whiten both sides and rotate them on to each other: the paper's Algorithm 1.

        The sign of a component makes the feature of y whose correlation with g_i is largest, in absolute value,
        positively correlated with it.

        Parameters
        ----------
        n_components : int, optional
            Keep at most this many components; by default all are kept.
        tol : float, optional
            Drop directions of the standardised features with a variance below `tol` times the largest. By default those
            are dropped whose variance is not known to one per cent, because of rounding: below 1e-14 times the number
            of features, that is 3e-7 of the spread of two (for float32 6e-6 and 7e-3).
        span : pair of ndarray of shape (p, k) and (q, l), optional
            Make functions only of these combinations of the features, one in each column; by default of all.
        x_features, y_features : callable, optional
            These make F and G from x and y, so that the decomposition can be evaluated on x and y.
        y_sample : array-like, optional
            Keep these y of the fit for conditional expectations.
        y_weight : array-like, optional
            The sample has these weights.

        Returns
        -------
        Decomposition
            The decomposition into the best functions that the features can make.

        Warns
        -----
        NearlyCollinear
            If a direction is dropped that varies more than rounding explains; it names the columns of F or G. What
            varies less cannot be distinguished from an exact dependence, such as a column that repeats another. There
            is no warning of features that `x_features` or `y_features` make, nor of a `span`.
        """
        if n_components is not None:
            check_whole(n_components, "n_components", 0)
        if tol is not None and (not isinstance(tol, float | int) or not 0 <= tol < 1):
            raise ValueError(f"tol must be None or a number from 0 to below 1, got {short_repr(tol)}.")
        if not self.n:
            raise ValueError("There must be observations to decompose, got none. Call update first.")
        if y_weight is not None:
            y_weight = check_weights(y_weight, count_observations(y_sample, "y_sample"), "y_weight")
        in_x, in_y = (None, None) if span is None else check_span(span, (self._p, len(self._origin) - self._p))
        if span is None:
            self._warn_of_lost(tol, of_f=x_features is None, of_g=y_features is None)
        # x and y are the whitening matrices of the features, A and B (transposed in the paper) those of the functions.
        x = compute_whitening(self.cov_f, self.mean_f, tol, in_x, self._rounding)
        y = compute_whitening(self.cov_g, self.mean_g, tol, in_y, self._rounding)
        U, s, Vt = np.linalg.svd(x.T @ self.cov_fg @ y, full_matrices=False)
        s = np.minimum(s, 1.0)
        A, B = x @ U[:, :n_components], y @ Vt[:n_components].T
        scale = find_scale(self.cov_g, self.mean_g)
        sign = choose_signs((self.cov_g @ B) / np.where(scale > 0, scale, np.inf)[:, None])
        return Decomposition(
            pics=s[:n_components] ** 2,
            f=LinearFunctions(self.mean_f, A * sign, x_features),
            g=LinearFunctions(self.mean_g, B * sign, y_features, y_sample, y_weight),
            chi2=float(np.sum(s**2)),
            n=self.n,
        )

    @property
    def _rounding(self) -> Rounding:
        return Rounding(float(np.finfo(self.dtype).eps), self._digits)

    def _warn_of_lost(self, tol: float | None, of_f: bool, of_g: bool) -> None:
        """Warn of directions that are dropped though they vary."""
        for name, cov, mean, is_theirs in (("F", self.cov_f, self.mean_f, of_f), ("G", self.cov_g, self.mean_g, of_g)):
            if is_theirs:
                spectrum = Spectrum.from_covariance(cov, mean)
                lost = ~spectrum.select_directions(tol, self._rounding) & ~spectrum.may_be_rounding(self._rounding)
                warn_of_lost(spectrum.vectors[:, lost], [repr(j) for j in range(len(cov))], name)

    def _collect_columns(self) -> dict[str, np.ndarray]:
        sizes, mean = (self._p, len(self._origin) - self._p), self._origin + self._offset
        positions = np.concatenate([np.arange(size) for size in sizes])
        columns = {"side": np.repeat(["f", "g"], sizes), "position": positions}
        return columns | {"mean": mean, "variance": self._scatter.diagonal() / (self.n or np.nan)}

    def __repr__(self) -> str:
        return f"Moments of {self._p} and {len(self._origin) - self._p} features, n {self.n:g}"


def _check_dtype(dtype: Any) -> np.dtype:
    try:
        found = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):  # the last of texts such as "f4,("
        found = None
    if found not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {short_repr(dtype)}.")
    return found


def check_span(span: Any, sizes: tuple[int, int]) -> list[np.ndarray]:
    """Read combinations of the features of x and of y, one in each column."""
    if not isinstance(span, tuple | list) or len(span) != 2:
        raise ValueError(f"span must be a pair of arrays, for x and for y, got {short_repr(span)}.")
    sides = [to_floats(side, "span") for side in span]
    for side, size in zip(sides, sizes, strict=True):
        if side.ndim != 2 or len(side) != size or not np.isfinite(side).all():
            raise ValueError(
                f"span must have finite arrays with {sizes[0]} and {sizes[1]} rows, got {short_repr(span)}."
            )
    return sides


def compute_batch_moments(F: np.ndarray, G: np.ndarray, weights: np.ndarray, centre: bool) -> Moments:
    batch = Moments(F.dtype, centre)
    batch.n = float(weights.sum())
    batch._p = F.shape[1]
    share = (weights / batch.n).astype(F.dtype)
    means = np.concatenate([compute_finite_means(F, share, "F"), compute_finite_means(G, share, "G")])
    origin = means if centre else np.zeros_like(means)
    if centre or G.shape[1]:
        Z = np.empty((len(F), len(origin)), F.dtype)
        np.subtract(F, origin[: batch._p], out=Z[:, : batch._p])
        np.subtract(G, origin[batch._p :], out=Z[:, batch._p :])
    else:
        Z = F
    batch._origin = origin.astype(np.float64)
    batch._offset = ((share @ Z) if centre else means).astype(np.float64)
    if (weights != 1).any():
        Z = Z * np.sqrt(weights).astype(F.dtype)[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        batch._scatter = (Z.T @ Z).astype(np.float64)  # syrk: BLAS computes only one triangle of Z.T @ Z
    if not centre:  # otherwise the offset is what rounding left, too small to matter
        batch._scatter -= batch.n * np.outer(batch._offset, batch._offset)
    if not np.isfinite(np.diag(batch._scatter)).all():
        raise ValueError("F or G has values whose squares overflow: divide it by a constant.")
    return batch


def compute_finite_means(features: np.ndarray, share: np.ndarray, name: str) -> np.ndarray:
    """Compute the means of features, which are finite only if all features are."""
    with np.errstate(over="ignore", invalid="ignore"):
        means = share @ features
    if np.isfinite(means).all():
        return means
    column = int(np.argmin(np.isfinite(features).all(axis=0)))
    if np.isfinite(features[:, column]).all():
        raise ValueError(f"{name} has values whose squares overflow: divide it by a constant.")
    raise ValueError(f"{name} contains NaN or infinity in column {column}.")


def _check_batch(F: Any, G: Any, sample_weight: Any, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    F, G = (check_features(values, name, dtype) for values, name in ((F, "F"), (G, "G")))
    if len(F) != len(G):
        raise ValueError(f"F and G must have the same number of rows, got {len(F)} and {len(G)}.")
    if sample_weight is None:
        return F, G, np.ones(len(F))
    return F, G, check_weights(sample_weight, len(F), "sample_weight", allow_zero=True)


def _find_rounding(values: Any) -> float:
    """Find the relative rounding of features, which is that of float32 if they have that type."""
    return float(np.finfo(np.float32).eps) if getattr(values, "dtype", None) == np.float32 else FLOAT64_EPS


def check_features(values: Any, name: str, dtype: np.dtype) -> np.ndarray:
    is_ready = type(values) in (np.ndarray, np.memmap) and values.dtype == dtype  # no copy; masks are for to_floats
    array = values if is_ready else to_floats(values, name)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must have rows and columns, got shape {array.shape}: reshape it to (n, 1) if it is one feature."
        )
    with np.errstate(over="ignore"):  # what overflows in single precision is seen later, as an infinity
        return array.astype(dtype, copy=False)


ROWS_PER_BATCH = 4096  # rows whose features are computed at a time
Features = Callable[[Any], Any]


def moments(pairs: Pairs, x_features: Features | None = None, y_features: Features | None = None) -> Moments:
    """Compute moments of any features of pairs, for each partition where it is, and merge them.

    Parameters
    ----------
    pairs : Pairs
        The pairs may be anywhere.
    x_features, y_features : callable, optional
        These turn a column or table of pyarrow with n rows into an array of shape (n, p), or (n, q); they are sent to
        the workers. By default the numbers are the features.

    Returns
    -------
    Moments
        The merged moments; their `decompose` gives the decomposition.

    Examples
    --------
    >>> import polars as pl
    >>> import correspondence as co
    >>> frame = pl.LazyFrame({"x": [0.0, 1.0, 2.0, 3.0], "y": [0.0, 1.0, 4.0, 9.0]})
    >>> pairs = co.Pairs(frame, x="x", y="y")
    >>> co.distributed.moments(pairs).decompose().correlations.round(3)
    array([0.958])
    >>> square = lambda column: column.to_numpy()[:, None] ** 2
    >>> co.distributed.moments(pairs, x_features=square).decompose().correlations.round(3)
    array([1.])
    """
    check_is_pairs(pairs)
    functions = (x_features or partial(read_numbers, "X")), (y_features or partial(read_numbers, "Y"))
    return pairs.through(*functions).sums(compute_moments, partial(sum, start=Moments()), "moments", numbered=False)


def check_is_pairs(pairs: Any) -> None:
    """Check that pairs are `Pairs` whose source can still be read."""
    if not isinstance(pairs, Pairs):
        raise TypeError(f"pairs must be Pairs, got {type(pairs).__name__}. Say what x and y are: Pairs(frame, x, y).")
    check_source(pairs)


def read_numbers(name: str, values: Any) -> np.ndarray:
    """Read the numbers of a column or table, as an array of shape (n, p)."""
    frame = as_frame(values, name)
    columns = list(frame.iter_columns()) if frame is not None else [nw.from_native(values, series_only=True)]
    for column in columns:
        if not column.dtype.is_numeric():
            where = f"Column {column.name!r} of {name}" if frame is not None else name
            raise ValueError(f"{where} must hold numbers, got {column.dtype}. Give {name.lower()}_features.")
    return np.column_stack([series_to_floats(column) for column in columns])


def compute_moments(F: Any, G: Any, first: int) -> Moments:
    result = Moments()
    for start in range(0, len(F), ROWS_PER_BATCH):
        result.update(F[start : start + ROWS_PER_BATCH], G[start : start + ROWS_PER_BATCH])
    return result
