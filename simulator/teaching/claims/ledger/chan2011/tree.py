"""The binary tree."""

from __future__ import annotations

from simulator.teaching.claims.ledger.theorems.counting import (
    blocks_of_an_element,
    error_of_a_count,
)
from simulator.teaching.claims.model import Verdict
from simulator.teaching.claims.registry import claim

claim(
    "chan2011-tree-private",
    "the binary mechanism",
    "Laplace noise of scale (log2 T + 1)/ε in every block keeps ε-differential privacy.",
    Verdict.HOLDS,
    wrong={"spared": 1},
)(blocks_of_an_element)

claim(
    "chan2011-tree-error",
    "the binary mechanism",
    "A count is a sum of at most log2 T + 1 blocks.",
    Verdict.HOLDS,
    wrong={"most": 2},
)(error_of_a_count)
