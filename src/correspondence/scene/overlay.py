"""What a plane shows of a classifier: decision boundaries, confusing inputs, their pictures as thumbnails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from matplotlib.patheffects import withStroke

from correspondence._util.arguments import count_observations, take_rows
from correspondence.results.confusing import Confusing
from correspondence.scene.style import class_colours

__all__ = ["Scene", "Thumbnail", "boundary_pairs", "draw_boundaries", "make_scene", "shown_images", "thumbnails_of"]

MOST_BOUNDARIES = 10
MOST_CONFUSING = 12
THUMBNAIL_SIZE_POINTS = 34.0  # of a thumbnail, in points
BOUNDARY_COLOUR = "0.15"
BOUNDARY_DASHES = (0, (5, 2))


@dataclass(frozen=True, eq=False)
class Scene:
    """A classifier and its inputs, asked once: everything is in beliefs from here on."""

    est: Any
    X: Any
    classes: Any
    confusing: Confusing | None
    images: np.ndarray | None
    """One for each confusing input."""
    names: tuple[str, str]
    """What a legend calls the two variables."""
    colours: dict[Any, str]
    """Of the classes."""


def make_scene(est: Any, X: Any, classes: Any, confusing: Any, thumbnails: Any) -> Scene:
    """Ask a classifier for what is to be drawn; anything else is left as it is."""
    is_classifier = hasattr(est, "on_beliefs")
    if is_classifier and not hasattr(est, "decomposition_"):
        raise TypeError("This ClassifierCA is not fitted: call fit first.")
    if not is_classifier:
        for name, value in (("confusing needs", confusing), ("thumbnails need", thumbnails)):
            if value is not None and value is not False:
                raise TypeError(f"{name} a fitted ClassifierCA, got {type(est).__name__}.")
        return Scene(est, X, classes, None, None, ("rows", "columns"), _choose_colours(np.empty(0, object), classes))
    is_found = isinstance(confusing, Confusing)
    is_same = confusing is not None and not is_found and (X is None or X is confusing)
    inputs = confusing if X is None and not is_found else X
    of_beliefs = est.on_beliefs()
    P = None if inputs is None else est.beliefs(inputs)
    found = confusing
    if confusing is not None and not is_found:
        found = of_beliefs.confusing(P if is_same else est.beliefs(confusing), MOST_CONFUSING)
    images = choose_pictures(thumbnails, confusing, found)
    if P is not None and classes is None:
        classes = of_beliefs.predict(P)
    colours = _choose_colours(est.classes_, classes)
    return Scene(of_beliefs, P, classes, found, images, ("inputs", "classes"), colours)


def _choose_colours(known: np.ndarray, classes: Any) -> dict[Any, str]:
    """The same colours for the same classes, whichever of them occur, unless other things than them are shown."""
    values = np.asarray(classes, dtype=object)
    if classes is None or values.ndim != 1:
        return {}
    is_known = set(values.tolist()) <= set(known.tolist())
    return class_colours(known if is_known else values, nominal=is_known)


def draw_boundaries(ax: Axes, est: Any, boundaries: Any, index: list[int], factor: np.ndarray) -> np.ndarray:
    """Lines on which two classes are equally likely, from where no other is possible to where a third is as likely.

    Returns
    -------
    ndarray of shape (m, 2)
        Points on them, which nothing should cover.
    """
    outline = [withStroke(linewidth=2.6, foreground="white", alpha=0.7)]
    drawn = [np.empty((0, 2))]
    colours = class_colours(est.classes_, nominal=True) if hasattr(est, "classes_") and len(est.classes_) > 3 else {}
    for i, (a, b) in enumerate(boundary_pairs(est, boundaries)):
        points = est.boundary(a, b, 30)[:, index] * factor
        style: dict[str, Any] = {"lw": 1.2, "zorder": 2.5, "label": "_" if i else "boundary"}
        if len(index) == 1:
            ax.axvline(points[0, 0], color=BOUNDARY_COLOUR, ls=BOUNDARY_DASHES, **style)
            continue
        if colours:  # of many lines one must see whose they are: dashes in the colours of both classes
            below = style | {"label": "_", "zorder": 2.4}
            ax.plot(points[:, 0], points[:, 1], path_effects=outline, color=colours[b], **below)
        colour = colours.get(a, BOUNDARY_COLOUR)
        ax.plot(
            points[:, 0],
            points[:, 1],
            path_effects=[] if colours else outline,
            color=colour,
            ls=BOUNDARY_DASHES,
            **style,
        )
        drawn.append(points)
    return np.vstack(drawn)


def boundary_pairs(est: Any, boundaries: Any) -> list[tuple[Any, Any]]:
    """All pairs of classes if there are few, those most confused if there are many, or those asked for."""
    if not hasattr(est, "boundary"):
        raise TypeError(f"boundaries need a fitted ClassifierCA, got {type(est).__name__}.")
    if boundaries is not True:
        pairs = [boundaries] if np.ndim(boundaries) == 1 and len(boundaries) == 2 else boundaries
        is_list = isinstance(pairs, Sequence | np.ndarray) and not isinstance(pairs, str)
        if not is_list or not all(not isinstance(pair, str) and np.size(pair) == 2 for pair in pairs):
            raise ValueError("boundaries must be True or a list of pairs of classes, such as [('a', 'b')].")
        return [(a, b) for a, b in pairs]
    used = np.flatnonzero(est.prior_ > 0)
    rows, columns = (used[index] for index in np.triu_indices(len(used), 1))
    order = np.argsort(-est.overlap_[rows, columns], kind="stable")[:MOST_BOUNDARIES]
    names = est.classes_.tolist()
    return [(names[rows[i]], names[columns[i]]) for i in order]


# --- thumbnails


class Thumbnail(AnnotationBbox):
    """Small picture beside a point; where, is decided like the place of a label."""

    def __init__(self, image: np.ndarray, xy: Sequence[float], colour: Any) -> None:
        zoom = THUMBNAIL_SIZE_POINTS / max(image.shape[:2])
        shown = OffsetImage(image, zoom=zoom, cmap="gray", interpolation="nearest")
        frame = {"edgecolor": colour, "linewidth": 1.2}
        super().__init__(
            shown, (xy[0], xy[1]), (0, 0), boxcoords="offset points", box_alignment=(0, 0), pad=0, bboxprops=frame
        )
        self.set_zorder(3.5)
        self.set_in_layout(False)

    def set_position(self, xy: Sequence[float]) -> None:
        """Lower left corner, in points from the marked point."""
        self.xybox = (float(xy[0]), float(xy[1]))


def thumbnails_of(ax: Axes, images: np.ndarray, xy: np.ndarray, colours: Sequence[Any]) -> list[Thumbnail]:
    """Add thumbnails to a picture, to be placed."""
    made = [Thumbnail(image, at, colour) for image, at, colour in zip(images, xy, colours, strict=True)]
    for thumbnail in made:
        ax.add_artist(thumbnail)
    return made


def choose_pictures(thumbnails: Any, confusing: Any, found: Confusing | None) -> np.ndarray | None:
    """Pictures of the confusing inputs: the inputs themselves, or given one for each of them."""
    if thumbnails is False or thumbnails is None:
        return None
    if found is None:
        raise ValueError("thumbnails need confusing: give the inputs, or what ClassifierCA.confusing returned.")
    if thumbnails is True:
        if isinstance(confusing, Confusing):
            raise ValueError("thumbnails must be the images themselves where confusing was found before.")
        thumbnails = confusing
    n = count_observations(thumbnails, "thumbnails")
    if n == len(found) and isinstance(confusing, Confusing):
        return shown_images(np.asarray(thumbnails))
    if n <= found.index.max(initial=-1):
        raise ValueError(f"thumbnails must be one image for each input, got {n}.")
    return shown_images(np.asarray(take_rows(thumbnails, found.index)))


def shown_images(images: np.ndarray, name: str = "thumbnails") -> np.ndarray:
    """Grey or coloured pictures, with channels last and values from 0 to 1."""
    if images.ndim == 4 and images.shape[-1] not in (1, 3, 4):
        images = np.moveaxis(images, 1, -1)
    if images.ndim == 4 and images.shape[-1] == 1:
        images = images[..., 0]
    if images.ndim not in (3, 4) or (images.ndim == 4 and images.shape[-1] not in (3, 4)):
        raise ValueError(
            f"{name} must be images of shape (n, height, width), with 1 or 3 channels before or after these two, "
            f"got shape {images.shape}."
        )
    if images.dtype == np.uint8:
        return images
    low, high = float(images.min(initial=0)), float(images.max(initial=1))
    return (images - low) / (high - low)
