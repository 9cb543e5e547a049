"""Parameters calibrated by the certified law, against closed forms and against asking again."""

import math

import pytest

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory import (
    Composition,
    GaussianLaw,
    LaplaceLaw,
    PoissonSubsampledLaw,
    PureDP,
    SubsampledGaussianDP,
    bound,
    compose_laws,
    randomized_response,
)
from simulator.theory.bounds import certified_calibration
from simulator.theory.bounds.certified_calibration import ParameterScale, calibrate_certified
from simulator.theory.events.open_account import OpenAccount, scale_of
from simulator.theory.laws.gaussian_curve import gaussian_epsilon

SIGMA, RATE, EPSILON, ROUNDS = map(scale_of, ("sigma", "rate", "epsilon", "count"))


def sampled(sigma, rate, rounds):
    return [(PoissonSubsampledLaw(GaussianLaw(1 / sigma), rate), int(rounds))]


def worse(laws, delta, tolerance=1e-6):
    one = compose_laws(laws, tolerance)
    sides = [pld.epsilon(delta) for pld in (one, one.reversed())]
    return max(side.lower for side in sides), max(side.upper for side in sides)


def test_sigma_of_a_gaussian_has_the_closed_form():
    found = calibrate_certified(lambda sigma: [(GaussianLaw(1 / sigma), 10)], 1.0, 1e-6, SIGMA)
    assert found.value - found.beyond == pytest.approx(0.001)
    inside, outside = (
        gaussian_epsilon(math.sqrt(10) / sigma, 1e-6) for sigma in (found.value, found.beyond)
    )
    assert inside <= 1.0 < outside


@pytest.mark.parametrize("digits", [1, 2, 4, 8])
def test_every_digit_that_is_asked_for_is_certified(digits):
    scale = scale_of("epsilon", digits)
    found = calibrate_certified(lambda e: [(randomized_response(e), 100)], 2.0, 1e-5, scale)
    assert len(f"{found.value:.12g}".strip("0.").replace(".", "")) <= digits
    asked = [
        bound("kairouz-oh-viswanath-3.3").on(Composition.repeat(PureDP(value), 100)).epsilon(1e-5)
        for value in (found.value, found.beyond)
    ]
    assert asked[0].upper <= 2.0 < asked[1].lower
    assert 1 < found.beyond / found.value < 1 + 20 * 10.0**-digits


@pytest.mark.nightly
def test_sigma_rate_and_rounds_of_a_sampled_gaussian_meet_in_one_point():
    sigma = calibrate_certified(lambda s: sampled(s, 0.05, 40), 2.0, 1e-5, SIGMA)
    assert worse(sampled(sigma.value, 0.05, 40), 1e-5)[1] <= 2.0
    assert worse(sampled(sigma.beyond, 0.05, 40), 1e-5)[0] > 2.0
    rate = calibrate_certified(lambda q: sampled(sigma.value, q, 40), 2.0, 1e-5, RATE)
    assert rate.value == pytest.approx(0.05, rel=1e-4)
    assert rate.value >= 0.05
    rounds = calibrate_certified(lambda k: sampled(sigma.value, 0.05, k), 2.0, 1e-5, ROUNDS)
    assert (rounds.value, rounds.beyond) == (40.0, 41.0)
    assert rounds.epsilon.upper <= 2.0 < rounds.beyond_epsilon.lower


@pytest.mark.nightly
def test_more_noise_is_needed_where_the_direction_is_chosen_in_every_round():
    scale = ParameterScale("sigma", 1e-4, 1e6, start=1.0, grows=True, digits=4)
    fixed, chosen = (
        calibrate_certified(
            lambda s: sampled(s, 0.05, 10), 1.0, 1e-5, scale, any_direction=any_direction
        )
        for any_direction in (False, True)
    )
    assert (fixed.any_direction, chosen.any_direction) == (False, True)
    assert fixed.beyond < fixed.value < chosen.value
    ends = [
        bound("any-direction").on(Composition.repeat(SubsampledGaussianDP(s, 0.05), 10))
        for s in (chosen.value, chosen.beyond, fixed.value)
    ]
    assert ends[0].epsilon(1e-5).upper <= 1.0 < ends[1].epsilon(1e-5).lower
    assert ends[2].epsilon(1e-5).lower > 1.0  # one direction's sigma is not the family's


def test_a_symmetric_pair_needs_no_more_noise_in_any_direction():
    found = [
        calibrate_certified(
            lambda e: [(randomized_response(e), 20)], 1.0, 1e-5, scale_of("epsilon", 3), **how
        )
        for how in ({}, {"any_direction": True})
    ]
    assert found[0].value == found[1].value
    with pytest.raises(NotApplicable, match="rounds that differ"):
        calibrate_certified(
            lambda s: [*sampled(s, 0.1, 3), *sampled(2 * s, 0.1, 3)],
            1.0, 1e-5, SIGMA, any_direction=True,
        )  # fmt: skip


