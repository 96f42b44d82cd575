"""What characterises each group of rows, or what goes with a number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from correspondence._util.arguments import (
    as_frame,
    check_index,
    check_seed,
    check_weights,
    count_observations,
    is_number,
    take_rows,
)
from correspondence._util.labels import as_labels
from correspondence._util.text import distinct_lines, list_names, one_line, short_repr
from correspondence.data.answers import MISSING_CODE, Answers, list_answers, split_columns
from correspondence.data.column_kinds import ColumnKind, decide_column_kind
from correspondence.data.column_reading import read_array_column, read_series, to_numbers
from correspondence.data.column_summary import summarise_column
from correspondence.data.readable_columns import NUMBER_KINDS
from correspondence.describe.documents import find_documents
from correspondence.describe.group_figures import GroupedRows, compare_groups
from correspondence.describe.score_figures import compare_scores, count_rows, tabulate_scores
from correspondence.describe.tested_columns import (
    TestedColumn,
    are_cluster_numbers,
    read_tested_columns,
    warn_of_left_out,
)
from correspondence.describe.words import describe_words
from correspondence.results.descriptions import NAMELESS, GroupsDescription
from correspondence.results.score_descriptions import ScoresDescription
from correspondence.results.words import WordsDescription

__all__ = ["describe_groups"]

ADJUSTMENTS = ("fdr", "holm")


def describe_groups(
    frame: Any,
    by: Any,
    *,
    sample_weight: Any = None,
    held_out: Any = None,
    alpha: float = 0.05,
    adjustment: str = "fdr",
    random_state: int = 0,
) -> GroupsDescription | ScoresDescription | WordsDescription:
    """Tell what characterises each group of rows: categories that are more frequent in it, and numbers that are larger.

    A category is tested by the hypergeometric distribution with mid-p-values, a number by the v-test of its mean, and a
    column as a whole by chi-square or analysis of variance. If `by` is a number, the result is what goes with it:
    correlations, analyses of variance and the estimates of categories.

    Parameters
    ----------
    frame : frame or array-like of shape (n, k)
        The table has one row for each observation. A missing answer is an answer of its own, "(missing)"; a missing
        number takes no part in the figures of its column, whose `n` says how many there are. Whole numbers are numbers:
        make text of codes. Of texts in a frame the words are tested, of lists their items. A column counts as texts if
        more than half of its values differ from each other and more than half have several words; other strings are
        answers, or names of rows, which are left out, if there are 20 rows or more and more than half of the values
        differ. Or documents: a list, array, series or one column of texts, however short, or of the lists of their
        words, or counts of words in them as a sparse matrix or a `Table`; then the words of each group are tested, and
        its documents are ranked.
    by : str, array-like of shape (n,) or Clusters
        The groups are the answers in this column of the frame, or these labels, such as those of fitted `Clusters`. For
        documents, many numbers must be cut into ranges.
        Rows without a group are left out, with a warning.
    sample_weight : array-like of shape (n,), optional
        The weights of the rows, of which whole ones are repetitions: counts, means and v-tests are weighted. Counts are
        rounded for p-values. The F of a number in groups takes the number of rows for its degrees of freedom, as in R;
        if `by` is a number, these are weights too. Weights with a sum of at most 1 are scaled to the number of rows.
    held_out : float, frame or (frame, labels), optional
        Compute the same on rows that were not used: this share of the rows, drawn at random, or other rows with the
        same columns; with their labels if `by` is an array. Sentences tell only what holds on them too.
    alpha : float
        Sentences tell what has an adjusted p-value of at most this.
    adjustment : {"fdr", "holm"}
        Adjust the p-values of a table for their number so that the share of false discoveries is controlled (Benjamini
        and Hochberg), or the probability of a single one (Holm).
    random_state : int
        Draw held-out rows with this seed.

    Returns
    -------
    GroupsDescription; ScoresDescription if `by` is a number, WordsDescription of documents
        Tables and sentences.

    Notes
    -----
    In large tables of words those that occur fewer than five times are left out, with a warning. Words count one by
    one, with classical p-values, as in R's descfreq, although those of one document are not independent: hold documents
    out to see what remains.

    The tests take the groups as given. Groups that were made from the same columns, such as clusters, differ in them by
    construction: their p-values rank the columns, but are no evidence that there are groups.

    Examples
    --------
    >>> import correspondence as co
    >>> found = co.describe_groups(co.datasets.load_poison(), "Sex")
    >>> for sentence in found.write_sentences():
    ...     print(sentence)
    Sex = F (28 of 55 rows): nothing tells it from the others.
    Sex = M (27 of 55 rows): nothing tells it from the others.
    """
    check_options(alpha, adjustment)
    is_table = isinstance(by, str) and as_frame(frame, "frame") is not None
    documents = None if is_table else find_documents(frame)
    if documents is not None:
        check_index(frame, by, ("frame", "by"))
        if sample_weight is not None:
            raise ValueError("sample_weight must be None for documents. Multiply the counts by the weights instead.")
        return describe_words(documents, getattr(by, "labels_", by), held_out, alpha, adjustment, random_state)
    given = find_by(frame, by)
    weights = read_weights(sample_weight, len(given.column))
    rows = np.flatnonzero(given.find_known("by") & (weights > 0))
    given = given.take_rows(rows)
    check_several_groups(given)
    columns = read_tested_columns(take_rows(frame, rows), "frame", given.key)
    parts = split_rows(given, columns, weights[rows], held_out, random_state)
    compare = _compare_with_number if given.is_number else _compare_groups
    return compare(given, parts, alpha, adjustment)


class DescribedRows(NamedTuple):
    """Some rows: what they are grouped by, their columns and their weights."""

    by: By
    columns: list[TestedColumn]
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class By:
    """What rows are grouped by, or a number that they are compared with.

    Attributes
    ----------
    name : str
        What it is called.
    key : hashable or None
        The column of the frame that it is, if it is one.
    column : narwhals.Series or ndarray
        The values.
    kind : ColumnKind
        What it is.
    """

    name: str
    key: Any
    column: Any
    kind: ColumnKind

    @property
    def is_number(self) -> bool:
        """Whether it is a number, and not labels."""
        return self.kind.kind in NUMBER_KINDS

    @cached_property
    def values(self) -> np.ndarray:
        """The values as an array: numbers, or labels with None for missing ones."""
        values = _read_values(self.key, self.column)
        if not self.is_number:
            return values
        return to_numbers(values if self.kind.reader is None else self.kind.reader(values))

    @cached_property
    def labels(self) -> Answers:
        """The codes of the rows, and the different labels."""
        return list_answers(self.column, self.name)

    def find_known(self, argument: str) -> np.ndarray:
        """Tell which rows have a value; say how many have not."""
        known = np.isfinite(self.values) if self.is_number else self.labels.codes != MISSING_CODE
        if not known.all():
            what = "number" if self.is_number else "group"
            warn_of_left_out(
                f"{int((~known).sum()):,} of {len(known):,} rows are left out: {argument} has no {what} for them."
            )
        return known

    def take_rows(self, rows: np.ndarray) -> By:
        """Return the values of some rows."""
        return replace(self, column=self.column[rows.tolist() if isinstance(self.column, nw.Series) else rows])


def find_by(frame: Any, by: Any, kind: ColumnKind | None = None) -> By:
    """Find what rows are grouped by: a column of the frame, or given labels."""
    table, n = as_frame(frame, "frame"), count_observations(frame, "frame")
    by = getattr(by, "labels_", by)  # of fitted clusters
    by = _find_own_name(table, by)
    if isinstance(by, str | int | np.integer):
        columns = split_columns(frame, "frame")
        if by not in columns:
            names = list_names(list(columns), 10)
            raise ValueError(f"by must be a column of frame or {n} labels, got {short_repr(by)}. frame has {names}.")
        return make_by(one_line(by), by, columns[by], kind)
    if table is not None and not isinstance(by, np.ndarray | list | tuple):
        check_index(frame, by, ("frame", "by"))
    series = nw.from_native(by, series_only=True, pass_through=True)
    column = series if isinstance(series, nw.Series) else as_labels(by, "by", allow_missing=True)
    if len(column) != n:
        raise ValueError(f"by must have one label for each of the {n} rows of frame, got {len(column)}.")
    own_name = series.name if isinstance(series, nw.Series) else None
    return make_by(one_line(own_name) if isinstance(own_name, str) and own_name else NAMELESS, None, column, kind)


def _find_own_name(table: nw.DataFrame | None, by: Any) -> Any:
    """Return the name of a series that is a column of the frame: it would be told from itself otherwise."""
    series = nw.from_native(by, series_only=True, pass_through=True)
    if table is None or not isinstance(series, nw.Series) or series.name not in table.columns:
        return by
    return series.name if series.to_list() == table[series.name].to_list() else by


def make_by(name: str, key: Any, column: Any, kind: ColumnKind | None) -> By:
    """Decide whether a column has groups or numbers, and refuse what has neither."""
    values = _read_values(name, column)
    if kind is not None:
        return By(name, key, column, kind)
    kind = decide_column_kind(name, summarise_column(values), len(values), is_alone=True)
    made = By(name, key, column, kind)
    if key is None and are_cluster_numbers(values):  # labels of clusters
        made = By(name, key, column, ColumnKind("label"))
    if made.is_number:
        return made
    check_several_groups(made)
    different = len(made.labels.different)
    if different == len(values):
        raise ValueError(
            f"by must have groups with several rows, got {different} groups of one row. Choose fewer groups."
        )
    return made


def check_several_groups(by: By) -> None:
    """Check that there are two groups to be compared, if rows are grouped."""
    if not by.is_number and (different := len(by.labels.different)) < 2:
        raise ValueError(f"by must have at least two groups, got {different} in {by.name!r}. Choose another column.")


def _read_values(key: Any, column: Any) -> np.ndarray:
    is_series = isinstance(column, nw.Series)
    return read_series(column, "by", key) if is_series else read_array_column(column, "by")


def read_weights(sample_weight: Any, n: int) -> np.ndarray:
    """Return the weights of n rows; those that sum to 1 do not say how many rows there are, and are scaled to n."""
    if sample_weight is None:
        return np.ones(n)
    weights = check_weights(sample_weight, n, "sample_weight")
    return weights * (count_rows(weights) / weights.sum())


def check_options(alpha: Any, adjustment: Any) -> None:
    """Refuse a level or an adjustment that is none."""
    if not is_number(alpha) or not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {short_repr(alpha)}.")
    if adjustment not in ADJUSTMENTS:
        raise ValueError(f'adjustment must be "fdr" or "holm", got {short_repr(adjustment)}.')


def split_rows(
    given: By, columns: list[TestedColumn], weights: np.ndarray, held_out: Any, random_state: int
) -> tuple[DescribedRows, DescribedRows | None]:
    """Return the rows that are described, and held-out ones."""
    whole = DescribedRows(given, columns, weights)
    if held_out is None:
        return whole, None
    if is_number(held_out):
        return _draw_rows(whole, held_out, random_state)
    if isinstance(held_out, tuple) and len(held_out) != 2:
        raise ValueError(f"held_out must be a share, a frame or a pair (frame, labels), got {len(held_out)} of them.")
    frame, by = held_out if isinstance(held_out, tuple) else (held_out, given.key)
    if given.key is None and not isinstance(held_out, tuple):
        raise ValueError("held_out must be a pair (frame, labels), because by is an array, got one of them.")
    other = find_by(frame, by, given.kind)
    rows = np.flatnonzero(other.find_known("held_out"))
    other = other.take_rows(rows)
    kinds = {column.name: column.kind for column in columns}
    read = read_tested_columns(take_rows(frame, rows), "held_out", other.key, kinds)
    by_name = {column.name: column for column in read}
    followed = [by_name[column.name].follow_categories(column.categories) for column in columns]
    return whole, DescribedRows(other, followed, np.ones(len(rows)))


def _draw_rows(whole: DescribedRows, share: float, random_state: int) -> tuple[DescribedRows, DescribedRows]:
    """Draw this share of the rows of each group; those of a number, of all rows."""
    if not 0 < share < 1:
        raise ValueError(f"held_out must be a share of the rows between 0 and 1, or other rows, got {share:g}.")
    n = len(whole.weights)
    codes = np.zeros(n, dtype=int) if whole.by.is_number else whole.by.labels.codes
    order = np.lexsort((check_seed(random_state).random(n), codes))
    rank = np.empty(n, dtype=int)
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    rank[order] = np.arange(n) - starts[codes[order]]
    is_held = rank < np.rint(share * np.bincount(codes))[codes]
    if is_held.all() or not is_held.any():
        raise ValueError(f"held_out must leave rows on both sides, got {share:g} of {n} rows. Choose another share.")
    train, test = (
        DescribedRows(
            whole.by.take_rows(rows), [column.take_rows(rows) for column in whole.columns], whole.weights[rows]
        )
        for rows in (np.flatnonzero(~is_held), np.flatnonzero(is_held))
    )
    return train, test


def _compare_groups(
    given: By, parts: tuple[DescribedRows, DescribedRows | None], alpha: float, adjustment: str
) -> GroupsDescription:
    names = distinct_lines(given.labels.different.tolist())
    names = names if len(set(names)) == len(names) else [short_repr(label) for label in given.labels.different.tolist()]
    place = {label: i for i, label in enumerate(given.labels.different.tolist())}
    read = []
    for part in parts:
        if part is None:
            continue
        codes, different, _ = part.by.labels
        own = np.array([place.get(label, -1) for label in different.tolist()])[codes]
        if (own < 0).any():
            warn_of_left_out(f"{int((own < 0).sum()):,} rows of held_out are left out: their groups are others.")
        rows = np.flatnonzero(own >= 0)
        grouping = GroupedRows(given.name, names, own[rows], part.weights[rows])
        read.append(([column.take_rows(rows) for column in part.columns], grouping))
    return compare_groups(*read[0], alpha, adjustment, read[1] if len(read) > 1 else None)


def _compare_with_number(
    given: By, parts: tuple[DescribedRows, DescribedRows | None], alpha: float, adjustment: str
) -> ScoresDescription:
    tables = [
        None if part is None else tabulate_scores(part.columns, part.by.values[:, None], [given.name], part.weights)
        for part in parts
    ]
    own, other = parts
    if not own.by.values.max() > own.by.values.min():
        raise ValueError(f"by must have at least two groups, got one value in {given.name!r}. Choose another column.")
    n_held_out = 0.0 if other is None else float(other.weights.sum())
    sizes = {"n": float(own.weights.sum()), "n_held_out": n_held_out}
    return compare_scores(tables[0] or {}, [given.name], alpha, adjustment, tables[1], **sizes)
