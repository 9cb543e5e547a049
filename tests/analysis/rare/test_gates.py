"""Intervals of covering measures where large losses lie behind rare gates, against closed forms."""

import pytest
import scipy

from simulator import Laplace, PureDP, simulate
from simulator.analysis.rare import Setting, estimate_rare
from simulator.analysis.rare import covering as module
from simulator.engine.block import covering_engine
from simulator.engine.specification import Specification
from tests.helpers.gates import GATES
from tests.helpers.natural_programs import ALICE, EVERYONE, WITHOUT
from tests.helpers.rare_cases import FAMILY, ROUNDS, WORST

TRIALS = 10_000
QUICK = ("by an answer", "two in sequence")


def estimate(gate, epsilon, seed=3, **terms):
    return estimate_rare(
        gate.rule, PureDP(5.0), gate.rounds, terms.pop("trials", TRIALS), epsilon=epsilon,
        method="covering", seed=seed, setting=Setting(filter=gate.filter_, jobs=1, progress=False),
        **terms,
    )  # fmt: skip


def epsilon_of(gate, delta):
    """The exact epsilon of a delta."""
    largest = max(gate.law())
    return scipy.optimize.brentq(lambda e: gate.delta(e) - delta, 0.0, largest, xtol=1e-6)


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("delta", [3e-8, 8e-12, 1e-2, 1e-4, 1e-6, 3e-9, 2e-10])
@pytest.mark.parametrize("name", sorted(GATES, key=lambda name: name not in QUICK))
def test_the_ends_are_within_a_factor_of_two(name, delta):
    """Each interval misses with probability at most 1e-6; 63 in all, some of both numbers."""
    gate = GATES[name]
    epsilon = epsilon_of(gate, delta)
    event = estimate(gate, epsilon)
    assert event.delta.upper <= 2.0 * event.delta.lower, event.delta
    wide = event.read(confidence=1.0 - 1e-6)
    assert wide.delta.lower <= gate.delta(epsilon) <= wide.delta.upper
    assert wide.tail.lower <= gate.tail(epsilon) <= wide.tail.upper


@pytest.mark.parametrize("delta", [1e-4, 1.5e-6])
def test_without_strata_the_ends_are_far_apart(delta, monkeypatch):
    gate = GATES["by an answer"]
    epsilon = epsilon_of(gate, delta)
    monkeypatch.setattr(module, "_parts", lambda engine: [])
    event = estimate(gate, epsilon)
    assert not event.measure.strata
    assert event.delta.upper > 4.0 * event.delta.lower


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(GATES, key=lambda name: name not in QUICK))
def test_the_intervals_cover(name):
    """300 seeds at 90%: more than 50 misses have a probability below 3e-4 if each has 0.1."""
    gate = GATES[name]
    for delta in (1e-5, 1e-9):
        epsilon = epsilon_of(gate, delta)
        truth, misses = gate.delta(epsilon), 0
        for seed in range(300):
            found = estimate(gate, epsilon, seed, trials=400, confidence=0.9).delta
            misses += not found.lower <= truth <= found.upper
        assert misses <= 50, delta


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("delta", [1.2e-9, 1e-3, 1e-6, 1e-10])
def test_the_epsilon_of_a_delta_is_behind_the_gate_or_before_it(delta):
    gate = GATES["by an answer"]
    event = estimate_rare(
        gate.rule, PureDP(5.0), gate.rounds, TRIALS, delta=delta, method="covering", seed=5,
        confidence=1.0 - 1e-6, setting=Setting(jobs=1, progress=False),
    )  # fmt: skip
    assert event.at_delta.lower <= epsilon_of(gate, delta) <= event.at_delta.upper
    assert event.at_delta.upper < 1.05 * event.at_delta.lower


def lost_when_behind(coins):
    lost = 0
    while True:
        answer = yield WITHOUT, EVERYONE, Laplace(ALICE, 0.35 if lost > 0 else 0.2)
        lost = 1 if answer > 0.0 else lost - 1


def test_a_stratum_whose_losses_are_all_low_has_a_theta_with_digits():
    """Its bound falls without end; beyond some theta weights are rounding errors."""
    estimated = estimate_rare(
        lost_when_behind, PureDP(0.4), 20, 2000, epsilon=0.5, experiment=1, seed=3,
        setting=Setting(jobs=1, progress=False),
    ).read(confidence=1.0 - 1e-6).delta  # fmt: skip
    played = simulate(
        lost_when_behind, PureDP(0.4), 20, 20_000, seed=4, jobs=1, progress=False
    ).delta(0.5, experiment=1, confidence=1.0 - 1e-6)  # fmt: skip
    assert estimated.lower <= played.upper
    assert played.lower <= estimated.upper


def test_a_bound_that_falls_without_end_has_a_theta_at_half_of_what_leaves_digits_at_least():
    """Twenty rounds of 0.5 lose 10 at most."""
    moments = covering_engine(Specification(WORST, FAMILY, ROUNDS, 10), 0).moments
    for epsilon in (11.0, 30.0, 1000.0):
        theta, _ = module.least_bound(moments, epsilon)
        assert module.MOST_EXPONENT / 2.0 <= theta * epsilon <= module.MOST_EXPONENT
