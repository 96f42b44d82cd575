"""What the script of a page is given: a description of the points and their arrays, as one text."""

from __future__ import annotations

from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np

from correspondence.page.clouds import Cloud
from correspondence.page.column_marks import pack_numbers
from correspondence.page.packing import pack_arrays, shorten_mantissas
from correspondence.results.evidence import Component
from correspondence.results.matches import Confusing
from correspondence.scene.classes import Scene, choose_boundary_pairs, describe_faithfulness
from correspondence.scene.colours import list_variable_colours
from correspondence.scene.column_marks import ColumnMarks
from correspondence.scene.points import list_maps

__all__ = ["N_COLOURS", "collect_arrays", "count_axes", "describe_cloud", "pack_payload"]

MAX_AXES = 50  # components that a page knows; fewer if there are many points
MAX_NUMBERS = 2_000_000
MAX_FRAMES = 40
FRAME_AXES = 4
MAX_FAITHFUL_AXES = 4  # axes whose planes a page knows the faithfulness of: six planes
FRAME_MANTISSA_BITS = 9  # enough for a pixel or two
BOUNDARY_POINTS = 30
N_COLOURS = 20  # of categories of points

Part = tuple[dict[str, Any], dict[str, np.ndarray]]


def pack_payload(
    seen: Scene,
    clouds: list[Cloud],
    rows: list[Component],
    names: tuple[str, str, str],
    colours: dict[str, Any] | None,
    index: Any,
    boundaries: Any,
    recorder: Any,
    fitted: str,
    marks: dict[str, ColumnMarks],
) -> str:
    """Pack everything that the script needs, as `pack_arrays` writes it.

    Parameters
    ----------
    seen : Scene
        The classifier, if it is one, and its confusing inputs.
    clouds : list of Cloud
        The points of x, of y and perhaps marks.
    rows : list of Component
        The components, as `list_components` returns them.
    names : (str, str, str)
        What x, y and marks are called.
    colours : dict or None
        The names and colours of the classes.
    index, boundaries, recorder
        These are the parameters of `explore`.
    fitted : str
        What the correlations of the fit are called.
    marks : dict of ColumnMarks
        What is shown of the columns of x and y.
    """
    kept = count_axes(rows, clouds)
    content: dict[str, Any] = {
        "names": names,
        "kept": kept,
        "axes": [asdict(row) for row in rows[:kept]],
        "classes": colours,
        "palette": list_variable_colours(N_COLOURS),
        "fitted": fitted,
    }
    content |= _choose_ranking(clouds[1], index) | {
        "maps": list_maps(clouds[0].has_mass and clouds[1].has_mass),
        "clouds": [describe_cloud(c) for c in clouds],
    }
    arrays = collect_arrays(kept, clouds)
    parts = (
        list_input_notes(seen, kept),
        collect_boundaries(seen.est, boundaries, kept),
        list_confusing_inputs(seen.confusing, clouds[0]),
        collect_frames(seen.est, recorder, clouds[0]),
        pack_numbers(marks, kept),
        list_orders(seen.est, clouds),
    )
    for more, data in parts:
        content |= more
        arrays |= data
    return pack_arrays(content, arrays)


