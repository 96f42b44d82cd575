"""How the inertia of a table is shared out between conditions, constraints and what is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.labels import to_object_array
from correspondence.results.points import FrameResult

__all__ = ["Partition"]


@dataclass(frozen=True, eq=False, repr=False)
class Partition(FrameResult):
    """Partition of the inertia of a table (the chi-square statistic divided by the total).

    `to_frame` has a row for each part, total first, and the columns part, inertia, share and rank.

    Attributes
    ----------
    total : float
        The inertia of the whole table.
    conditioned : float
        What the variables in `given` explain; 0 without them.
    constrained : float
        What the constraints explain of the rest.
    unconstrained : float
        What is left.
    ranks : dict of str to int
        The number of axes of each part; of "conditioned", the number of independent columns of its design.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA().fit([[9, 2, 1], [5, 5, 3], [2, 6, 4], [1, 3, 8]], constraints=[[1.0], [2.0], [3.0], [4.0]])
    >>> ca.partition_
    Partition of the inertia
                      inertia   share  rank
      total            0.3752  1.0000
      constrained      0.3075  0.8196     1
      unconstrained    0.0677  0.1804     2
    """

    total: float
    conditioned: float
    constrained: float
    unconstrained: float
    ranks: dict[str, int]

    @property
    def shares(self) -> dict[str, float]:
        """Share of each part in the total; that of the constraints is the R2 that is not adjusted."""
        total = self.total or np.inf
        return {part: getattr(self, part) / total for part in ("conditioned", "constrained", "unconstrained")}

    def _collect_columns(self) -> dict[str, Any]:
        parts = ["total", *self.shares]
        return {
            "part": to_object_array(parts),
            "inertia": np.array([getattr(self, part) for part in parts]),
            "share": np.array([1.0, *self.shares.values()]),
            "rank": np.array([np.nan, *(self.ranks[part] for part in self.shares)]),
        }

    def __repr__(self) -> str:
        lines = ["Partition of the inertia", f"  {'':<14}{'inertia':>9}{'share':>8}{'rank':>6}"]
        lines.append(f"  {'total':<14}{self.total:>9.4f}{1:>8.4f}")
        for part, share in self.shares.items():
            if part != "conditioned" or self.ranks[part]:
                lines.append(f"  {part:<14}{getattr(self, part):>9.4f}{share:>8.4f}{self.ranks[part]:>6}")
        return "\n".join(lines)
