"""The thetas of a covering measure, from its exact exponential moments, without a pilot.

The weighted variable W (1 - e^{epsilon - L})+ is at most e^{M(theta) - theta epsilon} c_theta,
which the chosen theta minimises; c_theta is that of
:func:`simulator.analysis.estimation.delta_log_bound`. Plays of different rarity have a theta each
where the sum of their bounds is clearly less than the bound of one theta, and a share of the trials
in proportion to their bound, so that the sum bounds the weighted variable of all.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable

import numpy as np
import scipy

from simulator.analysis.estimation import delta_log_bound
from simulator.engine.block import covering_engine
from simulator.engine.enumerated.covering import CoveringEngine
from simulator.engine.enumerated.moments import MOST_CELLS, Moments
from simulator.engine.enumerated.strata import thresholds
from simulator.engine.sampling import TABLE_BITS, THETA_BITS, Covering, Stratum, rounded
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.roots import crossing, least_point

FEW = 1e-3
"""The least change of the bound's logarithm for another step."""
MOST_EXPONENT = 5e5
"""The largest theta times a loss for which weights are not dominated by rounding."""
WORTH = 0.8
"""Strata are played if their bounds add up to at most this part of the bound without strata."""
SPREAD = 0.1
"""The share of the trials that all strata have in equal parts, for other points than the given."""
MOST_STRATA = (12, 6, 3, 2)
"""The largest numbers of strata that are tried, until their automata are small enough."""
MOST_WORK = 3_000_000
"""The most transitions over all rounds and strata, with OVERHEAD per round."""
OVERHEAD = 1000
FIRST_THETA, GRID = 0.03, 1.3
"""The least theta but 0 of a grid, and the ratio of two neighbours."""


def cover(specification: Specification, b: int, epsilon: float) -> Covering:
    """The covering measure with the least bound for delta(``epsilon``) of experiment ``b``.

    Raises NotApplicable if the adversary's states cannot be enumerated.
    """
    engine = covering_engine(specification, b)
    theta, bound = least_bound(engine.moments, epsilon)
    parts = _parts(engine)
    return _best(parts, epsilon, Covering(theta), bound) if parts else Covering(theta)


def cover_delta(specification: Specification, b: int, delta: float) -> Covering:
    """The covering measure for epsilon(``delta``) of experiment ``b``.

    It is the best one for the least epsilon at which a bound over all theta falls to ``delta``.
    """
    engine = covering_engine(specification, b)
    moments, log_delta = engine.moments, math.log(delta)

    def epsilon_bound(theta: float) -> float:
        if theta <= 0.0:
            return math.inf
        return (delta_log_bound(theta, moments.log_moment(theta), 0.0) - log_delta) / theta

    theta, most = _least(epsilon_bound, 0.0, moments)
    parts = _parts(engine)
    if not parts or not most > 0.0:
        return Covering(theta)
    curves = [BoundCurve(moments) for _, moments in parts]

    def gap(epsilon: float) -> float:
        total = scipy.special.logsumexp([curve.log_bound(epsilon) for curve in curves])
        return float(total) - log_delta

    epsilon = 0.0 if gap(0.0) <= 0.0 else most  # of all, the bound at ``most`` is delta
    if epsilon and gap(most) < 0.0:
        epsilon = crossing(gap, 0.0, most, rtol=1e-3)
    bound = delta_log_bound(theta, moments.log_moment(theta), epsilon)
    return _best(parts, epsilon, Covering(theta), bound)


def least_bound(moments: Moments, epsilon: float) -> tuple[float, float]:
    """The theta whose bound for delta(``epsilon``) is the least, to a few percent; and its ln."""

    def log_bound(theta: float) -> float:
        return delta_log_bound(theta, moments.log_moment(theta), epsilon)

    theta, _ = _least(log_bound, epsilon, moments)
    return theta, log_bound(theta)


