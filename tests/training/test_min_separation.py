"""The lemma of simulator/theory/lemmas/b-min-sep.md, and what would break it."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from simulator import Account
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory.events import gaussian, randomized_response, self_compose, subsampled
from simulator.training import min_separation
from simulator.training.laws import separated_blocks
from simulator.training.laws.separated_blocks import weights_of
from simulator.training.laws.subset_test import separated_test
from tests.helpers.cases import case


def patterns(p, b, rounds):
    """Each set of rounds of a record, with its probability."""
    for chosen in itertools.product((0, 1), repeat=rounds):
        weight, wait = 1.0, 0
        for taken in chosen:
            if wait:
                weight, wait = weight * (1 - taken), wait - 1
            else:
                weight, wait = weight * (p if taken else 1 - p), (b - 1) * taken
        if weight:
            yield np.array(chosen, dtype=bool), weight


def drawn(sigma, p, b, rounds, epsilon, draws=60_000):
    """Hoeffding's intervals, of false-alarm probability 1e-6: removal, and addition."""
    generator, found = np.random.default_rng(3), []
    known = list(patterns(p, b, rounds))
    holding = generator.choice(len(known), size=draws, p=[weight for _, weight in known])
    held = np.array([chosen for chosen, _ in known])[holding]
    z = generator.standard_normal((draws, rounds))
    for sign, noise in ((1, z + held / sigma), (-1, z)):
        x = np.exp(noise / sigma - 0.5 / sigma**2)
        u = sum(weight * x[:, chosen].prod(axis=1) for chosen, weight in known)
        mean = np.maximum(1 - math.exp(epsilon) * u ** (-sign), 0).mean()
        width = math.sqrt(math.log(2e6) / (2 * draws))
        found.append((mean - width, mean + width))
    return found


CASE = (0.7, 0.5, 4, 8)


@pytest.mark.nightly
def test_all_patterns_are_between_the_ends():
    sigma, p, b, rounds = CASE
    for epsilon in (0.3, 1.5):
        (low, high), (other, _) = drawn(*CASE, epsilon)
        every = Account(self_compose(subsampled(gaussian(sigma), p), rounds)).delta(epsilon).upper
        upper = Account(min_separation(gaussian(sigma), p, b, rounds)).delta(epsilon).upper
        assert max(low, other) <= upper < every
        assert 0.6 * low < separated_test(*CASE).delta(epsilon) <= high


@pytest.mark.nightly
def test_the_lower_end_is_near_what_draws_show():
    """By the recursion, of 100 rounds: an interval of false-alarm probability 1e-6."""
    sigma, p, b, rounds, draws = 1.0, 0.1, 10, 100, 200_000
    generator = np.random.default_rng(4)
    ratio, wait = np.ones(draws), np.zeros(draws, dtype=int)
    ways, waiting = np.ones(draws), [np.zeros(draws)] * b
    for _ in range(rounds):
        held = (wait == 0) & (generator.random(draws) < p)
        wait = np.where(held, b - 1, np.maximum(wait - 1, 0))
        x = np.exp((generator.standard_normal(draws) + held / sigma) / sigma - 0.5 / sigma**2)
        ratio += p * ways * (x - 1)
        waiting = [*waiting[1:], p * ways * x]
        ways = (1 - p) * ways + waiting[0]
    mean = np.maximum(1 - math.e / ratio, 0).mean()
    width = math.sqrt(math.log(2e6) / (2 * draws))
    found = separated_test(sigma, p, b, rounds).delta(1.0)
    assert 0.85 * mean < found < mean + width


def test_the_stationary_rate_is_no_upper_end():
    """It is below the certified lower end."""
    sigma, p, b, rounds = CASE
    event = self_compose(subsampled(gaussian(sigma), p / (1 + (b - 1) * p)), rounds)
    assert Account(event).delta(0.3).upper < separated_test(*CASE).delta(0.3)


def of_two_rounds(mu, p, epsilon):
    """Removal in two rounds, b = 2, by quadrature: given the first a lognormal variable is left."""

    def given(z):
        over = math.exp(epsilon) - (1 - p) ** 2 - p * math.exp(mu * z - mu * mu / 2)
        share = p * (1 - p)
        if over <= 0.0:
            found = share - over
        else:
            at = math.log(share / over) / mu
            found = share * ndtr(at + mu / 2) - over * ndtr(at - mu / 2)
        return found * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    return quad(given, -9, 14, limit=400)[0]


