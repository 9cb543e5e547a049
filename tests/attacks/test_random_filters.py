"""Random filters of users, in whose admissions the order matters, against brute force."""

import math
import random
from functools import lru_cache

import pytest

from simulator.attacks import find_adversary


class TableFilter:
    """Admits by a random table of the counts so far, or of their order."""

    def __init__(self, seed):
        drawn = random.Random(seed)
        self.sizes = sorted(drawn.sample([0.1, 0.2, 0.3, 0.5, 0.7, 1.0], drawn.choice([1, 2, 3])))
        self.rounds = drawn.randint(1, 6)
        self.kind = drawn.choice(["after", "before"])
        self.initial = (0,) * len(self.sizes)
        self.seed = seed
        self.epsilon = round(drawn.uniform(0, sum(self.sizes) * self.rounds / len(self.sizes)), 3)
        self.delta = drawn.choice([0.0, 1e-3, 0.01, 0.05, 0.1])

    def admit(self, state, guarantee):
        return self.admit_size(state, guarantee.pure_epsilon)

    def admit_size(self, state, size):
        place = min(range(len(self.sizes)), key=lambda i: abs(self.sizes[i] - size))
        after = tuple(n + (i == place) for i, n in enumerate(state))
        if sum(after) > self.rounds:
            return False, state
        seen = after if self.kind == "after" else (state, place)
        admitted = random.Random(f"{self.seed},{seen}").random() < 0.7
        return admitted, after if admitted else state


def best(filter_):
    """The largest delta of any adversary."""

    @lru_cache(None)
    def value(state, loss):
        found = max(0.0, -math.expm1(filter_.epsilon - loss))
        for size in filter_.sizes:
            admitted, after = filter_.admit_size(state, size)
            if admitted:
                right = 1.0 / (1.0 + math.exp(-size))
                up, down = (value(after, round(loss + s * size, 9)) for s in (1, -1))
                found = max(found, right * up + (1.0 - right) * down)
        return found

    return value(filter_.initial, 0.0)


def played(program, filter_):
    """The delta of a program, by every sequence of answers."""
    total, open_ = 0.0, [()]
    while open_:
        answers = open_.pop()
        playing, state, loss, chance = program.adversary(None), filter_.initial, 0.0, 1.0
        challenge, number = next(playing), 0
        for _ in range(program.rounds):
            if challenge[0] == challenge[1]:
                break
            size = challenge[2].epsilon
            admitted, after = filter_.admit_size(state, size)
            if not admitted:
                challenge = playing.send(math.nan)
                continue
            if number == len(answers):
                open_ += [(*answers, 0.0), (*answers, 1.0)]
                chance = 0.0
                break
            answer = answers[number]
            loss += size if answer == 0.0 else -size
            chance *= 1.0 / (1.0 + math.exp(-size if answer == 0.0 else size))
            state, number = after, number + 1
            challenge = playing.send(answer)
        total += chance * max(0.0, -math.expm1(filter_.epsilon - loss))
    return total


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(s, marks=pytest.mark.nightly) for s in range(3, 120))]
)
def test_a_random_filter_is_judged_as_by_brute_force(seed):
    filter_ = TableFilter(seed)
    menu = ",".join(f"randomized-response:{size}" for size in filter_.sizes)
    found = find_adversary(filter_, menu, seconds=2, seed=seed)
    most = best(filter_)
    assert found.verdict == ("broken" if most > filter_.delta + 1e-12 else "sound")
    assert found.upper >= most * (1 - 1e-9) - 1e-12
    if found.searched is not None:  # a search of nothing to win has no policy
        assert found.searched.lower <= most * (1 + 1e-9) + 1e-12
    gets = played(found.program, filter_)
    assert found.measured.delta.lower <= gets * (1 + 1e-9) + 1e-12
    assert found.measured.delta.upper >= gets * (1 - 1e-9) - 1e-12
    assert gets <= most * (1 + 1e-9) + 1e-12


def test_a_program_keeps_the_options_that_refusals_lead_to():
    """Where the larger question is refused at the end, the smaller one is still sent."""

    class Budget:
        initial, monotone, epsilon, delta = 0.0, True, 0.11, 0.03

        def admit(self, state, guarantee):
            after = state + guarantee.pure_epsilon
            return after <= 0.25 + 1e-12, after

    found = find_adversary(Budget(), "randomized-response:0.1,randomized-response:0.15", seconds=3)
    assert found.verdict == "broken"
    assert found.measured.delta.lower > 0.03
    assert found.program.source.count("RandomizedResponse(ALICE") == 2
