from .above_threshold import AboveThreshold
from .additive_noise import AdditiveNoise, DiscreteGaussian, Staircase, TruncatedNoise
from .base import Mechanism, Pair, ScalarMechanism, Scalars
from .best_of import BestOf, FixedRuns, NegativeBinomialRuns, PoissonRuns
from .black_box import BlackBox, Raised
from .concurrent import Concurrent
from .continual_counter import ContinualCounter
from .conversations import Ask, Handle, Update
from .exponential import Exponential
from .finite import FiniteMechanism
from .free import Free
from .gaussian import Gaussian
from .geometric import Geometric
from .interactive import Interactive
from .interactive_mechanism import InteractiveMechanism, finite_answers
from .laplace import Laplace
from .leaky import LeakyRandomizedResponse
from .lloyd_step import LloydStep, lloyd_centres
from .median import LocalSensitivityMedian, SmoothSensitivityMedian
from .noisy_max import ReportNoisyMax
from .post_processed import Cells, PostProcessed, Recoded
from .published import JustAFew, NameAndShame
from .randomized_response import RandomizedResponse
from .record_level import RecordLevel
from .response_tree import Node, ResponseTree, randomized_response_tree
from .sample_and_aggregate import SampleAndAggregate
from .sampled import PoissonSubsampled, SampledWithoutReplacement
from .sparse_vector import SparseVector
from .table import Table
from .two_party import TwoPartyCount

__all__ = [
    "AboveThreshold",
    "AdditiveNoise",
    "Ask",
    "BestOf",
    "BlackBox",
    "Cells",
    "Concurrent",
    "ContinualCounter",
    "DiscreteGaussian",
    "Exponential",
    "FiniteMechanism",
    "FixedRuns",
    "Free",
    "Gaussian",
    "Geometric",
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
    "RandomizedResponse",
    "Recoded",
    "RecordLevel",
    "ReportNoisyMax",
    "ResponseTree",
    "SampleAndAggregate",
    "SampledWithoutReplacement",
    "ScalarMechanism",
    "Scalars",
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
