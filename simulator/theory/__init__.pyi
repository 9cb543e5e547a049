from .bounds.base import Bound, BoundOnComposition
from .bounds.calibration import Rung, calibrate, corollary_3_21
from .bounds.certified_calibration import (
    Calibrated,
    ParameterScale,
    calibrate_certified,
)
from .bounds.composition import Composition
from .bounds.concentration import (
    azuma_absolute_tail,
    azuma_deviation,
    azuma_tail,
    bernstein_tail,
    freedman_deviation,
    freedman_tail,
    hoeffding_tail,
)
from .bounds.registry import all_bounds, bound, bounds_for, tail_bounds
from .bracket import Bracket
from .brackets import Brackets
from .filters.advanced import RogersFilter, WhitehouseFilter
from .filters.clt import CLTFilter
from .filters.gaussian import GaussianFilter
from .filters.interface import Filter, RunningFilter
from .filters.named import FILTERS, parse_filter
from .filters.natural import NaturalFilter
from .filters.odometers import MixtureOdometer, RunningOdometer
from .filters.realised import RealisedFilter
from .filters.renyi import RenyiFilter, ZCDPFilter
from .filters.residue import ResidueFilter
from .filters.sums import SumFilter
from .guarantees.bounded_range import BoundedRange
from .guarantees.discrete_gaussian import DiscreteGaussianDP
from .guarantees.dominated import DominatedDP, DominatedFamily
from .guarantees.gaussian import GaussianDP
from .guarantees.interface import Guarantee
from .guarantees.named import FAMILIES, parse_guarantee
from .guarantees.pure import ApproxDP, PureDP
from .guarantees.renyi import ZCDP, RenyiDP
from .guarantees.shuffled import ShuffledDP
from .guarantees.subsampled import SubsampledDP, SubsampledGaussianDP
from .guarantees.transforms import (
    TRANSFORMS,
    Transform,
    amplified_by_sampling,
    group,
    parallel,
    sampled_with_replacement,
    shuffled,
)
from .laws.base import PrivacyLossLaw
from .laws.discrete import (
    discrete_gaussian,
    discrete_laplace,
    rounded_gaussian,
    rounded_laplace,
    staircase,
)
from .laws.extremal import bounded_range_law, randomized_response
from .laws.finite import FiniteLaw
from .laws.gaussian import GaussianLaw
from .laws.gaussian_mixture import GaussianMixtureLaw
from .laws.laplace import LaplaceLaw
from .laws.shuffled import shuffled_law
from .laws.subsampled import PoissonSubsampledLaw, SampledWithoutReplacementLaw
from .laws.truncated import TruncatedNoiseLaw
from .pld.distribution import PLD, compose_laws
from .pld.trade_off import GaussianTradeOff, PiecewiseTradeOff, TradeOff

__all__ = [
    "FAMILIES",
    "FILTERS",
    "PLD",
    "TRANSFORMS",
    "ZCDP",
    "ApproxDP",
    "Bound",
    "BoundOnComposition",
    "BoundedRange",
    "Bracket",
    "Brackets",
    "CLTFilter",
    "Calibrated",
    "Composition",
    "DiscreteGaussianDP",
    "DominatedDP",
    "DominatedFamily",
    "Filter",
    "FiniteLaw",
    "GaussianDP",
    "GaussianFilter",
    "GaussianLaw",
    "GaussianMixtureLaw",
    "GaussianTradeOff",
    "Guarantee",
    "LaplaceLaw",
    "MixtureOdometer",
    "NaturalFilter",
    "ParameterScale",
    "PiecewiseTradeOff",
    "PoissonSubsampledLaw",
    "PrivacyLossLaw",
    "PureDP",
    "RealisedFilter",
    "RenyiDP",
    "RenyiFilter",
    "ResidueFilter",
    "RogersFilter",
    "Rung",
    "RunningFilter",
    "RunningOdometer",
    "SampledWithoutReplacementLaw",
    "ShuffledDP",
    "SubsampledDP",
    "SubsampledGaussianDP",
    "SumFilter",
    "TradeOff",
    "Transform",
    "TruncatedNoiseLaw",
    "WhitehouseFilter",
    "ZCDPFilter",
    "all_bounds",
    "amplified_by_sampling",
    "azuma_absolute_tail",
    "azuma_deviation",
    "azuma_tail",
    "bernstein_tail",
    "bound",
    "bounded_range_law",
    "bounds_for",
    "calibrate",
    "calibrate_certified",
    "compose_laws",
    "corollary_3_21",
    "discrete_gaussian",
    "discrete_laplace",
    "freedman_deviation",
    "freedman_tail",
    "group",
    "hoeffding_tail",
    "parallel",
    "parse_filter",
    "parse_guarantee",
    "randomized_response",
    "rounded_gaussian",
    "rounded_laplace",
    "sampled_with_replacement",
    "shuffled",
    "shuffled_law",
    "staircase",
    "tail_bounds",
]
