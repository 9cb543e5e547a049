"""A claim of a source, and the finding of its check."""

from __future__ import annotations

import inspect
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from simulator.analysis.estimation import Estimate
from simulator.foundations.errors import Breach, DpcomposeError, InvalidInput, NotApplicable
from simulator.foundations.knobs import Knob, checked_values, knob_named, knobs_of, parsed_values
from simulator.foundations.validation import instance

Method = Literal["exact", "simulation", "both"]


class Verdict(StrEnum):
    """The outcome for a claim."""

    HOLDS = "holds"
    NOT_TIGHT = "holds, not tight"
    FAILS = "fails as printed"
    DOES_NOT_FOLLOW = "true but does not follow from the cited theorem"
    UNDECIDED = "undecided"

    @property
    def is_true(self) -> bool:
        """Whether the claim holds as printed and argued."""
        return self in (Verdict.HOLDS, Verdict.NOT_TIGHT)

    @property
    def is_complaint(self) -> bool:
        """Whether the printed claim is wrong, or its argument does not support it."""
        return self in (Verdict.FAILS, Verdict.DOES_NOT_FOLLOW)


class Fault(StrEnum):
    """The kind of a complaint: how serious the error of the source is."""

    SUBSTANCE = "substance"
    READING = "in one reading"
    SLIP = "slip"
    TRANSCRIPT = "as transcribed"


@dataclass(frozen=True)
class Source:
    """A document whose claims are checked: the prefix of their ids, and how it is cited."""

    key: str
    cite: str


@dataclass(frozen=True)
class Finding:
    """The outcome of one check.

    Attributes
    ----------
    verdict : see :class:`Verdict`.
    measured : the number that was compared with the print, in words, or an Estimate of it.
    method : exact computation, simulation, or both.
    slack : what is claimed over what is measured (1 is tight); None where there is no ratio.
    printed, right : what the source says and what it should say; both needed for a complaint.
    false_alarm : probability that such a check finds fault with a true claim; needed unless exact.
        Zero where a complaint would rest on a single view that the claim rules out.
    note : a remark.
    attained, claimed : the two numbers that were compared, where the claim compares two.

    Raises InvalidInput for a complaint without both numbers, and for a simulation without its
    false-alarm probability.
    """

    verdict: Verdict
    measured: str | Estimate
    method: Method = "exact"
    _: KW_ONLY
    slack: float | None = None
    printed: str = ""
    right: str = ""
    false_alarm: float | None = None
    note: str = ""
    attained: float | None = None
    claimed: float | None = None

    def __post_init__(self) -> None:
        if self.verdict.is_complaint and not (self.printed and self.right):
            raise InvalidInput("a complaint needs what is printed and what is right")
        if self.method != "exact" and not 0.0 <= _given(self.false_alarm) < 1.0:
            raise InvalidInput("a simulated finding must state its false-alarm probability")
        if self.slack is not None and not self.slack >= 0.0:
            raise InvalidInput(f"slack must be a number >= 0, not {self.slack!r}")

    def as_dict(self) -> dict[str, Any]:
        """Fields by name, fit for strict JSON."""
        measured = self.measured
        finite = self.slack is not None and math.isfinite(self.slack)
        return {
            "verdict": str(self.verdict),
            "method": self.method,
            "measured": measured.as_dict() if isinstance(measured, Estimate) else measured,
            "slack": float(f"{self.slack:.10g}") if finite else None,
            "printed": self.printed,
            "right": self.right,
            "false_alarm": self.false_alarm,
            "note": self.note,
        }


def _given(probability: float | None) -> float:
    return math.nan if probability is None else probability


Check = Callable[..., Finding]

_NO_NUMBER = re.compile(r"\bnan\b")
_MAPPINGS = ("wrong", "given")
_BREAKDOWNS: dict[type[Exception], str] = {  # the first match gives the message
    OverflowError: "a number grows beyond what a float holds",
    ArithmeticError: "a number that the check needs is not defined there",
    MemoryError: "it takes more memory than there is",
    RecursionError: "it takes too many steps",
    Warning: "the numbers there are not to be trusted",
    ValueError: "what the check computes is not defined there",
    LookupError: "what the check computes is not defined there",
    StopIteration: "what the check computes is not defined there",
}
_ANSWERED: tuple[type[Exception], ...] = (*_BREAKDOWNS, Breach, NotApplicable)


