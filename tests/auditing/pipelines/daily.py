"""Pipelines as a data scientist writes them, on a table of age, income and label; ages to 100."""

import numpy as np
from sklearn.preprocessing import OneHotEncoder, StandardScaler

_RNG = np.random.default_rng(0)
ROWS = np.column_stack(
    [_RNG.uniform(18, 90, 12).round(), _RNG.uniform(0, 100, 12).round(1), _RNG.integers(0, 3, 12)]
)
ROWS[-1] = [99, 140, 3]
"""The last record is an outlier with a label of its own."""
LABELS = [0.0, 1.0, 2.0, 3.0]


# -- broken, each with the kind of its finding and a part of the line that is at fault -----------


def standardised_by_the_data(table, rng):
    scaled = StandardScaler().fit_transform(table[:, 1:2])
    return np.clip(scaled, -1, 1).sum() + rng.laplace(scale=0.1)


def groups_that_occur(table, rng):
    labels, counts = np.unique(table[:, 2], return_counts=True)
    return labels, counts + rng.laplace(size=len(counts))


def in_order_of_first_occurrence(table, rng):
    found = {}
    for label in table[:, 2]:
        found[label] = found.get(label, 0) + 1
    return {label: found[label] + rng.laplace() for label in found}


def only_counts_above_zero(table, rng):
    counts = [int((table[:, 2] == label).sum()) for label in LABELS]
    return [count + rng.laplace() for count in counts if count > 0]


def two_releases_for_one(table, rng):
    total = np.clip(table[:, 1], 0, 100).sum() + rng.laplace(scale=100.0)
    return total / max(len(table) + rng.laplace(scale=1.0), 1)


def clipped_at_a_quantile(table, rng):
    cap = np.quantile(table[:, 1], 0.9)
    return np.clip(table[:, 1], 0, cap).sum() + rng.laplace(scale=cap)


def median_with_noise_for_a_count(table, rng):
    return np.median(table[:, 1]) + rng.laplace(scale=1.0)


def exact_counts_of_the_top(table, rng):
    counts = np.array([(table[:, 2] == label).sum() for label in LABELS])
    top = np.argsort(-(counts + rng.laplace(scale=2.0, size=4)))[:2]
    return [(int(i), int(counts[i])) for i in top]


def divides_by_the_batch(table, rng):
    features, weights = table[:, :2] / 100, np.zeros(2)
    for _ in range(3):
        steps = (features @ weights - table[:, 2])[:, None] * features
        steps = steps / np.maximum(1, np.linalg.norm(steps, axis=1, keepdims=True))
        weights = weights - 0.1 * (steps.sum(0) + rng.normal(scale=99.0, size=2)) / len(table)
    return weights


def cached_by_the_mean(table, rng):
    cache = {round(float(table[:, 1].mean())): len(table) + rng.laplace(scale=1.0)}
    return sorted(cache)


def seeded_by_the_data(table):
    rng = np.random.default_rng(int(table[:, 1].sum()))
    return len(table) + rng.laplace(scale=1.0)


def noise_for_two_tables(table, rng):
    noise = rng.laplace(scale=400.0, size=3)
    return table[:6].clip(0, 100).sum(0) + noise, table.clip(0, 100).sum(0) + noise


