"""Which labels are written in a plane, and in which order they find room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from correspondence._util.arguments import check_flag
from correspondence._util.text import list_names, one_line, short_repr
from correspondence.plot.drawn_clouds import DrawnCloud

__all__ = ["MIN_SPECIAL_WEIGHT", "LabelChoice", "check_sides", "find_labelled", "read_labels"]

MIN_SPECIAL_WEIGHT = 1e7  # of names of numbers, categories, groups and supplementary points, found room for first
LISTED_WEIGHT = 1e6
SIDES = {"both": (True, True), "rows": (True, False), "columns": (False, True), "none": (False, False)}


@dataclass(frozen=True)
class LabelChoice:
    """Which labels are asked for.

    Attributes
    ----------
    sides : str
        "both", "rows", "columns" or "none".
    order : {"contribution", "quality"}
        What decides which label finds room first.
    listed : list or None
        Just these labels.
    most : int or None
        How many labels are written at most, those that contribute most; names of groups are written besides.
    """

    sides: str = "both"
    order: str = "contribution"
    listed: list[Any] | None = None
    most: int | None = None

    def take(self, rows: Sequence[DrawnCloud], columns: Sequence[DrawnCloud]) -> list[DrawnCloud]:
        """Take the clouds of the sides whose labels are asked for."""
        with_rows, with_columns = SIDES[self.sides]
        return [*(rows if with_rows else ()), *(columns if with_columns else ())]

    def weigh(self, clouds: Sequence[DrawnCloud], written: Sequence[DrawnCloud]) -> tuple[np.ndarray, int]:
        """Weigh the labels of clouds one after the other, NaN for those not wanted; count those left out unasked."""
        if self.listed is not None:
            return weigh_listed(clouds, self.listed), 0
        weights = [self._weigh_cloud(cloud, cloud in written) for cloud in clouds]
        weight = np.concatenate([np.empty(0), *weights])
        n_unnamed = sum(count_unnamed(cloud) for cloud in clouds if cloud in written)
        if self.most is not None:
            of_groups = np.concatenate([np.full(len(cloud.xy), cloud.names_groups) for cloud in clouds])
            own = np.flatnonzero(~np.isnan(weight) & ~of_groups)
            weight[own[np.argsort(-weight[own], kind="stable")[self.most :]]] = np.nan
            n_unnamed = 0
        return weight, n_unnamed

    def describe_unnamed(self, n: int) -> str:
        """Say of how many points the labels are not tried, and why."""
        if not n:
            return ""
        if self.listed is not None:
            return f"{n:,} of the labels listed {'is' if n == 1 else 'are'} not written"
        if self.order == "quality":
            least = "point with the least quality is" if n == 1 else "points with the least quality are"
        else:
            least = "point that contributes least is" if n == 1 else "points that contribute least are"
        return f"{n:,} {least} not named"

    def _weigh_cloud(self, cloud: DrawnCloud, is_written: bool) -> np.ndarray:
        if not is_written:
            return np.full(len(cloud.xy), np.nan)
        if self.order == "quality" and "quality" in cloud.measures:
            is_wanted = np.isfinite(cloud.weight) & (cloud.weight < MIN_SPECIAL_WEIGHT)
            return np.where(is_wanted, cloud.measures["quality"], cloud.weight)
        return cloud.weight


def count_unnamed(cloud: DrawnCloud) -> int:
    """Count the points of a cloud whose names are not written because they contribute little."""
    labels = cloud.labels or [None] * len(cloud.xy)
    return sum(label is not None for label, weight in zip(labels, cloud.weight, strict=True) if np.isnan(weight))


def read_labels(labels: Any) -> LabelChoice:
    """Read which labels are asked for."""
    if isinstance(labels, str):
        if labels in SIDES:
            return LabelChoice(labels)
        if labels in ("contribution", "quality"):
            return LabelChoice(order=labels)
    elif isinstance(labels, int | np.integer) and not isinstance(labels, bool) and labels >= 0:
        return LabelChoice(most=int(labels))
    elif isinstance(labels, Iterable) and not isinstance(labels, Set | Mapping):
        listed = list(labels)
        if not any(isinstance(label, list | tuple | np.ndarray) for label in listed):
            return LabelChoice(listed=listed)
    raise ValueError(
        'labels must be "both", "rows", "columns", "none", "contribution", "quality", a list of labels, or how many '
        f"to write, got {short_repr(labels)}."
    )


def check_sides(rows: Any, columns: Any) -> None:
    """Check which sides are drawn."""
    check_flag(rows, "rows")
    check_flag(columns, "columns")
    if not rows and not columns:
        raise ValueError("rows and columns must not both be False, or nothing is drawn.")


def find_labelled(clouds: Sequence[DrawnCloud], listed: Sequence[Any], name: str) -> list[np.ndarray]:
    """Find the points of clouds that have one of some labels: the position of the label for each, -1 for others."""
    position = {text: j for j, label in reversed(list(enumerate(listed))) for text in (str(label), one_line(label))}
    joined = {text.replace(": ", ":"): j for text, j in position.items()}  # as planes write answers: "Sick: yes"
    found = []
    for cloud in clouds:
        own = np.full(len(cloud.xy), -1)
        for texts in (cloud.labels, [] if cloud.full_labels is None else cloud.full_labels.tolist()):
            for i, text in enumerate(texts):
                own[i] = position.get(str(text), joined.get(str(text), own[i])) if text is not None else own[i]
        found.append(own)
    known = {int(j) for own in found for j in own}
    unknown = [label for j, label in enumerate(listed) if position[str(label)] not in known]
    if unknown:
        nearest = suggest_labels(clouds, unknown)
        raise ValueError(f"{name} must be labels of points that are drawn, got {list_names(unknown, 5)}.{nearest}")
    return found


def suggest_labels(clouds: Sequence[DrawnCloud], unknown: Sequence[Any]) -> str:
    """Suggest the labels that are most like some unknown ones; nothing if none is."""
    drawn = {str(label) for cloud in clouds for label in cloud.labels if label is not None}
    drawn |= {str(label) for cloud in clouds if cloud.full_labels is not None for label in cloud.full_labels}
    by_small = {label.lower(): label for label in sorted(drawn)}
    near = [own for label in unknown[:5] for own in get_close_matches(str(label).lower(), by_small, 1)]
    return f" Do you mean {list_names([by_small[own] for own in dict.fromkeys(near)])}?" if near else ""


def weigh_listed(clouds: Sequence[DrawnCloud], listed: Sequence[Any]) -> np.ndarray:
    """Weigh the labels listed, the first most; names of groups are written besides."""
    found = find_labelled(clouds, listed, "labels")
    weights = [np.where(own >= 0, LISTED_WEIGHT - own, np.nan) for own in found]
    parts = [cloud.weight if cloud.names_groups else own for cloud, own in zip(clouds, weights, strict=True)]
    return np.concatenate([np.empty(0), *parts])
