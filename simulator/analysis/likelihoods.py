"""Declared likelihoods tested by fresh draws, by the test that an installed package adds.

Losses are computed from what a mechanism declares, so a wrong declaration gives wrong losses. The
test is an audit, and stands on the shelf of audits: an entry point of ``dpcompose.likelihoods``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from simulator.adversaries.contract import Challenge
from simulator.data.databases import Relation
from simulator.foundations.errors import InvalidInput
from simulator.foundations.extensions import Added

MISSING = "no package that tests declared likelihoods is installed (simulator.auditing is one)"


def require_likelihoods(
    challenges: Iterable[Challenge], relation: Relation, seed: int, **limits: Any
) -> None:
    """Test the likelihood of each challenge's mechanism, by every test that is installed.

    ``limits`` are those of :func:`simulator.auditing.declared.require_declared`. Raises
    FalseLikelihood where a mechanism does not draw as it declares, and InvalidInput where there
    are challenges and no test.
    """
    tested = list(challenges)
    tests = list(Added("likelihoods").values())
    if tested and not tests:
        raise InvalidInput(MISSING)
    for test in tests:
        test(tested, relation, seed, **limits)


def require_likelihoods_if_possible(
    challenges: Iterable[Challenge], relation: Relation, seed: int, **limits: Any
) -> None:
    """Test the likelihoods as :func:`require_likelihoods` does; warn where there is no test."""
    try:
        tests = dict(Added("likelihoods"))
    except InvalidInput:
        tests = {}
    if not tests:
        warnings.warn(f"likelihoods were not tested: {MISSING}", stacklevel=3)
        return
    require_likelihoods(challenges, relation, seed, **limits)
