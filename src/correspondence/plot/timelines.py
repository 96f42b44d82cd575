"""What a training learnt when."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase

from correspondence._util.arguments import check_whole
from correspondence._util.text import one_line
from correspondence.plot.style import simplify_frame
from correspondence.results.timeline import Timeline
from correspondence.scene.colours import GREY, ROWS, list_distinct_colours

__all__ = ["timeline"]

MAX_CLASS_NAMES = 40


def timeline(timeline: Timeline, figure: Figure | None = None, *, n_components: int = 10) -> Figure:
    """Draw what was learnt when: PICs over the steps above, the certainty of each class below.

    Parameters
    ----------
    timeline : Timeline
        What ``TrainingRecorder.timeline`` returned.
    figure : Figure, optional
        Draw on this figure instead of a new one.
    n_components : int
        Draw at most this many PICs.

    Returns
    -------
    Figure
        Sudden transitions are shaded; a dot marks the step at which a class is learnt.

    Examples
    --------
    >>> import correspondence as co
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> recorder = co.TrainingRecorder(SGDClassifier(loss="log_loss", random_state=0), X[1::2], y[1::2], every=5)
    >>> figure = co.plot.timeline(recorder.partial_fit(X[::2], y[::2], batch_size=5).timeline())
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['PIC', 'Certainty of each class (dot: learnt)']
    """
    if not isinstance(timeline, Timeline):
        raise TypeError(f"timeline must be what TrainingRecorder.timeline returns, got {type(timeline).__name__}.")
    if figure is not None and not isinstance(figure, FigureBase):
        raise TypeError(f"figure must be a matplotlib Figure, got {type(figure).__name__}.")
    check_whole(n_components, "n_components", 1)
    figure = plt.figure(figsize=(8.5, 7), layout="constrained") if figure is None else figure
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1.25])
    for ax in (top, bottom):
        for t in timeline.transitions:
            ax.axvspan(t.start, t.end, color="#E8B94A", alpha=0.22, lw=0, zorder=0)
        ax.set_ylim(0, 1.03)
        simplify_frame(ax)
    draw_pics(top, timeline, n_components)
    draw_certainty(bottom, timeline)
    top.set_xlim(timeline.steps[0], max(timeline.steps[-1], timeline.steps[0] + 1))
    return figure


def draw_pics(ax: Axes, timeline: Timeline, most: int) -> None:
    """Draw the PICs over the steps, the first darkest, and the accuracy if it is known."""
    shown = timeline.pics[:, :most]
    for i, values in enumerate(shown.T):
        alpha = 1 - 0.7 * i / max(1, shown.shape[1] - 1)
        ax.plot(timeline.steps, values, color=ROWS, lw=_choose_line_width(timeline), alpha=alpha)
    label_ends(ax, [str(i + 1) for i in range(shown.shape[1])], shown[-1], [ROWS] * shown.shape[1])
    ax.set_ylabel("PIC")
    if timeline.accuracy is not None:
        ax.plot(timeline.steps, timeline.accuracy, color=GREY, lw=1.4, ls="--", label="accuracy")
    ax.plot([], [], color=ROWS, lw=1.6, label="PICs, numbered at the right")
    if timeline.transitions:
        ax.fill_between([], [], [], color="#E8B94A", alpha=0.22, lw=0, label="sudden transition")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, frameon=False, fontsize=9, borderaxespad=0.1)


def draw_certainty(ax: Axes, timeline: Timeline) -> None:
    """Draw the certainty of each class over the steps."""
    colours = list_distinct_colours(len(timeline.classes))
    for i, values in enumerate(timeline.certainty.T):
        ax.plot(timeline.steps, values, color=colours[i], lw=_choose_line_width(timeline))
        at = np.flatnonzero(timeline.steps == timeline.learnt[i])
        ax.plot(timeline.steps[at], values[at], "o", color=colours[i], ms=5)
    ax.axhline(0.5, color="0.75", lw=0.8, ls="--", zorder=0)
    names = [one_line(label, 24) for label in timeline.classes.tolist()]
    label_ends(ax, names, timeline.certainty[-1], colours)
    ax.set(xlabel="Step", ylabel="Certainty of each class (dot: learnt)")


def _choose_line_width(timeline: Timeline) -> float:
    """Choose thin lines for many frames, over which curves may go up and down."""
    return 1.6 if len(timeline) < 120 else 0.9


def label_ends(ax: Axes, names: list[str], heights: np.ndarray, colours: list[str]) -> None:
    """Write names right of the ends of curves, moved apart where they would touch."""
    known = np.flatnonzero(np.isfinite(heights))[:MAX_CLASS_NAMES]
    gap = min(0.06, 1.03 / max(1, len(known)))
    places = move_apart(heights[known], gap, 0, 1.03)
    size = 9 if gap >= 0.05 else 7
    leader = {"arrowstyle": "-", "lw": 0.6, "alpha": 0.6, "shrinkA": 0, "shrinkB": 1, "relpos": (0, 0.5)}
    for i, place in zip(known, places, strict=True):
        ax.annotate(
            names[i],
            (1, heights[i]),
            (1.03, place / 1.03),
            xycoords=ax.get_yaxis_transform(),
            textcoords="axes fraction",
            va="center",
            fontsize=size,
            fontweight="bold",
            color=colours[i],
            parse_math=False,
            arrowprops={"color": colours[i], **leader},
            annotation_clip=False,
        )


def move_apart(values: np.ndarray, gap: float, low: float, high: float) -> np.ndarray:
    """Move values as little as possible so that they are a gap apart and between two limits."""
    order = np.argsort(values, kind="stable")
    ranks = gap * np.arange(len(values))
    # Isotonic regression by pooling adjacent violators: groups that touch share their mean.
    groups: list[list[float]] = []
    for value in values[order] - ranks:
        groups.append([value])
        while len(groups) > 1 and np.mean(groups[-2]) > np.mean(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    fitted = np.concatenate([np.full(len(group), np.mean(group)) for group in groups] or [np.empty(0)])
    places = np.empty(len(values))
    places[order] = np.clip(fitted, low, max(low, high - ranks[-1] if len(ranks) else high)) + ranks
    return places
