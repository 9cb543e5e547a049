"""Random questions over every kind of event: how wide and how slow the worst bracket is.

``python -m experiments.benchmarks.floor --questions 60 --seed 3`` lists the worst. A question is a
composition of 1 to a million rounds at a delta from .3 to 1e-30, or at an epsilon about its own.
"""

from __future__ import annotations

import argparse
import math
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import FrameType

import numpy as np

from experiments.benchmarks.measure import Line, seconds
from simulator.foundations.errors import NotApplicable
from simulator.foundations.seeds import Stream, generator
from simulator.theory import (
    ApproxDP,
    Bracket,
    GaussianLaw,
    PoissonSubsampledLaw,
    PrivacyLossLaw,
    PureDP,
    calibrate_certified,
    events,
)
from simulator.theory.events.open_account import scale_of

QUESTIONS = 300
WIDEST, SLOWEST = 1e-4, 5.0
"""Relative width, and seconds of processor time."""
LIMIT = 60
"""Seconds after which a question is given up."""
NOTHING = 1e-300
"""A delta below it is 0."""


@dataclass(frozen=True)
class Asked:
    """One question: epsilon at a delta, or delta at an epsilon."""

    name: str
    account: events.Account
    at_delta: bool
    at: float

    def __str__(self) -> str:
        return f"{self.name}, {'delta' if self.at_delta else 'epsilon'} = {self.at:.4g}"

    def answer(self) -> Bracket:
        """The certified ends."""
        return self.account.epsilon(self.at) if self.at_delta else self.account.delta(self.at)


@dataclass(frozen=True)
class Answered:
    """The ends of a question, or why there are none, and the seconds that it took."""

    asked: Asked
    ends: Bracket | None
    why: str
    seconds: float

    @property
    def width(self) -> float:
        """The relative width; 0 where both ends are equal or negligible."""
        if self.ends is None or self.ends.upper in (self.ends.lower, math.inf):
            return 0.0 if self.ends is not None and self.ends.lower == self.ends.upper else math.inf
        return 0.0 if self.ends.upper < NOTHING else self.ends.width / self.ends.upper

    def __str__(self) -> str:
        ends = self.why if self.ends is None else f"[{self.ends.lower:.9g}, {self.ends.upper:.9g}]"
        return f"{self.width:8.1e} {self.seconds:8.3f} s  {self.asked}: {ends}"


class Draw:
    """Random parameters, in four digits."""

    def __init__(self, coins: np.random.Generator) -> None:
        self.coins = coins

    def between(self, low: float, high: float) -> float:
        """Evenly on the logarithmic scale."""
        return float(f"{math.exp(self.coins.uniform(math.log(low), math.log(high))):.4g}")

    def event(self, kind: str, loss: float, rate: float) -> tuple[str, events.EventTree]:
        """One round whose loss at full rate is about ``loss``."""
        value = min(self.between(0.5 * loss, 2.0 * loss), 30.0)
        noise = float(f"{1.0 / value:.4g}")
        made: dict[str, Callable[[], events.EventTree]] = {
            "gaussian": lambda: events.gaussian(noise),
            "laplace": lambda: events.laplace(noise),
            "response": lambda: events.randomized_response(value),
            "pure": lambda: events.promise(PureDP(value)),
            "approx": lambda: events.promise(ApproxDP(value, 1e-12)),
            "discrete-gaussian": lambda: events.discrete_gaussian(min(max(noise, 0.3), 2e4)),
            "discrete-laplace": lambda: events.discrete_laplace(min(max(value, 5e-5), 10.0)),
        }
        if kind.startswith("sampled-"):
            _, inner = self.event(kind.removeprefix("sampled-"), loss, 1.0)
            return f"{inner}, rate = {rate:.4g}", events.subsampled(inner, rate)
        event = made[kind]()
        return str(event), event


KINDS = (
    *("gaussian", "laplace", "response", "pure", "approx", "discrete-gaussian"),
    *("discrete-laplace", "sampled-gaussian", "sampled-gaussian", "sampled-gaussian"),
    *("sampled-laplace", "sampled-laplace", "sampled-response", "mixed", "mixed"),
)
PARTS = (
    *("gaussian", "laplace", "response", "discrete-gaussian", "sampled-gaussian"),
    "sampled-laplace",
)
"""What a composition of several kinds is made of."""


def drawn(count: int, seed: int) -> Iterator[Asked]:
    """The questions of a seed."""
    draw = Draw(generator(seed, 0, Stream.COINS, 0))
    for number in range(count):
        yield _one(draw, KINDS[number % len(KINDS)])


