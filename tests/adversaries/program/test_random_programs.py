"""Steps hold against their generators on programs that chance writes, and broken ones do not."""

import random
import warnings
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.adversaries.program import operations
from simulator.adversaries.program.forms import NotRead
from simulator.adversaries.program.operations import Typed
from tests.helpers.exploring import examples
from tests.helpers.random_programs import (
    Author,
    compared,
    compared_steps,
    function_of,
    sequences,
)

PLAYED = sequences(8, 25)


def agreed(seed: int, compiled: bool = False, step: bool = False) -> int | None:
    """The rounds that agree on a program, or on a step; None where it is refused."""
    author = Author(random.Random(seed).choice)
    adversary = function_of(author.step_program() if step else author.program())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of numpy's scalars, as Python plays them
        try:
            return (compared_steps if step else compared)(adversary, PLAYED, compiled)
        except NotRead:
            return None


@examples(250)
@given(st.integers(0, 2**40))
def test_a_step_plays_as_its_generator(seed):
    agreed(seed)


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("seed", range(1000, 2000))
def test_a_compiled_step_plays_as_its_generator(seed):
    agreed(seed, compiled=True)


@examples(250)
@given(st.integers(0, 2**40))
def test_the_step_of_a_rule_plays_as_the_rule(seed):
    agreed(seed, step=True)


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("seed", range(3000, 4000))
def test_a_compiled_step_of_a_rule_plays_as_the_rule(seed):
    agreed(seed, compiled=True, step=True)


@pytest.mark.parametrize(("step", "least"), [(False, 5000), (True, 5000)])
def test_most_programs_are_read_and_play(step, least):
    found = [agreed(seed, step=step) for seed in range(100)]
    assert sum(rounds is None for rounds in found) <= 15
    assert sum(rounds or 0 for rounds in found) >= least


@pytest.mark.sampled(n=1)
@pytest.mark.parametrize(
    ("name", "base", "broken"),
    [
        ("//", "float", {"text": "{0} / {1}"}),
        ("%", "float", {"text": "math.fmod({0}, {1})"}),
        ("min", "int", {"text": "{0}"}),
        ("**", "float", {"text": "{0} * {0}"}),
        ("%", "int", {"text": "{0} - {1} * int({0} / {1})"}),
    ],
)
def test_chance_finds_a_broken_operation(monkeypatch, name, base, broken):
    typed: Typed = operations.TYPED[name, base]
    monkeypatch.setitem(operations.TYPED, (name, base), replace(typed, **broken))

    def wrong(seed: int) -> bool:
        try:
            agreed(seed)
        except (AssertionError, ArithmeticError, IndexError, ValueError):
            return True
        return False

    assert any(wrong(seed) for seed in range(400))
