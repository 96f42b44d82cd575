"""The encoder that suits the data."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import as_frame, to_array
from correspondence.data.column_reading import columns_of
from correspondence.data.column_summary import Survey
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.columns import Columns, is_table
from correspondence.data.encoders.images import Images
from correspondence.data.encoders.plain import Plain
from correspondence.data.encoders.text import MAX_EXACT_COLUMNS, Bag, SparseColumns, Text, are_texts, is_text
from correspondence.data.pairs.pairs import Memory, Parts

__all__ = ["encoder_for", "encoder_from_state", "encoders_for", "merge_summaries", "summarise_rows", "survey_pairs"]


def encoder_for(values: Any, name: str, plain: bool = False, linear: bool = False) -> Encoder:
    """Fit the encoder that suits the kind of the data.

    Parameters
    ----------
    values : array-like, frame or sparse matrix
        Fit the encoder to these data.
    name : str
        Errors and warnings call the data so.
    plain : bool
        Leave arrays of numbers as they are (`Plain`).
    linear : bool
        Only shift and scale columns of numbers, however heavy their tails; this includes sparse matrices.

    Returns
    -------
    Encoder
        `Bag` for sparse matrices (`SparseColumns` for wide ones if `linear`), `Images` for arrays of shape (n,
        channels, height, width), `Text` for strings most of which differ and have several words, `Columns` for
        everything else.

    Examples
    --------
    >>> encoder_for([[1.0, 2.0], [3.0, 5.0], [0.0, 4.0]], "X").kind
    'columns'
    >>> encoder_for(["red", "blue", "red"], "Y").width
    2
    """
    if sp.issparse(values):
        if linear and values.ndim == 2 and values.shape[1] > MAX_EXACT_COLUMNS:
            return SparseColumns.fit(values, name)
        return Columns.fit(values, name, linear=True) if linear else Bag.fit(values, name)
    if as_frame(values, name) is None:
        array = to_array(values, name)
        if plain and array.dtype.kind in "iuf":
            return Plain.fit(values, name)
        if array.ndim > 2:
            return Images.fit(values, name)
    if is_text(values):
        return Text.fit(values, name)
    return Columns.fit(values, name, linear)


def encoders_for(pairs: Parts, linear: bool = False) -> tuple[Encoder, Encoder]:
    """Fit the encoders of both sides of pairs, which must be tables unless they are in memory."""
    if isinstance(pairs, Memory):
        return encoder_for(pairs.x, "X", linear=linear), encoder_for(pairs.y, "Y", linear=linear)
    x, y = survey_pairs(pairs)
    assert x is not None
    assert y is not None
    return Columns.from_survey(x, "X", linear), Columns.from_survey(y, "Y", linear)


def survey_pairs(pairs: Parts) -> tuple[Survey | None, Survey | None]:
    """Survey both sides of pairs; None for data in memory that are not a table."""
    if isinstance(pairs, Memory):
        x, y = (
            Survey.from_columns(columns_of(values, name)) if is_table(values, name) else None
            for values, name in ((pairs.x, "X"), (pairs.y, "Y"))
        )
        return x, y
    x, y = pairs.sums(partial(summarise_rows, pairs.layout.n), merge_summaries, "columns")
    for survey, name in ((x, "X"), (y, "Y")):
        counts = list(survey.columns.values())
        if len(counts) == 1 and isinstance(counts[0], dict) and are_texts(counts[0]):
            raise ValueError(
                f"{name} is a column of text, which is not supported in pairs that are not in memory: turn it into "
                "columns of numbers first, or use PICE."
            )
    return x, y


def summarise_rows(n: int, x: Any, y: Any, first: int) -> tuple[Survey, Survey]:
    """Summarise the columns of a part of the pairs."""
    return Survey.from_columns(columns_of(x, "X"), first, n), Survey.from_columns(columns_of(y, "Y"), first, n)


def merge_summaries(parts: list[tuple[Survey, Survey]]) -> tuple[Survey, Survey]:
    """Merge the summaries of all parts."""
    x, y = (Survey.merge_parts(side, name) for side, name in zip(zip(*parts, strict=True), "XY", strict=True))
    return x, y


def encoder_from_state(description: dict[str, Any], arrays: dict[str, np.ndarray]) -> Encoder:
    """Invert ``Encoder.state``."""
    classes: tuple[type[Encoder], ...] = (Columns, Bag, SparseColumns, Text, Images, Plain)
    return {cls.kind: cls for cls in classes}[description["kind"]].from_state(description, arrays)
