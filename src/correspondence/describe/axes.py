"""What the axes of an analysis mean: the numbers, columns and categories that go with them, with tests."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from correspondence._util.arguments import check_whole, count_observations, take_rows
from correspondence._util.text import one_line, short_repr
from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.core.asymmetric import find_asymmetric
from correspondence.core.decomposition import Decomposition, as_decomposition, refuse_given
from correspondence.core.group_tests import adjust_pvalues, compute_normal_pvalues
from correspondence.core.row_matching import read_row_variables
from correspondence.data.column_reading import columns_of
from correspondence.data.copies import find_copies
from correspondence.describe.axis_rows import make_held_out_splits, read_fit_rows, read_new_rows, score_held_out
from correspondence.describe.groups import check_options
from correspondence.describe.score_figures import ScoreTables, compare_scores, count_rows, tabulate_scores
from correspondence.describe.structure import match_axes
from correspondence.describe.tested_columns import TestedColumn, leave_out_useless, read_tested_column
from correspondence.results.description_table import DescriptionTable
from correspondence.results.points import Points
from correspondence.results.score_descriptions import ScoresDescription

__all__ = ["describe_axes"]

DEFAULT_AXES = 3  # the first ones, as in R
SCALARS = (int, float, np.number, np.bool_)  # held_out is folds or a share, not other rows


def describe_axes(
    est: Any,
    X: Any = None,
    Y: Any = None,
    *,
    held_out: Any = None,
    axes: int | Sequence[int] | None = None,
    alpha: float = 0.05,
    adjustment: str = "fdr",
    random_state: int = 0,
) -> ScoresDescription:
    """Tell which numbers, columns and categories go with each axis of an analysis, with tests.

    Parameters
    ----------
    est : fitted estimator or Decomposition
        Of many columns (`MCA`, `MixedCA`), of a table (`CA`) or of two variables (`CCA`, `ACE`, ...).
    X : frame or array-like, optional
        For many columns: the rows, by default those of the fit, with their supplementary columns; other columns of X
        are supplementary too. For a table: variables of its rows, such as the year of each text, found by the labels
        of the rows or by position; each row counts with its mass. Without it, only the rows and columns
        are listed. For two variables: the values of the first.
    Y : frame or array-like, optional
        For a table: variables of its columns. For two variables: the values of the second. A column of one variable is
        then tested with the function of the other, because it goes with the function that is made of it anyhow.
    held_out : int, float, frame or (X, Y), optional
        Compute the same on rows that were not used in the fit: of so many folds, each by a fit to the others; of a
        share of the rows between 0 and 1, drawn at random, by a fit to the others; or on other rows. There an active
        column is tested with the score from all other columns, which it has no part in, so that these p-values hold for
        active columns too.
    axes : int or sequence of int, optional
        Describe these axes, counted from 1; by default the first three.
    alpha : float
        Sentences tell what has an adjusted p-value of at most this.
    adjustment : {"fdr", "holm"}
        Adjust the p-values of a table for their number by Benjamini and Hochberg, or by Holm: see `describe_groups`.
    random_state : int
        Draw the folds or the share with this seed.

    Returns
    -------
    ScoresDescription
        Tables and sentences.

    Notes
    -----
    The axes were fitted to the active columns, so that these go with them even if all columns are independent. Their
    p-values rank them; whether a relation would hold again is told by those of held-out rows. Supplementary columns
    have valid p-values without them.

    Examples
    --------
    >>> import correspondence as co
    >>> mca = co.MCA(n_components=2)
    >>> mca = mca.fit(co.datasets.load_poison(), supplementary=["Age", "Time", "Sick", "Sex"])
    >>> co.describe_axes(mca, held_out=5)
    ScoresDescription of 2 axes, 55 rows (55 rows held out)
      Axis 1 rises with Sick = no (0.94), Abdominals = no (0.92), Diarrhoea = no (0.89) and 5 more; falls with
      Sick = yes (-0.94), Abdominals = yes (-0.92), Diarrhoea = yes (-0.89) and 6 more.
      Axis 2 goes with nothing on held-out rows.
    """
    check_options(alpha, adjustment)
    if hasattr(est, "fit") and not isinstance(est, type):
        check_is_fitted(est)
    d = find_asymmetric(est) if hasattr(est, "fit") else None
    chosen = _choose_axes(axes, (d or as_decomposition(est)).n_components)
    if getattr(est, "_takes_columns", False):
        tables, others, sizes = _describe_columns(est, X, Y, held_out, chosen, random_state)
    elif d is not None or (getattr(est, "_takes_tables", False) and not (Y is not None and est._from_pairs)):
        return _describe_table(est, X, Y, held_out, chosen, alpha, adjustment)
    else:
        tables, others, sizes = _describe_pairs(est, X, Y, held_out, chosen, random_state)
    return compare_scores(tables, chosen, alpha, adjustment, others, **sizes)


def _choose_axes(axes: Any, d: int) -> list[int]:
    """Return the numbers of the axes."""
    if not d:
        raise ValueError("est must have at least one axis, got none.")
    if axes is None:
        return list(range(1, min(d, DEFAULT_AXES) + 1))
    listed = [axes] if np.ndim(axes) == 0 else list(axes)
    if not listed:
        raise ValueError("axes must name at least one axis, got none.")
    return [check_whole(axis, "axes", 1, d) for axis in listed]


Described = tuple[ScoreTables, ScoreTables | None, dict[str, float]]


def _describe_columns(est: Any, X: Any, Y: Any, held_out: Any, chosen: list[int], seed: int) -> Described:
    """Test the columns of an analysis of many columns."""
    if Y is not None:
        raise ValueError(f"Y must be None for {type(est).__name__}, which analyses the columns of X. Leave Y out.")
    fitted, at = read_fit_rows(est, X), np.array(chosen) - 1
    tables = tabulate_scores(fitted.columns, fitted.scores[:, at], chosen, fitted.weights, fitted.roles)
    sizes = {"n": count_rows(fitted.weights)}
    if held_out is None:
        return tables, None, sizes
    if isinstance(held_out, SCALARS):
        arrays = est._analysis.arrays if X is None else est._analysis.features.read(X)
        other = score_held_out(est, fitted, arrays, held_out, seed)
    else:
        other = read_new_rows(est, fitted, held_out)
    others = tabulate_scores(other.columns, lambda i: other.score_without(i)[:, at], chosen, other.weights, other.roles)
    return tables, others, sizes | {"n_held_out": count_rows(other.weights)}


def _describe_table(
    ca: Any, X: Any, Y: Any, held_out: Any, chosen: list[int], alpha: float, adjustment: str
) -> ScoresDescription:
    """List the rows and columns of a table by their coordinates, and test variables of them."""
    if getattr(ca, "_explained", None) is not None:
        raise ValueError(
            "est must be an analysis without constraints, got one with some: they go with its axes by construction. "
            'See est.scores("bp") and est.scores("cn"), test with est.anova(), and read the page of co.explore(est).'
        )
    if held_out is not None:
        raise ValueError(
            "held_out must be None for a table, whose pairs are not known one by one. Fit CA to two columns of labels."
        )
    at = np.array(chosen) - 1
    parts = [
        _tabulate_variables(given, points, side, at, chosen)
        for given, points, side in ((X, ca.rows_, "row"), (Y, ca.columns_, "column"))
        if given is not None
    ]
    tables = _join_tables(parts) if parts else tabulate_scores([], np.empty((0, len(at))), chosen, np.empty(0))
    points = _list_points(ca, chosen, adjustment)
    return compare_scores(tables, chosen, alpha, adjustment, None, n=float(ca.decomposition_.n), points=points)


def _tabulate_variables(given: Any, points: Points, side: str, at: np.ndarray, chosen: list[int]) -> ScoreTables:
    argument = "X" if side == "row" else "Y"
    found = read_row_variables(given, argument, points.labels)
    read = leave_out_useless([read_tested_column(_name_variable(key), own, argument) for key, own in found])
    mass = np.nan_to_num(points.mass)
    weights = mass * np.count_nonzero(mass)  # a variable of the rows has as many values as there are rows, not pairs
    return tabulate_scores(read, points.principal[:, at], chosen, weights, {"side": [side] * len(read)})


def _name_variable(key: Any) -> str:
    return "values" if key is None else one_line(key)


def _join_tables(parts: Sequence[ScoreTables]) -> ScoreTables:
    """Join the tables of both sides."""
    return {
        kind: {name: np.concatenate([part[kind][name] for part in parts]) for name in parts[0][kind]}
        for kind in parts[0]
    }


def _list_points(ca: Any, chosen: list[int], adjustment: str) -> DescriptionTable:
    """List rows and columns, with the v-test of the mean function of the other side over the pairs of a label."""
    n, parts = float(ca.decomposition_.n), []
    for axis in chosen:
        for side, points in (("row", ca.rows_), ("column", ca.columns_)):
            place, mass = points.principal[:, axis - 1], np.nan_to_num(points.mass)
            # Ordered labels, and those with a response, do not lie at these means.
            mean = getattr(points, "averages", points.principal)[:, axis - 1]
            with np.errstate(divide="ignore", invalid="ignore"):
                # The mean of n p values of variance 1 drawn without replacement has variance (1 - p) / (p (n - 1)).
                vtests = mean * np.sqrt(mass * max(n - 1, 0) / np.where(mass < 1, 1 - mass, np.nan))
            own = {"axis": np.full(len(mass), axis), "side": np.full(len(mass), side, dtype=object)}
            own |= {"label": np.array([one_line(label) for label in points.labels.tolist()], dtype=object)}
            own |= {"n": mass * n, "coordinate": place, "contribution": points.contributions[:, axis - 1]}
            parts.append({name: v[np.argsort(-np.nan_to_num(place))] for name, v in (own | {"vtest": vtests}).items()})
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    columns["pvalue"] = compute_normal_pvalues(columns["vtest"])
    return DescriptionTable(columns | {"adjusted_pvalue": adjust_pvalues(columns["pvalue"], adjustment)})


def _describe_pairs(est: Any, X: Any, Y: Any, held_out: Any, chosen: list[int], seed: int) -> Described:
    """Test the columns of two variables, each with the function of the other where the pairs are known."""
    d, data = as_decomposition(est), (X, Y)
    refuse_given(d, "tests of axes", "See co.structure(est, X, Y, given=Z) for the columns that go with an axis.")
    if X is None and Y is None:
        raise ValueError("X must be given: the values of the variables, in the form that fit takes.")
    _check_pairs(X, Y, "Y")
    columns = [_read_side(given, name) for given, name in zip(data, ("x", "y"), strict=True)]
    values = _evaluate_sides(d, data)
    tables = _tabulate_sides(columns, values, chosen)
    n = max(len(part) for part in values if part is not None)
    if held_out is None:
        return tables, None, {"n": float(n)}
    if isinstance(held_out, SCALARS):
        if X is None or Y is None:
            raise ValueError("X and Y must be given to hold pairs out. Pass the pairs of the fit.")
        seen, tested = _evaluate_held_out(est, X, Y, values, held_out, seed)
        used = [[column.take_rows(tested) for column in side] for side in columns]
        return tables, _tabulate_sides(used, seen, chosen), {"n": float(n), "n_held_out": float(len(tested))}
    if not isinstance(held_out, tuple) or len(held_out) != 2:
        raise ValueError(
            f"held_out must be a whole number of folds, a share or a pair (X, Y), got {short_repr(held_out)}."
        )
    _check_pairs(*held_out, "held_out")
    other = _evaluate_sides(d, held_out)
    others = [_follow_side(own, given) for own, given in zip(columns, held_out, strict=True)]
    return tables, _tabulate_sides(others, other, chosen), {"n": float(n), "n_held_out": float(len(held_out[0]))}


def _check_pairs(X: Any, Y: Any, name: str) -> None:
    """Check that two variables have a value for each pair, if both are given."""
    if X is None or Y is None:
        return
    n, m = count_observations(X, "X"), count_observations(Y, "Y")
    if n != m:
        raise ValueError(f"{name} must have a value of Y for each of the {n} rows of X, got {m}. Pass pairs.")


def _read_side(values: Any, name: str) -> list[TestedColumn]:
    """Read the columns of one variable; a column without a name is called by its variable."""
    if values is None:
        return []
    columns = columns_of(values, name.upper())
    called = {key: name if len(columns) == 1 and not isinstance(key, str) else key for key in columns}
    read = [read_tested_column(called[key], column, name.upper()) for key, column in columns.items()]
    return [column for column in read if column.varies]


def _follow_side(columns: list[TestedColumn], values: Any) -> list[TestedColumn]:
    """Read the same columns of other rows."""
    if not columns:
        return []
    given = columns_of(values, "held_out")
    by_name = {one_line(key): column for key, column in given.items()}
    found = list(given.values()) if len(given) == len(columns) else [by_name[column.name] for column in columns]
    pairs = zip(columns, found, strict=True)
    return [
        read_tested_column(own.name, other, "held_out", own.kind).follow_categories(own.categories)
        for own, other in pairs
    ]


def _evaluate_sides(d: Decomposition, data: Sequence[Any]) -> list[np.ndarray | None]:
    return [
        None if given is None else np.asarray(functions.accept_unknown()(given))
        for functions, given in zip((d.f, d.g), data, strict=True)
    ]


def _tabulate_sides(
    columns: Sequence[list[TestedColumn]], values: Sequence[np.ndarray | None], chosen: list[int]
) -> ScoreTables:
    """Test the columns of each side with the functions of the other, or with their own if these are all there are."""
    at, parts = np.array(chosen) - 1, []
    for i, side in enumerate(("x", "y")):
        scores = values[1 - i] if values[1 - i] is not None else values[i]
        if columns[i] and scores is not None:
            roles = {"side": [side] * len(columns[i])}
            parts.append(tabulate_scores(columns[i], scores[:, at], chosen, np.ones(len(scores)), roles))
    if not parts:
        raise ValueError("X must have columns that vary and can be read one by one, got none.")
    return _join_tables(parts)


def _evaluate_held_out(
    est: Any, X: Any, Y: Any, own: Sequence[np.ndarray | None], held_out: Any, seed: int
) -> tuple[list[np.ndarray | None], np.ndarray]:
    """Evaluate the functions at held-out pairs by a fit to the others; return these pairs' positions too."""
    splits, tested = make_held_out_splits(held_out, count_observations(X, "X"), find_copies(X, Y).groups, seed)
    if not hasattr(est, "fit"):
        raise ValueError("held_out must be a pair (X, Y) for a Decomposition, which cannot be fitted again.")
    found = [np.zeros_like(part) for part in own]
    for train, test in splits:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CorrespondenceWarning)
            fold = as_decomposition(clone(est).fit(take_rows(X, train), take_rows(Y, train)))
        seen = _evaluate_sides(fold, (take_rows(X, train), take_rows(Y, train)))
        order, signs = match_axes(seen[0], own[0][train])  # type: ignore[arg-type, index]
        for whole, values in zip(found, _evaluate_sides(fold, (take_rows(X, test), take_rows(Y, test))), strict=True):
            whole[test, : len(order)] = values[:, order] * signs  # type: ignore[index]
    return [part[tested] for part in found], tested
