"""Rules whose large losses lie behind rare gates, with their laws in closed form.

Whether a gate opens does not depend on the answers on Alice's bit, so a play is one of a few
scenarios, each with its probability and the epsilons that randomised response is then played with.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from simulator import Laplace, RandomizedResponse
from simulator.adversaries import Challenge, Rule
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.theory import SumFilter
from simulator.theory.filters.interface import Filter

STAKES = (0.3, 1.0, 2.0, 5.0)
MENU = tuple(
    Challenge(WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, epsilon)) for epsilon in STAKES
)
PUBLIC = Challenge(EVERYONE, EVERYONE, Laplace(ALICE, 0.1))
"""A query whose answer does not depend on b: its loss is 0."""


@dataclass(frozen=True)
class Gate:
    """A rule, its scenarios (probability, epsilons) and the divergences to estimate.

    Attributes
    ----------
    truth : the exact hockey-stick divergence at an epsilon.
    """

    rule: Rule
    rounds: int
    scenarios: tuple[tuple[float, tuple[float, ...]], ...]
    filter_: Filter | None = None

    def law(self) -> dict[float, float]:
        """{loss: probability}, by convolution."""
        law: dict[float, float] = {}
        for probability, stakes in self.scenarios:
            here = {0.0: probability}
            for stake in stakes:
                ahead: dict[float, float] = {}
                for loss, mass in here.items():
                    for gained in (stake, -stake):
                        key = round(loss + gained, 9)
                        chance = 1.0 / (1.0 + math.exp(-gained))
                        ahead[key] = ahead.get(key, 0.0) + mass * chance
                here = ahead
            for loss, mass in here.items():
                law[loss] = law.get(loss, 0.0) + mass
        return law

    def delta(self, epsilon: float) -> float:
        """The exact hockey-stick divergence."""
        return math.fsum(
            -mass * math.expm1(epsilon - loss)
            for loss, mass in self.law().items()
            if loss > epsilon
        )

    def tail(self, threshold: float) -> float:
        """The exact tail."""
        return math.fsum(mass for loss, mass in self.law().items() if loss > threshold)


def behind(step: Callable, state: object = 0, *, public: bool = False) -> Rule:
    """The rule of a step over the menu, with the public query as its last entry."""
    return Rule(step, (*MENU, PUBLIC) if public else MENU, state)


def by_answer(state, i, answer, coins):
    if i == 1 and answer > 200.0:
        state = 1
    return state, 4 if i == 0 else (3 if state == 1 else 0)


def by_coin(state, i, answer, coins):
    if i == 0 and coins.random() < 1e-11:
        state = 1
    return state, 3 if state == 1 else 0


def in_sequence(state, i, answer, coins):
    if i == 3 and coins.random() < 1e-5:
        state = 1
    if i == 6 and state == 1 and coins.random() < 1e-6:
        state = 2
    return state, 3 if state == 2 else (1 if state == 1 else 0)


def late(state, i, answer, coins):
    if i == 17 and coins.random() < 1e-9:
        state = 1
    return state, 3 if state == 1 else 0


def by_heads(state, i, answer, coins):
    if i == state and i < 36 and coins.random() < 0.5:
        state += 1
    return state, 3 if i >= 36 and state == 36 else 0


def again(state, i, answer, coins):
    return state, 3 if coins.random() < 1e-7 else 0


def of_two_sizes(state, i, answer, coins):
    if i == 0:
        u = coins.random()
        if u < 1e-11:
            state = 2
        elif u < 1e-6:
            state = 1
    return state, 3 if state == 2 else (2 if state == 1 else 0)


def refused(state, i, answer, coins):
    if i == 0 and coins.random() < 1e-8:
        state = 1
    return state, 3 if state == 1 and i % 2 == 1 else 0


def any_time(state, i, answer, coins):
    if coins.random() < 1e-8:
        state = 1
    return state, 2 if state == 1 else 0


def below(chance: float) -> float:
    """Pr[coins.random() < chance]: a coin is a multiple of 2^-53."""
    return math.ceil(chance * 2**53) / 2**53


OPEN = 0.5 * math.exp(-0.1 * 199.0)
"""Pr[answer > 200]: the count is 1 and the scale 10."""
SMALL, LARGE = STAKES[0], STAKES[3]

GATES = {
    "by an answer": Gate(
        behind(by_answer, public=True), 21, ((1.0 - OPEN, (SMALL,) * 20), (OPEN, (LARGE,) * 20))
    ),
    "by a coin": Gate(
        behind(by_coin), 20, ((1.0 - below(1e-11), (SMALL,) * 20), (below(1e-11), (LARGE,) * 20))
    ),
    "two in sequence": Gate(
        behind(in_sequence),
        18,
        (
            (1.0 - below(1e-5), (SMALL,) * 18),
            (below(1e-5) * (1.0 - below(1e-6)), (*(SMALL,) * 3, *(1.0,) * 15)),
            (below(1e-5) * below(1e-6), (*(SMALL,) * 3, *(1.0,) * 3, *(LARGE,) * 12)),
        ),
    ),
    "late": Gate(
        behind(late),
        20,
        ((1.0 - below(1e-9), (SMALL,) * 20), (below(1e-9), (*(SMALL,) * 17, *(LARGE,) * 3))),
    ),
    "36 heads": Gate(
        behind(by_heads),
        40,
        ((1.0 - 2.0**-36, (SMALL,) * 40), (2.0**-36, (*(SMALL,) * 36, *(LARGE,) * 4))),
    ),
    "again and again": Gate(
        behind(again),
        12,
        tuple(
            (
                math.comb(12, n) * below(1e-7) ** n * (1.0 - below(1e-7)) ** (12 - n),
                (*(LARGE,) * n, *(SMALL,) * (12 - n)),
            )
            for n in range(13)
        ),
    ),
    "of two sizes": Gate(
        behind(of_two_sizes),
        16,
        (
            (1.0 - below(1e-6), (SMALL,) * 16),
            (below(1e-6) - below(1e-11), (2.0,) * 16),
            (below(1e-11), (LARGE,) * 16),
        ),
    ),
    "refused by a filter": Gate(
        behind(refused),
        20,
        # of 6.5: all rounds of 0.3 are admitted (6.0); beside a 5.0, five of 0.3
        ((1.0 - below(1e-8), (SMALL,) * 20), (below(1e-8), (LARGE, *(SMALL,) * 5))),
        SumFilter(6.5),
    ),
    "at any time": Gate(
        behind(any_time),
        20,
        (
            ((1.0 - below(1e-8)) ** 20, (SMALL,) * 20),
            *(
                (below(1e-8) * (1.0 - below(1e-8)) ** n, (*(SMALL,) * n, *(2.0,) * (20 - n)))
                for n in range(20)
            ),
        ),
    ),
}
