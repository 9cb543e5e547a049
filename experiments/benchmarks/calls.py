"""What a call of ``simulate`` costs besides its rounds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from experiments.benchmarks import adversaries
from experiments.benchmarks.measure import Line, alternately, scaled, seconds
from simulator import Database, Laplace, counting_query, simulate

TRIALS = 10_000
RECORDS = 1_000_000


def play(trials: int, rounds: int) -> None:
    """A small game of a generator."""
    simulate(
        adversaries.mechanism_anew, adversaries.PURE, rounds, trials, jobs=1, progress=False
    )  # fmt: skip


def draws(total: int) -> None:
    """Draws of a Python loop."""
    noise = np.random.default_rng(0)
    for _ in range(total):
        noise.laplace(0.0, 1.0)


def calls(number: int) -> None:
    """Calls that play next to nothing."""
    for _ in range(number):
        play(1, 1)


def small_games() -> Iterator[Line]:
    """A call beside draws in Python, and the beginning of a trial beside its rounds."""
    calls(5)
    ratio, of_draws, of_calls, spread = alternately(partial(draws, 100_000), partial(calls, 20))
    detail: dict[str, Any] = {
        "seconds_of_a_call": of_calls / 20,
        "seconds_of_a_draw": of_draws / 100_000,
    }
    detail |= scaled(spread, 5.0)
    yield Line("a call of simulate", ratio / 20 * 100, "x 1,000 draws in Python", detail=detail)
    one, two = partial(play, TRIALS, 1), partial(play, TRIALS, 2)
    _, of_one, of_two, _ = alternately(one, two)
    begun, round_ = 2.0 * of_one - of_two, of_two - of_one
    detail = {"microseconds_to_begin": begun / 2 / TRIALS * 1e6,
              "microseconds_of_a_round": round_ / 2 / TRIALS * 1e6}  # fmt: skip
    yield Line(
        "beginning of a trial", begun / round_, "x a round", 1.0, at_least=False, detail=detail
    )


def large_databases() -> Iterator[Line]:
    """The first call with two databases of a million types of record."""
    made = []

    def make() -> None:
        everyone = Database(dict.fromkeys(range(RECORDS), 1))
        made.append((everyone, everyone.remove(7)))

    making = seconds(make)
    ((everyone, without),) = made
    challenge = without, everyone, Laplace(counting_query(7), 0.1)

    def same(coins: object) -> Iterator[object]:
        while True:
            yield challenge

    first = seconds(partial(simulate, same, adversaries.PURE, 2, 100, jobs=1, progress=False))
    yield Line(
        "first call with a million types of record", first / making, "x making the two databases",
        detail={"seconds_of_the_call": first, "seconds_of_making": making},
    )  # fmt: skip


BENCHMARKS = (small_games, large_databases)
