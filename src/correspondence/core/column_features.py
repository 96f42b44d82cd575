"""Features of many columns: indicators of answers, numbers, and smooth functions of numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.files import State
from correspondence._util.labels import MISSING, label_from_json, label_to_json, to_object_array
from correspondence._util.text import list_names, short_repr
from correspondence.core.column_blocks import ColumnBlock
from correspondence.core.functions import FeatureMap
from correspondence.core.gap_filling import GapFiller
from correspondence.core.splines import SplineBasis
from correspondence.data.answers import MISSING_CODE, UNKNOWN_CODE, find_answers, split_columns
from correspondence.data.column_reading import read_array_column, read_series, to_numbers
from correspondence.data.text_readers import TextReader

__all__ = [
    "CurveColumn",
    "FeatureColumn",
    "LabelColumn",
    "ManyColumns",
    "NumberColumn",
]

MIN_SPARSE_FEATURES = 1000  # from which a sparse array of them is smaller and faster
CELLS_PER_BATCH = 1 << 22  # cells of features that are computed at a time


class FeatureColumn(ABC):
    """One column, with the way to read it and to turn it into features."""

    name: Any
    kind: ClassVar[str]

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of features."""

    @abstractmethod
    def read(self, column: Any, handle_unknown: str = "error") -> np.ndarray:
        """Read the values of rows as numbers; NaN or `MISSING_CODE` are missing ones."""

    @abstractmethod
    def expand(self, values: np.ndarray) -> np.ndarray:
        """Compute the features of values that `read` returned."""

    @abstractmethod
    def find_given(self, values: np.ndarray) -> np.ndarray:
        """Tell which of the values that `read` returned are known, neither missing nor unknown."""

    @abstractmethod
    def restore(self, features: np.ndarray) -> np.ndarray:
        """Compute the values that features stand for: the most probable answers, or the numbers."""

    @abstractmethod
    def list_labels(self) -> list[str]:
        """Name the features."""

    def list_exact_labels(self) -> list[str]:
        """Name the features as Python writes them, where the other names are those of several features."""
        return [repr(label) for label in self.list_labels()]


@dataclass(frozen=True, eq=False)
class LabelColumn(FeatureColumn):
    """A column of answers, with an indicator for each.

    Attributes
    ----------
    name : object
        The name of the column.
    answers : ndarray of object
        The answers, `MISSING` among them if missing answers are a level of their own.
    shares : ndarray
        The share of each answer, which stands for a missing one without a level.
    is_ordered : bool
        Whether the answers have an order.
    is_passive : bool
        Whether missing answers have no features at all.
    names_missing : bool
        Whether missing answers are the answer `MISSING`; without it, that is an answer as any other.
    """

    name: Any
    answers: np.ndarray
    shares: np.ndarray
    is_ordered: bool = False
    is_passive: bool = False
    names_missing: bool = False
    kind: ClassVar[str] = "labels"

    @property
    def width(self) -> int:  # noqa: D102
        return len(self.answers)

    def read(self, column: Any, handle_unknown: str = "error") -> np.ndarray:  # noqa: D102
        codes = find_answers(column, self.answers, str(self.name))
        if handle_unknown == "error" and (codes == UNKNOWN_CODE).any():
            label = short_repr(_get_value(column, int(np.argmax(codes == UNKNOWN_CODE))))
            raise ValueError(
                f"Column {short_repr(self.name)} of X has the label {label}, which was not in the fit. Leave it out, "
                'or choose handle_unknown="missing" or "nan".'
            )
        if handle_unknown == "missing":
            codes[codes == UNKNOWN_CODE] = MISSING_CODE
        return self.name_missing(codes)

    def name_missing(self, codes: np.ndarray) -> np.ndarray:
        """Give missing answers their level, if there is one."""
        if not self.names_missing:
            return codes
        return np.where(codes == MISSING_CODE, np.flatnonzero(self.answers == MISSING)[0], codes)

    def expand(self, values: np.ndarray) -> np.ndarray:  # noqa: D102
        features = np.zeros((len(values), self.width))
        known = np.flatnonzero(values >= 0)
        features[known, values[known]] = 1
        if not self.is_passive and len(known) < len(values):
            features[values < 0] = self.shares
        return features

    def find_given(self, values: np.ndarray) -> np.ndarray:  # noqa: D102
        return np.asarray(values >= 0)

    def restore(self, features: np.ndarray) -> np.ndarray:  # noqa: D102
        return features.argmax(axis=1).astype(np.int32)

    def expand_sparsely(self, values: np.ndarray) -> sp.csr_array:
        """Compute the features of values that `read` returned, as a sparse array."""
        known = values >= 0
        indicators = sp.csr_array(
            (np.ones(int(known.sum())), values[known], np.concatenate([[0], np.cumsum(known)])),
            shape=(len(values), self.width),
        )
        if self.is_passive or known.all():
            return indicators
        is_missing = sp.csr_array((~known).astype(np.float64)[:, None])
        return sp.csr_array(indicators + is_missing @ sp.csr_array(self.shares[None]))

    def list_labels(self) -> list[str]:  # noqa: D102
        return [f"{self.name}:{answer}" for answer in self.answers]

    def list_exact_labels(self) -> list[str]:  # noqa: D102
        return [f"{self.name!r}:{answer!r}" for answer in self.answers]


