"""The choice of a fixed theta on held-out draws.

A few trials show which laws the adversary draws from. The event is typical under the theta that
minimises the bound sum of psi - theta epsilon + ln c_theta on the weighted variable (Siegmund
1976). Other laws may occur under that theta, so the choice is repeated; if one challenge is always
played the first theta is the best.
"""

from __future__ import annotations

import math

import numpy as np

from simulator.analysis.estimation import delta_log_bound
from simulator.analysis.estimation.weighted import log_excess
from simulator.analysis.rare.rehearsal import STEP, Psi, Rehearsal, Rehearsals, plain
from simulator.engine.outcomes.log_mean import LogMean
from simulator.engine.sampling import THETA_BITS, Tilted, rounded
from simulator.foundations.errors import InvalidInput, Refusal
from simulator.foundations.roots import crossing, least_point
from simulator.foundations.stages import in_stages

LARGEST_THETA = 1e6
LEAST_HITS = 10
"""Fewer hits have no relative error."""
ELITE = 0.1
"""The share of the trials, those of the largest losses, whose laws are used."""
STEPS = 8
"""The largest number of repetitions."""
TYPICAL = 0.25
"""An event that this share of the trials hit is typical."""


def pilot_tilt(rehearsals: Rehearsals, epsilon: float) -> tuple[Tilted, float]:
    """The theta for delta(``epsilon``), and its relative error per trial.

    The relative error is the standard deviation of the weighted variable over its mean, infinite
    if no rehearsal hit the event. Raises Refusal if no theta reaches ``epsilon``.
    """
    best, least = plain(), relative_error(rehearsals.plain(), epsilon)
    laws = laws_of_elite(rehearsals.plain())
    theta = 0.0
    for _ in in_stages(range(STEPS), "finding a tilt, at most"):
        theta = float(rounded(max(typical_theta(laws, epsilon), 1.25 * theta), THETA_BITS))
        try:
            played = rehearsals.play(Tilted(theta))
        except InvalidInput:  # the weights would have no digits left
            raise out_of_reach(epsilon) from None
        error = relative_error(played, epsilon)
        if error < least:
            best, least = Tilted(theta), error
        if np.mean(played.signed > epsilon) >= TYPICAL:
            return best, least
        laws = laws_of_elite(played)
    if math.isinf(least):
        raise out_of_reach(epsilon)
    return best, least


def out_of_reach(epsilon: float) -> Refusal:
    """The error if no theta makes a loss of ``epsilon`` typical."""
    return Refusal(
        f"no tilt makes a loss of {epsilon:g} typical: after large losses the adversary does not "
        "go that far"
    )


def laws_of_elite(played: Rehearsal) -> list[tuple[Psi, float]]:
    """Psi of the laws of the trials with the largest losses, with their mean counts per trial."""
    count = max(1, int(ELITE * len(played.signed)))
    return played.laws_of(np.argsort(played.signed, kind="stable")[-count:])


def always_one_law(rehearsals: Rehearsals) -> bool:
    """Whether every round of every plain trial drew from the same law."""
    played = rehearsals.plain()
    laws = played.laws_of(np.arange(len(played.signed)))
    return len(laws) == 1 and laws[0][1] == rehearsals.specification.rounds


def typical_theta(laws: list[tuple[Psi, float]], epsilon: float) -> float:
    """The theta whose bound for delta(``epsilon``) is least for these laws.

    Raises Refusal if no theta makes so large a loss typical.
    """

    def missing(theta: float) -> float:
        slope = math.fsum(
            often * (psi(theta + STEP) - psi(theta - STEP)) for psi, often in laws
        ) / (2.0 * STEP)
        return epsilon + math.log1p(1.0 / theta) - slope

    high = 1.0
    while missing(high) > 0.0:
        high *= 2.0
        if high > LARGEST_THETA:
            raise out_of_reach(epsilon)
    low = high / 2.0
    while low > 1e-3 and missing(low) <= 0.0:
        low, high = low / 2.0, low
    if low <= 1e-3:
        return low
    return crossing(missing, low, high, rtol=1e-3)


def theta_of_delta(laws: list[tuple[Psi, float]], delta: float) -> float:
    """The theta with the least bound on epsilon(``delta``) for these laws."""

    def bound(log_theta: float) -> float:
        theta = math.exp(log_theta)
        total = math.fsum(often * psi(theta) for psi, often in laws)
        return (delta_log_bound(theta, total, 0.0) - math.log(delta)) / theta

    log_theta, _ = least_point(bound, math.log(1e-2), math.log(1e4))
    return math.exp(log_theta)


def relative_error(rehearsal: Rehearsal, epsilon: float) -> float:
    """Standard deviation over mean of the weighted variable, for one trial."""
    summary = summarised(rehearsal, epsilon)
    if summary.hits < LEAST_HITS:
        return math.inf
    return summary.relative_error * math.sqrt(summary.trials)


def summarised(rehearsal: Rehearsal, epsilon: float) -> LogMean:
    """The rehearsal's own estimate of delta(``epsilon``)."""
    return LogMean.of(log_excess(rehearsal.signed, rehearsal.log_weights, epsilon))
