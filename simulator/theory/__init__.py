"""Privacy losses, composition bounds, concentration and filters: the witness of every measurement.

Imports nothing of the simulation.
"""

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
    "ApproxDP",
    "BoundedRange",
    "GaussianDP",
    "Guarantee",
    "PureDP",
    "RenyiDP",
    "parse_guarantee",
]
