"""The engines behind a PLD: two against each other, and what happens when one is broken."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import fftconvolve

from simulator.theory import (
    FiniteLaw,
    LaplaceLaw,
    compose_laws,
    randomized_response,
)
from simulator.theory.outward import UNIT
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.enumerated_sums import enumerate_sums
from simulator.theory.pld.grid_laws import enclosing_grid_laws
from simulator.theory.pld.laplace_batch import LaplaceBatch
from simulator.theory.pld.loss_lattice import LossLattice, LossLatticeTail
from simulator.theory.pld.saddle_points import Saddles
from simulator.theory.pld.smoothed_tail import SmoothedTail, choose_window
from tests.helpers.exploring import examples


def smoothed(parts, epsilon, smoothing):
    saddles = Saddles.of(parts)
    theta = saddles.theta_at(epsilon)
    window = choose_window(parts, epsilon, theta, smoothing, saddles.log_value_at(epsilon))
    return SmoothedTail.make(parts, epsilon, theta, smoothing, window)


@given(st.floats(0.1, 0.95), st.integers(20, 60))
@examples(20)
def test_smoothed_bracket_contains_the_lattice_answer(share, rounds):
    parts = CountedLaws.of([(randomized_response(0.2), rounds), (randomized_response(0.3), 10)])
    epsilon = share * parts.support[1]
    lattice = LossLattice.of(parts)
    assert lattice is not None
    assert lattice.step == pytest.approx(0.2)  # spans 0.4 and 0.6
    exact = LossLatticeTail.make(parts, lattice, Saddles.of(parts).theta_at(epsilon)).at(epsilon)
    wide = smoothed(parts, epsilon, 1e-3).at(epsilon)
    assert wide.lower <= exact.upper
    assert exact.lower <= wide.upper


def test_the_smoothing_gap_shrinks_with_its_square():
    parts = CountedLaws.of([(LaplaceLaw(0.1), 200)])
    gaps = []
    for smoothing in (4e-3, 2e-3, 1e-3):
        value = smoothed(parts, 6.0, smoothing).at(6.0)
        gaps.append(value.upper - value.lower)
    assert gaps[0] / gaps[1] == pytest.approx(4, rel=0.01)
    assert gaps[1] / gaps[2] == pytest.approx(4, rel=0.01)


def test_an_untilted_fft_loses_the_tail_and_its_bracket_says_so():
    law, rounds, epsilon = randomized_response(0.1), 1000, 30.0
    parts = CountedLaws.of([(law, rounds)])
    lattice = LossLattice.of(parts)
    tilted = LossLatticeTail.make(parts, lattice, Saddles.of(parts).theta_at(epsilon)).at(epsilon)
    assert tilted.upper - tilted.lower <= 1e-8 * tilted.upper
    plain = LossLatticeTail.make(parts, lattice, 0.0).at(epsilon)
    assert plain.lower <= tilted.lower <= tilted.upper <= plain.upper
    assert plain.upper > 1e3 * tilted.upper
    # The textbook way: repeated squaring of the untilted law, no account of rounding.
    naive = power = np.exp(law.log_masses)
    for bit in bin(rounds)[3:]:
        naive = fftconvolve(naive, naive)
        naive = fftconvolve(naive, power) if bit == "1" else naive
    losses = 0.1 * (2 * np.arange(rounds + 1) - rounds)
    over = losses > epsilon
    wrong = float(naive[over] @ -np.expm1(epsilon - losses[over]))
    assert not tilted.lower <= wrong <= tilted.upper


def test_a_lattice_engine_that_forgets_its_rounding_is_caught():
    parts = CountedLaws.of([(randomized_response(0.1), 1000)])
    lattice = LossLattice.of(parts)
    exact = LossLatticeTail.make(parts, lattice, Saddles.of(parts).theta_at(30.0)).at(30.0)
    careless = dataclasses.replace(LossLatticeTail.make(parts, lattice, 0.0), noise=0.0).at(30.0)
    assert careless.upper < exact.lower or careless.lower > exact.upper


def test_a_window_too_short_widens_the_bracket_rather_than_move_it():
    parts = CountedLaws.of([(LaplaceLaw(0.1), 200)])
    saddles = Saddles.of(parts)
    theta = saddles.theta_at(6.0)
    good = choose_window(parts, 6.0, theta, 1e-3, saddles.log_value_at(6.0))
    exact = SmoothedTail.make(parts, 6.0, theta, 1e-3, good).at(6.0)
    short = dataclasses.replace(good, period=good.period / 4)
    wide = SmoothedTail.make(parts, 6.0, theta, 1e-3, short).at(6.0)
    assert wide.lower <= exact.lower <= exact.upper <= wide.upper
    assert wide.upper - wide.lower > 2 * (exact.upper - exact.lower)


def test_lattice_is_found_only_where_there_is_one():
    def lattice(*epsilons):
        return LossLattice.of(CountedLaws.of([(randomized_response(e), 3) for e in epsilons]))

    assert lattice(0.1).points == 4
    assert lattice(0.1, 0.2, 0.7).step == pytest.approx(0.2)
    assert lattice(0.1, 0.1 * np.sqrt(2)) is None
    assert LossLattice.of(CountedLaws.of([(LaplaceLaw(0.1), 3)])) is None
    assert lattice(0.1).mismatch < 1e-14


@given(st.floats(1.0, 6.0), st.integers(300, 3000), st.floats(2, 50))
@examples(30)
def test_flat_stretches_between_wide_atoms_do_not_widen_the_answer(epsilon0, rounds, digits):
    found = compose_laws([(randomized_response(epsilon0), rounds)]).epsilon(10.0**-digits)
    assert found.width <= 1e-10 * found.upper


def test_enumeration_agrees_with_the_lattice():
    parts = CountedLaws.of([(randomized_response(0.2), 5), (randomized_response(0.3, 1e-3), 4)])
    law = enumerate_sums(parts)
    tail = LossLatticeTail.make(parts, LossLattice.of(parts), 1.0)
    for epsilon in (0.05, 0.9, 2.1):
        value = tail.at(epsilon)
        assert value.lower - 1e-15 <= law.delta(epsilon) <= value.upper + 1e-15


def test_a_lattice_leaves_room_for_losses_that_are_known_to_an_error_only():
    known, rounds = randomized_response(0.1), 100
    parts = CountedLaws.of([(dataclasses.replace(known, loss_error=1e-6), rounds)])
    found = LossLatticeTail.make(parts, LossLattice.of(parts), 0.5).at(1.03)
    for sign in (-1, 1):
        moved = CountedLaws.of([(FiniteLaw(known.losses + sign * 1e-6, known.log_masses), rounds)])
        true = LossLatticeTail.make(moved, LossLattice.of(moved), 0.5).at(1.03)
        assert found.lower <= true.lower <= true.upper <= found.upper


def test_two_laws_have_one_order():
    pair = [(randomized_response(0.3), 1), (randomized_response(0.2), 2)]
    assert CountedLaws.of(pair).items == CountedLaws.of(pair[::-1]).items


def test_few_laplace_laws_stand_for_many_that_are_played_once():
    batch = LaplaceBatch.of([(LaplaceLaw(0.01 * 1.1**i), 1) for i in range(60)])
    few = batch.approximation()
    assert few.epsilons.size < 60 == few.counts.sum()
    squares = batch.epsilons @ batch.epsilons
    assert few.counts @ few.epsilons**2 == pytest.approx(squares, rel=1e-12)


def test_the_masses_of_atoms_on_a_grid_have_an_error():
    below, above = enclosing_grid_laws(randomized_response(0.35), 0.1, (-0.5, 0.5))
    for law in (below, above):
        assert (law.error >= 8 * UNIT * law.masses).all()


def test_an_epsilon_between_wide_atoms_is_found_where_the_first_line_is_far_off():
    """All of 5000 answers are truthful, but for a chance of 1e-7: delta is 1 - exp(E - largest)."""
    for epsilon0, rounds in ((25.0, 5000), (30.0, 200)):
        found = compose_laws([(randomized_response(epsilon0), rounds)], 1e-8).epsilon(0.303)
        assert found.width <= 1e-8 * found.upper
        expected = epsilon0 * rounds + np.log1p(-0.303)
        assert found.lower - 1e-6 <= expected <= found.upper + 1e-6
