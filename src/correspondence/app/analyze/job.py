"""The job itself: which method, what it finds, how far that holds, and what it means."""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.app.analyze.inputs import Data
from correspondence.classifiers.estimator import ClassifierCA
from correspondence.core.decomposition import Decomposition
from correspondence.describe.axis_words import AxisWords, find_axis_words
from correspondence.describe.sentences import write_sentences
from correspondence.results.evidence import Component, list_components
from correspondence.results.held_out import HeldOut
from correspondence.results.latent_dimension import LatentDimension
from correspondence.selection.decompose import NOTHING_FOUND_TEXT, Choice, choose_decomposition

__all__ = ["SAVABLE_METHODS", "Analysis", "analyze_data"]

SAVABLE_METHODS = (
    "ca",
    "ridge-ca",
    "cca",
    "ace",
    "kernel",
    "pice",
)  # methods whose functions can be written without pickle
MAX_CA_COMPONENTS = 10  # components of correspondence analysis
CHOSEN_METHOD_NOTE = (
    "The method was chosen by the same pairs, so its held-out figures may be a little too high; --method skips that."
)


@dataclass(frozen=True, eq=False)
class Analysis:
    """What was found in a file.

    Attributes
    ----------
    data : Data
        What was analysed.
    est : Decomposition or ClassifierCA
        For the page, which can draw more of a classifier.
    decomposition : Decomposition
        The result.
    method, reason : str
        Which method, and why.
    held_out : LatentDimension, HeldOut or None
        What is left on pairs that the fit has not seen.
    not_held_out : str
        Why there is nothing of that kind.
    words : list of AxisWords
    sentences : list of str
        What a colleague would say.
    notes : tuple of str
        Warnings.
    seconds : float
        That it took.
    """

    data: Data
    est: Any
    decomposition: Decomposition
    method: str
    reason: str
    held_out: LatentDimension | HeldOut | None
    not_held_out: str
    words: list[AxisWords]
    sentences: list[str]
    notes: tuple[str, ...]
    seconds: float

    @property
    def names(self) -> tuple[str, str]:
        """What the two variables are called."""
        return self.data.x.name, self.data.y.name

    @property
    def is_saved(self) -> bool:
        """Whether the functions can be written to a file."""
        return self.method in (*SAVABLE_METHODS, "beliefs")

    @property
    def n_significant(self) -> int | None:
        """How many components are more than chance, if that was tested."""
        return self.held_out.n_components if isinstance(self.held_out, LatentDimension) else None

    @property
    def components(self) -> list[Component]:
        """One for each pair of functions that is kept."""
        return list_components(self.decomposition, None if self.held_out is None else self.held_out.evidence)


@dataclass(frozen=True, eq=False)
class _WayResult:
    """Result of one of the ways."""

    method: str
    reason: str
    decomposition: Decomposition
    held_out: Any = None
    not_held_out: str = ""
    est: Any = None
    note: str = ""


def analyze_data(
    data: Data,
    method: str = "auto",
    n_components: int | None = None,
    *,
    random_state: int = 0,
    progress: bool | None = None,
) -> Analysis:
    """Analyse data.

    Parameters
    ----------
    data : Data
        From `read`.
    method : str
        "auto", which chooses among those that can be saved, or one of `METHODS`.
    n_components : int, optional
        How many components are kept; by default those that are significant, of correspondence analysis all up to 10.
    random_state : int
        Of folds and methods.
    progress : bool, optional
        Show bars, by default in a terminal from two seconds on.

    Returns
    -------
    Analysis
    """
    begin = time.perf_counter()
    check_options(data, method, n_components)
    ways = {"pairs": _analyze_pairs, "counts": _analyze_counts, "table": _analyze_counts, "beliefs": _analyze_beliefs}
    with collect_warnings() as notes:
        found = ways[data.form](data, method, n_components, random_state, progress)
    d = replace(found.decomposition, origin=f"{found.method}: {found.reason}.")
    if not d.n_components:
        raise ValueError("Nothing can be analysed: x and y have no component in common at all.")
    if n_components is not None and d.n_components < n_components:
        notes.append(f"There are only {d.n_components} components, fewer than --components {n_components}.")
    if found.note:
        notes.append(found.note)
    held_out = _bounded(found.held_out, data)
    if isinstance(held_out, LatentDimension) and not held_out.n_components:
        notes.append(NOTHING_FOUND_TEXT)
    words, said = _in_words(d, data, held_out)
    est = found.est or d
    seconds = time.perf_counter() - begin
    return Analysis(
        *(data, est, d, found.method, found.reason, held_out, found.not_held_out),
        *(words, said, tuple(dict.fromkeys(notes)), seconds),
    )


