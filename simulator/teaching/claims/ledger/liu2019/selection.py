"""The best of a geometric number of runs."""

from __future__ import annotations

from simulator.teaching.claims.ledger.theorems.selection import pure_selection
from simulator.teaching.claims.model import Verdict
from simulator.teaching.claims.registry import claim

claim(
    "liu2019-random-stopping",
    "theorem on random stopping",
    "The best of a geometric number of ε-DP runs is 3ε-DP, whatever its mean.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
    given={"shape": 1.0},
)(pure_selection)
