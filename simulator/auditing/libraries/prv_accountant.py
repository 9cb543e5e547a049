"""Microsoft's prv_accountant: composition of privacy random variables by Fourier transform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulator.auditing.conformance.events import (
    APPROX,
    GAUSSIAN,
    LAPLACE,
    PURE,
    RANDOMIZED_RESPONSE,
    SUBSAMPLED_GAUSSIAN,
    PrivacyEvent,
)
from simulator.auditing.conformance.protocol import Library, Question, Subject
from simulator.foundations.errors import NotApplicable

_MODULE = "prv_accountant.privacy_random_variables"
EPSILON_ERROR = 0.05
DELTA_SHARE = 1e-3
"""The errors that are requested: the constructor's documentation says "typically around 0.1" for
epsilon, and a thousandth of delta for delta."""


def _written(event: PrivacyEvent) -> str:
    """The round as the library's own constructor."""
    if event.kind == GAUSSIAN:
        return f"GaussianMechanism({1.0 / event.parameter!r})"
    if event.kind == LAPLACE:
        return f"LaplaceMechanism({event.parameter!r})"
    if event.kind in (PURE, RANDOMIZED_RESPONSE):
        return f"PureDPMechanism({event.parameter!r})"
    if event.kind == APPROX:
        return f"ApproximateDPMechanism({event.parameter!r}, {event.delta!r})"
    return f"PoissonSubsampledGaussianMechanism({event.rate!r}, {1.0 / event.parameter!r})"


class UpperEnd:
    """The upper end of what PRVAccountant gives."""

    def _made(self, events: Sequence[PrivacyEvent], delta: float) -> tuple[Any, list[int]]:
        import prv_accountant
        from prv_accountant import privacy_random_variables

        names = vars(privacy_random_variables)
        prvs = [eval(_written(event), {"__builtins__": {}}, dict(names)) for event in events]
        counts = [event.count for event in events]
        accountant = prv_accountant.PRVAccountant(
            prvs=prvs,
            eps_error=EPSILON_ERROR,
            delta_error=delta * DELTA_SHARE,
            max_self_compositions=counts,
        )
        return accountant, counts

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """The upper of the three epsilons that the library returns."""
        accountant, counts = self._made(events, delta)
        found: float = accountant.compute_epsilon(delta, counts)[2]
        return found

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """Not tried: the error in delta must be fixed before anything is known of the delta."""
        raise NotApplicable("the error in delta would have to be chosen beforehand")


def _snippet(events: Sequence[PrivacyEvent], question: Question, at: float) -> str:
    return (
        "from prv_accountant import PRVAccountant\n"
        f"from {_MODULE} import *\n"
        f"prvs = [{', '.join(map(_written, events))}]\n"
        f"counts = {[event.count for event in events]!r}\n"
        f"accountant = PRVAccountant(prvs, eps_error={EPSILON_ERROR!r},\n"
        f"    delta_error={at * DELTA_SHARE!r}, max_self_compositions=counts)\n"
        f"print(accountant.compute_epsilon({at!r}, counts)[2])\n"
    )


def load() -> list[Subject]:
    """Import the library and list what it offers."""
    import prv_accountant  # noqa: F401

    return [
        Subject(
            name="PRVAccountant",
            role="accountant",
            make=UpperEnd,
            claims="an estimate of epsilon between a lower and an upper bound (documentation of "
            "compute_epsilon); the upper one is held to it",
            kinds=(GAUSSIAN, LAPLACE, PURE, RANDOMIZED_RESPONSE, APPROX, SUBSAMPLED_GAUSSIAN),
            declines=("Floating point errors will dominate",),
            remark="the guard against rounding in compute_epsilon multiplies the length of the "
            "domain by the epsilon of long doubles, while the transform is done in doubles, "
            "whose error is some 2000 times as large; and PureDPMechanism.rdp returns "
            "(alpha - 1) epsilon / alpha, which is not the Renyi divergence of randomized response",
            snippet=_snippet,
        )
    ]


LIBRARY = Library(
    name="prv-accountant",
    distribution="prv-accountant",
    packages=("prv_accountant",),
    load=load,
    least="0.2",
)