@dataclass(frozen=True, eq=False)
class NumberColumn(FeatureColumn):
    """A column of numbers, as it is; a missing one is the mean.

    Attributes
    ----------
    name : object
        The name of the column.
    mean : float
        The mean of the numbers.
    reader : TextReader, optional
        It turns texts such as "1,234" into numbers.
    """

    name: Any
    mean: float
    reader: TextReader | None = None
    kind: ClassVar[str] = "number"

    @property
    def width(self) -> int:  # noqa: D102
        return 1

    def read(self, column: Any, handle_unknown: str = "error") -> np.ndarray:  # noqa: D102
        where = f"Column {short_repr(self.name)} of X"
        is_series = isinstance(column, nw.Series)
        values = read_series(column, where, None) if is_series else read_array_column(column, where)
        try:
            return to_numbers(values if self.reader is None else self.reader(values))
        except ValueError as error:
            raise ValueError(f"{where} {error}") from None

    @property
    def number_weights(self) -> np.ndarray:
        """The weights of the features in the number itself, up to a constant and a factor."""
        return np.ones(1)

    def expand(self, values: np.ndarray) -> np.ndarray:  # noqa: D102
        return np.where(np.isnan(values), self.mean, values)[:, None]

    def find_given(self, values: np.ndarray) -> np.ndarray:  # noqa: D102
        return ~np.isnan(values)

    def restore(self, features: np.ndarray) -> np.ndarray:  # noqa: D102
        return features[:, 0]

    def list_labels(self) -> list[str]:  # noqa: D102
        return [str(self.name)]


@dataclass(frozen=True, eq=False)
class CurveColumn(NumberColumn):
    """A column of numbers, as splines of it.

    Attributes
    ----------
    name, mean, reader
        See `NumberColumn`.
    scale : float
        The standard deviation of the numbers, by which they are divided.
    basis : SplineBasis
        The splines; the number itself is a combination of them.
    """

    scale: float = 1.0
    basis: SplineBasis = field(default_factory=lambda: SplineBasis([np.empty(0)]))
    kind: ClassVar[str] = "curve"

    @property
    def width(self) -> int:  # noqa: D102
        return self.basis.width

    @property
    def number_weights(self) -> np.ndarray:  # noqa: D102
        knots = self.basis.knots[0]
        return knots if len(knots) > 2 else np.ones(1)

    def standardise(self, values: np.ndarray) -> np.ndarray:
        """Return the numbers on the scale of the splines, as one column."""
        return (super().expand(values) - self.mean) / self.scale

    def expand(self, values: np.ndarray) -> np.ndarray:  # noqa: D102
        return self.basis(self.standardise(values))

    def restore(self, features: np.ndarray) -> np.ndarray:  # noqa: D102
        return self.mean + self.scale * (features @ self.number_weights)

    def list_labels(self) -> list[str]:  # noqa: D102
        return [f"{self.name} ({i + 1})" for i in range(self.width)]


