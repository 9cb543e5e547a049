"""Correlated records: a Markov chain of bits."""

from __future__ import annotations

from simulator.teaching.claims.ledger.theorems.groups import quilts
from simulator.teaching.claims.model import Verdict
from simulator.teaching.claims.registry import claim

claim(
    "song2017-quilts",
    "Markov quilts",
    "A record of a chain is protected as well as a quilt says: ε for each record nearer than the "
    "quilt, and what the quilt's records say about it; ours: ε-DP answers about bits.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
)(quilts)
