"""A budget of the whole device: shared limits, quotas, and requests in flight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from simulator.analysis.searches import worst_conversation
from simulator.analysis.simulate import simulate
from simulator.foundations.knobs import Within
from simulator.teaching.games.model import game
from simulator.teaching.games.rows import GameRow, bound, played, worst, wrong
from simulator.teaching.mechanisms.device import (
    NO_DEVICE,
    NOTHING_SHOWN,
    SHOWN,
    UNITS,
    WHOLE,
    Device,
)
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.pure import PureDP


@game(
    "device-budget",
    "A budget of the device: shared limits, quotas, and requests in flight",
    sources=(
        "Tholoniat and others 2025, arXiv 2506.05290 (Big Bird)",
        "W3C Attribution, draft of May 2026, sections on privacy budgets and formal analysis",
    ),
    sweep=("at", (0.0, 0.5, 1.0, 1.25, 1.5, 1.75)),
)
def device_budget(
    *,
    epsilon: Annotated[float, "the budget of one site", Within(0.1, 3.0)] = 1.0,
    sites: Annotated[int, "how many sites there are", Within(1, 3)] = 2,
    total: Annotated[int, "the budget of the device, in budgets of one site", Within(1, 2)] = 2,
    quota: Annotated[
        int, "for the ads of one impression site, in half budgets of one site", Within(1, 4)
    ] = 2,
    at: Annotated[
        float, "the epsilon at which delta is taken, in budgets of one site", Within(0.0, 5.0)
    ] = 1.5,
    trials: Annotated[int, "plays of each experiment", Within(100, 1_000_000)] = 4000,
    seed: Annotated[int, "of the plays", Within(0, 2**31)] = 1,
) -> Iterator[GameRow]:
    """Limit what all sites together learn about a device, and ask what each limit promises.

    The W3C Attribution API has a budget for each site, one for the device, and a quota for the ads
    of each impression site. All of them are kept on the device, which pays only for reports on ads
    that it holds. A report that is not paid for is noise, and no site sees that it is. In the model
    a report costs half of a site's budget or all of it. The search tries every order of sites, ads
    and costs; each step may depend on all answers so far, as people buy by what they are shown.

    If the device may be absent, its budget is a pure filter on the device's own loss, and it holds
    against every adapting adversary: events and queries are charged to one account. It takes a lock
    for that. If two requests are checked before either is charged, one report too many is paid.

    A quota is a limit of another kind. Take away the ads that one impression site has shown, and
    keep the device. Reports on these ads change by no more than the quota. But they are not charged
    either, so the budgets of the device and of the sites last longer, and later reports on other
    ads change as well. The quota limits what one impression site can use up; it is no guarantee for
    the ads shown there.
    """
    at = at * epsilon
    device = Device(epsilon / UNITS, sites, UNITS * total, quota, PureDP(total * epsilon))
    quantity = "delta, the device is absent"
    found = worst_conversation(device, NO_DEVICE, WHOLE, epsilon=at)
    yield worst(quantity, "any sites and reports", found.delta)
    yield _adapting(quantity, device, at, trials, seed)
    yield bound(
        quantity, "the device's budget, a pure filter", PureDP(total * epsilon).hockey_stick(at)
    )
    yield wrong(quantity, "the budget of one site", PureDP(epsilon).hockey_stick(at))

    quantity = "delta, charged after the next check"
    late = worst_conversation(replace(device, locked=False), NO_DEVICE, WHOLE, epsilon=at)
    yield worst(quantity, "any sites and reports", late.delta)
    yield bound(
        quantity,
        "the device's budget and one site's",
        PureDP((total + 1) * epsilon).hockey_stick(at),
    )
    yield wrong(quantity, "as if each were charged at once", found.delta.upper)

    quantity = "delta, the ads of one impression site"
    either = [
        worst_conversation(device, NOTHING_SHOWN, WHOLE, epsilon=at, experiment=b) for b in (0, 1)
    ]
    delta = Bracket.largest(found.delta for found in either)
    yield worst(quantity, "any sites and reports", delta)
    yield bound(quantity, "twice the device's budget", PureDP(2 * total * epsilon).hockey_stick(at))
    yield wrong(
        quantity, "the quota is their budget", PureDP(quota * epsilon / UNITS).hockey_stick(at)
    )


def _adapting(quantity: str, device: Device, at: float, trials: int, seed: int) -> GameRow:
    """Spend all at a site while the answers show the device, and half as long as they do not."""

    def adapt(coins: np.random.Generator) -> Any:
        opened = yield NO_DEVICE, WHOLE, device
        score = 0.0
        for number in range(device.total):
            cost = 1 if score > 0.0 else UNITS
            answer = yield opened.ask((number % device.sites, number % len(SHOWN), cost))
            score += cost * (answer - 0.5)

    result = simulate(
        adapt, family=device.claimed, rounds=device.total + 1, trials=trials, seed=seed
    )
    return played(quantity, "sites that adapt", result.delta(at, confidence=0.999))
