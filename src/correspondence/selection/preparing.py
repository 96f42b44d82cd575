"""What is done to pairs before methods race: rare labels are merged, as far as held-out pairs agree."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from correspondence._util.arguments import as_frame, check_whole
from correspondence._util.text import short_repr
from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.core.decomposition import Decomposition
from correspondence.core.functions import LabelFunctions, PrincipalFunctions
from correspondence.core.given.functions_given import FunctionsGiven
from correspondence.data.counting import MIN_PAIRS, count_columns, take_apart
from correspondence.data.encoders.columns import Columns
from correspondence.data.encoders.single_column import Category
from correspondence.data.rare_labels import (
    RareLabels,
    describe_merged,
    find_rare_labels,
    list_rare,
    merge_labels,
    merge_table,
)
from correspondence.data.table import Table
from correspondence.results.comparison import MethodResult, pick_simplest
from correspondence.selection.method_registry import METHODS, PairsProfile, list_sensible_methods
from correspondence.selection.race import FEW_FOLDS, Contest

__all__ = [
    "PreparedLabels",
    "check_min_count",
    "merge_for_tests",
    "merge_rare_labels",
    "merge_rare_of_table",
    "prepare_contest",
]

LABEL_METHODS = ("ca", "ridge-ca")
MIN_COUNTS = (5, 2)  # tried by default, from few levels to many; 1 merges nothing
MIN_UNIQUE_LABELS = 2  # labels that occur once; a single one would be merged with nothing
MIN_RARE_LABELS = 10  # of a column: fewer can do little harm, and are left alone by default


@dataclass(frozen=True, eq=False)
class PreparedLabels:
    """Which rare labels of pairs are merged.

    Attributes
    ----------
    min_count : int
        Labels that occur fewer times are merged.
    x, y : dict of RareLabels
        The rare labels of each column of labels of both variables.
    is_chosen : bool
        Whether `min_count` was chosen by held-out pairs.
    """

    min_count: int = 1
    x: Mapping[Any, RareLabels] = field(default_factory=dict)
    y: Mapping[Any, RareLabels] = field(default_factory=dict)
    is_chosen: bool = False

    @classmethod
    def from_contest(cls, contest: Contest, min_count: int, least: int = 1) -> PreparedLabels:
        """Find the rare labels of pairs, in columns that have at least so many of them."""
        pairs = contest.pairs
        sides = ((pairs.x, contest.X), (pairs.y, contest.Y))
        x, y = (find_rare_labels(side.encoder, values, pairs.n, min_count) for side, values in sides)
        # One of several columns of a frame has one type: the level of rare labels can only join labels that are texts.
        x, y = (
            {key: own for key, own in rare.items() if _has_one_column(values, name) or _are_texts(own.labels)}
            for rare, values, name in ((x, contest.X, "X"), (y, contest.Y, "Y"))
        )
        if least > 1:  # by default a column that would become constant is left alone
            x, y = ({k: own for k, own in s.items() if len(own.labels) >= least and own.n_levels > 1} for s in (x, y))
        return cls(min_count, x, y)

    @classmethod
    def from_table(cls, table: Table, min_count: int, least: int = 1) -> PreparedLabels:
        """Find the rare rows and columns of a table, if there are at least so many of them."""
        sides: list[dict[Any, RareLabels]] = []
        for labels, axis in ((table.rows, 1), (table.columns, 0)):
            totals = np.asarray(table.counts.sum(axis=axis)).ravel()
            rare = list_rare(dict(zip(labels.tolist(), totals.tolist(), strict=True)), min_count)
            is_few = rare is None or len(rare.labels) < least or (least > 1 and rare.n_levels < 2)
            sides.append({} if rare is None or is_few else {0: rare})
        return cls(min_count, sides[0], sides[1])

    @property
    def merges(self) -> bool:
        """Whether anything is merged."""
        return bool(self.x or self.y)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was merged, in sentences."""
        why = ", which captures no less of held-out pairs" if self.is_chosen else ""
        sides = (("x", self.x), ("y", self.y))
        return tuple(f"{describe_merged(rare, self.min_count, name)}{why}." for name, rare in sides if rare)

    def merge_pairs(self, X: Any, Y: Any) -> tuple[Any, Any]:
        """Return the pairs with merged labels."""
        return merge_labels(X, self.x, "X"), merge_labels(Y, self.y, "Y")

    def merge_counts(self, table: Table) -> Table:
        """Return the table with merged rows and columns."""
        return merge_table(table, self.x.get(0), self.y.get(0)) if self.merges else table

    def teach_labels(self, d: Decomposition) -> Decomposition:
        """Let the functions of merged labels take the labels themselves."""
        return replace(d, f=_teach_functions(d.f, self.x), g=_teach_functions(d.g, self.y)) if self.merges else d


