"""Records of studies, from which the page of all results is made."""

import numpy as np

from correspondence.studies.record import Record


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
