"""New rows, columns and variables of the rows, placed in the map of a fitted table."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from correspondence.data.table import Table, as_table
from correspondence.estimators.ca.axes import AnalysedTable
from correspondence.estimators.ca.row_variables import correlate_numbers, read_new_counts, sum_categories
from correspondence.estimators.ca.table_side import TransitionFormula, warn_of_empty_points, weigh_table
from correspondence.results.points import Points, SupplementaryNumbers

__all__ = ["PointPlacer"]


class PointPlacer:
    """What `CA` can place after the fit.

    Attributes
    ----------
    rows_, columns_ : Points
        The points of the fit.
    """

    rows_: Points
    columns_: Points
    _unweighted: Table
    _analysed: AnalysedTable
    _to_rows: TransitionFormula
    _to_columns: TransitionFormula

    def supplementary(
        self, rows: Any = None, columns: Any = None, *, numbers: Any = None, categories: Any = None
    ) -> Any:
        """Place rows, columns or variables of the rows that were not used in the fit.

        Parameters
        ----------
        rows : table with the columns of the fit, optional
            The counts of new rows, or shares that sum to 1 or 100.
        columns : table with the rows of the fit, optional
            The counts of new columns, side by side, or shares that sum to 1 or 100.
        numbers : frame or array with the rows of the fit, optional
            Measurements of the rows, such as a mean age: a column for each. They are no counts, and are placed by
            their correlations with the axes, each row weighted by its mass. The rows of a frame are found by its index
            (pandas), or by its first column if that holds their labels, and otherwise by position.
        categories : frame or array with the rows of the fit, optional
            Labels of the rows, such as a theme: a column for each. A category lies at the mean of its rows.

        Returns
        -------
        Points, or SupplementaryNumbers for `numbers`; several of them, in the order above, if several are given
            Mass, inertia and contributions are NaN. A row or column of zeros lies at NaN, with a warning.

        Warns
        -----
        CorrespondenceWarning
            If new rows or columns of a table of whole counts have fractions that are no shares: they may be meant as
            `numbers`.
        LeftOut
            If a row or column has no counts, a number does not vary, or values of a variable are missing.

        Examples
        --------
        >>> import correspondence as co
        >>> ca = co.CA(n_components=2).fit([[20, 5, 1], [8, 9, 7], [2, 6, 21]])
        >>> ca.supplementary(rows=[[1, 1, 1]]).principal.round(2)
        array([[0.02, 0.18]])
        >>> ca.supplementary(numbers=[61, 45, 30]).correlations.round(2)       # mean age of each row
        array([[-1.  , -0.02]])
        """
        check_is_fitted(self)
        placed: list[Points | SupplementaryNumbers] = []
        if rows is not None:
            placed.append(self._place_rows(read_new_counts(rows, "rows", self._unweighted), "rows"))
        if columns is not None:
            placed.append(self._place_columns(read_new_counts(columns, "columns", self._unweighted), "columns"))
        if numbers is not None:
            placed.append(correlate_numbers(numbers, self.rows_))
        if categories is not None:
            weighed = weigh_table(self._unweighted, self._analysed.rows.weights, None)
            placed.append(self._place_rows(sum_categories(categories, self.rows_, weighed), "categories"))
        if not placed:
            raise ValueError("rows, columns, numbers or categories must be given: there is nothing to place.")
        return placed[0] if len(placed) == 1 else tuple(placed)

    def _place_rows(self, rows: Any, name: str) -> Points:
        table = as_table(rows, name, positive=False)
        return warn_of_empty_points(
            self._analysed.columns.place_labels(table, self.columns_, name, self._to_rows), name
        )

    def _place_columns(self, columns: Any, name: str) -> Points:
        table = as_table(columns, name, positive=False).T
        return warn_of_empty_points(self._analysed.rows.place_labels(table, self.rows_, name, self._to_columns), name)
