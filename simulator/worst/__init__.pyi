from .conversations import (
    WorstConversation as WorstConversation,
    worst_conversation as worst_conversation,
)
from .dominating import dominating_law as dominating_law
from .filters.certified import (
    CertifiedFilter as CertifiedFilter,
    read_certified as read_certified,
)
from .filters.plans import certified_filter as certified_filter
from .game import Game as Game
from .least_odometer import (
    LeastOdometer as LeastOdometer,
    least_odometer as least_odometer,
)
from .menu import Entry as Entry
from .menu_parsing import (
    entries as entries,
    parse_family as parse_family,
    parse_menu as parse_menu,
)
from .odometers import (
    WorstOdometer as WorstOdometer,
    worst_odometer as worst_odometer,
)
from .own_filter import OwnFilter as OwnFilter
from .policy import Policy as Policy
from .realised import (
    WorstRealised as WorstRealised,
    worst_realised as worst_realised,
)
from .search import (
    WorstCase as WorstCase,
    worst_case as worst_case,
    worst_case_of_family as worst_case_of_family,
)

__all__ = [
    "CertifiedFilter",
    "Entry",
    "Game",
    "LeastOdometer",
    "OwnFilter",
    "Policy",
    "WorstCase",
    "WorstConversation",
    "WorstOdometer",
    "WorstRealised",
    "certified_filter",
    "dominating_law",
    "entries",
    "least_odometer",
    "parse_family",
    "parse_menu",
    "read_certified",
    "worst_case",
    "worst_case_of_family",
    "worst_conversation",
    "worst_odometer",
    "worst_realised",
]
