"""The claim of what a user gives: a filter, an odometer, two numbers, or a function."""

from __future__ import annotations

from typing import Any

from simulator.attacks.claims import AttackedClaim, BoundClaim, OdometerClaim, PromiseClaim
from simulator.attacks.filter_claims import FilterClaim
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import whole
from simulator.mechanisms.interactive_mechanism import InteractiveMechanism
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.named import parse_filter
from simulator.worst.own_filter import OwnFilter, promise_of

FARTHEST = 20_000
"""Most rounds of an attack."""
MOST_ROUNDS = 64
"""Rounds of a claim about rounds where none are given."""


def claim_of(
    claim: Any,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    rounds: int | None = None,
    relation: Relation = ADD_REMOVE,
) -> AttackedClaim:
    """The claim of a filter, an odometer, a pair (epsilon, delta), or a function of views.

    Raises InvalidInput for anything else.
    """
    if isinstance(claim, AttackedClaim):
        return claim
    if rounds is not None:
        rounds = whole("rounds", rounds)
        if rounds > FARTHEST:
            raise InvalidInput(f"an attack has at most {FARTHEST:,} rounds, not {rounds:,}")
    if isinstance(claim, str):
        claim = parse_filter(claim)
    if isinstance(claim, Filter):
        return FilterClaim(
            filter=claim,
            promised=claim.epsilon if epsilon is None else epsilon,
            delta=claim.delta if delta is None else delta,
            rounds=rounds, relation=relation,
        )  # fmt: skip
    if isinstance(claim, OwnFilter):
        promise = promise_of(claim)
        if promise is None and (epsilon is None or delta is None):
            raise InvalidInput(
                f"the filter {type(claim).__name__} states no promise; give epsilon and delta, or "
                "its attributes epsilon and delta"
            )
        own = promise if promise is not None else (0.0, 0.0)
        return FilterClaim(
            filter=claim,
            promised=own[0] if epsilon is None else epsilon,
            delta=own[1] if delta is None else delta,
            rounds=rounds, relation=relation,
        )  # fmt: skip
    if isinstance(claim, InteractiveMechanism):
        raise InvalidInput(
            "an interactive mechanism is attacked by simulator.attacks.find_conversation, on "
            "neighbouring databases"
        )
    if hasattr(claim, "fresh"):
        announced = getattr(claim.fresh(), "delta", None) if delta is None else delta
        if announced is None:
            raise InvalidInput("the odometer announces no delta: give delta")
        return OdometerClaim(
            odometer=claim, delta=float(announced), rounds=rounds or MOST_ROUNDS, relation=relation
        )
    if isinstance(claim, tuple) and len(claim) == 2:
        return BoundClaim(promised=claim[0], delta=claim[1], rounds=rounds, relation=relation)
    if callable(claim):
        if delta is None:
            raise InvalidInput("a promise holds up to a delta: give delta")
        return PromiseClaim(
            promise=claim, delta=delta, rounds=rounds or MOST_ROUNDS, relation=relation
        )
    raise InvalidInput(
        "a claim is a filter, an odometer, a pair (epsilon, delta) with rounds, or a function of "
        f"a view, not {claim!r:.80}"
    )
