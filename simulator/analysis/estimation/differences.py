"""The difference of two estimates, without an assumption of independence."""

from __future__ import annotations

import math

from simulator.analysis.estimation.estimate import Estimate
from simulator.foundations.errors import NotApplicable
from simulator.foundations.validation import instance


def difference(one: Estimate, other: Estimate) -> Estimate:
    """Return ``one - other``, with the confidence that is left: 1 - (α₁ + α₂).

    If each interval misses with probability α₁ and α₂ at most, then the interval from
    ``one.lower - other.upper`` to ``one.upper - other.lower`` misses with α₁ + α₂ at most, by the
    union bound. The samples may depend on each other: a longer run shares its first trials
    with a shorter one of the same seed. Raises NotApplicable if the confidence would be 0, or both
    values are infinite.

    >>> from simulator.analysis.estimation import clopper_pearson, difference
    >>> print(difference(clopper_pearson(63, 500), clopper_pearson(21, 500)))
    0.084 [0.0347, 0.132] (90%, difference of two, Clopper-Pearson)
    """
    instance("one", one, Estimate)
    instance("other", other, Estimate)
    confidence = 1.0 - ((1.0 - one.confidence) + (1.0 - other.confidence))
    if confidence <= 0.0:
        raise NotApplicable(
            f"intervals of confidence {one.confidence:g} and {other.confidence:g} leave none for "
            "the difference: give both a higher confidence"
        )
    value = one.value - other.value
    no_value = one.no_value or other.no_value
    if math.isnan(value) and not no_value:
        raise NotApplicable("both values are infinite, and their difference is undefined")
    lower, upper = _subtracted((one.lower, one.upper), (other.lower, other.upper))
    error = math.hypot(_error(one), _error(other))
    methods = " and ".join(dict.fromkeys((one.method, other.method)))
    return Estimate(
        value=value,
        lower=lower,
        upper=upper,
        confidence=confidence,
        method=f"difference of two, {methods}",
        hits=one.hits + other.hits,
        effective_sample_size=min(one.effective_sample_size, other.effective_sample_size),
        largest_weight_share=max(one.largest_weight_share, other.largest_weight_share),
        relative_standard_error=error / abs(value) if abs(value) > 0.0 else math.inf,
        lower_valid=one.lower_valid and other.upper_valid,
        upper_valid=one.upper_valid and other.lower_valid,
        no_value=no_value,
        widened=one.widened + other.widened,
    )


def _subtracted(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """The ends of the difference; infinite where two infinite ends meet."""
    lower, upper = one[0] - other[1], one[1] - other[0]
    return -math.inf if math.isnan(lower) else lower, math.inf if math.isnan(upper) else upper


def _error(estimate: Estimate) -> float:
    """The standard error; infinite where nothing was hit."""
    relative = estimate.relative_standard_error
    return relative * abs(estimate.value) if math.isfinite(relative) else math.inf
