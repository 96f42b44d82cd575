"""Temperatures: found where they were put in, and what they do to claims that labels do not bear out."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss as known_log_loss

import correspondence as co
from correspondence.classifiers.beliefs import apply_temperature
from correspondence.classifiers.calibration import (
    find_best_temperature,
    measure_calibration_error,
    measure_log_loss,
)
from correspondence.core.scoring import score_pairs

NAMES = np.array(["p", "q", "r", "s"], object)


def draw_labels(n=4000, k=4, seed=0):
    """Beliefs, and labels drawn from them."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(k, 0.5), n)
    return P, (rng.random((n, 1)) > P.cumsum(axis=1)[:, :-1]).sum(axis=1)


def draw_promised_labels(seed=0, n=100):
    """Beliefs in quarters, each four times, and just the labels that they promise."""
    believed = np.sort(np.random.default_rng(seed).integers(0, 3, (n, 4)), axis=1)
    P = np.stack([(believed == y).mean(axis=1) for y in range(3)], axis=1)
    return np.repeat(P, 4, axis=0), believed.ravel()


def sharpen_beliefs(P, power):
    return P**power / (P**power).sum(axis=1, keepdims=True)


# --- the temperature


def test_beliefs_that_keep_their_promise_need_none():
    P, codes = draw_promised_labels()
    assert find_best_temperature(P, codes) == pytest.approx(1, abs=1e-3)
    result = co.ClassifierCA.from_beliefs(P).calibration(P, codes)
    np.testing.assert_allclose(result.before.gap, 0, atol=1e-9)
    d = co.ClassifierCA.from_beliefs(P).decomposition_
    population = score_pairs(d.f.of_features(P), d.g.values[codes], d.correlations, np.full(len(P), 1 / len(P)))
    assert population.captured == pytest.approx(d.chi2)
    assert result.before.held_out.captured == pytest.approx(d.chi2, abs=0.01)


@pytest.mark.parametrize("power", [1, 3, 0.4])
def test_the_temperature_is_the_power_that_was_taken(power):
    P, codes = draw_labels()
    assert find_best_temperature(sharpen_beliefs(P, power), codes) == pytest.approx(power, rel=0.07)


def test_the_temperature_has_the_smallest_log_loss():
    P, codes = draw_labels(300, seed=3)
    P = sharpen_beliefs(P, 2)
    found = find_best_temperature(P, codes)
    grid = np.geomspace(0.05, 20, 400)
    losses = [measure_log_loss(apply_temperature(P, t), codes) for t in grid]
    assert measure_log_loss(apply_temperature(P, found), codes) <= min(losses) + 1e-6
    assert found == pytest.approx(grid[np.argmin(losses)], rel=0.02)


def test_the_temperature_is_bounded():
    P, _ = draw_labels(200)
    assert find_best_temperature(P, P.argmax(axis=1)) == pytest.approx(1 / 20, rel=0.01)
    assert find_best_temperature(P, P.argmin(axis=1)) == pytest.approx(20, rel=0.01)


# --- losses


def test_log_loss_is_that_of_scikit_learn():
    P, codes = draw_labels(200)
    assert measure_log_loss(P, codes) == pytest.approx(known_log_loss(codes, P), rel=1e-9)
    assert measure_log_loss(np.array([[1.0, 0.0]]), np.array([1])) == pytest.approx(-np.log(1e-12))


def test_calibration_error_by_hand():
    P = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.3, 0.7]])
    codes = np.array([0, 0, 0, 1])
    assert measure_calibration_error(P, codes, bins=1) == pytest.approx(abs(0.75 - 0.75))
    assert measure_calibration_error(P, codes, bins=2) == pytest.approx((abs(0.65 - 0.5) + abs(0.85 - 1)) / 2)
    assert measure_calibration_error(P, codes) == pytest.approx((0.1 + 0.2 + 0.6 + 0.3) / 4)
    uneven = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    by_size = (2 * abs(0.75 - 0.5) + 1 * abs(0.9 - 1)) / 3  # bins of two and of one
    assert measure_calibration_error(uneven, np.array([0, 0, 0]), bins=2) == pytest.approx(by_size)


