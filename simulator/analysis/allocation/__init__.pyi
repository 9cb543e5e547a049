from .calibrating import CalibratedNoise, calibrate_noise
from .estimating import AllocationEstimate, estimate_allocation
from .pairs import BinnedPair, balls_in_bins

__all__ = [
    "AllocationEstimate",
    "BinnedPair",
    "CalibratedNoise",
    "balls_in_bins",
    "calibrate_noise",
    "estimate_allocation",
]
