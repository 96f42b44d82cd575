"""Which estimator suits which data: the methods by name, and those that are sensible for given pairs."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from correspondence._util.arguments import as_frame, check_index, count_observations
from correspondence._util.labels import name_missing_labels
from correspondence._util.text import short_repr
from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.core.estimator import Estimator
from correspondence.data.column_kinds import find_row_names
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.choosing import encoder_for
from correspondence.data.encoders.columns import MAX_DENSE_COLUMNS, Columns, find_only_category
from correspondence.data.encoders.images import Images
from correspondence.data.encoders.text import Bag, Text
from correspondence.data.label_order import keep_declared_order
from correspondence.estimators.ace import ACE
from correspondence.estimators.ca.estimator import CA
from correspondence.estimators.cca import CCA
from correspondence.estimators.conditional_expectations import MAX_LABELS_REGRESSED
from correspondence.estimators.kernel import KernelCCA
from correspondence.selection.method_names import METHOD_TEXTS
from correspondence.validation.fitting import check_in_memory

__all__ = [
    "METHODS",
    "METHODS_GIVEN",
    "MIN_PAIRS_FOR_NET",
    "PairsProfile",
    "list_methods_given",
    "list_sensible_methods",
    "make_estimator",
]

MAX_COMPONENTS = 10  # where the user does not say how many
MIN_PAIRS_FOR_RIDGE = 20  # fewer cannot be dealt out to folds
MIN_PAIRS_FOR_MODELS = 100  # for fewer, only the simplest methods are tried
MIN_PAIRS_FOR_NET = 1000
N_LANDMARKS = 200  # quick enough for the kernel to take part in every race
N_TREES = 100  # new data get the mean over the forests of five folds, which more trees do not improve
LOGISTIC_TOLERANCE = 1e-3  # of the gradient: a tenth of it takes twice as long and predicts no better
IMAGE_STEPS = 600  # a step of a net of images takes long


@dataclass(frozen=True, eq=False)
class VariableProfile:
    """What one variable is like: the encoder that an estimator would take, and what follows from it."""

    encoder: Encoder

    @classmethod
    def from_values(cls, values: Any, name: str) -> VariableProfile:
        """Look at the values of a variable."""
        with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning):
            return cls(encoder_for(values, name))

    @property
    def labels(self) -> int | None:
        """Number of different labels, if the variable is one column of them."""
        labels = find_only_category(self.encoder)
        return labels.width if labels else None

    @property
    def columns(self) -> int | None:
        """Number of encoded columns, if the variable is a table."""
        return self.encoder.width if isinstance(self.encoder, Columns) else None

    @property
    def has_columns(self) -> bool:
        """Whether linear functions can take the variable: a table, words or a sparse matrix."""
        return isinstance(self.encoder, Columns | Text | Bag)

    @property
    def are_images(self) -> bool:
        """Whether the values are images."""
        return isinstance(self.encoder, Images)

    @property
    def is_table(self) -> bool:
        """Whether splines and trees can take the variable."""
        return self.columns is not None and self.columns <= MAX_DENSE_COLUMNS

    @property
    def is_number(self) -> bool:
        """Whether the variable is a single column of numbers."""
        return self.columns == 1

    @property
    def has_few_labels(self) -> bool:
        """Whether the labels are few enough for a classifier."""
        return self.labels is not None and self.labels <= MAX_LABELS_REGRESSED


@dataclass(frozen=True, eq=False)
class PairsProfile:
    """What pairs of data are like."""

    n: int
    x: VariableProfile
    y: VariableProfile

    @classmethod
    def from_data(cls, X: Any, Y: Any) -> PairsProfile:
        """Look at both variables, once for all methods."""
        check_in_memory(X)
        if isinstance(Y, str):
            raise ValueError(f"Y must be data, got the text {short_repr(Y)}. For a column, give X[{short_repr(Y)}].")
        n, m = count_observations(X, "X"), count_observations(Y, "Y")
        if n != m:
            raise ValueError(f"X and Y must have the same length, got {n} and {m}.")
        check_index(X, Y)
        return cls(n, VariableProfile.from_values(X, "X"), VariableProfile.from_values(Y, "Y"))

    def check_labels_repeat(self) -> None:
        """Raise an error if labels name the rows: nothing that is found of a label holds for another row."""
        for side, name in ((self.x, "X"), (self.y, "Y")):
            labels = find_only_category(side.encoder)
            if labels is not None and (found := find_row_names(labels.shares, self.n)):
                raise ValueError(
                    f"{name} must have labels that occur several times, got names of the rows: {found}. "
                    "Take another column, or choose a method."
                )

    def name_missing_labels(self, X: Any, Y: Any) -> tuple[Any, Any]:
        """Give missing labels a level of their own, on each side that is one column of labels."""
        sides = ((X, "X", self.x), (Y, "Y", self.y))
        x, y = (
            values
            if kind.labels is None or as_frame(values, name) is not None
            else keep_declared_order(name_missing_labels(values, name), values)
            for values, name, kind in sides
        )
        return x, y

    @property
    def max_components(self) -> int:
        """Number of components to look for: ten, or as few as labels or pairs allow."""
        labels = [kind.labels - 1 for kind in (self.x, self.y) if kind.labels is not None]
        return min([MAX_COMPONENTS, max(1, self.n // 10), *labels])

    @property
    def max_components_compared(self) -> int:
        """Number of components to compare methods by: without labels those beyond the third are mostly noise."""
        has_labels = self.x.labels is not None or self.y.labels is not None
        return self.max_components if has_labels else min(3, self.max_components)

    @property
    def n_linear(self) -> int:
        """Number of components that linear functions of the columns can have at most."""
        return min(side.columns if side.columns is not None else self.max_components for side in (self.x, self.y))

    @property
    def has_images(self) -> bool:
        """Whether a variable is images, for which nets take minutes."""
        return self.x.are_images or self.y.are_images

    @property
    def are_labels(self) -> bool:
        """Whether both variables are discrete."""
        return self.x.labels is not None and self.y.labels is not None


@dataclass(frozen=True)
class Method:
    """One way to a decomposition."""

    text: str
    """What the method is, for help texts."""
    make: Callable[[PairsProfile, int, int], Estimator]
    """Make the estimator from the profile of the data, a number of components and a seed."""
    suits: Callable[[PairsProfile], bool]
    """Tell whether the method can and should be tried."""
    is_costly: bool = False
    """Whether the method takes so long that it is tried only where others leave something to find."""


def _make_forest(pairs: PairsProfile, d: int, seed: int) -> Estimator:
    kind = RandomForestClassifier if _has_labels(pairs) else RandomForestRegressor
    forest = kind(N_TREES, min_samples_leaf=3, max_features="sqrt", random_state=seed)
    return _make_regressor_ace(forest, pairs, d, seed)


def _make_mlp(pairs: PairsProfile, d: int, seed: int) -> Estimator:
    net = MLPClassifier((500,), alpha=0.01, early_stopping=True, n_iter_no_change=2, random_state=seed)
    return _make_regressor_ace(net, pairs, d, seed)


def _make_pice(pairs: PairsProfile, d: int, seed: int) -> Estimator:
    from correspondence.estimators.pice import PICE

    est = PICE(n_components=d, random_state=seed)
    return est.set_params(max_steps=IMAGE_STEPS) if pairs.has_images else est


def _make_regressor_ace(model: Any, pairs: PairsProfile, d: int, seed: int) -> Estimator:
    """Make an ACE that learns from the side that has no labels, if there is one."""
    if pairs.x.has_few_labels and not pairs.y.has_few_labels:
        return ACE(n_components=d, y_regressor=model, random_state=seed)
    return ACE(n_components=d, x_regressor=model, random_state=seed)


def _has_labels(pairs: PairsProfile) -> bool:
    return pairs.x.has_few_labels or pairs.y.has_few_labels


METHODS: dict[str, Method] = {
    "ca": Method(METHOD_TEXTS["ca"], lambda p, d, seed: CA(n_components=d), lambda p: p.are_labels),
    "ridge-ca": Method(
        METHOD_TEXTS["ridge-ca"],
        lambda p, d, seed: CA(n_components=d, regularization="auto"),
        lambda p: p.are_labels and p.n >= MIN_PAIRS_FOR_RIDGE,
    ),
    "cca": Method(
        METHOD_TEXTS["cca"],
        lambda p, d, seed: CCA(n_components=d),
        lambda p: p.x.has_columns and p.y.has_columns,
    ),
    "ace": Method(
        METHOD_TEXTS["ace"],
        lambda p, d, seed: ACE(n_components=d),
        lambda p: p.x.is_table and p.y.is_table,
    ),
    "kernel": Method(
        METHOD_TEXTS["kernel"],
        lambda p, d, seed: KernelCCA(n_components=d, n_landmarks=N_LANDMARKS, random_state=seed),
        lambda p: p.n >= MIN_PAIRS_FOR_MODELS,
    ),
    "logistic": Method(
        METHOD_TEXTS["logistic"],
        lambda p, d, seed: _make_regressor_ace(LogisticRegression(tol=LOGISTIC_TOLERANCE, max_iter=1000), p, d, seed),
        lambda p: p.n >= MIN_PAIRS_FOR_MODELS and _has_labels(p) and not p.are_labels,
        is_costly=True,
    ),
    "forest": Method(
        METHOD_TEXTS["forest"],
        _make_forest,
        lambda p: (
            p.n >= MIN_PAIRS_FOR_MODELS
            and p.x.is_table
            and p.y.is_table
            and (_has_labels(p) or p.x.is_number or p.y.is_number)  # one regression is enough
            and not p.are_labels
        ),
        is_costly=True,
    ),
    "mlp": Method(
        METHOD_TEXTS["mlp"],
        _make_mlp,
        lambda p: p.n >= MIN_PAIRS_FOR_NET and _has_labels(p) and not p.are_labels,
        is_costly=True,
    ),
    "pice": Method(
        METHOD_TEXTS["pice"],
        _make_pice,
        lambda p: (
            p.n >= (MIN_PAIRS_FOR_NET if p.has_images else MIN_PAIRS_FOR_MODELS)
            and importlib.util.find_spec("torch") is not None
        ),
        is_costly=True,
    ),
}
"""From simple to flexible."""
METHODS_GIVEN = ("cca", "ace")
"""Those that can be fitted to what is left once others are given."""


def list_sensible_methods(pairs: PairsProfile) -> list[str]:
    """List the names of the methods worth trying, from simple to flexible."""
    if pairs.are_labels:
        return [name for name in ("ca", "ridge-ca") if METHODS[name].suits(pairs)]
    return [name for name, method in METHODS.items() if method.suits(pairs)] or ["kernel"]


def list_methods_given(pairs: PairsProfile) -> list[str]:
    """List the names of the methods for what is left once others are given, from simple to flexible."""
    names = [name for name in METHODS_GIVEN if METHODS[name].suits(pairs)]
    if not names:
        raise ValueError(
            "X and Y must be tables, labels or texts if there are given variables, got images or other arrays. "
            "Give columns of numbers, such as an embedding."
        )
    return names[:1] if pairs.are_labels else names  # which splines would not change


def make_estimator(method: str, pairs: PairsProfile, n_components: int, random_state: int = 0) -> Estimator:
    """Make the unfitted estimator of a method for given data."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {short_repr(method)}.")
    return METHODS[method].make(pairs, n_components, random_state)
