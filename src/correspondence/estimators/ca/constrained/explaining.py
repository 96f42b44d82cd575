"""Canonical and partial correspondence analysis: what `CA` does if variables of the rows are given to `fit`."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from correspondence._util.arguments import find_user_stacklevel, is_number, to_array
from correspondence._util.labels import to_object_array
from correspondence._util.text import list_names, short_repr
from correspondence._util.user_warnings import FewerComponents, LeftOut
from correspondence.core.column_features import CurveColumn
from correspondence.core.decomposition import Decomposition
from correspondence.core.functions import LabelFunctions, LinearFunctions, PrincipalFunctions
from correspondence.core.row_matching import align_row_variables, as_frame_of_columns, read_row_variables
from correspondence.core.site_scores import HeldOutRows, score_rows
from correspondence.data.table import Table, as_table
from correspondence.estimators.ca.axes import AnalysedTable
from correspondence.estimators.ca.constrained.algebra import Axes, ConstrainedTable
from correspondence.estimators.ca.constrained.anova import ConstraintTester
from correspondence.estimators.ca.constrained.bends import BendChooser
from correspondence.estimators.ca.constrained.curves import MAX_BENDS
from correspondence.estimators.ca.constrained.design import Design, RowVariable, read_variables
from correspondence.estimators.ca.constrained.functions import PartialFunctions
from correspondence.estimators.ca.constrained.scaling import ScoreMaker
from correspondence.estimators.ca.table_side import TableSide, TransitionFormula
from correspondence.results.evidence import HeldOut
from correspondence.results.ordination_scores import ResidualAxes, Scores
from correspondence.results.partition import Partition
from correspondence.results.points import Points

__all__ = ["TableExplainer", "drop_missing_rows", "read_table_variables", "refuse_variables"]

MIN_ROWS_FOR_CURVES = 10  # with fewer, too little is held out to choose by
CANNOT_BE_USED = {
    "regularization": "Take n_components instead: the first axes hold most of what would hold again.",
    "subset_rows": "Leave the other rows out of the table and of the constraints.",
    "subset_columns": "Leave the other columns out of the table.",
}


class TableExplainer(ConstraintTester, TransformerMixin):  # whose set_output needs to see fit_transform
    """What `CA` can say if constraints or conditions were given.

    Attributes
    ----------
    rows_, columns_ : Points
        The points on the constrained axes: linear combinations of the constraints, and species.
    bends_ : dict of str to int
        With "smooth", the number of curves by which each constraint enters; 0 is a straight line.
    """

    n_components: int | None
    constraints: str
    handle_unknown: str
    table_: Table
    rows_: Points
    columns_: Points
    decomposition_: Decomposition
    correlations_: Any
    _analysed: AnalysedTable
    _to_rows: TransitionFormula
    _to_columns: TransitionFormula
    _explained: ConstrainedTable | None
    _score_maker: ScoreMaker

    def _explain_table(self, constraints: list[RowVariable], given: list[RowVariable]) -> None:
        """Decompose what the constraints explain of the table, and what they do not."""
        check_parameters_together(self)
        rows, columns = self._analysed.rows, self._analysed.columns
        explained = make_constrained_table(self._analysed, constraints, given, self.handle_unknown)
        if self.constraints == "smooth" and constraints:
            explained, self.bends_ = bend_constraints(
                explained, self._analysed, constraints, self.handle_unknown, self.n_components
            )
        self._explained = explained
        warn_of_dropped_columns(explained)
        constrained = self._keep_axes(explained.constrained_axes)
        unconstrained = self._keep_axes(explained.unconstrained_axes)
        self._score_maker = ScoreMaker(explained, constrained, unconstrained, self.table_)
        left = explained.left_residuals
        self.unconstrained_ = ResidualAxes(
            unconstrained.s**2,
            _make_points(rows, left, explained.row_mass, unconstrained.U, unconstrained.s),
            _make_points(columns, left.T, explained.column_mass, unconstrained.V, unconstrained.s),
        )
        axes, chi2 = constrained, float((explained.constrained_axes.s**2).sum())
        if not constraints:
            axes, chi2 = unconstrained, float((left**2).sum())
        fitted = explained.partial_residuals - left if constraints else left
        self.rows_ = _make_points(rows, fitted, explained.row_mass, axes.U, axes.s)
        self.columns_ = _make_points(columns, explained.residuals.T, explained.column_mass, axes.V, axes.s)
        self._to_rows = self._to_columns = TransitionFormula(axes.s)
        self._claimed_share, self.regularization_ = np.ones(len(axes.s)), 0.0
        g = LabelFunctions(
            self.columns_.labels, self.columns_.standard, self.columns_.mass, unknown=self.handle_unknown
        )
        f = self._make_row_functions(axes) if constraints else replace_values(g, self.rows_)
        self.decomposition_ = Decomposition(axes.s**2, f, g, chi2=chi2, n=self.table_.total)
        self._statistic = float((explained.residuals**2).sum()) * self.table_.total
        if not len(axes.s) and self.n_components != 0:
            message = "There are no components: the constraints explain nothing of the table."
            warnings.warn(message, FewerComponents, stacklevel=find_user_stacklevel())

    def _keep_axes(self, axes: Axes) -> Axes:
        return axes if self.n_components is None else axes.truncate(self.n_components)

    def _make_row_functions(self, axes: Axes) -> PrincipalFunctions:
        """Make the functions of the constraints (and conditions) that give the linear combinations."""
        explained = self._explained
        assert explained is not None
        coefficients = explained.basis.find_coefficients(axes.U)
        parts = np.split(coefficients, [explained.n_given])
        given, constraints = (
            LinearFunctions(explained.row_mass @ design.expanded, design.contrasts @ part, design.features)
            for design, part in zip((explained.given, explained.constraints), parts, strict=True)
        )
        return constraints if not explained.given.terms else PartialFunctions(constraints, given)

    def _require_constraints(self, name: str) -> ConstrainedTable:
        check_is_fitted(self)
        explained = self.__dict__.get("_explained")
        if explained is None:
            raise AttributeError(f"{name} needs constraints: use fit(table, constraints=environment).")
        return explained

    @property
    def partition_(self) -> Partition:
        """Partition of the inertia into what conditions, constraints and neither explain."""
        explained = self._require_constraints("partition_")
        total, partial = ((values**2).sum() for values in (explained.residuals, explained.partial_residuals))
        left = (explained.left_residuals**2).sum()
        ranks = {
            "conditioned": explained.given_rank,
            "constrained": len(explained.constrained_axes.s),
            "unconstrained": len(explained.unconstrained_axes.s),
        }
        return Partition(float(total), float(total - partial), float(partial - left), float(left), ranks)

    @property
    def r2_(self) -> float:
        """Share of the inertia that the constraints explain beyond the conditions; not adjusted for their number."""
        return self.partition_.shares["constrained"]

    @property
    def vif_(self) -> dict[str, float]:
        """Variance inflation factor of each column of the design; those of conditions come first, NaN if left out."""
        explained = self._require_constraints("vif_")
        labels = [*explained.given.labels, *explained.constraints.labels]
        return dict(zip(labels, explained.basis.compute_inflation().tolist(), strict=True))

    @property
    def axis_correlations_(self) -> np.ndarray:
        """Correlation of the two site scores of each constrained axis: weighted averages and linear combinations."""
        mass = self._require_constraints("axis_correlations_").row_mass
        wa, lc = self._score_maker.weighted_averages, self._score_maker.linear_combinations
        return np.asarray(mass @ (wa * lc) / np.sqrt(mass @ wa**2))  # lc have mean 0 and variance 1, wa mean 0

    @property
    def constraint_terms_(self) -> dict[Any, list[str]]:
        """The columns of the design of each constraint."""
        return dict(self._require_constraints("constraint_terms_").constraints.columns_of_terms)

    @property
    def aliased_(self) -> np.ndarray:
        """The columns of the design that were left out, because they are constant or combinations of others."""
        explained = self._require_constraints("aliased_")
        return to_object_array([*list_dropped_columns(explained, True), *list_dropped_columns(explained, False)])

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and return the functions of the rows, or of the labels of the pairs.

        Parameters
        ----------
        X, y : table, or columns of labels
            These are the data of `fit`.
        **fit_params
            Further arguments of `fit`, such as `constraints`.

        Returns
        -------
        ndarray of shape (n, d)
            The same as ``fit(X, y).transform(X)``; with constraints or conditions, the standard coordinates of rows.
        """
        if fit_params.get("constraints") is None and fit_params.get("given") is None:
            return super().fit_transform(X, y, **fit_params)
        return self.fit(X, y, **fit_params).rows_.standard

    def _is_explained(self) -> bool:
        """Whether f are functions of constraints."""
        explained = self.__dict__.get("_explained")
        return explained is not None and bool(explained.constraints.terms)

    def _evaluate_constraints(self, X: Any, given: Any) -> np.ndarray:
        """Evaluate f at constraints (and conditions) of new rows."""
        f = self.decomposition_.f
        X = as_variables(X, "X")
        if isinstance(f, PartialFunctions):
            return f(X, given=None if given is None else as_variables(given, "given"))
        if given is not None:
            raise ValueError("given must be None, because the fit had no conditions. Fit with given=.")
        return f(X)

    def _evaluate_rows(self, X: Any, constraints: Any, given: Any) -> HeldOut:
        """Evaluate the functions of the constraints on rows of another table; unknown columns lie at the average."""
        if not self._is_explained():
            if constraints is None and given is None:
                raise ValueError("X cannot be evaluated after a fit with conditions alone. Fit with constraints.")
            advice = "Fit with constraints, or leave them out."
            raise ValueError(f"constraints and given must be None, because the fit had no constraints. {advice}")
        if constraints is None:
            raise ValueError("constraints must be those of the rows of X, because the fit had some, got None.")
        table = as_table(X)
        f: Any = replace_unknown(self.decomposition_.f, self.handle_unknown)
        env, z = (
            None if values is None else align_row_variables(values, name, table.rows)
            for name, values in (("constraints", constraints), ("given", given))
        )
        is_partial = isinstance(f, PartialFunctions)
        if (z is not None) != is_partial:
            raise ValueError(f"given must be {'the conditions of the rows' if is_partial else 'None'}, as in the fit.")
        F = f(env, given=z) if is_partial else f(env)
        g = self.decomposition_.g.accept_unknown()
        if not (table.named and self.table_.named) and table.shape[1] != self.table_.shape[1]:
            raise ValueError(f"X must have the {self.table_.shape[1]} columns of the fit, got {table.shape[1]}.")
        labels = table.columns if table.named and self.table_.named else self.table_.columns
        G, counts = np.nan_to_num(g(labels)), table.toarray()
        kept = counts.sum(axis=1) > 0
        return score_rows(HeldOutRows(np.nan_to_num(F)[kept], G, self.correlations_, counts[kept]))

    def scores(self, display: str = "sites", scaling: str | int = "species", *, hill: bool = False) -> Scores:
        """Return the scores of sites, species or constraints, with the names and scalings of R's vegan.

        Parameters
        ----------
        display : {"sites", "species", "constraints", "bp", "cn", "reg"}
            "sites" (or "wa") are weighted averages of the species, "constraints" (or "lc") linear combinations of the
            constraints, both for each row; "species" (or "sp") is for each column. "bp" are the correlations of
            constraints with the axes (arrows), "cn" the means of the rows of each level of a category, and "reg" the
            regression coefficients for constraints of variance 1.
        scaling : {"none", "sites", "species", "symmetric"} or 0, 1, 2, 3
            Which scores are multiplied by the roots of the inertias: of "none", of "sites" (all but those of species),
            of "species", or of both by the fourth root.
        hill : bool
            Divide points (not arrows) by sqrt(1 - inertia), Hill's scaling: with "species" the unit of an axis is the
            mean standard deviation of the sites at which a species occurs.

        Returns
        -------
        Scores
            The scores on the constrained axes CCA1, CCA2, ... and the unconstrained ones CA1, CA2, ...

        Examples
        --------
        >>> import correspondence as co
        >>> ca = co.CA().fit([[9, 2, 1], [5, 5, 3], [2, 6, 4], [1, 3, 8]], constraints=[[1.0], [2.0], [3.0], [4.0]])
        >>> ca.scores("species", scaling="sites").values[:, 0].round(2)
        array([ 1.27, -0.22, -1.13])
        """
        self._require_constraints("scores")
        return self._score_maker.make_scores(display, scaling, hill)


