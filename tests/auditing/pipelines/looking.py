"""Pipelines that read raw data in a decision, each with its data, and honest ones beside them.

The decisions are the same on most neighbours: 60 records under much noise.
"""

import math
from collections import Counter

import numpy as np
import pandas as pd

_RNG = np.random.default_rng(11)
_N = 60
_X = np.clip(_RNG.normal(size=(_N, 2)), -2, 2)
ROWS = np.column_stack([_X, _X[:, 0] + 0.5 * _RNG.normal(size=_N) > 0])
TABLE = pd.DataFrame(
    {
        "age": _RNG.integers(18, 90, _N),
        "income": _RNG.lognormal(3.5, 0.6, _N).round(1),
        "city": _RNG.choice(list("ABCDE"), _N, p=[0.4, 0.3, 0.2, 0.07, 0.03]),
    }
)
TEXTS = [" ".join(_RNG.choice(list("abcdefgh"), 4)) for _ in range(_N)]
RECORDS = [{"x": float(x), "y": bool(y)} for x, _, y in ROWS]
COLUMNS = (ROWS[:, :2], ROWS[:, 2])


# -- each reads raw data outside of its mechanisms -------------------------------------------------


def model_of_the_best_accuracy(rows, rng):
    x, signs, found = np.clip(rows[:, :2], -1, 1), 2 * rows[:, 2] - 1, []
    for rate in (0.1, 1.0, 10.0):
        model = np.asarray(((x * signs[:, None]).sum(0) + rng.laplace(scale=20, size=2)) * rate)
        found.append((np.mean((x @ model > 0) == (signs > 0)), model))
    return max(found, key=lambda each: each[0])[1]


def cut_of_the_best_accuracy_rounded(data, rng):
    x, y = data
    best = max((0.0, 1.5), key=lambda cut: round(float(np.mean((x[:, 0] > cut) == y)), 1))
    return best, x[:, 0].clip(-1, 1).sum() + rng.laplace(scale=20)


def penalty_of_the_best_fit(records, rng):
    x, y = np.array([[r["x"], 1.0] for r in records]), np.array([r["y"] for r in records])
    fits = {}
    for penalty in (0.01, 1.0):
        weights = np.zeros(2)
        for _ in range(2):
            steps = np.clip(x.T * (1 / (1 + np.exp(-x @ weights)) - y), -1, 1).sum(1)
            weights = weights - 0.01 * (steps + rng.laplace(scale=20, size=2) + penalty * weights)
        fits[penalty] = float(((x @ weights > 0) == y).mean())
    return max(fits, key=fits.get)


def stops_when_the_loss_grows(rows, rng):
    x, weight, last = np.clip(rows[:, 0], -1, 1), 0.0, 1e9
    for _ in range(10):
        weight = weight + 0.01 * (np.clip(x - weight, -1, 1).sum() + rng.laplace(scale=20.0))
        loss = float(np.mean((x - float(weight)) ** 2))
        if loss > last:
            break
        last = loss
    return weight


def stops_when_the_loss_is_threefold(rows, rng):
    x, weight = np.clip(rows[:, 0], -1, 1), 0.0
    for _ in range(5):
        weight = weight + 0.01 * (np.clip(x - weight, -1, 1).sum() + rng.laplace(scale=20.0))
        if np.mean((x - float(weight)) ** 2) > 3 * np.mean(x**2):
            break
    return weight


def nothing_of_few_records(records, rng):
    if len(records) < 20:
        return "not enough data"
    return sum(min(max(r["x"], -1), 1) for r in records) + rng.laplace(scale=20)


def nothing_of_small_groups(table, rng):
    found = {}
    for city in "ABC":
        group = table[table["city"] == city]
        noisy = float(np.clip(group["age"], 0, 100).sum() + rng.laplace(scale=2000))
        found[city] = noisy if len(group) >= 5 else None
    return found


def clipped_at_a_rounded_quantile(rows, rng):
    cap = round(float(np.quantile(np.abs(rows[:, 1]), 0.5)), 0)
    return cap, np.clip(rows[:, 1], -cap, cap).sum() + rng.laplace(scale=20.0)


def clipped_at_a_power_of_two(table, rng):
    cap = 2.0 ** math.ceil(math.log2(table["income"].max()))
    return float(table["income"].clip(0, cap).sum() + rng.laplace(scale=cap))


def words_that_occur(texts, rng):
    words = sorted({word for text in texts for word in text.split()})
    return {w: sum(w in text.split() for text in texts) + rng.laplace(scale=20) for w in words}


def the_commonest_words(texts, rng):
    words = [w for w, _ in Counter("".join(texts).replace(" ", "")).most_common(3)]
    counts = np.array([sum(w in text for text in texts) for w in words], float)
    return dict(zip(words, (counts + rng.laplace(scale=20, size=3)).tolist()))


def rounds_by_the_number_of_records(rows, rng):
    rounds = int(math.log2(len(rows)))
    return [rows[:, 0].clip(-1, 1).sum() + rng.laplace(scale=200) for _ in range(rounds)]


def until_the_raw_mean_is_small(rows, rng):
    weight, step = 0.0, 0
    while step < 6 and abs(np.clip(rows[:, 0] - weight, -1, 1).sum()) > 0.05 * len(rows):
        noisy = np.clip(rows[:, 0] - weight, -1, 1).sum() + rng.laplace(scale=20)
        weight, step = weight + 0.01 * float(noisy), step + 1
    return weight


