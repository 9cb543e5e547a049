"""Random automata, all drawn from one seed."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from experiments.coverage.entries import Entry, blank, flipped, rr
from experiments.coverage.subject import Subject
from simulator import PureDP

NUMBER = 100
SEED = 20_260_701
EPSILONS = (0.05, 0.1, 0.2, 0.25, 0.5, 0.75, 1.0, 1.5)


@cache
def automata(number: int = NUMBER, seed: int = SEED) -> tuple[Subject, ...]:
    """``number`` automata: states, moves, and transitions by answer and by a coin of their own."""
    return tuple(automaton(place, np.random.default_rng((seed, place))) for place in range(number))


def automaton(place: int, draw: np.random.Generator) -> Subject:
    """One automaton; equal generators give equal automata."""
    states = int(draw.integers(2, 8))
    entries = tuple(random_entry(draw, place > 0) for place in range(int(draw.integers(1, 4))))
    chance = float(10.0 ** -draw.uniform(0.3, 4.0)) if draw.random() < 0.5 else 0.0
    moves = draw.integers(len(entries), size=states)
    moves[0] = 0  # the first entry is not blank, so that there is a loss
    follow = draw.integers(states, size=(states, 3))  # after answer 0, after answer 1, by the coin
    rounds = int(draw.integers(5, 61))
    return Subject(
        name=f"automaton-{place}",
        kind="automaton",
        rounds=rounds,
        family=PureDP(max(entry.price for entry in entries)),
        entries=entries,
        step=step_of(moves, follow, chance),
        coin_cuts=(chance,) if chance > 0.0 else (),
    )


def random_entry(draw: np.random.Generator, may_be_blank: bool) -> Entry:
    """Randomized response with an epsilon of the list; by chance exchanged, or blank."""
    epsilon = float(draw.choice(EPSILONS))
    make = (rr, flipped, blank)[int(draw.choice(3, p=(0.7, 0.2, 0.1)))]
    return rr(epsilon) if make is blank and not may_be_blank else make(epsilon)


def step_of(moves: np.ndarray, follow: np.ndarray, chance: float) -> Any:
    """The step of an automaton with these tables."""
    if chance > 0.0:

        def tossing(state, i, answer, coins):  # type: ignore[no-untyped-def]
            if i > 0:
                state = follow[state, 1 if answer > 0.5 else 0]
                if coins.random() < chance:
                    state = follow[state, 2]
            return state, moves[state]

        return tossing

    def still(state, i, answer, coins):  # type: ignore[no-untyped-def]
        if i > 0:
            state = follow[state, 1 if answer > 0.5 else 0]
        return state, moves[state]

    return still
