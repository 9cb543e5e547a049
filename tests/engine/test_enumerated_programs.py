"""The exact law of a generator in the closed form, against walks over all answers and samples."""

import itertools
import math
import random
import re
import warnings

import numpy as np
import pytest

from simulator import Laplace, PureDP, RandomizedResponse
from simulator.adversaries.registry import make
from simulator.data import ADD_REMOVE
from simulator.engine.algorithm_1 import play_as_generator
from simulator.engine.block import covering_engine
from simulator.engine.enumerated import programs
from simulator.engine.enumerated.explaining import enumerability
from simulator.engine.specification import Specification
from simulator.foundations.errors import DpcomposeError, NotApplicable
from tests.helpers.natural_programs import ALICE, EVERYONE, NATURAL, STRONG, WEAK, WITHOUT
from tests.helpers.random_programs import Author, function_of

FAMILY = PureDP(0.2)
ROUNDS = 5
LAPLACE = Laplace(ALICE, 0.1)
UNKNOWN = {"continuous", "until_sure", "helper_within", "posterior"}
"""Natural adversaries that keep an answer as a number, or compute a parameter from it."""


def moments(adversary, rounds=ROUNDS, b=0):
    return covering_engine(Specification(adversary, FAMILY, rounds, 10), b).moments


def walked(adversary, theta, rounds=ROUNDS):
    """ln E0 e^{theta L} by playing the generator on all answers; it tosses no coins."""
    total = 0.0
    for answers in itertools.product((0.0, 1.0), repeat=rounds):
        playing, answer, probability, loss = adversary(None), None, 1.0, 0.0
        for given in answers:
            database_0, database_1, mechanism = playing.send(answer)
            pair = mechanism.pair(database_0, database_1, ADD_REMOVE)
            listed, masses, _ = pair.outcomes()
            probability *= masses[listed.index(given)]
            loss += pair.loss(given)
            answer = given
        total += probability * math.exp(theta * loss)
    return math.log(total)


def finite_program(seed, step=False):
    author = Author(random.Random(seed).choice, finite=True)
    return function_of(author.step_program() if step else author.program())


def compared(seeds, step=False):
    """How many programs have the exact law of a walk; the others are refused, or stop in Python."""
    found = 0
    for seed in seeds:
        adversary = finite_program(seed, step)
        try:
            exact = moments(adversary).log_moment(2.0)
        except DpcomposeError:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert math.isclose(exact, walked(adversary, 2.0), abs_tol=1e-12), seed
        found += 1
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("step", [False, True])
def test_random_programs_have_the_law_of_a_walk_over_all_answers(step):
    assert compared(range(25), step) >= 7


@pytest.mark.nightly
@pytest.mark.parametrize("step", [False, True])
def test_many_random_programs_have_the_law_of_a_walk_over_all_answers(step):
    assert compared(range(1000, 6000), step) >= 2000