def as_variables(values: Any, argument: str) -> Any:
    """Return variables of rows as a table with columns, also if they are one column or a dictionary."""
    frame = as_frame_of_columns(values, argument)
    if frame is not None:
        return frame.to_native()
    array = to_array(values, argument)
    return array[:, None] if array.ndim == 1 else array


def make_constrained_table(
    analysed: AnalysedTable, constraints: list[RowVariable], given: list[RowVariable], handle_unknown: str
) -> ConstrainedTable:
    """Put the residuals of a table beside the designs of its rows."""
    rows, columns = analysed.rows, analysed.columns
    r, c = rows.mass[rows.kept], columns.mass[columns.kept]
    counts = analysed.table.toarray()[np.ix_(rows.kept, columns.kept)]
    expected = np.outer(r, c)
    residuals = (counts / analysed.table.total - expected) / np.sqrt(expected)
    Z, X = (Design.from_variables(variables, rows.kept, r, handle_unknown) for variables in (given, constraints))
    return ConstrainedTable(rows.kept, columns.kept, r, c, residuals, Z, X, columns.labels[columns.kept])


def bend_constraints(
    explained: ConstrainedTable,
    analysed: AnalysedTable,
    constraints: list[RowVariable],
    handle_unknown: str,
    n_components: int | None,
) -> tuple[ConstrainedTable, dict[Any, int]]:
    """Let numbers among the constraints enter by as many curves as held-out rows want, and say how many these are."""
    rows, r = explained.rows, explained.row_mass
    most = {variable.name: MAX_BENDS for variable in constraints}
    design = Design.from_variables(constraints, rows, r, handle_unknown, most)
    columns = [np.flatnonzero(design.term_of_column == position) for position in range(len(design.terms))]
    is_curve = np.array([isinstance(column, CurveColumn) for column in design.features.columns])
    if not is_curve.any() or len(rows) < MIN_ROWS_FOR_CURVES:
        return explained, dict.fromkeys(design.terms, 0)
    counts = analysed.table.toarray()[np.ix_(rows, explained.columns)]
    chooser = BendChooser(counts, explained.given.matrix, design.matrix, columns, is_curve, n_components)
    bends = dict(zip(design.terms, chooser.choose(), strict=True))
    return replace(explained, constraints=Design.from_variables(constraints, rows, r, handle_unknown, bends)), bends


