"""The heuristic of a linear loss, where only the last iterate is seen."""

from __future__ import annotations

from simulator.teaching.claims.findings import number, statement
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.games.library.last_iterate import heuristic
from simulator.theory.bracket import Bracket
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.subsampled import PoissonSubsampledLaw
from simulator.theory.pld.distribution import PLD


@claim(
    "steinke2025-counterexamples",
    "abstract",
    "Artificial counterexamples where the heuristic underestimates the privacy leakage; ours: a "
    "regulariser that pulls every iterate back to 0, a convex loss.",
    Verdict.HOLDS,
    wrong={"chance": 0.5},
)
def forgetting_tells_more(
    *,
    steps: int = 16,
    noise_multiplier: float = 0.7,
    chance: float = 0.03,
    delta: float = 1e-5,
) -> Finding:
    """The exact epsilon of the last step alone, beside that of the sum of all noisy gradients."""
    law = PoissonSubsampledLaw(GaussianLaw(1.0 / noise_multiplier), chance)
    last = Bracket.largest(PLD.from_law(one).epsilon(delta) for one in (law, law.reversed()))
    claimed = heuristic(steps, noise_multiplier, chance, delta)
    return statement(
        last.lower > claimed.upper,
        f"ε {number(last.lower)}, the heuristic says {number(claimed.upper)}",
        printed="the heuristic can be below the true ε",
    )
