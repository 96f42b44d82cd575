"""The job of analyze: read, decompose, describe, write and print."""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from correspondence._util.progress import ProgressArgument, StageLine
from correspondence._util.text import list_names
from correspondence.app.analyze.clusters import FileClusters
from correspondence.app.analyze.inputs import Data
from correspondence.app.analyze.inputs.orders import pair_values, say_orders
from correspondence.app.messages import collect_warnings, make_safe
from correspondence.classifiers.estimator import ClassifierCA
from correspondence.core.decomposition import Decomposition
from correspondence.data.column_kinds import find_row_names
from correspondence.data.copies import DUPLICATES
from correspondence.describe.axis_words import AxisWords, find_axis_words
from correspondence.describe.sentences import write_sentences
from correspondence.describe.structure import structure
from correspondence.results.component_tests import LatentDimension
from correspondence.results.evidence import Component, CrossFit, HeldOut, find_points, list_components
from correspondence.selection.choice import NOTHING_FOUND_TEXT
from correspondence.selection.decompose import choose_decomposition
from correspondence.selection.preparing import PreparedLabels
from correspondence.selection.time_budget import TimeBudget

__all__ = ["Analysis", "analyze_data", "format_components", "format_summary", "list_structure_rows"]

MAX_CA_COMPONENTS = 10  # components that correspondence analysis keeps
CHOSEN_METHOD_NOTE = (
    "The method was chosen by the same pairs, so its held-out figures may be a little too high; --method skips that."
)


@dataclass(frozen=True, eq=False)
class Analysis:
    """What was found in a file.

    Attributes
    ----------
    data : Data
        The data that were analysed.
    est : Decomposition or ClassifierCA
        The object that the page draws; it can draw more of a classifier than of its decomposition.
    decomposition : Decomposition
        The result.
    method, reason : str
        The method, and why it was taken.
    held_out : LatentDimension, HeldOut or None
        The evidence from held-out pairs.
    not_held_out : str
        The reason why there is no such evidence.
    words : list of AxisWords
        The words for the ends of each axis.
    sentences : list of str
        The result as a colleague would put it.
    notes : tuple of str
        The warnings.
    guards : tuple of str
        What was done with copies and rare labels, in sentences; they are among the notes.
    crossfit : CrossFit or None
        Out-of-fold functions of the pairs, which tell how columns go with the axes on held-out pairs.
    seconds : float
        The time that the analysis took.
    not_saved : str
        The reason why the functions cannot be written to a file; empty if they can.
    clusters : FileClusters or None
        The clusters of x, if they were asked for.
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
    not_saved: str = ""
    guards: tuple[str, ...] = ()
    crossfit: CrossFit | None = None
    clusters: FileClusters | None = None

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two variables."""
        return self.data.x.name, self.data.y.name

    @property
    def is_saved(self) -> bool:
        """Whether the functions can be written to a file."""
        return not self.not_saved

    @property
    def n_significant(self) -> int | None:
        """The number of components that are more than chance, if that was tested."""
        return self.held_out.n_components if isinstance(self.held_out, LatentDimension) else None

    @property
    def points(self) -> list[int]:
        """The numbers of the components whose interval is a point: they are not judged."""
        intervals = None if self.held_out is None else self.held_out.evidence.intervals
        kept = range(self.decomposition.n_components)
        return [] if intervals is None else [i + 1 for i in kept if i < len(intervals) and find_points(intervals)[i]]

    @property
    def components(self) -> list[Component]:
        """The figures of each component that is kept."""
        return list_components(self.decomposition, None if self.held_out is None else self.held_out.evidence)


@dataclass(frozen=True, eq=False)
class _WayResult:
    """Result of one of the ways to analyse data."""

    method: str
    reason: str
    decomposition: Decomposition
    held_out: Any = None
    not_held_out: str = ""
    est: Any = None
    note: str = ""
    guards: tuple[str, ...] = ()
    prepared: PreparedLabels = field(default_factory=PreparedLabels)
    crossfit: CrossFit | None = None


