"""Estimates of delta(epsilon) and epsilon(delta) of a pair; both ends hold at any number of draws.

Draws are seeded by the question and the direction alone. The measure that they come from is fixed
before they are drawn: at an epsilon by bounds that need no draws, at a delta near an epsilon that
held-out draws have found.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from simulator.analysis.estimation import Estimate, weighted_delta, weighted_epsilon
from simulator.analysis.estimation.inversion import point_epsilon
from simulator.engine.sampling import rounded
from simulator.foundations.errors import InvalidInput, NotApplicable, Refusal
from simulator.foundations.seeds import Stream, generator, named_seed
from simulator.foundations.validation import finite, nonnegative, open_probability, whole
from simulator.training.matrices.addition import addition_epsilon, addition_measure
from simulator.training.matrices.pairs import BinnedPair
from simulator.training.matrices.removal import removal_epsilon, removal_measure
from simulator.training.matrices.subsets import (
    SubsetPair,
    subset_addition,
    subset_addition_epsilon,
    subset_removal,
    subset_removal_epsilon,
)

Floats = NDArray[np.float64]

DIRECTIONS = ("removal", "addition")
"""Of P from Q, and of Q from P: under P the record is in the data."""
DRAWS = 100_000
"""The default number of draws of each direction."""
_PILOT_DRAWS = 4096
_AIM_BITS = 7
_NUMBERS = 2**20
"""Scores in memory at once."""
_ROUNDS = 64
"""A loss has the rounding of so many rounds, see :mod:`simulator.foundations.ties`."""
_SMALLEST_LOG = -690.0
_FEW = "too few of the draws count: take more draws"


class Measure(Protocol):
    """Where draws come from."""

    def log_bound(self, epsilon: float) -> float:
        """Ln of a bound on the weighted excess over ``epsilon``."""

    def draw(self, draws: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Losses and log-weights, each of shape (draws,)."""

    def tuned(self, epsilon: float, draws: int, generator: np.random.Generator) -> Measure:
        """A measure of the same kind with a smaller variance at ``epsilon``, by held-out draws."""


_MEASURES: dict[type, dict[str, Callable[[Any, float], Measure]]] = {
    BinnedPair: {"removal": removal_measure, "addition": addition_measure},
    SubsetPair: {"removal": subset_removal, "addition": subset_addition},
}
_EPSILONS: dict[type, dict[str, Callable[[Any, float], float]]] = {
    BinnedPair: {"removal": removal_epsilon, "addition": addition_epsilon},
    SubsetPair: {"removal": subset_removal_epsilon, "addition": subset_addition_epsilon},
}


@dataclass(frozen=True, kw_only=True)
class AllocationEstimate:
    """Divergences of a pair in one direction or both, at an epsilon or at a delta.

    Attributes
    ----------
    at : "epsilon" or "delta": which of them was given.
    point : its value.
    removal, addition : the estimate of the other one; None for a direction that was not wanted.
    worst : the larger direction: the larger value, lower end and upper end.
    confidence : with which all intervals hold together.
    theorem : why the pair dominates.

    >>> from simulator.training import estimate_allocation, random_subset
    >>> pair = random_subset(sigma=2.0, steps=8)
    >>> estimate_allocation(pair, epsilon=0.5, draws=2000).at
    'epsilon'
    """

    at: str
    point: float
    removal: Estimate | None
    addition: Estimate | None
    worst: Estimate
    confidence: float
    theorem: str


def estimate_allocation(
    pair: BinnedPair,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    direction: str | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    confidence: float = 0.95,
) -> AllocationEstimate:
    """Estimate delta at ``epsilon``, or epsilon at ``delta``.

    Parameters
    ----------
    pair : such as :func:`balls_in_bins` or :func:`random_subset` returns.
    epsilon, delta : one of them.
    direction : "removal", "addition", or None for both.
    draws : of each direction.
    confidence : with which all intervals hold together.

    Where the pair dominates and is not known to be reached, the lower end is that of ``played``.

    At an epsilon the interval is that of betting on weighted draws (Waudby-Smith and Ramdas 2023).
    At a delta the same test is inverted: it is made at every epsilon with one sequence of bets, and
    only the test at the true one can err, so no correction is needed.

    Raises
    ------
    InvalidInput : a parameter is out of its range.
    NotApplicable : the dynamic programme of the removal direction would be too large.

    >>> from simulator.training import balls_in_bins, estimate_allocation
    >>> pair = balls_in_bins(sigma=1.0, bins=4, rounds=4)
    >>> worst = estimate_allocation(pair, epsilon=0.5, draws=2000).worst
    >>> 0 < worst.lower <= worst.value <= worst.upper < 0.2
    True
    """
    if (epsilon is None) == (delta is None):
        raise InvalidInput("give the epsilon to estimate delta at, or the delta")
    if direction not in (None, *DIRECTIONS):
        raise InvalidInput(f"no direction {direction!r}; there are {', '.join(DIRECTIONS)}")
    wanted = DIRECTIONS if direction is None else (direction,)
    alone = 1.0 - (1.0 - open_probability("confidence", confidence)) / len(wanted)
    whole("draws", draws)
    found: dict[str, Estimate] = {}
    answer: Callable[[_Sampler, float, int, float], Estimate]
    if epsilon is not None:
        point, answer = nonnegative("epsilon", finite("epsilon", epsilon)), _delta
    else:
        point, answer = open_probability("delta", cast(float, delta)), _epsilon
    for each in wanted:
        if pair.played is None:
            found[each] = answer(_Sampler(pair, each, seed), point, draws, alone)
            continue
        half = 1.0 - (1.0 - alone) / 2.0
        most, least = (
            answer(_Sampler(one, each, seed), point, draws, half) for one in (pair, pair.played)
        )
        found[each] = replace(most, lower=min(least.lower, most.lower))
    return AllocationEstimate(
        at="delta" if epsilon is None else "epsilon",
        point=point,
        removal=found.get("removal"),
        addition=found.get("addition"),
        worst=_worst(list(found.values()), confidence),
        confidence=confidence,
        theorem=pair.theorem,
    )


