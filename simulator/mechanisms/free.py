"""Privacy parameters that a rule's move fixes."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import positive


@dataclass(frozen=True)
class Free:
    """A privacy parameter in [low, high] that a rule's move fixes.

    With ``Laplace(query, Free(0.01, 0.2))`` in a menu the rule chooses epsilon in every round.

    >>> from simulator import Laplace, counting_query
    >>> from simulator.mechanisms import Free
    >>> Laplace(counting_query("alice"), Free(0.1, 0.5)).with_parameter(0.2).epsilon
    0.2
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        positive("the lower end of a free parameter", self.low)
        positive("the upper end of a free parameter", self.high)
        if self.low > self.high:
            raise InvalidInput(f"a free parameter needs low <= high, not {self.low} > {self.high}")


def check_parameter(name: str, value: float | Free) -> None:
    """Raise InvalidInput unless ``value`` is a positive finite number or a Free interval."""
    if not isinstance(value, Free):
        positive(name, value)


def largest(value: float | Free) -> float:
    """The largest value the parameter may take.

    >>> from simulator.mechanisms import Free, largest
    >>> largest(Free(0.1, 0.5)), largest(0.2)
    (0.5, 0.2)
    """
    return value.high if isinstance(value, Free) else value


def smallest(value: float | Free) -> float:
    """The smallest value the parameter may take."""
    return value.low if isinstance(value, Free) else value
