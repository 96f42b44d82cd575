"""What is left of functions of a variable once z is known: regressions on z, of which each row's own is held out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import get_tags

from correspondence._util.arguments import count_observations
from correspondence._util.files import State, strip_prefix
from correspondence._util.text import short_repr
from correspondence.core.feature_maps import to_dense
from correspondence.core.given.smooth_regression import ROWS_PER_PRODUCT, SplineRegression, regress_on_splines
from correspondence.data.encoders.columns import Columns, is_table
from correspondence.data.splits import Split, encode_groups, make_splits

__all__ = ["Given", "GivenEncoder", "GivenRegression", "check_regressor"]

N_FOLDS_OF_GIVEN = 5  # with groups, and with regressors
MAX_GIVEN_COLUMNS = 1000  # encoded columns of z
MAX_CURVED_CORRELATION = 1 - 1e-6  # beyond it, the column on its own scale adds nothing to the encoded one


def check_regressor(model: Any, name: str) -> None:
    """Check a regressor of scikit-learn, or of its kind."""
    is_model = all(hasattr(model, method) for method in ("fit", "predict", "get_params"))
    if isinstance(model, type) or not is_model or is_classifier(model):
        raise ValueError(f"{name} must be None or a scikit-learn regressor such as Ridge(), got {short_repr(model)}.")


@dataclass(frozen=True, eq=False)
class GivenEncoder:
    """Encoder of z: robust coordinates for smooth functions, indicators, numbers on their own scale, and products.

    Numbers on their own scale are for those whose extremes the robust coordinates draw in: a straight line there is
    none here. Products of two variables are for effects of one that depend on the other, if rows are enough for them.

    Attributes
    ----------
    columns : Columns
        The encoder that `ACE` uses.
    straight : Columns or None
        The encoder that `CCA` uses; None if it adds nothing.
    kept : ndarray of int
        These columns of `straight` are added.
    products : ndarray of int of shape (k, 2)
        The products of these pairs of encoded columns are added.
    """

    columns: Columns
    straight: Columns | None = None
    kept: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    products: np.ndarray = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))

    @classmethod
    def fit(cls, values: Any, name: str = "given") -> GivenEncoder:
        """Fit the encoder to a table of numbers, labels, dates or other columns.

        Parameters
        ----------
        values : array-like or frame
            The given variables, one row for each pair.
        name : str
            Errors and warnings call the data so.
        """
        if not is_table(values, name):
            raise ValueError(f"{name} must be a table of numbers and labels, got {type(values).__name__}.")
        columns = Columns.fit(values, name)
        if columns.width > MAX_GIVEN_COLUMNS:
            raise ValueError(
                f"{name} must have at most {MAX_GIVEN_COLUMNS} columns, with one for each label, got {columns.width}."
            )
        products = list_products(columns, count_observations(values, name) // ROWS_PER_PRODUCT)
        if not columns.coordinates.any():
            return cls(columns, products=products)
        with warnings.catch_warnings(action="ignore"):  # those of the first encoder are enough
            straight = Columns.fit(values, name, linear=True)
        curved, lines = (to_dense(encoder(values, name)) for encoder in (columns, straight))
        kept = [j for j in np.flatnonzero(straight.coordinates) if not _is_among(lines[:, j], curved)]
        return cls(columns, straight, np.array(kept), products) if kept else cls(columns, products=products)

    @property
    def is_number(self) -> np.ndarray:
        """Which columns of the rows are numbers that functions may bend."""
        return np.append(self.columns.coordinates, np.zeros(len(self.kept) + len(self.products), dtype=bool))

    def __call__(self, values: Any, name: str = "given") -> np.ndarray:
        """Encode values as rows of numbers; errors call them `name`."""
        rows = to_dense(self.columns(values, name))
        parts = [rows]
        if self.straight is not None:
            parts.append(to_dense(self.straight(values, name))[:, self.kept])
        if len(self.products):
            parts.append(rows[:, self.products[:, 0]] * rows[:, self.products[:, 1]])
        return np.hstack(parts)

    def accept_unknown(self) -> GivenEncoder:
        """Return an encoder that encodes a label that was not in the fit as the mean of those that were."""
        straight = self.straight and self.straight.accept_unknown()
        return replace(self, columns=self.columns.accept_unknown(), straight=straight)

    def state(self) -> State:
        """Return the description from which `from_state` makes the same encoder."""
        straight = self.straight and self.straight.state().description
        added = {"kept": self.kept.tolist(), "products": self.products.tolist()}
        return State({"columns": self.columns.state().description, "straight": straight} | added, {})

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> GivenEncoder:
        """Put together what `state` took apart."""
        straight = description["straight"] and Columns.from_state(description["straight"], {})
        kept, products = (np.array(description[key], dtype=np.int64) for key in ("kept", "products"))
        return cls(Columns.from_state(description["columns"], {}), straight, kept, products.reshape(-1, 2))


def list_products(columns: Columns, most: int) -> np.ndarray:
    """List the pairs of encoded columns of different variables whose products are features of z, of shape (k, 2).

    Products of two numbers come first, then those of a number and a label, and of two labels: each kind as a whole, for
    without some of them the regression would depend on the order of the columns.

    Parameters
    ----------
    columns : Columns
        The encoder.
    most : int
        List at most this many.
    """
    variable = np.repeat(np.arange(len(columns.columns)), [column.width for column in columns.columns.values()])
    i, j = np.triu_indices(columns.width, k=1)
    i, j = (side[variable[i] != variable[j]] for side in (i, j))
    n_numbers = columns.coordinates[i].astype(int) + columns.coordinates[j]
    kept = np.zeros(len(i), dtype=bool)
    for kind in (2, 1, 0):
        if kept.sum() + (n_numbers == kind).sum() > most:
            break
        kept |= n_numbers == kind
    return np.column_stack([i[kept], j[kept]])


def _is_among(z: np.ndarray, columns: np.ndarray) -> bool:
    z = z - z.mean()
    columns = columns - columns.mean(axis=0)
    products = np.abs(z @ columns)
    norms = np.linalg.norm(z) * np.linalg.norm(columns, axis=0)
    return bool((products >= MAX_CURVED_CORRELATION * norms).any())


@dataclass(frozen=True, eq=False)
class Given:
    """Rows of z, encoded once for all regressions on them.

    Attributes
    ----------
    rows : ndarray of shape (n, q)
        The encoded rows.
    encoder : GivenEncoder
        This has made the rows.
    """

    rows: np.ndarray
    encoder: GivenEncoder

    @classmethod
    def read(cls, values: Any, encoder: GivenEncoder | None = None) -> Given:
        """Encode the given variables, or return them if they are encoded.

        Parameters
        ----------
        values : array-like, frame or Given
            The given variables, one row for each pair.
        encoder : GivenEncoder, optional
            By default, one is fitted to the values.

        Examples
        --------
        >>> Given.read([["a", 1.0], ["b", 2.0], ["a", 4.0], ["c", 3.0]]).rows.shape[0]
        4
        """
        if isinstance(values, Given):
            return values
        encoder = encoder or GivenEncoder.fit(values)
        return cls(encoder(values), encoder)

    def __len__(self) -> int:
        return len(self.rows)

    def take_rows(self, rows: np.ndarray) -> Given:
        """Return some of the rows, by positions, with the same encoder."""
        return replace(self, rows=self.rows[rows])


@dataclass(frozen=True, eq=False)
class GivenRegression:
    """Regressions of functions of one variable on z.

    Attributes
    ----------
    encoder : GivenEncoder
        It encodes z.
    models : list
        The expectation is the mean over these. Splines are one model, of all rows; regressors are one for each fold.
    residuals : ndarray of shape (n, p)
        What the regressions leave of the rows of the fit; each row by a model that was fitted without it.
    own_residuals : ndarray of shape (n, p)
        The same by the model of all rows, for splines. With a regressor they are `residuals`.
    leverages : ndarray of shape (n, 1)
        How much the expectation of a row depends on its own value, for splines. With a regressor they are 0.
    """

    encoder: GivenEncoder
    models: list[Any]
    residuals: np.ndarray = field(repr=False)
    own_residuals: np.ndarray = field(repr=False)
    leverages: np.ndarray = field(repr=False)

    @classmethod
    def fit(
        cls,
        F: np.ndarray,
        Z: Any,
        groups: Any = None,
        regressor: Any = None,
        random_state: int = 0,
        *,
        is_rough: bool = False,
    ) -> GivenRegression:
        """Regress functions of a variable on z.

        Parameters
        ----------
        F : ndarray of shape (n, p)
            Functions of a variable, one in each column.
        Z : array-like, frame or Given
            The given variables, one row for each row of F; encode them once by `Given.read` for several regressions.
        groups : array-like of shape (n,), optional
            Rows of the same group are held out together.
        regressor : regressor, optional
            Any of scikit-learn; by default sums of smooth functions and a mean for each label. Their smoothness is
            chosen by generalised cross-validation, on the rough side, and is the same for all columns of F: what is
            left of a sum of columns is the sum of what is left of them.
        random_state : int
            The folds of regressors, and of groups, are drawn with this seed.
        is_rough : bool
            If true, splines are as rough as their knots allow, as a test needs them.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> z = rng.normal(size=300); F = np.column_stack([z**2, z]) + rng.normal(size=(300, 2))
        >>> regression = GivenRegression.fit(F, z)
        >>> bool((np.abs(np.corrcoef(regression.residuals.T, z)[2, :2]) < 0.1).all())
        True
        >>> regression.leave(np.zeros((1, 2)), [2.0]).round(0)
        array([[-4., -2.]])
        """
        F = np.asarray(F, dtype=np.float64)
        given = Given.read(Z)
        if len(given) != len(F):
            raise ValueError(f"given must have one row for each of the {len(F)} pairs, got {len(given)}.")
        folds = _make_folds(len(F), groups, random_state) if groups is not None or regressor is not None else None
        if regressor is not None:
            assert folds is not None
            return _fit_regressors(F, given, regressor, folds)
        is_number, has_indices = given.encoder.is_number, len(given.encoder.columns.columns) > 1
        fit = regress_on_splines(F, given.rows, is_number, folds, is_rough=is_rough, has_indices=has_indices)
        return cls(given.encoder, [fit.regression], fit.held_out, fit.own, fit.leverages)

    @property
    def even_residuals(self) -> np.ndarray:
        """The residuals of the rows of the fit, scaled so that each is as uncertain as the others, of shape (n, p).

        What is left of a row without a model fitted to it has the variance of the noise divided by 1 - leverage: of a
        row far from all others hardly anything is known, but it could decide everything.
        """
        return self.residuals * np.sqrt(1 - self.leverages)

    def expect(self, Z: Any) -> np.ndarray:
        """Expect the functions given values of z, of shape (n, p)."""
        rows = Given.read(Z, self.encoder).rows
        return np.mean([model(rows) for model in self.models], axis=0)

    def leave(self, F: np.ndarray, Z: Any) -> np.ndarray:
        """Compute what is left of functions on new rows.

        Parameters
        ----------
        F : ndarray of shape (n, p)
            The same functions as in the fit.
        Z : array-like, frame or Given
            The given variables of these rows.
        """
        expected = self.expect(Z)
        if len(expected) != len(F):
            raise ValueError(f"given must have one row for each of the {len(F)} pairs, got {len(expected)}.")
        return F - expected

    def combine_functions(self, weights: np.ndarray, shift: np.ndarray) -> GivenRegression:
        """Return the regressions of linear combinations of the functions, without the rows of the fit.

        Parameters
        ----------
        weights : ndarray of shape (p, k)
            The weights of the functions.
        shift : ndarray of shape (k,)
            These numbers are added to what is expected.
        """
        none = np.empty((0, weights.shape[1]))
        models = [model.combine_functions(weights, shift) for model in self.models]
        return GivenRegression(self.encoder, models, none, none, np.empty((0, 1)))

    def accept_unknown(self) -> GivenRegression:
        """Return regressions that take a label that was not in the fit as the mean of those that were."""
        return replace(self, encoder=self.encoder.accept_unknown())

    def state(self) -> State:
        """Return the description and the arrays from which `from_state` makes the same, without residuals."""
        if not all(isinstance(model, SplineRegression) for model in self.models):
            raise TypeError(
                f"Regressions on given variables by {self.models[0]!r} cannot be saved. "
                "Use given_regressor=None, whose splines can, or pickle the estimator."
            )
        model = self.models[0].state()
        return State({"encoder": self.encoder.state().description}, model.prefix_arrays("model."))

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> GivenRegression:
        """Put together what `state` took apart."""
        model = SplineRegression.from_state({}, strip_prefix(arrays, "model."))
        none = np.empty((0, len(model.centre)))
        return cls(GivenEncoder.from_state(description["encoder"], {}), [model], none, none, np.empty((0, 1)))


def _make_folds(n: int, groups: Any, random_state: int) -> list[Split]:
    together = None if groups is None else encode_groups(groups, n, "groups")
    most = n if together is None else len(np.unique(together))
    return make_splits(max(2, min(N_FOLDS_OF_GIVEN, most)), n, groups=together, random_state=random_state)


@dataclass(frozen=True, eq=False)
class RegressorModel:
    """A fitted regressor, which expects p functions at encoded rows."""

    model: Any
    width: int
    weights: np.ndarray | None = None
    shift: np.ndarray | float = 0.0

    @classmethod
    def fit(cls, regressor: Any, rows: np.ndarray, F: np.ndarray) -> RegressorModel:
        """Fit a copy of the regressor."""
        model, width = clone(regressor), F.shape[1]
        if width > 1 and not get_tags(model).target_tags.multi_output:
            model = MultiOutputRegressor(model)
        try:
            return cls(model.fit(rows, F if width > 1 else F[:, 0]), width)
        except Exception as error:
            reason = " ".join(str(error).split())[:200].rstrip(".")
            raise ValueError(f"{short_repr(regressor)} could not be fitted to given: {reason}.") from error

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Expect the functions, or combinations of them."""
        expected = np.asarray(self.model.predict(rows), dtype=np.float64).reshape(len(rows), self.width)
        return (expected if self.weights is None else expected @ self.weights) + self.shift

    def combine_functions(self, weights: np.ndarray, shift: np.ndarray) -> RegressorModel:
        """Return the same model of linear combinations of the functions; `shift` is added to them."""
        if self.weights is None:
            return replace(self, weights=weights, shift=shift)
        return replace(self, weights=self.weights @ weights, shift=self.shift @ weights + shift)

    def __repr__(self) -> str:
        return short_repr(self.model)


def _fit_regressors(F: np.ndarray, given: Given, regressor: Any, folds: list[Split]) -> GivenRegression:
    residuals, models = np.empty_like(F), []
    for train, test in folds:
        models.append(RegressorModel.fit(regressor, given.rows[train], F[train]))
        residuals[test] = F[test] - models[-1](given.rows[test])
    return GivenRegression(given.encoder, models, residuals, residuals, np.zeros((len(F), 1)))
