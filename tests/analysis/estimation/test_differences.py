"""Several estimates at once, and the difference of two."""

import math
import pickle
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from simulator import PureDP, Result, simulate
from simulator.adversaries import make
from simulator.analysis import Tilted
from simulator.analysis.estimation import Estimate, Estimates, clopper_pearson, difference
from simulator.engine.outcomes.loss_sample import LossSample
from simulator.errors import InvalidInput, Refusal
from simulator.foundations.errors import NotApplicable


@pytest.fixture(scope="module")
def result():
    adversary = make("press-when-ahead", PureDP(0.2), 10)
    return simulate(adversary, PureDP(0.2), 10, 400, jobs=1, progress=False)


def test_an_estimate_is_a_number_where_it_has_a_value():
    estimate = clopper_pearson(3, 10)
    assert float(estimate) == 0.3
    assert repr(estimate) == f"<Estimate {estimate}>"
    assert "\n" not in repr(estimate)
    with pytest.raises(Refusal, match="no value: too few hits"):
        float(replace(estimate, no_value="too few hits"))


@pytest.mark.parametrize("name", ["tail", "delta"])
def test_several_points_are_the_same_estimates_as_one_by_one(result, name):
    points = [0.1, 0.7, 0.4]
    measure = getattr(result, name)
    several = measure(points, 1, 0.9)
    assert list(several) == [measure(point, 1, 0.9) for point in points]
    assert several == measure(np.array(points), 1, 0.9)
    np.testing.assert_array_equal(several.points, points)
    np.testing.assert_array_equal(several.upper, [e.upper for e in several])
    assert several[1] == measure(0.7, 1, 0.9)
    assert several[:2] == measure(points[:2], 1, 0.9)
    assert len(measure([], 1)) == 0
    assert pickle.loads(pickle.dumps(several)) == several


def test_several_deltas_give_several_epsilons(result):
    assert result.epsilon([0.1, 0.01])[0] == result.epsilon(0.1)


def test_several_estimates_are_a_table(result):
    several = result.delta([0.1, 0.7])
    columns = several.to_frame("arrays")
    assert list(columns) == ["epsilon", "value", "lower", "upper", "confidence", "method"]
    assert {column.shape for column in columns.values()} == {(2,)}
    assert repr(several) == "<2 estimates, epsilon from 0.1 to 0.7>"
    assert several._repr_html_().count("<tr>") == 3
    assert str(several).startswith("epsilon 0.1: ")


@pytest.fixture(scope="module")
def weighted():
    adversary = make("press-when-ahead", PureDP(0.2), 10)
    return simulate(adversary, PureDP(0.2), 10, 400, sampling=Tilted(2.0), jobs=1, progress=False)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "points", "ends"),
    [
        ("tail", [0.7, 1.99, 0.4, 2.5], (0.0, 1.0)),
        ("delta", [0.7, 1.99, 0.4, 2.5], (0.0, 1.0)),
        ("difference", [0.7, 1.99, 0.4, 2.5], (-1.0, 1.0)),
    ],
)
def test_a_point_that_is_refused_leaves_the_others(weighted, name, points, ends):
    """One threshold without a hit took every other estimate with it."""
    measure = getattr(weighted, name)
    if name == "difference":
        measure = partial(measure, weighted)
    several = measure(points, 1, 0.9)
    refused = [point for point, found in zip(points, several) if found.method == "refused"]
    for point, found in zip(points, several):
        if point not in refused:
            assert found == measure(point, 1, 0.9)
            continue
        with pytest.raises(Refusal, match=f"^{re.escape(found.no_value)}$"):
            measure(point, 1, 0.9)
        assert (found.lower, found.upper, found.confidence) == (*ends, 0.9)
        assert math.isnan(found.value)
        with pytest.raises(Refusal, match="no value: 0 of 400 trials hit"):
            float(found)
    assert 2.5 in refused
    assert {0.4, 0.7}.isdisjoint(refused)
    np.testing.assert_array_equal(np.isnan(several.value), np.isin(points, refused))
    assert several.upper.max() == ends[1]
    assert "refused); no value: 0 of 400 trials hit the event" in str(several)
    assert several[3].as_dict()["value"] is None
    apart = difference(several[0], several[3])
    assert (apart.no_value, apart.upper) == (several[3].no_value, several[0].upper - ends[0])
    assert several == measure(points, 1, 0.9) == pickle.loads(pickle.dumps(several))
    with pytest.raises(Refusal, match="0 of 400 trials hit the event"):
        measure([2.5, 2.6], 1, 0.9)


def test_an_epsilon_that_is_refused_leaves_the_others(weighted, monkeypatch):
    one = weighted.epsilon(0.1)

    def outweighed(leak, value, seen):
        return "infinite losses may outweigh it" if value < 0.05 else ""

    monkeypatch.setattr("simulator.analysis.at_one_point.outweighed", outweighed)
    found = weighted.epsilon([0.1, 0.01])
    assert found[0] == one
    assert (found[1].lower, found[1].upper) == (0.0, math.inf)
    assert found[1].no_value == "infinite losses may outweigh it"


