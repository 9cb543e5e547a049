"""What a user waits for: whole processes, nothing loaded before, small games and large ones.

A game is written as Algorithm 1 reads, and beside it stands the best program that one would write
by hand without this package: a loop in Python for a small game, for a large one a loop that numba
compiles and keeps (``cache=True``). Each kernel was compiled by an earlier process.
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from experiments.benchmarks.measure import REPEATS, Line, alternately, program_seconds

GAME = """
from simulator import Database, Laplace, PureDP, counting_query, simulate
alice = Database({{"Alice": 1}})
without = alice.remove("Alice")
query = counting_query("Alice")
def press(coins):
    answer = 0.0
    while True:
        epsilon = 0.2 if answer > 0.5 else 0.1
        answer = yield without, alice, Laplace(query, epsilon)
result = simulate(press, PureDP(0.2), rounds=100, trials={trials}, seed=1, progress=False)
print(result.tail(3.0))
"""
BY_HAND = """
import numpy as np
{decorator}
def play(trials, rounds, b, noise):
    losses = np.empty(trials)
    for trial in range(trials):
        loss, answer = 0.0, 0.0
        for _ in range(rounds):
            epsilon = 0.2 if answer > 0.5 else 0.1
            answer = b + noise.laplace(0.0, 1.0 / epsilon)
            loss += epsilon * (abs(answer - 1.0) - abs(answer))
        losses[trial] = loss
    return losses
losses = [play({trials}, 100, b, np.random.Generator(np.random.SFC64(b))) for b in (0, 1)]
print(np.mean(losses[0] > 3.0), np.mean(losses[1] < -3.0))
"""
IN_PYTHON, COMPILED = "", "import numba\n@numba.njit(cache=True)"
SIZES = ((1_000, IN_PYTHON, "a loop in Python"), (100_000, COMPILED, "a loop in numba"),
         (1_000_000, COMPILED, "a loop in numba"))  # fmt: skip

PROGRAMS = {
    "import": "import simulator",
    "small game": GAME.format(trials=1_000),
    "large game": GAME.format(trials=200_000),
    "bounds": "from simulator.doors.cli import main; main('bounds gaussian:sigma=30 --rounds 1000"
    " --delta 1e-6'.split())",
    "mixed composition": "from simulator.theory import LaplaceLaw, GaussianLaw, compose_laws\n"
    "print(compose_laws([(LaplaceLaw(0.05), 300), (GaussianLaw(20.0), 500)]).epsilon(1e-6))",
    "rare tail": "from simulator.doors.cli import main; main('estimate-rare press-when-ahead"
    " --family pure:.2 --rounds 100 --epsilon 6'.split())",
    "worst case": "from simulator.doors.cli import main; main('worst-case --menu"
    " randomized-response:0.1 --menu randomized-response:0.2 --rounds 60 --epsilon 2'.split())",
}
"""What a change must not make slower, in some two seconds each; see ``against``."""


def children() -> float:
    """Processor time of the processes that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(spent.ru_utime + spent.ru_stime)


def games_beside_programs_by_hand() -> Iterator[Line]:
    """A game of this package, over the program by hand; below 1 ours takes longer."""
    for trials, decorator, peer in SIZES:
        ours = GAME.format(trials=trials)
        with tempfile.TemporaryDirectory() as folder:
            by_hand = Path(folder) / "by_hand.py"  # numba keeps what stands in a file
            by_hand.write_text(BY_HAND.format(decorator=decorator, trials=trials))
            theirs = f"import runpy; runpy.run_path({str(by_hand)!r})"
            if decorator:
                theirs = f"import sys; sys.path.insert(0, {folder!r}); import by_hand"
            for program in (ours, theirs):
                program_seconds(program)  # compiles
            ratio, mine, others, spread = alternately(
                partial(program_seconds, ours), partial(program_seconds, theirs),
                repeats=REPEATS, clock=children,
            )  # fmt: skip
        detail = {"seconds": mine, "seconds_by_hand": others} | spread
        yield Line(f"whole game of {trials:,} trials", ratio, f"x {peer}", detail=detail)


BENCHMARKS = (games_beside_programs_by_hand,)
