from .estimation import Estimate as Estimate
from .rare import (
    Covering as Covering,
    Guarded as Guarded,
    RareEvent as RareEvent,
    Setting as Setting,
    Steered as Steered,
    Tilted as Tilted,
    estimate_rare as estimate_rare,
)
from .result import Result as Result
from .verification import (
    Check as Check,
    verify as verify,
)

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
