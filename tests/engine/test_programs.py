"""A generator that is compiled plays as it does in Python, to the bit, in every kind of play."""

import numpy as np
import pytest

from simulator import Gaussian, Laplace, PureDP, RandomizedResponse, simulate
from simulator.adversaries.program.machine import machine_of
from simulator.adversaries.program.reading import read
from simulator.adversaries.program.rules import rule_of
from simulator.data import ADD_REMOVE
from simulator.data.queries import counting_scores
from simulator.engine.algorithm_1 import play_as_generator
from simulator.engine.block import plays_without_lock, prepared_engine
from simulator.engine.compiled import programs, worth
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.compiled.programs import ProgramEngine, program_engine
from simulator.engine.compiled.tilted_kernel import TiltedEngine
from simulator.engine.sampling import Guarded, Steered, Tilted
from simulator.engine.specification import Specification
from simulator.foundations.errors import Breach, DpcomposeError, NotApplicable
from simulator.mechanisms import Exponential, Geometric
from simulator.theory.filters.sums import SumFilter
from simulator.theory.guarantees.gaussian import GaussianDP
from tests.helpers.machine_steps import by_code
from tests.helpers.natural_programs import ALICE, EVERYONE, NATURAL, STRONG, WEAK, WITHOUT

FAMILY = PureDP(0.2)
SCORES = counting_scores(("alice", "bob"))
STEERED = Steered(np.array([0.5, 2.0]), np.array([[0, 1], [1, 0]]), (-0.5, 0.5))
PLAYS = {
    "plain": {},
    "trace": {"trace": True},
    "tilted": {"sampling": Tilted(1.5)},
    "steered": {"sampling": STEERED},
    "guarded": {"sampling": Guarded(STEERED, theta=3.0, share=0.25)},
    "filter": {"filter": SumFilter(3.0)},
}


def outcome_of(play):
    """All numbers of an outcome as text, to the bit; or the error."""
    try:
        found = play()
    except DpcomposeError as error:
        return type(error), str(error)
    arrays = found.losses, found.trace, found.log_weights
    return repr(found.views), [None if each is None else each.tobytes() for each in arrays]


def uncompiled(s):
    """The engine of a program whose kernel is ordinary Python, which calls the step's code."""
    rule = by_code(rule_of(machine_of(read(s.adversary)), s.family, s.relation))
    kind = Engine if s.sampling is None else TiltedEngine
    return ProgramEngine(kind.build(rule, s.family, s.relation, s.filter, compiled=False))


def assert_plays_alike(engine, s):
    for b in (0, 1):
        for number in range(s.blocks):
            ours = outcome_of(lambda: engine.play_block(s, b, number))  # noqa: B023
            assert ours == outcome_of(lambda: play_as_generator(s, b, number))  # noqa: B023


@pytest.mark.sampled(n=6)
@pytest.mark.parametrize("name", NATURAL)
def test_programs_play_as_their_generators(name):
    for others in PLAYS.values():
        s = Specification(
            NATURAL[name], FAMILY, 25, 12, seed=3, keep_views=5, block_size=8, **others
        )
        assert_plays_alike(uncompiled(s), s)


@pytest.mark.sampled(n=1)
@pytest.mark.parametrize("play", PLAYS)
@pytest.mark.parametrize("name", NATURAL)
def test_compiled_programs_play_as_their_generators(name, play):
    s = Specification(
        NATURAL[name], FAMILY, 100, 90, seed=3, keep_views=2, block_size=64, **PLAYS[play]
    )
    assert_plays_alike(program_engine(s), s)


def responses(coins):
    epsilon = 0.1
    while True:
        answer = yield WITHOUT, EVERYONE, RandomizedResponse(ALICE, epsilon)
        epsilon = 0.1 if answer < 0.5 else 0.9 * epsilon + 0.02


def selections(coins):
    epsilon = 0.1
    while True:
        answer = yield WITHOUT, EVERYONE, Exponential(SCORES, epsilon)
        epsilon = 0.1 if answer < 0.5 else 0.9 * epsilon + 0.02


def geometric(coins):
    epsilon = 0.1
    while True:
        answer = yield WITHOUT, EVERYONE, Geometric(ALICE, epsilon)
        epsilon = 0.1 + 0.1 / (1.0 + abs(answer))


def gaussian(coins):
    sigma = 5.0
    while True:
        answer = yield WITHOUT, EVERYONE, Gaussian(ALICE, sigma)
        sigma = 5.0 + abs(answer)


