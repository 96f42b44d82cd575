"""The points of a page: which values of a variable are shown, where they lie, and what is known of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import as_frame, count_observations, take_rows
from correspondence._util.labels import as_labels, encode_labels
from correspondence.core.decomposition import Decomposition, as_decomposition
from correspondence.core.functions import LabelFunctions, PrincipalFunctions, find_label_shares
from correspondence.page.sprites import Sprites, make_sprites
from correspondence.scene.overlay import Scene
from correspondence.search.cross_modal import CrossModalIndex

__all__ = ["Cloud", "Column", "clouds_of", "to_texts"]

MOST_COLUMNS = 30  # that are shown of a point
MOST_IMAGES = 3000
MOST_TEXT = 300  # characters of a label
MOST_NAMES, LONG_NAME = 300, 30  # values whose labels are names; characters of a name, on average


@dataclass(frozen=True, eq=False)
class Column:
    """Values of the points in one column of the data: numbers, or positions among labels."""

    name: str
    values: np.ndarray
    labels: list[str] | None = None


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points of one kind.

    Attributes
    ----------
    role : {"x", "y", "mark"}
        A mark is a named value of x.
    name : str
        What the variable is called.
    labels : list of str or None
        One for each point; None if they are known by the positions of their rows only.
    is_named : bool
        Whether the labels are short names, to be written in the plane.
    has_mass : bool
        Whether the priors say something: of labels they do.
    places : ndarray of shape (n, d)
        Standard coordinates.
    prior : ndarray of shape (n,)
    rows : ndarray of shape (n,)
        Positions in the data given.
    total : int
        How many there are, of which n are shown.
    given : int
        Length of the data given.
    columns : list of Column
        Their values, if the data is a table.
    classes : ndarray of shape (n,) or None
        Positions among the classes, -1 for none.
    images : Sprites or None
    image : ndarray of shape (n,) or None
        Which thumbnail is whose, -1 for none.
    """

    role: str
    name: str
    labels: list[str] | None
    is_named: bool
    has_mass: bool
    places: np.ndarray
    prior: np.ndarray
    rows: np.ndarray
    total: int
    given: int
    columns: list[Column] = field(default_factory=list)
    classes: np.ndarray | None = None
    images: Sprites | None = None
    image: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.places)


def clouds_of(
    seen: Scene,
    d_or_est: Any,
    X: Any,
    Y: Any,
    names: tuple[str, str, str],
    most: int,
    labels: tuple[Any, Any],
    images: tuple[Any, Any],
    marks: Any,
    index: Any,
) -> list[Cloud]:
    """The points of x, of y, and marks if there are any; the parameters are those of `explore`."""
    d = as_decomposition(seen.est)
    x = cloud_of(d.f, seen.X, labels[0], "x", names[0], most, shown=X)
    if index is None:
        y = cloud_of(d.g, Y, labels[1], "y", names[1], most)
    elif isinstance(index, CrossModalIndex) and index.g.shape[1] == d.n_components:
        y, Y = cloud_of_items(index, names[1]), None
    else:
        raise TypeError(f"index must be a CrossModalIndex of this decomposition, got {index!r}.")
    given = [
        values if image is None and _are_images(values) else image for values, image in zip((X, Y), images, strict=True)
    ]
    clouds = [cloud if image is None else add_images(cloud, image) for cloud, image in zip((x, y), given, strict=True)]
    return clouds if marks is None else [*clouds, marks_of(as_decomposition(d_or_est), marks, names[2])]


def _are_images(values: Any) -> bool:
    return getattr(values, "ndim", 0) in (3, 4)


def cloud_of(
    functions: PrincipalFunctions, values: Any, labels: Any, role: str, name: str, most: int, shown: Any = None
) -> Cloud:
    """Points of a variable.

    Parameters
    ----------
    functions : PrincipalFunctions
        Its f or g.
    values : array-like, frame, ... or None
        What is shown; of labels each one once. By default the labels of the fit, or its sample.
    labels : array-like or None
        A text for each value.
    role, name : str
        Of the cloud.
    most : int
        So many points at most: of labels those of the largest inertia, of anything else some at random.
    shown : array-like, frame, ... or None
        The data that people know, if the functions take something else, as beliefs.
    """
    side = role.upper()
    values = choose_values(functions, values, side)
    shares = find_label_shares(functions)
    if shares is not None:
        return make_label_cloud(functions, values, shares, labels, role, name, most)
    n = count_observations(values, side)
    written = None if labels is None else to_texts(check_own_labels(labels, n, role))
    rows = np.arange(n) if n <= most else np.sort(np.random.default_rng(0).choice(n, most, replace=False))
    places = functions(values if n <= most else take_rows(values, rows))
    known = np.isfinite(places).all(axis=1)
    if not known.any():
        raise ValueError(f"{side} has no value with a place: they are all labels that the fit has not seen.")
    rows, places = rows[known], places[known]
    known_data = take_rows(values if shown is None else shown, rows)
    if written is not None:
        written = [written[i] for i in rows]
    elif _is_text(known_data):
        written = to_texts(known_data)
    return Cloud(
        role,
        name,
        written,
        is_named=labels is not None and _are_names(written or []),
        has_mass=False,
        places=places,
        prior=np.full(len(rows), 1 / n),
        rows=rows,
        total=n,
        given=n,
        columns=[] if written is not None and labels is None else list(iterate_columns(known_data, name)),
    )


def cloud_of_items(index: CrossModalIndex, name: str) -> Cloud:
    """The y of an index, such as tags."""
    n = len(index.items_y)
    labels = to_texts(index.items_y)
    return Cloud("y", name, labels, True, True, np.array(index.g), np.array(index.prior), np.arange(n), n, n)


