"""The least noise that meets (epsilon, delta), with the probability that the answer is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simulator.analysis.estimation import Estimate
from simulator.foundations.errors import NotApplicable
from simulator.foundations.seeds import named_seed
from simulator.foundations.validation import open_probability, positive, whole
from simulator.theory.bounds.certified_calibration import ParameterScale
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.training.matrices.estimating import DRAWS, estimate_allocation
from simulator.training.matrices.pairs import BinnedPair

ERROR = 1e-3
"""The default probability that the answer is wrong."""
_PILOT_DRAWS = 10_000
_MOST_TRIED = 40
_NEAR, _APART = 1e-3, 0.05
_LEAST_SIGMA, _MOST_SIGMA = 1e-2, 1e6


@dataclass(frozen=True, kw_only=True)
class CalibratedNoise:
    """A sigma that meets a target in both directions, and the next smaller one.

    Attributes
    ----------
    sigma : meets the target, but with probability at most ``error``.
    delta : the estimate of delta at the target epsilon, in the worse direction; its upper end is
        at most the target.
    beyond, beyond_delta : the next smaller sigma on the scale, and its estimate; its lower end may
        be above the target, which shows that it does not meet it.
    error : the probability, over the draws, that ``sigma`` does not meet the target.
    tried : how many values of sigma were put to the final test.
    """

    sigma: float
    delta: Estimate
    beyond: float
    beyond_delta: Estimate
    error: float
    tried: int


def calibrate_noise(
    pair_of: Callable[[float], BinnedPair],
    target_epsilon: float,
    target_delta: float,
    *,
    digits: int = 4,
    error: float = ERROR,
    draws: int = DRAWS,
    seed: int = 0,
) -> CalibratedNoise:
    """The least sigma of so many digits at which delta(epsilon) is at most a target.

    Parameters
    ----------
    pair_of : the pair of a sigma.
    digits : significant digits of sigma, from 1 to 6.
    error : the probability that the answer is wrong.
    draws : of each direction, for each value that is put to the final test.

    Held-out draws find where the search starts, and how fast delta falls with sigma. From there
    values are tried, each larger than the one before by as much as its upper end calls for, the
    i-th with draws of its own at the error 2^-i of ``error``, until an upper end is at most the
    target: all tests together err with probability at most ``error``.

    Raises InvalidInput, and NotApplicable if no value is found.
    """
    target_epsilon = positive("target epsilon", target_epsilon)
    target_delta = open_probability("target delta", target_delta)
    open_probability("error", error)
    scale = ParameterScale(
        "sigma", _LEAST_SIGMA, _MOST_SIGMA, start=1.0, grows=True, digits=whole("digits", digits)
    )
    search = _NoiseSearch(pair_of, target_epsilon, target_delta, whole("draws", draws), seed)
    near, slope = search.near()
    index = scale.index(near) + 1
    for tried in range(1, _MOST_TRIED + 1):
        sigma = scale.candidate(index)
        found = search.tested(sigma, error * 0.5**tried)
        if found.upper <= target_delta:
            below = scale.candidate(index - 1)
            return CalibratedNoise(
                sigma=sigma, delta=found, beyond=below, beyond_delta=search.tested(below, error),
                error=error, tried=tried,
            )  # fmt: skip
        excess = math.log(found.upper / target_delta) / slope
        index = max(index + 1, scale.index(sigma * math.exp(min(excess, 0.5))))
    raise NotApplicable(
        f"{_MOST_TRIED} values of sigma were tried and none met the target with {draws} draws: "
        "take more draws, or fewer digits"
    )


@dataclass(frozen=True)
class _NoiseSearch:
    pair_of: Callable[[float], BinnedPair]
    epsilon: float
    delta: float
    draws: int
    seed: int

    def near(self) -> tuple[float, float]:
        """A sigma near the least one, and -d ln delta / d ln sigma there, from held-out draws."""
        root = named_seed(self.seed, "calibration", 0)

        def excess(log_sigma: float) -> float:
            pair = self.pair_of(math.exp(log_sigma))
            found = estimate_allocation(
                pair, epsilon=self.epsilon, draws=min(self.draws, _PILOT_DRAWS), seed=root
            )
            return math.log(max(found.worst.value, 1e-300) / self.delta)

        high = math.log(self._public())
        low = high
        while excess(low) <= 0.0:
            high, low = low, low - 0.5
            if low < math.log(_LEAST_SIGMA):
                raise NotApplicable(f"every sigma from {_LEAST_SIGMA:g} on meets the target")
        while high - low > _NEAR:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if excess(middle) > 0.0 else (low, middle)
        ends = excess(low - _APART), excess(low + _APART)
        return math.exp(low), max((ends[0] - ends[1]) / (2.0 * _APART), 1.0)

    def tested(self, sigma: float, error: float) -> Estimate:
        """The worse direction's delta; its upper end errs with probability at most ``error``."""
        found = estimate_allocation(
            self.pair_of(sigma), epsilon=self.epsilon, draws=self.draws, seed=self.seed,
            confidence=1.0 - 2.0 * error,
        )  # fmt: skip
        return found.worst

    def _public(self) -> float:
        """The sigma at which the bin of the longest mean meets the target, were it public."""
        norm = math.sqrt(float(np.max(np.diagonal(self.pair_of(1e3).gram)))) * 1e3
        low, high = math.log(_LEAST_SIGMA), math.log(_MOST_SIGMA)
        for _ in range(60):
            middle = 0.5 * (low + high)
            met = gaussian_delta(norm / math.exp(middle), self.epsilon) <= self.delta
            low, high = (low, middle) if met else (middle, high)
        return math.exp(high)
