from .contract import Challenge, Rule, rule
from .registry import entries, make

__all__ = ["Challenge", "Rule", "entries", "make", "rule"]
