"""Tumult Core's SequentialQueryable, which answers measurements within an (epsilon, delta) budget.

It needs no Spark for data that are one number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulator.auditing.conformance.events import APPROX, PURE
from simulator.auditing.conformance.protocol import Library, Reading, Spend, Subject

_MADE = """\
from tmlt.core.domains.numpy_domains import NumpyIntegerDomain
from tmlt.core.measurements.base import Measurement
from tmlt.core.measurements.interactive_measurements import (
    MeasurementQuery, Queryable, SequentialComposition)
from tmlt.core.measures import ApproxDP
from tmlt.core.metrics import AbsoluteDifference
from tmlt.core.utils.exact_number import ExactNumber

class Silent(Queryable):
    def __call__(self, query):
        return None

class Stated(Measurement):
    'Answers nothing, and states that it keeps (epsilon, delta).'
    def __init__(self, epsilon, delta):
        super().__init__(NumpyIntegerDomain(), AbsoluteDifference(), ApproxDP(), True)
        self.stated = tuple(ExactNumber.from_float(x, round_up=True) for x in (epsilon, delta))
    def privacy_function(self, d_in):
        return self.stated
    def __call__(self, data):
        return Silent()

def opened(epsilon, delta):
    budget = tuple(ExactNumber.from_float(x, round_up=False) for x in (epsilon, delta))
    whole = SequentialComposition(
        NumpyIntegerDomain(), AbsoluteDifference(), ApproxDP(), 1, budget)
    return whole(__import__('numpy').int64(0))
"""
"""A measurement that is charged what the caller states, and a queryable, by public names alone."""


class BudgetedQueryable:
    """A SequentialQueryable, which raises when a measurement does not fit."""

    def __init__(self, epsilon: float, delta: float) -> None:
        self.names: dict[str, Any] = {}
        exec(_MADE, self.names)
        self.queryable = self.names["opened"](epsilon, delta)
        self.ran = 0

    def ask(self, spend: Spend) -> bool:
        """Request a round; the library refuses by a ValueError."""
        try:
            stated = self.names["Stated"](spend.epsilon, spend.delta)
            self.queryable(self.names["MeasurementQuery"](stated))
        except (ValueError, OverflowError):
            return False
        self.ran += 1
        return True

    def charged(self) -> Reading | None:
        """Not offered by public names."""
        return None

    def runs(self) -> int:
        """How many rounds were admitted."""
        return self.ran


def _play(spends: Sequence[Spend], opened: tuple[float, ...]) -> str:
    return (
        f"{_MADE}\nfrom math import inf, nan\n"
        f"queryable = opened{tuple(opened)!r}\n"
        f"for epsilon, delta in {[tuple(spend) for spend in spends]!r}:\n"
        "    try:\n"
        "        queryable(MeasurementQuery(Stated(epsilon, delta)))\n"
        "        print('admitted', epsilon, delta)\n"
        "    except ValueError as refusal:\n"
        "        print('refused', epsilon, delta, refusal)\n"
    )


def load() -> list[Subject]:
    """Import the library and list what it offers."""
    exec(_MADE, {})

    return [
        Subject(
            name="SequentialQueryable, ApproxDP",
            role="filter",
            make=BudgetedQueryable,
            claims="total privacy budget across all queries (documentation of "
            "SequentialQueryable), by sums of exact numbers",
            kinds=(PURE, APPROX),
            play=_play,
        )
    ]


LIBRARY = Library(
    name="tmlt-core",
    distribution="tmlt.core",
    packages=("tmlt",),
    load=load,
    extra="conform-tmlt",
    least="0.20",
    megabytes=4096,
)
