"""Clusters of the rows of a file, for ``analyze --clusters``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from correspondence._util.text import list_names
from correspondence.app.messages import collect_warnings
from correspondence.core.functions import LabelFunctions
from correspondence.describe.clusters.estimator import Clusters
from correspondence.selection.time_budget import COUNT_SHARE, TimeBudget

__all__ = ["FileClusters", "add_clusters", "add_survey_clusters"]

MAX_ROWS_TO_EXPAND = 200_000  # counted rows; the lines of larger tables count once each
N_CHARACTERISTICS, MAX_CLUSTERS_IN_WORDS, N_PARAGONS = 3, 10, 3


@dataclass(frozen=True, eq=False)
class FileClusters:
    """What ``--clusters`` found.

    Attributes
    ----------
    fitted : Clusters
        The clusters, which the page draws.
    numbers : list of int or None
        The cluster of each row, from 1; None for rows without a place.
    table : dict of str to list
        The columns of clusters.csv: a row for each cluster.
    """

    fitted: Clusters
    numbers: list[int | None]
    table: dict[str, list[Any]]

    @property
    def labels_(self) -> np.ndarray:
        """The cluster of each row, from 0, by which pages draw it; -1 for rows without a place."""
        return np.array([-1 if number is None else number - 1 for number in self.numbers])

    @property
    def sentences(self) -> list[str]:
        """What was found: whether there are clusters, and what characterises each."""
        columns = (self.table[name] for name in ("cluster", "size", "description"))
        rows = list(zip(*columns, strict=True))[:MAX_CLUSTERS_IN_WORDS]
        told = [f"Cluster {i} ({size:,} of {sum(self.table['size']):,}): {text}." for i, size, text in rows if text]
        return [self.fitted.write_summary(), *told]

    @property
    def record(self) -> dict[str, Any]:
        """The same as plain values, for summary.json."""
        agreement = self.fitted.agreement_
        found = {} if agreement is None else agreement.to_frame("polars").to_dict(as_series=False)
        names = list(self.table)
        return {
            "found": self.fitted.has_clusters_,
            "number": self.fitted.n_clusters_,
            "chance": self.fitted.chance_,
            "clusters": [dict(zip(names, row, strict=True)) for row in zip(*self.table.values(), strict=True)],
            "agreement": found,
        }


def add_survey_clusters(
    analysis: Any, number: str | int, seed: int, time_limit: TimeBudget | float | None = None
) -> Any:
    """Add clusters of the rows to an analysis of all columns.

    Parameters
    ----------
    analysis : SurveyAnalysis
        The analysis.
    number : "auto", "gain" or int
        The number of clusters.
    seed : int
        The seed of resamples.
    time_limit : TimeBudget or float, optional
        If the time ends first, the clusters are found without evidence.
    """
    data, budget = analysis.data, TimeBudget.from_limit(time_limit)
    n_before = len(budget.notes)
    X = data.counted_frame if is_expanded(data.counts) else None
    with collect_warnings() as notes:
        fitted = budget.attempt(
            "The evidence for clusters",
            COUNT_SHARE,
            lambda: Clusters(number, random_state=seed).fit(analysis.est, X),
            None,
        )
        if fitted is None:
            fitted = Clusters("gain" if number == "auto" else number, n_resamples=0, random_state=seed)
            fitted.fit(analysis.est, X)
        if X is None:
            found = describe_clusters(fitted, data.ids, data.frame, data.counts)
        else:
            found = describe_counted_clusters(fitted, data, X)
    if data.counts is not None and X is None:
        notes.append(
            f"Of more than {MAX_ROWS_TO_EXPAND:,} counted rows, each line is one row in the number of clusters and its "
            "held-out figures."
        )
    return extend_analysis(analysis, found, [*notes, *budget.notes[n_before:]])


def is_expanded(counts: np.ndarray | None) -> bool:
    """Tell whether lines are repeated as often as they were counted."""
    return counts is not None and int(counts.sum()) <= MAX_ROWS_TO_EXPAND


def describe_counted_clusters(fitted: Clusters, data: Any, rows: Any) -> FileClusters:
    """Make the table of clusters of lines that were repeated as often as they were counted.

    Parameters
    ----------
    fitted : Clusters
        The clusters of the repeated rows.
    data : SurveyData
        The lines.
    rows : frame
        The repeated rows.
    """
    lines, first = np.unique(np.repeat(np.arange(len(data.ids)), data.counts), return_index=True)
    labels = np.full(len(data.ids), -1)
    labels[lines] = fitted.labels_[first]
    if len(lines) < len(labels):  # lines that were counted 0 times
        rest = np.setdiff1d(np.arange(len(labels)), lines)
        labels[rest] = fitted.predict(data.frame[rest])
    order = np.argsort(fitted.to_frame("polars")["distance"].to_numpy()[first], kind="stable")
    closest = [[data.ids[i] for i in lines[order] if labels[i] == j] for j in range(fitted.n_clusters_)]
    numbers = [None if label < 0 else int(label) + 1 for label in labels]
    return FileClusters(fitted, numbers, _make_table(fitted, fitted.sizes_, closest, _write_predicates(fitted, rows)))


def add_clusters(analysis: Any, number: str | int, seed: int) -> Any:
    """Add clusters of x to an analysis of two variables: of its labels, or else of the rows of the file.

    Parameters
    ----------
    analysis : Analysis
        The analysis.
    number : "auto", "gain" or int
        The number of clusters.
    seed : int
        The seed of resamples.
    """
    d, data, clusters = analysis.decomposition, analysis.data, Clusters(number, of="x", random_state=seed)
    with collect_warnings() as notes:
        if isinstance(d.f, LabelFunctions):
            found = describe_clusters(clusters.fit(d), d.f.labels, None)
        elif data.x.kind == "labels":
            labels, mass = data.x.labels_with_shares
            found = describe_clusters(clusters.fit(d, labels, sample_weight=mass), labels, None)
        else:
            frame = collect_columns(data) if data.form == "pairs" else None
            found = describe_clusters(clusters.fit(d, data.x.values), data.ids, frame)
    return extend_analysis(analysis, found, notes)


def extend_analysis(analysis: Any, found: FileClusters, notes: list[str]) -> Any:
    """Return the analysis with the clusters, their sentences, and remarks that the sentences do not make."""
    sentences = [*analysis.sentences, *found.sentences]
    told = [note for note in notes if "the rule of gains" not in note and note not in analysis.notes]
    return replace(analysis, clusters=found, sentences=sentences, notes=(*analysis.notes, *told))


def collect_columns(data: Any) -> pl.DataFrame | None:
    """Collect the columns of both variables in one table; None if there is none that can be described."""
    columns: dict[str, Any] = {}
    for variable in (data.x, data.y):
        frame = nw.from_native(variable.values, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            columns |= {name: frame[name].to_list() for name in frame.columns}
        elif variable.kind == "labels":
            columns[variable.name] = [str(value) for value in np.asarray(variable.values, dtype=object).tolist()]
        elif isinstance(variable.values, np.ndarray) and variable.values.ndim == 2:
            columns |= dict(zip(map(str, variable.columns), variable.values.T, strict=False))
    return pl.DataFrame(columns, strict=False) if columns else None


def describe_clusters(fitted: Clusters, ids: Any, frame: Any, weights: Any = None) -> FileClusters:
    """Make the table of clusters: sizes, stability, closest members, and what characterises them.

    Parameters
    ----------
    fitted : Clusters
        The clusters.
    ids : sequence
        What the rows are called.
    frame : frame, optional
        The columns that may characterise the clusters.
    weights : ndarray, optional
        How often each row was counted.
    """
    numbers = [None if label < 0 else int(label) + 1 for label in fitted.labels_]
    k, nearest = fitted.n_clusters_, fitted.paragons_
    sizes = fitted.sizes_
    if weights is not None:  # as the shares that are told of the clusters
        sizes = np.array([weights[fitted.labels_ == j].sum() for j in range(k)])
    closest = [[ids[i] for i in nearest.position[nearest.cluster == j]] for j in range(k)]
    return FileClusters(fitted, numbers, _make_table(fitted, sizes, closest, _write_predicates(fitted, frame, weights)))


def _make_table(
    fitted: Clusters, sizes: np.ndarray, closest: list[list[Any]], predicates: list[str]
) -> dict[str, list[Any]]:
    """Make the columns of clusters.csv."""
    k = fitted.n_clusters_
    return {
        "cluster": list(range(1, k + 1)),
        "size": sizes.tolist(),
        "stability": fitted.stability_.tolist(),
        "chance": [fitted.chance_] * k,
        "closest": [list_names(own[:N_PARAGONS], N_PARAGONS) for own in closest],
        "description": predicates,
    }


def _write_predicates(fitted: Clusters, frame: Any, weights: Any = None) -> list[str]:
    """Write what characterises each cluster; nothing where there are no columns, or only clusters of one row."""
    if frame is None or (fitted.sizes_ < 2).all():
        return [""] * fitted.n_clusters_
    found = fitted.describe(frame, sample_weight=weights)
    names = {str(name): i for i, name in enumerate(found.groups)}
    keys = [f"cluster {j + 1}" for j in range(fitted.n_clusters_)]
    return [found.write_predicate(names[key], N_CHARACTERISTICS) if key in names else "" for key in keys]
