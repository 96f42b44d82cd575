"""Numbers and answers of tables in files or engines: three passes for kinds, averages and moments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.text import list_names, short_repr
from correspondence.core.column_features import FeatureColumn, LabelColumn, ManyColumns, NumberColumn
from correspondence.core.feature_moments import compute_feature_moments
from correspondence.core.moments import Moments
from correspondence.data.answers import list_answers
from correspondence.data.column_kinds import ColumnKind, decide_column_kind
from correspondence.data.column_reading import read_series
from correspondence.data.column_summary import Summary, merge_column_summaries, summarise_column
from correspondence.data.pairs.opening import translate_engine_errors
from correspondence.data.pairs.pairs import Pairs
from correspondence.estimators.many.reading import (
    are_equal_ends,
    refuse_few_columns,
    warn_of_constants,
    warn_of_left_out,
    warn_of_unused_kinds,
)
from correspondence.estimators.many.sources import (
    MAX_ANSWERS,
    ReadSource,
    find_source_columns,
    make_counted_column,
    select_active_names,
)

__all__ = ["read_mixed_source"]

SOURCE_POLICIES = ("indicator", "average", "drop", "error")


@dataclass(frozen=True, eq=False)
class _Numbers:
    """The known numbers of a column in the rows that take part."""

    n: int
    total: float
    low: float
    high: float
    n_missing: int

    @classmethod
    def from_values(cls, values: np.ndarray) -> _Numbers:
        known = values[~np.isnan(values)]
        low, high = (known.min(), known.max()) if len(known) else (np.inf, -np.inf)
        return cls(len(known), float(known.sum()), float(low), float(high), len(values) - len(known))

    def __add__(self, other: _Numbers) -> _Numbers:
        low, high = min(self.low, other.low), max(self.high, other.high)
        return _Numbers(self.n + other.n, self.total + other.total, low, high, self.n_missing + other.n_missing)


@dataclass(frozen=True, eq=False)
class _Averages:
    """How many rows there are, how many of them take part, and what their columns hold."""

    rows: int
    used: int
    labels: dict[str, Counter[Any]]
    numbers: dict[str, _Numbers]

    def __add__(self, other: _Averages) -> _Averages:
        labels = {key: own + other.labels[key] for key, own in self.labels.items()}
        numbers = {key: own + other.numbers[key] for key, own in self.numbers.items()}
        return _Averages(self.rows + other.rows, self.used + other.used, labels, numbers)


def read_mixed_source(X: Any, supplementary: Iterable[Any] | None, missing: str, handle_unknown: str) -> ReadSource:
    """Read the columns of numbers and answers of a source.

    Parameters
    ----------
    X : Pairs, path, glob or lazy frame
        All columns are active, of `Pairs` those of x and y.
    supplementary : sequence of names, optional
        These columns are left out.
    missing, handle_unknown : str
        See `MixedCA`; nothing can be imputed in a source.

    Returns
    -------
    ReadSource
        The columns and their moments. Constants, ids and texts are left out, with a warning.
    """
    if missing not in SOURCE_POLICIES:
        raise ValueError(
            f"missing must be one of {', '.join(SOURCE_POLICIES)} for a table that is not in memory, got {missing!r}. "
            "Read the table first."
        )
    source, schema = find_source_columns(X)
    active = select_active_names(list(schema), supplementary)
    pairs = Pairs(source, x=active, y=active[0])
    with translate_engine_errors("X"):
        kinds = _decide_kinds(pairs, active)
        if len(kinds) < 2:
            refuse_few_columns(len(kinds))
        averages: _Averages = pairs.sums(partial(_average_part, kinds, missing), _add_parts, "answers", numbered=False)
        features = ManyColumns(tuple(_make_columns(averages, kinds, missing, schema)), handle_unknown)
        moments = pairs.sums(partial(_sum_part, features, missing), _add_parts, "moments", numbered=False)
    return ReadSource(features, moments)


def _decide_kinds(pairs: Pairs, active: Sequence[str]) -> dict[str, ColumnKind]:
    """Decide from all rows what each column is, and leave out what cannot be used."""
    n, summaries = pairs.sums(_summarise_part, _merge_summaries, "columns", numbered=False) or (0, {})
    if n < 2:
        raise ValueError(f"X must have at least two rows, got {n}.")
    kinds = {name: decide_column_kind(name, own, n, is_alone=False, linear=True) for name, own in summaries.items()}
    used = ("number", "date", "duration", "label", "boolean")
    warn_of_unused_kinds({name: kind.kind for name, kind in kinds.items() if kind.kind not in used})
    return {name: kinds[name] for name in active if kinds[name].kind in used}


def _iterate_columns(table: Any) -> Iterable[nw.Series]:
    return nw.from_native(table, eager_only=True).iter_columns()


def _summarise_part(x: Any, y: Any, number: int) -> tuple[int, dict[str, Summary]]:
    columns = {column.name: column for column in _iterate_columns(x)}
    found = {
        name: summarise_column(read_series(own, f"Column {short_repr(name)} of X", name))
        for name, own in columns.items()
    }
    return len(x), found


def _merge_summaries(parts: list[tuple[int, dict[str, Summary]]]) -> tuple[int, dict[str, Summary]] | None:
    if not parts:
        return None
    merged = {name: merge_column_summaries([own[name] for _, own in parts], name, "X") for name in parts[0][1]}
    return sum(n for n, _ in parts), merged


def _average_part(kinds: Mapping[str, ColumnKind], missing: str, x: Any, y: Any, number: int) -> _Averages:
    """Count the answers and add up the numbers of a part of the rows."""
    columns = {column.name: column for column in _iterate_columns(x)}
    answers = {name: list_answers(columns[name], name) for name, kind in kinds.items() if _holds_labels(kind)}
    values = {
        name: NumberColumn(name, 0.0, kind.reader).read(columns[name])
        for name, kind in kinds.items()
        if not _holds_labels(kind)
    }
    used = np.ones(len(x), dtype=bool)
    if missing == "drop":
        gaps = [own.codes < 0 for own in answers.values()] + [np.isnan(own) for own in values.values()]
        used = ~np.logical_or.reduce(gaps)
    labels = {name: _count_labels(own.codes[used], own.different.tolist()) for name, own in answers.items()}
    numbers = {name: _Numbers.from_values(own[used]) for name, own in values.items()}
    return _Averages(len(x), int(used.sum()), labels, numbers)


def _holds_labels(kind: ColumnKind) -> bool:
    return kind.kind in ("label", "boolean")


def _count_labels(codes: np.ndarray, answers: list[Any]) -> Counter[Any]:
    counts = np.bincount(np.where(codes < 0, len(answers), codes), minlength=len(answers) + 1).tolist()
    pairs = zip([*answers, None], counts, strict=True)
    return Counter({answer: count for answer, count in pairs if count})


def _make_columns(
    averages: _Averages, kinds: Mapping[str, ColumnKind], missing: str, schema: Mapping[str, Any]
) -> list[FeatureColumn]:
    """Make the columns that vary, with the averages that stand for gaps."""
    gone = averages.rows - averages.used
    if gone:
        if not averages.used:
            raise ValueError(
                f'X must have rows without missing values if missing="{missing}", got none. Choose another value.'
            )
        warn_of_left_out(f"{gone:,} of {averages.rows:,} rows are left out: they have missing values.")
    columns: list[FeatureColumn] = []
    constant = []
    for name, kind in kinds.items():
        column = (
            make_counted_column(name, averages.labels[name], missing, schema[name])
            if _holds_labels(kind)
            else _make_number_column(name, averages.numbers[name], missing, kind)
        )
        if column is None or (isinstance(column, LabelColumn) and column.width < 2):
            constant.append(name)
        else:
            columns.append(column)
    warn_of_constants(constant)
    if len(columns) < 2:
        refuse_few_columns(len(columns))
    width = sum(column.width for column in columns)
    if width > MAX_ANSWERS:
        widest = list_names([column.name for column in sorted(columns, key=lambda one: -one.width)], 2)
        raise ValueError(
            f"X must have at most {MAX_ANSWERS:,} answers in all columns together if it is not in memory, got "
            f"{width:,}, most in {widest}. Name columns as supplementary, or read X into memory."
        )
    return columns


def _make_number_column(name: str, numbers: _Numbers, missing: str, kind: ColumnKind) -> NumberColumn | None:
    """Make a column of numbers; None if they do not vary."""
    if missing == "error" and numbers.n_missing:
        raise ValueError(
            f'X must have no missing values if missing="error", got {numbers.n_missing} in column {short_repr(name)}. '
            "Choose another value of missing."
        )
    if not numbers.n or are_equal_ends(numbers.low, numbers.high):
        return None
    return NumberColumn(name, numbers.total / numbers.n, kind.reader)


def _sum_part(features: ManyColumns, missing: str, x: Any, y: Any, number: int) -> Moments:
    """Compute the moments of a part of the rows."""
    arrays = features.read(x)
    if missing == "drop":
        used = ~features.find_gaps(arrays).any(axis=1)
        arrays = [own[used] for own in arrays]
    return compute_feature_moments(features, arrays)


def _add_parts(parts: list[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
