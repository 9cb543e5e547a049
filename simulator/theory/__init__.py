"""Privacy losses, composition bounds, concentration and filters: the witness of every measurement.

Imports nothing of the simulation.
"""

from simulator.theory.answers import Answer
from simulator.theory.bounds import Bound, BoundOnComposition, all_bounds, bound, bounds_for
from simulator.theory.calibration import Rung, calibrate, corollary_3_21
from simulator.theory.composition import Composition
from simulator.theory.concentration import (
    azuma_absolute_tail,
    azuma_deviation,
    azuma_tail,
    bernstein_tail,
    freedman_deviation,
    freedman_tail,
    hoeffding_tail,
)
from simulator.theory.filters import (
    FILTERS,
    Filter,
    NaturalFilter,
    RenyiFilter,
    RogersFilter,
    RunningFilter,
    SumFilter,
    WhitehouseFilter,
    ZCDPFilter,
    parse_filter,
)
from simulator.theory.guarantees import (
    KINDS,
    ZCDP,
    ApproxDP,
    BoundedRange,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    ShuffledDP,
    parse_guarantee,
)
from simulator.theory.laws import (
    FiniteLaw,
    GaussianLaw,
    LaplaceLaw,
    MixedLaw,
    PrivacyLossLaw,
    SubsampledGaussianLaw,
    bounded_range_law,
    randomized_response,
    shuffled_law,
)
from simulator.theory.odometers import MixtureOdometer, RunningOdometer
from simulator.theory.pld import PLD, Bracket, compose_laws, discretise
from simulator.theory.trade_off_functions import GaussianTradeOff, PiecewiseTradeOff, TradeOff
from simulator.theory.transforms import (
    TRANSFORMS,
    Transform,
    group,
    parallel,
    shuffled,
    subsampled,
)

__all__ = [
    "FILTERS",
    "KINDS",
    "PLD",
    "TRANSFORMS",
    "ZCDP",
    "Answer",
    "ApproxDP",
    "Bound",
    "BoundOnComposition",
    "BoundedRange",
    "Bracket",
    "Composition",
    "Filter",
    "FiniteLaw",
    "GaussianDP",
    "GaussianLaw",
    "GaussianTradeOff",
    "Guarantee",
    "LaplaceLaw",
    "MixedLaw",
    "MixtureOdometer",
    "NaturalFilter",
    "PiecewiseTradeOff",
    "PrivacyLossLaw",
    "PureDP",
    "RenyiDP",
    "RenyiFilter",
    "RogersFilter",
    "Rung",
    "RunningFilter",
    "RunningOdometer",
    "ShuffledDP",
    "SubsampledGaussianLaw",
    "SumFilter",
    "TradeOff",
    "Transform",
    "WhitehouseFilter",
    "ZCDPFilter",
    "all_bounds",
    "azuma_absolute_tail",
    "azuma_deviation",
    "azuma_tail",
    "bernstein_tail",
    "bound",
    "bounded_range_law",
    "bounds_for",
    "calibrate",
    "compose_laws",
    "corollary_3_21",
    "discretise",
    "freedman_deviation",
    "freedman_tail",
    "group",
    "hoeffding_tail",
    "parallel",
    "parse_filter",
    "parse_guarantee",
    "randomized_response",
    "shuffled",
    "shuffled_law",
    "subsampled",
]
