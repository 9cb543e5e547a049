"""Filters and odometers against the worst adversary of a menu, found by search.

The search of :mod:`simulator.worst` uses the filter itself as the admission rule: every node of the
game is a multiset of spent guarantees, which are charged to a new filter. A filter must not depend
on their order; the sums that filters use do not, up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simulator.analysis.searches import worst_case, worst_odometer
from simulator.auditing.conformance.client import Worker
from simulator.auditing.conformance.protocol import Reading, Spend
from simulator.auditing.conformance.spending import Failed, SpendingPlay, SpendingTable
from simulator.auditing.conformance.verdicts import Ruling
from simulator.foundations.errors import DpcomposeError
from simulator.theory import Bracket, Guarantee

EPSILONS = (0.1, 0.3)
BY_SEARCH = "the worst, by search"
MENU = ",".join(f"randomized-response:{epsilon:g}" for epsilon in EPSILONS)
PROMISE = Reading(1.5, 1e-2)
ANNOUNCED = 1e-3
ROUNDS = 12
_SEARCH_SECONDS = 10.0
_TOLERANCE = 1e-2


class FilterAsRule:
    """The admission rule of a filter, in the form that the search needs."""

    initial: tuple[int, ...] = (0,) * len(EPSILONS)

    def __init__(self, table: SpendingTable, promise: Reading) -> None:
        self.table, self.promise = table, promise
        self.epsilon, self.delta = promise
        self._known: dict[Any, tuple[bool, Any]] = {}

    def admit(self, state: Any, guarantee: Guarantee) -> tuple[bool, Any]:
        """Whether a new filter charged with ``state`` admits the guarantee; the next state."""
        option = EPSILONS.index(guarantee.pure_epsilon)
        key = (state, option)
        if key not in self._known:
            after = tuple(count + (i == option) for i, count in enumerate(state))
            self._known[key] = (self._admitted(state, EPSILONS[option]), after)
        return self._known[key]

    def _admitted(self, state: tuple[int, ...], epsilon: float) -> bool:
        self.table.open(*self.promise)
        for one, count in zip(EPSILONS, state):
            for _ in range(count):
                self.table.call({"do": "ask", "spend": [one, 0.0]})
        return bool(self.table.call({"do": "ask", "spend": [epsilon, 0.0]})["admitted"])


class OdometerAsRule:
    """An odometer, in the form that the search needs."""

    def __init__(self, table: SpendingTable) -> None:
        self.table = table
        self._known: dict[tuple[float, ...], Reading] = {}

    def fresh(self) -> RunningSearchedOdometer:
        """An odometer at zero."""
        return RunningSearchedOdometer(self)

    def reading(self, spends: tuple[float, ...]) -> Reading:
        """The reading of a new odometer after these spends."""
        if spends not in self._known:
            self.table.open(ANNOUNCED)
            for epsilon in spends:
                self.table.call({"do": "spend", "spend": [epsilon, 0.0]})
            self._known[spends] = self.table.reading()
        return self._known[spends]


class RunningSearchedOdometer:
    """The spends so far, and their readings."""

    def __init__(self, odometer: OdometerAsRule) -> None:
        self.odometer = odometer
        self.spends: tuple[float, ...] = ()

    def spend(self, guarantee: Guarantee) -> None:
        """Account for a round."""
        self.spends = tuple(sorted((*self.spends, guarantee.pure_epsilon)))

    @property
    def epsilon(self) -> float:
        """The epsilon of the reading."""
        return self.odometer.reading(self.spends).epsilon if self.spends else 0.0

    @property
    def delta(self) -> float:
        """The delta of the reading; before any round that of the first round."""
        return self.odometer.reading(self.spends or EPSILONS[:1]).delta


def worst_of_filter(
    worker: Worker, library: str, subject: str, *, seconds: float = 10.0
) -> Iterator[SpendingPlay]:
    """The worst adaptive adversary over :data:`MENU` against a filter: one play."""
    table = SpendingTable(worker, subject, seconds)
    verdict, why, truth = Ruling.UNKNOWN, "", None
    try:
        found = worst_case(
            MENU,
            epsilon=PROMISE.epsilon,
            filter=FilterAsRule(table, PROMISE),
            tolerance=_TOLERANCE,
            seconds=_SEARCH_SECONDS,
        )
        truth, verdict = found.delta, ruling(found.delta, PROMISE.delta)
        why = f"the worst adaptive adversary gets delta = {truth.lower:.4g}"
    except Failed as error:
        verdict, why = Ruling.FAILS, str(error)
    except DpcomposeError as error:
        why = f"no search: {error}"
    yield _play((library, subject, "filter"), PROMISE, tuple(PROMISE), (verdict, truth, why))


def worst_of_odometer(
    worker: Worker, library: str, subject: str, *, seconds: float = 10.0
) -> Iterator[SpendingPlay]:
    """The worst adversary of :data:`ROUNDS` rounds that chooses when to stop: one play."""
    table = SpendingTable(worker, subject, seconds)
    verdict, why, truth, announced = Ruling.UNKNOWN, "", None, ANNOUNCED
    try:
        found = worst_odometer(
            MENU,
            OdometerAsRule(table),
            ROUNDS,
            tolerance=_TOLERANCE,
            seconds=_SEARCH_SECONDS,
        )
        truth, announced = found.delta, found.announced
        verdict = ruling(found.delta, announced)
        why = f"the worst adaptive adversary gets delta = {truth.lower:.4g} when it stops"
    except Failed as error:
        verdict, why = Ruling.FAILS, str(error)
    except DpcomposeError as error:
        why = f"no search: {error}"
    reading = Reading(0.0, announced)
    yield _play((library, subject, "odometer"), reading, (ANNOUNCED,), (verdict, truth, why))


def ruling(reached: Bracket, promised: float) -> Ruling:
    """Unsound if the policy that was found exceeds the promise; sound if none can."""
    if reached.lower > promised + 1e-12:
        return Ruling.UNSOUND
    return Ruling.SOUND if reached.upper <= promised + 1e-9 else Ruling.UNKNOWN


def _play(
    named: tuple[str, str, str],
    promise: Reading,
    opened: tuple[float, ...],
    found: tuple[Ruling, Bracket | None, str],
) -> SpendingPlay:
    library, subject, role = named
    verdict, truth, why = found
    return SpendingPlay(
        library=library,
        subject=subject,
        role=role,
        adversary=BY_SEARCH,
        spends=(Spend(EPSILONS[0]),),
        admitted=(False,),
        promise=promise,
        opened=opened,
        truth=truth,
        verdict=verdict,
        why=why,
    )
