"""Rounds a second: rules against bare draws, generators against a bare loop, two jobs, overhead."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import numba
import numpy as np
from joblib.externals.loky import get_reusable_executor

from experiments.benchmarks import adversaries, loops
from experiments.benchmarks.measure import REPEATS, Line, alternately, fresh, scaled
from simulator import simulate
from simulator.adversaries import Rule, registry
from simulator.data import ADD_REMOVE
from simulator.engine.compiled import worth
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.specification import Specification
from simulator.errors import InvalidInput
from simulator.mechanisms import Free, ScalarMechanism
from simulator.runner.worker import Player
from simulator.theory import Guarantee

ROUNDS = 100
TRIALS = 200_000
CHUNK = 1 << 16
"""Draws at once: numpy is fastest while they stay in the cache."""

REHEARSED = 1000
"""Draws of each menu entry, to count what a round of it draws."""

Draw = Callable[..., Any]


def play(adversary: Any, family: Guarantee, trials: int, jobs: int = 1) -> Any:
    """Play experiment 0 quietly."""
    return simulate(adversary, family, ROUNDS, trials, experiments=(0,), jobs=jobs, progress=False)


def interpreted() -> Any:
    """Within it, games of any size are played in Python."""
    return patch.multiple(worth, WORTH_COMPILING=math.inf, WORTH_A_LOOK=math.inf)


def bare(draw: Draw, total: int) -> None:
    """Draw ``total`` numbers and do nothing with them."""
    for _ in range(total // CHUNK):
        draw(size=CHUNK)
    draw(size=total % CHUNK)


def against_bare_draws() -> Iterator[Line]:
    """A rule's rounds, per core, over bare draws of the same total."""
    generator = np.random.default_rng(0)
    cases: list[tuple[str, Any, Draw, float]] = [
        ("Laplace", adversaries.laplace, generator.laplace, 1.8),
        ("randomized response", adversaries.randomized_response, generator.standard_normal, 1.0),
        ("Gaussian", adversaries.gaussian, generator.standard_normal, 1.0),
    ]
    for name, make, draw, target in cases:
        rule, family = make()
        play(rule, family, TRIALS)  # compiles
        total = TRIALS * ROUNDS
        ratio, ours, theirs, spread = alternately(
            partial(play, rule, family, TRIALS), partial(bare, draw, total)
        )
        detail = {"rounds_per_second": total / ours, "draws_per_second": total / theirs} | spread
        unit = f"x bare {draw.__name__} draws"
        yield Line(f"compiled rule, {name}", ratio, unit, target, detail=detail)


def bare_draws_of(rule: Rule) -> dict[str, int]:
    """What a round of each menu entry draws at least, by method of a generator."""
    counts: dict[str, int] = {}

    class Counting:
        def __getattr__(self, name: str) -> Any:
            def draw() -> float:
                counts[name] = counts.get(name, 0) + 1
                return float(getattr(source, name)())

            return draw

    source = np.random.default_rng(0)
    for entry in rule.menu:
        mechanism = entry.mechanism
        assert isinstance(mechanism, ScalarMechanism)
        if isinstance(mechanism.parameter, Free):
            mechanism = mechanism.with_parameter(mechanism.parameter.high)
        pair = mechanism.pair(entry.database_0, entry.database_1)
        for _ in range(REHEARSED):
            pair.sample(0, Counting())  # type: ignore[arg-type]
    return counts


