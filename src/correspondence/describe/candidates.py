"""Candidates for the words of an axis: what lies at its two ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.feature_extraction.text import CountVectorizer

from correspondence._util.arguments import check_weights, count_observations, take_rows, to_floats
from correspondence._util.labels import MISSING, as_labels, encode_labels, find_labels, name_missing_labels
from correspondence._util.text import one_line
from correspondence.core.column_structure import find_column_kinds
from correspondence.core.functions import LabelFunctions, PrincipalFunctions
from correspondence.data.encoders.columns import Columns, find_only_category
from correspondence.data.encoders.text import MAX_WORDS, WORD_PATTERN, is_text
from correspondence.data.readable_columns import (
    ReadableColumn,
    find_telling_words,
    is_bare_number,
    is_hash,
    read_columns,
)

__all__ = ["OPPOSITE_WORDS", "Candidates", "Ends", "Items", "Word", "collect_items", "find_candidates", "has_beliefs"]

NUMBER_WORDS = ("high", "low", "very low or very high", "medium")
DATE_WORDS = ("late", "early", "very early or very late", "intermediate")
OPPOSITE_WORDS = {
    word: opposite
    for high, low, outer, inner in (NUMBER_WORDS, DATE_WORDS)
    for word, opposite in ((high, low), (low, high), (outer, inner), (inner, outer))
}


@dataclass(frozen=True)
class Word:
    """A word at one end of an axis.

    Attributes
    ----------
    text : str
        The word, on one line and of bounded length.
    value : float
        Where the word lies: the standard coordinate of a label, the mean of f_i over the texts that have a word, or the
        correlation of a column with f_i, negative for "low" and "medium" where "high" and "very low or very high" are
        positive.
    weight : float
        The share of the variance of f_i that the word explains, from 0 to 1.
    """

    text: str
    value: float
    weight: float


@dataclass(frozen=True)
class Ends:
    """Words of one variable at the two ends of an axis, the strongest first.

    Attributes
    ----------
    negative, positive : tuple of Word
        The words at the two ends.
    of_variable : bool
        Whether the words are about the variable itself, as "high" and "low" are if it is one nameless column of
        numbers: `complete_words` adds its name.
    """

    negative: tuple[Word, ...]
    positive: tuple[Word, ...]
    of_variable: bool = False

    def complete_words(self, name: str) -> Ends:
        """Return the same with the name of the variable where it is missing: "high" becomes "high price"."""
        if not self.of_variable:
            return self
        negative, positive = (
            tuple(replace(w, text=f"{w.text} {one_line(name)}") for w in end) for end in self.both_ends
        )
        return Ends(negative, positive)

    @property
    def both_ends(self) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """The words at the negative and at the positive end."""
        return self.negative, self.positive


Part = tuple[list[str], np.ndarray, np.ndarray]  # texts, values and weights
Items = tuple[Any, Any, Any]  # labels, places and priors
MIN_ROWS_WITH_WORD, MIN_SHARE_WITH_WORD = 5, 0.005  # a word must be in so many texts, and in this share of them
MAX_ROWS_SAMPLED = 20_000  # enough for means and correlations
MAX_NAMELESS_COLUMNS = 50  # more are pixels or embeddings, which words say nothing about
MIN_COLUMN_CORRELATION = 0.1  # from here on, a column is named
MIN_BENT_CORRELATION = 0.2  # the same for a column whose extremes lie at one end
MIN_STANDARD_ERRORS = 3.0  # from here on, a word or column is more than noise,
SUFFICIENT_CORRELATION = 0.5  # or from here on, in small samples
STRONGEST_LABEL_SHARE = 0.2  # of the average, which the strongest label of an end has; without one it is the rest
ROUNDING_ERROR = 1e-12
END_SHARE = 0.5  # of the variance on one side of an axis, which its end holds


@dataclass(frozen=True, eq=False)
class Candidates:
    """What could be named, with its place and weight on each axis."""

    texts: list[str]
    values: np.ndarray
    weights: np.ndarray
    least: np.ndarray
    """Below this weight on each axis only the strongest candidate at an end is named."""
    of_variable: bool = False
    strongest_share: float = 0.0
    """The strongest one must have this share of that weight."""

    def find_ends(self, i: int, n_words: int) -> Ends:
        """Find the words at both ends of an axis."""
        return Ends(self._choose_words(i, -1, n_words), self._choose_words(i, 1, n_words), self.of_variable)

    def _choose_words(self, i: int, sign: int, n_words: int) -> tuple[Word, ...]:
        values, weights = self.values[:, i], self.weights[:, i]
        there = np.flatnonzero((values * sign > 0) & (weights > ROUNDING_ERROR))
        order = there[np.argsort(-weights[there], kind="stable")][:n_words]
        least = [(self.strongest_share if rank == 0 else 1) * self.least[i] for rank in range(len(order))]
        named = [j for j, limit in zip(order.tolist(), least, strict=True) if weights[j] >= limit]
        return tuple(Word(self.texts[j], float(values[j]), min(float(weights[j]), 1.0)) for j in named)


def find_candidates(functions: PrincipalFunctions, values: Any, name: str) -> Candidates | None:
    """Find the candidates of one variable; None if words say nothing about it."""
    if isinstance(functions, LabelFunctions):
        return collect_labels(functions.labels, functions.values, functions.mass)
    sample = getattr(functions, "sample", None)
    column = None if sample is None or is_text(sample) else find_labels(sample)
    if column is not None:
        return collect_column_labels(functions, column, name, getattr(functions, "sample_weight", None))
    values = sample if values is None else values
    if values is None or getattr(values, "ndim", 0) > 2 or _has_beliefs_in_labels(functions):
        return None
    n = count_observations(values, name)
    if n > MAX_ROWS_SAMPLED:
        values = take_rows(values, np.sort(np.random.default_rng(0).choice(n, MAX_ROWS_SAMPLED, replace=False)))
    if sp.issparse(values):
        names = name_columns(range(values.shape[1]))
        return None if names is None else collect_indicators(functions(values), sp.csr_array(values) != 0, names)
    if is_text(values):
        return collect_words(functions(values), as_labels(values, name).tolist())
    has_labels = not hasattr(values, "detach") and _takes_labels(functions)  # a tensor has none
    column = find_labels(values) if has_labels else None
    return (
        collect_columns(functions, values, name) if column is None else collect_column_labels(functions, column, name)
    )


def _takes_labels(functions: PrincipalFunctions) -> bool:
    """Tell whether a single column is one of labels, and not of lists, dates or numbers in texts."""
    encoder = getattr(getattr(functions, "features", None), "encoder", None)
    return not isinstance(encoder, Columns) or find_only_category(encoder) is not None


def has_beliefs(functions: PrincipalFunctions) -> bool:
    """Tell whether the functions take a classifier's beliefs."""
    return getattr(getattr(functions, "features", None), "kind", "") == "beliefs"


