from .best_of import BestOf, FixedRuns, NegativeBinomialRuns, PoissonRuns
from .continual_counter import ContinualCounter
from .lloyd_step import LloydStep, lloyd_centres
from .median import LocalSensitivityMedian, SmoothSensitivityMedian
from .published import JustAFew, NameAndShame
from .sample_and_aggregate import SampleAndAggregate
from .sparse_vector import SparseVector
from .two_party import TwoPartyCount

__all__ = [
    "BestOf",
    "ContinualCounter",
    "FixedRuns",
    "JustAFew",
    "LloydStep",
    "LocalSensitivityMedian",
    "NameAndShame",
    "NegativeBinomialRuns",
    "PoissonRuns",
    "SampleAndAggregate",
    "SmoothSensitivityMedian",
    "SparseVector",
    "TwoPartyCount",
    "lloyd_centres",
]
