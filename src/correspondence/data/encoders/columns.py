"""Tables as arrays: an encoder gives new data the same columns as the data of the fit."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import as_frame, find_user_stacklevel, to_array
from correspondence._util.files import State
from correspondence._util.labels import label_from_json, label_to_json
from correspondence._util.text import list_names, short_repr
from correspondence._util.user_warnings import LeftOut
from correspondence.data.column_kinds import MAX_LEVELS, ColumnKind, decide_column_kind
from correspondence.data.column_reading import check_not_infinite, columns_of, find_missing, to_numbers
from correspondence.data.column_summary import Extent, Survey
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.single_column import (
    Category,
    ColumnEncoder,
    Dates,
    Indicated,
    Items,
    Linear,
    NormalScores,
    Number,
    Parsed,
    Words,
    column_from_state,
    column_to_state,
)
from correspondence.data.encoders.text import is_text
from correspondence.data.text_readers import TextReader

__all__ = ["MAX_DENSE_COLUMNS", "Columns", "copy_for_expectations", "find_only_category", "is_table"]

HEAVY_TAIL_COORDINATE = 6.0  # a column with coordinates beyond this is turned into normal scores
MAX_DENSE_COLUMNS = 300  # a table with categories and more encoded columns becomes sparse
MIN_ROWS_FOR_INDICATOR = 5  # missing ones, and as many others, if missing values have an indicator

Column = ColumnEncoder


def is_table(values: Any, name: str) -> bool:
    """Say whether the data are columns of numbers and labels, neither sparse, nor images, nor text."""
    if sp.issparse(values):
        return False
    return (as_frame(values, name) is not None or to_array(values, name).ndim <= 2) and not is_text(values)


@dataclass(frozen=True)
class Columns(Encoder):
    """An encoder of a table, as one array of float64, or a sparse one if the categories are many.

    Attributes
    ----------
    columns : dict
        The name of each column that is not constant leads to its encoder.
    names : list
        These are the names of all columns of the data, constant ones included.
    kinds : dict
        The name of each column leads to what it is, as the fit has decided; models of earlier versions know it of
        encoded columns only.
    """

    columns: dict[Any, Column]
    names: list[Any]
    kinds: dict[Any, ColumnKind] = field(default_factory=dict, compare=False)
    kind: ClassVar[str] = "columns"

    @classmethod
    def fit(cls, values: Any, name: str, linear: bool = False) -> Columns:  # noqa: D102
        return cls.from_survey(Survey.from_columns(columns_of(values, name)), name, linear)

    @classmethod
    def from_survey(cls, survey: Survey, name: str, linear: bool = False) -> Columns:
        """Fit the encoder to a survey of the columns."""
        rows, alone = survey.rows, len(survey.columns) == 1
        kinds = {
            key: decide_column_kind(key, summary, survey.n, is_alone=alone, linear=linear)
            for key, summary in survey.columns.items()
        }
        encoders = {
            key: fit_column_encoder(kinds[key], summary, rows[key], survey.n, linear, alone)
            for key, summary in survey.columns.items()
        }
        varying = {key: encoder for key, encoder in encoders.items() if encoder is not None}
        columns = {key: c for key, c in varying.items() if kinds[key].kind != "id"} or varying
        if not columns:
            what = "one class only" if isinstance(next(iter(survey.columns.values())), dict) else "one value only"
            raise ValueError(f"{name} has {what}: nothing can be correlated with a constant.")
        constant, ids = [key for key in rows if key not in varying], [key for key in varying if key not in columns]
        for reason, keys in (("they are constant", constant), ("nearly every row has its own label", ids)):
            if keys:
                warnings.warn(
                    f"Left out, because {reason}: column(s) {list_names(keys, 5, show=repr)} of {name}.",
                    LeftOut,
                    stacklevel=find_user_stacklevel(),
                )
        _warn_of_merged_labels({key: kinds[key].note for key in columns if "rare labels" in kinds[key].note}, name)
        return cls(columns, list(rows), kinds)

    def accept_unknown(self) -> Columns:  # noqa: D102
        tolerant = {
            key: replace(column, is_unknown_accepted=True) if isinstance(column, Category | Parsed) else column
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
        return self.width > MAX_DENSE_COLUMNS and any(isinstance(c, Category | Items) for c in self.columns.values())

    @property
    def coordinates(self) -> np.ndarray:
        """Which encoded columns are numbers that functions may bend; the others are indicators and words."""
        return np.concatenate([column.coordinates for column in self.columns.values()])

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
        description = {"kind": self.kind, "columns": columns, "names": [label_to_json(key) for key in self.names]}
        inferred = {key: infer_kind(column) for key, column in self.columns.items()}
        told = {key: kind for key, kind in self.kinds.items() if replace(kind, note="") != inferred.get(key)}
        kinds = [[label_to_json(key), asdict(kind)] for key, kind in told.items()]
        return State(description | ({"kinds": kinds} if kinds else {}), {})

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> Columns:  # noqa: D102
        columns = {label_from_json(key): column_from_state(column) for key, column in description["columns"]}
        kinds = {key: infer_kind(column) for key, column in columns.items()}
        kinds |= {label_from_json(key): kind_from_state(kind) for key, kind in description.get("kinds", ())}
        return cls(columns, [label_from_json(key) for key in description["names"]], kinds)


def kind_from_state(state: dict[str, Any]) -> ColumnKind:
    """Put together what `dataclasses.asdict` took apart."""
    reader = state["reader"]
    return ColumnKind(state["kind"], None if reader is None else TextReader(**reader), state["note"])


def infer_kind(encoder: Column) -> ColumnKind:
    """Infer what a column is from its encoder; what this does not tell, such as yes or no, is saved beside it."""
    if isinstance(encoder, Indicated):
        return infer_kind(encoder.inner)
    if isinstance(encoder, Parsed):
        return ColumnKind(encoder.reader.kind, encoder.reader)
    kinds = {Category: "label", Dates: "date", Items: "list", Words: "text"}
    return ColumnKind(kinds.get(type(encoder), "number"))


def _warn_of_merged_labels(notes: dict[Any, str], name: str) -> None:
    """Warn of columns whose rare labels share a level."""
    if notes:
        message = f"Column(s) of {name} with many labels: " + "; ".join(f"{key!r} is {n}" for key, n in notes.items())
        warnings.warn(f"{message}.", LeftOut, stacklevel=find_user_stacklevel())


def fit_column_encoder(
    kind: ColumnKind, summary: Any, values: np.ndarray, n: int, linear: bool, alone: bool
) -> Column | None:
    """Fit the encoder of one column of n rows, given what it is and some values; None if nothing of it varies."""
    if not kind.is_used and kind.kind != "id":
        return None
    counts = _count_labels(summary, n)
    if kind.kind in ("label", "boolean", "id"):
        return Category.fit(counts, None if alone or kind.kind == "id" else MAX_LEVELS)
    if kind.kind == "text":
        inner: Column | None = Words.fit(counts)
        return inner and _add_indicator(inner, counts.get(None, 0), n)
    if kind.reader is not None:
        values = kind.reader(values)
    if kind.kind == "list":
        items = Items.fit(dict(Counter(values.tolist())))
        return _parse(_add_indicator(items, counts.get(None, 0), n), kind) if items.width else None
    missing = find_missing(values)
    if kind.kind == "number":
        check_not_infinite(to_numbers(values[~missing]), "A column")
    inner = Dates.fit(values) if kind.kind == "date" else fit_number(to_numbers(values[~missing]), linear)
    n_missing = summary.n_missing if isinstance(summary, Extent) else round(missing.mean() * n)
    return inner and _parse(_add_indicator(inner, n_missing, n), kind)


def _count_labels(summary: Any, n: int) -> dict[Any, int]:
    """Count the labels, None for missing ones included."""
    if isinstance(summary, dict):
        return summary
    present = summary.counts or {summary.low: n - summary.n_missing}
    return present | ({None: summary.n_missing} if summary.n_missing else {})


def fit_number(values: np.ndarray, linear: bool) -> Column | None:
    """Fit the encoder that suits numbers; None if they are constant."""
    extremes = np.array([values.min(), values.max()])
    if not np.ptp(extremes / 2) > 1e-15 * np.abs(extremes).max():
        return None
    if linear:
        return Linear.fit(values)
    number = Number.fit(values)
    return NormalScores.fit(values) if np.abs(number(extremes)).max() > HEAVY_TAIL_COORDINATE else number


def _add_indicator(encoder: Column, n_missing: int, n: int) -> Column:
    is_enough = MIN_ROWS_FOR_INDICATOR <= n_missing <= n - MIN_ROWS_FOR_INDICATOR
    return Indicated(encoder) if is_enough else encoder


def _parse(encoder: Column, kind: ColumnKind) -> Column:
    return encoder if kind.reader is None else Parsed(kind.reader, encoder)


def encode_column(encoder: Column, column: np.ndarray, key: Any, name: str) -> np.ndarray | sp.csr_array:
    """Encode one column; errors name it."""
    try:
        return encoder(column)
    except ValueError as error:
        raise ValueError(f"Column {short_repr(key)} of {name} {error}") from None


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