def _bounded(held_out: Any, data: Data) -> Any:
    """The same test, which knows that labels allow no more components than were tested."""
    if isinstance(held_out, LatentDimension) and len(held_out.pvalues) >= find_component_limit(data)[0]:
        return replace(held_out, can_be_more=False)
    return held_out


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Warnings of this package as texts; those of others say nothing to users."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", CorrespondenceWarning)
        try:
            yield notes
        finally:
            notes += [str(warning.message) for warning in caught if issubclass(warning.category, CorrespondenceWarning)]


def _in_words(d: Decomposition, data: Data, held_out: Any) -> tuple[list[AxisWords], list[str]]:
    X, Y = (data.x.values, data.y.values) if data.form == "pairs" else (None, None)
    words = find_axis_words(d, X, Y)
    return words, write_sentences(d, words, held_out, (data.x.name, data.y.name))


def check_options(data: Data, method: str, n_components: int | None) -> None:
    """Say what cannot work before anything takes long."""
    if data.form == "beliefs" and method != "auto":
        raise ValueError("--method must be left out with --beliefs: their analysis is exact.")
    if data.form in ("counts", "table") and method not in ("auto", "ca", "ridge-ca"):
        raise ValueError(f"--method {method} needs pairs (x, y): a table of counts has the methods ca and ridge-ca.")
    if method in ("ca", "ridge-ca") and data.form == "pairs" and {data.x.kind, data.y.kind} != {"labels"}:
        other = data.x if data.x.kind != "labels" else data.y
        hint = "--labels makes labels of numbers"
        raise ValueError(f"--method ca needs labels for x and y, but {other.role} has {other.text}: {hint}.")
    if method == "pice":
        importlib.import_module("correspondence.estimators.pice")  # which says how to install torch
    most, why = find_component_limit(data)
    if n_components is not None and n_components > most:
        raise ValueError(f"--components {n_components} is too many: there can be at most {most}, because {why}.")


def find_component_limit(data: Data) -> tuple[int, str]:
    """How many components there can be, and why."""
    if data.form == "beliefs":
        k = len(data.x.columns)
        return k - 1, f"there are {k} classes"
    if data.table is not None:
        rows, columns = (int((data.table.counts.sum(axis=axis) > 0).sum()) for axis in (1, 0))
        return min(rows, columns) - 1, f"the table has {rows} rows and {columns} columns with counts"
    n = len(data.ids)
    limits = [(n - 1, f"there are {n} rows")]
    for side in (data.x, data.y):
        if side.kind == "labels":
            k = len(side.labels_with_shares[0])
            limits.append((k - 1, f"{side.role} has {k} labels"))
    return min(limits, key=lambda limit: limit[0])


def _analyze_pairs(data: Data, method: str, n_components: int | None, seed: int, progress: bool | None) -> _WayResult:
    options = {"groups": data.groups, "random_state": seed, "progress": progress}
    are_labels = data.x.kind == data.y.kind == "labels"
    return choose_method(data, data.x.values, data.y.values, method, n_components, are_labels, options)


def _analyze_counts(data: Data, method: str, n_components: int | None, seed: int, progress: bool | None) -> _WayResult:
    options = {"random_state": seed, "progress": progress}
    found = choose_method(data, data.table, None, method, n_components, True, options)
    what = "x and y are labels, and counted" if data.form == "counts" else "a table of counts"
    return replace(found, reason=f"{what}; {found.reason}" if found.held_out is not None else what)


def choose_method(
    data: Data, X: Any, Y: Any, method: str, n_components: int | None, are_labels: bool, options: dict[str, Any]
) -> _WayResult:
    """Choose a method, and judge its components on held-out pairs.

    Of labels more components than the significant ones are kept, because a map of one axis says little: all up to ten
    of the exact analysis, and two of one with a ridge.
    """
    first = None
    if n_components is None and are_labels:
        first = choose_decomposition(X, Y, None, method, among=SAVABLE_METHODS, **options)
        method, most = first.method, find_component_limit(data)[0]
        n_components = max(1, min(most, MAX_CA_COMPONENTS if method == "ca" else max(2, first.found or 1)))
    choice: Choice = choose_decomposition(X, Y, n_components, method, among=SAVABLE_METHODS, test=True, **options)
    reason, is_compared = (first.reason, first.is_compared) if first else (choice.reason, choice.is_compared)
    note = CHOSEN_METHOD_NOTE if is_compared and choice.dimension else ""
    return _WayResult(choice.method, reason, choice.decomposition, choice.dimension, choice.not_tested, note=note)


def _analyze_beliefs(data: Data, method: str, n_components: int | None, seed: int, progress: bool | None) -> _WayResult:
    est = ClassifierCA(n_components=n_components, classes=list(data.x.columns), progress=progress)
    est.fit(data.x.values, data.y.values)
    why = "" if est.held_out_ is not None else "the true labels are not given"
    return _WayResult("beliefs", "exact, from the beliefs alone", est.decomposition_, est.held_out_, why, est)
