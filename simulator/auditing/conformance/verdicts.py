"""Verdicts on claims, by certified ends of the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from simulator.auditing.conformance.events import Events
from simulator.auditing.conformance.protocol import Question
from simulator.theory import Bracket

ROUNDING = {"epsilon": 1e-9, "delta": 1e-6}
"""The relative shortfall that is taken for rounding, and not called unsound. A change of epsilon by
1e-9 changes delta by this times epsilon and the Renyi order."""

LOOSE = {"epsilon": 1.1, "delta": 2.0}
"""The claim over the truth above which a claim is loose."""


class Ruling(StrEnum):
    """The verdict on one call."""

    SOUND = "sound"
    UNSOUND = "unsound"
    LOOSE = "loose"
    FAILS = "fails"
    DECLINES = "declines"
    UNKNOWN = "undecided"
    NOT_OFFERED = "not offered"


ORDER = (Ruling.UNSOUND, Ruling.FAILS, Ruling.DECLINES, Ruling.LOOSE, Ruling.SOUND)
"""Verdicts that are counted, the worst first."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One call and its verdict.

    Attributes
    ----------
    question, at : the epsilon at a delta, or the delta at an epsilon.
    claimed : the number, or NaN without one.
    truth : certified ends, or None.
    factor : claimed over the end of the truth that decides (lower if unsound, upper otherwise);
        or NaN.
    why : the reason of a failure, or of a question that is not offered.
    warned : the first warning of the library.
    seconds : the time of the call.
    processor : the processor time of a call that returned a number, in seconds; or NaN.
    """

    library: str
    subject: str
    case: str
    group: str
    events: Events = field(repr=False)
    question: Question
    at: float
    claimed: float = math.nan
    truth: Bracket | None = None
    verdict: Ruling
    factor: float = math.nan
    why: str = ""
    warned: str = ""
    seconds: float = 0.0
    processor: float = math.nan
    documented: str = ""


def judge(question: Question, claimed: float, truth: Bracket) -> tuple[Ruling, float, str]:
    """The verdict on a number, the factor and a reason.

    ``unsound`` below the certified lower end by more than rounding; ``fails`` for an invalid
    epsilon or delta.
    """
    if math.isnan(claimed):
        return Ruling.FAILS, math.nan, "returns NaN"
    if claimed < 0.0:
        return Ruling.FAILS, math.nan, f"returns a negative {question}"
    if claimed < truth.lower * (1.0 - ROUNDING[question]):
        return Ruling.UNSOUND, claimed / truth.lower if truth.lower < math.inf else 0.0, ""
    if truth.upper == math.inf or (question == "delta" and truth.upper >= 1.0):
        return Ruling.SOUND, math.nan, ""
    if claimed <= truth.upper:
        return Ruling.SOUND, 1.0, ""
    factor = claimed / truth.upper if truth.upper > 0.0 else math.inf
    if factor > LOOSE[question] and not _negligible(question, claimed):
        return Ruling.LOOSE, factor, "claims infinity" if claimed == math.inf else ""
    return Ruling.SOUND, factor, ""


def _negligible(question: Question, claimed: float) -> bool:
    """Whether a number is so small that its ratio to the truth does not matter."""
    return claimed < (1e-9 if question == "epsilon" else 1e-30)


def failed(reply: dict[str, Any], declines: Sequence[str] = ()) -> tuple[Ruling, str] | None:
    """The verdict on a reply without a number; None for one with a number.

    By an exception with one of ``declines`` the library declines the question.
    """
    if "not_applicable" in reply:
        return Ruling.NOT_OFFERED, reply["not_applicable"]
    if "lost" in reply:
        return Ruling.FAILS, reply["lost"]
    if "error" in reply:
        declined = any(words in reply["message"] for words in declines)
        verdict = Ruling.DECLINES if declined else Ruling.FAILS
        return verdict, f"{reply['error']}: {reply['message']} ({reply['place']})"
    return None
