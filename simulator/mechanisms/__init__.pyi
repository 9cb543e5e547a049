from .above_threshold import AboveThreshold
from .additive_noise import AdditiveNoise, DiscreteGaussian, Staircase, TruncatedNoise
from .base import Mechanism, Pair, ScalarMechanism, Scalars
from .black_box import BlackBox, Raised
from .concurrent import Concurrent
from .conversations import Ask, Handle, Update
from .exponential import Exponential
from .finite import FiniteMechanism
from .free import Free, largest
from .gaussian import Gaussian
from .geometric import Geometric
from .interactive import Interactive
from .interactive_mechanism import InteractiveMechanism, finite_answers
from .laplace import Laplace
from .leaky import LeakyRandomizedResponse
from .noisy_max import ReportNoisyMax
from .post_processed import Cells, PostProcessed, Recoded
from .randomized_response import RandomizedResponse
from .record_level import RecordLevel
from .response_tree import Node, ResponseTree, randomized_response_tree
from .sampled import PoissonSubsampled, SampledWithoutReplacement
from .table import Table

__all__ = [
    "AboveThreshold",
    "AdditiveNoise",
    "Ask",
    "BlackBox",
    "Cells",
    "Concurrent",
    "DiscreteGaussian",
    "Exponential",
    "FiniteMechanism",
    "Free",
    "Gaussian",
    "Geometric",
    "Handle",
    "Interactive",
    "InteractiveMechanism",
    "Laplace",
    "LeakyRandomizedResponse",
    "Mechanism",
    "Node",
    "Pair",
    "PoissonSubsampled",
    "PostProcessed",
    "Raised",
    "RandomizedResponse",
    "Recoded",
    "RecordLevel",
    "ReportNoisyMax",
    "ResponseTree",
    "SampledWithoutReplacement",
    "ScalarMechanism",
    "Scalars",
    "Staircase",
    "Table",
    "TruncatedNoise",
    "Update",
    "finite_answers",
    "largest",
    "randomized_response_tree",
]
