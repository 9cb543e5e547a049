"""Composition beside the accountants of others, at every size: each at its own true error.

A peer answers with a number. Its true relative error is its distance from our bracket at a tight
tolerance; that error is the tolerance at which we are timed, so that the worse end of our bracket
is as close to the truth as the peer is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from experiments.benchmarks.measure import (
    REPEATS,
    Line,
    Spread,
    alternately,
    command_seconds,
    seconds,
)
from simulator.theory import (
    PLD,
    GaussianLaw,
    LaplaceLaw,
    PoissonSubsampledLaw,
    PrivacyLossLaw,
    randomized_response,
)
from simulator.theory.bracket import Bracket
from simulator.theory.laws.discrete import discrete_gaussian
from simulator.theory.pld.distribution import largest_epsilon

DELTA = 1e-6
GRID = 1e-4
"""Discretisation of dp_accounting."""
RATE = 0.01
TIGHT, GRID_TIGHT = 1e-10, 1e-7
LEAST = 1e-10
"""No peer is called closer to the truth than this."""
LONG = 10.0
"""Seconds of a peer above which it is timed once."""

Rounds = tuple[tuple[float, int], ...]


@dataclass(frozen=True)
class Question:
    """Rounds of one mechanism, as pairs (parameter, rounds); whether the command is timed too."""

    name: str
    mechanism: str
    rounds: Rounds
    command: bool = False

    @property
    def sampled(self) -> bool:
        """Whether the two directions differ, and both are computed."""
        return self.mechanism.startswith("subsampled-")

    def ours(self, tolerance: float) -> Bracket:
        """Our bracket of epsilon."""
        laws = [(_LAWS[self.mechanism](value), count) for value, count in self.rounds]
        composed = [PLD.of(laws, tolerance)]
        if self.sampled:
            composed.append(PLD.of([(law.reversed(), n) for law, n in laws], tolerance))
        return largest_epsilon(composed, DELTA)

    def words(self, tolerance: float) -> list[str]:
        """The same as a command."""
        rate = f",{RATE}" if self.sampled else ""
        given = [f"{self.mechanism}:{value!r}{rate}*{count}" for value, count in self.rounds]
        return [
            *("bounds", *given, "--delta", str(DELTA)),
            *("--bound", "privacy-loss-distribution", "--tolerance", repr(tolerance)),
        ]


_LAWS: dict[str, Callable[[float], PrivacyLossLaw]] = {
    "laplace": LaplaceLaw,
    "randomized-response": randomized_response,
    "subsampled-gaussian": lambda sigma: PoissonSubsampledLaw(GaussianLaw(1.0 / sigma), RATE),
    "subsampled-laplace": lambda scale: PoissonSubsampledLaw(LaplaceLaw(1.0 / scale), RATE),
    "discrete-gaussian": discrete_gaussian,
}


FRESH = 1.0 + time.time_ns() % 997 / 2e4
"""Another factor of the parameters in each run, so that nothing of an earlier one is kept."""


def _distinct(first: float, step: float, count: int) -> Rounds:
    return tuple((round(first + step * i, 12), 1) for i in range(count))


def _phases(count: int, steps: int) -> Rounds:
    """A schedule of noise multipliers, each for so many steps."""
    return tuple((value, steps) for value, _ in _distinct(0.8, 0.7 / count, count))


QUESTIONS = (
    *(Question(f"Laplace, k = {k:,}", "laplace", ((0.1, k),)) for k in (10, 30, 100, 300)),
    *(Question(f"Laplace, k = {k:,}", "laplace", ((0.1, k),), True) for k in (1000, 10_000)),
    Question("20 distinct Laplace", "laplace", _distinct(0.05, 0.01, 20)),
    Question("200 distinct Laplace", "laplace", _distinct(0.05, 0.001, 200), True),
    Question("1,000 distinct Laplace", "laplace", _distinct(0.01, 1e-4, 1000), True),
    Question("10,000 distinct Laplace", "laplace", _distinct(0.001, 1e-5, 10_000)),
    Question("200 responses on a lattice", "randomized-response", _distinct(0.05, 1e-4, 200)),
    Question("subsampled Gaussian, k = 1,000", "subsampled-gaussian", ((1.0, 1000),), True),
    Question("subsampled Gaussian, k = 10,000", "subsampled-gaussian", ((1.0, 10_000),)),
    *(
        Question(f"sampled Laplace, k = {k:,}", "subsampled-laplace", ((3.0 * FRESH, k),))
        for k in (10, 1000)
    ),
    *(
        Question(f"discrete Gaussian, k = {k:,}", "discrete-gaussian", ((10.0 * FRESH, k),))
        for k in (10, 1000)
    ),
    Question("sampled Gaussian, k = 3,000", "subsampled-gaussian", ((5.0 * FRESH, 3000),)),
    Question("DP-SGD schedule, 10 phases of 100", "subsampled-gaussian", _phases(10, 100)),
    Question("DP-SGD schedule, 100 phases of 10", "subsampled-gaussian", _phases(100, 10)),
)
CURVE_POINTS = 100
_CLOSED = ("laplace", "randomized-response")


def dp_accounting(question: Question) -> float:
    """Its epsilon, by its privacy loss distributions."""
    made: Any = import_module("dp_accounting.pld.privacy_loss_distribution")
    make: dict[str, Callable[[float], Any]] = {
        "laplace": lambda e: made.from_laplace_mechanism(1 / e, value_discretization_interval=GRID),
        "randomized-response": lambda e: made.from_randomized_response(
            2 / (1 + math.exp(e)), 2, value_discretization_interval=GRID
        ),
        "subsampled-gaussian": lambda sigma: made.from_gaussian_mechanism(
            sigma, sampling_prob=RATE, value_discretization_interval=GRID
        ),
        "subsampled-laplace": lambda scale: made.from_laplace_mechanism(
            scale, sampling_prob=RATE, value_discretization_interval=GRID
        ),
        "discrete-gaussian": lambda sigma: made.from_discrete_gaussian_mechanism(
            sigma, value_discretization_interval=GRID
        ),
    }
    total = None
    for value, count in question.rounds:
        each = make[question.mechanism](value)
        each = each.self_compose(count) if count > 1 else each
        total = each if total is None else total.compose(each)
    assert total is not None
    return float(total.get_epsilon_for_delta(DELTA))


def prv_accountant(question: Question) -> float:
    """Its estimate of epsilon; for Laplace of one parameter and for the subsampled Gaussian."""
    library: Any = import_module("prv_accountant")
    ((value, count),) = question.rounds
    if question.sampled:
        one = library.PoissonSubsampledGaussianMechanism(
            sampling_probability=RATE, noise_multiplier=value
        )
    else:
        one = library.LaplaceMechanism(mu=value)
    accountant = library.PRVAccountant(
        prvs=[one], max_self_compositions=[count], eps_error=0.01, delta_error=1e-9
    )
    return float(accountant.compute_epsilon(DELTA, [count])[1])


def beside(question: Question, peer: Callable[[Question], float]) -> Iterator[Line]:
    """How many times faster this package is, from Python and optionally from a shell."""
    name = peer.__name__
    unit = f"x {name}"
    if find_spec(name) is None:
        yield Line(f"{question.name}: composed", None, unit, 1.0)
        return
    answers: list[float] = []
    theirs = seconds(lambda: answers.append(peer(question)))
    truth = question.ours(TIGHT if question.mechanism in _CLOSED else GRID_TIGHT)
    error = min(abs(answers[0] - end) for end in (truth.lower, truth.upper)) / truth.upper
    tolerance = max(error, LEAST)
    ours = partial(question.ours, tolerance)
    found = ours()
    spread: Spread = {}
    if theirs < LONG:
        ratio, mine, theirs, spread = alternately(ours, partial(peer, question), repeats=REPEATS)
    else:
        mine = seconds(ours)
        ratio = theirs / mine
    detail = {
        "seconds": mine,
        "peer_seconds": theirs,
        "peer_relative_error": error,
        "relative_width": found.width / found.upper,
    } | spread
    yield Line(f"{question.name}: composed", ratio, unit, 1.0, detail=detail)
    if question.command:
        spent = command_seconds(question.words(tolerance))
        yield Line(
            f"{question.name}: composed by the command",
            theirs / spent,
            unit,
            detail={"seconds": spent, "peer_seconds": theirs},
        )


def beside_dp_accounting() -> Iterator[Line]:
    """Every size beside dp_accounting on a grid of 1e-4."""
    for question in QUESTIONS:
        yield from beside(question, dp_accounting)


def curve_beside_dp_accounting() -> Iterator[Line]:
    """A whole curve of the subsampled Gaussian: delta at many epsilons, composed once."""
    name, unit = f"subsampled Gaussian, k = 1,000: {CURVE_POINTS} deltas", "x dp_accounting"
    if find_spec("dp_accounting") is None:
        yield Line(name, None, unit, 1.0)
        return
    epsilons = [0.2 + 0.025 * i for i in range(CURVE_POINTS)]

    def ours() -> list[float]:
        law = PoissonSubsampledLaw(GaussianLaw(1.0), RATE)
        both = [PLD.of([(each, 1000)], 1e-5) for each in (law, law.reversed())]
        return [max(pld.delta(epsilon).upper for pld in both) for epsilon in epsilons]

    def theirs() -> list[float]:
        made: Any = import_module("dp_accounting.pld.privacy_loss_distribution")
        composed = made.from_gaussian_mechanism(
            1.0, sampling_prob=RATE, value_discretization_interval=GRID
        ).self_compose(1000)
        return [float(composed.get_delta_for_epsilon(epsilon)) for epsilon in epsilons]

    ratio, mine, peers, spread = alternately(ours, theirs, repeats=REPEATS)
    yield Line(name, ratio, unit, 1.0, detail={"seconds": mine, "peer_seconds": peers} | spread)


def beside_prv_accountant() -> Iterator[Line]:
    """The sizes that prv_accountant composes."""
    few = ("Laplace, k = 10", "Laplace, k = 1,000", "subsampled Gaussian, k = 1,000")
    for question in QUESTIONS:
        if question.name in few:
            yield from beside(question, prv_accountant)


BENCHMARKS = (beside_dp_accounting, curve_beside_dp_accounting, beside_prv_accountant)
