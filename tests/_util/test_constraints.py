"""Constraints: which values each of them lets through, and what the error says."""

import numpy as np
import pytest

from correspondence._util.constraints import (
    FLAG,
    FUNCTION,
    SEED,
    Constraint,
    Real,
    Whole,
    check_parameter,
    check_parameters,
)

ODD_VALUES = ["1", b"auto", [1], (), {}, np.zeros(2), np.array(["auto"]), object(), float("nan"), 1j, int]


@pytest.mark.parametrize(
    ("constraint", "good", "bad"),
    [
        (Whole(1), [1, np.int8(3), 10**400], [0, 1.0, True, np.True_, None, *ODD_VALUES]),
        (Whole(1, 3), [1, 3], [0, 4]),
        (SEED, [0, 2**32 - 1], [-1, 2**32, None]),
        (Real(0), [0, 0.5, np.float32(2), 10**300], [-1e-9, np.inf, 10**400, True, None, *ODD_VALUES]),
        (Real(above=0), [1e-300, 3], [0, -1, np.inf]),
        (Real(0, below=1), [0, 0.999], [1, 1.5, -0.1]),
        (FLAG, [True, False, np.True_], [0, 1, None, "no", *ODD_VALUES]),
        (FUNCTION, [len, int, lambda: 0], [None, "len", 3]),
    ],
)
def test_constraint_accepts_what_it_says(constraint, good, bad):
    for value in good:
        check_parameter(value, "size", constraint)
    for value in bad:
        with pytest.raises(ValueError, match=r"^size must be .*, got "):
            check_parameter(value, "size", constraint)


@pytest.mark.parametrize("value", [None, "auto", 3, np.int64(4)])
def test_any_alternative_will_do(value):
    check_parameter(value, "size", (None, "auto", Whole(3)))


@pytest.mark.parametrize("value", [2, "none", "AUTO", True, *ODD_VALUES])
def test_error_lists_all_alternatives(value):
    with pytest.raises(ValueError, match=r'^size must be None, "auto" or a whole number of at least 3, got .*\.$'):
        check_parameter(value, "size", (None, "auto", Whole(3)))


@pytest.mark.parametrize(
    ("allowed", "words"),
    [
        ("auto", '"auto"'),
        (("a", "b", "c"), '"a", "b" or "c"'),
        (Whole(1, 3), "a whole number from 1 to 3"),
        (Real(above=0), "a number above 0"),
        (Real(1e-12), "a number of at least 1e-12"),
        (Real(0, below=1), "a number of at least 0 and below 1"),
        (Constraint("even", lambda value: value % 2 == 0), "even"),
    ],
)
def test_words_of_an_error(allowed, words):
    with pytest.raises(ValueError, match="size must") as caught:
        check_parameter(-1, "size", allowed)
    assert str(caught.value) == f"size must be {words}, got -1."


def test_a_function_at_the_end_has_the_last_word():
    def check_even(value, name):
        if value % 2:
            raise ValueError(f"{name} is odd.")

    for value in ("auto", 2):
        check_parameter(value, "size", ("auto", check_even))
    with pytest.raises(ValueError, match="size is odd"):
        check_parameter(3, "size", ("auto", check_even))


def test_parameters_are_checked_in_the_order_of_the_table():
    class Estimator:
        _constraints = {"depth": Whole(1), "mode": ("fast", "exact")}  # noqa: RUF012
        depth, mode = 1, "exact"

    estimator = Estimator()
    check_parameters(estimator)
    estimator.mode = "slow"
    with pytest.raises(ValueError, match="mode must"):
        check_parameters(estimator)
    estimator.depth = 0
    with pytest.raises(ValueError, match="depth must"):
        check_parameters(estimator)
