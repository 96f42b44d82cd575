"""Which columns the functions of a decomposition are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from correspondence.core.column_structure import (
    ColumnStructure,
    adjust_for_chance,
    find_column_kinds,
    summarise_columns,
)
from correspondence.core.decomposition import Decomposition, as_decomposition
from correspondence.core.functions import LabelFunctions, PrincipalFunctions
from correspondence.data.beside_given import match_given
from correspondence.data.readable_columns import ReadableColumn, read_columns
from correspondence.describe.axis_words import check_names
from correspondence.results.evidence import CrossFit
from correspondence.results.structure import Structure, StructureFigures

__all__ = ["align_with_functions", "match_axes", "structure"]

Key = tuple[str, str, str | None, str]  # side, column, category, kind
Values = tuple[np.ndarray | None, np.ndarray | None]  # f and g at the rows


class _Figures(NamedTuple):
    """Figures of a column or category."""

    n: float
    correlations: np.ndarray
    explained: np.ndarray
    means: np.ndarray
    cross: np.ndarray


def structure(
    est: Any,
    X: Any = None,
    Y: Any = None,
    *,
    held_out: Any = None,
    names: Sequence[str] = ("x", "y"),
    given: Any = None,
) -> Structure:
    """Tell how each column, and each of its categories, is correlated with each function (loadings).

    Parameters
    ----------
    est : Decomposition or fitted estimator
        The functions are those of this decomposition: of `CCA`, `ACE`, `KernelCCA`, `PICE` or any other.
    X, Y : array-like, frame, list of texts, optional
        The values of the two variables, usually those of the fit. Missing numbers are left out of the figures of their
        column; missing labels are the category "(missing)". Y is not needed where the decomposition keeps it, nor are
        the labels of a correspondence analysis.
    held_out : (X, Y) or CrossFit, optional
        Compute the same figures from these pairs, which were not used in the fit, and put them beside; or from the
        out-of-fold functions that `crossfit` found for the pairs X and Y. What labels and bins explain there is less
        what as many explain by chance.
    names : (str, str)
        A variable that is one column without a name is called by these names.
    given : array-like or frame, optional
        The given variables of the pairs X and Y, if there were some in the fit. What goes with an axis is then the
        column itself, not what is left of it.

    Returns
    -------
    Structure
        Correlations, explained shares and means; ``.to_frame()`` is a table of them.

    Examples
    --------
    >>> import correspondence as co
    >>> import polars as pl
    >>> from sklearn.datasets import load_wine
    >>> wine = load_wine()
    >>> X, y = pl.DataFrame(wine.data, schema=wine.feature_names), wine.target_names[wine.target]
    >>> est = co.ACE(n_components=2).fit(X, y)
    >>> found = co.structure(est, X, y, names=("wine", "grape"))
    >>> found.to_frame("polars").filter(pl.col("explained_1") > 0.8, pl.col("category").is_null())["column"].to_list()
    ['flavanoids', 'grape']
    """
    d, called = as_decomposition(est), check_names(names)
    data = _fill_in_data(d, (X, Y))
    if all(given is None for given in data) and not any(isinstance(part, LabelFunctions) for part in (d.f, d.g)):
        raise ValueError("X must be given: the values of the variables, in the form that fit takes.")
    values = _evaluate_functions(d, _put_given(d, data, held_out, given))
    are_pairs = X is not None and Y is not None  # a sample that the functions keep may be of other rows
    found = _collect_figures(d, data, values, called, are_pairs=are_pairs)
    beside = None
    if held_out is not None:
        beside = _collect_figures(d, *_read_held_out(d, data, values, held_out), called, is_held_out=True)
    return _make_structure(found, beside, d.n_components)


def _put_given(d: Decomposition, data: tuple[Any, Any], held_out: Any, given: Any) -> tuple[Any, Any]:
    """Put given variables beside the pairs."""
    if d.f.needs_given:
        if any(values is None for values in data):
            raise ValueError("X and Y must both be given, with the given variables of the same rows.")
        if not (held_out is None or isinstance(held_out, CrossFit)):
            raise ValueError(
                f"held_out must be None or a CrossFit if there are given variables, got {type(held_out).__name__}. "
                "Pass co.crossfit(est, X, Y, given=Z)."
            )
    return match_given(*data, given, is_needed=d.f.needs_given)


def _fill_in_data(d: Decomposition, data: tuple[Any, Any]) -> tuple[Any, Any]:
    """Take the sample that the functions keep where nothing is given."""
    x, y = (
        getattr(functions, "sample", None) if given is None else given
        for functions, given in zip((d.f, d.g), data, strict=True)
    )
    return x, y


def _evaluate_functions(d: Decomposition, data: tuple[Any, Any]) -> Values:
    F, G = (
        None if given is None else functions.accept_unknown()(given)
        for functions, given in zip((d.f, d.g), data, strict=True)
    )
    return F, G


def _read_held_out(
    d: Decomposition, data: tuple[Any, Any], values: Values, held_out: Any
) -> tuple[tuple[Any, Any], Values]:
    """Return held-out pairs and the functions there."""
    if isinstance(held_out, CrossFit):
        lengths = {len(part) for part in values if part is not None}
        if lengths != {len(held_out.F)}:
            raise ValueError(f"held_out must be a crossfit of the pairs X and Y, got one of {len(held_out.F)} pairs.")
        F, G = (
            None if own is None else align_with_functions(folds, own)
            for folds, own in zip((held_out.F, held_out.G), values, strict=True)
        )
        return data, (F, G)
    if not isinstance(held_out, tuple | list) or len(held_out) != 2:
        raise ValueError(f"held_out must be a pair (X, Y) or a CrossFit, got {type(held_out).__name__}.")
    pair = (held_out[0], held_out[1])
    return pair, _evaluate_functions(d, pair)


def align_with_functions(folds: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Give out-of-fold functions the order and the signs of those of a fit.

    Components of nearly the same strength change places from fit to fit, so each goes to the function that it is most
    like. There may be fewer of them, or more, which are left out.
    """
    known = np.isfinite(folds).all(axis=1) & np.isfinite(own).all(axis=1)
    order, signs = match_axes(folds[known], own[known])
    return folds[:, order] * signs


