"""Several methods on the same pairs, judged by pairs that they have not seen."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import brief, check_whole
from correspondence._util.files import csv_text
from correspondence._util.user_warnings import LeftOut
from correspondence.data.counting import as_counted, find_obstacle, take_apart
from correspondence.data.splits import Split, group_codes, splits
from correspondence.data.table import to_frame
from correspondence.selection.method_registry import Pairs, estimator, sensible
from correspondence.selection.race import default_folds, pick_simplest
from correspondence.validation.procedures import CrossFit, check_in_memory, crossfit, labels_of

__all__ = ["Comparison", "compare"]


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
        return to_frame(self._columns(), backend)

    def to_csv(self) -> str:
        """Write the same table as text.

        Returns
        -------
        str
            With commas, and a first line of names.
        """
        columns = self._columns()
        return csv_text([list(columns), *zip(*columns.values(), strict=True)])

    def _columns(self) -> dict[str, np.ndarray]:
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


def compare(
    X: Any,
    Y: Any = None,
    methods: Iterable[str] | Mapping[str, Any] | None = None,
    n_components: int | None = None,
    cv: Any = None,
    *,
    groups: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Try several methods on the same pairs.

    Parameters
    ----------
    X : table of counts, or with Y array-like, frame, list of labels, sparse matrix, list of texts or array of images
        One row for each pair. A table must have whole numbers, at least 40 in all: the pairs that it counts, or
        about 200,000 of them, are compared.
    Y : the same, optional
        The other variable.
    methods : list of str, or dict of str to estimator, optional
        Names among "ca", "ridge-ca", "cca", "ace", "kernel", "logistic", "forest", "mlp" and "pice", or estimators of
        your own; those that are sensible for the data by default.
    n_components : int, optional
        Of each; by default as many as labels allow, at most ten, and three without labels. Components that are not
        there lower what is captured. Estimators of your own have their own.
    cv : int, splitter or iterable, optional
        As in `crossfit`. By default five folds, three from 2000 pairs on, and from 20,000 on (of images
        1000) a single quarter.
    groups : array-like of shape (n,), optional
        Pairs of the same group are never on both sides of a split.
    random_state : int
        Seed of folds and methods.
    n_jobs : int, optional
        Fits at the same time.
    progress : bool or None
        Show a bar, by default from two seconds on.

    Returns
    -------
    Comparison
        With `results`, `best`, `to_frame()`; print it for a table, and see `plot.comparison`.

    Warns
    -----
    LeftOut
        If a method that was not asked for by name cannot be fitted to a part of the pairs.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-2, 2, size=(600, 1)); y = x**2 + 0.5 * rng.normal(size=(600, 1))
    >>> comparison = co.compare(x, y, ["cca", "ace"], n_components=1)
    >>> comparison.best
    'ace'
    >>> bool(comparison.results["cca"].captured < 0.1 < comparison.results["ace"].captured)
    True
    """
    check_in_memory(X)
    if Y is None:
        X, Y = _list_counted(X)
    pairs = Pairs.of(X, Y)
    check_whole(random_state, "random_state", 0, 2**32 - 1)
    together = None if groups is None else group_codes(groups, pairs.n, "groups")
    chosen = _chosen(methods, pairs, n_components, random_state)
    folds = default_folds(pairs, together, random_state) if cv is None else cv
    parts = splits(folds, pairs.n, labels=labels_of(Y), groups=together, random_state=random_state)
    options: dict[str, Any] = {"groups": together, "n_jobs": n_jobs, "progress": progress}
    if methods is not None:
        return Comparison({name: crossfit(est, X, Y, parts, **options) for name, est in chosen.items()}, chosen)
    results, failed = _crossfit_possible(chosen, X, Y, parts, options)
    for name, error in failed.items():
        warnings.warn(f"Left out, because it cannot be compared: {name}. {error}", LeftOut, stacklevel=2)
    return Comparison(results, {name: chosen[name] for name in results})


def _crossfit_possible(
    chosen: dict[str, Any], X: Any, Y: Any, parts: list[Split], options: dict[str, Any]
) -> tuple[dict[str, CrossFit], dict[str, ValueError]]:
    """Cross-fit the methods that can be fitted to every part, and keep what is wrong with the others."""
    results, failed = {}, {}
    for name, est in chosen.items():
        try:
            results[name] = crossfit(est, X, Y, parts, **options)
        except ValueError as error:
            failed[name] = error
    if not results:
        raise next(iter(failed.values()))
    return results, failed


def _list_counted(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Pairs that a table of counts counts."""
    table = as_counted(X)
    why = find_obstacle(table)
    if why:
        raise ValueError(f"X must be a table that can be taken apart into pairs, but {why}. Fit CA to it instead.")
    return take_apart(table)


def _chosen(methods: Any, pairs: Pairs, n_components: int | None, random_state: int) -> dict[str, Any]:
    if isinstance(methods, str) or not (methods is None or isinstance(methods, Iterable)):
        raise ValueError(f"methods must be a list of names or a dictionary, got {brief(methods)}.")
    if isinstance(methods, Mapping):
        if not methods or not all(isinstance(name, str) for name in methods):
            raise ValueError(f"methods must have at least one name, a text, with its estimator, got {brief(methods)}.")
        return dict(methods)
    d = pairs.most if n_components is None else check_whole(n_components, "n_components", 1)
    names = sensible(pairs) if methods is None else list(methods)
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"methods must be names; give estimators in a dictionary, got {brief(names)}.")
    if not names:
        raise ValueError("methods is empty: name at least one.")
    return {name: estimator(name, pairs, d, random_state) for name in names}