class BoundCurve:
    """The least bound for delta(epsilon) of a stratum over a grid of thetas, found as needed."""

    def __init__(self, moments: Moments) -> None:
        self.moments = moments
        a = moments.automaton
        self.largest = MOST_EXPONENT / max(a.rounds * a.largest_loss, 1.0)
        self.known: list[tuple[float, float]] = [(0.0, moments.log_moment(0.0))]

    def log_bound(self, epsilon: float) -> float:
        """The logarithm of the bound at ``epsilon``, unimodal in theta."""
        least, number = math.inf, 0
        while True:
            if number == len(self.known):
                theta = FIRST_THETA * GRID**number
                if theta * max(epsilon, 1.0) > self.largest:
                    return least
                try:
                    self.known.append((theta, self.moments.log_moment(theta)))
                except InvalidInput:  # weights without correct digits
                    return least
            theta, log_moment = self.known[number]
            here = delta_log_bound(theta, log_moment, epsilon)
            if here > least:
                return least
            least, number = here, number + 1


Part = tuple[int, Moments]
"""The least rarity of a stratum, and its moments."""


def _parts(engine: CoveringEngine) -> list[Part]:
    """The strata, as many as have automata that are small enough; none where one has all plays."""
    a = engine.moments.automaton
    if 2 * sum(len(a.segments[segment]) for segment in a.segment_of) > MOST_WORK:
        return []
    for most in MOST_STRATA:
        firsts = thresholds(engine.strata.law, most)
        if len(firsts) < 2:
            return []
        with contextlib.suppress(NotApplicable):
            return _small_enough(engine, firsts)
    return []


def _small_enough(engine: CoveringEngine, firsts: list[int]) -> list[Part]:
    """The strata that begin at these rarities; raises NotApplicable where they are too large."""
    found, work = [], 0
    for least, below in zip(firsts, [*firsts[1:], None]):
        moments = engine.strata.of(least, below)
        assert moments is not None
        a = moments.automaton
        cells = sum(len(a.segments[segment]) for segment in a.segment_of)
        small = a.rounds >= 64 and max(leaves.nodes for leaves in a.segments) <= 64
        work += cells + (0 if small else OVERHEAD * a.rounds)
        found.append((least, moments))
        if work > min(MOST_WORK, MOST_CELLS):
            raise NotApplicable("the strata are too large")
    return found


def _best(parts: list[Part], epsilon: float, single: Covering, bound: float) -> Covering:
    """The measure with a theta for each stratum, or the ``single`` one if it is hardly worse."""
    thetas, bounds = np.array([least_bound(moments, epsilon) for _, moments in parts]).T
    total = float(scipy.special.logsumexp(bounds))
    if total > bound + math.log(WORTH):
        return single
    shares = rounded((1.0 - SPREAD) * np.exp(bounds - total) + SPREAD / len(parts), TABLE_BITS)
    return Covering.stratified(
        tuple(
            Stratum(least, theta, share)
            for (least, _), theta, share in zip(parts, thetas.tolist(), shares.tolist())
        )
    )


def _least(
    objective: Callable[[float], float], epsilon: float, moments: Moments
) -> tuple[float, float]:
    """The minimiser of a unimodal objective, to a few percent of theta; and the minimum."""
    a = moments.automaton
    largest = MOST_EXPONENT / max(epsilon, a.rounds * a.largest_loss, 1e-300)
    high = 1.0 / max(1.0, epsilon)
    low, here, ahead = 0.0, objective(0.0), objective(high)
    while ahead < here - FEW and 2.0 * high < largest:
        try:
            further = objective(2.0 * high)
        except InvalidInput:  # weights without correct digits: all losses are far below
            return float(rounded(high, THETA_BITS)), float(ahead)
        low, high, here, ahead = high, 2.0 * high, ahead, further
    if high <= 0.0:
        raise NotApplicable("no theta makes large losses likelier")
    inside = least_point(objective, 0.5 * low, high, xtol=0.01 * high)
    ends = (low, here) if here <= ahead else (high, ahead)
    theta, least = inside if inside[1] <= min(here, ahead) else ends
    return float(rounded(theta, THETA_BITS)), float(least)
