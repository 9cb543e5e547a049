from .estimation import Estimate
from .loading import Result
from .rare import Covering, Guarded, RareEvent, Steered, Tilted, estimate_rare
from .verification import Check, verify

__all__ = [
    "Check",
    "Covering",
    "Estimate",
    "Guarded",
    "RareEvent",
    "Result",
    "Steered",
    "Tilted",
    "estimate_rare",
    "verify",
]
