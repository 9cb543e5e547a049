"""Parallel composition while data arrive: a record goes where the adversary saw a weakness."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import numpy as np

from simulator.analysis.searches import worst_conversation
from simulator.analysis.simulate import simulate
from simulator.data.databases import Database
from simulator.foundations.knobs import Within
from simulator.teaching.games.model import game
from simulator.teaching.games.rows import GameRow, bound, exact, played, reached, worst, wrong
from simulator.teaching.mechanisms.parts_of_data import (
    READY,
    RECORD,
    InParallel,
    Laws,
    PartOfData,
)
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import ApproxDP, PureDP

NOTHING = Database({})
HENZINGER = "Henzinger, Safavi and Vadhan 2024"


@game(
    "parallel-updates",
    "Parallel composition while data arrive",
    sources=(f"{HENZINGER} (arXiv 2411.03299)",),
    sweep=("parts", (1, 2, 3, 4, 5, 6)),
)
def parallel_updates(
    *,
    parts: Annotated[int, "of the data, with a mechanism each", Within(1, 6)] = 5,
    epsilon: Annotated[float, "of one part", Within(0.01, 3.0)] = 0.5,
    delta: Annotated[float, "of one part", Within(0.0, 0.2)] = 0.02,
    weak: Annotated[
        float, "the chance that a pure part spends all of its epsilon", Within(0.0, 1.0)
    ] = 0.1,
    trials: Annotated[int, "plays of each experiment", Within(100, 1_000_000)] = 4000,
    seed: Annotated[int, "of the plays", Within(0, 2**31)] = 1,
) -> Iterator[GameRow]:
    """Split the data into parts, run a mechanism on each, and let records arrive.

    One record differs, so one part differs, and parallel composition charges for one part. With
    data that are there from the start this is right for every notion of privacy. When records
    arrive, the adversary decides where the one that differs goes, and it has heard the parts.

    An (epsilon, delta)-mechanism fails with probability delta, and may well know it before the
    data come: noise of bounded range was drawn near its end, a test that guards the data failed,
    two keys collided. Here each part answers the message "ready?" with whether its run is such a
    one. An adversary that hears all parts first, and sends the record to one that failed, meets a
    failure with probability 1 - (1 - delta)^parts, and not delta. The bound beside it is tight.

    Pure mechanisms keep their epsilon. They do not keep their curve: where a part spends all of
    its epsilon in some runs and half of it in others, delta at half of epsilon grows with the
    number of parts as well. Compare with "fixed beforehand", where nothing grows.
    """
    noisy, half = response(epsilon), response(epsilon / 2)
    leaky = PartOfData(delta, noisy, ((1.0, 0.0), (0.0, 1.0)), ApproxDP(epsilon, delta))
    pure = PartOfData(weak, half, noisy, PureDP(epsilon))

    quantity = "delta(epsilon), (epsilon, delta)-DP parts"
    yield from of_parts(quantity, leaky, parts, epsilon)
    yield exact(quantity, "1 - (1 - delta)^parts", -math.expm1(parts * math.log1p(-delta)))
    result = simulate(
        waiting(leaky, parts), family=together(leaky, parts).claimed, rounds=parts + 2,
        trials=trials, seed=seed,
    )  # fmt: skip
    yield played(quantity, "listen, then send", result.delta(epsilon, confidence=0.999))

    quantity = "delta(epsilon), pure parts"
    yield worst(quantity, "every stream", search(pure, parts, epsilon).delta)
    yield bound(quantity, "the largest epsilon of a part", 0.0, source=HENZINGER)

    quantity = "delta(epsilon / 2), pure parts"
    yield from of_parts(quantity, pure, parts, epsilon / 2)


def of_parts(quantity: str, part: PartOfData, parts: int, at: float) -> Iterator[GameRow]:
    """The worst stream, one that is fixed beforehand, the tight bound, and the wrong one."""
    yield worst(quantity, "every stream", search(part, parts, at).delta)
    fixed = search(part, parts, at, only=0)
    yield reached(quantity, "the part is fixed beforehand", fixed.delta)
    alone = search(part, 1, at).delta
    yield bound(
        quantity, "no part fails", tight_delta([alone.upper] * parts),
        source=f"{HENZINGER}; see tight_delta",
    )  # fmt: skip
    if parts > 1 and alone.lower > 0.0:
        yield wrong(quantity, "parallel composition: one part", alone.lower)


def tight_delta(deltas: Sequence[float]) -> float:
    """1 - (1 - delta_1)...(1 - delta_k): delta at some epsilon of parts with these deltas there.

    Let X_i be the largest delta that is still to be had from part i alone, given what it has said.
    It starts at most at delta_i, and is a supermartingale within [0, 1] as long as nothing
    differs; parts are independent, so F = 1 - (1 - X_1)...(1 - X_k) is one too, whoever
    interleaves. When the record goes to part j, what follows is worth at most X_j <= F.
    """
    return -math.expm1(math.fsum(math.log1p(-min(delta, 1.0 - 1e-16)) for delta in deltas))


def together(part: PartOfData, parts: int, only: int | None = None) -> InParallel:
    """The parts in parallel, with the guarantee that they keep."""
    epsilon = part.claimed.core.pure_epsilon
    claimed: Guarantee = PureDP(epsilon)
    if part.claimed.leak > 0.0:
        claimed = ApproxDP(epsilon, tight_delta([part.claimed.leak] * parts))
    return InParallel((part,) * parts, claimed, only=only)


def search(part: PartOfData, parts: int, at: float, *, only: int | None = None) -> Any:
    """The worst stream of updates."""
    return worst_conversation(together(part, parts, only), NOTHING, NOTHING, epsilon=at)


def waiting(part: PartOfData, parts: int) -> Any:
    """An adversary that hears all parts, and sends the record to a weak one."""
    mechanism = together(part, parts)

    def adversary(coins: np.random.Generator) -> Any:
        opened = yield NOTHING, NOTHING, mechanism
        target = 0
        for i in range(parts):
            if (yield opened.ask((i, READY))):
                target = i
        yield opened.ask((target, RECORD))

    return adversary


def response(epsilon: float) -> Laws:
    """Randomized response."""
    kept = 1.0 / (1.0 + math.exp(-epsilon))
    return (kept, 1.0 - kept), (1.0 - kept, kept)