@pytest.mark.parametrize(
    ("adversary", "family"),
    [(responses, FAMILY), (selections, FAMILY), (geometric, FAMILY), (gaussian, GaussianDP(0.2))],
)
def test_a_computed_parameter_plays_alike_with_every_mechanism(adversary, family):
    for name in ("plain", "tilted", "guarded"):
        s = Specification(adversary, family, 25, 12, seed=4, keep_views=3, **PLAYS[name])
        engine = uncompiled(s)
        assert engine.kernel.play_block(s, 0, 0).trials == 12
        assert_plays_alike(engine, s)


def counting(coins):
    """A rare whole number that does not fit into 64 bits."""
    x = 1
    while True:
        answer = yield WITHOUT, EVERYONE, WEAK if x < 2**62 else STRONG
        x = 3 * x if answer > 0.5 else 1


def stopping(coins):
    for _ in range(3):
        yield WITHOUT, EVERYONE, WEAK


def raising(coins):
    while True:
        answer = yield WITHOUT, EVERYONE, WEAK
        1 / (answer > 30.0)


def too_strong(coins):
    while True:
        answer = yield WITHOUT, EVERYONE, Laplace(ALICE, 0.1)
        yield WITHOUT, EVERYONE, Laplace(ALICE, 0.01 * max(abs(answer), 1.0))


def no_neighbours(coins):
    answer = yield WITHOUT, EVERYONE, WEAK
    while True:
        answer = yield WITHOUT.remove("bob") if answer > 20 else WITHOUT, EVERYONE, WEAK


@pytest.mark.parametrize("adversary", [counting, stopping, raising, too_strong, no_neighbours])
def test_what_python_refuses_is_refused_alike(adversary):
    s = Specification(adversary, FAMILY, 100, 40, seed=2, keep_views=1, block_size=20)
    try:
        engine = uncompiled(s)
    except Breach:
        assert adversary is no_neighbours
    else:
        assert_plays_alike(engine, s)


def test_a_number_that_does_not_fit_is_played_by_python(monkeypatch):
    played = []

    def play(*block):
        played.append(block)
        return play_as_generator(*block)

    monkeypatch.setattr(programs, "play_as_generator", play)
    s = Specification(climbing, FAMILY, 100, 4, seed=1)
    engine = program_engine(s)
    assert_plays_alike(engine, s)
    assert len(played) == 2


def climbing(coins):
    x = 1
    while True:
        yield WITHOUT, EVERYONE, STRONG if x % 7 < 3 else WEAK
        x *= 3


def test_a_large_game_is_compiled_and_a_small_one_is_not(monkeypatch):
    adversary = NATURAL["mechanism_kept"]
    small = Specification(adversary, FAMILY, 100, 50)
    assert prepared_engine(small) is None
    assert not plays_without_lock(small)
    monkeypatch.setattr(worth, "WORTH_COMPILING", 1000)
    monkeypatch.setattr(worth, "WORTH_A_LOOK", 1000)
    engine = prepared_engine(small)
    assert isinstance(engine, ProgramEngine)
    assert plays_without_lock(small)
    told = Specification(adversary, FAMILY, 100, 100, trust=False)  # the menu is what is sent
    assert isinstance(prepared_engine(told), ProgramEngine)

    def refused(coins):
        answers = []
        while True:
            answers.append((yield WITHOUT, EVERYONE, WEAK))

    assert prepared_engine(Specification(refused, FAMILY, 100, 100)) is None


def test_a_simulation_has_the_same_result_either_way(monkeypatch):
    adversary = NATURAL["mechanism_kept"]
    inputs = {"family": FAMILY, "rounds": 20, "trials": 300, "seed": 5, "keep_views": 3}
    before = simulate(adversary, **inputs, progress=False)
    monkeypatch.setattr(worth, "WORTH_COMPILING", 1000)
    monkeypatch.setattr(worth, "WORTH_A_LOOK", 1000)
    after = simulate(adversary, **inputs, progress=False)
    for b in (0, 1):
        assert before.losses(b).tobytes() == after.losses(b).tobytes()
    assert before.views == after.views


def test_a_family_without_the_mechanism_is_played_by_python():
    machine = machine_of(read(NATURAL["continuous"]))
    with pytest.raises(NotApplicable, match="no epsilon of Laplace is in the family"):
        rule_of(machine, PureDP(1e-300), ADD_REMOVE)
