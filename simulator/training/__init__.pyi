from .events import (
    MinSeparationEvent as MinSeparationEvent,
    RandomAllocationEvent as RandomAllocationEvent,
    min_separation as min_separation,
    random_allocation as random_allocation,
)
from .families import (
    BallsInBinsDP as BallsInBinsDP,
    RandomAllocationDP as RandomAllocationDP,
)
from .gradients import LogisticGradient as LogisticGradient
from .laws.allocation import AllocationLaw as AllocationLaw
from .laws.shuffled_batches import shuffled_batches as shuffled_batches
from .matrices import (
    AllocationEstimate as AllocationEstimate,
    BinnedPair as BinnedPair,
    CalibratedNoise as CalibratedNoise,
    SubsetPair as SubsetPair,
    balls_in_bins as balls_in_bins,
    calibrate_noise as calibrate_noise,
    estimate_allocation as estimate_allocation,
    random_subset as random_subset,
)
from .mechanisms.balls_in_bins import BallsInBins as BallsInBins
from .mechanisms.divided_step import DividedStep as DividedStep
from .mechanisms.drawn_by_weight import DrawnByWeight as DrawnByWeight
from .mechanisms.gradient_step import GradientStep as GradientStep
from .mechanisms.random_allocation import RandomAllocation as RandomAllocation
from .mechanisms.shuffled_batches import ShuffledBatches as ShuffledBatches

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
    "MinSeparationEvent",
    "RandomAllocation",
    "RandomAllocationDP",
    "RandomAllocationEvent",
    "ShuffledBatches",
    "SubsetPair",
    "balls_in_bins",
    "calibrate_noise",
    "estimate_allocation",
    "min_separation",
    "random_allocation",
    "random_subset",
    "shuffled_batches",
]
