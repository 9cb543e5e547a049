"""Multilevel splitting, for mechanisms without a tilted law.

Paths that reach a level of the signed loss are cloned, and each clone continues with fresh noise;
the product of the shares that pass each level estimates the tail, and the paths that end beyond
the last level estimate the hockey-stick divergence (Garvels 2000; Asmussen and Glynn 2007, chapter
VI.9). A running adversary cannot be copied, but its coins and answers reproduce it: a clone is a
replayed view that continues, with the coins of its path.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simulator.analysis.ceilings import delta_ceiling, tail_ceiling
from simulator.analysis.estimation import Estimate, splitting_runs
from simulator.analysis.rare.reading import RareChoice, RarePlay
from simulator.engine.algorithm_1 import play_trial
from simulator.engine.challenges import Challenges, CheckedPair
from simulator.engine.outcomes.loss_sample import excess
from simulator.engine.specification import Specification
from simulator.engine.trials import Trial
from simulator.foundations.errors import Refusal
from simulator.foundations.seeds import Pilot, Stream, generator, pilot_generators, record, restore
from simulator.foundations.stages import in_stages, stage
from simulator.foundations.ties import beyond

RUNS = 20
"""The number of independent runs."""
SHARE = 0.25
"""The share of the paths that pass from one level to the next, in the pilot."""
MOST_LEVELS = 200


@dataclass(frozen=True)
class Path:
    """A path up to where it first passed a level.

    Attributes
    ----------
    coins : the state of the coins at the start.
    answers : the answers so far.
    """

    coins: tuple[int, ...]
    answers: tuple[Any, ...]


START = Path((), ())


def split(choice: RareChoice) -> Splits:
    """Play RUNS runs with ``trials // RUNS`` paths at every level.

    Raises Refusal if the pilot does not reach the epsilon.
    """
    start = time.perf_counter()
    q = choice.question
    s, b, epsilon = replace(q.specification, sampling=None), q.experiment, q.epsilon
    assert epsilon is not None
    paths = max(20, s.trials // RUNS)
    with stage("choosing levels"):
        levels = [*pilot_levels(s, b, epsilon, paths), epsilon]
    runs = [one_run(s, b, levels, paths, run) for run in in_stages(range(RUNS), "splitting")]
    return Splits(
        choice=choice, point=epsilon, method="splitting", trials=s.trials, runs=runs,
        seconds=time.perf_counter() - start,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Splits(RarePlay):
    """The independent, unbiased estimates of the runs, each of the tail and the divergence."""

    runs: list[tuple[float, float]]

    def at(self, epsilon: float, confidence: float) -> tuple[Estimate, Estimate]:
        """The tail and the divergence at the point; raises Refusal elsewhere.

        Both ends hold for any number of runs: the lower one is a betting bound, the upper one the
        bound of the family. Raises Refusal if too few runs reach the point.
        """
        if epsilon != self.point:
            raise Refusal(f"splitting has estimated at {self.point:g} alone, not at {epsilon:g}")
        s = self.choice.question.specification
        tail, delta = (
            splitting_runs(each, confidence, ceiling=ceiling(s, epsilon))
            for each, ceiling in zip(zip(*self.runs), (tail_ceiling, delta_ceiling))
        )
        return tail, delta


def pilot_levels(s: Specification, b: int, epsilon: float, paths: int) -> list[float]:
    """Levels below ``epsilon``, on held-out draws: each is passed by about SHARE of the paths.

    A path that equals a level up to rounding has not passed it.
    """
    noise, coins = pilot_generators(s.seed, s.task, Pilot.SPLITTING_LEVELS)
    family = Challenges(s, b)
    starts = [START]
    levels: list[float] = []
    while len(levels) < MOST_LEVELS:
        peaks = []
        tracks = []
        for number in range(paths):
            track = play_on(family, starts[number % len(starts)], coins, noise)
            tracks.append(track)
            peaks.append(float(track.signed.max()))
        level = beyond(next_level(np.array(peaks), s.rounds), s.rounds)
        if level >= epsilon:
            return levels
        starts = [path for track in tracks if (path := track.first_beyond(level)) is not None]
        if not starts or (levels and level <= levels[-1]):
            break
        levels.append(level)
    raise Refusal(
        f"splitting found no way to a loss of {epsilon:g}: try more trials, or a smaller epsilon"
    )


def next_level(peaks: np.ndarray, rounds: int) -> float:
    """The level that about SHARE of the peaks pass; with many equal, one that some do pass."""
    level = float(np.quantile(peaks, 1.0 - SHARE, method="lower"))
    below = peaks[beyond(peaks, rounds) < peaks.max()]
    none_passes = beyond(level, rounds) >= peaks.max()
    return float(below.max()) if none_passes and below.size else level


def one_run(
    s: Specification, b: int, levels: list[float], paths: int, run: int
) -> tuple[float, float]:
    """One unbiased estimate each of Pr[signed loss at the end > epsilon] and of delta(epsilon).

    epsilon is the last of the ``levels``.
    """
    noise = generator(s.seed, s.task, Stream.mechanism(b), run)
    coins = generator(s.seed, s.task, Stream.COINS, run)
    family = Challenges(s, b)
    starts = [START]
    passed = 1.0
    for level in levels[:-1]:
        chosen = noise.integers(len(starts), size=paths)
        tracks = [play_on(family, starts[c], coins, noise) for c in chosen]
        starts = [path for track in tracks if (path := track.first_beyond(level)) is not None]
        if not starts:
            return 0.0, 0.0
        passed *= len(starts) / paths
    chosen = noise.integers(len(starts), size=paths)
    ends = np.array([play_on(family, starts[c], coins, noise).end for c in chosen])
    epsilon = levels[-1]
    above = np.mean(ends > beyond(epsilon, s.rounds))
    return passed * float(above), passed * float(np.mean(excess(ends, epsilon)))


@dataclass(frozen=True)
class Track:
    """One play to the end.

    Attributes
    ----------
    coins : the state of the coins at the start.
    answers : all answers.
    signed : the signed loss after each round, shape (rounds,).
    """

    coins: tuple[int, ...]
    answers: tuple[Any, ...]
    signed: np.ndarray

    @property
    def end(self) -> float:
        """The signed loss at the end."""
        return float(self.signed[-1])

    def first_beyond(self, level: float) -> Path | None:
        """The path up to where it first passed the level, or None."""
        passed = self.signed > level
        if not passed.any():
            return None
        return Path(self.coins, self.answers[: int(passed.argmax()) + 1])


class Continued(Trial):
    """A trial that begins with the answers of a path, and goes on with the mechanisms'."""

    __slots__ = ("known",)

    def __init__(self, known: tuple[Any, ...], *terms: Any, **kept: Any) -> None:
        super().__init__(*terms, **kept)
        self.known = known

    def draw(self, pair: CheckedPair, b: int) -> Any:
        """The path's answer of the round, or the mechanism's on database ``b``."""
        if self.round < len(self.known):
            return pair.received(self.known[self.round])
        return super().draw(pair, b)


def play_on(
    family: Challenges, path: Path, coins: np.random.Generator, noise: np.random.Generator
) -> Track:
    """Replay a path and play it to the end with fresh noise; an empty path draws its own coins."""
    stood = path.coins or record(coins)
    trial = Continued(
        path.answers,
        0,
        restore(stood) if path.coins else coins,
        noise,
        family.specification.filter,
        keep_answers=True,
        keep_path=True,
    )
    play_trial(family, trial)
    assert trial.answers is not None
    losses = np.array(trial.path)
    return Track(stood, tuple(trial.answers), -losses if family.experiment else losses)
