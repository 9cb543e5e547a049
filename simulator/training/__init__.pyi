from .events import RandomAllocationEvent, random_allocation
from .families import BallsInBinsDP, RandomAllocationDP
from .gradients import LogisticGradient
from .laws.allocation import AllocationLaw
from .laws.shuffled_batches import shuffled_batches
from .matrices import (
    AllocationEstimate,
    BinnedPair,
    CalibratedNoise,
    SubsetPair,
    balls_in_bins,
    calibrate_noise,
    estimate_allocation,
    random_subset,
)
from .mechanisms.balls_in_bins import BallsInBins
from .mechanisms.divided_step import DividedStep
from .mechanisms.drawn_by_weight import DrawnByWeight
from .mechanisms.gradient_step import GradientStep
from .mechanisms.random_allocation import RandomAllocation
from .mechanisms.shuffled_batches import ShuffledBatches

__all__ = [
    "AllocationEstimate",
    "AllocationLaw",
    "BallsInBins",
    "BallsInBinsDP",
    "BinnedPair",
    "CalibratedNoise",
    "DividedStep",
    "DrawnByWeight",
    "GradientStep",
    "LogisticGradient",
    "RandomAllocation",
    "RandomAllocationDP",
    "RandomAllocationEvent",
    "ShuffledBatches",
    "SubsetPair",
    "balls_in_bins",
    "calibrate_noise",
    "estimate_allocation",
    "random_allocation",
    "random_subset",
    "shuffled_batches",
]
