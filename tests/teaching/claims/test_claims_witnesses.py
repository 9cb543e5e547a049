"""What the checks rest on: listed views, exact numbers and random pairs, each seen otherwise."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from simulator.analysis.estimation import clopper_pearson
from simulator.foundations.errors import Breach, NotApplicable
from simulator.mechanisms import Laplace
from simulator.teaching.claims.ledger.chapter5.posteriors import largest_posterior_change
from simulator.teaching.claims.ledger.chapter5.robustness import best_advantage
from simulator.teaching.claims.ledger.roth2011.azuma import stops_once, swayed_effects
from simulator.teaching.claims.ledger.roth2011.theorem_6_proof import steps_along
from simulator.teaching.claims.ledger.shared.adversaries import (
    ALICE,
    WITH_ALICE,
    WITHOUT_ALICE,
    leak_in_turn,
    play,
    respond_by_answer,
    switch_mechanisms,
)
from simulator.teaching.claims.ledger.shared.enumerated_views import view_law, view_probabilities
from simulator.teaching.claims.ledger.shared.exact_values import (
    all_events,
    largest_mean_loss,
    optimal_delta,
    optimal_epsilon,
    random_pairs,
    repeated,
)
from simulator.theory.bounds.composition import Composition
from simulator.theory.guarantees.pure import ApproxDP, PureDP


def response_tail(epsilon: float, rounds: int, threshold: float) -> float:
    """Pr[L > threshold] of randomized response played ``rounds`` times, by the binomial law."""
    truth = 1.0 / (1.0 + np.exp(-epsilon))
    # L = epsilon (2 J - rounds), J the number of true answers.
    least = np.floor((threshold / epsilon + rounds) / 2.0 * (1.0 + 1e-14))
    return float(binom.sf(least, rounds, truth))


@pytest.mark.parametrize("threshold", [-1.0, 0.0, 0.3, 1.0, 1.7])
def test_listed_views_agree_with_the_optimal_composition_theorem(threshold: float) -> None:
    """Exchanging the databases after an answer changes nothing: the mechanism is symmetric."""
    law = view_law(respond_by_answer([0.3] * 6), PureDP(0.3), 6)
    if threshold >= 0.0:
        assert law.delta(threshold) == pytest.approx(optimal_delta(repeated(0.3, 6), threshold))
    assert law.sf(threshold) == pytest.approx(response_tail(0.3, 6, threshold), rel=1e-12)


def test_listed_views_agree_with_the_heterogeneous_theorem() -> None:
    law = view_law(respond_by_answer([0.1, 0.4, 0.4]), PureDP(0.4), 3)
    rounds = Composition.of((PureDP(0.1), 1), (PureDP(0.4), 2))
    assert law.delta(0.35) == pytest.approx(optimal_delta(rounds, 0.35), rel=1e-12)
    assert law.delta(optimal_epsilon(rounds, 0.01)) == pytest.approx(0.01, rel=1e-9)


def test_listed_leaks_agree_with_the_theorem() -> None:
    law = view_law(leak_in_turn([(0.2, 0.01)] * 3), ApproxDP(0.2, 0.01), 3)
    assert law.infinite_mass == pytest.approx(1 - 0.99**3, rel=1e-12)
    assert law.delta(0.3) == pytest.approx(optimal_delta(repeated(0.2, 3, 0.01), 0.3), rel=1e-12)


def test_listed_views_agree_with_played_ones() -> None:
    """False-alarm probability 1e-9: a Clopper-Pearson interval must hold the exact tail."""
    adversary = respond_by_answer([0.5, 0.3, 0.2, 0.1])
    first, second = view_probabilities(adversary, PureDP(0.5), 4)
    assert first.sum() == pytest.approx(1.0)
    assert second.sum() == pytest.approx(1.0)
    losses = play(adversary, PureDP(0.5), 4, 2000, seed=1).losses(0)
    exact = float(first[np.log(first / second) > 0.45].sum())
    seen = clopper_pearson(int((losses > 0.45).sum()), losses.size, 1 - 1e-9)
    assert seen.lower <= exact <= seen.upper


def test_listing_keeps_the_rules_of_the_experiment() -> None:
    with pytest.raises(Breach, match="outside the family"):
        view_law(respond_by_answer([0.5]), PureDP(0.4), 1)

    def asks_for_numbers(coins: object):  # type: ignore[no-untyped-def]
        yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.1)

    with pytest.raises(NotApplicable, match="cannot be listed"):
        view_law(asks_for_numbers, PureDP(0.1), 1)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 3.0])
def test_linear_program_finds_the_mean_of_randomized_response(epsilon: float) -> None:
    assert largest_mean_loss(epsilon) == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=1e-7)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
def test_random_pairs_keep_their_epsilon_and_are_laws(epsilon: float) -> None:
    for p, q in random_pairs(200, 6, seed=1, epsilon=epsilon):
        assert p.sum() == pytest.approx(1.0)
        assert q.sum() == pytest.approx(1.0)
        assert np.abs(np.log(p / q)).max() <= epsilon * (1 + 1e-12)


def test_random_pairs_may_have_impossible_answers() -> None:
    pairs = random_pairs(100, 5, seed=2, impossible=0.2)
    assert any((p == 0.0).any() for p, _ in pairs)
    assert all(p.sum() == pytest.approx(1.0) for p, _ in pairs)


def test_all_events() -> None:
    assert len({tuple(event) for event in all_events(4)}) == 16


@pytest.mark.parametrize("people", [2, 10, 40])
@pytest.mark.parametrize("product", [0.01, 1.0, 8.0])
def test_best_advantage_has_a_closed_form(people: int, product: float) -> None:
    """For even n the best test answers 1 with 1/2 at the middle: 1 - e^(-n epsilon/2) in all."""
    assert best_advantage(people, product / people) == pytest.approx(-math.expm1(-product / 2))


def test_posteriors_of_a_mechanism_that_ignores_the_data_do_not_change() -> None:
    assert largest_posterior_change(np.full((8, 2), 0.5), np.full(8, 0.125)) == 0.0


def test_steps_along_views_see_every_round() -> None:
    result = play(switch_mechanisms(0.2), PureDP(0.2), 6, 5, seed=3, keep_views=5)
    steps = steps_along(result)
    assert steps.rounds == 30
    assert 0.0 < steps.largest_mean <= 0.2 * math.tanh(0.1) * (1 + 1e-9)


def test_effects_of_an_adaptive_adversary_by_listing_its_views() -> None:
    """E[f | X_1, ..., X_i], f the total loss, by going through every later answer."""
    epsilon, rounds = 0.4, 5
    truth = 1 / (1 + math.exp(-epsilon))

    def mean_from(past: tuple[int, ...]) -> float:
        if len(past) == rounds or stops_once(past):
            return 0.0
        return truth * (epsilon + mean_from((*past, 1))) + (1 - truth) * (
            -epsilon + mean_from((*past, -1))
        )

    for i in range(1, rounds + 1):
        prefixes = [p for p in itertools.product((1, -1), repeat=i - 1) if not stops_ever(p)]
        effect = max(2 * epsilon + mean_from((*p, 1)) - mean_from((*p, -1)) for p in prefixes)
        stated = swayed_effects(epsilon, rounds)[i - 1]
        assert effect >= stated - 1e-12
        if i > 1:
            assert effect == pytest.approx(stated)


def stops_ever(past: tuple[int, ...]) -> bool:
    return any(stops_once(past[:i]) for i in range(1, len(past) + 1))
