"""Choose a fixed theta on held-out draws.

The tilt under which the mean loss equals epsilon makes the event typical (Siegmund 1976); around
it the pilot takes the theta with the least relative error of delta(epsilon).
"""

from __future__ import annotations

import math

import numpy as np

from simulator.analysis.estimation.weighted import log_excess
from simulator.analysis.rare.rehearsal import Rehearsal, affordable, rehearse
from simulator.engine.outcomes.log_mean import LogMean
from simulator.engine.sampling import Tilted
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput, Refusal
from simulator.foundations.seeds import Pilot
from simulator.foundations.stages import in_stages

TRIALS = 2000
LARGEST_THETA = 1e6
LEAST_HITS = 10
MULTIPLES = (0.4, 0.6, 0.8, 1.0, 1.25)


def pilot_tilt(
    specification: Specification, b: int, epsilon: float, trials: int = TRIALS
) -> tuple[Tilted, float]:
    """The theta for delta(``epsilon``) of experiment ``b``, and its relative error per trial.

    The relative error is the standard deviation of the weighted variable over its mean, infinite
    when no rehearsal hit the event. Raises Refusal when no theta reaches ``epsilon``.
    """
    trials = affordable(trials, specification.rounds)
    centre = _typical(specification, b, epsilon, trials)
    best, least = Tilted(centre), math.inf
    tried = list(enumerate(MULTIPLES, start=Pilot.THETAS))
    for number, multiple in in_stages(tried, "comparing tilts"):
        candidate = Tilted(centre * multiple)
        played = rehearse(specification, b, candidate, 2 * trials, number=number)
        error = relative_error(played, epsilon)
        if error < least:
            best, least = candidate, error
    return best, least


def relative_error(rehearsal: Rehearsal, epsilon: float) -> float:
    """Standard deviation over mean of the weighted variable, for one trial."""
    summary = summarised(rehearsal, epsilon)
    if summary.hits < LEAST_HITS:
        return math.inf
    return summary.relative_error * math.sqrt(summary.trials)


def log_weighted_mean(rehearsal: Rehearsal, epsilon: float) -> float:
    """Logarithm of the mean of the weighted variable, -inf where nothing was hit."""
    return summarised(rehearsal, epsilon).log_value


def summarised(rehearsal: Rehearsal, epsilon: float) -> LogMean:
    """The rehearsal's own estimate of delta(``epsilon``)."""
    return LogMean.of(log_excess(rehearsal.signed, rehearsal.log_weights, epsilon))


def _typical(specification: Specification, b: int, epsilon: float, trials: int) -> float:
    """The theta >= 0 under which the median signed loss is about ``epsilon``, by bisection."""

    def median(theta: float) -> float:
        played = rehearse(
            specification, b, Tilted(theta), max(200, trials // 5), number=Pilot.TYPICAL_THETA
        )
        return float(np.median(played.signed))

    if median(0.0) >= epsilon:
        return 0.0
    low, high = 0.0, 1.0
    while True:
        try:
            if median(high) >= epsilon:
                break
            low, high = high, 2.0 * high
        except InvalidInput:  # the weights would have no digits left
            high = math.inf
        if high > LARGEST_THETA:
            raise Refusal(
                f"no tilt makes a loss of {epsilon:g} typical: the adversary does not go that far "
                'when it is winning; try the method "steered" or "doob"'
            )
    for _ in in_stages(range(12), "finding a tilt"):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if median(middle) < epsilon else (low, middle)
    return high