def count_axes(rows: list[Component], clouds: list[Cloud]) -> int:
    """Count the axes that a page knows: fewer if there are many points."""
    return min(len(rows), MAX_AXES, max(10, MAX_NUMBERS // max(1, sum(map(len, clouds)))))


def _choose_ranking(y: Cloud, index: Any) -> dict[str, Any]:
    """Choose how matches of a point are ranked: as the given index does, or one would by default.

    Per cent are shown of shares in the fit, and of what an index has learned on held-out pairs; not of other scores.
    """
    if index is None:
        return {"by": "posterior" if y.has_mass else "gaussian", "scaled": False, "claims": True, "learned": None}
    learned = index.calibration.get("tags")
    numbers = learned and {"slope": learned.slope, "intercept": learned.intercept, "several": index.has_tags}
    return {"by": index.by, "scaled": index.scaled, "claims": learned is not None, "learned": numbers}


def describe_cloud(cloud: Cloud) -> dict[str, Any]:
    """Describe a cloud, apart from its arrays."""
    sprites = None
    if cloud.images is not None:
        sizes = ("kind", "width", "height", "per_row", "per_sheet")
        sprites = {name: getattr(cloud.images, name) for name in sizes} | {"sheets": len(cloud.images.sheets)}
    return {
        "role": cloud.role,
        "name": cloud.name,
        "n": len(cloud),
        "given": cloud.points.given,
        "labels": cloud.labels,
        "named": cloud.is_named,
        "mass": cloud.has_mass,
        "faint": cloud.is_faint,
        "columns": [column.describe() for column in cloud.columns],
        "left_out": cloud.left_out,
        "sprites": sprites,
        "texts": cloud.short_labels,
        "correlations": None if cloud.correlations is None else cloud.correlations.tolist(),
    }


def collect_arrays(kept: int, clouds: list[Cloud]) -> dict[str, np.ndarray]:
    """Collect the arrays of all clouds, by names that the script knows."""
    arrays = {}
    for i, cloud in enumerate(clouds):
        arrays[f"{i}.places"] = shorten_mantissas(cloud.points.places[:, :kept])
        arrays[f"{i}.prior"] = shorten_mantissas(cloud.prior)
        positions = cloud.points.rows if cloud.positions is None else cloud.positions
        arrays[f"{i}.rows"] = positions.astype(np.uint32)
        if cloud.row_shares is not None:
            arrays[f"{i}.shares"] = shorten_mantissas(cloud.row_shares)
        for name, values in (("contributions", cloud.contributions), ("cos2", cloud.cos2)):
            if values is not None:
                arrays[f"{i}.{name}"] = shorten_mantissas(values[:, :kept])
        if cloud.classes is not None:
            arrays[f"{i}.classes"] = cloud.classes
        for j, column in enumerate(cloud.columns):
            arrays[f"{i}.column.{j}"] = column.values
        if cloud.images is not None and cloud.image is not None:
            arrays[f"{i}.image"] = cloud.image
            for j, sheet in enumerate(cloud.images.sheets):
                arrays[f"{i}.sheet.{j}"] = np.frombuffer(sheet, np.uint8)
    return arrays


def list_input_notes(seen: Scene, kept: int) -> Part:
    """Say how much of a classifier planes of the first axes preserve, by axes such as "0 1", and what is left out."""
    n = min(kept, MAX_FAITHFUL_AXES)
    planes = [[0]] if n == 1 else [[i, j] for i, j in combinations(range(n), 2)]
    told = zip(planes, describe_faithfulness(seen, planes), strict=True)
    faithfulness = {" ".join(map(str, index)): text for index, text in told if text}
    return {"inputs": list(seen.notes), "faithfulness": faithfulness}, {}


def collect_boundaries(est: Any, boundaries: Any, kept: int) -> Part:
    """Collect the decision boundaries of a classifier."""
    if boundaries is False or (boundaries is True and not hasattr(est, "boundary")):
        return {}, {}
    pairs = choose_boundary_pairs(est, boundaries)
    if not pairs:
        return {}, {}
    lines = np.stack([est.boundary(a, b, BOUNDARY_POINTS)[:, :kept] for a, b in pairs])
    said = {"boundaries": [[str(a), str(b)] for a, b in pairs], "boundary_points": BOUNDARY_POINTS}
    return said, {"boundaries": shorten_mantissas(lines)}


def list_confusing_inputs(found: Confusing | None, cloud: Cloud) -> Part:
    """List the inputs next to a boundary, as positions among the points."""
    if found is None:
        return {}, {}
    position = {row: i for i, row in enumerate(cloud.points.rows.tolist())}
    rows = zip(found.index.tolist(), found.pairs.tolist(), found.margin.tolist(), strict=True)
    listed = [[position[row], str(a), str(b), round(m, 4)] for row, (a, b), m in rows if row in position]
    return {"confusing": listed}, {}


def list_orders(est: Any, clouds: list[Cloud]) -> Part:
    """List the labels that an analysis has in order, as positions among the points of their side."""
    orders = []
    for side, cloud in zip(("rows", "columns"), clouds, strict=False):
        levels = getattr(est, "ordered_", {}).get(side, [])
        known = [] if cloud.points.labels is None else [str(label) for label in cloud.points.labels.tolist()]
        line = [known.index(str(level)) for level in levels if str(level) in known]
        if len(line) > 2:
            orders.append({"role": cloud.role, "points": line})
    return ({"orders": orders} if orders else {}), {}


def collect_frames(est: Any, recorder: Any, cloud: Cloud) -> Part:
    """Collect the places of probes and classes during a training, in the axes of its last frame."""
    if recorder is None:
        return {}, {}
    if getattr(est, "group", None) is not None:
        raise ValueError("recorder must be left out for a group of classes: its frames have the axes of all classes.")
    shown = np.unique(np.linspace(0, len(recorder) - 1, min(MAX_FRAMES, len(recorder))).round().astype(int))
    places = [recorder.coordinates(int(i)) for i in shown]
    if len(places[0][0]) != cloud.points.given:
        raise ValueError(f"X must be the {len(places[0][0])} probes of the recorder, got {cloud.points.given} values.")
    x = np.stack([inputs[cloud.points.rows, :FRAME_AXES] for inputs, _ in places])
    y = np.stack([positions[:, :FRAME_AXES] for _, positions in places])
    accuracy = None if recorder.accuracy is None else [round(float(a), 4) for a in recorder.accuracy[shown]]
    said = {"steps": recorder.steps[shown].tolist(), "accuracy": accuracy, "axes": x.shape[2]}
    said["labels"] = [str(label) for label in recorder.classes.tolist()]
    return {"frames": said}, {"frames.x": shorten_mantissas(x, FRAME_MANTISSA_BITS), "frames.y": shorten_mantissas(y)}
