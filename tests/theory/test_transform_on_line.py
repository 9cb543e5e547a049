"""Inversion without smoothing, many laws at a time: against multiprecision, and broken."""

import dataclasses

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.theory import (
    GaussianLaw,
    LaplaceLaw,
    bounded_range_law,
    compose_laws,
    randomized_response,
)
from simulator.theory.pld import smoothed_tail
from simulator.theory.pld.composition_query import CompositionQuery
from simulator.theory.pld.counted_laws import CountedLaws
from simulator.theory.pld.laplace_batch import LaplaceBatch, multiplied_ratios
from simulator.theory.pld.saddle_points import Saddles
from simulator.theory.pld.smoothed_tail import SmoothedTail, choose_window
from simulator.theory.pld.transform_on_line import Scale, _Points, log_decay, sample
from tests.helpers.exploring import examples

MIXED = CountedLaws.of(
    [(LaplaceLaw(e), n) for e, n in ((0.1, 3), (0.25, 1), (0.7, 1), (2.0, 40))]
    + [(GaussianLaw(0.3), 2), (randomized_response(0.4), 5), (bounded_range_law(0.5, 0.2), 2)]
)


def exact_mgf(law, z):
    """E0[exp(zL)] in multiprecision, from the law's definition."""
    if isinstance(law, LaplaceLaw):
        e = mpmath.mpf(law.epsilon)
        inner = (mpmath.exp((z + 0.5) * e) - mpmath.exp(-(z + 0.5) * e)) / (z + 0.5)
        atoms = mpmath.exp(z * e) + mpmath.exp(-(1 + z) * e)
        return atoms / 2 + mpmath.exp(-e / 2) * inner / 4
    if isinstance(law, GaussianLaw):
        return mpmath.exp(z * (1 + z) * mpmath.mpf(law.mu) ** 2 / 2)
    pairs = zip(law.losses, law.log_masses)
    return mpmath.fsum(mpmath.exp(mpmath.mpf(m) + z * mpmath.mpf(x)) for x, m in pairs)


def exact_ratio(parts, theta, omega, epsilon):
    """M(z) exp(-z E) over the same at theta."""
    with mpmath.workdps(50):
        z, real = mpmath.mpc(theta, omega), mpmath.mpf(theta)
        total = mpmath.exp(-(z - real) * epsilon)
        for law, count in parts.items:
            total *= (exact_mgf(law, z) / exact_mgf(law, real)) ** count
        return total


@pytest.mark.parametrize("theta", [-0.93, -0.5 + 1e-6, -0.2, 0.4, 3.0, 200.0])
def test_the_line_is_what_fifty_digits_say(theta):
    omega = np.array([0.0, 1e-6, 0.3, 1.7, 9.0, 55.0, 1234.5])
    line = sample(MIXED, theta, omega, 0.0, epsilon=1.3, negligible=0.0)
    np.testing.assert_array_equal(line.omega, omega)
    for at, ratio, error in zip(omega, line.ratio, line.error):
        exact = exact_ratio(MIXED, theta, at, 1.3)
        assert abs(mpmath.mpc(complex(ratio)) - exact) <= abs(exact) * error + 1e-300
        assert error < 1e-8
    assert line.left_out == line.left_out_whole == 0.0
    with mpmath.workdps(50):
        scale = sum(n * mpmath.log(exact_mgf(law, mpmath.mpf(theta))) for law, n in MIXED.items)
    found = Scale.of(MIXED, theta)
    assert abs(found.log - scale) <= found.slack < 1e-10


def test_what_is_left_out_is_accounted_for():
    omega = np.linspace(0.0, 400.0, 3001)
    whole, short = (
        sample(MIXED, 1.0, omega, 1e-3, epsilon=2.0, negligible=negligible)
        for negligible in (0.0, 1e-7)
    )
    assert 0 < short.omega.size < 0.9 * whole.omega.size
    gone = ~np.isin(whole.omega, short.omega)
    modulus = np.abs(whole.ratio[gone])
    weighted = modulus / np.abs((1 + 1j * whole.omega[gone]) * (2 + 1j * whole.omega[gone]))
    assert weighted.sum() <= short.left_out <= 1e-7 * gone.sum()
    assert modulus.sum() <= short.left_out_whole


