"""Words that an axis could be described by: labels, words of texts, columns, each with its place on the axes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.feature_extraction.text import CountVectorizer

from correspondence._util.arguments import check_weights, length, take, to_floats
from correspondence._util.labels import as_labels, encode, find_labels
from correspondence._util.text import one_line
from correspondence.core.functions import LabelFunctions, PrincipalFunctions
from correspondence.data.encoders.columns import columns_of
from correspondence.data.encoders.text import WORD, WORDS, is_text
from correspondence.describe.words import OPPOSITE, Ends, Word

__all__ = [
    "BENT",
    "COLUMN",
    "ENOUGH",
    "LITTLE",
    "NAMELESS",
    "RARE",
    "RARE_SHARE",
    "ROWS",
    "SURE",
    "Candidates",
    "Items",
    "Part",
    "find_candidates",
    "has_beliefs",
]

Part = tuple[list[str], np.ndarray, np.ndarray]  # texts, values and weights
RARE, RARE_SHARE = 5, 0.005  # texts or rows that must have a word or label, as a number and as a share
Items = tuple[Any, Any, Any]  # labels, places and priors
ROWS = 20_000  # are enough for means and correlations
NAMELESS = 50  # columns without names, beyond which they are pixels or embeddings that words say nothing about
COLUMN = 0.1  # correlation from which a column is named
BENT = 0.2  # the same of a column whose extremes lie at one end
SURE = 3.0  # standard errors from which a word or column is more than noise,
ENOUGH = 0.5  # or correlation, in small samples
LITTLE = 1e-12  # of an axis: rounding


@dataclass(frozen=True, eq=False)
class Candidates:
    """What could be named, with its place and weight on each axis."""

    texts: list[str]
    values: np.ndarray
    weights: np.ndarray
    least: np.ndarray
    """Weight on each axis below which only the strongest at an end is named."""
    of_variable: bool = False

    def ends(self, i: int, n_words: int) -> Ends:
        """Find the words at both ends of an axis."""
        return Ends(self._end(i, -1, n_words), self._end(i, 1, n_words), self.of_variable)

    def _end(self, i: int, sign: int, n_words: int) -> tuple[Word, ...]:
        values, weights = self.values[:, i], self.weights[:, i]
        there = np.flatnonzero((values * sign > 0) & (weights > LITTLE))
        order = there[np.argsort(-weights[there], kind="stable")][:n_words]
        named = [j for rank, j in enumerate(order.tolist()) if rank == 0 or weights[j] >= self.least[i]]
        return tuple(Word(self.texts[j], float(values[j]), min(float(weights[j]), 1.0)) for j in named)


def find_candidates(functions: PrincipalFunctions, values: Any, name: str) -> Candidates | None:
    """Candidates of one variable, None if words say nothing about it."""
    if isinstance(functions, LabelFunctions):
        return _of_labels(functions.labels, functions.values, functions.mass)
    sample = getattr(functions, "sample", None)
    column = None if sample is None or is_text(sample) else find_labels(sample)
    if column is not None:
        return _of_column(functions, column, name, getattr(functions, "sample_weight", None))
    values = sample if values is None else values
    if values is None or getattr(values, "ndim", 0) > 2 or _is_beliefs(functions):
        return None
    n = length(values, name)
    if n > ROWS:
        values = take(values, np.sort(np.random.default_rng(0).choice(n, ROWS, replace=False)))
    if sp.issparse(values):
        names = _column_names(range(values.shape[1]))
        return None if names is None else _of_indicators(functions(values), sp.csr_array(values) != 0, names)
    if is_text(values):
        return _of_texts(functions(values), as_labels(values, name).tolist())
    column = None if hasattr(values, "detach") else find_labels(values)  # a tensor has no labels
    return _of_table(functions, values, name) if column is None else _of_column(functions, column, name)


def has_beliefs(functions: PrincipalFunctions) -> bool:
    """Whether the functions are those of a classifier's beliefs."""
    return getattr(getattr(functions, "features", None), "kind", "") == "beliefs"


def _is_beliefs(functions: Any) -> bool:
    """Whether x are beliefs in the labels of y: then those of y say it all."""
    return has_beliefs(functions) and functions.features.model is None


def collect_items(items: Items, k: int, name: str) -> Candidates:
    if not isinstance(items, tuple | list) or len(items) != 3:
        raise ValueError(f"{name} must be labels, places and prior, got {type(items).__name__}.")
    labels, places = as_labels(items[0], f"The labels of {name}"), to_floats(items[1], f"The places of {name}")
    if places.ndim != 2 or len(places) != len(labels) or places.shape[1] < k:
        raise ValueError(
            f"The places of {name} must have a row for each of {len(labels)} labels and {k} columns, "
            f"got an array of shape {places.shape}."
        )
    return _of_labels(labels, places[:, :k], check_weights(items[2], len(labels), f"The prior of {name}"))


def _of_column(functions: PrincipalFunctions, column: np.ndarray, name: str, weights: Any = None) -> Candidates:
    codes, labels = encode(column, name)
    mass = np.bincount(codes, weights, len(labels))
    return _of_labels(labels, functions(labels), mass)


