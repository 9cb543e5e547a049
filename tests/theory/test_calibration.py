"""The ladder of per-round parameters, each rung checked by asking its bound again."""

import math

import pytest

from simulator.foundations.errors import InvalidInput
from simulator.theory import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Composition,
    GaussianDP,
    PureDP,
    bound,
    calibrate,
    corollary_3_21,
)

BOB = (1.0, math.exp(-32), 10_000)


def test_the_ladder_of_bob():
    rungs = {rung.name: rung for rung in calibrate(*BOB)}
    assert rungs["basic"].value == pytest.approx(1e-4, rel=1e-9)
    assert rungs["corollary-3.21"].value == pytest.approx(1 / 1600, rel=1e-12)
    # The printed 1/801 lies above what Theorem 3.20 admits and below what is true.
    assert rungs["advanced"].value < 1 / 801 < rungs["kairouz-oh-viswanath-3.3"].value
    assert 1 / rungs["advanced"].value == pytest.approx(812.318, abs=1e-3)
    assert 1 / rungs["kairouz-oh-viswanath-3.3"].value == pytest.approx(715.5106, abs=1e-4)
    assert rungs["advanced"].noise == pytest.approx(812.318, abs=1e-3)


def test_rungs_are_sorted_and_only_an_approximation_may_pass_the_exact_one():
    rungs = calibrate(2.0, 1e-9, 300)
    assert [rung.value for rung in rungs] == sorted(rung.value for rung in rungs)
    exact = next(rung.value for rung in rungs if rung.kind == "exact")
    assert all(rung.value <= exact * (1 + 1e-9) for rung in rungs if rung.kind == "upper")


@pytest.mark.sampled
@pytest.mark.parametrize(
    "family", [PureDP, GaussianDP, ZCDP, BoundedRange, lambda e: ApproxDP(e, 1e-10)]
)
def test_every_rung_fits_and_a_hair_more_does_not(family):
    for rung in calibrate(1.5, 1e-6, 200, family=family):
        if rung.name == "corollary-3.21":
            continue
        asked = bound(rung.name)
        fitted = asked.on(Composition.repeat(rung.guarantee, 200))
        assert fitted.delta(1.5).value <= 1e-6
        more = asked.on(Composition.repeat(family(rung.value * (1 + 1e-6)), 200))
        assert more.delta(1.5).value > 1e-6
        assert fitted.epsilon(1e-6).value <= 1.5 * (1 + 1e-6)


def test_corollary_3_21_follows_from_theorem_3_20_only_for_small_delta():
    advanced = bound("advanced")
    for k in (1, 10, 10_000):
        for delta in (1e-30, 1e-3, 0.3):
            rounds = Composition.repeat(PureDP(corollary_3_21(0.99, delta, k)), k)
            assert advanced.uncapped_epsilon(rounds.core, delta) <= 0.99
    # As printed, delta' may be anything above 0. At 0.95 the theorem does not give epsilon'.
    broken = Composition.repeat(PureDP(corollary_3_21(0.9, 0.95, 1)), 1)
    assert advanced.uncapped_epsilon(broken, 0.95) > 0.9
    names = {rung.name for rung in calibrate(0.9, 0.95, 1)}
    assert "corollary-3.21" not in names


@pytest.mark.nightly
def test_a_target_below_all_floats_over_rounds_ends():
    for family in (PureDP, GaussianDP):
        found = calibrate(5e-324, 1e-6, 10, family=family)
        assert [rung for rung in found if rung.kind == "exact" and rung.value > 0.0]


def test_what_the_rounds_leak_is_respected():
    assert calibrate(1.0, 1e-8, 200, family=lambda e: ApproxDP(e, 1e-10)) == []


@pytest.mark.parametrize(
    "bad", [(0.0, 1e-6, 10), (math.inf, 1e-6, 10), (1.0, 0.0, 10), (1.0, 1.0, 10), (1.0, 1e-6, 0)]
)
def test_nonsense_targets_are_refused(bad):
    with pytest.raises(InvalidInput):
        calibrate(*bad)


def test_a_target_is_found_where_its_share_of_a_round_is_no_float():
    (rung,) = calibrate(5e-324, 1e-6, 10, bounds=[bound("kairouz-oh-viswanath-3.3")])
    assert rung.value > 0.0