def analyze_data(
    data: Data,
    method: str = "auto",
    n_components: int | None = None,
    *,
    min_count: int | str = "auto",
    splits_copies: bool = False,
    random_state: int = 0,
    progress: ProgressArgument = None,
    time_limit: float | TimeBudget | None = None,
) -> Analysis:
    """Analyse data.

    Parameters
    ----------
    data : Data
        The data that `read_data` returned.
    method : str
        The name of a method, or "auto", which chooses among those that suit the data.
    n_components : int, optional
        Keep this many components; by default the significant ones, and up to 10 of a correspondence analysis.
    min_count : int or "auto"
        Merge labels that occur fewer times, as `decompose` does.
    splits_copies : bool
        Let copies of a row be on both sides of a split.
    random_state : int
        The seed of folds and methods.
    progress : bool, optional
        Show progress bars; by default in a terminal, from two seconds on. Or the line that tells the stages.
    time_limit : float or TimeBudget, optional
        Skip methods that would not finish in so many seconds, and shorten or cut off tests; or a budget that has begun.

    Returns
    -------
    Analysis
        The result and what is known about it.
    """
    begin, budget = time.perf_counter(), TimeBudget.from_limit(time_limit)
    check_options(data, method, n_components)
    with collect_warnings() as notes:
        if data.form == "beliefs":
            found = _analyze_beliefs(data, n_components, None if isinstance(progress, StageLine) else progress)
        else:
            groups = DUPLICATES if data.groups is None and not splits_copies else data.groups
            min_count = 1 if data.ordered and min_count == "auto" else min_count  # merged labels would have no place
            options = {"groups": groups, "min_count": min_count, "random_state": random_state, "progress": progress}
            found = choose_method(data, method, n_components, options | {"time_limit": budget})
            data = merge_rare_values(data, found.prepared)
    d = replace(found.decomposition, origin=f"{found.method}: {found.reason}.")
    if not d.n_components:
        raise ValueError("Nothing can be analysed: x and y have no component in common at all.")
    if n_components is not None and d.n_components < n_components:
        notes.append(f"Components found: {d.n_components}, fewer than --components {n_components}.")
    notes += [note for note in (found.note, *found.guards) if note]
    held_out = found.held_out
    if isinstance(held_out, LatentDimension):
        if len(held_out.pvalues) >= find_component_limit(data)[0]:  # all that labels allow were tested
            held_out = replace(held_out, can_be_more=False)
        if not held_out.n_components:
            notes.append(NOTHING_FOUND_TEXT)
    if isinstance(progress, StageLine):
        progress.tell("finding words for the axes")
    values = (data.x.values, data.y.values) if data.form == "pairs" else ()
    no_words: list[AxisWords] = []
    words = budget.attempt("The search for words", 1.0, partial(find_axis_words, d, *values), no_words)
    notes += budget.notes
    sentences = write_sentences(d, words, held_out, (data.x.name, data.y.name))
    not_saved = find_saving_obstacle(d)
    if not_saved:
        notes.append(not_saved)
    return Analysis(
        *(data, found.est or d, d, found.method, found.reason, held_out, found.not_held_out),
        *(words, sentences, tuple(dict.fromkeys(notes)), time.perf_counter() - begin, not_saved, found.guards),
        found.crossfit if data.form == "pairs" else None,
    )


def find_saving_obstacle(d: Decomposition) -> str:
    """Say why a decomposition cannot be saved; nothing if it can."""
    try:
        d.state()
    except TypeError as error:
        return f"The model is not saved, all else is: {error}"
    return ""


