"""What the parameters of an estimator may be, as a table in its class, and the one function that checks them.

A table maps the name of a parameter to what is allowed: one alternative, or a tuple of them. An alternative is None or
a word, for just that value; a `Constraint`; or, as the last one, a function of value and name that raises an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from correspondence._util.arguments import is_number
from correspondence._util.text import short_repr

__all__ = [
    "FLAG",
    "FUNCTION",
    "SEED",
    "Constraint",
    "Constraints",
    "Real",
    "Whole",
    "check_parameter",
    "check_parameters",
]

Constraints = Mapping[str, Any]


class Constraint:
    """A condition that a value must meet.

    Parameters
    ----------
    words : str
        What follows "must be" in the error.
    accepts : callable
        Whether a value, which may be anything, meets the condition.
    """

    def __init__(self, words: str, accepts: Callable[[Any], bool]) -> None:
        self.words, self.accepts = words, accepts


class Whole(Constraint):
    """A whole number of at least `low`, and at most `high` if there is one."""

    def __init__(self, low: int, high: int | None = None) -> None:
        limits = f"of at least {low}" if high is None else f"from {low} to {high}"
        super().__init__(
            f"a whole number {limits}",
            lambda value: is_whole(value) and value >= low and (high is None or value <= high),
        )


class Real(Constraint):
    """A finite number of at least `at_least`, or above `above`; and below `below`, if there is one."""

    def __init__(self, at_least: float | None = None, *, above: float = -np.inf, below: float = np.inf) -> None:
        low = f"above {above:g}" if at_least is None else f"of at least {at_least:g}"
        high = f" and below {below:g}" if below < np.inf else ""
        super().__init__(
            f"a number {low}{high}",
            lambda value: is_number(value) and above < value < below and (at_least is None or value >= at_least),
        )


def is_whole(value: Any) -> bool:
    """Whether it is a whole number; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


FLAG = Constraint("True or False", lambda value: isinstance(value, bool | np.bool_))
FUNCTION = Constraint("a callable", callable)
SEED = Whole(0, 2**32 - 1)


def check_parameters(estimator: Any) -> None:
    """Check the parameters of an estimator against the table `_constraints` of its class."""
    for name, allowed in estimator._constraints.items():
        check_parameter(getattr(estimator, name), name, allowed)


def check_parameter(value: Any, name: str, allowed: Any) -> None:
    """Raise a ValueError that names the parameter, unless the value is one of the alternatives.

    Parameters
    ----------
    value : object
        The value of the parameter.
    name : str
        The name of the parameter.
    allowed : alternative, or tuple of them
        What the value may be; see the top of this module.

    Examples
    --------
    >>> check_parameter(2, "n_knots", ("auto", Whole(3)))
    Traceback (most recent call last):
    ValueError: n_knots must be "auto" or a whole number of at least 3, got 2.
    """
    alternatives = allowed if isinstance(allowed, tuple) else (allowed,)
    if any(_is_met(each, value) for each in alternatives):
        return
    if callable(alternatives[-1]):
        alternatives[-1](value, name)
        return
    *first, last = (each.words if isinstance(each, Constraint) else _quote(each) for each in alternatives)
    words = f"{', '.join(first)} or {last}" if first else last
    raise ValueError(f"{name} must be {words}, got {short_repr(value)}.")


def _is_met(alternative: Any, value: Any) -> bool:
    if isinstance(alternative, Constraint):
        return alternative.accepts(value)
    # Words are compared with texts only: an array would be compared element by element.
    return value is None if alternative is None else isinstance(value, str) and value == alternative


def _quote(alternative: str | None) -> str:
    return "None" if alternative is None else f'"{alternative}"'
