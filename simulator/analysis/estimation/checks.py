"""One-sided tests of a claimed bound on δ(ε) or on a tail, at a stated false-alarm probability.

A claim is *violated* when the lower confidence limit at error ``false_alarm`` passes the bound: if
the claim is true that happens with probability at most ``false_alarm``, at every sample size. It
*holds*, by this sample, when the upper limit at the same error stays at or below the bound;
otherwise the sample leaves it *undecided*. A test of m claims together keeps its family-wise level
by giving each ``false_alarm / m``.

A loss is a sum over rounds in floating point, and worst cases sit exactly on the bound: k rounds of
randomized response reach kε, where the claim is δ = 0. A tail jumps there: a loss that equals the
threshold up to rounding is not above it (``ties``). Weights may magnify a rounding error, so the
lower limit of a weighted δ is taken at an ε raised by the rounding. Unweighted δ(ε) is continuous
in ε and needs no correction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from simulator.analysis.estimation.hockey_stick import mean_limits
from simulator.analysis.estimation.intervals import proportion_lower, proportion_upper
from simulator.analysis.estimation.weighted import (
    lower_from_pilot,
    scaled_by_bound,
    unscaled,
    upper_of,
    weighted_sample,
)
from simulator.engine.outcomes.loss_sample import LossSample, signed_sample
from simulator.engine.outcomes.weighted_sample import WeightedSample
from simulator.foundations.ties import ROUNDS, beyond
from simulator.foundations.validation import false_alarm_of, finite, nonnegative, whole


class BoundOutcome(StrEnum):
    """The outcome of a test of a claim.

    >>> from simulator.analysis.estimation import BoundOutcome
    >>> [outcome.value for outcome in BoundOutcome]
    ['holds', 'violated', 'undecided']
    """

    HOLDS = "holds"
    VIOLATED = "violated"
    UNDECIDED = "undecided"


@dataclass(frozen=True, kw_only=True)
class BoundVerdict:
    """A claim, what was measured, and the outcome.

    ``lower`` and ``upper`` are one-sided limits, each failing with probability at most
    ``false_alarm``.

    >>> from simulator.analysis.estimation import tail_violation
    >>> verdict = tail_violation([1.0] * 50 + [0.0] * 50, threshold=0.5, bound=0.1)
    >>> verdict.outcome.value, verdict.bound, verdict.value
    ('violated', 0.1, 0.5)
    """

    outcome: BoundOutcome
    bound: float
    value: float
    lower: float
    upper: float
    false_alarm: float

    @property
    def slack(self) -> float:
        """The bound over the measured value; inf if that is 0."""
        return self.bound / self.value if self.value > 0.0 else math.inf


def violation(
    losses: ArrayLike | LossSample,
    epsilon: float,
    bound_delta: float,
    *,
    experiment: int = 0,
    false_alarm: float = 1e-6,
) -> BoundVerdict:
    """Test of δ(``epsilon``) <= ``bound_delta`` on losses of shape (trials,) of ``experiment``.

    Limits by betting (Waudby-Smith and Ramdas 2023). Raises InvalidInput.

    >>> from simulator.analysis.estimation import violation
    >>> violation([1.0] * 50 + [0.0] * 50, epsilon=0.5, bound_delta=0.3).outcome.value
    'undecided'
    """
    signed = signed_sample(losses, experiment)
    alpha = false_alarm_of(false_alarm)
    found = signed.excess(finite("epsilon", epsilon))
    lower, upper, _ = mean_limits(found, alpha)
    return _verdict(bound_delta, found.centre.mean(), (lower, upper), alpha)


def tail_violation(
    losses: ArrayLike | LossSample,
    threshold: float,
    bound: float,
    *,
    experiment: int = 0,
    false_alarm: float = 1e-6,
    rounds: int = ROUNDS,
) -> BoundVerdict:
    """Test of Pr[L > ``threshold``] <= ``bound``, or of -L in experiment 1 (Clopper-Pearson).

    ``rounds`` as in :func:`simulator.analysis.estimation.tail`. Raises InvalidInput.

    >>> from simulator.analysis.estimation import tail_violation
    >>> tail_violation([1.0] * 50 + [0.0] * 50, threshold=0.5, bound=0.1).outcome.value
    'violated'
    """
    signed = signed_sample(losses, experiment)
    alpha = false_alarm_of(false_alarm)
    least = np.array([beyond(finite("threshold", threshold), whole("rounds", rounds))])
    few, many = (int(hits[0]) for hits in signed.count_above(least))
    trials = signed.trials
    limits = proportion_lower(few, trials, alpha), proportion_upper(many, trials, alpha)
    return _verdict(bound, (few + many) / (2 * trials), limits, alpha)


def weighted_violation(
    losses: ArrayLike | WeightedSample,
    log_weights: ArrayLike | None,
    epsilon: float,
    bound_delta: float,
    *,
    experiment: int = 0,
    false_alarm: float = 1e-6,
    log_bound: float | None = None,
    rounds: int = ROUNDS,
) -> BoundVerdict:
    """Test of δ(``epsilon``) <= ``bound_delta`` on an importance-weighted sample.

    ``losses`` and ``log_weights`` are as in ``weighted_delta``. The lower limit is valid at every
    sample size without any bound on the weights, because wealth that bets on a larger mean of a
    nonnegative variable cannot go below zero. Without ``log_bound`` there is no upper limit, so the
    outcome is never "holds". With few hits the limit is low and still valid, so nothing is refused.
    Raises InvalidInput.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import weighted_violation
    >>> losses = np.linspace(0.0, 2.0, 200)
    >>> weighted_violation(losses, -losses, epsilon=1.0, bound_delta=0.5).outcome.value
    'undecided'
    """
    sample = weighted_sample(losses, log_weights, experiment)
    alpha = false_alarm_of(false_alarm)
    centre = finite("epsilon", epsilon)
    raised = float(beyond(centre, whole("rounds", rounds)))
    lower = lower_from_pilot(sample.excess(raised), alpha).outward
    found, upper = sample.excess(centre), math.inf
    if log_bound is not None:
        scaled = scaled_by_bound(found, finite("log_bound", log_bound))
        upper = unscaled(upper_of(scaled, alpha).outward, log_bound)
    value = math.exp(found.summary().log_value)
    return _verdict(bound_delta, value, (lower, upper), alpha)


def _verdict(
    bound: float, value: float, limits: tuple[float, float], false_alarm: float
) -> BoundVerdict:
    bound = nonnegative("the bound", bound)
    lower, upper = limits
    outcome = BoundOutcome.UNDECIDED
    if lower > bound:
        outcome = BoundOutcome.VIOLATED
    elif upper <= bound:
        outcome = BoundOutcome.HOLDS
    return BoundVerdict(
        outcome=outcome, bound=bound, value=value, lower=lower, upper=upper, false_alarm=false_alarm
    )
