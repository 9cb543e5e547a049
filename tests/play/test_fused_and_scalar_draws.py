"""An answer and its loss in one call, and draws without numpy's detours: the same bits."""

from dataclasses import replace

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
from simulator.play.drawn_ahead import NoiseSource
from simulator.play.fused import WRITTEN_OUT, fused
from simulator.play.scalar_draws import BENEATH, ScalarDraws, functions
from simulator.seeds import Stream, generator

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")
FAMILY = PureDP(0.2)


@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize(
    "mechanism", [Laplace(ALICE, 0.7), RandomizedResponse(ALICE, 0.7), Gaussian(ALICE, 2.0)]
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
    monkeypatch.setattr("simulator.play.scalar_draws.BENEATH", {"random": "no_such_function"})
    try:
        assert functions() == {}
        without = simulate(always, FAMILY, 6, 4, jobs=1, progress=False).losses(0)
    finally:
        functions.cache_clear()
    np.testing.assert_array_equal(with_them, without)


def always(coins):
    while True:
        yield WITHOUT, EVERYONE, Laplace(ALICE, 0.2)
