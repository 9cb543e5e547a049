from .choosing import (
    Guarded as Guarded,
    Tilted as Tilted,
)
from .doob import (
    StateGraph as StateGraph,
    enumerate_states as enumerate_states,
)
from .events import estimate_rare as estimate_rare
from .methods import METHODS as METHODS
from .pilot import pilot_tilt as pilot_tilt
from .question import Setting as Setting
from .reading import (
    Covering as Covering,
    RareEvent as RareEvent,
)
from .rehearsal import Rehearsals as Rehearsals
from .steering import (
    Steered as Steered,
    steer as steer,
)

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
