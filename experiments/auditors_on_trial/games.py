"""Games with an exactly known epsilon(delta), whose scores auditors judge.

In one run each of m canaries is included with probability 1/2, and the answer has a score of each.
In many runs the scores are independent draws: n with the canary, and n without.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from simulator.foundations.seeds import Stream, generator, named_seed
from simulator.theory import Bracket, FiniteLaw, compose_laws, events

Runs = Literal["one run", "many runs"]
Noise = Callable[[np.ndarray, np.random.Generator], np.ndarray]
"""``noise(bits, rng)``: the scores of canaries that are included (1) or not (0)."""

TASK = 26
"""The task of the games' generators, see :mod:`simulator.foundations.seeds`."""
CANARIES = 1000
DELTA = 1e-5
GAUSSIAN = "Gaussian"
DIGITS = 6
"""Decimals that are kept of a noisy float, because the bits below give the input away."""


class Scores(NamedTuple):
    """Scores of the included canaries, and of the others."""

    inside: np.ndarray
    outside: np.ndarray


@dataclass(frozen=True, kw_only=True)
class AuditGame:
    """A game of an auditor against a mechanism.

    Attributes
    ----------
    name : in reports.
    runs : "one run", or "many runs".
    size : canaries of one run; or draws with the canary, and as many without.
    delta : at which epsilon is bounded.
    noise : the mechanism.
    truth : epsilon at delta for one canary while all others are fixed.
    family : "Gaussian" if the trade-off function is of that family, otherwise "".
    dependent : whether the scores of one run depend on each other, given what is included.
    code : lines of Python that draw ``inside`` and ``outside`` from ``rng`` by numpy alone.
    """

    name: str
    runs: Runs
    size: int
    delta: float
    noise: Noise
    true: Callable[[float], Bracket]
    code: str
    family: str = ""
    dependent: bool = False

    @cached_property
    def truth(self) -> Bracket:
        """Certified ends of epsilon at ``delta``."""
        return self.true(self.delta)

    def truth_at(self, delta: float) -> Bracket:
        """Certified ends of epsilon at another delta."""
        return self.truth if delta == self.delta else self.true(delta)

    def play(self, seed: int, number: int) -> Scores:
        """The scores of one play, a function of the game's name and both numbers alone."""
        rng = generator(named_seed(seed, self.name, 0), TASK, Stream.MECHANISM_0, number)
        if self.runs == "one run":
            bits = rng.integers(0, 2, self.size)
            scores = self.noise(bits, rng)
            return Scores(scores[bits == 1], scores[bits == 0])
        ones = np.ones(self.size, dtype=int)
        return Scores(self.noise(ones, rng), self.noise(1 - ones, rng))


