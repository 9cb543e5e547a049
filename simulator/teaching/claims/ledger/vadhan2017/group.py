"""Group privacy."""

from __future__ import annotations

from simulator.teaching.claims.ledger.theorems.groups import approximate_group
from simulator.teaching.claims.model import Verdict
from simulator.teaching.claims.registry import claim

claim(
    "vadhan2017-lemma-2-2",
    "Lemma 2.2",
    "An (ε, δ)-DP mechanism is (kε, δ(e^{kε}-1)/(e^ε-1))-DP for databases k steps apart.",
    Verdict.HOLDS,
    wrong={"share": 0.5},
)(approximate_group)
