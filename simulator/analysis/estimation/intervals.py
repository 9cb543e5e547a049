"""Closed-form intervals that hold at every sample size: a proportion, and a bounded mean."""

from __future__ import annotations

import math

import scipy
from numpy.typing import ArrayLike

from simulator.analysis.estimation.estimate import Estimate, estimate_of_mean
from simulator.engine.outcomes.points import Points
from simulator.engine.outcomes.samples import error_level, unit_interval_sample
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import open_probability, whole
from simulator.foundations.wording import count_of


def clopper_pearson(hits: int, trials: int, confidence: float = 0.95) -> Estimate:
    """A probability from ``hits`` among ``trials`` independent trials.

    Source: Clopper and Pearson (Biometrika, 1934), by quantiles of the beta law. Covers with at
    least the stated probability at every sample size. Raises InvalidInput.

    >>> from simulator.analysis.estimation import clopper_pearson
    >>> print(clopper_pearson(63, 500))
    0.126 [0.0982, 0.158] (95%, Clopper-Pearson)
    """
    alpha = error_level(confidence) / 2.0
    share = hits / trials if trials > 0 else math.nan
    return Estimate(
        value=share,
        lower=proportion_lower(hits, trials, alpha),
        upper=proportion_upper(hits, trials, alpha),
        confidence=confidence,
        method="Clopper-Pearson",
        hits=int(hits),
        effective_sample_size=float(trials),
        largest_weight_share=1.0 / max(hits, 1),
        relative_standard_error=math.sqrt((1.0 - share) / hits) if hits > 0 else math.inf,
    )


def proportion_lower(hits: int, trials: int, alpha: float) -> float:
    """Lower Clopper-Pearson limit alone, failing with probability at most ``alpha``.

    >>> from simulator.analysis.estimation import proportion_lower
    >>> round(proportion_lower(63, 500, alpha=0.025), 6)
    0.098196
    """
    _check_counts(hits, trials)
    open_probability("alpha", alpha)
    return 0.0 if hits == 0 else float(scipy.special.betaincinv(hits, trials - hits + 1, alpha))


def proportion_upper(hits: int, trials: int, alpha: float) -> float:
    """Upper Clopper-Pearson limit alone, failing with probability at most ``alpha``.

    >>> from simulator.analysis.estimation import proportion_upper
    >>> round(proportion_upper(0, 500, alpha=0.05), 6)
    0.005974
    """
    _check_counts(hits, trials)
    open_probability("alpha", alpha)
    return (
        1.0 if hits == trials else float(scipy.special.betainccinv(hits + 1, trials - hits, alpha))
    )


def empirical_bernstein(sample: ArrayLike, confidence: float = 0.95) -> Estimate:
    """Mean of a [0, 1] sample, shape (trials,), at least two, by the empirical Bernstein bound.

    Source: Maurer and Pontil (COLT 2009), Theorem 4, on both sides at half the error each:
    √(2 V ln(2/a)/n) + 7 ln(2/a)/(3(n-1)) with V the sample variance. Wider than betting, and in
    closed form: a check of the betting interval. Raises InvalidInput.

    >>> import numpy as np
    >>> from simulator.analysis.estimation import empirical_bernstein
    >>> print(empirical_bernstein(np.random.default_rng(0).uniform(size=200)))
    0.54 [0.425, 0.654] (95%, empirical Bernstein (Maurer-Pontil))
    """
    array = unit_interval_sample(sample)
    if array.size < 2:
        raise InvalidInput("sample has one value: empirical Bernstein needs at least two")
    logarithm = math.log(2.0 / (error_level(confidence) / 2.0))
    mean, variance = float(array.mean()), float(array.var(ddof=1))
    slack = math.sqrt(2.0 * variance * logarithm / array.size)
    radius = slack + 7.0 * logarithm / (3.0 * (array.size - 1))
    limits = max(0.0, mean - radius), min(1.0, mean + radius)
    return estimate_of_mean(
        Points(array), limits, confidence, "empirical Bernstein (Maurer-Pontil)"
    )


def _check_counts(hits: int, trials: int) -> None:
    if not whole("hits", hits, 0) <= whole("trials", trials):
        raise InvalidInput(
            f"{count_of(hits, 'hit')} among {count_of(trials, 'trial')}: need hits <= trials"
        )