def randomized_response(epsilon: float) -> Noise:
    """Scores +1 and -1, right with probability e^epsilon / (1 + e^epsilon)."""
    right = 1.0 / (1.0 + math.exp(-epsilon))

    def noise(bits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return (2.0 * bits - 1.0) * np.where(rng.random(len(bits)) < right, 1.0, -1.0)

    return noise


def laplace(scale: float) -> Noise:
    """The bit with Laplace noise, rounded."""
    return lambda bits, rng: np.round(bits + rng.laplace(0.0, scale, len(bits)), DIGITS)


def gaussian(sigma: float) -> Noise:
    """The bit with Gaussian noise, rounded."""
    return lambda bits, rng: np.round(bits + rng.normal(0.0, sigma, len(bits)), DIGITS)


def group_counts(scale: float, group: int) -> Noise:
    """The score of each canary is the noisy count of its group; the counts have Laplace noise."""

    def noise(bits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        counts = bits.reshape(-1, group).sum(axis=1)
        return np.repeat(np.round(counts + rng.laplace(0.0, scale, len(counts)), DIGITS), group)

    return noise


def joint_leak(epsilon: float, probability: float, revealed: int) -> Noise:
    """Randomized response; but now and then so many canaries, chosen at random, are revealed."""
    response = randomized_response(epsilon)

    def noise(bits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        scores = response(bits, rng)
        if rng.random() < probability:
            some = rng.permutation(len(bits))[:revealed]
            scores[some] = 20.0 * bits[some] - 10.0
        return scores

    return noise


def _epsilon(event: events.EventTree) -> Callable[[float], Bracket]:
    return lambda delta: events.Account(event).epsilon(delta)


def leaking_response(epsilon: float, leak: float) -> FiniteLaw:
    """The loss of randomized response that reveals its bit with probability ``leak``."""
    right, rest = 1.0 / (1.0 + math.exp(-epsilon)), 1.0 - leak
    law = [leak, rest * right, rest * (1.0 - right), 0.0]
    return FiniteLaw.from_probabilities(law, law[::-1])


_BITS = "S = rng.random(1000) < 0.5\n"
_SPLIT = "inside, outside = y[S], y[~S]"


def games() -> list[AuditGame]:
    """Every game."""
    pure = "np.where(rng.random(1000) < 1 / (1 + np.exp(-1.0)), 1, -1)"
    response = randomized_response(1.0), events.randomized_response(1.0)
    one_laplace = laplace(1.0), events.laplace(1.0)
    one_gaussian = gaussian(1.0), events.gaussian(1.0)
    return [
        _one_run("randomized response", *response, f"(2 * S - 1) * {pure}"),
        _one_run("Laplace", *one_laplace, "np.round(S + rng.laplace(0, 1, 1000), 6)"),
        _one_run("Gaussian", *one_gaussian, "np.round(S + rng.normal(0, 1, 1000), 6)", GAUSSIAN),
        _grouped(),
        _leaking(),
        _many_runs("randomized response", *response, (pure, f"-{pure}")),
        _many_runs(
            "Laplace",
            *one_laplace,
            ("np.round(1 + rng.laplace(0, 1, 1000), 6)", "np.round(rng.laplace(0, 1, 1000), 6)"),
        ),
        _many_runs(
            "Gaussian",
            *one_gaussian,
            ("np.round(1 + rng.normal(0, 1, 1000), 6)", "np.round(rng.normal(0, 1, 1000), 6)"),
            GAUSSIAN,
        ),
        _no_leak(),
    ]


def _one_run(
    name: str, noise: Noise, event: events.EventTree, drawn: str, family: str = ""
) -> AuditGame:
    return AuditGame(
        name=f"{name}, one run",
        runs="one run",
        size=CANARIES,
        delta=DELTA,
        noise=noise,
        true=_epsilon(event),
        code=f"{_BITS}y = {drawn}\n{_SPLIT}",
        family=family,
    )


def _many_runs(
    name: str, noise: Noise, event: events.EventTree, drawn: tuple[str, str], family: str = ""
) -> AuditGame:
    return AuditGame(
        name=f"{name}, many runs",
        runs="many runs",
        size=CANARIES,
        delta=DELTA,
        noise=noise,
        true=_epsilon(event),
        code=f"inside = {drawn[0]}\noutside = {drawn[1]}",
        family=family,
    )


def _no_leak() -> AuditGame:
    """Scores without information."""
    return AuditGame(
        name="no information, many runs",
        runs="many runs",
        size=CANARIES,
        delta=DELTA,
        noise=lambda bits, rng: rng.random(len(bits)),
        true=_epsilon(events.nothing()),
        code="inside, outside = rng.random(1000), rng.random(1000)",
        family=GAUSSIAN,
    )


def _grouped(group: int = 8) -> AuditGame:
    """Canaries that interfere."""
    return AuditGame(
        name=f"Laplace counts of {group}, one run",
        runs="one run",
        size=CANARIES,
        delta=DELTA,
        noise=group_counts(1.0, group),
        true=_epsilon(events.laplace(1.0)),
        code=f"{_BITS}y = S.reshape(-1, {group}).sum(1)\n"
        f"y = np.repeat(np.round(y + rng.laplace(0, 1, y.size), 6), {group})\n{_SPLIT}",
        dependent=True,
    )


def _leaking(probability: float = 0.25, revealed: int = 118) -> AuditGame:
    """Canaries of which some leak in the same runs; epsilon is about 1 at delta = 0.03."""
    leak = probability * revealed / CANARIES
    return AuditGame(
        name="joint leak, one run",
        runs="one run",
        size=CANARIES,
        delta=0.03,
        noise=joint_leak(1.0, probability, revealed),
        true=lambda delta: compose_laws([(leaking_response(1.0, leak), 1)]).epsilon(delta),
        code=f"{_BITS}right = rng.random(1000) < 1 / (1 + np.exp(-1.0))\n"
        "y = np.where(right, 1, -1) * (2 * S - 1)\n"
        f"if rng.random() < {probability}:\n"
        f"    some = rng.permutation(1000)[:{revealed}]\n"
        f"    y[some] = 20 * S[some] - 10\n{_SPLIT}",
        dependent=True,
    )
