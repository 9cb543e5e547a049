"""The worst adaptive adversary: certified worst cases of menus, filters and odometers."""

from simulator.worst.conversations import WorstConversation, worst_conversation
from simulator.worst.dominating import dominating_law
from simulator.worst.game import Game
from simulator.worst.least_odometer import LeastOdometer, least_odometer
from simulator.worst.menu import Entry
from simulator.worst.menu_parsing import entries, parse_family, parse_menu
from simulator.worst.odometers import WorstOdometer, worst_odometer
from simulator.worst.own_filter import OwnFilter
from simulator.worst.policy import Policy
from simulator.worst.realised import WorstRealised, worst_realised
from simulator.worst.search import WorstCase, worst_case

__all__ = [
    "Entry",
    "Game",
    "LeastOdometer",
    "OwnFilter",
    "Policy",
    "WorstCase",
    "WorstConversation",
    "WorstOdometer",
    "WorstRealised",
    "dominating_law",
    "entries",
    "least_odometer",
    "parse_family",
    "parse_menu",
    "worst_case",
    "worst_conversation",
    "worst_odometer",
    "worst_realised",
]