def library_rules() -> Iterator[Line]:
    """Every library adversary against the bare draws of its menu, and against a loop by hand.

    Of the bare draws each entry has as many as the others.
    """
    generator = np.random.Generator(np.random.SFC64(2))
    total = TRIALS * ROUNDS // 4
    for name, rule in rules_of_the_library():
        counts = bare_draws_of(rule)
        rounds = len(rule.menu) * REHEARSED

        def draws(counts: dict[str, int] = counts, rounds: int = rounds) -> None:
            for method, count in counts.items():
                bare(getattr(generator, method), total * count // rounds)

        ratio, ours, theirs, spread = alternately(rule_plays(rule, adversaries.PURE, total), draws)
        detail = {
            "rounds_per_second": total / ours,
            "draws_per_round": {method: count / rounds for method, count in counts.items()},
            "rounds_of_bare_draws_per_second": total / theirs,
        } | spread
        yield Line(f"library rule, {name}", ratio, "x bare draws of its menu", detail=detail)
        yield beside_a_loop(name, rule, adversaries.PURE, loops.LIBRARY[name])


def rules_of_the_library() -> Iterator[tuple[str, Rule]]:
    """The program of each adversary that plays in the family of the benchmarks, and its name."""
    for entry in registry.entries():
        try:
            adversary = entry.make(adversaries.PURE, ROUNDS)
        except InvalidInput:
            continue  # plays in another family alone
        program = Specification(adversary, adversaries.PURE, ROUNDS, 1).program
        if isinstance(program, Rule) and entry.name in loops.LIBRARY:
            yield entry.name, program


def rule_plays(rule: Rule, family: Guarantee, total: int) -> Callable[[], None]:
    """A function that plays so many rounds of the compiled rule."""
    engine = Engine.build(rule, family, ADD_REMOVE)
    coins, noise = (np.random.Generator(np.random.SFC64(i)) for i in range(2))
    return partial(engine.play, 0, coins, noise, np.empty(total // ROUNDS), ROUNDS)


def beside_a_loop(name: str, rule: Rule, family: Guarantee, loop: loops.Loop) -> Line:
    """A rule beside a loop written by hand for it, with its numbers as constants."""
    compiled = numba.njit(nogil=True, error_model="numpy")(loop)
    total = TRIALS * ROUNDS // 4
    losses = np.empty(total // ROUNDS)
    coins, noise = (np.random.Generator(np.random.SFC64(i)) for i in range(2))
    compiled(losses[:0], ROUNDS, coins, noise)
    ratio, ours, theirs, spread = alternately(
        rule_plays(rule, family, total), partial(compiled, losses, ROUNDS, coins, noise)
    )
    detail: dict[str, Any] = {
        "rounds_per_second": total / ours,
        "rounds_per_second_by_hand": total / theirs,
    }
    detail |= spread
    return Line(f"against a loop by hand, {name}", ratio, "x its rate", detail=detail)


def other_kinds_beside_loops() -> Iterator[Line]:
    """Press-when-ahead by randomized response and by Gaussian noise."""
    for name, make, loop in (
        ("randomized response", adversaries.randomized_response, loops.press_by_response),
        ("Gaussian", adversaries.gaussian, loops.press_by_gaussian),
    ):
        yield beside_a_loop(name, *make(), loop)


def two_jobs() -> Iterator[Line]:
    """Wall time of one job over that of two."""
    rule, family = adversaries.laplace()
    play(rule, family, TRIALS)
    trials = 10 * TRIALS
    cores = []

    def two() -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        play(rule, family, trials, 2)
        cores.append((time.process_time() - cpu) / (time.perf_counter() - wall))

    ratio, together, alone, spread = alternately(
        two, partial(play, rule, family, trials, 1), repeats=7, clock=time.perf_counter
    )
    # Below two cores the machine was busy with something else, and the ratio shows that.
    detail = {
        "seconds_two_jobs": together,
        "seconds_one_job": alone,
        "cores_that_two_jobs_got": statistics.median(cores),
    } | spread
    yield Line("two jobs", ratio, "x one job", 1.8, detail=detail)


def two_worker_processes() -> Iterator[Line]:
    """Wall time of a generator's run in this process over that of two, started for it."""
    trials = 40_000

    def two() -> None:
        play(adversaries.unread, adversaries.PURE, trials, 2)
        get_reusable_executor().shutdown(wait=True)

    ratio, together, alone, spread = alternately(
        two, partial(play, adversaries.unread, adversaries.PURE, trials),
        repeats=REPEATS, clock=time.perf_counter,
    )  # fmt: skip
    detail = {
        "rounds": trials * ROUNDS,
        "seconds_two_processes": together,
        "seconds_one": alone,
        "seconds_to_start": together - alone / 2.0,
    } | spread
    yield Line("two worker processes, generator", ratio, "x one, their start included",
               detail=detail)  # fmt: skip


def overhead() -> Iterator[Line]:
    """Share of a run of some ten seconds that is not spent inside of blocks."""
    rule, family = adversaries.laplace()
    play(rule, family, TRIALS)
    rate = play(rule, family, TRIALS).rounds_per_second
    trials = int(10.0 * rate / ROUNDS)
    inside = 0.0
    original = Player.__call__

    def timed(self: Player, *block: Any) -> Any:
        nonlocal inside
        start = time.perf_counter()
        outcome = original(self, *block)
        inside += time.perf_counter() - start
        return outcome

    with patch.object(Player, "__call__", timed):
        start = time.perf_counter()
        play(rule, family, trials)
        total = time.perf_counter() - start
    yield Line(
        "runner's overhead", 100.0 * (1.0 - inside / total), "% of a run", 5.0, at_least=False,
        detail={"seconds": total},
    )  # fmt: skip


COMPILE = """
import json
from experiments.benchmarks import adversaries
from simulator import simulate
rule, family = adversaries.laplace()
seconds = simulate(rule, family, 100, 5000, jobs=1, progress=False).compile_seconds
print(json.dumps(seconds))
"""


def compilation() -> Iterator[Line]:
    """Seconds to compile a new rule in a new process, the import of numba included."""
    times = [float(fresh(COMPILE)) for _ in range(3)]
    yield Line("compilation of a rule", statistics.median(times), "s", 5.0, at_least=False)


def generators_beside_a_loop_by_hand() -> Iterator[Line]:
    """A generator, as one may write it, interpreted, over the same game by hand; per core."""
    trials = 1_000
    cases = (
        ("mechanism kept", adversaries.two_challenges, 0.35),
        ("mechanism made in every round", adversaries.mechanism_anew, 0.25),
        ("mechanism and query made in every round", adversaries.query_anew, 0.25),
        ("database made in every round", adversaries.database_anew, None),
        ("epsilon continuous in the answer", adversaries.continuous, None),
        ("selection at a new epsilon in every round", adversaries.selection_anew, 0.25),
    )
    noise = np.random.Generator(np.random.SFC64(1))
    total = trials * ROUNDS
    for name, adversary, target in cases:
        with interpreted():
            ratio, ours, theirs, spread = alternately(
                partial(play, adversary, adversaries.PURE, trials),
                partial(loops.press_when_ahead_in_python, trials, ROUNDS, noise),
            )
        detail: dict[str, Any] = {
            "rounds_per_second": total / ours,
            "rounds_per_second_by_hand": total / theirs,
        }
        detail |= spread
        yield Line(f"generator, {name}", ratio, "x a Python loop by hand", target, detail=detail)
        if adversary in (adversaries.database_anew, adversaries.continuous):
            yield Line(f"generator, {name}, rate", total / ours, "rounds/s per core", 150_000.0)


def programs_beside_a_loop_by_hand() -> Iterator[Line]:
    """A generator in a large game, where it is compiled, over a game by hand in Python; per core.

    Rates, without the time to compile, which is the last line.
    """
    by_hand = 1_000
    noise = np.random.Generator(np.random.SFC64(1))
    cases = (
        ("mechanism kept", adversaries.two_challenges),
        ("mechanism made in every round", adversaries.mechanism_anew),
        ("mechanism and query made in every round", adversaries.query_anew),
        ("database made in every round", adversaries.database_anew),
        ("epsilon continuous in the answer", adversaries.continuous),
        ("selection at a new epsilon in every round", adversaries.selection_anew),
    )
    seconds = []
    for name, adversary in cases:
        seconds.append(play(adversary, adversaries.PURE, TRIALS).compile_seconds)
        ratio, ours, theirs, spread = alternately(
            partial(play, adversary, adversaries.PURE, TRIALS),
            partial(loops.press_when_ahead_in_python, by_hand, ROUNDS, noise),
        )
        detail = {
            "rounds_per_second": TRIALS * ROUNDS / ours,
            "rounds_per_second_by_hand": by_hand * ROUNDS / theirs,
        } | scaled(spread, TRIALS / by_hand)
        figure = ratio * TRIALS / by_hand
        yield Line(f"program, {name}", figure, "x a Python loop by hand", 20.0, detail=detail)
    yield Line("compilation of a program", statistics.median(seconds), "s", at_least=False)


BENCHMARKS = (
    against_bare_draws, library_rules, other_kinds_beside_loops, two_jobs, two_worker_processes,
    overhead, compilation, generators_beside_a_loop_by_hand,
    programs_beside_a_loop_by_hand,
)  # fmt: skip
