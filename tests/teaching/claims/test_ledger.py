"""Every claim's check says what is recorded, and something else of the altered claim."""

from __future__ import annotations

import pytest

from simulator.teaching.claims import Claim, Verdict, all_claims
from tests.helpers.cases import case

CLAIMS = all_claims()
ALTERED = [claim for claim in CLAIMS if claim.wrong]
PARTS = 16
"""Parallel workers take sixteenths of the ledger."""


@pytest.mark.parametrize("part", range(PARTS))
def test_the_verdict_is_the_recorded_one(part: int) -> None:
    for claim in CLAIMS[part::PARTS]:
        with case(claim.id):
            assert claim.run().verdict is claim.expected


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
