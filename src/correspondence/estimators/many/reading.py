"""Which columns of a table take part in an analysis of many columns, and how they are read."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import narwhals as nw
import numpy as np

from correspondence._util.arguments import as_frame, check_weights, find_user_stacklevel
from correspondence._util.labels import MISSING, as_labels, to_object_array
from correspondence._util.text import list_names, short_repr
from correspondence._util.user_warnings import LeftOut
from correspondence.core.column_features import FeatureColumn, LabelColumn, ManyColumns, NumberColumn
from correspondence.data.answers import MISSING_CODE, Answers, arrange_answers, list_answers, split_columns
from correspondence.data.column_kinds import MIN_ID_SHARE, MIN_ROWS_FOR_IDS, decide_column_kind
from correspondence.data.column_reading import read_array_column, read_series, to_numbers
from correspondence.data.column_summary import summarise_column

__all__ = [
    "MANY_ANSWERS",
    "ReadTable",
    "are_equal_ends",
    "leave_out_useless",
    "list_given_names",
    "name_rows",
    "read_labels",
    "read_mixed",
    "refuse_few_columns",
    "select_columns",
    "warn_of_constants",
    "warn_of_left_out",
    "warn_of_unused_kinds",
]

MANY_NUMBERS = 30  # different numbers in a column, which are hardly answers
MANY_ANSWERS = 1000  # a column with more answers is hardly a question of a survey


@dataclass(frozen=True, eq=False)
class ReadTable:
    """The active columns of a table in memory.

    Attributes
    ----------
    features : ManyColumns
        The columns, with the way to read new rows.
    arrays : list of ndarray
        The codes or numbers of the rows.
    rows : ndarray of int
        The positions of the rows that take part, if some are dropped because of missing values; otherwise all.
    """

    features: ManyColumns
    arrays: list[np.ndarray]
    rows: np.ndarray

    def take_rows(self, kept: np.ndarray) -> ReadTable:
        """Keep some of the rows."""
        return replace(self, arrays=[values[kept] for values in self.arrays], rows=self.rows[kept])


def select_columns(X: Any, supplementary: Iterable[Any] | None) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Split the columns of a table into active and supplementary ones.

    Parameters
    ----------
    X : frame or array-like of shape (n, k)
        The table.
    supplementary : sequence of names, optional
        The names of columns, or their positions in an array, that take no part in the fit.

    Returns
    -------
    active, passive : dict
        The columns by name.
    """
    columns = split_columns(X, "X")
    wanted = list_given_names(supplementary, "supplementary", "columns")
    absent = [key for key in wanted if key not in columns]
    if absent:
        raise ValueError(
            f"supplementary must name columns of X, got {list_names(absent, 5, show=short_repr)}. "
            f"X has {list_names(list(columns), 10)}."
        )
    active = {key: column for key, column in columns.items() if key not in set(wanted)}
    if len(active) < 2:
        raise ValueError(
            f"X must have at least two active columns, got {len(active)}. For two variables use CA().fit(x, y)."
        )
    return active, {key: columns[key] for key in wanted}


def list_given_names(names: Any, argument: str, what: str) -> list[Any]:
    """Return the names that a user gave as one or several texts (or numbers, of the columns of an array)."""
    if names is None:
        return []
    listed = [names] if isinstance(names, str) else names
    try:
        is_used_up = iter(listed) is listed  # by the first fit, and the next would find no names
        listed = list(listed)
        are_names = not is_used_up and all(isinstance(name, str | int | np.integer | tuple) for name in set(listed))
    except Exception:  # whatever an object of the user's raises that cannot be listed
        are_names = False
    if not are_names:
        raise ValueError(f"{argument} must be a list of names of {what}, got {short_repr(names)}.")
    return listed


