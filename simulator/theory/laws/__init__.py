"""Exact laws of the privacy loss of one round, and where they come from."""

from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.discrete import (
    discrete_gaussian,
    discrete_laplace,
    rounded_gaussian,
    rounded_laplace,
    staircase,
)
from simulator.theory.laws.extremal import bounded_range_law, randomized_response
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.gaussian_mixture import GaussianMixtureLaw
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.laws.mixed import MixedLaw
from simulator.theory.laws.shuffled import shuffled_law
from simulator.theory.laws.subsampled import PoissonSubsampledLaw, SampledWithoutReplacementLaw
from simulator.theory.laws.truncated import TruncatedNoiseLaw

__all__ = [
    "FiniteLaw",
    "GaussianLaw",
    "GaussianMixtureLaw",
    "LaplaceLaw",
    "MixedLaw",
    "PoissonSubsampledLaw",
    "PrivacyLossLaw",
    "SampledWithoutReplacementLaw",
    "TruncatedNoiseLaw",
    "bounded_range_law",
    "discrete_gaussian",
    "discrete_laplace",
    "randomized_response",
    "rounded_gaussian",
    "rounded_laplace",
    "shuffled_law",
    "staircase",
]
