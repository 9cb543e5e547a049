from .choosing import Guarded, Tilted
from .doob import StateGraph, enumerate_states
from .events import estimate_rare
from .methods import METHODS
from .pilot import pilot_tilt
from .question import Setting
from .reading import Covering, RareEvent
from .rehearsal import Rehearsals
from .steering import Steered, steer

__all__ = [
    "METHODS",
    "Covering",
    "Guarded",
    "RareEvent",
    "Rehearsals",
    "Setting",
    "StateGraph",
    "Steered",
    "Tilted",
    "enumerate_states",
    "estimate_rare",
    "pilot_tilt",
    "steer",
]
