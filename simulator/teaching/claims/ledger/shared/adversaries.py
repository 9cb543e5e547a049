"""Databases and adversaries that several checks play with."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from simulator.analysis.result import Result
from simulator.analysis.simulate import simulate
from simulator.data.databases import Database
from simulator.data.queries import counting_query, counting_scores
from simulator.mechanisms import (
    Exponential,
    Laplace,
    LeakyRandomizedResponse,
    Mechanism,
    RandomizedResponse,
)
from simulator.theory.guarantees.interface import Guarantee

WITH_ALICE = Database({"alice": 1, "others": 9})
"""Convention of the project: database 1 holds Alice, database 0 does not."""
WITHOUT_ALICE = WITH_ALICE.remove("alice")
ALICE = counting_query("alice")

Playing = Generator[Any, Any, None]
Adversary = Callable[[Any], Playing]


def respond_by_answer(epsilons: Sequence[float], exchange: bool = True) -> Adversary:
    """An adaptive adversary on randomized response that spends ``epsilons`` in turn.

    After an answer 1 it exchanges the two databases (with ``exchange``), so that which experiment
    an answer favours depends on the answers before.
    """

    def adversary(coins: Any) -> Playing:
        pair = (WITHOUT_ALICE, WITH_ALICE)
        for epsilon in epsilons:
            answer = yield (*pair, RandomizedResponse(ALICE, epsilon))
            if exchange and answer == 1.0:
                pair = pair[::-1]

    return adversary


def leak_in_turn(budgets: Sequence[tuple[float, float]]) -> Adversary:
    """The leaky randomized response with each (epsilon, delta) in turn, the worst of its kind."""

    def adversary(coins: Any) -> Playing:
        for epsilon, delta in budgets:
            yield WITHOUT_ALICE, WITH_ALICE, LeakyRandomizedResponse(ALICE, epsilon, delta)

    return adversary


def press_when_ahead(low: float, high: float) -> Adversary:
    """Laplace at ``low``; at ``high`` after an answer that favours Alice's presence.

    It tosses a coin on which of the two databases is called database 0, so its view needs it.
    """

    def adversary(coins: np.random.Generator) -> Playing:
        pair = (WITHOUT_ALICE, WITH_ALICE) if coins.random() < 0.5 else (WITH_ALICE, WITHOUT_ALICE)
        epsilon = low
        while True:
            answer = yield (*pair, Laplace(ALICE, epsilon))
            epsilon = high if answer > 0.5 else low

    return adversary


def challenges(*triples: tuple[Database, Database, Mechanism]) -> Adversary:
    """An adversary that sends these challenges one after another, whatever the answers."""

    def send(coins: Any) -> Playing:
        for triple in triples:  # noqa: UP028 -- a tuple cannot be sent answers
            yield triple

    return send


def switch_mechanisms(epsilon: float) -> Adversary:
    """Laplace, randomized response and the exponential mechanism, by the last answer.

    The exponential mechanism selects which of two people is in the database, which is not
    symmetric in the two databases.
    """
    menu = (
        Laplace(ALICE, epsilon),
        RandomizedResponse(ALICE, epsilon),
        Exponential(counting_scores(["alice", "bob"]), epsilon),
    )

    def adversary(coins: np.random.Generator) -> Playing:
        pair = (WITHOUT_ALICE, WITH_ALICE) if coins.random() < 0.5 else (WITH_ALICE, WITHOUT_ALICE)
        place = 0
        while True:
            answer = yield (*pair, menu[place])
            place = (place + (2 if answer > 0.5 else 1)) % len(menu)

    return adversary


def play(
    adversary: Adversary, family: Guarantee, rounds: int, trials: int, seed: int, **options: Any
) -> Result:
    """Play both experiments in this process, silently; see :func:`simulator.simulate`."""
    return simulate(adversary, family, rounds, trials, seed=seed, jobs=1, progress=False, **options)
