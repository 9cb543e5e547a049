"""An accountant's claim against certified ends."""

import math

import pytest

from simulator.auditing.testing import PrivacyViolation, assert_accountant
from simulator.foundations.errors import InvalidInput
from simulator.theory import Composition, GaussianDP, LaplaceLaw, PureDP, compose_laws

DELTA = 1e-6
ROUNDS = [(LaplaceLaw(0.1), 200)]
TRUTH = compose_laws(ROUNDS).epsilon(DELTA)


def test_claims_between_or_above_the_certain_ends_pass():
    for claim in (TRUTH.midpoint, TRUTH.upper, 100.0, math.inf):
        found = assert_accountant(claim, ROUNDS, DELTA)
        assert found.lower <= TRUTH.upper
        assert TRUTH.lower <= found.upper


@pytest.mark.parametrize("rounds", [ROUNDS, Composition.repeat(GaussianDP(0.1), 200)])
def test_a_claim_just_below_fails_and_says_by_how_much(rounds):
    truth = assert_accountant(math.inf, rounds, DELTA)
    with pytest.raises(PrivacyViolation, match=r"too little by at least .* \(0\.10%\)") as failed:
        assert_accountant(0.999 * truth.lower, rounds, DELTA)
    assert failed.value.result == truth
    assert "\n" not in str(failed.value)


def test_a_loose_claim_fails_where_asked():
    assert_accountant(1.04 * TRUTH.lower, ROUNDS, DELTA, loose=1.05)
    with pytest.raises(PrivacyViolation, match=r"at least 1\.1 times the truth, and 1\.05 times"):
        assert_accountant(1.1 * TRUTH.upper, ROUNDS, DELTA, loose=1.05)
    with pytest.raises(PrivacyViolation, match="inf times the truth"):
        assert_accountant(0.1, [(PureDP(0.0), 1)], DELTA, loose=2.0)


@pytest.mark.parametrize("claim", [math.nan, -0.1, -math.inf])
def test_what_is_no_epsilon_fails(claim):
    with pytest.raises(PrivacyViolation, match="no epsilon"):
        assert_accountant(claim, ROUNDS, DELTA)


def test_a_finite_claim_on_an_unbounded_loss_fails():
    with pytest.raises(PrivacyViolation, match=r"too little by at least inf; .* \[inf, inf\]"):
        assert_accountant(5.0, [(GaussianDP(1.0), 1)], 0.0)


@pytest.mark.parametrize(
    ("arguments", "options", "line"),
    [
        (("0.1", ROUNDS, DELTA), {}, "claimed_epsilon must be a number"),
        ((None, ROUNDS, DELTA), {}, "claimed_epsilon must be a number"),
        ((0.1, ROUNDS, 2.0), {}, "delta must be"),
        ((0.1, ROUNDS, DELTA), {"loose": 0.9}, "at least 1"),
        ((0.1, ROUNDS, DELTA), {"loose": "x"}, "loose must be a number"),
        ((0.1, "pure:0.1", DELTA), {}, "pairs"),
    ],
)
def test_bad_input_gets_one_line(arguments, options, line):
    with pytest.raises(InvalidInput, match=line) as refused:
        assert_accountant(*arguments, **options)
    assert "\n" not in str(refused.value)