@dataclass(frozen=True)
class _Sampler:
    """Draws of one direction of a pair."""

    pair: BinnedPair
    direction: str
    seed: int

    def measure(self, epsilon: float, question: str, stream: Stream) -> Measure:
        """The measure for the divergence at ``epsilon``."""
        found: Measure = _MEASURES[type(self.pair)][self.direction](self.pair, epsilon)
        return found.tuned(epsilon, _PILOT_DRAWS, generator(self._root(question), 1, stream, 0))

    def _root(self, question: str) -> int:
        return named_seed(self.seed, f"{self.pair.name}; {self.direction}; {question}", 0)

    def draw(
        self, measure: Measure, draws: int, question: str, stream: Stream
    ) -> tuple[Floats, Floats]:
        """Losses and log-weights of draws that the question seeds."""
        root = self._root(question)
        block = min(16384, max(256, _NUMBERS // self.pair.bins))
        parts = [
            measure.draw(min(block, draws - start), generator(root, 0, stream, start // block))
            for start in range(0, draws, block)
        ]
        losses, log_weights = (np.concatenate(each) for each in zip(*parts))
        return losses, log_weights


def _delta(sampler: _Sampler, epsilon: float, draws: int, confidence: float) -> Estimate:
    """Delta at ``epsilon``, in one direction."""
    question = f"epsilon={epsilon!r}"
    measure = sampler.measure(epsilon, question, Stream.PILOT)
    bound = measure.log_bound(epsilon)
    if bound < _SMALLEST_LOG:
        why = f"delta is below e^{bound:.0f}, less than floats hold"
        return Estimate.refused(why, (0.0, math.exp(_SMALLEST_LOG)), confidence)
    sample = sampler.draw(measure, draws, question, Stream.MECHANISM_0)
    try:
        found = weighted_delta(
            *sample, epsilon, confidence=confidence, log_bound=bound, rounds=_ROUNDS
        )
    except Refusal:
        zero = -math.expm1(math.log((1.0 - confidence) / 2.0) / draws)
        ends = (0.0, min(1.0, zero * math.exp(min(bound, 700.0))))
        return Estimate.refused(_FEW, ends, confidence)
    found = replace(found, value=min(found.value, 1.0), upper=min(found.upper, 1.0))
    return replace(found, no_value=_FEW) if found.no_value else found


def _epsilon(sampler: _Sampler, delta: float, draws: int, confidence: float) -> Estimate:
    """Epsilon at ``delta``, in one direction."""
    ceiling = _EPSILONS[type(sampler.pair)][sampler.direction](sampler.pair, delta)
    question = f"delta={delta!r}"
    aim = ceiling
    for stream in (Stream.PILOT, Stream.DECLARED):
        measure = sampler.measure(aim, question, stream)
        pilot = sampler.draw(measure, _PILOT_DRAWS, question, stream)
        near = point_epsilon(*pilot, math.log(delta))
        if near < pilot[0].max():
            aim = min(float(rounded(near, _AIM_BITS)), ceiling)
    measure = sampler.measure(aim, question, Stream.COINS)
    sample = sampler.draw(measure, draws, question, Stream.MECHANISM_0)
    try:
        found = weighted_epsilon(
            *sample, delta, confidence=confidence, log_bound=measure.log_bound, rounds=_ROUNDS,
            ceiling=ceiling,
        )  # fmt: skip
    except (Refusal, NotApplicable):
        return Estimate.refused(_FEW, (0.0, ceiling), confidence)
    return replace(found, no_value=_FEW) if found.no_value else found


def _worst(estimates: list[Estimate], confidence: float) -> Estimate:
    """The largest of several quantities, from intervals that hold together."""
    largest = max(estimates, key=lambda one: -1.0 if one.no_value else one.value)
    return replace(
        largest,
        lower=max(one.lower for one in estimates),
        upper=max(one.upper for one in estimates),
        confidence=confidence,
    )
