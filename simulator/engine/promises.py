"""The limits of a round's loss under a mechanism's promise, and the errors beyond them.

A mechanism that promises epsilon-differential privacy has |loss| <= epsilon at every answer, and
one that promises delta = 0 has no infinite loss. A round beyond that is a breach of the mechanism's
promise, not a test of a composition theorem. A promise with delta > 0 allows any single loss, and
one without a pure epsilon (Gaussian, zCDP, Renyi) any finite loss.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from simulator.adversaries.contract import Challenge
from simulator.data.databases import Relation
from simulator.foundations.errors import Breach, BrokenPromise
from simulator.mechanisms import Free, ScalarMechanism
from simulator.mechanisms.base import all_finite
from simulator.mechanisms.interactive_mechanism import Opening
from simulator.theory.guarantees.interface import Guarantee

# the status of a kernel's play
DONE, UNSURE, FAULT, IMPOSSIBLE, OFF_MENU, OUT_OF_RANGE = range(6)

ROUNDING = 1e-9
"""Tolerance of a loss beyond epsilon, as a share of epsilon and in nats.

A loss is the difference of two log-likelihoods, each rounded to one part in 1e16 of itself: with
exponents up to a million the difference is off by 1e-10, a tenth of this.
"""


class Limit(NamedTuple):
    """The largest absolute loss that a promise allows in one round, rounding included.

    It is ``constant + slope * parameter``, with a nonzero slope only for a free parameter. An
    infinite constant allows infinite losses too.
    """

    constant: float
    slope: float = 0.0


def limit_of(guarantee: Guarantee) -> Limit:
    """The limit of one round under this guarantee."""
    return Limit(_largest_loss(guarantee))


def _largest_loss(guarantee: Guarantee) -> float:
    epsilon = guarantee.pure_epsilon
    if epsilon < math.inf:
        return epsilon * (1.0 + ROUNDING) + ROUNDING
    return math.inf if guarantee.leak > 0.0 else sys.float_info.max


def allowed_losses(limit: float, impossible: float) -> tuple[float, float]:
    """The least and the largest loss of a round within this limit, ``impossible`` excluded.

    ``impossible`` is inf or -inf, the loss of an answer of probability 0 in the experiment.
    """
    finite = sys.float_info.max if limit == math.inf else limit
    return (-limit, finite) if impossible > 0.0 else (-finite, limit)


def limit_of_entry(mechanism: ScalarMechanism, relation: Relation) -> Limit:
    """The limit of one round with a menu's mechanism, whose parameter may be free."""
    free = mechanism.parameter
    if not isinstance(free, Free):
        return limit_of(mechanism.guarantee(relation))
    ends = (free.low, free.high)
    return limit_between(ends, [mechanism.with_parameter(x).guarantee(relation) for x in ends])


def limit_between(parameters: Sequence[float], promised: Sequence[Guarantee]) -> Limit:
    """The limit of one round with a parameter between two, from the guarantees at these two.

    Where the promised epsilon is proportional to the parameter, so is the limit; otherwise it is
    the larger limit of the two.
    """
    slopes = [guarantee.pure_epsilon / x for guarantee, x in zip(promised, parameters)]
    if math.isfinite(slopes[0]) and math.isclose(*slopes, rel_tol=1e-12):
        return Limit(ROUNDING, slopes[1] * (1.0 + ROUNDING))
    return max(map(limit_of, promised))


def fault(
    challenge: Challenge, relation: Relation, answer: Any, loss: float, impossible: float
) -> Breach:
    """Return the error for an answer that is not finite, or whose loss is beyond the promise.

    ``impossible`` is the loss of an answer of probability 0 in the experiment.
    """
    database_0, database_1, mechanism = challenge
    answer = answer.item() if isinstance(answer, np.generic) else answer
    if not all_finite(answer):
        return Breach(f"{mechanism!r} answered {answer!r}, which is not finite")
    if math.isnan(loss):
        return Breach(f"{mechanism!r} answered {answer!r}, whose loss is not a number")
    if loss == impossible:
        return Breach(
            f"{mechanism!r} answered {answer!r}, of loss {loss}: the answer has probability 0"
        )
    guarantee = mechanism.guarantee(relation)
    allowed = guarantee.pure_epsilon
    most = f"{allowed!r}" if math.isfinite(allowed) else "a finite loss"
    return BrokenPromise(
        f"{mechanism!r} broke its promise of {guarantee}: the mechanism promised {most}, a round "
        f"lost {abs(float(loss))!r}, at the answer {answer!r}, on its pair of databases, "
        f"{relation.difference(database_0, database_1)}"
    )


def fault_of_conversation(opening: Opening, message: Any, answer: Any, total: float) -> Breach:
    """The error for an answer to a message that cannot be, or loses more than was promised.

    ``total`` is the loss of the whole conversation.
    """
    said = f"{opening.mechanism!r} answered {answer!r} to {message!r}"
    if not all_finite(answer):
        return Breach(f"{said}, which is not finite")
    if math.isnan(total) or math.isinf(total):
        return Breach(f"{said}, after which its conversation has lost {total}: no answer may do so")
    promised = opening.guarantee
    return BrokenPromise(
        f"{said}, and broke its promise of {promised}: the conversation has lost {abs(total)!r}"
    )


def at(i: int, trial: int, b: int, complaint: str) -> str:
    """The complaint with its round, counted from 1, its trial, counted from 0, and experiment."""
    return f"round {i + 1}, trial {trial} of experiment {b}: {complaint}"
