"""Results of studies: the data they need, their tables and their records."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from correspondence.studies.record import Record


def require_data(file):
    """Skip the test if the folder with the real data sets does not hold a file."""
    if not Path(os.environ.get("CORRESPONDENCE_DATA", "none"), file).is_file():
        pytest.skip(f"CORRESPONDENCE_DATA has no {file}")


def read_rows(path):
    """Read the lines of a CSV file as dicts."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def check_record(folder, study):
    """See that each exhibit has a sentence, its picture, and lines with a value of ours or an exact one."""
    record = Record.read_json(folder, study)
    assert record.exhibits
    for exhibit in record.exhibits:
        assert exhibit.sentence.endswith(".")
        assert exhibit.picture is None or (folder / f"{study}{exhibit.picture}.png").is_file()
        for line in exhibit.lines:
            values = [line.training, line.held_out, line.exact]
            assert any(value not in (None, "") for value in values)
            assert all(np.isfinite(value) for value in values if isinstance(value, float))
