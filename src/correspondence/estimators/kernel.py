"""KernelCCA: functions from the space of a kernel, exact for few pairs and by landmarks (Nystroem) for many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import euclidean_distances, pairwise_kernels

from correspondence._util.arguments import check_whole, count_observations, is_number, to_floats
from correspondence._util.files import State
from correspondence._util.text import short_repr
from correspondence.core.dependence_views import View, view_whitened
from correspondence.core.estimator import PairsEstimator
from correspondence.core.feature_maps import Loadings, fix_signs, iterate_blocks, to_dense
from correspondence.core.functions import MAX_FUNCTION_VALUE, FeatureMap, LinearFunctions, PrincipalFunctions
from correspondence.core.moments import Moments
from correspondence.core.regularised import compute_fold_moments, fit_penalised, merge_folds
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.choosing import encoder_for, encoder_from_state, surveys_of
from correspondence.data.encoders.columns import Columns, copy_for_expectations
from correspondence.data.pairs.pairs import Memory, Parts
from correspondence.estimators.cca import list_strengths

__all__ = ["KernelCCA", "KernelFeatures"]

KERNEL_NAMES = ("rbf", "poly", "linear")
RIDGE_STRENGTHS = (10.0 ** np.arange(-8, 0.5, 0.5)).tolist()
MAX_ROWS_FOR_MEDIAN = 1000  # rows whose distances give the median
MIN_EIGENVALUE_RATIO = 1e-9  # eigenvalues of the kernel, of the largest, below which a direction is rounding

Kernel = str | Callable[[Any, Any], Any]


@dataclass(frozen=True, eq=False)
class KernelFeatures(FeatureMap):
    """Coordinates in the space of a kernel that the landmarks span: their inner products are the kernel's.

    Parameters
    ----------
    name : str
        "X" or "Y", for errors.
    encoder : Encoder
        From data to rows of numbers.
    kernel : str or callable
        See `KernelCCA`.
    options : dict
        gamma, degree and coef0 of the kernel, as far as it has them.
    landmarks : ndarray of shape (m, p)
        Rows.
    projection : ndarray of shape (m, r)
        From kernel values to coordinates.
    """

    name: str
    encoder: Encoder
    kernel: Kernel
    options: dict[str, float]
    landmarks: np.ndarray
    projection: np.ndarray
    kind: ClassVar[str] = "kernel"

    @classmethod
    def from_landmarks(cls, name: str, encoder: Encoder, kernel: Kernel, options: dict, landmarks: np.ndarray) -> Self:
        """Find the projection that makes the landmarks' coordinates reproduce the kernel."""
        K = compute_kernel(landmarks, landmarks, kernel, options, name)
        values, vectors = np.linalg.eigh((K + K.T) / 2)
        keep = values > MIN_EIGENVALUE_RATIO * np.abs(values).max(initial=0)
        if not keep.any():
            raise ValueError(f"kernel must be positive on {name}, but it is 0 or negative everywhere.")
        return cls(name, encoder, kernel, options, landmarks, vectors[:, keep] / np.sqrt(values[keep]))

    def __call__(self, values: Any) -> np.ndarray:  # noqa: D102
        return np.vstack([self.of_rows(rows) for (rows,) in iterate_blocks(self.encode_rows(values))])

    def encode_rows(self, values: Any) -> Any:
        """Encoded rows, which may be sparse."""
        return flatten_rows(self.encoder(values, self.name))

    def of_rows(self, rows: Any) -> np.ndarray:
        """Coordinates of encoded rows."""
        return compute_kernel(rows, self.landmarks, self.kernel, self.options, self.name) @ self.projection

    def state(self) -> State:  # noqa: D102
        if not isinstance(self.kernel, str):
            raise TypeError(f"kernel {short_repr(self.kernel)} is a function of your own, which cannot be saved.")
        description = {"name": self.name, "encoder": self.encoder.state().description}
        description |= {"kernel": self.kernel, "options": self.options}
        return State(description, {"landmarks": self.landmarks, "projection": self.projection})

    @classmethod
    def from_state(  # noqa: D102
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> KernelFeatures:
        encoder = encoder_from_state(description["encoder"], arrays)
        kernel, options = description["kernel"], description["options"]
        return cls(description["name"], encoder, kernel, options, arrays["landmarks"], arrays["projection"])


class KernelCCA(PairsEstimator):
    """Kernel canonical correlation analysis: the most correlated functions in the space of a kernel.

    With at most `n_landmarks` different rows it is exact; otherwise as many rows, drawn at random, span the functions
    (Nystroem), which keeps the cost linear in the number of pairs. Without a penalty such functions fit anything, so
    its strength is chosen by what they capture of held-out folds.

    Parameters
    ----------
    n_components : int
        Number of pairs of functions.
    kernel : {"rbf", "poly", "linear"} or callable
        A callable takes two arrays of rows and returns the matrix of kernel values, as in scikit-learn's SVC. Rows are
        the encoded data: numbers robustly standardised, an indicator for each label.
    y_kernel : as `kernel`, optional
        For Y; the same as for X by default.
    gamma, y_gamma : "median" or float
        Width of "rbf", ``exp(-gamma |a - b|^2)``, and factor of "poly", ``(gamma <a, b> + coef0)^degree``. "median" is
        one over the median squared distance (rbf), or over the number of columns (poly).
    degree, coef0 : int, float
        Of "poly".
    n_landmarks : int
        Of each side.
    regularization : "auto", float or array-like of shape (n_components,)
        Strength of the penalty on the norm of a function, in units of the variance in the space of the kernel, the same
        for all components or one for each.
    random_state : int
        Seed of the landmarks.

    Attributes
    ----------
    decomposition_ : Decomposition
        The result.
    pics_, correlations_ : ndarray of shape (n_components,)
        On the training pairs.
    regularization_ : ndarray of shape (n_components,)
        Strength of the penalty that was used for each component.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2)); Y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=1000)
    >>> est = co.KernelCCA(n_components=1).fit(X[:800], Y[:800])
    >>> bool(est.evaluate(X[800:], Y[800:]).correlations[0] > 0.9)
    True
    """

    regularization_: np.ndarray

    def __init__(
        self,
        n_components: int = 2,
        kernel: Kernel = "rbf",
        y_kernel: Kernel | None = None,
        *,
        gamma: str | float = "median",
        y_gamma: str | float = "median",
        degree: int = 3,
        coef0: float = 1,
        n_landmarks: int = 500,
        regularization: Any = "auto",
        random_state: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.y_kernel = y_kernel
        self.gamma = gamma
        self.y_gamma = y_gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_landmarks = n_landmarks
        self.regularization = regularization
        self.random_state = random_state

    def fit(self, X: Any, Y: Any = None, *, groups: Any = None) -> Self:
        """Find the most correlated functions of X and Y.

        Parameters
        ----------
        X, Y : array-like, frame, sparse matrix, list of texts or array of images
            One row for each pair. Or X alone, as `Pairs` of tables: moments are then computed where they are.
        groups : array-like of shape (n,), optional
            Pairs of the same group, such as duplicates, are never on both sides of a split when the penalty is chosen.

        Returns
        -------
        KernelCCA
            Itself.
        """
        self._check_parameters()
        pairs, together = self._open_pairs(X, Y, groups)
        x, y = self._make_feature_maps(pairs)
        rows = pairs.through(x.encode_rows, y.encode_rows)
        folds = rows.sums(partial(_sum_folds, x, y, together), merge_folds, "moments")
        total = sum(folds[1:], start=folds[0])
        penalty = _make_penalty(total.cov_f), _make_penalty(total.cov_g)
        is_auto = isinstance(self.regularization, str)
        ridge: Any = RIDGE_STRENGTHS if is_auto else list_strengths(self.regularization, wide=False)
        fit = fit_penalised(folds, penalty, self.n_components, ridge, is_rich=True)
        d = fit.moments.decompose(
            self.n_components, span=(fit.A, fit.B), x_features=x, y_features=y, y_sample=copy_for_expectations(Y)
        )
        loadings = rows.sums(partial(_sum_loadings, d.g, y), partial(reduce, add), "functions", numbered=False)
        self._set_decomposition(fix_signs(d, loadings.covariance, loadings.variance), X)
        self.regularization_ = fit.strength
        return self

    def _make_feature_maps(self, pairs: Parts) -> tuple[KernelFeatures, KernelFeatures]:
        y_kernel = self.kernel if self.y_kernel is None else self.y_kernel
        encoders, samples = encode_sides(pairs)
        x = self._fit_features("X", encoders[0], samples[0], self.kernel, self.gamma)
        return x, self._fit_features("Y", encoders[1], samples[1], y_kernel, self.y_gamma)

    def _make_test_views(self, X: Any, Y: Any) -> list[View]:
        x, y = self._make_feature_maps(Memory(X, Y, count_observations(X, "X")))
        view = view_whitened(x(X), y(Y), by_variance=True)
        return [] if view is None else [view]

    def _fit_features(self, name: str, encoder: Encoder, sample: Any, kernel: Kernel, gamma: Any) -> KernelFeatures:
        rng = np.random.default_rng(self.random_state)
        landmarks = draw_landmarks(sample, self.n_landmarks, rng)
        options = self._make_kernel_options(kernel, gamma, sample, rng)
        return KernelFeatures.from_landmarks(name, encoder, kernel, options, landmarks)

    def _make_kernel_options(self, kernel: Kernel, gamma: Any, rows: Any, rng: np.random.Generator) -> dict[str, float]:
        if kernel == "rbf":
            return {"gamma": 1 / compute_median_distance(rows, rng) if gamma == "median" else float(gamma)}
        if kernel == "poly":
            scale = 1 / rows.shape[1] if gamma == "median" else float(gamma)
            return {"gamma": scale, "degree": float(self.degree), "coef0": float(self.coef0)}
        return {}

    def _check_parameters(self) -> None:
        check_whole(self.n_components, "n_components", 1)
        check_whole(self.n_landmarks, "n_landmarks", 2)
        check_whole(self.random_state, "random_state", 0, 2**32 - 1)
        list_strengths(self.regularization, wide=False)
        for name in ("kernel", "y_kernel"):
            kernel: Any = getattr(self, name)
            known = isinstance(kernel, str) and kernel in KERNEL_NAMES
            if not (callable(kernel) or known or (kernel is None and name == "y_kernel")):
                raise ValueError(
                    f"{name} must be one of {', '.join(KERNEL_NAMES)}, or a callable, got {short_repr(kernel)}."
                )
        for name in ("gamma", "y_gamma"):
            value: Any = getattr(self, name)
            if not (isinstance(value, str) and value == "median") and not (is_number(value) and value > 0):
                raise ValueError(f'{name} must be "median" or a number above 0, got {short_repr(value)}.')
        if check_whole(self.degree, "degree", 1) > 1000:
            raise ValueError(f"degree must be at most 1000, got {short_repr(self.degree)}.")
        if not is_number(self.coef0) or self.coef0 < 0:
            raise ValueError(f"coef0 must be a number of at least 0, got {short_repr(self.coef0)}.")


def encode_sides(pairs: Parts) -> tuple[tuple[Encoder, Encoder], list[Any]]:
    """Encoders of both sides, and the encoded rows of those that were drawn, or of all data that are not a table."""
    surveys = surveys_of(pairs)
    encoders, samples = [], []
    for side, (name, survey) in enumerate(zip("XY", surveys, strict=True)):
        if survey is not None:
            encoder: Any = Columns.from_survey(survey, name)
            samples.append(flatten_rows(encoder.of_columns(survey.sample, name)))
        else:
            assert isinstance(pairs, Memory)
            values = (pairs.x, pairs.y)[side]
            encoder = encoder_for(values, name)
            samples.append(flatten_rows(encoder(values, name)))
        encoders.append(encoder)
    return (encoders[0], encoders[1]), samples


def _sum_folds(
    x: KernelFeatures, y: KernelFeatures, groups: np.ndarray | None, a: Any, b: Any, first: int
) -> list[Moments]:
    features = ((x.of_rows(p), y.of_rows(q)) for p, q in iterate_blocks(a, b))
    return compute_fold_moments(features, groups, first)


def _sum_loadings(g: PrincipalFunctions, y: KernelFeatures, a: Any, b: Any, first: int) -> Loadings:
    assert isinstance(g, LinearFunctions)
    return Loadings.from_batches((g.of_features(y.of_rows(rows)), to_dense(rows)) for (rows,) in iterate_blocks(b))


def flatten_rows(rows: Any) -> Any:
    return rows if sp.issparse(rows) else to_dense(rows)


def draw_landmarks(rows: Any, most: int, rng: np.random.Generator) -> np.ndarray:
    """Different rows, all of them if they are at most so many."""
    order = rng.permutation(rows.shape[0])[: 20 * most]  # of repeated rows enough to find all but the rarest
    distinct = np.unique(to_dense(rows[order[:most]]), axis=0)
    for start in range(most, len(order), most):
        if len(distinct) >= most:
            break
        distinct = np.unique(np.vstack([distinct, to_dense(rows[order[start : start + most]])]), axis=0)
    return distinct if len(distinct) <= most else distinct[np.sort(rng.permutation(len(distinct))[:most])]


def compute_median_distance(rows: Any, rng: np.random.Generator) -> float:
    """Median squared distance between different rows."""
    some = rows[rng.permutation(rows.shape[0])[:MAX_ROWS_FOR_MEDIAN]]
    squared = euclidean_distances(some, squared=True)[np.triu_indices(some.shape[0], 1)]
    squared = squared[squared > 1e-12]
    return float(np.median(squared)) if len(squared) else 1.0


def compute_kernel(a: Any, b: Any, kernel: Kernel, options: dict[str, float], name: str) -> np.ndarray:
    if isinstance(kernel, str):
        with np.errstate(over="ignore", invalid="ignore"):
            K = pairwise_kernels(a, b, metric=kernel, **options)
        if not max(K.max(initial=0), -K.min(initial=0)) < MAX_FUNCTION_VALUE:  # NaN included
            raise ValueError(
                f"kernel {kernel!r} has values too large to compute with: choose another, or scale {name}."
            )
        return K
    K = to_floats(kernel(to_dense(a), to_dense(b)), "What kernel returns")
    if K.shape != (a.shape[0], b.shape[0]) or not np.isfinite(K).all():
        raise ValueError(
            f"kernel must return finite values of shape (len(a), len(b)) for rows of {name}, got shape {K.shape} "
            f"for {a.shape[0]} and {b.shape[0]} rows."
        )
    return K


def _make_penalty(cov: np.ndarray) -> np.ndarray:
    """Penalty on the norm, in units of the variance of the features."""
    return np.full(len(cov), np.trace(cov))
