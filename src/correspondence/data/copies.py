"""Copies among pairs: rows that repeat another row where chance would hardly have made them equal.

A copy on both sides of a split makes held-out figures too high, because the fit has seen what it is judged on. But rows
also repeat by nature: where x and y are labels, every pair occurs many times. So a repetition counts as a copy only if
it is improbable, by two rules for rows of columns:

1. If the columns were independent, a row like this one would be expected among the others less than once, and as often
   as it is with a probability of at most `MAX_CHANCE`. Frequencies are those among different rows, so that copies do
   not make their own values look frequent.
2. Columns are not independent, and the rows that agree in all columns but one show how often rows agree by nature: if
   column j of two rows that agree otherwise is equal with the probability c, pairs of rows that differ in it alone are
   (1 - c) / c times as many as those that agree in all. There must be clearly more repetitions than that, and than
   rounding explains if a number such as 171.3 determines all other columns (its bin, or the same in inches).

A third rule finds copies of rows of few values, none of which is improbable by itself. However columns depend on each
other, rows drawn independently make the numbers f_t of different rows that occur t times obey t E[f_t]^2 <= (t + 1)
E[f_t-1] E[f_t+1]: where many occur twice, some must occur three times. Copies break this. If they do, and by rule 2
there are more repetitions than explained, all rows that are equal count as copies of each other.

Where rows occur many times on average (`MAX_MEAN_TIMES`), they are values observed again and again, not copies. The
columns of x and y are judged together, and those of one variable alone if most of its rows differ: where a few rows of
x are measured again and again, its repetitions are a design. Two columns of labels are counts and have no copies. Texts
and sparse rows are copies if they have the same words (but for case, punctuation, numbers and marks of replies) and
these are together improbable; images if they are equal. Where variables are given, copies are equal in them too, and
the columns of all three are judged together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from correspondence._util.arguments import as_frame, count_observations, series_to_array, take_rows, to_array
from correspondence._util.text import short_repr
from correspondence.data.answers import list_answers
from correspondence.data.beside_given import BesideGiven, strip_given
from correspondence.data.coincidences import (
    MIN_TIMES_EXPECTED,
    count_explained,
    estimate_chance,
    find_least_chance,
    has_copies_among,
    is_improbable,
)
from correspondence.data.encoders.text import WORD_PATTERN, is_text
from correspondence.data.splits import encode_groups

__all__ = ["DUPLICATES", "Copies", "find_copies", "is_duplicates", "resolve_groups", "take_firsts"]

DUPLICATES = "duplicates"
MAX_MEAN_TIMES = 20.0  # where rows occur more often than this on average, they are values observed many times
FEW_DIFFERENT, MAX_MEAN_TIMES_OF_FEW = 40, 3.0  # the same for so few different rows, whose frequencies say little
MAX_BLOCKS = 20  # columns of wide tables are judged in so many blocks
MIN_WORDS_OF_COPY = 8  # so many different words are improbable whatever they are
REPLY_MARK = re.compile(r"^\s*(?:(?:re|fwd?|aw|wg|sv|antw)(?:\[\d+\])?\s*:\s*)+", re.IGNORECASE)
WORD = re.compile(WORD_PATTERN)
DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, eq=False)
class Copies:
    """Which pairs are copies of each other.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Copies of each other have the same number, all other pairs have one of their own, from 0 on.
    """

    codes: np.ndarray

    @property
    def n_copies(self) -> int:
        """The number of pairs that are a copy of another one."""
        return int((np.bincount(self.codes)[self.codes] > 1).sum()) if len(self.codes) else 0

    @property
    def n_different(self) -> int:
        """The number of different pairs."""
        return int(self.codes.max(initial=-1)) + 1

    @property
    def groups(self) -> np.ndarray | None:
        """The codes, by which pairs are split; None if there are no copies, or nothing else to split."""
        return self.codes if self.n_copies and self.n_different > 1 else None

    @property
    def firsts(self) -> np.ndarray:
        """The position of the first of each group of copies, in the order of the pairs."""
        return np.sort(np.unique(self.codes, return_index=True)[1])

    def describe_number(self) -> str:
        """Say how many copies there are."""
        return f"{self.n_copies:,} of {len(self.codes):,} rows are copies of another row"

    def describe(self) -> str:
        """Say how many copies there are, and what is done with them; "" if there are none."""
        if not self.n_copies:
            return ""
        if self.groups is None:
            return f"{self.describe_number()}, so there is nothing to hold out"
        return f"{self.describe_number()}; copies are kept on one side of every split"


def is_duplicates(groups: Any) -> bool:
    """Tell whether the groups asked for are those of copies."""
    return isinstance(groups, str) and groups == DUPLICATES


def take_firsts(X: Any, Y: Any, codes: np.ndarray | None) -> tuple[Any, Any]:
    """Take one pair of each group of copies; all pairs, as they are, without groups.

    A test that exchanges the partners of all pairs needs pairs that are independent, which copies are not.

    Parameters
    ----------
    X, Y : array-like, frame, ...
        The pairs.
    codes : ndarray of shape (n,), optional
        Copies of each other have the same number.

    Examples
    --------
    >>> take_firsts(["a", "b", "a"], [1, 2, 1], np.array([0, 1, 0]))
    (['a', 'b'], [1, 2])
    """
    if codes is None:
        return X, Y
    rows = Copies(codes).firsts
    return take_rows(X, rows), take_rows(Y, rows)


def resolve_groups(groups: Any, X: Any, Y: Any) -> tuple[np.ndarray | None, Copies | None]:
    """Read the argument `groups`: as numbers from 0, and the copies if these are asked for.

    Parameters
    ----------
    groups : array-like of shape (n,), "duplicates" or None
        Pairs of the same group are never on both sides of a split; "duplicates" makes groups of copies.
    X, Y : array-like, frame, ...
        The pairs, or rows of X alone if Y is None.

    Returns
    -------
    groups : ndarray of shape (n,) or None
        The number of each pair's group; None if there are no groups.
    copies : Copies or None
        The copies, if they make the groups.

    Examples
    --------
    >>> resolve_groups(["Ann", "Bob", "Ann"], [[1.0], [2.0], [3.0]], [4.0, 5.0, 6.0])
    (array([0, 1, 0]), None)
    """
    if groups is None:
        return None, None
    if is_duplicates(groups):
        copies = find_copies(X, Y)
        return copies.groups, copies
    if isinstance(groups, str):
        raise ValueError(f'groups must be "{DUPLICATES}", None or one value for each pair, got {short_repr(groups)}.')
    return encode_groups(groups, count_observations(X, "X"), "groups"), None


def find_copies(X: Any, Y: Any = None) -> Copies:
    """Find the pairs that are copies of each other, by the rules at the head of this module.

    Parameters
    ----------
    X, Y : array-like, frame, list of texts, sparse matrix or array of images
        The pairs, with or without given variables beside them; without Y, the rows of X are judged by all of its
        columns together.

    Returns
    -------
    Copies
        None are found in data that cannot be read: whoever fits to them says what is wrong.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3)); Y = X[:, 0] + rng.normal(size=500)
    >>> again = np.r_[np.arange(500), np.arange(100)]
    >>> find_copies(X, Y).n_copies, find_copies(X[again], Y[again]).n_copies
    (0, 200)
    """
    n = count_observations(X, "X")
    try:
        sides = [
            _read_side(values, name)
            for values, name in ((strip_given(X), "X"), (strip_given(Y), "Y"))
            if values is not None
        ]
        given = _read_side(X.given, "given") if isinstance(X, BesideGiven) else None
    except (TypeError, ValueError, AttributeError, RecursionError):
        return Copies(np.arange(n))
    if isinstance(given, _Rows):
        return Copies(_find_copies_beside(given, sides, n))
    tables = [side for side in sides if isinstance(side, _Rows)]
    alone = [side for side in sides if Y is None or not isinstance(side, _Rows) or side.is_mostly_different]
    found = [side.find_copies() for side in alone]
    if any(len(codes) != n for codes in found):
        return Copies(np.arange(n))
    if len(tables) == 2 and not all(side.is_label for side in tables):
        found.append(_Rows.join(tables).find_copies())
    return Copies(_join_codes(n, found))


def _find_copies_beside(given: _Rows, sides: Sequence[_Rows | _ItemRows | _Pictures], n: int) -> np.ndarray:
    """Find the pairs that are copies of each other, given variables included."""
    tables = [given, *(side for side in sides if isinstance(side, _Rows))]
    others = [side.find_copies() for side in sides if not isinstance(side, _Rows)]
    if others:
        keys = np.column_stack([_join_codes(n, others), _sum_hashes(given.hashes).view(np.int64)])
        return np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    return np.arange(n) if all(side.is_label for side in tables) else _join_codes(n, [_Rows.join(tables).find_copies()])


def _join_codes(n: int, found: Iterable[np.ndarray]) -> np.ndarray:
    """Number the groups of pairs that are connected by any of several codes."""
    links = [(np.flatnonzero(codes != np.arange(n)), codes) for codes in found]
    rows = np.concatenate([np.empty(0, dtype=np.intp), *(own for own, _ in links)])
    if not len(rows):
        return np.arange(n)
    firsts = np.concatenate([codes[own] for own, codes in links])
    graph = sp.coo_array((np.ones(len(rows), dtype=bool), (rows, firsts)), shape=(n, n))
    return connected_components(graph, directed=False)[1].astype(np.intp)


def _link_to_first(keys: np.ndarray, is_copy: np.ndarray) -> np.ndarray:
    """Return for each row the position of the first row with its key, if they are copies; otherwise its own."""
    first, inverse = np.unique(keys, return_index=True, return_inverse=True)[1:]
    return np.where(is_copy, first[inverse], np.arange(len(keys)))


# --- rows of columns


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of one or two tables, as hashes of their columns that are equal where the values are."""

    hashes: list[np.ndarray]
    are_numbers: list[bool]
    least_chances: list[float]
    """How probable two equal values are at least, as numbers are rounded; 0 for labels."""

    @classmethod
    def join(cls, sides: Sequence[_Rows]) -> _Rows:
        hashes = [_mix_bits(h + np.uint64(k)) for k, side in enumerate(sides) for h in side.hashes]
        least_chances = [chance for side in sides for chance in side.least_chances]
        return cls(hashes, [is_number for side in sides for is_number in side.are_numbers], least_chances)

    @property
    def is_label(self) -> bool:
        """Whether this is a single column of labels."""
        return self.are_numbers == [False]

    @property
    def is_mostly_different(self) -> bool:
        """Whether there are several columns, and most rows differ."""
        keys = _sum_hashes(self.hashes)
        return len(self.hashes) > 1 and 2 * len(np.unique(keys)) > len(keys)

    def find_copies(self) -> np.ndarray:
        """Return for each row the position of the first of its copies."""
        keys = _sum_hashes(self.hashes)
        first, inverse, times = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)[1:]
        n, d = len(keys), len(first)
        if d == n or n / d > (MAX_MEAN_TIMES if d >= FEW_DIFFERENT else MAX_MEAN_TIMES_OF_FEW):
            return np.arange(n)
        blocks = [hashes[first] for hashes in self._join_blocks()]
        numbers = [any(part) for part in self._split(self.are_numbers)]
        is_rare = (times > 1) & is_improbable(times, n * estimate_chance(blocks, numbers, d))
        least_chances = [float(np.prod(part)) for part in self._split(self.least_chances)]
        explained = count_explained(keys[first], blocks, times, least_chances)
        pairs = times * (times - 1.0) / 2
        if has_copies_among(times, pairs.sum(), explained):
            return _link_to_first(keys, (times > 1)[inverse])
        if pairs[is_rare].sum() <= MIN_TIMES_EXPECTED * explained:
            return np.arange(n)
        return _link_to_first(keys, is_rare[inverse])

    def _split(self, columns: Sequence[Any]) -> list[list[Any]]:
        """Split columns into the blocks in which they are judged."""
        parts = np.array_split(np.arange(len(columns)), min(MAX_BLOCKS, len(columns)))
        return [[columns[j] for j in part] for part in parts]

    def _join_blocks(self) -> list[np.ndarray]:
        return [_sum_hashes(part) for part in self._split(self.hashes)]


