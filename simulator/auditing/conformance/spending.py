"""Tests of filters and odometers by adversaries that choose their spends adaptively.

The promise of a filter is compared with the composition of what it admitted, the readings of an
odometer with the composition of what it was charged. Both compositions are of the worst mechanisms
with those guarantees, so some adversary attains a shortfall.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from simulator.auditing.conformance.client import Lost, Worker
from simulator.auditing.conformance.events import APPROX, PURE, Events, PrivacyEvent, merged
from simulator.auditing.conformance.protocol import Reading, Spend
from simulator.auditing.conformance.truth import Truth
from simulator.auditing.conformance.verdicts import ROUNDING, Ruling
from simulator.foundations.errors import NotApplicable
from simulator.theory import Bracket

PROMISES = (Reading(1.0, 1e-6), Reading(0.3, 1e-9), Reading(4.0, 1e-3))
NO_GUARANTEE = "which is no guarantee"
"""In the reasons of subjects that accept invalid spends."""

Player = Callable[[Callable[[Spend], bool], Reading], None]


@dataclass(frozen=True, kw_only=True)
class SpendingPlay:
    """One play of a filter or odometer, and its verdict.

    Attributes
    ----------
    adversary : which of the adversaries of this module.
    spends : every spend that was tried, in order.
    admitted : whether each was admitted; all of them for an odometer.
    promise : the filter's promise, or the odometer's last reading.
    opened : its arguments: the promise of a filter, or the delta of an odometer's readings.
    truth : ends of the true delta at the promised epsilon, or None if it was not needed.
    why : the reason of a verdict other than sound.
    """

    library: str
    subject: str
    role: str
    adversary: str
    spends: tuple[Spend, ...] = field(repr=False)
    admitted: tuple[bool, ...] = field(repr=False)
    promise: Reading
    opened: tuple[float, ...]
    truth: Bracket | None = None
    verdict: Ruling
    why: str = ""

    @property
    def events(self) -> Events:
        """The admitted spends as events."""
        return events_of([s for s, yes in zip(self.spends, self.admitted) if yes])


def sensible(spend: Spend) -> bool:
    """Whether the numbers are those of a guarantee."""
    return 0.0 <= spend.epsilon < math.inf and 0.0 <= spend.delta < 1.0


def events_of(spends: Sequence[Spend]) -> Events:
    """The rounds with those guarantees, without invalid and free ones."""
    found = []
    for spend in spends:
        if sensible(spend) and spend != (0.0, 0.0):
            epsilon = max(spend.epsilon, 1e-12)  # an event needs a positive epsilon
            kind = APPROX if spend.delta > 0.0 else PURE
            found.append(PrivacyEvent(kind, epsilon, 1, spend.delta))
    return merged(found)


def _halves(ask: Callable[[Spend], bool], promise: Reading) -> None:
    """Half of the rest, 60 times; then more than the rest."""
    left = promise.epsilon
    for _ in range(60):
        left /= 2.0
        ask(Spend(left))
    for _ in range(20):
        ask(Spend(promise.epsilon / 16.0))


def _dust(ask: Callable[[Spend], bool], promise: Reading) -> None:
    """The whole budget, and then amounts that a double cannot add."""
    ask(Spend(promise.epsilon))
    for size in (1e-14, 1e-15, 1e-16, 1e-17, 1e-300):
        for _ in range(100):
            if not ask(Spend(promise.epsilon * size)):
                break


def _dust_of_delta(ask: Callable[[Spend], bool], promise: Reading) -> None:
    """The same with delta."""
    ask(Spend(0.0, promise.delta))
    for size in (1e-10, 1e-15, 1e-16, 1e-17):
        for _ in range(100):
            if not ask(Spend(0.0, promise.delta * size)):
                break


def _after_refusal(ask: Callable[[Spend], bool], promise: Reading) -> None:
    """Far too much, then little, then too much again."""
    for _ in range(3):
        ask(Spend(3.0 * promise.epsilon))
        ask(Spend(promise.epsilon / 4.0))
        ask(Spend(promise.epsilon / 8.0, 2.0 * promise.delta))


def _in_order(*sizes: float) -> Player:
    """Each of these shares of the budget five times."""

    def play(ask: Callable[[Spend], bool], promise: Reading) -> None:
        for size in sizes:
            for _ in range(5):
                ask(Spend(promise.epsilon * size))

    return play


def _absurd(first: Spend) -> Player:
    """An invalid spend, and then twenty times the budget."""

    def play(ask: Callable[[Spend], bool], promise: Reading) -> None:
        ask(first)
        for _ in range(10):
            ask(Spend(2.0 * promise.epsilon))

    return play


def _shares(share: float, leak: float, times: int) -> Player:
    """The same shares of epsilon and delta, until one is refused."""

    def play(ask: Callable[[Spend], bool], promise: Reading) -> None:
        for _ in range(times):
            if not ask(Spend(share * promise.epsilon, leak * promise.delta)):
                return

    return play


FILTER_PLAYERS: dict[str, Player] = {
    "tenths": _shares(0.1, 0.0, 15),
    "thousandths": _shares(0.001, 0.0, 1500),
    "tenths with delta": _shares(0.02, 0.1, 60),
    "delta alone": _shares(0.0, 0.1, 20),
    "halves without end": _halves,
    "dust": _dust,
    "dust of delta": _dust_of_delta,
    "after a refusal": _after_refusal,
    "small, then large": _in_order(0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    "large, then small": _in_order(0.5, 0.2, 0.1, 0.05, 0.02, 0.01),
    "nothing": _shares(0.0, 0.0, 5),
    "negative": _absurd(Spend(-20.0)),
    "negative delta": _absurd(Spend(0.0, -0.5)),
    "NaN": _absurd(Spend(math.nan)),
    "NaN delta": _absurd(Spend(0.0, math.nan)),
    "infinite": _absurd(Spend(math.inf)),
    "delta of 1": _absurd(Spend(0.0, 1.0)),
}


class SpendingTable:
    """A play in a worker: the spends that were tried, and those admitted."""

    def __init__(self, worker: Worker, subject: str, seconds: float) -> None:
        self.worker, self.subject, self.seconds = worker, subject, seconds
        self.spends: list[Spend] = []
        self.admitted: list[bool] = []

    def call(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to a request; raises Failed."""
        try:
            if self.worker.lost:
                self.worker.start()
            reply = self.worker.ask(request, self.seconds)
        except Lost as lost:
            raise Failed(str(lost)) from None
        if "not_applicable" in reply:
            raise NotApplicable(reply["not_applicable"])
        if "error" in reply:
            raise Failed(f"{reply['error']}: {reply['message']} ({reply['place']})")
        return reply

    def open(self, *arguments: float) -> None:
        """Make a new filter or odometer."""
        self.call({"do": "open", "subject": self.subject, "arguments": list(arguments)})

    def ask(self, spend: Spend) -> bool:
        """Request a round of a filter; raises Failed if a refused round is charged or run."""
        before = self.call({"do": "charged"})
        self.spends.append(spend)
        self.admitted.append(False)
        admitted = bool(self.call({"do": "ask", "spend": list(spend)})["admitted"])
        self.admitted[-1] = admitted
        if not admitted:
            after = self.call({"do": "charged"})
            if str(after["charged"]) != str(before["charged"]):
                raise Failed(f"charges for what it refused: {tuple(spend)}")
            if after["runs"] != before["runs"]:
                raise Failed(f"runs what it refused: {tuple(spend)}")
        return admitted

    def spend(self, spend: Spend) -> None:
        """Charge an odometer."""
        self.spends.append(spend)
        self.admitted.append(False)
        self.call({"do": "spend", "spend": list(spend)})
        self.admitted[-1] = True

    def reading(self) -> Reading:
        """The reading of an odometer."""
        return Reading(*self.call({"do": "reading"})["reading"])


