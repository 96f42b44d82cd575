"""Encoders of one column: numbers, dates, labels, lists and texts, each as some columns of numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.extmath import randomized_svd

from correspondence._util.labels import MISSING, label_from_json, label_to_json, sort_labels
from correspondence._util.text import short_repr
from correspondence.data.column_reading import ItemList, find_missing, to_numbers
from correspondence.data.encoders.text import WORD_PATTERN
from correspondence.data.text_readers import TextReader, is_missing_marker

__all__ = [
    "OTHER",
    "Category",
    "ColumnEncoder",
    "Dates",
    "Indicated",
    "Items",
    "Linear",
    "NormalScores",
    "Number",
    "Parsed",
    "Words",
    "column_from_state",
    "column_to_state",
]

OTHER = "(other)"  # the level of rare labels in a column that has many
MAX_LINEAR_DEVIATIONS = 3.5  # robust standard deviations; values beyond are compressed by a logarithm
MAX_ITEMS = 100  # items of lists with an indicator each
MIN_ROWS_PER_ITEM = 2  # rows that have an item, if it has an indicator
MAX_WORDS = 2000  # words that are counted in one of several columns
N_TEXT_COMPONENTS = 30  # principal components of the words of such a column
DAYS_PER_YEAR = 365.2425
MIN_YEARS_FOR_SEASON = 1.5  # dates over a shorter time show a trend only


class ColumnEncoder(ABC):
    """An encoder of one column; a missing value is the mean of the others, with an indicator if the fit had some."""

    type: str

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of encoded columns."""

    @property
    def coordinates(self) -> np.ndarray:
        """Which encoded columns are numbers that functions may bend; the others are taken as they are."""
        return np.ones(self.width, dtype=bool)

    @abstractmethod
    def __call__(self, column: np.ndarray) -> np.ndarray | sp.csr_array:
        """Encode a column as `columns_of` reads it."""


class NumberEncoder(ColumnEncoder):
    """An encoder of a column of numbers as one column."""

    width = 1

    def __call__(self, column: np.ndarray) -> np.ndarray:
        """Encode numbers; a missing one is 0, which is the middle of the others."""
        if column.dtype.kind == "M":
            raise ValueError("must hold numbers, as in the fit, got dates.")
        values = to_numbers(column)
        encoded = self.scale_numbers(values)
        return np.where(np.isnan(values), 0, encoded)[:, None]

    @abstractmethod
    def scale_numbers(self, values: np.ndarray) -> np.ndarray:
        """Bring numbers to a common scale."""


@dataclass(frozen=True)
class Number(NumberEncoder):
    """A column of numbers: robustly standardised, logarithmic beyond `MAX_LINEAR_DEVIATIONS`."""

    center: float
    scale: float
    type: str = "number"

    @classmethod
    def fit(cls, values: np.ndarray) -> Number:
        """Find the middle and the spread of numbers."""
        low, center, high = np.quantile(values, [0.25, 0.5, 0.75])
        if high > low:
            return cls(float(center), float((high - low) / 1.349))
        away = np.abs(values - center)
        return cls(float(center), float(np.median(away[away > 0])))

    def scale_numbers(self, values: np.ndarray) -> np.ndarray:  # noqa: D102
        with np.errstate(over="ignore"):
            t = np.clip((values - self.center) / self.scale, -1e100, 1e100)
        beyond = np.maximum(np.abs(t) - MAX_LINEAR_DEVIATIONS, 0)
        return np.sign(t) * (np.minimum(np.abs(t), MAX_LINEAR_DEVIATIONS) + np.log1p(beyond))


@dataclass(frozen=True)
class NormalScores(NumberEncoder):
    """A column of numbers with heavy tails: the normal quantile of the rank, which no monotone map changes."""

    points: list[float]
    scores: list[float]
    type: str = "scores"

    @classmethod
    def fit(cls, values: np.ndarray) -> NormalScores:
        """Find the ranks of at most 1,000 of the numbers."""
        n = len(values)
        ordered = np.sort(values)
        points = np.unique(np.quantile(ordered, np.linspace(0, 1, min(n, 1000)), method="nearest"))
        rank = (np.searchsorted(ordered, points) + np.searchsorted(ordered, points, side="right")) / 2
        return cls(points.tolist(), ndtri(rank / n).tolist())

    def scale_numbers(self, values: np.ndarray) -> np.ndarray:  # noqa: D102
        return np.interp(values, self.points, self.scores)


