"""Each record has its own budget, and leaves the data when it is spent."""

from __future__ import annotations

from simulator.teaching.claims.findings import number, upper_bound
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.games.library.individual_filters import (
    BOTH,
    UNITS,
    WITHOUT,
    IndividualFilter,
)
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.pure import PureDP
from simulator.worst import worst_conversation


@claim(
    "feldman2021-individual-filter",
    "abstract",
    "Adaptively chosen analyses, in which the privacy loss of each participant does not exceed a "
    "budget, by an estimate for each individual; ours: pure budgets, two records.",
    Verdict.HOLDS,
    wrong={"late": True},
)
def own_spend_is_kept(*, epsilon: float = 1.0, queries: int = 4, late: bool = False) -> Finding:
    """The largest delta at a record's budget, over all adaptive queries and both directions.

    If ``late``, a record is dropped after the query that spent its budget.
    """
    rule = "late" if late else "own"
    counts = IndividualFilter(epsilon / UNITS, queries, PureDP(epsilon), rule)
    found = Bracket.largest(
        worst_conversation(counts, WITHOUT, BOTH, epsilon=epsilon, experiment=b).delta
        for b in (0, 1)
    )
    return upper_bound(
        found.lower, 0.0, f"δ({number(epsilon)})",
        printed=f"a loss of at most {number(epsilon)}", note="every order of queries was tried",
    )  # fmt: skip
