"""How many rounds of a schedule any sound filter can admit: its adversary plays the schedule."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import numpy as np

from simulator.theory.bounds.certified_epsilon import certified_epsilon
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.inverse import first_without
from simulator.theory.laws.base import PrivacyLossLaw

STEPS = 30_000
"""Steps of the adversary's losses per epsilon."""


def most_of_schedule(promise: tuple[float, float], schedule: Iterable[float], most: int) -> int:
    """The rounds of randomized response of these epsilons before delta is exceeded; up to ``most``.

    Each epsilon is rounded down to a whole number of steps, so the adversary plays less than the
    schedule. One round more loses more than is promised.
    """
    epsilon, delta = promise
    exact = [
        math.floor(size * STEPS / epsilon * (1.0 + 1e-12))
        for size in itertools.islice(schedule, most)
    ]
    common = math.gcd(*exact, STEPS)
    start, step = STEPS // common, epsilon / STEPS * common
    masses, reach = np.ones(1), 0  # of losses from -reach to reach steps
    gains = -np.expm1(-step * np.arange(1, sum(exact) // common + 1))
    for count, steps in enumerate(k // common for k in exact):
        wins = 1.0 / (1.0 + math.exp(-steps * step))
        after = np.zeros(len(masses) + 2 * steps)
        after[2 * steps :] += wins * masses
        after[: len(masses)] += (1.0 - wins) * masses
        masses, reach = after, reach + steps
        beyond = masses[reach + start + 1 :]
        if beyond @ gains[: len(beyond)] > delta:
            return count
    return most


def most_of_one(promise: tuple[float, float], round_: Guarantee | PrivacyLossLaw, near: int) -> int:
    """The rounds of one kind, fixed beforehand or, of a guarantee, adaptive, that keep a promise.

    One round more certainly loses more than is promised. ``near`` is a first guess.
    """

    def keeps(rounds: int) -> bool:
        return rounds < 1 or certified_epsilon([(round_, rounds)], promise[1]).lower <= promise[0]

    return first_without(keeps, near, 10**6) - 1
