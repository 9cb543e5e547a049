"""Plain intervals against independent witnesses."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from simulator.analysis.estimation import (
    Estimate,
    betting_interval,
    clopper_pearson,
    empirical_bernstein,
    proportion_lower,
    proportion_upper,
)
from simulator.foundations.errors import InvalidInput
from tests.helpers.exploring import examples


@pytest.mark.parametrize(("hits", "trials"), [(0, 10), (3, 10), (10, 10), (17, 2000), (1, 10**6)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-8])
def test_clopper_pearson_is_scipys_exact_interval(hits, trials, confidence):
    estimate = clopper_pearson(hits, trials, confidence)
    witness = binomtest(hits, trials).proportion_ci(confidence, method="exact")
    assert estimate.value == hits / trials
    assert estimate.lower == pytest.approx(witness.low, rel=1e-6)
    assert estimate.upper == pytest.approx(witness.high, rel=1e-6)


def test_no_hits_leave_a_closed_form_upper_limit():
    estimate = clopper_pearson(0, 1_000_000, 0.95)
    assert estimate.lower == 0.0
    assert estimate.upper == pytest.approx(-math.expm1(math.log(0.025) / 1e6), rel=1e-12)
    assert math.isinf(estimate.relative_standard_error)


@given(st.integers(1, 500), st.data())
@examples(60)
def test_counting_failures_mirrors_the_limits(trials, data):
    hits = data.draw(st.integers(0, trials))
    lower = proportion_lower(hits, trials, 0.01)
    assert lower <= hits / trials <= proportion_upper(hits, trials, 0.01)
    assert lower == pytest.approx(1.0 - proportion_upper(trials - hits, trials, 0.01), abs=1e-12)


def test_empirical_bernstein_by_hand():
    sample = np.array([0.0, 1.0] * 50)  # sample variance 25/99
    logarithm = math.log(4 / 0.05)
    radius = math.sqrt(2 * 25 / 99 * logarithm / 100) + 7 * logarithm / (3 * 99)
    estimate = empirical_bernstein(sample, 0.95)
    assert (estimate.lower, estimate.upper) == pytest.approx((0.5 - radius, 0.5 + radius))


def test_the_largest_share_is_that_of_one_trial_or_of_all_where_none_contributes():
    assert betting_interval([0.5, 0.0, 0.25, 0.25]).largest_weight_share == 0.5
    assert betting_interval([0.0, 0.0]).largest_weight_share == 1.0


def test_an_estimate_reads_well_and_serialises_strictly():
    estimate = Estimate(
        value=0.0123, lower=0.0119, upper=0.0127, confidence=0.95, method="Clopper-Pearson",
        hits=123, effective_sample_size=1e4, largest_weight_share=1 / 123,
        relative_standard_error=0.09,
    )  # fmt: skip
    assert str(estimate) == "0.0123 [0.0119, 0.0127] (95%, Clopper-Pearson)"
    nothing = clopper_pearson(0, 100)
    text = json.dumps(nothing.as_dict(), allow_nan=False)
    assert json.loads(text)["relative_standard_error"] is None
    assert json.loads(text)["upper"] == nothing.upper


def test_the_digits_tell_the_ends_apart():
    estimate = replace(clopper_pearson(9, 9), value=0.123456, lower=0.123451, upper=0.123461)
    assert str(estimate).startswith("0.123456 [0.123451, 0.123461]")
    endless = replace(estimate, value=1.5, lower=1.25, upper=math.inf)
    assert str(endless).startswith("1.5 [1.25, inf]")
    assert str(replace(estimate, value=0.0, lower=0.0, upper=0.0)).startswith("0 [0, 0]")


@pytest.mark.parametrize(
    "call",
    [
        lambda: clopper_pearson(3, 2),
        lambda: clopper_pearson(-1, 2),
        lambda: clopper_pearson(0, 0),
        lambda: clopper_pearson(1, 2, 1.0),
        lambda: clopper_pearson(1, 2, math.nan),
        lambda: proportion_lower(1, 2, 0.0),
        lambda: empirical_bernstein([0.5]),
        lambda: empirical_bernstein([0.5, 1.5]),
        lambda: empirical_bernstein([0.5, math.nan]),
        lambda: empirical_bernstein([]),
        lambda: empirical_bernstein([[0.5, 0.5]]),
    ],
)
def test_nonsense_is_refused_in_one_line(call):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_estimates_without_a_value_are_equal_where_all_else_is():
    one, other = (
        Estimate.refused("no hit", (0.0, math.inf), confidence) for confidence in (0.95, 0.99)
    )
    again = replace(one, value=float("nan"))  # another object than math.nan
    assert one == again
    assert hash(one) == hash(again)
    assert one != other
    assert one != replace(one, value=0.5)
    assert one != 0.5
