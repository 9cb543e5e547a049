from .conversations import WorstConversation, worst_conversation
from .dominating import dominating_law
from .filters.certified import CertifiedFilter, read_certified
from .filters.plans import certified_filter
from .game import Game
from .least_odometer import LeastOdometer, least_odometer
from .menu import Entry
from .menu_parsing import entries, parse_family, parse_menu
from .odometers import WorstOdometer, worst_odometer
from .own_filter import OwnFilter
from .policy import Policy
from .realised import WorstRealised, worst_realised
from .search import WorstCase, worst_case, worst_case_of_family

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
