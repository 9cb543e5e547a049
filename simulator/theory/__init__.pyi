from .bounds.base import (
    Bound as Bound,
    BoundOnComposition as BoundOnComposition,
)
from .bounds.calibration import (
    Rung as Rung,
    calibrate as calibrate,
    corollary_3_21 as corollary_3_21,
)
from .bounds.certified_calibration import (
    Calibrated as Calibrated,
    ParameterScale as ParameterScale,
    calibrate_certified as calibrate_certified,
)
from .bounds.composition import Composition as Composition
from .bounds.concentration import (
    azuma_absolute_tail as azuma_absolute_tail,
    azuma_deviation as azuma_deviation,
    azuma_tail as azuma_tail,
    bernstein_tail as bernstein_tail,
    freedman_deviation as freedman_deviation,
    freedman_tail as freedman_tail,
    hoeffding_tail as hoeffding_tail,
)
from .bounds.registry import (
    all_bounds as all_bounds,
    bound as bound,
    bounds_for as bounds_for,
    tail_bounds as tail_bounds,
)
from .bounds.shuffling import ShuffledRounds as ShuffledRounds
from .bracket import Bracket as Bracket
from .brackets import Brackets as Brackets
from .filters.advanced import (
    RogersFilter as RogersFilter,
    WhitehouseFilter as WhitehouseFilter,
)
from .filters.clt import CLTFilter as CLTFilter
from .filters.gaussian import GaussianFilter as GaussianFilter
from .filters.interface import (
    Filter as Filter,
    RunningFilter as RunningFilter,
)
from .filters.named import (
    FILTERS as FILTERS,
    parse_filter as parse_filter,
)
from .filters.natural import NaturalFilter as NaturalFilter
from .filters.odometers import (
    MixtureOdometer as MixtureOdometer,
    RunningOdometer as RunningOdometer,
)
from .filters.realised import RealisedFilter as RealisedFilter
from .filters.renyi import (
    RenyiFilter as RenyiFilter,
    ZCDPFilter as ZCDPFilter,
)
from .filters.residue import ResidueFilter as ResidueFilter
from .filters.sums import SumFilter as SumFilter
from .guarantees.bounded_range import BoundedRange as BoundedRange
from .guarantees.discrete_gaussian import DiscreteGaussianDP as DiscreteGaussianDP
from .guarantees.dominated import (
    DominatedDP as DominatedDP,
    DominatedFamily as DominatedFamily,
)
from .guarantees.gaussian import GaussianDP as GaussianDP
from .guarantees.interface import Guarantee as Guarantee
from .guarantees.named import (
    FAMILIES as FAMILIES,
    parse_guarantee as parse_guarantee,
)
from .guarantees.pure import (
    ApproxDP as ApproxDP,
    PureDP as PureDP,
)
from .guarantees.renyi import (
    ZCDP as ZCDP,
    RenyiDP as RenyiDP,
)
from .guarantees.shuffled import ShuffledDP as ShuffledDP
from .guarantees.subsampled import (
    SubsampledDP as SubsampledDP,
    SubsampledGaussianDP as SubsampledGaussianDP,
)
from .guarantees.transforms import (
    TRANSFORMS as TRANSFORMS,
    Transform as Transform,
    amplified_by_sampling as amplified_by_sampling,
    group as group,
    parallel as parallel,
    sampled_with_replacement as sampled_with_replacement,
    shuffled as shuffled,
)
from .laws.base import PrivacyLossLaw as PrivacyLossLaw
from .laws.discrete import (
    discrete_gaussian as discrete_gaussian,
    discrete_laplace as discrete_laplace,
    rounded_gaussian as rounded_gaussian,
    rounded_laplace as rounded_laplace,
    staircase as staircase,
)
from .laws.extremal import (
    bounded_range_law as bounded_range_law,
    randomized_response as randomized_response,
)
from .laws.finite import FiniteLaw as FiniteLaw
from .laws.gaussian import GaussianLaw as GaussianLaw
from .laws.gaussian_mixture import GaussianMixtureLaw as GaussianMixtureLaw
from .laws.laplace import LaplaceLaw as LaplaceLaw
from .laws.shuffled import shuffled_law as shuffled_law
from .laws.shuffled_blanket import ShuffledBlanket as ShuffledBlanket
from .laws.subsampled import (
    PoissonSubsampledLaw as PoissonSubsampledLaw,
    SampledWithoutReplacementLaw as SampledWithoutReplacementLaw,
)
from .laws.truncated import TruncatedNoiseLaw as TruncatedNoiseLaw
from .pld.distribution import (
    PLD as PLD,
    compose_laws as compose_laws,
)
from .pld.trade_off import (
    GaussianTradeOff as GaussianTradeOff,
    PiecewiseTradeOff as PiecewiseTradeOff,
    TradeOff as TradeOff,
)

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
    "ShuffledBlanket",
    "ShuffledDP",
    "ShuffledRounds",
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
