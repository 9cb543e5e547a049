"""Other programs for the same task, measured where they are installed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from experiments.benchmarks import adversaries
from experiments.benchmarks.engine import ROUNDS, TRIALS, play
from experiments.benchmarks.measure import REPEATS, Line, alternately, scaled
from simulator.theory import PLD, LaplaceLaw

PEERS = {
    "opendp": "opendp",
    "dp_accounting": "dp-accounting",
    "prv_accountant": "prv-accountant",
    "PLD_accounting": "pld-accounting",
}
"""Import package and distribution."""

DELTA = 1e-6
LONG = 10_000
TRUTH = 94.23586539
"""epsilon of 10,000 Laplace rounds of 0.1 at delta 1e-6, by a saddle-point contour."""


def versions() -> dict[str, str | None]:
    """The version of each peer, or None where it is not installed."""
    return {name: version(name) if find_spec(package) else None for package, name in PEERS.items()}


def opendp() -> Iterator[Line]:
    """Compiled rounds over rounds of OpenDP's adaptive composition."""
    name, unit = "compiled rule, Laplace", "x OpenDP's adaptive composition"
    if find_spec("opendp") is None:
        yield Line(name, None, unit, 8_000.0)
        return
    trials = 20
    rule, family = adversaries.laplace()
    play(rule, family, TRIALS)
    ratio, ours, theirs, spread = alternately(
        partial(play, rule, family, TRIALS), partial(_opendp_trials, trials), repeats=REPEATS
    )
    scale = TRIALS / trials
    detail = {
        "rounds_per_second": TRIALS * ROUNDS / ours,
        "opendp_rounds_per_second": trials * ROUNDS / theirs,
    } | scaled(spread, scale)
    yield Line(name, ratio * scale, unit, 8_000.0, detail=detail)


def _opendp_trials(trials: int) -> None:
    dp: Any = import_module("opendp.prelude")

    dp.enable_features("contrib")
    space: Any = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    noise = {e: dp.m.make_laplace(*space, scale=1.0 / e) for e in (0.1, 0.2)}
    compositor = dp.c.make_adaptive_composition(
        *space, output_measure=dp.max_divergence(), d_in=1.0, d_mids=[0.2] * ROUNDS
    )
    for _ in range(trials):
        queryable = compositor(0.0)
        answer = 0.0
        for _ in range(ROUNDS):
            answer = queryable(noise[0.2 if answer > 0.5 else 0.1])


def dp_accounting() -> Iterator[Line]:
    """Time and distance from the truth, beside dp_accounting at discretisation 1e-4."""
    speed, distance = "Laplace, k = 10,000: speed", "Laplace, k = 10,000: distance from the truth"
    if find_spec("dp_accounting") is None:
        yield Line(speed, None, "x dp_accounting", 1.0)
        yield Line(distance, None, "of dp_accounting's", 1.0, at_least=False)
        return
    ratio, ours, theirs, spread = alternately(_own_bracket, _peer_epsilon, repeats=REPEATS)
    bracket, peer = _own_bracket(), _peer_epsilon()
    furthest = max(abs(bracket.upper - TRUTH), abs(bracket.lower - TRUTH))
    detail = {
        "seconds": ours,
        "dp_accounting_seconds": theirs,
        "lower": bracket.lower,
        "upper": bracket.upper,
        "dp_accounting": peer,
        "truth": TRUTH,
    } | spread
    yield Line(speed, ratio, "x dp_accounting", 1.0, detail=detail)
    yield Line(distance, furthest / abs(peer - TRUTH), "of dp_accounting's", 1.0, at_least=False)


TOLERANCE = 5e-9
"""Finer than by default, so that the worse end of the bracket is compared, and not its middle."""


def _own_bracket() -> Any:
    return PLD.of([(LaplaceLaw(0.1), LONG)], tolerance=TOLERANCE).epsilon(DELTA)


def _peer_epsilon() -> float:
    distribution: Any = import_module("dp_accounting.pld.privacy_loss_distribution")
    one = distribution.from_laplace_mechanism(
        10.0, sensitivity=1.0, value_discretization_interval=1e-4
    )
    return float(one.self_compose(LONG).get_epsilon_for_delta(DELTA))


BENCHMARKS = (opendp, dp_accounting)
