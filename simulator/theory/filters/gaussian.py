"""The filter of Gaussian-DP rounds, whose budget is exact."""

from __future__ import annotations

import math
from functools import cached_property

from simulator.foundations.errors import NotApplicable
from simulator.theory.filters.interface import Filter, Price, State
from simulator.theory.filters.rules import squares_step
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.laws.gaussian_curve import gaussian_delta, gaussian_delta_bracket, gaussian_mu

LEAST, MOST = 1e-4, 60.0
"""Ends of the mu that is looked for."""


class GaussianFilter(Filter):
    """Refuse a round with which the sum of mu^2 exceeds the largest sound budget.

    Any adaptive choice of mu-GDP rounds whose mu^2 add up to m^2 loses at most what one Gaussian
    pair of mu = m does, and one round of mu = m loses it. So the budget is the largest m^2 whose
    curve keeps the promise: no sound filter that charges mu^2 admits more. A pure round is charged
    as the Gaussian that dominates it, about pi/2 eps^2, one of bounded range about pi/8 eps^2.

    >>> from simulator.theory import GaussianDP, GaussianFilter
    >>> running = GaussianFilter(1.0, 1e-6).fresh()
    >>> running.admits(GaussianDP(0.2)), running.admits(GaussianDP(0.5))
    (True, False)
    """

    name = "gaussian"
    source = "Dong, Roth and Su 2022, Corollary 3.3; Balle and Wang 2018, Theorem 8"
    prices_vary = False
    step = staticmethod(squares_step)

    @cached_property
    def mu(self) -> float:
        """The largest mu whose curve is certainly within the promise."""
        target = self.delta - self.rounds_delta
        if not gaussian_delta(LEAST, self.epsilon) < target < gaussian_delta(MOST, self.epsilon):
            raise NotApplicable(
                f"a Gaussian curve is found for a mu from {LEAST:g} to {MOST:g}, and none of these "
                f"has delta({self.epsilon:g}) = {target:g}"
            )
        mu, step = gaussian_mu(self.epsilon, target), 2.0**-52
        while gaussian_delta_bracket(mu, self.epsilon).upper > target:  # the root is rounded
            mu, step = mu * (1.0 - step), 2.0 * step
        return mu

    @property
    def initial(self) -> State:
        """No sums, the budget mu^2, and the delta of the rounds."""
        return (0.0, 0.0, 0.0, self.mu * self.mu * (1.0 - 2.0**-52), self.rounds_delta)

    def price(self, guarantee: Guarantee) -> Price:
        """The least mu of the round; raises NotApplicable where it is infinite."""
        mu = guarantee.core.gdp_mu
        if not math.isfinite(mu):
            raise NotApplicable(f"the gaussian filter cannot account for {guarantee}")
        return mu, guarantee.leak
