from .contract import (
    Challenge as Challenge,
    Rule as Rule,
    rule as rule,
)
from .registry import (
    entries as entries,
    make as make,
)

__all__ = ["Challenge", "Rule", "entries", "make", "rule"]