def _sum_hashes(hashes: Sequence[np.ndarray]) -> np.ndarray:
    """Hash rows by the sum of the hashes of their columns, from which a column can be subtracted."""
    total = np.zeros(len(hashes[0]), dtype=np.uint64)
    for h in hashes:
        total += h  # modulo 2^64
    return total


def _mix_bits(values: np.ndarray) -> np.ndarray:
    """Mix the bits of whole numbers, so that sums of them hardly ever agree by chance (the finaliser of splitmix64)."""
    z = values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


# --- texts, sparse rows and images


@dataclass(frozen=True, eq=False)
class _ItemRows:
    """Rows that are sets of words or other items, with a key that is equal for equal rows."""

    keys: np.ndarray
    items: list[Any]
    """The set of items of each row, as a tuple."""

    def find_copies(self) -> np.ndarray:
        """Return for each row the position of the first of its copies."""
        first, inverse, times = np.unique(self.keys, return_index=True, return_inverse=True, return_counts=True)[1:]
        n, d = len(self.keys), len(first)
        if d == n:
            return np.arange(n)
        repeated = np.flatnonzero(times > 1)
        short = {item for i in repeated for item in self.items[first[i]] if not self._is_long(first[i])}
        counts = Counter(item for i in first for item in self.items[i] if item in short) if short else Counter()
        is_rare = np.zeros(d, dtype=bool)
        for i in repeated:
            own = self.items[first[i]]
            shares = [max(counts[item] - 1, 0.5) / d for item in own] if not self._is_long(first[i]) else [0.0]
            is_rare[i] = len(own) > 0 and is_improbable(times[i], np.array(n * np.prod(shares)))
        return _link_to_first(self.keys, is_rare[inverse])

    def _is_long(self, row: int) -> bool:
        return len(self.items[row]) >= MIN_WORDS_OF_COPY