def sampled(seeds, trials=400):
    """How many random steps that toss coins have samples inside their exact law.

    Means of e^{L / 2} within 6 standard deviations and 1e-9, which fails falsely once in 5e8.
    """
    found = 0
    for seed in seeds:
        rule = function_of(Author(random.Random(seed).choice).step_program())
        s = Specification(rule, FAMILY, ROUNDS, trials, seed=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exact = math.exp(moments(rule).log_moment(0.5))
            except DpcomposeError:
                continue
            values = np.exp(0.5 * play_as_generator(s, 0, 0).losses)
        off = abs(values.mean() - exact)
        assert off <= 6.0 * values.std() / math.sqrt(trials) + 1e-9, seed
        found += 1
    return found


def test_samples_of_random_steps_are_inside_of_their_exact_law():
    assert sampled(range(25)) >= 6


@pytest.mark.nightly
def test_samples_of_many_random_steps_are_inside_of_their_exact_law():
    assert sampled(range(1000, 5000)) >= 1000


@pytest.mark.parametrize("broken", ["<", "+", "//", "in"])
def test_a_broken_reader_is_found(monkeypatch, broken):
    right = programs.on_known
    wrong = {"<": lambda a, b: a <= b, "+": lambda a, b: a + b + 1, "//": lambda a, b: int(a / b)}

    def reader(do):
        if do.operation == broken and do.base == "int":
            return wrong[broken]
        if broken == "in" and do.operation == "among":
            return lambda x: False
        return right(do)

    monkeypatch.setattr(programs, "on_known", reader)

    def is_found(seed):
        try:
            return not compared([seed]) and False
        except (AssertionError, ArithmeticError, IndexError):
            return True

    assert any(is_found(seed) for seed in range(400))


@pytest.mark.parametrize("b", [0, 1])
def test_a_generator_has_the_law_of_the_librarys_rule(b):
    rule = make("press-when-ahead", FAMILY, 100)
    for theta in (0.5, 5.0, 20.0):
        ours = moments(NATURAL["mechanism_kept"], 100, b).log_moment(theta)
        assert ours == moments(rule, 100, b).log_moment(theta)


@pytest.mark.sampled(n=3)
@pytest.mark.parametrize("name", sorted(set(NATURAL) - UNKNOWN))
def test_samples_are_inside_of_the_exact_law(name):
    """Means of e^{L / 2} within 5 standard deviations, which fails falsely once in a million."""
    s = Specification(NATURAL[name], FAMILY, 12, 1500, seed=11)
    for b, sign in ((0, 1.0), (1, -1.0)):
        losses = play_as_generator(s, b, 0).losses
        values = np.exp(0.5 * sign * losses)
        exact = math.exp(moments(NATURAL[name], 12, b).log_moment(0.5))
        assert abs(values.mean() - exact) <= 5.0 * values.std() / math.sqrt(len(values))


@pytest.mark.parametrize("name", sorted(UNKNOWN))
def test_what_keeps_an_answer_is_refused(name):
    with pytest.raises(NotApplicable, match=r":\d+: .*(cannot be enumerated|keep what was)"):
        moments(NATURAL[name])


def stops(coins):
    for _ in range(3):
        yield WITHOUT, EVERYONE, RandomizedResponse(ALICE, 0.1)


def tossing(tosses):
    def adversary(coins):
        while True:
            heads = 0
            for _ in range(tosses):
                heads = heads + 1 if coins.random() < 0.5 else 0
            yield WITHOUT, EVERYONE, STRONG if heads > 2 else WEAK

    return adversary


def test_a_step_may_decide_so_often_and_no_more(monkeypatch):
    monkeypatch.setattr(programs, "MOST_OUTCOMES", 5)
    strong, weak = (m.pair(WITHOUT, EVERYONE).tilted(1.0)[0] for m in (STRONG, WEAK))
    exact = math.log(math.exp(strong) / 8.0 + math.exp(weak) * 7.0 / 8.0)  # three heads at the end
    assert math.isclose(moments(tossing(5), 1).log_moment(1.0), exact, abs_tol=1e-14)
    with pytest.raises(NotApplicable, match="more than 5 decisions in one step"):
        moments(tossing(6), 1)


def rounds_an_answer(coins):
    answer = 0.0
    while True:
        answer = yield WITHOUT, EVERYONE, WEAK if round(answer) % 2 else STRONG


def test_a_refusal_names_the_line():
    assert math.isclose(moments(stops, 3).log_moment(1.0), walked(stops, 1.0, 3), abs_tol=1e-14)
    with pytest.raises(NotApplicable, match=r"programs.py:\d+: the program may stop"):
        moments(stops, 4)
    line = rounds_an_answer.__code__.co_firstlineno + 3
    refusal = f"test_enumerated_programs.py:{line}: round of a number that is not known in advance"
    with pytest.raises(NotApplicable, match=re.escape(refusal)):
        moments(rounds_an_answer)


def test_a_moment_of_any_theta_is_a_number_or_refused():
    """Powers of matrices once ended in the logarithm of 0."""
    found = moments(make("press-when-ahead", FAMILY, 100), 100)
    refused = 0
    for theta in (2.0**k for k in range(24)):
        try:
            assert math.isclose(found.log_moment(theta), found.measure(theta).log_moment)
        except DpcomposeError:
            refused += 1
    assert 0 < refused < 20


def test_it_is_said_whether_states_are_enumerated():
    line = stops.__code__.co_firstlineno
    assert (
        f"test_enumerated_programs.py:{line}: the program may stop"
        in (enumerability(stops, FAMILY, 4)[0])
    )
    said = "Its states are enumerated, at most 2 in one of 9 rounds: for exact answers"
    for one in (NATURAL["mechanism_kept"], make("press-when-ahead", FAMILY, 9)):
        assert enumerability(one, FAMILY, 9) == [said]


def refused_in_four_lines(coins):
    seen = 0
    while True:
        answer = yield WITHOUT, EVERYONE, LAPLACE
        if math.sin(answer) > 0.5:
            seen += 1
        number = coins.integers(0, 1_000_000)
        if math.exp(answer) > 2.0:
            answer = yield WITHOUT, EVERYONE, STRONG if number > 2 else WEAK
        elif answer > 1.0:
            answer = yield WITHOUT, EVERYONE, WEAK if round(answer) % 2 else STRONG


def test_every_reason_is_given_with_its_line():
    said = enumerability(refused_in_four_lines, FAMILY, 3)
    first = refused_in_four_lines.__code__.co_firstlineno
    for line, what in (
        (4, "sin of a number"),
        (6, "one of 1000000 whole numbers"),
        (7, "exp of a"),
        (10, "round of a"),
    ):
        named = [each for each in said if f"programs.py:{first + line}:" in each and what in each]
        assert len(named) == 1, (line, said)
    assert len(said) == 5
    with pytest.raises(NotApplicable, match=f":{first + 4}: sin of a number"):
        moments(refused_in_four_lines)


BOXES = np.arange(2 * 3 * 2).reshape(2, 3, 2) * 5 % 7


def by_a_box(epsilon):
    """A generator for each epsilon, as what is known of a program is kept."""
    weak, strong = (RandomizedResponse(ALICE, each) for each in (epsilon, 0.2))

    def boxes(coins):
        ones, answer, i = 0, 0.0, 0
        while True:
            large = BOXES[i % 2, ones % 3, int(answer)] > 2
            answer = yield WITHOUT, EVERYONE, strong if large else weak
            ones, i = ones + int(answer), i + 1

    return boxes


def test_an_item_of_a_table_of_three_dimensions_is_that_of_python(monkeypatch):
    """The places along the dimensions are one place in the flat table."""
    exact = walked(by_a_box(0.1), 2.0)
    assert math.isclose(moments(by_a_box(0.1)).log_moment(2.0), exact, abs_tol=1e-12)
    right = programs.on_known
    monkeypatch.setattr(
        programs,
        "on_known",
        lambda do: (lambda a, b: a + b) if do.operation == "flat" else right(do),
    )
    broken = moments(by_a_box(0.05)).log_moment(2.0)
    assert abs(broken - walked(by_a_box(0.05), 2.0)) > 1e-3


def climbing(coins):
    s = 2**62
    while True:
        answer = yield WITHOUT, EVERYONE, STRONG if s >= 2**63 else WEAK
        s += 2**61 if answer > 0.5 else 0


def descending(coins):
    s = -(2**63) + 1
    while True:
        answer = yield WITHOUT, EVERYONE, STRONG if s <= -(2**63) else WEAK
        s = s & -2 if answer > 0.5 else s


@pytest.mark.parametrize("adversary", [climbing, descending])
def test_whole_numbers_that_are_not_held_have_no_exact_law(adversary):
    """Comparisons with them are decided while the program is read, so none may come up."""
    with pytest.raises(NotApplicable, match="compute a number not held"):
        moments(adversary)
