"""The part of repeated Laplace noise in closed form: against enumeration and multiprecision."""

import dataclasses
import itertools

import mpmath
import numpy as np
import pytest
from scipy import integrate

from simulator.theory import GaussianLaw, LaplaceLaw, compose_laws
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.laplace_near_atoms import NearAtoms
from simulator.theory.pld.saddle_points import Saddles
from simulator.theory.pld.smoothed_tail import SmoothedTail, choose_window


def exact_ratio(epsilon, rounds, terms, *, theta, omega):
    """The transform of the first terms over M(theta) exp(i omega k epsilon), in fifty digits."""
    with mpmath.workdps(50):
        e = mpmath.mpf(epsilon)

        def shares(z):
            atoms = (mpmath.exp(z * e) + mpmath.exp(-(1 + z) * e)) / 2
            half = z + mpmath.mpf(0.5)
            return atoms, mpmath.exp(-e / 2) * mpmath.sinh(half * e) / (2 * half)

        atoms, between = shares(mpmath.mpc(theta, omega))
        total = mpmath.fsum(
            mpmath.binomial(rounds, j) * atoms ** (rounds - j) * between**j for j in range(terms)
        )
        return total / sum(shares(mpmath.mpf(theta))) ** rounds * mpmath.expj(-omega * rounds * e)


@pytest.mark.parametrize(("epsilon", "rounds"), [(0.1, 30), (0.7, 4), (1e-3, 500)])
@pytest.mark.parametrize("theta", [0.3, 4.0, 300.0])
def test_its_transform_is_what_fifty_digits_say(epsilon, rounds, theta):
    rough = NearAtoms(epsilon, rounds, min(6, rounds))
    omega = np.array([0.0, 0.1, 3.0, np.pi / (2 * epsilon), 1000.0, 2e4])
    found, error = rough.ratios(theta, omega)
    for at, value, off in zip(omega, found, error):
        exact = exact_ratio(epsilon, rounds, rough.terms, theta=theta, omega=at)
        assert abs(mpmath.mpc(complex(value)) - exact) <= off
    assert error.max() < 1e-8
    assert error[0] < 1e-10


@pytest.mark.sampled(n=3)
@pytest.mark.parametrize(("epsilon", "rounds"), [(0.1, 30), (1.0, 12), (1e-2, 60)])
@pytest.mark.parametrize("theta", [0.3, 40.0])
def test_the_rest_stays_below_its_bound(epsilon, rounds, theta):
    rough = NearAtoms(epsilon, rounds, 6)
    for omega in np.geomspace(1.0, 1e5, 8):
        bound = float(rough.log_rest(theta, omega))
        for further in (1.0, 1.3, 7.0):
            whole = exact_ratio(epsilon, rounds, rounds + 1, theta=theta, omega=further * omega)
            part = exact_ratio(epsilon, rounds, 6, theta=theta, omega=further * omega)
            assert float(mpmath.log(abs(whole - part) + mpmath.mpf("1e-60"))) <= max(bound, -130)


def density(epsilon, count):
    """Distribution of ``count`` rounds between the atoms: by convolution over a fine grid."""
    step = epsilon / 2000
    grid = (np.arange(4000) + 0.5) * step - epsilon
    one = np.exp((grid - epsilon) / 2) / 4 * step
    total, start = np.ones(1), 0.0
    for _ in range(count):
        total, start = np.convolve(total, one), start + grid[0]
    return start + step * np.arange(total.size), total


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", [0.1, 0.9])
def test_its_delta_is_that_of_atoms_and_densities(epsilon):
    # All terms below three of five rounds, added up one by one.
    rough = NearAtoms(epsilon, 5, 3)
    for place in (-4.2, 0.0, 3.3):
        target, total = place * epsilon, 0.0
        for kinds in itertools.product("+-0", repeat=5):
            between = kinds.count("0")
            if between >= 3:
                continue
            shift = epsilon * (kinds.count("+") - kinds.count("-"))
            mass = 0.5 ** (5 - between) * np.exp(-epsilon * kinds.count("-"))
            losses, masses = density(epsilon, between) if between else (np.zeros(1), np.ones(1))
            gains = np.maximum(-np.expm1(target - losses - shift), 0.0)
            total += mass * float(masses @ gains)
        found = rough.at(target)
        assert found.lower <= found.upper
        assert found.upper - found.lower <= 1e-11 * found.upper
        assert (found.lower + found.upper) / 2 == pytest.approx(total, rel=3e-6)


