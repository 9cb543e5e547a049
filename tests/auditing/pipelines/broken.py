"""Pipelines that break pure:1, each with the kind of the finding that names it."""

import numpy as np

from simulator.auditing import mechanism
from tests.auditing.pipelines.honest import bounded_sum


def too_little_noise(data, rng):
    return sum(data) + rng.laplace(scale=0.5)


def spends_twice(data, rng):
    total = sum(data) + rng.laplace(scale=1.0)
    count = len(data) + rng.laplace(scale=1.0)
    return total / max(count, 1.0)


def divides_by_the_count(data, rng):
    return (sum(data) + rng.laplace(scale=1.0)) / len(data)


def plain_division(data, rng):
    return float(sum(data) + rng.laplace(scale=1.0)) / len(data)


def scale_from_data(data, rng):
    return sum(data) + rng.laplace(scale=1 + sum(data))


def loop_over_records(data, rng):
    return [rng.laplace() for _ in data]


def stops_on_data(data, rng):
    found = []
    for _ in range(8):
        found.append(rng.laplace(scale=8.0))
        if len(data) < 4:
            break
    return found


def returns_the_count(data, rng):
    return {"sum": sum(data) + rng.laplace(scale=1.0), "n": len(data)}


def domain_from_data(data, rng):
    return {value: data.count(value) + rng.laplace(scale=1.0) for value in sorted(set(data))}


def reuses_noise(data, rng):
    noise = rng.laplace(scale=3.0)
    return sum(data) + noise, len(data) + noise


def returns_the_noise(data, rng):
    noise = rng.laplace(scale=1.0)
    return sum(data) + noise, float(noise)


def adds_to_an_answer(data, rng):
    noisy = sum(data) + rng.laplace(scale=1.0)
    return noisy, noisy + len(data)


def one_noise_for_all(data, rng):
    return np.array([sum(data), len(data)]) + rng.laplace(scale=4.0)


def gaussian_claims_pure(data, rng):
    return sum(data) + rng.normal(scale=100.0)


def one_sided(data, rng):
    return len(data) + rng.exponential(1.0)


def fraction_on_a_lattice(data, rng):
    return sum(data) + rng.geometric(0.5) - rng.geometric(0.5)


def noise_of_scale_zero(data, rng):
    return sum(data) + rng.laplace(scale=0.0)


def compares_with_data(data, rng):
    noisy = len(data) + rng.laplace(scale=1.0)
    return float(noisy) > (sum(data) - 2) * 1e9


def forgets_to_clip(data):
    return bounded_sum(np.sum(np.multiply(data, 2)), 1.0, 0.5)


def promises_too_much(data):
    return [bounded_sum(len(data), 1.0, 0.6) for _ in range(2)]


def epsilon_from_data(data):
    return bounded_sum(0.0, 1.0, 1.0 / (1 + len(data)))


def raises_on_data(data, rng):
    if len(data) < 4:
        raise ValueError("too few records")
    return len(data) + rng.laplace(scale=1.0)


def scaled_wrongly(data, rng):
    return 0.5 * (rng.laplace() * 0.5) + sum(data)


@mechanism("vector", metric="l1", sensitivity=1, guarantee="pure:1")
def released(vector):
    return np.asarray(vector) + np.random.laplace(size=len(vector))  # noqa: NPY002


def l1_of_two(data):
    return released([sum(data), len(data)])


def chooses_too_often(data, rng):
    weights = np.exp(np.array([len(data), 0.0]))
    return [rng.choice(2, p=weights / weights.sum()) for _ in range(3)]


def descends_by_the_count(data, rng):
    weight = 0.5
    for _ in range(4):
        gradients = np.clip(np.array(data) - weight, -1, 1)
        weight = weight + (np.sum(gradients) + rng.laplace(scale=4.0)) / len(data)
    return weight


BROKEN = {
    descends_by_the_count: "argument",
    chooses_too_often: "cost",
    too_little_noise: "cost", spends_twice: "cost", divides_by_the_count: "argument",
    plain_division: "output", scale_from_data: "argument", loop_over_records: "control flow",
    stops_on_data: "control flow", returns_the_count: "output", domain_from_data: "control flow",
    reuses_noise: "noise reused", returns_the_noise: "noise reused",
    adds_to_an_answer: "noise reused", one_noise_for_all: "noise reused",
    gaussian_claims_pure: "cost", one_sided: "cost", fraction_on_a_lattice: "cost",
    noise_of_scale_zero: "cost", compares_with_data: "output", forgets_to_clip: "sensitivity",
    promises_too_much: "cost", epsilon_from_data: "argument", raises_on_data: "control flow",
    scaled_wrongly: "cost", l1_of_two: "sensitivity",
}  # fmt: skip
