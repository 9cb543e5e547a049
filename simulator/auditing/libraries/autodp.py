"""autodp: composition by Renyi divergence and by characteristic functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from simulator.auditing.conformance.events import (
    GAUSSIAN,
    LAPLACE,
    PURE,
    RANDOMIZED_RESPONSE,
    PrivacyEvent,
)
from simulator.auditing.conformance.protocol import Library, Question, Subject
from simulator.foundations.errors import NotApplicable

_COMPOSERS = {"renyi": "Composition", "fourier": "ComposeAFA"}


def truthful(epsilon: float) -> float:
    """The probability of a true answer, ln(p / (1 - p)) = epsilon; NotApplicable above some 36.

    It is rounded up: near 1 the last digit of p changes epsilon by more than the allowed error, and
    the epsilon of the question must not exceed that of the mechanism.
    """
    p = 1.0 / (1.0 + math.exp(-epsilon))
    while p < 1.0 and math.log(p) - math.log(1.0 - p) < epsilon:  # 1 - p is exact
        p = math.nextafter(p, 1.0)
    if p == 1.0:
        raise NotApplicable(f"no double is the chance of a true answer at epsilon {epsilon!r}")
    return p


def _written(event: PrivacyEvent, fourier: bool) -> str:
    """The library's mechanism of one round, as Python text."""
    phi = ", phi_off=False" if fourier else ""
    if event.kind == GAUSSIAN:
        return f"GaussianMechanism({1.0 / event.parameter!r}{phi})"
    if event.kind == LAPLACE:
        return f"LaplaceMechanism({1.0 / event.parameter!r}{phi})"
    if event.kind == PURE:
        return f"PureDP_Mechanism({event.parameter!r})"
    return f"RandresponseMechanism({truthful(event.parameter)!r}{phi})"


class ComposedMechanism:
    """The library's composition of the rounds, by one of its two composers."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def _mechanism(self, events: Sequence[PrivacyEvent]) -> Any:
        from autodp import mechanism_zoo, transformer_zoo

        names = vars(mechanism_zoo)
        fourier = self.kind == "fourier"
        parts = [eval(_written(e, fourier), {"__builtins__": {}}, dict(names)) for e in events]
        compose = getattr(transformer_zoo, _COMPOSERS[self.kind])()
        return compose(parts, [event.count for event in events])

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """Epsilon of the composed mechanism, from its approximate-DP curve."""
        found: float = self._mechanism(events).get_approxDP(delta)
        return found

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """Delta of the composed mechanism, from its approximate-DP curve."""
        found: float = self._mechanism(events).get_approx_delta(epsilon)
        return found


def _snippet(kind: str, events: Sequence[PrivacyEvent], question: Question, at: float) -> str:
    parts = ", ".join(_written(event, kind == "fourier") for event in events)
    method = "get_approxDP" if question == "epsilon" else "get_approx_delta"
    return (
        "from autodp.mechanism_zoo import *\n"
        f"from autodp.transformer_zoo import {_COMPOSERS[kind]}\n"
        f"mechanisms = [{parts}]\n"
        f"counts = {[event.count for event in events]!r}\n"
        f"print({_COMPOSERS[kind]}()(mechanisms, counts).{method}({at!r}))\n"
    )


def load() -> list[Subject]:
    """Import the library and list what it offers."""
    from autodp import mechanism_zoo  # noqa: F401

    return [
        Subject(
            name="Composition",
            role="accountant",
            make=partial(ComposedMechanism, "renyi"),
            claims="approximate DP implied by the composed Renyi divergence (class documentation)",
            kinds=(GAUSSIAN, LAPLACE, RANDOMIZED_RESPONSE, PURE),
            snippet=partial(_snippet, "renyi"),
        ),
        Subject(
            name="ComposeAFA",
            role="accountant",
            make=partial(ComposedMechanism, "fourier"),
            claims="the analytical Fourier accountant, arXiv 2106.08567 (class documentation)",
            kinds=(GAUSSIAN, LAPLACE, RANDOMIZED_RESPONSE),
            documented='converter.phi_to_cdf inverts by a quadrature that it calls "usually very '
            'accurate" from 700 points on, the number taken; no error is bounded',
            remark="converter.numerical_inverse searches e^epsilon with bounds=[0, 1] and "
            "bracket=[1, 2]; today's SciPy then keeps to the bounds, and no epsilon is above 0. "
            "Without the bounds it finds epsilon to its tolerance of 1e-2",
            snippet=partial(_snippet, "fourier"),
        ),
    ]


LIBRARY = Library(
    name="autodp", distribution="autodp", packages=("autodp",), load=load, least="0.2.3"
)
