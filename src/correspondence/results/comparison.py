"""What several methods reach on the same held-out pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.files import csv_text
from correspondence.results.cross_fit import CrossFit
from correspondence.results.frame_result import FrameResult, number_columns
from correspondence.results.held_out import compute_gain

__all__ = ["MIN_CAPTURED_SHOWN", "MIN_STANDARD_ERRORS_AHEAD", "Comparison", "MethodResult", "pick_simplest"]

MIN_CAPTURED_SHOWN = 5e-4  # less captured dependence is shown as 0
MIN_STANDARD_ERRORS_AHEAD = 1.0  # standard errors by which a more flexible method must be ahead


def pick_simplest(results: Mapping[str, MethodResult | CrossFit]) -> str:
    """Find the first method that is not clearly behind the one that captures most.

    Parameters
    ----------
    results : dict of str to MethodResult or CrossFit
        The results by method, from simple to flexible.

    Returns
    -------
    str
        Name of the method.
    """
    ahead = max(results, key=lambda name: results[name].captured)
    return next(
        name
        for name, r in results.items()
        if name == ahead or compute_gain(r.terms, results[ahead].terms) <= MIN_STANDARD_ERRORS_AHEAD
    )


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(FrameResult):
    """What each method reaches on held-out pairs.

    `to_frame` has one row for each method and the columns method, captured, seconds, held_out_1, ..., and so on for
    low, high (the intervals) and training.

    Attributes
    ----------
    results : dict of str to CrossFit
        Results by method, from simple to flexible.
    estimators : dict of str to estimator
        Unfitted estimators by method.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 1)); Y = X**2 + rng.normal(size=(500, 1))         # nothing linear
    >>> comparison = co.compare(X, Y, ["cca", "ace"], n_components=1)
    >>> comparison.best
    'ace'
    >>> comparison.results["ace"].correlations.round(1)
    array([0.9])
    """

    results: dict[str, CrossFit]
    estimators: dict[str, Any]

    @property
    def best(self) -> str:
        """The simplest method that is not clearly behind the one that captures most."""
        return pick_simplest(self.results)

    def to_csv(self) -> str:
        """Write the table of `to_frame` as text.

        Returns
        -------
        str
            A line of names, then one line for each method, with commas between the values.
        """
        columns = self._collect_columns()
        return csv_text([list(columns), *zip(*columns.values(), strict=True)])

    def _collect_columns(self) -> dict[str, np.ndarray]:
        results = self.results.values()
        d = max(len(result.correlations) for result in results)
        columns = {
            "method": np.array(list(self.results), dtype=object),
            "captured": np.array([result.captured for result in results]),
            "seconds": np.array([result.seconds for result in results]),
        }
        for name, values in (
            ("held_out", [result.correlations for result in results]),
            ("low", [result.intervals[:, 0] for result in results]),
            ("high", [result.intervals[:, 1] for result in results]),
            ("training", [result.training for result in results]),
        ):
            padded = np.array([np.pad(v, (0, d - len(v)), constant_values=np.nan) for v in values])
            columns |= number_columns(f"{name}_", padded)
        return columns

    def __repr__(self) -> str:
        shown = min(10, max(len(result.correlations) for result in self.results.values()))
        names = {name: " ".join(name.split())[:20] for name in self.results}
        width = max(map(len, names.values())) + 2
        head = f"{'':{width}}captured  seconds  held-out correlations (training below)"
        lines = [head]
        for name, result in self.results.items():
            mark = "* " if name == self.best else "  "
            lines.append(
                f"{mark + names[name]:{width}}{result.captured:>8.4f} {result.seconds:>8.2f} "
                + "".join(f"{r:>8.3f}" for r in result.correlations[:shown])
            )
            lines.append(f"{'':{width + 17}} " + "".join(f"{r:>8.3f}" for r in result.training[:shown]))
        lines.append("* the simplest that is not clearly behind the best")
        if all(result.captured_interval[0] <= 0 for result in self.results.values()):
            lines.append("Nothing was found: no method captures clearly more than 0.")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class MethodResult:
    """What a method reaches with the number of components that suits it."""

    method: str
    n_components: int
    captured: float
    terms: np.ndarray
    crossfit: CrossFit

    @classmethod
    def from_cross_fit(cls, method: str, result: CrossFit, n_components: int | None) -> MethodResult:
        """Judge a cross-fit by the components asked for, or by the first ones that capture most."""
        d = len(result.correlations)
        if not d:
            return cls(method, 0, result.captured, result.terms, result)
        numbers = range(1, d + 1) if n_components is None else [min(n_components, d)]
        scores = {k: result.captured_first(k) for k in numbers}
        best = max(scores, key=lambda k: scores[k][0])
        return cls(method, best, *scores[best], result)

    def format_captured(self) -> str:
        """Write what is captured with three digits; no component captures more than 1, unless a few pairs decide."""
        if self.captured > len(self.crossfit.correlations):
            return "more than possible"
        return f"{self.captured:.3g}" if abs(self.captured) >= MIN_CAPTURED_SHOWN else "0"
