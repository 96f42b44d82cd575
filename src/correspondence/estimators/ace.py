"""ACE: sums of smooth functions in closed form, or conditional expectations by any scikit-learn regressor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import partial, reduce
from operator import add
from typing import Any, ClassVar, Self

import numpy as np

from correspondence._util.arguments import count_observations
from correspondence._util.constraints import SEED, Constraints, Whole, check_parameters
from correspondence._util.text import short_repr
from correspondence.core.collinearity import describe_columns, resolve_collinearity
from correspondence.core.decomposition import Decomposition
from correspondence.core.dependence_views import View, view_whitened
from correspondence.core.estimator import MISSING_POLICIES, treat_missing
from correspondence.core.feature_maps import Additive, Encoded, Loadings, fix_signs, iterate_blocks, to_dense
from correspondence.core.functions import LinearFunctions
from correspondence.core.given.conditional_views import view_left_columns, view_left_splines
from correspondence.core.given.estimator_given import GivenEstimator
from correspondence.core.given.regression import check_regressor
from correspondence.core.moments import Moments
from correspondence.core.order.ordered_additive import decompose_in_order, is_in_order, solve_in_order
from correspondence.core.regularised import check_strengths
from correspondence.core.splines import (
    SMOOTHING_STRENGTHS,
    AdditiveFit,
    AdditiveFunctions,
    AdditiveSums,
    SplineBasis,
    solve_additive,
    view_additive,
)
from correspondence.data.beside_given import has_given, strip_given
from correspondence.data.column_summary import Survey
from correspondence.data.encoders.choosing import encoders_for, survey_pairs
from correspondence.data.encoders.columns import MAX_DENSE_COLUMNS, Columns, copy_for_expectations
from correspondence.data.label_order import check_ordered
from correspondence.data.pairs.pairs import Memory, Parts
from correspondence.estimators.alternating import AlternatingExpectations, check_model
from correspondence.estimators.ca.ordered import check_no_order
from correspondence.estimators.cca import list_strengths
from correspondence.estimators.column_orders import declares_column_order, read_column_orders
from correspondence.estimators.left_additive import LeftColumns, decompose_left_columns

__all__ = ["ACE"]


class ACE(GivenEstimator):
    """Alternating conditional expectations, all components at once.

    Without regressors, f and g are sums of functions of single columns, found in closed form: a value for each label,
    and cubic splines for numbers, which are constant beyond the data. The smoothness of each component is chosen by
    what it adds to those before it on held-out folds, so asking for more components does not harm the first.

    With regressors, f_i(x) is an estimate of E[g_i(Y) | X = x] by any scikit-learn regressor, and g_i likewise, or the
    mean over each label where Y is discrete. A classifier will do as well in that case, since E[g_i(Y) | x] is a mean
    over its predicted probabilities. Everything is cross-fitted: PICs are those of pairs not used to fit their
    regressor, and for new data the regressors of all folds are averaged.

    Parameters
    ----------
    n_components : int
        The number of components.
    x_regressor : regressor or classifier, optional
        It learns E[g(Y) | X] from the encoded columns of X. A classifier needs labels for Y.
    y_regressor : regressor or classifier, optional
        It learns E[f(X) | Y]. The default takes means over the labels of Y, or a copy of `x_regressor` if Y does not
        hold labels.
    n_knots : "auto" or int
        The number of knots of the splines of each column; "auto" is 24, or fewer for many columns or few pairs, and at
        most 12 once others are given.
    smoothing : "auto", float or array-like of shape (n_components,)
        The weight of the penalty on the third derivative is the same for all components, or one for each. "auto"
        chooses it by what a component adds on held-out folds.
    cv : int, splitter or iterable
        The folds of the cross-fitting with regressors.
    n_alternations : int
        How often E[g(Y) | X] and E[f(X) | Y] are learned in turn with regressors, if both X and Y have several columns
        or more than 50 labels.
    random_state : int
        The seed of the folds.
    progress : bool, optional
        Show a progress bar; by default if it takes longer than two seconds.
    missing : {"indicator", "drop", "error"}
        "indicator" encodes a missing number as the middle of the others, with an indicator beside it, and a missing
        label as a level of its own; "drop" leaves pairs with missing values out of the fit; "error" refuses them.
    handle_unknown : {"error", "missing"}
        In new data, a label that was not in the fit is an error, or is treated like a missing one.
    given_regressor : regressor, optional
        It learns what is expected of splines of the columns given z, where `fit` has given variables. The default is
        sums of smooth functions of the given columns, and a mean for each label.
    ordered : "auto", None, list of names, or dict
        The columns in which the first pair of functions rises or falls with an order: it is the best such pair, and
        later ones, uncorrelated with it, may bend. "auto" takes the columns that declare an order: ordered categoricals
        of pandas and Enums of polars. A list names columns of X or Y, also numbers and dates, in their own order; the
        only column of a variable may be called "X" or "Y". A dict gives labels their levels, lowest first. Missing
        values are free. With regressors or given variables, only None or "auto", which does nothing.

    Attributes
    ----------
    decomposition_ : Decomposition
        The result.
    pics_, correlations_ : ndarray of shape (n_components,)
        The PICs and correlations on the training pairs; with regressors they are cross-fitted.
    smoothing_ : ndarray of shape (n_components,)
        The weight of the penalty on the third derivative for each component, without regressors.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=3000); y = x**2 + 0.5 * rng.normal(size=3000)
    >>> bool(co.ACE(n_components=1).fit(x, y).correlations_[0] > 0.9)
    True
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> labels = np.where(y > 1, "high", "low")
    >>> forest = RandomForestClassifier(50, min_samples_leaf=20, random_state=0)
    >>> co.ACE(n_components=1, x_regressor=forest).fit(x, labels).correlations_.round(1)
    array([0.8])
    """

    smoothing_: np.ndarray
    _constraints: ClassVar[Constraints] = {
        "n_components": Whole(1),
        "x_regressor": (None, check_model),
        "y_regressor": (None, check_model),
        "n_knots": ("auto", Whole(3)),
        "smoothing": ("auto", check_strengths),
        "n_alternations": Whole(1),
        "random_state": SEED,
        "missing": MISSING_POLICIES,
        "handle_unknown": ("error", "missing"),
        "given_regressor": (None, check_regressor),
        "ordered": check_ordered,
    }

    def __init__(
        self,
        n_components: int = 2,
        x_regressor: Any = None,
        y_regressor: Any = None,
        *,
        n_knots: str | int = "auto",
        smoothing: Any = "auto",
        cv: Any = 5,
        n_alternations: int = 3,
        random_state: int = 0,
        progress: bool | None = None,
        missing: str = "indicator",
        handle_unknown: str = "error",
        given_regressor: Any = None,
        ordered: Any = "auto",
    ) -> None:
        self.n_components = n_components
        self.x_regressor = x_regressor
        self.y_regressor = y_regressor
        self.n_knots = n_knots
        self.smoothing = smoothing
        self.cv = cv
        self.n_alternations = n_alternations
        self.random_state = random_state
        self.progress = progress
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.given_regressor = given_regressor
        self.ordered = ordered

    def fit(self, X: Any, Y: Any = None, *, groups: Any = None, given: Any = None) -> Self:
        """Find the most correlated functions of X and Y, or of what is left of them once others are given.

        Parameters
        ----------
        X, Y : array-like, frame, list of labels; with regressors also sparse matrix or list of texts
            One row for each pair. Or X alone, as `Pairs`, without regressors: moments are then computed where the
            pairs are.
        groups : array-like of shape (n,), optional
            Pairs of the same group, such as repeated measurements, stay in the same fold.
        given : array-like or frame, optional
            Leave what these variables explain, one row for each pair, out of both X and Y: the functions are f(x) minus
            what is expected of it given z, and likewise for g. Without `x_regressor` and `y_regressor` only.

        Returns
        -------
        Self
            The estimator itself.

        Warns
        -----
        LeftOut
            Columns that the given variables determine are dropped.
        """
        check_parameters(self)
        if has_given(X, given):
            return self._fit_left(X, Y, groups, given)
        X, Y, groups = treat_missing(self.missing, X, Y, groups)
        pairs, together = self._open_pairs(X, Y, groups)
        if self.x_regressor is None and self.y_regressor is None:
            d, smoothing = self._solve_closed_form(pairs, copy_for_expectations(Y), together)
            self._set_decomposition(d, X)
            self.smoothing_ = smoothing
            return self
        check_no_order(self.ordered, "regressors")
        if not isinstance(pairs, Memory):
            raise ValueError("X must not be Pairs if there are regressors. Collect the pairs first, and give X and Y.")
        regression = AlternatingExpectations(
            **{field.name: getattr(self, field.name) for field in fields(AlternatingExpectations)}
        )
        self._set_decomposition(regression.decompose(encoders_for(pairs), X, Y, together), X)
        self.__dict__.pop("smoothing_", None)
        return self

    def _fit_left(self, X: Any, Y: Any, groups: Any, given: Any) -> Self:
        """Fit to what the given variables leave of both sides."""
        check_no_order(self.ordered, "given variables")
        for name in ("x_regressor", "y_regressor"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f"{name} must be None if there are given variables, got {short_repr(getattr(self, name))}. "
                    "Sums of smooth functions are used; given_regressor says what regresses them on the given ones."
                )
        pairs, conditions = self._take_given(X, Y, groups, given)
        _, encoders = survey_tables(pairs)
        rows = pairs.through(*(Encoded(*side) for side in zip("XY", encoders, strict=True)))
        x, y = (
            LeftColumns.from_rows(*side, conditions, self._wanted_knots)
            for side in zip("XY", encoders, (rows.x, rows.y), strict=True)
        )
        (x_basis, y_basis), sums = sum_splines(pairs, encoders, rows, (x.basis, y.basis), conditions.groups)
        sides = x.with_basis(x_basis), y.with_basis(y_basis)
        d, smoothing = decompose_left_columns(sides, sums, conditions, self.n_components, self._smoothing_strengths)
        self._set_decomposition(d, pairs.x)
        self.smoothing_ = smoothing
        return self

    def _solve_closed_form(
        self, pairs: Parts, y_sample: Any, groups: np.ndarray | None
    ) -> tuple[Decomposition, np.ndarray]:
        surveys, encoders = survey_tables(pairs)
        x_basis, y_basis = (self._make_spline_basis(*side) for side in zip(encoders, surveys, "XY", strict=True))
        rows = pairs.through(*(Encoded(*side) for side in zip("XY", encoders, strict=True)))
        bases, sums = sum_splines(pairs, encoders, rows, (x_basis, y_basis), groups)
        grid = self._smoothing_strengths
        orders = read_column_orders(self.ordered, pairs, encoders)
        fit = solve_additive(sums, *bases, self.n_components, grid)
        decompose = partial(decompose_functions, rows, encoders, self.n_components, y_sample)
        d = decompose(fit)
        if orders is not None and not is_in_order(fit, d, orders):
            fit = solve_in_order(sums, bases, orders, self.n_components, fit.smoothing, grid)
            d = decompose(fit, in_order=True)
        return d, fit.smoothing

    @property
    def _smoothing_strengths(self) -> Sequence[float] | np.ndarray:
        return list_strengths(self.smoothing, "smoothing", SMOOTHING_STRENGTHS)

    def _make_test_views(self, X: Any, Y: Any, groups: np.ndarray | None = None) -> list[View]:
        is_left = has_given(X)
        has_order = not is_left and declares_column_order(self.ordered, X, Y)
        if self.x_regressor is not None or self.y_regressor is not None or has_order:
            return []
        values = strip_given(X), strip_given(Y)
        _, encoders = survey_tables(Memory(*values, count_observations(X, "X")))
        x, y = (to_dense(encoder(side, name)) for encoder, side, name in zip(encoders, values, "XY", strict=True))
        are_numbers = encoders[0].coordinates, encoders[1].coordinates
        views: list[View | None]
        if is_left:
            leave = self._leave_given(X, groups)
            views = [view_left_columns(x, y, leave), view_left_splines(x, y, *are_numbers, leave, self._wanted_knots)]
        else:
            views = [view_whitened(x, y), view_additive(x, y, *are_numbers, self._wanted_knots)]
        return [view for view in views if view is not None]

    def _make_spline_basis(self, encoder: Columns, survey: Survey, name: str) -> SplineBasis:
        rows = to_dense(encoder.of_columns(survey.rows, name))
        return SplineBasis.for_columns(rows, encoder.coordinates, self._wanted_knots)

    @property
    def _wanted_knots(self) -> int | None:
        return None if isinstance(self.n_knots, str) else self.n_knots

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.x_regressor is not None
        return tags


def decompose_functions(
    rows: Parts,
    encoders: list[Columns],
    n_components: int,
    y_sample: Any,
    fit: AdditiveFit,
    *,
    in_order: bool = False,
) -> Decomposition:
    """Decompose the moments of additive functions on the rows; if they are in order, the first pair stays as it is."""
    moments, loadings = rows.sums(partial(_sum_function_moments, fit.f, fit.g), _add_parts, "functions", numbered=False)
    x, y = (Additive(*side) for side in zip("XY", encoders, (fit.f, fit.g), strict=True))
    decompose = partial(decompose_in_order, moments) if in_order else moments.decompose
    d = decompose(n_components, x_features=x, y_features=y, y_sample=y_sample)
    assert isinstance(d.g, LinearFunctions)
    return fix_signs(d, loadings.covariance @ d.g.weights, loadings.variance)


def sum_splines(
    pairs: Parts,
    encoders: list[Columns],
    rows: Parts,
    bases: tuple[SplineBasis, SplineBasis],
    groups: np.ndarray | None,
) -> tuple[tuple[SplineBasis, SplineBasis], AdditiveSums]:
    """Sum over splines of the encoded columns, and over small combinations of them that splines would lose."""
    sums = sum_columns(rows, bases, groups)
    found = resolve_collinearity(
        rows, sums.columns, *(describe_columns(*s, pairs) for s in zip("XY", encoders, strict=True))
    )
    if any(small.size for small in found.small):
        bases = bases[0].with_combinations(found.small[0]), bases[1].with_combinations(found.small[1])
        sums = sum_columns(rows, bases, groups)
    return bases, sums


def sum_columns(rows: Parts, bases: tuple[SplineBasis, SplineBasis], groups: np.ndarray | None) -> AdditiveSums:
    """Compute the moments of splines of the columns in each fold."""
    return rows.sums(partial(_sum_part, bases, groups), AdditiveSums.merge_parts, "moments")


def _sum_part(
    bases: tuple[SplineBasis, SplineBasis], groups: np.ndarray | None, x: np.ndarray, y: np.ndarray, first: int
) -> AdditiveSums:
    return AdditiveSums.from_batches(iterate_blocks(x, y), *bases, groups, first)


def _sum_function_moments(
    f: AdditiveFunctions, g: AdditiveFunctions, x: np.ndarray, y: np.ndarray, first: int
) -> tuple[Moments, Loadings]:
    """Compute the moments of the functions, and the loadings of the columns of y on g."""
    moments, values = Moments(), np.empty((len(y), g.weights.shape[1]))
    for (a, b), (out,) in zip(iterate_blocks(x, y), iterate_blocks(values), strict=True):
        out[:] = g(b)
        moments.update(f(a), out)
    return moments, Loadings.from_batches(iterate_blocks(values, y))


def _add_parts(parts: list[tuple[Moments, Loadings]]) -> tuple[Moments, Loadings]:
    moments, loadings = zip(*parts, strict=True)
    return reduce(add, moments), reduce(add, loadings)


def survey_tables(pairs: Parts) -> tuple[list[Survey], list[Columns]]:
    """Survey the columns of both sides, which must be tables, and find their encoders."""
    surveys, encoders = [], []
    for name, survey in zip("XY", survey_pairs(pairs), strict=True):
        encoder = None if survey is None else Columns.from_survey(survey, name)
        if survey is None or encoder is None or encoder.width > MAX_DENSE_COLUMNS:
            raise ValueError(
                f"{name} must be a table of at most {MAX_DENSE_COLUMNS} columns, with one for each label: sparse data, "
                "text and images are not supported without regressors. Give x_regressor and y_regressor, or use "
                "KernelCCA or PICE."
            )
        surveys.append(survey)
        encoders.append(encoder)
    return surveys, encoders
