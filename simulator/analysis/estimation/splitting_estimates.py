"""Multilevel splitting: a rare probability as a product of conditional ones.

Source: Kahn and Harris (1951); Garvels, "The splitting method in rare event simulation" (2000).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import ArrayLike

from simulator.analysis.estimation.estimate import Estimate
from simulator.analysis.estimation.weighted import log_sample_estimate
from simulator.engine.outcomes.log_mean import MINIMUM_HITS
from simulator.engine.outcomes.samples import error_level
from simulator.engine.outcomes.weighted_sample import LogSample
from simulator.foundations.errors import InvalidInput, Refusal
from simulator.foundations.wording import count_of

_SMALLEST_LOG = -690.0


def splitting_product(
    successes: ArrayLike,
    trials: ArrayLike,
    confidence: float = 0.95,
    *,
    minimum_hits: int = MINIMUM_HITS,
) -> Estimate:
    """Probability of passing every level, from one run; both arrays have shape (levels,).

    ``successes[i]`` of the ``trials[i]`` paths started at level i reached the next one. The value
    is the product of the shares, the relative variance the sum of (1-p_i)/(p_i n_i), the interval
    normal on the log scale: a guess, which assumes that paths started at one level are nearly
    independent; one run has no limits that are valid at every number of trials. For several runs
    use :func:`splitting_runs`, without that assumption. ``hits`` and ``effective_sample_size`` are
    the smallest of any level. Raises InvalidInput, and Refusal when a level has fewer than
    ``minimum_hits``.
    """
    passed, started = np.atleast_1d(np.asarray(successes)), np.atleast_1d(np.asarray(trials))
    if passed.shape != started.shape or passed.ndim != 1 or passed.size == 0:
        raise InvalidInput("successes and trials need one count per level, and at least one level")
    if not np.all((passed >= 0) & (passed <= started) & (started > 0)):
        raise InvalidInput("each level needs 0 <= successes <= trials and trials >= 1")
    worst = int(passed.argmin())
    if passed[worst] < max(minimum_hits, 1):
        raise Refusal(
            f"{passed[worst]} of {count_of(int(started[worst]), 'path')} passed level {worst}, "
            f"{max(minimum_hits, 1)} are needed: try more trials or levels closer together"
        )
    share = passed / started
    log_value = float(np.log(share).sum())
    if log_value < _SMALLEST_LOG:
        raise Refusal("the estimate is below the smallest float: give a less extreme epsilon")
    error = math.sqrt(float(((1.0 - share) / passed).sum()))
    reach = float(-scipy.special.ndtri(error_level(confidence) / 2.0)) * error
    return Estimate(
        value=math.exp(log_value),
        lower=0.0,
        upper=1.0,
        confidence=confidence,
        method="multilevel splitting, one run",
        hits=int(passed[worst]),
        effective_sample_size=float(started.min()),
        largest_weight_share=1.0 / float(passed[worst]),
        relative_standard_error=error,
        guess=(math.exp(log_value - reach), math.exp(min(log_value + reach, 0.0))),
    )


def splitting_runs(
    estimates: ArrayLike, confidence: float = 0.95, *, ceiling: float = 1.0, minimum_runs: int = 10
) -> Estimate:
    """Mean of independent splitting runs, shape (runs,), each an unbiased estimate (0 allowed).

    The lower limit bets on larger means of nonnegative variables, and is valid for any number of
    runs; the upper one is ``ceiling``, a known upper bound. The Student interval over the runs, on
    the log scale, is a guess. Raises InvalidInput, and Refusal with fewer than ``minimum_runs``
    non-zero runs or when one run dominates.
    """
    values = np.atleast_1d(np.asarray(estimates, dtype=np.float64))
    if values.ndim != 1 or not np.all((values >= 0.0) & np.isfinite(values)):
        raise InvalidInput("estimates must be one finite number >= 0 per run")
    log_values = np.full(values.shape, -np.inf)
    np.log(values, out=log_values, where=values > 0.0)
    found = log_sample_estimate(
        LogSample.of(log_values), confidence, ceiling=ceiling, minimum_hits=minimum_runs
    )
    return replace(found, method=f"multilevel splitting, {found.method}")
