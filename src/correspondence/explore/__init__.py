"""One self-contained page to look at a decomposition, without a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from correspondence.boundary import Confusing
from correspondence.checks import check_whole, length
from correspondence.decomposition import Decomposition, as_decomposition
from correspondence.explore.clouds import Cloud, cloud_of, cloud_of_items, marks_of, with_classes, with_images
from correspondence.explore.evidence import components, scree
from correspondence.explore.packing import few_bits, pack
from correspondence.io import new_file
from correspondence.plot.overlay import Scene, boundary_pairs, scene
from correspondence.plot.planes import MAPS
from correspondence.retrieval import CrossModalIndex, label_shares
from correspondence.words import AxisWords, axis_words, sentences

__all__ = ["explore"]

MOST_AXES = 50  # components that a page knows; fewer if there are many points
MOST_NUMBERS = 4_000_000
MOST_FRAMES = 60
FRAME_AXES = 6
BOUNDARY_POINTS = 30


def explore(
    d_or_est: Any,
    X: Any = None,
    Y: Any = None,
    path: str | Path = "explore.html",
    *,
    held_out: Any = None,
    classes: Any = None,
    names: Sequence[str] | None = None,
    x_labels: Any = None,
    y_labels: Any = None,
    x_images: Any = None,
    y_images: Any = None,
    marks: tuple[Sequence[Any], Any] | None = None,
    index: CrossModalIndex | None = None,
    boundaries: bool | Sequence[tuple[Any, Any]] = True,
    recorder: Any = None,
    title: str = "Correspondence analysis",
    about: Sequence[str] | None = None,
    max_points: int = 100_000,
) -> Path:
    """Write a page to explore: the factoring plane, what lies near what, how strong it is and what the axes mean.

    The page is one file that needs no network. Any two axes and any kind of map can be chosen; a point tells its label,
    values and picture, and a click on it lists what belongs to it on the other side.

    Parameters
    ----------
    d_or_est : Decomposition or fitted estimator
        Of any two variables.
    X, Y : array-like, frame, ..., optional
        Values to show, as for `fit`; those of one column of labels are shown once each. Left out, all labels of the fit
        (of Y also its sample). Pairs whose Y are labels colour the points of X.
    path : str or Path
        The HTML file; replaced only once the new one is complete.
    held_out : HeldOut, CrossFit, LatentDimension or PermutationTest, optional
        What is known of pairs that the fit has not seen, drawn beside the training; `latent_dimension` knows most. By
        default what a `PICE` or a `ClassifierCA` with labels has held out itself.
    classes : array-like, optional
        One for each of X, by which points are coloured and can be filtered; of a `ClassifierCA` what it predicts.
    names : (str, str) or (str, str, str), optional
        What the two variables, and marks, are called.
    x_labels, y_labels : array-like, optional
        A text for each of X and Y.
    x_images, y_images : array-like, optional
        A picture for each of X and Y, shown as a thumbnail; by default X or Y, if they are images.
    marks : (labels, X), optional
        More values of x, each with a label that is written, such as recipes of one ingredient.
    index : CrossModalIndex, optional
        Whose y (tags) are shown instead of Y, and whose ranking is used for what belongs to a point.
    boundaries : bool or list of (label, label)
        Of a `ClassifierCA`: lines between which classes are drawn, by default the ten pairs most confused.
    recorder : TrainingRecorder, optional
        Of a training whose probes are X: a slider goes through its frames.
    title : str
        Heading of the page.
    about : sequence of str, optional
        What is said below the heading; by default the sentences of `correspondence.words.sentences`.
    max_points : int
        Of X and Y each; of more, some are drawn at random (of labels, those that matter most).

    Returns
    -------
    Path
        Of the file.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA().fit(co.datasets.load_housetasks())
    >>> co.explore(ca, path="tasks.html", names=("task", "who does it")).name      # doctest: +SKIP
    'tasks.html'
    """
    check_whole(max_points, "max_points", 1)
    as_decomposition(d_or_est)
    seen = _seen(d_or_est, X, classes)
    d = as_decomposition(seen.est)
    called = _names(seen if names is None else names)
    if held_out is None:
        held_out = getattr(d_or_est, "validation_", None) or getattr(d_or_est, "held_out_", None)
    clouds = [
        _cloud_x(d, X, seen, x_labels, x_images, called[0], max_points),
        _cloud_y(d, Y, index, y_labels, y_images, called[1], max_points),
    ]
    if marks is not None:
        clouds.append(marks_of(as_decomposition(d_or_est), marks, called[2]))
    clouds, colours = _coloured(clouds, X, Y, seen, d)
    kept = _kept(d, clouds)
    rows = components(d, held_out)
    content = _content(kept, clouds, called, index) | {"classes": colours, "axes": rows[:kept]}
    arrays = _arrays(kept, clouds)
    for more, data in (_lines(seen.est, boundaries, kept), _confusing(seen.confusing, clouds[0]), _frames(recorder, clouds[0])):
        content |= more
        arrays |= data
    words = axis_words(d, X, Y, y_items=None if index is None else (index.items_y, index.g, index.prior))
    page = _render(
        title=str(title),
        about=sentences(d, words, held_out, called[:2]) if about is None else [str(text) for text in about],
        facts=_facts(d, clouds, held_out),
        names=called,
        rows=rows,
        scree=scree(rows),
        words=words,
        clouds=clouds,
        data=pack(content, arrays),
        frames=content.get("frames"),
    )
    with new_file(path) as temporary:
        temporary.write_text(page, encoding="utf-8", errors="replace")
    return Path(path)


# --- what is shown


def _seen(est: Any, X: Any, classes: Any) -> Scene:
    """A classifier asked about X; anything else as it is."""
    asked = X if hasattr(est, "on_beliefs") else None
    return scene(est, X, classes, asked, False)


def _names(names: Any) -> tuple[str, str, str]:
    if isinstance(names, Scene):
        names = ("x", "y") if names.names == ("rows", "columns") else names.names
    if isinstance(names, str) or len(names) not in (2, 3):
        raise ValueError(f"names must be two texts, for x and y, or three, got {names!r}.")
    x, y, *more = map(str, names)
    return x, y, more[0] if more else "marked"


def _cloud_x(d: Decomposition, X: Any, seen: Scene, labels: Any, images: Any, name: str, most: int) -> Cloud:
    cloud = cloud_of(d.f, seen.X, labels, "x", name, most, shown=X)
    images = X if images is None and _are_images(X) else images
    return cloud if images is None else with_images(cloud, images)


def _cloud_y(d: Decomposition, Y: Any, index: Any, labels: Any, images: Any, name: str, most: int) -> Cloud:
    if index is not None:
        if not isinstance(index, CrossModalIndex) or index.g.shape[1] != d.n_components:
            raise TypeError("index must be a CrossModalIndex of the same decomposition.")
        return cloud_of_items(index, name)
    cloud = cloud_of(d.g, Y, labels, "y", name, most)
    images = Y if images is None and _are_images(Y) else images
    return cloud if images is None else with_images(cloud, images)


def _are_images(values: Any) -> bool:
    return getattr(values, "ndim", 0) in (3, 4)


def _coloured(
    clouds: list[Cloud], X: Any, Y: Any, seen: Scene, d: Decomposition
) -> tuple[list[Cloud], dict[str, list[str]] | None]:
    """Clouds with classes, those of y that are labels of the same included, and the names and colours of classes."""
    x, y, *marks = clouds
    classes, colours = seen.classes, seen.colours
    if classes is None and Y is not None and label_shares(d.f) is None and label_shares(d.g) is not None:
        column = np.asarray(Y, dtype=object).ravel()
        if len(column) == length(X, "X"):
            again = scene(seen.est, None, column, None, False)
            classes, colours = again.classes, again.colours
    if classes is None:
        return clouds, None
    values = np.asarray(classes, dtype=object)
    if values.shape != (x.total,):
        raise ValueError(f"classes must be one for each of the {x.total} values of X, got shape {values.shape}.")
    names = list(colours)
    x = with_classes(x, values, names)
    if y.labels is not None and y.is_named:
        y = with_classes(y, _spread(y), [str(name) for name in names])
    return [x, y, *marks], {"names": [str(name) for name in names], "colours": list(colours.values())}


def _spread(cloud: Cloud) -> np.ndarray:
    """Labels of a cloud, each at the row where it was found."""
    assert cloud.labels is not None
    labels = np.full(cloud.rows.max(initial=0) + 1, "", dtype=object)
    labels[cloud.rows] = cloud.labels
    return labels


def _kept(d: Decomposition, clouds: list[Cloud]) -> int:
    """How many components the page knows."""
    return min(d.n_components, MOST_AXES, max(10, MOST_NUMBERS // sum(map(len, clouds))))


# --- what goes into the file


def _content(kept: int, clouds: list[Cloud], names: tuple[str, ...], index: Any) -> dict[str, Any]:
    x, y = clouds[:2]
    with_mass = x.has_mass and y.has_mass
    usable = {name: pair for name, pair in MAPS.items() if with_mass or not {"mass", "root_mass"} & set(pair)}
    by = ("posterior" if y.has_mass else "gaussian") if index is None else index.by
    return {
        "names": names,
        "kept": kept,
        "maps": usable,
        "by": by,
        "scaled": index is not None and index.scaled,
        "clouds": [
            {
                "role": cloud.role,
                "name": cloud.name,
                "n": len(cloud),
                "total": cloud.total,
                "labels": cloud.labels,
                "named": cloud.is_named,
                "mass": cloud.has_mass,
                "columns": [{"name": column.name, "labels": column.labels} for column in cloud.columns],
                "sprites": None if cloud.images is None else _sheet_sizes(cloud.images),
            }
            for cloud in clouds
        ],
    }


def _sheet_sizes(images: Any) -> dict[str, Any]:
    names = ("kind", "width", "height", "per_row", "per_sheet")
    return {name: getattr(images, name) for name in names} | {"sheets": len(images.sheets)}


def _arrays(kept: int, clouds: list[Cloud]) -> dict[str, np.ndarray]:
    arrays = {}
    for i, cloud in enumerate(clouds):
        arrays[f"{i}.places"] = few_bits(cloud.places[:, :kept])
        arrays[f"{i}.prior"] = few_bits(cloud.prior)
        arrays[f"{i}.rows"] = cloud.rows.astype(np.uint32)
        if cloud.classes is not None:
            arrays[f"{i}.classes"] = cloud.classes
        for j, column in enumerate(cloud.columns):
            arrays[f"{i}.column.{j}"] = column.values
        if cloud.images is not None and cloud.image is not None:
            arrays[f"{i}.image"] = cloud.image
            for j, sheet in enumerate(cloud.images.sheets):
                arrays[f"{i}.sheet.{j}"] = np.frombuffer(sheet, np.uint8)
    return arrays


Part = tuple[dict[str, Any], dict[str, np.ndarray]]


def _lines(est: Any, boundaries: Any, kept: int) -> Part:
    """Decision boundaries of a classifier."""
    if boundaries is False or (boundaries is True and not hasattr(est, "boundary")):
        return {}, {}
    pairs = boundary_pairs(est, boundaries)
    if not pairs:
        return {}, {}
    lines = np.stack([est.boundary(a, b, BOUNDARY_POINTS)[:, :kept] for a, b in pairs])
    said = {"boundaries": [[str(a), str(b)] for a, b in pairs], "boundary_points": BOUNDARY_POINTS}
    return said, {"boundaries": few_bits(lines)}


def _confusing(found: Confusing | None, cloud: Cloud) -> Part:
    """Inputs next to a boundary, as positions among the points."""
    if found is None:
        return {}, {}
    position = {row: i for i, row in enumerate(cloud.rows.tolist())}
    rows = zip(found.index.tolist(), found.pairs.tolist(), found.margin.tolist(), strict=True)
    listed = [[position[row], str(a), str(b), round(m, 4)] for row, (a, b), m in rows if row in position]
    return {"confusing": listed}, {}


def _frames(recorder: Any, cloud: Cloud) -> Part:
    """Places of the probes and classes during a training, in the axes of its last frame."""
    if recorder is None:
        return {}, {}
    shown = np.unique(np.linspace(0, len(recorder) - 1, min(MOST_FRAMES, len(recorder))).round().astype(int))
    places = [recorder.coordinates(int(i)) for i in shown]
    if len(places[0][0]) != cloud.total:
        raise ValueError(f"recorder has {len(places[0][0])} probes, but X has {cloud.total} values: give the probes.")
    x = np.stack([inputs[cloud.rows, :FRAME_AXES] for inputs, _ in places])
    y = np.stack([positions[:, :FRAME_AXES] for _, positions in places])
    accuracy = None if recorder.accuracy is None else [round(float(a), 4) for a in recorder.accuracy[shown]]
    said = {"steps": recorder.steps[shown].tolist(), "accuracy": accuracy, "axes": x.shape[2]}
    said["labels"] = [str(label) for label in recorder.classes.tolist()]
    return {"frames": said}, {"frames.x": few_bits(x), "frames.y": few_bits(y)}


# --- the page itself


@dataclass(frozen=True)
class Fact:
    """A figure and what it is."""

    name: str
    value: str


def _facts(d: Decomposition, clouds: list[Cloud], held_out: Any) -> list[Fact]:
    facts = [] if d.n is None else [Fact("pairs" if float(d.n).is_integer() else "total", f"{d.n:,.10g}")]
    for cloud in clouds:
        shown = "" if len(cloud) == cloud.total else f"{len(cloud):,} of "
        facts.append(Fact(cloud.name, f"{shown}{cloud.total:,}"))
    facts.append(Fact("chi2 (dependence)", f"{d.chi2:.4g}"))
    captured = getattr(held_out, "captured", None)
    if captured is not None:
        facts.append(Fact("captured of pairs held out", f"{captured:.4g}"))
    return facts


def _render(**content: Any) -> str:
    environment = Environment(loader=PackageLoader("correspondence.explore", "."), autoescape=True)
    files = resources.files("correspondence.explore")
    style, *scripts = (
        Markup(files.joinpath(name).read_text(encoding="utf-8"))  # noqa: S704, our own files
        for name in ("page.css", "unpack.js", "model.js", "plane.js", "page.js")
    )
    return environment.get_template("page.html.j2").render(content, style=style, script=Markup("\n").join(scripts))
