"""New rows, columns and variables of the rows, placed in the map of a fitted table, and how far its points may move."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

from correspondence.data.table import Table, as_table
from correspondence.estimators.ca.axes import AnalysedTable
from correspondence.estimators.ca.bootstrap import bootstrap_points
from correspondence.estimators.ca.row_variables import correlate_numbers, read_new_counts, sum_categories
from correspondence.estimators.ca.table_side import TransitionFormula, warn_of_empty_points, weigh_table
from correspondence.results.points import Bootstrap, Points, SupplementaryNumbers

__all__ = ["PointPlacer"]


class PointPlacer:
    """What `CA` can say of points after the fit.

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
            points = self._place_rows(read_new_counts(rows, "rows", self._unweighted), "rows")
            placed.append(replace(points, side="rows"))
        if columns is not None:
            points = self._place_columns(read_new_counts(columns, "columns", self._unweighted), "columns")
            placed.append(replace(points, side="columns"))
        if numbers is not None:
            placed.append(correlate_numbers(numbers, self.rows_))
        if categories is not None:
            weighed = weigh_table(self._unweighted, self._analysed.rows.weights, None)
            points = self._place_rows(sum_categories(categories, self.rows_, weighed), "categories")
            placed.append(replace(points, side="rows"))
        if not placed:
            raise ValueError("rows, columns, numbers or categories must be given: there is nothing to place.")
        return placed[0] if len(placed) == 1 else tuple(placed)

    def bootstrap(
        self,
        n_resamples: int = 200,
        *,
        n_components: int = 2,
        n: int | None = None,
        align: str = "signs",
        random_state: Any = None,
        progress: bool | None = None,
    ) -> Bootstrap:
        """Estimate how much the points would move if the data were collected again.

        Tables are drawn from a multinomial distribution with the observed proportions, analysed, and laid on to the
        original points.

        Parameters
        ----------
        n_resamples : int
            The number of tables to draw.
        n_components : int
            The number of leading axes to keep.
        n : int, optional
            The number of observations in each table; the total of the table by default. Needed for a table of
            proportions.
        align : {"signs", "rotation"}
            How resamples are laid on to the original points. "signs" only reflects the axes: the ellipses are for
            the points on the axes as drawn, and two axes of about the same inertia make them large, since
            new data would mix or exchange these axes. "rotation" (Procrustes) turns the whole space of the
            `n_components` axes: the ellipses are for the places of the points relative to each other, whatever the
            directions of the axes, and do not hold for coordinates on single axes.
        random_state : int, Generator or None
            Give a number to get the same result again.
        progress : bool, optional
            Show a progress bar; by default if it takes longer than two seconds.

        Returns
        -------
        Bootstrap
            The covariances of all points, and confidence ellipses that `plot.plane` can draw.

        Notes
        -----
        Coverage of the points of the population on the axes as drawn at a level of 95 %, 60 tables each with 100
        resamples: .96 for the distribution of the housetasks table with n = 1744 and .91 with n = 300, .97 for
        that of the smoke table with n = 2000 and .94 with n = 193; .87 for the worst point. With
        ``align="rotation"`` it is .60, .51, .95 and .88 (``python benchmarks/tables.py --only ellipses``).

        Examples
        --------
        >>> import correspondence as co
        >>> ca = co.CA().fit(co.datasets.load_housetasks())
        >>> ca.bootstrap(50, random_state=0)
        Bootstrap of 13 rows and 4 columns on 2 axes, 50 resamples
        """
        check_is_fitted(self)
        if getattr(self, "_explained", None) is not None:
            raise ValueError(
                "bootstrap draws single counts, but with constraints or conditions it is the rows that vary. Hold "
                "rows out with co.crossfit(est, table, constraints=...), or test the constraints with est.anova()."
            )
        return bootstrap_points(self, n_resamples, n_components, n, align, random_state, progress)

    def _place_rows(self, rows: Any, name: str) -> Points:
        explained = getattr(self, "_explained", None)
        if explained is not None and explained.given.terms:
            raise ValueError(
                f"{name} cannot be placed after a fit with conditions, because the place of a row depends on its "
                "conditions too. Use transform(constraints, given=conditions)."
            )
        table = as_table(rows, name, positive=False)
        return warn_of_empty_points(
            self._analysed.columns.place_labels(table, self.columns_, name, self._to_rows), name
        )

    def _place_columns(self, columns: Any, name: str) -> Points:
        table = as_table(columns, name, positive=False).T
        return warn_of_empty_points(self._analysed.rows.place_labels(table, self.rows_, name, self._to_columns), name)