def noise_for_a_sample(table, rng):
    half = table[len(table) // 2 :]
    return np.clip(half[:, 1], 0, 100).sum() + rng.laplace(scale=10.0)


def sorted_by_exact_counts(table, rng):
    counts = [int((table[:, 2] == label).sum()) for label in LABELS]
    order = sorted(LABELS, key=lambda label: -counts[int(label)])
    return order[-1] if counts[3] else None, len(table) + rng.laplace()


def stops_on_the_exact_loss(table, rng):
    weight = 0.0
    for _ in range(10):
        step = np.clip(table[:, 1] / 100 - weight, -1, 1).sum() + rng.laplace(scale=10.0)
        weight += 0.001 * float(step)
        if ((table[:, 1] / 100 - weight) ** 2).sum() < 4.0:
            break
    return weight


def logs_what_was_clipped(table, rng):
    total = np.clip(table[:, 1], 0, 100).sum() + rng.laplace(scale=100.0)
    return total, f"{(table[:, 1] > 100).sum()} records were clipped"


def noise_by_the_number_of_records(table, rng):
    return np.clip(table[:, 1], 0, 100).mean() + rng.laplace(scale=100 / len(table))


def one_hot_of_what_occurs(table, rng):
    encoder = OneHotEncoder(sparse_output=False).fit(table[:, 2:])
    return encoder.transform(table[:, 2:]).sum(0) + rng.laplace(size=len(encoder.categories_[0]))


def at_most_the_exact_count(table, rng):
    return min(float(5.0 + rng.laplace(scale=1.0)), len(table) - 11.5)


def twice_the_noise_too_late(table, rng):
    total = rng.laplace(scale=50.0)
    for value in np.clip(table[:, 1], 0, 100):
        total += value
    return float(total)


BROKEN = {
    standardised_by_the_data: "cost", groups_that_occur: "argument",
    in_order_of_first_occurrence: "control flow", only_counts_above_zero: "control flow",
    two_releases_for_one: "cost", clipped_at_a_quantile: "argument",
    median_with_noise_for_a_count: "cost", exact_counts_of_the_top: "output",
    divides_by_the_batch: "argument", cached_by_the_mean: "output",
    seeded_by_the_data: "argument", noise_for_two_tables: "noise reused",
    noise_for_a_sample: "cost", sorted_by_exact_counts: "output",
    stops_on_the_exact_loss: "control flow", logs_what_was_clipped: "output",
    noise_by_the_number_of_records: "argument", one_hot_of_what_occurs: "argument",
    at_most_the_exact_count: "output", twice_the_noise_too_late: "cost",
}  # fmt: skip


# -- honest ----------------------------------------------------------------------------------------


def standardised_by_public_numbers(table, rng):
    return np.clip((table[:, 0] - 50) / 20, -3, 3).sum() + rng.laplace(scale=3)


def noisy_counts_above_a_threshold(table, rng):
    noisy = {label: int((table[:, 2] == label).sum()) + rng.laplace() for label in LABELS}
    return {label: float(value) for label, value in noisy.items() if value > 2}


def adaptive_clipping(table, rng):
    cap = 1.0
    for _ in range(5):
        below = (table[:, 1] <= cap).sum() + rng.laplace(scale=10.0)
        cap = cap * 2 if below < 10 else cap * 0.9
    return np.clip(table[:, 1], 0, cap).sum() + rng.laplace(scale=2 * cap)


def private_median(table, rng):
    grid, values = np.arange(0, 101), np.clip(table[:, 1], 0, 100)
    below = (values[None, :] < grid[:, None]).sum(1)
    above = (values[None, :] > grid[:, None]).sum(1)
    return grid[int(np.argmax(-np.abs(below - above) / 2 + rng.gumbel(scale=1.0, size=101)))]


def private_median_by_choice(table, rng):
    grid, values = np.arange(0, 101), np.clip(table[:, 1], 0, 100)
    below = (values[None, :] < grid[:, None]).sum(1)
    above = (values[None, :] > grid[:, None]).sum(1)
    weights = np.exp(-np.abs(below - above) / 2)
    return rng.choice(grid, p=weights / weights.sum())


def top_of_noisy_counts(table, rng):
    noisy = {label: int((table[:, 2] == label).sum()) + rng.laplace() for label in LABELS}
    return sorted(noisy, key=noisy.get, reverse=True)[:2]


def cached_answers(table, rng):
    memo = {}

    def count(label):
        if label not in memo:
            memo[label] = float((table[:, 2] == label).sum() + rng.laplace(scale=1.0))
        return memo[label]

    return count(0), count(1), count(0)


def shuffled_records(table, rng):
    order = rng.permutation(len(table))
    return np.clip(table[order, 1], 0, 100).sum() + rng.laplace(scale=100.0)


def stops_on_a_noisy_loss(table, rng):
    weight, best = 0.0, 1e9
    for _ in range(4):
        step = np.clip(table[:, 1] / 100 - weight, -1, 1).sum() + rng.laplace(scale=8.0)
        weight = weight + 0.01 * step
        loss = np.clip((table[:, 1] / 100 - weight) ** 2, 0, 1).sum() + rng.laplace(scale=8.0)
        if loss > best:
            break
        best = loss
    return weight


def tree_of_counts(table, rng):
    counts, _ = np.histogram(table[:, 0], bins=8, range=(0, 100))
    tree = []
    while True:
        tree.append(counts + rng.laplace(scale=4.0, size=len(counts)))
        if len(counts) == 1:
            return [np.asarray(each) for each in tree]
        counts = counts.reshape(-1, 2).sum(1)


def regression_by_sums(table, rng):
    x, y = np.clip(table[:, 0] / 100, 0, 1), np.clip(table[:, 1] / 100, 0, 1)
    squares = (x * x).sum() + rng.laplace(scale=2.0)
    products = (x * y).sum() + rng.laplace(scale=2.0)
    return products / max(squares, 1.0)


def one_hot_of_public_categories(table, rng):
    encoder = OneHotEncoder(categories=[LABELS], sparse_output=False)
    return encoder.fit_transform(table[:, 2:]).sum(0) + rng.laplace(size=4)


def seeded_by_its_generator(table, rng):
    own = np.random.default_rng(rng.integers(2**32))
    return len(table) + own.laplace(scale=1.0)


def adds_records_to_noise(table, rng):
    total = rng.laplace(scale=100.0)
    for value in np.clip(table[:, 1], 0, 100):
        total += value
    return float(total)


def adds_rows_to_noise(table, rng):
    total = 0.5 * rng.laplace(scale=400.0, size=2)
    for row in np.clip(table[:, :2], 0, 100):
        total += row
    return total


def sums_from_noise(table, rng):
    return sum(np.clip(table[:, 1], 0, 100), rng.laplace(scale=100.0))


HONEST = [
    standardised_by_public_numbers, noisy_counts_above_a_threshold, adaptive_clipping,
    private_median, private_median_by_choice, top_of_noisy_counts, cached_answers,
    shuffled_records, stops_on_a_noisy_loss, tree_of_counts, regression_by_sums,
    one_hot_of_public_categories, seeded_by_its_generator, adds_records_to_noise,
    adds_rows_to_noise, sums_from_noise,
]  # fmt: skip