@pytest.mark.parametrize("points", ["0.1", [[0.1]], [0.1, "x"], [math.nan], None, object()])
def test_what_is_no_point_is_refused(result, points):
    with pytest.raises(InvalidInput, match="must be"):
        result.delta(points)


def test_a_result_shows_itself(result):
    assert repr(result) == (
        "<Result: adversary press-when-ahead, family pure:0.2, rounds 10, trials 400 of experiment "
        "0 and 1, seed 0>"
    )
    assert "loss in experiment 1" in result._repr_html_()
    strange = replace(result.specification, adversary=lambda coins: None)
    assert "&lt;lambda&gt;" in replace(result, specification=strange)._repr_html_()


def test_the_difference_of_two_intervals():
    one, other = clopper_pearson(30, 100, 0.975), clopper_pearson(10, 100, 0.975)
    found = difference(one, other)
    assert found.value == pytest.approx(0.2)
    assert (found.lower, found.upper) == (one.lower - other.upper, one.upper - other.lower)
    assert found.confidence == pytest.approx(0.95)
    assert found.hits == 40
    assert found.effective_sample_size == 100
    sigma = math.sqrt(0.3 * 0.7 / 99 + 0.1 * 0.9 / 99)
    assert found.relative_standard_error == pytest.approx(sigma / 0.2, rel=0.02)


def test_what_is_not_valid_makes_no_valid_end():
    one, other = clopper_pearson(30, 100), clopper_pearson(10, 100)
    found = difference(replace(one, upper_valid=False), replace(other, upper_valid=False))
    assert not found.lower_valid
    assert not found.upper_valid
    silent = difference(one, other.without_value("few"))
    assert silent.no_value == "few"
    assert math.isnan(silent.value)
    assert silent.lower == one.lower - other.upper


def test_infinite_ends():
    one = replace(clopper_pearson(30, 100), upper=math.inf)
    found = difference(one, one)
    assert (found.lower, found.upper) == (-math.inf, math.inf)
    with pytest.raises(NotApplicable, match="both values are infinite"):
        difference(replace(one, value=math.inf), replace(one, value=math.inf))
    with pytest.raises(NotApplicable, match="leave none"):
        difference(clopper_pearson(3, 10, 0.5), clopper_pearson(3, 10, 0.5))


def test_the_difference_of_two_runs(result):
    same = result.difference(result, 0.3)
    assert same.value == 0.0
    assert same.lower == -same.upper < 0.0
    half = result.delta(0.3, confidence=0.975)
    assert same.upper == half.upper - half.lower
    assert same.confidence == 0.95
    several = result.difference(result, [0.3, 0.4], 1, 0.9)
    assert isinstance(several, Estimates)
    assert several[0] == result.difference(result, 0.3, 1, 0.9)
    with pytest.raises(InvalidInput, match="must be a Result"):
        result.difference(3, 0.3)


def two_point(result, share, trials, rng):
    """A result whose losses are 1 with that share and -1 otherwise: δ(0) = share·(1 - 1/e)."""
    losses = np.where(rng.random(trials) < share, 1.0, -1.0)
    return replace(result, sample={0: LossSample.of(losses)})


@pytest.mark.nightly
def test_the_interval_misses_no_more_than_it_says(result):
    """600 pairs at 80%: misses beyond 20% + 5% of them have a probability below 0.002."""
    rng = np.random.default_rng(20)
    misses = 0
    for _ in range(600):
        one, other = (two_point(result, share, 60, rng) for share in (0.5, 0.3))
        found = one.difference(other, 0.0, confidence=0.8)
        misses += not found.lower <= 0.2 * -math.expm1(-1.0) <= found.upper
    assert misses <= 0.25 * 600


def test_an_interval_of_the_values_alone_would_miss(result):
    """The check can fail: a tenth of the width misses far more often."""
    rng = np.random.default_rng(20)
    misses = 0
    for _ in range(200):
        one, other = (two_point(result, share, 60, rng) for share in (0.5, 0.3))
        found = one.difference(other, 0.0, confidence=0.8)
        narrow = (found.upper - found.lower) / 20.0
        misses += abs(found.value - 0.2 * -math.expm1(-1.0)) > narrow
    assert misses > 0.25 * 200


def test_types():
    assert isinstance(clopper_pearson(1, 2), Estimate)
    assert Result.load.__name__ == "load"


@pytest.mark.parametrize("name", ["tail", "delta", "epsilon"])
@pytest.mark.parametrize("kind", ["too large for a float", "rows of several lengths"])
def test_a_list_that_is_none_of_numbers_is_one_line(result, name, kind):
    points = [10**400, 0.5] if kind == "too large for a float" else [[0.1], [0.1, 0.2]]
    with pytest.raises(InvalidInput, match="must be a number or a list of numbers"):
        getattr(result, name)(points)
