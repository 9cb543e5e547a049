"""Inequalities of simulator/theory/lemmas at 50 digits, each seen failing on a wrong variant."""

import itertools
import random

import mpmath
import pytest
from mpmath import mpf

EPSILONS = [mpf("0.01"), mpf("0.3"), mpf(1), mpf("2.5"), mpf(6)]
LEEWAY = mpf(10) ** -40


@pytest.fixture(autouse=True)
def fifty_digits():
    with mpmath.workdps(50):
        yield


def hockey(p, q, x):
    """sum (p - x q)_+."""
    return sum(max(a - x * b, mpf(0)) for a, b in zip(p, q))


def thresholds(p, q):
    """Where the hockey stick has its kinks, between them and beyond."""
    ratios = sorted({a / b for a, b in zip(p, q) if b > 0})
    return [*ratios, *((a + b) / 2 for a, b in itertools.pairwise(ratios)), 1, ratios[-1] * 2]


def excess(pair, above):
    """The largest amount by which the hockey stick of the first is above the second's."""
    points = {*thresholds(*pair), *thresholds(*above)}
    return max(hockey(*pair, x) - hockey(*above, x) for x in points)


def response(epsilon):
    p = 1 / (1 + mpmath.exp(-epsilon))
    return [p, 1 - p], [1 - p, p]


def two_losses(t, epsilon):
    """The extremal pair of bounded range."""
    p = (1 - mpmath.exp(t - epsilon)) / (1 - mpmath.exp(-epsilon))
    return [p, 1 - p], [p * mpmath.exp(-t), (1 - p) * mpmath.exp(epsilon - t)]


def product(one, other):
    return tuple([a * b for a in x for b in y] for x, y in zip(one, other))


def private(coins, low, high, size=4):
    """A random pair whose losses lie in [low, high], low < 0 < high."""
    q = [mpf(coins.random()) + mpf("0.05") for _ in range(size)]
    loss = [low + (high - low) * mpf(coins.choice((0, 1, coins.random()))) for _ in range(size)]
    loss[0], loss[1] = low, high
    p = [b * mpmath.exp(c) for b, c in zip(q, loss)]
    # scale the parts below and above so that both have mass 1
    up = [c >= 0 for c in loss]
    a, b = (sum(x for x, u in zip(q, up) if u == side) for side in (True, False))
    c, d = (sum(x for x, u in zip(p, up) if u == side) for side in (True, False))
    s, t = mpmath.lu_solve(mpmath.matrix([[a, b], [c, d]]), mpmath.matrix([1, 1]))
    scale = [s if u else t for u in up]
    return [x * f for x, f in zip(p, scale)], [x * f for x, f in zip(q, scale)]


PAIRS = [(number, epsilon) for number in range(6) for epsilon in EPSILONS]


def test_randomized_response_is_above_every_pure_pair():
    attained = []
    for number, epsilon in PAIRS:
        pair = private(random.Random(number), -epsilon, epsilon)
        assert excess(pair, response(epsilon)) <= LEEWAY
        attained.append(excess(pair, response(epsilon * mpf("0.99"))))
    assert max(attained) > LEEWAY


def test_products_of_dominating_pairs_are_above_products():
    """Also where the second round is chosen from the first one's answer."""
    for number, epsilon in PAIRS:
        coins = random.Random(number)
        first = private(coins, -epsilon, epsilon)
        rounds = [private(coins, -1, 1, size=3) for _ in first[0]]
        view = tuple(
            [a * b for a, then in zip(side, rounds) for b in then[place]]
            for place, side in enumerate(first)
        )
        above = product(response(epsilon), response(mpf(1)))
        assert excess(view, above) <= LEEWAY
        assert hockey(*view, mpmath.exp(epsilon + 1)) <= LEEWAY  # losses add up
    assert excess(above, product(response(epsilon), response(mpf("0.99")))) > LEEWAY


def test_the_mean_of_a_pure_loss_is_at_most_that_of_randomized_response():
    for number, epsilon in PAIRS:
        p, q = private(random.Random(number), -epsilon, epsilon)
        loss = [mpmath.log(a / b) for a, b in zip(p, q)]
        mean = sum(a * c for a, c in zip(p, loss))
        assert mean <= epsilon * mpmath.tanh(epsilon / 2) + LEEWAY
        variance = sum(a * c**2 for a, c in zip(p, loss)) - mean**2
        if epsilon <= 1 + mpmath.exp(-epsilon):
            assert variance <= (epsilon / mpmath.cosh(epsilon / 2)) ** 2 + LEEWAY
        assert variance <= epsilon**2 + LEEWAY


