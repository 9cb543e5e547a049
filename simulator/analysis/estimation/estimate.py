"""The result of an estimator: a value with its confidence interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

from simulator.engine.outcomes.log_mean import LogMean
from simulator.engine.outcomes.points import Points
from simulator.foundations.errors import Refusal
from simulator.foundations.validation import real

_NUMBERS = (
    "value", "lower", "upper", "confidence", "hits", "effective_sample_size",
    "largest_weight_share", "relative_standard_error", "widened",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value with its confidence interval and figures on its accuracy.

    ``lower <= value <= upper``; an infinite ``upper`` means that there is no upper bound.
    ``confidence`` is the coverage of the two-sided interval, ``method`` how it was made.
    ``lower_valid`` and ``upper_valid`` say of each end whether it has its confidence at every
    sample size. A sample has no information on paths that it does not contain: where no bound that
    is known in advance limits their part and the ends are far apart, these are all that there is.
    Then ``value`` is NaN, and ``no_value`` is the reason. A refused point among several has trivial
    ends too (:meth:`refused`).

    ``hits`` counts the trials that contribute; ``effective_sample_size`` is (ΣX)²/ΣX² for weighted
    samples and the number of trials for plain ones; ``largest_weight_share`` is the largest
    contribution over the sum; ``relative_standard_error`` is the estimated standard error over
    the value (infinite where there is none). ``widened`` is an upper bound on how much further out
    an end is than if every loss were known, and bets had the same scale and changed at the same
    trials: 0 unless losses were binned.

    ``float(estimate)`` is the value. Two estimates are equal where all of their fields are, NaN to
    NaN too.

    >>> from simulator.analysis.estimation import clopper_pearson
    >>> estimate = clopper_pearson(126, 1000)
    >>> print(estimate)
    0.126 [0.106, 0.148] (95%, Clopper-Pearson)
    """

    value: float
    lower: float
    upper: float
    confidence: float
    method: str
    hits: int
    effective_sample_size: float
    largest_weight_share: float
    relative_standard_error: float
    lower_valid: bool = True
    upper_valid: bool = True
    no_value: str = ""
    widened: float = 0.0

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            real(name, getattr(self, name))

    @classmethod
    def refused(cls, why: str, ends: tuple[float, float], confidence: float) -> Estimate:
        """The estimate of a refused point: no value, and the trivial ``ends``."""
        return cls(
            value=math.nan, lower=ends[0], upper=ends[1], confidence=confidence, method="refused",
            hits=0, effective_sample_size=0.0, largest_weight_share=1.0,
            relative_standard_error=math.inf, no_value=why,
        )  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        """Fields by name, for JSON: None stands for a number that is not finite."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        if not self.widened:
            del named["widened"]
        return {name: _finite_or_none(entry) for name, entry in named.items()}

    def _compared(self) -> tuple[Any, ...]:
        return tuple(None if each != each else each for each in vars(self).values())

    # dataclasses compare field by field from Python 3.13 on, where no NaN equals itself
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Estimate) and self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def __float__(self) -> float:
        """Return the value. Raises Refusal if there is none, with the reason."""
        if self.no_value:
            raise Refusal(f"this estimate has ends and no value: {self.no_value}")
        return self.value

    def __repr__(self) -> str:
        return f"<Estimate {self}>"

    @property
    def computed(self) -> bool:
        """Whether the value was computed, with certain ends, and no sample was drawn."""
        return not self.no_value and self.effective_sample_size == self.relative_standard_error == 0

    def __str__(self) -> str:
        wider = f", widened by {self.widened:.1g} at most" if self.widened else ""
        how = "" if self.computed else f"{100 * self.confidence:.10g}%, "
        how = f"({how}{self.method}{wider})"
        if self.no_value:
            ends = f"between {self.lower:.3g} and {self.upper:.3g}"
            return f"{ends} {how}; no value: {self.no_value}"
        value, lower, upper = _aligned(self.value, self.lower, self.upper)
        return f"{value} [{lower}, {upper}] {how}"

    def without_value(self, why: str) -> Estimate:
        """The ends alone, if there is a value; ``why`` is the reason."""
        if self.no_value:
            return self
        return replace(self, value=math.nan, relative_standard_error=math.inf, no_value=why)


def estimate_of_mean(
    sample: Points, limits: tuple[float, float], confidence: float, method: str
) -> Estimate:
    """The Estimate of the mean of an unweighted, nonnegative sample with the given limits."""
    mean = sample.mean()
    largest = float(sample.values.max())
    error = sample.deviation() / math.sqrt(max(sample.trials - 1, 1))
    return Estimate(
        value=mean,
        lower=min(limits[0], mean),
        upper=max(limits[1], mean),
        confidence=confidence,
        method=method,
        hits=sample.hits(),
        effective_sample_size=float(sample.trials),
        largest_weight_share=largest / (mean * sample.trials) if mean > 0.0 else 1.0,
        relative_standard_error=error / mean if mean > 0.0 else math.inf,
    )


def estimate_of_log_mean(
    mean: LogMean, limits: tuple[float, float], confidence: float, method: str
) -> Estimate:
    """The Estimate of a weighted mean with the given valid limits and its summary's figures."""
    value = math.exp(mean.log_value)
    return Estimate(
        value=value,
        lower=min(float(limits[0]), value),
        upper=max(float(limits[1]), value),
        confidence=confidence,
        method=method,
        hits=mean.hits,
        effective_sample_size=mean.effective_sample_size,
        largest_weight_share=mean.largest_share,
        relative_standard_error=mean.relative_error,
    )


def _finite_or_none(entry: Any) -> Any:
    return None if isinstance(entry, float) and not math.isfinite(entry) else entry


def _aligned(value: float, lower: float, upper: float) -> tuple[str, str, str]:
    """The three numbers with enough digits to distinguish the ends, at least three."""
    digits = 3
    scale = max(abs(value), abs(lower))
    share = (upper - lower) / scale if scale > 0 else 0.0
    if 0.0 < share < math.inf:
        digits = max(3, 2 - math.floor(math.log10(share)))
    shown = min(digits, 12)
    return f"{value:.{shown}g}", f"{lower:.{shown}g}", f"{upper:.{shown}g}"
