from .above_threshold import AboveThreshold as AboveThreshold
from .additive_noise import (
    AdditiveNoise as AdditiveNoise,
    DiscreteGaussian as DiscreteGaussian,
    Staircase as Staircase,
    TruncatedNoise as TruncatedNoise,
)
from .base import (
    Mechanism as Mechanism,
    Pair as Pair,
    ScalarMechanism as ScalarMechanism,
    Scalars as Scalars,
)
from .black_box import (
    BlackBox as BlackBox,
    Raised as Raised,
)
from .concurrent import Concurrent as Concurrent
from .conversations import (
    Ask as Ask,
    Handle as Handle,
    Update as Update,
)
from .exponential import Exponential as Exponential
from .finite import FiniteMechanism as FiniteMechanism
from .free import (
    Free as Free,
    largest as largest,
)
from .gaussian import Gaussian as Gaussian
from .geometric import Geometric as Geometric
from .interactive import Interactive as Interactive
from .interactive_mechanism import (
    InteractiveMechanism as InteractiveMechanism,
    finite_answers as finite_answers,
)
from .laplace import Laplace as Laplace
from .leaky import LeakyRandomizedResponse as LeakyRandomizedResponse
from .noisy_max import ReportNoisyMax as ReportNoisyMax
from .post_processed import (
    Cells as Cells,
    PostProcessed as PostProcessed,
    Recoded as Recoded,
)
from .randomized_response import RandomizedResponse as RandomizedResponse
from .record_level import RecordLevel as RecordLevel
from .response_tree import (
    Node as Node,
    ResponseTree as ResponseTree,
    randomized_response_tree as randomized_response_tree,
)
from .sampled import (
    PoissonSubsampled as PoissonSubsampled,
    SampledWithoutReplacement as SampledWithoutReplacement,
)
from .table import Table as Table

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
