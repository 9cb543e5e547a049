"""The adversary's contract, and the library of adversaries."""

from simulator.adversaries.contract import Challenge, Rule, rule
from simulator.adversaries.registry import entries, make

__all__ = ["Challenge", "Rule", "entries", "make", "rule"]
