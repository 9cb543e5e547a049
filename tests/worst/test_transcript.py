"""Probabilities and single plays of a policy, against its own play; and the words for them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simulator.analysis.simulate import simulate
from simulator.foundations.errors import NotApplicable
from simulator.theory.filters.named import parse_filter
from simulator.worst import worst_case
from simulator.worst.sample_plays import Remaining, play
from simulator.worst.transcript import LONG, transcript


def responses(epsilon=0.4, rounds=6, **more):
    menu = "randomized-response:0.1,randomized-response:0.3"
    return worst_case(menu, epsilon=epsilon, rounds=rounds, **more).policy


@pytest.mark.parametrize("experiment", [0, 1])
def test_chances_forward_and_backward_agree(experiment):
    policy = worst_case(
        "laplace:0.3,approx:0.2,1e-3", epsilon=0.4, rounds=4, experiment=experiment, tolerance=0.05
    ).policy
    reached, ended = policy.probabilities.forward
    np.testing.assert_allclose(ended.sum(axis=1), 1.0, rtol=1e-12)
    assert policy.probabilities.win(*policy.start) == pytest.approx(ended[0, 1], rel=1e-12)
    # from each node with so many rounds left, whatever comes before
    for node in range(1, len(reached)):
        there = (reached[node][0] * policy.probabilities.winning[node]).sum()
        assert there <= ended[0, 1] * (1 + 1e-12)


@pytest.mark.nightly
def test_a_chance_is_how_often_it_happens():
    """Of 100,000 plays; fails with probability 1e-6."""
    policy = responses()
    result = simulate(policy.adversary, policy.family, policy.rounds, 100_000, seed=3)
    tail = result.tail(policy.epsilon, 0, confidence=1 - 1e-6)
    assert tail.lower <= policy.probabilities.win(*policy.start) <= tail.upper
    assert tail.upper - tail.lower < 0.03


def test_winning_plays_win_and_follow_the_policy():
    policy = responses(epsilon=1.7)  # all but certain to lose
    assert policy.probabilities.win(*policy.start) < 0.1
    for seed in range(20):
        shown = play(policy, seed=seed, winning=True)
        assert shown.won
        assert shown.loss > policy.epsilon == shown.threshold
        place = policy.start[1]
        for i, this in enumerate(shown.rounds):
            node = policy.start[0] - i
            assert policy.table[node, place] == this.option
            assert this.left == policy.rounds - i
            place += round(this.gained / policy.grid.step)
    assert len({play(policy, seed=seed).rounds for seed in range(20)}) > 4
    assert play(policy, seed=4) == play(policy, seed=4)


def test_a_winning_play_where_one_in_a_million_million_wins():
    policy = worst_case("randomized-response:0.1", epsilon=5.75, rounds=60).policy
    assert 0 < policy.probabilities.win(*policy.start) < 1e-12
    assert play(policy, winning=True).won


def test_winning_plays_are_drawn_in_proportion():
    """The last answer of three, given two of them at least are of one kind."""
    policy = worst_case("randomized-response:0.5", epsilon=0.4, rounds=3).policy
    plays = [play(policy, seed=seed, winning=True) for seed in range(400)]
    likely = math.exp(0.5) / (1 + math.exp(0.5))
    all_three = likely**3 / (likely**3 + 3 * likely**2 * (1 - likely))
    counted = sum(all(r.gained > 0 for r in shown.rounds) for shown in plays) / len(plays)
    assert counted == pytest.approx(all_three, abs=5 * math.sqrt(0.25 / 400))  # 1e-6


def test_no_play_wins_beyond_all_losses():
    policy = responses(epsilon=9.0)
    with pytest.raises(NotApplicable, match="no play"):
        play(policy, winning=True)
    assert "No play wins" in transcript(policy)


def test_an_infinite_loss_ends_a_play():
    policy = worst_case("approx:0.1,0.3", epsilon=2.0, rounds=3).policy
    shown = play(policy, winning=True)
    assert math.isinf(shown.loss)
    assert "which reveals the experiment" in transcript(policy)


def test_what_remains_counts_rounds_or_a_budget():
    assert Remaining.of(responses()).name == "rounds left"
    menu = "randomized-response:0.1..0.4"
    policy = worst_case(
        menu, epsilon=0.5, filter=parse_filter("zcdp:1,1e-3"), tolerance=0.5, seconds=1e-9
    ).policy
    remaining = Remaining.of(policy)
    assert remaining.name == "budget left"
    assert remaining.left[policy.start[0]] == 1.0
    assert remaining.words(0.25) == "25% of the budget left"


def test_a_long_play_is_short_to_read():
    menu = "randomized-response:0.02..0.4"
    policy = worst_case(
        menu, epsilon=0.5, filter=parse_filter("whitehouse:1.5,1e-3"), seconds=1e-9
    ).policy
    for seed in range(5):
        text = transcript(policy, seed=seed)
        assert len(text.splitlines()) <= 2 * (LONG + 4)
        assert text == transcript(policy, seed=seed)


def test_rounds_of_one_move_are_one_line():
    policy = worst_case("randomized-response:0.1", epsilon=0.05, rounds=5).policy
    line = transcript(policy).splitlines()[5]
    assert line.startswith("  rounds 1 to ")
    assert "  loss 0, 5 rounds left  plays randomized-response:0.1  +0.1 " in line
