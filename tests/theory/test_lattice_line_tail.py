"""Laws on a lattice, inverted on a line: against the FFT and sixty digits, and broken."""

import dataclasses

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.theory import bounded_range_law, compose_laws, randomized_response
from simulator.theory.pld import composition_query
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.lattice_line_tail import LatticeLineTail, snapped
from simulator.theory.pld.loss_lattice import LossLattice, LossLatticeTail
from simulator.theory.pld.saddle_points import Saddles
from simulator.theory.pld.smoothed_tail import Folding, choose_window
from tests.helpers.exploring import examples

RESPONSES = CountedLaws.of([(randomized_response(0.05 + 0.01 * i, 1e-9), 3) for i in range(40)])


def line(parts, epsilon, negligible=1e-18, period=1.0):
    lattice, saddles = LossLattice.of(parts), Saddles.of(parts)
    theta = saddles.theta_at(epsilon)
    window = choose_window(parts, epsilon, theta, 0.0, saddles.log_value_at(epsilon))
    window = dataclasses.replace(window, period=window.period * period)
    on_it = snapped(parts, lattice)
    return LatticeLineTail.make(
        on_it, lattice, epsilon, theta=theta, window=window, negligible=negligible
    )


def whole(parts, epsilon):
    return LossLatticeTail.make(
        parts, LossLattice.of(parts), Saddles.of(parts).theta_at(epsilon)
    ).at(epsilon)


@given(st.floats(1.0, 24.0), st.floats(-0.3, 0.3))
@examples(25)
def test_the_line_agrees_with_the_fft(epsilon, apart):
    exact, found = whole(RESPONSES, epsilon + apart), line(RESPONSES, epsilon).at(epsilon + apart)
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    assert found.upper - found.lower <= 1e-9 * found.upper
    assert found.slope == pytest.approx(exact.slope, rel=1e-6)


def test_laws_that_are_not_symmetric():
    parts = CountedLaws.of([(bounded_range_law(0.5, 0.2), 30), (randomized_response(0.5), 20)])
    exact, found = whole(parts, 4.02), line(parts, 4.02).at(4.02)
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper


@pytest.mark.parametrize("epsilon", [3.0, 7.95, 8.0 - 1e-12, 8.0, 8.0 + 1e-12])
def test_the_line_against_sixty_digits(epsilon):
    # Also at an atom and just beside it.
    tail, rounds = line(CountedLaws.of([(randomized_response(0.25), 64)]), epsilon), 64
    with mpmath.workdps(60):
        p, target = 1 / (1 + mpmath.exp(-mpmath.mpf(0.25))), mpmath.mpf(epsilon)
        total = mpmath.mpf(0)
        for lies in range(rounds + 1):
            loss = (rounds - 2 * lies) * mpmath.mpf(0.25)
            if loss > target:
                mass = mpmath.binomial(rounds, lies) * p ** (rounds - lies) * (1 - p) ** lies
                total += mass * (1 - mpmath.exp(target - loss))
        found = tail.at(epsilon)
        assert found.lower <= total <= found.upper
        assert found.upper - found.lower <= 1e-10 * found.upper


def test_points_left_out_widen_the_bracket_and_forgotten_ones_are_caught(monkeypatch):
    exact, short = line(RESPONSES, 9.0).at(9.0), line(RESPONSES, 9.0, negligible=30.0)
    assert short.line.omega.size < 0.7 * line(RESPONSES, 9.0).line.omega.size
    assert short.at(9.0).lower <= exact.lower <= exact.upper <= short.at(9.0).upper
    monkeypatch.setattr(LatticeLineTail, "_left_out", lambda self: 0.0)
    broken = short.at(9.0)
    assert broken.upper < exact.lower or broken.lower > exact.upper


def test_a_period_too_short_widens_the_bracket_and_does_not_move_it(monkeypatch):
    exact, short = line(RESPONSES, 9.0).at(9.0), line(RESPONSES, 9.0, period=0.3)
    assert short.at(9.0).lower <= exact.lower <= exact.upper <= short.at(9.0).upper
    monkeypatch.setattr(Folding, "at", lambda self, epsilon: 0.0)
    assert short.at(9.0).lower > exact.upper


def test_losses_a_little_off_the_lattice_are_within_the_mismatch():
    generator = np.random.default_rng(3)
    epsilons = (0.05 + 0.01 * np.arange(40)) * (1 + 1e-14 * generator.uniform(-1, 1, 40))
    parts = CountedLaws.of([(randomized_response(float(e)), 3) for e in epsilons])
    assert LossLattice.of(parts).mismatch > 1e-14
    exact, found = whole(parts, 9.0), line(parts, 9.0).at(9.0)
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper


def test_many_laws_take_the_line_and_say_what_the_fft_says(monkeypatch):
    pairs = [(randomized_response(0.05 + 0.0005 * i), 1) for i in range(100)]
    found = compose_laws(pairs, 1e-8).epsilon(1e-6)
    assert 0 < found.width <= 1e-8 * found.upper
    monkeypatch.setattr(composition_query, "_MUCH_WORK", 1 << 60)
    other = compose_laws(pairs, 1e-8).epsilon(1e-6)
    assert other != found
    assert other.meet(found).width <= other.width


def test_a_line_has_a_total_variation(monkeypatch):
    pairs = [(randomized_response(0.01 + 0.001 * i), 1) for i in range(30)]
    exact = whole(CountedLaws.of(pairs), 0.0)
    monkeypatch.setattr(composition_query, "_MUCH_WORK", 0)
    found = compose_laws(pairs, 1e-8).delta(0.0)
    assert 0 < found.width <= 1e-8 * found.upper
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