class Failed(Exception):
    """The library raised an exception, hung or crashed; the message has the reason."""


def play_filter(
    worker: Worker, library: str, subject: str, *, seconds: float = 10.0
) -> Iterator[SpendingPlay]:
    """Every adversary of :data:`FILTER_PLAYERS` against a filter, at each of :data:`PROMISES`."""
    for promise in PROMISES:
        for adversary, player in FILTER_PLAYERS.items():
            table = SpendingTable(worker, subject, seconds)
            try:
                table.open(*promise)
                player(table.ask, promise)
                verdict, truth, why = held(table, promise)
            except Failed as error:
                verdict, truth, why = Ruling.FAILS, None, str(error)
            yield SpendingPlay(
                library=library,
                subject=subject,
                role="filter",
                adversary=adversary,
                spends=tuple(table.spends),
                admitted=tuple(table.admitted),
                promise=promise,
                opened=tuple(promise),
                truth=truth,
                verdict=verdict,
                why=why,
            )


def held(table: SpendingTable, promise: Reading) -> tuple[Ruling, Bracket | None, str]:
    """The verdict on a filter: whether what it admitted keeps its promise.

    A filter must refuse invalid spends. Admitting one is a failure, but not unsound, because the
    caller gave no guarantee.
    """
    admitted = [s for s, yes in zip(table.spends, table.admitted) if yes]
    absurd = [spend for spend in admitted if not sensible(spend) and spend != (0.0, 0.0)]
    events = events_of(admitted)
    truth = Truth(events).delta(promise.epsilon) if events else Bracket(0.0, 0.0)
    broken = truth.lower > promise.delta * (1.0 + ROUNDING["delta"])
    if absurd:
        then = "; then it admits more than it promises" if broken else ""
        return Ruling.FAILS, truth, f"admits {tuple(absurd[0])}, {NO_GUARANTEE}{then}"
    if broken:
        return Ruling.UNSOUND, truth, "admits more than it promises"
    total = sum((Fraction(spend.epsilon) for spend in admitted), Fraction(0))
    over = float(total / Fraction(promise.epsilon) - 1)
    leaks = any(spend.delta > 0.0 for spend in admitted)
    if not leaks and 0.0 < over < ROUNDING["epsilon"]:
        return Ruling.SOUND, truth, f"the sum of epsilons exceeds the promise by {over:.1g} of it"
    return Ruling.SOUND, truth, ""


