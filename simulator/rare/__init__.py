"""Rare events: choosing a measure to sample from, and estimating under it.

Nothing here changes what is estimated: every measure is chosen on held-out draws, then frozen, and
the weights of the final sample make up for it.
"""

from simulator.play.sampling import Covering, Guarded, Steered, Tilted
from simulator.rare.choosing import choose_measure
from simulator.rare.doob import StateGraph, enumerate_states
from simulator.rare.events import METHODS, RareEvent, estimate_rare
from simulator.rare.pilot import pilot_tilt
from simulator.rare.splitting import split
from simulator.rare.steering import steer

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