def _has_one_column(values: Any, name: str) -> bool:
    frame = as_frame(values, name)
    return frame is None or frame.shape[1] == 1


def _are_texts(labels: Sequence[Any]) -> bool:
    return all(isinstance(label, str) for label in labels)


def _teach_functions(functions: Any, rare: Mapping[Any, RareLabels]) -> PrincipalFunctions:
    """Let functions give rare labels the value of the level that stands for them."""
    if not rare:
        return functions
    if isinstance(functions, FunctionsGiven):
        return replace(functions, functions=_teach_functions(functions.functions, rare))  # type: ignore[arg-type]
    if isinstance(functions, LabelFunctions):
        own = next(iter(rare.values()))
        return replace(functions, merged=(own.other, *own.labels))
    encoder = getattr(functions.features, "encoder", None)
    if not isinstance(encoder, Columns):
        return functions
    columns = {
        key: replace(column, merged=[rare[key].other, *rare[key].labels])
        if key in rare and isinstance(column, Category) and rare[key].other in column.labels
        else column
        for key, column in encoder.columns.items()
    }
    return replace(functions, features=replace(functions.features, encoder=replace(encoder, columns=columns)))


def check_min_count(min_count: Any) -> Any:
    """Return "auto" or a whole number of at least 1, or raise an error."""
    if isinstance(min_count, str):
        if min_count != "auto":
            raise ValueError(f'min_count must be "auto" or a whole number, got {short_repr(min_count)}.')
        return min_count
    return check_whole(min_count, "min_count", 1)


def prepare_contest(
    contest: Contest, table: Table | None, min_count: Any, method: str
) -> tuple[PreparedLabels, Contest, Table | None]:
    """Merge the rare labels of pairs, and of the table that counts them if there is one.

    Parameters
    ----------
    contest : Contest
        The pairs, and how methods are judged by them.
    table : Table, optional
        The table from which the pairs were taken.
    min_count, method
        These are parameters of `merge_rare_labels`.
    """
    if table is None:
        prepared = merge_rare_labels(contest, min_count, method)
        X, Y = prepared.merge_pairs(contest.X, contest.Y)
    else:
        prepared = merge_rare_of_table(table, contest, min_count, method)
        table = prepared.merge_counts(table)
        X, Y = take_apart(table) if prepared.merges else (contest.X, contest.Y)
    if not prepared.merges:
        return prepared, contest, table
    return prepared, replace(contest, X=X, Y=Y, pairs=PairsProfile.from_data(X, Y)), table


def merge_for_tests(given: Contest, prepared: Contest, min_count: Any) -> tuple[Any, Any]:
    """Return the pairs that are tested: with the labels merged that were asked for, or else those that occur once.

    How far labels are merged by default is chosen by the same pairs, and a test would promise too much after that. What
    occurs once says nothing about dependence on its own, and counts alone decide what that is.

    Parameters
    ----------
    given, prepared : Contest
        The pairs before and after labels were merged.
    min_count : int or "auto"
        What was asked for.
    """
    if min_count != "auto":
        return prepared.X, prepared.Y
    return PreparedLabels.from_contest(given, 2, MIN_RARE_LABELS).merge_pairs(given.X, given.Y)


def merge_rare_labels(contest: Contest, min_count: Any, method: str = "auto") -> PreparedLabels:
    """Find the rare labels to merge: those asked for, or by default as many as held-out pairs agree to.

    If only one variable is a column of labels, or if there are given variables, those that occur once are merged by
    default. Otherwise, of two columns of labels,
    the fewest levels are taken that do not capture clearly less than the best: functions of merged labels are functions
    of the labels, so what they capture can be compared.

    Parameters
    ----------
    contest : Contest
        The pairs, and how methods are judged by them.
    min_count : int or "auto"
        Merge labels that occur fewer times.
    method : str
        The method that will be fitted, or "auto".
    """
    if method in LABEL_METHODS:
        return _merge_plain_labels(contest, min_count, method)
    if min_count != "auto":
        sides = [side.encoder for side in (contest.pairs.x, contest.pairs.y)]
        single = [isinstance(encoder, Columns) and len(encoder.columns) == 1 for encoder in sides]
        return _check_levels(PreparedLabels.from_contest(contest, min_count), single)
    if not contest.pairs.are_labels or contest.given is not None:
        return _merge_unique_labels(contest)
    candidates = [PreparedLabels.from_contest(contest, k, MIN_RARE_LABELS) for k in MIN_COUNTS]
    return _choose_preparation(contest, candidates, method)


