"""Concurrent composition: the numbers of the game by enumeration, and interleavings of our own."""

import itertools
import math

import numpy as np
import pytest

from simulator import simulate
from simulator.teaching.games import find
from simulator.teaching.games.library import concurrent
from simulator.teaching.games.library.concurrent import EVERYONE, WITHOUT, search, tree
from simulator.theory import PureDP
from simulator.worst import worst_conversation


def best_delta(part, copies, at):
    """Two trees, by listing strategies: both first bits, a question to one, then to the other."""
    _, first_0, first_1, after = part.root.replies[0]
    questions = [list(zip(on_0, on_1)) for _, on_0, on_1, _ in after[0].replies]
    total = 0.0
    for answers in itertools.product((0, 1), repeat=copies):
        p0, p1 = (math.prod(law[a] for a in answers) for law in (first_0, first_1))
        total += max(
            sum(
                max(
                    sum(max(0.0, p0 * q0 * r0 - math.exp(at) * p1 * q1 * r1) for r0, r1 in second)
                    for second in questions
                )
                for q0, q1 in first
            )
            for first in questions
        )
    return total


@pytest.mark.parametrize("at", [0.0, 0.5, 0.9, 1.4])
def test_the_worst_interleaving_learns_both_bits_first(at):
    part = tree(0.25, 0.75)
    found = search(part, 2, at).delta
    assert found.lower <= best_delta(part, 2, at) * (1 + 1e-9)
    assert best_delta(part, 2, at) <= found.upper


def test_interleaving_beats_one_after_the_other():
    outcome = find("concurrent").play(trials=1000)
    free = outcome.row("interleaved at will", "delta, trees")
    turn = outcome.row("one after the other", "delta, trees")
    assert free.lower > 1.08 * turn.upper
    bound = outcome.row("their worst curves composed", "delta, trees")
    assert free.upper < bound.upper < 1.05 * free.upper


def test_the_worst_adversary_is_played_as_it_was_found():
    part = tree(0.25, 0.75)
    found = search(part, 2, 0.9)
    assert found.longest == 4
    result = simulate(
        found.play, family=PureDP(2.0), rounds=6, trials=3000, seed=8, keep_views=1
    )  # a round more than it needs
    estimate = result.delta(0.9, confidence=0.999)
    assert estimate.lower <= found.delta.upper
    assert found.delta.lower <= estimate.upper
    assert len([*found.transcript()]) == 4


def test_interleavings_of_our_own_stay_below_the_worst():
    """Fixed and random orders, whose delta is known by the same recursion."""
    part = tree(0.25, 0.75)
    worst = search(part, 2, 0.9).delta.upper

    def random_order(coins):
        handles = []
        for _ in range(2):
            handles.append((yield WITHOUT, EVERYONE, part))
        left = [["first", "0.25"], ["first", "0.75"]]
        for _ in range(4):
            i = int(coins.choice([j for j in range(2) if left[j]]))
            yield handles[i].ask(left[i].pop(0))

    result = simulate(random_order, family=PureDP(1.0), rounds=6, trials=2000, seed=4)
    assert result.delta(0.9, confidence=0.999).lower <= worst


def test_questions_keep_their_range():
    for loss, width in itertools.product((0.1, 0.4, 0.7), (0.8, 1.0)):
        on_0, on_1 = concurrent.ranged(loss, width)
        assert sum(on_0) == pytest.approx(1.0)
        assert sum(on_1) == pytest.approx(1.0)
        losses = np.log(on_0) - np.log(on_1)
        assert losses == pytest.approx([loss, loss - width])


def test_the_leaky_tree_has_its_delta_and_no_more():
    part = concurrent.leaky_tree(0.7, 0.03)
    found = worst_conversation(part, WITHOUT, EVERYONE, epsilon=0.7).delta
    assert found.lower <= 0.03 + 1e-12
    assert found.upper >= 0.03
    below = worst_conversation(part, WITHOUT, EVERYONE, epsilon=0.69).delta
    assert below.lower > 0.03
