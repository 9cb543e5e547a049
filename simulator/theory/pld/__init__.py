"""Privacy loss distributions: composition by transform, with certified answers."""

from simulator.theory.pld.bracket import Bracket
from simulator.theory.pld.discretise import Discretised, discretise
from simulator.theory.pld.pld import PLD, compose_laws

__all__ = ["PLD", "Bracket", "Discretised", "compose_laws", "discretise"]
