"""Privacy losses, composition bounds, concentration and filters: the witness of every measurement.

Imports nothing of the simulation.
"""

from simulator.theory.answers import Answer
from simulator.theory.bounds import Bound, BoundOnComposition, all_bounds, bound, bounds_for
from simulator.theory.composition import Composition
from simulator.theory.guarantees import (
    KINDS,
    ZCDP,
    ApproxDP,
    BoundedRange,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    parse_guarantee,
)

__all__ = [
    "KINDS",
    "ZCDP",
    "Answer",
    "ApproxDP",
    "Bound",
    "BoundOnComposition",
    "BoundedRange",
    "Composition",
    "GaussianDP",
    "Guarantee",
    "PureDP",
    "RenyiDP",
    "all_bounds",
    "bound",
    "bounds_for",
    "parse_guarantee",
]