def test_two_rounds_beside_quadrature(monkeypatch):
    exact = of_two_rounds(1.0, 0.5, 0.4)
    event = min_separation(gaussian(1.0), 0.5, apart=2, rounds=2)
    assert exact <= Account(event).delta(0.4).upper < 1.002 * exact
    w = [0.5, 0.25]
    separated_blocks._end.cache_clear()
    monkeypatch.setattr(
        separated_blocks, "weights_of", lambda rate, steps, larger: [(sum(w) / 2, 2)]
    )
    assert Account(event).delta(0.4).upper < exact
    separated_blocks._end.cache_clear()


def test_weights_majorise():
    for p, b in ((0.02, 50), (0.1, 10), (0.1, 30), (0.4, 3), (0.7, 5), (1.0, 4), (1e-3, 3)):
        w = np.cumsum(p * (1 - p) ** np.arange(b))
        for larger in (True, False):
            with case(f"{p} {b} {larger}"):
                runs = weights_of(p, b, larger=larger)
                found = np.sort(np.repeat(*zip(*runs)))[::-1]
                sums = np.cumsum(np.r_[found, np.zeros(b - found.size)])
                assert (sums >= w).all() if larger else (sums <= w).all()
                assert found.size * found[0] < 1 + 1e-9


def test_the_numbers_of_rounds():
    for p, b, rounds in ((0.3, 3, 10), (0.5, 4, 9), (1.0, 3, 10), (0.1, 1, 5)):
        exact = np.zeros(rounds + 1)
        for chosen, weight in patterns(p, b, rounds):
            exact[chosen.sum()] += weight
        test = separated_test(1.0, p, b, rounds)
        shares = exact[test.least : test.least + len(test.shares)]
        np.testing.assert_allclose(test.shares, shares, atol=1e-13)
        assert (np.array(test.shares) <= shares).all()


def test_states_of_the_recursion_fill_the_plane():
    """1 and 5 of the lemma: the recursion beside all patterns, and how (F, L) moves with X."""
    p, b = 0.3, 3

    def state(x):
        f, ratio = [0.0] * b + [1.0], 1.0
        for t, each in enumerate(x):
            ratio += p * f[-1] * (each - 1)
            f.append((1 - p) * f[-1] + (p * f[-b] * x[t - b + 1] if t >= b - 1 else 0.0))
        return np.array([f[-1], ratio])

    x = np.array([1.3, 0.4, 2.0, 0.7, 1.1, 0.2])
    whole = sum(weight * x[chosen].prod() for chosen, weight in patterns(p, b, x.size))
    assert state(x)[1] == pytest.approx(whole, rel=1e-12)
    moved = [state(x[:b] + step) - state(x[:b]) for step in np.eye(b)[[0, b - 1]]]
    assert np.linalg.det(moved) == pytest.approx(p**2 * (1 - p) ** (b - 1), rel=1e-9)


def test_one_round_is_a_poisson_sample():
    one = Account(min_separation(randomized_response(1.0), 0.2, 5, 1)).delta(0.1)
    assert one.upper == Account(subsampled(randomized_response(1.0), 0.2)).delta(0.1).upper


def test_few_rounds_far_apart_cost_no_more_than_all_of_them():
    found = Account(min_separation(gaussian(2.0), 1.0, apart=5, rounds=10)).epsilon(1e-4)
    assert found.upper == pytest.approx(
        Account(self_compose(gaussian(2.0), 2)).epsilon(1e-4).upper, rel=2e-3
    )


def test_bad_input_is_refused():
    for rate, apart, rounds in ((0.0, 2, 3), (1.5, 2, 3), (0.1, 0, 3), (0.1, 2, 10**8)):
        with pytest.raises(InvalidInput):
            min_separation(gaussian(1.0), rate, apart, rounds)
    with pytest.raises(NotApplicable, match="b-min-sep sampling has a theorem for one record"):
        Account(min_separation(gaussian(1.0), 0.1, 2, 3), "replace-one").epsilon(1e-3)
