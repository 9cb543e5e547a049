"""Pipelines that keep pure:1 under add/remove-one on lists of numbers in [0, 1]."""

import math
import random

import numpy as np
from scipy import stats

from simulator.auditing import mechanism


def noisy_sum(data, rng):
    return sum(data) + rng.laplace(scale=1.0)


def noise_first(data, rng):
    return rng.laplace(0, 1) + float(np.sum(data))


def centred(data, rng):
    return rng.laplace(loc=np.sum(data), scale=1.0)


def scaled_noise(data):
    return np.sum(data) + 2 * np.random.laplace() / 2  # noqa: NPY002


def by_scipy(data):
    return len(data) + stats.laplace.rvs(scale=1.0)


def two_halves(data, rng):
    total = sum(data) + rng.laplace(scale=2.0)
    count = len(data) + rng.laplace(scale=2.0)
    return {"mean": total / max(count, 1.0), "count": round(float(count))}


def two_parts_and_noise(data, rng):
    low, high = [x for x in data if x < 0.5], [x for x in data if x >= 0.5]
    return sum(low) + rng.laplace(scale=1.0) + sum(high)


def histogram(data, rng):
    counts, _ = np.histogram(data, bins=5, range=(0, 1))
    counts = counts.astype(float)
    counts += rng.laplace(scale=1.0, size=5)
    return np.maximum(counts, 0) / max(np.sum(np.maximum(counts, 0)), 1.0)


def elements_of_noise(data, rng):
    noise = rng.laplace(scale=1.0, size=4)
    counts = [sum(i / 4 <= min(x, 0.99) < (i + 1) / 4 for x in data) for i in range(4)]
    return [count + each for count, each in zip(counts, noise)]


def two_sided_geometric(data, rng):
    p = 1 - math.exp(-1.0)
    return max(0, len(data) + rng.geometric(p) - rng.geometric(p))


def two_exponentials(data, rng):
    return len(data) + rng.exponential(1.0) - rng.exponential(1.0)


def noisy_max(data, rng):
    counts, _ = np.histogram(data, bins=5, range=(0, 1))
    return int(np.argmax(counts + rng.laplace(scale=2.0, size=5)))


def noisy_max_by_hand(data, rng):
    counts, _ = np.histogram(data, bins=5, range=(0, 1))
    scores = [count + rng.laplace(scale=2.0) for count in counts]
    return max(range(5), key=lambda i: scores[i])


def exponential_mechanism(data, rng):
    return int(np.argmax(np.array([sum(data), len(data) / 2]) + rng.gumbel(scale=2.0, size=2)))


def sparse_vector(data, rng):
    threshold = 2 + rng.laplace(scale=2.0)
    for i in range(10):
        if sum(x > i / 10 for x in data) + rng.laplace(scale=4.0) > threshold:
            return i
    return None


def adaptive(data, rng):
    low, high = 0.0, 1.0
    for _ in range(4):
        middle = (low + high) / 2
        below = sum(x < middle for x in data) + rng.laplace(scale=4.0)
        low, high = (middle, high) if below < len("abc") else (low, middle)
    return low, high


def stops_on_an_answer(data, rng):
    found = []
    for _ in range(5):
        found.append(len(data) + rng.laplace(scale=5.0))
        if found[-1] > 4:
            break
    return found


def other_line_same_noise(data, rng):
    if len(data) > 3:
        return len(data) + rng.laplace(scale=1.0)
    return len(data) + rng.laplace(scale=1.0)


def randomized_response(data, rng):
    """Each of ten persons, present or not, answers."""
    present = [i < len(data) for i in range(10)]
    odds = math.e / (1 + math.e)
    return [bit if rng.random() < odds else not bit for bit in present]


def python_random(data):
    u = random.random() - 0.5
    return len(data) - math.copysign(1.0, u) * math.log(1 - 2 * abs(u))


def converted_noise(data, rng):
    return sum(data) + float(rng.laplace(scale=1.0))


def converted_difference(data, rng):
    return len(data) + int(rng.geometric(0.5) - rng.geometric(0.5))


def sampled(data, rng):
    """By amplification it costs ln(1 + (e - 1) / 10)."""
    return sum(x for x in data if rng.random() < 0.1) + rng.laplace(scale=1.0)


def centred_by_an_answer(data, rng):
    middle = (np.sum(data) + rng.laplace(scale=2.0)) / 4
    bounded = np.clip(np.array(data) - middle, -0.5, 0.5)
    return float(np.sum(bounded) + rng.laplace(scale=1.0))


def filtered_by_an_answer(data, rng):
    cut = 0.5 * len(data) - 0.5 * len(data) + 0.5 + rng.laplace(scale=0.1)
    kept = np.array(data)[np.array(data) > cut]
    return len(kept) + rng.laplace(scale=1.0)


def gradient_steps(data, rng):
    rows, weights = np.outer(data, [1.0, -1.0]), np.zeros(2)
    for _ in range(2):
        steps = np.clip(rows - weights, -0.25, 0.25).sum(axis=0)
        weights = weights + 0.1 * (steps + rng.laplace(scale=1.0, size=2))
    return weights


def residual_by_an_answer(data, rng):
    mean = np.clip((sum(data) + rng.laplace(scale=2.0)) / 4, 0, 1)
    return sum(data) - mean * len(data) + rng.laplace(scale=2.0)


def exponential_by_choice(data, rng):
    scores = np.array([sum(data), len(data) / 2, 1.0])
    weights = np.exp(scores / 2)
    return ["a", "b", "c"][rng.choice(3, p=weights / weights.sum())]


UNRECORDED = np.random.default_rng(5)


def by_a_generator_of_its_own(data):
    return sum(data) + UNRECORDED.laplace(scale=1.0)


def shuffled_public(data, rng):
    order = rng.permutation(3)
    return order, [len(data) + rng.laplace(scale=3.0) for _ in order]


@mechanism("values", sensitivity="bound", guarantee="pure:{epsilon}")
def bounded_sum(values, bound, epsilon):
    return float(np.sum(values)) + np.random.default_rng().laplace(scale=bound / epsilon)


def declared(data):
    return bounded_sum(np.sum(np.clip(data, 0, 1)), 1.0, 0.4), bounded_sum(len(data), 1, 0.6)


def raises(data, rng):
    if sum(data) + rng.laplace(scale=1.0) > -1e9:
        raise ValueError("nothing to return")


def descent(data, rng):
    """The data are centred by an answer: what is added to it is not released."""
    weight = 0.5
    for _ in range(4):
        gradients = np.clip(np.array(data) - weight, -1, 1)
        weight = weight + 0.1 * (np.sum(gradients) + rng.laplace(scale=4.0))
    return weight


DECIDED = [
    noisy_sum, noise_first, centred, scaled_noise, by_scipy, two_halves, two_parts_and_noise,
    histogram, elements_of_noise, two_sided_geometric, two_exponentials, noisy_max,
    exponential_mechanism, adaptive, stops_on_an_answer, other_line_same_noise, shuffled_public,
    declared, raises, exponential_by_choice, descent, centred_by_an_answer,
    filtered_by_an_answer, gradient_steps, residual_by_an_answer,
]  # fmt: skip
"""Those that are shown to keep the claim."""

UNDECIDED = [noisy_max_by_hand, sparse_vector, randomized_response, python_random,
             converted_noise, converted_difference, sampled, by_a_generator_of_its_own]  # fmt: skip
"""Those of which some pair may be left undecided: noise by hand, secret coins, selections."""
