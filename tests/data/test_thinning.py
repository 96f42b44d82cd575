import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from correspondence.data.counting import are_whole, thin_counts


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.uint8])
def test_folds_add_up_and_are_of_the_same_kind(form, dtype, rng):
    counts = form(rng.poisson(3.0, (40, 30)).astype(dtype))
    before = counts.copy()
    folds = thin_counts(counts, 4, rng)
    assert len(folds) == 4
    total = np.zeros((40, 30))
    for fold in folds:
        assert fold.shape == counts.shape
        assert fold.dtype == dtype
        assert sp.issparse(fold) == sp.issparse(counts)
        if sp.issparse(fold):
            assert fold.format == counts.format
            assert np.all(fold.data > 0)
        total += fold.toarray() if sp.issparse(fold) else fold
    np.testing.assert_array_equal(total, counts.toarray() if sp.issparse(counts) else counts)
    assert abs(before - counts).sum() == 0


def test_every_observation_has_the_same_chance_of_every_fold():
    rng = np.random.default_rng(0)
    counts = np.array([[1, 7], [0, 40]])
    draws = np.array([thin_counts(counts, 3, rng) for _ in range(4000)])
    expected = counts / 3
    np.testing.assert_allclose(draws.mean(axis=0), np.broadcast_to(expected, (3, 2, 2)), atol=0.25)
    np.testing.assert_allclose(draws.var(axis=0), np.broadcast_to(counts * 2 / 9, (3, 2, 2)), rtol=0.1, atol=0.02)
    first = draws[:, 1, 0, 1]  # the second fold of a cell with 7 observations
    observed = np.bincount(first, minlength=8)
    model = stats.binom.pmf(np.arange(8), 7, 1 / 3) * len(first)
    assert stats.chisquare(observed[:6], model[:6] * observed[:6].sum() / model[:6].sum()).pvalue > 0.001


def test_folds_of_independent_counts_are_independent():
    """Thinned Poisson counts are independent Poisson counts."""
    rng = np.random.default_rng(1)
    a, b = thin_counts(rng.poisson(4.0, (400, 400)), 2, rng)
    assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 0.012
    assert a.var() == pytest.approx(2.0, rel=0.03)


def test_whole_numbers():
    assert are_whole(np.array([[1, 2]]))
    assert are_whole(np.array([[0.1 * 30, 0.0]]))
    assert not are_whole(np.array([[1.5]]))
    assert not are_whole(sp.csr_array(np.full((2, 2), 1e-9)))


def test_bad_calls(rng):
    with pytest.raises(ValueError, match="counts must be whole"):
        thin_counts(np.array([[0.5, 1.0]]), 2, rng)
    with pytest.raises(ValueError, match="n_folds"):
        thin_counts(np.array([[1]]), 0, rng)
    with pytest.raises(ValueError, match="counts must be at most"):
        thin_counts(np.array([[1e30]]), 2, rng)
    assert thin_counts(np.array([[3]]), 1, rng)[0].tolist() == [[3]]
