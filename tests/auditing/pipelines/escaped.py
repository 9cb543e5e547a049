"""Honest pipelines whose noise is converted before it is compared with raw data."""

import random


def _float(rng, scale=1.0):
    return float(rng.laplace(scale=scale))


def below_the_count(rows, rng):
    return bool(_float(rng) < len(rows))


def sparse_vector(rows, rng):
    threshold = 2 + _float(rng, 2.0)
    for value in range(5):
        if rows.count(value) + _float(rng, 4.0) > threshold:
            return value
    return None


def above_a_gauss(rows):
    return bool(len(rows) > float(random.gauss(0, 2.0)))


def near_the_count(rows, rng):
    return abs(_float(rng) - len(rows)) < 0.5


def a_difference(rows, rng):
    return bool(_float(rng) - _float(rng) > len(rows))


def a_coin(rows, rng):
    return bool(rng.random() < len(rows) / 10)


def a_narrow_coin(rows, rng):
    return bool(abs(rng.random() - len(rows) / 10) < 0.05)


def whole_noise(rows, rng):
    return bool(int(rng.geometric(0.3)) - int(rng.geometric(0.3)) + len(rows) > 2)


HONEST = [
    below_the_count, sparse_vector, above_a_gauss, near_the_count, a_difference, a_coin,
    a_narrow_coin, whole_noise,
]  # fmt: skip
"""None of them is free, so that none may be called violated by what two databases show."""
