"""The hockey-stick divergence δ(ε) and its inverse ε(δ), from plain simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from simulator.analysis.estimation.betting import METHOD, bets_on_mean, lower_limit, upper_limit
from simulator.analysis.estimation.estimate import Estimate, estimate_of_mean
from simulator.analysis.estimation.inversion import Inversion, PlainCurve, relative_error_of_epsilon
from simulator.analysis.estimation.wealth import ABOVE, BELOW
from simulator.engine.outcomes.loss_sample import Excess, LossSample, signed_sample
from simulator.engine.outcomes.points import Points
from simulator.engine.outcomes.samples import error_level
from simulator.foundations.ties import ROUNDS, tolerance
from simulator.foundations.validation import finite, open_probability, whole


def delta(
    losses: ArrayLike | LossSample,
    epsilon: float,
    experiment: int = 0,
    confidence: float = 0.95,
    *,
    rounds: int = ROUNDS,
) -> Estimate:
    """Hockey-stick divergence E[(1 - e^{ε-L})₊] at ``epsilon``, any finite number.

    ``losses`` has shape (trials,), drawn in ``experiment``, always ln Pr[V0=v]/Pr[V1=v]; in
    experiment 1 the roles are exchanged, L becomes -L. The estimator is the mean of a [0, 1]
    variable; its betting interval (Waudby-Smith and Ramdas 2023) is valid at every sample size,
    with its ends moved outward by what rounding adds to a loss of so many ``rounds``: δ is 0 at
    the largest loss, where a computed one may lie above. Raises InvalidInput.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import delta
    >>> print(delta(np.random.default_rng(0).uniform(-1.0, 2.0, 200), epsilon=0.5))
    0.285 [0.233, 0.341] (95%, betting)
    """
    signed, centre = signed_sample(losses, experiment), finite("epsilon", epsilon)
    slack = tolerance(centre, whole("rounds", rounds))
    alpha = error_level(confidence) / 2.0
    found = signed.excess(centre)
    lower, upper, widened = mean_limits(found, alpha)
    estimate = estimate_of_mean(found.centre, (lower, upper), confidence, METHOD)
    # δ(ε + s) >= δ(ε) - s: its derivative is that of a probability
    return replace(
        estimate,
        lower=max(0.0, estimate.lower - slack),
        upper=min(1.0, estimate.upper + slack),
        widened=widened,
    )


def mean_limits(found: Excess, alpha: float) -> tuple[float, float, float]:
    """Betting limits (lower, upper) of the mean, ``alpha`` each, and their widening.

    If losses were counted, the widening bounds the distance from the limits of every loss.
    """
    few, many = found.spread(found.low), found.spread(found.high)
    above, below = bets_on_mean(few, alpha, ABOVE), bets_on_mean(many, alpha, BELOW)
    lower, upper = lower_limit(few, alpha, above), upper_limit(many, alpha, below)
    if found.sample.exact:
        return lower, upper, 0.0
    best_lower = lower_limit(found.at(found.high), alpha, above)
    best_upper = upper_limit(found.at(found.low), alpha, below)
    return lower, upper, max(best_lower - lower, upper - best_upper, 0.0)


def epsilon(
    losses: ArrayLike | LossSample, delta: float, experiment: int = 0, confidence: float = 0.95
) -> Estimate:
    """Least ε >= 0 with hockey-stick divergence at most ``delta``, strictly between 0 and 1.

    ``losses`` as in :func:`delta`. The interval inverts the betting test, see ``inversion``; it is
    valid at every sample size. An infinite ``upper`` means that ``delta`` is too small for so few
    trials. ``hits`` counts the losses above the value. Raises InvalidInput.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import epsilon
    >>> print(epsilon(np.random.default_rng(0).uniform(-1.0, 2.0, 200), delta=0.1))
    1.26 [1.12, 1.41] (95%, betting, test inversion)
    """
    signed = signed_sample(losses, experiment)
    target = open_probability("delta", delta)
    alpha = error_level(confidence) / 2.0
    point = PlainCurve(signed).suggestion(target)
    lower, upper, widened = _inverted(signed, target, alpha, point)
    middles = signed.middles()
    hits, most = signed.count_above(np.array([point]))
    return Estimate(
        value=point,
        lower=lower,
        upper=upper,
        confidence=confidence,
        method=f"{METHOD}, test inversion",
        hits=int(hits[0] + most[0]) // 2,
        effective_sample_size=float(signed.trials),
        largest_weight_share=_largest_share(signed, point),
        relative_standard_error=relative_error_of_epsilon(
            middles, np.zeros_like(middles), point, signed.counts_or_none(),
        ),
        widened=widened,
    )  # fmt: skip


def _inverted(
    signed: LossSample, target: float, alpha: float, point: float
) -> tuple[float, float, float]:
    """Limits (lower, upper) of ε, and by how much they are wider than with every loss."""

    def ends(below: Callable[[Excess], Points], above: Callable[[Excess], Points]) -> list[float]:
        return [
            Inversion(PlainCurve(signed, below), target, alpha).lower(point),
            Inversion(PlainCurve(signed, above), target, alpha).upper(point),
        ]

    lower, upper = ends(lambda e: e.spread(e.low), lambda e: e.spread(e.high))
    if signed.exact:
        return lower, upper, 0.0
    best_lower, best_upper = ends(lambda e: e.at(e.high), lambda e: e.at(e.low))
    # two infinite ends are not wider
    inward = best_lower - lower if lower < best_lower else 0.0
    outward = upper - best_upper if best_upper < upper else 0.0
    return lower, upper, max(inward, outward)


def _largest_share(signed: LossSample, point: float) -> float:
    if math.isinf(point):
        return 1.0
    sample = signed.excess(point).centre
    total = sample.mean() * sample.trials
    return float(sample.values.max()) / total if total > 0.0 else 1.0
