"""Checks on the parameters of guarantees, laws, filters and compositions.

Each returns a plain float or int from any kind of number, or raises InvalidInput with one line.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsFloat, SupportsInt

from simulator.foundations import validation
from simulator.foundations.errors import InvalidInput

LARGEST = 1e100
"""The largest parameter of a guarantee or a law, so that sums of squares do not overflow."""

SMALLEST_DELTA = 1e-300
"""The smallest positive delta allowed; logarithms of smaller ones lose digits."""


def nonnegative(name: str, value: SupportsFloat) -> float:
    """Return ``value`` as a float; raise InvalidInput unless it lies in [0, 1e100]."""
    if type(value) is float and 0.0 <= value <= LARGEST:
        return value  # a fast path, as guarantees may be made in every round
    number = validation.finite(name, value)
    if not 0.0 <= number <= LARGEST:
        raise InvalidInput(f"{name} must be a number in [0, {LARGEST:g}], not {number!r}")
    return number


def positive(name: str, value: SupportsFloat) -> float:
    """Return ``value`` as a float; raise InvalidInput unless it lies in (0, 1e100]."""
    number = validation.finite(name, value)
    if not 0.0 < number <= LARGEST:
        raise InvalidInput(f"{name} must be a positive number up to {LARGEST:g}, not {number!r}")
    return number


def count(name: str, value: SupportsInt, least: int = 1, bits: int = 63) -> int:
    """Return ``value`` as an int; raise InvalidInput unless it is whole, in [least, 2**bits].

    A whole float such as 1e6 counts as whole; True and False do not.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    number = validation.whole(name, value, least)  # type: ignore[arg-type]
    if number > 2**bits:
        raise InvalidInput(f"{name} must be at most 2**{bits}")
    return number


def several(name: str, values: Iterable[Any]) -> tuple[Any, ...]:
    """Return ``values`` as a tuple; raise InvalidInput for text and non-iterables."""
    try:
        if isinstance(values, str | bytes):
            raise TypeError
        return tuple(values)
    except TypeError:
        raise InvalidInput(f"{name} must be a list or tuple, not {values!r:.80}") from None


def delta_of_question(value: SupportsFloat) -> float:
    """Return ``value`` as a float; raise InvalidInput unless it is 0 or in [1e-300, 1)."""
    number = validation.finite("delta", value)
    if not (number == 0.0 or SMALLEST_DELTA <= number < 1.0):
        raise InvalidInput(f"delta must be 0, or in [{SMALLEST_DELTA:g}, 1), not {number!r}")
    return number
