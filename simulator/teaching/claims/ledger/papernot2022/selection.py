"""The best of a random number of runs: truncated negative binomial, and Poisson."""

from __future__ import annotations

from simulator.teaching.claims.ledger.theorems.selection import (
    fixed_selection,
    poisson_selection,
    pure_selection,
    renyi_selection,
)
from simulator.teaching.claims.model import Verdict
from simulator.teaching.claims.registry import claim

claim(
    "papernot2022-corollary-3",
    "Corollary 3",
    "The best of a truncated negative binomial number of ε-DP runs is (2+η)ε-DP; ours: η = 0.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
    given={"shape": 0.0},
)(pure_selection)

claim(
    "papernot2022-theorem-2",
    "Theorem 2",
    "The best of a truncated negative binomial number of runs has the stated Rényi curve; ours: "
    "ε-DP runs, η = 1, order 4.",
    Verdict.NOT_TIGHT,
    wrong={"share": 0.2},
)(renyi_selection)

claim(
    "papernot2022-theorem-6",
    "Theorem 6",
    "The best of a Poisson number of runs has the stated Rényi curve; ours: ε-DP runs, order 4.",
    Verdict.NOT_TIGHT,
    wrong={"share": 0.2},
)(poisson_selection)

claim(
    "papernot2022-fixed-number",
    "on point masses",
    "A fixed number of runs is naive repetition: the best of n runs costs what n runs do, nε.",
    Verdict.HOLDS,
    wrong={"share": 0.3},
)(fixed_selection)
