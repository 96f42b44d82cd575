"""Regressions on given variables: each row held out, quick, and close to linear and quadratic dependence."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

from correspondence.core.given.regression import Given, GivenEncoder, GivenRegression
from correspondence.core.given.smooth_regression import RIDGE_ROWS, regress_on_splines


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("power", [1, 2])
def test_linear_and_quadratic_dependence_is_removed_at_200_rows(rng, power):
    z = rng.normal(size=(200, 1))
    noise = rng.normal(size=(200, 40))
    regression = GivenRegression.fit(3 * z**power + noise, z)
    n_parameters = regression.leverages.sum()
    assert n_parameters < 26
    # The parameters cost as much as their noise; curvature left over would cost more.
    assert ((regression.residuals - noise) ** 2).mean() < 1.3 * n_parameters / 200


def test_each_row_is_left_out_exactly(rng):
    z, F = rng.normal(size=(40, 1)), rng.normal(size=(40, 2))
    fit = regress_on_splines(F, z, np.array([False]))  # a line, whose ridge is small
    for i in (0, 17):
        rest = np.delete(np.arange(40), i)
        line = LinearRegression().fit(z[rest], F[rest])
        np.testing.assert_allclose(fit.held_out[i], F[i] - line.predict(z[[i]])[0], atol=0.05 * RIDGE_ROWS)


def test_a_row_does_not_see_itself(rng):
    z, F = rng.normal(size=(100, 1)), rng.normal(size=(100, 1))
    changed = F.copy()
    changed[3] += 0.01
    before, after = (regress_on_splines(values, z, np.array([True])).held_out for values in (F, changed))
    np.testing.assert_allclose((after - before)[3], 0.01, rtol=1e-6)


def test_rows_of_a_group_are_held_out_together(rng):
    groups = np.repeat(np.arange(40), 5)
    z, noise = rng.normal(size=200), np.repeat(rng.normal(size=40), 5)
    together = GivenRegression.fit(noise[:, None], np.repeat(z[:40], 5), groups=groups).residuals
    alone = GivenRegression.fit(noise[:, None], np.repeat(z[:40], 5)).residuals
    assert together.std() > alone.std()  # a row alone learns from its copies


def test_labels_leave_deviations_from_their_means(rng):
    labels = np.repeat(["a", "b", "c"], 50)
    F = rng.normal(size=(150, 2)) + 5 * np.repeat(np.arange(3), 50)[:, None]
    regression = GivenRegression.fit(F, labels)
    means = np.array([regression.own_residuals[labels == label].mean(axis=0) for label in "abc"])
    np.testing.assert_allclose(means, 0, atol=5 * RIDGE_ROWS / 50)
    np.testing.assert_allclose(regression.leave(F, labels), regression.own_residuals)


def test_heavy_tails_of_a_linear_confounder_are_followed(rng):
    z = np.exp(1.5 * rng.normal(size=300))
    left = GivenRegression.fit(2 * z[:, None] + rng.normal(size=(300, 1)), z).residuals
    assert left.std() < 1.3
    assert GivenEncoder.fit(z).is_number.tolist() == [True, False]


def test_frames_of_any_kind(rng):
    frame = pd.DataFrame(
        {"age": rng.normal(size=100), "town": rng.choice(["a", "b"], 100), "ill": rng.random(100) < 0.5}
    )
    frame.loc[:9, "age"] = None
    regression = GivenRegression.fit(rng.normal(size=(100, 3)), frame)
    assert np.isfinite(regression.residuals).all()
    again = GivenRegression.from_state(*regression.state())
    F = rng.normal(size=(100, 3))
    np.testing.assert_allclose(again.leave(F, frame), regression.leave(F, frame))
    np.testing.assert_allclose(again.leave(F, frame), regression.leave(F, Given.read(frame)))


def test_more_columns_than_rows_have_a_ridge(rng):
    z = rng.normal(size=(60, 100))
    left = GivenRegression.fit(rng.normal(size=(60, 1)), z).residuals
    assert 0.5 < left.std() < 2


@pytest.mark.parametrize("regressor", [Ridge(), RandomForestRegressor(20, random_state=0)])
def test_any_regressor(rng, regressor):
    z = rng.normal(size=(200, 2))
    F = z @ [[1.0, 2.0], [0.0, 1.0]] + 0.5 * rng.normal(size=(200, 2))
    regression = GivenRegression.fit(F, z, regressor=regressor)
    assert (regression.residuals.std(axis=0) < 0.7 * F.std(axis=0)).all()
    assert len(regression.models) == 5
    assert regression.leave(F[:3], z[:3]).shape == (3, 2)
    with pytest.raises(TypeError, match="cannot be saved"):
        regression.state()


def test_errors(rng):
    F = rng.normal(size=(20, 1))
    with pytest.raises(ValueError, match="given must have one row"):
        GivenRegression.fit(F, rng.normal(size=19))
    with pytest.raises(ValueError, match="given must have one row"):
        GivenRegression.fit(F, rng.normal(size=20)).leave(F[:5], rng.normal(size=4))
    with pytest.raises(ValueError, match="given has one value"):
        GivenRegression.fit(F, np.ones(20))
    with pytest.raises(ValueError, match="given must be a table"):
        GivenRegression.fit(F, rng.normal(size=(20, 1, 4, 4)))
    with pytest.raises(ValueError, match="LogisticRegression"):
        GivenRegression.fit(F, rng.normal(size=20), regressor=LogisticRegression())


def test_functions_of_a_sum_of_given_variables_are_followed(rng):
    z = rng.normal(size=(600, 5))
    x = z.sum(axis=1) / np.sqrt(5) + rng.normal(size=600)
    F = np.column_stack([x, x**2])
    regression = GivenRegression.fit(F, z)
    square = regression.own_residuals[:, 1]
    products = np.column_stack([z[:, i] * z[:, j] for i in range(5) for j in range(i)])
    assert np.corrcoef(products.sum(axis=1), square)[0, 1] < 0.15
    assert np.corrcoef(products.sum(axis=1), F[:, 1])[0, 1] > 0.4
    again = GivenRegression.from_state(*regression.state())
    np.testing.assert_allclose(again.leave(F, z), regression.own_residuals)


def test_residuals_of_a_sum_are_the_sum_of_residuals(rng):
    z, F = rng.normal(size=(200, 2)), rng.normal(size=(200, 3))
    F[:, 0] += np.sin(3 * z[:, 0])
    A = rng.normal(size=(3, 3))
    np.testing.assert_allclose(
        GivenRegression.fit(F, z).residuals @ A, GivenRegression.fit(F @ A, z).residuals, atol=1e-8
    )


@pytest.mark.slow
def test_effects_that_depend_on_another_column_are_followed(rng):
    z, noise = rng.normal(size=(400, 2)), rng.normal(size=(400, 1))
    left = GivenRegression.fit(2 * z[:, [0]] * z[:, [1]] + noise, z).residuals
    assert left.std() < 1.15
    group = rng.choice(["a", "b"], 400)
    slope = np.where(group == "a", 2.0, -2.0)[:, None]
    frame = pd.DataFrame({"age": z[:, 0], "group": group})
    regression = GivenRegression.fit(slope * z[:, [0]] + noise, frame)
    assert regression.residuals.std() < 1.15
    again = GivenRegression.from_state(*regression.state())
    np.testing.assert_allclose(again.expect(frame), regression.expect(frame))


def test_products_are_as_many_as_rows_can_bear(rng):
    frame = pd.DataFrame({name: rng.normal(size=400) for name in "abc"} | {"town": rng.choice(list("pqr"), 400)})
    encoders = {n: GivenEncoder.fit(frame[:n]) for n in (40, 80, 400)}
    # Three products of numbers, then nine of a number and an indicator of a town; none of a column with itself.
    assert {n: len(encoder.products) for n, encoder in encoders.items()} == {40: 0, 80: 3, 400: 12}
    assert {tuple(pair) for pair in encoders[80].products.tolist()} == {(0, 1), (0, 2), (1, 2)}


def test_indices_that_are_not_needed_do_no_harm(rng):
    """Expectations of bumps of a steep sum, one row of which is far out: they go on as functions of the columns do."""
    z = rng.normal(size=(600, 2))
    x = z[:, 0] ** 2 + z[:, 0] + 0.7 * rng.normal(size=600)
    F = np.exp(-((x[:, None] - np.linspace(-1, 8, 10)) ** 2))
    regression = GivenRegression.fit(F, z)
    assert np.abs(regression.expect([[-5.0, 3.5], [5.0, -3.5]])).max() < 10


def test_collinear_columns(rng):
    z = rng.normal(size=(200, 3))
    z = np.column_stack([z, z.sum(axis=1)])
    regression = GivenRegression.fit(z[:, :1] + rng.normal(size=(200, 1)), z)
    assert np.isfinite(regression.even_residuals).all()
    assert regression.residuals.std() < 1.3


def test_a_test_leaves_only_differences_within_rare_labels(rng):
    labels = np.repeat(np.arange(60), 2)  # half as many labels as rows: a ridge would leave a share of their means
    F = rng.normal(size=(60, 1))[labels] + rng.normal(size=(120, 1))
    own = GivenRegression.fit(F, labels.astype(str), is_rough=True).own_residuals
    assert np.abs(own[::2] + own[1::2]).max() < 1e-3


def test_a_test_leaves_nothing_of_a_row_with_a_label_of_its_own(rng):
    labels = np.minimum(np.arange(120), 80).astype(str)
    own = GivenRegression.fit(rng.normal(size=(120, 1)), labels, is_rough=True).own_residuals
    assert np.abs(own[:80]).max() < 1e-3
    assert own[80:].std() > 0.5
