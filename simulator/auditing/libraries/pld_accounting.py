"""PLD_accounting: privacy loss distributions on grids, with its own subsampling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulator.auditing.conformance.events import (
    GAUSSIAN,
    LAPLACE,
    SUBSAMPLED_GAUSSIAN,
    PrivacyEvent,
)
from simulator.auditing.conformance.protocol import Library, Question, Subject

GRID = 1e-3
"""The step of the losses that is requested; the library's own default is 1e-2."""


def _written(event: PrivacyEvent) -> str:
    """One round as calls of the library; equal noise has equal losses in both directions."""
    maker = "laplace_distribution" if event.kind == LAPLACE else "gaussian_distribution"
    noise = f"{maker}(scale={1.0 / event.parameter!r}, value_discretization={GRID!r})"
    once = f"compose_full_pld(remove_dist={noise}, add_dist={noise}, bound_type=DOMINATES)"
    if event.kind == SUBSAMPLED_GAUSSIAN:
        once = f"subsample_pld(pld={once}, sampling_probability={event.rate!r})"
    return f"{once}.self_compose({event.count})"


class OnAGrid:
    """The composition, as a distribution of dp_accounting, which the library makes."""

    def _composed(self, events: Sequence[PrivacyEvent]) -> Any:
        import PLD_accounting

        names = {**vars(PLD_accounting), "DOMINATES": PLD_accounting.BoundType.DOMINATES}
        plds = [eval(_written(event), {"__builtins__": {}}, names) for event in events]
        whole = plds[0]
        for pld in plds[1:]:
            whole = whole.compose(pld)
        return whole

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """Epsilon of the composed distribution."""
        found: float = self._composed(events).get_epsilon_for_delta(delta)
        return found

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """Delta of the composed distribution."""
        found: float = self._composed(events).get_delta_for_epsilon(epsilon)
        return found


def _snippet(events: Sequence[PrivacyEvent], question: Question, at: float) -> str:
    first, *others = map(_written, events)
    composed = first + "".join(f"\\\n    .compose({other})" for other in others)
    call = "get_epsilon_for_delta" if question == "epsilon" else "get_delta_for_epsilon"
    return (
        "from PLD_accounting import *\n"
        "DOMINATES = BoundType.DOMINATES\n"
        f"whole = {composed}\n"
        f"print(whole.{call}({at!r}))\n"
    )


def load() -> list[Subject]:
    """Import the library and list what it offers."""
    import PLD_accounting  # noqa: F401

    return [
        Subject(
            name="compose_full_pld",
            role="accountant",
            make=OnAGrid,
            claims="a privacy loss distribution that dominates (BoundType.DOMINATES; "
            "documentation of gaussian_distribution and subsample_pld)",
            kinds=(GAUSSIAN, LAPLACE, SUBSAMPLED_GAUSSIAN),
            remark="self_compose is a Fourier transform in doubles, whose error in delta is not "
            "allowed for: it matters at small delta alone",
            declines=("Reduce loss_discretization",),
            snippet=_snippet,
        )
    ]


LIBRARY = Library(
    name="pld-accounting",
    distribution="PLD_accounting",
    packages=("PLD_accounting",),
    load=load,
    least="2.0",
)
