import itertools

import numpy as np
import pytest
from scipy import integrate, stats

from simulator.data.databases import ADD_REMOVE, Database
from simulator.data.queries import counting_scores
from simulator.foundations.errors import InvalidInput
from simulator.mechanisms.above_threshold import AboveThreshold, first_above_law
from tests.helpers.mechanism_cases import ALICE, Discrete, chi_square, draws

QUERY = counting_scores(["alice", "bob", "carol"])
CROWD = Database({"alice": 3, "bob": 9, "carol": 5})


def integrated(margins):
    """The same law by adaptive integration over scipy's Laplace distributions."""

    def outcome(y, place):
        passed = stats.laplace.sf(y, loc=margins, scale=2)
        stop = passed[place] if place < len(margins) else 1.0
        return stats.laplace.pdf(y) * np.prod(1 - passed[:place]) * stop

    kinks = [-np.inf, *sorted({0.0, *margins}), np.inf]
    return [
        sum(
            integrate.quad(outcome, a, b, args=(place,), epsabs=1e-13)[0]
            for a, b in itertools.pairwise(kinks)
        )
        for place in range(len(margins) + 1)
    ]


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("margins", [(0.0,), (-1.5, 2.0, 0.25), (3.0, 3.0), (-8.0, -2.0, 1.0)])
def test_the_law_is_the_integral(margins):
    np.testing.assert_allclose(first_above_law(margins), integrated(np.array(margins)), atol=1e-11)


def test_the_law_is_that_of_the_algorithm():
    # false alarm 1e-6; the algorithm on other counts is caught
    mechanism, noise = AboveThreshold(QUERY, 6.0, 1.2), np.random.default_rng(2)
    seen = np.bincount([int(mechanism.sample(CROWD, noise)) for _ in range(8_000)], minlength=4)
    p, q = mechanism.probabilities(QUERY(CROWD), QUERY(CROWD.add("alice", 3)), ADD_REMOVE)
    assert chi_square(seen, p) > 1e-6
    assert chi_square(seen, q) < 1e-6


def test_the_prepared_pair_draws_from_the_law():
    mechanism = AboveThreshold(QUERY, 6.0, 1.2)
    other = CROWD.add("bob")
    p, q = mechanism.probabilities(QUERY(CROWD), QUERY(other), ADD_REMOVE)
    witness = Discrete(np.log(p), np.log(q))
    pair = mechanism.pair(CROWD, other)
    for b in (0, 1):
        assert witness.p_value(draws(pair, b, 4_000), b) > 1e-6
    assert pair.tilted(0.7)[0] == pytest.approx(witness.psi(0.7), abs=1e-13)


def losses(epsilon, counts, moves, threshold=6.0):
    first = Database(dict(zip(QUERY.candidates, counts, strict=True)))
    second = Database({c: n + m for c, n, m in zip(QUERY.candidates, counts, moves, strict=True)})
    mechanism = AboveThreshold(QUERY, threshold, epsilon)
    p, q = mechanism.probabilities(QUERY(first), QUERY(second), ADD_REMOVE)
    return np.log(p) - np.log(q)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_epsilon_dp_whatever_the_queries_do(epsilon):
    worst = 0.0
    for counts in [(3, 9, 5), (1, 1, 1), (6, 6, 6), (90, 1, 1), (9, 9, 9)]:
        for moves in np.ndindex(3, 3, 3):
            worst = max(worst, np.abs(losses(epsilon, counts, np.array(moves) - 1)).max())
    assert worst <= epsilon * (1 + 1e-12)
    assert worst > epsilon / 3


def longest(move):
    """Eleven queries far above the threshold; all but the last move one way, the last the other."""
    counts = np.full(11, 120.0)
    moves = np.full(11, move)
    moves[-1] = -move
    unit = 2.0  # at epsilon = 1
    return np.log(first_above_law(tuple(counts / unit))) - np.log(
        first_above_law(tuple((counts + moves) / unit))
    )


def test_the_noise_is_no_larger_than_it_must_be():
    worst = max(np.abs(longest(move)).max() for move in (1.0, -1.0))
    assert 0.99 < worst <= 1.0


def test_half_the_noise_is_caught():
    broken = losses(4.0, (60, 60, 60), (1, 1, -1), threshold=50.0)
    assert np.abs(broken).max() > 2.0


def test_many_and_distant_queries_keep_their_digits():
    many = first_above_law((0.0,) * 100)
    assert many.min() > 0
    assert many.sum() == pytest.approx(1, abs=1e-12)
    assert many[0] == pytest.approx(0.5, abs=1e-14)
    far = first_above_law((1e9, 1e9, -1e9, -1e9))
    assert far.min() > 0
    assert far[0] == pytest.approx(1, abs=1e-14)


def test_input():
    for epsilon, threshold in [(0.0, 1.0), (np.nan, 1.0), (1.0, np.inf), (1.0, "high")]:
        with pytest.raises(InvalidInput):
            AboveThreshold(QUERY, threshold, epsilon)
    with pytest.raises(InvalidInput, match="vector of scores"):
        AboveThreshold(ALICE, 1.0, 1.0).pair(CROWD, CROWD)