def _has_beliefs_in_labels(functions: Any) -> bool:
    """Tell whether x are beliefs in the labels of y, which then say it all."""
    return has_beliefs(functions) and functions.features.model is None


def collect_items(items: Items, k: int, name: str) -> Candidates:
    """Collect items that replace a variable, after checking them."""
    if not isinstance(items, tuple | list) or len(items) != 3:
        raise ValueError(f"{name} must be labels, places and prior, got {type(items).__name__}.")
    labels, places = as_labels(items[0], f"The labels of {name}"), to_floats(items[1], f"The places of {name}")
    if places.ndim != 2 or len(places) != len(labels) or places.shape[1] < k:
        raise ValueError(
            f"The places of {name} must have a row for each of {len(labels)} labels and {k} columns, "
            f"got an array of shape {places.shape}."
        )
    return collect_labels(labels, places[:, :k], check_weights(items[2], len(labels), f"The prior of {name}"))


def collect_column_labels(
    functions: PrincipalFunctions, column: np.ndarray, name: str, weights: Any = None
) -> Candidates:
    """Collect the labels of a column."""
    codes, labels = encode_labels(name_missing_labels(column, name), name)
    mass = np.bincount(codes, weights, len(labels))
    return collect_labels(labels, functions(labels), mass)


def collect_labels(labels: np.ndarray, values: np.ndarray, mass: np.ndarray) -> Candidates:
    """Collect labels at their standard coordinates, weighted by their contributions."""
    there = np.isfinite(values).all(axis=1) & (mass > 0)
    values, mass = values[there], mass[there]
    parts = mass[:, None] * values**2
    total = parts.sum(axis=0)
    weights = parts / np.where(total > 0, total, 1)
    texts = [one_line(label) for label in labels[there].tolist()]
    least = np.full(values.shape[1], (1 - ROUNDING_ERROR) / max(1, len(texts)))
    return Candidates(texts, values, weights, least, strongest_share=STRONGEST_LABEL_SHARE)


def collect_words(values: np.ndarray, texts: list[str]) -> Candidates | None:
    """Collect the words of texts."""
    counter = CountVectorizer(binary=True, max_features=MAX_WORDS, token_pattern=WORD_PATTERN)
    try:
        has = counter.fit_transform(texts)
    except ValueError:
        return None  # not a single word
    first = np.zeros(len(texts), dtype=bool)
    first[np.unique(np.array(texts, dtype=object).astype(str), return_index=True)[1]] = True
    words = counter.get_feature_names_out().tolist()
    telling = find_telling_words(words)
    return collect_indicators(values, has[:, telling], [words[i] for i in telling], first)


