"""How many times a mechanism is run before the best run is released, and what that costs.

Let K be the number of runs, f(x) = E[x^K] its generating function, and q the probability that one
run scores below a given run (ties are broken by a fresh uniform number). The density of the best
run against that of one run is f'(q). With q on one database and t on the other, the loss of the
best run is that of one run plus ln f'(q)/f'(t). Where one run is (epsilon, delta)-DP, (q, t) is in
the region q <= e^epsilon t + delta, 1 - t <= e^epsilon (1 - q) + delta, and likewise exchanged.
:meth:`RunCount.growth` is the largest ln f'(q)/f'(t) there. Hence

- runs that are epsilon-DP give a selection that is (epsilon + growth(epsilon, 0))-DP;
- at any point e of the curve delta(e) of one run, and any point (epsilon, delta) of it, the
  selection is (e + growth(epsilon, delta), E[K] delta(e))-DP, as f' <= f'(1) = E[K].

Source: the law of K and the Renyi form are in Papernot and Steinke 2022, "Hyperparameter Tuning
with Renyi Differential Privacy"; the form above follows from the density f'(q), in the manner of
Koskela, Redberg and Wang 2024, "Privacy Profiles for Private Selection".
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.foundations.errors import InvalidInput
from simulator.foundations.roots import crossing
from simulator.foundations.validation import finite
from simulator.theory.outward import below as rounded_down
from simulator.theory.parameters import count

Floats = NDArray[np.float64]

_LEAST_GAMMA = 1e-12


class RunCount(ABC):
    """The law of the number of runs."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """The mean number of runs."""

    @property
    def none(self) -> float:
        """Probability that there is no run at all."""
        return 0.0

    @abstractmethod
    def between(self, below: ArrayLike, mass: ArrayLike, above: ArrayLike) -> Floats:
        """Probability that there is a run, and that the best lies in a cell; shape of the cells.

        ``below``, ``mass`` and ``above`` are the probabilities that one run scores below, in and
        above the cell; they add up to 1. Accurate where any of the three is tiny.
        """

    @abstractmethod
    def growth(self, epsilon: float, delta: float = 0.0) -> float:
        """Largest ln f'(q)/f'(t) where one run is (epsilon, delta)-DP; may be infinite."""


@dataclass(frozen=True)
class NegativeBinomialRuns(RunCount):
    """Truncated negative binomial: Pr[K = k] is proportional to (1 - gamma)^k (shape)_k / k!.

    Geometric for ``shape`` 1, logarithmic for 0; ``shape`` > -1, ``gamma`` in (0, 1].

    Source: Papernot and Steinke 2022.
    """

    shape: float
    gamma: float

    def __post_init__(self) -> None:
        if not finite("shape", self.shape) > -1.0:
            raise InvalidInput(f"shape must be above -1, not {self.shape!r}")
        if not 0.0 < finite("gamma", self.gamma) <= 1.0:
            raise InvalidInput(f"gamma must be in (0, 1], not {self.gamma!r}")

    @classmethod
    def of_mean(cls, mean: float, shape: float = 1.0) -> NegativeBinomialRuns:
        """The law of that shape with this mean >= 1, to within 1e-8; raises InvalidInput."""
        if not finite("mean", mean) >= 1.0:
            raise InvalidInput(f"the mean number of runs must be at least 1, not {mean!r}")
        if not finite("shape", shape) > -1.0:
            raise InvalidInput(f"shape must be above -1, not {shape!r}")
        return cls(shape, 1.0 if mean == 1.0 else gamma_of_mean(mean, shape))

    @property
    def mean(self) -> float:
        """The mean number of runs."""
        return 1.0 if self.gamma == 1.0 else mean_of_gamma(self.gamma, self.shape)

    def between(self, below: ArrayLike, mass: ArrayLike, above: ArrayLike) -> Floats:
        """The generating function at the upper end of the cell, less that at its lower end."""
        cell, rest = (np.asarray(each, dtype=float) for each in (mass, above))
        keep = 1.0 - self.gamma
        if keep == 0.0:
            return cell.copy()
        end = self.gamma + keep * rest  # 1 - (1 - gamma) x at the upper end of the cell
        log_ratio = np.log1p(keep * cell / end)
        if self.shape == 0.0:
            return np.asarray(log_ratio / -math.log(self.gamma))
        top = np.exp(-self.shape * np.log(end)) * -np.expm1(-self.shape * log_ratio)
        return np.asarray(top / math.expm1(-self.shape * math.log(self.gamma)))

    def growth(self, epsilon: float, delta: float = 0.0) -> float:
        """The difference of ln f' in a corner; (1 + shape) epsilon for the least gamma and delta 0.

        ln f' is -(1 + shape) ln(1 - (1 - gamma) x). Its difference is largest in a corner of the
        region: where both inequalities are equalities, or q = 1 and t = 1 - delta.
        """
        keep = 1.0 - self.gamma
        low = math.exp(-epsilon) / (1.0 + math.exp(-epsilon)) * (1.0 - delta)
        high = low + (1.0 - delta) * math.tanh(epsilon / 2.0) + delta
        corner = (self.gamma + keep * (1.0 - low)) / (self.gamma + keep * (1.0 - high))
        return (1.0 + self.shape) * math.log(max(corner, 1.0 + keep * delta / self.gamma))


@dataclass(frozen=True)
class PoissonRuns(RunCount):
    """A Poisson number of runs, possibly none: f'(q)/f'(t) = e^{mean (q - t)}.

    Source: Papernot and Steinke 2022.
    """

    rate: float

    def __post_init__(self) -> None:
        if not finite("the mean number of runs", self.rate) > 0.0:
            raise InvalidInput(f"the mean number of runs must be positive, not {self.rate!r}")

    @property
    def mean(self) -> float:
        """The mean number of runs, the rate."""
        return self.rate

    @property
    def none(self) -> float:
        """Probability exp(-rate) that there is no run at all."""
        return math.exp(-self.rate)

    def between(self, below: ArrayLike, mass: ArrayLike, above: ArrayLike) -> Floats:
        """Probability of no run above the cell, less that of none in or above it."""
        cell, rest = (self.rate * np.asarray(each, dtype=float) for each in (mass, above))
        return np.asarray(np.exp(-rest) * -np.expm1(-cell))

    def growth(self, epsilon: float, delta: float = 0.0) -> float:
        """The mean times the largest total variation distance."""
        return self.rate * (delta + (1.0 - delta) * math.tanh(epsilon / 2.0))


@dataclass(frozen=True)
class FixedRuns(RunCount):
    """A fixed number of runs: f'(q)/f'(t) = (q/t)^{number - 1}, so each run costs epsilon."""

    number: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", count("the number of runs", self.number))

    @property
    def mean(self) -> float:
        """The number of runs."""
        return float(self.number)

    def between(self, below: ArrayLike, mass: ArrayLike, above: ArrayLike) -> Floats:
        """The power at the upper end of the cell, less that at its lower end."""
        low, cell, rest = (np.asarray(each, dtype=float) for each in (below, mass, above))
        end = low + cell
        with np.errstate(divide="ignore", invalid="ignore"):
            log_end = np.where(rest < 0.5, np.log1p(-rest), np.log(end))
            inside = -np.expm1(self.number * np.log1p(-np.minimum(cell / end, 1.0)))
            best = np.exp(self.number * log_end) * inside
        return np.asarray(np.where(cell > 0.0, best, 0.0))

    def growth(self, epsilon: float, delta: float = 0.0) -> float:
        """Epsilon for each further run; infinite for two or more where delta is above 0."""
        if self.number == 1:
            return 0.0
        return (self.number - 1) * epsilon if delta == 0.0 else math.inf


def mean_of_gamma(gamma: float, shape: float) -> float:
    """Mean of the truncated negative binomial law (Papernot and Steinke 2022, Definition 1)."""
    log = math.log(gamma)
    if shape == 0.0:
        return (1.0 / gamma - 1.0) / -log
    return shape * (1.0 / gamma - 1.0) / -math.expm1(shape * log)


def gamma_of_mean(mean: float, shape: float) -> float:
    """The gamma with that mean > 1, rounded down: a smaller one has a larger bound."""
    if shape == 1.0:
        return rounded_down(1.0 / mean)
    if mean_of_gamma(_LEAST_GAMMA, shape) < mean:
        raise InvalidInput(f"mean {mean!r} is too large for shape {shape!r}")
    low, high = math.log(_LEAST_GAMMA), math.log1p(-1e-9)
    if mean_of_gamma(math.exp(high), shape) >= mean:
        return math.exp(2.0 * high)

    def excess(log: float) -> float:
        return math.log(mean_of_gamma(math.exp(log), shape) / mean)

    gamma = math.exp(crossing(excess, low, high, xtol=1e-13))
    while mean_of_gamma(gamma, shape) < mean:
        gamma *= 1.0 - 1e-12
    return gamma * (1.0 - 1e-9)
