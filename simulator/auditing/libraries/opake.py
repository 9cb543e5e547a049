"""Opake: privacy loss distributions in Rust, composed by operators."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from simulator.auditing.conformance.events import (
    APPROX,
    GAUSSIAN,
    NOTHING,
    PURE,
    SUBSAMPLED_GAUSSIAN,
    PrivacyEvent,
)
from simulator.auditing.conformance.protocol import Library, Question, Subject


def _written(event: PrivacyEvent) -> str:
    """The rounds as calls of the library."""
    if event.kind in (PURE, APPROX):
        once = f"eps_delta({event.parameter!r}, {event.delta!r})"
    elif event.kind == NOTHING:
        once = "identity()"
    else:
        once = f"gaussian({1.0 / event.parameter!r})"
        if event.kind == SUBSAMPLED_GAUSSIAN:
            once = f"poisson({once}, sample_rate={event.rate!r})"
    return f"{once} * {event.count}" if event.count > 1 else once


class Composed:
    """The composition of processes."""

    def _composed(self, events: Sequence[PrivacyEvent]) -> Any:
        from opake import accounting
        from opake.dpsgd import accounting as of_training

        names = {**vars(accounting), **vars(of_training)}
        parts = (eval(_written(event), {"__builtins__": {}}, names) for event in events)
        return reduce(accounting.compose, parts)

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """Epsilon of the composed curve."""
        return float(self._composed(events).epsilon_at(delta))

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """Delta of the composed curve."""
        return float(self._composed(events).delta_at(epsilon))


def _snippet(events: Sequence[PrivacyEvent], question: Question, at: float) -> str:
    return (
        "from functools import reduce\n"
        "from opake.accounting import *\n"
        "from opake.dpsgd.accounting import *\n"
        f"whole = reduce(compose, [{', '.join(map(_written, events))}])\n"
        f"print(whole.{question}_at({at!r}))\n"
    )


def load() -> list[Subject]:
    """Import the library and list what it offers."""
    import opake.accounting
    import opake.dpsgd.accounting  # noqa: F401

    return [
        Subject(
            name="epsilon_at and delta_at",
            role="accountant",
            make=Composed,
            claims="the smallest epsilon achieving (epsilon, delta)-DP, and the smallest delta "
            "(documentation of Pld.epsilon_at and Pld.delta_at)",
            kinds=(GAUSSIAN, SUBSAMPLED_GAUSSIAN, PURE, APPROX, NOTHING),
            remark="most shortfalls are at delta of 1e-12 and less; some, of a billionth of "
            "epsilon, at any delta. Imported by Python 3.11.7 or 3.12.1 it raises TypeError: "
            "__weakref__ slot disallowed",
            snippet=_snippet,
        )
    ]


LIBRARY = Library(
    name="opake",
    distribution="opake-accounting",
    packages=("opake", "torch"),
    load=load,
    extra="conform-opake",
    least="0.16",
    megabytes=4096,
)
