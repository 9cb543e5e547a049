"""Raw data read in a decision are found by one pair; honest pipelines are not blamed."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from simulator.auditing import record
from simulator.auditing.pipelines import elsewhere, neighbours
from simulator.auditing.pipelines.paired_runs import PairedRuns
from simulator.auditing.pipelines.prices import draws_needed
from simulator.auditing.pipelines.runs import instrumented
from simulator.auditing.testing import PrivacyViolation, assert_pipeline
from simulator.theory.guarantees.named import parse_guarantee
from tests.auditing.pipelines.looking import (
    COLUMNS,
    HONEST,
    LOOKING,
    RECORDS,
    ROWS,
    TABLE,
    TEXTS,
    nothing_of_small_groups,
    words_that_occur,
)
from tests.helpers.cases import case

CLAIM = {"claimed": "pure:50"}


def claim_of(pipeline):
    """The noise of its other groups may hide it, which e^50 draws would have to tell."""
    hidden = (nothing_of_small_groups, words_that_occur)
    return {"claimed": "pure:2"} if pipeline in hidden else CLAIM


@pytest.fixture
def no_other_costs(monkeypatch):
    """No other pairs are priced, which takes most of the time."""
    monkeypatch.setattr(elsewhere, "costlier_pair", lambda trial, relation: (None, 0))


def one_less(database, place):
    n = neighbours.size(database)
    return neighbours.part(database, [i for i in range(n) if i != place % n])


@pytest.mark.sampled(n=1)
@pytest.mark.parametrize("seed", range(5))
def test_one_pair_is_enough_to_find_what_reads_raw_data(seed):
    for pipeline, database in LOOKING.items() if seed else [*LOOKING.items()][::4]:
        with case(pipeline.__name__):
            claim, other = claim_of(pipeline), one_less(database, 7 * seed)
            report = record(pipeline, database, other, **claim, seed=seed)
            assert report.violated, report


def test_what_noise_may_hide_is_undecided_at_a_large_claim(no_other_costs, monkeypatch):
    monkeypatch.setattr(elsewhere, "SECONDS", 0.5)
    report = record(nothing_of_small_groups, TABLE, one_less(TABLE, 7), **CLAIM)
    assert report.verdict == "undecided"
    assert draws_needed(parse_guarantee("pure:50")) == 0
    assert draws_needed(parse_guarantee("pure:2")) == 109  # (1 - 0.6 e^-2)^109 < 1e-4


@pytest.mark.sampled(n=1)
@pytest.mark.parametrize("seed", range(5))
def test_an_honest_pipeline_beside_it_is_kept(seed):
    for pipeline, database in HONEST.items() if seed else [*HONEST.items()][4:6]:
        with case(pipeline.__name__):
            report = record(pipeline, database, one_less(database, 7 * seed), **CLAIM, seed=seed)
            assert report.verdict == "kept", report


@pytest.mark.nightly
@pytest.mark.parametrize("neighbourhood", ["add-remove", "replace-one"])
def test_the_assertion_finds_them_too(neighbourhood):
    """The number of records is public under replace-one."""
    for pipeline, database in LOOKING.items():
        sized = pipeline.__name__.startswith(("nothing_of_few", "rounds_by", "at_most"))
        if sized and neighbourhood == "replace-one":
            continue
        with case(pipeline.__name__), pytest.raises(PrivacyViolation) as caught:
            assert_pipeline(pipeline, database, neighbours=neighbourhood, **claim_of(pipeline))
        assert caught.value.result.violated
    for pipeline, database in HONEST.items():
        with case(pipeline.__name__):
            options = {"neighbours": neighbourhood, "strict": True}
            assert_pipeline(pipeline, database, **options, **CLAIM)


def test_the_other_databases_differ_while_a_pipeline_is_recorded():
    """A recording replaces the generators of numpy, and must not make all databases one."""
    with instrumented(()):
        drawn = [
            tuple(places)
            for number in range(8)
            for places in elsewhere.other_places(ROWS, "add-remove", number)
        ]
    assert len(set(drawn)) >= 28


def test_without_other_databases_nothing_is_found(monkeypatch):
    pipeline = [*LOOKING][7]
    pair = ROWS, ROWS[:-1]
    assert record(pipeline, *pair, **CLAIM).violated
    monkeypatch.setattr(elsewhere, "other_places", lambda *args: iter(()))
    assert record(pipeline, *pair, **CLAIM).verdict == "kept"


def test_two_other_databases_get_the_answers_of_the_first_one():
    """An answer that moved with the database would prove nothing."""

    def total(rows, rng):
        return float(rows[:, 0].sum() + rng.laplace(scale=20))

    with instrumented(()):
        trial = PairedRuns(total, (ROWS, ROWS[:9]), None, False, 0)
        events = trial.play(ROWS, None).tape.events
        other = PairedRuns(total, (ROWS[:4], ROWS[:9]), None, False, 0, answers=events)
        assert other.leaks() == []
        answers = [run.outcome.returned for run in (other.first, other.second)]
        assert answers == [float(events[-1].answer)] * 2
        again = other.play(ROWS[:2], other.first.tape.events)
        assert again.outcome.returned == answers[0]


# -- what is read after the last call --------------------------------------------------------------


def noisy_sum(rows, rng):
    return float(rows[:, 0].clip(-1, 1).sum() + rng.laplace(scale=20))


def zero_for_one_sum(rows, rng):
    noisy = noisy_sum(rows, rng)
    return 0.0 if rows[:, 0].sum() == 0.125 else noisy


def zero_for_a_million_records(rows, rng):
    noisy = noisy_sum(rows, rng)
    return noisy if len(rows) < 10**6 else 0.0


def beside_the_records(rows, rng):
    noisy = noisy_sum(rows, rng)
    pair = [noisy, rows]  # one instruction of newer Pythons loads both
    return pair[0]


def by_the_columns(rows, rng):
    noisy = noisy_sum(rows, rng)
    return np.zeros(rows.shape[1]) + noisy


class _Layer:
    """What can be called is not only a method: it may hold what is returned."""

    def __call__(self, rows):
        return rows


def by_a_layer_of_a_model(rows, rng):
    model = SimpleNamespace(gradient=float(rows.sum()), layer=_Layer())
    model.layer.weight = noisy_sum(rows, rng)
    return round(model.layer.weight, 3)


def test_what_is_read_after_the_last_call_is_not_kept(no_other_costs):
    for pipeline, text in (
        (zero_for_one_sum, "rows"),
        (zero_for_a_million_records, "len(rows)"),
        (beside_the_records, "rows"),
    ):
        report = record(pipeline, ROWS, ROWS[:-1], **CLAIM)
        assert report.verdict == "undecided"
        line = pipeline.__code__.co_firstlineno + 2
        assert f"it reads {text} at " in report.blamed.text
        assert f"test_looking.py:{line}, after its last call; no difference in" in str(report)
    for pipeline in (by_the_columns, by_a_layer_of_a_model):
        assert record(pipeline, ROWS, ROWS[:-1], **CLAIM).verdict == "kept"


# -- relations and databases -----------------------------------------------------------------------


def test_features_may_be_public_where_the_pair_differs_in_labels_alone():
    def noisy_labels(rows, rng):
        return rows[:, :2].sum(0).round(6), rows[:, 2].sum() + rng.laplace(scale=1.0)

    other = ROWS.copy()
    other[3, 2] = 1 - other[3, 2]
    report = record(noisy_labels, ROWS, other, claimed="pure:1")
    assert report.verdict == "kept"
    assert "no difference in" in str(report)
    assert record(noisy_labels, ROWS, other, neighbours="replace-one", claimed="pure:1").violated


def test_the_relation_of_two_databases():
    assert neighbours.relation_of(ROWS, ROWS[:-1]) == "add-remove"
    assert neighbours.relation_of(ROWS, ROWS[:-2]) == ""
    assert neighbours.relation_of([1, 2], [1, 3]) == "replace-one"
    assert neighbours.relation_of([(1, 2), (1, 3)], [(1, 2), (1, 4)]) == ""
    assert neighbours.relation_of(3, 4) == ""


def test_the_records_of_each_kind_of_database():
    databases = [ROWS, TABLE, TEXTS, RECORDS, COLUMNS, {"x": [1, 2, 3], "y": np.arange(3)}]
    for database in databases:
        n = neighbours.size(database)
        some = neighbours.part(database, [2, 0, 2])
        assert n in (3, 60)
        assert neighbours.size(some) == 3
        assert type(some) is type(database)
        for whole, taken in itertools.zip_longest(*map(neighbours.columns_of, (database, some))):
            assert [whole[i] for i in (2, 0, 2)] == [*taken]
    named = TABLE.set_index(pd.Index([f"row {i}" for i in range(60)]))
    assert [*neighbours.part(named, [2, 0]).index] == ["row 2", "row 0"]


def test_the_smallest_pair_has_the_record_that_moved():
    data = [*range(40)]
    pair = neighbours.NeighbourPair(data, [*data[:17], *data[18:]], 9)
    least = neighbours.smallest(
        pair, 60.0, lambda each: len(each) >= 3 and 30 in each.second and each.rounds > 4
    )
    assert least.rounds == 5
    assert len(least.first) == 3
    assert {17, 30} < {*least.first}
    assert {*least.first} - {*least.second} == {17}
