"""Rare events: choosing a measure to sample from, and estimating under it.

Nothing here changes what is estimated: every measure is chosen on held-out draws, then frozen, and
the weights of the final sample make up for it.
"""

from simulator.play.sampling import Steered
from simulator.rare.doob import Lattice, enumerate_lattice
from simulator.rare.events import METHODS, RareEvent, estimate_rare
from simulator.rare.pilot import pilot_tilt
from simulator.rare.splitting import split
from simulator.rare.steering import steer
from simulator.rare.tilted import Tilted

__all__ = [
    "METHODS",
    "Lattice",
    "RareEvent",
    "Steered",
    "Tilted",
    "enumerate_lattice",
    "estimate_rare",
    "pilot_tilt",
    "split",
    "steer",
]
