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

from correspondence._util.arguments import to_floats
from correspondence._util.constraints import FUNCTION, SEED, Constraints, Real, Whole
from correspondence._util.files import State
from correspondence._util.text import short_repr
from correspondence.core.decomposition import Decomposition
from correspondence.core.estimator import MISSING_POLICIES
from correspondence.core.feature_maps import Loadings, fix_signs, iterate_blocks, to_dense
from correspondence.core.functions import MAX_FUNCTION_VALUE, FeatureMap, LinearFunctions, PrincipalFunctions
from correspondence.core.regularised import check_strengths, fit_penalised
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.choosing import encoder_for, encoder_from_state, survey_pairs
from correspondence.data.encoders.columns import Columns
from correspondence.data.pairs.pairs import Memory, Parts
from correspondence.estimators.cca import PenalisedEstimator, list_strengths, sum_folds

__all__ = ["KernelCCA", "KernelFeatures"]

KERNEL_NAMES = ("rbf", "poly", "linear")
RIDGE_STRENGTHS = (10.0 ** np.arange(-8, 0.5, 0.5)).tolist()
MAX_ROWS_FOR_MEDIAN = 1000  # rows whose distances give the median
MIN_EIGENVALUE_RATIO = 1e-9  # eigenvalues of the kernel, relative to the largest, below which all is rounding

Kernel = str | Callable[[Any, Any], Any]


@dataclass(frozen=True, eq=False)
class KernelFeatures(FeatureMap):
    """Coordinates in the space of a kernel that the landmarks span: their inner products are the kernel's.

    Parameters
    ----------
    name : str
        Errors call the variable "X" or "Y".
    encoder : Encoder
        It turns data into rows of numbers.
    kernel : str or callable
        See `KernelCCA`.
    options : dict
        These are gamma, degree and coef0 of the kernel, as far as it has them.
    landmarks : ndarray of shape (m, p)
        The encoded rows that span the functions.
    projection : ndarray of shape (m, r)
        It turns kernel values into coordinates.
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
        return np.vstack([self.map_rows(rows) for (rows,) in iterate_blocks(self.encode_rows(values))])

    def encode_rows(self, values: Any) -> Any:
        """Encode values to rows, which may be sparse."""
        return flatten_rows(self.encoder(values, self.name))

    def map_rows(self, rows: Any) -> np.ndarray:
        """Compute the coordinates of encoded rows."""
        return compute_kernel(rows, self.landmarks, self.kernel, self.options, self.name) @ self.projection

    def state(self) -> State:  # noqa: D102
        if not isinstance(self.kernel, str):
            raise TypeError(f"kernel {short_repr(self.kernel)} is a Python function, which cannot be saved.")
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


class KernelCCA(PenalisedEstimator):
    """Kernel canonical correlation analysis: the most correlated functions in the space of a kernel.

    With at most `n_landmarks` different rows it is exact; otherwise that many rows, drawn at random, span the functions
    (Nystroem), which keeps the cost linear in the number of pairs. Without a penalty such functions fit anything, so
    its strength is chosen by what they capture of held-out folds.

    Parameters
    ----------
    n_components : int
        The number of components.
    kernel : {"rbf", "poly", "linear"} or callable
        A callable takes two arrays of rows and returns the matrix of kernel values, as in scikit-learn's SVC. Rows are
        the encoded data: numbers robustly standardised, an indicator for each label.
    y_kernel : as `kernel`, optional
        The kernel for Y; the same as for X by default.
    gamma, y_gamma : "median" or float
        The width of "rbf", ``exp(-gamma |a - b|^2)``, and the factor of "poly", ``(gamma <a, b> + coef0)^degree``.
        "median" is one over the median squared distance (rbf), or over the number of columns (poly).
    degree, coef0 : int, float
        The parameters of "poly".
    n_landmarks : int
        The number of landmarks of each side.
    regularization : "auto", float or array-like of shape (n_components,)
        The strength of the penalty on the norm of a function, in units of the variance in the space of the kernel, the
        same for all components or one for each.
    random_state : int
        The seed of the landmarks.
    missing : {"indicator", "drop", "error"}
        "indicator" encodes a missing number as the middle of the others, with an indicator beside it, and a missing
        label as a level of its own; "drop" leaves pairs with missing values out of the fit; "error" refuses them.
    handle_unknown : {"error", "missing"}
        In new data, a label that was not in the fit is an error, or is treated like a missing one.

    Attributes
    ----------
    decomposition_ : Decomposition
        The result; ``pics_`` and ``correlations_`` are those on the training pairs.
    regularization_ : ndarray of shape (n_components,)
        The strength of the penalty that was used for each component.

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

    _is_penalised_by_variance = True
    _constraints: ClassVar[Constraints] = {
        "n_components": Whole(1),
        "kernel": (*KERNEL_NAMES, FUNCTION),
        "y_kernel": (None, *KERNEL_NAMES, FUNCTION),
        "gamma": ("median", Real(above=0)),
        "y_gamma": ("median", Real(above=0)),
        "degree": Whole(1, 1000),
        "coef0": Real(0),
        "n_landmarks": Whole(2),
        "regularization": ("auto", check_strengths),
        "random_state": SEED,
        "missing": MISSING_POLICIES,
        "handle_unknown": ("error", "missing"),
    }

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
        missing: str = "indicator",
        handle_unknown: str = "error",
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
        self.missing = missing
        self.handle_unknown = handle_unknown

    def _decompose_pairs(
        self, pairs: Parts, groups: np.ndarray | None, y_sample: Any
    ) -> tuple[Decomposition, np.ndarray]:
        x, y = self._make_feature_maps(pairs)
        rows = pairs.through(x.encode_rows, y.encode_rows)
        folds = sum_folds(rows, (x.map_rows, y.map_rows), groups)
        total = sum(folds[1:], start=folds[0])
        # The penalty on the norm of a function, in units of the variance of the features.
        penalty = np.full_like(total.mean_f, np.trace(total.cov_f)), np.full_like(total.mean_g, np.trace(total.cov_g))
        ridge = list_strengths(self.regularization, "regularization", RIDGE_STRENGTHS)
        fit = fit_penalised(folds, penalty, self.n_components, ridge, is_rich=True)
        d = fit.moments.decompose(self.n_components, span=(fit.A, fit.B), x_features=x, y_features=y, y_sample=y_sample)
        loadings = rows.sums(partial(_sum_loadings, d.g, y), partial(reduce, add), "functions", numbered=False)
        return fix_signs(d, loadings.covariance, loadings.variance), fit.strength

    def _make_feature_maps(self, pairs: Parts) -> tuple[KernelFeatures, KernelFeatures]:
        kernels = self.kernel, self.kernel if self.y_kernel is None else self.y_kernel
        encoders, samples = encode_sides(pairs)
        x, y = map(self._fit_features, "XY", encoders, samples, kernels, (self.gamma, self.y_gamma))
        return x, y

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


