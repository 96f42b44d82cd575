"""Correspondence analysis of contingency tables and of pairs of labels: exact, dense or sparse."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from correspondence._util.arguments import check_weights
from correspondence._util.constraints import Constraints, Real, Whole, check_parameters
from correspondence._util.labels import encode_labels, name_missing_labels
from correspondence._util.user_warnings import UncertainInterval
from correspondence.core.decomposition import Decomposition
from correspondence.core.dependence_views import View
from correspondence.core.estimator import MISSING_POLICIES, Estimator
from correspondence.core.functions import LabelFunctions
from correspondence.core.label_views import view_labels
from correspondence.core.scoring import score_pairs
from correspondence.data.label_order import check_ordered
from correspondence.data.pairs.pairs import is_source
from correspondence.data.table import Table
from correspondence.estimators.ca.asymmetric import ResponseAnalyser, check_response_alone
from correspondence.estimators.ca.axes import AnalysedTable
from correspondence.estimators.ca.constrained.explaining import (
    TableExplainer,
    drop_missing_rows,
    read_table_variables,
    refuse_variables,
)
from correspondence.estimators.ca.independence import Chi2Test, assess_independence
from correspondence.estimators.ca.ordered import (
    TableOrder,
    check_no_order,
    declares_order,
    drop_order_for_ridge,
    read_table_order,
    spread_averages,
)
from correspondence.estimators.ca.table_imputing import impute_table
from correspondence.estimators.ca.table_side import (
    TableSide,
    is_column_of_labels,
    is_table_of_counts,
    open_table_source,
    read_evaluation_table,
    read_table,
    treat_missing_labels,
    warn_of_dropped_labels,
    weigh_table,
)

__all__ = ["CA", "Chi2Test"]


class CA(TableExplainer, ResponseAnalyser, Estimator):
    """Correspondence analysis: principal functions of two discrete variables, exact.

    Parameters
    ----------
    n_components : int, optional
        The number of components; by default all, or the 10 leading ones if there are more than 1000.
    subset_rows, subset_columns : sequence of labels, optional
        Analyse only these, with the margins of the whole table (subset correspondence analysis).
    handle_unknown : {"error", "nan", "missing"}
        In new data, a label that was not in the fit is an error, lies at NaN (in `evaluate`, at the average 0), or is
        treated like a missing one: as the label "(missing)", or as the average if no label was missing in the fit.
    regularization : float or "auto", optional
        The strength of a ridge on the margins that holds rare labels back, in observations: a label that was seen as
        often counts half. None, the default, is exact correspondence analysis. "auto" deals the counts out to folds,
        takes the strength that captures most of the counts left out, and claims only the correlations that these
        support; it needs whole counts, and without `n_components` it keeps the components that they support, at
        least one and at most 50.
    missing : {"indicator", "drop", "error", "impute"}
        "indicator" gives missing labels of pairs the label "(missing)", "drop" leaves such pairs out, "error" refuses
        them. "impute" is for tables: missing counts (NaN) are filled in by an iterative analysis.
    constraints : {"linear", "smooth"}
        How numbers among the constraints that are given to `fit` explain the table: by straight lines, or by as many
        curves each as rows not used in the fit support.
    ordered : "auto", None, list of names, or dict
        The sides whose labels are in order: their first function rises or falls with it, and the first component is
        the best pair of such functions; later ones may bend. "auto" takes the order that the data declare: ordered
        categoricals of pandas (also as index or columns of a table) and Enums of polars. A list names "rows",
        "columns" or the columns of labels: numbers and dates in their own order, rows and columns of a table as they
        stand. A dict gives each name its levels, lowest first. A label "(missing)" is free. With constraints, a
        response, or the regularization "auto", only None or "auto", which does nothing.
    response : {None, "rows", "columns"}
        None, the default, treats both sides alike. "columns" makes them the response that the rows predict, and "rows"
        the other way round (non-symmetric correspondence analysis): `pics_` then add up to the numerator of Goodman
        and Kruskal's tau.

    Attributes
    ----------
    rows_, columns_ : Points
        The coordinates, masses, contributions and qualities of rows and columns.
    chi2_test_ : Chi2Test
        The test of independence of the whole table: statistic, dof, pvalue, classical_pvalue.
    table_ : Table
        The counts that were analysed, with those that were filled in.
    n_axes_imputed_, imputing_errors_ : int and ndarray
        With "impute": the number of axes that fill in counts, and the errors of masked ones for 0, 1, ... axes.
    regularization_ : float
        The strength of the ridge; 0 without one.
    ordered_ : dict
        The labels in order, lowest first, of the sides that are ordered.
    partition_, r2_ : Partition and float
        With constraints: the inertia that they, conditions, and neither explain, and the share of the constraints.
    unconstrained_ : ResidualAxes
        With constraints: the axes of what they leave.
    vif_, aliased_, constraint_terms_, bends_ : dict, ndarray, dict and dict
        With constraints: variance inflation factors of their columns, those that were left out because others
        determine them, the columns of each constraint, and with "smooth" its number of curves.
    axis_correlations_ : ndarray of shape (d,)
        With constraints: the correlation of the two kinds of scores of the rows on each axis.
    tau_, tau_test_ : float and TauTest
        With a response: Goodman and Kruskal's tau, and the test of Light and Margolin that it is 0.
    decomposition_ : Decomposition, or AsymmetricDecomposition with a response
        The result; also as ``pics_`` and ``correlations_``.

    Notes
    -----
    The sign of each axis is such that the column that contributes most to it lies on its positive side; among
    equal ones the first in sorted order decides. So the same table gives the same picture as array, sparse
    matrix, frame or pairs, and with its rows or columns shuffled.

    With a ridge f and g still have mean 0 and variance 1 and are uncorrelated under the margins of the table, and
    contributions sum to 1. ``correlations_`` are the singular values that the ridge leaves, or with "auto" what the
    counts left out support; never more than the correlations on the table itself. Masses, distances and inertias of
    the points stay those of the table, so cos2 compares a shrunk coordinate with the whole distance. New rows and
    columns are held back like those of the fit: give their counts, not their shares. A strength is for the
    functions: it does not choose the number of components.

    With a response ``pics_`` are the inertias of an `AsymmetricDecomposition`, and ``correlations_``, those of f_i and
    g_i, are not their roots. What reads densities or tests symmetric components refuses it.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA(n_components=2).fit(co.datasets.load_housetasks())
    >>> ca.pics_.round(4)
    array([0.5429, 0.445 ])
    >>> ca.columns_.labels[ca.columns_.contributions.argmax(axis=0)].tolist()
    ['Husband', 'Jointly']

    With rare labels the exact analysis describes noise; here there is nothing else:

    >>> import numpy as np
    >>> counts = np.random.default_rng(0).multinomial(1000, np.full(600, 1 / 600)).reshape(30, 20)
    >>> co.CA(n_components=1).fit(counts).correlations_.round(2)
    array([0.29])
    >>> co.CA(n_components=1, regularization="auto").fit(counts).correlations_.round(2)
    array([0.])

    From two columns of labels:

    >>> co.CA().fit(["tea", "tea", "beer", "beer"], ["am", "am", "pm", "am"]).correlations_.round(3)
    array([0.577])
    """

    _takes_tables: ClassVar[bool] = True
    _constraints: ClassVar[Constraints] = {
        "n_components": (None, Whole(0)),
        "handle_unknown": ("error", "nan", "missing"),
        "regularization": (None, "auto", Real(0)),
        "missing": (*MISSING_POLICIES, "impute"),
        "constraints": ("linear", "smooth", refuse_variables),
        "ordered": check_ordered,
        "response": (None, "rows", "columns"),
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        subset_rows: Iterable[Any] | None = None,
        subset_columns: Iterable[Any] | None = None,
        handle_unknown: str = "error",
        regularization: float | str | None = None,
        missing: str = "indicator",
        constraints: str = "linear",
        ordered: Any = "auto",
        response: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.subset_rows = subset_rows
        self.subset_columns = subset_columns
        self.handle_unknown = handle_unknown
        self.regularization = regularization
        self.missing = missing
        self.constraints = constraints
        self.ordered = ordered
        self.response = response

    def fit(
        self,
        X: Any,
        Y: Any = None,
        *,
        sample_weight: Any = None,
        row_weights: Any = None,
        column_weights: Any = None,
        constraints: Any = None,
        given: Any = None,
    ) -> Self:
        """Analyse a table, or pairs of labels.

        Parameters
        ----------
        X : table or column of labels
            Contingency table (array, scipy sparse, pandas, polars or pyarrow frame, `Table`), or, together with
            Y, one label for each observation. The rows of a frame are named by its first column, if that holds
            text, categories or dates, or else by its index (pandas); all other columns are counts. Or pairs that are
            not in memory: `Pairs`, or a path, a glob or a lazy frame with two columns.
        Y : column of labels, optional
            The other label of each observation. Ignored with a warning if X is a table.
        sample_weight : array-like of shape (n,), optional
            Weights of the observations; for a table the same as `row_weights`.
        row_weights, column_weights : array-like, optional
            Numbers by which the rows and columns of the table are multiplied before everything else.
        constraints : frame or array with the rows of the table, optional
            Variables of the rows that are to explain the table (canonical correspondence analysis): numbers, categories
            or dates. The rows of a frame are found by its index (pandas), or by its first column if that holds their
            labels, and otherwise by position.
        given : frame or array with the rows of the table, optional
            Variables of the rows that are partialled out before (partial analysis).

        Returns
        -------
        Self
            The estimator itself.
        """
        before = self.__dict__.copy()
        try:
            self._fit_table(X, Y, sample_weight, row_weights, column_weights, constraints, given)
        except BaseException:  # a fit that fails leaves everything as it was
            self.__dict__ = before
            raise
        return self

    def _fit_table(
        self,
        X: Any,
        Y: Any,
        sample_weight: Any,
        row_weights: Any,
        column_weights: Any,
        constraints: Any = None,
        given: Any = None,
    ) -> None:
        check_parameters(self)
        if self.response is not None:
            check_response_alone(self, constraints, given)
        for name in ("n_axes_imputed_", "imputing_errors_", "bends_", "unconstrained_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        X = open_table_source(X)
        data = X, Y  # as they declare the order of their labels
        if self.missing == "impute":
            X, self.n_axes_imputed_, self.imputing_errors_ = impute_table(X, Y)
        X, Y, sample_weight = treat_missing_labels(self.missing, X, Y, sample_weight)
        table, codes = read_table(X, Y, sample_weight)
        self._from_pairs = codes is not None or is_source(X)
        self._remember_features(table)
        if sample_weight is not None and not self._from_pairs:
            if row_weights is not None:
                raise ValueError("sample_weight must be None if row_weights is given: both weigh the rows of a table.")
            row_weights, sample_weight = sample_weight, None
        if row_weights is not None:
            row_weights = check_weights(row_weights, table.shape[0], "row_weights")
        if column_weights is not None:
            column_weights = check_weights(column_weights, table.shape[1], "column_weights")
        is_explained = constraints is not None or given is not None
        if is_explained:
            constraints, given = (
                read_table_variables(values, name, table, self._from_pairs)
                for values, name in ((constraints, "constraints"), (given, "given"))
            )
            takes_part = drop_missing_rows(self.missing, [*constraints, *given], table.shape[0])
            if not takes_part.all():
                row_weights = takes_part * (1.0 if row_weights is None else row_weights)
        self._unweighted = table
        self.table_ = weigh_table(table, row_weights, column_weights)
        rows = TableSide.from_table(self.table_, "rows", row_weights, self.subset_rows)
        columns = TableSide.from_table(self.table_, "columns", column_weights, self.subset_columns)
        warn_of_dropped_labels(rows, columns, None if not is_explained else ~takes_part)
        self._analysed = AnalysedTable(self.table_, rows, columns)
        self._explained = None
        self.ordered_: dict[str, list[Any]] = {}
        if self.response is not None:
            self._analyse_response(codes, sample_weight, self.response)
        elif is_explained:
            check_no_order(self.ordered, "constraints or conditions")
            self._explain_table(constraints, given)
        else:
            order = read_table_order(self.ordered, *data, (rows, columns), (table, self._from_pairs))
            self._decompose_table(codes, sample_weight, order)
        self.__dict__.pop("chi2_test_", None)  # of an earlier fit

    def _remember_features(self, table: Table) -> None:
        self.n_features_in_ = 1 if self._from_pairs else table.shape[1]
        if not self._from_pairs and table.named and all(isinstance(label, str) for label in table.columns):
            self.feature_names_in_ = table.columns
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _decompose_table(
        self, codes: tuple[np.ndarray, np.ndarray] | None, sample_weight: Any, order: TableOrder | None
    ) -> None:
        analysed = self._analysed
        order = drop_order_for_ridge(order, self.ordered, self.regularization)
        self.ordered_ = {} if order is None else order.levels
        axes = analysed.find_axes(self.n_components, self.regularization, order)
        self.regularization_, self._claimed_share = axes.strength, axes.claimed_share
        self._to_rows, self._to_columns = axes.to_rows, axes.to_columns
        points = analysed.rows.make_points(axes.row_inertia, axes.f, axes.correlations)
        self.rows_ = spread_averages(points, analysed.rows, axes.row_averages)
        points = analysed.columns.make_points(axes.column_inertia, axes.g, axes.correlations)
        self.columns_ = spread_averages(points, analysed.columns, axes.column_averages)
        f, g = (
            LabelFunctions(points.labels, points.standard, points.mass, unknown=self.handle_unknown)
            for points in (self.rows_, self.columns_)
        )
        if codes is not None and analysed.is_whole:
            weights = analysed.weigh_observations(codes, sample_weight)
            f, g = (replace(side, codes=own, code_weights=weights) for side, own in ((f, codes[0]), (g, codes[1])))
        self.decomposition_ = Decomposition(axes.correlations**2, f, g, chi2=axes.chi2, n=self.table_.total)
        inertia = float(axes.row_inertia.sum()) if analysed.is_whole else analysed.measure_inertia()
        self._statistic = inertia * self.table_.total

    @cached_property
    def chi2_test_(self) -> Chi2Test:
        """Test of independence of the whole table; computed when asked for, within some tenths of a second."""
        check_is_fitted(self)
        sides = self._analysed.rows, self._analysed.columns
        r, c = (side.mass[side.occurring_positions] * self.table_.total for side in sides)
        return assess_independence(self._statistic, r, c, are_counts=self._analysed.are_counts)

    def transform(self, X: Any, Y: Any = None, *, given: Any = None) -> Any:
        """Evaluate the functions at labels, or place new rows (and columns) of the table, or constraints of new rows.

        Parameters
        ----------
        X : column of labels, or table with the columns of the fit
            New rows are placed by their profiles. A frame's columns are matched by name.
        Y : column of labels, or table with the rows of the fit, optional
            The same for y: new columns stand side by side.
        given : frame or array, optional
            The conditions of the new rows, after a fit with constraints and conditions; X are their constraints then.

        Returns
        -------
        ndarray of shape (n, d), or a pair of them
            The standard coordinates f(X), or (f(X), g(Y)). `supplementary` returns principal ones.
        """
        check_is_fitted(self)
        if self._is_explained():
            F = self._evaluate_constraints(X, given)
            return F if Y is None else (F, self.transform_y(Y))
        return super().transform(X, Y)

    def _make_test_views(self, X: Any, Y: Any, groups: np.ndarray | None = None) -> list[View]:
        if self.subset_rows is not None or self.subset_columns is not None or self._keeps_order(X, Y):
            return []
        X, Y = name_missing_labels(X, "X"), name_missing_labels(Y, "Y")
        view = view_labels(encode_labels(X, "X")[0], encode_labels(Y, "Y")[0])
        return [] if view is None else [view]

    def _keeps_order(self, X: Any, Y: Any) -> bool:
        return not isinstance(self.regularization, str) and declares_order(self.ordered, X, Y)

    def _evaluate_f(self, X: Any) -> np.ndarray:
        return self.decomposition_.f(X) if self._are_labels(X) else self._place_rows(X, "X").standard

    def _evaluate_g(self, Y: Any) -> np.ndarray:
        return self.decomposition_.g(Y) if self._are_labels(Y) else self._place_columns(Y, "Y").standard

    def _are_labels(self, values: Any) -> bool:
        return is_column_of_labels(values) or (self._from_pairs and not is_table_of_counts(values))

    def evaluate(
        self, X: Any, Y: Any = None, sample_weight: Any = None, *, constraints: Any = None, given: Any = None
    ) -> Any:
        """Evaluate the functions on pairs, ideally pairs that were not used in the fit.

        Parameters
        ----------
        X : column of labels, or table
            One label for each pair; or, without Y, another table, with labels of its own or of the shape of the
            fit. (Other rows of the same table are not pairs, so cross-validation is for pairs of labels.)
        Y : column of labels, optional
            The other label of each pair.
        sample_weight : array-like, optional
            Weights of the pairs, or of the rows of the table.
        constraints, given : frame or array with the rows of X, optional
            After a fit with constraints: those of other rows, such as new sites, with the table X of their counts.

        Returns
        -------
        HeldOut, or HeldOutTau with a response
            ``.correlations`` of each component, ``.captured`` or ``.tau``, their intervals and ``.n``.
        """
        check_is_fitted(self)
        if self._explained is not None or constraints is not None or given is not None:
            return self._evaluate_rows(X, constraints, given)
        if not self._analysed.is_whole:
            raise ValueError(
                "A subset cannot be evaluated, because its functions do not describe all pairs. Fit the whole table."
            )
        table = read_evaluation_table((X, Y, sample_weight), self.table_, self.missing, from_pairs=self._from_pairs)
        d = self.decomposition_
        if self._find_response() is not None:
            return self._require_response("evaluate").evaluate_counts(table.rows, table.columns, table.counts)
        F, G = np.nan_to_num(d.f(table.rows), nan=0.0), np.nan_to_num(d.g(table.columns), nan=0.0)
        return score_pairs(F, G, d.correlations, table.counts, warn=True)

    def score(
        self, X: Any, Y: Any = None, sample_weight: Any = None, *, constraints: Any = None, given: Any = None
    ) -> float:
        """Return the dependence that the functions prove on the given pairs: `captured`, or `tau` with a response.

        Parameters
        ----------
        X, Y, sample_weight, constraints, given : array-like
            These are the arguments of `evaluate`.

        Returns
        -------
        float
            It is negative if the functions predict worse than no dependence at all.
        """
        with warnings.catch_warnings(action="ignore", category=UncertainInterval):  # no interval is returned
            found = self.evaluate(X, Y, sample_weight, constraints=constraints, given=given)
        return float(found.captured if self._find_response() is None else found.tau)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags
