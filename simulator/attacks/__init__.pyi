from .claims import (
    BoundClaim as BoundClaim,
    OdometerClaim as OdometerClaim,
    PromiseClaim as PromiseClaim,
    PastRound as PastRound,
)
from .conversations import (
    FoundConversation as FoundConversation,
    find_conversation as find_conversation,
)
from .filter_claims import FilterClaim as FilterClaim
from .measuring import MeasuredDelta as MeasuredDelta
from .programs import Program as Program
from .search import (
    FoundAdversary as FoundAdversary,
    find_adversary as find_adversary,
)
from .testing import (
    AdversaryFound as AdversaryFound,
    assert_no_adversary as assert_no_adversary,
)

__all__ = [
    "AdversaryFound",
    "BoundClaim",
    "FilterClaim",
    "FoundAdversary",
    "FoundConversation",
    "MeasuredDelta",
    "OdometerClaim",
    "PastRound",
    "Program",
    "PromiseClaim",
    "assert_no_adversary",
    "find_adversary",
    "find_conversation",
]
