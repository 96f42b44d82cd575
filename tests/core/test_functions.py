"""Functions of labels and of features: evaluated, saved and averaged."""

import numpy as np
import pytest

import correspondence as co
from correspondence import Moments
from correspondence.core.functions import LabelFunctions, LinearFunctions, find_label_shares


def test_conditional_expectation_takes_values_on_the_training_pairs(rng):
    x, y = rng.integers(0, 4, 300), rng.integers(0, 5, 300)
    value = np.array([3.0, -1, 4, 1, -5])
    d = co.CA().fit(x, y).decomposition_
    direct = [value[y][x == i].mean() for i in range(4)]
    np.testing.assert_allclose(d.conditional_expectation(value[y], range(4)), direct)
    np.testing.assert_allclose(d.conditional_expectation(value, range(4)), direct)
    np.testing.assert_allclose(d.conditional_expectation(lambda labels: value[labels], range(4), Y=y), direct)


def test_conditional_expectation_refuses_values_of_another_length():
    d = co.CA().fit(co.datasets.load_smoke()).decomposition_
    with pytest.raises(ValueError, match="h must"):
        d.conditional_expectation([1, 2, 3], ["SM"])


def test_save_and_load_of_linear_functions(tmp_path, rng):
    F, G = rng.normal(size=(50, 3)), rng.normal(size=(50, 2))
    d = co.Moments().update(F, G).decompose(y_sample=G)
    d.save(tmp_path / "model")
    again = co.load(tmp_path / "model")
    np.testing.assert_array_equal(again.f(F), d.f(F))
    np.testing.assert_array_equal(again.conditional_expectation(G[:, 0], F), d.conditional_expectation(G[:, 0], F))


def test_values_with_the_wrong_number_of_features(rng):
    d = Moments().update(rng.normal(size=(9, 2)), rng.normal(size=(9, 1))).decompose()
    with pytest.raises(ValueError, match="must have 2 columns"):
        d.f(np.ones((3, 5)))
    with pytest.raises(ValueError, match="Y must"):
        d.conditional_expectation(np.ones(9), np.ones((3, 2)))


def make_label_functions(**options):
    labels = np.array(["a", "b"], dtype=object)
    return LabelFunctions(labels, np.array([[1.0], [-1.0]]), np.array([0.5, 0.5]), **options)


def test_a_label_not_in_the_fit_is_an_error_or_nan():
    f = make_label_functions()
    with pytest.raises(ValueError, match="'c'"):
        f(["a", "c"])
    np.testing.assert_array_equal(f.accept_unknown()(["a", "c"]), [[1], [np.nan]])


@pytest.mark.parametrize(
    "functions",
    [
        make_label_functions(codes=np.array([0, 1, 1]), code_weights=np.array([1.0, 2.0, 3.0])),
        LabelFunctions(np.array([1, 2]), np.eye(2), np.array([0.5, 0.5]), unknown="nan"),
        LinearFunctions(np.zeros(2), np.eye(2), sample=np.ones((3, 2)), sample_weight=np.ones(3)),
        LinearFunctions(np.zeros(1), np.eye(1), sample=["u", "v"]),
    ],
    ids=["texts", "numbers", "linear", "linear with labels"],
)
def test_from_state_is_the_inverse_of_state(functions):
    again = type(functions).from_state(*functions.state())
    before, after = functions.state(), again.state()
    assert before.description == after.description
    assert sorted(before.arrays) == sorted(after.arrays)
    assert all(np.array_equal(before.arrays[name], after.arrays[name]) for name in before.arrays)


def test_shares_of_labels():
    assert find_label_shares(make_label_functions()) == {"a": 0.5, "b": 0.5}
    assert find_label_shares(LinearFunctions(np.zeros(1), np.eye(1))) is None
