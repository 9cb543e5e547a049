"""The adversary's contract, and the library of adversaries."""

from simulator.adversaries.contract import Challenge, Rule, rule

__all__ = ["Challenge", "Rule", "rule"]
