"""Odometers as formulas: sound against the worst adversary of a menu, and one that is not."""

import math

import pytest

from experiments.filter_trial.published_odometers import (
    FormulaOdometer,
    doubling,
    line,
    rogers,
    stitched,
)
from simulator.errors import NotApplicable
from simulator.theory import ApproxDP, GaussianDP, PureDP
from simulator.worst import worst_odometer
from simulator.worst.least_odometer import exact_epsilons, least_odometer

DELTA, ROUNDS = 1e-3, 100
FORMULAS = {
    "line": line(1.0),
    "stitched": stitched(0.01),
    "doubling": doubling(0.02),
    "rogers": rogers(10_000),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_no_adversary_gets_more_than_is_announced_at_any_time(name):
    odometer = FormulaOdometer(DELTA, FORMULAS[name])
    found = worst_odometer("randomized-response:0.1", odometer, ROUNDS)
    assert found.verdict == "sound"


def test_without_its_offset_the_line_is_broken():
    """The line of slope alone, as if ln(1/delta) were spent at no time."""
    broken = FormulaOdometer(DELTA, lambda sums, delta: line(1.0)(sums, delta) / 3)
    assert worst_odometer("randomized-response:0.1", broken, ROUNDS).verdict == "broken"


def test_the_line_is_the_bound_of_its_supermartingale():
    running = FormulaOdometer(DELTA, line(1.0)).fresh()
    for _ in range(ROUNDS):
        running.spend(PureDP(0.1))
    expected = math.sqrt(2.0 * math.log(1.0 / DELTA)) + 0.5  # tuned to just these squares
    assert running.epsilon == pytest.approx(expected, rel=1e-12)
    for other in (GaussianDP(0.1), ApproxDP(0.1, 1e-9)):
        with pytest.raises(NotApplicable):
            running.spend(other)


def test_the_least_factor_is_between_a_broken_and_a_sound_odometer():
    found = least_odometer((0.1,), 64, 1e-6)
    assert 1.05 < found.factor.lower < found.factor.upper <= found.factor.lower + 2e-3
    assert found.at_once.verdict == "broken"
    assert found.at_once.delta.lower > 5e-6
    few = least_odometer((0.1,), 8, 1e-6)  # basic composition is exact up to there
    assert (few.factor.lower, few.factor.upper) == (1.0, 1.0)


def brute_force(epsilon, delta, rounds, factor):
    """The worst delta of the odometer that reads multiples of exact epsilons, by recursion."""
    exact = exact_epsilons((epsilon,), rounds, delta)
    up = 1.0 / (1.0 + math.exp(-epsilon))
    after = [0.0] * (2 * rounds + 1)
    for n in range(rounds, -1, -1):
        here = []
        for net in range(-n, n + 1, 2):
            stop = max(0.0, -math.expm1(factor * exact[n,] - net * epsilon))
            go = 0.0
            if n < rounds:
                place = (net + n) // 2
                go = up * after[place + 1] + (1 - up) * after[place]
            here.append(max(stop, go))
        after = here
    return after[0]


def test_the_cost_in_delta_against_a_recursion_of_its_own():
    found = least_odometer((0.1,), 40, 1e-4)
    exact = brute_force(0.1, 1e-4, 40, 1.0)
    assert found.at_once.delta.lower <= exact * (1 + 1e-9)
    assert exact <= found.at_once.delta.upper * (1 + 1e-9)
    assert brute_force(0.1, 1e-4, 40, found.factor.upper) <= 1e-4 * (1 + 1e-8)
    assert brute_force(0.1, 1e-4, 40, found.factor.lower) > 1e-4


def test_two_epsilons_and_what_is_refused():
    table = exact_epsilons((0.1, 0.2), 3, 1e-6)
    assert table[0, 0] == 0.0
    assert table[1, 2] == pytest.approx(0.5, abs=1e-4)
    with pytest.raises(NotApplicable, match="one or two"):
        least_odometer((0.1, 0.2, 0.3), 3, 1e-6)