@dataclass(frozen=True)
class Linear(NumberEncoder):
    """A column of numbers: shifted and scaled."""

    center: float
    scale: float
    type: str = "linear"

    @classmethod
    def fit(cls, values: np.ndarray) -> Linear:
        """Find the mean and the standard deviation of numbers."""
        middle = 2 * np.median(values / 2)
        largest = np.abs(values / 2 - middle / 2).max() * 2  # so that squares neither overflow nor vanish
        unit = (values - middle) / largest
        return cls(float(middle + largest * unit.mean()), float(largest * unit.std()))

    def scale_numbers(self, values: np.ndarray) -> np.ndarray:  # noqa: D102
        return (values - self.center) / self.scale


@dataclass(frozen=True)
class Indicated(ColumnEncoder):
    """A column with missing values: an indicator of them beside what is there."""

    inner: ColumnEncoder
    type: str = "indicated"

    @property
    def width(self) -> int:  # noqa: D102
        return self.inner.width + 1

    @property
    def coordinates(self) -> np.ndarray:  # noqa: D102
        return np.append(self.inner.coordinates, False)

    def __call__(self, column: np.ndarray) -> np.ndarray:  # noqa: D102
        inner = self.inner(column)
        dense = inner.toarray() if isinstance(inner, sp.csr_array) else inner
        return np.column_stack([dense, find_missing(column)])


@dataclass(frozen=True)
class Parsed(ColumnEncoder):
    """A column of texts that stand for something else."""

    reader: TextReader
    inner: ColumnEncoder
    type: str = "parsed"
    is_unknown_accepted: bool = False
    """Whether a text that cannot be read is taken as a missing one, instead of an error."""

    @property
    def width(self) -> int:  # noqa: D102
        return self.inner.width

    @property
    def coordinates(self) -> np.ndarray:  # noqa: D102
        return self.inner.coordinates

    def __call__(self, column: np.ndarray) -> np.ndarray | sp.csr_array:  # noqa: D102
        read = self.reader(column)
        unread = np.flatnonzero(find_missing(read) & ~find_missing(column)).tolist()
        bad = [text for text in (column[i] for i in unread) if not is_missing_marker(text)]
        if bad and not self.is_unknown_accepted:
            raise ValueError(f"has {short_repr(bad[0])}, which cannot be read as a {self.reader.kind}, as in the fit.")
        return self.inner(read)


@dataclass(frozen=True)
class Dates(ColumnEncoder):
    """A column of dates: the trend, and the season, the weekday and the time of day where they vary.

    Season and time of day are points on a circle; the weekdays after Monday have an indicator each.
    """

    trend: dict[str, Any]
    """The state of the encoder of the days since 1970."""
    parts: list[str]
    type: str = "dates"
    WIDTHS: ClassVar[dict[str, int]] = {"season": 2, "weekday": 6, "time": 2}

    @classmethod
    def fit(cls, dates: np.ndarray) -> Dates:
        """Find the trend, and what else varies."""
        days = to_numbers(dates)
        days = days[~np.isnan(days)]
        whole = np.floor(days)
        has_season = (
            np.ptp(days) > MIN_YEARS_FOR_SEASON * DAYS_PER_YEAR and len(np.unique(_find_day_of_year(whole))) > 1
        )
        has_weekday = len(np.unique(whole)) > 7 and len(np.unique((whole + 3) % 7)) > 1 and not _are_first_days(whole)
        varies = {"season": has_season, "weekday": has_weekday, "time": len(np.unique(days - whole)) > 1}
        return cls(asdict(Number.fit(days)), [part for part, does in varies.items() if does])

    @property
    def width(self) -> int:  # noqa: D102
        return 1 + sum(self.WIDTHS[part] for part in self.parts)

    @property
    def coordinates(self) -> np.ndarray:  # noqa: D102
        widths = [self.WIDTHS[part] for part in self.parts]
        return np.concatenate([[True], np.repeat([part != "weekday" for part in self.parts], widths)]).astype(bool)

    def __call__(self, column: np.ndarray) -> np.ndarray:  # noqa: D102
        if column.dtype.kind != "M" and not find_missing(column).all():
            odd = column[~find_missing(column)].tolist()[0]
            raise ValueError(f"must hold dates, as in the fit, got {short_repr(odd)}.")
        days = to_numbers(column)
        known = np.where(np.isnan(days), 0, days)
        whole = np.floor(known)
        parts = {
            "season": lambda: _place_on_circle(_find_day_of_year(whole) / DAYS_PER_YEAR),
            "weekday": lambda: ((whole + 3) % 7)[:, None] == np.arange(1, 7),  # 1970 began on a Thursday
            "time": lambda: _place_on_circle(known - whole),
        }
        encoded = np.column_stack([Number(**self.trend)(days), *(parts[part]() for part in self.parts)])
        encoded[np.isnan(days), 1:] = 0
        return encoded