def match_axes(folds: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find which function of a fold is most like each of a fit, and with which sign, by values at the same rows."""
    own = own[:, : folds.shape[1]]
    scales = [np.maximum(part.std(axis=0), 1e-12) if len(part) else 1.0 for part in (folds, own)]
    products = (folds / scales[0]).T @ (own / scales[1])
    order = linear_sum_assignment(-np.abs(products).T)[1]
    return order, np.where(products[order, np.arange(len(order))] < 0, -1.0, 1.0)


def _collect_figures(
    d: Decomposition,
    data: tuple[Any, Any],
    values: Values,
    names: tuple[str, str],
    *,
    are_pairs: bool = True,
    is_held_out: bool = False,
) -> dict[Key, _Figures]:
    """Collect the figures of both sides; of pairs, also those with the functions of the other side."""
    found: dict[Key, _Figures] = {}
    for i, (letter, functions) in enumerate((("x", d.f), ("y", d.g))):
        own, other = values[i], values[1 - i]
        if own is None:
            found |= dict(_list_fit_labels(functions, d.n, letter, names[i]))
        else:
            is_paired = are_pairs and other is not None and len(other) == len(own)
            columns = read_columns(data[i], names[i], find_column_kinds(functions))
            other = other if is_paired else None
            found |= dict(_list_column_figures(columns, own, other, letter, is_held_out=is_held_out))
    return found


def _list_column_figures(
    columns: list[ReadableColumn], own: np.ndarray, other: np.ndarray | None, letter: str, *, is_held_out: bool
) -> Iterator[tuple[Key, _Figures]]:
    """Go through the columns of one side and their categories."""
    nothing = np.full(own.shape[1], np.nan)
    found = summarise_columns(columns, own)
    across: Sequence[ColumnStructure | None] = [None] * len(found)
    if other is not None:
        across = summarise_columns(columns, other)
    if is_held_out:
        found = [adjust_for_chance(one) for one in found]
        across = [crossed and adjust_for_chance(crossed) for crossed in across]
    for one, crossed in zip(found, across, strict=True):
        side, kind = one.column.name, one.column.kind
        cross = nothing if crossed is None else crossed.correlations
        yield (letter, side, None, kind), _Figures(one.n, one.correlations, one.explained, nothing, cross)
        for j, category in enumerate(one.column.categories):
            r = one.category_correlations[j]
            cross = nothing if crossed is None else crossed.category_correlations[j]
            yield (letter, side, category, kind), _Figures(one.counts[j], r, r**2, one.means[j], cross)


def _list_fit_labels(functions: PrincipalFunctions, n: float, letter: str, name: str) -> Iterator[tuple[Key, _Figures]]:
    """Go through the labels of a fit to a table, which has no rows to be read."""
    if not isinstance(functions, LabelFunctions):
        return
    ones, nothing = np.ones(functions.width), np.full(functions.width, np.nan)
    yield (letter, name, None, "label"), _Figures(n * functions.mass.sum(), ones, ones, nothing, nothing)
    for label, place, p in zip(functions.labels.tolist(), functions.values, functions.mass.tolist(), strict=True):
        r = place * np.sqrt(p / (1 - p)) if p < 1 else nothing
        yield (letter, name, str(label), "label"), _Figures(n * p, r, r**2, place, nothing)


def _make_structure(found: dict[Key, _Figures], beside: dict[Key, _Figures] | None, d: int) -> Structure:
    """Put the figures, and those of held-out pairs, into arrays with one row for each column and category."""
    sides, columns, categories, kinds = zip(*found, strict=True) if found else ((), (), (), ())
    figures = _stack_figures([found[key] for key in found], d)
    unseen = _Figures(0, *(np.full(d, np.nan) for _ in range(4)))
    held_out = None if beside is None else _stack_figures([beside.get(key, unseen) for key in found], d)
    return Structure(sides, columns, categories, kinds, figures, held_out)


def _stack_figures(figures: list[_Figures], d: int) -> StructureFigures:
    arrays = []
    for name in ("correlations", "explained", "means", "cross"):
        stacked = np.full((len(figures), d), np.nan)
        for i, one in enumerate(figures):
            row = getattr(one, name)
            stacked[i, : len(row)] = row
        arrays.append(stacked)
    return StructureFigures(np.array([one.n for one in figures], dtype=float), *arrays)
