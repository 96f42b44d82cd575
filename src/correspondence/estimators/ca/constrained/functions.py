"""Functions of constraints that need the conditions too: combinations of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from correspondence._util import files
from correspondence._util.arguments import as_frame
from correspondence._util.files import State
from correspondence.core.column_features import ManyColumns
from correspondence.core.functions import LinearFunctions, PrincipalFunctions

__all__ = ["PartialFunctions"]


@dataclass(frozen=True, eq=False)
class PartialFunctions(PrincipalFunctions):
    """Sums of functions of the constraints and functions of the conditions.

    Parameters
    ----------
    constraints, given : LinearFunctions
        The functions of both, of features that can be saved.
    """

    constraints: LinearFunctions
    given: LinearFunctions
    kind: ClassVar[str] = "partial"

    def __call__(self, values: Any, given: Any = None) -> np.ndarray:  # noqa: D102
        if given is None:
            given = self._find_conditions(values)
        F, G = self.constraints(values), self.given(given)
        if len(F) != len(G):
            raise ValueError(f"given must have a row for each of the {len(F)} rows of X, got {len(G)}.")
        return F + G

    def _find_conditions(self, values: Any) -> Any:
        """Return a frame if the conditions are among its columns."""
        features, frame = self.given.features, as_frame(values, "X")
        names = [column.name for column in features.columns] if isinstance(features, ManyColumns) else [None]
        if frame is None or not {*names} <= {*frame.columns}:
            advice = "Give them as given=, or as further columns of the frame X."
            raise ValueError(f"given must be the conditions of the rows, as in the fit, got None. {advice}")
        return values

    @property
    def width(self) -> int:  # noqa: D102
        return self.constraints.width

    def truncate(self, k: int) -> PartialFunctions:  # noqa: D102
        return PartialFunctions(self.constraints.truncate(k), self.given.truncate(k))

    def without_sample(self) -> PartialFunctions:  # noqa: D102
        return self

    def accept_unknown(self) -> PartialFunctions:  # noqa: D102
        return PartialFunctions(self.constraints.accept_unknown(), self.given.accept_unknown())

    def evaluate_on_sample(self, h: Any, sample: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # noqa: D102
        raise ValueError("The expectation over the constraints is not known, because their distribution is not kept.")

    def state(self) -> State:  # noqa: D102
        states = {"constraints": self.constraints.state(), "given": self.given.state()}
        arrays = {name: array for key, own in states.items() for name, array in own.prefix_arrays(f"{key}.").items()}
        return State({"kind": self.kind} | {key: own.description for key, own in states.items()}, arrays)

    @classmethod
    def from_state(  # noqa: D102
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> PartialFunctions:
        return cls(
            *(
                LinearFunctions.from_state(description[key], files.strip_prefix(arrays, f"{key}."))
                for key in ("constraints", "given")
            )
        )
