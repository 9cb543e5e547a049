"""Shuffled reports: how far both ends are apart, and how long they take."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from experiments.benchmarks.measure import Line, seconds
from simulator.theory import Composition, ShuffledDP, bound

NARROW, WIDE = (0.1, 0.2, 2.5, 3.73, 6.0), (0.4, 0.7, 1.0, 1.5, 2.0)
REPORTS, DELTAS = (100, 10**4, 10**8), (1e-4, 1e-12)
LEAST = 1.0
"""Deviations of the sum that epsilon is; where delta is near delta(0) two small numbers differ."""
TARGET = 1.05


def shuffled_reports() -> Iterator[Line]:
    """Upper over lower end, where the lemma has them close and where not; the slowest question."""
    slowest = 0.0
    for name, locals_ in (("close", NARROW), ("apart", WIDE)):
        worst, where = 0.0, {}
        for local, reports, delta in itertools.product(locals_, REPORTS, DELTAS):
            rounds = Composition.repeat(ShuffledDP(local, reports), 1)
            ends: list[float] = []

            def asked(rounds: Composition = rounds, delta: float = delta,
                      ends: list[float] = ends) -> None:  # fmt: skip
                ends.append(bound("clones-numerical").on(rounds).epsilon(delta).upper)
                responses = bound("shuffled-randomized-response").on(rounds)
                ends.append(responses.epsilon(delta).lower)

            slowest = max(slowest, seconds(asked))
            above, below = ends
            deviation = math.expm1(local) * math.sqrt(2.0 / (1.0 + math.exp(local)) / reports)
            if below >= LEAST * deviation and above / below > worst:
                worst = above / below
                where = {"local": local, "reports": reports, "delta": delta, "upper": above}
        said = f"shuffled reports, ends {name}"
        yield Line(said, worst, "upper / lower", TARGET, at_least=False, detail=where)
    yield Line("shuffled reports, both ends", slowest, "s, slowest", 2.0, at_least=False)


BENCHMARKS = (shuffled_reports,)