def test_what_all_of_the_range_meets_has_no_next_one():
    found = calibrate_certified(lambda q: sampled(100.0, q, 10), 2.0, 1e-5, RATE)
    assert (found.value, found.beyond, found.beyond_epsilon) == (1.0, None, None)
    least = ParameterScale("sigma", 5.0, 10.0, start=5.0, grows=True)
    assert calibrate_certified(lambda s: sampled(s, 0.1, 3), 2.0, 1e-5, least).value == 5.0


def test_what_nothing_meets_is_refused():
    with pytest.raises(NotApplicable, match=r"no count from 1 to 1e\+09 meets the target"):
        calibrate_certified(lambda k: [(LaplaceLaw(10.0), int(k))], 2.0, 1e-5, ROUNDS)


@pytest.mark.parametrize(
    "target", [(0.0, 1e-6), (math.nan, 1e-6), (1.0, 0.0), (1.0, 1.0), (1.0, 1e-305)]
)
def test_a_target_that_makes_no_sense_is_refused(target):
    with pytest.raises(InvalidInput, match="target"):
        calibrate_certified(lambda s: sampled(s, 0.1, 3), *target, SIGMA)


def test_candidates_are_the_decimal_numbers_in_order():
    scale = ParameterScale("x", 1e-9, 1e9, start=1.0, grows=True, digits=2)
    index = scale.index(0.098)
    assert [scale.candidate(index + step) for step in range(4)] == [0.098, 0.099, 0.1, 0.11]
    for value in (1e-9, 0.12, 1.0, 99.0, 1e5):
        assert scale.candidate(scale.index(value)) == value
    assert scale.candidate(scale.index(0.1199)) == 0.11


def test_an_engine_that_reports_too_little_is_not_believed_beyond(monkeypatch):
    """With brackets whose lower ends are lost no next candidate can be certified."""
    honest = certified_calibration.compose_laws

    class Vague:
        def __init__(self, laws, tolerance):
            self.pld = honest(laws, tolerance)

        def epsilon(self, delta):
            found = self.pld.epsilon(delta)
            return type(found)(0.0, found.upper)

    monkeypatch.setattr(certified_calibration, "compose_laws", Vague)
    with pytest.raises(NotApplicable, match="no candidate beyond it is certified to miss it"):
        calibrate_certified(
            lambda e: [(randomized_response(e), 10)], 1.0, 1e-5, scale_of("epsilon", 3)
        )


def test_the_unknown_of_a_document_is_calibrated():
    text = """{"dpcompose": "event", "version": 1, "event": {"kind": "compose", "events": [
        {"kind": "self_compose", "count": 10, "event": {"kind": "gaussian", "sigma": "?"}},
        {"kind": "laplace", "scale": 10}]}}"""
    found = OpenAccount.from_json(text, 3).calibrated(1.0, 1e-6)
    meets, misses = (
        OpenAccount.from_json(text, 3).at(value).epsilon(1e-6)
        for value in (found.value, found.beyond)
    )
    assert meets.upper <= 1.0 < misses.lower
    assert found.beyond < found.value


def test_the_direction_that_guides_the_search_is_not_taken_for_the_worse_one_at_its_end():
    """Only at the start is the first direction the worse one here."""
    scale = ParameterScale("sigma", 0.1, 10.0, start=2.0, grows=True, digits=3)

    def turned(sigma):
        ((law, count),) = sampled(sigma, 0.1, 10)
        return [(law if sigma == 2.0 else law.reversed(), count)]

    plain, other = (
        calibrate_certified(rounds, 1.0, 1e-5, scale)
        for rounds in (lambda sigma: sampled(sigma, 0.1, 10), turned)
    )
    assert (other.value, other.beyond) == (plain.value, plain.beyond)
    assert worse(turned(other.value), 1e-5)[1] <= 1.0 < worse(turned(other.beyond), 1e-5)[0]


def test_nothing_outside_the_range_is_tried_where_candidates_leak_the_same():
    """A loss that grows in steps of .1: neighbours have one epsilon, and no line leads on."""

    def steps(parameter):
        assert 0.2 <= parameter <= 5.0
        return [(randomized_response(math.floor(10.0 * parameter) / 10.0), 1)]

    scale = ParameterScale("parameter", 0.2, 5.0, start=0.31, grows=False, digits=3)
    found = calibrate_certified(steps, 0.35, 1e-9, scale)
    assert (found.value, found.beyond) == (0.399, 0.4)