def check_options(data: Data, method: str, n_components: int | None) -> None:
    """Raise an error for options that cannot work, before anything takes long."""
    if data.form == "beliefs" and method != "auto":
        raise ValueError("--method must be left out with --beliefs: their analysis is exact.")
    if data.form in ("counts", "table") and method not in ("auto", "ca", "ridge-ca"):
        raise ValueError(f"--method {method} needs pairs (x, y): a table of counts has the methods ca and ridge-ca.")
    if method in ("ca", "ridge-ca") and data.form == "pairs" and {data.x.kind, data.y.kind} != {"labels"}:
        other = data.x if data.x.kind != "labels" else data.y
        hint = "--labels makes labels of numbers"
        raise ValueError(f"--method ca needs labels for x and y, but {other.role} has {other.text}: {hint}.")
    for side in (data.x, data.y) if data.form == "pairs" and method == "auto" else ():
        if side.kind == "labels" and (found := find_row_names(side.labels_with_shares[1].tolist(), len(data.ids))):
            raise ValueError(
                f"--{side.role} must have labels that occur several times, but {side.name!r} names the rows: {found}. "
                "Take another column; --id names the rows."
            )
    if data.ordered and method not in ("auto", "ca", "ace"):
        raise ValueError(f"--method must be ca or ace with --ordered, got {method}: others do not keep the order.")
    if method == "pice":
        importlib.import_module("correspondence.estimators.pice")  # which says how to install torch
    most, why = find_component_limit(data)
    if n_components is not None and n_components > most:
        raise ValueError(f"--components {n_components} is too many: there can be at most {most}, because {why}.")


def find_component_limit(data: Data) -> tuple[int, str]:
    """Return the largest possible number of components, and why there cannot be more."""
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


def merge_rare_values(data: Data, prepared: PreparedLabels) -> Data:
    """Return pairs with the labels that were analysed; of a table they are those of the functions."""
    if data.table is not None or not prepared.merges:
        return data
    X, Y = prepared.merge_pairs(data.x.values, data.y.values)
    return replace(data, x=replace(data.x, values=X), y=replace(data.y, values=Y))


def choose_method(data: Data, method: str, n_components: int | None, options: dict[str, Any]) -> _WayResult:
    """Choose a method, and judge its components on held-out pairs.

    For labels, more components than the significant ones are kept, because a map of one axis says little: up to ten
    from the exact analysis, and two from one with a ridge.
    """
    X, Y = (data.x.values, data.y.values) if data.table is None else (data.table, None)
    first, is_asked = None, method != "auto"
    if data.ordered:
        X, Y = pair_values(data)
        method = "ca" if data.x.kind == data.y.kind == "labels" else "ace"
        options = options | ({} if data.table is None else {"groups": None})
    if n_components is None and data.x.kind == data.y.kind == "labels":
        first = choose_decomposition(X, Y, None, method, **options)
        method, options = first.method, options | {"min_count": first.prepared.min_count}
        most = find_component_limit(merge_rare_values(data, first.prepared))[0]
        if data.table is not None:
            most = find_component_limit(replace(data, table=first.prepared.merge_counts(data.table)))[0]
        n_components = max(1, min(most, MAX_CA_COMPONENTS if method == "ca" else max(2, first.found or 1)))
    choice = choose_decomposition(X, Y, n_components, method, test=True, **options)
    reason, is_compared = choice.reason, choice.is_compared
    if first:
        reason, is_compared = first.reason, first.is_compared
        if choice.found is not None and choice.found < (first.found or 0):  # fewer hold on held-out pairs
            reason = reason.replace(first.count_text, choice.count_text)
        choice = replace(choice, prepared=first.prepared)  # which says how it was chosen
    if data.table is not None:
        what = "x and y are labels, and counted" if data.form == "counts" else "a table of counts"
        reason = f"{what}; {reason}" if choice.dimension is not None else what
    if data.ordered and not is_asked:
        reason = reason.replace("asked for", "it keeps the order", 1)
    note = CHOSEN_METHOD_NOTE if is_compared and choice.dimension else ""
    judged = (choice.decomposition, choice.dimension, choice.not_tested)
    more: dict[str, Any] = {
        "guards": (*say_orders(data.ordered), *choice.notes),
        "prepared": choice.prepared,
        "crossfit": choice.crossfit,
    }
    return _WayResult(choice.method, reason, *judged, note=note, **more)


