"""Compositions of several laws beside dp_accounting, and cold starts of both.

The peer composes by a tree, its quickest way for many distinct laws, on a grid of 1e-4. Its true
error is the distance from our bracket at a tight tolerance; we are timed at that error.
"""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from experiments.benchmarks.measure import (
    REPEATS,
    Line,
    Spread,
    alternately,
    program_seconds,
    seconds,
)
from simulator.theory import PLD, Bracket, events
from simulator.theory.pld.distribution import largest_epsilon

DELTA, GRID = 1e-6, 1e-4
LEAST, TIGHT = 1e-10, 1e-6
LONG = 10.0
"""Seconds of the peer above which both are timed once."""
FRESH = 1.0 + time.time_ns() % 991 / 2e4
"""Another factor of the parameters in each run, so that nothing of an earlier one is kept."""
COLD_STARTS = 3

Part = tuple[str, float, float, int]
"""Kind, noise or epsilon, rate of sampling, rounds."""


def _schedule(count: int, steps: int = 1) -> tuple[Part, ...]:
    """Distinct sampled Gaussians, each for so many steps."""
    return tuple(
        ("gaussian", FRESH * (0.9 + 0.6 * place / count), 0.01, steps) for place in range(count)
    )


MIXES: tuple[tuple[str, tuple[Part, ...], float], ...] = (
    (
        "six laws, 164 rounds",
        (
            ("gaussian", 20.0 * FRESH, 1.0, 30),
            ("response", 0.05 * FRESH, 1.0, 40),
            ("response", 0.11 * FRESH, 1.0, 10),
            ("gaussian", 1.1 * FRESH, 0.02, 40),
            ("gaussian", 0.8 * FRESH, 0.005, 24),
            ("laplace", 3.0 * FRESH, 0.1, 20),
        ),
        1.0,
    ),
    ("100 distinct sampled Gaussians", _schedule(100), 1.0),
    ("1,000 distinct sampled Gaussians", _schedule(1000), 1.0),
    ("500 + 20 + 1 rounds", tuple(
        (kind, noise * FRESH, rate, count) for kind, noise, rate, count in (
            ("gaussian", 1.0, 0.01, 500), ("laplace", 10.0, 1.0, 20), ("gaussian", 5.0, 1.0, 1)
        )
    ), 1.0),
)  # fmt: skip
"""Name, rounds, and how many times the peer's speed is wanted."""


def account(parts: tuple[Part, ...]) -> events.Account:
    """The account of the parts, in both directions."""
    made: dict[str, Callable[[float], events.EventTree]] = {
        "gaussian": events.gaussian,
        "laplace": events.laplace,
        "response": events.randomized_response,
    }
    rounds = []
    for kind, value, rate, count in parts:
        one = made[kind](value)
        one = events.subsampled(one, rate) if rate < 1.0 else one
        rounds.append(events.self_compose(one, count))
    return events.Account(events.compose(*rounds))


def peer_epsilon(parts: tuple[Part, ...]) -> float:
    """dp_accounting's epsilon, composed by a tree."""
    pld: Any = import_module("dp_accounting.pld.privacy_loss_distribution")
    level = []
    for kind, value, rate, count in parts:
        grid = {"value_discretization_interval": GRID}
        if kind == "gaussian":
            one = pld.from_gaussian_mechanism(value, sampling_prob=rate, **grid)
        elif kind == "laplace":
            one = pld.from_laplace_mechanism(value, sampling_prob=rate, **grid)
        else:
            one = pld.from_randomized_response(2 / (1 + math.exp(value)), 2, **grid)
        level.append(one.self_compose(count) if count > 1 else one)
    while len(level) > 1:
        pairs = [level[i].compose(level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = [*pairs, *level[2 * len(pairs) :]]
    return float(level[0].get_epsilon_for_delta(DELTA))


def mixes() -> Iterator[Line]:
    """Times the peer's speed at its own error, with that error and the width of our bracket."""
    for name, parts, wanted in MIXES:
        if find_spec("dp_accounting") is None:
            yield Line(f"{name}: composed", None, "x dp_accounting", wanted)
        else:
            yield _beside(f"{name}: composed", parts, wanted)


def _beside(name: str, parts: tuple[Part, ...], wanted: float) -> Line:
    answers: list[float] = []
    theirs = seconds(lambda: answers.append(peer_epsilon(parts)))
    truth = _epsilon(parts, TIGHT)
    error = min(abs(answers[0] - end) for end in (truth.lower, truth.upper)) / truth.upper
    ours = partial(_epsilon, parts, max(error, LEAST))
    mine = seconds(ours)
    ratio = theirs / mine
    spread: Spread = {}
    if theirs + mine < LONG:
        ratio, mine, theirs, spread = alternately(
            ours, partial(peer_epsilon, parts), repeats=REPEATS
        )
    detail = {
        "seconds": mine,
        "peer_seconds": theirs,
        "peer_relative_error": error,
        "relative_width": ours().width / truth.upper,
    } | spread
    return Line(name, ratio, "x dp_accounting", wanted, detail=detail)


def _epsilon(parts: tuple[Part, ...], tolerance: float) -> Bracket:
    """Our bracket of the worse direction, composed anew."""
    laws = account(parts).laws
    turned = [(law.reversed(), count) for law, count in laws]
    return largest_epsilon([PLD.of(each, tolerance) for each in (laws, turned)], DELTA)


def cold_starts() -> Iterator[Line]:
    """From the start of a process to the answer: 1,000 sampled rounds, the peer's over ours."""
    name, unit = "cold start, 1,000 sampled rounds", "x dp_accounting"
    if find_spec("dp_accounting") is None:
        yield Line(name, None, unit, 2.0)
        return
    ours = (
        "from simulator import Account\n"
        "from simulator.theory.events import gaussian, subsampled\n"
        f"print(Account().then(subsampled(gaussian({FRESH!r}), 0.01), 1000).epsilon(1e-6))"
    )
    theirs = (
        "from dp_accounting.pld import privacy_loss_distribution as pld\n"
        f"one = pld.from_gaussian_mechanism({FRESH!r}, sampling_prob=0.01,"
        f" value_discretization_interval={GRID})\n"
        "print(one.self_compose(1000).get_epsilon_for_delta(1e-6))"
    )
    ratio, mine, peers, spread = alternately(
        partial(program_seconds, ours),
        partial(program_seconds, theirs),
        repeats=COLD_STARTS,
        clock=_children,
    )
    yield Line(name, ratio, unit, 2.0, detail={"seconds": mine, "peer_seconds": peers} | spread)


def _children() -> float:
    """Processor time of the processes that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(spent.ru_utime + spent.ru_stime)


BENCHMARKS = (mixes, cold_starts)
