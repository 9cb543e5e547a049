from .claims import (
    BoundClaim as BoundClaim,
    Claim as Claim,
    FilterClaim as FilterClaim,
    OdometerClaim as OdometerClaim,
    PromiseClaim as PromiseClaim,
    Turn as Turn,
)
from .measuring import Measured as Measured
from .plans import Plan as Plan
from .programs import Program as Program
from .search import (
    FoundAdversary as FoundAdversary,
    claim_of as claim_of,
    find_adversary as find_adversary,
)

__all__ = [
    "BoundClaim",
    "Claim",
    "FilterClaim",
    "FoundAdversary",
    "Measured",
    "OdometerClaim",
    "Plan",
    "Program",
    "PromiseClaim",
    "Turn",
    "claim_of",
    "find_adversary",
]
