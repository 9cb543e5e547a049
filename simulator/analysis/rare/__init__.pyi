from .choosing import Tilted, choose_measure
from .doob import StateGraph, enumerate_states
from .events import RareEvent, estimate_rare
from .methods import METHODS
from .pilot import pilot_tilt
from .selection import Covering, Guarded
from .splitting import split
from .steering import Steered, steer

__all__ = [
    "METHODS",
    "Covering",
    "Guarded",
    "RareEvent",
    "StateGraph",
    "Steered",
    "Tilted",
    "choose_measure",
    "enumerate_states",
    "estimate_rare",
    "pilot_tilt",
    "split",
    "steer",
]
