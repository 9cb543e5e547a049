from .best_of import (
    BestOf as BestOf,
    FixedRuns as FixedRuns,
    NegativeBinomialRuns as NegativeBinomialRuns,
    PoissonRuns as PoissonRuns,
)
from .continual_counter import ContinualCounter as ContinualCounter
from .lloyd_step import (
    LloydStep as LloydStep,
    lloyd_centres as lloyd_centres,
)
from .median import (
    LocalSensitivityMedian as LocalSensitivityMedian,
    SmoothSensitivityMedian as SmoothSensitivityMedian,
)
from .published import (
    JustAFew as JustAFew,
    NameAndShame as NameAndShame,
)
from .sample_and_aggregate import SampleAndAggregate as SampleAndAggregate
from .shuffled_response import ShuffledResponse as ShuffledResponse
from .sparse_vector import SparseVector as SparseVector
from .two_party import TwoPartyCount as TwoPartyCount

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
    "ShuffledResponse",
    "SmoothSensitivityMedian",
    "SparseVector",
    "TwoPartyCount",
    "lloyd_centres",
]
