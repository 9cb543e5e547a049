"""Individual filters: a record leaves the data when its own budget is spent."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from simulator.analysis.searches import worst_conversation
from simulator.analysis.simulate import simulate
from simulator.foundations.knobs import Within
from simulator.teaching.games.model import game
from simulator.teaching.games.rows import GameRow, bound, played, worst, wrong
from simulator.teaching.mechanisms.individual_filter import (
    BOTH,
    UNITS,
    WITHOUT,
    IndividualFilter,
    IndividualGaussian,
)
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bound as bound_named
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.guarantees.renyi import ZCDP
from simulator.theory.laws.gaussian_curve import gaussian_delta_bracket


@game(
    "individual-filters",
    "Individual filters: each record leaves the data when its own budget is spent",
    sources=(
        "Feldman and Zrnic 2021, arXiv 2008.11193",
        "Smith and Thakurta 2022, arXiv 2210.17520; Koskela, Tobaben and Honkela 2023",
    ),
    sweep=("queries", (1, 2, 3, 4, 5, 6)),
)
def individual_filters(
    *,
    epsilon: Annotated[float, "the budget of each record", Within(0.1, 5.0)] = 1.0,
    at: Annotated[float, "the epsilon at which delta is taken", Within(0.0, 5.0)] = 0.75,
    queries: Annotated[int, "how many are answered", Within(1, 8)] = 5,
    sigma: Annotated[
        float, "of the Gaussian sums, in the largest weight of a record", Within(0.5, 10.0)
    ] = 2.0,
    rho: Annotated[
        float, "the budget of each record in the Gaussian sums, in zCDP", Within(0.01, 2.0)
    ] = 0.5,
    trials: Annotated[int, "plays of each experiment", Within(100, 1_000_000)] = 4000,
    seed: Annotated[int, "of the plays", Within(0, 2**31)] = 1,
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
    yield bound(quantity, "the budget of a record", PureDP(epsilon).hockey_stick(at))

    quantity = "delta, dropped after the budget was passed"
    yield worst(quantity, "any queries", _worst(replace(right, rule="late"), at))
    yield bound(quantity, "one query more than the budget", PureDP(1.5 * epsilon).hockey_stick(at))
    yield wrong(quantity, "the budget of a record", PureDP(epsilon).hockey_stick(at))

    quantity = "delta, the end of a budget is seen"
    for rule, what in (
        ("published", "the number of dropped records is published"),
        ("common", "all stops when one budget is spent"),
    ):
        yield worst(quantity, what, _worst(replace(right, rule=rule), at))
    yield bound(quantity, "no more than certainty", 1.0)
    yield wrong(quantity, "the budget of a record", PureDP(epsilon).hockey_stick(at))
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
