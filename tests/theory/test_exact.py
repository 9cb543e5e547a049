"""The exact answers against sixty-digit sums and plain enumeration."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from simulator.foundations.errors import NotApplicable
from simulator.theory import ApproxDP, Composition, PureDP, bound
from simulator.theory.pld.response_atoms import LossAtoms, mixed_atoms, repeated_atoms
from simulator.theory.pld.response_lattice import enclosing_atoms, lattice_step
from tests.helpers.exploring import examples

quick = examples(40)


def sixty_digit_delta(epsilon_0, rounds, epsilon):
    """The binomial sum term by term, independently of the package."""
    e, target, total = mpmath.mpf(epsilon_0), mpmath.mpf(epsilon), mpmath.mpf(0)
    mass, ratio = (1 + mpmath.exp(-e)) ** (-rounds), mpmath.exp(-e)
    for failures in range(rounds + 1):
        loss = (rounds - 2 * failures) * e
        if loss <= target:
            break
        total += mass * (1 - mpmath.exp(target - loss))
        mass *= ratio * (rounds - failures) / (failures + 1)
    return total


def enumerate_delta(epsilons, epsilon):
    """Every sequence of answers of every round."""
    total = 0.0
    for signs in itertools.product((1, -1), repeat=len(epsilons)):
        loss = sum(s * e for s, e in zip(signs, epsilons))
        mass = math.prod(1 / (1 + math.exp(-s * e)) for s, e in zip(signs, epsilons))
        total += mass * max(0.0, -math.expm1(epsilon - loss))
    return total


PUBLISHED = {1: 0.09999809516, 10: 0.9993709057, 100: 4.774567588, 1000: 19.34467145}
PUBLISHED[10_000] = 96.57184003


@pytest.mark.parametrize("rounds", list(PUBLISHED))
def test_published_values_of_randomized_response(rounds):
    exact = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(PureDP(0.1), rounds))
    assert exact.epsilon(1e-6).value == pytest.approx(PUBLISHED[rounds], rel=1e-9)


@pytest.mark.sampled(n=10)
@pytest.mark.parametrize("rounds", [1, 10, 100, 1000, 10_000])
@pytest.mark.parametrize("delta", [1e-6, 1e-30, 1e-3, 1e-12])
def test_epsilon_agrees_with_sixty_digits_to_ten(rounds, delta):
    ours = mpmath.mpf(repeated_atoms(0.1, rounds).epsilon(delta))
    with mpmath.workdps(60):
        assert sixty_digit_delta(0.1, rounds, ours * (1 - mpmath.mpf("1e-10"))) >= delta
        assert sixty_digit_delta(0.1, rounds, ours * (1 + mpmath.mpf("1e-10"))) <= delta


@pytest.mark.parametrize(
    ("epsilon_0", "rounds"), [(1e-4, 2000), (0.1, 7), (1.0, 300), (5.0, 40), (50.0, 12)]
)
def test_delta_agrees_with_sixty_digits(epsilon_0, rounds):
    with mpmath.workdps(60):
        for share in (0.0, 0.05, 0.3, 0.7, 0.999):
            epsilon = share * rounds * epsilon_0
            expected = float(sixty_digit_delta(epsilon_0, rounds, epsilon))
            got = repeated_atoms(epsilon_0, rounds).delta(epsilon)
            assert got == pytest.approx(expected, rel=2e-12)


def test_bob_was_told_the_truth_but_not_for_the_reason_given():
    bob = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(PureDP(1 / 801), 10_000))
    assert bob.epsilon(math.exp(-32)).value == pytest.approx(0.89046815, rel=1e-8)
    assert bob.delta(1.0).value == pytest.approx(1.3802725e-17, rel=1e-7)
    # Pr[L > 1] is far above delta(1): small tails are sufficient for privacy, not necessary.
    tail = repeated_atoms(1 / 801, 10_000).tail(1.0)
    assert tail == pytest.approx(9.1883811e-16, rel=1e-7)
    p = 1 / (1 + math.exp(-1 / 801))
    assert tail == pytest.approx(binom.sf(5400, 10_000, p), rel=1e-9)  # L > 1 from 5401 truths on


def test_extremes_neither_overflow_nor_lie():
    atoms = repeated_atoms(50.0, 1_000_000)
    assert atoms.epsilon(1e-300) == pytest.approx(5e7, rel=1e-12)
    assert atoms.delta(5e7) == 0.0
    small = repeated_atoms(1e-3, 1_000_000)
    assert small.delta(small.epsilon(1e-300)) == pytest.approx(1e-300, rel=1e-9)
    huge = repeated_atoms(5000.0, 3)  # e^-5000 is no double
    assert huge.epsilon(1e-6) == pytest.approx(15_000.0)
    assert huge.delta(14_000.0) == pytest.approx(1.0)
    with pytest.raises(NotApplicable, match="memory"):
        bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(PureDP(0.1), 10**9))


@quick
@given(st.lists(st.floats(0.01, 3.0), min_size=1, max_size=7), st.floats(0.0, 1.0))
def test_mixed_atoms_against_every_sequence(epsilons, share):
    epsilon = share * sum(epsilons)
    got = mixed_atoms(tuple((e, 1) for e in epsilons)).delta(epsilon)
    assert got == pytest.approx(enumerate_delta(epsilons, epsilon), rel=1e-9, abs=1e-14)


@quick
@given(st.floats(0.01, 3.0), st.integers(1, 60), st.floats(0.0, 0.99))
def test_the_two_directions_are_inverse(epsilon_0, rounds, share):
    atoms = repeated_atoms(epsilon_0, rounds)
    epsilon = share * rounds * epsilon_0
    delta = atoms.delta(epsilon)
    if delta > 1e-280:
        assert atoms.delta(atoms.epsilon(delta)) == pytest.approx(delta, rel=1e-9)


@quick
@given(
    st.dictionaries(st.floats(0.05, 2.0), st.integers(1, 12), min_size=2, max_size=3),
    st.floats(0.0, 0.9),
)
def test_rounding_encloses_the_exact_curve(counts, share):
    parts = tuple(counts.items())
    epsilon = share * sum(e * n for e, n in parts)
    exact = mixed_atoms(parts).delta(epsilon)
    for step in (0.04, 0.01):
        below, above = enclosing_atoms(parts, step)
        assert below.delta(epsilon) <= exact * (1 + 1e-11)
        assert above.delta(epsilon) >= exact * (1 - 1e-11)


def test_rounding_narrows_with_the_step_and_vanishes_on_a_common_divisor():
    parts = ((math.sqrt(0.02), 60), (math.sqrt(0.05), 40))
    widths = []
    for step in (0.01, 0.001, 0.0001):
        below, above = enclosing_atoms(parts, step)
        widths.append(above.epsilon(1e-9) - below.epsilon(1e-9))
    assert widths[0] > 5 * widths[1] > 25 * widths[2] > 0
    decimal = Composition.of((PureDP(0.1), 50), (PureDP(0.25), 30))
    assert lattice_step(((0.1, 50), (0.25, 30))) == pytest.approx(0.05)
    rounded = bound("murtagh-vadhan-rounded").on(decimal).epsilon(1e-9)
    exact = bound("murtagh-vadhan").on(decimal).epsilon(1e-9).value
    assert rounded.lower == pytest.approx(exact, rel=1e-11)
    assert rounded.upper == pytest.approx(exact, rel=1e-11)


def test_a_wrong_atom_is_noticed():
    good = repeated_atoms(0.1, 100)
    bad = LossAtoms(good.losses * 0.99, good.log_mass)
    assert abs(bad.epsilon(1e-6) / PUBLISHED[100] - 1) > 1e-3


def test_outright_leaks_enter_by_their_product():
    rounds, delta_0 = 5, 1e-3
    core = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(PureDP(0.3), rounds))
    leaky = bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(ApproxDP(0.3, delta_0), rounds))
    # Witness: the four-outcome pair, enumerated; any revealed round makes the loss infinite.
    keep = 1 - delta_0
    four = [(keep / (1 + math.exp(-0.3)), 0.3), (keep / (1 + math.exp(0.3)), -0.3)]
    expected = 0.0
    for outcome in itertools.product([*four, (delta_0, math.inf)], repeat=rounds):
        mass = math.prod(m for m, _ in outcome)
        expected += mass * max(0.0, -math.expm1(0.5 - sum(loss for _, loss in outcome)))
    assert leaky.delta(0.5).value == pytest.approx(expected, rel=1e-12)
    joined = 1 - keep**rounds * (1 - core.delta(0.5).value)
    assert leaky.delta(0.5).value == pytest.approx(joined, rel=1e-12)
    assert np.isclose(leaky.epsilon(expected).value, 0.5, rtol=1e-12)


def test_a_step_that_hardly_divides_an_epsilon_is_moved_to_its_right_side():
    for nudge in (-5e-13, 5e-13):
        parts = ((0.1 * (1 + nudge), 3), (0.2, 2))
        total = sum(epsilon * rounds for epsilon, rounds in parts)
        below, above = enclosing_atoms(parts, 0.1)
        assert below.losses[0] <= total <= above.losses[0]
