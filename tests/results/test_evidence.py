"""Evidence of held-out pairs."""

import numpy as np
import pytest

import correspondence as co
from correspondence.results.evidence import CrossFit, Evidence, HeldOut, compute_gain, find_judged, list_components


def test_components_beside_what_was_held_out(rng):
    x = rng.normal(size=(400, 2))
    y = x[:, :1] + rng.normal(size=(400, 1))
    est = co.CCA(n_components=2).fit(x, np.hstack([y, rng.normal(size=(400, 1))]))
    Y = np.hstack([y, rng.normal(size=(400, 1))])
    dimension = co.latent_dimension(co.CCA(n_components=2), x, Y)
    first = list_components(est.decomposition_, dimension.evidence)[0]
    assert first.training == est.correlations_[0]
    assert first.held_out == dimension.correlations[0]
    assert (first.low, first.high) == tuple(dimension.intervals[0])
    assert first.pvalue == dimension.pvalues[0]
    assert first.chance_high == pytest.approx(dimension.band[0])
    assert first.chance_low < 0 < first.chance_high < first.held_out
    test = co.permutation_test(co.CCA(n_components=2), x, Y, 99, refit=False)
    assert list_components(est.decomposition_, test.evidence)[0].chance_high == pytest.approx(
        np.quantile(test.null[:, 0], 0.95)
    )
    for refit in (None, True):  # neither holds pairs out: their correlations are those of the training
        test = co.permutation_test(co.CCA(n_components=2), x, Y, 19, refit=refit)
        of_training = list_components(est.decomposition_, test.evidence)[0]
        assert (of_training.held_out, of_training.chance_high) == (None, None)
        assert of_training.pvalue == 0.05
    held = list_components(est.decomposition_, est.evaluate(x, Y).evidence)[1]
    assert held.pvalue is None
    assert list_components(est.decomposition_)[0].held_out is None


def test_a_point_is_neither_judged_nor_significant():
    intervals = np.array([[0.2, 0.6], [1.0, 1.0], [0.1, 0.4]])
    found = Evidence(np.array([0.4, 1.0, 0.3]), intervals=intervals, pvalues=np.full(3, 0.001))
    assert found.is_judged.tolist() == find_judged(intervals).tolist() == [True, False, True]
    assert found.n_holding == 1
    d = co.CA().fit(co.datasets.load_smoke()).decomposition_
    assert [c.held_out for c in list_components(d, found)] == [0.4, None, 0.3]


def test_fewer_held_out_than_components_are_none():
    ca = co.CA().fit(co.datasets.load_smoke())
    held = co.HeldOut(np.array([0.5]), np.array([[0.4, 0.6]]), 0.2, np.array([0.1, 0.3]), 100, 0.95)
    rows = list_components(ca.decomposition_, held.evidence)
    assert [row.held_out for row in rows] == [0.5, None, None]


def test_what_no_held_out_pair_can_judge_is_none():
    ca = co.CA().fit(co.datasets.load_smoke())
    held = co.HeldOut(np.array([0.5, 0.0]), np.array([[0.4, 0.6], [-1, 1]]), 0.2, np.array([0.1, 0.3]), 100, 0.95)
    second = list_components(ca.decomposition_, held.evidence)[1]
    assert (second.held_out, second.low, second.high) == (None, None, None)
    assert held.evidence.n_holding == 1


def test_a_difference_by_rounding_is_no_gain(rng):
    terms = rng.random(80)
    assert compute_gain(terms, terms * (1 + 2e-16) + 1e-17) == 0
    assert compute_gain(terms, terms) == 0
    assert compute_gain(terms, terms + 0.1 + 0.01 * rng.random(80)) > 50


def test_a_constant_difference_is_beyond_any_error():
    assert compute_gain(np.zeros(5), np.full(5, 0.1)) == np.inf
    assert compute_gain(np.full(5, 0.1), np.zeros(5)) == -np.inf


def test_evidence_and_text():
    held = HeldOut(np.array([0.5]), np.array([[0.3, 0.7]]), 0.2, np.array([0.1, 0.3]), 100, 0.9)
    assert held.evidence.n_holding == 1
    assert (held.evidence.level, held.evidence.captured) == (0.9, 0.2)
    assert repr(held) == "HeldOut on n 100: captured 0.2 [0.1, 0.3] (90 %)\n  correlation 1: 0.5000 [0.3000, 0.7000]"


def make_cross_fit(**options):
    F = np.array([[0.1, 0.2], [0.3, np.nan], [0.5, 0.6]])
    intervals = np.array([[0.2, 0.6], [-0.1, 0.3]])
    numbers = np.array([0.4, 0.1])
    return CrossFit(numbers, intervals, 0.2, np.array([0.1, 0.3]), numbers, F, F, [], 1.0, np.ones(3), **options)


def test_pairs_held_out_and_components_that_hold():
    result = make_cross_fit()
    assert result.n_held_out == 2
    assert result.evidence.n_holding == 1
    assert repr(result).splitlines()[-1].split() == ["2", "0.1000", "0.1000", "[-0.1000,", "0.3000]"]


def test_the_first_components_alone():
    terms = np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]])
    assert make_cross_fit(nested_terms=terms).captured_first(1)[0] == 2
    with pytest.raises(ValueError, match="nested_terms must"):
        make_cross_fit().captured_first(1)
    with pytest.raises(ValueError, match="n_components"):
        make_cross_fit(nested_terms=terms).captured_first(3)


def test_a_component_that_is_not_judged_has_no_band_of_chance():
    evidence = Evidence(np.array([0.5, 0.0]), intervals=np.array([[0.3, 0.7], [-1.0, 1.0]]), band=np.array([0.1, 1.0]))
    d = co.CA().fit(co.datasets.load_smoke()).decomposition_
    first, second, *_ = list_components(d, evidence)
    assert first.chance_high == 0.1
    assert second.chance_high is None


def test_summaries_are_printed_and_written(capsys):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    y = np.column_stack([x[:, 0] + rng.normal(size=300), rng.normal(size=300)])
    results = [
        co.CCA(2).fit(x, y).decomposition_,
        co.crossfit(co.CCA(2), x, y, progress=False),
        co.CCA(2).fit(x[:150], y[:150]).evaluate(x[150:], y[150:]),
        co.permutation_test(co.CCA(2), x, y, 99, progress=False),
        co.latent_dimension(co.CCA(2), x, y, progress=False),
    ]
    for result in results:
        assert result.summary() is None
        assert capsys.readouterr().out == result.write_summary() + "\n"
    d, crossed, _, test, _ = (result.write_summary() for result in results)
    assert f"{results[0].correlations[0]:.2f}" in d
    assert crossed.startswith("1 of 2 components has")
    assert f"{results[1].captured:.3g}" in crossed
    assert test.startswith("1 of 2 components is more than chance")
    nothing = co.permutation_test(co.CCA(1), x[:, 1:], y[:, 1:], 99, progress=False)
    assert nothing.write_summary().startswith("None of 1 component is")
