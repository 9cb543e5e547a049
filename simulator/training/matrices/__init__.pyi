from .calibrating import (
    CalibratedNoise as CalibratedNoise,
    calibrate_noise as calibrate_noise,
)
from .estimating import (
    AllocationEstimate as AllocationEstimate,
    estimate_allocation as estimate_allocation,
)
from .pairs import (
    BinnedPair as BinnedPair,
    balls_in_bins as balls_in_bins,
)
from .subsets import (
    SubsetPair as SubsetPair,
    random_subset as random_subset,
)

__all__ = [
    "AllocationEstimate",
    "BinnedPair",
    "CalibratedNoise",
    "SubsetPair",
    "balls_in_bins",
    "calibrate_noise",
    "estimate_allocation",
    "random_subset",
]