def _one(draw: Draw, kind: str) -> Asked:
    coins = draw.coins
    parts = [kind] if kind != "mixed" else list(coins.choice(PARTS, size=int(coins.integers(2, 7))))
    total, rounds = draw.between(1e-3, 20.0), draw.between(1.0, 1e6)
    names, tree, square = [], [], 0.0
    for part in parts:
        count = max(1, int(draw.between(0.1, 1.0) * rounds))
        rate = draw.between(1e-6, 0.5) if part.startswith("sampled-") else 1.0
        loss = total / math.sqrt(count * len(parts)) / rate if rate < 1.0 else 0.0
        loss = loss if 0.0 < loss < 3.0 else total / math.sqrt(count * len(parts))
        loss = draw.between(0.05, 10.0) if rate < 1.0 and coins.random() < 0.5 else loss
        name, event = draw.event(part, loss, rate)
        names.append(f"{count} x {name}")
        tree.append(events.self_compose(event, count))
        square += count * (rate * min(loss, 1.0)) ** 2
    account = events.Account(events.compose(*tree))
    delta = draw.between(1e-30, 0.3)
    if coins.random() < 0.7:
        return Asked(" + ".join(names), account, True, delta)
    about = square / 2.0 + math.sqrt(2.0 * square * math.log(1.0 / delta))
    return Asked(" + ".join(names), account, False, float(f"{about:.4g}"))


def answered(asked: Asked) -> Answered:
    """The answer, or its refusal, within the limit of time."""
    signal.alarm(LIMIT)
    began = time.process_time()
    ends: Bracket | None = None
    why = ""
    try:
        ends = asked.answer()
    except (NotApplicable, TimeoutError) as error:
        why = str(error)
    finally:
        signal.alarm(0)
    return Answered(asked, ends, why, time.process_time() - began)


def _late(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"no answer within {LIMIT} s")


def all_answered(count: int, seed: int) -> list[Answered]:
    """Every question of a seed, with the processor time of each."""
    before = signal.signal(signal.SIGALRM, _late)
    try:
        events.Account(events.subsampled(events.gaussian(1.0), 0.01)).epsilon(1e-5)  # compiles
        return [answered(asked) for asked in drawn(count, seed)]
    finally:
        signal.signal(signal.SIGALRM, before)


def random_questions() -> Iterator[Line]:
    """The widest and the slowest of a sample of questions that is another one in each run."""
    seed = time.time_ns() % 2**31
    found = all_answered(QUESTIONS // 5, seed)
    widest = max(found, key=lambda each: each.width)
    slowest = max(found, key=lambda each: each.seconds)
    missed = sum(each.width > WIDEST or each.seconds > SLOWEST for each in found)
    name = f"{len(found)} random questions"
    for what, figure, unit, target, worst in (
        ("widest", widest.width, "relative", WIDEST, widest),
        ("slowest", slowest.seconds, "s", SLOWEST, slowest),
    ):
        detail = {"seed": seed, "question": str(worst.asked), "missed": missed}
        yield Line(f"{name}: {what}", figure, unit, target, at_least=False, detail=detail)


def calibration() -> Iterator[Line]:
    """Seconds to find the noise of 1,000 sampled rounds, for a usual target and for large ones."""
    for target in (2.0, 50.0, 1000.0):
        spent = seconds(partial(calibrate_certified, _sampled, target, 1e-5, scale_of("sigma")))
        name = f"calibrate, rate .01, k = 1,000, epsilon = {target:g}"
        yield Line(name, spent, "s", 2.0, at_least=False)


def _sampled(sigma: float) -> list[tuple[PrivacyLossLaw, int]]:
    return [(PoissonSubsampledLaw(GaussianLaw(1.0 / sigma), 0.01), 1000)]


BENCHMARKS = (random_questions, calibration)


def main() -> None:
    """Print the worst questions of a seed, by width and by time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--seed", type=int, default=43)
    parser.add_argument("--worst", type=int, default=12)
    given = parser.parse_args()
    found = all_answered(given.questions, given.seed)
    for name, key, limit in (
        ("width", lambda each: each.width, WIDEST),
        ("time", lambda each: each.seconds, SLOWEST),
    ):
        missed = sum(key(each) > limit for each in found)
        print(f"worst by {name}: {missed} of {len(found)} above {limit:g}", file=sys.stdout)
        for each in sorted(found, key=key, reverse=True)[: given.worst]:
            print(f"  {each}")


if __name__ == "__main__":
    main()
