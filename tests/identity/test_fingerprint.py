"""Two adversaries have one fingerprint exactly if they are made of the same things."""

import functools
import itertools
import os
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

from simulator import Database, Laplace, PureDP, RandomizedResponse, counting_query
from simulator.adversaries import Rule
from simulator.adversaries.loading import find_adversary
from simulator.adversaries.registry import entries
from simulator.identity.fingerprint import Walk, _short, fingerprint
from simulator.mechanisms import PostProcessed
from simulator.theory import SubsampledGaussianDP

EVERYONE = Database({"alice": 1, "others": 5})
WITHOUT_ALICE = EVERYONE.remove("alice")
ALICE = counting_query("alice")


def mark(adversary):
    return fingerprint(adversary=adversary).digest


def always(_state, _i, _answer, _coins):
    return 0.0, 0


def one(mechanism):
    return Rule(always, [(WITHOUT_ALICE, EVERYONE, mechanism)], name="one")


def kept(answer):
    return answer


def flipped(answer):
    return 1 - answer


def threshold(limit):
    return lambda answer: int(answer > limit)


class Stepper:
    """An object with a state of its own, and no word of it in its repr."""

    def __init__(self, stride):
        self.stride = stride

    def __call__(self, answer):
        return self.stride * answer


def with_default(answer, stride=2):
    return stride * answer


def with_other_default(answer, stride=3):
    return stride * answer


same_line, as_here = (lambda answer: answer), (lambda answer: 1 - answer)
RR = functools.partial(RandomizedResponse, ALICE)

DISTINCT = {
    "another epsilon": one(PostProcessed(RR(0.2), kept)),
    "the same but for the function": one(PostProcessed(RR(0.1), flipped)),
    "as it is": one(PostProcessed(RR(0.1), kept)),
    "a closure": one(PostProcessed(RR(0.1), threshold(0))),
    "another value closed over": one(PostProcessed(RR(0.1), threshold(1))),
    "a lambda": one(PostProcessed(RR(0.1), same_line)),
    "its neighbour": one(PostProcessed(RR(0.1), as_here)),
    "an object": one(PostProcessed(RR(0.1), Stepper(1))),
    "an object in another state": one(PostProcessed(RR(0.1), Stepper(2))),
    "a method": one(PostProcessed(RR(0.1), Stepper(1).__call__)),
    "a partial": one(PostProcessed(RR(0.1), functools.partial(with_default, stride=5))),
    "another partial": one(PostProcessed(RR(0.1), functools.partial(with_default, stride=6))),
    "a default": one(PostProcessed(RR(0.1), with_default)),
    "another default": one(PostProcessed(RR(0.1), with_other_default)),
    "no post-processing": one(RR(0.1)),
    "another mechanism": one(Laplace(ALICE, 0.1)),
    "another query": one(Laplace(counting_query("others"), 0.1)),
    "a predicate": one(Laplace(counting_query(kept), 0.1)),
    "another predicate": one(Laplace(counting_query(flipped), 0.1)),
    "another database": Rule(
        always, [(WITHOUT_ALICE, EVERYONE.add("bob"), Laplace(ALICE, 0.1))], name="one"
    ),
    "another state": Rule(always, one(RR(0.1)).menu, state=1.0, name="one"),
}


def test_whatever_differs_has_another_fingerprint():
    prints = {name: mark(rule) for name, rule in DISTINCT.items()}
    for (name, first), (other, second) in itertools.combinations(prints.items(), 2):
        assert first != second, (name, other)


def test_what_is_made_again_has_the_same():
    for make in (lambda: threshold(0), lambda: Stepper(3), lambda: functools.partial(kept)):
        first, second = (one(PostProcessed(RR(0.1), make())) for _ in range(2))
        assert mark(first) == mark(second)
    grown = Database({"others": 5}).add("alice")
    assert Walk().digest(grown) == Walk().digest(EVERYONE)
    assert Walk().digest({"a", "b"}) == Walk().digest({"b", "a"})
    assert Walk().digest({"a": 1, "b": 2}) == Walk().digest({"b": 2, "a": 1})


