"""The worst-case search: processor time of whole games, the width reached, and the memory."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.benchmarks.measure import Line, fresh

_PROGRAM = """
import json, time
from experiments.benchmarks.measure import peak_megabytes
from simulator.worst import worst_case, Game, entries
from simulator.worst.grid_pass import run_pass
from simulator.theory.filters.named import parse_filter

class Squares:
    monotone, initial = True, 0.0
    def admit(self, state, guarantee):
        after = state + guarantee.pure_epsilon ** 2
        fits = after <= 0.035 * (1 + 1e-12)
        return fits, after if fits else state

run_pass(Game(entries("laplace:0.1"), 2), 1.0, 0)
start = time.process_time()
{game}
seconds = time.process_time() - start
print(json.dumps({{
    "seconds": seconds,
    "lower": ends.lower,
    "upper": ends.upper,
    "nodes": last.graph.nodes,
    "points": last.upper.grid.points,
    "gigabytes": peak_megabytes() / 1e3,
}}))
"""

_LATTICE = """
menu = ",".join(f"randomized-response:{e}" for e in (0.05, 0.1, 0.15, 0.2))
last = run_pass(Game(entries(menu), 1000), 10.0, 0)
ends = last.delta(10.0)
"""

_FREE = """
menu = "randomized-response:0.005..0.2"
found = worst_case(menu, filter=Squares(), epsilon=1.0, seconds=0.1)
last, ends = found.last, found.delta
assert abs(last.step - 0.005) < 1e-12
"""

_NATURAL = """
menu = ",".join(f"randomized-response:{e}" for e in (0.025, 0.1, 0.2))
found = worst_case(menu, filter=parse_filter("natural:1,1e-5"), epsilon=1.0)
last, ends = found.last, found.delta
"""

_RESIDUE = """
menu = ",".join(f"randomized-response:{e}" for e in (0.015, 0.044, 0.0521, 0.0579))
rounds = ROUNDS
found = worst_case(
    menu, filter="residue:1,1e-6", epsilon=1.0, rounds=rounds, tolerance=0.05, seconds=20.0
)
last, ends = found.last, found.delta
"""
_MOST_WIDE = 0.05
"""The width of the ends under the residue filter, relative to the upper one, after 20 s."""


def games() -> Iterator[Line]:
    """The time of each game in a new process, without imports."""
    wanted = {
        "k = 1000, four entries on a lattice": (_LATTICE, 2.0),
        "free parameter, sum of squares .035 by .005": (_FREE, 5.0),
        "natural filter, three mechanisms": (_NATURAL, 2.0),
    } | {
        f"residue filter, four mechanisms{within}": (_RESIDUE.replace("ROUNDS", rounds), 20.0)
        for rounds, within in (("None", ""), ("25", ", 25 rounds"), ("60", ", 60 rounds"))
    }
    largest = 0.0
    for name, (game, target) in wanted.items():
        detail = fresh(_PROGRAM.format(game=game))
        largest = max(largest, detail["gigabytes"])
        yield Line(
            f"worst case, {name}", detail["seconds"], "s", target, at_least=False, detail=detail
        )
        if name.startswith("residue"):
            wide = 1.0 - detail["lower"] / detail["upper"]
            yield Line(f"width, {name}", wide, "", _MOST_WIDE, at_least=False, detail=detail)
    yield Line("worst case, memory of the largest", largest, "GB", 1.0, at_least=False)


BENCHMARKS = (games,)