def test_calibration_error_tells_sharpened_beliefs():
    P, codes = draw_labels()
    assert measure_calibration_error(P, codes) < 0.03
    assert measure_calibration_error(sharpen_beliefs(P, 3), codes) > 0.08


# --- claims


def test_calibrated_beliefs_claim_what_labels_show():
    P, codes = draw_labels()
    result = co.ClassifierCA.from_beliefs(P, NAMES).calibration(P, NAMES[codes])
    assert result.temperature == pytest.approx(1, abs=0.06)
    np.testing.assert_allclose(result.before.gap, 0, atol=0.03)
    np.testing.assert_allclose(result.after.gap, 0, atol=0.03)
    assert result.after.log_loss == pytest.approx(result.before.log_loss, abs=1e-3)
    assert result.n == 4000


def test_sharpened_beliefs_claim_too_much_until_they_are_tempered():
    P, codes = draw_labels()
    Q = sharpen_beliefs(P, 3)
    result = co.ClassifierCA.from_beliefs(Q, NAMES).calibration(Q, NAMES[codes])
    before, after = result.before, result.after
    assert result.temperature == pytest.approx(3, rel=0.06)
    assert (before.gap > 0.1).all()
    np.testing.assert_allclose(after.gap, 0, atol=0.03)
    assert after.held_out.captured > before.held_out.captured + 0.1
    assert after.log_loss < before.log_loss - 0.1
    assert after.calibration_error < before.calibration_error - 0.05
    usual = co.ClassifierCA.from_beliefs(P)
    np.testing.assert_allclose(after.correlations, usual.correlations_, atol=0.02)
    np.testing.assert_allclose(before.correlations, co.ClassifierCA.from_beliefs(Q).correlations_)
    np.testing.assert_allclose(before.gap, before.correlations - before.held_out.correlations)


def test_the_temperature_found_can_be_used():
    P, codes = draw_labels()
    Q = sharpen_beliefs(P, 3)
    found = co.ClassifierCA.from_beliefs(Q).calibration(Q, codes)
    cca = co.ClassifierCA(temperature=found.temperature).fit(Q, codes)
    np.testing.assert_allclose(cca.correlations_, found.after.correlations, atol=0.01)
    assert cca.held_out_.captured == pytest.approx(found.after.held_out.captured, abs=0.01)
    again = cca.calibration(Q, codes)
    assert again.temperature == pytest.approx(found.temperature, rel=1e-3)  # it is that of the model, not of the fit


def test_an_extremely_overconfident_model_gets_the_highest_temperature():
    P = np.array([[1.0, 1e-200]] * 10 + [[0.7, 0.3]] * 2)
    codes = np.array([0] * 6 + [1] * 4 + [0] * 2)
    assert find_best_temperature(P, codes) == pytest.approx(20, rel=1e-3)


def test_what_is_taken_for_impossible_does_not_decide():
    P, codes = draw_labels()
    impossible = np.vstack([P, [[1.0] + [0.0] * (P.shape[1] - 1)]])
    assert find_best_temperature(impossible, np.append(codes, 1)) == pytest.approx(
        find_best_temperature(P, codes), rel=1e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_model_that_memorised_is_made_cautious(seed):
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(500, 30)), rng.normal(size=(30, 3)) / 4
    y = NAMES[(X @ W + rng.gumbel(size=(500, 3))).argmax(axis=1)]
    model = LogisticRegression(C=1e4, max_iter=500).fit(X[:100], y[:100])
    cca = co.ClassifierCA(model).fit(X[100:], y[100:])
    result = cca.calibration(X[100:], pd.Series(y[100:]))
    assert result.temperature > 1.5
    assert result.after.log_loss < result.before.log_loss
    assert result.before.gap[0] > result.after.gap[0]
    np.testing.assert_allclose(result.before.held_out.correlations, cca.held_out_.correlations, atol=1e-9)
    assert result.before.held_out.captured == pytest.approx(cca.score(X[100:], y[100:]), abs=1e-9)


