"""Laws that dominate a conversation: exact at their points, above between, and composable."""

import math

import numpy as np
import pytest

from simulator.foundations.errors import InvalidInput
from simulator.mechanisms import Concurrent
from simulator.teaching.claims.ledger.shared.random_trees import (
    EVERYONE,
    WITHOUT,
    random_tree,
    together,
)
from simulator.theory import PureDP
from simulator.theory.pld.distribution import compose_laws
from simulator.worst import dominating_law, worst_conversation
from simulator.worst.dominating import law_of_curve


def delta_of(mechanism, epsilon):
    return worst_conversation(mechanism, WITHOUT, EVERYONE, epsilon=epsilon).delta


def test_the_law_has_the_worst_delta_at_its_points_and_more_between():
    coins = np.random.default_rng(3)
    for delta in (0.0, 0.02):
        tree = random_tree(coins, 0.9, delta=delta)
        points = np.linspace(-0.9, 0.9, 7)
        law = dominating_law(tree, WITHOUT, EVERYONE, epsilons=points)
        for epsilon in np.linspace(-1.2, 1.2, 33):
            assert law.delta(float(epsilon)) >= delta_of(tree, float(epsilon)).lower - 1e-11
        for epsilon in points:
            assert law.delta(float(epsilon)) == pytest.approx(
                delta_of(tree, float(epsilon)).value, abs=1e-10
            )


def test_a_curve_of_randomized_response_gives_its_law():
    law = law_of_curve([-0.5, 0.5], [-math.expm1(-0.5), 0.0])
    kept = 1 / (1 + math.exp(-0.5))
    assert np.allclose(law.atom_losses, [-0.5, 0.5])
    assert np.allclose(np.exp(law.atom_log_masses), [1 - kept, kept])


def check_random_games(number, seed):
    """No interleaving of random trees exceeds the product of the parts' laws."""
    coins = np.random.default_rng(seed)
    for _ in range(number):
        conversations = int(coins.integers(2, 4))
        epsilons = coins.uniform(0.2, 1.2, conversations)
        delta = float(coins.choice([0.0, 0.03]))
        depth = 2 if conversations == 2 else 1
        parts = tuple(random_tree(coins, e, depth=depth, delta=delta) for e in epsilons)
        at = float(coins.uniform(0.0, 0.7) * epsilons.sum())
        laws = [
            (dominating_law(p, WITHOUT, EVERYONE, epsilons=np.linspace(-e, e, 25)), 1)
            for p, e in zip(parts, epsilons)
        ]
        bound = compose_laws(laws).delta(at).upper
        assert delta_of(together(parts), at).lower <= bound * (1 + 1e-9), (parts, at)


def test_no_interleaving_of_random_trees_exceeds_their_worst_curves():
    check_random_games(8, seed=5)


@pytest.mark.nightly
def test_hundreds_of_random_games_and_no_violation():
    check_random_games(400, seed=7)


def gains(number, seed):
    """By how much interleaving two sparing trees exceeds the better order, relatively."""
    coins = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        epsilons = coins.uniform(0.3, 1.2, 2)
        parts = tuple(random_tree(coins, e, sparing=True) for e in epsilons)
        at = float(coins.uniform(0.0, 0.5) * epsilons.sum())
        free = delta_of(together(parts), at)
        orders = [delta_of(together(parts[::s], in_turn=True), at).lower for s in (1, -1)]
        assert max(orders) <= free.upper
        found.append((free.lower - max(orders)) / max(free.lower, 1e-9))
    return np.array(found)


def test_one_conversation_after_the_other_is_never_better():
    assert len(gains(10, seed=1)) == 10  # each was compared


@pytest.mark.nightly
def test_interleaving_helps_in_some_random_games():
    found = gains(200, seed=1)
    assert (found > 1e-9).sum() >= 10
    assert found.max() > 0.01


def test_the_bound_is_no_triviality():
    """Laws of other, weaker trees are exceeded."""
    coins = np.random.default_rng(11)
    strong, weak = random_tree(coins, 1.0), random_tree(coins, 0.3)
    points = np.linspace(-0.3, 0.3, 9)
    law = dominating_law(weak, WITHOUT, EVERYONE, epsilons=points)
    both = Concurrent((strong, strong), PureDP(2.0))
    assert delta_of(both, 0.3).lower > compose_laws([(law, 2)]).delta(0.3).upper


def test_bad_points_are_one_line():
    tree = random_tree(np.random.default_rng(1), 0.5)
    with pytest.raises(InvalidInput, match="needs at least one epsilon"):
        dominating_law(tree, WITHOUT, EVERYONE, epsilons=[])
    with pytest.raises(InvalidInput, match="epsilon must be finite"):
        dominating_law(tree, WITHOUT, EVERYONE, epsilons=[math.nan])
