"""Events on answers, learned from some draws and counted on others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.analysis.estimation.contrast import rough_growth
from simulator.auditing.evidence.answers import Answers, settled
from simulator.auditing.evidence.bins import Ordered, distinct
from simulator.auditing.evidence.columns import AnswerReader, KeptColumns
from simulator.auditing.evidence.scores import (
    SLOW_ROWS,
    Binned,
    Column,
    Score,
    digit_rows,
    sample_of,
)

LEVELS = np.concatenate(
    [np.geomspace(1e-5, 0.02, 14), np.linspace(0.03, 0.97, 48), 1.0 - np.geomspace(0.02, 1e-5, 14)]
)
"""The quantiles that are thresholds of events."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """A set of answers, and its counts on draws that were not used to choose it.

    Attributes
    ----------
    favours : the input, 0 or 1, on which it is likelier.
    hits_0, hits_1 : how many of ``draws`` answers on each input fell into it.
    words : the event as text.
    """

    score: Score
    reader: AnswerReader
    side: str
    threshold: float
    favours: int
    hits_0: int
    hits_1: int
    draws: int

    @property
    def rough(self) -> bool:
        """Whether it depends on the rounding of floating-point noise."""
        return bool(self.reader.rough.intersection(self.score.columns))

    @property
    def bit(self) -> str:
        """The event as text; for the lowest bit of a float, which bit that is."""
        start = "log2 of the lowest bit of "
        score, text = self.score, self.words
        if not text.startswith(start) or not isinstance(score, Column | Binned):
            return text
        bit = f"the lowest bit of {score.text.removeprefix(start)} that is set is worth"
        if isinstance(score, Binned):
            return f"{bit} 2^n with n{text.removeprefix(score.text)}"
        sort = "at least" if self.side == ">=" else "less than"
        return f"{bit} {sort} 2^{self.threshold:.0f}"

    def hits_by(self, b: int) -> int:
        """How many answers on input ``b`` fell into it."""
        return (self.hits_0, self.hits_1)[b]

    @property
    def words(self) -> str:
        """The event as text."""
        return self.score.words(self.side, self.threshold)

    @property
    def probability_0(self) -> float:
        """Share of the answers on input 0."""
        return self.hits_0 / max(self.draws, 1)

    @property
    def probability_1(self) -> float:
        """Share of the answers on input 1."""
        return self.hits_1 / max(self.draws, 1)

    def contains(self, answer: Any) -> bool:
        """Whether an answer falls into it."""
        return bool(self.holds(settled([answer]))[0])

    def holds(self, answers: Answers) -> np.ndarray:
        """For each answer whether it falls into it, shape (n,)."""
        return self.inside(self.score.of(self.reader, answers))

    def inside(self, scores: np.ndarray) -> np.ndarray:
        """For each of some scores whether it falls into it, shape (n,)."""
        return scores >= self.threshold if self.side == ">=" else scores < self.threshold


class Candidates:
    """Many events, by score and threshold, with their counts on held-out draws.

    Attributes
    ----------
    score, side, threshold : of each event, shape (m,); the side is 1 for ">=" and 0 for "<".
    hits : int array, shape (m, 2): on each input, among ``draws``, shape (m,), held-out answers.
    cost, handicap : nats, and the share of the growth, by which a simpler event is preferred.
    edges, start : the thresholds of each score, and the number of its first event; those of
        "<" come first, then those of ">=".
    centres : of each score, its mean in each bin between its thresholds.
    """

    def __init__(self, reader: AnswerReader, scores: Sequence[Score]) -> None:
        self.reader = reader
        self.scores = list(scores)
        self.score = np.zeros(0, dtype=int)
        self.side = np.zeros(0, dtype=int)
        self.threshold = np.zeros(0)
        self.hits = np.zeros((0, 2), dtype=np.int64)
        self.cost = np.zeros(0)
        self.handicap = np.zeros(0)
        self.draws = np.zeros(0, dtype=np.int64)
        self.edges: list[np.ndarray] = []
        self.centres: list[np.ndarray] = []
        self.start: list[int] = []

    def measure(
        self, learned: tuple[Answers, Answers], held_out: tuple[Answers, Answers]
    ) -> Candidates:
        """Take thresholds from learned answers, count the held-out ones, and return itself."""
        parts = []
        kept = KeptColumns(self.reader)
        first = {
            most: [each if most is None else each[:most] for each in (*learned, *held_out)]
            for most in map(self._rows, self.scores)
        }
        for i, score in enumerate(self.scores):
            samples = [sample_of(score, kept, each) for each in first[self._rows(score)]]
            pooled, counted = samples[0].joined(samples[1]), samples[2:]
            thresholds = _thresholds(pooled)
            if isinstance(score, Column) and score.column not in self.reader.learned:
                # nothing but its thresholds was learned
                counted = [one.joined(other) for one, other in zip(counted, samples)]
            below = np.stack([each.places(thresholds) for each in counted], axis=1)
            total = np.array([len(each) - each.missing for each in counted])
            seen = len(counted[0])
            derived = isinstance(score, Column) and score.column in self.reader.digits
            two_kinds = isinstance(score, Binned) and score.labels and len(score.edges) == 2
            cost = 0.0 if two_kinds else score.cost + (1.5 if derived else 0.0)
            self.start.append(2 * sum(map(len, self.edges)))
            self.edges.append(thresholds)
            self.centres.append(pooled.means(thresholds) if score.log_ratio else np.zeros(0))
            for side, hits in ((0, below), (1, total - below)):
                same = (i, side, cost, score.handicap, seen)
                parts.append((thresholds, hits, *(np.full(len(thresholds), x) for x in same)))
        arrays = (np.concatenate(part) for part in zip(*parts))
        self.threshold, hits, self.score, self.side, self.cost, self.handicap, draws = arrays
        self.hits, self.draws = hits.astype(np.int64), draws.astype(np.int64)
        return self

    def _rows(self, score: Score) -> int | None:
        """Answers per input on which a score is evaluated to choose among its events."""
        if isinstance(score, Column | Binned) and score.column in self.reader.digits:
            return digit_rows(self.reader)
        return SLOW_ROWS if score.slow else None

    def cheap(self, some: Sequence[int]) -> np.ndarray:
        """The numbers of the events with one of these scores, or with a quick score."""
        quick = [i for i, score in enumerate(self.scores) if score.quick]
        return np.flatnonzero(np.isin(self.score, [*quick, *self.score[list(some)]]))

    def smooth(self) -> np.ndarray:
        """The numbers of the events that do not depend on the rounding of floats."""
        rough = self.reader.rough
        some = [i for i, score in enumerate(self.scores) if not rough.intersection(score.columns)]
        return np.flatnonzero(np.isin(self.score, some))

    def rough(self) -> np.ndarray:
        """The numbers of the events that do."""
        return np.setdiff1d(np.arange(len(self.score)), self.smooth())

    def likeliest(self, epsilon: float, delta: float) -> tuple[int, int] | None:
        """The event with the largest growth against a point, and the input that it favours.

        None if no event exceeds the point.
        """
        if not len(self.score):
            return None
        q = (self.hits + 0.5) / (self.draws + 1.0)[:, None]
        cost = self.cost / self.draws
        e, d = np.array(epsilon), np.array(delta)
        worth = [rough_growth(q[:, b], q[:, 1 - b], e, d) - cost for b in (0, 1)]
        favours, which = np.unravel_index(int(np.argmax(worth)), (2, len(self.score)))
        return (int(which), int(favours)) if worth[favours][which] > 0.0 else None

    def beside(self, chosen: np.ndarray) -> np.ndarray:
        """The numbers of all events with the scores of the chosen ones."""
        return np.flatnonzero(np.isin(self.score, self.score[chosen]))

    def count(self, some: np.ndarray, batch: Batch) -> np.ndarray:
        """How many answers on each input fall into some events, shape (m, 2), 0 for the others."""
        hits = np.zeros_like(self.hits)
        for which in sorted(set(self.score[some].tolist())):
            first, edges = self.start[which], len(self.edges[which])
            for b, counts in enumerate(batch.counts(self, which)):
                below = np.cumsum(counts[:edges])
                hits[first : first + edges, b] = below
                hits[first + edges : first + 2 * edges, b] = counts[:-1].sum() - below
        return hits

    def add(self, some: np.ndarray, hits: np.ndarray, draws: int) -> None:
        """Add the counts of new draws for some events."""
        self.hits[some] += hits[some]
        self.draws[some] += draws

    def event(self, which: int, favours: int) -> Event:
        """One event, with its counts so far."""
        hits, draws = self.hits[which], self.draws[which]
        return Event(
            score=self.scores[int(self.score[which])],
            reader=self.reader,
            side=">=" if self.side[which] else "<",
            threshold=float(self.threshold[which]),
            favours=favours,
            hits_0=int(hits[0]),
            hits_1=int(hits[1]),
            draws=int(draws),
        )


class Batch:
    """New answers on both inputs, with what was read of them."""

    def __init__(self, answers: tuple[Answers, Answers]) -> None:
        self.answers = answers
        self.scored: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
        self.counted: dict[tuple[int, int], np.ndarray] = {}
        self.kept: dict[int, KeptColumns] = {}

    def __len__(self) -> int:
        return len(self.answers[0])

    def reader(self, candidates: Candidates) -> KeptColumns:
        """The candidates' reader, which keeps the columns of these answers."""
        return self.kept.setdefault(id(candidates), KeptColumns(candidates.reader))

    def scores(self, candidates: Candidates, which: int) -> tuple[np.ndarray, np.ndarray]:
        """One of the candidates' scores, by number, of the answers on each input."""
        key = (id(candidates), which)
        if key not in self.scored:
            score, kept = candidates.scores[which], self.reader(candidates)
            first, second = self.answers
            self.scored[key] = score.of(kept, first), score.of(kept, second)
        return self.scored[key]

    def counts(self, candidates: Candidates, which: int) -> np.ndarray:
        """How many of those scores are in each bin between the thresholds of its events.

        Shape (2, thresholds + 2); answers without a score are last.
        """
        key = (id(candidates), which)
        if key not in self.counted:
            score, edges = candidates.scores[which], candidates.edges[which]
            if isinstance(score, Column | Binned):
                kept = self.reader(candidates)
                samples = [sample_of(score, kept, each) for each in self.answers]
            else:
                samples = [Ordered.of(np.sort(each)) for each in self.scores(candidates, which)]
            self.counted[key] = np.array([each.counts(edges) for each in samples])
        return self.counted[key]

    def inside(self, candidates: Candidates, which: int, event: Event) -> list[np.ndarray]:
        """For each answer on each input whether it falls into an event of one of those scores."""
        if isinstance(event.score, Binned):
            score, kept = event.score.halved(event.threshold), self.reader(candidates)
            return [event.inside(score.of(kept, each)) for each in self.answers]
        return [event.inside(each) for each in self.scores(candidates, which)]


def _thresholds(sample: Ordered) -> np.ndarray:
    """Thresholds of events: the values if there are few, else quantiles."""
    few = sample.distinct()
    return few if len(few) <= 64 else distinct(sample.quantiles(LEVELS))
