"""Rare events: the error reached, the time taken, and what tilted play costs beside plain play."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from experiments.benchmarks.measure import Line, alternately
from experiments.benchmarks.measure import seconds as measured_seconds
from simulator import Gaussian, Laplace, PureDP
from simulator.adversaries import Challenge, Rule, make
from simulator.adversaries.people import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.analysis.rare import RareEvent, estimate_rare
from simulator.analysis.rare.covering import least_theta
from simulator.data import ADD_REMOVE
from simulator.engine.compiled.menu import Menu
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.compiled.tilted_kernel import TiltedEngine
from simulator.engine.enumerated.covering import CoveringEngine
from simulator.engine.sampling import Tilted
from simulator.mechanisms import RandomizedResponse, ScalarMechanism
from simulator.theory import PLD, Composition, GaussianDP, LaplaceLaw, bound
from simulator.theory.guarantees.families import Guarantee

TRIALS = 100_000


def described(event: RareEvent) -> dict[str, float | str]:
    """What stands beside an error."""
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


def two_stakes(low: ScalarMechanism, high: ScalarMechanism) -> Rule:
    """Press when ahead, with any mechanism."""
    menu = tuple(Challenge(WITHOUT_ALICE, EVERYONE, mechanism) for mechanism in (low, high))
    return Rule(lambda state, i, answer, coins: (state, 1 if answer > 0.5 else 0), menu, name="two")


def cost_of_tilting() -> Iterator[Line]:
    """Processor time of tilted over plain play, a round."""
    pairs: dict[str, tuple[ScalarMechanism, ScalarMechanism, Guarantee]] = {
        "Laplace": (Laplace(ALICE, 0.1), Laplace(ALICE, 0.2), PureDP(0.2)),
        "randomized response": (
            RandomizedResponse(ALICE, 0.1), RandomizedResponse(ALICE, 0.2), PureDP(0.2),
        ),
        "Gaussian": (Gaussian(ALICE, 10.0), Gaussian(ALICE, 5.0), GaussianDP(0.2)),
    }  # fmt: skip
    for name, (low, high, family) in pairs.items():
        ratio = tilted_over_plain(two_stakes(low, high), family)
        yield Line(f"tilted play, {name}", ratio, "x plain play", 2.0, at_least=False)


def tilted_over_plain(rule: Rule, family: Guarantee, rounds: int = 200) -> float:
    """Median ratio of processor time, tilted against plain."""
    plain = Engine.build(rule, family, ADD_REMOVE)
    tilted = TiltedEngine.build(rule, family, ADD_REMOVE)
    losses, log_weights = np.empty(20_000), np.empty(20_000)
    coins, noise = (np.random.Generator(np.random.SFC64(seed)) for seed in (1, 2))
    ratio, *_ = alternately(
        lambda: plain.play(0, coins, noise, losses, rounds),
        lambda: tilted.play(
            0, Tilted(5.0), rounds, coins, noise, losses=losses, log_weights=log_weights
        ),
    )
    return ratio


def cost_of_covering() -> Iterator[Line]:
    """Processor time to prepare a covering measure, and of playing it over plain play."""
    states = 10_007
    pair = RandomizedResponse(ALICE, 0.1), RandomizedResponse(ALICE, 0.2)
    menu = tuple(Challenge(WITHOUT_ALICE, EVERYONE, mechanism) for mechanism in pair)

    def wander(state: int, i: int, answer: float, coins: np.random.Generator) -> tuple[int, int]:
        state = (state * 3 + (7 if answer > 0.5 else 11)) % states
        return state, 1 if state % 5 == 0 else 0

    rule, rounds = Rule(wander, menu, 1, "wander"), 200

    def prepare() -> None:
        engine = CoveringEngine(Menu.of(rule, PureDP(0.2), ADD_REMOVE), rounds)
        engine.prepare(least_theta(engine.moments, 8.0))

    prepare()  # what numpy and numba load at their first use
    yield Line(
        "covering measure, 10,000 states x 200 rounds: preparation",
        min(measured_seconds(prepare) for _ in range(3)),
        "s",
        1.0,
        at_least=False,
    )
    cases: dict[str, tuple[ScalarMechanism, ScalarMechanism, Guarantee]] = {
        "Laplace": (Laplace(ALICE, 0.1), Laplace(ALICE, 0.2), PureDP(0.2)),
        "randomized response": (*pair, PureDP(0.2)),
        "Gaussian": (Gaussian(ALICE, 10.0), Gaussian(ALICE, 5.0), GaussianDP(0.2)),
    }
    for name, (low, high, family) in cases.items():
        ratio = covering_over_plain(two_stakes(low, high), family)
        yield Line(f"covering play, {name}", ratio, "x plain play", 2.0, at_least=False)
    ratio = covering_over_plain(rule, PureDP(0.2))
    yield Line("covering play, 10,000 states", ratio, "x plain play", 2.0, at_least=False)


def covering_over_plain(rule: Rule, family: Guarantee, rounds: int = 200) -> float:
    """Median ratio of processor time, covering against plain."""
    plain = Engine.build(rule, family, ADD_REMOVE)
    covering = CoveringEngine(Menu.of(rule, family, ADD_REMOVE), rounds)
    losses = np.empty(20_000)
    coins, noise = (np.random.Generator(np.random.SFC64(seed)) for seed in (1, 2))
    ratio, *_ = alternately(
        lambda: plain.play(0, coins, noise, losses, rounds),
        lambda: covering.play(1.0, noise, losses),
    )
    return ratio


BENCHMARKS = (bob, laplace, adaptive, cost_of_tilting, cost_of_covering)
