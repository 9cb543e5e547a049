"""Random allocation beside PLD_accounting, whose brackets are certified too; b-min-sep samples.

It is timed at its own accuracy, and we at the same: our tolerance is the relative width of its
bracket of epsilon at 1e-5, in the worse direction. A second line has the narrowest bracket of ours.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from experiments.benchmarks.measure import REPEATS, Line, Spread, alternately, seconds
from simulator.theory import PLD, GaussianLaw
from simulator.theory.bracket import Bracket
from simulator.theory.events import Account, gaussian, self_compose, subsampled
from simulator.training import min_separation
from simulator.training.laws.allocation import AllocationLaw
from simulator.training.laws.subset_test import separated_test

DELTA = 1e-5
LONG = 5.0
"""Seconds of the peer above which it is timed once."""
TIGHT = 5e-5
_DIFFERENT = itertools.count(1)


@dataclass(frozen=True)
class Training:
    """Epochs of steps with Gaussian noise, each record in one step of every epoch."""

    sigma: float
    steps: int
    epochs: int = 1

    def __str__(self) -> str:
        epochs = f", {self.epochs} epochs" if self.epochs > 1 else ""
        return f"one of {self.steps:,} steps{epochs}, noise {self.sigma:g}"

    def ours(self, tolerance: float) -> Bracket:
        """Our bracket; the noise differs in its last digits, as the last few laws are kept."""
        sigma = self.sigma * (1.0 + next(_DIFFERENT) * 2.0**-50)
        law = AllocationLaw(GaussianLaw(1.0 / sigma), self.steps)
        each = (law, law.reversed())
        return Bracket.largest(
            PLD.of([(one, self.epochs)], tolerance).epsilon(DELTA) for one in each
        )

    def theirs(self) -> Bracket:
        """The bracket of PLD_accounting, at the relative accuracy that it aims at by default."""
        library: Any = import_module("PLD_accounting")
        upper, lower = library.gaussian_allocation_epsilon_range(
            delta=DELTA, sigma=self.sigma, num_steps=self.steps, num_epochs=self.epochs
        )
        return Bracket(float(lower), float(upper))


TRAININGS = (
    Training(1.0, 10),
    Training(1.0, 100),
    Training(1.0, 100, 10),
    Training(0.5, 100),
    Training(5.0, 100),
    Training(1.0, 1000),
)


def beside(training: Training) -> Iterator[Line]:
    """How many times faster we are at its accuracy, and how much narrower at ours."""
    unit = "x PLD_accounting"
    if find_spec("PLD_accounting") is None:
        yield Line(str(training), None, unit, 1.0)
        return
    brackets: list[Bracket] = []
    theirs = seconds(lambda: brackets.append(training.theirs()))
    (peer,) = brackets
    tolerance = peer.width / peer.upper
    ours = partial(training.ours, tolerance)
    found = ours()
    spread: Spread = {}
    if theirs < LONG:
        ratio, mine, theirs, spread = alternately(ours, training.theirs, repeats=REPEATS)
    else:
        mine = seconds(ours)
        ratio = theirs / mine
    detail = {
        "seconds": mine,
        "peer_seconds": theirs,
        "lower": found.lower,
        "upper": found.upper,
        "peer_lower": peer.lower,
        "peer_upper": peer.upper,
    } | spread
    yield Line(str(training), ratio, unit, 1.0, detail=detail)
    tight = training.ours(TIGHT)
    yield Line(
        f"{training}: width",
        tight.width / peer.width,
        "of PLD_accounting's",
        1.0,
        at_least=False,
        detail={"seconds": seconds(partial(training.ours, TIGHT)), "upper": tight.upper},
    )


def random_allocation() -> Iterator[Line]:
    """Every size beside PLD_accounting at its own accuracy."""
    for training in TRAININGS:
        yield from beside(training)


SEPARATED = (
    (1.0, 0.01, 10, 1000),
    (2.0, 0.02, 20, 1000),
    (1.0, 0.1, 10, 100),
    (4.0, 0.05, 20, 1000),
    (2.0, 0.02, 50, 1000),
    (1.0, 0.005, 200, 1000),
    (2.0, 0.1, 50, 1000),
)


def b_min_sep() -> Iterator[Line]:
    """The certified ends of b-min-sep samples, beside Poisson samples of the same rate."""
    for sigma, rate, apart, rounds in SEPARATED:
        poisson = Account(self_compose(subsampled(gaussian(sigma), rate), rounds))
        for delta in (1e-3, 1e-6):
            blocks = Account(min_separation(gaussian(sigma), rate, apart, rounds))
            start = time.process_time()
            upper = blocks.epsilon(delta).upper
            lower = separated_test(sigma, rate, apart, rounds).epsilon(delta)
            spent = time.process_time() - start
            yield Line(
                f"b-min-sep {sigma:g}, {rate:g}, {apart}, {rounds}, delta {delta:g}: upper end",
                upper / lower,
                "of the lower end",
                detail={
                    "lower": lower,
                    "upper": upper,
                    "poisson": poisson.epsilon(delta).upper,
                    "seconds": spent,
                },
            )


BENCHMARKS = (random_allocation, b_min_sep)
