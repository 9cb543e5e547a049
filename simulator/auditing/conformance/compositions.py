"""The compositions that accountants are tested on, a function of the seed alone.

The root of the sum of squares of the parameters is between 0.1 and 8. Some parameters are extreme:
tiny, large, or with more delta than that of the question.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from simulator.auditing.conformance.events import (
    APPROX,
    GAUSSIAN,
    LAPLACE,
    NOTHING,
    PURE,
    RANDOMIZED_RESPONSE,
    SUBSAMPLED_GAUSSIAN,
    Events,
    PrivacyEvent,
)
from simulator.foundations.errors import InvalidInput
from simulator.foundations.seeds import Stream, generator
from simulator.foundations.validation import positive
from simulator.theory.events.units import REPLACE_ONE

ROUNDS = (1, 2, 5, 10, 30, 100, 300, 1000, 3000, 10_000)
DELTAS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12, 1e-14, 1e-15)
MANY_ROUNDS = 10_000
SMALL_DELTA = 1e-14
COARSE = (1e-4, 4.0)
_KINDS = (GAUSSIAN, LAPLACE, RANDOMIZED_RESPONSE, PURE, APPROX)
_MIXTURES = (
    (GAUSSIAN, LAPLACE),
    (LAPLACE, RANDOMIZED_RESPONSE),
    (GAUSSIAN, PURE),
    (PURE, APPROX),
    (GAUSSIAN, LAPLACE, RANDOMIZED_RESPONSE),
    (GAUSSIAN, LAPLACE, PURE, APPROX),
)


@dataclass(frozen=True)
class Case:
    """One composition, and the delta of its question.

    Attributes
    ----------
    name : unique.
    events : in the order in which they are given to the accountant.
    delta : in (0, 1).
    group : cases of one group have one truth, and an accountant should give them one answer.
    """

    name: str
    events: Events
    delta: float
    group: str


def cases(seed: int = 12, share: float = 1.0) -> list[Case]:
    """All cases, or a share of each kind.

    Parameters
    ----------
    seed : >= 0.
    share : in (0, 1]; at least one case of each kind remains.

    Raises
    ------
    InvalidInput : a share outside (0, 1].
    """
    if positive("share", share) > 1.0:
        raise InvalidInput(f"share must be at most 1, not {share!r}")
    coins = generator(seed, 0, Stream.COINS, 0)
    found: list[Case] = []
    for make in (_homogeneous, _heterogeneous, _mixed, _subsampled, _awkward):
        found += _some(list(make(coins)), share)
    found += _related(found, share)
    found += _some(list(_replaced(coins)), share)
    order = coins.permutation(len(found))  # a time limit then skips cases of every kind
    return sorted((found[i] for i in order), key=lambda case: -hardness(case))


def known_nasty() -> list[Case]:
    """The compositions that showed most defects of accountants, each by itself.

    Five are of the defects in results/conformance.md: many rounds, with a delta near the rounding
    of doubles. At the third a difference of two normal tails, computed by the error function, falls
    below the truth. At the fourth advanced composition without the mean of the loss does.
    """
    found = (
        (PrivacyEvent(GAUSSIAN, 0.0492, 300), 1e-14),
        (PrivacyEvent(GAUSSIAN, 0.3, 10_000), 1e-12),
        (PrivacyEvent(GAUSSIAN, 1e-4, 1), 1e-15),
        (PrivacyEvent(PURE, 0.367, 100), 1e-6),
        (PrivacyEvent(PURE, 0.0342, 1000), 1e-15),
        (PrivacyEvent(RANDOMIZED_RESPONSE, 0.0415, 10_000), 1e-15),
        (PrivacyEvent(SUBSAMPLED_GAUSSIAN, 1.08, 10_000, rate=0.00369), 1e-12),
    )
    return [
        Case(name, (event,), delta, name)
        for i, (event, delta) in enumerate(found)
        for name in (f"known-{event.kind}-{i}",)
    ]


def _some(made: list[Case], share: float) -> list[Case]:
    """A share of the cases, evenly over them and at least one."""
    keep = max(1, round(share * len(made)))
    chosen = sorted({round(i * (len(made) - 1) / max(keep - 1, 1)) for i in range(keep)})
    return [made[i] for i in chosen]


def hardness(case: Case) -> int:
    """How many properties a case has with which accountants are known to err.

    These are many rounds, which accumulate the error of a grid; a delta near the rounding of
    doubles; and noise so small or so large that a usual grid is too coarse.
    """
    rounds = sum(event.count for event in case.events)
    parameters = [event.parameter for event in case.events if event.kind != NOTHING]
    coarse = min(parameters, default=1.0) < COARSE[0] or max(parameters, default=1.0) > COARSE[1]
    return (rounds >= MANY_ROUNDS) + (case.delta <= SMALL_DELTA) + coarse


def _spread(coins: np.random.Generator, low: float, high: float) -> float:
    """A number between two, evenly on the logarithmic scale, in three digits."""
    return float(f"{math.exp(coins.uniform(math.log(low), math.log(high))):.3g}")


def _delta(coins: np.random.Generator) -> float:
    return float(DELTAS[coins.integers(len(DELTAS))])


def _event(
    coins: np.random.Generator, kind: str, count: int, delta: float, share: float
) -> PrivacyEvent:
    """``count`` rounds with the share ``share`` of the sum of squares, and of delta."""
    parameter = _spread(coins, 0.1, 8.0) * math.sqrt(share / count)
    parameter = float(f"{min(parameter, 3.0):.3g}")
    if kind != APPROX:
        return PrivacyEvent(kind, parameter, count)
    leak = float(f"{delta * coins.uniform(0.1, 0.9) * share / count:.3g}")
    return PrivacyEvent(kind, parameter, count, leak)


def _homogeneous(coins: np.random.Generator) -> Iterator[Case]:
    for kind in _KINDS:
        for count in ROUNDS:
            for i in range(3):
                delta = _delta(coins)
                name = f"{kind}-{count}-{i}"
                yield Case(name, (_event(coins, kind, count, delta, 1.0),), delta, name)


def _heterogeneous(coins: np.random.Generator) -> Iterator[Case]:
    for kind in _KINDS:
        for i in range(8):
            yield _of_kinds(coins, f"{kind}-several-{i}", [kind] * int(coins.integers(2, 7)))


def _mixed(coins: np.random.Generator) -> Iterator[Case]:
    for kinds in _MIXTURES:
        for i in range(6):
            yield _of_kinds(coins, f"{'+'.join(kinds)}-{i}", [*kinds, kinds[0]][: 2 + i])


def _of_kinds(coins: np.random.Generator, name: str, kinds: list[str]) -> Case:
    delta = _delta(coins)
    shares = coins.dirichlet(np.ones(len(kinds)))
    most = float(coins.choice([3.0, 30.0, 300.0]))
    events = tuple(
        _event(coins, kind, math.ceil(_spread(coins, 1.0, most)), delta, float(share))
        for kind, share in zip(kinds, shares)
    )
    return Case(name, events, delta, name)


def _subsampled(coins: np.random.Generator) -> Iterator[Case]:
    for i, count in enumerate((1, 10, 100, 1000, 10_000) * 4):
        rate = _spread(coins, 0.001, 0.2)
        noise = _spread(coins, 0.5, 4.0)
        events = (PrivacyEvent(SUBSAMPLED_GAUSSIAN, float(f"{1 / noise:.3g}"), count, rate=rate),)
        name = f"{SUBSAMPLED_GAUSSIAN}-{count}-{i}"
        yield Case(name, events, float(DELTAS[coins.integers(len(DELTAS) - 2)]), name)


def _replaced(coins: np.random.Generator) -> Iterator[Case]:
    """Noise on a sum in which one record is replaced, so that the sum moves by twice its norm."""
    for kind in (GAUSSIAN, SUBSAMPLED_GAUSSIAN, LAPLACE):
        for i, count in enumerate((1, 10, 100, 1000)):
            rate = _spread(coins, 0.001, 0.2) if kind == SUBSAMPLED_GAUSSIAN else 1.0
            parameter = _spread(coins, 0.1, 2.0) / math.sqrt(count * rate)
            parameter = float(f"{min(parameter, 1.0):.3g}")
            events = (PrivacyEvent(kind, parameter, count, rate=rate, relation=REPLACE_ONE),)
            name = f"{kind}-replaced-{count}-{i}"
            yield Case(name, events, float(DELTAS[coins.integers(len(DELTAS) - 2)]), name)


def _awkward(coins: np.random.Generator) -> Iterator[Case]:
    for kind in _KINDS[:4]:
        for i, (parameter, count) in enumerate(
            ((1e-6, 1), (1e-4, 10_000), (1e-3, 100), (8.0, 10), (20.0, 1), (0.3, 10_000))
        ):
            yield Case(
                f"{kind}-awkward-{i}",
                (PrivacyEvent(kind, parameter, count),),
                _delta(coins),
                f"{kind}{i}",
            )
    for i, count in enumerate((1, 10, 1000)):
        delta = _delta(coins)
        leak = float(f"{3.0 * delta / count:.3g}")
        events = (PrivacyEvent(APPROX, 0.1, count, leak),)
        yield Case(f"{APPROX}-leaks-more-{i}", events, delta, f"{APPROX}-leaks-more-{i}")
        leak = float(f"{min(0.3, 5.0 / count):.3g}")
        events = (PrivacyEvent(APPROX, 0.1, count, leak),)
        yield Case(f"{APPROX}-leaks-much-{i}", events, 1e-2, f"{APPROX}-leaks-much-{i}")


def _related(found: list[Case], share: float) -> Iterator[Case]:
    """Other forms of the same compositions, with the same answers."""
    short = [
        case
        for case in found
        if 2 <= sum(event.count for event in case.events) <= 300 and "awkward" not in case.name
    ]
    keep = max(2, round(share * 40))
    for case in short[:: max(1, len(short) // keep)]:
        once = tuple(replace(e, count=1) for e in case.events for _ in range(e.count))
        yield Case(f"{case.name}/repeated", once, case.delta, case.group)
        if len(case.events) > 1:
            yield Case(f"{case.name}/reversed", case.events[::-1], case.delta, case.group)
        free = (PrivacyEvent(NOTHING, 0.0), *case.events, PrivacyEvent(NOTHING, 0.0, 5))
        yield Case(f"{case.name}/with-nothing", free, case.delta, case.group)