def list_dropped_columns(explained: ConstrainedTable, constant: bool) -> list[str]:
    """Name the columns of the designs that are constant, or that are combinations of columns before them."""
    basis = explained.basis
    labels = [*explained.given.labels, *explained.constraints.labels]
    dropped = np.setdiff1d(np.arange(len(labels)), basis.kept)
    named = [labels[j] for j in dropped if basis.is_constant[j] == constant]
    if constant:  # a category with one level has no columns at all
        empty = [
            str(t) for d in (explained.given, explained.constraints) for t, own in d.columns_of_terms.items() if not own
        ]
        return [*named, *empty]
    return named


def warn_of_dropped_columns(explained: ConstrainedTable) -> None:
    """Warn of columns of the designs that are left out."""
    reasons = {"they do not vary": True, "others determine them": False}
    for reason, constant in reasons.items():
        names = list_dropped_columns(explained, constant)
        if names:
            text = f"Left out of the constraints, because {reason}: {list_names(names)}."
            warnings.warn(text, LeftOut, stacklevel=find_user_stacklevel())


def _make_points(side: TableSide, residuals: np.ndarray, mass: np.ndarray, U: np.ndarray, s: np.ndarray) -> Points:
    """Make points of one side, whose inertias are those of the residuals."""
    return side.make_points((residuals**2).sum(axis=1), U / np.sqrt(mass)[:, None], s)


