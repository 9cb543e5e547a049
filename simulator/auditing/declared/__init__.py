"""Tests of a mechanism's declared likelihood with draws of the mechanism."""

from simulator.auditing.declared.examining import DRAWS, FALSE_ALARM, examine, require_declared
from simulator.auditing.declared.verdict import Contradiction, Examined, FalseLikelihood

__all__ = [
    "DRAWS",
    "FALSE_ALARM",
    "Contradiction",
    "Examined",
    "FalseLikelihood",
    "examine",
    "require_declared",
]