def groups_of_the_table(table, rng):
    counts = table.groupby("city")["age"].count()
    return (counts + rng.laplace(scale=20, size=len(counts))).to_dict()


def rate_by_the_raw_gradient(rows, rng):
    weight, rate = 0.0, 0.1
    for _ in range(4):
        steps = np.clip(rows[:, 0] - weight, -1, 1)
        rate = rate / 2 if abs(steps.mean()) > 0.8 else rate
        weight = weight + rate / 60 * (steps.sum() + rng.laplace(scale=20))
    return weight


def at_most_ten_for_a_record(rows, rng):
    return min(float(rows[:, 0].clip(-1, 1).sum() + rng.laplace(scale=20)), 10.0 * len(rows))


def rounded_if_the_data_are(table, rng):
    total = float(table["income"].clip(0, 200).sum() + rng.laplace(scale=4000))
    return round(total) if (table["income"] % 1 == 0).all() else total


LOOKING = {
    model_of_the_best_accuracy: ROWS, cut_of_the_best_accuracy_rounded: COLUMNS,
    penalty_of_the_best_fit: RECORDS, stops_when_the_loss_grows: ROWS,
    stops_when_the_loss_is_threefold: ROWS, nothing_of_few_records: RECORDS,
    nothing_of_small_groups: TABLE, clipped_at_a_rounded_quantile: ROWS,
    clipped_at_a_power_of_two: TABLE, words_that_occur: TEXTS, the_commonest_words: TEXTS,
    rounds_by_the_number_of_records: ROWS, until_the_raw_mean_is_small: ROWS,
    groups_of_the_table: TABLE, rate_by_the_raw_gradient: ROWS, at_most_ten_for_a_record: ROWS,
    rounded_if_the_data_are: TABLE,
}  # fmt: skip


# -- honest ----------------------------------------------------------------------------------------


def model_of_the_best_noisy_accuracy(rows, rng):
    x, signs, found = np.clip(rows[:, :2], -1, 1), 2 * rows[:, 2] - 1, []
    for rate in (0.1, 1.0):
        model = np.asarray(((x * signs[:, None]).sum(0) + rng.laplace(scale=20, size=2)) * rate)
        found.append((float(np.sum((x @ model > 0) == (signs > 0)) + rng.laplace(scale=20)), model))
    return max(found, key=lambda each: each[0])[1]


def stops_when_the_noisy_loss_grows(rows, rng):
    x, weight, last = np.clip(rows[:, 0], -1, 1), 0.0, 1e9
    for _ in range(10):
        weight = weight + 0.01 * (np.clip(x - weight, -1, 1).sum() + rng.laplace(scale=40.0))
        loss = np.clip((x - float(weight)) ** 2, 0, 1).sum() + rng.laplace(scale=40)
        if loss > last:
            break
        last = loss
    return weight


def counts_of_public_groups(table, rng):
    counts = table["city"].value_counts().reindex(list("ABCDE"), fill_value=0)
    return counts + rng.laplace(scale=20, size=5)


def table_of_noisy_sums(table, rng):
    sums = np.array([np.clip(table[name], 0, 100).sum() for name in ("age", "income")])
    noisy = np.asarray(sums + rng.laplace(scale=4000, size=2))
    return pd.DataFrame([noisy], columns=table.columns[:2])


def means_of_records(records, rng):
    xs = [min(max(each["x"], -1), 1) for each in records]
    total, count = sum(xs) + rng.laplace(scale=20), len(xs) + rng.laplace(scale=20)
    return round(float(total / max(count, 5.0)), 3)


def checked_histogram(data, rng):
    x, y = data
    if not np.isfinite(x).all():
        raise ValueError("not finite")
    counts, _ = np.histogram(np.clip(x[y > 0, 0], -1, 1), bins=4, range=(-1, 1))
    noisy = np.maximum(np.asarray(counts + rng.laplace(scale=20, size=4)), 0)
    return np.pad(noisy / max(noisy.sum(), 1), (0, x.shape[1]))


class _Mean:
    def fit(self, rows, rng):
        self.rows = rows
        self.total = float(np.clip(rows[:, 0], -1, 1).sum() + rng.laplace(scale=20))
        self.count = max(float(len(rows) + rng.laplace(scale=20)), 1.0)
        return self


def fitted_by_a_class(rows, rng):
    fitted = _Mean().fit(rows, rng)
    return fitted.total / fitted.count


def clipped_gradients(rows, rng):
    weights = np.zeros(2)
    for _ in range(4):
        steps = (rows[:, :2] @ weights - rows[:, 2])[:, None] * rows[:, :2]
        steps = steps / np.maximum(1, np.linalg.norm(steps, axis=1, keepdims=True))
        weights = weights - 0.02 * (steps.sum(0) + rng.laplace(scale=40, size=2))
    return weights


HONEST = {
    model_of_the_best_noisy_accuracy: ROWS, stops_when_the_noisy_loss_grows: ROWS,
    counts_of_public_groups: TABLE, table_of_noisy_sums: TABLE, means_of_records: RECORDS,
    checked_histogram: COLUMNS, fitted_by_a_class: ROWS, clipped_gradients: ROWS,
}  # fmt: skip
