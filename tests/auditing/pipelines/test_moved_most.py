"""Raw statistics in what noise is added to, and raw data taken from a noisy answer, are found."""

import numpy as np
import pandas as pd
import pytest

from simulator.auditing import record
from simulator.auditing.pipelines import elsewhere, reused_noise
from simulator.auditing.testing import PrivacyViolation, assert_pipeline
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


_RNG = np.random.default_rng(42)
TABLE = pd.DataFrame({"age": _RNG.integers(18, 90, 80), "income": _RNG.uniform(0, 100, 80)})
TABLE.loc[_RNG.random(80) < 0.25, "income"] = np.nan
TABLE["hours"] = np.where(_RNG.random(80) < 0.4, np.nan, _RNG.integers(0, 60, 80))
TABLE["city"] = _RNG.choice(list("ABCDE"), 80, p=[0.4, 0.3, 0.2, 0.07, 0.03])


def column_with_values(table, rng):
    column = "income" if table["income"].isna().mean() <= 0.3 else "hours"
    return float(table[column].fillna(0).clip(0, 100).sum() + rng.laplace(scale=100.0))


def clipped_by_the_median(table, rng):
    cap = 50.0 if table["income"].median() < 45 else 100.0
    return float(table["income"].fillna(0).clip(0, cap).sum() / cap + rng.laplace(scale=1.0))


def column_by_the_number(rows, rng):
    return float(rows[:, 0 if len(rows) >= 14 else 1].sum() + rng.laplace(scale=1.0))


def ages_of_the_largest_city(table, rng):
    city = table["city"].value_counts().index[0]
    return float(table[table["city"] == city]["age"].sum() + rng.laplace(scale=100.0))


def the_young_if_many(table, rng):
    young = table[table["age"] < 30]
    used = young if len(young) >= 10 else table
    return float((used["hours"] > 20).sum() + rng.laplace(scale=1.0))


def mean_if_any(values, rng):
    """It moves by much where there is one record or none."""
    mean = np.clip(values, 0, 1).mean() if len(values) else 0.0
    return float(40 * mean + rng.laplace(scale=8.0))


COSTLIER = {
    mean_if_any: np.full(12, 0.5),
    column_by_the_number: ROWS,
    column_with_values: TABLE,
    the_young_if_many: TABLE,
    clipped_by_the_median: TABLE,
    ages_of_the_largest_city: TABLE,
    within_the_range: VALUES,
    clipped_at_the_median: VALUES,
    clipped_at_a_quantile: VALUES,
    near_the_median: VALUES,
    column_that_varies_most: ROWS,
}


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("pipeline", COSTLIER)
def test_a_raw_statistic_under_the_noise_is_found(pipeline, monkeypatch):
    pair = COSTLIER[pipeline], COSTLIER[pipeline][1:]
    report = record(pipeline, *pair, **CLAIM)
    assert report.violated
    assert report.blamed.kind == "cost"
    assert record(pipeline, *report.databases, **CLAIM, seed=report.seed).violated
    monkeypatch.setattr(elsewhere, "costlier_pair", lambda trial, relation: (None, 0))
    assert record(pipeline, *pair, **CLAIM).verdict == "kept"


@pytest.mark.nightly
def test_a_raw_statistic_is_found_among_as_many_records():
    for pipeline in (column_with_values, clipped_by_the_median, column_that_varies_most):
        with case(pipeline.__name__), pytest.raises(PrivacyViolation, match="cost: "):
            assert_pipeline(pipeline, COSTLIER[pipeline], neighbours="replace-one", **CLAIM)


def column_with_values_by_a_noisy_count(table, rng):
    missing = table["income"].isna().sum() + rng.laplace(scale=2.0)
    column = "income" if missing <= 20 else "hours"
    return float(table[column].fillna(0).clip(0, 100).sum() + rng.laplace(scale=200.0))


def clipped_by_a_noisy_count(table, rng):
    low = (table["income"] < 45).sum() - (table["income"] >= 45).sum() + rng.laplace(scale=2.0)
    cap = 50.0 if low > 0 else 100.0
    return float(table["income"].fillna(0).clip(0, cap).sum() / cap + rng.laplace(scale=2.0))


def the_larger_class(values, rng):
    """The larger of two counts moves by one at most, whichever it is."""
    large = sum(value > 0.5 for value in values)
    return max(large, len(values) - large) + rng.laplace(scale=1.0)


CHEAPER = {
    the_larger_class: VALUES[:12],
    column_with_values_by_a_noisy_count: TABLE,
    clipped_by_a_noisy_count: TABLE,
}


@pytest.mark.sampled(n=1)
@pytest.mark.parametrize("pipeline", CHEAPER)
def test_a_choice_of_no_cost_or_by_noisy_numbers_is_kept(pipeline):
    pair = CHEAPER[pipeline], CHEAPER[pipeline][1:]
    assert record(pipeline, *pair, **CLAIM).verdict == "kept"


def test_neighbours_of_a_slow_pipeline_are_looked_for_among_fewer_records(monkeypatch):
    """A run on twenty times as many records may take four hundred times as long."""
    sizes = []

    def counted(values, rng):
        sizes.append(len(values))
        return len(values) + rng.laplace(scale=1.0)

    monkeypatch.setattr(elsewhere, "costlier_pair", lambda trial, relation: (None, 0))
    for name, largest in (("", 20 * 30), ("LONGEST", 30), ("QUICK", 12)):
        monkeypatch.setattr(elsewhere, name, 0.0, raising=False)
        sizes.clear()
        record(counted, VALUES, VALUES[1:], **CLAIM)
        assert sizes[:2] == [30, 29]
        assert max(sizes[4:]) == largest


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
