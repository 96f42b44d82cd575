"""Variables of the rows that took no part in the fit: answers at the mean of their rows, numbers by correlations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.labels import to_object_array
from correspondence._util.text import list_names, short_repr
from correspondence.data.answers import list_answers
from correspondence.data.column_reading import find_missing, read_array_column, read_series, to_numbers
from correspondence.estimators.many.reading import warn_of_left_out
from correspondence.results.points import Points, SupplementaryNumbers

__all__ = ["SupplementaryVariables", "compute_vtests", "divide_by_share", "place_variables"]


@dataclass(frozen=True, eq=False)
class SupplementaryVariables:
    """Columns that took no part in the fit.

    Attributes
    ----------
    columns : Points, optional
        The answers of columns of labels, called ``column:answer``.
    numbers : SupplementaryNumbers, optional
        The correlations of columns of numbers with the axes.
    eta2 : dict
        The name of a column of labels leads to its squared correlation ratios with the axes.
    vtests : ndarray of shape (m, d), optional
        How many standard deviations the mean score of each answer lies from 0, if its rows were drawn at random.
    """

    columns: Points | None = None
    numbers: SupplementaryNumbers | None = None
    eta2: dict[Any, np.ndarray] = field(default_factory=dict)
    vtests: np.ndarray | None = None


def place_variables(
    columns: Mapping[Any, Any], rows: Points, make_points: Callable[..., Points], n: float
) -> SupplementaryVariables:
    """Place columns by the scores of the rows of the fit.

    Parameters
    ----------
    columns : dict
        The columns by name, with an entry for each row of the fit; gaps are left out.
    rows : Points
        The rows of the fit.
    make_points : callable
        It makes points of labels and of the masses of their rows, an array with a row for each label.
    n : float
        The number of rows, or their total weight.

    Returns
    -------
    SupplementaryVariables
        Answers and numbers, each if there are any.
    """
    labels: list[str] = []
    memberships, eta2 = [], {}
    names, correlations, empty = [], [], []
    for key, column in columns.items():
        where = f"Column {short_repr(key)}"
        is_series = isinstance(column, nw.Series)
        values = read_series(column, where, None) if is_series else read_array_column(column, where)
        if find_missing(values).all():
            empty.append(key)
            continue
        if values.dtype != object:
            names.append(key)
            correlations.append(correlate_column(to_numbers(values), rows))
            continue
        codes, answers, _ = list_answers(column, str(key))
        own = np.stack([np.where(codes == j, rows.mass, 0) for j in range(len(answers))])
        labels += [f"{key}:{answer}" for answer in answers]
        memberships.append(own)
        eta2[key] = compute_correlation_ratios(own, rows.standard)
    if empty:
        warn_of_left_out(f"Left out, because they have no values: column(s) {list_names(empty, 5, show=repr)}.")
    points = vtests = None
    if labels:
        membership = np.vstack(memberships)
        points = make_points(to_object_array(labels), membership)
        share = membership.sum(axis=1)
        vtests = compute_vtests(divide_by_share(membership @ rows.standard, share), share, n)
    numbers = SupplementaryNumbers(to_object_array(names), np.array(correlations)) if names else None
    return SupplementaryVariables(points, numbers, eta2, vtests)


def compute_vtests(means: np.ndarray, share: np.ndarray, n: float) -> np.ndarray:
    """Compare mean standard scores with those of as many rows, drawn at random without replacement.

    Parameters
    ----------
    means : ndarray of shape (m, d)
        The mean scores of the rows that gave each answer.
    share : ndarray of shape (m,)
        Their share of all rows.
    n : float
        The number of all rows.

    Returns
    -------
    ndarray of shape (m, d)
        Numbers of standard deviations, NaN for answers that nobody gave, or everybody.
    """
    return np.asarray(means * np.sqrt(divide_by_share((share * (n - 1))[:, None], 1 - share)))


def divide_by_share(values: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Divide rows by shares; those of answers that nobody gave, or everybody, are NaN."""
    some = np.where(share > 1e-12, share, np.nan)
    return np.asarray(values / some[:, None])


def correlate_column(values: np.ndarray, rows: Points) -> np.ndarray:
    """Correlate numbers with each axis, over the rows that have one; NaN if they do not vary."""
    known = np.isfinite(values)
    mass = np.where(known, rows.mass, 0)
    mass = mass / mass.sum()
    number = np.where(known, values, 0)
    number = number - mass @ number
    scores = rows.standard - mass @ rows.standard
    spread = np.sqrt((mass @ number**2) * (mass @ scores**2))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((mass * number) @ scores / spread)


def compute_correlation_ratios(membership: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Compute the share of the variance of each score that groups explain, over the rows that belong to one."""
    total = membership.sum()
    mean = membership.sum(axis=0) @ scores / total
    own = membership.sum(axis=1)
    used = own > 0
    means = (membership[used] @ scores) / own[used][:, None]
    spread = membership.sum(axis=0) @ (scores - mean) ** 2
    return np.asarray(own[used] @ (means - mean) ** 2 / spread)
