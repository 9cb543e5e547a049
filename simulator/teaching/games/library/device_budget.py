"""A budget of the whole device: shared limits, quotas, and requests in flight."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from simulator.analysis.simulate import simulate
from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.mechanisms import InteractiveMechanism, finite_answers
from simulator.mechanisms.base import ScalarPair
from simulator.teaching.games.model import game
from simulator.teaching.games.rows import GameRow, bound, played, worst, wrong
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.worst import worst_conversation

DEVICE = "the device"
SHOWN = ("ads on site 0", "ads on site 1")
WHOLE = Database([DEVICE, *SHOWN])
NO_DEVICE, NOTHING_SHOWN = WHOLE.remove(DEVICE), WHOLE.remove(SHOWN[0])
UNITS = 2
"""Units of budget that a site has; a report costs one or two."""


@dataclass(frozen=True)
class Balances:
    """What a device holds, and what is left: of each site, of each quota, of the device.

    ``pending`` is the report that is not yet charged.
    """

    shown: tuple[bool, ...]
    sites: tuple[int, ...]
    quotas: tuple[int, ...]
    total: int
    pending: tuple[int, ...] = ()

    def pays(self, message: Any) -> bool:
        """Whether the device holds the ad, and every budget has the report's cost left."""
        site, shown, cost = message
        left = min(self.sites[site], self.quotas[shown], self.total)
        return self.shown[shown] and cost <= left

    def charged(self, message: Any) -> Balances:
        """The balances after a report."""
        site, shown, cost = message
        sites, quotas = (
            tuple(left - cost * (place == charged) for place, left in enumerate(budgets))
            for budgets, charged in ((self.sites, site), (self.quotas, shown))
        )
        return replace(self, sites=sites, quotas=quotas, total=self.total - cost)


@dataclass(frozen=True)
class Device(InteractiveMechanism):
    """A device that reports conversions while the budgets last.

    A message is ``(site, shown, cost)``: a person buys at a site after an ad that the impression
    site ``shown`` has shown, and the site receives a report of that many units of epsilon. Budgets
    are checked and charged on the device, and only where it holds the ad. A report that no budget
    pays for is noise alone.

    Parameters
    ----------
    unit : the epsilon of a unit.
    sites : how many sites there are, with :data:`UNITS` each.
    total, quota : units for all sites together, and for the ads of one impression site.
    claimed : the guarantee.
    locked : whether a report is charged at once. Else it is charged after the next one was checked,
        as happens to two requests in flight.
    """

    unit: float
    sites: int
    total: int
    quota: int
    claimed: Guarantee
    _: KW_ONLY
    locked: bool = True

    def guarantee(self, relation: Relation = ADD_REMOVE) -> Guarantee:
        """The claimed guarantee."""
        return self.claimed

    def opened(self, database_0: Database, database_1: Database, relation: Relation) -> Any:
        """The accounts of the device on either database."""
        return tuple(
            Balances(
                tuple(DEVICE in database and shown in database for shown in SHOWN),
                (UNITS,) * self.sites, (self.quota,) * len(SHOWN), self.total,
            )
            for database in (database_0, database_1)
        )  # fmt: skip

    def messages(self, state: Any) -> Sequence[Any]:
        """The reports that the device pays for on some database."""
        return [
            (site, shown, cost)
            for site in range(self.sites)
            for shown in range(len(SHOWN))
            for cost in range(1, UNITS + 1)
            if any(account.pays((site, shown, cost)) for account in state)
        ]

    def answers_to(self, state: Any, message: Any) -> ScalarPair:
        """Randomized response to whether the device pays, which is the worst report."""
        kept = 1.0 / (1.0 + math.exp(-self.unit * message[2]))
        laws = (kept, 1.0 - kept), (1.0 - kept, kept)
        return finite_answers(*(laws[account.pays(message)] for account in state))

    def after(self, state: Any, message: Any, answer: Any) -> Any:
        """The accounts after the report."""
        return tuple(self._charged(account, message) for account in state)

    def _charged(self, account: Balances, message: Any) -> Balances:
        if not account.pays(message):
            return account
        if self.locked:
            return account.charged(message)
        late = account.charged(account.pending) if account.pending else account
        return replace(late, pending=tuple(message))


@game(
    "device-budget",
    "A budget of the device: shared limits, quotas, and requests in flight",
    sources=(
        "Tholoniat and others 2025, arXiv 2506.05290 (Big Bird)",
        "W3C Attribution, draft of May 2026, sections on privacy budgets and formal analysis",
    ),
    ranges={
        "epsilon": ("the budget of one site", 0.1, 3.0),
        "sites": ("how many sites there are", 1, 3),
        "total": ("the budget of the device, in budgets of one site", 1, 2),
        "quota": ("for the ads of one impression site, in half budgets of one site", 1, 4),
        "at": ("the epsilon at which delta is taken, in budgets of one site", 0.0, 5.0),
        "trials": ("plays of each experiment", 100, 1_000_000),
        "seed": ("of the plays", 0, 2**31),
    },
    sweep=("at", (0.0, 0.5, 1.0, 1.25, 1.5, 1.75)),
)
def device_budget(
    *,
    epsilon: float = 1.0,
    sites: int = 2,
    total: int = 2,
    quota: int = 2,
    at: float = 1.5,
    trials: int = 4000,
    seed: int = 1,
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
    yield bound(quantity, "the device's budget, a pure filter", _pure(total * epsilon, at))
    yield wrong(quantity, "the budget of one site", _pure(epsilon, at))

    quantity = "delta, charged after the next check"
    late = worst_conversation(replace(device, locked=False), NO_DEVICE, WHOLE, epsilon=at)
    yield worst(quantity, "any sites and reports", late.delta)
    yield bound(quantity, "the device's budget and one site's", _pure((total + 1) * epsilon, at))
    yield wrong(quantity, "as if each were charged at once", found.delta.upper)

    quantity = "delta, the ads of one impression site"
    either = [
        worst_conversation(device, NOTHING_SHOWN, WHOLE, epsilon=at, experiment=b) for b in (0, 1)
    ]
    delta = Bracket.largest(found.delta for found in either)
    yield worst(quantity, "any sites and reports", delta)
    yield bound(quantity, "twice the device's budget", _pure(2 * total * epsilon, at))
    yield wrong(quantity, "the quota is their budget", _pure(quota * epsilon / UNITS, at))


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


def _pure(epsilon: float, at: float) -> float:
    """The delta at ``at`` of any epsilon-DP mechanism: that of randomized response."""
    return max(0.0, -math.expm1(at - epsilon)) / (1.0 + math.exp(-epsilon))
