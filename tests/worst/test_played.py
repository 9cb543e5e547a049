"""Theory and play witness each other: the policy is simulated, and its estimate meets the ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator.analysis.rare import estimate_rare
from simulator.analysis.simulate import simulate
from simulator.data.databases import ADD_REMOVE
from simulator.engine.compiled.plain_kernel import Engine
from simulator.theory import FiniteLaw
from simulator.theory.filters.advanced import RogersFilter, WhitehouseFilter
from simulator.theory.filters.renyi import RenyiFilter, ZCDPFilter
from simulator.theory.filters.sums import SumFilter
from simulator.worst import worst_case

SKEWED = FiniteLaw.from_probabilities((0.7, 0.2, 0.1), (0.5, 0.2, 0.3))

GAMES: dict[str, dict[str, Any]] = {
    "two responses": {"menu": "randomized-response:0.1,randomized-response:0.3", "rounds": 8},
    "exponential": {"menu": "exponential:0.5", "rounds": 6},
    "leaky": {"menu": "approx:0.2,1e-4,randomized-response:0.3", "rounds": 6},
    "geometric and table": {"menu": ["geometric:0.3", SKEWED], "rounds": 5},
    "other experiment": {"menu": [SKEWED, "randomized-response:0.4"], "rounds": 5, "experiment": 1},
    "sum filter": {"menu": "randomized-response:0.1..0.4", "filter": SumFilter(1.0)},
    "whitehouse": {
        "menu": "randomized-response:0.1,randomized-response:0.2",
        "filter": WhitehouseFilter(1.5, 1e-3),
    },
    "zcdp": {
        "menu": "randomized-response:0.1,randomized-response:0.25", "filter": ZCDPFilter(1.0, 1e-3),
    },
    "renyi": {"menu": "randomized-response:0.2,approx:0.1,0", "filter": RenyiFilter(1.5, 1e-3)},
    "rogers": {
        "menu": "randomized-response:0.15,randomized-response:0.3",
        "filter": RogersFilter(3.0, 1e-2),
    },
}  # fmt: skip


@pytest.mark.sampled(n=4)
@pytest.mark.parametrize("name", GAMES)
def test_the_policy_plays_the_lower_end(name: str) -> None:
    """The recursion over the rule's own states is exact, and uses no grid."""
    found = worst_case(**GAMES[name], epsilon=0.4, tolerance=1e-2, seconds=2.0)
    policy = found.policy
    event = estimate_rare(
        policy.adversary, policy.family, policy.rounds, 2000, epsilon=0.4, seed=5,
        experiment=policy.experiment,
    )  # fmt: skip
    assert event.method == "doob"
    ends = found.last.delta(0.4)
    assert policy.value == pytest.approx(ends.lower, rel=1e-9)
    # losses off the grid are decided by what they are, which may only win more
    assert ends.lower * (1 - 1e-9) <= event.delta.value <= ends.upper * (1 + 1e-9)
    if not any(isinstance(item, FiniteLaw) for item in GAMES[name]["menu"]):
        assert event.delta.value == pytest.approx(ends.lower, rel=1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize("experiment", [0, 1])
def test_a_policy_over_continuous_noise_is_played_plainly(experiment: int) -> None:
    """Laplace and Gaussian noise; the interval fails with probability 1e-6."""
    found = worst_case(
        "laplace:0.4,gdp:0.3", epsilon=0.5, rounds=6, experiment=experiment, tolerance=1e-2
    )
    policy = found.policy
    result = simulate(policy.adversary, policy.family, policy.rounds, 40_000, seed=11)
    estimate = result.delta(0.5, experiment, confidence=1 - 1e-6)
    assert estimate.lower <= found.delta.upper
    assert found.delta.lower <= estimate.upper
    # and a policy of half the strength would differ
    assert estimate.upper < 2 * found.delta.lower
    assert estimate.lower > found.delta.lower / 2


@pytest.mark.nightly
def test_compiled_and_interpreted_policies_play_the_same() -> None:
    found = worst_case("laplace:0.4,randomized-response:0.3", epsilon=0.5, rounds=5)
    policy = found.policy
    rule = policy.adversary
    compiled = Engine.build(rule, policy.family, ADD_REMOVE)
    interpreted = Engine.build(rule, policy.family, ADD_REMOVE, compiled=False)
    assert compiled.complaint == ""
    losses = []
    for engine in (compiled, interpreted):
        coins, noise = (np.random.Generator(np.random.SFC64(seed)) for seed in (1, 2))
        losses.append(np.empty(200))
        engine.play(0, coins, noise, losses[-1], 5)
    assert (losses[0] == losses[1]).all()
