"""riskcal's accountant of DP-SGD, which has Opacus' interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulator.auditing.conformance.events import GAUSSIAN, SUBSAMPLED_GAUSSIAN, PrivacyEvent
from simulator.auditing.conformance.protocol import Library, Question, Subject


class ConnectTheDots:
    """``CTDAccountant``, one ``step`` for each round."""

    def _stepped(self, events: Sequence[PrivacyEvent]) -> Any:
        from riskcal.accountants import CTDAccountant

        accountant = CTDAccountant()
        for e in events:
            for _ in range(e.count):
                accountant.step(noise_multiplier=1.0 / e.parameter, sample_rate=e.rate)
        return accountant

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """Epsilon of the accountant after all steps."""
        found: float = self._stepped(events).get_epsilon(delta=delta)
        return found

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """Delta of the accountant's privacy-loss distribution."""
        found: float = self._stepped(events).get_pld().get_delta_for_epsilon(epsilon)
        return found


def _snippet(events: Sequence[PrivacyEvent], question: Question, at: float) -> str:
    steps = [(1.0 / e.parameter, e.rate, e.count) for e in events]
    call = f"get_epsilon(delta={at!r})"
    if question == "delta":
        call = f"get_pld().get_delta_for_epsilon({at!r})"
    return (
        "from riskcal.accountants import CTDAccountant\n"
        "accountant = CTDAccountant()\n"
        f"for noise_multiplier, sample_rate, steps in {steps!r}:\n"
        "    for _ in range(steps):\n"
        "        accountant.step(noise_multiplier=noise_multiplier, sample_rate=sample_rate)\n"
        f"print(accountant.{call})\n"
    )


def load() -> list[Subject]:
    """Import the library and list what it offers."""
    import riskcal.accountants  # noqa: F401

    return [
        Subject(
            name="CTDAccountant",
            role="accountant",
            make=ConnectTheDots,
            claims='"Epsilon value for (epsilon, delta)-DP" (documentation of get_epsilon)',
            kinds=(GAUSSIAN, SUBSAMPLED_GAUSSIAN),
            remark="it composes by dp_accounting, by Fourier transform in doubles, whose error in "
            "delta is not allowed for: it matters at small delta alone",
            snippet=_snippet,
        )
    ]


LIBRARY = Library(
    name="riskcal", distribution="riskcal", packages=("riskcal",), load=load, least="1.5"
)
