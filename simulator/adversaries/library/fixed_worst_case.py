"""The non-adaptive worst case."""

from __future__ import annotations

import math

import numpy as np

from simulator.adversaries.contract import GeneratorAdversary, Playing
from simulator.adversaries.registry import library, pure_budget
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.mechanisms import (
    DiscreteGaussian,
    Gaussian,
    LeakyRandomizedResponse,
    PoissonSubsampled,
    RandomizedResponse,
    ScalarMechanism,
)
from simulator.theory.guarantees.discrete_gaussian import DiscreteGaussianDP
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import ApproxDP
from simulator.theory.guarantees.renyi import ZCDP
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP


def strongest(family: Guarantee) -> ScalarMechanism:
    """Return the most revealing mechanism of the family on Alice's bit."""
    match family:
        case ApproxDP(epsilon, delta) if delta > 0:
            return LeakyRandomizedResponse(ALICE, epsilon, delta)
        case GaussianDP(mu):
            return Gaussian(ALICE, 1.0 / mu)
        case ZCDP(rho):
            return Gaussian(ALICE, 1.0 / math.sqrt(2.0 * rho))
        case SubsampledGaussianDP(sigma, rate):
            return PoissonSubsampled(Gaussian(ALICE, sigma), rate)
        case DiscreteGaussianDP(sigma, sensitivity) if sensitivity == 1.0:
            return DiscreteGaussian(ALICE, sigma)
        case _:
            return RandomizedResponse(ALICE, pure_budget(family))


@library("fixed-worst-case")
def fixed_worst_case(family: Guarantee, rounds: int) -> GeneratorAdversary:
    """Play the family's dominating pair on Alice's bit in every round.

    For pure differential privacy that is randomized response, with a delta its leaky
    variant, for Gaussian privacy the Gaussian mechanism. It never adapts, and for these
    families no adaptive adversary learns more (Kairouz, Oh, Viswanath 2015, Theorem 3.3), so it
    is the reference for all others. For sampled Gaussians it is the case that accountants assume:
    the same database holds her in every round.
    """
    mechanism = strongest(family)

    def adversary(coins: np.random.Generator) -> Playing:
        while True:
            yield WITHOUT_ALICE, EVERYONE, mechanism

    return adversary