def name_rows(X: Any) -> np.ndarray:
    """Return the labels of the rows: the index of pandas, otherwise numbers from 0."""
    frame = as_frame(X, "X")
    index = None if frame is None else nw.maybe_get_index(frame)
    if index is None:
        return np.arange(len(X) if frame is None else len(frame))
    if getattr(index, "dtype", None) == np.int64:  # as_labels would look at every number
        return np.asarray(index)
    return as_labels(list(index), "the index")


def find_active_rows(supplementary_rows: Any, n: int) -> np.ndarray:
    """Return the positions of the rows that take part in the fit."""
    if supplementary_rows is None:
        return np.arange(n)
    passive = find_rows(supplementary_rows, n, "supplementary_rows")
    if len(passive) > n - 2:
        raise ValueError(f"supplementary_rows must leave at least two rows for the fit, got {len(passive)} of {n}.")
    return np.setdiff1d(np.arange(n), passive)


def find_rows(chosen: Any, n: int, name: str) -> np.ndarray:
    """Return the positions of rows that are given by position or by a mask."""
    try:
        given = np.asarray(chosen)
    except Exception:  # of the many libraries that arrays may come from
        given = np.empty(())
    if given.shape == (0,):
        return np.empty(0, dtype=np.intp)
    if given.dtype == bool and given.shape == (n,):
        return np.flatnonzero(given)
    if given.dtype.kind in "iu" and given.ndim == 1 and ((given >= -n) & (given < n)).all():
        return np.unique(given % n)
    raise ValueError(f"{name} must be positions below {n}, or a mask of {n} values, got {short_repr(chosen)}.")


def read_labels(
    columns: Mapping[Any, Any],
    missing: str,
    handle_unknown: str,
    weights: np.ndarray | None = None,
    orders: Mapping[Any, list[Any] | None] | None = None,
) -> ReadTable:
    """Read columns of answers.

    Parameters
    ----------
    columns : dict
        The columns by name.
    missing : {"indicator", "average", "passive", "impute", "drop", "error"}
        What is done with missing answers.
    handle_unknown : {"error", "nan", "missing"}
        What will be done with answers that were not in the fit.
    weights : ndarray of shape (n,), optional
        The weights of the rows.
    orders : dict, optional
        The levels of columns in order, or None for columns that have an order of their own.

    Returns
    -------
    ReadTable
        Columns with one answer are left out, with a warning.
    """
    found = {key: list_answers(column, str(key)) for key, column in columns.items()}
    for key, levels in (orders or {}).items():
        found[key] = arrange_answers(found[key], levels, key)
    n = len(next(iter(found.values()))[0])
    rows = _find_rows({key: codes == MISSING_CODE for key, (codes, _, _) in found.items()}, missing, n)
    share = (np.ones(n) if weights is None else check_weights(weights, n, "sample_weight"))[rows]
    made = [_make_label_column(key, own, missing, rows, share) for key, own in found.items()]
    kept = leave_out_useless([column for column, _ in made], len(rows))
    return ReadTable(ManyColumns(tuple(made[j][0] for j in kept), handle_unknown), [made[j][1] for j in kept], rows)


def _make_label_column(
    key: Any, given: Answers, missing: str, rows: np.ndarray, share: np.ndarray
) -> tuple[LabelColumn, np.ndarray]:
    """Make a column of its answers, and return the codes of the rows that take part; `share` are their weights."""
    own, answers = given.codes[rows], given.different
    if missing == "indicator" and (own == MISSING_CODE).any():
        if MISSING not in answers.tolist():
            answers = to_object_array([*answers, MISSING])
        own = np.where(own == MISSING_CODE, answers.tolist().index(MISSING), own).astype(np.int32)
    counts = np.bincount(own + 1, share, len(answers) + 1)[1:]
    column, codes = _keep_occurring(LabelColumn(key, answers, counts, given.is_ordered, missing == "passive"), own)
    return replace(column, names_missing=missing == "indicator" and MISSING in column.answers.tolist()), codes


