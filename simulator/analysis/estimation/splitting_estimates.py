"""Multilevel splitting: a rare probability as a product of conditional ones.

Source: Kahn and Harris (1951); Garvels, "The splitting method in rare event simulation" (2000).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from simulator.analysis.estimation.estimate import Estimate
from simulator.analysis.estimation.weighted import log_sample_estimate
from simulator.engine.outcomes.weighted_sample import LogSample
from simulator.foundations.errors import InvalidInput


def splitting_runs(
    estimates: ArrayLike, confidence: float = 0.95, *, ceiling: float = 1.0
) -> Estimate:
    """Ends for the mean of splitting runs, shape (runs,), each an unbiased estimate (0 allowed).

    The lower limit bets on larger means of nonnegative variables, and is valid for any number of
    independent runs; the upper one is ``ceiling``, a known upper bound. There is no value, as runs
    may miss rare paths. Raises InvalidInput, and Refusal if all are zero.

    >>> from simulator.analysis.estimation import splitting_runs
    >>> estimate = splitting_runs([1e-4, 2e-4, 0.0, 3e-4] * 25, ceiling=0.01)
    >>> round(estimate.lower, 6), estimate.upper
    (0.000116, 0.01)
    """
    values = np.atleast_1d(np.asarray(estimates, dtype=np.float64))
    if values.ndim != 1 or not values.size or not np.all((values >= 0.0) & np.isfinite(values)):
        raise InvalidInput("estimates must be one finite number >= 0 per run")
    log_values = np.full(values.shape, -np.inf)
    np.log(values, out=log_values, where=values > 0.0)
    found = log_sample_estimate(LogSample.of(log_values), confidence, ceiling=ceiling)
    return replace(found, method=f"multilevel splitting, {found.method}")
