"""Private mechanisms, one file each."""

from simulator.mechanisms.base import Free, Mechanism, Pair, ScalarMechanism, Scalars
from simulator.mechanisms.exponential import Exponential
from simulator.mechanisms.finite import FiniteMechanism
from simulator.mechanisms.gaussian import Gaussian
from simulator.mechanisms.geometric import Geometric
from simulator.mechanisms.laplace import Laplace
from simulator.mechanisms.leaky import LeakyRandomizedResponse
from simulator.mechanisms.noisy_max import ReportNoisyMax
from simulator.mechanisms.randomized_response import RandomizedResponse

__all__ = [
    "Exponential",
    "FiniteMechanism",
    "Free",
    "Gaussian",
    "Geometric",
    "Laplace",
    "LeakyRandomizedResponse",
    "Mechanism",
    "Pair",
    "RandomizedResponse",
    "ReportNoisyMax",
    "ScalarMechanism",
    "Scalars",
]
