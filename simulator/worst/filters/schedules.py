"""How many rounds filters admit along usual schedules of parameters."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.named import filter_class
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP
from simulator.worst.filters.admitted import PUBLISHED, most_rounds, rounds_admitted
from simulator.worst.filters.certificate_format import SAMPLED
from simulator.worst.filters.certified import CertifiedFilter, sigma_of
from simulator.worst.filters.sampled_budget import FINE_ORDERS, renyi_share

SHARES = (500, 200, 100, 50, 20, 10, 5, 2)
"""The promised epsilon over those of constant schedules."""
MOST = 20_000
"""Most rounds of a schedule that is played round by round."""
MOST_ROUNDS = 10**7

Schedule = Callable[[], Iterator[Guarantee]]


@dataclass(frozen=True)
class ScheduleRow:
    """The rounds that filters admit along one schedule.

    Attributes
    ----------
    schedule : its name.
    rounds : by filter's name; 0 where the filter does not apply.
    most : rounds that no sound filter passes; None where it is not known.
    epsilon : of a round of a constant schedule of pure mechanisms, else None.
    """

    schedule: str
    rounds: dict[str, int]
    most: int | None = None
    epsilon: float | None = None

    @property
    def best_published(self) -> tuple[str, int]:
        """The published filter that admits most, and how many rounds."""
        known = [name for name in self.rounds if name in PUBLISHED]
        best = max(known, key=lambda name: self.rounds[name])
        return best, self.rounds[best]


def admitted(filter_: Filter, schedule: Iterator[Guarantee]) -> int:
    """How many rounds of a schedule, at most ``MOST``, a filter admits before it refuses one."""
    running = filter_.fresh()
    for count, guarantee in enumerate(itertools.islice(schedule, MOST)):
        try:
            if not running.admits(guarantee):
                return count
        except NotApplicable:
            return count
        running.spend(guarantee)
    return MOST


def pure_rows(
    promise: tuple[float, float], largest: float, epsilons: Sequence[float] | None = None
) -> list[ScheduleRow]:
    """The rows of pure mechanisms: constant schedules of ``epsilons``, or the usual schedules.

    Under the residue filter of that promise and the published ones. The usual schedules are the
    constant ones of epsilon / 500 to epsilon / 2 as far as they are not above ``largest``, one that
    falls with the fourth root of the round, and two large rounds followed by small ones.
    """
    epsilon = promise[0]
    if 0.0 < epsilon < sys.float_info.min:
        raise InvalidInput(f"epsilon must be at least {sys.float_info.min:.2g}", argument="epsilon")
    every: dict[str, Filter] = {}
    for name in ("residue", *PUBLISHED):
        try:
            made = filter_class(name)(*promise)
            assert made.initial
            every[name] = made
        except NotApplicable:
            continue
        except InvalidInput:  # a published filter has a range of its own
            if name == "residue":
                raise
    rows = []
    shown = epsilons or [epsilon / share for share in SHARES if epsilon / share <= largest]
    for each in shown:
        rounds = {name: _or_none(rounds_admitted, kind, each) for name, kind in every.items()}
        rows.append(ScheduleRow(f"constant {each:.4g}", rounds, _most(promise, each), each))
    if epsilons is None:
        for name, schedule in usual(epsilon, largest).items():
            rows.append(ScheduleRow(name, {n: admitted(f, schedule()) for n, f in every.items()}))
    return rows


def _or_none(count: Callable[..., int], *arguments: Any) -> int:
    """The rounds that ``count`` finds; 0 for rounds larger than any that the filter takes."""
    try:
        return count(*arguments)
    except NotApplicable:
        return 0


def _most(promise: tuple[float, float], epsilon: float) -> int | None:
    """The rounds that no sound filter passes; None where they are too many to be composed."""
    try:
        return most_rounds(promise, epsilon)
    except NotApplicable:
        return None


def planned_rounds(filter_: CertifiedFilter, kind: str, size: float) -> int:
    """How many rounds of one kind and size a filter with a certificate admits."""
    price = filter_.price_of_size(kind, size)
    state, count = filter_.initial, 0
    while count < MOST_ROUNDS:
        admitted_, state = filter_.step(state, *price)
        if not admitted_:
            break
        count += 1
    return count


def rows_of(found: CertifiedFilter, sizes: Sequence[float] | None = None) -> list[ScheduleRow]:
    """The rows of a filter with a certificate, of rounds of ``sizes`` or the usual ones."""
    sampled = any(SAMPLED in kind for kind in found.largest)
    return sampled_rows(found) if sampled else planned_rows(found, sizes)


def planned_rows(found: CertifiedFilter, sizes: Sequence[float] | None = None) -> list[ScheduleRow]:
    """The rows of a filter with a plan: constant schedules of each kind of round that it takes.

    Pure rounds have the other filters beside.
    """
    promise = found.epsilon, found.delta - found.rounds_delta
    rows = []
    for kind, largest in found.largest.items():
        shown = list(sizes or (found.epsilon / share for share in SHARES))
        admitted_of = {size: _or_none(planned_rounds, found, kind, size) for size in shown}
        if sizes is None:
            shown = [size for size in shown if admitted_of[size]]
        if kind == "pure" and shown:
            beside = pure_rows(promise, largest, shown)
            rows += [
                replace(row, rounds={"certified": admitted_of[size], **row.rounds})
                for row, size in zip(beside, shown, strict=True)
            ]
        else:
            rows += [
                ScheduleRow(f"constant {kind} {size:.4g}", {"certified": admitted_of[size]})
                for size in shown
            ]
    return rows


def usual(epsilon: float, largest: float) -> dict[str, Schedule]:
    """The usual schedules of pure mechanisms that are not constant, by name."""
    first, large, small = (min(epsilon / share, largest) for share in (20, 12, 100))

    def falling() -> Iterator[Guarantee]:
        return (PureDP(first / i**0.25) for i in itertools.count(1))

    def few_large() -> Iterator[Guarantee]:
        return itertools.chain([PureDP(large)] * 2, itertools.repeat(PureDP(small)))

    return {
        f"falling from {first:.4g}": falling,
        f"2 x {large:.4g}, then {small:.4g}": few_large,
    }


def sampled_rows(found: CertifiedFilter) -> list[ScheduleRow]:
    """The rows of Gaussians on Poisson samples: constant parameters, and rates that rise.

    Beside the filter stands Renyi accounting at the best order for the schedule.
    """
    kinds = sorted(found.largest, key=sigma_of)
    sigma, largest = sigma_of(kinds[0]), found.largest[kinds[0]]
    wide = sigma_of(kinds[len(kinds) // 2])
    rows = []
    for noise, share in ((sigma, 1), (sigma, 2), (sigma, 5), (sigma, 10), (wide, 1), (wide, 2)):
        rate = largest / share
        alike = itertools.repeat(SubsampledGaussianDP(noise, rate))
        name = f"sigma {noise:.4g}, rate {rate:.4g}"
        rows.append(_sampled_row(found, name, list(itertools.islice(alike, MOST))))
    rising = [SubsampledGaussianDP(sigma, largest * min(0.1 + 0.01 * i, 1.0)) for i in range(MOST)]
    rows.append(_sampled_row(found, f"sigma {sigma:.4g}, rate rises tenfold", rising))
    return rows


def _sampled_row(
    found: CertifiedFilter, name: str, schedule: list[SubsampledGaussianDP]
) -> ScheduleRow:
    renyi, promise = 0, (found.epsilon, found.delta)
    distinct = dict.fromkeys(schedule)
    for order in FINE_ORDERS:
        try:
            share = {g: renyi_share(promise, g.sigma, g.rate, (order,)) for g in distinct}
        except NotApplicable:
            continue
        spent, count = 0.0, 0
        for each in schedule:
            spent += share[each]
            if not spent <= 1.0 or not math.isfinite(spent):
                break
            count += 1
        renyi = max(renyi, count)
    rounds = {"certified": admitted(found, iter(schedule)), "renyi": renyi}
    return ScheduleRow(name, rounds)
