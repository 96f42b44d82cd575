"""What a picture shows of a classifier: inputs and classes, decision boundaries, confusing inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence.results.confusing import Confusing
from correspondence.scene.colours import choose_scene_colours
from correspondence.scene.images import choose_pictures

__all__ = ["Scene", "choose_boundary_pairs", "make_scene"]

MAX_BOUNDARIES = 10
MAX_CONFUSING = 12


@dataclass(frozen=True, eq=False)
class Scene:
    """What is drawn; a classifier is asked once, and everything is in beliefs from here on."""

    est: Any
    X: Any
    classes: Any
    confusing: Confusing | None
    images: np.ndarray | None
    """A picture of each confusing input."""
    names: tuple[str, str]
    """What a legend calls the two variables."""
    colours: dict[Any, str]
    """The colour of each class."""


def make_scene(est: Any, X: Any, classes: Any, confusing: Any, thumbnails: Any) -> Scene:
    """Ask a classifier for what is to be drawn; anything else is left as it is."""
    if not hasattr(est, "on_beliefs"):
        for name, value in (("confusing needs", confusing), ("thumbnails need", thumbnails)):
            if value is not None and value is not False:
                raise TypeError(f"{name} a fitted ClassifierCA, got {type(est).__name__}.")
        colours = choose_scene_colours(np.empty(0, object), classes)
        return Scene(est, X, classes, None, None, ("rows", "columns"), colours)
    if not hasattr(est, "decomposition_"):
        raise TypeError("This ClassifierCA is not fitted: call fit first.")
    is_found = confusing is None or isinstance(confusing, Confusing)
    inputs = confusing if X is None and not is_found else X
    of_beliefs = est.on_beliefs()
    P = None if inputs is None else est.beliefs(inputs)
    found = confusing
    if not is_found:
        found = of_beliefs.confusing(P if inputs is confusing else est.beliefs(confusing), MAX_CONFUSING)
    images = choose_pictures(thumbnails, confusing, found)
    if P is not None and classes is None:
        classes = of_beliefs.predict(P)
    colours = choose_scene_colours(est.classes_, classes)
    return Scene(of_beliefs, P, classes, found, images, ("inputs", "classes"), colours)


def choose_boundary_pairs(est: Any, boundaries: Any) -> list[tuple[Any, Any]]:
    """Choose all pairs of classes if there are few, the most confused if there are many, or those asked for."""
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
    order = np.argsort(-est.overlap_[rows, columns], kind="stable")[:MAX_BOUNDARIES]
    names = est.classes_.tolist()
    return [(names[rows[i]], names[columns[i]]) for i in order]
