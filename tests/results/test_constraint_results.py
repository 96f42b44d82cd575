"""Records of a constrained analysis: partition, scores and residual axes, as frames and in print."""

import numpy as np
import pytest

import correspondence as co

dune, environment = co.datasets.load_dune()


@pytest.fixture(scope="module")
def ca():
    return co.CA().fit(dune, constraints=environment.select("A1", "Management"))


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_records_become_frames(ca, backend):
    partition, scores = ca.partition_.to_frame(backend), ca.scores("bp").to_frame(backend)
    assert partition.shape == (4, 4)
    assert scores.shape == (4, 1 + 19)
    names = scores.column_names if backend == "pyarrow" else list(scores.columns)
    assert names[:3] == ["label", "CCA1", "CCA2"]
    assert names[-1] == "CA15"


def test_a_partition_prints_what_there_is(ca):
    assert "conditioned" not in repr(ca.partition_)
    partial = co.CA().fit(dune, constraints=environment.select("A1"), given=environment.select("Management"))
    lines = repr(partial.partition_).splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["total", "conditioned", "constrained", "unconstrained"]
    assert len({len(line) for line in lines[3:]}) == 1


def test_only_arrows_have_arrows(ca):
    assert ca.scores("bp").arrows.shape == (4, 4)
    assert ca.scores("reg").n_constrained == 4
    with pytest.raises(ValueError, match="display"):
        _ = ca.scores("wa").arrows


def test_records_cannot_be_changed(ca):
    for array in (ca.scores("wa").values, ca.unconstrained_.pics):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_residual_axes_are_what_is_left(ca):
    left = ca.unconstrained_
    np.testing.assert_allclose(left.correlations**2, left.pics)
    np.testing.assert_allclose(left.rows.inertia.sum(), ca.partition_.unconstrained)
    np.testing.assert_allclose(left.columns.inertia.sum(), ca.partition_.unconstrained)
    assert "15 unconstrained axes of 20 rows" in repr(left)
    one = co.CA(1).fit(dune, constraints=environment.select("A1")).unconstrained_
    assert "1 unconstrained axis of" in repr(one)