@dataclass(frozen=True, eq=False)
class _Pictures:
    """Images: two that are equal are copies, unless they are blank."""

    images: np.ndarray

    def find_copies(self) -> np.ndarray:
        """Return for each image the position of the first of its copies."""
        flat = np.ascontiguousarray(self.images).reshape(len(self.images), -1)
        keys = np.array([hash(row.tobytes()) for row in flat], dtype=np.int64)
        return _link_to_first(keys, (flat != flat[:, :1]).any(axis=1))


def _read_side(values: Any, name: str) -> _Rows | _ItemRows | _Pictures:
    """Read one variable as what it is compared by."""
    if sp.issparse(values):
        return _read_sparse(sp.csr_array(values, copy=True))
    frame = as_frame(values, name)
    if frame is None and not isinstance(nw.from_native(values, series_only=True, pass_through=True), nw.Series):
        values = to_array(values, name)
        if values.ndim > 2:
            return _Pictures(values)
    if is_text(values):
        return _read_texts(values if frame is None else frame[:, 0])
    columns = list(frame.iter_columns()) if frame is not None else _list_columns(values)
    read = [_read_column(column) for column in columns]
    # A label of each row's own says which row it is, not what it is.
    kept = [each for each in read if each[1] or each[0].max(initial=0) + 1 < len(each[0])] or read
    mixed = [_mix_bits(codes.view(np.uint64) + np.uint64(j << 40)) for j, (codes, *_) in enumerate(kept)]
    hashes = [_mix_bits(h ^ np.uint64(j)) for j, h in enumerate(mixed)]
    return _Rows(hashes, [is_number for _, is_number, _ in kept], [chance for *_, chance in kept])


