"""The lecture notes, executable: every claim of the sources is a check with a verdict.

A claim is written beside its check, in a module for one source and theme::

    @claim("roth2011-theorem-1", "Theorem 1", "k rounds of epsilon-DP are ...", Verdict.HOLDS,
           wrong={"share": 0.5})
    def basic_composition(
        *, epsilon: Epsilon = 0.3, rounds: Annotated[int, "rounds k", Within(1, 1000)] = 9
    ) -> Finding:
        ...

The check's keyword defaults are the claim, their annotations say what they mean and how far they
go; ``wrong`` alters some of them into a claim that the check must judge otherwise. A theorem that
several sources state has one check, in ``theorems``, which each source registers with its own
constants: ``claim(..., given={"epsilon": 0.5})(check)``.

A claim can be checked with other values of its parameters, its knobs::

    from simulator.teaching.claims import claim
    claim("zhang2020-bob").check(denominator=813)
"""

from simulator.foundations.attached import furnish
from simulator.foundations.knobs import Knob
from simulator.teaching.claims.model import (
    Claim,
    Fault,
    Finding,
    Source,
    Verdict,
    read_settings,
)
from simulator.teaching.claims.registry import all_claims, find
from simulator.teaching.claims.registry import find as claim
from simulator.teaching.claims.rendering import to_json, to_markdown
from simulator.teaching.claims.running import ClaimResult, run
from simulator.teaching.claims.sweeps import Stretch, own_sweep, sweep

__all__ = [
    "Claim",
    "ClaimResult",
    "Fault",
    "Finding",
    "Knob",
    "Source",
    "Stretch",
    "Verdict",
    "all_claims",
    "claim",
    "find",
    "own_sweep",
    "read_settings",
    "run",
    "sweep",
    "to_json",
    "to_markdown",
]

furnish(globals())
