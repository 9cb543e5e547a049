"""A function of a user's that fits no call, raises or returns what it must not: one line names it.

A filter's ``step`` and ``observe``, a rule's step, a mechanism's ``sample`` and ``loss``; in plain
play and in kernels.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import cloudpickle
import numpy as np
import pytest

from simulator import Laplace, PureDP, simulate
from simulator.adversaries import Rule
from simulator.adversaries.loading import from_file
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.errors import Breach
from simulator.mechanisms import Mechanism, ScalarMechanism, Scalars
from simulator.theory import Filter
from tests.helpers.cases import case

FINE = Laplace(ALICE, 0.1)


class Silent(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def silent(*_arguments):
    raise Silent


def pairs_of(mechanism=FINE):
    def adversary(coins):
        while True:
            yield WITHOUT_ALICE, EVERYONE, mechanism

    return adversary


def rule_over(mechanism=FINE, step=lambda state, i, answer, coins: (state, 0)):
    return Rule(step, [(WITHOUT_ALICE, EVERYONE, mechanism)], name="mine")


def refused(adversary, filter_=None, jobs=1):
    with pytest.raises(Breach) as error:
        simulate(
            adversary, PureDP(0.2), 3, 20, filter=filter_, jobs=jobs, progress=False, block_size=10
        )
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


def admitting(rule, watch=None):
    """A filter of one number whose step is the rule, and whose observe is ``watch``."""

    class Mine(Filter):
        name = "mine"
        step = staticmethod(rule)
        if watch is not None:
            observe = staticmethod(watch)

        @property
        def initial(self):
            return (self.epsilon,)

        def _check(self):
            pass

    return Mine(1.0)


def first_line(function):
    return f"(test_users_functions.py, line {function.__code__.co_firstlineno})"


def of_two(state, epsilon):
    return True, state


STEPS = {
    "returned array([1., 2.]), which is not (admitted": lambda s, e, d: np.array([1.0, 2.0]),
    "True or False before the state, not array(": lambda s, e, d: (np.ones(2), s),
    "True or False before the state, not 'no'": lambda s, e, d: ("no", s),
    "as a tuple of numbers, not 'text'": lambda s, e, d: (True, "text"),
    "as a tuple of numbers, not ('text',)": lambda s, e, d: (True, ("text",)),
    "as a tuple of numbers, not (nan,)": lambda s, e, d: (True, (math.nan,)),
    "raised Silent: (its message cannot be made: RuntimeError) (": silent,
    f"takes 2 positional arguments but 3 were given {first_line(of_two)}": of_two,
}


@pytest.mark.parametrize("made", [pairs_of, rule_over])
def test_a_step_of_a_filter(made):
    for said, step in STEPS.items():
        with case(said):
            line = refused(made(), admitting(step))
            assert "the step of the mine filter" in line
            assert said in line


def test_an_observe_of_a_filter():
    for said, watch in {
        "of numbers, not 'text'": lambda state, loss: "text",
        "of numbers, not (nan,)": lambda state, loss: (math.nan,),
        "raised Silent": silent,
        f"but 2 were given {first_line(abs_of)}": abs_of,
    }.items():
        with case(said):
            line = refused(pairs_of(), admitting(lambda s, e, d: (True, s), watch))
            assert "observe of the mine filter" in line
            assert said in line


def abs_of(state):
    return state


def test_a_filter_may_return_numbers_of_numpy():
    running = admitting(lambda s, e, d: (np.True_, (np.float64(0.5),))).fresh()
    running.spend(PureDP(0.1))
    assert running.state == (0.5,)


@dataclass(frozen=True)
class Plain(Mechanism):
    drawn: object
    lost: object
    query: object = ALICE

    def guarantee(self, relation=None):
        return PureDP(0.2)

    def sample(self, database, noise, relation=None):
        return self.drawn(0, 1, noise)

    def log_likelihood_ratio(self, answer, database_0, database_1, relation=None):
        return self.lost(0, answer)


def scalar(drawn, lost):
    @dataclass(frozen=True)
    class Scalar(ScalarMechanism):
        query: object = ALICE
        epsilon: float = 0.1
        scalars: ClassVar = Scalars("s", lambda row: 3, lambda row, e, p: None, drawn, lost)

        def guarantee(self, relation=None):
            return PureDP(0.2)

        def row(self, value_0, value_1, relation):
            return value_0, value_1, 1.0

    return Scalar()


def uniform(params, b, noise):
    return noise.random()


def constant(params, answer):
    return 0.1


def of_one(answer):
    return 0.1


MECHANISMS = {
    "answered None": (lambda p, b, noise: None, constant),
    "answered 'text', which is no number": (lambda p, b, noise: "text", constant),
    "answered array([0., 0.]), which is no number": (lambda p, b, noise: np.zeros(2), constant),
    "array([1., 1.])": (uniform, lambda p, answer: np.ones(2)),
    f"takes 1 positional argument but 2 were given {first_line(of_one)}": (uniform, of_one),
    f"takes 1 positional argument but 3 were given {first_line(of_one)} ": (of_one, constant),
    "the mechanism raised Silent: (its message cannot": (silent, constant),
}
ANSWERS_OF_PLAIN_ONES = ("answered 'text'", "answered array")
"""What a mechanism without scalars may answer."""


PLAYED = {
    "plain": lambda *functions: pairs_of(Plain(*functions)),
    "scalar": lambda *functions: pairs_of(scalar(*functions)),
    "rule": lambda *functions: rule_over(scalar(*functions)),
}


@pytest.mark.parametrize("kind", PLAYED)
def test_a_function_of_a_mechanism(kind):
    plain = kind == "plain"
    for said, functions in MECHANISMS.items():
        if plain and said.startswith(ANSWERS_OF_PLAIN_ONES):
            continue
        with case(said):
            line = refused(PLAYED[kind](*functions))
            named = said.partition(" (")[0] if plain else said.strip()
            assert named in line
            assert line.startswith("round 1, trial 0 of experiment 0: ")


def of_three(state, i, answer):
    return state, 0


def test_a_step_of_a_rule_and_an_adversary_that_raise():
    assert f"but 4 were given {first_line(of_three)}" in refused(rule_over(step=of_three))
    assert "mine raised Silent: (its message" in refused(rule_over(step=silent))

    def in_round_two(coins):
        yield WITHOUT_ALICE, EVERYONE, FINE
        raise Silent

    assert "the adversary raised Silent: (its message" in refused(in_round_two)


RAISING = """\
from simulator import Laplace
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
def attack(coins):
    yield WITHOUT_ALICE, EVERYONE, Laplace(ALICE, 0.1)
    1 / 0
"""


def test_the_line_is_named_in_a_worker_too(tmp_path):
    """A worker has the function by its content, without the name of its file."""
    (tmp_path / "mine.py").write_text(RAISING)
    attack = from_file(str(tmp_path / "mine.py"), "attack", "adversary")
    line = refused(cloudpickle.loads(cloudpickle.dumps(attack)))
    assert line.endswith("ZeroDivisionError: division by zero (mine.py, line 5)")
