"""Properties of DP, chapter 5: name-and-shame as an interaction of several rounds."""

from __future__ import annotations

from typing import Any

from simulator.claims.cast import Playing, play
from simulator.claims.model import Finding, Verdict
from simulator.claims.played import worse_experiment
from simulator.claims.registry import claim
from simulator.data.databases import REPLACE_ONE, Database
from simulator.estimation import tail_violation
from simulator.mechanisms.published import NameAndShame
from simulator.theory.guarantees import ApproxDP


@claim(
    "chapter5-additive-composition-played",
    "Section 2.1",
    "k rounds of name-and-shame keep kδ-additive secrecy, and what they lose is the secret itself: "
    "the loss is infinite with probability at most kδ.",
    Verdict.NOT_TIGHT,
    wrong={"share": 0.5},
)
def shame_played(
    *, delta: float = 0.2, rounds: int = 3, trials: int = 1200, share: float = 1.0, seed: int = 23
) -> Finding:
    """Patients are numbered; patient 0 is ill in database 1. Exact value 1 - (1 - delta)^k."""
    others = Database([(1, "ill"), (2, "well")])
    pair = (others.add((0, "well")), others.add((0, "ill")))
    mechanism = NameAndShame(delta)

    def gossip(coins: Any) -> Playing:
        while True:
            yield (*pair, mechanism)

    result = play(gossip, ApproxDP(0.0, delta), rounds, trials, seed=seed, relation=REPLACE_ONE)
    claimed = share * rounds * delta
    return worse_experiment(result, "Pr[loss infinite]", tail_violation, 1e9, claimed)