def collect_indicators(
    values: np.ndarray, has: Any, names: list[Any], is_compared: np.ndarray | None = None
) -> Candidates:
    """Collect words, or indicators of any kind, at the mean of the rows that have them.

    Parameters
    ----------
    values : ndarray of shape (n, d)
        The functions at the rows.
    has : array or sparse array of shape (n, m)
        1 where a row has an indicator.
    names : list
        What the indicators are called.
    is_compared : ndarray of bool of shape (n,), optional
        Which rows tell whether an end differs; by default all. Copies of a text tell nothing new.
    """
    known = np.isfinite(values).all(axis=1)
    values, has = values[known], sp.csr_array(has, dtype=np.float64)[known]
    count = has.sum(axis=0)
    n = len(values)
    least = max(MIN_SHARE_WITH_WORD * n, min(MIN_ROWS_WITH_WORD, n / 4))
    often = np.flatnonzero((count >= least) & (count < n))  # what all rows have says nothing
    # The share of the variance of f_i that an indicator explains: P(word) E[f_i | word]^2 / E[f_i^2].
    means = (has[:, often].T @ values) / count[often, None]
    weights = count[often, None] * means**2 / np.maximum((values**2).sum(axis=0), ROUNDING_ERROR)
    average = weights.sum(axis=0) / max(1, len(often))
    rows = np.arange(n) if is_compared is None else np.flatnonzero(is_compared[known])
    weights = np.where(find_overrepresented(values[rows], has[rows][:, often], means), weights, 0)
    texts = [one_line(names[j]) for j in often]
    return Candidates(texts, means, weights, np.maximum(average, _find_chance_weight(n)))


def find_overrepresented(F: np.ndarray, has: Any, means: np.ndarray) -> np.ndarray:
    """Tell which indicators differ at the end of each axis on whose side they lie, and do not merely lie there.

    The end of an axis is made of the outermost rows that hold half of the variance on that side. An indicator counts
    there if it is more frequent than among all other rows, by a v-test, and more frequent than at the other end.

    Parameters
    ----------
    F : ndarray of shape (n, d)
        The functions at the rows.
    has : sparse array of shape (n, m)
        1 where a row has an indicator.
    means : ndarray of shape (m, d)
        The mean of the functions over the rows that have an indicator.
    """
    n, total = len(F), has.sum(axis=0)
    differs = np.zeros(means.shape, dtype=bool)
    limit = np.sqrt(n * _find_chance_weight(n))
    for i, f in enumerate(F.T):
        ends = [find_end_rows(f * sign) for sign in (1, -1)]
        counts = [has[end].sum(axis=0) for end in ends]
        for own, other, is_there in ((0, 1, means[:, i] > 0), (1, 0, means[:, i] < 0)):
            of_rest = score_difference(counts[own], len(ends[own]), total - counts[own], n - len(ends[own]))
            of_other = score_difference(counts[own], len(ends[own]), counts[other], len(ends[other]))
            differs[:, i] |= is_there & (of_rest >= limit) & (of_other > 0)
    return differs


def find_end_rows(f: np.ndarray) -> np.ndarray:
    """Find the rows with the largest values that hold half of the sum of squares of all positive ones, with ties."""
    order = np.argsort(-f, kind="stable")
    inertia = np.cumsum(np.maximum(f[order], 0) ** 2)
    if not len(f) or not inertia[-1] > 0:
        return order[:0]
    last = f[order[np.searchsorted(inertia, END_SHARE * inertia[-1])]]
    return np.flatnonzero(f >= last - ROUNDING_ERROR * abs(last))


def score_difference(k: np.ndarray, n: int, other_k: np.ndarray, other_n: int) -> np.ndarray:
    """Score by how many standard errors k of n exceeds other_k of other_n, if there were no difference (v-test)."""
    total = max(1, n + other_n)
    p = (k + other_k) / total
    # Variance of a count that is drawn without replacement, divided by n.
    variance = p * (1 - p) * total / (max(1, n) * max(1, other_n))
    difference = k / max(1, n) - other_k / max(1, other_n)
    return difference / np.sqrt(np.where(variance > 0, variance, np.inf))


def _find_chance_weight(n: int) -> float:
    """Return a weight that chance hardly reaches."""
    return min(MIN_STANDARD_ERRORS**2 / max(1, n), SUFFICIENT_CORRELATION**2)


