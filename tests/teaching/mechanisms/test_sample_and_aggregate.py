import itertools
import math

import numpy as np
import pytest
from scipy import stats

from simulator.data import datasets
from simulator.data.databases import ADD_REMOVE, REPLACE_ONE, Database
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.teaching.mechanisms import sample_and_aggregate
from simulator.teaching.mechanisms.median import smooth_sensitivity
from simulator.teaching.mechanisms.sample_and_aggregate import SampleAndAggregate
from tests.helpers.laplace_pairs import hockey_stick
from tests.helpers.mechanism_cases import draws

VALUES = (0.0, 2.0, 5.0, 9.0, 10.0)


def spread(database):
    """A statistic with nothing smooth about it."""
    return max(database) * (1 if database.size % 2 else -1)


def parity(database):
    return 10.0 * (database.size % 2)


def databases(n):
    return (Database(v) for v in itertools.combinations_with_replacement(VALUES, n))


def neighbours(database, relation):
    if relation is ADD_REMOVE:
        return [database.add(v) for v in VALUES]
    return [database.replace(a, b) for a, _ in database.records() for b in VALUES]


@pytest.mark.sampled
@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE_ONE], ids=str)
@pytest.mark.parametrize("statistic", [spread, parity])
@pytest.mark.parametrize("blocks", [1, 3, 5])
def test_it_is_private_whatever_the_statistic(relation, statistic, blocks):
    mechanism = SampleAndAggregate(statistic, blocks, 1.0, 1e-2, lower=0.0, upper=10.0, seed=3)
    worst = 0.0
    for database in itertools.chain(databases(1), databases(2)):
        for other in neighbours(database, relation):
            row = mechanism.checked_row(database, other, relation)
            reverse = mechanism.checked_row(other, database, relation)
            worst = max(worst, hockey_stick(row, 1.0), hockey_stick(reverse, 1.0))
    assert worst <= 1e-2


def test_noise_for_the_local_sensitivity_of_the_median_is_caught(monkeypatch):
    def local(values, lower, upper, beta, relation):
        return max(smooth_sensitivity(values, lower, upper, math.inf, relation), 1e-3)

    monkeypatch.setattr(sample_and_aggregate, "smooth_sensitivity", local)
    broken = SampleAndAggregate(spread, 5, 1.0, 1e-2, lower=0.0, upper=10.0, seed=3)
    worst = 0.0
    for database in databases(2):
        for other in neighbours(database, ADD_REMOVE):
            worst = max(worst, hockey_stick(broken.checked_row(database, other, ADD_REMOVE), 1.0))
    assert worst > 1e-2


def test_a_step_moves_as_many_blocks_as_stated():
    mechanism = SampleAndAggregate(spread, 5, 1.0, 1e-2, lower=-10.0, upper=10.0)
    for relation, most in ((ADD_REMOVE, 1), (REPLACE_ONE, 2)):
        for database in databases(3):
            for other in neighbours(database, relation):
                before, after = mechanism.block_values(database), mechanism.block_values(other)
                assert np.sum(before != after) <= most


def test_a_median_of_many_blocks_is_useful_on_a_real_table():
    iris = datasets.load("iris")
    column = next(iter(iris.records()))[0].columns[0]

    def mean(block):
        return float(np.mean([record[column] for record in block]))

    mechanism = SampleAndAggregate(mean, 15, 2.0, 1e-3, lower=0.0, upper=10.0)
    centre, scale = mechanism.centre_and_scale(iris, ADD_REMOVE)
    assert centre == pytest.approx(mean(iris), abs=0.5)
    assert 0 < scale < 10  # the range of the clipped values


def test_sampling():
    # false alarm 1e-6
    mechanism = SampleAndAggregate(spread, 3, 1.0, 1e-2, lower=0.0, upper=10.0)
    database = Database([0.0, 5.0, 9.0, 10.0])
    centre, scale = mechanism.centre_and_scale(database, ADD_REMOVE)
    sample = draws(mechanism.pair(database, database), 0, 4_000)
    assert stats.kstest(sample, stats.laplace(centre, scale).cdf).pvalue > 1e-6
    assert stats.kstest(sample, stats.laplace(centre, scale / 2).cdf).pvalue < 1e-6


def nothing(database):
    return math.nan


def test_input():
    good = {"statistic": spread, "blocks": 3, "epsilon": 1.0, "delta": 1e-2}
    good |= {"lower": 0.0, "upper": 10.0}
    bad = [{"statistic": 7}, {"blocks": 0}, {"blocks": 2.5}, {"epsilon": 0.0}, {"delta": 1.0}]
    for wrong in [*bad, {"lower": 11.0}, {"upper": math.inf}]:
        with pytest.raises(InvalidInput):
            SampleAndAggregate(**good | wrong)
    with pytest.raises(NotApplicable):
        SampleAndAggregate(spread, 3, 20.0, 0.3, lower=0.0, upper=10.0)
    with pytest.raises(InvalidInput, match="not a number"):
        SampleAndAggregate(**good | {"statistic": nothing}).pair(Database([1.0]), Database([1.0]))
