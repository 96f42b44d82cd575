"""Tables in files or engines: answers counted in one pass, moments summed in another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.labels import MISSING, sort_labels, to_object_array
from correspondence._util.text import list_names
from correspondence.core.column_features import LabelColumn, ManyColumns, compute_feature_moments
from correspondence.core.moments import Moments
from correspondence.data.answers import list_answers
from correspondence.data.pairs.opening import open_source, translate_engine_errors
from correspondence.data.pairs.pairs import Pairs

__all__ = ["ReadSource", "read_source"]

SOURCE_POLICIES = ("indicator", "average", "passive", "error")


@dataclass(frozen=True, eq=False)
class ReadSource:
    """The columns of a source, and the moments of their features."""

    features: ManyColumns
    moments: Moments


def read_source(X: Any, supplementary: Iterable[Any] | None, missing: str, handle_unknown: str) -> ReadSource:
    """Read the columns of answers of a source in two passes.

    Parameters
    ----------
    X : Pairs, path, glob or lazy frame
        All columns are active, of `Pairs` those of x and y.
    supplementary : sequence of names, optional
        These columns are left out.
    missing, handle_unknown : str
        See `MCA`; rows cannot be dropped or imputed in a source.

    Returns
    -------
    ReadSource
        The columns and their moments.
    """
    if missing not in SOURCE_POLICIES:
        raise ValueError(f"missing must be one of {', '.join(SOURCE_POLICIES)} for a table that is not in memory.")
    source, names = _find_columns(X)
    passive = set([] if supplementary is None else supplementary)
    active = [name for name in names if name not in passive]
    if len(active) < 2:
        raise ValueError(f"X must have at least two active columns, got {len(active)}: {list_names(active)}.")
    pairs = Pairs(source, x=active, y=active[0])
    counts = pairs.sums(_count_part, _merge_counts, "answers", numbered=False)
    columns = [_make_column(name, own, missing) for name, own in zip(active, counts, strict=True)]
    features = ManyColumns(tuple(column for column in columns if column.width > 1), handle_unknown)
    moments = pairs.sums(partial(_sum_part, features), sum, "moments", numbered=False)
    return ReadSource(features, moments)


def _find_columns(X: Any) -> tuple[Any, list[str]]:
    if isinstance(X, Pairs):
        sides = [[side] if isinstance(side, str) else list(side) for side in (X.x, X.y)]
        return X.source, list(dict.fromkeys(sides[0] + sides[1]))
    with translate_engine_errors("X"):
        return X, open_source(X, "X").collect_schema().names()


def _count_part(x: Any, y: Any, number: int) -> list[Counter[Any]]:
    frame = nw.from_native(x, eager_only=True)
    counted = []
    for column in frame.iter_columns():
        codes, answers, _ = list_answers(column, column.name)
        counts = np.bincount(codes + 1, minlength=len(answers) + 1)
        counted.append(Counter(dict(zip([None, *answers.tolist()], counts.tolist(), strict=True))))
    return counted


def _merge_counts(parts: Sequence[list[Counter[Any]]]) -> list[Counter[Any]]:
    total = [Counter(own) for own in parts[0]]
    for part in parts[1:]:
        for own, more in zip(total, part, strict=True):
            own.update(more)
    return total


def _make_column(name: str, counts: Counter[Any], missing: str) -> LabelColumn:
    n_missing = counts.pop(None, 0)
    if missing == "error" and n_missing:
        raise ValueError(f'Column {name!r} of X has {n_missing} missing values, and missing="error".')
    answers = sort_labels(answer for answer, count in counts.items() if count)
    own = [counts[answer] for answer in answers]
    if missing == "indicator" and n_missing:
        answers, own = [*answers, MISSING], [*own, n_missing]
    shares = np.array(own, dtype=np.float64) / max(sum(own), 1)
    return LabelColumn(name, to_object_array(answers), shares, is_passive=missing == "passive")


def _sum_part(features: ManyColumns, x: Any, y: Any, number: int) -> Moments:
    arrays = features.read(x)
    weights = features.count_given(arrays) / len(features.columns) if features.is_passive else None
    return compute_feature_moments(features, arrays, weights)
