"""Names of groups in a plane, and answers that are groups too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from correspondence._util.text import one_line
from correspondence.plot.drawn_clouds import DrawnCloud

__all__ = ["share_names"]

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
    times = Counter(one_line(text) for said in answers for text in said)  # "yes" may be the answer to any question
    position = {name: j for j, name in enumerate(marks.labels)}
    reach = MAX_TWIN_DISTANCE * np.ptp(np.vstack([marks.xy, *(cloud.xy for cloud in clouds)]), axis=0).max(initial=0)
    is_left, made = np.ones(len(marks.xy), bool), []
    for cloud, said in zip(clouds, answers, strict=True):
        mean = np.array([position.get(text, -1) if times[text] == 1 else -1 for text in map(one_line, said)], dtype=int)
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
