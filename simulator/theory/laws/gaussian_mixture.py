"""The law of a Gaussian mechanism whose sensitivity is random."""
# ruff: noqa: D102  (overrides inherit the docstring of PrivacyLossLaw)

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.validation import finite
from simulator.theory.laws.base import Floats
from simulator.theory.laws.normal_cells import normal_cells
from simulator.theory.laws.quadrature import QuadratureLaw, mean_gain
from simulator.theory.outward import UNIT, above
from simulator.theory.parameters import count, positive

_REACH = 39.0
"""Standard deviations beyond which a normal density underflows."""
_MOST_POINTS = 1 << 15
_STEPS = 200
"""The most steps of Newton's method."""
_BLOCK = 1 << 15
"""Numbers per block, so that they fit in a processor's cache."""


@dataclass(frozen=True)
class GaussianMixtureLaw(QuadratureLaw):
    """Noise N(0, sigma^2) around 0 without Alice, around a random ``sensitivities[i]`` with her.

    The pair is P0 = N(0, sigma^2) and P1 = sum of weights[i] N(sensitivities[i], sigma^2); it is
    not symmetric, and :meth:`reversed` is ``exchanged``. With M(x) = ln sum weights[i] exp((c_i x -
    c_i^2/2)/sigma^2), increasing in the answer x, the loss is -M, or M if exchanged. A fixed
    sensitivity 0 is allowed among the others: Poisson sampling is {0: 1 - rate, 1: rate}.

    Source: Choquette-Choo, Ganesh, Steinke, Thakurta, "Privacy Amplification for Matrix
    Mechanisms", ICLR 2024, Section 3, where such a mixture dominates a sum whose sensitivity is
    random, as under banded matrix factorisation.

    Raises InvalidInput unless sigma > 0, sensitivities are distinct, at least 0 and one of them
    above, and weights are positive and sum to 1 (within 1e-9; they are divided by their sum).

    >>> from simulator.theory import GaussianMixtureLaw
    >>> law = GaussianMixtureLaw(1.0, sensitivities=(0.0, 1.0), weights=(0.9, 0.1))
    >>> round(law.delta(0.05), 6), round(law.reversed().delta(0.05), 6)
    (0.010573, 0.026144)
    """

    sigma: float
    sensitivities: tuple[float, ...]
    weights: tuple[float, ...]
    exchanged: bool = False
    has_accurate_cells = True

    def __post_init__(self) -> None:
        positive("sigma", self.sigma)
        shifts = tuple(finite("a sensitivity", c) for c in self.sensitivities)
        weights = tuple(positive("a weight", w) for w in self.weights)
        if len(shifts) != len(weights) or not shifts:
            raise InvalidInput("there must be as many weights as sensitivities, at least one")
        if len(set(shifts)) < len(shifts) or min(shifts) < 0.0 or max(shifts) == 0.0:
            raise InvalidInput(
                f"sensitivities must be distinct, at least 0, and one above 0, not {shifts}"
            )
        if abs(math.fsum(weights) - 1.0) > 1e-9:
            raise InvalidInput(f"the weights must sum to 1, they sum to {math.fsum(weights)!r}")
        order = sorted(zip(shifts, weights))
        object.__setattr__(self, "sensitivities", tuple(c for c, _ in order))
        object.__setattr__(self, "weights", tuple(w for _, w in order))

    @cached_property
    def _ratios(self) -> Floats:
        """Sensitivities over sigma, ascending."""
        return np.array(self.sensitivities) / self.sigma

    @cached_property
    def _log_weights(self) -> Floats:
        return np.asarray(np.log(np.array(self.weights)) - math.log(math.fsum(self.weights)))

    @property
    def loss_error(self) -> float:  # type: ignore[override]
        # The exponents c z - c^2/2 + ln w of the mixture's terms, each of a few operations.
        largest = float(self._ratios[-1])
        return 16 * UNIT * (largest * (largest + _REACH) + float(np.abs(self._log_weights).max()))

    @property
    def _edge(self) -> float:
        """The infimum of M."""
        return float(self._log_weights[0]) if self.sensitivities[0] == 0.0 else -math.inf

    @property
    def support(self) -> tuple[float, float]:
        return (self._edge, math.inf) if self.exchanged else (-math.inf, -self._edge)

    @property
    def is_discrete(self) -> bool:
        return False

    @property
    def points(self) -> tuple[Floats, Floats]:
        largest = float(self._ratios[-1])
        low, high = -_REACH, largest + _REACH
        spacing = 0.5 * min(1.0, 1.0 / largest)
        z = np.linspace(low, high, int(min(np.ceil((high - low) / spacing), _MOST_POINTS)) + 1)
        logs = self._log_density(z)
        return self._loss(z), logs - scipy.special.logsumexp(logs)

    def _mixed(self, z: Floats) -> Floats:
        """M at the answer sigma * z."""
        total = np.full(z.shape, -np.inf)
        for ratio, log_weight in zip(self._ratios, self._log_weights):
            total = np.logaddexp(total, ratio * z - ratio**2 / 2 + log_weight)
        return total

    def _answer(self, losses: Floats) -> Floats:
        """The z at which M equals each of these losses; infinite where there is none."""
        ratios, logs, targets = self._ratios, self._log_weights, losses
        if ratios[0] == 0.0:  # M = ln(w_0 + exp(N)): solve for N, which has no flat part
            ratios, rest = ratios[1:], logs[1:]
            above = np.maximum(losses - logs[0], 0.0)
            with np.errstate(divide="ignore"):
                near = np.log(np.expm1(np.minimum(above, 1.0))) + logs[0]
            targets = np.where(above > 1.0, losses + np.log1p(-np.exp(-np.maximum(above, 1))), near)
            logs = rest
        z = np.full(losses.shape, np.inf)
        for ratio, log_weight in zip(ratios, logs):
            z = np.minimum(z, (targets - log_weight) / ratio + ratio / 2)
        inside = np.isfinite(z)
        z[inside] = _solve(ratios, logs, targets[inside], z[inside])
        return z

    def delta(self, epsilon: float) -> float:
        if not self.exchanged and epsilon >= -self._edge:
            return 0.0
        if self.exchanged and epsilon <= self._edge:
            return -math.expm1(epsilon)
        # The mean of 1 - e^(epsilon - loss) over the answers of loss above epsilon.
        (start,) = self._answer(np.array([epsilon if self.exchanged else -epsilon]))
        far = max(start, float(self._ratios[-1])) + _REACH
        ends = (start, far) if self.exchanged else (min(start, 0.0) - _REACH, start)
        return mean_gain(self._loss, self._log_density, epsilon, ends)

    def _loss(self, z: Floats) -> Floats:
        return self._mixed(z) if self.exchanged else -self._mixed(z)

    def _log_density(self, z: Floats) -> Floats:
        """Of P0 at sigma * z, but for a constant."""
        return -(z**2) / 2 + (self._mixed(z) if self.exchanged else 0.0)

    def reversed(self) -> GaussianMixtureLaw:
        return GaussianMixtureLaw(
            self.sigma, self.sensitivities, self.weights, exchanged=not self.exchanged
        )

    def continuous_masses(self, edges: Floats) -> tuple[Floats, Floats]:
        z = self._answer(edges if self.exchanged else -edges[::-1])
        without = normal_cells(z)
        mixed = np.zeros(without.size)
        for ratio, log_weight in zip(self._ratios, self._log_weights):
            mixed += math.exp(log_weight) * normal_cells(z - ratio)
        return (mixed, without) if self.exchanged else (without[::-1], mixed[::-1])