def _list_columns(values: Any) -> list[Any]:
    if not isinstance(values, np.ndarray):
        return [nw.from_native(values, series_only=True)]
    return [values] if values.ndim == 1 else list(values.T)


def _read_column(column: Any) -> tuple[np.ndarray, bool, float]:
    """Return codes that are equal where values are, whether these are numbers, and the least chance of equal ones."""
    if isinstance(column, nw.Series) and column.dtype == nw.String:  # by the frame's own library, not one by one
        found = list_answers(column, column.name)
        return np.where(found.codes < 0, len(found.different), found.codes).astype(np.int64), False, 0.0
    values = series_to_array(column) if isinstance(column, nw.Series) else column
    if isinstance(column, nw.Series) and not (column.dtype.is_numeric() or column.dtype.is_temporal()):
        values = np.fromiter(column.to_list(), dtype=object, count=len(column))
    if values.dtype.kind == "f":
        floats = values.astype(np.float64) + 0.0  # turns -0 into 0
        floats[np.isnan(floats)] = np.nan
        return floats.view(np.int64), True, find_least_chance(floats)
    if values.dtype.kind in "iumM":
        codes = np.ascontiguousarray(values).astype(np.int64)
        return codes, True, find_least_chance(codes)
    seen: dict[Any, int] = {}
    listed = [None if _is_missing(value) else value for value in values.tolist()]
    codes = np.fromiter((seen.setdefault(value, len(seen)) for value in listed), np.int64, len(listed))
    are_numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in seen)
    return codes, are_numbers, 0.0


def _is_missing(value: Any) -> bool:
    try:
        return bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # pandas.NA is neither true nor false; a signalling NaN
        return True


def _read_texts(values: Any) -> _ItemRows:
    listed = values.to_list() if hasattr(values, "to_list") else np.ravel(values).tolist()
    words = [tuple(WORD.findall(DIGITS.sub("0", REPLY_MARK.sub("", text.lower())))) for text in listed]
    keys = np.array([hash(own) for own in words], dtype=np.int64)
    return _ItemRows(keys, [tuple(dict.fromkeys(own)) for own in words])


def _read_sparse(rows: sp.csr_array) -> _ItemRows:
    rows.sum_duplicates()
    rows.eliminate_zeros()
    places, values = np.split(rows.indices, rows.indptr[1:-1]), np.split(rows.data, rows.indptr[1:-1])
    keys = [hash((own.tobytes(), data.tobytes())) for own, data in zip(places, values, strict=True)]
    return _ItemRows(np.array(keys, dtype=np.int64), [tuple(own.tolist()) for own in places])
