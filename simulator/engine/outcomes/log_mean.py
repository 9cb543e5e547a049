"""The mean of a nonnegative sample given by its logarithms, with diagnostics."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator.engine.outcomes.samples import Floats
from simulator.foundations.errors import Refusal
from simulator.foundations.wording import count_of

VALID_ENDS = "betting below, the family's curve above"
"""The method of a weighted sample under any measure: the lower end needs only nonnegative weights,
the upper is the family's bound."""

MINIMUM_HITS = 30
"""The least number of trials that show a probability."""
LARGEST_SHARE = 0.2
"""The largest part of a value that may be unknown."""

_SMALLEST_LOG = -690.0  # e^-690 is still a normal float


@dataclass(frozen=True, kw_only=True)
class LogMean:
    """Mean of e^x over the sample, in logarithms, with its diagnostics."""

    log_value: float
    trials: int
    hits: int
    effective_sample_size: float
    largest_share: float
    relative_error: float

    @classmethod
    def of(
        cls, log_sample: Floats, trials: int | None = None, counts: Floats | None = None
    ) -> LogMean:
        """Summary of a sample of logarithms; -inf stands for a contribution of zero.

        ``trials`` is the size of the whole sample where zeros were left out; ``counts`` are the
        trials that each number stands for, by default one.
        """
        trials = log_sample.size if trials is None else trials
        peak = float(log_sample.max())
        if peak == -math.inf:
            return cls(
                log_value=-math.inf,
                trials=trials,
                hits=0,
                effective_sample_size=0.0,
                largest_share=1.0,
                relative_error=math.inf,
            )
        scaled = np.exp(log_sample - peak)
        many = np.ones(1) if counts is None else counts
        present = log_sample.size if counts is None else round(float(counts.sum()))
        total, squares = float((many * scaled).sum()), float((many * scaled**2).sum())
        mean = total / trials
        # two passes: with nearly equal weights, 1/ESS - 1/n would cancel to rounding noise
        spread = float((many * (scaled - mean) ** 2).sum()) + (trials - present) * mean**2
        return cls(
            log_value=peak + math.log(mean),
            trials=trials,
            hits=round(float(np.where(log_sample > -math.inf, many, 0.0).sum())),
            effective_sample_size=total**2 / squares,
            largest_share=1.0 / total,
            relative_error=math.sqrt(spread) / total,
        )

    def require_hit(self) -> None:
        """Raise Refusal where there is no hit, or the value underflows."""
        if self.hits == 0:
            raise Refusal(
                f"0 of {count_of(self.trials, 'trial')} hit the event: try more trials, or a "
                "smaller epsilon"
            )
        if self.log_value < _SMALLEST_LOG:
            raise Refusal(
                f"the estimate is e^{self.log_value:.0f}, below the smallest float: "
                "choose a less extreme epsilon"
            )
