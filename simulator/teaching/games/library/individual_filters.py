"""Individual filters: a record leaves the data when its own budget is spent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simulator.analysis.simulate import simulate
from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.mechanisms import InteractiveMechanism, finite_answers
from simulator.mechanisms.base import ScalarPair
from simulator.mechanisms.gaussian import GAUSSIAN
from simulator.teaching.games.model import game
from simulator.teaching.games.rows import GameRow, bound, played, worst, wrong
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bound as bound_named
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.guarantees.renyi import ZCDP
from simulator.theory.laws.gaussian_curve import gaussian_delta_bracket
from simulator.worst import worst_conversation

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


@game(
    "individual-filters",
    "Individual filters: each record leaves the data when its own budget is spent",
    sources=(
        "Feldman and Zrnic 2021, arXiv 2008.11193",
        "Smith and Thakurta 2022, arXiv 2210.17520; Koskela, Tobaben and Honkela 2023",
    ),
    ranges={
        "epsilon": ("the budget of each record", 0.1, 5.0),
        "at": ("the epsilon at which delta is taken", 0.0, 5.0),
        "queries": ("how many are answered", 1, 8),
        "sigma": ("of the Gaussian sums, in the largest weight of a record", 0.5, 10.0),
        "rho": ("the budget of each record in the Gaussian sums, in zCDP", 0.01, 2.0),
        "trials": ("plays of each experiment", 100, 1_000_000),
        "seed": ("of the plays", 0, 2**31),
    },
    sweep=("queries", (1, 2, 3, 4, 5, 6)),
)
def individual_filters(
    *,
    epsilon: float = 1.0,
    at: float = 0.75,
    queries: int = 5,
    sigma: float = 2.0,
    rho: float = 0.5,
    trials: int = 4000,
    seed: int = 1,
) -> Iterator[GameRow]:
    """Give each record its own budget, and leave it out of every query that it cannot pay for.

    Most records have little influence on most queries. An individual filter charges each record for
    its own influence, and drops it from the data when its budget would be passed. Queries go on for
    all others. For a given record the answers that depend on it cost at most its budget, and after
    that the two databases are the same to every query: so the guarantee holds for each record, for
    an adversary that adapts, and however long it asks.

    A record's spend depends on the record. It must stay inside, and so must every trace of it. If
    the number of dropped records is published, or everything stops when the first budget is spent,
    one look tells whether Alice was there, at any epsilon. If a record is dropped after the query
    that spent its budget, and not before, the last query is not paid for.

    Look along the number of queries: what the filter allows stops growing when a budget is spent,
    while the wrong ones go on. The last table has Gaussian noise and weights that the adversary
    chooses by the answers. There the Rényi filter is not tight, and the bound by one Gaussian
    mechanism that spends the budget at once is exact.
    """
    right = IndividualFilter(epsilon / UNITS, queries, PureDP(epsilon))
    quantity = "delta, dropped before the budget is passed"
    yield worst(quantity, "any queries", _worst(right, at))
    yield _played(quantity, right, at, trials=trials, seed=seed)
    yield bound(quantity, "the budget of a record", _pure(epsilon, at))

    quantity = "delta, dropped after the budget was passed"
    yield worst(quantity, "any queries", _worst(replace(right, rule="late"), at))
    yield bound(quantity, "one query more than the budget", _pure(1.5 * epsilon, at))
    yield wrong(quantity, "the budget of a record", _pure(epsilon, at))

    quantity = "delta, the end of a budget is seen"
    for rule, what in (
        ("published", "the number of dropped records is published"),
        ("common", "all stops when one budget is spent"),
    ):
        yield worst(quantity, what, _worst(replace(right, rule=rule), at))
    yield bound(quantity, "no more than certainty", 1.0)
    yield wrong(quantity, "the budget of a record", _pure(epsilon, at))
    yield from _gaussian(queries, at, sigma, rho, trials=trials, seed=seed)


def _gaussian(
    queries: int, at: float, sigma: float, rho: float, *, trials: int, seed: int
) -> Iterator[GameRow]:
    quantity = "delta, Gaussian sums"
    filtered = IndividualGaussian(sigma, rho)
    spent = min(rho, queries * 0.5 / sigma**2)
    all_of_it = gaussian_delta_bracket(math.sqrt(2.0 * spent), at)
    yield worst(quantity, "the largest weights", all_of_it)

    def adapt(coins: np.random.Generator) -> Any:
        opened = yield WITHOUT, BOTH, filtered
        weight = 1.0
        for _ in range(queries):
            answer = yield opened.ask(weight)
            weight = 1.0 if answer > 0.5 else 0.7

    result = simulate(
        adapt, family=filtered.guarantee(), rounds=queries + 1, trials=trials, seed=seed
    )
    yield played(quantity, "weights by the answers", result.delta(at, confidence=0.999))
    single = bound_named("analytic-gaussian").on(Composition.of((filtered.guarantee(), 1)))
    yield bound(quantity, "one Gaussian that spends the budget", single.delta(at).upper)
    renyi = bound_named("zcdp-canonne-kamath-steinke").on(Composition.of((ZCDP(rho), 1)))
    yield bound(
        quantity, "Rényi filter", renyi.delta(at).upper, source="Feldman and Zrnic 2021"
    )  # fmt: skip


def _worst(mechanism: IndividualFilter, at: float) -> Bracket:
    return Bracket.largest(
        worst_conversation(mechanism, WITHOUT, BOTH, epsilon=at, experiment=b).delta for b in (0, 1)
    )


def _played(
    quantity: str, mechanism: IndividualFilter, at: float, *, trials: int, seed: int
) -> GameRow:
    """Count Alice alone until her budget is spent, then all, at a cost chosen by the answers."""

    def adapt(coins: np.random.Generator) -> Any:
        opened = yield WITHOUT, BOTH, mechanism
        answer, group, cost = 0.0, 0, 1 if mechanism.queries > 1 else UNITS
        for number in range(mechanism.queries):
            if number >= UNITS:
                group, cost = 2, 1 if answer > 0.0 else UNITS
            answer = yield opened.ask((group, cost))

    result = simulate(
        adapt, family=mechanism.claimed, rounds=mechanism.queries + 1, trials=trials, seed=seed
    )
    return played(quantity, "costs by the answers", result.delta(at, confidence=0.999))


def _pure(epsilon: float, at: float) -> float:
    """The delta at ``at`` of any epsilon-DP mechanism: that of randomized response."""
    return max(0.0, -math.expm1(at - epsilon)) / (1.0 + math.exp(-epsilon))
