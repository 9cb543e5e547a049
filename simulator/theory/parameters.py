"""Checks on the parameters of guarantees, laws, filters and compositions.

Each returns a plain float or int, so that numpy scalars, fractions and whole numbers are as good as
floats, and raises InvalidInput with one line otherwise.
"""

from __future__ import annotations

from typing import SupportsFloat, SupportsInt

from simulator import validation
from simulator.errors import InvalidInput

LARGEST = 1e100
"""The largest parameter of a guarantee or a law: neither squares nor their sums overflow."""


def finite(name: str, value: SupportsFloat) -> float:
    """Return ``value`` as a float; raise InvalidInput unless it is a finite number."""
    try:
        return validation.finite(name, value)
    except OverflowError:  # a whole number or a fraction beyond the floats
        raise InvalidInput(f"{name} must be a number up to {LARGEST:g}") from None


def nonnegative(name: str, value: SupportsFloat) -> float:
    """Return ``value`` as a float; raise InvalidInput unless it lies in [0, 1e100]."""
    if type(value) is float and 0.0 <= value <= LARGEST:
        return value  # guarantees are made anew every round: the common case is quick
    number = finite(name, value)
    if not 0.0 <= number <= LARGEST:
        raise InvalidInput(f"{name} must be a number in [0, {LARGEST:g}], not {number!r}")
    return number


def positive(name: str, value: SupportsFloat) -> float:
    """Return ``value`` as a float; raise InvalidInput unless it lies in (0, 1e100]."""
    number = finite(name, value)
    if not 0.0 < number <= LARGEST:
        raise InvalidInput(f"{name} must be a positive number up to {LARGEST:g}, not {number!r}")
    return number


def count(name: str, value: SupportsInt, least: int = 1) -> int:
    """Return ``value`` as an int; raise InvalidInput unless it is whole and >= ``least``.

    A whole float such as 1e6 counts as whole; True and False do not.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool):
        raise InvalidInput(f"{name} must be a whole number >= {least}, not {value!r}")
    return validation.whole(name, value, least)  # type: ignore[arg-type]
