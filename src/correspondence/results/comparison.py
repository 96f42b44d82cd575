"""What comparisons of methods and of classifiers return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from correspondence._util.arguments import check_whole, read_only
from correspondence._util.files import csv_text
from correspondence._util.html_tables import HtmlTable
from correspondence._util.text import short_repr
from correspondence.data.table import Backend, Table, to_frame
from correspondence.results.evidence import CrossFit, compute_gain
from correspondence.results.points import FrameResult, number_columns

__all__ = [
    "MIN_CAPTURED_SHOWN",
    "MIN_STANDARD_ERRORS_AHEAD",
    "ClassifierComparison",
    "Comparison",
    "MethodResult",
    "pick_simplest",
]

MIN_CAPTURED_SHOWN = 5e-4  # less captured dependence is shown as 0
MIN_STANDARD_ERRORS_AHEAD = 1.0  # standard errors by which a more flexible method must be ahead
MIN_STANDARD_ERRORS_OF_SOMETHING = 3.0  # standard errors of what the best method captures, if it clearly has something


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
    return next(name for name, r in results.items() if name == ahead or not _is_behind(r, results[ahead]))


def _is_behind(result: MethodResult | CrossFit, leader: MethodResult | CrossFit) -> bool:
    """Say whether a method is clearly behind the leader: by its terms, or because it is worse than nothing."""
    # One pair far out may cost a method everything, and makes its standard error just as large: less than nothing is
    # never good enough where the leader clearly has something.
    has_something = compute_gain(np.zeros_like(leader.terms), leader.terms) > MIN_STANDARD_ERRORS_OF_SOMETHING
    is_worse_than_nothing = has_something and result.captured < 0
    return is_worse_than_nothing or compute_gain(result.terms, leader.terms) > MIN_STANDARD_ERRORS_AHEAD


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
    notes : tuple of str
        What was done with copies and rare labels, in sentences.

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
    notes: tuple[str, ...] = ()

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

    def _list_text_lines(self) -> list[str]:
        head = f"Comparison of {len(self.results)} method{'s' * (len(self.results) != 1)}"
        return [f"{head}: {self.best} is the simplest that is not clearly behind the best", *self._list_notes()]

    def _list_notes(self) -> list[str]:
        is_nothing = all(result.captured_interval[0] <= 0 for result in self.results.values())
        return ["Nothing was found: no method captures clearly more than 0."] * is_nothing + [*self.notes]

    def __repr__(self) -> str:
        shown = min(10, max(len(result.correlations) for result in self.results.values()))
        names = {name: " ".join(name.split())[:20] for name in self.results}
        width = max(map(len, names.values())) + 4
        head = f"{'':{width}}captured  seconds  held-out correlations (training below)"
        lines = [head]
        for name, result in self.results.items():
            mark = "* " if name == self.best else "  "
            lines.append(
                f"{mark + names[name]:{width}}{_format_captured(result.captured):>8} {result.seconds:>8.2f} "
                + "".join(f"{r:>8.3f}" for r in result.correlations[:shown])
            )
            lines.append(f"{'':{width + 17}} " + "".join(f"{r:>8.3f}" for r in result.training[:shown]))
        lines.append("* the simplest that is not clearly behind the best")
        return "\n".join([*lines, *self._list_notes()])


def _format_captured(captured: float) -> str:
    """Format what is captured in eight characters; far below nothing is just that."""
    return f"{captured:.4f}" if captured > -100 else "< -100"


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


@dataclass(frozen=True, eq=False, repr=False)
class ClassifierComparison(HtmlTable):
    """Beliefs of several classifiers of the same inputs; what `compare_classifiers` returns.

    Attributes
    ----------
    names : list of str
        Names of the m models.
    classes : ndarray of shape (k,)
        Classes in the order of the first model.
    beliefs : ndarray of shape (m, n, k)
        Belief of each model, for each input, in each class.
    models : dict from name to ClassifierCA
        The analysis of each model on its own; these take beliefs for X.
    common : ClassifierCA
        The analysis of all models together, as if each input were given to one of them at random: a space in which the
        beliefs of all models have a place, with the same boundaries.
    disagreement : ndarray of shape (n,)
        Mean distance between two models for each input: the largest difference between the probabilities that they give
        to any set of classes (total variation), from 0 to 1.
    scores : dict from name to dict
        ``accuracy``, ``log_loss`` and ``captured`` of each model, if labels were given.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> careful = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> bold = lambda X: np.column_stack([X[:, 0] < 0.4, X[:, 0] >= 0.4]).astype(float)
    >>> X = np.linspace(0.05, 0.95, 10)[:, None]
    >>> comparison = co.compare_classifiers({"careful": careful, "bold": bold}, X)
    >>> comparison
    2 classifiers of 10 inputs, 2 classes
      careful: correlations 0.574
      bold: correlations 1.000
      careful and bold predict the same class for 90.0 % of the inputs
      mean disagreement of beliefs 0.2600, largest 0.5500
    >>> X[comparison.most_index(1)]
    array([[0.45]])
    """

    names: list[str]
    classes: np.ndarray
    beliefs: np.ndarray
    models: dict[str, Any]
    common: Any
    disagreement: np.ndarray
    scores: dict[str, dict[str, float]]

    def __post_init__(self) -> None:
        read_only(self, "beliefs", "disagreement")

    @property
    def predictions(self) -> np.ndarray:
        """The likeliest class of each input by each model, of shape (m, n)."""
        return self.classes[self.beliefs.argmax(axis=2)]

    @property
    def agreement(self) -> np.ndarray:
        """Share of the inputs for which two models predict the same class, of shape (m, m)."""
        top = self.beliefs.argmax(axis=2)
        return (top[:, None] == top[None]).mean(axis=2)

    def positions(self, name: str) -> np.ndarray:
        """Locate the inputs as one of the models sees them: their f in the common space.

        Parameters
        ----------
        name : str
            The name of the model.

        Returns
        -------
        ndarray of shape (n, d)
            Positions in the order of the inputs.
        """
        return self.common.locate(self.beliefs[self._find_model(name)])

    def table(self, first: str | None = None, second: str | None = None) -> Table:
        """Count how often two models predict each pair of classes: a table for `CA`.

        Parameters
        ----------
        first, second : str, optional
            The names of the models; by default they are the first two, or the one given and the first of the others.

        Returns
        -------
        Table
            Predictions of the first model in the rows, those of the second in the columns.
        """
        i = 0 if first is None else self._find_model(first)
        j = int(i == 0) if second is None else self._find_model(second)
        counts = np.zeros((len(self.classes),) * 2)
        top = self.beliefs.argmax(axis=2)
        np.add.at(counts, (top[i], top[j]), 1)
        return Table(counts, self.classes, self.classes)

    def most(self, n: int = 10, backend: Backend | None = None) -> Any:
        """Return a data frame of the inputs on which the models disagree most.

        Parameters
        ----------
        n : int
            Return at most this many inputs.
        backend : {"pandas", "polars", "pyarrow"}, optional
            Make a frame of this library; by default it is the first of these that is installed.

        Returns
        -------
        frame
            One row for each input, the largest disagreement first: index, disagreement, prediction of each model.
        """
        rows = self.most_index(n)
        predicted = {name: self.predictions[i, rows] for i, name in enumerate(self.names)}
        return to_frame({"index": rows, "disagreement": self.disagreement[rows], **predicted}, backend)

    def most_index(self, n: int = 10) -> np.ndarray:
        """Find the inputs on which the models disagree most.

        Parameters
        ----------
        n : int
            Return at most this many inputs.

        Returns
        -------
        ndarray of int
            Positions of the inputs, the largest disagreement first.
        """
        return np.argsort(-self.disagreement, kind="stable")[: check_whole(n, "n", 1)]

    def _find_model(self, name: str) -> int:
        if not isinstance(name, str) or name not in self.names:
            raise ValueError(f"name must be one of {', '.join(self.names)}, got {short_repr(name)}.")
        return self.names.index(name)

    _n_text_lines = None

    def _collect_columns(self) -> dict[str, Any]:
        names = dict.fromkeys(name for scores in self.scores.values() for name in scores)
        correlations = [self.models[name].correlations_[:5] for name in self.names]
        padded = np.array([np.pad(own, (0, 5 - len(own)), constant_values=np.nan) for own in correlations])
        known = padded[:, np.isfinite(padded).any(axis=0)]
        scores = {what: [self.scores.get(name, {}).get(what) for name in self.names] for what in names}
        return {"model": self.names} | number_columns("correlation_", known) | scores

    def __repr__(self) -> str:
        n = self.beliefs.shape[1]
        lines = [f"{len(self.names)} classifiers of {n:,} inputs, {len(self.classes)} classes"]
        for name in self.names:
            shown = " ".join(f"{r:.3f}" for r in self.models[name].correlations_[:5])
            scores = "".join(
                f", {what.replace('_', ' ')} {value:.4f}" for what, value in self.scores.get(name, {}).items()
            )
            lines.append(f"  {name}: correlations {shown}{scores}")
        for i, j in combinations(range(len(self.names)), 2):
            same = 100 * self.agreement[i, j]
            lines.append(f"  {self.names[i]} and {self.names[j]} predict the same class for {same:.1f} % of the inputs")
        mean, largest = self.disagreement.mean(), self.disagreement.max()
        lines.append(f"  mean disagreement of beliefs {mean:.4f}, largest {largest:.4f}")
        return "\n".join(lines)
