"""Results that are also tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from correspondence.data.table import Backend, to_frame

__all__ = ["FrameResult", "number_columns"]


class FrameResult(ABC):
    """A result that can be read as a data frame, whose columns its class lists."""

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the result as a data frame with the columns that its class lists.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Make a frame of this library; by default it is the first of these that is installed.

        Returns
        -------
        frame
            A native frame of that library.
        """
        return to_frame(self._collect_columns(), backend)

    @abstractmethod
    def _collect_columns(self) -> dict[str, Any]:
        """Return the columns by name."""


def number_columns(prefix: str, values: np.ndarray) -> dict[str, np.ndarray]:
    """Name the columns of an array by a prefix and their numbers, from 1.

    Examples
    --------
    >>> number_columns("f", np.array([[1, 2], [3, 4]]))
    {'f1': array([1, 3]), 'f2': array([2, 4])}
    """
    return {f"{prefix}{i}": column for i, column in enumerate(values.T, start=1)}
