"""Distinct defects, each with a second computation of the truth."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from simulator.auditing.conformance.accountants import LibraryTrial
from simulator.auditing.conformance.client import TOO_LATE
from simulator.auditing.conformance.events import APPROX, NOTHING, PURE, described
from simulator.auditing.conformance.spending import NO_GUARANTEE, SpendingPlay
from simulator.auditing.conformance.verdicts import Judged, Ruling
from simulator.auditing.conformance.witness import Second, delta_at, epsilon_at
from simulator.foundations.errors import NotApplicable
from simulator.foundations.wording import count_of
from simulator.theory import Bracket

SLIP, GRAVE = 1.001, 2.0
"""Limits of the truth over the claim: a slip below the first, grave from the second on."""


@dataclass(kw_only=True)
class Defect:
    """One kind of fault of one subject, with its simplest example.

    Attributes
    ----------
    verdict : unsound or fails.
    calls : how many calls show it.
    example : one of them.
    claim : the question and the answer, as text.
    truths : the truth by two computations, as text; one if the second has no answer.
    where : the largest delta of unsound claims, as text.
    confirmed : False unless both computations put the truth above the claim, and the program shows
        the defect; None for a failure, which needs no second computation.
    documented : the place where the library documents it; such a defect is not counted.
    snippet, printed : a program that shows it without this package, and what it printed.
    """

    library: str
    version: str
    subject: str
    verdict: Ruling
    calls: int
    example: Judged | SpendingPlay = field(repr=False)
    title: str
    claim: str
    truths: tuple[str, ...] = ()
    where: str = ""
    confirmed: bool | None = None
    documented: str = ""
    warned: str = ""
    snippet: str = ""
    printed: str = ""

    @property
    def counts(self) -> bool:
        """Whether it is counted as a defect of the library."""
        return self.confirmed is not False and not self.documented

    @property
    def factor(self) -> float:
        """How many times an unsound claim is below the truth; NaN for a failure."""
        truth = self.example.truth
        if self.verdict != Ruling.UNSOUND or truth is None:
            return math.nan
        if isinstance(self.example, Judged):
            claimed = self.example.claimed
        else:
            claimed = self.example.promise.delta
        return truth.lower / claimed if claimed > 0.0 else math.inf

    @property
    def severity(self) -> str:
        """Of an unsound claim: slip, moderate or grave; of a failure: no answer."""
        if math.isnan(self.factor):
            return "no answer"
        return "slip" if self.factor < SLIP else "moderate" if self.factor < GRAVE else "grave"


def raised(why: str) -> re.Match[str] | None:
    """The place of an exception in a reason, or None."""
    return re.search(r"\(([\w.]+:\d+)\)$", why)


def kind_of_failure(why: str) -> str:
    """The reason without its numbers, equal for calls that fail in the same way."""
    place = raised(why)
    text = re.sub(r"[-+]?(\d+\.?\d*(e[-+]?\d+)?|\bnan\b|\binf\b)", "#", why)
    return place[1] + text.partition(":")[0] if place else text


def distinct(found: LibraryTrial, played: Sequence[SpendingPlay]) -> list[Defect]:
    """Every distinct defect of a library, unsound ones first."""
    defects = _unsound_claims(found) + _failures(found) + _plays(found, played)
    return sorted(
        defects,
        key=lambda d: (not d.counts, d.verdict != Ruling.UNSOUND, d.subject, d.title),
    )


def _unsound_claims(found: LibraryTrial) -> list[Defect]:
    """One defect per subject and minimal set of kinds of event."""
    groups: dict[tuple[str, frozenset[str]], list[Judged]] = {}
    unsound = [j for j in found.judged if j.verdict == Ruling.UNSOUND]
    for judged in sorted(unsound, key=lambda j: (len(_kinds(j)), APPROX in _kinds(j))):
        kinds = _kinds(judged)
        # an approx round includes a pure one, so it shows no more than pure rounds do
        wider = kinds | {PURE} if APPROX in kinds else kinds
        keys = (key for key in groups if key[0] == judged.subject and key[1] <= wider)
        groups.setdefault(next(keys, (judged.subject, kinds)), []).append(judged)
    return [_unsound(found, group, kinds) for (_, kinds), group in groups.items()]


def _kinds(judged: Judged) -> frozenset[str]:
    return frozenset(event.kind for event in judged.events) - {NOTHING}


def _small_delta(judged: Judged) -> float:
    """The delta of a call: that of the question, or the true one."""
    if judged.question == "epsilon" or judged.truth is None:
        return judged.at
    return judged.truth.lower


def _where(found: LibraryTrial, group: Sequence[Judged], kinds: frozenset[str]) -> str:
    """The largest delta of unsound claims, and the number of sound ones at larger deltas."""
    largest = max(map(_small_delta, group))
    above = [
        judged
        for judged in found.judged
        if judged.subject == group[0].subject
        and judged.verdict in (Ruling.SOUND, Ruling.LOOSE)
        and _kinds(judged) >= kinds
        and _small_delta(judged) > largest * (1.0 + 1e-6)
    ]
    words = f"at delta {largest:.2g}" if len(group) == 1 else f"at delta up to {largest:.2g}"
    return (
        f"{words}; of {count_of(len(above), 'claim')} at a larger delta none is" if above else words
    )


def _unsound(found: LibraryTrial, group: Sequence[Judged], kinds: frozenset[str]) -> Defect:
    example = simplest([judged for judged in group if _kinds(judged) == kinds])
    assert example.truth is not None
    truths, confirmed = witnessed(example)
    return Defect(
        library=found.name,
        version=found.version,
        subject=example.subject,
        verdict=Ruling.UNSOUND,
        calls=len(group),
        example=example,
        title=f"claims less than the truth of {' and '.join(sorted(kinds))} rounds",
        claim=f"{question_of(example)}: claims {example.claimed!r}, {shortfall(example)}",
        truths=truths,
        where=_where(found, group, kinds),
        confirmed=confirmed,
        documented=example.documented,
        warned=example.warned,
    )


def simplest(group: Sequence[Judged]) -> Judged:
    """The call with the fewest events and rounds among those with a large error."""
    worst = min(judged.factor for judged in group)
    bad = [judged for judged in group if 1.0 - judged.factor >= 0.5 * (1.0 - worst)]
    return min(
        bad,
        key=lambda j: (len(j.events), j.question != "epsilon", sum(e.count for e in j.events)),
    )


def question_of(judged: Judged) -> str:
    """The question as text."""
    other = "delta" if judged.question == "epsilon" else "epsilon"
    return f"{judged.question} of {described(judged.events)} at {other} = {judged.at:g}"


def shortfall(judged: Judged) -> str:
    """By how much a claim is too small, as text."""
    if judged.factor == 0.0:
        return "where there is none so small"
    return f"{judged.factor:.6g} of the truth"


def certified(what: str, truth: Bracket) -> str:
    """The certified ends as text."""
    return f"{what} in [{truth.lower:.9g}, {truth.upper:.9g}] (certified ends)"


def witnessed(judged: Judged) -> tuple[tuple[str, ...], bool]:
    """The truth by both computations as text, and whether both are above the claim."""
    truth = judged.truth
    assert truth is not None
    first = certified(judged.question, truth)
    epsilon = judged.claimed if judged.question == "epsilon" else judged.at
    limit = judged.at if judged.question == "epsilon" else judged.claimed
    try:
        there = delta_at(judged.events, epsilon)
        second = f"delta at epsilon = {epsilon:.9g} is {there.value:.6g} ({there.method})"
        if judged.question == "epsilon" and truth.lower < math.inf:
            other: Second = epsilon_at(judged.events, judged.at, truth.lower)
            second = f"epsilon = {other.value:.9g}, and {second}"
    except (NotApplicable, OverflowError) as error:
        return (first, f"no second computation: {error}"), False
    return (first, second), there.value * (1.0 - there.error) > limit * (1.0 + 1e-9)


def _failures(found: LibraryTrial) -> list[Defect]:
    groups: dict[tuple[str, str], list[Judged]] = {}
    for judged in found.judged:
        if judged.verdict == Ruling.FAILS and not judged.why.startswith(TOO_LATE):
            groups.setdefault((judged.subject, kind_of_failure(judged.why)), []).append(judged)
    defects = []
    for group in groups.values():
        example = min(group, key=lambda j: (len(j.events), sum(e.count for e in j.events)))
        answer = example.why if math.isnan(example.claimed) else f"{example.claimed!r}"
        truths = () if example.truth is None else (certified(example.question, example.truth),)
        defects.append(
            Defect(
                library=found.name,
                version=found.version,
                subject=example.subject,
                verdict=Ruling.FAILS,
                calls=len(group),
                example=example,
                title=example.why,
                claim=f"{question_of(example)}: {answer}",
                truths=truths,
                warned=example.warned,
            )
        )
    return defects


def _plays(found: LibraryTrial, played: Iterable[SpendingPlay]) -> list[Defect]:
    groups: dict[tuple[str, Ruling, str], list[SpendingPlay]] = {}
    for play in played:
        if play.why.startswith(TOO_LATE):
            continue
        if play.verdict in (Ruling.UNSOUND, Ruling.FAILS):
            # they share one missing check
            kind = NO_GUARANTEE if NO_GUARANTEE in play.why else kind_of_failure(play.why)
            key = (play.subject, play.verdict, kind)
            groups.setdefault(key, []).append(play)
    return [_of_plays(found, group) for group in groups.values()]


def _of_plays(found: LibraryTrial, group: Sequence[SpendingPlay]) -> Defect:
    def excess(play: SpendingPlay) -> float:
        return play.truth.lower / max(play.promise.delta, 1e-300) if play.truth else 0.0

    top = max(map(excess, group))
    bad = [play for play in group if excess(play) >= min(top, 2.0)]
    example = min(bad or group, key=lambda play: len(play.spends))
    promise = tuple(example.promise)
    notes = {s["name"]: s["documented"] for s in found.subjects}
    word = "promises" if example.role == "filter" else "announces"
    # the documentation says only that the caller must give guarantees
    note = notes.get(example.subject, "") if NO_GUARANTEE in example.why else ""
    claim = f"{_spent(example)}: {word} (epsilon, delta) = {promise}"
    if raised(example.why) and example.role == "odometer":
        claim = f"{_spent(example)}: {example.why}"
    truths: tuple[str, ...] = ()
    confirmed = None
    if example.verdict == Ruling.UNSOUND and example.truth is not None:
        first = certified(f"delta at epsilon = {example.promise.epsilon:.9g} is", example.truth)
        if example.events:
            second = delta_at(example.events, example.promise.epsilon)
            truths = (first, f"it is {second.value:.9g} ({second.method})")
            confirmed = second.value * (1.0 - second.error) > example.promise.delta
        else:  # a policy that was found by search has no single transcript
            truths, confirmed = (first,), False
    return Defect(
        library=found.name,
        version=found.version,
        subject=example.subject,
        verdict=example.verdict,
        calls=len(group),
        example=example,
        title=example.why,
        claim=claim,
        truths=truths,
        confirmed=confirmed,
        documented=note,
    )


def _spent(play: SpendingPlay) -> str:
    """The spends as text, with counts of equal successive ones."""
    runs: list[tuple[tuple[float, ...], int]] = []
    for spend in play.spends:
        if runs and repr(runs[-1][0]) == repr(tuple(spend)):
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((tuple(spend), 1))
    words = [f"{count} x {spend}" for spend, count in runs]
    return ", then ".join(words if len(words) < 7 else [*words[:5], f"{len(words) - 5} more"])
