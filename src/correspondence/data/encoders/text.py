"""Bags of words: sparse counts, and texts whose words are counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from correspondence._util.arguments import as_frame, to_array
from correspondence._util.files import State
from correspondence._util.labels import as_labels, find_missing_labels, to_object_array
from correspondence.data.encoders.base import Encoder

__all__ = [
    "MAX_EXACT_COLUMNS",
    "MAX_WORDS",
    "WORD_PATTERN",
    "Bag",
    "SparseColumns",
    "Text",
    "are_texts",
    "as_sparse",
    "is_text",
    "read_texts",
]

MAX_WORDS = 5000
WORD_PATTERN = r"(?u)\b\w+\b"
MAX_EXACT_COLUMNS = 1000  # columns of a sparse matrix up to which linear methods take all of them, as of a dense one


@dataclass(frozen=True)
class Bag(Encoder):
    """An encoder of sparse counts or weights: rows of logarithms of 1 + count, scaled to length 1."""

    width: int
    kind: ClassVar[str] = "bag"

    @classmethod
    def fit(cls, values: Any, name: str) -> Bag:  # noqa: D102
        rows = as_sparse(values, name)
        if not rows.count_nonzero():
            raise ValueError(f"{name} has zeros only: nothing can be correlated with a constant.")
        return cls(rows.shape[1])

    def __call__(self, values: Any, name: str) -> sp.csr_array:  # noqa: D102
        rows = as_sparse(values, name)
        if rows.shape[1] != self.width:
            raise ValueError(f"{name} has {rows.shape[1]} features, but the fit had {self.width} features.")
        rows.data = np.sign(rows.data) * np.log1p(np.abs(rows.data))
        length = np.sqrt(rows.multiply(rows).sum(axis=1))
        rows.data /= np.repeat(np.where(length > 0, length, 1), np.diff(rows.indptr))
        return rows

    def state(self) -> State:  # noqa: D102
        return State({"kind": self.kind, "width": self.width}, {})

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> Bag:  # noqa: D102
        return cls(description["width"])


@dataclass(frozen=True)
class SparseColumns(Encoder):
    """An encoder of wide sparse matrices for linear methods: the columns as they are, without making them dense."""

    width: int
    kind: ClassVar[str] = "sparse columns"

    @classmethod
    def fit(cls, values: Any, name: str) -> SparseColumns:  # noqa: D102
        rows = as_sparse(values, name)
        _check_variation(rows, f"{name} has the same values in every row")
        return cls(rows.shape[1])

    def __call__(self, values: Any, name: str) -> sp.csr_array:  # noqa: D102
        rows = as_sparse(values, name)
        if rows.shape[1] != self.width:
            raise ValueError(f"{name} has {rows.shape[1]} features, but the fit had {self.width} features.")
        return rows

    def state(self) -> State:  # noqa: D102
        return State({"kind": self.kind, "width": self.width}, {})

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> SparseColumns:  # noqa: D102
        return cls(description["width"])


def _check_variation(rows: sp.csr_array, what: str) -> None:
    """Raise an error if all rows are the same."""
    if not (rows.max(axis=0) - rows.min(axis=0)).count_nonzero():
        raise ValueError(f"{what}: nothing can be correlated with a constant.")


def as_sparse(values: Any, name: str) -> sp.csr_array:
    """Read a sparse matrix as rows, which must be finite."""
    if not sp.issparse(values):
        raise ValueError(f"{name} must be a sparse matrix, as in the fit, got {type(values).__name__}.")
    if values.ndim != 2:
        raise ValueError(f"{name} must have rows and columns, got a sparse array of shape {values.shape}.")
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers, got {values.dtype}: Complex data not supported.")
    rows = sp.csr_array(values, dtype=np.float64, copy=True)
    if not rows.shape[0] or not rows.shape[1]:
        raise ValueError(f"{name} is empty: it has 0 sample(s) or 0 feature(s), and at least 1 of each is needed.")
    bad = np.flatnonzero(~np.isfinite(rows.data))
    if len(bad):
        raise ValueError(f"Column {rows.indices[bad[0]]} of {name} contains NaN or infinity: leave those rows out.")
    return rows


@dataclass(frozen=True)
class Text(Encoder):
    """An encoder of texts: a bag of their most frequent words."""

    words: list[str]
    kind: ClassVar[str] = "text"
    _bag: Bag = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_bag", Bag(len(self.words)))

    @classmethod
    def fit(cls, values: Any, name: str) -> Text:  # noqa: D102
        texts = read_texts(values, name)
        try:
            counter = CountVectorizer(
                max_features=MAX_WORDS, min_df=2 if len(texts) >= 100 else 1, token_pattern=WORD_PATTERN
            )
            counts = counter.fit_transform(texts)
        except ValueError:
            raise ValueError(f"{name} has no word that occurs twice: longer texts are needed.") from None
        encoder = cls(counter.get_feature_names_out().tolist())
        _check_variation(encoder._bag(sp.csr_array(counts), name), f"{name} has the same known words in every text")
        return encoder

    @property
    def width(self) -> int:
        """The number of words."""
        return len(self.words)

    def __call__(self, values: Any, name: str) -> sp.csr_array:  # noqa: D102
        counter = CountVectorizer(vocabulary=self.words, token_pattern=WORD_PATTERN)
        return self._bag(sp.csr_array(counter.transform(read_texts(values, name))), name)

    def state(self) -> State:  # noqa: D102
        return State({"kind": self.kind, "words": self.words}, {})

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> Text:  # noqa: D102
        return cls(description["words"])


def read_texts(values: Any, name: str) -> list[str]:
    """Read a column of texts."""
    texts = as_labels(values, name, allow_missing=True).tolist()
    if not all(text is None or isinstance(text, str) for text in texts):
        raise ValueError(f"{name} must hold strings, as in the fit.")
    return ["" if text is None else text for text in texts]


def is_text(values: Any) -> bool:
    """Say whether most values differ and have several words; never for one of several columns of a frame."""
    frame = as_frame(values, "the data")
    if frame is not None and frame.shape[1] != 1:
        return False
    array = to_object_array(frame[:, 0].to_list()) if frame is not None else to_array(values, "the data")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or array.dtype.kind not in "UTO":
        return False
    missing = find_missing_labels(array)
    texts = [value for value, gone in zip(array.tolist(), missing, strict=True) if not gone]
    return all(isinstance(text, str) for text in texts) and are_texts(Counter(texts))


def are_texts(counts: dict[Any, int]) -> bool:
    """Say whether labels, given with their counts, are texts: most differ and have several words."""
    n = sum(counts.values())
    if not all(isinstance(label, str) for label in counts) or not n:
        return False
    has_words = len(counts) > n / 2 and sum(count for text, count in counts.items() if " " in text.strip()) > n / 2
    return has_words and not _stand_for_something_else(counts)


def _stand_for_something_else(texts: dict[str, int]) -> bool:
    """Say whether texts with spaces are dates such as 12 Jun 1998 or numbers such as € 12."""
    if not all(any(map(str.isdigit, text)) for text in texts):
        return False
    from correspondence.data.text_readers import find_text_reader  # which reads columns, and they sparse matrices

    reader = find_text_reader(texts)
    return reader is not None and reader.kind != "list"
