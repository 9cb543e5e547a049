"""The runs of a pipeline on two databases, and what differs between them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from simulator.auditing.pipelines.costs import Cost, cost_of, pairs_of, untouched
from simulator.auditing.pipelines.differences import (
    ValueGap,
    covered,
    difference,
    differences,
    path_of,
)
from simulator.auditing.pipelines.fixed_seeds import seeds_found
from simulator.auditing.pipelines.late_reads import LateReads
from simulator.auditing.pipelines.prices import (
    above_claim,
    draws_needed,
    epsilon_of,
    most_expensive,
    shifts_of,
)
from simulator.auditing.pipelines.promises import SLACK, distance_of
from simulator.auditing.pipelines.releases import run_loss
from simulator.auditing.pipelines.report import (
    REUSED,
    PipelineFinding,
    PipelineReport,
    RecordedCall,
)
from simulator.auditing.pipelines.runs import TapedRun, played, redrawn
from simulator.auditing.pipelines.tape import RunTape, TapeEvent
from simulator.foundations.wording import count_of
from simulator.theory.guarantees.interface import Guarantee

MOST_OF = 0.75
"""The share of the draws of everything but answers with which an output has to come out again on
one database, and never on the other, to be a leak; see :func:`draws_needed`."""

LONGEST = 10.0
"""Seconds of processor time for these draws."""

ADD_FIRST = "add up the data before the noise, not after it, to have it decided"


@dataclass
class PairedRuns:
    """The runs of one pair of databases."""

    pipeline: Callable[..., Any]
    databases: tuple[Any, Any]
    claimed: Guarantee | None
    public_coins: bool
    seed: int
    strict: frozenset[str] = field(default=frozenset(), kw_only=True)
    merged: bool = field(default=False, kw_only=True)
    answers: Sequence[TapeEvent] | None = field(default=None, kw_only=True)

    def leaks(self) -> list[PipelineFinding]:
        """Run, replay, and return what differs though all answers are the same."""
        self.first = self._play(0, self.answers)
        self.second = self._play(1, self.first.tape.events)
        self.pairs = pairs_of(self.first.tape.events, self.second.tape.events)
        return self._leaks()

    def play(self, database: Any, events: Sequence[TapeEvent] | None) -> TapedRun:
        """A run on any database, with the answers of these events."""
        tape = RunTape(self.seed, events, strict=self.strict, merged=self.merged)
        return played(self.pipeline, database, tape)

    def late_reads(self, database: Any, first: TapedRun) -> LateReads:
        """What a run on any database reads after the last use of the answers of a first run."""
        tape = RunTape(self.seed, first.tape.events, strict=self.strict, merged=self.merged)
        found = LateReads(tape, first.tape.uses)
        with found.watching():
            played(self.pipeline, database, tape)
        return found

    def reuses(self) -> bool:
        """Whether the output shows one noise on data that moved differently, after ``leaks``."""
        return cost_of(self.pairs, self.visible, lambda spent: False).reused is not None

    def report(self, delta: float | None) -> PipelineReport:
        """Run, replay, and write down what was found."""
        leaks = self.leaks()
        findings = [*leaks, *seeds_found(self), *self._sensitivities()]
        cost = cost_of(self.pairs, self.visible, self._above)
        findings += self._costs(cost)
        at = delta if delta is not None else float(getattr(self.claimed, "delta", 0.0)) or 1e-6
        shown = [element for answer in cost.answers for element in answer.moved]
        declared = any(one.declared and distance_of(one, two) > 0.0 for one, two in self.pairs)
        return PipelineReport(
            databases=self.databases, claimed=self.claimed, calls=tuple(self._calls(cost)),
            findings=tuple(sorted(findings, key=lambda each: not each.certain)),
            total=len([e for e in self.first.tape.events if e.kind in ("draw", "mechanism")]),
            loss=None if declared or self.second.diverged else run_loss(shown),
            epsilon=epsilon_of(cost, at), delta=at, seed=self.seed, notes=tuple(self._notes(cost)),
        )  # fmt: skip

    def _play(
        self, which: int, events: Sequence[TapeEvent] | None = None, **options: Any
    ) -> TapedRun:
        tape = RunTape(self.seed, events, strict=self.strict, merged=self.merged, **options)
        return played(self.pipeline, self.databases[which], tape)

    # -- control flow, arguments, output ---------------------------------------------------------

    def _leaks(self) -> list[PipelineFinding]:
        """What differs though all answers are the same."""
        first, second = self.first, self.second
        if second.diverged is not None:
            return [self._divergence(second)]
        if second.tape.surplus is not None:
            text = f"no further call on one database, {second.tape.surplus} on the other"
            return [_finding("control flow", False, f"{text}; {ADD_FIRST}", second.tape.surplus)]
        if len(second.tape.events) < len(first.tape.events):
            rest = first.tape.events[len(second.tape.events) :]
            missing = next((each for each in rest if each.kind != "shift"), rest[0])
            where = second.outcome.raised or "the pipeline ended"
            text = f"the second database has no such call: {where}"
            certain = missing.kind != "shift" and not self._coins_matter(missing.number)
            if missing.kind == "shift":
                text += f"; {ADD_FIRST}"
            return [_finding("control flow", certain, text, missing)]
        found = list(differences(vars(first.outcome), vars(second.outcome)))
        if not found:
            return []
        certain_ones = self._surely_different(found)
        chosen = (certain_ones or found)[0]
        text = f"{path_of(chosen)} is {chosen.texts[0]} and {chosen.texts[1]} with the same answers"
        if not certain_ones:
            text += f", and depends on draws that are not mechanisms ({self._coin_places()})"
        return [PipelineFinding("output", bool(certain_ones), text)]

    def _surely_different(self, found: Sequence[ValueGap]) -> Sequence[ValueGap]:
        """The differences that no other coins hide."""
        kept = [[0, 0] for _ in found]
        possible = [True] * len(found)
        drawn = 0
        for own, run in self._hidden():
            if run is None or run.diverged or len(run.tape.events) < len(own.tape.events):
                return []
            which = int(own is self.second)
            here, there = (
                {each.path for each in differences(vars(one.outcome), vars(run.outcome))}
                for one in (own, (self.second, self.first)[which])
            )
            drawn += own is self.first
            for number, each in enumerate(found):
                possible[number] &= covered(each.path, there)
                kept[number][which] += not covered(each.path, here)
            if not any(possible):
                return []
        least = MOST_OF * drawn
        return [
            each for each, same, can in zip(found, kept, possible) if can and max(same) >= least
        ]

    def _divergence(self, run: TapedRun) -> PipelineFinding:
        error = run.diverged
        assert error is not None
        kind = "argument" if error.what.startswith("argument") else "control flow"
        additions = kind == "control flow" and any("(shift)" in each for each in error.values)
        certain = not additions and not self._coins_matter(error.number)
        what = error.what.removeprefix("argument ")
        text = f"{what} is {error.values[0]} on one database and {error.values[1]} on the other"
        if kind == "control flow":
            text = f"{error.values[0]} on one database, {error.values[1]} on the other"
        if additions:
            text += f"; {ADD_FIRST}"
        elif not certain:
            text += f", and depends on draws that are not mechanisms ({self._coin_places()})"
        return _finding(kind, certain, text, error.event)

    @cached_property
    def _escaped(self) -> frozenset[int]:
        """Noise that may have been added unseen before the runs part; see :func:`untouched`."""
        return untouched(self.pairs, self.first.tape.events[: len(self.pairs)])

    def _hidden(self) -> Iterable[tuple[TapedRun, TapedRun | None]]:
        """:meth:`other_coins` of both databases; no run where there are too many, or no time."""
        draws, end = draws_needed(self.claimed), time.process_time() + LONGEST
        for own, run in self.other_coins((0, 1), draws):
            yield own, run if time.process_time() < end else None
        if self._has_coins and not draws:
            yield self.first, None

    @property
    def _has_coins(self) -> bool:
        return bool(self.first.tape.coins or self.second.tape.coins or self._escaped)

    def other_coins(
        self, databases: Sequence[int] = (0,), drawn: int = 3
    ) -> Iterable[tuple[TapedRun, TapedRun]]:
        """Runs, and replays of them with the answers frozen and everything else drawn anew.

        Everything else comes out at either end of its range first, and is then ``drawn`` so many
        times. The first replay has the same coins: it differs where randomness is not recorded.
        """
        yield self.first, self._again
        for number, extreme in redrawn(drawn) if self._has_coins else ():
            for which in databases:
                yield (self.first, self.second)[which], self._play(
                    which, self.first.tape.events, redraw=self._escaped,
                    coin_seed=self.seed + 1000 + number, extreme=extreme,
                )  # fmt: skip

    def _coins_matter(self, number: int) -> bool:
        """Whether other coins move the event at which the databases part."""
        end = min(number, len(self.second.tape.events))
        for own, run in self._hidden():
            if run is None or run.stops_before(number + 1 if own is self.first else end):
                return True
            if own is self.second and not run.stops_before(number + 1):
                return True
        return False

    @cached_property
    def _again(self) -> TapedRun:
        """A replay on the first database itself."""
        return self._play(0, self.first.tape.events)

    @property
    def _steady(self) -> bool:
        """Whether that replay had the same inputs everywhere."""
        again = self._again
        if again.diverged is not None or len(again.tape.events) != len(self.first.tape.events):
            return False
        pairs = zip(self.first.tape.events, again.tape.events)
        return not any(difference(one.inputs, two.inputs) for one, two in pairs)

    def _coin_places(self) -> str:
        places = [*self.first.tape.coin_places, *self.second.tape.coin_places]
        events = self.first.tape.events
        places += [f"{events[n].name} at {events[n].where}" for n in sorted(self._escaped)]
        shown = ", ".join(list(dict.fromkeys(places))[:3])
        return shown or "randomness that is not recorded"

    # -- sensitivities ---------------------------------------------------------------------------

    def _sensitivities(self) -> list[PipelineFinding]:
        found = []
        for one, other in self.pairs:
            limit = one.declared.sensitivity if one.declared else None
            if limit is None or one.declared is None:
                continue
            distance = distance_of(one, other)
            if distance > limit * (1.0 + SLACK) + 1e-12 * _size(one):
                certain = self._steady and self._holds_at_an_end(one.number, limit)
                text = (
                    f"inputs are {distance:.8g} apart ({one.declared.metric}), and sensitivity "
                    f"{limit:.8g} is declared"
                )
                found.append(_finding("sensitivity", certain, text, one))
        return found

    def _holds_at_an_end(self, number: int, limit: float) -> bool:
        """Whether the breach is there also where the coins of both runs are surely the same."""
        if not self.first.tape.coins:
            return True
        for extreme in ("low", "high"):
            one = self._play(0, extreme=extreme)
            two = self._play(1, one.tape.events, extreme=extreme)
            pairs = pairs_of(one.tape.events, two.tape.events)
            there = number < len(pairs) and pairs[number][0].declared is not None
            if there and distance_of(*pairs[number]) > limit * (1.0 + SLACK):
                return True
        return False

    # -- cost ------------------------------------------------------------------------------------

    def _above(self, cost: Any) -> bool:
        return self.claimed is not None and above_claim(cost, self.claimed) is not None

    def visible(self, answers: Mapping[int, Any], held: frozenset[int]) -> bool:
        """Whether the output is another one when some answers are."""
        run = self._play(0, self.first.tape.events, overrides=answers, held=held)
        if run.diverged is not None:
            return True
        return next(differences(vars(self.first.outcome), vars(run.outcome)), None) is not None

    def _costs(self, cost: Cost) -> list[PipelineFinding]:
        findings = []
        if cost.reused is not None:
            first, second = cost.reused
            text = (
                f"the noise of {first.one} is on this answer too, and the data moved them "
                "differently: their difference has no noise"
            )
            findings.append(_finding(REUSED, not self._amplified(), text, second.one))
        if self.claimed is None:
            return findings
        known = above_claim(cost.known, self.claimed)
        total = known or above_claim(cost.total, self.claimed)
        if total is None and cost.total.unknown:
            text = f"the cost of some answer is not known, and {self.claimed} is claimed"
            return [*findings, PipelineFinding("cost", False, text)]
        if total is None:
            return findings
        at, composed, allowed = total
        spent = cost.known if known else cost.total
        if spent.revealed:
            text = f"an answer reveals its input, and {self.claimed} is claimed"
        elif math.isnan(allowed):
            text = f"Gaussian noise has no pure epsilon, and {self.claimed} is claimed"
        else:
            text = (
                f"the calls compose to delta >= {composed.lower:.6g} at epsilon = {at:.6g}, and "
                f"{self.claimed} allows {allowed:.6g}"
            )
        blamed, share = most_expensive(cost, self.pairs)
        certain = known is not None and not self._amplified()
        if known is None:
            text += "; the output may reveal less than these calls"
        elif not certain:
            text += f"; amplification by {self._coin_places()} is not counted"
        return [*findings, _finding("cost", certain, text + share, blamed)]

    def _amplified(self) -> bool:
        """Whether other coins move the inputs otherwise, so that their secrecy may protect."""
        if not self._steady:
            return True
        if self.public_coins or not self.first.tape.coins:
            return False
        before = shifts_of(self.pairs)
        for number, extreme in redrawn(3):
            seed = self.seed + 1000 + number
            one = self._play(0, coin_seed=seed, extreme=extreme)
            two = self._play(1, one.tape.events, coin_seed=seed, extreme=extreme)
            if shifts_of(pairs_of(one.tape.events, two.tape.events)) != before:
                return True
        return False

    def _calls(self, cost: Cost) -> list[RecordedCall]:
        found = []
        shown = {each.one.number: each for each in cost.answers}
        for one, other in self.pairs:
            if one.declared is not None:
                distance = distance_of(one, other)
                if distance:
                    promise = one.declared.guarantee
                    found.append(
                        RecordedCall(
                            one.number, one.name, one.where, distance=distance,
                            cost=f"promises {promise}" if promise else "promises nothing",
                            sensitivity=one.declared.sensitivity,
                        )
                    )  # fmt: skip
            elif one.number in shown:
                answer = shown[one.number]
                relative = max(abs(each.relative) for each in answer.moved)
                noise = " and ".join(dict.fromkeys(answer.moved[0].kinds))
                found.append(
                    RecordedCall(
                        one.number, noise, one.where, distance=relative,
                        cost=f"in scales of the noise, {count_of(len(answer.moved), 'number')}",
                        loss=run_loss(answer.moved),
                    )
                )  # fmt: skip
        return found

    def _notes(self, cost: Cost) -> list[str]:
        notes = []
        if self.first.outcome.raised:
            notes.append(f"the pipeline raised {self.first.outcome.raised:.150}")
        if not self.first.tape.events:
            notes.append(
                "no mechanism was recorded: hand the pipeline a generator, decorate its "
                "mechanisms, or name a patch"
            )
        if cost.total.unknown:
            notes.append("the cost of some answer is not known, and not counted")
        if self.first.tape.coins:
            notes.append("costs are those of an adversary who knows the coins")
        return notes


def _finding(kind: str, certain: bool, text: str, event: TapeEvent | None) -> PipelineFinding:
    if event is None:
        return PipelineFinding(kind, certain, text)
    name = " and ".join(dict.fromkeys(each.kind for each in event.noise)) or event.name
    return PipelineFinding(kind, certain, text, call=event.number, name=name, where=event.where)


def _size(event: TapeEvent) -> float:
    try:
        return float(abs(event.inputs))
    except (TypeError, ValueError):
        return 1.0
