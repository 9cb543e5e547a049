from .estimation import Estimate
from .rare import Covering, Guarded, RareEvent, Setting, Steered, Tilted, estimate_rare
from .result import Result
from .verification import Check, verify

__all__ = [
    "Check",
    "Covering",
    "Estimate",
    "Guarded",
    "RareEvent",
    "Result",
    "Setting",
    "Steered",
    "Tilted",
    "estimate_rare",
    "verify",
]
