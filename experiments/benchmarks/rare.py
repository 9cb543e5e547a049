"""Rare events: the error reached, the time taken, and what tilted play costs beside plain play."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from experiments.benchmarks import adversaries
from experiments.benchmarks.measure import Line, alternately
from experiments.benchmarks.measure import seconds as measured_seconds
from simulator import Database, Laplace, PureDP, counting_query
from simulator.adversaries import Challenge, Rule, make
from simulator.analysis.rare import RareEvent, estimate_rare
from simulator.analysis.rare.covering import least_bound
from simulator.data import ADD_REMOVE
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.engine.compiled.menu import Menu
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.compiled.tilted_kernel import TiltedEngine
from simulator.engine.enumerated.covering import CoveringEngine
from simulator.engine.sampling import Covering, Tilted
from simulator.mechanisms import RandomizedResponse, ScalarMechanism
from simulator.theory import PLD, Composition, LaplaceLaw, bound
from simulator.theory.guarantees.interface import Guarantee

TRIALS = 100_000
ROUNDS, TIMED = 200, 20_000
"""Rounds and trials of a play that is timed beside plain play."""

Noise = np.random.Generator
RULES: dict[str, Callable[[], tuple[Rule, Guarantee]]] = {
    "Laplace": adversaries.laplace,
    "randomized response": adversaries.randomized_response,
    "Gaussian": adversaries.gaussian,
}


def described(event: RareEvent) -> dict[str, float | str]:
    """The details of an error's line: the point, the estimate and its method."""
    return {
        "epsilon": event.epsilon,
        "value": event.delta.value,
        "lower": event.delta.lower,
        "upper": event.delta.upper,
        "method": f"{event.method}; {event.delta.method}",
    }


def bob() -> Iterator[Line]:
    """Ten thousand databases at 1/801: the error, whether the interval covers, the time."""
    family, rounds, epsilon = PureDP(1 / 801), 10_000, 0.890468
    start = time.perf_counter()
    event = estimate_rare(
        make("fixed-worst-case", family, rounds), family, rounds, TRIALS, epsilon=epsilon, seed=7
    )
    seconds = time.perf_counter() - start
    exact = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(family, rounds))
    truth = exact.delta(epsilon).value
    covers = float(event.delta.lower <= truth <= event.delta.upper)
    error = event.delta.relative_standard_error
    detail = described(event) | {"exact": truth}
    yield Line(
        "Bob: relative standard error", error, "relative", 0.01, at_least=False, detail=detail
    )
    yield Line("Bob: interval covers the exact delta", covers, "1 is yes", 1.0)
    yield Line("Bob: time, compilation and pilot included", seconds, "s", 6.0, at_least=False)


def many_databases() -> Iterator[Line]:
    """A generator over ten thousand pairs of databases that it closes over."""
    pairs = [(each, each.add("bob")) for each in (Database({"others": k}) for k in range(10_000))]

    def others_each_round(coins: Noise) -> Iterator[Challenge]:
        for without, everyone in pairs:
            yield Challenge(without, everyone, Laplace(counting_query("bob"), 0.1))

    family, rounds = PureDP(0.1), 1000
    epsilon = PLD.of([(LaplaceLaw(0.1), rounds)]).epsilon(1e-12).upper
    start = time.perf_counter()
    event = estimate_rare(others_each_round, family, rounds, 20_000, epsilon=epsilon, seed=7)
    seconds = time.perf_counter() - start
    yield Line("ten thousand databases, k = 1000, 1e-12: time", seconds, "s", 3.0,
               at_least=False, detail=described(event))  # fmt: skip


def repeated(mechanism: ScalarMechanism) -> Rule:
    """The same mechanism about Alice in every round."""
    menu = (Challenge(WITHOUT_ALICE, EVERYONE, mechanism),)
    return Rule(lambda state, i, answer, coins: (state, 0), menu, name="repeated")