def _get_value(column: Any, row: int) -> Any:
    return column[row].item() if hasattr(column[row], "item") else column[row]


@dataclass(frozen=True, eq=False)
class ManyColumns(FeatureMap):
    """The features of all columns side by side.

    Attributes
    ----------
    columns : tuple of FeatureColumn
        The columns.
    handle_unknown : {"error", "nan", "missing"}
        What is done with an answer that was not in the fit.
    filler : GapFiller, optional
        It fills in missing values from the others of the row; without it, averages stand for them.
    """

    columns: tuple[FeatureColumn, ...]
    handle_unknown: str = "error"
    filler: GapFiller | None = None
    kind: ClassVar[str] = "many"

    @property
    def width(self) -> int:
        """The number of features."""
        return sum(column.width for column in self.columns)

    @property
    def may_be_nan(self) -> bool:
        """Whether rows with unknown answers have the features NaN."""
        return self.handle_unknown == "nan"

    @property
    def is_passive(self) -> bool:
        """Whether missing answers have no features, so that the others of the row count more."""
        return any(isinstance(column, LabelColumn) and column.is_passive for column in self.columns)

    @property
    def blocks(self) -> list[ColumnBlock]:
        """The place of each column among the features."""
        starts = np.cumsum([0, *(column.width for column in self.columns)]).tolist()
        return [
            ColumnBlock(column.name, column.kind, slice(start, start + column.width))
            for column, start in zip(self.columns, starts, strict=False)
        ]

    def read(self, values: Any, name: str = "X") -> list[np.ndarray]:
        """Read the values of all columns; those of a frame are found by name, of an array by position.

        Parameters
        ----------
        values : frame or array-like of shape (n, k)
            Columns that are not needed are ignored.
        name : str
            Errors call the table so.

        Returns
        -------
        list of ndarray
            One array for each column.
        """
        given = split_columns(values, name)
        names = [column.name for column in self.columns]
        if all(key in given for key in names):
            found = [given[key] for key in names]
        elif len(given) == len(names) and not all(isinstance(key, str) for key in (*given, *names)):
            found = list(given.values())
        else:
            absent = [key for key in names if key not in given]
            raise ValueError(f"{name} must have the columns of the fit, but lacks {list_names(absent, 5)}.")
        return [column.read(own, self.handle_unknown) for column, own in zip(self.columns, found, strict=True)]

    def expand(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Compute the features of rows that `read` returned."""
        features = np.hstack([column.expand(own) for column, own in zip(self.columns, arrays, strict=True)])
        if self.filler is not None:
            return self.filler.fill_gaps(features, self.find_gaps(arrays), self.blocks)
        return features * self.compute_row_factors(arrays)[:, None] if self.is_passive else features

    def expand_sparsely(self, arrays: Sequence[np.ndarray]) -> sp.csr_array:
        """Compute the features of rows as a sparse array."""
        if self.filler is not None:
            return sp.csr_array(self.expand(arrays))
        parts = [
            column.expand_sparsely(values) if isinstance(column, LabelColumn) else sp.csr_array(column.expand(values))
            for column, values in zip(self.columns, arrays, strict=True)
        ]
        features = sp.csr_array(sp.hstack(parts))
        return sp.csr_array(sp.diags_array(self.compute_row_factors(arrays)) @ features)

    def find_gaps(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Return which values of rows are missing, an array of shape (n, k); unknown answers are too."""
        pairs = zip(self.columns, arrays, strict=True)
        return np.column_stack([own < 0 if column.kind == "labels" else np.isnan(own) for column, own in pairs])

    def count_given(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Count the answers that each row gave."""
        return np.sum([values >= 0 for values in arrays], axis=0)

    def find_given(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Tell which values are known, neither missing nor unknown, as an array of shape (n, k)."""
        return np.column_stack([column.find_given(own) for column, own in zip(self.columns, arrays, strict=True)])

    def find_unknown(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Tell which rows have an answer that was not in the fit."""
        labels = [own for column, own in zip(self.columns, arrays, strict=True) if column.kind == "labels"]
        return np.any([np.zeros(len(arrays[0]), dtype=bool), *(own == UNKNOWN_CODE for own in labels)], axis=0)

    def weigh_rows(self, arrays: Sequence[np.ndarray], weights: np.ndarray | None) -> np.ndarray | None:
        """Return the weights of rows in the moments: if missing answers are passive, a row counts as it answered."""
        if not self.is_passive:
            return weights
        given = self.count_given(arrays) / len(self.columns)
        return given if weights is None else weights * given

    def compute_row_factors(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Return the factor by which the answers of a row count, because others are missing."""
        if not self.is_passive:
            return np.ones(len(arrays[0]))
        given = self.count_given(arrays)
        return np.where(given > 0, len(self.columns) / np.maximum(given, 1), 0)

    def iterate_features(self, arrays: Sequence[np.ndarray]) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield the features of some rows at a time."""
        n = len(arrays[0])
        step = max(1, CELLS_PER_BATCH // max(self.width, 1))
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            yield rows, self.expand([values[rows] for values in arrays])

    def __call__(self, values: Any) -> np.ndarray:  # noqa: D102
        arrays = self.read(values)
        features = self.expand(arrays)
        features[self.find_unknown(arrays)] = np.nan
        return features

    def map_rows_sparsely(self, values: Any) -> Any:
        """Evaluate the features, as a sparse array if they are very many."""
        is_sparse = self.width > MIN_SPARSE_FEATURES and not self.may_be_nan
        return self.expand_sparsely(self.read(values)) if is_sparse else self(values)

    def list_labels(self) -> np.ndarray:
        """Name all features, each by a name of its own: 1 and "1" of a column would have the same otherwise."""
        labels = [label for column in self.columns for label in column.list_labels()]
        if len(set(labels)) < len(labels):
            counts = Counter(labels)
            exact = [label for column in self.columns for label in column.list_exact_labels()]
            labels = [own if counts[label] > 1 else label for label, own in zip(labels, exact, strict=True)]
        return to_object_array(labels)

    def state(self) -> State:  # noqa: D102
        described: list[dict[str, Any]] = []
        arrays: dict[str, np.ndarray] = {}
        for j, column in enumerate(self.columns):
            own: dict[str, Any] = {"kind": column.kind, "name": label_to_json(column.name)}
            if isinstance(column, LabelColumn):
                own |= {"answers": [label_to_json(answer) for answer in column.answers]}
                own |= {"is_ordered": column.is_ordered, "is_passive": column.is_passive}
                own |= {"names_missing": column.names_missing}
                arrays[f"{j}.shares"] = column.shares
            if isinstance(column, NumberColumn):
                own |= {"mean": column.mean, "reader": None if column.reader is None else asdict(column.reader)}
            if isinstance(column, CurveColumn):
                own |= {"scale": column.scale}
                arrays |= {f"{j}.knots": column.basis.knots[0], f"{j}.ends": np.asarray(column.basis.ends)}
            described.append(own)
        if self.filler is not None:
            arrays |= self.filler.to_arrays()
        return State({"columns": described, "handle_unknown": self.handle_unknown}, arrays)

    @classmethod
    def from_state(  # noqa: D102
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> ManyColumns:
        columns: list[FeatureColumn] = []
        for j, own in enumerate(description["columns"]):
            name = label_from_json(own["name"])
            if own["kind"] == "labels":
                answers = to_object_array([label_from_json(answer) for answer in own["answers"]])
                flags = own["is_ordered"], own["is_passive"], own.get("names_missing", MISSING in answers.tolist())
                columns.append(LabelColumn(name, answers, arrays[f"{j}.shares"], *flags))
                continue
            reader = None if own.get("reader") is None else TextReader(**own["reader"])
            if own["kind"] == "number":
                columns.append(NumberColumn(name, own["mean"], reader))
            else:
                basis = SplineBasis([arrays[f"{j}.knots"]], ends=arrays[f"{j}.ends"])
                columns.append(CurveColumn(name, own["mean"], reader, own["scale"], basis))
        return cls(tuple(columns), description["handle_unknown"], GapFiller.from_arrays(arrays))

    def accept_unknown(self) -> ManyColumns:
        """Return the same features, with unknown answers taken as missing ones."""
        return replace(self, handle_unknown="missing")
