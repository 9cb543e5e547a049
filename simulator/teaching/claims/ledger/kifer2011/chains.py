"""Correlated records: no free lunch."""

from __future__ import annotations

from simulator.teaching.claims.ledger.theorems.groups import one_record_of_chain
from simulator.teaching.claims.model import Verdict
from simulator.teaching.claims.registry import claim

claim(
    "kifer2011-correlated-records",
    "on correlated records",
    "Where records are correlated, and the adversary knows how, answers that are ε-DP each lose "
    "more than ε about one record; ours: a chain of six bits.",
    Verdict.HOLDS,
    wrong={"flip": 0.5},
)(one_record_of_chain)
