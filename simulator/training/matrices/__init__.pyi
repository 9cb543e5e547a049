from .calibrating import CalibratedNoise, calibrate_noise
from .estimating import AllocationEstimate, estimate_allocation
from .pairs import BinnedPair, balls_in_bins
from .subsets import SubsetPair, random_subset

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
