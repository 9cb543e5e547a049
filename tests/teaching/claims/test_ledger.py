"""Every claim's check says what is recorded, and something else of the altered claim."""

from __future__ import annotations

import pytest

from simulator.teaching.claims import Claim, Verdict, all_claims
from tests.helpers.cases import case

BY_NIGHT = {
    "composition-note-order",
    "roth2011-theorem-6-proof-losses",
    "roth2011-theorem-6-proof-means",
    "vadhan2023-f-dp-concurrent",
    "zhang2020-k-means-private-cost",
    "zhang2020-k-means-rounds",
    "zhang2020-reconstruction-against-error",
    "zhang2020-reconstruction-theorem-2",
    "zhang2020-sample-and-aggregate-black-box",
}
"""Claims whose checks take more than a second: by day the other two hundred are checked."""

CLAIMS = [claim for claim in all_claims() if claim.id not in BY_NIGHT]
ALTERED = [claim for claim in all_claims() if claim.wrong]
PARTS = 16
"""Parallel workers take sixteenths of the ledger."""


@pytest.mark.sampled(n=5)
@pytest.mark.parametrize("part", range(PARTS))
def test_the_verdict_is_the_recorded_one(part: int) -> None:
    for claim in CLAIMS[part::PARTS]:
        with case(claim.id):
            assert claim.run().verdict is claim.expected


@pytest.mark.nightly
@pytest.mark.parametrize("claim", sorted(BY_NIGHT))
def test_the_verdict_is_the_recorded_one_of_what_takes_long(claim: str) -> None:
    (found,) = (each for each in all_claims() if each.id == claim)
    assert found.run().verdict is found.expected


@pytest.mark.sampled
@pytest.mark.parametrize("part", range(PARTS))
def test_the_altered_claim_is_judged_otherwise(part: int) -> None:
    for claim in ALTERED[part::PARTS]:
        with case(claim.id):
            assert_judged_otherwise(claim)


def assert_judged_otherwise(claim: Claim) -> None:
    """A true claim, altered, is rejected; a wrong one, put right, is not called wrong any more."""
    verdict = claim.run_wrong().verdict
    assert verdict is not claim.expected
    assert verdict is not Verdict.UNDECIDED
    if claim.expected.is_true:
        assert verdict.is_complaint
    if claim.expected is Verdict.FAILS:
        assert verdict.is_true
