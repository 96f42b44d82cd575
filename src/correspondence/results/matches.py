"""Items found for queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from correspondence._util.arguments import read_only
from correspondence._util.text import list_names
from correspondence.results.frame_result import FrameResult

__all__ = ["Matches"]


@dataclass(frozen=True, eq=False, repr=False)
class Matches(FrameResult):
    """Items that an index found for each query, the best first.

    A search for `k` items gives arrays of shape (n, k). A search within a `radius` gives arrays of n arrays, each as
    long as there are items within the radius, as in scikit-learn. `to_frame` has one row for each match and the columns
    query, rank (from 1), label, index, distance, ratio and probability.

    Attributes
    ----------
    labels : ndarray
        Labels of the items found.
    index : ndarray
        Positions of the items in the index.
    distances : ndarray
        Distances between f(x) and g(y).
    ratios : ndarray
        Density ratios p(x, y) / (p(x) p(y)): how many times likelier than by chance the two go together (by Mehler's
        formula if the index ranks by it, otherwise by Lancaster's).
    probabilities : ndarray
        Probabilities of the item given the query. By "gaussian" those of all items of the index sum to 1; otherwise
        they are prior times ratio, clipped to [0, 1]. Those of an x given a y are therefore small in a large index.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA().fit(co.datasets.load_housetasks())
    >>> who = ca.columns_.labels
    >>> found = co.CrossModalIndex(ca, who, who).tags(["Laundry", "Repairs"], k=2)
    >>> found
    Matches for 2 queries: label (probability), the best first
      0: Wife (0.886), Alternating (0.0795)
      1: Husband (0.97), Alternating (0.0182)
    >>> found.ratios[:, 0].round(1)                 # times likelier than by chance
    array([2.6, 4.4])
    """

    labels: np.ndarray
    index: np.ndarray
    distances: np.ndarray
    ratios: np.ndarray
    _find_probabilities: Callable[[], np.ndarray]

    def __post_init__(self) -> None:
        read_only(self, "labels", "index", "distances", "ratios")

    @cached_property
    def probabilities(self) -> np.ndarray:  # noqa: D102 (above); computed when asked for, from all items of the index
        return self._find_probabilities()

    def __len__(self) -> int:
        return len(self.labels)

    def _collect_columns(self) -> dict[str, np.ndarray]:
        counts = [len(found) for found in self.index]
        columns = {
            "query": np.repeat(np.arange(len(self)), counts),
            "rank": np.concatenate([np.arange(1, count + 1) for count in counts] or [np.empty(0, int)]),
        }
        names = {"label": "labels", "index": "index", "distance": "distances", "ratio": "ratios"}
        for column, name in (names | {"probability": "probabilities"}).items():
            columns[column] = np.concatenate([*getattr(self, name)] or [np.empty(0)])
        return columns

    def __repr__(self) -> str:
        lines = [f"Matches for {len(self)} quer{'y' if len(self) == 1 else 'ies'}: label (probability), the best first"]
        for i, (labels, values) in enumerate(zip(self.labels[:10], self.probabilities, strict=False)):
            shown = list_names(zip(labels, values, strict=True), 5, show=lambda match: "{} ({:.3g})".format(*match))
            lines.append(f"  {i}: {shown}")
        return "\n".join([*lines, *(["  ..."] if len(self) > 10 else [])])
