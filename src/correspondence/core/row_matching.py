"""Variables of the labels of a table, found by these labels or by position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.arguments import as_frame, to_array
from correspondence._util.labels import as_labels
from correspondence._util.text import list_names, short_repr
from correspondence.data.table import NAMES_OF_NAMELESS, to_frame

__all__ = ["align_row_variables", "as_frame_of_columns", "read_row_variables"]

MIN_SHARE_OF_LABELS = 0.5  # of the rows of the fit: a column of texts that has more of their labels is one of labels


def read_row_variables(
    values: Any, argument: str, rows: np.ndarray, *, have_positions: bool = True
) -> list[tuple[Any, Any]]:
    """List the columns of variables of the rows, by name, with their values in the order of the rows of the fit.

    Rows of a frame are found by its index (pandas), or by its first column if that holds the labels of the rows, and
    otherwise by their positions.

    Parameters
    ----------
    values : frame, series, dict of columns or array-like
        The variables.
    argument : str
        Errors call the variables so.
    rows : ndarray of shape (n,)
        The labels of the rows of the fit.
    have_positions : bool
        Whether rows may be found by their positions.
    """
    if isinstance(values, str):
        advice = f'Choose columns of a frame: {argument}=frame[["first", "second"]].'
        raise ValueError(f"{argument} must be the values of variables, got {short_repr(values)}. {advice}")
    frame = as_frame_of_columns(values, argument)
    labels, first = (None, 0) if frame is None else _find_row_labels(frame, rows)
    if labels is None and not have_positions:
        raise ValueError(
            f"{argument} must say which label of X each row belongs to, because pairs of labels are counted first. "
            f"Give a frame with one row for each of the {len(rows)} labels, which its index or first column holds."
        )
    if frame is None:
        return _read_array_columns(values, argument, rows)
    names = frame.columns
    order = np.arange(len(frame)) if labels is None else _match_rows(labels, rows, argument)
    _check_number_of_rows(len(order), argument, rows)
    taken = frame[order.tolist()]
    columns = [(names[j], taken[:, j]) for j in range(first, len(names))]
    if not columns:
        raise ValueError(f"{argument} must have at least one column beside the labels of the rows, got none.")
    return columns


def align_row_variables(values: Any, argument: str, rows: np.ndarray) -> Any:
    """Return a frame or array of the variables alone, with its rows in the order of those of the fit.

    Parameters
    ----------
    values, argument, rows
        See `read_row_variables`.
    """
    frame = as_frame_of_columns(values, argument)
    if frame is None:
        array = to_array(values, argument)
        read_row_variables(array, argument, rows)
        return array[:, None] if array.ndim == 1 else array
    columns = read_row_variables(values, argument, rows)
    return nw.maybe_reset_index(
        nw.concat([column.alias(name).to_frame() for name, column in columns], how="horizontal")
    ).to_native()


def as_frame_of_columns(values: Any, argument: str) -> nw.DataFrame | None:
    """Return a frame, a series or a dictionary of columns as a frame, and None for anything else."""
    if isinstance(values, Mapping):
        values = _join_columns({str(name): column for name, column in values.items()}, argument)
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series.alias(str(series.name or argument)).to_frame()
    return as_frame(values, argument)


def _join_columns(columns: dict[str, Any], argument: str) -> Any:
    """Make a frame of columns; pandas finds the rows of its series by their index."""
    series = (nw.from_native(column, series_only=True, pass_through=True) for column in columns.values())
    of_pandas = next((one for one in series if isinstance(one, nw.Series) and one.implementation.is_pandas()), None)
    if of_pandas is None:
        lengths = list(dict.fromkeys(np.size(to_array(column, argument)) for column in columns.values()))
        if len(lengths) > 1:
            found = f"{lengths[0]} and {lengths[1]}"
            raise ValueError(f"{argument} must have the same number of values in each column, got {found}.")
        return to_frame(columns)
    try:
        return of_pandas.implementation.to_native_namespace().DataFrame(columns)
    except ValueError as error:
        raise ValueError(f"{argument} must have columns of the same rows: {error}.") from None


def _read_array_columns(values: Any, argument: str, rows: np.ndarray) -> list[tuple[Any, Any]]:
    array = to_array(values, argument)
    if array.ndim not in (1, 2):
        raise ValueError(f"{argument} must be one column or a table of them, got an array of shape {array.shape}.")
    _check_number_of_rows(len(array), argument, rows)
    return [(None, array)] if array.ndim == 1 else list(enumerate(array.T))


def _find_row_labels(frame: nw.DataFrame, rows: np.ndarray) -> tuple[list[Any] | None, int]:
    """Find the labels of the rows in a frame, and the first column after them."""
    known, index = set(rows.tolist()), nw.maybe_get_index(frame)
    if index is not None and (set(index) == known or not (_is_numbering(known) or _only_numbers(index, known))):
        return list(index), 0
    if frame.shape[1] > 1 and frame[:, 0].dtype.is_numeric():
        # Numbers from 1 on may be ranks or days, which happen to be equal to labels, unless the column has no name.
        found = frame[:, 0].to_list()
        may_be_others = _is_numbering(known) or _is_numbering({label - 1 for label in known if isinstance(label, int)})
        is_nameless = str(frame.columns[0]).strip() in NAMES_OF_NAMELESS
        return (found, 1) if set(found) == known and (is_nameless or not may_be_others) else (None, 0)
    if frame.shape[1] > 1:
        found = frame[:, 0].to_list()
        n_known = len(known.intersection(found))
        if n_known == len(known) or (len(set(found)) == len(found) and n_known > MIN_SHARE_OF_LABELS * len(known)):
            return found, 1
    return None, 0


def _is_numbering(labels: set[Any]) -> bool:
    """Tell whether labels are no names, but the positions of rows."""
    return labels == set(range(len(labels)))


def _only_numbers(index: Any, known: set[Any]) -> bool:
    """Tell whether an index only numbers the rows, which have other names."""
    has_whole_numbers = getattr(index, "dtype", np.dtype(object)).kind in "iu"
    return has_whole_numbers and (_is_numbering(set(index)) or not all(isinstance(label, int) for label in known))


def _match_rows(labels: list[Any], rows: np.ndarray, argument: str) -> np.ndarray:
    """Find the position among the labels of each row of the fit."""
    found = as_labels(labels, f"the labels of {argument}").tolist()
    position = {label: i for i, label in enumerate(found)}
    known = rows.tolist()
    missing, extra = [label for label in known if label not in position], set(position) - set(known)
    if missing or extra or len(position) < len(found):
        trouble = f"lacks {list_names(missing)}" if missing else f"has also {list_names(sorted(extra, key=str))}"
        trouble = trouble if missing or extra else "has some more than once"
        if {str(label) for label in missing} & {str(label) for label in extra}:
            own, fitted = type(next(iter(extra))).__name__, type(missing[0]).__name__
            trouble += f"; its labels are {own}, those of the fit {fitted}"
        advice = "Leave the same rows out of both." if missing or extra else "Keep one of them each."
        if len(missing) == len(known):
            trouble += f"; its rows are named {list_names(found, 3)}"
            advice = "Give them the names of the table, or no names (an array) to take them in order."
        raise ValueError(f"{argument} must have each row of the fit once, but {trouble}. {advice}")
    return np.array([position[label] for label in known])


def _check_number_of_rows(n: int, argument: str, rows: np.ndarray) -> None:
    if n != len(rows):
        advice = "Give them in the order of the rows, or a frame that names its rows."
        raise ValueError(f"{argument} must have a value for each of the {len(rows)} rows of the fit, got {n}. {advice}")