def _find_day_of_year(days: np.ndarray) -> np.ndarray:
    dates = days.astype("M8[D]")
    return (dates - dates.astype("M8[Y]")).astype(np.float64)


def _are_first_days(days: np.ndarray) -> bool:
    """Say whether all dates are the first of a month, and so stand for the month."""
    dates = days.astype("M8[D]")
    return bool((dates == dates.astype("M8[M]")).all())


def _place_on_circle(share: np.ndarray) -> np.ndarray:
    """Return sine and cosine of a share of the circle, with variance 1 if it is uniform."""
    return np.sqrt(2) * np.column_stack([np.sin(2 * np.pi * share), np.cos(2 * np.pi * share)])


@dataclass(frozen=True)
class Category(ColumnEncoder):
    """A column of labels: one indicator for each label."""

    labels: list[Any]
    shares: list[float]
    """Relative frequencies in the fit, which encode an unknown label where that is accepted."""
    type: str = "category"
    is_unknown_accepted: bool = False
    """Whether a label that was not in the fit is encoded, instead of an error."""
    merged: list[Any] = field(default_factory=list)
    """The level that stands for rare labels, then these, which are encoded as it is; for `OTHER` alone all others."""

    @classmethod
    def fit(cls, counts: dict[Any, int], max_levels: int | None = None) -> Category:
        """Count labels; with `max_levels`, the rarest of more labels share a level."""
        named = {MISSING if label is None else label: count for label, count in counts.items()}
        has_many = max_levels is not None and len(named) > max_levels
        if max_levels is not None and has_many:
            named = merge_rare_labels(named, max_levels)
        labels, n = sort_labels(named), sum(named.values())
        return cls(labels, [named[label] / n for label in labels], merged=[OTHER] if has_many else [])

    @property
    def width(self) -> int:  # noqa: D102
        return len(self.labels)

    @property
    def coordinates(self) -> np.ndarray:  # noqa: D102
        return np.zeros(self.width, dtype=bool)

    def __call__(self, column: np.ndarray) -> sp.csr_array:  # noqa: D102
        codes = self._find_codes(column.tolist())
        unknown = np.flatnonzero(codes < 0)
        is_gone = find_missing(column)[unknown]
        if not self.is_unknown_accepted and not is_gone.all():
            label = short_repr(column.tolist()[unknown[~is_gone][0]])
            raise ValueError(
                f"has the label {label}, which was not in the fit. Leave it out, or use "
                'handle_unknown="missing" to treat it like a missing one.'
            )
        known = np.flatnonzero(codes >= 0)
        shape = (len(codes), self.width)
        rows = sp.csr_array((np.ones(len(known)), (known, codes[known])), shape=shape)
        if not len(unknown):
            return rows
        cells = np.repeat(unknown, self.width), np.tile(np.arange(self.width), len(unknown))
        return rows + sp.csr_array((np.tile(self.shares, len(unknown)), cells), shape=shape)

    def _find_codes(self, values: list[Any]) -> np.ndarray:
        """Find the number of each label, -1 for unknown ones, and for missing ones if these have no level."""
        position = {label: i for i, label in enumerate(self.labels)}
        if self.merged:
            position = dict.fromkeys(self.merged[1:], position[self.merged[0]]) | position
        missing, other = position.get(MISSING, -1), position[OTHER] if self.merged == [OTHER] else -1
        if self.is_unknown_accepted and other < 0:
            other = missing
        try:
            codes = [missing if v is None or v != v else position.get(v, other) for v in values]
        except TypeError as error:
            raise ValueError(f"has a label that cannot be hashed ({error}): use strings or numbers.") from None
        return np.array(codes, dtype=np.intp)


def merge_rare_labels(counts: dict[Any, int], max_levels: int) -> dict[Any, int]:
    """Merge the rarest labels into one level, so that there are as many as allowed."""
    ranked = sorted(counts, key=lambda label: (label != MISSING, -counts[label], str(label)))
    kept = {label: counts[label] for label in ranked[: max_levels - 1]}
    return kept | {OTHER: sum(counts.values()) - sum(kept.values())}


