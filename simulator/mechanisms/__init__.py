"""Private mechanisms, one file each."""

from simulator.mechanisms.above_threshold import AboveThreshold
from simulator.mechanisms.additive_noise import (
    AdditiveNoise,
    DiscreteGaussian,
    Staircase,
    TruncatedNoise,
)
from simulator.mechanisms.balls_in_bins import BallsInBins
from simulator.mechanisms.base import Mechanism, Pair, ScalarMechanism, Scalars
from simulator.mechanisms.best_of import BestOf, FixedRuns, NegativeBinomialRuns, PoissonRuns
from simulator.mechanisms.black_box import BlackBox, Raised
from simulator.mechanisms.concurrent import Concurrent
from simulator.mechanisms.continual_counter import ContinualCounter
from simulator.mechanisms.conversations import Ask, Handle, Update
from simulator.mechanisms.divided_step import DividedStep
from simulator.mechanisms.drawn_by_weight import DrawnByWeight
from simulator.mechanisms.exponential import Exponential
from simulator.mechanisms.finite import FiniteMechanism
from simulator.mechanisms.free import Free
from simulator.mechanisms.gaussian import Gaussian
from simulator.mechanisms.geometric import Geometric
from simulator.mechanisms.gradient_step import GradientStep
from simulator.mechanisms.interactive import Interactive
from simulator.mechanisms.interactive_mechanism import InteractiveMechanism, finite_answers
from simulator.mechanisms.laplace import Laplace
from simulator.mechanisms.leaky import LeakyRandomizedResponse
from simulator.mechanisms.lloyd_step import LloydStep, lloyd_centres
from simulator.mechanisms.median import LocalSensitivityMedian, SmoothSensitivityMedian
from simulator.mechanisms.noisy_max import ReportNoisyMax
from simulator.mechanisms.post_processed import Cells, PostProcessed, Recoded
from simulator.mechanisms.published import JustAFew, NameAndShame
from simulator.mechanisms.random_allocation import RandomAllocation
from simulator.mechanisms.randomized_response import RandomizedResponse
from simulator.mechanisms.record_level import RecordLevel
from simulator.mechanisms.response_tree import Node, ResponseTree, randomized_response_tree
from simulator.mechanisms.sample_and_aggregate import SampleAndAggregate
from simulator.mechanisms.sampled import PoissonSubsampled, SampledWithoutReplacement
from simulator.mechanisms.shuffled_batches import ShuffledBatches
from simulator.mechanisms.sparse_vector import SparseVector
from simulator.mechanisms.table import Table
from simulator.mechanisms.two_party import TwoPartyCount

__all__ = [
    "AboveThreshold",
    "AdditiveNoise",
    "Ask",
    "BallsInBins",
    "BestOf",
    "BlackBox",
    "Cells",
    "Concurrent",
    "ContinualCounter",
    "DiscreteGaussian",
    "DividedStep",
    "DrawnByWeight",
    "Exponential",
    "FiniteMechanism",
    "FixedRuns",
    "Free",
    "Gaussian",
    "Geometric",
    "GradientStep",
    "Handle",
    "Interactive",
    "InteractiveMechanism",
    "JustAFew",
    "Laplace",
    "LeakyRandomizedResponse",
    "LloydStep",
    "LocalSensitivityMedian",
    "Mechanism",
    "NameAndShame",
    "NegativeBinomialRuns",
    "Node",
    "Pair",
    "PoissonRuns",
    "PoissonSubsampled",
    "PostProcessed",
    "Raised",
    "RandomAllocation",
    "RandomizedResponse",
    "Recoded",
    "RecordLevel",
    "ReportNoisyMax",
    "ResponseTree",
    "SampleAndAggregate",
    "SampledWithoutReplacement",
    "ScalarMechanism",
    "Scalars",
    "ShuffledBatches",
    "SmoothSensitivityMedian",
    "SparseVector",
    "Staircase",
    "Table",
    "TruncatedNoise",
    "TwoPartyCount",
    "Update",
    "finite_answers",
    "lloyd_centres",
    "randomized_response_tree",
]
