"""Privacy losses, composition bounds, concentration and filters.

Imports nothing of the simulation.
"""

import warnings
from typing import Any

from simulator.theory.bounds.base import Bound, BoundOnComposition
from simulator.theory.bounds.calibration import Rung, calibrate, corollary_3_21
from simulator.theory.bounds.certified_calibration import (
    Calibrated,
    ParameterScale,
    calibrate_certified,
)
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.concentration import (
    azuma_absolute_tail,
    azuma_deviation,
    azuma_tail,
    bernstein_tail,
    freedman_deviation,
    freedman_tail,
    hoeffding_tail,
)
from simulator.theory.bounds.registry import all_bounds, bound, bounds_for, tail_bounds
from simulator.theory.bracket import Bracket, Brackets
from simulator.theory.filters.families import (
    FILTERS,
    CLTFilter,
    Filter,
    NaturalFilter,
    RealisedFilter,
    RenyiFilter,
    ResidueFilter,
    RogersFilter,
    RunningFilter,
    SumFilter,
    WhitehouseFilter,
    ZCDPFilter,
    parse_filter,
)
from simulator.theory.filters.gaussian import GaussianFilter
from simulator.theory.filters.odometers import MixtureOdometer, RunningOdometer
from simulator.theory.guarantees.families import (
    KINDS,
    ZCDP,
    ApproxDP,
    BallsInBinsDP,
    BoundedRange,
    DiscreteGaussianDP,
    DominatedDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RandomAllocationDP,
    RenyiDP,
    ShuffledDP,
    SubsampledDP,
    SubsampledGaussianDP,
    parse_guarantee,
)
from simulator.theory.guarantees.transforms import (
    TRANSFORMS,
    Transform,
    group,
    parallel,
    sampled_with_replacement,
    shuffled,
    subsampled,
)
from simulator.theory.laws.allocation import AllocationLaw
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.discrete import (
    discrete_gaussian,
    discrete_laplace,
    rounded_gaussian,
    rounded_laplace,
    staircase,
)
from simulator.theory.laws.extremal import bounded_range_law, randomized_response
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.gaussian_mixture import GaussianMixtureLaw
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.laws.shuffled import shuffled_law
from simulator.theory.laws.shuffled_batches import shuffled_batches
from simulator.theory.laws.subsampled import PoissonSubsampledLaw, SampledWithoutReplacementLaw
from simulator.theory.laws.truncated import TruncatedNoiseLaw
from simulator.theory.pld.distribution import PLD, compose_laws
from simulator.theory.pld.trade_off import GaussianTradeOff, PiecewiseTradeOff, TradeOff

__all__ = [
    "FILTERS",
    "KINDS",
    "PLD",
    "TRANSFORMS",
    "ZCDP",
    "AllocationLaw",
    "ApproxDP",
    "BallsInBinsDP",
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
    "RandomAllocationDP",
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
    "shuffled_batches",
    "shuffled_law",
    "staircase",
    "subsampled",
    "tail_bounds",
]


def __getattr__(name: str) -> Any:
    """The old name of :class:`Bracket`, with a warning, for one version."""
    if name == "Answer":
        warnings.warn(
            "simulator.theory.Answer is now Bracket(lower, upper, value)",
            DeprecationWarning,
            stacklevel=2,
        )
        return Bracket
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
