"""Opacus' accountants, with Poisson sampling, which they are made for, and without."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

from simulator.auditing.conformance.events import GAUSSIAN, SUBSAMPLED_GAUSSIAN, PrivacyEvent
from simulator.auditing.conformance.protocol import Library, Question, Subject
from simulator.foundations.errors import NotApplicable

_NAMES = {"rdp": "RDPAccountant", "gdp": "GaussianAccountant", "prv": "PRVAccountant"}
_EXPERIMENTAL = (
    "a warning of the class itself: GDP accounting is experimental and can underestimate privacy "
    "expenditure"
)


class BySteps:
    """An accountant of Opacus, one ``step`` for each round."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def _stepped(self, events: Sequence[PrivacyEvent]) -> Any:
        from opacus import accountants

        if self.kind == "gdp" and len({event.once for event in events}) > 1:
            raise NotApplicable("this accountant takes equal steps alone")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that GDP is experimental, see _EXPERIMENTAL
            accountant = getattr(accountants, _NAMES[self.kind])()
        for e in events:
            for _ in range(e.count):
                accountant.step(noise_multiplier=1.0 / e.parameter, sample_rate=e.rate)
        return accountant

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """Epsilon of the accountant after all steps."""
        found: float = self._stepped(events).get_epsilon(delta)
        return found

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """Not offered."""
        raise NotApplicable("the accountants give an epsilon alone")


def _snippet(kind: str, events: Sequence[PrivacyEvent], question: Question, at: float) -> str:
    steps = [(1.0 / e.parameter, e.rate, e.count) for e in events]
    return (
        f"from opacus.accountants import {_NAMES[kind]}\n"
        f"accountant = {_NAMES[kind]}()\n"
        f"for noise_multiplier, sample_rate, steps in {steps!r}:\n"
        "    for _ in range(steps):\n"
        "        accountant.step(noise_multiplier=noise_multiplier, sample_rate=sample_rate)\n"
        f"print(accountant.get_epsilon({at!r}))\n"
    )


def load() -> list[Subject]:
    """Import the library and list what it offers."""
    import opacus.accountants  # noqa: F401

    claims = {
        "rdp": "an upper bound by Renyi divergence (module documentation)",
        "gdp": "an approximation by the central limit theorem (module documentation)",
        "prv": '"upper bound as we want guarantee, not just estimate" (get_epsilon)',
    }
    return [
        Subject(
            name=_NAMES[kind],
            role="accountant",
            make=partial(BySteps, kind),
            claims=claims[kind],
            kinds=(GAUSSIAN, SUBSAMPLED_GAUSSIAN),
            documented=_EXPERIMENTAL if kind == "gdp" else "",
            declines=("Floating point errors will dominate",) if kind == "prv" else (),
            snippet=partial(_snippet, kind),
        )
        for kind in _NAMES
    ]


LIBRARY = Library(
    name="opacus",
    distribution="opacus",
    packages=("opacus", "torch"),
    load=load,
    least="1.6",
    megabytes=4096,
)
