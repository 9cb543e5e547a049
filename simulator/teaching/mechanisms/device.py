"""A device that reports conversions while the budgets of its sites and its own last."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.mechanisms import InteractiveMechanism, finite_answers
from simulator.mechanisms.base import ScalarPair
from simulator.theory.guarantees.interface import Guarantee

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
