"""Hostile inputs to everything in memory: a result or an error of our own, never a hang, a NaN or a foreign error.

``python tests/fuzz/test_fuzz_estimators.py [GROUP...]`` runs all combinations, of which the tests are a part: about 20
minutes.
"""

import sys
import time
import warnings
import zlib

import entries
import hostile
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import correspondence as co
from correspondence._util.text import one_line

pytestmark = pytest.mark.slow

GROUPS = {  # of entries, of whose inputs every so many is judged here, drawn by name and so the same each time
    "FITS": 20,
    "PICE_FITS": 60,
    "FUNCTIONS": 60,
    "TABLES": 4,
    "USES": 30,
    "OTHER_USES": 6,
    "PARAMETERS": 6,
    "PICE_PARAMETERS": 30,
}
ENTRIES = [(group, entry) for group in GROUPS for entry in getattr(entries, group)]


def faults(group, entry, every=1):
    """What is wrong with an entry, input by input."""
    inputs = hostile.SCALARS if "PARAMETERS" in group else hostile.INPUTS
    for name, value in inputs.items():
        if zlib.crc32(f"{entry}/{name}".encode()) % every or entries.is_left_out(entry, name):
            continue
        fault = hostile.judge(getattr(entries, group)[entry], value if inputs is hostile.SCALARS else value())
        if fault:
            yield f"{entry} <- {name}: {fault}"


@pytest.mark.parametrize(("group", "entry"), ENTRIES, ids=lambda value: value)
def test_hostile_inputs(group, entry):
    assert list(faults(group, entry, GROUPS[group])) == []


# --- frames drawn from building blocks

TEXT = st.text(max_size=4) | st.sampled_from(hostile.UNICODE)
NUMBER = st.floats(width=64) | st.integers(-(2**63), 2**63 - 1) | st.sampled_from([1e200, -1e308, 5e-324, 0, 1, 2**53])
VALUES = [
    st.floats(-10, 10),
    st.integers(0, 3),
    NUMBER,
    TEXT,
    st.sampled_from("ab"),
    st.booleans(),
    st.none() | st.integers(0, 2),
    st.dates(),
    st.none() | NUMBER | TEXT | st.booleans() | st.binary(max_size=2) | st.tuples(st.integers(0, 1)),
]
MAKERS = [
    pd.DataFrame,
    lambda columns: pd.DataFrame(columns, dtype=object),
    lambda columns: pl.DataFrame({name: pl.Series(values, strict=False) for name, values in columns.items()}),
    lambda columns: pa.table({name: pa.array(values) for name, values in columns.items()}),
    lambda columns: [list(row) for row in zip(*columns.values(), strict=True)],
    lambda columns: np.array(list(columns.values()), dtype=object).T,
    lambda columns: next(iter(columns.values())),
]
DRAWN = {entry: getattr(entries, group)[entry] for group, entry in ENTRIES}
CHEAP = [
    "CA table",
    "CA X",
    "CA Y",
    "CCA: X",
    "CCA: Y",
    "ACE: X",
    "ACE: X and Y",
    "KernelCCA: X",
    "Moments F",
    "ClassifierCA X",
    "crossfit X",
    "indicator_table frame",
    "CCA of frames: transform",
    "ACE of labels: evaluate X",
    "CrossModalIndex tags x",
    "CA of a table: supplementary rows",
]


@st.composite
def frames(draw):
    """Frame, array or list of up to three columns of any kind; None if its library refuses to make it."""
    n = draw(st.integers(0, 12))
    columns = {
        name: draw(st.lists(draw(st.sampled_from(VALUES)), min_size=n, max_size=n))
        for name in draw(st.lists(TEXT, min_size=1, max_size=3, unique=True))
    }
    try:
        with warnings.catch_warnings(action="ignore"):
            return draw(st.sampled_from(MAKERS))(columns)
    except Exception:
        return None


