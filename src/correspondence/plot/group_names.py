"""Names of groups in a plane: how many of them find no room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from correspondence.plot.column_marks import annotate_caption
from correspondence.plot.drawn_clouds import DrawnCloud
from correspondence.plot.label_placement import LabelPlacing
from correspondence.plot.labels import GROUP_NAME, MAX_GROUPS_NAMED

__all__ = ["tell_unnamed"]


def tell_unnamed(placing: LabelPlacing | None, ax: Axes, means: Sequence[DrawnCloud]) -> None:
    """Say in the caption how many names of many groups find no room, whenever the plane is drawn."""
    n = sum(len(marks.xy) for marks in means)
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