@given(st.floats(-0.9, 30), st.floats(-3, 1), st.floats(-1, 4))
@examples(40)
def test_the_transform_stays_below_its_bound(theta, log_epsilon, log_omega):
    parts = CountedLaws.of(
        [(LaplaceLaw(10**log_epsilon), 3), (LaplaceLaw(0.3), 1), (GaussianLaw(0.2), 1)]
    )
    bound = float(log_decay(parts, theta, np.array([10**log_omega]))[0])
    for further in (1.0, 1.1, 1.57, 3.0, 10.0):
        ratio = exact_ratio(parts, theta, further * 10**log_omega, 0.0)
        assert float(mpmath.log(abs(ratio))) <= bound + 1e-14


def test_the_bound_on_the_transform_is_not_idle():
    parts = CountedLaws.of([(LaplaceLaw(0.1), 1000)])
    assert log_decay(parts, 1.0, np.array([1000.0]))[0] < -45
    # At multiples of pi/epsilon all atoms are in phase: there it is attained.
    attained = float(mpmath.log(abs(exact_ratio(parts, 1.0, 3000 * np.pi, 0.0))))
    assert attained == pytest.approx(log_decay(parts, 1.0, np.array([3000 * np.pi]))[0], abs=0.1)
    assert log_decay(CountedLaws.of([(randomized_response(0.1), 9)]), 1.0, np.ones(1))[0] == 0.0


def test_a_batch_of_laws_is_their_product():
    epsilons = np.linspace(0.01, 3.0, 37)
    batch = LaplaceBatch.of([(LaplaceLaw(float(e)), 1 + i % 3) for i, e in enumerate(epsilons)])
    z = np.array([0.3 + 1j, -0.8 - 2j, 4.0 + 0j])
    plain = sum((1 + i % 3) * LaplaceLaw(float(e)).log_mgf(z) for i, e in enumerate(epsilons))
    np.testing.assert_allclose(batch.log_mgf(z), plain, rtol=1e-13)
    assert sum(laws.size * count for laws, count in batch.blocks()) == batch.counts.sum()
    omega = np.array([0.5, 3.0, 50.0, 1e4])
    alone = [LaplaceBatch.of([(LaplaceLaw(float(e)), 1 + i % 3)]) for i, e in enumerate(epsilons)]
    decays = sum(one.log_decay(0.7, omega) for one in alone)
    np.testing.assert_allclose(batch.log_decay(0.7, omega), decays, rtol=1e-11)


def bare(parts, epsilon, cutoff, period=None):
    """The line without smoothing that ends at ``cutoff``."""
    saddles = Saddles.of(parts)
    theta = saddles.theta_at(epsilon)
    window = choose_window(parts, epsilon, theta, 0.0, saddles.log_value_at(epsilon))
    if period is not None:
        window = dataclasses.replace(window, period=period)
    return SmoothedTail.make(parts, epsilon, theta, 0.0, window, cutoff=cutoff)


def test_lines_without_and_with_smoothing_agree():
    parts = CountedLaws.of([(LaplaceLaw(0.1), 400), (LaplaceLaw(0.17), 100)])
    value = bare(parts, 12.0, 500.0).at(12.0)
    saddles = Saddles.of(parts)
    theta = saddles.theta_at(12.0)
    window = choose_window(parts, 12.0, theta, 1e-4, saddles.log_value_at(12.0))
    wide = SmoothedTail.make(parts, 12.0, theta, 1e-4, window).at(12.0)
    assert wide.lower <= value.lower <= value.upper <= wide.upper
    assert value.upper - value.lower < 1e-3 * (wide.upper - wide.lower)


def test_the_longest_step_of_a_search_on_a_line_is_two_lengths_of_decay():
    """Delta is smaller by about e^2 = 7.4 after it, and known to nearly as many digits."""
    parts = CountedLaws.of([(LaplaceLaw(0.1), 60)])
    for centre in (0.5, 3.0, 5.0):
        tail = bare(parts, centre, 20_000.0)
        here, there = tail.at(centre), tail.at(centre + tail.reach)
        assert 5.0 < here.upper / there.upper < 15.0, centre
        assert there.width / there.upper < 3.0 * here.width / here.upper, centre


def test_a_line_cut_off_too_soon_widens_the_bracket_and_does_not_move_it(monkeypatch):
    parts = CountedLaws.of([(LaplaceLaw(0.1), 60)])
    exact, short = bare(parts, 3.0, 20_000.0).at(3.0), bare(parts, 3.0, 30.0).at(3.0)
    assert short.lower <= exact.lower <= exact.upper <= short.upper
    monkeypatch.setattr(smoothed_tail, "_cut_off", lambda *arguments: (0.0, 0.0))
    broken = bare(parts, 3.0, 30.0).at(3.0)
    assert broken.upper < exact.lower or broken.lower > exact.upper