@settings(max_examples=100)
@given(values=frames(), entry=st.sampled_from(CHEAP))
def test_drawn_frames(values, entry):
    assert hostile.judge(DRAWN[entry], values) == ""


# --- the judge


def test_the_judge_sees_what_is_wrong():
    def raises(error):
        raise error

    assert hostile.judge(lambda: [np.zeros(2), {"a": 1.0}]) == ""
    assert "not finite" in hostile.judge(lambda: [np.zeros(2), {"a": np.nan}])
    assert "raw error KeyError" in hostile.judge(lambda: {}["a"])
    assert "from the depths" in hostile.judge(raises, ValueError("X is wrong."))
    assert "RuntimeWarning" in hostile.judge(lambda: len(np.ones(1) / 0))
    assert "warns UserWarning" in hostile.judge(lambda: warnings.warn("of another", stacklevel=1))
    assert "error of a call" in hostile.judge(lambda: one_line(1, most="a"))
    assert hostile.judge(lambda: co.CA().fit(["a"], [])) == ""


def test_the_judge_waits_no_longer_than_it_says(monkeypatch):
    monkeypatch.setattr(hostile, "SECONDS", 0.01)
    assert hostile.judge(time.sleep, 5) == "hangs"


# --- what was found


def test_pairs_cannot_be_parted(tmp_path):
    pl.DataFrame({"a": [1.0, 2], "b": [1.0, 2]}).write_parquet(tmp_path / "pairs.parquet")
    pairs, est = co.Pairs(tmp_path / "pairs.parquet", "a", "b"), co.CCA(1)
    for call in (
        lambda: co.crossfit(est, pairs),
        lambda: co.permutation_test(est, pairs),
        lambda: co.pic_intervals(est, pairs),
        lambda: co.latent_dimension(est, pairs),
        lambda: co.compare(pairs),
    ):
        with pytest.raises(ValueError, match="X is a Pairs source"):
            call()


def test_an_expectation_over_a_sparse_matrix():
    X, Y = entries.dependent()
    d = co.CCA(1).fit(X, Y).decomposition_
    sparse = co.CCA(1).fit(X, sp.csr_array(Y)).decomposition_
    h = np.arange(len(Y), dtype=float)
    np.testing.assert_allclose(sparse.conditional_expectation(h, X), d.conditional_expectation(h, X))


def test_labels_that_a_library_has_no_type_for_become_text():
    table = co.Table([[1, 2], [3, 4]], [1, "b"], ["x", "y"])
    assert table.to_frame("pyarrow")["label"].to_pylist() == ["1", "b"]
    assert table.to_frame("pandas")["label"].tolist() == [1, "b"]


def test_the_error_of_a_model_is_the_cause():
    with pytest.raises(ValueError, match=r"X: the model has no answer for such inputs \('boolean index") as caught:
        co.ClassifierCA(lambda X: X[np.ones(3, bool)]).fit(np.ones((2, 2)))
    assert isinstance(caught.value.__cause__, IndexError)


@pytest.mark.parametrize("weights", [np.full(24, 1e308), np.full(24, 5e-324)])
def test_weights_that_cannot_be_summed(weights):
    with pytest.raises(ValueError, match=r"sample_weight has a total of .* too far from 1"):
        co.CA().fit(entries.labels(), entries.labels(), sample_weight=weights)


def test_messages_are_short_whatever_the_label():
    with pytest.raises(ValueError, match=r"^The label 'long .*…") as caught:
        co.CA().fit(["a", "b"], ["c", "d"]).transform([hostile.LONG])
    assert len(str(caught.value)) < 200


def main(*groups):
    started, found, judged = time.time(), [], 0
    for group, entry in ENTRIES:
        if groups and group not in groups:
            continue
        judged += 1
        for fault in faults(group, entry):
            found.append(fault)
            print(fault, flush=True)
    print(f"{judged} entries, {len(found)} faults, {time.time() - started:.0f} seconds")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