def _merge_unique_labels(contest: Contest) -> PreparedLabels:
    """Find the labels that occur once, on a side that is one column of labels.

    Such a label is in the fit or among the held-out pairs, never in both: nothing that it says can be checked, and two
    similar rows with a label each are enough for a component of their own, which comes first and holds nowhere else.
    Labels that occur more often are left alone: methods for other variables hold them back as far as they should, and
    what merging costs is decided by so few pairs that held-out pairs cannot tell (docs/how-much-dependence.md).
    """
    own = PreparedLabels.from_contest(contest, 2, MIN_UNIQUE_LABELS)
    x, y = ({} if side.labels is None else rare for side, rare in ((contest.pairs.x, own.x), (contest.pairs.y, own.y)))
    return replace(own, x=x, y=y) if x or y else PreparedLabels()


def _merge_plain_labels(contest: Contest, min_count: Any, method: str) -> PreparedLabels:
    """Find the rare labels for methods that take every value as a label, numbers too."""
    table = count_columns(contest.X, contest.Y)
    if min_count != "auto":
        return _check_levels(PreparedLabels.from_table(table, min_count), [True, True])
    candidates = [PreparedLabels.from_table(table, k, MIN_RARE_LABELS) for k in MIN_COUNTS]
    return _choose_preparation(contest, candidates, method)


def merge_rare_of_table(table: Table, contest: Contest | None, min_count: Any, method: str = "auto") -> PreparedLabels:
    """Find the rare rows and columns of a table to merge, as `merge_rare_labels` does.

    Parameters
    ----------
    table : Table
        The table of counts.
    contest : Contest, optional
        The pairs that it counts, as `take_apart` lists them; without them only what is asked for is merged.
    min_count, method
        These are parameters of `merge_rare_labels`.
    """
    if min_count != "auto":
        return _check_levels(PreparedLabels.from_table(table, min_count), [True, True])
    if contest is None:
        return PreparedLabels()
    # Pairs are listed by positions of labels; those of a large table are a sample, whose counts are smaller.
    share = contest.pairs.n / table.total
    candidates = {k: PreparedLabels.from_table(table, k, MIN_RARE_LABELS) for k in MIN_COUNTS}
    listed = [PreparedLabels.from_contest(contest, max(2, round(k * share)), MIN_RARE_LABELS) for k in MIN_COUNTS]
    possible = [replace(own, min_count=k) for k, own in zip(MIN_COUNTS, listed, strict=True) if candidates[k].merges]
    chosen = _choose_preparation(contest, possible, method)
    return replace(candidates[chosen.min_count], is_chosen=True) if chosen.merges else chosen


def _check_levels(preparation: PreparedLabels, are_single: Sequence[bool]) -> PreparedLabels:
    """Raise an error if a variable of a single column would become constant."""
    for side, is_single, name in zip((preparation.x, preparation.y), are_single, "XY", strict=True):
        if is_single and any(rare.n_levels < 2 for rare in side.values()):
            raise ValueError(
                f"min_count must leave at least one label of {name} as it is, got {preparation.min_count}. "
                "Use a smaller number."
            )
    return preparation


def _choose_preparation(contest: Contest, candidates: Sequence[PreparedLabels], method: str) -> PreparedLabels:
    """Choose the candidate with the fewest levels that does not capture clearly less than the best."""
    possible = [own for own in candidates if own.merges]
    if not possible or contest.pairs.n < MIN_PAIRS:
        return PreparedLabels()
    tried = {own.min_count: own for own in (*possible, PreparedLabels())}
    judged = {k: result for k, own in tried.items() if (result := _judge_preparation(contest, own, method))}
    if not judged:
        return PreparedLabels()
    chosen = tried[int(pick_simplest({str(k): result for k, result in judged.items()}))]
    return replace(chosen, is_chosen=chosen.merges)


def _judge_preparation(contest: Contest, preparation: PreparedLabels, method: str) -> MethodResult | None:
    """Judge what the best of the simple methods captures of held-out pairs with merged labels."""
    X, Y = preparation.merge_pairs(contest.X, contest.Y)
    with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning):
        pairs = PairsProfile.from_data(X, Y)
        names = _list_judges(pairs, method)
        parts = contest.split_pairs()[:FEW_FOLDS]
        limit = contest.pairs.max_components_compared
        results = replace(contest, X=X, Y=Y, pairs=pairs).judge_all(names, parts, None, limit)
    return max(results, key=lambda result: result.captured, default=None)


def _list_judges(pairs: PairsProfile, method: str) -> list[str]:
    """List simple methods by which merging is judged: that asked for, or the simplest ones."""
    simple = [name for name in list_sensible_methods(pairs) if not METHODS[name].is_costly]
    if method in (*simple, *LABEL_METHODS):
        return [method]
    return simple if pairs.are_labels else simple[:1]
