"""Surveys of columns: the same from any parts of the rows."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import correspondence as co
from correspondence.data.column_summary import ROWS_TO_SAMPLE, Survey


def parted(columns, cuts):
    n = len(next(iter(columns.values())))
    bounds = [0, *sorted(cut % (n + 1) for cut in cuts), n]
    spans = [(a, b) for a, b in itertools.pairwise(bounds) if b > a]
    parts = [Survey.from_columns({key: v[a:b] for key, v in columns.items()}, a, n) for a, b in spans]
    return Survey.merge_parts(parts, "X")


@pytest.mark.slow
@given(st.lists(st.integers(0, 10**6), max_size=5))
def test_a_survey_does_not_depend_on_the_parts(cuts):
    n = ROWS_TO_SAMPLE + 20_000
    columns = {"a": np.arange(n) * 0.5, "s": np.array(["u", "v", "w"] * (n // 3), dtype=object)}
    whole, merged = Survey.from_columns(columns), parted(columns, cuts)
    assert whole.columns == merged.columns
    assert (whole.n, merged.n) == (n, n)
    for key in columns:
        np.testing.assert_array_equal(whole.rows[key], merged.rows[key])


def test_a_survey_of_few_rows_has_them_all():
    columns = {"a": np.arange(1000.0)}
    np.testing.assert_array_equal(Survey.from_columns(columns).rows["a"], columns["a"])


def test_a_survey_draws_evenly_and_keeps_the_extremes():
    n = 1_000_000
    values = np.arange(n, dtype=float)
    survey = Survey.from_columns({"a": values})
    rows = survey.rows["a"]
    assert abs(len(rows) - ROWS_TO_SAMPLE) < 5 * np.sqrt(ROWS_TO_SAMPLE)
    assert (rows[-2:] == [0, n - 1]).all()
    np.testing.assert_allclose(np.quantile(rows, [0.1, 0.5, 0.9]), [0.1 * n, 0.5 * n, 0.9 * n], rtol=0.02)


@pytest.mark.slow
def test_rare_values_of_many_rows_are_kept():
    n = 3 * ROWS_TO_SAMPLE
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    once = np.zeros(n)
    once[n // 3] = 1
    labels = np.where(np.arange(n) == 5, "once", np.where(x > 0, "up", "down"))
    X = pd.DataFrame({"x": x, "once": once, "label": labels})
    for est in (co.ACE(1), co.CCA(1)):
        est.fit(X, x + rng.normal(size=n))
        assert est.correlations_[0] == pytest.approx(np.sqrt(0.5), abs=0.01)
        encoder = est.decomposition_.f.features.encoder
        assert list(encoder.columns) == ["x", "once", "label"]
        assert encoder.columns["label"].labels == ["down", "once", "up"]


def test_a_column_of_numbers_here_and_labels_there():
    parts = [Survey.from_columns({"a": np.arange(3.0)}), Survey.from_columns({"a": np.array(["u"], dtype=object)})]
    with pytest.raises(ValueError, match="Column 'a' of X holds"):
        Survey.merge_parts(parts, "X")
