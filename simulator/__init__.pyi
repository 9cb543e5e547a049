from .adversaries import Challenge, Rule, rule
from .data.databases import ADD_REMOVE, REPLACE_ONE, Database
from .errors import Breach, DpcomposeError, InvalidInput, NotApplicable, Refusal
from .estimation import Estimate
from .mechanisms import (
    Exponential,
    Free,
    Gaussian,
    Geometric,
    Laplace,
    LeakyRandomizedResponse,
    Mechanism,
    RandomizedResponse,
    ReportNoisyMax,
    ScalarMechanism,
    Scalars,
)
from .play.views import Replay, View, replay
from .queries import (
    clipped_mean,
    clipped_sum,
    counting_query,
    counting_scores,
    function_query,
    histogram_query,
    score_query,
)
from .rare import RareEvent, Steered, Tilted, estimate_rare
from .result import Result
from .run.simulate import simulate
from .theory.filters import (
    Filter,
    RenyiFilter,
    RogersFilter,
    SumFilter,
    WhitehouseFilter,
    ZCDPFilter,
    parse_filter,
)
from .theory.guarantees import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    parse_guarantee,
)

__version__: str

__all__ = [
    "ADD_REMOVE",
    "REPLACE_ONE",
    "ZCDP",
    "ApproxDP",
    "BoundedRange",
    "Breach",
    "Challenge",
    "Database",
    "DpcomposeError",
    "Estimate",
    "Exponential",
    "Filter",
    "Free",
    "Gaussian",
    "GaussianDP",
    "Geometric",
    "Guarantee",
    "InvalidInput",
    "Laplace",
    "LeakyRandomizedResponse",
    "Mechanism",
    "NotApplicable",
    "PureDP",
    "RandomizedResponse",
    "RareEvent",
    "Refusal",
    "RenyiDP",
    "RenyiFilter",
    "Replay",
    "ReportNoisyMax",
    "Result",
    "RogersFilter",
    "Rule",
    "ScalarMechanism",
    "Scalars",
    "Steered",
    "SumFilter",
    "Tilted",
    "View",
    "WhitehouseFilter",
    "ZCDPFilter",
    "__version__",
    "clipped_mean",
    "clipped_sum",
    "counting_query",
    "counting_scores",
    "estimate_rare",
    "function_query",
    "histogram_query",
    "parse_filter",
    "parse_guarantee",
    "replay",
    "rule",
    "score_query",
    "simulate",
]
