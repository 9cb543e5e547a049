"""The law of an adversary's whole view, by listing every view: no simulation, no theorem.

For adversaries without coins and mechanisms with finitely many answers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np

from simulator.adversaries.contract import check_challenge
from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.foundations.errors import NotApplicable
from simulator.mechanisms import Exponential, FiniteMechanism, Mechanism, RandomizedResponse
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.laws.finite import FiniteLaw

Coinless = Callable[[Any], Any]


@singledispatch
def answer_probabilities(
    mechanism: Mechanism, database: Database, relation: Relation
) -> np.ndarray:
    """Probability of each answer 0, 1, 2, ... of a finite mechanism on ``database``.

    Raises NotApplicable for a mechanism without finitely many answers.
    """
    raise NotApplicable(f"the answers of {mechanism!r} cannot be listed")


@answer_probabilities.register
def _(mechanism: FiniteMechanism, database: Database, relation: Relation) -> np.ndarray:
    value = mechanism.query(database)
    return mechanism.probabilities(value, value, relation)[0]


@answer_probabilities.register
def _(mechanism: Exponential, database: Database, relation: Relation) -> np.ndarray:
    return mechanism.probabilities(database, relation)


@answer_probabilities.register
def _(mechanism: RandomizedResponse, database: Database, relation: Relation) -> np.ndarray:
    lie = 1.0 / (1.0 + np.exp(mechanism.fixed_parameter()))
    says_one = 1.0 - lie if mechanism.query(database) else lie
    return np.array([1.0 - says_one, says_one])


def view_probabilities(
    adversary: Coinless, family: Guarantee, rounds: int, relation: Relation = ADD_REMOVE
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of all views in experiment 0 and in experiment 1, shape (views,) each.

    ``adversary`` is a generator function that ignores its coins; it is driven through every
    sequence of answers. Raises Breach where it leaves the rules.
    """
    ends = [
        (first, second)
        for first, second in _extend(adversary, family, rounds, relation, ())
        if first > 0.0 or second > 0.0
    ]
    first, second = np.array(ends).T
    return first, second


def view_law(
    adversary: Coinless, family: Guarantee, rounds: int, relation: Relation = ADD_REMOVE
) -> FiniteLaw:
    """The exact law of the privacy loss of the view; see :func:`view_probabilities`."""
    return FiniteLaw.from_probabilities(*view_probabilities(adversary, family, rounds, relation))


def _extend(
    adversary: Coinless,
    family: Guarantee,
    rounds: int,
    relation: Relation,
    answers: tuple[float, ...],
) -> list[tuple[float, float]]:
    if rounds == 0:
        return [(1.0, 1.0)]
    challenge = check_challenge(_next_challenge(adversary, answers), family, relation)
    first, second = (
        answer_probabilities(challenge.mechanism, database, relation)
        for database in (challenge.database_0, challenge.database_1)
    )
    ends = []
    for answer, (p, q) in enumerate(zip(first, second)):
        if p > 0.0 or q > 0.0:
            later = _extend(adversary, family, rounds - 1, relation, (*answers, float(answer)))
            ends += [(p * after_p, q * after_q) for after_p, after_q in later]
    return ends


def _next_challenge(adversary: Coinless, answers: tuple[float, ...]) -> Any:
    playing = adversary(None)
    challenge = next(playing)
    for answer in answers:
        challenge = playing.send(answer)
    return challenge
