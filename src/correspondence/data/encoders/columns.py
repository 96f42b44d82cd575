"""Tables of numbers and categories as arrays: an encoder gives new data the same columns as the data of the fit."""

from __future__ import annotations

import numbers
import warnings
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri

from correspondence._util.arguments import as_frame, find_user_stacklevel, to_array
from correspondence._util.files import State
from correspondence._util.labels import as_labels, in_order, label_from_json, label_to_json, to_object_array
from correspondence._util.text import list_names, short_repr
from correspondence._util.user_warnings import LeftOut
from correspondence.data.column_summary import Survey
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.text import as_sparse, is_text
from correspondence.data.pairs.opening import series_to_floats

__all__ = ["Columns", "columns_of", "copy_for_expectations", "find_only_category"]

MAX_LINEAR_DEVIATIONS = 3.5  # robust standard deviations; values beyond are compressed by a logarithm
HEAVY_TAIL_COORDINATE = 6.0  # a column with coordinates beyond this is turned into normal scores
MAX_DENSE_COLUMNS = 300  # a table with categories and more encoded columns becomes sparse


def is_table(values: Any, name: str) -> bool:
    """Say whether the data are columns of numbers and labels, neither sparse, nor images, nor text."""
    if sp.issparse(values):
        return False
    return (as_frame(values, name) is not None or to_array(values, name).ndim <= 2) and not is_text(values)


# --- tables: columns of numbers and of categories