def collect_columns(functions: PrincipalFunctions, values: Any, name: str) -> Candidates | None:
    """Collect numbers by the correlation of their ranks with f_i, and labels, words and items by the rows with them."""
    try:
        columns = read_columns(values, name, find_column_kinds(functions))
    except ValueError:
        return None  # a user's model may take what cannot be put into words here
    columns = [column for column in columns if column.is_told]
    if not columns:
        return None
    F = functions(values)
    known = np.flatnonzero(np.isfinite(F).all(axis=1))
    F, columns = F[known], [column.take_rows(known) for column in columns]
    if len(columns) > 1 and all(is_indicator(column) for column in columns):
        present = sp.hstack([get_indicator(column) for column in columns], format="csr")
        return collect_indicators(F, present, [column.name for column in columns])
    is_nameless = len(columns) == 1 and not columns[0].is_named
    parts = [describe_column(F, column, "" if is_nameless else column.name) for column in columns]
    texts = [text for part in parts for text in part[0]]
    values, weights = (np.vstack([np.empty((0, F.shape[1])), *(part[i] for part in parts)]) for i in (1, 2))
    matters = (weights >= MIN_COLUMN_CORRELATION**2) | (weights == weights.max(axis=0, initial=0))
    weights = np.where(matters & (weights >= _find_chance_weight(len(F))), weights, 0)
    of_variable = is_nameless and columns[0].is_number and not is_class_code(columns[0])
    return Candidates(texts, values, weights, np.full(F.shape[1], MIN_COLUMN_CORRELATION**2), of_variable)


def is_indicator(column: ReadableColumn) -> bool:
    """Tell whether a column says of each row that it has something or not."""
    if column.numbers is not None:
        return set(np.unique(column.numbers).tolist()) <= {0.0, 1.0}
    return column.kind == "boolean" and MISSING not in column.categories


def get_indicator(column: ReadableColumn) -> sp.csr_array:
    """Return 1 for the rows that have what an indicator says, as a column."""
    if column.numbers is not None:
        return sp.csr_array(column.numbers[:, None])
    at = [i for i, text in enumerate(column.categories) if text == "True"]
    return column.has[:, at] if at else sp.csr_array((column.has.shape[0], 1))


def name_columns(keys: Iterable[Any]) -> list[str] | None:
    """Name columns; None where too many have no name."""
    keys = list(keys)
    nameless = [isinstance(key, int | np.integer) for key in keys]
    if sum(nameless) > MAX_NAMELESS_COLUMNS:
        return None
    return [f"column {key}" if no_name else one_line(key) for key, no_name in zip(keys, nameless, strict=True)]


def describe_column(F: np.ndarray, column: ReadableColumn, name: str) -> Part:
    """Describe a column by its numbers, labels, words or items; without a name, it is the whole variable."""
    if column.numbers is not None and not is_class_code(column):
        return describe_number_column(F, column.numbers, name, DATE_WORDS if column.kind == "date" else NUMBER_WORDS)
    if column.numbers is not None:
        known = np.isfinite(column.numbers)
        codes = np.unique(column.numbers[known])
        texts, has, F = [f"{code:g}" for code in codes], column.numbers[known, None] == codes, F[known]
    else:
        texts, has = list(column.categories), column.has
        is_text = column.kind == "text"
        telling = find_telling_words(texts) if is_text else [i for i, text in enumerate(texts) if not is_hash(text)]
        texts, has = [texts[i] for i in telling], has[:, telling]
    found = collect_indicators(F, has, texts)
    sign = " = " if column.kind in ("label", "boolean") else ": "
    named = [one_line(f"{name}{' ' if is_bare_number(text) else sign}{text}", 60) for text in found.texts]
    return named if name else found.texts, found.values, found.weights


def is_class_code(column: ReadableColumn) -> bool:
    """Tell whether a column has two whole numbers, such as 0 and 1, which name classes rather than amounts."""
    if column.numbers is None or column.kind != "number":
        return False
    codes = np.unique(column.numbers[np.isfinite(column.numbers)])
    return len(codes) == 2 and not (codes % 1).any()


def describe_number_column(F: np.ndarray, column: np.ndarray, name: str, words: Sequence[str]) -> Part:
    """Describe a column as high and low, or as extreme and medium; by ranks, as units and outliers must not matter."""
    known = np.isfinite(column)
    F, column = F[known], column[known]
    rank = rankdata(column) / max(1, len(column))
    middle = (rank.min(initial=1) + rank.max(initial=0)) / 2
    straight, bent = (_correlate_with_column(F, part) for part in (rank, np.abs(rank - middle)))
    is_bent = (np.abs(bent) >= MIN_BENT_CORRELATION) & (np.abs(bent) > 1.5 * np.abs(straight))
    texts = [f"{word} {name}".rstrip() for word in words]
    values = np.array([straight, -straight, bent, -bent])
    return texts, values, values**2 * np.array([~is_bent, ~is_bent, is_bent, is_bent])


def _correlate_with_column(F: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Correlate each function with a column; 0 where one of them is constant."""
    if not len(column):
        return np.zeros(F.shape[1])
    F, column = F - F.mean(axis=0), column - column.mean()
    scale = np.sqrt((F**2).sum(axis=0) * (column**2).sum())
    return np.clip(column @ F / np.where(scale > ROUNDING_ERROR, scale, np.inf), -1, 1)