@dataclass(frozen=True)
class Claim:
    """One statement of a source, with the check that decides it.

    Attributes
    ----------
    id : the source's key and the place, such as ``roth2011-theorem-6``.
    source, place : the document, and the place in it.
    statement : the claim in our words.
    expected : the recorded verdict; another one is a regression.
    function : the check: keyword parameters with defaults to a Finding. The defaults are the claim;
        the annotations say what the parameters mean, and their ranges.
    wrong : other values of some parameters: a deliberately altered claim, on which the check must
        come to another verdict.
    cannot_be_wrong : why there is no such altered claim, where ``wrong`` is empty.
    given : this source's own constants, in place of defaults of a check that several claims share.
    fault : of a complaint, its kind. SUBSTANCE misleads a reader who relies on the print; a READING
        is one of several that the print leaves open, and false; a SLIP is wrong to the letter only,
        a reader sees what is meant, and that is true; TRANSCRIPT is a slip that may come from the
        transcription, and not from the author.
    written : the module and the line where the claim stands.
    """

    id: str
    source: Source
    place: str
    statement: str
    expected: Verdict
    _: KW_ONLY
    function: Check
    wrong: Mapping[str, Any] = field(default_factory=dict, hash=False)
    cannot_be_wrong: str = ""
    given: Mapping[str, Any] = field(default_factory=dict, hash=False)
    fault: Fault = Fault.SUBSTANCE
    written: tuple[str, int] = ("", 0)

    def __post_init__(self) -> None:
        if not self.id.startswith(self.source.key + "-"):
            raise InvalidInput(f"claim {self.id!r} must have an id beginning {self.source.key}-")
        if bool(self.wrong) == bool(self.cannot_be_wrong):
            raise InvalidInput(f"claim {self.id}: give either wrong or cannot_be_wrong")
        if unknown := (set(self.wrong) | set(self.given)) - set(self._defaults):
            raise InvalidInput(f"claim {self.id}: the check has no parameter {sorted(unknown)}")
        if self.expected is Verdict.UNDECIDED:
            raise InvalidInput(f"claim {self.id}: record a verdict, not that there is none")
        if self.fault is not Fault.SUBSTANCE and not self.expected.is_complaint:
            raise InvalidInput(f"claim {self.id}: {self.fault} is a kind of complaint")
        self.__setstate__(vars(self))

    def __getstate__(self) -> dict[str, Any]:
        """The fields, with dicts for what cannot be pickled."""
        return vars(self) | {name: dict(getattr(self, name)) for name in _MAPPINGS}

    def __setstate__(self, fields: Mapping[str, Any]) -> None:
        """Set the fields, with read-only dicts."""
        for name, value in fields.items():
            value = MappingProxyType(dict(value)) if name in _MAPPINGS else value
            object.__setattr__(self, name, value)

    @property
    def _defaults(self) -> dict[str, Any]:
        signature = inspect.signature(self.function)
        return {name: entry.default for name, entry in signature.parameters.items()}

    @property
    def parameters(self) -> dict[str, Any]:
        """The check's parameters, at the values that are the claim."""
        return self._defaults | dict(self.given)

    @property
    def knobs(self) -> dict[str, Knob]:
        """The check's parameters as knobs, by name."""
        values = self.parameters
        return {
            name: replace(knob, default=values[name])
            for name, knob in knobs_of(self.function).items()
        }

    def knob(self, name: str) -> Knob:
        """Return the knob of that name; raises InvalidInput where the claim has none."""
        return knob_named(f"claim {self.id}", self.knobs, name)

    def check(self, **changes: Any) -> Finding:
        """Check the claim with other values of some of its knobs.

        Raises InvalidInput for an unknown knob, a value out of its range, or values at which the
        check itself breaks down, or comes to no number.
        """
        values = checked_values(f"claim {self.id}", self.knobs, changes)
        if not changes:
            return self.function(**values)
        try:
            with (
                np.errstate(divide="raise", over="ignore", invalid="ignore"),
                warnings.catch_warnings(action="error"),
            ):
                found = self.function(**values)
            if _NO_NUMBER.search(str(found.measured)):
                raise FloatingPointError
            return found
        except _ANSWERED as error:
            if isinstance(error, InvalidInput):
                raise
            if isinstance(error, DpcomposeError):
                why = str(error)
            else:  # the messages of numpy and scipy do not help a user
                why = next(words for kind, words in _BREAKDOWNS.items() if isinstance(error, kind))
            given = ", ".join(f"{name} = {value}" for name, value in changes.items())
            raise InvalidInput(f"claim {self.id} cannot be checked at {given}: {why}") from None

    def run(self) -> Finding:
        """Check the claim as it stands."""
        return self.function(**self.parameters)

    def run_wrong(self) -> Finding:
        """Check the deliberately altered claim; raises InvalidInput where there is none."""
        if not self.wrong:
            raise InvalidInput(f"claim {self.id} has no altered variant: {self.cannot_be_wrong}")
        return self.function(**{**self.parameters, **self.wrong})


def read_settings(claim: Claim, settings: Sequence[str]) -> dict[str, Any]:
    """Return the changes that texts like ``denominator=813`` stand for; raises InvalidInput."""
    instance("claim", claim, Claim)
    return parsed_values(f"claim {claim.id}", claim.knobs, settings)