def laplace() -> Iterator[Line]:
    """Laplace noise over a thousand rounds at delta near 1e-12, against the certified bracket."""
    family, rounds = PureDP(0.1), 1000
    composed = PLD.of([(LaplaceLaw(0.1), rounds)])
    epsilon = composed.epsilon(1e-12).upper
    event = estimate_rare(
        repeated(Laplace(ALICE, 0.1)), family, rounds, TRIALS, epsilon=epsilon, seed=7
    )
    bracket = composed.delta(epsilon)
    detail = described(event) | {"exact_lower": bracket.lower, "exact_upper": bracket.upper}
    error = event.delta.relative_standard_error
    yield Line(
        "Laplace, k = 1000, 1e-12: error", error, "relative", 0.02, at_least=False, detail=detail
    )


def adaptive() -> Iterator[Line]:
    """Adaptive adversaries over five hundred rounds at delta near 1e-12, by the method auto."""
    family, rounds = PureDP(0.2), 500
    for name in ("press-when-ahead", "double-when-behind"):
        event = estimate_rare(
            make(name, family, rounds), family, rounds, TRIALS, delta=1e-12, seed=7
        )
        error = event.delta.relative_standard_error
        yield Line(
            f"{name}, 1e-12: error",
            error,
            "relative",
            0.05,
            at_least=False,
            detail=described(event),
        )


def cost_of_tilting() -> Iterator[Line]:
    """Processor time of tilted over plain play, a round."""
    for name, make_rule in RULES.items():
        rule, family = make_rule()
        engine = TiltedEngine.build(rule, family, ADD_REMOVE)
        ratio = over_plain(rule, family, partial(tilted_play, engine, np.empty(TIMED)))
        yield Line(f"tilted play, {name}", ratio, "x plain play", 2.0, at_least=False)


def tilted_play(
    engine: TiltedEngine, log_weights: np.ndarray, coins: Noise, noise: Noise, losses: np.ndarray
) -> None:
    """Play tilted by 5."""
    engine.play(0, Tilted(5.0), ROUNDS, coins, noise, losses=losses, log_weights=log_weights)


def over_plain(
    rule: Rule, family: Guarantee, play: Callable[[Noise, Noise, np.ndarray], Any]
) -> float:
    """Median ratio of processor time, ``play(coins, noise, losses)`` over plain play."""
    plain = Engine.build(rule, family, ADD_REMOVE)
    losses = np.empty(TIMED)
    coins, noise = (np.random.Generator(np.random.SFC64(seed)) for seed in (1, 2))
    ratio, *_ = alternately(
        lambda: plain.play(0, coins, noise, losses, ROUNDS),
        lambda: play(coins, noise, losses),
    )
    return ratio


def covered(engine: CoveringEngine, _: Noise, noise: Noise, losses: np.ndarray) -> None:
    """Play as many trials as there are ``losses`` under a covering measure."""
    engine.play(Covering(1.0), noise, len(losses))


def cost_of_covering() -> Iterator[Line]:
    """Processor time to prepare a covering measure, and of playing it over plain play."""
    states = 10_007
    pair = RandomizedResponse(ALICE, 0.1), RandomizedResponse(ALICE, 0.2)
    menu = tuple(Challenge(WITHOUT_ALICE, EVERYONE, mechanism) for mechanism in pair)

    def wander(state: int, i: int, answer: float, coins: np.random.Generator) -> tuple[int, int]:
        state = (state * 3 + (7 if answer > 0.5 else 11)) % states
        return state, 1 if state % 5 == 0 else 0

    rule = Rule(wander, menu, 1, "wander")

    def prepare() -> None:
        engine = CoveringEngine(Menu.of(rule, PureDP(0.2), ADD_REMOVE), ROUNDS)
        engine.prepare(Covering(least_bound(engine.moments, 8.0)[0]))

    prepare()  # what numpy and numba load at their first use
    yield Line(
        "covering measure, 10,000 states x 200 rounds: preparation",
        min(measured_seconds(prepare) for _ in range(3)),
        "s",
        1.0,
        at_least=False,
    )
    cases = {name: make_rule() for name, make_rule in RULES.items()}
    for name, (played, family) in (cases | {"10,000 states": (rule, PureDP(0.2))}).items():
        engine = CoveringEngine(Menu.of(played, family, ADD_REMOVE), ROUNDS)
        ratio = over_plain(played, family, partial(covered, engine))
        yield Line(f"covering play, {name}", ratio, "x plain play", 2.0, at_least=False)


BENCHMARKS = (bob, many_databases, laplace, adaptive, cost_of_tilting, cost_of_covering)
