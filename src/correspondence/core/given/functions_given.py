"""Functions of what is left of a variable once others are given: f(x) minus what is expected of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from correspondence._util.files import State, strip_prefix
from correspondence.core.functions import LinearFunctions, PrincipalFunctions
from correspondence.core.given.regression import GivenRegression
from correspondence.data.beside_given import BesideGiven

__all__ = ["FunctionsGiven"]


@dataclass(frozen=True, eq=False)
class FunctionsGiven(PrincipalFunctions):
    """Functions of one variable, minus their expectations by given variables.

    Parameters
    ----------
    functions : LinearFunctions
        The functions f(x).
    regression : GivenRegression
        It expects these functions by the given variables z: E[f(x) | z].
    """

    functions: LinearFunctions
    regression: GivenRegression
    kind: ClassVar[str] = "given"
    needs_given: ClassVar[bool] = True

    def __call__(self, values: Any, given: Any = None) -> np.ndarray:
        """Evaluate f(x) - E[f(x) | z].

        Parameters
        ----------
        values : array-like or BesideGiven
            The values of x, with or without the given variables beside them.
        given : array-like or frame, optional
            The given variables of the same rows.
        """
        if not isinstance(values, BesideGiven):
            if given is None:
                raise ValueError("given must hold the given variables of the same rows, as in the fit, got None.")
            values = BesideGiven.from_rows(values, given, getattr(self.functions.features, "name", "X"))
        return self.regression.leave(self.functions(values.values), values.given)

    @property
    def width(self) -> int:  # noqa: D102
        return self.functions.width

    def truncate(self, k: int) -> FunctionsGiven:  # noqa: D102
        some = np.eye(self.width)[:, :k]
        return FunctionsGiven(self.functions.truncate(k), self.regression.combine_functions(some, np.zeros(k)))

    def without_sample(self) -> FunctionsGiven:  # noqa: D102
        return replace(self, functions=self.functions.without_sample())

    def accept_unknown(self) -> FunctionsGiven:  # noqa: D102
        return FunctionsGiven(self.functions.accept_unknown(), self.regression.accept_unknown())

    def evaluate_on_sample(self, h: Any, sample: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # noqa: D102
        raise ValueError(
            "given must be None in the fit for an expectation over Y, which needs functions of Y alone. Fit without "
            "given=, or regress h(Y) on d.f(X, given=Z)."
        )

    def state(self) -> State:  # noqa: D102
        sides = State.join({"functions": self.functions.state(), "regression": self.regression.state()})
        return State({"kind": self.kind} | sides.description, sides.arrays)

    @classmethod
    def from_state(  # noqa: D102
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> FunctionsGiven:
        functions, regression = (strip_prefix(arrays, f"{key}.") for key in ("functions", "regression"))
        return cls(
            LinearFunctions.from_state(description["functions"], functions),
            GivenRegression.from_state(description["regression"], regression),
        )
