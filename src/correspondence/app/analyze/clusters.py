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

__all__ = ["FileClusters", "add_clusters", "add_survey_clusters"]

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
    def sentences(self) -> list[str]:
        """What was found: whether there are clusters, and what characterises each."""
        columns = (self.table[name] for name in ("cluster", "size", "description"))
        rows = list(zip(*columns, strict=True))[:MAX_CLUSTERS_IN_WORDS]
        told = [f"Cluster {i} ({size:,} of {sum(self.table['size']):,}): {text}." for i, size, text in rows if text]
        return [self.fitted.summary(), *told]

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


def add_survey_clusters(analysis: Any, number: str | int, seed: int) -> Any:
    """Add clusters of the rows to an analysis of all columns.

    Parameters
    ----------
    analysis : SurveyAnalysis
        The analysis.
    number : "auto", "gain" or int
        The number of clusters.
    seed : int
        The seed of resamples.
    """
    data = analysis.data
    with collect_warnings() as notes:
        fitted = Clusters(number, random_state=seed).fit(analysis.est)
        found = describe_clusters(fitted, data.ids, data.frame, data.counts)
    return extend_analysis(analysis, found, notes)


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
    table: dict[str, list[Any]] = {"cluster": list(range(1, k + 1)), "size": fitted.sizes_.tolist()}
    table |= {"stability": fitted.stability_.tolist(), "chance": [fitted.chance_] * k}
    members = [[ids[i] for i in nearest.position[nearest.cluster == j][:N_PARAGONS]] for j in range(k)]
    table["closest"] = [list_names(own, N_PARAGONS) for own in members]
    table["description"] = _write_predicates(fitted, frame, weights)
    return FileClusters(fitted, numbers, table)


def _write_predicates(fitted: Clusters, frame: Any, weights: Any) -> list[str]:
    """Write what characterises each cluster; nothing where there are no columns, or only clusters of one row."""
    if frame is None or (fitted.sizes_ < 2).all():
        return [""] * fitted.n_clusters_
    found = fitted.describe(frame, sample_weight=weights)
    names = {str(name): i for i, name in enumerate(found.groups)}
    keys = [f"cluster {j + 1}" for j in range(fitted.n_clusters_)]
    return [found.write_predicate(names[key], N_CHARACTERISTICS) if key in names else "" for key in keys]