def odometer_plans() -> Iterator[tuple[str, float, list[Spend]]]:
    """(name, delta of the readings, spends) of every test of an odometer."""
    for epsilon, leak in (
        (0.1, 0.0),
        (0.1, 1e-6),
        (0.01, 1e-6),
        (0.01, 1e-4),
        (1.0, 1e-5),
        (0.001, 1e-3),
        (0.5, 1e-2),
    ):
        for count in (1, 2, 10, 100, 1000, 5000):
            delta = max(leak / 2.0, 1e-9)
            yield f"{count} times", delta, [Spend(epsilon, leak)] * count
    yield "several", 1e-6, [Spend(0.01)] * 100 + [Spend(0.5)] * 2 + [Spend(0.1)] * 20
    yield "several leaks", 1e-6, [Spend(0.01, 1e-7)] * 100 + [Spend(0.3, 1e-5)] * 5
    yield "a first large leak", 1e-6, [Spend(0.1, 1e-2)] + [Spend(0.1, 1e-8)] * 20
    yield "leaks alone", 1e-6, [Spend(0.0, 1e-4)] * 50
    yield "NaN", 1e-6, [Spend(math.nan), *[Spend(1.0)] * 5]
    yield "negative", 1e-6, [Spend(5.0), Spend(-4.9), Spend(0.1)]
    yield "negative delta", 1e-6, [Spend(0.1, 1e-3), Spend(0.1, -1e-3), Spend(0.1)]
    yield "infinite", 1e-6, [Spend(math.inf), Spend(0.1)]


def play_odometer(
    worker: Worker, library: str, subject: str, *, seconds: float = 20.0
) -> Iterator[SpendingPlay]:
    """Every plan against an odometer, with its last reading compared with the truth."""
    for adversary, delta, spends in odometer_plans():
        table, reading, truth = SpendingTable(worker, subject, seconds), Reading(0.0, 0.0), None
        absurd = None
        try:
            table.open(delta)
            absurd = _charged_absurd(table, spends)
            reading = table.reading()
            verdict, truth, why = read_true(table, reading, absurd)
        except Failed as error:
            # after an invalid spend an exception is correct, also a late one
            verdict, why = (Ruling.SOUND if absurd else Ruling.FAILS), str(error)
        except NotApplicable as error:
            verdict, why = Ruling.NOT_OFFERED, str(error)
        yield SpendingPlay(
            library=library,
            subject=subject,
            role="odometer",
            adversary=adversary,
            spends=tuple(table.spends),
            admitted=tuple(table.admitted),
            promise=reading,
            opened=(delta,),
            truth=truth,
            verdict=verdict,
            why=why,
        )


def _charged_absurd(table: SpendingTable, spends: Sequence[Spend]) -> Spend | None:
    """Spend all; an exception refuses an invalid spend. Return the first that was accepted."""
    absurd = None
    for spend in spends:
        try:
            table.spend(spend)
        except Failed:
            if sensible(spend):
                raise
            continue
        if not sensible(spend):
            absurd = absurd or spend
    return absurd


def read_true(
    table: SpendingTable, reading: Reading, absurd: Spend | None
) -> tuple[Ruling, Bracket | None, str]:
    """The verdict on an odometer's reading."""
    takes = f"takes {tuple(absurd)}, {NO_GUARANTEE}" if absurd else ""
    if math.isnan(reading.epsilon) or math.isnan(reading.delta):
        if absurd:  # no reading would be correct
            return Ruling.SOUND, None, f"reads NaN after {tuple(absurd)}"
        return Ruling.FAILS, None, "reads NaN"
    if reading.epsilon < 0.0 or reading.delta < 0.0:
        then = f"{takes}; then it " if absurd else ""
        return Ruling.FAILS, None, f"{then}reads {tuple(reading)}"
    charged = [s for s, yes in zip(table.spends, table.admitted) if yes]
    if absurd == Spend(math.inf) and reading.epsilon == math.inf:
        absurd = None
    events = events_of(charged)
    if reading.epsilon == math.inf or reading.delta >= 1.0:
        return Ruling.SOUND, None, ""
    truth = Truth(events).delta(reading.epsilon) if events else Bracket(0.0, 0.0)
    short = truth.lower > reading.delta * (1.0 + ROUNDING["delta"]) + 1e-300
    if absurd:
        then = "; then it announces less than the truth" if short else ""
        return Ruling.FAILS, truth, f"{takes}{then}"
    if short:
        return Ruling.UNSOUND, truth, "announces less than the truth"
    return Ruling.SOUND, truth, ""