def _keep_occurring(column: LabelColumn, codes: np.ndarray) -> tuple[LabelColumn, np.ndarray]:
    """Leave out answers that only rows of weight 0 gave; `shares` holds their total weights."""
    occurs = column.shares > 0
    if not occurs.all():
        place = np.append(np.where(occurs, np.cumsum(occurs) - 1, MISSING_CODE), MISSING_CODE).astype(np.int32)
        codes = place[codes]
    total = column.shares.sum()
    return replace(column, answers=column.answers[occurs], shares=column.shares[occurs] / (total or 1)), codes


def _find_rows(is_missing: Mapping[Any, np.ndarray], missing: str, n: int) -> np.ndarray:
    """Find the rows that take part."""
    gone = np.logical_or.reduce(list(is_missing.values()))
    if missing == "error" and gone.any():
        keys = [key for key, own in is_missing.items() if own.any()]
        raise ValueError(
            f'X must have no missing values if missing="error", got some in {int(gone.sum())} row(s), column(s) '
            f"{list_names(keys, 5)}. Choose another value of missing."
        )
    if missing in ("passive", "impute"):
        gone = np.logical_and.reduce(list(is_missing.values()))
    elif missing != "drop":
        return np.arange(n)
    what = "missing values" if missing == "drop" else "missing values only"
    if gone.all():
        raise ValueError(f'X must have rows without {what} if missing="{missing}", got none. Choose another value.')
    if gone.any():
        warn_of_left_out(f"{int(gone.sum()):,} of {n:,} rows are left out: they have {what}.")
    return np.flatnonzero(~gone)


def leave_out_useless(columns: list[LabelColumn], n: int) -> list[int]:
    """Return the positions of the columns that vary and are no ids; say which are left out."""
    widths = np.array([column.width for column in columns])
    is_constant = widths < 2
    is_id = (widths > MIN_ID_SHARE * n) & (n >= MIN_ROWS_FOR_IDS)
    is_number = np.array([any(type(answer) is float for answer in column.answers) for column in columns], dtype=bool)
    reasons = {
        "they have one answer only": is_constant,
        "nearly every row has its own answer": is_id & ~is_number,
        "nearly every row has its own number (MixedCA takes them as numbers)": is_id & is_number,
    }
    for reason, is_meant in reasons.items():
        if is_meant.any():
            names = [column.name for column, is_one in zip(columns, is_meant, strict=True) if is_one]
            warn_of_left_out(f"Left out, because {reason}: column(s) {list_names(names, 5, show=repr)}.")
    kept = np.flatnonzero(~is_constant & ~is_id).tolist()
    numbers = [f"{columns[j].name!r} ({columns[j].width:,})" for j in kept if _holds_many_numbers(columns[j])]
    if numbers:
        warn_of_left_out(
            f"The order of numbers in column(s) {list_names(numbers, 5)} is not used: MixedCA takes them as numbers."
        )
    many = [columns[j] for j in kept if columns[j].width > MANY_ANSWERS]
    if many:
        names = [f"{short_repr(column.name)} ({column.width:,})" for column in many]
        warn_of_left_out(f"Column(s) with very many answers, as if they were ids: {list_names(names, 5)}.")
    if len(kept) < 2:
        raise ValueError(
            f"X must have at least two columns that vary, got {len(kept)} of {len(columns)}. "
            "For two variables use CA().fit(x, y)."
        )
    return kept


def _holds_many_numbers(column: LabelColumn) -> bool:
    if column.width <= MANY_NUMBERS:
        return False
    kinds = {type(answer) for answer in column.answers.tolist() if answer != MISSING}
    return kinds <= {int, float}


def warn_of_left_out(message: str) -> None:
    """Warn that a part of the data is not used."""
    warnings.warn(message, LeftOut, stacklevel=find_user_stacklevel())


def warn_of_unused_kinds(kinds: Mapping[Any, str]) -> None:
    """Warn of columns that are left out, whose names lead to what they are."""
    reasons: dict[str, list[Any]] = {}
    for key, kind in kinds.items():
        reasons.setdefault(kind, []).append(key)
    for kind, names in reasons.items():
        warn_of_left_out(
            f"Left out, because they are of the kind {kind!r}: column(s) {list_names(names, 5, show=repr)}."
        )


