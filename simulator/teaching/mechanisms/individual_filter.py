"""Noisy counts and sums, in which each record has its own budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.mechanisms import InteractiveMechanism, finite_answers
from simulator.mechanisms.base import ScalarPair
from simulator.mechanisms.gaussian import GAUSSIAN
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.interface import Guarantee

ALICE, BOB = "alice", "bob"
BOTH = Database([ALICE, BOB])
WITHOUT = BOTH.remove(ALICE)
UNITS = 2
"""Units of a record's budget; a query costs one or two for the records that it counts."""
GROUPS = ((ALICE,), (BOB,), (ALICE, BOB))
"""Whom a query may count."""


@dataclass(frozen=True)
class IndividualFilter(InteractiveMechanism):
    """Noisy counts; a record that a query would take beyond its own budget is not counted.

    A message is ``(group, cost)``: count the people of ``GROUPS[group]`` who are still in the data,
    with geometric noise of parameter cost x unit, kept between 0 and 2. The record's own spend is
    the cost if the query counts it, else nothing; it is a function of the record and the messages.

    Parameters
    ----------
    unit : the epsilon of a unit.
    queries : how many are answered.
    claimed : the guarantee.
    rule : "own" drops a record before the query that it cannot pay. Three that are wrong: "late"
        drops it after the query that spent its budget; "published" also says how many records were
        dropped; "common" drops none, and stops for good when someone's budget is spent.
    """

    unit: float
    queries: int
    claimed: Guarantee
    rule: str = "own"

    def guarantee(self, relation: Relation = ADD_REMOVE) -> Guarantee:
        """The claimed guarantee."""
        return self.claimed

    def opened(self, database_0: Database, database_1: Database, relation: Relation) -> Any:
        """Queries left, who is in the data, and each record's spend and whether it was dropped."""
        inside = tuple(
            tuple(person in database for person in (ALICE, BOB))
            for database in (database_0, database_1)
        )
        return self.queries, inside, (0, 0), (False, False)

    def messages(self, state: Any) -> Sequence[Any]:
        """Any group at any cost, while queries are left."""
        if not state[0]:
            return ()
        return [(group, cost) for group in range(len(GROUPS)) for cost in range(1, UNITS + 1)]

    def answers_to(self, state: Any, message: Any) -> ScalarPair:
        """The laws of the noisy count, and of what the rule shows beside it."""
        _, inside, _, dropped = self._judged(state, message)
        on_0, on_1 = (self._answers(people, message, dropped) for people in inside)
        return finite_answers(on_0, on_1)

    def after(self, state: Any, message: Any, answer: Any) -> Any:
        """The spends after the query."""
        left, inside, spent, dropped = self._judged(state, message)
        group, cost = message
        spent = tuple(
            spend + cost * (person in GROUPS[group] and not out)
            for person, spend, out in zip((ALICE, BOB), spent, dropped)
        )
        return left - 1, inside, spent, dropped

    def _judged(self, state: Any, message: Any) -> Any:
        """The state, with those dropped whom the query would take beyond their budget."""
        left, inside, spent, dropped = state
        group, cost = message
        price = 1 if self.rule == "late" else cost
        out = tuple(
            gone or (person in GROUPS[group] and spend + price > UNITS)
            for person, spend, gone in zip((ALICE, BOB), spent, dropped)
        )
        return left, inside, spent, out

    def _answers(
        self, people: tuple[bool, ...], message: Any, dropped: tuple[bool, ...]
    ) -> list[float]:
        group, cost = message
        gone = sum(person and out for person, out in zip(people, dropped))
        counted = sum(
            person and not out and name in GROUPS[group]
            for name, person, out in zip((ALICE, BOB), people, dropped)
        )
        shown = np.zeros((3, 3))  # by what is shown beside the count, and the count
        if self.rule == "common" and gone:
            shown[2, 0] = 1.0
        else:
            shown[gone if self.rule == "published" else 0] = noisy(counted, self.unit * cost)
        found: list[float] = shown.ravel().tolist()
        return found


def noisy(count: int, epsilon: float) -> np.ndarray:
    """The law of a count with two-sided geometric noise, kept between 0 and 2; shape (3,)."""
    ratio = math.exp(-epsilon)
    upto = [
        ratio ** (count - y) / (1.0 + ratio) if y < count
        else 1.0 - ratio ** (y - count + 1) / (1.0 + ratio)
        for y in (0, 1)
    ]  # fmt: skip
    return np.diff([0.0, *upto, 1.0])


@dataclass(frozen=True)
class IndividualGaussian(InteractiveMechanism):
    """Sums with Gaussian noise, where a record's spend is that of its own value.

    A message is Alice's weight in the sum, 0 to 1, which the adversary chooses with the query; all
    else in the sum is known. She is left out of a sum that would take her beyond ``rho``.
    """

    sigma: float
    rho: float

    def guarantee(self, relation: Relation = ADD_REMOVE) -> GaussianDP:
        """The Gaussian mechanism that spends rho at once."""
        return GaussianDP(math.sqrt(2.0 * self.rho))

    def opened(self, database_0: Database, database_1: Database, relation: Relation) -> Any:
        """What Alice has spent, and in which databases she is."""
        return 0.0, ALICE in database_0, ALICE in database_1

    def answers_to(self, state: Any, message: Any) -> ScalarPair:
        """Two Gaussians, which are equal where Alice is left out."""
        weight = message if self._paid(state, message) > state[0] else 0.0
        return ScalarPair(GAUSSIAN, (weight * state[1], weight * state[2]), self.sigma)

    def after(self, state: Any, message: Any, answer: Any) -> Any:
        """What Alice has spent after the sum."""
        return self._paid(state, message), *state[1:]

    def _paid(self, state: Any, weight: float) -> float:
        spent: float = state[0] + 0.5 * (weight / self.sigma) ** 2
        return spent if spent <= self.rho * (1.0 + 1e-12) else state[0]
