"""Lower ends for shuffled batches: against one event in closed form, a sample, and one batch."""

import math

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from simulator.foundations.errors import InvalidInput
from simulator.theory import GaussianLaw, PoissonSubsampledLaw, compose_laws
from simulator.training import shuffled_batches
from simulator.training.laws.shuffled_batches import law_of_cells, scaled_noise


def best_event(sigma, batches, delta):
    """Chua and others' bound: the best event that one of the sums is above a threshold."""
    c = np.linspace(0.0, 2.0 + 8.0 * sigma, 2001)
    others = (batches - 1) * special.log_ndtr(c / sigma)
    with_her, without = (
        -np.expm1(others + special.log_ndtr((c - shift) / sigma)) for shift in (2.0, 1.0)
    )
    known = with_her > delta
    return float(np.log((with_her[known] - delta) / without[known]).max())


def test_one_epoch_proves_at_least_what_the_best_event_does():
    for sigma, batches in ((1.0, 100), (1.0, 1000), (0.5, 100)):
        found = shuffled_batches(sigma, batches)
        lower = compose_laws([(found, 1)], 1e-4).reversed().epsilon(1e-5).lower
        assert lower == pytest.approx(best_event(sigma, batches, 1e-5), rel=1e-3)


def exact_losses(sigma, batches, draws, seed):
    """Of all sums, under the database that holds the record."""
    noise = np.random.default_rng(seed)
    sums = sigma * noise.standard_normal((draws, batches))
    sums[:, 0] += 2.0  # the place makes no difference
    present, absent = (
        special.logsumexp(shift * (sums - 0.5 * shift) / sigma**2, axis=1) for shift in (2.0, 1.0)
    )
    return present - absent


def test_the_largest_sum_proves_no_more_than_all_sums_and_not_much_less():
    """Hoeffding's interval for a mean in [0, 1]: a false alarm of 1e-6 in each of three."""
    losses = exact_losses(0.7, 20, 40_000, 3)
    law, width = shuffled_batches(0.7, 20).reversed(), math.sqrt(math.log(2e6) / 80_000)
    for epsilon in (0.5, 1.0, 2.0):
        truth = float(np.maximum(-np.expm1(epsilon - losses), 0.0).mean())
        assert law.delta(epsilon) <= truth + width
        assert law.delta(epsilon) >= 0.6 * truth


def test_one_batch_is_a_gaussian_and_known_places_are_too():
    exact = GaussianLaw(1.0)
    for law in (shuffled_batches(1.0, 1), shuffled_batches(1.0, 50, 20.0, 21.0)):
        for one in (law, law.reversed()):
            assert 0.999 * exact.delta(1.0) < one.delta(1.0) <= exact.delta(1.0) * (1.0 + 1e-9)


def test_a_random_allocation_is_below_a_shuffle_and_both_below_public_places():
    """One of 100 steps at sigma 1: a prototype by convex order has epsilon(1e-5) near 0.6209."""
    allocated = compose_laws([(shuffled_batches(1.0, 100, 0.0, 1.0), 1)], 1e-4)
    lower = max(one.epsilon(1e-5).lower for one in (allocated, allocated.reversed()))
    assert 0.55 < lower < 0.6212
    shuffled = compose_laws([(shuffled_batches(1.0, 100), 1)], 1e-4).reversed().epsilon(1e-5)
    public = compose_laws([(GaussianLaw(1.0), 1)]).epsilon(1e-5)
    assert 4.0 < shuffled.lower < public.upper


def test_others_of_the_opposite_gradient_are_the_worst():
    """Of gradient -c, for c from 0 to 1, at two noise multipliers."""
    for sigma in (1.0, 2.0):
        ends = []
        for c in (0.0, 0.5, 1.0):
            composed = compose_laws([(shuffled_batches(sigma, 100, c, 1.0 + c), 10)], 1e-4)
            ends.append(max(one.epsilon(1e-5).lower for one in (composed, composed.reversed())))
        assert ends == sorted(ends)


def test_the_loss_is_several_times_what_poisson_accounting_says():
    """Ten epochs of 100 batches: the record's loss is more than five times the claim."""
    claim = compose_laws([(PoissonSubsampledLaw(GaussianLaw(1.0), 0.01), 1000)], 1e-4)
    claimed = max(one.epsilon(1e-5).upper for one in (claim, claim.reversed()))
    shuffled = compose_laws([(shuffled_batches(1.0, 100), 10)], 1e-4).reversed()
    assert shuffled.epsilon(1e-5).lower > 5.0 * claimed
    assert claimed == pytest.approx(1.828236, rel=1e-5)


def test_scaled_noise_proves_what_the_best_event_of_its_length_does():
    found = compose_laws([(scaled_noise(1000, 10.0 / 9.0), 1)], 1e-4).epsilon(1e-5)
    c = np.linspace(900.0, 1500.0, 4001)
    wide, narrow = stats.chi2.sf(c * 0.81, 1000), stats.chi2.sf(c, 1000)
    known = wide > 1e-5
    best = float(np.log((wide[known] - 1e-5) / narrow[known]).max())
    assert best - 1e-2 < found.lower < best + 0.1
    loss = stats.norm(0.0, 10.0 / 9.0), stats.norm(0.0, 1.0)
    squares = (10.0 / 9.0) ** 2 * np.random.default_rng(0).chisquare(1000, 40_000)
    exact = 1000.0 * math.log(0.9) + 0.5 * squares * (1.0 - 0.81)
    one = loss[0].logpdf(1.3) - loss[1].logpdf(1.3)
    assert one == pytest.approx(math.log(0.9) + 0.5 * 1.69 * (1.0 - 0.81))
    truth = float(np.maximum(-np.expm1(5.0 - exact), 0.0).mean())
    assert scaled_noise(1000, 10.0 / 9.0).delta(5.0) == pytest.approx(truth, abs=0.02)


def test_probabilities_are_as_accurate_as_is_stated():
    """Against mpmath, in both tails."""
    with mpmath.workdps(40):
        for x in np.linspace(-9.0, 9.0, 7):
            exact = mpmath.log(mpmath.ncdf(mpmath.mpf(float(x))))
            assert float(special.log_ndtr(x)) == pytest.approx(float(exact), rel=16.0 * 2.3e-16)
        for x in (400.0, 800.0, 999.0, 1300.0):
            half = mpmath.mpf(999) / 2
            upper = mpmath.gammainc(half, mpmath.mpf(x) / 2, mpmath.inf, regularized=True)
            assert stats.chi2.sf(x, 999) == pytest.approx(float(upper), rel=1e-11)
            assert stats.chi2.cdf(x, 999) == pytest.approx(float(1 - upper), rel=1e-11)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: shuffled_batches(0.0, 10), "sigma"),
        (lambda: shuffled_batches(math.nan, 10), "sigma"),
        (lambda: shuffled_batches(1.0, 0), "batches"),
        (lambda: shuffled_batches(1.0, 10, 1.0, 1.0), "two different numbers"),
        (lambda: shuffled_batches(1.0, 10, -1.0, 1.0), "at least 0"),
        (lambda: scaled_noise(10, 1.0), "other than 1"),
        (lambda: law_of_cells(*[(np.zeros(3), np.ones(3))] * 2, 1e-14), "in common"),
    ],
)
def test_input(build, message):
    with pytest.raises(InvalidInput, match=message):
        build()