def marks_of(d: Decomposition, marks: Any, name: str) -> Cloud:
    """Named values of x."""
    if not isinstance(marks, tuple | list) or len(marks) != 2:
        raise ValueError("marks must be a pair: labels, and as many values of x.")
    labels, places = to_texts(marks[0]), d.f(marks[1])
    if len(labels) != len(places):
        raise ValueError(f"marks has {len(labels)} labels for {len(places)} values; give one label per value.")
    n = len(labels)
    return Cloud("mark", name, labels, True, False, places, np.full(n, 1 / max(1, n)), np.arange(n), n, n)


# --- pictures


def add_images(cloud: Cloud, images: Any) -> Cloud:
    """The same points with thumbnails; of many points some at random."""
    n = count_observations(images, f"{cloud.role}_images")
    if n != cloud.given:
        raise ValueError(f"{cloud.role}_images must be one for each of the {cloud.given} values, got {n}.")
    chosen = np.arange(len(cloud))
    if len(cloud) > MOST_IMAGES:
        chosen = np.sort(np.random.default_rng(0).choice(len(cloud), MOST_IMAGES, replace=False))
    image = np.full(len(cloud), -1, dtype=np.int32)
    image[chosen] = np.arange(len(chosen))
    return replace(cloud, images=make_sprites(images, cloud.rows[chosen], f"{cloud.role}_images"), image=image)


# --- labels, texts, columns


def choose_values(functions: PrincipalFunctions, values: Any, side: str) -> Any:
    """Values to show: those given, the labels of the fit, or its sample."""
    if isinstance(values, str):
        raise TypeError(
            f"{side} must be the values to show, got the text {values!r}: write path={values!r} for the file."
        )
    if values is not None:
        return values
    if isinstance(functions, LabelFunctions):
        return functions.labels
    shares = find_label_shares(functions)
    values = list(shares) if shares is not None else getattr(functions, "sample", None)
    if values is None:
        raise TypeError(f"{side} is needed: give the values to show, as for fit.")
    return values


def make_label_cloud(
    functions: PrincipalFunctions, values: Any, shares: dict[Any, float], names: Any, role: str, name: str, most: int
) -> Cloud:
    """Each label of a column once, perhaps under another name, given for each of the values."""
    codes, labels = encode_labels(as_labels(values, role.upper()), role.upper())
    first = np.empty(len(labels), dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    prior = np.array([shares.get(label, 0.0) for label in labels.tolist()])
    known = np.flatnonzero(prior > 0)
    if not len(known):
        raise ValueError(f"{role.upper()} has no label that the fit has seen.")
    places = functions(labels[known])
    inertia = prior[known] * (places**2).sum(axis=1)
    chosen = np.argsort(-inertia, kind="stable")[:most]
    chosen = chosen[np.argsort(first[known[chosen]], kind="stable")]  # as in the data
    labels, places, rows = labels[known[chosen]], places[chosen], first[known[chosen]]
    if names is not None:
        labels = check_own_labels(names, len(codes), role)[rows]
    return Cloud(role, name, to_texts(labels), True, True, places, prior[known[chosen]], rows, len(known), len(codes))


def check_own_labels(labels: Any, n: int, role: str) -> np.ndarray:
    """Labels of the user's own, one for each value."""
    own = as_labels(labels, f"{role}_labels")
    if len(own) != n:
        raise ValueError(f"{role}_labels must be one for each of the {n} values of {role.upper()}, got {len(own)}.")
    return own


def to_texts(labels: Any) -> list[str]:
    """Labels as texts that can be written to a file; lone surrogates cannot."""
    return [_shorten_text(str(label)).encode("utf-8", "replace").decode() for label in labels]


def _are_names(labels: list[str]) -> bool:
    """Whether labels are so few and short that they can be written in a plane, and no mere numbers of things."""
    are_ids = all(any(letter.isdecimal() for letter in label) for label in labels)
    return len(labels) <= MOST_NAMES and sum(map(len, labels)) <= LONG_NAME * len(labels) and not are_ids


def _shorten_text(text: str) -> str:
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"


def _is_text(values: Any) -> bool:
    return not sp.issparse(values) and as_frame(values, "X") is None and np.asarray(values).dtype.kind in "OU"


def iterate_columns(values: Any, name: str) -> Iterator[Column]:
    """Columns of a table, or of a single column; of images and sparse matrices none."""
    frame = as_frame(values, "X")
    if frame is not None:
        columns = zip(frame.columns, frame.iter_columns(), strict=True)
        data = {str(key): series.to_numpy() for key, series in columns}
    else:
        array = np.empty(0) if sp.issparse(values) else np.asarray(values)
        if array.ndim not in (1, 2) or not array.size:
            return
        data = {name: array} if array.ndim == 1 else {f"column {i}": column for i, column in enumerate(array.T)}
    if len(data) > MOST_COLUMNS:
        return
    for key, column in data.items():
        yield make_column(key, column)


def make_column(name: str, values: np.ndarray) -> Column:
    if values.dtype.kind in "biuf" and np.isfinite(values).all():
        with np.errstate(over="ignore"):
            short = values.astype(np.float32)
        is_enough = np.allclose(short, values, rtol=1e-6, atol=0) and (
            values.dtype.kind == "f" or (short == values).all()
        )
        return Column(name, short if is_enough else values.astype(np.float64))
    labels, codes = np.unique(np.array([str(value) for value in values.tolist()]), return_inverse=True)
    return Column(name, codes.astype(np.uint32), to_texts(labels))