def test_temperatures_of_a_part_are_found_on_the_others():
    """As often as the data allow: every input alone, its temperature from the rest."""
    P, codes = draw_labels(12, 3, seed=1)
    result = co.ClassifierCA.from_beliefs(P).calibration(P, codes, cv=12)
    rest = [np.arange(12) != i for i in range(12)]
    Q = np.concatenate([apply_temperature(P[[i]], find_best_temperature(P[r], codes[r])) for i, r in enumerate(rest)])
    assert result.after.log_loss == pytest.approx(measure_log_loss(Q, codes))
    assert result.temperature == pytest.approx(find_best_temperature(P, codes))
    assert result.before.log_loss == pytest.approx(measure_log_loss(P, codes))
    np.testing.assert_allclose(result.after.correlations, co.ClassifierCA.from_beliefs(Q).correlations_, atol=1e-12)


def test_the_split_is_random_but_repeatable():
    P, codes = draw_labels(60)
    cca = co.ClassifierCA.from_beliefs(P)
    first = cca.calibration(P, codes)
    assert cca.calibration(P, codes).after.log_loss == first.after.log_loss
    assert cca.calibration(P, codes, random_state=5).after.log_loss != first.after.log_loss
    assert cca.calibration(P, codes, cv=7).after.log_loss != first.after.log_loss


def test_labels_of_the_fit_are_evaluated_as_those_given_later():
    P, codes = draw_labels(500)
    cca = co.ClassifierCA(classes=NAMES).fit(P, NAMES[codes])
    held = cca.evaluate(P, NAMES[codes])
    np.testing.assert_allclose(cca.held_out_.correlations, held.correlations, atol=1e-12)
    assert cca.held_out_.captured == pytest.approx(held.captured, abs=1e-12)
    np.testing.assert_allclose(cca.held_out_.captured_interval, held.captured_interval, atol=1e-12)


def test_text():
    P, codes = draw_labels(200)
    result = co.ClassifierCA.from_beliefs(P).calibration(P, codes)
    lines = repr(result).splitlines()
    assert lines[0] == f"Calibration on n 200: temperature {result.temperature:.3f}"
    assert lines[1].split() == ["component", "1", "2", "3"]
    assert lines[2].split()[2:] == [f"{r:.4f}" for r in result.before.correlations]
    assert lines[3].split()[3:] == [f"{r:.4f}" for r in result.before.held_out.correlations]
    assert lines[4].split()[2:] == [f"{r:.4f}" for r in result.after.correlations]
    assert lines[5].split()[3:] == [f"{r:.4f}" for r in result.after.held_out.correlations]
    assert f"log loss {result.after.log_loss:.4f}" in lines[7]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cv": 1}, "cv must"),
        ({"cv": 21}, "cv must"),
        ({"Y": np.zeros(19, int)}, "X and Y must"),
        ({"Y": np.full(20, 9)}, "Y: 9"),
    ],
)
def test_bad_arguments(arguments, message):
    P, codes = draw_labels(20)
    cca = co.ClassifierCA.from_beliefs(P)
    with pytest.raises(ValueError, match=message):
        cca.calibration(**{"X": P, "Y": codes} | arguments)


def test_logits_of_a_function():
    P, codes = draw_labels(1000)
    logits = 3 * np.log(P)
    result = co.ClassifierCA(lambda rows: rows, outputs="logits").fit(logits).calibration(logits, codes)
    np.testing.assert_allclose(result.before.log_loss, measure_log_loss(softmax(logits, axis=1), codes), rtol=1e-9)
    assert result.temperature == pytest.approx(3, rel=0.1)
