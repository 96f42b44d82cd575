"""The small text below a plane: what the marks mean, and what is not shown, counted whenever the plane is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.axes import Axes

from correspondence.plot.labels import GROUP_NAME
from correspondence.plot.overlays import Thumbnail
from correspondence.plot.style import choose_ink, scale_letters

__all__ = ["CAPTION_SIZE_POINTS", "Caption", "annotate_caption", "wrap_words"]

CAPTION_OFFSET_POINTS, CAPTION_SIZE_POINTS = 34.0, 7.0  # below the plane, until the layout is known


def annotate_caption(ax: Axes, text: str) -> Any:
    """Write a text below the plane."""
    return ax.annotate(
        text,
        (0, 0),
        (0, -CAPTION_OFFSET_POINTS),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=scale_letters(CAPTION_SIZE_POINTS),
        color=choose_ink(ax, "0.4"),
        va="top",
        clip_on=False,
        gid="caption",
        parse_math=False,
    )


def wrap_words(text: str, width: float, measure: Callable[[str], float]) -> str:
    """Break a text into lines of at most a width, at spaces.

    Examples
    --------
    >>> print(wrap_words("one two three", 8, len))
    one two
    three
    """
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and measure(longer) <= width:  # whole lines, because letters are placed at whole pixels
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)


class Caption:
    """The caption of a plane: fixed parts, and counts of the labels that find no room.

    Attributes
    ----------
    text : Annotation
        The text, which is not among the texts of the axes while it is empty.
    parts : list of str
        What it says in any case.
    tried : Counter
        How many labels, names of groups and images it counts.
    unnamed : str
        What it says of points whose labels are not even tried.
    hidden : str
        What it says of ellipses that cannot be seen.
    """

    def __init__(self, ax: Axes, parts: Sequence[str], labels: Sequence[Any] = (), unnamed: str = "") -> None:
        self.parts, self.tried, self.unnamed = list(parts), count_kinds(labels), unnamed
        self.hidden = ""
        self.ax, self.text = ax, annotate_caption(ax, "")
        self.wrap: Callable[[str], str] = str
        self.write(list_counts(Counter(), self.tried, unnamed))

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"wrap": str}  # it knows the renderer, and is set again before the next drawing

    def write(self, counts: Sequence[str]) -> None:
        """Write the parts, and what is counted."""
        text = self.wrap(_join_parts([*self.parts, self.hidden, *counts]))
        if text != self.text.get_text():
            self.text.set_text(text)
        self.text.set_visible(bool(text))
        if text and self.text.axes is None:
            self.ax.add_artist(self.text)
        elif not text and self.text.axes is not None:
            self.text.remove()

    def reserve(self) -> None:
        """Write the longest text that may become true, for which the layout must leave room."""
        self.write(list_counts(self.tried, self.tried, self.unnamed))

    def count_labels(self, labels: Sequence[Any]) -> None:
        """Count the labels, names of groups and images in view, some of which are not drawn."""
        left = count_kinds([label for label in labels if not label.get_visible()])
        self.write(list_counts(left, count_kinds(labels), self.unnamed))


def count_kinds(labels: Sequence[Any]) -> Counter[str]:
    """Count labels, names of groups and images."""
    kinds = ("images" if isinstance(label, Thumbnail) else label.get_gid() or "labels" for label in labels)
    return Counter("names of groups" if kind == GROUP_NAME else kind for kind in kinds)


def list_counts(left: Counter[str], tried: Counter[str], unnamed: str) -> list[str]:
    """Say how many labels find no room, and which were not tried."""
    counts = []
    if left["labels"]:
        verb = "is" if left["labels"] == 1 else "are"
        counts.append(f"{left['labels']:,} of {tried['labels']:,} labels {verb} left out for lack of room")
    if unnamed:
        counts.append(unnamed)
    if left["images"]:
        counts.append(f"{left['images']:,} of {tried['images']:,} images find no room")
    if left["names of groups"]:
        hidden = f"{left['names of groups']:,} of {tried['names of groups']:,} names of groups find no room"
        counts.append(f"{hidden}; plot.multiples draws groups one by one")
    return counts


def _join_parts(parts: Sequence[str]) -> str:
    text = "; ".join(part for part in parts if part)
    return text[:1].upper() + text[1:]
