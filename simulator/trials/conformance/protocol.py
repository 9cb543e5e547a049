"""The interfaces of an accountant, a filter and an odometer on trial.

An adapter implements one of these with the words of its library. It runs in a process of its own,
see :mod:`simulator.trials.conformance.worker`; nothing but plain values goes in and out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from simulator.trials.conformance.events import PrivacyEvent

Question = Literal["epsilon", "delta"]
Role = Literal["accountant", "filter", "odometer"]


class Spend(NamedTuple):
    """The (epsilon, delta) of one round as a caller writes it.

    It need not be a sensible one: negative, NaN and infinite numbers are tried too.
    """

    epsilon: float
    delta: float = 0.0


class Reading(NamedTuple):
    """What an odometer announces: the whole so far keeps (epsilon, delta)-DP."""

    epsilon: float
    delta: float


class Accountant(Protocol):
    """Composes events. Each raises NotApplicable for what the library does not offer."""

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """The epsilon that the library claims of the composition at ``delta``."""

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """The delta that the library claims of the composition at ``epsilon``."""


class FilterUnderTest(Protocol):
    """A filter that promises (epsilon, delta) of everything it admits."""

    def ask(self, spend: Spend) -> bool:
        """Ask for one round, which runs and is charged if admitted; whether it was."""

    def charged(self) -> Reading | None:
        """What the library says is spent; None where it does not say."""

    def runs(self) -> int | None:
        """How many rounds were really run; None where the adapter cannot see it."""


class OdometerUnderTest(Protocol):
    """A running total."""

    def spend(self, spend: Spend) -> None:
        """Account for one round."""

    def reading(self) -> Reading:
        """What is announced now."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One accountant, filter or odometer of a library.

    Attributes
    ----------
    name : unique within its library.
    make : makes a fresh one; an accountant takes nothing, a filter the promised epsilon and delta,
        an odometer the delta that it is to announce.
    claims : what the library says it computes, in a sentence, with the place that says so.
    kinds : the kinds of event that it takes.
    documented : where the library itself says that the answer may fall short of the truth, or of a
        filter or odometer that it relies on its caller, its words in ours; else empty.
    declines : words of the exceptions by which the library says that a question is out of reach.
    remark : what reading the library has shown of the cause of a defect; else empty.
    snippet : (events, question, at) to a program that prints the claim; accountants alone.
    play : the spends tried on a filter or odometer, and what it was made with, to a program that
        prints what is admitted or read.
    """

    name: str
    role: Role
    make: Callable[..., Any]
    claims: str
    kinds: tuple[str, ...]
    documented: str = ""
    declines: tuple[str, ...] = ()
    remark: str = ""
    snippet: Callable[[Sequence[PrivacyEvent], Question, float], str] | None = None
    play: Callable[[Sequence[Spend], tuple[float, ...]], str] | None = None


@dataclass(frozen=True, kw_only=True)
class Library:
    """A library on trial.

    Attributes
    ----------
    name : as ``dpcompose conform`` takes it.
    distribution : the name that the installer knows, for the version.
    packages : modules that must be importable.
    load : imports the library and returns its subjects.
    extra : of this project's extras, the one that installs it; empty for our own.
    least : the oldest version that the adapter is written for; empty for any.
    megabytes : memory that a worker may use beyond what importing the library takes.
    """

    name: str
    distribution: str
    packages: tuple[str, ...]
    load: Callable[[], Sequence[Subject]] = field(repr=False)
    extra: str = "conform"
    least: str = ""
    megabytes: int = 2048
