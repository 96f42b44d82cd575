"""The inputs that a classifier is least sure of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from correspondence._util.arguments import read_only
from correspondence.results.frame_result import FrameResult, number_columns

__all__ = ["Confusing"]


@dataclass(frozen=True, eq=False, repr=False)
class Confusing(FrameResult):
    """The most ambiguous of some inputs, the closest call first.

    `to_frame` has one row for each input and the columns index, first, second, margin, f1, f2, ...

    Attributes
    ----------
    index : ndarray of shape (n,)
        Positions among the inputs.
    pairs : ndarray of shape (n, 2)
        The two classes that each input lies between, the likelier first.
    margin : ndarray of shape (n,)
        Belief in the first class less belief in the second.
    position : ndarray of shape (n, d)
        Values of f.
    beliefs : ndarray of shape (n, k)
        Beliefs in all classes.
    classes : ndarray of shape (k,)
        Names of the classes.

    Examples
    --------
    >>> import correspondence as co
    >>> P = [[0.9, 0.1], [0.2, 0.8], [0.55, 0.45]]
    >>> co.ClassifierCA.from_beliefs(P, ["no", "yes"]).confusing(P, n=2)
    Confusing: 2 inputs, the closest call first
             2  no 0.550 | yes, margin 0.1
             1  yes 0.800 | no, margin 0.6
    """

    index: np.ndarray
    pairs: np.ndarray
    margin: np.ndarray
    position: np.ndarray
    beliefs: np.ndarray
    classes: np.ndarray

    def __post_init__(self) -> None:
        read_only(self, "index", "pairs", "margin", "position", "beliefs")

    def __len__(self) -> int:
        return len(self.index)

    def _collect_columns(self) -> dict[str, np.ndarray]:
        columns = {"index": self.index, "first": self.pairs[:, 0], "second": self.pairs[:, 1], "margin": self.margin}
        return columns | number_columns("f", self.position)

    def __repr__(self) -> str:
        head = f"Confusing: {len(self)} inputs, the closest call first"
        rows = [
            f"  {i:>8}  {a} {self.beliefs[j].max():.3f} | {b}, margin {m:.3g}"
            for j, (i, (a, b), m) in enumerate(zip(self.index, self.pairs, self.margin, strict=True))
        ]
        return "\n".join([head, *rows[:20], *(["  ..."] if len(rows) > 20 else [])])