def encode_sides(pairs: Parts) -> tuple[list[Encoder], list[Any]]:
    """Find the encoders of both sides, and encode the rows that were drawn, or all of data that are not a table."""
    encoders: list[Encoder] = []
    samples = []
    for side, (name, survey) in enumerate(zip("XY", survey_pairs(pairs), strict=True)):
        if survey is not None:
            encoder: Any = Columns.from_survey(survey, name)
            samples.append(flatten_rows(encoder.of_columns(survey.sample, name)))
        else:
            assert isinstance(pairs, Memory)
            values = (pairs.x, pairs.y)[side]
            encoder = encoder_for(values, name)
            samples.append(flatten_rows(encoder(values, name)))
        encoders.append(encoder)
    return encoders, samples


def _sum_loadings(g: PrincipalFunctions, y: KernelFeatures, a: Any, b: Any, first: int) -> Loadings:
    assert isinstance(g, LinearFunctions)
    return Loadings.from_batches((g.of_features(y.map_rows(rows)), to_dense(rows)) for (rows,) in iterate_blocks(b))


def flatten_rows(rows: Any) -> Any:
    return rows if sp.issparse(rows) else to_dense(rows)


def draw_landmarks(rows: Any, most: int, rng: np.random.Generator) -> np.ndarray:
    """Draw at most `most` different rows."""
    order = rng.permutation(rows.shape[0])[: 20 * most]  # where rows repeat, enough to find all but the rarest
    distinct = np.unique(to_dense(rows[order[:most]]), axis=0)
    for start in range(most, len(order), most):
        if len(distinct) >= most:
            break
        distinct = np.unique(np.vstack([distinct, to_dense(rows[order[start : start + most]])]), axis=0)
    return distinct if len(distinct) <= most else distinct[np.sort(rng.permutation(len(distinct))[:most])]


def compute_median_distance(rows: Any, rng: np.random.Generator) -> float:
    """Compute the median squared distance between different rows."""
    some = rows[rng.permutation(rows.shape[0])[:MAX_ROWS_FOR_MEDIAN]]
    squared = euclidean_distances(some, squared=True)[np.triu_indices(some.shape[0], 1)]
    squared = squared[squared > 1e-12]
    return float(np.median(squared)) if len(squared) else 1.0


def compute_kernel(a: Any, b: Any, kernel: Kernel, options: dict[str, float], name: str) -> np.ndarray:
    if isinstance(kernel, str):
        with np.errstate(over="ignore", invalid="ignore"):
            K = pairwise_kernels(a, b, metric=kernel, **options)
        if not max(K.max(initial=0), -K.min(initial=0)) < MAX_FUNCTION_VALUE:  # NaN included
            raise ValueError(f"kernel must not overflow on {name}, got {kernel!r}. Choose another, or scale {name}.")
        return K
    K = to_floats(kernel(to_dense(a), to_dense(b)), "What kernel returns")
    if K.shape != (a.shape[0], b.shape[0]) or not np.isfinite(K).all():
        raise ValueError(
            f"kernel must return finite values of shape (len(a), len(b)) for rows of {name}, got shape {K.shape} "
            f"for {a.shape[0]} and {b.shape[0]} rows."
        )
    return K