@pytest.mark.parametrize("epsilon", [0.1, 0.8])
@pytest.mark.parametrize("share", [0.05, 0.499, 0.5, 0.77, 0.999])
def test_two_rounds_against_quadrature(epsilon, share):
    law, target = LaplaceLaw(epsilon), share * 2 * epsilon

    def term(loss):
        return np.exp((loss - epsilon) / 2) / 4 * law.delta(target - loss)

    inner = np.clip([target - epsilon, target + epsilon], -epsilon, epsilon)
    kinks = sorted({-epsilon, epsilon, *inner})
    exact = sum(
        integrate.quad(term, a, b, epsabs=0, epsrel=1e-13)[0] for a, b in itertools.pairwise(kinks)
    )
    exact += law.delta(target - epsilon) / 2 + np.exp(-epsilon) / 2 * law.delta(target + epsilon)
    found = compose_laws([(law, 2)], 1e-9).delta(target)
    assert found.lower * (1 - 1e-12) <= exact <= found.upper * (1 + 1e-12)
    assert found.width <= 2e-9 * found.upper


def line(rounds, epsilon, cutoff, rough=True):
    parts = CountedLaws.of([(LaplaceLaw(0.1), rounds)])
    saddles = Saddles.of(parts)
    theta = saddles.theta_at(epsilon)
    window = choose_window(parts, epsilon, theta, 0.0, saddles.log_value_at(epsilon))
    part = NearAtoms.of(parts) if rough else None
    return SmoothedTail.make(parts, epsilon, theta, 0.0, window, cutoff=cutoff, rough=part)


@pytest.mark.parametrize("apart", [0.0, 0.021, -0.1])
def test_lines_with_and_without_the_rough_part_agree(apart):
    exact = line(400, 10.0, 2000.0, rough=False).at(10.0 + apart)
    found = line(400, 10.0, 2000.0).at(10.0 + apart)
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    assert found.upper - found.lower <= 1e-9 * found.upper
    assert found.slope == pytest.approx(exact.slope, rel=1e-8)


def test_a_line_cut_off_too_soon_widens_the_bracket_and_does_not_move_it(monkeypatch):
    exact, short = line(30, 2.0, 2000.0).at(2.0), line(30, 2.0, 60.0).at(2.0)
    assert short.lower <= exact.lower <= exact.upper <= short.upper
    monkeypatch.setattr(NearAtoms, "log_rest", lambda *arguments: -np.inf)
    broken = line(30, 2.0, 60.0).at(2.0)
    assert broken.upper < exact.lower or broken.lower > exact.upper


def test_one_term_too_few_in_closed_form_is_caught():
    exact, tail = line(30, 2.0, 2000.0).at(2.0), line(30, 2.0, 2000.0)
    fewer = dataclasses.replace(tail, rough=dataclasses.replace(tail.rough, terms=5))
    assert fewer.at(2.0).upper < exact.lower


@pytest.mark.parametrize("rounds", [2, 7, 20, 64, 150])
@pytest.mark.parametrize("delta", [0.01, 1e-6, 1e-40])
def test_smoothing_says_the_same(rounds, delta, monkeypatch):
    found = compose_laws([(LaplaceLaw(0.13), rounds)], 1e-9).epsilon(delta)
    assert found.width <= 1e-9 * found.upper
    monkeypatch.setattr(NearAtoms, "of", lambda parts: None)
    wide = compose_laws([(LaplaceLaw(0.13), rounds)], 1e-5).epsilon(delta)
    assert wide.lower <= found.upper
    assert found.lower <= wide.upper


def test_there_is_none_of_other_rounds():
    assert NearAtoms.of(CountedLaws.of([(LaplaceLaw(0.1), 3), (LaplaceLaw(0.2), 3)])) is None
    assert NearAtoms.of(CountedLaws.of([(GaussianLaw(0.1), 3)])) is None
    assert NearAtoms.of(CountedLaws.of([(LaplaceLaw(0.1), 3), (GaussianLaw(0.1), 3)])) is None