def replace_unknown(f: PrincipalFunctions, policy: str) -> PrincipalFunctions:
    """Return functions that take unknown levels for missing ones, unless these are errors."""
    return f if policy == "error" else f.accept_unknown()


def replace_values(functions: LabelFunctions, points: Points) -> LabelFunctions:
    """Return functions of the labels of points."""
    return replace(functions, labels=points.labels, values=points.standard, mass=points.mass)


def read_table_variables(values: Any, argument: str, table: Table, from_pairs: bool) -> list[RowVariable]:
    """Read constraints or conditions; none if they are None. Rows that were counted from pairs have no positions."""
    if values is None:
        return []
    return read_variables(read_row_variables(values, argument, table.rows, have_positions=not from_pairs), argument)


def drop_missing_rows(policy: str, variables: list[RowVariable], n: int) -> np.ndarray:
    """Find the rows that take part, as the parameter `missing` wants it."""
    is_missing = np.logical_or.reduce([np.zeros(n, dtype=bool), *(variable.is_missing for variable in variables)])
    if policy == "indicator" or not is_missing.any():
        warn_of_means(variables)
        return np.ones(n, dtype=bool)
    names = list_names([variable.name for variable in variables if variable.is_missing.any()], 5)
    if policy != "drop":
        raise ValueError(
            f"constraints and given must have no missing values if missing={policy!r}, got some in {names}. "
            'Choose missing="indicator" or "drop".'
        )
    if is_missing.all():
        raise ValueError('constraints must have rows without missing values if missing="drop", got none.')
    text = f"{int(is_missing.sum())} of {n} rows are left out: they have missing values ({names})."
    warnings.warn(text, LeftOut, stacklevel=find_user_stacklevel())
    return ~is_missing


def warn_of_means(variables: list[RowVariable]) -> None:
    """Warn of missing numbers, which have no level of their own."""
    names = [variable.name for variable in variables if variable.answers is None and variable.is_missing.any()]
    if names:
        text = f"Missing numbers of {list_names(names, 5)} count as the mean of the others."
        advice = 'Choose missing="drop" to leave their rows out.'
        warnings.warn(f"{text} {advice}", LeftOut, stacklevel=find_user_stacklevel())


def refuse_variables(value: Any, name: str) -> NoReturn:
    """Say that the parameter of the estimator is not the place for the variables themselves."""
    advice = "" if isinstance(value, str) else " Give the variables to fit(table, constraints=...)."
    raise ValueError(f'{name} must be "linear" or "smooth", got {short_repr(value)}.{advice}')


def check_parameters_together(ca: Any) -> None:
    """Raise an error for parameters that cannot be used with constraints or conditions."""
    for name, advice in CANNOT_BE_USED.items():
        value = getattr(ca, name)
        if value is not None and not (is_number(value) and value == 0):
            raise ValueError(f"{name} must be None with constraints or conditions, got {short_repr(value)}. {advice}")
