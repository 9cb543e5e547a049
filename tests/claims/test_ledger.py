"""Every claim's check says what is recorded, and something else of the altered claim."""

from __future__ import annotations

import pytest

from simulator.claims import Claim, Verdict, all_claims

CLAIMS = all_claims()
ALTERED = [claim for claim in CLAIMS if claim.wrong]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_verdict_is_the_recorded_one(claim: Claim) -> None:
    assert claim.run().verdict is claim.expected


@pytest.mark.parametrize("claim", ALTERED, ids=lambda claim: claim.id)
def test_the_altered_claim_is_judged_otherwise(claim: Claim) -> None:
    """A true claim, altered, is rejected; a wrong one, put right, is not called wrong any more."""
    verdict = claim.run_wrong().verdict
    assert verdict is not claim.expected
    assert verdict is not Verdict.UNDECIDED
    if claim.expected.is_true:
        assert verdict.is_complaint
    if claim.expected is Verdict.FAILS:
        assert verdict.is_true
