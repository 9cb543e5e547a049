"""dp-accelerator: the Renyi divergence of DP-SGD, in Rust."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simulator.auditing.conformance.events import (
    GAUSSIAN,
    SUBSAMPLED_GAUSSIAN,
    PrivacyEvent,
    batch_of,
)
from simulator.auditing.conformance.protocol import Library, Question, Subject
from simulator.foundations.errors import NotApplicable


class EqualSteps:
    """``DPSGDAccountant``: the rounds are the equal steps of one training."""

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """Epsilon of equal steps; raises NotApplicable for others."""
        from dp_accelerator import DPSGDAccountant

        if len(events) > 1:
            raise NotApplicable("this accountant takes equal steps alone")
        (event,) = events
        accountant = DPSGDAccountant(1.0 / event.parameter, *batch_of(event.rate))
        return float(accountant.get_epsilon(event.count, delta))

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """Not offered."""
        raise NotApplicable("the accountant gives an epsilon alone")


class OfTheCurve(EqualSteps):
    """``get_rdp_curve``, with Mironov's conversion, which holds of any Renyi curve."""

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """Epsilon of equal steps, by the textbook conversion of the Renyi curve."""
        from dp_accelerator import DPSGDAccountant

        if len(events) > 1:
            raise NotApplicable("this accountant takes equal steps alone")
        (event,) = events
        accountant = DPSGDAccountant(1.0 / event.parameter, *batch_of(event.rate))
        curve = accountant.get_rdp_curve(event.count)
        return min(rdp - math.log(delta) / (order - 1.0) for order, rdp in curve.items())


def _curve_snippet(events: Sequence[PrivacyEvent], question: Question, at: float) -> str:
    (event,) = events
    batch, records = batch_of(event.rate)
    return (
        "from math import log\n"
        "from dp_accelerator import DPSGDAccountant\n"
        f"accountant = DPSGDAccountant(noise_multiplier={1.0 / event.parameter!r},\n"
        f"    batch_size={batch}, dataset_size={records})\n"
        f"curve = accountant.get_rdp_curve({event.count})\n"
        f"print(min(rdp - log({at!r}) / (order - 1) for order, rdp in curve.items()))\n"
    )


def _snippet(events: Sequence[PrivacyEvent], question: Question, at: float) -> str:
    (event,) = events
    batch, records = batch_of(event.rate)
    return (
        "from dp_accelerator import DPSGDAccountant\n"
        f"accountant = DPSGDAccountant(noise_multiplier={1.0 / event.parameter!r},\n"
        f"    batch_size={batch}, dataset_size={records})\n"
        f"print(accountant.get_epsilon({event.count}, {at!r}))\n"
    )


def load() -> list[Subject]:
    """Import the library and list what it offers."""
    import dp_accelerator  # noqa: F401

    return [
        Subject(
            name="DPSGDAccountant",
            role="accountant",
            make=EqualSteps,
            claims="the epsilon value that satisfies (epsilon, delta)-DP, with the sampling "
            "probability batch size over dataset size (documentation of get_epsilon)",
            kinds=(GAUSSIAN, SUBSAMPLED_GAUSSIAN),
            snippet=_snippet,
        ),
        Subject(
            name="get_rdp_curve",
            role="accountant",
            make=OfTheCurve,
            claims="the full RDP curve (documentation of get_rdp_curve); here with Mironov's "
            "conversion",
            kinds=(GAUSSIAN, SUBSAMPLED_GAUSSIAN),
            remark="the curve is alpha q^2 / (2 sigma^2) at every order, the limit of small q and "
            "large sigma; get_epsilon does not use it",
            snippet=_curve_snippet,
        ),
    ]


LIBRARY = Library(
    name="dp-accelerator",
    distribution="dp-accelerator",
    packages=("dp_accelerator",),
    load=load,
    least="0.1",
)
