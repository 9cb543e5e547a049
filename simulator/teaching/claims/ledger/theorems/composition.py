"""Composition: budgets add up, and for a little delta much less than they add up to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np

from simulator.foundations.errors import InvalidInput
from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import number, statement, upper_bound
from simulator.teaching.claims.ledger.shared.adversaries import leak_in_turn, respond_by_answer
from simulator.teaching.claims.ledger.shared.enumerated_views import view_law
from simulator.teaching.claims.ledger.shared.exact_values import (
    chance_of_truth,
    optimal_delta,
    optimal_epsilon,
    random_pairs,
    repeated,
)
from simulator.teaching.claims.ledger.shared.parameters import Delta, Epsilon, Factor, Rounds, Seed
from simulator.teaching.claims.model import Finding, Verdict
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from simulator.theory.laws.finite import FiniteLaw

Epsilons = Annotated[tuple[float, ...], "ε of every round, or of every part"]
Deltas = Annotated[tuple[float, ...], "δ of every round; none where all are pure"]
Claimed = Annotated[
    float | None, "what is claimed, in place of the sum or the sensitivity", Within(0.0, 1e6)
]
GivenCoins = Annotated[bool, "whether the adversary's coins are conditioned on"]
Leak = Annotated[float, "the δ of every round, a probability", Within(0.0, 1.0)]
Tight = Annotated[bool, "whether tanh(ε/2) stands in place of e^ε-1"]
Largest = Annotated[float, "the largest value that is claimed for", Within(1e-12, 1e12)]
Printed = Annotated[str, "what the source says"]

GRID = tuple((e, k, d) for e in (0.01, 0.1, 0.5) for k in (10, 1000) for d in (1e-3, 1e-12))
"""Settings (epsilon, rounds, delta) at which advanced composition meets the exact answer."""


def random_views(epsilons: Sequence[float], deltas: Sequence[float], seed: int) -> FiniteLaw:
    """The law of the loss of the whole view, of a random adversary on random mechanisms.

    After every prefix of answers there is another mechanism of three answers, drawn among those
    that are epsilon_i-DP on the pair at hand; with probability delta_i it answers by one of two
    unrelated laws instead, on two more answers as well.
    """
    draws = np.random.default_rng(seed)
    first, second = np.ones(1), np.ones(1)
    for place, (epsilon, delta) in enumerate(zip(epsilons, deltas)):
        pairs = random_pairs(len(first), 3, seed=97 * seed + place, epsilon=epsilon)
        p, q = (np.array(side) for side in zip(*pairs))
        if delta > 0.0:
            leaks = draws.dirichlet(np.full(5, 0.1), size=(2, len(first)))
            widened = (np.pad(law, ((0, 0), (0, 2))) for law in (p, q))
            p, q = ((1.0 - delta) * law + delta * leak for law, leak in zip(widened, leaks))
        first, second = (first[:, None] * p).ravel(), (second[:, None] * q).ravel()
    return FiniteLaw.from_probabilities(first, second)


def budgets_add_up(
    *,
    epsilons: Epsilons = (0.3,) * 6,
    deltas: Deltas = (),
    claimed: Claimed = None,
    share: Factor = 1.0,
    seed: Seed = 0,
) -> Finding:
    """Adversaries that spend the budgets in turn: all views of the worst one, and of random ones.

    The worst one plays randomized response, leaky where there are deltas, and without them it
    exchanges the databases after an answer 1. What is claimed at most is ``share`` of the sum (or
    of ``claimed``): of the loss, or of delta at the sum of the epsilons.
    """
    if deltas and len(deltas) != len(epsilons):
        raise InvalidInput(
            f"give as many deltas as epsilons, {len(epsilons)}, or none, not {len(deltas)}"
        )
    total = math.fsum(epsilons)
    rounds, leaks = len(epsilons), deltas or (0.0,) * len(epsilons)
    random = [random_views(epsilons, leaks, seed + place) for place in range(4)]
    note = f"and {len(random)} random adversaries on random mechanisms"
    if not deltas:
        laws = [view_law(respond_by_answer(epsilons), PureDP(max(epsilons)), rounds), *random]
        worst = max(abs(end) for law in laws for end in law.support)
        limit = share * (total if claimed is None else claimed)
        return upper_bound(worst, limit, "largest |loss| of a view", note=note)
    family = ApproxDP(max(epsilons), max(deltas))
    laws = [view_law(leak_in_turn(list(zip(epsilons, deltas))), family, rounds), *random]
    at = total * (1.0 + 1e-12)
    worst = max(side.delta(at) for law in laws for side in (law, law.reversed()))
    return upper_bound(worst, share * math.fsum(deltas), f"δ({total:g})", note=note)


def advanced_epsilon(
    epsilon: float, rounds: int, delta: float, tight: bool = False, deviation: float = 1.0
) -> float:
    """√(2k ln(1/δ')) ε + kε(e^ε-1), or with tanh(ε/2) in the second term where ``tight``.

    Infinite at delta' = 0. ``deviation`` scales the first term.
    """
    if delta == 0.0:
        return math.inf
    mean = math.tanh(epsilon / 2.0) if tight else math.expm1(epsilon)
    root = math.sqrt(2.0 * rounds * -math.log(delta))
    return deviation * epsilon * root + rounds * epsilon * mean


def advanced_composition(
    *,
    epsilon: Epsilon = 0.1,
    leak: Leak = 0.0,
    rounds: Rounds = 100,
    delta: Delta = 1e-6,
    tight: Tight = False,
    factor: Factor = 1.0,
) -> Finding:
    """The exact least epsilon of the worst adversary at k leak + δ', against ``factor`` times ε'.

    Kairouz, Oh and Viswanath's theorem gives it over all adversaries and mechanisms; the pure
    theorem is compared with it on a grid of further settings too.
    """
    total = rounds * leak + delta
    found = upper_bound(
        optimal_epsilon(repeated(epsilon, rounds, leak), total),
        factor * advanced_epsilon(epsilon, rounds, delta, tight),
        f"least ε of the worst adversary at δ = {total:g}",
        note=f"exact on {len(GRID)} further settings",
    )
    for e, k, d in GRID if found.verdict is not Verdict.FAILS else ():
        at = factor * advanced_epsilon(e, k, d, tight)
        if optimal_delta(repeated(e, k), at) > d:
            what = f"least ε of the worst adversary at δ = {d:g}, ε = {e:g}, k = {k}"
            return upper_bound(optimal_epsilon(repeated(e, k), d), at, what)
    return found


def range_of_delta(*, largest: Largest = 2.0, printed: Printed = "δ' ≥ 0") -> Finding:
    """Whether the root of advanced composition is real up to ``largest``; at 0 it is infinite."""
    argument = -math.log(largest)
    return statement(
        argument >= 0.0,
        f"at δ' = {largest:g} the root is of 2k times {number(argument + 0.0)}",
        printed=printed,
        right="0 < δ' ≤ 1 (at 0 the formula is infinite, above 1 the root is not real)",
        note="nothing is lost: at δ' = 0 an infinite ε' is true, above 1 there is nothing to prove",
    )


def factors_of_a_view(*, epsilon: Epsilon = 0.3, given_coins: GivenCoins = False) -> Finding:
    """An adversary with one coin bit: the answers reveal the coin, and that the database.

    Coin 0 asks randomized response twice. Coin 1 asks it once with the databases exchanged, then
    a mechanism that always says 0. The second factor is what the print bounds by e^epsilon.
    """
    joint = np.array([_one_coin_views(epsilon, b) for b in (0, 1)])  # [b, r, y1, y2]
    if not given_coins:
        joint = joint.sum(axis=1, keepdims=True)
    past = joint.sum(axis=-1, keepdims=True)
    first, second = joint / past
    possible = (first > 0.0) & (second > 0.0)
    worst = float(np.abs(np.log(first[possible] / second[possible])).max())
    return upper_bound(
        worst,
        epsilon,
        "largest |ln| of the second round's factor",
        printed=f"the factor given the answers alone is within e^ε = e^{epsilon:g}",
        right=f"it reaches e^{worst:g}; given the coins as well (proof of Theorem 6) it is within",
    )


def _one_coin_views(epsilon: float, b: int) -> np.ndarray:
    """Probabilities of (r, y1, y2) in experiment b, shape (2, 2, 2)."""
    truth = chance_of_truth(epsilon)
    says = [np.array([truth, 1.0 - truth]), np.array([1.0 - truth, truth])]  # of databases 0, 1
    return 0.5 * np.array([np.outer(says[b], says[b]), np.outer(says[1 - b], np.array([1.0, 0.0]))])
