"""Tables in files or engines: answers and pairs of answers, counted in one pass where the rows are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.labels import MISSING, sort_labels, to_object_array
from correspondence._util.text import list_names, short_repr
from correspondence.core.answer_pairs import AnswerPairs, count_part, merge_parts
from correspondence.core.column_features import FeatureColumn, LabelColumn, ManyColumns
from correspondence.core.moments import Moments
from correspondence.data.answers import Answers, arrange_answers
from correspondence.data.pairs.opening import open_source, translate_engine_errors
from correspondence.data.pairs.pairs import Pairs
from correspondence.estimators.many.ordering import find_orders
from correspondence.estimators.many.reading import MANY_ANSWERS, leave_out_useless, list_given_names, warn_of_left_out

__all__ = [
    "MAX_ANSWERS",
    "ReadSource",
    "find_source_columns",
    "make_counted_column",
    "read_source",
    "select_active_names",
]

SOURCE_POLICIES = ("indicator", "average", "passive", "drop", "error")
MAX_ANSWERS = 3000  # of all columns together, so that the counts of their pairs fit into memory on every worker


@dataclass(frozen=True, eq=False)
class ReadSource:
    """The columns of a source, and the moments of their features."""

    features: ManyColumns
    moments: Moments


def read_source(
    X: Any, supplementary: Iterable[Any] | None, missing: str, handle_unknown: str, ordered: Any = None
) -> ReadSource:
    """Read the columns of answers of a source.

    Parameters
    ----------
    X : Pairs, path, glob or lazy frame
        All columns are active, of `Pairs` those of x and y.
    supplementary : sequence of names, optional
        These columns are left out.
    missing, handle_unknown : str
        See `MCA`; answers cannot be imputed in a source.
    ordered : "auto", None, list of names, or dict from names to levels
        See `MCA`.

    Returns
    -------
    ReadSource
        The columns and their moments. Constants, ids and columns with too many answers are left out, with a warning.
    """
    if missing not in SOURCE_POLICIES:
        raise ValueError(
            f"missing must be one of {', '.join(SOURCE_POLICIES)} for a table that is not in memory, got {missing!r}."
        )
    source, schema = find_source_columns(X)
    active = select_active_names(list(schema), supplementary)
    orders = find_orders(ordered, active)
    while True:
        counts = _count_answers(source, active, missing)
        kept = [j for j in range(len(active)) if j not in counts.given_up]
        columns = [
            make_counted_column(active[j], counts.list_counts(j), missing, schema[active[j]], orders) for j in kept
        ]
        _warn_of_given_up(active, counts)
        useful = leave_out_useless(columns, counts.rows) if columns else []
        if missing != "passive" or len(useful) == len(active):
            break
        active = [columns[j].name for j in useful]  # what a row answered in the others must not count
    useful_columns = [columns[j] for j in useful]
    mapping = _map_answers(counts, dict(zip([kept[j] for j in useful], useful_columns, strict=True)))
    return ReadSource(ManyColumns(tuple(useful_columns), handle_unknown), counts.make_moments(mapping))


def find_source_columns(X: Any) -> tuple[Any, dict[str, Any]]:
    """Return a source, and the names and types of the columns that are meant."""
    source = X.source if isinstance(X, Pairs) else X
    with translate_engine_errors("X"):
        schema = dict(open_source(source, "X").collect_schema())
    if isinstance(X, Pairs):
        sides = [[side] if isinstance(side, str) else list(side) for side in (X.x, X.y)]
        schema = {name: schema[name] for name in dict.fromkeys(sides[0] + sides[1])}
    return source, schema


def select_active_names(names: Sequence[str], supplementary: Iterable[Any] | None) -> list[str]:
    """Return the names of the columns of a source that are not supplementary."""
    wanted = list_given_names(supplementary, "supplementary", "columns")
    absent = [name for name in wanted if name not in names]
    if absent:
        raise ValueError(
            f"supplementary must name columns of X, got {list_names(absent, 5, show=short_repr)}. "
            f"X has {list_names(list(names), 10)}."
        )
    active = [name for name in names if name not in wanted]
    if len(active) < 2:
        raise ValueError(
            f"X must have at least two active columns, got {len(active)}. For two variables use CA().fit(Pairs(...))."
        )
    return active


def _count_answers(source: Any, active: list[str], missing: str) -> AnswerPairs:
    pairs = Pairs(source, x=active, y=active[0])
    count = partial(_count_side, missing, MAX_ANSWERS)
    with translate_engine_errors("X"):
        parts = pairs.sums(count, partial(_merge_sides, MAX_ANSWERS), "answers", numbered=False)
    if not parts or not parts[0].rows:
        raise ValueError(f"X is empty: it has 0 row(s) and {len(active)} column(s).")
    counts: AnswerPairs = parts[0]
    n_complete = round(counts.n)
    if missing == "drop" and n_complete < counts.rows:
        if not n_complete:
            raise ValueError(
                'X must have rows without missing values if missing="drop", got none. Choose another value.'
            )
        warn_of_left_out(
            f"{counts.rows - n_complete:,} of {counts.rows:,} rows are left out: they have missing values."
        )
    return counts


def _count_side(missing: str, limit: int, x: Any, y: Any, number: int) -> list[AnswerPairs]:
    return [count_part(missing, limit, x)]


def _merge_sides(limit: int, parts: Sequence[list[AnswerPairs]]) -> list[AnswerPairs]:
    found = [part for own in parts for part in own]
    return [merge_parts(limit, found)] if found else []


def make_counted_column(
    name: str,
    counts: Mapping[Any, float],
    missing: str,
    dtype: Any,
    orders: Mapping[Any, list[Any] | None] | None = None,
) -> LabelColumn:
    """Make a column of answers.

    Parameters
    ----------
    name : str
        The name of the column.
    counts : dict
        How often each answer occurs; None is a missing one.
    missing : str
        See `MCA`.
    dtype : narwhals.DType
        The type of the column: answers of an enumeration have its order, others are sorted.
    orders : dict, optional
        The levels of columns in order, or None for columns that have an order of their own.

    Returns
    -------
    LabelColumn
        The column with the shares of its answers.
    """
    own = dict(counts)
    n_missing = own.pop(None, 0)
    if missing == "error" and n_missing:
        raise ValueError(
            f'X must have no missing values if missing="error", got {int(n_missing)} in column {short_repr(name)}. '
            "Choose another value of missing."
        )
    is_ordered = isinstance(dtype, nw.Enum)
    answers = [answer for answer in dtype.categories if answer in own] if is_ordered else sort_labels(own)
    if orders is not None and name in orders:
        given = Answers(np.arange(len(answers)), to_object_array(answers), is_ordered)
        answers, is_ordered = arrange_answers(given, orders[name], name).different.tolist(), True
    sizes = [own[answer] for answer in answers]
    if missing == "indicator" and n_missing:
        if MISSING not in answers:
            answers, sizes = [*answers, MISSING], [*sizes, 0]
        sizes[answers.index(MISSING)] += n_missing
    shares = np.array(sizes, dtype=np.float64) / max(sum(sizes), 1)
    names_missing = missing == "indicator" and MISSING in answers
    return LabelColumn(name, to_object_array(answers), shares, is_ordered, missing == "passive", names_missing)


def _warn_of_given_up(active: list[str], counts: AnswerPairs) -> None:
    if not counts.given_up:
        return
    if min(counts.given_up.values()) <= MANY_ANSWERS:
        raise ValueError(
            f"X must have at most {MAX_ANSWERS:,} answers in all columns together if it is not in memory, got more. "
            "Name columns as supplementary, or read X into memory."
        )
    names = [f"{short_repr(active[j])} (at least {size:,})" for j, size in sorted(counts.given_up.items())]
    warn_of_left_out(
        f"Left out, because they have too many answers, as if they were ids: column(s) {list_names(names, 5)}."
    )


def _map_answers(counts: AnswerPairs, columns: dict[int, FeatureColumn]) -> sp.csr_array:
    """Return the matrix that makes the features of the columns of the indicators that were counted."""
    parts: list[sp.sparray] = []
    for j, own in enumerate(counts.answers):
        column = columns.get(j)
        if not isinstance(column, LabelColumn):
            parts.append(sp.csr_array((len(own), 0)))
            continue
        position = {answer: i for i, answer in enumerate(column.answers.tolist())}
        part = sp.lil_array((len(own), column.width))
        for i, answer in enumerate(own):
            if answer is None and not column.names_missing:
                part[i] = column.shares  # the average of the others
            else:
                part[i, position[MISSING if answer is None else answer]] = 1
        parts.append(part)
    return sp.csr_array(sp.block_diag(parts, format="csr"))