def _analyze_beliefs(data: Data, n_components: int | None, progress: bool | None) -> _WayResult:
    est = ClassifierCA(n_components=n_components, classes=list(data.x.columns), progress=progress)
    est.fit(data.x.values, data.y.values)
    why = "" if est.held_out_ is not None else "the true labels are not given"
    return _WayResult("beliefs", "exact, from the beliefs alone", est.decomposition_, est.held_out_, why, est)


def list_structure_rows(analysis: Analysis) -> list[list[Any]]:
    """List how each column, and each of its categories, goes with each function, below the names of the figures.

    Of pairs, the same figures with out-of-fold functions are beside those of the fit.
    """
    data = analysis.data
    readable = [
        side.values if data.form == "pairs" and side.kind not in ("images", "sparse") else None
        for side in (data.x, data.y)
    ]
    found = structure(analysis.decomposition, *readable, held_out=analysis.crossfit, names=analysis.names)
    frame = found.to_frame("polars")
    return [frame.columns, *map(list, frame.iter_rows())]


def format_summary(summary: dict[str, Any]) -> str:
    """Format the components, sentences and paths of the summary of an analysis."""
    return "\n".join(
        [
            _format_heading(summary),
            "",
            *format_components(summary["components"]),
            *explain_figures(summary),
            "",
            *(make_safe(sentence) for sentence in summary["sentences"]),
            "",
            f"Written to {make_safe(summary['folder'])}: {', '.join(summary['files'])}",
        ]
    )


def _format_heading(summary: dict[str, Any]) -> str:
    unit = {"pairs": "pairs", "beliefs": "inputs"}.get(summary["form"], "counts")
    how = f"{summary['method']}: {make_safe(summary['reason'])}"
    return f"{make_safe(summary['title'])}, {summary['n']:,.10g} {unit}, {summary['seconds']:.1f} s, {how}."


def format_components(components: list[dict[str, Any]]) -> list[str]:
    """Format the components, one line each."""
    has_held_out = any(c["held_out"] is not None for c in components)
    has_pvalues = any(c["pvalue"] is not None for c in components)
    head = "component     PIC  correlation: training" + "  held out".ljust(28) * has_held_out + " p-value" * has_pvalues
    lines = [head.rstrip()]
    for c in components:
        line = f"{c['component']:>9}  {c['pic']:.4f}  {c['training']:>21.4f}"
        if c["held_out"] is not None:
            line += f"  {c['held_out']:.4f} [{c['low']:.4f}, {c['high']:.4f}]".ljust(28)
        elif has_held_out:
            line += "  not judged".ljust(28)
        if c["pvalue"] is not None:
            line += f" {c['pvalue']:>7{'.2g' if c['pvalue'] < 0.0095 else '.3f'}}"
        lines.append(line.rstrip())
    return lines


def explain_figures(summary: dict[str, Any]) -> list[str]:
    """Say why figures are missing, or how many components are significant."""
    if summary["not_held_out"]:
        which = " of single components" if "held-out pairs" in summary["reason"] else ""  # the race has judged all
        return [f"No held-out figures{which}: {make_safe(summary['not_held_out'])}."]
    if summary["significant"] is not None:
        n = summary["significant"]
        lines = [f"{n or 'None'} of these {'is' if n <= 1 else 'are'} significant."]
        found = summary["components"][:n]
        if any(c["held_out"] is None for c in found):
            lines.append(
                "Not judged: the functions found from a part of the pairs are constant on the others, or few decide."
            )
        if summary.get("points"):
            which = list_names([str(i) for i in summary["points"]], 10)
            lines.append(
                f"Not judged, and not significant: component{'' if len(summary['points']) == 1 else 's'} {which}, "
                "whose interval is a point."
            )
        if min((c["low"] for c in found if c["low"] is not None), default=1.0) <= 0:
            lines.append("The tests use all pairs, the intervals only those held out, so these are wider.")
        return lines
    return ["Held out: on the true labels, if the model was not trained on these rows."]
