"""Features of one variable that are encoded columns, or sums of functions of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from correspondence.decomposition import Decomposition
from correspondence.encoding import Encoder, encoder_from_state
from correspondence.functions import FeatureMap, LinearFunctions
from correspondence.signs import signs
from correspondence.splines import AdditiveFunctions

__all__ = ["Additive", "Encoded", "blocks", "dense", "signed"]

BLOCK = 4096


def dense(rows: Any) -> np.ndarray:
    """Rows that an encoder has made, as one array of rows and columns."""
    array = rows.toarray() if sp.issparse(rows) else rows
    return np.asarray(array, dtype=np.float64).reshape(len(array), -1)


def blocks(*sides: Any) -> Iterator[tuple[Any, ...]]:
    """Some rows of all sides at a time."""
    for start in range(0, sides[0].shape[0], BLOCK):
        yield tuple(rows[start : start + BLOCK] for rows in sides)


def signed(d: Decomposition, batches: Iterable[tuple[np.ndarray, np.ndarray]]) -> Decomposition:
    """Decomposition with signs by the columns of y: the one with the largest correlation with g_i has a positive one.

    Parameters
    ----------
    d : Decomposition
        Of features.
    batches : iterable of pairs of ndarray
        Features of y, of which g is made, and the encoded columns of y: all that d was computed from.
    """
    assert isinstance(d.f, LinearFunctions)
    assert isinstance(d.g, LinearFunctions)
    n, products, sums, squares = 0, 0.0, 0.0, 0.0
    for G, columns in batches:
        n += len(G)
        products = products + columns.T @ d.g.of_features(G)  # g has mean 0
        sums, squares = sums + columns.sum(axis=0), squares + (columns**2).sum(axis=0)
    variance = squares / n - (sums / n) ** 2
    scale = np.sqrt(np.where(variance > 1e-12, variance, np.inf))
    sign = signs(products / n / scale[:, None])
    return replace(d, f=replace(d.f, weights=d.f.weights * sign), g=replace(d.g, weights=d.g.weights * sign))


@dataclass(frozen=True, eq=False)
class Encoded(FeatureMap):
    """The encoded columns themselves.

    Parameters
    ----------
    name : str
        "X" or "Y", for errors.
    encoder : Encoder
        From data to rows of numbers.
    """

    name: str
    encoder: Encoder
    kind: ClassVar[str] = "encoded"

    def __call__(self, values: Any) -> np.ndarray:  # noqa: D102
        return dense(self.encoder(values, self.name))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:  # noqa: D102
        return {"name": self.name, "encoder": self.encoder.state()}, {}

    @classmethod
    def from_state(  # noqa: D102
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> Encoded:
        return cls(description["name"], encoder_from_state(description["encoder"]))


@dataclass(frozen=True, eq=False)
class Additive(FeatureMap):
    """Sums of functions of the encoded columns.

    Parameters
    ----------
    name : str
        "X" or "Y", for errors.
    encoder : Encoder
        From data to rows of numbers.
    functions : AdditiveFunctions
        Of the rows.
    """

    name: str
    encoder: Encoder
    functions: AdditiveFunctions
    kind: ClassVar[str] = "additive"

    def __call__(self, values: Any) -> np.ndarray:  # noqa: D102
        return self.functions(dense(self.encoder(values, self.name)))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:  # noqa: D102
        return {"name": self.name, "encoder": self.encoder.state()}, self.functions.state()

    @classmethod
    def from_state(  # noqa: D102
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> Additive:
        encoder = encoder_from_state(description["encoder"])
        return cls(description["name"], encoder, AdditiveFunctions.from_state(arrays))