@dataclass(frozen=True)
class Number:
    """A column of numbers: robustly standardised, logarithmic beyond `MAX_LINEAR_DEVIATIONS`."""

    center: float
    scale: float
    type: str = "number"
    width: ClassVar[int] = 1

    @classmethod
    def fit(cls, values: np.ndarray) -> Number:
        low, center, high = np.quantile(values, [0.25, 0.5, 0.75])
        if high > low:
            return cls(float(center), float((high - low) / 1.349))
        away = np.abs(values - center)
        return cls(float(center), float(np.median(away[away > 0])))

    def __call__(self, values: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            t = np.clip((values - self.center) / self.scale, -1e100, 1e100)
        beyond = np.maximum(np.abs(t) - MAX_LINEAR_DEVIATIONS, 0)
        return (np.sign(t) * (np.minimum(np.abs(t), MAX_LINEAR_DEVIATIONS) + np.log1p(beyond)))[:, None]


@dataclass(frozen=True)
class NormalScores:
    """A column of numbers with heavy tails: the normal quantile of the rank, which no monotone map changes."""

    points: list[float]
    scores: list[float]
    type: str = "scores"
    width: ClassVar[int] = 1

    @classmethod
    def fit(cls, values: np.ndarray) -> NormalScores:
        n = len(values)
        ordered = np.sort(values)
        points = np.unique(np.quantile(ordered, np.linspace(0, 1, min(n, 1000)), method="nearest"))
        rank = (np.searchsorted(ordered, points) + np.searchsorted(ordered, points, side="right")) / 2
        return cls(points.tolist(), ndtri(rank / n).tolist())

    def __call__(self, values: np.ndarray) -> np.ndarray:
        return np.interp(values, self.points, self.scores)[:, None]


@dataclass(frozen=True)
class Linear:
    """A column of numbers: shifted and scaled."""

    center: float
    scale: float
    type: str = "linear"
    width: ClassVar[int] = 1

    @classmethod
    def fit(cls, values: np.ndarray) -> Linear:
        middle = 2 * np.median(values / 2)
        largest = np.abs(values / 2 - middle / 2).max() * 2  # so that squares neither overflow nor vanish
        unit = (values - middle) / largest
        return cls(float(middle + largest * unit.mean()), float(largest * unit.std()))

    def __call__(self, values: np.ndarray) -> np.ndarray:
        return ((values - self.center) / self.scale)[:, None]


@dataclass(frozen=True)
class Category:
    """A column of labels: one indicator for each label."""

    labels: list[Any]
    shares: list[float]
    """Relative frequencies in the fit, which encode an unknown label where that is accepted."""
    type: str = "category"
    is_unknown_accepted: bool = False
    """Whether a label that was not in the fit is encoded, instead of an error."""

    @classmethod
    def fit(cls, counts: dict[Any, int]) -> Category:
        labels, n = in_order(counts), sum(counts.values())
        return cls(labels, [counts[label] / n for label in labels])

    @property
    def width(self) -> int:
        return len(self.labels)

    def __call__(self, values: np.ndarray) -> sp.csr_array:
        position = {label: i for i, label in enumerate(self.labels)}
        try:
            codes = np.array([position.get(label, -1) for label in values.tolist()], dtype=np.intp)
        except TypeError as error:
            raise ValueError(f"has a label that cannot be hashed ({error}): use strings or numbers.") from None
        unknown = np.flatnonzero(codes < 0)
        if len(unknown) and not self.is_unknown_accepted:
            raise ValueError(f"has the label {short_repr(values[unknown[0]])}, which was not in the fit: leave it out.")
        known = np.flatnonzero(codes >= 0)
        shape = (len(codes), self.width)
        rows = sp.csr_array((np.ones(len(known)), (known, codes[known])), shape=shape)
        if not len(unknown):
            return rows
        cells = np.repeat(unknown, self.width), np.tile(np.arange(self.width), len(unknown))
        return rows + sp.csr_array((np.tile(self.shares, len(unknown)), cells), shape=shape)


Column = Number | NormalScores | Linear | Category


@dataclass(frozen=True)
class Columns(Encoder):
    """An encoder of a table, as one array of float64, or a sparse one if the categories are many.

    Attributes
    ----------
    columns : dict
        The name of each column that is not constant leads to its encoder.
    names : list
        These are the names of all columns of the data, constant ones included.
    """

    columns: dict[Any, Column]
    names: list[Any]
    kind: ClassVar[str] = "columns"

    @classmethod
    def fit(cls, values: Any, name: str, linear: bool = False) -> Columns:  # noqa: D102
        return cls.from_survey(Survey.from_columns(columns_of(values, name)), name, linear)

    @classmethod
    def from_survey(cls, survey: Survey, name: str, linear: bool = False) -> Columns:
        """Fit the encoder to a survey of the columns."""
        rows = survey.rows
        encoders = {key: fit_column_encoder(summary, rows[key], linear) for key, summary in survey.columns.items()}
        varying = {key: encoder for key, encoder in encoders.items() if encoder is not None}
        columns = {key: c for key, c in varying.items() if not _is_row_name(c, survey.n)} or varying
        constant, names = [key for key in rows if key not in varying], [key for key in varying if key not in columns]
        if not columns:
            what = "one class only" if isinstance(next(iter(survey.columns.values())), dict) else "one value only"
            raise ValueError(f"{name} has {what}: nothing can be correlated with a constant.")
        for reason, keys in (("they are constant", constant), ("nearly every row has its own label", names)):
            if keys:
                warnings.warn(
                    f"Left out, because {reason}: column(s) {list_names(keys, 5, show=repr)} of {name}.",
                    LeftOut,
                    stacklevel=find_user_stacklevel(),
                )
        return cls(columns, list(rows))

    def accept_unknown(self) -> Columns:  # noqa: D102
        tolerant = {
            key: replace(column, is_unknown_accepted=True) if isinstance(column, Category) else column
            for key, column in self.columns.items()
        }
        return replace(self, columns=tolerant)

    @property
    def width(self) -> int:
        """The number of columns of the encoded array."""
        return sum(column.width for column in self.columns.values())

    @property
    def is_sparse(self) -> bool:
        """Whether the encoded array is sparse."""
        return self.width > MAX_DENSE_COLUMNS and any(isinstance(c, Category) for c in self.columns.values())

    @property
    def coordinates(self) -> np.ndarray:
        """Which columns of the encoded array are numbers (the others are indicators of a category)."""
        return np.concatenate([np.full(c.width, not isinstance(c, Category)) for c in self.columns.values()])

    def __call__(self, values: Any, name: str) -> np.ndarray | sp.csr_array:  # noqa: D102
        return self.of_columns(columns_of(values, name), name)

    def of_columns(self, data: dict[Any, np.ndarray], name: str) -> np.ndarray | sp.csr_array:
        """Encode columns as `columns_of` reads them."""
        columns = self._match_columns(data, name)
        parts: list[Any] = [encode_column(c, columns[key], key, name) for key, c in self.columns.items()]
        if self.is_sparse:
            return sp.hstack([sp.csr_array(part) for part in parts], format="csr")
        return np.hstack([part.toarray() if sp.issparse(part) else part for part in parts])

    def _match_columns(self, data: dict[Any, np.ndarray], name: str) -> dict[Any, np.ndarray]:
        """Match columns of new data to those of the fit, by name if both have names, otherwise by position."""
        by_name = all(isinstance(key, str) for key in (*self.names, *data))
        if by_name and set(self.names) <= set(data):
            return {key: data[key] for key in self.names}
        if by_name or len(data) != len(self.names):
            raise ValueError(
                f"{name} has {len(data)} features ({list_names(data, 5)}), but the fit had {len(self.names)} features "
                f"({list_names(self.names, 5)}): give the same columns."
            )
        return dict(zip(self.names, data.values(), strict=True))

    def state(self) -> State:  # noqa: D102
        columns = [[label_to_json(key), column_to_state(c)] for key, c in self.columns.items()]
        return State({"kind": self.kind, "columns": columns, "names": [label_to_json(key) for key in self.names]}, {})

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> Columns:  # noqa: D102
        columns = {label_from_json(key): column_from_state(column) for key, column in description["columns"]}
        return cls(columns, [label_from_json(key) for key in description["names"]])


def fit_column_encoder(summary: Any, values: np.ndarray, linear: bool) -> Column | None:
    """Fit the encoder of one column; None if it is constant."""
    if isinstance(summary, dict):
        category = Category.fit(summary)
        return category if category.width > 1 else None
    extremes = np.array(summary)
    if not np.ptp(extremes / 2) > 1e-15 * np.abs(extremes).max():
        return None
    if linear:
        return Linear.fit(values)
    number = Number.fit(values)
    return NormalScores.fit(values) if np.abs(number(extremes)).max() > HEAVY_TAIL_COORDINATE else number


def _is_row_name(encoder: Column, n: int) -> bool:
    """Say whether the labels name the rows, instead of grouping them."""
    return isinstance(encoder, Category) and n >= 20 and encoder.width > n / 2


def encode_column(encoder: Column, column: np.ndarray, key: Any, name: str) -> np.ndarray | sp.csr_array:
    where = f"Column {short_repr(key)} of {name}"
    if isinstance(encoder, Category):
        column = _as_objects(column)  # 1, 1.0 and True are the same label
    elif column.dtype == object:
        raise ValueError(f"{where} must hold numbers, as in the fit.")
    try:
        return encoder(column)
    except ValueError as error:
        raise ValueError(f"{where} {error}") from None


def column_to_state(column: Column) -> dict[str, Any]:
    if isinstance(column, Category):
        labels = [label_to_json(label) for label in column.labels]
        return {"labels": labels, "shares": column.shares, "type": column.type}
    return asdict(column)


def column_from_state(state: dict[str, Any]) -> Column:
    if state["type"] == "category":
        return Category([label_from_json(label) for label in state["labels"]], state["shares"])
    cls: type[Number | NormalScores | Linear] = {c.type: c for c in (Number, NormalScores, Linear)}[state["type"]]
    return cls(**state)


def columns_of(values: Any, name: str) -> dict[Any, np.ndarray]:
    """Read columns by name, numbers as float64 and labels as objects; a single column without a name is 0."""
    if sp.issparse(values):
        values = as_sparse(values, name).toarray()
    frame = as_frame(values, name)
    data: dict[Any, np.ndarray]
    if frame is not None:
        columns = zip(frame.columns, frame.iter_columns(), strict=True)
        data = {key: read_series(series, f"Column {short_repr(key)} of {name}") for key, series in columns}
    elif isinstance(nw.from_native(values, series_only=True, pass_through=True), nw.Series):
        data = {0: read_series(nw.from_native(values, series_only=True), name)}
    else:
        data = split_array_columns(values, name)
    n = len(next(iter(data.values()))) if data else len(values)
    if not data:
        raise ValueError(f"{name} is empty: it has 0 feature(s) (shape=({n}, 0)) while a minimum of 1 is required.")
    if not n:
        raise ValueError(f"{name} is empty: it has 0 sample(s) while a minimum of 1 is required.")
    return data


def split_array_columns(values: Any, name: str) -> dict[Any, np.ndarray]:
    array = to_array(values, name)
    if array.ndim == 0:
        raise ValueError(f"{name} must have one row for each observation, got the single value {short_repr(values)}.")
    if array.ndim > 2:
        raise ValueError(f"{name} must have rows and columns, got an array of shape {array.shape}.")
    if array.ndim == 1:
        return {0: read_array_column(array, name)}
    return {j: read_array_column(array[:, j], f"Column {j} of {name}") for j in range(array.shape[1])}


def read_series(series: nw.Series, where: str) -> np.ndarray:
    if series.dtype.is_numeric():
        return check_finite(series_to_floats(series), where)
    if series.dtype.is_temporal():
        raise ValueError(f"{where} holds dates or times: turn them into numbers, or into labels by casting to text.")
    if series.dtype == nw.Object:
        return read_array_column(to_object_array(series.to_list()), where)
    return _as_objects(as_labels(series, where))


def read_array_column(values: np.ndarray, where: str) -> np.ndarray:
    if values.dtype.kind in "iuf":
        return check_finite(values.astype(np.float64), where)
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: give real and imaginary parts of {where} as two columns.")
    if values.dtype.kind == "V":
        raise ValueError(f"{where} is a structured array: give a frame, or a plain array.")
    if values.dtype.kind in "mM":
        raise ValueError(f"{where} holds dates or times: turn them into numbers, or into labels by casting to text.")
    if values.dtype.kind == "O" and all(_is_number_or_none(v) for v in values.tolist()):
        return check_finite(np.array([_to_float(v) for v in values.tolist()]), where)
    return _as_objects(as_labels(values, where))


def _is_number_or_none(value: Any) -> bool:
    return value is None or (isinstance(value, numbers.Number) and not isinstance(value, bool | complex))


def _to_float(value: Any) -> float:
    try:
        return np.nan if value is None else float(value)
    except (OverflowError, ValueError):  # 10**400, or a signalling NaN
        return np.inf


def _as_objects(values: np.ndarray) -> np.ndarray:
    return values if values.dtype == object else to_object_array(values.tolist())


def check_finite(values: np.ndarray, where: str) -> np.ndarray:
    finite = np.isfinite(values)
    bad = int(np.count_nonzero(~finite.all(axis=tuple(range(1, finite.ndim)))))
    if bad:
        raise ValueError(f"{where} contains NaN or infinity in {bad} row(s): fill them in or leave those rows out.")
    return values


def copy_for_expectations(Y: Any) -> Any:
    """Copy Y for expectations over it, so that changing Y later changes nothing; large arrays are not copied."""
    if hasattr(Y, "detach"):
        Y = to_array(Y, "Y")
    if isinstance(Y, list):
        return list(Y)
    is_small = not isinstance(Y, np.ndarray) or Y.ndim <= 2
    is_pandas = type(Y).__module__.startswith("pandas")
    return Y.copy() if (isinstance(Y, np.ndarray) and is_small) or (is_pandas and hasattr(Y, "copy")) else Y


def find_only_category(encoder: Encoder) -> Category | None:
    """Return the column of labels if it is the only encoded column, otherwise None."""
    columns = list(encoder.columns.values()) if isinstance(encoder, Columns) else []
    return columns[0] if len(columns) == 1 and isinstance(columns[0], Category) else None
