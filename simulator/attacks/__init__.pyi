from .claims import (
    BoundClaim as BoundClaim,
    Claim as Claim,
    FilterClaim as FilterClaim,
    OdometerClaim as OdometerClaim,
    PromiseClaim as PromiseClaim,
    Turn as Turn,
)
from .conversations import (
    FoundConversation as FoundConversation,
    find_conversation as find_conversation,
)
from .measuring import Measured as Measured
from .plans import Plan as Plan
from .programs import Program as Program
from .search import (
    FoundAdversary as FoundAdversary,
    claim_of as claim_of,
    find_adversary as find_adversary,
)
from .testing import (
    AdversaryFound as AdversaryFound,
    assert_no_adversary as assert_no_adversary,
)

__all__ = [
    "AdversaryFound",
    "BoundClaim",
    "Claim",
    "FilterClaim",
    "FoundAdversary",
    "FoundConversation",
    "Measured",
    "OdometerClaim",
    "Plan",
    "Program",
    "PromiseClaim",
    "Turn",
    "assert_no_adversary",
    "claim_of",
    "find_adversary",
    "find_conversation",
]
