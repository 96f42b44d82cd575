"""Variables of the rows of a table that took no part in the fit: numbers and categories, not counts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import find_user_stacklevel, series_to_array, to_floats
from correspondence._util.labels import encode_labels, to_object_array
from correspondence._util.text import list_names, short_repr
from correspondence._util.user_warnings import CorrespondenceWarning, LeftOut
from correspondence.core.row_matching import read_row_variables
from correspondence.data.counting import are_whole
from correspondence.data.table import Table, as_table
from correspondence.results.points import Points, SupplementaryNumbers

__all__ = ["correlate_numbers", "read_new_counts", "sum_categories"]

MEASUREMENTS_ADVICE = " Give measurements of the rows as numbers=."
SHARES_TOLERANCE = 0.01  # rounded shares may sum to this much less or more than 1, as a part of the sum
MIN_RELATIVE_DEVIATION = 1e-12  # a smaller standard deviation, as a part of the largest number, is that of a constant


def correlate_numbers(numbers: Any, rows: Points) -> SupplementaryNumbers:
    """Correlate numbers of the rows with the axes, each row weighted by its mass.

    Parameters
    ----------
    numbers : frame, array-like of shape (n,) or (n, m)
        Each column is a number for each row; NaN where it is not known.
    rows : Points
        The rows of the fit.

    Returns
    -------
    SupplementaryNumbers
        The correlations, NaN for a column without variation.

    Warns
    -----
    LeftOut
        If values are missing, or do not vary.
    """
    if getattr(rows, "is_response", False):
        raise ValueError(
            "numbers must be None with rows as the response, whose functions are not uncorrelated. Fit CA() without a "
            "response to place them."
        )
    columns = {
        "values" if name is None else name: _read_numbers(values, name)
        for name, values in read_row_variables(numbers, "numbers", rows.labels)
    }
    _warn_of_missing({name: np.isnan(values) for name, values in columns.items()}, "numbers")
    found = np.array([_correlate_weighted(values, rows) for values in columns.values()])
    constant = [name for name, values in zip(columns, found, strict=True) if np.isnan(values).any()]
    if constant:
        text = f"numbers: without variation, so without a correlation: {list_names(constant)}."
        warnings.warn(text, LeftOut, stacklevel=find_user_stacklevel())
    return SupplementaryNumbers(to_object_array(list(columns)), found.reshape(len(columns), -1))


def _correlate_weighted(values: np.ndarray, rows: Points) -> np.ndarray:
    """Correlate numbers with each axis over the rows that have both; NaN where one does not vary."""
    known = np.isfinite(values) & (rows.mass > 0)
    weights, z, f = rows.mass[known], values[known], rows.standard[known]
    if not known.any():
        return np.full(rows.standard.shape[1], np.nan)
    weights = weights / weights.sum()
    scale = np.abs(z).max() or 1.0
    z, f = z / scale - weights @ (z / scale), f - weights @ f
    deviations = np.sqrt(weights @ z**2) * np.sqrt(weights @ f**2)
    varies = (deviations > MIN_RELATIVE_DEVIATION) & (np.sqrt(weights @ z**2) > MIN_RELATIVE_DEVIATION)
    return np.where(varies, (weights * z) @ f / np.where(varies, deviations, 1), np.nan)


def _read_numbers(values: Any, name: Any) -> np.ndarray:
    """Read a column as floats, missing ones as NaN."""
    array = values if isinstance(values, np.ndarray) else series_to_array(values)
    try:
        found = to_floats(array, "numbers")
    except ValueError:
        raise ValueError(
            f"numbers must hold numbers, but its column {short_repr(name)} does not. Give labels as categories."
        ) from None
    if np.isinf(found).any():
        raise ValueError(f"numbers must be finite, got infinity in column {short_repr(name)}. Leave that value empty.")
    return found


def sum_categories(categories: Any, rows: Points, table: Table) -> Table:
    """Sum the counts of the rows of each category, which is then placed as a row.

    Parameters
    ----------
    categories : frame, array-like of shape (n,) or (n, m)
        Each column is a label for each row.
    rows : Points
        The rows of the fit.
    table : Table
        The counts of all rows that may take part.

    Returns
    -------
    Table
        It has a row for each category, named ``column:label``, and the columns of `table`.

    Warns
    -----
    LeftOut
        If rows have no label in a column.
    """
    position = {label: i for i, label in enumerate(table.rows.tolist())}
    at = np.array([position[label] for label in rows.labels.tolist()])
    names, sums, missing = [], [], {}
    for name, values in read_row_variables(categories, "categories", rows.labels):
        labels = values.tolist() if isinstance(values, np.ndarray) else values.to_list()
        missing[name] = np.array([label is None or label != label for label in labels])
        kept = np.flatnonzero(~missing[name])
        if len(kept):
            codes, levels = encode_labels(_take_values(values, kept), f"column {short_repr(name)} of categories")
            members = sp.csr_array((np.ones(len(kept)), (codes, at[kept])), shape=(len(levels), table.shape[0]))
            sums.append(members @ sp.csr_array(table.counts))
            names += [str(level) if name is None else f"{name}:{level}" for level in levels.tolist()]
    _warn_of_missing(missing, "categories")
    if not names:
        raise ValueError("categories must have at least one label, got none.")
    return Table(sp.csr_array(sp.vstack(sums)), to_object_array(names), table.columns, table.named)


def _take_values(values: Any, kept: np.ndarray) -> Any:
    return values[kept] if isinstance(values, np.ndarray) else values[kept.tolist()]


def _warn_of_missing(missing: dict[Any, np.ndarray], argument: str) -> None:
    counts = [
        f"{'values' if name is None else name} ({int(rows.sum())})" for name, rows in missing.items() if rows.any()
    ]
    if counts:
        text = f"{argument}: rows without a value are left out of that column: {list_names(counts)}."
        warnings.warn(text, LeftOut, stacklevel=find_user_stacklevel())


def read_new_counts(values: Any, name: str, fitted: Table) -> Table:
    """Read new rows or columns, with a warning of fractions if the table of the fit holds whole counts."""
    table = as_table(values, name, positive=False, advice=MEASUREMENTS_ADVICE if name == "columns" else "")
    if are_whole(fitted.counts):
        warn_of_measurements(table if name == "rows" else table.T, name)
    return table


def warn_of_measurements(table: Table, name: str) -> None:
    """Warn of new rows of a table that hold fractions, unless these are shares that sum to 1 or to 100 (per cent)."""
    counts = sp.csr_array(table.counts)
    is_fraction = counts.copy()
    is_fraction.data = (counts.data != np.rint(counts.data)).astype(float)
    totals = np.asarray(counts.sum(axis=1)).ravel()
    are_shares = (np.abs(totals - 1) <= SHARES_TOLERANCE) | (np.abs(totals / 100 - 1) <= SHARES_TOLERANCE)
    doubtful = (np.asarray(is_fraction.sum(axis=1)).ravel() > 0) & ~are_shares
    if doubtful.any():
        where = list_names([short_repr(label) for label in table.rows[doubtful].tolist()])
        measurements = "measurements of the rows as numbers=, and " if name == "columns" else ""
        advice = f"Give {measurements}shares with a sum of 1 or 100."
        text = f"{name} has fractions, which are read as counts: {where}. {advice}"
        warnings.warn(text, CorrespondenceWarning, stacklevel=find_user_stacklevel())
