"""A declared likelihood held against the mechanism's own draws, before it is believed."""

from simulator.analysis.declared.examining import DRAWS, FALSE_ALARM, examine, require_declared
from simulator.analysis.declared.verdict import Contradiction, FalseLikelihood

__all__ = [
    "DRAWS",
    "FALSE_ALARM",
    "Contradiction",
    "FalseLikelihood",
    "examine",
    "require_declared",
]
