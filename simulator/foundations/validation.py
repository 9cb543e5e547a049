"""Checks of numbers; each message is one line that names the value and the remedy."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any, SupportsFloat, SupportsIndex, TypeVar

import numpy as np

from simulator.foundations.errors import InvalidInput

Item = TypeVar("Item")


def numeral(text: str) -> float:
    """Read a number from text; raise ValueError for other text.

    Python reads 0_2 as 2 and digits of other scripts, which are seldom meant.
    """
    if "_" in text or not text.isascii():
        raise ValueError(f"could not convert {text!r} to a number")
    return float(text)


def real(name: str, value: SupportsFloat) -> float:
    """Return ``value`` as a float; True and False are refused: True would be a second."""
    try:
        if isinstance(value, str | bytes | bool | np.bool_):  # float() would read them
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be a number, not {value!r}", argument=name) from None
    except OverflowError:  # a whole number or a fraction, too long to print
        raise InvalidInput(f"{name} must be a number within floats", argument=name) from None


def finite(name: str, value: SupportsFloat) -> float:
    """Return ``value`` as a float; raise InvalidInput unless it is a finite number."""
    number = real(name, value)
    if not math.isfinite(number):
        raise InvalidInput(f"{name} must be finite, not {number}", argument=name)
    return number


def positive(name: str, value: SupportsFloat) -> float:
    """Return ``value`` as a float; raise InvalidInput unless it is finite and above 0."""
    if type(value) is float and 0.0 < value < math.inf:
        return value  # a fast path, as mechanisms are made in every round
    number = finite(name, value)
    if number <= 0:
        raise InvalidInput(f"{name} must be above 0, not {number:g}", argument=name)
    return number


def nonnegative(name: str, value: SupportsFloat) -> float:
    """Return ``value`` as a float, infinity included; raise InvalidInput unless it is >= 0."""
    if type(value) is float and value >= 0.0:
        return value  # a fast path, as guarantees are made in every round
    number = point(name, value)
    if number < 0.0:
        raise InvalidInput(f"{name} must be a number >= 0, not {number!r}", argument=name)
    return number


def probability_below_one(name: str, value: SupportsFloat) -> float:
    """Return ``value`` as a float; raise InvalidInput unless it lies in [0, 1)."""
    number = finite(name, value)
    if not 0 <= number < 1:
        raise InvalidInput(f"{name} must lie in [0, 1), not {number:g}", argument=name)
    return number


def open_probability(name: str, value: SupportsFloat) -> float:
    """Return ``value`` as a float; raise InvalidInput unless it lies in (0, 1)."""
    number = finite(name, value)
    if not 0 < number < 1:
        raise InvalidInput(
            f"{name} must lie strictly between 0 and 1, not {number:g}", argument=name
        )
    return number


LEAST_ALARM = 1e-300
"""The least probability of a false alarm: it is shared, and shares keep their digits."""


def false_alarm_of(value: SupportsFloat) -> float:
    """Return ``value`` as a float; raise InvalidInput unless it lies in [1e-300, 1)."""
    number = open_probability("false_alarm", value)
    if number < LEAST_ALARM:
        raise InvalidInput(
            f"false_alarm must be at least {LEAST_ALARM:g}, not {number:g}", argument="false_alarm"
        )
    return number


def whole(name: str, value: SupportsIndex, least: int = 1) -> int:
    """Return ``value`` as an int; raise InvalidInput unless it is whole and >= ``least``.

    True and False are refused.
    """
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise InvalidInput(f"{name} must be a whole number, not {value!r}", argument=name) from None
    if number < least:
        raise InvalidInput(f"{name} must be at least {least}, not {number}", argument=name)
    return number


def instance(name: str, value: Item, kind: type[Any], what: str = "") -> Item:
    """Return ``value``; raise InvalidInput, which says ``what`` is meant, for another class."""
    if not isinstance(value, kind):
        meant = what or f"a {kind.__name__}"
        raise InvalidInput(f"{name} must be {meant}, not {value!r:.80}", argument=name)
    return value


def text_of(name: str, value: str) -> str:
    """Return ``value``; raise InvalidInput unless it is text."""
    return instance(name, value, str, "text")


def listed(name: str, value: Iterable[Item]) -> tuple[Item, ...]:
    """Return the items of a list; raise InvalidInput for what has none."""
    if not isinstance(value, Iterable) or getattr(value, "shape", None) == ():
        raise InvalidInput(f"{name} must be a list, not {value!r:.80}", argument=name)
    return tuple(value)


def flag(name: str, value: object) -> bool:
    """Return ``value`` as a bool; raise InvalidInput unless it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInput(f"{name} must be True or False, not {value!r:.80}", argument=name)
    return bool(value)


def experiment_number(experiment: object) -> int:
    """Return 0 or 1 as an int; raise InvalidInput for anything that is not equal to one of them."""
    is_number = isinstance(experiment, SupportsFloat) and not isinstance(experiment, str)
    if is_number and getattr(experiment, "size", 1) == 1:
        for number in (0, 1):
            if experiment == number:
                return number
    raise InvalidInput(f"the experiment must be 0 or 1, not {experiment!r}")


def point(name: str, value: SupportsFloat) -> float:
    """Return ``value`` as a float, infinite ones included; raise InvalidInput for NaN or text."""
    number = real(name, value)
    if math.isnan(number):
        raise InvalidInput(f"{name} must be a number, not nan", argument=name)
    return number
