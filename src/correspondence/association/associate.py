"""All pairs of columns of a table: how strongly they go together, and whether it is more than chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list
from scipy.stats import false_discovery_control

from correspondence._util.arguments import check_whole
from correspondence._util.labels import to_object_array
from correspondence._util.progress import make_progress_bar
from correspondence._util.text import list_names, short_repr
from correspondence.association.block_pairs import BlockPairs, WholePairs, make_left_pairs
from correspondence.association.column_rows import MemoryRows, read_rows
from correspondence.association.held_out_pairs import PairScores
from correspondence.association.source_rows import SourceRows, read_source_rows
from correspondence.core.similarity_tree import link_similar
from correspondence.data.copies import DUPLICATES, is_duplicates
from correspondence.data.pairs.pairs import Pairs, is_source
from correspondence.results.associations import Associations

__all__ = ["associations"]

MISSING_POLICIES = ("indicator", "average", "drop", "error")


def associations(
    frame: Any,
    target: Any = None,
    *,
    given: Any = None,
    sample_weight: Any = None,
    cv: int = 5,
    groups: Any = DUPLICATES,
    missing: str = "average",
    alpha: float = 0.05,
    random_state: int = 0,
    progress: bool | None = None,
) -> Associations:
    """Measure how strongly all pairs of columns go together, whatever kind they are, on held-out rows.

    Each column is described by a few functions: indicators of its labels, smooth functions of the ranks of its numbers
    (dates and durations are numbers). For each pair the functions that are most strongly correlated are fitted on the
    training rows and judged on the others. The p-values are those of a permutation test of all functions together,
    computed from its exact moments.

    Parameters
    ----------
    frame : frame, array-like of shape (n, k), Pairs, path, glob or lazy frame
        The columns. Files and lazy frames are read in batches, twice; rows in them that are copies are not noticed.
    target : name, optional
        Compare the other columns with this one only, instead of all pairs.
    given : name, list of names, frame, dictionary of columns or array-like of shape (n, q), optional
        What goes with what once these columns are known: names of columns of `frame`, which are then not compared
        themselves, or other variables of the same rows. What they say of the features of each column is taken away by
        regressions on smooth functions of them, on training rows as on held-out ones, and the p-values are those of
        independence given them.
    sample_weight : array-like of shape (n,), optional
        The weights of the rows must be at least 0. Whole weights are repetitions; of others only the proportions count.
        They cannot be given with a source.
    cv : int
        The number of folds. Which answers are rare and where numbers lie densely is taken from all rows; everything
        that relates two columns is fitted without the held-out rows.
    groups : array-like of shape (n,), "duplicates" or None
        Rows of the same group are held out together, and the p-values count one row of each. By default copies of rows
        are groups.
    missing : {"average", "indicator", "drop", "error"}
        With "average" missing values say nothing: each pair is judged by the rows in which both are given. "indicator"
        makes missing values an answer of their own, for numbers beside the smooth functions, so that two columns also
        go together if they are missing together. "drop" leaves out rows with any missing value, and "error" refuses
        them. Rows in which a given column is missing are left out, unless missing values are an answer.
    alpha : float
        The share of false discoveries that is tolerated among the pairs said to go together.
    random_state : int
        The seed of the folds.
    progress : bool, optional
        Show a progress bar; by default if it takes longer than two seconds.

    Returns
    -------
    Associations
        Matrices of all pairs, a long table, and an order of the columns.

    Warns
    -----
    LeftOut
        If columns are left out (ids, constants, texts, lists, and those that follow from what is given), rows in which
        a given column is missing, or if rare labels share a level.

    Examples
    --------
    >>> import correspondence as co
    >>> co.associations(co.datasets.load_poison().select("Time", "Fever", "Fish", "Mayonnaise", "Sick"), target="Sick")
    Associations of 5 columns (Time, Fever, Fish, Mayonnaise, Sick), 55 rows
      3 of 4 pairs with Sick go together more than chance (false discovery rate 5 %).
      Time goes with Sick: correlation 0.99 on held-out rows; Time tells 97 % of Sick, the other way round 59 %.
      Fever goes with Sick: correlation 0.88 on held-out rows.
      Mayonnaise goes with Sick: correlation 0.49 on held-out rows.
    """
    check_whole(random_state, "random_state", 0, 2**32 - 1)
    if missing not in MISSING_POLICIES:
        raise ValueError(f"missing must be one of {', '.join(MISSING_POLICIES)}, got {short_repr(missing)}.")
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {short_repr(alpha)}.")
    check_whole(cv, "cv", 2)
    rows: MemoryRows | SourceRows
    if is_source(frame):
        check_source_options(frame, given, sample_weight, groups)
        rows = read_source_rows(frame, cv, missing, random_state)
    else:
        rows = read_rows(frame, given, sample_weight, cv, groups, missing, random_state)
    find_target(target, rows)
    pairs: BlockPairs
    if isinstance(rows, MemoryRows) and rows.given is not None:
        rows, pairs = make_left_pairs(rows)
    else:
        pairs = WholePairs(rows)
    return _compare_columns(rows, pairs, target, find_target(target, rows), float(alpha), progress)


def check_source_options(frame: Any, given: Any, sample_weight: Any, groups: Any) -> None:
    """Check that nothing is given for the rows of a table that is not in memory."""
    if given is not None:
        raise ValueError("given must be None for a table that is not in memory. Read it, or a sample of it.")
    if sample_weight is not None or (isinstance(frame, Pairs) and frame.weights is not None):
        raise ValueError("sample_weight must be None for a table that is not in memory. Repeat rows, or read it.")
    if groups is not None and not is_duplicates(groups):
        raise ValueError("groups must be None for a table that is not in memory. Read it into memory.")


def is_hashable(value: Any) -> bool:
    """Tell whether a value can be the name of a column."""
    try:
        hash(value)
    except Exception:  # TypeError, or what a class of the user's raises
        return False
    return True


def find_target(target: Any, rows: MemoryRows | SourceRows) -> int | None:
    """Return the position of the target among the columns."""
    if target is None:
        return None
    names = [own.name for own in rows.columns]
    if not is_hashable(target):
        raise ValueError(f"target must be the name of a column, got {short_repr(target)}.")
    if target in names:
        return names.index(target)
    if rows.given is not None and target in rows.given.inside:
        raise ValueError(f"target must not be given as well, got {short_repr(target)}. Take it out of given.")
    if rows.left_out.get(target) == "given":
        raise ValueError(f"target must not follow from given, got {short_repr(target)}, of which nothing is left.")
    if target in rows.left_out:
        raise ValueError(f"target must be a column that can be compared, got {short_repr(target)}, which is left out.")
    raise ValueError(f"target must be a column of frame, got {short_repr(target)}. It has {list_names(names, 10)}.")


def _compare_columns(
    rows: MemoryRows | SourceRows,
    pairs: BlockPairs,
    target: Any,
    place: int | None,
    alpha: float,
    progress: bool | None,
) -> Associations:
    k = len(rows.columns)
    found = _Matrices.make_empty(k)
    n_pairs = rows.count_pairs()
    has_gap_answer = np.array([own.has_gap_answer(rows.missing) for own in rows.columns])
    inflation = compare_gaps(n_pairs, rows.total_weight, has_gap_answer)
    sources = pairs.blocks if place is None else [pairs.take_column(place)]
    with make_progress_bar(len(sources) * len(pairs.blocks), "pairs of columns", progress) as done:
        for x, y in _pair_blocks(sources, pairs.blocks):
            own = np.ix_(x.columns, y.columns)
            found.set_figures(x.columns, y.columns, *pairs.compare(x, y, inflation[own]))
            done.update()
    found.finish()
    tested = np.triu_indices(k, 1) if place is None else (np.delete(np.arange(k), place), np.full(k - 1, place))
    adjusted = np.full((k, k), np.nan)
    adjusted[tested] = false_discovery_control(found.pvalues[tested])
    adjusted = np.fmax(adjusted, adjusted.T)
    return Associations(
        to_object_array([own.name for own in rows.columns]),
        np.array([own.kind for own in rows.columns]),
        rows.total_weight,
        found.correlations,
        found.captured,
        found.training,
        found.predicted,
        adjusted,
        found.pvalues,
        n_pairs,
        order_columns(found.correlations, place),
        alpha,
        target,
        rows.notes,
        () if rows.given is None else rows.given.names,
    )


def compare_gaps(n_pairs: np.ndarray, n: float, has_gap_answer: np.ndarray) -> np.ndarray:
    """Compare how often both columns of a pair are given with how often each is.

    Parameters
    ----------
    n_pairs : ndarray of shape (k, k)
        The number of rows in which both are given.
    n : float
        The number of all rows.
    has_gap_answer : ndarray of bool of shape (k,)
        The columns in which missing values are an answer, so that there are no gaps.

    Returns
    -------
    inflation : ndarray of shape (k, k)
        How many more rows have both than if gaps were independent, by which squared covariances of independent columns
        are larger than permutations make them.

    Examples
    --------
    >>> n_pairs = np.array([[50.0, 50.0], [50.0, 50.0]])  # missing together
    >>> float(compare_gaps(n_pairs, 100.0, np.array([False, False]))[0, 1])
    2.0
    """
    given = np.where(has_gap_answer, n, np.diagonal(n_pairs))
    both = np.where(has_gap_answer[:, None], given, np.where(has_gap_answer, given[:, None], n_pairs))
    products, known = np.outer(given, given), both > 0
    return np.divide(both * n, products, out=np.ones_like(products), where=known)


def _pair_blocks(sources: Sequence[Any], everything: Sequence[Any]) -> Iterator[Any]:
    """Yield each two blocks once."""
    for i, x in enumerate(sources):
        for y in everything[i:] if sources is everything else everything:
            yield x, y


@dataclass(frozen=True, eq=False)
class _Matrices:
    """The figures of all pairs of columns."""

    correlations: np.ndarray
    captured: np.ndarray
    training: np.ndarray
    predicted: np.ndarray
    pvalues: np.ndarray

    @classmethod
    def make_empty(cls, k: int) -> _Matrices:
        return cls(*(np.full((k, k), np.nan) for _ in range(5)))

    def set_figures(self, x: np.ndarray, y: np.ndarray, scores: PairScores, pvalues: np.ndarray) -> None:
        one, other = np.ix_(x, y), np.ix_(y, x)
        for matrix, own in (
            (self.correlations, scores.correlations),
            (self.captured, scores.captured),
            (self.training, scores.training),
            (self.pvalues, pvalues),
        ):
            matrix[one], matrix[other] = own, own.T
        self.predicted[one], self.predicted[other] = scores.y_from_x, scores.x_from_y.T

    def finish(self) -> None:
        """Give the diagonal its values, and pairs the same figure in both orders, to the last digit."""
        diagonals = (1.0, np.nan, 1.0, np.nan)
        for matrix, own in zip((self.correlations, self.captured, self.training, self.pvalues), diagonals, strict=True):
            upper = np.triu(matrix, 1)
            matrix[:] = upper + upper.T
            np.fill_diagonal(matrix, own)
        np.fill_diagonal(self.predicted, 1.0)


def order_columns(correlations: np.ndarray, place: int | None) -> np.ndarray:
    """Order columns so that those that go together are neighbours; with a target, by their correlation with it."""
    k = len(correlations)
    if place is not None:
        own = np.where(np.arange(k) == place, np.inf, correlations[place])
        return np.argsort(-own, kind="stable")
    if k < 3:
        return np.arange(k)
    return leaves_list(link_similar(correlations))
