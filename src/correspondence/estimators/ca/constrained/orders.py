"""Orders of rows: drawn at random, or all of them if there are few, within strata."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, permutations, product

import numpy as np

__all__ = ["RowOrders"]

COMPLETE_UP_TO = 5040  # orders, the given one included: if there are so few, all of them are taken


@dataclass(frozen=True, eq=False)
class RowOrders:
    """Orders of n rows in which rows change places only within their stratum; the given order is not one of them.

    Attributes
    ----------
    strata : ndarray of int of shape (n,)
        The stratum of each row.
    n_orders : int
        The number of orders.
    is_complete : bool
        Whether these are all orders that there are, each once.
    seed : int
        The seed of orders that are drawn.

    Examples
    --------
    >>> orders = RowOrders.choose(np.array([0, 0, 1, 1]), 999, 0)
    >>> orders.n_orders, orders.is_complete
    (3, True)
    >>> np.vstack(list(orders.iterate_blocks(2)))
    array([[0, 1, 3, 2],
           [1, 0, 2, 3],
           [1, 0, 3, 2]])
    """

    strata: np.ndarray
    n_orders: int
    is_complete: bool
    seed: int | np.random.Generator

    @classmethod
    def choose(cls, strata: np.ndarray, n_wanted: int, seed: int | np.random.Generator) -> RowOrders:
        """Take all orders if they are no more than wanted, or few; otherwise draw as many as wanted."""
        possible = count_orders(strata)
        is_complete = possible <= max(COMPLETE_UP_TO, n_wanted + 1)
        return cls(strata, possible - 1 if is_complete else n_wanted, is_complete, seed)

    def iterate_blocks(self, size: int) -> Iterator[np.ndarray]:
        """Yield the orders as rows of arrays, at most `size` at once."""
        yield from self._enumerate_blocks(size) if self.is_complete else self._draw_blocks(size)

    def _draw_blocks(self, size: int) -> Iterator[np.ndarray]:
        rng = np.random.default_rng(self.seed)
        places = np.argsort(self.strata, kind="stable")
        for start in range(0, self.n_orders, size):
            keys = rng.random((min(size, self.n_orders - start), len(self.strata)))
            orders = np.empty(keys.shape, dtype=np.intp)
            orders[:, places] = np.argsort(keys + self.strata, axis=1)  # keys are below 1: strata stay apart
            yield orders

    def _enumerate_blocks(self, size: int) -> Iterator[np.ndarray]:
        members = [np.flatnonzero(self.strata == stratum).tolist() for stratum in np.unique(self.strata)]
        places = np.array([row for rows in members for row in rows], dtype=np.intp)
        every = product(*(permutations(rows) for rows in members))
        next(every)  # the given order
        while block := list(islice(every, size)):
            orders = np.empty((len(block), len(places)), dtype=np.intp)
            orders[:, places] = [[row for rows in order for row in rows] for order in block]
            yield orders


def count_orders(strata: np.ndarray) -> int:
    """Count the orders in which rows change places only within their stratum.

    Examples
    --------
    >>> count_orders(np.array([0, 0, 0, 1, 1, 2]))
    12
    """
    return math.prod(math.factorial(size) for size in np.unique(strata, return_counts=True)[1].tolist())
