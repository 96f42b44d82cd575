"""Non-symmetric correspondence analysis: what `CA` does if one side of the table is the response to the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import chi2
from sklearn.utils.validation import check_is_fitted

from correspondence._util.text import short_repr
from correspondence.core.asymmetric import AsymmetricDecomposition
from correspondence.core.functions import LabelFunctions
from correspondence.core.prediction_residuals import PredictionResiduals
from correspondence.core.residual_svd import find_leading_axes
from correspondence.core.whitening import choose_signs
from correspondence.data.table import Table, as_table
from correspondence.estimators.ca.axes import AnalysedTable, count_components
from correspondence.estimators.ca.ordered import check_no_order
from correspondence.estimators.ca.placing import PointPlacer
from correspondence.estimators.ca.table_side import TableSide, TransitionFormula
from correspondence.results.asymmetric import AsymmetricPoints, TauTest
from correspondence.results.points import Points

__all__ = ["ResponseAnalyser", "check_response_alone"]


def check_response_alone(ca: Any, constraints: Any, given: Any) -> None:
    """Raise an error for what has no meaning together with a response."""
    unused = {"constraints": constraints, "given": given, "regularization": ca.regularization or None}
    unused |= {"subset_rows": ca.subset_rows, "subset_columns": ca.subset_columns}
    for name, value in unused.items():
        if value is not None:
            raise ValueError(f"{name} must be None with a response, got {short_repr(value)}. Leave one of them out.")
    if ca.missing == "impute":
        raise ValueError('missing must not be "impute" with a response, because symmetric axes fill the counts in.')
    check_no_order(ca.ordered, "a response")


class ResponseAnalyser(PointPlacer):
    """What `CA` can say if one side of the table is the response.

    Attributes
    ----------
    rows_, columns_ : AsymmetricPoints
        The points of predictor and response.
    """

    n_components: int | None
    handle_unknown: str
    table_: Table
    decomposition_: Any
    _analysed: AnalysedTable
    _statistic: float
    _claimed_share: np.ndarray
    regularization_: float

    def _analyse_response(self, codes: Any, sample_weight: Any, response: str) -> None:
        """Decompose the probabilities of the response, given the predictor."""
        analysed = self._analysed
        rows, columns = analysed.rows, analysed.columns
        base = analysed.compute_residuals(rows.kept, columns.kept)
        matrix: Any = PredictionResiduals(base, response)
        U, s, V = find_leading_axes(matrix, count_components(self.n_components, min(matrix.shape) - 1))
        sign = choose_signs(V, columns.labels[columns.kept])
        # The metric of the response is that of a plain sum, so its standard coordinates are the singular vectors.
        values = [
            vectors * sign if side.name == response else vectors * sign / root[:, None]
            for side, vectors, root in ((rows, U, base.row_root), (columns, V, base.column_root))
        ]
        of_rows = rows.make_points(base.row_inertia, values[0], s)
        of_columns = columns.make_points(base.column_inertia, values[1], s)
        f, g = (
            LabelFunctions(points.labels, points.standard, points.mass, unknown=self.handle_unknown)
            for points in (of_rows, of_columns)
        )
        if codes is not None:
            weights = analysed.weigh_observations(codes, sample_weight)
            f, g = (replace(side, codes=own, code_weights=weights) for side, own in ((f, codes[0]), (g, codes[1])))
        total = float(matrix.row_inertia.sum())
        self.decomposition_ = d = AsymmetricDecomposition(s**2, f, g, total, self.table_.total, response)
        self.rows_ = _measure_probabilities(rows, of_rows, matrix.row_inertia, d)
        self.columns_ = _measure_probabilities(columns, of_columns, matrix.column_inertia, d)
        self._to_rows = self._to_columns = TransitionFormula(s)
        self._claimed_share, self.regularization_ = np.ones(len(s)), 0.0
        self._statistic = float(base.row_inertia.sum()) * self.table_.total

    @property
    def tau_(self) -> float:
        """Goodman and Kruskal's tau: the share of the Gini index of the response that knowing the predictor saves.

        It is 0 if the two are independent, 1 if the predictor determines the response, and not symmetric. The Gini
        index is the chance that a label of the response, guessed by its overall probabilities, is wrong.
        """
        return self._require_response("tau_").tau

    @property
    def tau_test_(self) -> TauTest:
        """Test that tau is 0, by the C statistic of Light and Margolin."""
        d = self._require_response("tau_test_")
        n_rows, n_columns = (len(side.occurring_positions) for side in (self._analysed.rows, self._analysed.columns))
        n_labels = n_columns if d.response == "columns" else n_rows
        statistic, dof = (d.n - 1) * (n_labels - 1) * d.tau, (n_rows - 1) * (n_columns - 1)
        return TauTest(statistic, dof, float(chi2.sf(statistic, dof)) if dof else 1.0)

    def _find_response(self) -> str | None:
        """Return the side that the fit took as the response, if there is one."""
        return getattr(self.__dict__.get("decomposition_"), "response", None)

    def _require_response(self, name: str) -> AsymmetricDecomposition:
        check_is_fitted(self)
        d = self.decomposition_
        if not isinstance(d, AsymmetricDecomposition):
            raise AttributeError(f'{name} needs a response: use CA(response="columns").')
        return d

    def _place_rows(self, rows: Any, name: str) -> Points:
        return self._place_predictor("rows", rows, name)

    def _place_columns(self, columns: Any, name: str) -> Points:
        return self._place_predictor("columns", columns, name)

    def _place_predictor(self, side: str, values: Any, name: str) -> Points:
        """Place new rows or columns, which with a response must be those of the predictor."""
        response = self._find_response()
        if side == response:
            raise ValueError(
                f"{name} must be None or labels of the fit, got new {side}, which are the response: they would change "
                "the probabilities of all others. Fit CA() without a response to place them."
            )
        table = as_table(values, name, positive=False)
        placed = super()._place_rows(table, name) if side == "rows" else super()._place_columns(table, name)
        if response is None:
            return placed
        other = self._analysed.columns if side == "rows" else self._analysed.rows
        profiles, _ = other.compute_profiles(other.align_counts(table if side == "rows" else table.T, name))
        distance = _compute_plain_distances(profiles, other.mass[other.kept])
        return _make_asymmetric(placed, np.full(len(placed), np.nan), distance, self.decomposition_, is_response=False)


def _measure_probabilities(
    side: TableSide, points: Points, inertia: np.ndarray, d: AsymmetricDecomposition
) -> AsymmetricPoints:
    """Give points the inertias and distances of probabilities of the response."""
    is_response = side.name == d.response
    whole = np.zeros(len(points))
    whole[side.kept] = inertia
    used = points.mass > 0
    share = np.ones(len(points)) if is_response else np.where(used, points.mass, 1.0)
    return _make_asymmetric(points, whole, np.where(used, np.sqrt(whole / share), np.nan), d, is_response=is_response)


def _make_asymmetric(
    points: Points, inertia: np.ndarray, distance: np.ndarray, d: AsymmetricDecomposition, *, is_response: bool
) -> AsymmetricPoints:
    """Make points of predictor or response.

    The mean of g_i(Y) at x is s_i f_i(x) above the overall one; that of f_i(X) at y is s_i g_i(y) / p(y).
    """
    if is_response:
        averages = points.principal / np.where(points.mass > 0, points.mass, np.nan)[:, None]
    else:
        averages = points.standard * d.correlations
    known = np.where(np.isnan(points.chi2_distance), np.nan, distance)
    return AsymmetricPoints(
        points.labels,
        points.mass,
        points.chi2_distance,
        inertia,
        points.standard,
        points.correlations,
        known,
        averages,
        is_response,
    )


def _compute_plain_distances(profiles: Any, mass: np.ndarray) -> np.ndarray:
    """Compute the Euclidean distances of profiles from the average one."""
    if not sp.issparse(profiles):
        return np.asarray(np.linalg.norm(profiles - mass, axis=1))
    squares = np.asarray(profiles.power(2).sum(axis=1)).ravel() - 2 * (profiles @ mass) + mass @ mass
    return np.sqrt(np.maximum(squares, 0))
