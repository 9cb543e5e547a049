"""Memory and disk of a run of very many trials.

Ten billion trials of 100 rounds take hours to play. Here some blocks are played and their outcomes
repeated, in growing stretches; gathering, storing and estimating are those of a real run.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from experiments.benchmarks import adversaries
from experiments.benchmarks.loops import EPSILON
from experiments.benchmarks.measure import REPEATS, Line, alternately, fresh, peak_megabytes
from simulator import PureDP, simulate
from simulator.adversaries.registry import make
from simulator.engine.outcomes.bins import LossBins
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.outcomes.tally import Tally
from simulator.engine.specification import Specification
from simulator.runner.store import folder as stored
from simulator.runner.worker import play

ROUNDS = 100
SIZES = (10**7, 10**8, 10**9, 10**10)
PLAYED = 32
"""Blocks that are played; a power of two."""
SINGLY = 512
"""Blocks of each experiment that come one by one, as all of them do in a real run: the log grows,
and is written anew."""
MEGABYTES_OF_MEMORY, MEGABYTES_ON_DISK = 500.0, 200.0


def replayed(s: Specification, keys: Sequence[tuple[int, int]], jobs: int) -> Iterator[Any]:
    """In place of :func:`simulator.runner.pool.outcomes`: what a few blocks measured, repeated."""
    few = replace(s, trials=2 * PLAYED * s.block_size, keep="summary")
    blocks = {b: [play(few, b, block) for block in range(PLAYED + 1)] for b in (0, 1)}
    last = s.blocks - 1
    for b, (first, *others) in blocks.items():
        assert isinstance(first, Outcome)
        yield first
        bins = [each.bins for each in others if isinstance(each, Tally)]
        base = LossBins.total([each for each in bins if isinstance(each, LossBins)])
        block = 1
        while block < last:
            # the largest stretch that is aligned, and inside
            size = block & -block if block >= SINGLY else 1
            while block + size > last:
                size //= 2
            yield stretch(b, block, size, others, base)
            block += size
        if last > 0:
            left = s.trials - last * s.block_size
            yield Tally.of(Outcome(b, last, np.repeat(first.losses, 2)[:left]))


def stretch(b: int, block: int, size: int, others: Sequence[Any], base: LossBins) -> Tally:
    """A tally of so many blocks, all of them repetitions."""
    digests = np.arange(block, block + size, dtype=np.uint64)
    if size < PLAYED:
        bins = LossBins.total([each.bins for each in others[:size]])
    else:
        times = size // PLAYED
        bins = replace(base, counts=base.counts * times, places=base.places * times)
    return Tally(b, block, size, bins, digests)


def watching(folder: str, sizes: list[int]) -> AbstractContextManager[Any]:
    """Note how large the log in a folder is after each record, and while it is written anew."""
    write_all = stored.write_all

    def noting(log: Any, data: bytes) -> int:
        written = write_all(log, data)
        logs = Path(folder).glob("*blocks.log*")
        sizes.append(sum(each.stat().st_size for each in logs))
        return written

    return patch.object(stored, "write_all", noting)


def main(trials: int) -> None:
    """Print what a run of that many trials takes: MB of memory at its peak, and of disk."""
    rule, family = adversaries.gaussian()
    sizes: list[int] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        patch("simulator.runner.play.outcomes", replayed),
        watching(folder, sizes),
    ):
        result = simulate(
            rule, family, ROUNDS, trials, keep="summary", out=folder, jobs=1, progress=False
        )
        found = result.delta(1.0)
        log = (Path(folder) / "blocks.log").stat().st_size
    print(
        json.dumps(
            {
                "trials": result.sample[0].trials,
                "memory": peak_megabytes(),
                "disk": max(sizes) / 1e6,
                "log": log / 1e6,
                "delta": [found.lower, found.value, found.upper, found.widened],
            }
        )
    )


def of_many_trials() -> Iterator[Line]:
    """Peak memory and disk of ten billion trials, and how memory grows from ten million on."""
    program = "from experiments.benchmarks.memory import main; main({})"
    runs = {f"{trials:.0e}": fresh(program.format(trials)) for trials in SIZES}
    memory = [run["memory"] for run in runs.values()]
    (few, _), *_, (many, largest) = runs.items()
    yield Line(
        f"{many} trials of {ROUNDS} rounds: memory", largest["memory"] / MEGABYTES_OF_MEMORY,
        f"of {MEGABYTES_OF_MEMORY:g} MB", 1.0, at_least=False, detail=runs,
    )  # fmt: skip
    yield Line(
        f"{many} trials of {ROUNDS} rounds: folder", largest["disk"] / MEGABYTES_ON_DISK,
        f"of {MEGABYTES_ON_DISK:g} MB", 1.0, at_least=False,
    )  # fmt: skip
    yield Line(
        f"{few} to {many} trials: memory", max(memory) / min(memory), "the most, over the least",
        1.5, at_least=False,
    )  # fmt: skip


FEW_ROUNDS, FEW_TRIALS, THRESHOLD = 10, 10**7, 0.55
LOOP_ROWS = 1 << 16
"""Trials that the loop in numpy plays at once, so that its arrays stay in the cache."""


def in_numpy(trials: int) -> list[float]:
    """Shares of losses above the threshold for each b, by a loop over rounds, on arrays."""
    noise, hits = np.random.default_rng(1), [0, 0]
    for start in range(0, trials, LOOP_ROWS):
        rows = min(LOOP_ROWS, trials - start)
        for b in (0, 1):
            answers, losses = np.zeros(rows), np.zeros(rows)
            for _ in range(FEW_ROUNDS):
                sizes = np.where(answers > 0.5, EPSILON, 0.5 * EPSILON)
                answers = b + noise.laplace(size=rows) / sizes
                losses += sizes * (np.abs(answers - (1 - b)) - np.abs(answers - b))
            hits[b] += int((losses > THRESHOLD).sum())
    return [each / trials for each in hits]


def as_a_summary(trials: int) -> list[float]:
    """The same shares, of plays that are kept as a summary."""
    rule = make("press-when-ahead", PureDP(EPSILON), FEW_ROUNDS)
    result = simulate(
        rule, PureDP(EPSILON), FEW_ROUNDS, trials, keep="summary", jobs=1, progress=False
    )
    return [result.tail(THRESHOLD, b).value for b in (0, 1)]


def beside_numpy() -> Iterator[Line]:
    """Ten million trials of ten rounds as a summary, and in one loop over arrays of numpy."""
    as_a_summary(1000)  # compiles
    ratio, loop, summary, spread = alternately(
        partial(in_numpy, FEW_TRIALS), partial(as_a_summary, FEW_TRIALS), repeats=REPEATS
    )
    detail = {"seconds_of_the_loop": loop, "seconds_of_the_summary": summary} | spread
    yield Line(
        "ten million trials of ten rounds, as a summary", ratio, "x a loop in numpy", 1.0,
        at_least=False, detail=detail,
    )  # fmt: skip


BENCHMARKS = (of_many_trials, beside_numpy)

if __name__ == "__main__":
    main(int(float(sys.argv[1])))
