"""The rounds of a question to an accountant: named mechanisms, each with its number of rounds.

They are plain values that can be sent as JSON to the process of another library, which may have
other packages than this one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory.events.units import ADD_REMOVE, REPLACE_ONE, Neighbours

GAUSSIAN = "gaussian"
LAPLACE = "laplace"
RANDOMIZED_RESPONSE = "randomized-response"
PURE = "pure"
APPROX = "approx"
SUBSAMPLED_GAUSSIAN = "subsampled-gaussian"
NOTHING = "nothing"

KINDS = {
    GAUSSIAN: "Gaussian noise on a sum, `parameter` = C / standard deviation",
    LAPLACE: "Laplace noise on a sum, `parameter` = C / scale",
    RANDOMIZED_RESPONSE: "a bit answered truly with probability e^p / (1 + e^p), p the `parameter`",
    PURE: "any mechanism that keeps `parameter`-DP",
    APPROX: "any mechanism that keeps (`parameter`, `delta`)-DP",
    SUBSAMPLED_GAUSSIAN: "Gaussian noise on the sum over a Poisson sample of rate `rate`",
    NOTHING: "a mechanism whose answer does not depend on the database",
}
"""Each kind of event, and the meaning of its numbers. C bounds the norm of one record's value: a
record that is added or removed moves a sum by C, one that is replaced by 2C."""


@dataclass(frozen=True)
class PrivacyEvent:
    """``count`` rounds of one mechanism.

    Attributes
    ----------
    kind : a key of :data:`KINDS`, which says what the numbers mean.
    parameter : > 0 and finite; 0 for ``nothing`` alone.
    count : rounds, >= 1.
    delta : of each round of kind ``approx``, in [0, 1); 0 otherwise.
    rate : of the sampling of kind ``subsampled-gaussian``, in (0, 1); 1 otherwise.
    relation : ``add-remove`` or ``replace-one``; with C it is the unit of the event, see
        :class:`simulator.theory.events.Unit`.
    """

    kind: str
    parameter: float
    count: int = 1
    delta: float = 0.0
    rate: float = 1.0
    _: KW_ONLY
    relation: Neighbours = ADD_REMOVE

    def __post_init__(self) -> None:
        if self.relation not in (ADD_REMOVE, REPLACE_ONE):
            raise InvalidInput(f"unknown relation {self.relation!r}")
        if self.kind not in KINDS:
            raise InvalidInput(f"unknown event {self.kind!r}; one of {', '.join(KINDS)}")
        good = 0.0 < self.parameter < math.inf
        if not (self.parameter == 0.0 if self.kind == NOTHING else good):
            raise InvalidInput(f"the parameter of {self.kind} must not be {self.parameter!r}")
        if self.count < 1:
            raise InvalidInput(f"an event happens at least once, not {self.count!r} times")
        if not 0.0 <= self.delta < 1.0 or (self.delta > 0.0 and self.kind != APPROX):
            raise InvalidInput(f"the delta of {self.kind} must not be {self.delta!r}")
        if not 0.0 < self.rate <= 1.0 or (self.rate == 1.0) == (self.kind == SUBSAMPLED_GAUSSIAN):
            raise InvalidInput(f"the rate of {self.kind} must not be {self.rate!r}")

    def __str__(self) -> str:
        inside = [] if self.kind == NOTHING else [f"{self.parameter:g}"]
        inside += [f"delta={self.delta:g}"] if self.delta else []
        inside += [f"rate={self.rate:g}"] if self.rate < 1.0 else []
        inside += [self.relation] if self.relation != ADD_REMOVE else []
        return f"{self.count} x {self.kind}({', '.join(inside)})"

    @property
    def once(self) -> tuple[str, float, float, float, Neighbours]:
        """All but the count: equal for two events of one mechanism."""
        return self.kind, self.parameter, self.delta, self.rate, self.relation


Events = tuple[PrivacyEvent, ...]
"""The events of a composition, in order."""


def listed(events: Iterable[PrivacyEvent]) -> list[list[Any]]:
    """The events as JSON."""
    return [[e.kind, e.parameter, e.count, e.delta, e.rate, e.relation] for e in events]


def read(items: Iterable[Iterable[Any]]) -> Events:
    """Inverse of :func:`listed`."""
    return tuple(
        PrivacyEvent(
            kind, float(parameter), int(count), float(delta), float(rate), relation=relation
        )
        for kind, parameter, count, delta, rate, relation in items
    )


def relation_of(events: Iterable[PrivacyEvent]) -> Neighbours:
    """The relation of all the events; NotApplicable for events of two."""
    found = {event.relation for event in events if event.kind != NOTHING}
    if len(found) > 1:
        raise NotApplicable("one composition has one neighbouring relation")
    return found.pop() if found else ADD_REMOVE


def merged(events: Iterable[PrivacyEvent]) -> Events:
    """The same rounds with equal mechanisms counted together, sorted, without ``nothing``.

    Two lists with the same ``merged`` form have the same truth.
    """
    counts: dict[tuple[str, float, float, float, Neighbours], int] = {}
    for event in events:
        if event.kind != NOTHING:
            counts[event.once] = counts.get(event.once, 0) + event.count
    return tuple(
        PrivacyEvent(kind, parameter, count, delta, rate, relation=relation)
        for (kind, parameter, delta, rate, relation), count in sorted(counts.items())
    )


def batch_of(rate: float) -> tuple[int, int]:
    """The smallest batch size and number of records, at most a million, whose quotient is the rate.

    Libraries for training take these instead of a rate. Raises NotApplicable where there are none.
    """
    share = Fraction(rate).limit_denominator(10**6)
    if share <= 0 or share.numerator / share.denominator != rate:
        raise NotApplicable(f"the rate {rate!r} is no batch size over a number of records")
    return share.numerator, share.denominator


def described(events: Iterable[PrivacyEvent]) -> str:
    """The events in one line, shortened if there are many."""
    names = [str(event) for event in events]
    if len(names) > 6:
        names = [*names[:3], f"... {len(names) - 4} more ...", names[-1]]
    return " + ".join(names)
