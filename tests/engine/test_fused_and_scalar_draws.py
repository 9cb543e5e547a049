"""An answer and its loss in one call, and draws without numpy's detours: the same bits."""

from dataclasses import replace
from functools import wraps

import numpy as np
import pytest

from simulator import (
    Database,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
    counting_query,
    simulate,
)
from simulator.data import function_query
from simulator.engine.interpreted.drawn_ahead import NoiseSource
from simulator.engine.interpreted.fused import WRITTEN_OUT, fused
from simulator.engine.interpreted.interpreter import play_interpreted
from simulator.engine.interpreted.scalar_draws import BENEATH, ScalarDraws, functions
from simulator.engine.specification import Specification
from simulator.foundations.seeds import Stream, generator, record
from tests.helpers.oracle import compose_block

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")
MINUS_ZERO = function_query(lambda d: -0.0 if d.count_of("alice") else 1.0, 1.0, name="minus 0")
FAMILY = PureDP(0.2)


@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize(
    "mechanism",
    [
        kind(query, parameter)
        for query in (ALICE, MINUS_ZERO)
        for kind, parameter in ((Laplace, 0.7), (RandomizedResponse, 0.7), (Gaussian, 2.0))
    ],
)
@pytest.mark.parametrize("databases", [(WITHOUT, EVERYONE), (EVERYONE, WITHOUT)])
def test_what_is_written_out_is_the_two_functions_bit_for_bit(mechanism, databases, b):
    pair = mechanism.pair(*databases)
    scalars = pair.scalars
    assert (scalars.sample, scalars.loss) in WRITTEN_OUT
    ours, theirs = (generator(1, 2, Stream.COINS, 3) for _ in range(2))
    play, terms = fused(scalars, pair.params, b, NoiseSource(ours))
    for _ in range(5_000):
        answer = scalars.sample(pair.params, b, theirs)
        assert repr(play(terms)) == repr((answer, scalars.loss(pair.params, answer)))


def in_a_module_without_a_name():
    """A function as ``exec`` makes them."""
    names = {"of": Laplace.scalars.sample}
    exec("def sample(params, b, noise): return of(params, b, noise)", names)
    assert names["sample"].__module__ is None
    return names["sample"]


@wraps(Laplace.scalars.sample)
def wrapped(params, b, noise):
    """It goes by the name, and the module, of another."""
    HELD.append((noise, record(noise)))
    return Laplace.scalars.sample(params, b, noise)


HELD: list = []


@pytest.mark.parametrize("sample", [wrapped, in_a_module_without_a_name()])
def test_a_users_function_is_handed_the_generator_itself(sample):
    """Nothing is drawn ahead from then on, for it may have kept the generator."""

    class Own(Laplace):
        scalars = replace(Laplace.scalars, sample=sample)

    stood = []

    def adversary(coins):
        yield WITHOUT, EVERYONE, Own(ALICE, 0.2)
        while True:
            stood.extend(record(noise) for noise, _ in HELD)
            yield WITHOUT, EVERYONE, Laplace(ALICE, 0.2)

    HELD.clear()
    s = Specification(adversary, FAMILY, 300, 1)
    outcome = play_interpreted(s, 0, 0)
    assert len(HELD) == (sample is wrapped)
    assert all(type(noise) is np.random.Generator for noise, _ in HELD)
    assert len(set(stood)) == 299 * len(HELD)  # it has moved in every round
    HELD.clear()
    assert outcome.losses.tolist() == [play.loss for play in compose_block(s, 0, 0)]


def test_a_replaced_function_is_not_passed_over():
    class Scoreless(Laplace):
        scalars = replace(Laplace.scalars, loss=lambda params, answer: 0.125)

    def adversary(coins):
        while True:
            yield WITHOUT, EVERYONE, Scoreless(ALICE, 0.2)

    np.testing.assert_array_equal(
        simulate(adversary, FAMILY, 6, 4, jobs=1, progress=False).losses(0), 6 * 0.125
    )


def test_scalar_draws_are_those_of_the_generator():
    ours, theirs = (generator(1, 2, Stream.COINS, 3) for _ in range(2))
    draws = ScalarDraws(ours)
    order = np.random.default_rng(0).integers(len(BENEATH), size=30_000)
    for number in order:
        name = list(BENEATH)[number]
        assert getattr(draws, name)() == getattr(theirs, name)()
    assert draws.integers(1 << 40) == theirs.integers(1 << 40)  # the same state afterwards


def test_without_numpys_functions_the_generator_draws(monkeypatch):
    with_them = simulate(always, FAMILY, 6, 4, jobs=1, progress=False).losses(0)
    functions.cache_clear()
    monkeypatch.setattr(
        "simulator.engine.interpreted.scalar_draws.BENEATH", {"random": "no_such_function"}
    )
    try:
        assert functions() == {}
        without = simulate(always, FAMILY, 6, 4, jobs=1, progress=False).losses(0)
    finally:
        functions.cache_clear()
    np.testing.assert_array_equal(with_them, without)


def always(coins):
    while True:
        yield WITHOUT, EVERYONE, Laplace(ALICE, 0.2)
