"""What an axis separates, in words, and what a colleague would say about a decomposition.

Each variable has candidates: labels, words of texts, columns of tables. A candidate has a place on each axis and a
weight, the share of the variance of f_i (or g_i) that it explains. Those that weigh most are named at the two ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.feature_extraction.text import CountVectorizer

from correspondence._util.arguments import check_weights, check_whole, length, take, to_floats
from correspondence._util.labels import as_labels, encode, find_labels
from correspondence._util.text import one_line
from correspondence.core.decomposition import Decomposition, as_decomposition
from correspondence.core.functions import LabelFunctions, PrincipalFunctions
from correspondence.data.encoders import WORD, WORDS, columns_of, is_text
from correspondence.results.held_out import find_judged

__all__ = ["AxisWords", "Ends", "Word", "axis_words", "sentences"]

ROWS = 20_000  # are enough for means and correlations
NAMELESS = 50  # columns without names, beyond which they are pixels or embeddings that words say nothing about
SHOWN = 3  # words of each group in a sentence
RARE, RARE_SHARE = 5, 0.005  # texts or rows that must have a word or label, as a number and as a share
COLUMN = 0.1  # correlation from which a column is named
BENT = 0.2  # the same of a column whose extremes lie at one end
SURE = 3.0  # standard errors from which a word or column is more than noise,
ENOUGH = 0.5  # or correlation, in small samples
LITTLE = 1e-12  # of an axis: rounding
ALPHA = 0.05  # of a test that has none of its own
OPPOSITE = {"high": "low", "low": "high", "extreme": "middling", "middling": "extreme"}
MIRRORED = "the opposite"
LIST = r"[,;]|\b(and|from)\b"  # what makes a text look like several ones
STRENGTHS = ((0.1, "hardly"), (0.3, "weakly"), (0.5, "moderately"), (0.8, "strongly"))
ONE = 0.99995  # is written as 1
CLOSE = 0.995  # correlation from which two functions are all but the same
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
BY_HEART = 0.05, 0.15  # by which training correlations are above held-out ones: little, and much

Items = tuple[Any, Any, Any]  # labels, places and priors


@dataclass(frozen=True)
class Word:
    """A word at one end of an axis.

    Attributes
    ----------
    text : str
        On one line and of bounded length.
    value : float
        Where it lies: the standard coordinate of a label, the mean of f_i over the texts that have a word, or the
        correlation of a column with f_i, negative for "low" and "middling" where "high" and "extreme" are positive.
    weight : float
        Share of the variance of f_i that it explains, from 0 to 1.
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
    of_variable : bool
        Whether the words speak of the variable itself, as "high" and "low" do if it is one nameless column of numbers:
        `named` completes them.
    """

    negative: tuple[Word, ...]
    positive: tuple[Word, ...]
    of_variable: bool = False

    def named(self, name: str) -> Ends:
        """The same with the name of the variable where it is missing: "high" becomes "high price"."""
        if not self.of_variable:
            return self
        negative, positive = (tuple(replace(w, text=f"{w.text} {one_line(name)}") for w in end) for end in self._both)
        return Ends(negative, positive)

    @property
    def _both(self) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        return self.negative, self.positive


@dataclass(frozen=True)
class AxisWords:
    """What an axis separates.

    Attributes
    ----------
    axis : int
        From 1.
    x, y : Ends or None
        None for a variable that words say nothing about, such as images.
    """

    axis: int
    x: Ends | None
    y: Ends | None

    def named(self, names: Sequence[str] = ("x", "y")) -> AxisWords:
        """The same with the names of the variables where they are missing: see `Ends.named`."""
        x, y = (end and end.named(name) for end, name in zip((self.x, self.y), _checked(names), strict=True))
        return replace(self, x=x, y=y)

    def sentence(self, names: Sequence[str] = ("x", "y")) -> str:
        """Say it: what lies at the negative end, then at the positive one; first words of y, those of x in brackets.

        Parameters
        ----------
        names : pair of str
            What the two variables are called.

        Returns
        -------
        str
            With at most three words of each variable at each end.
        """
        return f"Axis {self.axis} {self._predicate(names)}."

    def _predicate(self, names: Sequence[str]) -> str:
        negative, positive = self._groups(names)
        if not (negative or positive):
            return "has no words at its ends"
        return f"separates {negative or positive} from {positive if negative and positive else 'the rest'}"

    def _groups(self, names: Sequence[str]) -> tuple[str, str]:
        """What lies at the two ends, empty where there are no words."""
        words, (x, y) = self.named(names), _checked(names)
        in_brackets, outside = _phrases(words.x, x), _phrases(words.y, y)
        return _group(outside[0], in_brackets[0]), _group(outside[1], in_brackets[1])


def axis_words(
    d: Any,
    X: Any = None,
    Y: Any = None,
    *,
    x_items: Items | None = None,
    y_items: Items | None = None,
    n_words: int = 6,
    max_axes: int = 10,
) -> list[AxisWords]:
    """Find the words for the two ends of each axis.

    Labels are named by their contributions, words of texts and indicators by the mean of f_i over those that have
    them, columns of numbers by the correlation of their ranks with f_i, or of the distances of the ranks from the
    middle one ("extreme", "middling") if that is clearly stronger. Labels and words that contribute less than the
    average are left out unless they are the strongest of their end, and columns with a correlation below 0.1 unless
    they are the strongest of all, so that a clear axis has few words; so is what may be chance.

    Parameters
    ----------
    d : Decomposition or fitted estimator
        Whose axes.
    X, Y : array-like, frame, sparse matrix, list of texts, optional
        Values of the two variables. Not needed for labels, nor for Y where the decomposition keeps it. Columns of
        arrays are called by their number, from 0; of more than 50 such columns, as of images, nothing is said.
    x_items, y_items : tuple of labels, places of shape (m, d) and prior of shape (m,), optional
        Replace a variable, for example by the tags of a `CrossModalIndex`.
    n_words : int
        At most, at each end.
    max_axes : int
        At most.

    Returns
    -------
    list of AxisWords

    Examples
    --------
    >>> import correspondence as co
    >>> from correspondence.describe.axis_words import axis_words
    >>> ca = co.CA().fit(co.datasets.load_housetasks())
    >>> words = axis_words(ca)[0]
    >>> words.sentence(("task", "who does it"))
    'Axis 1 separates Wife (Laundry, Main_meal) from Husband (Repairs, Driving).'
    >>> words.y.positive
    (Word(text='Husband', value=1.576, weight=0.542),)
    """
    d = as_decomposition(d)
    check_whole(n_words, "n_words", 1)
    k = min(d.n_components, check_whole(max_axes, "max_axes", 1))
    sides = [
        _candidates(functions.truncate(k), values, name)
        if items is None
        else _of_items(items, k, f"{name.lower()}_items")
        for functions, values, items, name in ((d.f, X, x_items, "X"), (d.g, Y, y_items, "Y"))
    ]
    x, y = ([None if side is None else side.ends(i, n_words) for i in range(k)] for side in sides)
    return [AxisWords(i + 1, x[i], y[i]) for i in range(k)]


# --- candidates


@dataclass(frozen=True, eq=False)
class _Candidates:
    """What could be named, with its place and weight on each axis."""

    texts: list[str]
    values: np.ndarray
    weights: np.ndarray
    least: np.ndarray
    """Weight on each axis below which only the strongest at an end is named."""
    of_variable: bool = False

    def ends(self, i: int, n_words: int) -> Ends:
        return Ends(self._end(i, -1, n_words), self._end(i, 1, n_words), self.of_variable)

    def _end(self, i: int, sign: int, n_words: int) -> tuple[Word, ...]:
        values, weights = self.values[:, i], self.weights[:, i]
        there = np.flatnonzero((values * sign > 0) & (weights > LITTLE))
        order = there[np.argsort(-weights[there], kind="stable")][:n_words]
        named = [j for rank, j in enumerate(order.tolist()) if rank == 0 or weights[j] >= self.least[i]]
        return tuple(Word(self.texts[j], float(values[j]), min(float(weights[j]), 1.0)) for j in named)


def _candidates(functions: PrincipalFunctions, values: Any, name: str) -> _Candidates | None:
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


def _has_beliefs(functions: PrincipalFunctions) -> bool:
    return getattr(getattr(functions, "features", None), "kind", "") == "beliefs"


def _is_beliefs(functions: Any) -> bool:
    """Whether x are beliefs in the labels of y: then those of y say it all."""
    return _has_beliefs(functions) and functions.features.model is None


def _of_items(items: Items, k: int, name: str) -> _Candidates:
    if not isinstance(items, tuple | list) or len(items) != 3:
        raise ValueError(f"{name} must be labels, places and prior, got {type(items).__name__}.")
    labels, places = as_labels(items[0], f"The labels of {name}"), to_floats(items[1], f"The places of {name}")
    if places.ndim != 2 or len(places) != len(labels) or places.shape[1] < k:
        raise ValueError(
            f"The places of {name} must have a row for each of {len(labels)} labels and {k} columns, "
            f"got an array of shape {places.shape}."
        )
    return _of_labels(labels, places[:, :k], check_weights(items[2], len(labels), f"The prior of {name}"))


def _of_column(functions: PrincipalFunctions, column: np.ndarray, name: str, weights: Any = None) -> _Candidates:
    codes, labels = encode(column, name)
    mass = np.bincount(codes, weights, len(labels))
    return _of_labels(labels, functions(labels), mass)


def _of_labels(labels: np.ndarray, values: np.ndarray, mass: np.ndarray) -> _Candidates:
    """Labels at their standard coordinates, weighted by their contributions."""
    there = np.isfinite(values).all(axis=1) & (mass > 0)
    values, mass = values[there], mass[there]
    weights = _shares(mass[:, None] * values**2)
    texts = [one_line(label) for label in labels[there].tolist()]
    return _Candidates(texts, values, weights, np.full(values.shape[1], (1 - LITTLE) / max(1, len(texts))))


def _shares(parts: np.ndarray) -> np.ndarray:
    """Parts of each axis as shares of their sum."""
    total = parts.sum(axis=0)
    return parts / np.where(total > 0, total, 1)


def _of_texts(values: np.ndarray, texts: list[str]) -> _Candidates | None:
    counter = CountVectorizer(binary=True, max_features=WORDS, token_pattern=WORD)
    try:
        has = counter.fit_transform(texts)
    except ValueError:
        return None  # not a single word
    return _of_indicators(values, has, counter.get_feature_names_out().tolist())


def _of_indicators(values: np.ndarray, has: Any, names: list[Any]) -> _Candidates:
    """Words, or indicators of any kind, at the mean of those that have them."""
    known = np.isfinite(values).all(axis=1)
    values, has = values[known], sp.csr_array(has, dtype=np.float64)[known]
    count = has.sum(axis=0)
    often = np.flatnonzero((count >= _often(len(values))) & (count < len(values)))  # what all have tells nothing
    means = (has[:, often].T @ values) / count[often, None]
    weights = count[often, None] * means**2 / np.maximum((values**2).sum(axis=0), LITTLE)
    average = weights.sum(axis=0) / max(1, len(often))
    return _Candidates([one_line(names[j]) for j in often], means, weights, np.maximum(average, _noise(len(values))))


def _often(n: int) -> float:
    """Rows that must have a word."""
    return max(RARE_SHARE * n, min(RARE, n / 4))


def _noise(n: int) -> float:
    """Weight that chance hardly gives."""
    return min(SURE**2 / max(1, n), ENOUGH**2)


def _of_table(functions: PrincipalFunctions, values: Any, name: str) -> _Candidates | None:
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
    return _Candidates(texts, values, weights, np.full(F.shape[1], COLUMN**2), is_nameless)


def _column_names(keys: Iterable[Any]) -> list[str] | None:
    """Names of columns, None where there are too many without one."""
    keys = list(keys)
    nameless = [isinstance(key, int | np.integer) for key in keys]
    if sum(nameless) > NAMELESS:
        return None
    return [f"column {key}" if no_name else one_line(key) for key, no_name in zip(keys, nameless, strict=True)]


def _is_indicator(column: np.ndarray) -> bool:
    return set(column.tolist()) <= {0, 1}  # True and False as well


Part = tuple[list[str], np.ndarray, np.ndarray]  # texts, values and weights


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


# --- sentences


def _checked(names: Sequence[str]) -> tuple[str, str]:
    if isinstance(names, str) or len(names) != 2:
        raise ValueError(f"names must be two texts, for x and y, got {names!r}.")
    return one_line(names[0]), one_line(names[1])


def _group(outside: list[str], in_brackets: list[str]) -> str:
    if not (outside and in_brackets) or outside == in_brackets == [MIRRORED]:
        return _and(_quoted(outside or in_brackets, LIST))
    return f"{_and(_quoted(outside, LIST + '|[()]'))} ({', '.join(_quoted(in_brackets, '[,;]'))})"


def _phrases(ends: Ends | None, name: str) -> tuple[list[str], list[str]]:
    """The first words of the two ends; those of the second are not repeated if they are the opposite of the first."""
    if ends is None:
        return [], []
    negative, positive = ([word.text for word in end[:SHOWN]] for end in ends._both)
    is_opposite = len(negative) > 1 and [_opposite(text) for text in negative] == positive
    return _told(negative, name), [MIRRORED] if is_opposite else _told(positive, name)


def _opposite(text: str) -> str | None:
    first, _, rest = text.partition(" ")
    return f"{OPPOSITE[first]} {rest}".rstrip() if first in OPPOSITE else None


def _told(texts: list[str], name: str) -> list[str]:
    """Bare numbers are preceded by the name of their variable."""
    if texts and all(re.fullmatch(r"-?\d+(\.\d+)?", text) for text in texts):
        return [f"{name} {texts[0]}", *texts[1:]]
    return texts


def _and(texts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def _quoted(texts: list[str], mistakable: str) -> list[str]:
    """Texts, in quotes where they would be mistaken for several words or for the end of a bracket."""
    is_clear = [not re.search(mistakable, text) and text.count("(") == text.count(")") for text in texts]
    return [text if clear else '"' + text.replace('"', "'") + '"' for text, clear in zip(texts, is_clear, strict=True)]


def sentences(d: Any, words: Sequence[AxisWords], held_out: Any = None, names: Sequence[str] = ("x", "y")) -> list[str]:
    """Say how strong the dependence is, what the axes mean, and how far to trust it.

    Parameters
    ----------
    d : Decomposition or fitted estimator
        What was found.
    words : sequence of AxisWords
        From `axis_words`; those of the first two axes are used, if they hold on held-out pairs.
    held_out : HeldOut, CrossFit, LatentDimension or PermutationTest, optional
        What is left on pairs that the fit has not seen.
    names : pair of str
        What the two variables are called.

    Returns
    -------
    list of str
        Three sentences; fewer if there are no words, or nothing that they could speak of.

    Examples
    --------
    >>> import correspondence as co
    >>> from correspondence.describe.axis_words import axis_words, sentences
    >>> ca = co.CA().fit(co.datasets.load_smoke())
    >>> for sentence in sentences(ca, axis_words(ca), names=("staff", "smoking")):
    ...     print(sentence)
    Staff and smoking depend on each other weakly: the first pair of functions has a correlation of 0.27 on the
    training pairs.
    Axis 1 separates medium (JE) from none (SE); axis 2 separates light (JE) from heavy (JM, SM).
    Nothing was held out, so these figures are those of the training and too high.
    """
    d, called = as_decomposition(d), _checked(names)
    if not d.n_components:
        return [f"Nothing was found that {called[0]} and {called[1]} have in common."]
    verdict = _Verdict.of(d, held_out)
    told = [w for w in words[: min(2, verdict.holding)] if any(w._groups(called))]
    meaning = "; ".join(f"axis {w.axis} {w._predicate(called)}" for w in told)
    strength = verdict.strength(called)
    if len(called[0]) > 1:  # a letter is a symbol
        strength = strength[0].upper() + strength[1:]
    return [strength, *([f"A{meaning[1:]}."] if told else []), verdict.trust()]


@dataclass(frozen=True, eq=False)
class _Verdict:
    """What an object says about held-out pairs, whichever it is."""

    correlations: np.ndarray
    training: np.ndarray
    is_held_out: bool
    holding: int
    """Leading components that hold on held-out pairs, or all if nothing is known."""
    intervals: np.ndarray | None = None
    level: float = 0.95
    pvalues: np.ndarray | None = None
    alpha: float = ALPHA
    may_be_more: bool = False
    captured: float = 0.0
    is_crossfit: bool = False
    of_beliefs: bool = False
    """Whether the fit is what a classifier believes, of which no pairs are known."""

    @classmethod
    def of(cls, d: Decomposition, held_out: Any) -> _Verdict:
        if held_out is None or not len(held_out.correlations):
            return cls(d.correlations, d.correlations, False, d.n_components, of_beliefs=_has_beliefs(d.f))
        pvalues: Any = getattr(held_out, "pvalues", None)
        intervals: Any = getattr(held_out, "intervals", None)
        alpha = getattr(held_out, "alpha", ALPHA)
        is_there = intervals[:, 0] > 0 if pvalues is None else pvalues <= alpha
        is_judged = intervals is None or bool(find_judged(intervals)[0])
        is_held_out = is_judged and getattr(held_out, "kind", "held-out pairs") == "held-out pairs"
        return cls(
            correlations=held_out.correlations if is_judged else d.correlations,
            training=d.correlations,
            is_held_out=is_held_out,
            holding=int(np.cumprod(is_there).sum()),
            intervals=intervals if is_judged else None,
            level=1 - alpha if hasattr(held_out, "alpha") else getattr(held_out, "level", 0.95),
            pvalues=pvalues,
            alpha=alpha,
            may_be_more=getattr(held_out, "at_least", False),
            captured=getattr(held_out, "captured", 0.0),
            is_crossfit=pvalues is None and hasattr(held_out, "training"),
            of_beliefs=_has_beliefs(d.f) and not hasattr(held_out, "training"),
        )

    def strength(self, names: tuple[str, str]) -> str:
        r = float(self.correlations[0])
        believed = "as the classifier believes" if self.of_beliefs else "on the training pairs"
        where = "on pairs that the fit has not seen" if self.is_held_out else believed
        figure = f"the first pair of functions has a correlation of {self._figures()} {where}"
        if r >= CLOSE and self.holding:
            figure += ", so that some function of each is all but known from the other"
        x, y = names
        if not self.holding:
            return f"It is not clear that {x} and {y} depend on each other: {figure}."
        how = next((word for limit, word in STRENGTHS if r < limit), "very strongly")
        if how == "hardly":
            return f"{x} and {y} hardly depend on each other: {figure}."
        return f"{x} and {y} depend on each other {how}: {figure}."

    def _figures(self) -> str:
        """Correlation of the first component with its interval."""
        if self.intervals is None:
            return _figures(self.correlations[0])[0]
        r, low, high = _figures(self.correlations[0], *self.intervals[0])
        return f"{r} ({100 * self.level:g} % {low} to {high})"

    def trust(self) -> str:
        if self.pvalues is None and not self.is_held_out:
            if self.of_beliefs:
                return "Nothing was compared with true classes, so these figures are what the classifier believes."
            return "Nothing was held out, so these figures are those of the training and too high."
        parts = [self._components()]
        if self.captured < 0:
            parts.append("taken together, the components predict new pairs worse than no dependence would")
        elif self.is_held_out and self.holding:
            parts.append(self._beliefs() if self.of_beliefs else self._by_heart())
        elif not self.is_held_out:
            parts.append("the correlations are those of the training and too high")
        return "; ".join(parts) + "."

    def _components(self) -> str:
        k, n = self.holding, len(self.correlations)
        if self.pvalues is not None:
            holds, why = "more than chance", self._p()
        else:
            holds, why = "above 0 on new pairs", f"{100 * self.level:g} % intervals{self._hint()}"
        if k == 0:
            none = {1: "The only component is not", 2: "Neither of the two components is"}
            subject = none.get(n, f"None of the {_count(n)} components is")
            if self.pvalues is None and self.intervals is not None and (self.intervals[:, 0] > 0).any():
                subject = "The first component is not"
            return f"{subject} {holds} ({why}): do not read the axes"
        if k < n:
            others = "the other" if n - k == 1 else "the others"
            first = "first" if k == 1 else f"first {_count(k)}"
            is_are = "is" if k == 1 else "are"
            return f"Only the {first} of {_count(n)} components {is_are} {holds} ({why}): do not read {others}"
        one = "The first component is" if self.may_be_more else "The only component is"
        subject = {1: one, 2: "Both components are"}.get(n, f"All {_count(n)} components are")
        return f"{subject} {holds} ({why})" + (", and there may be more" if self.may_be_more else "")

    def _hint(self) -> str:
        return ", a hint rather than a test" if self.is_crossfit else ""

    def _p(self) -> str:
        assert self.pvalues is not None
        p = self.pvalues[max(self.holding, 1) - 1]
        return f"p = {p:.2g}" if self.holding < 2 else f"p at most {p:.2g}"

    def _beliefs(self) -> str:
        gap = float(self.training[0] - self.correlations[0])
        says = f"the classifier believes in {_figures(self.training[0])[0]} for the first"
        if abs(gap) <= BY_HEART[0]:
            return f"{says}, about what is found"
        return f"{says}, so it is rather too {'sure of itself' if gap > 0 else 'cautious'}"

    def _by_heart(self) -> str:
        gap = float(self.training[0] - self.correlations[0])
        says = f"training says {_figures(self.training[0])[0]} for the first"
        if gap <= BY_HEART[0]:
            return f"{says}, so little was learned by heart"
        if gap <= BY_HEART[1]:
            return f"{says}, so some of it was learned by heart"
        return f"{says}, so much was learned by heart: trust the held-out figures only"


def _figures(*values: float) -> list[str]:
    """Correlations with two digits, or with as many as tell them from 1."""
    digits = next((k for k in (2, 3) if all(f"{abs(v):.{k}f}" < "1" or abs(v) > ONE for v in values)), 4)
    texts = [f"{v:.{0 if abs(v) > ONE else digits}f}" for v in values]
    return [text.removeprefix("-") if float(text) == 0 else text for text in texts]


def _count(n: int) -> str:
    return NUMBERS[n] if n < len(NUMBERS) else str(n)
