"""Budgets of each querier, and a budget of the device."""

from __future__ import annotations

import math

from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.games.library.attribution import echo
from simulator.teaching.games.library.device_budget import NO_DEVICE, UNITS, WHOLE, Device
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.pld.distribution import PLD
from simulator.worst import worst_conversation


@claim(
    "tholoniat2025-per-querier",
    "abstract",
    "Separate budgets of each querier are unsound once data adapt across queriers; ours: a site at "
    "which other devices buy by what seven sites have learned.",
    Verdict.HOLDS,
    wrong={"sites": 1},
)
def querier_learns_more(
    *, epsilon: float = 1.0, sites: int = 8, buyers: int = 5, delta: float = 1e-6
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
def device_budget_is_sound(*, epsilon: float = 1.0, locked: bool = True) -> Finding:
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
