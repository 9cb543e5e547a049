"""Declared likelihoods tested by fresh draws, by the test that an installed package adds.

Losses are computed from what a mechanism declares, so a wrong declaration gives wrong losses. The
test is an audit, and stands on the shelf of audits: an entry point of ``dpcompose.likelihoods``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from simulator.adversaries.contract import Challenge
from simulator.data.databases import Relation
from simulator.foundations.errors import InvalidInput
from simulator.foundations.extensions import Added

MISSING = "no package that tests declared likelihoods is installed (simulator.auditing is one)"


class NotTested(UserWarning):
    """Declared likelihoods were not tested."""


def tests_of_likelihoods() -> list[Callable[..., Any]]:
    """Every test that is installed; none where there is none, or where its module is gone."""
    try:
        return list(Added("likelihoods").values())
    except InvalidInput:
        return []


def require_tests() -> None:
    """Raise InvalidInput where no test is installed."""
    if not tests_of_likelihoods():
        raise InvalidInput(f"likelihoods cannot be tested: {MISSING}")


def require_likelihoods(
    challenges: Iterable[Challenge], relation: Relation, seed: int, **limits: Any
) -> str:
    """Test the likelihood of each challenge's mechanism, by every test that is installed.

    ``limits`` are those of :func:`simulator.auditing.declared.require_declared`. Returns what the
    tests would have found, as text. Raises FalseLikelihood where a mechanism does not draw as it
    declares, and InvalidInput where there is no test.
    """
    require_tests()
    tested = list(challenges)
    return "; ".join(str(test(tested, relation, seed, **limits)) for test in tests_of_likelihoods())


def require_likelihoods_if_possible(
    challenges: Iterable[Challenge], relation: Relation, seed: int, **limits: Any
) -> str:
    """Test the likelihoods as :func:`require_likelihoods` does; warn where there is no test."""
    if tests_of_likelihoods():
        return require_likelihoods(challenges, relation, seed, **limits)
    warnings.warn(f"likelihoods were not tested: {MISSING}", NotTested, stacklevel=3)
    return ""
