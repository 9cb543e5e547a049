"""The interfaces of the accountants, filters and odometers that are tested.

An adapter implements one of these with its library. It runs in a separate process, see
:mod:`simulator.auditing.conformance.worker`, which sends and receives plain values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, get_args

from simulator.auditing.conformance.events import KINDS, PrivacyEvent
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import text_of
from simulator.theory.events.units import ADD_REMOVE, REPLACE_ONE, Neighbours

Question = Literal["epsilon", "delta"]
Role = Literal["accountant", "filter", "odometer"]


class Spend(NamedTuple):
    """The (epsilon, delta) of one round.

    It may be invalid: negative, NaN and infinite numbers are tried too.
    """

    epsilon: float
    delta: float = 0.0


class Reading(NamedTuple):
    """The claim of an odometer: all rounds so far are (epsilon, delta)-DP."""

    epsilon: float
    delta: float


class Accountant(Protocol):
    """Composes events. Its methods raise NotApplicable for what the library does not offer."""

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """The epsilon that the library claims of the composition at ``delta``."""

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """The delta that the library claims of the composition at ``epsilon``."""


class FilterUnderTest(Protocol):
    """A filter that promises (epsilon, delta) of everything it admits."""

    def ask(self, spend: Spend) -> bool:
        """Request one round, which runs and is charged if admitted, and return whether it was."""

    def charged(self) -> Reading | None:
        """What the library reports as spent, or None."""

    def runs(self) -> int | None:
        """How many rounds were run, or None if the adapter cannot observe it."""


class OdometerUnderTest(Protocol):
    """A running total."""

    def spend(self, spend: Spend) -> None:
        """Account for one round."""

    def reading(self) -> Reading:
        """The reading now."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One accountant, filter or odometer of a library.

    Attributes
    ----------
    name : unique within its library.
    make : returns a new one; an accountant takes no arguments, a filter the promised epsilon and
        delta, an odometer the delta of its readings.
    claims : what the library claims to compute, in a sentence, with its place.
    kinds : the kinds of event that it takes.
    relations : the neighbouring relations under which it takes them.
    documented : what the library documents of answers that are too small, or of conditions on the
        caller of a filter or odometer; or "".
    declines : words of the exceptions by which the library declines a question.
    remark : the cause of a defect in the source of the library, if known; or "".
    snippet : (events, question, at) to a program that prints the claim; accountants alone.
    play : the spends tried on a filter or odometer, and what it was made with, to a program that
        prints what is admitted or read.
    """

    name: str
    role: Role
    make: Callable[..., Any]
    claims: str
    kinds: tuple[str, ...]
    relations: tuple[Neighbours, ...] = (ADD_REMOVE,)
    documented: str = ""
    declines: tuple[str, ...] = ()
    remark: str = ""
    snippet: Callable[[Sequence[PrivacyEvent], Question, float], str] | None = None
    play: Callable[[Sequence[Spend], tuple[float, ...]], str] | None = None

    def __post_init__(self) -> None:
        for name in ("name", "claims", "documented", "remark"):
            text_of(f"the {name} of a subject", getattr(self, name))
        mine = f"the subject {self.name!r}"
        if not callable(self.make):
            raise InvalidInput(f"make of {mine} must be callable, not {self.make!r:.80}")
        _one_of(f"the role of {mine}", (self.role,), get_args(Role))
        _one_of(f"the kinds of {mine}", self.kinds, tuple(KINDS))
        _one_of(f"the relations of {mine}", self.relations, (ADD_REMOVE, REPLACE_ONE))


def _one_of(name: str, found: Sequence[str], known: Sequence[str]) -> None:
    """Raise InvalidInput for anything but a list of known texts."""
    if not isinstance(found, list | tuple):
        raise InvalidInput(f"{name} must be a list or a tuple, not {found!r:.80}")
    for each in found:
        if each not in known:
            raise InvalidInput(f"{name}: {each!r:.80} is unknown; there are {', '.join(known)}")


@dataclass(frozen=True, kw_only=True)
class Library:
    """A library that is tested.

    Attributes
    ----------
    name : as ``dpcompose conform`` takes it.
    load : imports the library and returns its subjects.
    distribution : the name of its distribution, for the version; empty for code without one.
    packages : modules that must be importable.
    extra : of this project's extras, the one that installs it; empty for our own.
    least : the oldest version that the adapter is written for; empty for any.
    megabytes : memory that a worker may use beyond what importing the library takes.
    """

    name: str
    load: Callable[[], Sequence[Subject]] = field(repr=False)
    distribution: str = ""
    packages: tuple[str, ...] = ()
    extra: str = "conform"
    least: str = ""
    megabytes: int = 2048