@dataclass(frozen=True)
class Items(ColumnEncoder):
    """A column of lists: one indicator for each frequent item."""

    items: list[str]
    type: str = "items"

    @classmethod
    def fit(cls, counts: dict[ItemList | None, int]) -> Items:
        """Find the items that occur most often."""
        total: Counter[str] = Counter()
        for items, count in counts.items():
            total.update(dict.fromkeys(items or (), count))
        n = sum(counts.values())
        frequent = [item for item, count in total.items() if MIN_ROWS_PER_ITEM <= count < n]
        return cls(sorted(sorted(frequent), key=lambda item: -total[item])[:MAX_ITEMS])

    @property
    def width(self) -> int:  # noqa: D102
        return len(self.items)

    @property
    def coordinates(self) -> np.ndarray:  # noqa: D102
        return np.zeros(self.width, dtype=bool)

    def __call__(self, column: np.ndarray) -> sp.csr_array:  # noqa: D102
        position = {item: i for i, item in enumerate(self.items)}
        lists = [items if isinstance(items, tuple) else () for items in column]  # an empty column may be one of NaN
        cells = [(i, position[item]) for i, items in enumerate(lists) for item in set(items) if item in position]
        rows, columns = np.array(cells, dtype=np.intp).reshape(-1, 2).T
        return sp.csr_array((np.ones(len(cells)), (rows, columns)), shape=(len(column), self.width))


@dataclass(frozen=True, eq=False)
class Words(ColumnEncoder):
    """A column of texts beside others: principal components of the words in them."""

    words: list[str]
    rarity: list[float]
    """The weight of each word: rare ones tell more."""
    components: list[list[float]]
    """One row for each word."""
    type: str = "words"

    @classmethod
    def fit(cls, counts: dict[str | None, int]) -> Words | None:
        """Find the principal components of the words of the different texts; None without words that occur twice."""
        texts = sorted(text for text in counts if text is not None)
        try:
            counter = CountVectorizer(max_features=MAX_WORDS, min_df=2, token_pattern=WORD_PATTERN, binary=True)
            bags = sp.csr_array(counter.fit_transform(texts), dtype=np.float64)
        except ValueError:
            return None
        rarity = np.log(len(texts) / bags.sum(axis=0)) + 1
        rows = weigh_words(bags, rarity)
        _, s, Vt = randomized_svd(rows, min(N_TEXT_COMPONENTS, *rows.shape), n_iter=7, random_state=0)
        components = Vt.T * np.sqrt(len(texts)) / s[0]  # the first has a mean square of 1
        return cls(counter.get_feature_names_out().tolist(), rarity.tolist(), components.round(6).tolist())

    @property
    def width(self) -> int:  # noqa: D102
        return len(self.components[0])

    @property
    def coordinates(self) -> np.ndarray:  # noqa: D102
        return np.zeros(self.width, dtype=bool)

    def __call__(self, column: np.ndarray) -> np.ndarray:  # noqa: D102
        counter = CountVectorizer(vocabulary=self.words, token_pattern=WORD_PATTERN, binary=True)
        bags = sp.csr_array(counter.transform(["" if text is None else str(text) for text in column]), dtype=np.float64)
        return np.asarray(weigh_words(bags, np.array(self.rarity)) @ np.array(self.components))


def weigh_words(bags: sp.csr_array, rarity: np.ndarray) -> sp.csr_array:
    """Weigh words by their rarity, and scale the rows to length 1; empty ones stay empty."""
    rows = sp.csr_array(bags.multiply(rarity))
    length = np.sqrt(rows.multiply(rows).sum(axis=1))
    rows.data /= np.repeat(np.where(length > 0, length, 1), np.diff(rows.indptr))
    return rows


def column_to_state(column: ColumnEncoder) -> dict[str, Any]:
    """Describe an encoder as JSON can hold it."""
    if isinstance(column, Category):
        labels = [label_to_json(label) for label in column.labels]
        state = {"labels": labels, "shares": column.shares, "type": column.type}
        return state | {"merged": [label_to_json(label) for label in column.merged]} if column.merged else state
    if isinstance(column, Indicated):
        return {"inner": column_to_state(column.inner), "type": column.type}
    if isinstance(column, Parsed):
        return {"reader": asdict(column.reader), "inner": column_to_state(column.inner), "type": column.type}
    return asdict(column)  # type: ignore[call-overload]


def column_from_state(state: dict[str, Any]) -> ColumnEncoder:
    """Invert `column_to_state`."""
    if state["type"] == "category":
        labels, merged = ([label_from_json(v) for v in state.get(name, ())] for name in ("labels", "merged"))
        return Category(labels, state["shares"], merged=merged)
    if state["type"] == "indicated":
        return Indicated(column_from_state(state["inner"]))
    if state["type"] == "parsed":
        return Parsed(TextReader(**state["reader"]), column_from_state(state["inner"]))
    classes: tuple[Any, ...] = (Number, NormalScores, Linear, Dates, Items, Words)
    return {cls.type: cls for cls in classes}[state["type"]](**state)
