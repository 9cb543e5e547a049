"""Raw statistics in what noise is added to, and raw data taken from a noisy answer, are found."""

import numpy as np
import pytest

from simulator.auditing import record
from simulator.auditing.pipelines import elsewhere, reused_noise
from tests.helpers.cases import case

VALUES = [float(x) for x in np.random.default_rng(5).uniform(0.0, 1.0, 30).round(3)]
ROWS = np.random.default_rng(3).uniform(0.0, 1.0, (20, 3)).round(2)
CLAIM = {"claimed": "pure:1"}


def clipped_at_the_median(values, rng):
    top = sorted(values)[len(values) // 2] if values else 0.5
    return sum(min(value, top) for value in values) + rng.laplace(scale=1.0)


def clipped_at_a_quantile(values, rng):
    top = np.quantile(values, 0.9) if values else 1.0
    return np.minimum(values, top).sum() + rng.laplace(scale=1.0)


def within_the_range(values, rng):
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    return sum((value - low) / ((high - low) or 1.0) for value in values) + rng.laplace(scale=1.0)


def near_the_median(values, rng):
    middle = np.median(values) if values else 0.5
    return sum(abs(value - middle) < 0.2 for value in values) + rng.laplace(scale=1.0)


def column_that_varies_most(rows, rng):
    column = int(np.argmax(rows.var(axis=0))) if len(rows) else 0
    return rows[:, column].sum() + rng.laplace(scale=1.0)


COSTLIER = {
    within_the_range: VALUES,
    clipped_at_the_median: VALUES,
    clipped_at_a_quantile: VALUES,
    near_the_median: VALUES,
    column_that_varies_most: ROWS,
}


@pytest.mark.sampled(n=1)
@pytest.mark.parametrize("pipeline", COSTLIER)
def test_a_raw_statistic_under_the_noise_is_found(pipeline, monkeypatch):
    pair = COSTLIER[pipeline], COSTLIER[pipeline][1:]
    report = record(pipeline, *pair, **CLAIM)
    assert report.violated
    assert report.blamed.kind == "cost"
    assert record(pipeline, *report.databases, **CLAIM, seed=report.seed).violated
    monkeypatch.setattr(elsewhere, "costlier_pair", lambda trial, end: (None, 0))
    assert record(pipeline, *pair, **CLAIM).verdict == "kept"


def test_one_record_of_each_person_is_enough(monkeypatch):
    """A table joined with itself moves by one for each person, and by more for one who is twice."""

    def joined(rows, rng):
        matches = sum(one[0] == other[0] for one in rows for other in rows)
        return matches + rng.laplace(scale=1.0)

    people = [(f"person {i}", value) for i, value in enumerate(VALUES[:12])]
    assert record(joined, people, people[:-1], **CLAIM).verdict == "kept"
    twice = people + people[:1]
    assert record(joined, twice, people, **CLAIM).violated


def near_enough(values, rng):
    total = sum(values)
    noisy = total + rng.laplace(scale=1.0)
    while abs(noisy - total) > 1.0:
        noisy = total + rng.laplace(scale=1.0)
    return noisy


def the_nearer_one(values, rng):
    total = sum(values)
    one, other = (total + rng.laplace(scale=2.0) for _ in range(2))
    return one if abs(one - total) < abs(other - total) else other


def at_most_the_number(values, rng):
    return min(sum(values) + rng.laplace(scale=1.0), float(len(values)))


@pytest.mark.sampled(n=1)
@pytest.mark.parametrize("pipeline", [at_most_the_number, near_enough, the_nearer_one])
def test_raw_data_taken_from_a_noisy_answer_are_found(pipeline, monkeypatch):
    assert record(pipeline, VALUES, VALUES[1:], **CLAIM).violated
    monkeypatch.setattr(reused_noise, "_contrary", lambda answers, pairs: iter(()))
    assert not record(pipeline, VALUES, VALUES[1:], **CLAIM).violated


def test_noise_that_is_cut_or_has_a_secret_sign_is_not_blamed():
    def cut(values, rng):
        noise = rng.laplace(scale=1.0)
        while abs(noise) > 14.0:
            noise = rng.laplace(scale=1.0)
        return sum(values) + noise

    def signed(values, rng):
        return sum(values) + rng.exponential(1.0) * rng.choice([-1.0, 1.0])

    def one_sided(values, rng):
        return sum(values) + rng.exponential(1.0)

    for pipeline, violated in ((cut, False), (signed, False), (one_sided, True)):
        with case(pipeline.__name__):
            report = record(pipeline, VALUES, VALUES[1:], claimed="approx:1,1e-5", again=False)
            assert report.violated == violated
