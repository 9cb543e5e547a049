"""The compositions and games with a known answer, and their answers.

Both lists are functions of their seeds alone. Compositions are those of
:mod:`simulator.auditing.conformance`, from seeds of their own; a game is a menu of mechanisms, from
which an adaptive adversary takes one each round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from simulator.analysis.searches import worst_case
from simulator.auditing.conformance.accountants import Truths
from simulator.auditing.conformance.compositions import Case, cases
from simulator.auditing.conformance.events import NOTHING, relation_of
from simulator.auditing.conformance.truth import Truth
from simulator.foundations.seeds import Stream, generator
from simulator.theory import Bracket, FiniteLaw
from simulator.theory.events.units import ADD_REMOVE

SEEDS = range(201, 209)
"""Of the compositions, 276 each."""
GAMES_SEED = 200
TOLERANCE, SAMPLED_TOLERANCE = 1e-9, 1e-6
"""Relative widths aimed at, the second with subsampled Gaussians; reached ones are in the data."""
GAME_TOLERANCE, GAME_SECONDS = 1e-4, 20.0

Question = Literal["epsilon", "delta"]


@dataclass(frozen=True)
class TrueAnswer:
    """The ends of epsilon at the delta ``at``, or of delta at the epsilon ``at``."""

    question: Question
    at: float
    lower: float
    upper: float


@dataclass(frozen=True)
class TrueComposition:
    """Mechanisms that run one after the other, and their answers.

    ``rounds`` are plain values: mechanism, parameter, count; a rate or delta where there is one.
    """

    name: str
    rounds: tuple[dict[str, Any], ...]
    answers: tuple[TrueAnswer, ...]


@dataclass(frozen=True)
class TrueGame:
    """A menu, from which an adaptive adversary takes a mechanism each round, and its worst delta.

    Attributes
    ----------
    menu : plain values: mechanism and parameter, or for ``finite`` the probabilities p0 and p1 of
        its answers in the experiments 0 and 1.
    rounds : how many mechanisms run at most; None where the budget alone ends the game.
    budget : the most that the epsilons of randomized responses may sum to, or None.
    answers : of the largest delta(epsilon) of any adversary, in experiment 0.
    """

    name: str
    menu: tuple[dict[str, Any], ...]
    rounds: int | None
    budget: float | None
    answers: tuple[TrueAnswer, ...]


def composition_cases() -> list[Case]:
    """The compositions, each once, without other forms of the same one."""
    found: dict[object, Case] = {}
    for seed in SEEDS:
        for case in sorted(cases(seed), key=lambda case: case.name):
            name = f"{case.name}-{seed}"
            # a slash marks another form of the same composition
            if "/" not in name and relation_of(case.events) == ADD_REMOVE:
                found.setdefault(
                    (case.events, case.delta), Case(name, case.events, case.delta, name)
                )
    return list(found.values())


def answered(case: Case) -> TrueComposition:
    """A composition with epsilon at its delta, and delta at that epsilon, rounded down."""
    truths = Truths(lambda events: Truth(events, TOLERANCE, SAMPLED_TOLERANCE))
    answers = []
    questions: tuple[Question, ...] = ("epsilon", "delta")
    for question in questions:
        at = truths.place(case, question)
        found = None if at is None else truths.answer(case, question, at)
        if found is not None and at is not None:
            answers.append(TrueAnswer(question, at, found.lower, found.upper))
    return TrueComposition(case.name, tuple(_rounds(case)), tuple(answers))


def _rounds(case: Case) -> Iterator[dict[str, Any]]:
    for event in case.events:
        if event.kind == NOTHING:
            continue
        found = {"mechanism": event.kind, "parameter": event.parameter, "count": event.count}
        found |= {"rate": event.rate} if event.rate < 1.0 else {}
        found |= {"delta": event.delta} if event.delta else {}
        yield found


def games() -> Iterator[TrueGame]:
    """The games, each searched for its worst adversary."""
    coins = generator(GAMES_SEED, 0, Stream.COINS, 0)
    for i in range(80):
        menu = [_finite(coins) for _ in range(int(coins.integers(2, 4)))]
        yield searched(f"finite-{i}", menu, int(coins.integers(1, 6)), None, _epsilon(coins))
    for i in range(60):
        units = coins.choice(np.arange(1, 16), size=int(coins.integers(2, 4)), replace=False)
        menu = [_named("randomized-response", int(unit) / 50) for unit in sorted(units)]
        filtered = i % 2 == 1
        rounds = None if filtered else int(coins.integers(2, 13))
        budget = int(coins.integers(20, 80)) / 50 if filtered else None
        yield searched(f"responses-{i}", menu, rounds, budget, _epsilon(coins))
    for i in range(60):
        kinds = coins.choice(["laplace", "gaussian", "exponential"], size=2, replace=i % 3 == 0)
        menu = [_named(str(kind), int(coins.integers(5, 60)) / 100) for kind in kinds]
        yield searched(f"continuous-{i}", menu, int(coins.integers(2, 9)), None, _epsilon(coins))


def searched(
    name: str,
    menu: list[dict[str, Any]],
    rounds: int | None,
    budget: float | None,
    epsilon: float,
) -> TrueGame:
    """A game with its worst delta at ``epsilon``."""
    found = worst_case(
        [_entry(item) for item in menu],
        epsilon=epsilon,
        rounds=rounds,
        filter=None if budget is None else f"sum:{budget!r}",
        tolerance=GAME_TOLERANCE,
        seconds=GAME_SECONDS,
    )
    ends: Bracket = found.delta
    answers = (TrueAnswer("delta", epsilon, ends.lower, ends.upper),)
    return TrueGame(name, tuple(menu), rounds, budget, answers)


def _entry(item: dict[str, Any]) -> Any:
    if item["mechanism"] == "finite":
        return FiniteLaw.from_probabilities(item["p0"], item["p1"])
    return f"{item['mechanism']}:{item['parameter']!r}"


def _named(mechanism: str, parameter: float) -> dict[str, Any]:
    return {"mechanism": mechanism, "parameter": parameter}


def _finite(coins: np.random.Generator) -> dict[str, Any]:
    """Two to four answers, whose probabilities are multiples of 1/64: exact in binary."""
    answers = int(coins.integers(2, 5))
    p0, p1 = (_in_parts(coins, answers) for _ in range(2))
    return {"mechanism": "finite", "p0": p0, "p1": p1}


def _in_parts(coins: np.random.Generator, answers: int) -> list[float]:
    cuts = np.sort(coins.choice(np.arange(1, 64), size=answers - 1, replace=False))
    return [float(part) / 64 for part in np.diff([0, *cuts, 64])]


def _epsilon(coins: np.random.Generator) -> float:
    return int(coins.integers(0, 21)) / 20
