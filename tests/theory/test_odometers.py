"""Odometers: valid at every time at once, where a bound for one fixed time is not."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, norm

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory import ApproxDP, GaussianDP, PureDP
from simulator.theory.filters.odometers import MixtureOdometer
from simulator.theory.filters.rules import mixture_reading, mixture_step

FALSE_ALARM = 1e-9
DELTA, TRIALS, ROUNDS = 0.05, 2000, 2000


@pytest.fixture(scope="module")
def paths():
    """Losses of randomized response whose epsilon depends on the loss so far: (rounds, trials)."""
    coins = np.random.default_rng(20260801)
    loss, squares = np.zeros(TRIALS), np.zeros(TRIALS)
    losses, spent = [], []
    for _ in range(ROUNDS):
        epsilon = np.where(loss > 0.0, 0.02, 0.04)
        truthful = coins.random(TRIALS) < 1.0 / (1.0 + np.exp(-epsilon))
        loss = loss + np.where(truthful, epsilon, -epsilon)
        squares = squares + epsilon**2
        losses.append(loss)
        spent.append(squares)
    return np.array(losses), np.array(spent)


@pytest.mark.nightly
def test_the_loss_stays_below_the_reading_at_every_time(paths):
    losses, squares = paths
    gamma = 0.1
    boundary = np.sqrt((squares + gamma) * (2 * np.log(1 / DELTA) + np.log1p(squares / gamma)))
    ever = int((losses > squares / 2 + boundary).any(axis=0).sum())
    assert ever <= binom.isf(FALSE_ALARM, TRIALS, DELTA)


def test_a_bound_for_one_time_is_caught_when_read_at_every_time(paths):
    losses, squares = paths
    fixed_time = np.sqrt(2 * squares * np.log(1 / DELTA)) + squares / 2
    ever = int((losses > fixed_time).any(axis=0).sum())
    assert ever > binom.isf(FALSE_ALARM, TRIALS, DELTA)


def test_the_reading_is_the_formula_and_never_above_the_sum():
    running = MixtureOdometer(1e-6, gamma=0.5).fresh()
    assert running.epsilon == 0.0
    for k in range(1, 2001):
        running.spend(ApproxDP(0.03, 1e-10))
        q = k * 0.03**2
        formula = q / 2 + math.sqrt((q + 0.5) * (2 * math.log(1e6) + math.log((q + 0.5) / 0.5)))
        assert running.epsilon == pytest.approx(min(0.03 * k, formula), rel=1e-9)
    assert running.delta == pytest.approx(1e-6 + 2e-7)
    assert running.epsilon < 0.03 * 2000 / 4
    assert running.fresh().epsilon == 0.0


def test_a_round_with_a_delta_keeps_the_promised_delta_and_not_its_tail():
    # A Gaussian mechanism inside (0.1, 1e-3)-DP: its loss passes 0.1 in 4.35% of the views.
    target, leak, own = 0.1, 1e-3, 1e-9
    mu = brentq(lambda x: GaussianDP(x).hockey_stick(target) - leak, 1e-3, 1.0)
    assert GaussianDP(mu * (1 - 1e-9)).implies(ApproxDP(target, leak))
    running = MixtureOdometer(own).fresh()
    assert running.tail == own
    running.spend(ApproxDP(target, leak))
    exceeds = norm.sf((running.epsilon - mu**2 / 2) / mu)
    assert exceeds == pytest.approx(0.0435, abs=5e-4)
    assert exceeds > 40 * running.delta  # what the reading was once said to hold
    assert running.tail == 1.0
    assert GaussianDP(mu).hockey_stick(running.epsilon) <= running.delta


def test_the_promise_holds_against_a_stopping_rule_of_leaky_rounds():
    # Randomized response with leaks, stopped at the first loss above a level: all paths.
    odometer, leak, epsilon, rounds = MixtureOdometer(0.02, gamma=0.05), 0.01, 0.5, 9
    p = (1 - leak) / (1 + math.exp(-epsilon))
    readings, running = [0.0], odometer.fresh()
    for _ in range(rounds):
        running.spend(ApproxDP(epsilon, leak))
        readings.append(running.epsilon)
    states, reached, promised = {0: 1.0}, 0.0, 0.0
    for k in range(1, rounds + 1):
        lost, after = leak * sum(states.values()), {}
        reached, promised = reached + lost, promised + lost * (0.02 + k * leak)
        for net, mass in states.items():
            for step, share in ((1, p), (-1, 1 - leak - p)):
                after[net + step] = after.get(net + step, 0.0) + mass * share
        for net in list(after):
            if net * epsilon > 0.8 * readings[k] or k == rounds:
                mass = after.pop(net)
                reached += mass * max(0.0, -math.expm1(readings[k] - net * epsilon))
                promised += mass * (0.02 + k * leak)
        states = after
    assert 0.5 * promised < reached <= promised


def test_the_delta_is_a_probability_and_the_sum_of_rounds_is_not_rounded_down():
    running = MixtureOdometer(1e-9).fresh()
    for _ in range(10):
        running.spend(ApproxDP(0.1, 0.3))
    assert running.delta == 1.0
    assert Fraction(running.epsilon) >= 10 * Fraction(0.1)
    once = MixtureOdometer(0.5).fresh()
    once.spend(PureDP(0.1))
    assert once.epsilon == 0.1


def test_the_rule_compiles():
    numba = pytest.importorskip("numba")
    step, reading = numba.njit(mixture_step), numba.njit(mixture_reading)
    state = (0.0, 0.0, 0.0, 0.0, 0.1, 5.0)
    for epsilon in (0.1, 0.2, 0.3):
        assert step(state, epsilon, 1e-9) == pytest.approx(mixture_step(state, epsilon, 1e-9))
        state = mixture_step(state, epsilon, 1e-9)
    assert reading(state) == pytest.approx(mixture_reading(state), rel=1e-14)


def test_nonsense_is_refused():
    for bad in ((0.0, 1.0), (1.0, 1.0), (0.1, 0.0), (0.1, math.nan)):
        with pytest.raises(InvalidInput):
            MixtureOdometer(*bad)
    with pytest.raises(NotApplicable):
        MixtureOdometer(0.1).fresh().spend(GaussianDP(1.0))
    MixtureOdometer(0.1).fresh().spend(PureDP(0.1))
