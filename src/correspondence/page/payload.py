"""What the script of a page is given: a description of the points and their arrays, as one text."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from correspondence.page.clouds import Cloud
from correspondence.page.packing import few_bits, pack_arrays
from correspondence.page.sprites import Sprites
from correspondence.results.confusing import Confusing
from correspondence.results.evidence import Component
from correspondence.scene.maps import MAPS
from correspondence.scene.overlay import Scene, boundary_pairs

__all__ = ["pack_payload"]

MOST_AXES = 50  # components that a page knows; fewer if there are many points
MOST_NUMBERS = 2_000_000
MOST_FRAMES = 40
FRAME_AXES = 4
FRAME_BITS = 9  # of a mantissa: a pixel or two
BOUNDARY_POINTS = 30

Part = tuple[dict[str, Any], dict[str, np.ndarray]]


def pack_payload(
    seen: Scene,
    clouds: list[Cloud],
    rows: list[Component],
    names: tuple[str, str, str],
    colours: dict[str, list[str]] | None,
    index: Any,
    boundaries: Any,
    recorder: Any,
    fitted: str,
) -> str:
    """Everything that the script needs, as `pack_arrays` writes it.

    Parameters
    ----------
    seen : Scene
        The classifier, if it is one.
    clouds : list of Cloud
        x, y and perhaps marks.
    rows : list of Component
        The components, as `list_components` has them.
    names : (str, str, str)
        Of x, y and marks.
    colours : dict or None
        Names and colours of the classes.
    index, boundaries, recorder
        As for `explore`.
    fitted : str
        What the correlations of the fit are called.
    """
    kept = min(len(rows), MOST_AXES, max(10, MOST_NUMBERS // sum(map(len, clouds))))
    content: dict[str, Any] = {
        "names": names,
        "kept": kept,
        "axes": [asdict(row) for row in rows[:kept]],
        "classes": colours,
        "fitted": fitted,
    }
    content |= _choose_ranking(clouds[1], index) | {
        "maps": _maps(clouds),
        "clouds": [describe_cloud(c) for c in clouds],
    }
    arrays = collect_arrays(kept, clouds)
    parts = (
        collect_boundaries(seen.est, boundaries, kept),
        list_confusing_inputs(seen.confusing, clouds[0]),
        collect_frames(recorder, clouds[0]),
    )
    for more, data in parts:
        content |= more
        arrays |= data
    return pack_arrays(content, arrays)


def _choose_ranking(y: Cloud, index: Any) -> dict[str, Any]:
    """How what belongs to a point is ranked: as a `CrossModalIndex` does by default, or the given one."""
    if index is not None:
        return {"by": index.by, "scaled": index.scaled}
    return {"by": "posterior" if y.has_mass else "gaussian", "scaled": False}


def _maps(clouds: list[Cloud]) -> dict[str, tuple[str, str]]:
    """Maps that can be drawn: some need masses."""
    with_mass = clouds[0].has_mass and clouds[1].has_mass
    return {name: pair for name, pair in MAPS.items() if with_mass or not {"mass", "root_mass"} & set(pair)}


def describe_cloud(cloud: Cloud) -> dict[str, Any]:
    return {
        "role": cloud.role,
        "name": cloud.name,
        "n": len(cloud),
        "labels": cloud.labels,
        "named": cloud.is_named,
        "mass": cloud.has_mass,
        "columns": [{"name": column.name, "labels": column.labels} for column in cloud.columns],
        "sprites": None if cloud.images is None else _sizes(cloud.images),
    }


def _sizes(images: Sprites) -> dict[str, Any]:
    names = ("kind", "width", "height", "per_row", "per_sheet")
    return {name: getattr(images, name) for name in names} | {"sheets": len(images.sheets)}


def collect_arrays(kept: int, clouds: list[Cloud]) -> dict[str, np.ndarray]:
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


def collect_boundaries(est: Any, boundaries: Any, kept: int) -> Part:
    """Decision boundaries of a classifier."""
    if boundaries is False or (boundaries is True and not hasattr(est, "boundary")):
        return {}, {}
    pairs = boundary_pairs(est, boundaries)
    if not pairs:
        return {}, {}
    lines = np.stack([est.boundary(a, b, BOUNDARY_POINTS)[:, :kept] for a, b in pairs])
    said = {"boundaries": [[str(a), str(b)] for a, b in pairs], "boundary_points": BOUNDARY_POINTS}
    return said, {"boundaries": few_bits(lines)}


def list_confusing_inputs(found: Confusing | None, cloud: Cloud) -> Part:
    """Inputs next to a boundary, as positions among the points."""
    if found is None:
        return {}, {}
    position = {row: i for i, row in enumerate(cloud.rows.tolist())}
    rows = zip(found.index.tolist(), found.pairs.tolist(), found.margin.tolist(), strict=True)
    listed = [[position[row], str(a), str(b), round(m, 4)] for row, (a, b), m in rows if row in position]
    return {"confusing": listed}, {}


def collect_frames(recorder: Any, cloud: Cloud) -> Part:
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
    return {"frames": said}, {"frames.x": few_bits(x, FRAME_BITS), "frames.y": few_bits(y)}
