"""Ten crowded maps, measured after drawing: every label can be told to be of its point, and nothing is cut off."""

import itertools

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.transforms import Bbox

import correspondence as co
from correspondence import plot
from correspondence.plot.label_geometry import find_crossed_boxes, find_crossings, measure_gaps
from correspondence.plot.label_placement import LabelPlacing
from correspondence.plot.labels import LEADERS, MAX_DOTS_HEEDED


def random_ca(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(3 * np.exp(rng.normal(size=(rows, 2)) @ rng.normal(size=(2, columns)) / 2)) + 1
    names = [
        np.array([f"{side} no. {i}" for i in range(m)], object) for side, m in zip("rc", counts.shape, strict=True)
    ]
    return co.CA(n_components=2).fit(co.Table(counts, *names))


def draw_children():
    children = co.datasets.load_children()
    ca = co.CA().fit(children.table)
    return [plot.plane(ca, supplementary=list(ca.supplementary(rows=children.rows, columns=children.columns)))]


def draw_grid():
    _, grid = plt.subplots(2, 4, figsize=(13, 6), layout="constrained")
    ca = co.CA().fit(co.datasets.load_housetasks())
    return [plot.plane(ca, map=name, ax=ax) for ax, name in zip(grid.flat, plot.MAPS, strict=True)]


def draw_narrow():
    _, (wide, narrow) = plt.subplots(1, 2, figsize=(8, 5), width_ratios=[4, 1])  # without any layout
    ca = random_ca(25, 10)
    return [plot.plane(ca, ax=wide), plot.plane(ca, ax=narrow)]


def draw_survey(**options):
    survey = co.datasets.load_poison()
    mca = co.MCA().fit(survey, supplementary=["Age", "Time", "Sick", "Sex"])
    return [plot.plane(mca, **options)]


def draw_in_a_column(draw):
    with plt.style.context("correspondence.plot.journal"):
        return draw()


def draw_triplot():
    counts, environment = co.datasets.load_dune()
    return [plot.plane(co.CA().fit(counts, constraints=environment[["A1", "Management"]]))]


MAPS = {
    "60 labels": lambda: [plot.plane(random_ca(40, 20))],
    "120 labels of a table of 10,000 rows": lambda: [plot.plane(random_ca(3000, 40), max_labels=120)],
    "200 labels": lambda: [plot.plane(random_ca(150, 50, 1), max_labels=200, size="mass")],
    "supplementary points": draw_children,
    "a grid": draw_grid,
    "narrow axes": draw_narrow,
    "a survey": draw_survey,
    "a survey in a column": lambda: draw_in_a_column(lambda: draw_survey(labels="quality")),
    "a triplot in a column": lambda: draw_in_a_column(draw_triplot),
    "arrows in a column": lambda: draw_in_a_column(
        lambda: [plot.plane(random_ca(25, 10), map="rowprincipal", arrows="columns")]
    ),
}


def find_placing(ax):
    return next(artist for artist in ax.get_children() if isinstance(artist, LabelPlacing))


def find_markers(ax):
    """Centres and radii of all markers, in pixels.

    More than a hundred points without any label are exempt: a crowd behind the others, for whose names no reader can
    take a label, as none of them has one; and no label has room beside so many.
    """
    placing, pixels = find_placing(ax), ax.figure.dpi / 72
    has_names = {tuple(np.round(xy, 9)) for xy in placing.obstacles.xy[placing.obstacles.is_solid]}
    centres, radii = [np.empty((0, 2))], [np.empty(0)]
    for cloud in ax.collections:
        xy = np.asarray(cloud.get_offsets(), dtype=float)
        if not isinstance(cloud, PathCollection) or not len(xy):
            continue
        if len(xy) > MAX_DOTS_HEEDED and tuple(np.round(xy[0], 9)) not in has_names:
            continue
        centres.append(ax.transData.transform(xy))
        radii.append(np.broadcast_to(pixels * np.sqrt(cloud.get_sizes()) / 2, len(xy)))
    return np.vstack(centres), np.concatenate(radii)


def find_leaders(ax):
    lines = next(artist for artist in ax.collections if artist.get_gid() == LEADERS)
    segments = [ax.transData.transform(line).ravel() for line in lines.get_segments()]
    return np.array(segments).reshape(-1, 4)


def measure_labels(ax):
    """Check one map that has been drawn, and count its labels."""
    placing, pixels = find_placing(ax), ax.figure.dpi / 72
    centres, radii = find_markers(ax)
    leaders = find_leaders(ax)
    shown = [(label, ax.transData.transform(label.xy)) for label in placing.labels if label.get_visible()]
    boxes = np.array([label.get_window_extent().extents for label, _ in shown]).reshape(-1, 4)
    for (label, at), box in zip(shown, boxes, strict=True):
        gaps = measure_gaps(box[None], centres, radii)[0]
        is_own = np.hypot(*(centres - at).T) < pixels
        own = measure_gaps(box[None], at[None], np.array([radii[is_own].max(initial=0)]))[0, 0]
        is_nearer = gaps[~is_own].min(initial=np.inf) < own - 0.5
        starts = np.hypot(*(leaders[:, :2] - at).T) <= radii[is_own].max(initial=pixels) + pixels
        has_leader = bool(starts.any())
        assert has_leader or not is_nearer, f"{label.get_text()} stands nearer to another point"
        assert has_leader or own < 3 * pixels, f"{label.get_text()} is far off, without a line"
    for a, b in itertools.combinations(boxes, 2):
        assert min(min(a[2:] - b[:2]), min(b[2:] - a[:2])) < 1, "two labels overlap"
    frame, inner = np.array(ax.bbox.extents), boxes + np.array([1, 1, -1, -1])
    assert (np.hstack([boxes[:, :2] - frame[:2], frame[2:] - boxes[:, 2:]]) >= 0).all(), "a label is cut off"
    for i, leader in enumerate(leaders):
        assert not find_crossed_boxes(leader[None], np.delete(inner, find_end(leader, boxes), axis=0)).any()
        assert not find_crossings(leader[None], np.delete(leaders, i, axis=0)).any(), "two lines cross"
    return len(shown), len(placing.labels)


def find_end(leader, boxes):
    """Position of the label to which a line leads."""
    ends = leader[None, 2:]
    return [int(np.argmin([measure_gaps(box[None], ends, np.zeros(1))[0, 0] for box in boxes]))]


def assert_nothing_is_cut_off(figure):
    page = figure.bbox
    for ax in figure.axes:
        texts = [ax.xaxis.label, ax.yaxis.label, *(text for text in ax.texts if text.get_gid() == "caption")]
        for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
            ticks = [tick for tick in axis.get_major_ticks() if limits[0] <= tick.get_loc() <= limits[1]]
            texts += [tick.label1 for tick in ticks]
        parts = [text for text in texts if text.get_visible() and text.get_text()]
        parts += [] if ax.get_legend() is None else [ax.get_legend()]
        for part in parts:
            box = part.get_window_extent()
            name = getattr(part, "get_text", lambda: "the legend")()
            room = [box.x0 - page.x0, page.x1 - box.x1, box.y0 - page.y0, page.y1 - box.y1]
            assert min(room) >= -1, f"{name!r} is cut off"
        captions = [part.get_window_extent() for part in parts if getattr(part, "get_gid", str)() == "caption"]
        ends = sorted(
            (box.x0, box.x1) for box in (tick.get_window_extent() for tick in texts if tick in ax.get_xticklabels())
        )
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(ends)), "labels of ticks overlap"
        title = ax.xaxis.label
        if title.get_text():
            assert all(Bbox.intersection(box, title.get_window_extent()) is None for box in captions)


@pytest.mark.slow
@pytest.mark.parametrize("name", MAPS)
def test_labels_of_crowded_maps_can_be_told_apart(name):
    drawn = MAPS[name]()
    figure = drawn[0].figure
    for _ in range(2):  # and again when the window is smaller
        figure.canvas.draw()
        for ax in drawn:
            n_shown, n_tried = measure_labels(ax)
            caption = " ".join(t.get_text() for t in ax.texts if t.get_gid() == "caption").replace("\n", " ")
            left = n_tried - n_shown
            assert (f"{left} of {n_tried} labels" in caption.lower()) == (left > 0), "the caption counts wrongly"
        assert_nothing_is_cut_off(figure)
        figure.set_size_inches(0.8 * figure.get_size_inches())