@pytest.mark.parametrize(
    "values",
    [
        (1, 1.0, True, "1", np.float64(1.0)),
        ((1, 2), [1, 2], {1, 2}, frozenset({1, 2})),
        (np.arange(2000.0), np.arange(2000.0) + (np.arange(2000) == 1000)),
        ({"a": 1}, {"a": 2}, {"b": 1}),
        (float, int),
        (np.sin, np.cos, len, max),
    ],
)
def test_values_of_every_kind_are_told_apart(values):
    told = [Walk().digest(value) for value in values]
    assert len(set(told)) == len(values)
    assert not any(" at 0x" in words for words in told)


def test_rings_and_half_made_functions_end():
    ring: list[Any] = []
    ring.append(ring)
    assert Walk().digest(ring)

    def later():
        return unassigned

    assert Walk().digest(later)
    unassigned = 1
    assert Walk().digest(later)


def test_every_adversary_of_the_library_has_its_own():
    prints = [
        mark(entry.make(family, 10))
        for entry in entries()
        for family in (
            [SubsampledGaussianDP(1.0, rate) for rate in (0.1, 0.2)]
            if SubsampledGaussianDP in entry.families
            else [PureDP(epsilon) for epsilon in (0.1, 0.2)]
        )
    ]
    assert len(set(prints)) == len(prints)


FILE = """
from dataclasses import dataclass
from simulator import Database, Laplace, PureDP, counting_query
from simulator.mechanisms import Mechanism

EVERYONE = Database({{"alice": 1, "others": 5}})
EPSILON = {epsilon}

def next_epsilon(answer):
    return EPSILON if answer > 0.5 else {low}

@dataclass(frozen=True)
class Loud(Mechanism):
    size: float
    def guarantee(self, relation=None):
        return PureDP(self.size)
    def sample(self, database, noise, relation=None):
        return {sample}
    def log_likelihood_ratio(self, answer, database_0, database_1, relation=None):
        return 0.0

def mine(coins):
    answer = yield EVERYONE, EVERYONE, Loud(0.1)
    while True:
        mechanism = Laplace(counting_query("alice"), next_epsilon(answer))
        answer = yield EVERYONE, EVERYONE, mechanism
"""


def of_file(folder, epsilon=0.2, low=0.1, sample="1.0"):
    path = folder / "mine.py"
    path.write_text(FILE.format(epsilon=epsilon, low=low, sample=sample))
    return mark(find_adversary(f"{path}:mine", PureDP(0.2), 5))


def test_what_a_file_defines_around_its_adversary_counts(tmp_path):
    first = of_file(tmp_path)
    assert of_file(tmp_path) == first
    assert of_file(tmp_path, epsilon=0.15) != first  # a constant
    assert of_file(tmp_path, low=0.05) != first  # a helper
    assert of_file(tmp_path, sample="2.0") != first  # a mechanism's own code


ELSEWHERE = """
    import test_fingerprint as t
    for rule in t.DISTINCT.values():
        print(t.mark(rule))
"""


@pytest.mark.sampled
@pytest.mark.parametrize("seed", ["7", "0"])
def test_other_processes_agree(seed):
    here = "\n".join(mark(rule) for rule in DISTINCT.values())
    there = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(ELSEWHERE)],
        cwd=os.path.dirname(__file__),
        env=os.environ | {"PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.strip() == here


def test_a_whole_number_of_any_length_has_a_digest():
    """Python writes at most 4,300 digits of a whole number."""
    huge = 10**5000
    assert fingerprint(x=huge).digest == fingerprint(x=10**5000).digest
    assert fingerprint(x=huge).digest != fingerprint(x=huge + 1).digest


def test_of_a_long_place_the_outermost_and_the_innermost_steps_are_shown():
    assert _short("a.b.c.d") == "a.b.c.d"
    assert _short("a.b.c.d.e.f") == "a.….e.f"
