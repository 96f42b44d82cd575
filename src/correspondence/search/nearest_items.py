"""Exact search for the items with the largest a . b + c, by scikit-learn's neighbours or by faiss.

Every way in which an index ranks its items is such a score: a density ratio, a probability, minus half a squared
distance. One more coordinate turns the largest score into the smallest Euclidean distance, for which there are fast
libraries: with e^2 = s - |b|^2 - 2c, where s is the largest |b|^2 + 2c, the squared distance of (a, 0) from (b, e) is
|a|^2 + s - 2 (a . b + c).
"""

from __future__ import annotations

import importlib.util
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from correspondence._util.extras import explain_missing_extra
from correspondence._util.text import short_repr

__all__ = ["ItemScores", "check_engine", "find_within_radius"]

ENGINE_NAMES = ("auto", "sklearn", "faiss")
# faiss is faster from this many items on, for at most so many queries per call (benchmarks/retrieval.py)
MIN_ITEMS_FOR_FAISS = 100_000
MAX_QUERIES_FOR_FAISS = 16
N_SPARE_ITEMS = 16  # more than asked for, so that rounding in single precision loses none


class ItemScores:
    """Scores a . b + c of items.

    Parameters
    ----------
    positions : ndarray of shape (m, d)
        The vector b of each item.
    offsets : ndarray of shape (m,)
        The number c of each item.
    engine : {"auto", "sklearn", "faiss"}
        "auto" takes faiss, if it is installed, for at most `MAX_QUERIES_FOR_FAISS` queries at once among at least
        `MIN_ITEMS_FOR_FAISS` items.
    """

    def __init__(self, positions: np.ndarray, offsets: np.ndarray, engine: str = "auto") -> None:
        self.positions, self.offsets, self.engine = positions, offsets, check_engine(engine)

    def score_items(self, queries: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Score chosen items; the result has the shape (n, k) of `index`."""
        return np.einsum("nd,nkd->nk", queries, self.positions[index]) + self.offsets[index]

    def find_best(self, queries: np.ndarray, k: int) -> np.ndarray:
        """Find the positions of the k items with the largest scores, the largest first; of equal ones the first.

        Parameters
        ----------
        queries : ndarray of shape (n, d)
            The vector a of each query.
        k : int
            Find this many items, at most all of them.

        Returns
        -------
        ndarray of shape (n, k)
            Positions of the items.
        """
        found = self._find_candidates(queries, min(k + N_SPARE_ITEMS, len(self.positions)))
        found.sort(axis=1)
        order = np.argsort(-self.score_items(queries, found), axis=1, kind="stable")
        return np.take_along_axis(found, order, axis=1)[:, :k]

    def _find_candidates(self, queries: np.ndarray, k: int) -> np.ndarray:
        lifted = np.column_stack([queries, np.zeros(len(queries))])
        if self.uses_faiss(len(queries)):
            found = self._faiss_index.search(np.ascontiguousarray(lifted, dtype=np.float32), k)[1].astype(np.intp)
            if (found >= 0).all():  # otherwise it is beyond single precision
                return found
        return self._neighbours.kneighbors(lifted, k, return_distance=False)

    def uses_faiss(self, n_queries: int) -> bool:
        """Tell whether faiss searches for so many queries at once."""
        is_fast = n_queries <= MAX_QUERIES_FOR_FAISS and len(self.positions) >= MIN_ITEMS_FOR_FAISS
        return self.engine == "faiss" or (self.engine == "auto" and is_fast and has_faiss())

    @cached_property
    def _lifted_positions(self) -> np.ndarray:
        # The coordinate e that turns the largest score into the smallest distance.
        squares = (self.positions**2).sum(axis=1) + 2 * self.offsets
        extra = np.sqrt(squares.max() - squares)
        return np.column_stack([self.positions, extra])

    @cached_property
    def _neighbours(self) -> NearestNeighbors:
        return NearestNeighbors(algorithm="brute").fit(self._lifted_positions)

    @cached_property
    def _faiss_index(self) -> Any:
        import faiss

        index = faiss.IndexFlatL2(self._lifted_positions.shape[1])
        index.add(np.ascontiguousarray(self._lifted_positions, dtype=np.float32))
        return index


def find_within_radius(positions: np.ndarray, queries: np.ndarray, radius: float) -> list[np.ndarray]:
    """Find for each query the items that are at most `radius` away, in no order."""
    if not positions.shape[1]:  # a space without dimensions: all are in the same place
        return [np.arange(len(positions))] * len(queries)
    neighbours = NearestNeighbors(algorithm="brute", radius=radius).fit(positions)
    return list(neighbours.radius_neighbors(queries, return_distance=False))


def check_engine(engine: Any) -> str:
    """Return the name of an engine that is installed."""
    if not isinstance(engine, str) or engine not in ENGINE_NAMES:
        raise ValueError(f"engine must be one of {', '.join(map(repr, ENGINE_NAMES))}, got {short_repr(engine)}.")
    if engine == "faiss" and not has_faiss():
        raise ImportError(explain_missing_extra('engine="faiss" needs faiss', "search"))
    return engine


def has_faiss() -> bool:
    """Tell whether faiss is installed."""
    return importlib.util.find_spec("faiss") is not None
