"""Concurrent composition: several conversations at once, interleaved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from simulator.analysis.simulate import simulate
from simulator.data.databases import Database
from simulator.data.queries import counting_query
from simulator.games.model import game
from simulator.games.rows import GameRow, bound, played, worst, wrong
from simulator.mechanisms import Concurrent, ResponseTree, randomized_response_tree
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bound as bound_named
from simulator.theory.guarantees.families import PureDP
from simulator.worst import worst_conversation

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")


@game(
    "concurrent",
    "Concurrent composition of interactive mechanisms",
    sources=(
        "Vadhan and Wang 2021, Theorem 1.8",
        "Lyu 2022; Vadhan and Zhang 2023: all (epsilon, delta) and f-DP",
    ),
    ranges={
        "epsilon": ("of one conversation", 0.01, 3.0),
        "conversations": ("how many are open at once", 1, 3),
        "at": ("the epsilon at which delta is taken", 0.0, 5.0),
        "trials": ("plays of each experiment", 100, 1_000_000),
        "seed": ("of the plays", 0, 2**31),
    },
    sweep=("at", (0.0, 0.2, 0.4, 0.6, 0.8)),
)
def concurrent(
    *,
    epsilon: float = 0.5,
    conversations: int = 2,
    at: float = 0.6,
    trials: int = 4000,
    seed: int = 1,
) -> Iterator[GameRow]:
    """Open several conversations and interleave the messages.

    Every part is a tree of randomized responses: each message is answered with a part of epsilon,
    and which part the next message gets depends on the answers. The adversary may ask any of them
    next. Pure conversations compose concurrently as well as their non-interactive kin do.
    """
    quantity = "delta"
    part = ResponseTree(
        counting_query("alice"),
        randomized_response_tree([epsilon / 2, epsilon / 4, epsilon / 4]),
        PureDP(epsilon),
    )
    total = PureDP(conversations * epsilon)
    for in_turn, what in ((False, "interleaved at will"), (True, "one after the other")):
        all_of_them = Concurrent((part,) * conversations, total, in_turn=in_turn)
        found = worst_conversation(all_of_them, WITHOUT, EVERYONE, epsilon=at)
        yield worst(quantity, what, found.delta)

    def press(coins: np.random.Generator) -> Any:
        open_ones = []
        for _ in range(conversations):
            open_ones.append((yield WITHOUT, EVERYONE, part))
        for _ in range(3):
            for one in open_ones:
                yield one.ask("ask")

    result = simulate(
        press, family=PureDP(epsilon), rounds=4 * conversations, trials=trials, seed=seed
    )
    yield played(quantity, "in turns", result.delta(at, confidence=0.999))
    optimal = bound_named("kairouz-oh-viswanath-3.3")

    def of_pure(many: int) -> float:
        composition = Composition.repeat(PureDP(epsilon), many)
        return optimal.on(composition).delta(at).upper

    yield bound(
        quantity, "optimal composition of pure mechanisms", of_pure(conversations),
        source="Vadhan and Wang 2021; Kairouz, Oh and Viswanath 2015, Theorem 3.3",
    )  # fmt: skip
    if conversations > 1:
        yield wrong(quantity, "conversations that are open together are charged once", of_pure(1))
