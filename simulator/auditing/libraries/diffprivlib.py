"""diffprivlib's BudgetAccountant: a composition of (epsilon, delta), a filter and an odometer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from simulator.auditing.conformance.events import (
    APPROX,
    NOTHING,
    PURE,
    RANDOMIZED_RESPONSE,
    PrivacyEvent,
)
from simulator.auditing.conformance.protocol import Library, Question, Reading, Spend, Subject
from simulator.foundations.errors import NotApplicable

_KINDS = (PURE, APPROX, RANDOMIZED_RESPONSE, NOTHING)
_SOURCE = 'BudgetAccountant\'s documentation: "the accountant rules as given in [KOV17]"'


def slack_left(events: Sequence[PrivacyEvent], delta: float) -> float:
    """The part of delta that the rounds' own deltas leave to ``slack``; raises NotApplicable."""
    kept = math.fsum(event.count * math.log1p(-event.delta) for event in events)
    slack = -math.expm1(math.log1p(-delta) - kept)
    if slack <= 0.0:
        raise NotApplicable("the rounds' own deltas exceed the total")
    return slack * (1.0 - 1e-12)


def one_for_each_round(events: Sequence[PrivacyEvent]) -> list[tuple[float, float]]:
    """One (epsilon, delta) for each round."""
    return [(e.parameter, e.delta) for e in events for _ in range(e.count)]


class TotalByKOV:
    """``total()`` with all of delta that is left as ``slack``."""

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """Total epsilon of a BudgetAccountant, at the slack that the rounds' deltas leave."""
        from diffprivlib import BudgetAccountant

        accountant = BudgetAccountant()
        slack = slack_left(events, delta)
        found: float = accountant.total(spent_budget=one_for_each_round(events), slack=slack)[0]
        return found

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """Not offered."""
        raise NotApplicable("the accountant answers for a given slack in delta only")


class BudgetFilter:
    """A BudgetAccountant with a ceiling, whose ``spend`` raises when a round does not fit."""

    def __init__(self, epsilon: float, delta: float, slack: float = 0.0) -> None:
        from diffprivlib import BudgetAccountant

        self.accountant = BudgetAccountant(epsilon=epsilon, delta=delta, slack=slack)
        self.ran = 0

    def ask(self, spend: Spend) -> bool:
        """Request a round; the library refuses by a ValueError, and its BudgetError is one."""
        try:
            self.accountant.spend(spend.epsilon, spend.delta)
        except ValueError:
            return False
        self.ran += 1
        return True

    def charged(self) -> Reading:
        """The accountant's total."""
        return Reading(*map(float, self.accountant.total()))

    def runs(self) -> int:
        """How many rounds were admitted."""
        return self.ran


class TotalOdometer:
    """``total()`` after every spend, without a ceiling; the announced delta is the slack."""

    def __init__(self, delta: float) -> None:
        from diffprivlib import BudgetAccountant

        self.accountant = BudgetAccountant(slack=delta)

    def spend(self, spend: Spend) -> None:
        """Spend one round."""
        self.accountant.spend(spend.epsilon, spend.delta)

    def reading(self) -> Reading:
        """The accountant's total."""
        return Reading(*map(float, self.accountant.total()))


def _snippet(events: Sequence[PrivacyEvent], question: Question, at: float) -> str:
    parts = " + ".join(f"[({e.parameter!r}, {e.delta!r})] * {e.count}" for e in events)
    return (
        "from diffprivlib import BudgetAccountant\n"
        f"spent = {parts}\n"
        f"print(BudgetAccountant().total(spent, slack={slack_left(events, at)!r})[0])\n"
    )


def _play(slack_share: float, spends: Sequence[Spend], opened: tuple[float, ...]) -> str:
    slack = slack_share * opened[1]
    return (
        "from diffprivlib import BudgetAccountant\n"
        "from math import inf, nan\n"
        f"accountant = BudgetAccountant({opened[0]!r}, {opened[1]!r}, {slack!r})\n"
        f"for epsilon, delta in {[tuple(spend) for spend in spends]!r}:\n"
        "    try:\n"
        "        accountant.spend(epsilon, delta)\n"
        "        print('admitted', epsilon, delta, accountant.total())\n"
        "    except ValueError as refusal:\n"
        "        print('refused', epsilon, delta, refusal)\n"
    )


def _play_odometer(spends: Sequence[Spend], opened: tuple[float, ...]) -> str:
    return (
        "from diffprivlib import BudgetAccountant\n"
        "from math import inf, nan\n"
        f"accountant = BudgetAccountant(slack={opened[0]!r})\n"
        f"for epsilon, delta in {[tuple(spend) for spend in spends]!r}:\n"
        "    accountant.spend(epsilon, delta)\n"
        "print(accountant.total())\n"
    )


def load() -> list[Subject]:
    """Import the library and list what it offers."""
    import diffprivlib  # noqa: F401

    return [
        Subject(
            name="total",
            role="accountant",
            make=TotalByKOV,
            claims=f"Theorem 3.5 of Kairouz, Oh and Viswanath 2017 ({_SOURCE})",
            kinds=_KINDS[:3],
            snippet=_snippet,
        ),
        Subject(
            name="budget",
            role="filter",
            make=BudgetFilter,
            claims="raises an error when the ceiling is exceeded, by basic composition",
            kinds=_KINDS[:2],
            play=partial(_play, 0.0),
        ),
        Subject(
            name="budget-with-slack",
            role="filter",
            make=lambda epsilon, delta: BudgetFilter(epsilon, delta, delta / 2.0),
            claims=f"raises an error when the ceiling is exceeded ({_SOURCE})",
            kinds=_KINDS[:2],
            play=partial(_play, 0.5),
        ),
        Subject(
            name="running-total",
            role="odometer",
            make=TotalOdometer,
            claims='"iteratively updates the total budget spend" (BudgetAccountant)',
            kinds=_KINDS[:2],
            play=_play_odometer,
        ),
    ]


LIBRARY = Library(
    name="diffprivlib",
    distribution="diffprivlib",
    packages=("diffprivlib",),
    load=load,
    least="0.6.6",
)
