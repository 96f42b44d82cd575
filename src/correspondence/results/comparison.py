"""What several methods reach on the same held-out pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.files import csv_text
from correspondence.data.table import to_frame
from correspondence.results.cross_fit import CrossFit
from correspondence.results.held_out import compute_gain

__all__ = ["MIN_CAPTURED_SHOWN", "MIN_STANDARD_ERRORS_AHEAD", "Comparison", "MethodResult", "pick_simplest"]

MIN_CAPTURED_SHOWN = 5e-4  # captured dependence that is shown as 0
MIN_STANDARD_ERRORS_AHEAD = 1.0  # standard errors by which a more flexible method must be ahead


def pick_simplest(results: Mapping[str, MethodResult | CrossFit]) -> str:
    """Find the first method that is not clearly behind the one that captures most.

    Parameters
    ----------
    results : dict of str to MethodResult or CrossFit
        Results by method, from simple to flexible.
    """
    ahead = max(results, key=lambda name: results[name].captured)
    return next(
        name
        for name, r in results.items()
        if name == ahead or compute_gain(r.terms, results[ahead].terms) <= MIN_STANDARD_ERRORS_AHEAD
    )


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What each method reaches on held-out pairs.

    Attributes
    ----------
    results : dict of str to CrossFit
        By method, from simple to flexible.
    estimators : dict of str to estimator
        Unfitted.

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

    def to_frame(self, backend: Any = None) -> Any:
        """Everything as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of these that is installed, unless told.

        Returns
        -------
        frame
            One row for each method: captured, seconds, held-out correlations with intervals, training correlations.
        """
        return to_frame(self._collect_columns(), backend)

    def to_csv(self) -> str:
        """Write the same table as text.

        Returns
        -------
        str
            With commas, and a first line of names.
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
            columns |= {f"{name}_{i + 1}": padded[:, i] for i in range(d)}
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
        """Write what is captured with three digits; each component captures 1 at most, unless a few pairs decide."""
        if self.captured > len(self.crossfit.correlations):
            return "more than possible"
        return f"{self.captured:.3g}" if abs(self.captured) >= MIN_CAPTURED_SHOWN else "0"
