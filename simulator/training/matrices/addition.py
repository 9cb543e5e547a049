"""Draws for the addition direction, E_Q (1 - e^epsilon U)+, with weights bounded in advance.

The aim is Q e^{-c U}: where U < e^{-epsilon} its weight is at most its normalisation times
e^{c e^{-epsilon}}. With z = L xi, L the lower triangular factor of G and xi independent normals,
it is Q times a product of factors exp(-(c/b) e^{z_j - G_jj/2}), and z_j depends on
xi_1 ... xi_j alone.
So xi_j is drawn in turn, given those before it, from the normal law times its factor times
exp(-beta_j xi_j), for what is still to come.

Why the weights are bounded: what is to come, as a function of xi_1 ... xi_{j-1}, is at most
M(mu_j) times an exponential of a linear function, where mu_j is the mean of z_j given the past and
M(mu) the expectation of a factor. M is log-concave (Prekopa), so a tangent of ln M is nowhere below
it: the bound is an exponential of a linear function again, and so on to the first bin. Independent
bins have no past, and then the draws are from Q e^{-c U} itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from simulator.engine.sampling import THETA_BITS, rounded
from simulator.foundations.errors import NotApplicable
from simulator.training.matrices import damped
from simulator.training.matrices.pairs import BinnedPair

Floats = NDArray[np.float64]

_SWEEPS = 20
_ROUNDING = 1e-6
"""More than interpolation and rounding change a sum over 2000 bins of logarithms."""
_SPREAD = 8.0
"""Standard deviations of the mean of a score given the past, over which it is interpolated."""


@dataclass(frozen=True)
class AdditionMeasure:
    """Sequential draws near Q e^{-c U}.

    Attributes
    ----------
    pair : P and Q.
    strength : c.
    """

    pair: BinnedPair
    strength: float

    @cached_property
    def offsets(self) -> Floats:
        """Ln of c/b e^{-G_jj/2}, shape (bins,)."""
        return np.asarray(math.log(self.strength / self.pair.bins) - self.pair.half_squares)

    @cached_property
    def plan(self) -> tuple[Floats, Floats, float]:
        """The beta_j, the y_j at which the tangents are taken, and ln of the bound at the start."""
        scales = np.diagonal(self.pair.factor)
        below = self.pair.factor - np.diag(scales)
        places = self.offsets
        for _ in range(_SWEEPS if below.any() else 0):  # toward the mean path; any place is valid
            _, slopes = damped.normalisation(places, scales)
            betas = -(slopes @ below)
            means = scales * slopes - betas
            places = 0.5 * (places + self.offsets - betas * scales + below @ means)
        logs, slopes = damped.normalisation(places, scales)
        betas = -(slopes @ below)
        shifts = self.offsets - betas * scales
        start = float(np.sum(0.5 * betas**2 + logs + slopes * (shifts - places)))
        return betas, places, start

    def log_bound(self, epsilon: float) -> float:
        """Ln of a bound on (1 - e^epsilon U)+ dQ/dS, for draws from this measure S."""
        return self.plan[2] + log_peak(self.strength * math.exp(-epsilon)) + _ROUNDING

    def draw(self, draws: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Losses -ln U and log-weights ln dQ/dS, each of shape (draws,)."""
        pair = self.pair
        betas, _, start = self.plan
        lower, scales = pair.factor, np.diagonal(pair.factor)
        noise = np.empty((pair.bins, draws))
        log_weights = np.full(draws, start)
        for j in range(pair.bins):
            before = np.flatnonzero(lower[j, :j])
            y = np.full(draws, self.offsets[j] - betas[j] * scales[j])
            if before.size:
                y += lower[j, before] @ noise[before]
                log_weights += self._below_tangent(j, y)
            noise[j] = damped.draw(y, scales[j], generator) - betas[j]
        losses = -pair.log_ratio(pair.multiply_factor @ noise)
        return losses, log_weights + self.strength * np.exp(-losses)

    def tuned(self, epsilon: float, draws: int, generator: np.random.Generator) -> AdditionMeasure:
        """The measure itself: it has nothing to tune."""
        return self

    def _below_tangent(self, j: int, y: Floats) -> Floats:
        """Ln M less its tangent; never above 0."""
        scale, place = float(self.pair.factor[j, j]), float(self.plan[1][j])
        reach = _SPREAD * float(np.linalg.norm(self.pair.factor[j, :j]))
        curve = damped.interpolated(place - reach, place + reach, scale)
        log, slope = (float(each) for each in damped.normalisation(place, scale))
        logs = curve(y)
        outside = np.abs(y - place) > reach
        if outside.any():
            logs[outside] = damped.normalisation(y[outside], scale)[0]
        return np.minimum(logs - log - slope * (y - place), 0.0)


def log_peak(height: float) -> float:
    """Ln of the largest (1 - t) e^{height t} of t in [0, 1]."""
    return height - 1.0 - math.log(height) if height > 1.0 else 0.0


def addition_measure(pair: BinnedPair, epsilon: float) -> AdditionMeasure:
    """The measure of the least bound at ``epsilon``."""
    return _least(pair, lambda measure: measure.log_bound(epsilon), epsilon)


def addition_epsilon(pair: BinnedPair, delta: float) -> float:
    """An upper bound on epsilon(delta), by the same bounds."""
    excess = -math.log(delta)

    def bound(measure: AdditionMeasure) -> float:
        """Where the bound of the measure is delta; it falls with epsilon."""
        room = -(measure.plan[2] + excess)
        if room <= 0.0:
            return math.inf
        height = 1.0 + room + math.sqrt(2.0 * room)
        for _ in range(60):  # Newton's method for log_peak(height) = room, from above
            height -= (log_peak(height) - room) / (1.0 - 1.0 / height)
        return math.log(measure.strength / height)

    for further in (0.0, 30.0, 120.0, 480.0):  # larger c for larger epsilon
        found = bound(_least(pair, bound, further))
        if math.isfinite(found):
            return max(0.0, found)
    raise NotApplicable(f"no bound reaches delta = {delta:g}: sigma is too small")


def _least(
    pair: BinnedPair, objective: Callable[[AdditionMeasure], float], further: float
) -> AdditionMeasure:
    """The measure at which an objective is least."""
    center = -math.log(max(float(pair.gram.mean()), 1e-300))

    def at(log_strength: float) -> float:
        value = objective(AdditionMeasure(pair, math.exp(log_strength)))
        return min(value, 1e300)

    found = minimize_scalar(
        at,
        bounds=(center - 8.0, center + 12.0 + further),
        method="bounded",
        options={"xatol": 0.02},
    )
    return AdditionMeasure(pair, float(rounded(math.exp(found.x), THETA_BITS)))