def _of_labels(labels: np.ndarray, values: np.ndarray, mass: np.ndarray) -> Candidates:
    """Labels at their standard coordinates, weighted by their contributions."""
    there = np.isfinite(values).all(axis=1) & (mass > 0)
    values, mass = values[there], mass[there]
    weights = _shares(mass[:, None] * values**2)
    texts = [one_line(label) for label in labels[there].tolist()]
    return Candidates(texts, values, weights, np.full(values.shape[1], (1 - LITTLE) / max(1, len(texts))))


def _shares(parts: np.ndarray) -> np.ndarray:
    """Parts of each axis as shares of their sum."""
    total = parts.sum(axis=0)
    return parts / np.where(total > 0, total, 1)


def _of_texts(values: np.ndarray, texts: list[str]) -> Candidates | None:
    counter = CountVectorizer(binary=True, max_features=WORDS, token_pattern=WORD)
    try:
        has = counter.fit_transform(texts)
    except ValueError:
        return None  # not a single word
    return _of_indicators(values, has, counter.get_feature_names_out().tolist())


def _of_indicators(values: np.ndarray, has: Any, names: list[Any]) -> Candidates:
    """Words, or indicators of any kind, at the mean of those that have them."""
    known = np.isfinite(values).all(axis=1)
    values, has = values[known], sp.csr_array(has, dtype=np.float64)[known]
    count = has.sum(axis=0)
    often = np.flatnonzero((count >= _often(len(values))) & (count < len(values)))  # what all have tells nothing
    means = (has[:, often].T @ values) / count[often, None]
    weights = count[often, None] * means**2 / np.maximum((values**2).sum(axis=0), LITTLE)
    average = weights.sum(axis=0) / max(1, len(often))
    return Candidates([one_line(names[j]) for j in often], means, weights, np.maximum(average, _noise(len(values))))


def _often(n: int) -> float:
    """Rows that must have a word."""
    return max(RARE_SHARE * n, min(RARE, n / 4))


def _noise(n: int) -> float:
    """Weight that chance hardly gives."""
    return min(SURE**2 / max(1, n), ENOUGH**2)


def _of_table(functions: PrincipalFunctions, values: Any, name: str) -> Candidates | None:
    """Columns of numbers by the correlation of their ranks with f_i, columns of labels by their labels."""
    try:
        columns = columns_of(values, name)
    except ValueError:
        return None  # a model of your own may take what cannot be put into words here, such as missing values
    names = _column_names(columns)
    if names is None:
        return None
    F = functions(values)
    known = np.isfinite(F).all(axis=1)
    F, data = F[known], [column[known] for column in columns.values()]
    if len(data) > 1 and all(_is_indicator(column) for column in data):
        return _of_indicators(F, np.column_stack([column.astype(float) for column in data]), names)
    is_nameless = len(data) == 1 and names == ["column 0"]
    parts = [
        _of_categories(F, column, text)
        if column.dtype == object
        else _of_numbers(F, column, "" if is_nameless else text)
        for column, text in zip(data, names, strict=True)
    ]
    texts = [text for part in parts for text in part[0]]
    values, weights = (np.vstack([np.empty((0, F.shape[1])), *(part[i] for part in parts)]) for i in (1, 2))
    matters = (weights >= COLUMN**2) | (weights == weights.max(axis=0, initial=0))
    weights = np.where(matters & (weights >= _noise(len(F))), weights, 0)
    return Candidates(texts, values, weights, np.full(F.shape[1], COLUMN**2), is_nameless)


def _column_names(keys: Iterable[Any]) -> list[str] | None:
    """Names of columns, None where there are too many without one."""
    keys = list(keys)
    nameless = [isinstance(key, int | np.integer) for key in keys]
    if sum(nameless) > NAMELESS:
        return None
    return [f"column {key}" if no_name else one_line(key) for key, no_name in zip(keys, nameless, strict=True)]


def _is_indicator(column: np.ndarray) -> bool:
    return set(column.tolist()) <= {0, 1}  # True and False as well


def _of_numbers(F: np.ndarray, column: np.ndarray, name: str) -> Part:
    """High and low, or extreme and middling; ranks, so that neither units nor outliers matter."""
    rank = rankdata(column) / len(column)
    straight, bent = (_correlations(F, part) for part in (rank, np.abs(rank - (rank.min() + rank.max()) / 2)))
    is_bent = (np.abs(bent) >= BENT) & (np.abs(bent) > 1.5 * np.abs(straight))
    texts = [f"{word} {name}".rstrip() for word in OPPOSITE]
    values = np.array([straight, -straight, bent, -bent])
    return texts, values, values**2 * np.array([~is_bent, ~is_bent, is_bent, is_bent])


def _correlations(F: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Of each function with a column; 0 where one of them is constant."""
    F, column = F - F.mean(axis=0), column - column.mean()
    scale = np.sqrt((F**2).sum(axis=0) * (column**2).sum())
    return np.clip(column @ F / np.where(scale > LITTLE, scale, np.inf), -1, 1)


def _of_categories(F: np.ndarray, column: np.ndarray, name: str) -> Part:
    codes, labels = encode(column, name)
    found = _of_indicators(F, sp.csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes))), labels.tolist())
    return [one_line(f"{name} = {text}", 60) for text in found.texts], found.values, found.weights
