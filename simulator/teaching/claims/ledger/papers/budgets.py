"""Budgets of each record, of each querier and of the device."""

from __future__ import annotations

import math
from typing import Annotated

from simulator import PureDP
from simulator.analysis.searches import worst_conversation
from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.parameters import Delta, Epsilon
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.mechanisms import individual_filter as filters
from simulator.teaching.mechanisms.device import NO_DEVICE, UNITS, WHOLE, Device
from simulator.teaching.mechanisms.reaction import echo
from simulator.theory.bracket import Bracket
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.pld.distribution import PLD

Queries = Annotated[int, "how many are answered", Within(1, 6)]
Late = Annotated[bool, "whether a record is dropped after the query that spent its budget"]
Sites = Annotated[int, "sites that receive reports", Within(1, 64)]
Buyers = Annotated[int, "devices that react to what another site has learned", Within(1, 50)]
Locked = Annotated[bool, "whether a report is charged before the next one is checked"]


@claim(
    "feldman2021-individual-filter",
    "abstract",
    "Adaptively chosen analyses, in which the privacy loss of each participant does not exceed a "
    "budget, by an estimate for each individual; ours: pure budgets, two records.",
    Verdict.HOLDS,
    wrong={"late": True},
)
def own_spend_is_kept(
    *, epsilon: Epsilon = 1.0, queries: Queries = 4, late: Late = False
) -> Finding:
    """The largest delta at a record's budget, over all adaptive queries and both directions.

    If ``late``, a record is dropped after the query that spent its budget.
    """
    rule = "late" if late else "own"
    unit = epsilon / filters.UNITS
    counts = filters.IndividualFilter(unit, queries, PureDP(epsilon), rule)
    found = Bracket.largest(
        worst_conversation(
            counts, filters.WITHOUT, filters.BOTH, epsilon=epsilon, experiment=b
        ).delta
        for b in (0, 1)
    )
    return upper_bound(
        found.lower, 0.0, f"δ({number(epsilon)})",
        printed=f"a loss of at most {number(epsilon)}", note="every order of queries was tried",
    )  # fmt: skip


@claim(
    "tholoniat2025-per-querier",
    "abstract",
    "Separate budgets of each querier are unsound once data adapt across queriers; ours: a site at "
    "which other devices buy by what seven sites have learned.",
    Verdict.HOLDS,
    wrong={"sites": 1},
)
def querier_learns_more(
    *, epsilon: Epsilon = 1.0, sites: Sites = 8, buyers: Buyers = 5, delta: Delta = 1e-6
) -> Finding:
    """The exact epsilon of one site's own reports, beside its budget."""
    kept = 1.0 / (1.0 + math.exp(-epsilon))
    own = PLD.from_law(FiniteLaw.from_probabilities((kept, 1.0 - kept), (1.0 - kept, kept)))
    seen = PLD.from_law(FiniteLaw.from_probabilities(*echo(epsilon, buyers)))
    learned = seen.self_compose(sites - 1).compose(own).epsilon(delta).lower
    return statement(
        learned > epsilon,
        f"the site's own view has ε {number(learned)}, its budget is {number(epsilon)}",
        printed="its budget is not the ε of its view",
    )


@claim(
    "tholoniat2025-global",
    "abstract",
    "By contrast, a budget of the device for all queriers remains sound; ours: all orders of two "
    "sites, two impression sites and reports of two costs.",
    Verdict.HOLDS,
    wrong={"locked": False},
)
def device_budget_is_sound(*, epsilon: Epsilon = 1.0, locked: Locked = True) -> Finding:
    """The largest delta at the device's budget, over all adversaries that adapt.

    The device's budget is twice a site's ``epsilon``. Unless ``locked``, a report is charged after
    the next one was checked.
    """
    device = Device(epsilon / UNITS, 2, 2 * UNITS, 2 * UNITS, PureDP(2 * epsilon), locked=locked)
    found = worst_conversation(device, NO_DEVICE, WHOLE, epsilon=2.0 * epsilon)
    return upper_bound(
        found.delta.lower, 0.0, f"δ({number(2.0 * epsilon)})",
        printed=f"{number(2.0 * epsilon)}-DP", note="every order of reports was tried",
    )  # fmt: skip
