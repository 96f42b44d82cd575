"""Names of groups in a plane: those that answers have too, and how many find no room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from correspondence._util.text import one_line
from correspondence.plot.column_marks import annotate_caption
from correspondence.plot.drawn_clouds import DrawnCloud
from correspondence.plot.label_placement import LabelPlacing
from correspondence.plot.labels import GROUP_NAME, MAX_GROUPS_NAMED

__all__ = ["share_names", "tell_unnamed"]

MAX_TWIN_DISTANCE = 0.05  # of the extent of the plane, from the mean of a group to an answer that is the group


def share_names(
    marks: DrawnCloud, clouds: Sequence[DrawnCloud], answers: Sequence[Sequence[str]]
) -> tuple[DrawnCloud, list[DrawnCloud]]:
    """Give answers near the mean of the group of the same name the looks of its name, instead of a second mark.

    Parameters
    ----------
    marks : DrawnCloud
        The means of the groups.
    clouds : sequence of DrawnCloud
        The answers whose labels are written.
    answers : sequence of sequences of str
        What was answered, without the question, for each point of each cloud.

    Returns
    -------
    DrawnCloud, list of DrawnCloud
        The means that are left, and the answers.
    """
    position = {name: j for j, name in enumerate(marks.labels)}
    reach = MAX_TWIN_DISTANCE * np.ptp(np.vstack([marks.xy, *(cloud.xy for cloud in clouds)]), axis=0).max(initial=0)
    is_left, made = np.ones(len(marks.xy), bool), []
    for cloud, said in zip(clouds, answers, strict=True):
        mean = np.array([position.get(one_line(text), -1) for text in said], dtype=int)
        is_near = mean >= 0
        is_near[is_near] = np.linalg.norm(cloud.xy[is_near] - marks.xy[mean[is_near]], axis=1) <= reach
        is_near[is_near] = is_left[mean[is_near]]
        is_left[mean[is_near]] = False
        made += _split_twins(cloud, is_near, marks.take(mean[is_near]))
    return marks.take(np.flatnonzero(is_left)), made


def _split_twins(cloud: DrawnCloud, is_near: np.ndarray, means: DrawnCloud) -> list[DrawnCloud]:
    """Split a cloud into the points that stand for means of groups, which look like these, and the others."""
    if not is_near.any():
        return [cloud]
    own, others = cloud.take(np.flatnonzero(is_near)), cloud.take(np.flatnonzero(~is_near))
    own = replace(own, weight=means.weight, colours=means.colours, font_size=means.font_size, names_groups=True)
    return [replace(own, name="_"), others] if len(others.xy) else [own]


def tell_unnamed(placing: LabelPlacing | None, ax: Axes, n: int) -> None:
    """Say in the caption how many of the n names of groups find no room, whenever the plane is drawn."""
    if placing is None or n <= MAX_GROUPS_NAMED:
        return
    if not any(text.get_gid() == "caption" for text in ax.texts):
        annotate_caption(ax, "")
    text = next(text for text in ax.texts if text.get_gid() == "caption")
    caption = CountingCaption(text, text.get_text(), n)
    caption.write_count(n)  # so that the layout leaves room for it
    placing.tell = caption.count_names


@dataclass(frozen=True, eq=False)
class CountingCaption:
    """A caption that ends with how many of the names of groups are not written."""

    text: Any
    start: str
    n_groups: int

    def count_names(self, labels: Sequence[Any]) -> None:
        """Count the names of groups among labels, of which some are written."""
        written = sum(label.get_gid() == GROUP_NAME and label.get_visible() for label in labels)
        self.write_count(self.n_groups - written)

    def write_count(self, n: int) -> None:
        """Write the caption, with n names not written."""
        told = f"{n:,} of {self.n_groups:,} names of groups find no room; plot.multiples draws groups one by one"
        self.text.set_text("\n".join(part for part in (self.start, told if n else "") if part))