def renyi(p, q, alpha):
    return mpmath.log(sum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q))) / (alpha - 1)


ORDERS = [1 + mpf(10) ** -6, mpf("1.01"), mpf("1.5"), *map(mpf, (2, 3, 5, 10, 30, 200))]


def laplace_renyi(epsilon, alpha):
    up, down = (mpmath.exp(x) for x in ((alpha - 1) * epsilon, -alpha * epsilon))
    return mpmath.log((alpha * up + (alpha - 1) * down) / (2 * alpha - 1)) / (alpha - 1)


def test_the_divergence_over_its_order_is_largest_as_the_order_goes_to_1():
    """Of randomized response, Laplace noise and bounded range; a limit 1e-4 less is exceeded."""
    for epsilon in EPSILONS:
        u = epsilon / (1 - mpmath.exp(-epsilon))
        limits = {
            "pure": epsilon * mpmath.tanh(epsilon / 2),
            "laplace": epsilon + mpmath.exp(-epsilon) - 1,
            "range": u - 1 - mpmath.log(u),
        }
        largest = dict.fromkeys(limits, mpf(0))
        for alpha in ORDERS:
            found = {
                "pure": renyi(*response(epsilon), alpha),
                "laplace": laplace_renyi(epsilon, alpha),
                "range": max(
                    renyi(*two_losses(epsilon * k / 200, epsilon), alpha) for k in range(20, 200, 5)
                ),
            }
            for name, value in found.items():
                largest[name] = max(largest[name], value / alpha)
        for name, limit in limits.items():
            assert largest[name] <= limit + LEEWAY, (name, epsilon)
            assert largest[name] > limit * (1 - mpf(10) ** -3), (name, epsilon)


def test_a_renyi_divergence_bounds_the_hockey_stick():
    broken = 0
    for epsilon in EPSILONS:
        pair = response(epsilon)
        for alpha, part in itertools.product(ORDERS[1:], (mpf("0.1"), mpf("0.5"), mpf("0.9"))):
            threshold = part * epsilon
            bound = mpmath.exp((alpha - 1) * (renyi(*pair, alpha) - threshold))
            bound *= (1 - 1 / alpha) ** alpha / (alpha - 1)
            exact = hockey(*pair, mpmath.exp(threshold))
            assert exact <= bound + LEEWAY
            broken += exact > bound / 2
    assert broken


def test_the_gaussian_through_the_corner_is_above_randomized_response():
    def gaussian(mu, x):
        e = mpmath.log(x)
        return mpmath.ncdf(mu / 2 - e / mu) - x * mpmath.ncdf(-mu / 2 - e / mu)

    for epsilon in EPSILONS:
        corner = 1 / (1 + mpmath.exp(epsilon))
        mu = -2 * mpmath.sqrt(2) * mpmath.erfinv(2 * corner - 1)
        points = [mpmath.exp(epsilon * k / 20) for k in range(-30, 31)]
        gaps = [gaussian(mu, x) - hockey(*response(epsilon), x) for x in points]
        assert min(gaps) >= -LEEWAY
        less = [gaussian(mu * mpf("0.999"), x) - hockey(*response(epsilon), x) for x in points]
        assert min(less) < -LEEWAY


def test_a_sample_has_the_pair_of_a_mixture():
    for number, epsilon in PAIRS:
        coins = random.Random(number)
        rate = mpf(coins.choice(("0.01", "0.3", "0.9")))

        def sampled(pair, rate=rate):
            return [(1 - rate) * b + rate * a for a, b in zip(*pair)], pair[1]

        pair = private(coins, -epsilon, epsilon)
        for one, above in (
            (sampled(pair), sampled(response(epsilon))),
            (sampled(pair)[::-1], sampled(response(epsilon))[::-1]),
        ):
            assert excess(one, above) <= LEEWAY
        amplified = mpmath.log(1 + rate * mpmath.expm1(epsilon))
        attained = sampled(response(epsilon))
        assert hockey(*attained, mpmath.exp(amplified)) <= LEEWAY
        assert hockey(*attained, mpmath.exp(amplified * mpf("0.999"))) > LEEWAY


def test_a_pair_of_bounded_range_is_below_one_of_two_losses():
    attained = []
    for number, epsilon in PAIRS:
        coins = random.Random(number)
        t = epsilon * mpf(coins.uniform(0.05, 0.95))
        pair = private(coins, t - epsilon, t)
        assert excess(pair, two_losses(t, epsilon)) <= LEEWAY
        attained.append(excess(pair, two_losses(t * mpf("0.97"), epsilon)))
    assert max(attained) > LEEWAY
