"""The lecture notes, executable: every claim of the sources is a check with a verdict.

A claim is written beside its check, in a module for one source and theme::

    @claim("roth2011-theorem-1", ROTH_2011, "Theorem 1", "k rounds of epsilon-DP are ...",
           Verdict.HOLDS, wrong={"share": 0.5})
    def basic_composition(*, epsilon: float = 0.3, rounds: int = 9, share: float = 1.0) -> Finding:
        ...

The check's keyword defaults are the claim; ``wrong`` alters some of them into a claim that the
check must judge otherwise.
"""

from simulator.claims.model import Claim, Finding, Source, Verdict
from simulator.claims.registry import all_claims, claim, find
from simulator.claims.rendering import to_json, to_markdown
from simulator.claims.running import ClaimResult, run

__all__ = [
    "Claim",
    "ClaimResult",
    "Finding",
    "Source",
    "Verdict",
    "all_claims",
    "claim",
    "find",
    "run",
    "to_json",
    "to_markdown",
]