def _solve(ratios: Floats, logs: Floats, targets: Floats, start: Floats) -> Floats:
    """Newton's method from above: ln sum exp(ratio z - ratio^2/2 + log) is convex, increasing."""
    size = max(_BLOCK // ratios.size, 1)
    parts = [
        _solved(ratios, logs - ratios**2 / 2, targets[i : i + size], start[i : i + size])
        for i in range(0, start.size, size)
    ]
    return np.concatenate([np.empty(0), *parts])


def _solved(ratios: Floats, constants: Floats, targets: Floats, start: Floats) -> Floats:
    z, moving = start.copy(), np.arange(start.size)
    for _ in range(_STEPS):
        here = z[moving]
        exponents = np.multiply.outer(here, ratios) + constants
        top = exponents.max(axis=1)
        parts = np.exp(exponents - top[:, None])
        total = parts.sum(axis=1)
        slope = np.multiply(parts, ratios).sum(axis=1) / total
        step = (top + np.log(total) - targets[moving]) / slope
        z[moving] = here - step
        # Above the root every step decreases z, up to rounding.
        moving = moving[step > 4 * UNIT * (1 + np.abs(here))]
        if not moving.size:
            break
    return z


_LARGEST_GROUP = 255
_RAISED = 1.0 + 1e-11
"""Above the error of a computed binomial probability, relatively."""


def binomial_mixture(mu: float, size: int, rate: float) -> GaussianMixtureLaw:
    """The law of a group of ``size`` records on a Poisson sample, each moving the answer by ``mu``.

    Without the group the answer is N(0, 1); with it as many records count as a binomial law says.
    Raises NotApplicable for more than 255 records.
    """
    from scipy.stats import binom  # slow to import

    if count("records", size) > _LARGEST_GROUP:
        raise NotApplicable(f"a group on a sample has at most {_LARGEST_GROUP} records, not {size}")
    drawn = np.arange(1, size + 1)
    masses = np.maximum(binom.pmf(drawn, size, rate), 1e-300) * _RAISED
    kept = max(1.0 - math.fsum(masses.tolist()), 0.0)
    shifts = [above(mu * number) for number in drawn.tolist()]
    if kept == 0.0:
        return GaussianMixtureLaw(1.0, tuple(shifts), tuple(masses.tolist()))
    return GaussianMixtureLaw(1.0, (0.0, *shifts), (kept, *masses.tolist()))
