from .allocation import (
    AllocationEstimate,
    balls_in_bins,
    calibrate_noise,
    estimate_allocation,
    random_subset,
)
from .estimation import Estimate
from .rare import Covering, Guarded, RareEvent, Steered, Tilted, estimate_rare
from .result import Result
from .verification import Check, verify

__all__ = [
    "AllocationEstimate",
    "Check",
    "Covering",
    "Estimate",
    "Guarded",
    "RareEvent",
    "Result",
    "Steered",
    "Tilted",
    "balls_in_bins",
    "calibrate_noise",
    "estimate_allocation",
    "estimate_rare",
    "random_subset",
    "verify",
]
