"""The loop of an audit: draw, bet on learned events, learn more, stop if the verdict is clear."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from simulator.auditing.audits.against_claim import AgainstClaim
from simulator.auditing.audits.bounds_by_bets import BoundsByBets, best_event
from simulator.auditing.audits.classifiers import learn
from simulator.auditing.audits.fixed_size_tests import (
    DISTRUST,
    NEARLY_ALWAYS,
    FinalTest,
    Power,
    promising,
)
from simulator.auditing.audits.regressions import learned_regressions
from simulator.auditing.audits.result import AuditResult
from simulator.auditing.audits.sources import AnswerSource
from simulator.auditing.evidence.answers import Answers, shown
from simulator.auditing.evidence.columns import read
from simulator.auditing.evidence.events import Batch, Candidates, Event
from simulator.auditing.evidence.training_draws import Pool, ReaderOf
from simulator.foundations.stages import stage
from simulator.theory.guarantees.interface import Guarantee

FIRST = 16
"""Draws per input that are only learned from."""
GROWTH = 20
"""A batch has at least one in so many of the draws before it; the verdict may be clear after it."""
FAR_GROWTH = 2
"""A batch has at most one in so many of them, where the verdict is far."""
FAR_AT_FIRST = 3
FEW = 512
"""The same before so many draws, where little is learned."""
LOOKS = 4
"""A batch has one in so many of the draws after which the evidence would suffice."""
CHOSEN = 4
"""Bets against the claim are chosen anew when the draws have grown by one in so many."""
APART = 3
"""Bets on the bounds are chosen anew when the draws are so many times as many, or on new events."""
OFTEN = 4096
"""Events are learned again at twice the draws up to so many, and at four times from there."""
LARGEST = 131_072
SHOWN = 300
"""The largest number of characters of an answer of one line in a transcript."""
POOL = 131_072
MOST_POOLED = 524_288
"""Limits of the number of draws per input from which events are learned, a quarter of all."""
SPARE = 4.0
"""Nats beyond the rejection level that the sizes of the bets aim at."""
SHARES = (0.5, 0.1, 0.4)
"""Shares of the error level for the bets against the claim, for the bounds by bets, and for the
tests at the end, if the audit may stop early."""
SHARES_OF_WHOLE = (0.05, 0.05, 0.9)
"""The same if it may not."""
AMONG_PAIRS = 2.5
"""Standard errors that are subtracted in the search among pairs, which has few draws."""
SEARCH = 4
"""At most one in this many draws goes to the search among pairs, and to learning."""

RUN_OFF = 16
"""One in this many draws goes to the choice among the events that were learned."""
LONGEST_RUN_OFF = 786_432

Stopped = Literal["violated", "futile", "budget", "time"]


class Search:
    """One running audit.

    Parameters
    ----------
    source : of the answers.
    claimed : the claim.
    samples : at most so many draws per input, over all pairs.
    confidence : with which a verdict "violated" and each bound hold.
    delta : at which epsilon is bounded.
    epsilon : at which delta is bounded.
    seconds : after which no more is drawn.
    reader_of : makes a reader of the answers to learn from.
    stop_early : whether to stop when the verdict is clear; the bounds grow with the draws.
    learn_first : draws per input after which the evidence against the claim begins.
    """

    def __init__(
        self,
        source: AnswerSource,
        claimed: Guarantee,
        *,
        samples: int,
        confidence: float,
        delta: float,
        epsilon: float,
        seconds: float,
        reader_of: ReaderOf = read,
        stop_early: bool = True,
        learn_first: int = 0,
    ) -> None:
        self.stop_early, self.learn_first = stop_early, learn_first
        self.source, self.claimed = source, claimed
        self.samples, self.confidence = samples, confidence
        error = 1.0 - confidence
        shares = SHARES if stop_early else SHARES_OF_WHOLE
        self.level = -math.log(error * shares[0])
        self.last_error = error * shares[2]
        self.last: list[FinalTest] = []
        self.delta, self.epsilon = delta, epsilon
        self.seconds, self.reader_of = seconds, reader_of
        self.started = time.monotonic()
        self.drawn = 0
        self.first_violated: int | None = None
        self.claim = AgainstClaim(claimed)
        self.candidates: Candidates | None = None
        self.hopeful: list[int] = []
        self.within: np.ndarray | None = None
        self.enough = samples
        self.regressed_at = 0
        self.aim = (self.level + SPARE) / samples
        self.bounds = BoundsByBets(epsilon, delta, level=-math.log(error * shares[1]), aim=self.aim)

    def run(self, seed: int) -> AuditResult:
        """Draw until the verdict is clear or the budget or the time is spent."""
        with stage("choosing the inputs") as self.advance:
            pair, pool = self._pair()
        self.source.require_answers()
        with stage("drawing, at most", self.samples - self.drawn) as self.advance:
            stopped = self._bet(pair, pool)
        self.source.require_fresh(pair)
        return self._result(pair, pool, stopped, seed)

    def _draw(self, pair: int, n: int) -> tuple[Answers, Answers]:
        answers = self.source.draw(pair, 0, n), self.source.draw(pair, 1, n)
        self.drawn += n
        self.advance(n)
        return answers

    def _pair(self) -> tuple[int, Pool]:
        """The pair with the largest expected bound, by successive halving, and its draws."""
        left = {
            pair: Pool(self.reader_of, partial(learn, inputs=self.source.inputs(pair)))
            for pair in range(len(self.source.names))
        }
        if len(left) == 1:
            left[0].add(self._draw(0, max(min(FIRST, self.samples // 8), 16)))
        rounds = max(1, math.ceil(math.log2(len(left))))
        while len(left) > 1:
            n = max(self.samples // (SEARCH * rounds * len(left)), 16)
            n = min(n, MOST_POOLED // len(left))  # the last pair alone may fill the pool
            for pair, pool in left.items():
                pool.add(self._draw(pair, n))
            ahead = max(self.samples - self.drawn, 1)
            worth = {
                pair: promising(pool.candidates(), self.delta, ahead, self.last_error, AMONG_PAIRS)[
                    2
                ]
                for pair, pool in left.items()
            }
            order = sorted(left, key=lambda pair: -worth[pair])
            left = {pair: left[pair] for pair in order[: max(1, len(left) // 2)]}
        ((pair, pool),) = left.items()
        return pair, pool

    def _bet(self, pair: int, pool: Pool) -> Stopped:
        self._learn(pool)
        self._regress(pair, pool)
        self._choose()
        learned_at, chosen_at, bets_at = pool.size, self.drawn, self.drawn
        learned, self.enough = self._stages(pool)
        while True:
            left, before = self.samples - self.drawn, self.drawn
            if left <= 0:
                return "budget"
            if time.monotonic() - self.started > self.seconds:
                return "time"
            n = min(left, LARGEST, self._batch_size())
            for end in (learned, self.enough, self.learn_first):
                n = min(n, max(end - before, 1)) if before < end else n
            batch = Batch(self._draw(pair, n))
            for test in self.last:
                test.add(batch)
            self._settle(batch)
            if self.claim.best >= self.level and self.first_violated is None:
                self.first_violated = self.drawn
            if self.drawn <= self.learn_first:
                self.claim.restart()
            if self.stop_early and self.claim.best >= self.level:
                return "violated"
            if pool.size < MOST_POOLED and (before < learned or self.regressing):
                pool.add(batch.answers)
                if pool.size >= 2 * self.regressed_at:
                    self._regress(pair, pool)
                    bets_at = 0
            often = 2 if pool.size <= OFTEN else 4
            if before < learned and (self.drawn >= learned or pool.size >= often * learned_at):
                self._learn(pool)
                learned_at, chosen_at = pool.size, 0
            if before < self.enough <= self.drawn:
                self._fix_last()
                chosen_at = 0
            if self.drawn >= APART * chosen_at:
                self._choose()
                chosen_at = bets_at = self.drawn
            elif self.drawn - bets_at >= bets_at / CHOSEN:
                assert self.candidates is not None
                self.claim.choose(self.candidates, self.within)
                bets_at = self.drawn
            if self.stop_early and self.drawn >= self.samples / 2:
                assert self.candidates is not None
                if self.claim.futile(self.candidates, self.samples - self.drawn, self.level):
                    return "futile"

    def _batch_size(self) -> int:
        """The next batch: small where the verdict is near, as it can come after a batch only."""
        far = FAR_GROWTH if self.drawn >= FEW else FAR_AT_FIRST
        least, most = max(self.drawn // GROWTH, 1), max(self.drawn // far, 1)
        rate = max(self.claim.rate(), self.claim.evidence() / self.drawn)
        if self.stop_early and rate > 0.0:
            ahead = max(self.level - self.claim.evidence(), 0.0) / rate
            most = min(most, math.ceil(ahead / LOOKS))
        return max(least, most)

    def _stages(self, pool: Pool) -> tuple[int, int]:
        """Draws per input, over all pairs, after which learning ends, and choosing among events.

        Scores of a single number need fewer draws. Draws of the other pairs do not count for the
        chosen one.
        """
        assert self.candidates is not None
        few = 4 if self.candidates.reader.width == 1 else 1
        learned = max(min(POOL, self.samples // 2) // few, self.samples // (4 * few))
        if len(self.source.names) > 1:
            learned = max(learned, self.drawn + self.samples // 8)
        learned = max(min(learned, self.drawn + MOST_POOLED - pool.size), self.drawn)
        return learned, learned + min(self.samples // RUN_OFF, LONGEST_RUN_OFF)

    def _fix_last(self) -> None:
        """Choose the events of the tests at the end, and how many draws they count."""
        assert self.candidates is not None
        planned = self.samples - self.drawn
        error = self.last_error / len(DISTRUST)
        found = [
            promising(self.candidates, self.delta, planned, error, distrust)
            for distrust in DISTRUST
        ]
        events = dict.fromkeys(each[:2] for each in found if each[2] > 0.0)
        for which, favours in events:
            chosen = self.candidates.event(which, favours)
            test = FinalTest(
                candidates=self.candidates,
                which=which,
                favours=favours,
                delta=self.delta,
                error=self.last_error / len(events),
                planned=planned,
                paired=chosen.hits_by(favours) < NEARLY_ALWAYS * chosen.draws,
            )
            self.last.append(test)
        if self.last and not self.stop_early:  # the tests decide: bet on little else
            self.within = self.candidates.cheap([test.which for test in self.last])

    def _learn(self, pool: Pool) -> None:
        """Learn events from the pool."""
        self.bounds.settle()
        self.candidates = pool.candidates()
        self.claim.learn(self.candidates)
        ahead, error = max(self.samples - self.drawn, 1), self.last_error / len(DISTRUST)
        self.hopeful = [
            promising(self.candidates, self.delta, ahead, error, distrust)[0]
            for distrust in (0.0, *DISTRUST)
        ]

    @property
    def regressing(self) -> bool:
        """Whether regressions gain by further draws: an answer has several parts."""
        assert self.candidates is not None
        return self.within is None and self.candidates.reader.width > 1

    def _regress(self, pair: int, pool: Pool) -> None:
        """Fit the regressions to all draws of the pool."""
        assert self.candidates is not None
        self.regressed_at = pool.size
        self.claim.ratios.regressions = learned_regressions(
            self.candidates.reader, pool.halves(), self.source.inputs(pair)
        )

    def _choose(self) -> None:
        """Choose what to bet on next."""
        candidates, within = self.candidates, self.within
        assert candidates is not None
        self.claim.choose(candidates, within)
        self.bounds.choose(candidates, within)

    def _settle(self, batch: Batch) -> None:
        assert self.candidates is not None
        candidates = self.candidates
        chosen = np.union1d(self.claim.points.chosen(), self.bounds.events())
        if not self.last:  # until the choice count every event of a score, in one pass
            hopeful = np.array([which for which in self.hopeful if which >= 0], dtype=int)
            chosen = candidates.beside(np.union1d(chosen, hopeful))
        hits, n = candidates.count(chosen, batch), len(batch)
        self.claim.bet(candidates, hits, batch, self.aim)
        self.bounds.count(hits, n)
        candidates.add(chosen, hits, n)

    def _result(self, pair: int, pool: Pool, stopped: Stopped, seed: int) -> AuditResult:
        self.bounds.settle()
        proven = max(self.last, key=FinalTest.bound, default=None)
        at_end = 0.0 if proven is None else proven.bound()
        refuted_at_end = at_end > self.epsilon and self.on_the_claim
        violated = self.claim.best >= self.level or refuted_at_end
        by_bets, delta = self._bounds()
        event = proven.event() if proven is not None and at_end > by_bets else self._event()
        example = [] if event is None else pool.example(event)
        unaudited = self.source.unaudited(pair)
        warnings = list(self.source.warnings(pair))
        if not unaudited and not violated:
            unaudited = self.claim.out_of_reach(self.samples, self.level)
            warnings += [unaudited] if unaudited else []
        return AuditResult(
            verdict="violated" if violated else "not violated",
            claimed=self.claimed,
            epsilon=max(by_bets, at_end),
            at_delta=self.delta,
            delta=delta,
            at_epsilon=self.epsilon,
            event=event,
            transcript=tuple(line for answer in example for line in self._transcript(answer)),
            pair=self.source.names[pair],
            pair_number=pair,
            evidence=max(self.claim.best, 0.0),
            confidence=self.confidence,
            samples=self.drawn,
            budget=self.samples,
            stopped=stopped,
            power=None if event is None or not event.draws else self._power(event),
            divergence=self.claim.divergence(),
            warnings=tuple(warnings),
            unaudited=unaudited,
            needed=self.level,
            kind=self.claim.kind(),
            seed=seed,
            reproducible=self.source.reproducible(pair),
            seconds=time.monotonic() - self.started,
        )

    def _bounds(self) -> tuple[float, float]:
        """The bounds on epsilon and delta by bets.

        A point (epsilon, delta) that is refuted as the claim is a bound on both as well.
        """
        epsilon, delta = self.bounds.reached()
        if self.claim.best >= self.level and self.claim.is_point(self.epsilon, self.delta):
            epsilon = max(epsilon, math.nextafter(self.epsilon, math.inf))
            delta = max(delta, self.delta)
        return epsilon, delta

    @property
    def on_the_claim(self) -> bool:
        """Whether the point (epsilon, delta) of the bounds is on the curve that is claimed."""
        return self.claimed.hockey_stick(self.epsilon) <= self.delta

    def _event(self) -> Event | None:
        """The event with the most evidence against the claim, or for the bound reached."""
        candidates, places = self.candidates, []
        assert candidates is not None
        if self.claim.best >= self.level:
            self.claim.choose_events(candidates, self.within)
            if self.claim.by_ratios:
                likeliest = candidates.likeliest(*self.claim.likely_points()[0])
                if likeliest is not None:
                    return candidates.event(*likeliest)
            places.append((self.claim.points, slice(None)))
        self.bounds.choose(candidates, self.within)
        return best_event(candidates, [*places, *self.bounds.next_nulls()])

    def _transcript(self, answer: Any) -> Sequence[str]:
        """An answer in words."""
        lines = getattr(self.source, "transcript", None)
        return [shown(answer, SHOWN)] if lines is None else list(lines(answer))

    def _power(self, event: Event) -> Power:
        """The power of the whole budget, for an event of the same probability."""
        return Power(
            second=(event.hits_by(1 - event.favours) + 0.5) / (event.draws + 1.0),
            epsilon=self.epsilon,
            delta=self.delta,
            draws=self.samples - self.enough,
            error=self.last_error / len(DISTRUST),
            level=self.level,
        )
