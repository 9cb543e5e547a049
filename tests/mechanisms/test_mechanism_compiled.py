"""The compiled scalar functions are the interpreted ones: the same draws, losses and laws."""

import math
from functools import lru_cache

import numpy as np
import pytest

from simulator.adversaries.contract import Rule
from simulator.engine.compiled.plain_kernel import Engine
from simulator.foundations.errors import Breach, InvalidInput
from simulator.mechanisms import Free, Gaussian, Geometric, Laplace, RandomizedResponse
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.pure import PureDP
from tests.helpers.mechanism_cases import ALICE, CASES, EVERYONE, OTHERS

numba = pytest.importorskip("numba")
THETA = 0.3
ONE_OF_A_KIND = {case.mechanism.scalars.name: case for case in CASES}


def play(prepare, sample, loss, tilt, sample_tilted):
    """Everything that a kernel does with a mechanism, in one function to compile once."""

    def played(row, parameter, b, params, tilted, noise, out):
        prepare(row, parameter, params)
        tilt(params, THETA, tilted)
        for i in range(out.shape[1]):
            out[0, i] = sample(params, b, noise)
            out[1, i] = loss(params, out[0, i])
            out[2, i] = sample_tilted(params, tilted, noise)
            out[3, i] = loss(params, out[2, i])

    return played


@lru_cache
def both(scalars):
    functions = (
        scalars.prepare, scalars.sample, scalars.loss, scalars.tilt, scalars.sample_tilted,
    )  # fmt: skip
    jitted = [numba.njit(error_model="numpy")(f) for f in functions]
    return numba.njit(error_model="numpy")(play(*jitted)), play(*functions)


@pytest.mark.sampled
@pytest.mark.parametrize("case", CASES, ids=str)
def test_compiled_and_interpreted_agree_draw_for_draw(case):
    scalars = case.mechanism.scalars
    row = case.mechanism.checked_row(case.database_0, case.database_1, case.relation)
    for b in (0, 1):
        results = []
        for played in both(scalars):
            params = np.zeros(scalars.width(row))
            tilted = np.zeros(scalars.tilt_width((row[0],)))
            out = np.zeros((4, 400))
            noise = np.random.default_rng(11)
            played(np.array(row), case.mechanism.parameter, b, params, tilted, noise, out)
            results.append((params, tilted, out))
        for compiled, interpreted in zip(*results):
            np.testing.assert_allclose(compiled, interpreted, rtol=1e-14, atol=1e-14)


def test_a_mechanism_that_ignores_its_parameters_is_told_apart():
    scalars = ONE_OF_A_KIND["Laplace"].mechanism.scalars
    out = []
    for epsilon in (0.5, 1.0):
        params = np.zeros(6)
        scalars.prepare((0.0, 1.0, 1.0), epsilon, params)
        out.append(scalars.sample(params, 0, np.random.default_rng(1)))
    assert out[0] == 2 * out[1]


FREE = Free(0.05, 0.8)
OPEN = [
    Laplace(ALICE, FREE),
    Geometric(ALICE, FREE),
    RandomizedResponse(ALICE, FREE),
    Gaussian(ALICE, FREE),
]


@pytest.mark.parametrize("mechanism", OPEN, ids=lambda m: type(m).__name__)
def test_a_free_parameter_plays_as_the_fixed_one(mechanism):
    def step(state, i, answer, coins):
        return state, 0, 0.3

    fixed = mechanism.with_parameter(0.3)
    family = mechanism.guarantee()  # the widest that the interval allows
    assert fixed.guarantee().implies(family)
    played = []
    for entry in (mechanism, fixed):
        rule = Rule(step, ((OTHERS, EVERYONE, entry),))
        losses, answers = np.zeros(20), np.zeros((20, 5))
        engine = Engine.build(rule, family, CASES[0].relation, compiled=False)
        coins, noise = np.random.default_rng(0), np.random.default_rng(1)
        engine.play(1, coins, noise, losses, 5, answers=answers)
        played.append((losses, answers))
    np.testing.assert_array_equal(played[0][0], played[1][0])
    np.testing.assert_array_equal(played[0][1], played[1][1])


@pytest.mark.parametrize("mechanism", OPEN, ids=lambda m: type(m).__name__)
def test_a_free_parameter_promises_its_worst(mechanism):
    kind = type(mechanism)
    worst = min if kind is Gaussian else max
    promised = kind(ALICE, worst(FREE.low, FREE.high)).guarantee()
    assert mechanism.guarantee() == promised
    assert promised in (PureDP(0.8), GaussianDP(1 / 0.05))
    with pytest.raises(InvalidInput, match="free"):
        mechanism.pair(OTHERS, EVERYONE)


def test_a_parameter_outside_the_interval_is_a_breach():
    def step(state, i, answer, coins):
        return state, 0, 0.9

    rule = Rule(step, ((OTHERS, EVERYONE, OPEN[0]),))
    engine = Engine.build(rule, PureDP(0.8), CASES[0].relation, compiled=False)
    with pytest.raises(Breach, match=r"round 1, trial 0 of experiment 0.*0\.9"):
        engine.play(0, np.random.default_rng(0), np.random.default_rng(1), np.zeros(2), 3)
    assert math.isfinite(FREE.high)
