"""The checks that several claims share: their numbers made another way, and that each can fail."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simulator.teaching.claims import Verdict, find
from simulator.teaching.claims.ledger.roth2011.divergence import approximate_divergence
from simulator.teaching.claims.ledger.theorems.composition import advanced_epsilon, random_views
from simulator.teaching.claims.ledger.theorems.divergences import divergence
from simulator.teaching.claims.ledger.theorems.robustness import largest_loss, largest_ratio
from simulator.theory import FiniteLaw


@pytest.mark.parametrize(("people", "epsilon"), [(1, 0.3), (4, 0.5), (9, 0.1)])
def test_no_event_grows_faster_than_a_mechanism_that_grows_it_at_every_step(
    people: int, epsilon: float
) -> None:
    """The closed form: p_j = e^(j epsilon) p_0 keeps every constraint, for a small enough p_0."""
    assert largest_ratio(people, epsilon) == pytest.approx(math.exp(people * epsilon), rel=1e-9)


def test_views_of_random_adversaries_keep_their_budgets_and_differ() -> None:
    epsilons, deltas = (0.2, 0.5, 0.1), (0.0, 1e-3, 1e-2)
    for seed in range(3):
        pure = random_views(epsilons, (0.0,) * 3, seed)
        assert 0.5 * sum(epsilons) < largest_loss(pure) <= sum(epsilons) * (1 + 1e-12)
        leaky = random_views(epsilons, deltas, seed)
        assert 0.0 < leaky.delta(sum(epsilons)) <= sum(deltas)
        assert largest_loss(leaky) > sum(epsilons)


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.2])
def test_the_divergence_by_hockey_sticks_is_the_one_by_events(delta: float) -> None:
    draws = np.random.default_rng(5)
    for _ in range(20):
        p, q = draws.dirichlet(np.ones(5), size=2)
        by_events = approximate_divergence(p, q, delta)
        law = FiniteLaw.from_probabilities(p, q)
        assert divergence(law, delta) == pytest.approx(by_events, abs=1e-9)


def test_an_answer_of_one_database_only_loses_everything() -> None:
    assert math.isinf(largest_loss(FiniteLaw.from_probabilities([0.5, 0.5], [1.0, 0.0])))
    assert math.isinf(
        divergence(FiniteLaw.from_probabilities([1.0, 0.0], [0.5, 0.5]).reversed(), 0)
    )


def test_advanced_composition_by_its_published_values() -> None:
    assert advanced_epsilon(0.1, 100, 1e-6) == pytest.approx(6.308230951)
    assert advanced_epsilon(0.1, 100, 1e-6, tight=True) == pytest.approx(5.756105519)
    assert math.isinf(advanced_epsilon(0.1, 100, 0.0))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("id", "broken"),
    [
        ("zhang2020-sample-and-aggregate-black-box", {"noise": 0.3}),
        ("group-notes-lloyd-total", {"split": 1.9}),
        ("chapter5-lemma-1-7", {"share": 0.999}),
        ("zhang2020-report-noisy-max", {"epsilon": 1.0, "monotone": False}),
    ],
)
def test_checks_notice_what_is_a_little_wrong(id: str, broken: dict[str, object]) -> None:
    """Nearer to the truth than most wrong variants of the ledger are."""
    assert find(id).run().verdict.is_true
    assert find(id).check(**broken).verdict is Verdict.FAILS


def test_other_noise_refutes_the_theorem_on_admissible_noise_too() -> None:
    assert find("zhang2020-admissible-noise-theorem").check(top=10.0).verdict is Verdict.FAILS
