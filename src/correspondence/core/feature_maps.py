"""Features of one variable: its encoded columns, or sums of functions of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from correspondence._util.files import State
from correspondence.core.decomposition import Decomposition
from correspondence.core.functions import FeatureMap, LinearFunctions
from correspondence.core.splines import AdditiveFunctions
from correspondence.core.whitening import choose_signs
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.choosing import encoder_from_state
from correspondence.data.encoders.text import SparseColumns, Text

__all__ = ["Additive", "Encoded", "Loadings", "fix_signs", "iterate_blocks", "to_dense"]

ROWS_PER_BLOCK = 4096


def to_dense(rows: Any) -> np.ndarray:
    """Return the rows that an encoder has made as one array of rows and columns."""
    array = rows.toarray() if sp.issparse(rows) else rows
    return np.asarray(array, dtype=np.float64).reshape(len(array), -1)


def iterate_blocks(*sides: Any) -> Iterator[tuple[Any, ...]]:
    """Yield some rows of all sides at a time."""
    for start in range(0, sides[0].shape[0], ROWS_PER_BLOCK):
        yield tuple(rows[start : start + ROWS_PER_BLOCK] for rows in sides)


@dataclass(frozen=True, eq=False)
class Loadings:
    """Sums over rows from which the correlations of columns with functions of the same rows follow.

    Attributes
    ----------
    n : int
        Number of rows.
    products : ndarray of shape (columns, functions)
        Sums of products of a column and a function.
    sums, squares : ndarray of shape (columns,)
        Sums of the columns, and of their squares.
    totals : ndarray of shape (functions,)
        Sums of the functions.
    """

    n: int
    products: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    totals: np.ndarray

    @classmethod
    def from_batches(cls, batches: Iterable[tuple[np.ndarray, np.ndarray]]) -> Loadings:
        """Sum over batches of functions and columns."""
        parts = [cls(len(G), Z.T @ G, Z.sum(axis=0), (Z**2).sum(axis=0), G.sum(axis=0)) for G, Z in batches]
        return sum(parts[1:], start=parts[0])

    def __add__(self, other: Loadings) -> Loadings:
        mine, others = (vars(sums).values() for sums in (self, other))
        return Loadings(*(a + b for a, b in zip(mine, others, strict=True)))

    @property
    def covariance(self) -> np.ndarray:
        """Covariance of each column with each function."""
        return self.products / self.n - np.outer(self.sums / self.n, self.totals / self.n)

    @property
    def variance(self) -> np.ndarray:
        """Variance of each column."""
        return self.squares / self.n - (self.sums / self.n) ** 2


def fix_signs(d: Decomposition, covariance: np.ndarray, variance: np.ndarray) -> Decomposition:
    """Choose signs by the columns of y: the one most correlated with g_i, in absolute value, is positively so.

    Parameters
    ----------
    d : Decomposition
        It must have functions of features.
    covariance : ndarray of shape (q, d)
        These are the covariances of the encoded columns of y with the functions g.
    variance : ndarray of shape (q,)
        These are the variances of the columns.
    """
    assert isinstance(d.f, LinearFunctions)
    assert isinstance(d.g, LinearFunctions)
    scale = np.sqrt(np.where(variance > 1e-12, variance, np.inf))
    sign = choose_signs(covariance / scale[:, None])
    return replace(d, f=replace(d.f, weights=d.f.weights * sign), g=replace(d.g, weights=d.g.weights * sign))


@dataclass(frozen=True, eq=False)
class Encoded(FeatureMap):
    """The encoded columns themselves.

    Parameters
    ----------
    name : str
        Errors call the variable by this name, "X" or "Y".
    encoder : Encoder
        It turns data into rows of numbers.
    """

    name: str
    encoder: Encoder
    kind: ClassVar[str] = "encoded"

    def __call__(self, values: Any) -> np.ndarray:  # noqa: D102
        return to_dense(self.encoder(values, self.name))

    def map_rows_sparsely(self, values: Any) -> Any:
        """Encode values; rows of words and of wide sparse matrices stay sparse."""
        return self.encoder(values, self.name) if isinstance(self.encoder, Text | SparseColumns) else self(values)

    def state(self) -> State:  # noqa: D102
        return State({"name": self.name, "encoder": self.encoder.state().description}, {})

    @classmethod
    def from_state(  # noqa: D102
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> Encoded:
        return cls(description["name"], encoder_from_state(description["encoder"], arrays))


@dataclass(frozen=True, eq=False)
class Additive(FeatureMap):
    """Sums of functions of the encoded columns.

    Parameters
    ----------
    name : str
        Errors call the variable by this name, "X" or "Y".
    encoder : Encoder
        It turns data into rows of numbers.
    functions : AdditiveFunctions
        These are functions of the rows.
    """

    name: str
    encoder: Encoder
    functions: AdditiveFunctions
    kind: ClassVar[str] = "additive"

    def __call__(self, values: Any) -> np.ndarray:  # noqa: D102
        return self.functions(to_dense(self.encoder(values, self.name)))

    def state(self) -> State:  # noqa: D102
        description = {"name": self.name, "encoder": self.encoder.state().description}
        return State(description, self.functions.state().arrays)

    @classmethod
    def from_state(  # noqa: D102
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> Additive:
        encoder = encoder_from_state(description["encoder"], arrays)
        return cls(description["name"], encoder, AdditiveFunctions.from_state({}, arrays))
