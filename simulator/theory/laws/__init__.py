"""Exact laws of the privacy loss of one round, and where they come from."""

from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.extremal import bounded_range_law, randomized_response
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.laws.mixed import MixedLaw
from simulator.theory.laws.shuffled import shuffled_law
from simulator.theory.laws.subsampled_gaussian import SubsampledGaussianLaw

__all__ = [
    "FiniteLaw",
    "GaussianLaw",
    "LaplaceLaw",
    "MixedLaw",
    "PrivacyLossLaw",
    "SubsampledGaussianLaw",
    "bounded_range_law",
    "randomized_response",
    "shuffled_law",
]