def test_points_left_out_and_forgotten_are_caught():
    parts = CountedLaws.of([(LaplaceLaw(0.1 + 0.01 * i), 10) for i in range(9)])
    saddles = Saddles.of(parts)
    theta = saddles.theta_at(6.0)
    window = choose_window(parts, 6.0, theta, 0.0, saddles.log_value_at(6.0))
    exact = bare(parts, 6.0, 2000.0).at(6.0)
    coarse = SmoothedTail.make(parts, 6.0, theta, 0.0, window, cutoff=2000.0, negligible=3.0)
    found = coarse.at(6.0)
    assert coarse.omega.size < 0.1 * bare(parts, 6.0, 2000.0).omega.size
    assert found.lower <= exact.lower <= exact.upper <= found.upper
    careless = dataclasses.replace(coarse, value_noise=0.0).at(6.0)
    assert careless.upper < exact.lower or careless.lower > exact.upper


@pytest.mark.sampled
@pytest.mark.parametrize("delta", [0.4, 1e-3, 1e-12, 1e-100])
def test_many_laws_take_little_time_and_agree_with_smoothing(delta):
    pairs = [(LaplaceLaw(0.02 + 0.003 * i), 1 + i % 2) for i in range(80)]
    found = compose_laws(pairs, 1e-8).epsilon(delta)
    assert found.width <= 1e-8 * found.upper
    parts = CountedLaws.of(pairs)
    query = CompositionQuery(parts, 1e-4)
    saddles = query._large if delta > 0.3 else query._small
    theta, at = saddles.theta_at(found.midpoint), found.midpoint
    smoothing = 2e-3 / (1 + abs(theta))
    window = choose_window(parts, at, theta, smoothing, saddles.log_value_at(at))
    tail = SmoothedTail.make(parts, at, theta, smoothing, window)
    assert tail.at(found.lower).upper >= delta * (1 - 1e-12)
    assert tail.at(found.upper).lower <= delta * (1 + 1e-12)


def test_ten_thousand_distinct_laws():
    pairs = [(LaplaceLaw(0.001 + 0.00001 * i), 1) for i in range(10_000)]
    found = compose_laws(pairs, 1e-8).epsilon(1e-6)
    assert found.width <= 1e-8 * found.upper
    # Their sum is nearly normal, but for its third and fourth cumulants.
    batch = CountedLaws.of(pairs)
    mean = sum(law.mean for law, _ in pairs[::100]) * 100
    assert 0 < found.lower - mean < 40
    assert batch.approximation.laplaces.counts.sum() == 10_000


def test_the_gist_is_near():
    parts = CountedLaws.of([(LaplaceLaw(0.01 + 0.0007 * i), 1) for i in range(1000)])
    theta = np.array([0.1, 1.0, 10.0])
    np.testing.assert_allclose(parts.approximation.log_mgf(theta), parts.log_mgf(theta), rtol=3e-3)


def test_ratios_near_nothing_keep_a_bound():
    # At theta = 0 both atoms of a large epsilon cancel somewhere; their product is far below 1.
    epsilons = np.full(16, 1e-3)
    product, error = multiplied_ratios(epsilons, -0.499, np.array([np.pi / 2e-3]))
    exact = exact_ratio(CountedLaws.of([(LaplaceLaw(1e-3), 16)]), -0.499, np.pi / 2e-3, 0.0)
    assert abs(product[0]) * np.exp(error[0]) >= float(abs(exact))


def test_points_that_are_left_out_are_counted_by_their_size():
    theta, omega = 0.4, np.linspace(0.0, 30.0, 200)
    points = _Points(theta, omega, 0.0, negligible=1e-9)
    assert (points.omega.size, points.left_out) == (200, 0.0)
    points.times(np.where(omega < 1.0, 0.0, -40.0), np.zeros(200))
    out = omega[omega >= 1.0]
    np.testing.assert_array_equal(points.omega, omega[omega < 1.0])
    z = theta + 1j * out
    expected = np.exp(-40.0) * np.abs(1.0 / (z * (1.0 + z))).sum()
    assert expected < points.left_out < expected * (1.0 + 1e-8)
    assert points.left_out_whole == pytest.approx(np.exp(-40.0) * out.size, rel=1e-8)


def test_far_from_its_centre_a_line_says_nothing():
    value = bare(CountedLaws.of([(LaplaceLaw(0.1), 60)]), 3.0, 30.0).at(1e9)
    assert (value.lower, value.upper) == (0.0, 1.0)
