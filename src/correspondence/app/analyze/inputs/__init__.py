"""Read a file: pairs, images, a table of counts, or the beliefs of a model, and say what it holds."""

from __future__ import annotations

from correspondence._util.progress import ProgressArgument
from correspondence.app.analyze.inputs.beliefs import SUM_ERROR, read_array_beliefs, read_frame_beliefs
from correspondence.app.analyze.inputs.images import read_image_pairs
from correspondence.app.analyze.inputs.pairs import (
    describe_frame,
    read_array_pairs,
    read_array_table,
    read_frame_pairs,
    read_frame_table,
)
from correspondence.app.analyze.inputs.request import Data, Request
from correspondence.data.file_formats import ARRAY_ENDINGS
from correspondence.results.column_table import ColumnTable

__all__ = ["SUM_ERROR", "Data", "Request", "describe_file", "read_data"]


def read_data(request: Request, progress: ProgressArgument = None) -> Data:
    """Read what is asked for; whatever is wrong with it is a ValueError of one sentence."""
    is_array = request.file.suffix.lower() in ARRAY_ENDINGS
    if request.images is not None:
        return read_image_pairs(request, progress)
    if request.table:
        return read_array_table(request) if is_array else read_frame_table(request)
    if request.beliefs:
        return read_array_beliefs(request) if is_array else read_frame_beliefs(request)
    return read_array_pairs(request) if is_array else read_frame_pairs(request)


def describe_file(request: Request) -> tuple[ColumnTable, list[str]]:
    """Say what each column of a file is taken for, and add remarks."""
    if request.file.suffix.lower() in ARRAY_ENDINGS:
        data = read_data(request)
        return ColumnTable(len(data.ids), data.facts), data.lines
    return describe_frame(request)
