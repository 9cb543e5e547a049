from .estimating import AllocationEstimate, estimate_allocation
from .pairs import BinnedPair, balls_in_bins

__all__ = [
    "AllocationEstimate",
    "BinnedPair",
    "balls_in_bins",
    "estimate_allocation",
]