def warn_of_constants(names: list[Any]) -> None:
    """Warn of columns that are left out because they do not vary, if there are any."""
    if names:
        warn_of_left_out(f"Left out, because they have one value only: column(s) {list_names(names, 5, show=repr)}.")


def read_mixed(
    columns: Mapping[Any, Any],
    missing: str,
    handle_unknown: str,
    weights: np.ndarray | None = None,
    min_columns: int = 2,
) -> ReadTable:
    """Read columns of numbers and answers, each as what it is.

    Parameters
    ----------
    columns, missing, handle_unknown, weights
        See `read_labels`. A missing number is the mean, unless it is imputed or its row dropped.
    min_columns : int
        At least so many columns must vary.

    Returns
    -------
    ReadTable
        Constants, ids, texts and lists are left out, with a warning.
    """
    numbers: dict[Any, Any] = {}
    labels: dict[Any, Answers] = {}
    unused: dict[Any, str] = {}
    for key, column in columns.items():
        where = f"Column {short_repr(key)} of X"
        is_series = isinstance(column, nw.Series)
        values = read_series(column, where, key) if is_series else read_array_column(column, where)
        kind = decide_column_kind(key, summarise_column(values), len(values), is_alone=False, linear=True)
        if kind.kind in ("number", "date", "duration"):
            numbers[key] = (to_numbers(values if kind.reader is None else kind.reader(values)), kind.reader)
        elif kind.kind in ("label", "boolean"):
            labels[key] = list_answers(column, str(key))
        else:
            unused[key] = kind.kind
    warn_of_unused_kinds(unused)
    is_missing = {key: np.isnan(values) for key, (values, _) in numbers.items()}
    is_missing |= {key: codes == MISSING_CODE for key, (codes, _, _) in labels.items()}
    if not is_missing:
        refuse_few_columns(0)
    n = len(next(iter(is_missing.values())))
    rows = _find_rows(is_missing, missing, n)
    share = (np.ones(n) if weights is None else check_weights(weights, n, "sample_weight"))[rows]
    made: dict[Any, tuple[FeatureColumn, np.ndarray]] = {
        key: _make_label_column(key, own, missing, rows, share) for key, own in labels.items()
    }
    made |= {key: _make_number_column(key, values, reader, rows, share) for key, (values, reader) in numbers.items()}
    constant = [key for key in columns if key in made and _is_constant(*made[key], share)]
    warn_of_constants(constant)
    ordered = [made[key] for key in columns if key in made and key not in constant]
    if len(ordered) < min_columns:
        refuse_few_columns(len(ordered))
    features = ManyColumns(tuple(column for column, _ in ordered), handle_unknown)
    return ReadTable(features, [values for _, values in ordered], rows)


def _make_number_column(
    key: Any, values: np.ndarray, reader: Any, rows: np.ndarray, share: np.ndarray
) -> tuple[NumberColumn, np.ndarray]:
    own = values[rows]
    known = ~np.isnan(own) & (share > 0)
    mean = float(np.average(own[known], weights=share[known])) if known.any() else 0.0
    return NumberColumn(key, mean, reader), own


def _is_constant(column: FeatureColumn, values: np.ndarray, share: np.ndarray) -> bool:
    if isinstance(column, LabelColumn):
        return column.width < 2
    known = values[~np.isnan(values) & (share > 0)]
    return not len(known) or are_equal_ends(known.min(), known.max())


def are_equal_ends(low: float, high: float) -> bool:
    """Say whether the least and the greatest number of a column differ by rounding only."""
    return bool(high - low <= 1e-15 * max(abs(low), abs(high)))


def refuse_few_columns(n: int) -> NoReturn:
    """Say that too few columns vary."""
    raise ValueError(f"X must have at least two columns that vary, got {n}. For two variables use decompose(x, y).")
