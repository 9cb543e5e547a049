"""Numbers drawn before they are asked for are those that are drawn one by one, to the last bit."""

from typing import ClassVar

import numpy as np
import pytest

from simulator import Database, Gaussian, Laplace, RandomizedResponse, counting_query
from simulator.data import ADD_REMOVE
from simulator.engine.interpreted import laplace_draws
from simulator.engine.interpreted.drawn_ahead import MOST, PATIENCE, Ahead, NoiseSource
from simulator.engine.interpreted.interpreter import play_interpreted
from simulator.engine.interpreted.laplace_draws import laplace_draws as draw_laplaces
from simulator.engine.interpreted.laplace_draws import ziggurat
from simulator.engine.specification import Specification
from simulator.foundations.seeds import Stream, generator, record
from simulator.mechanisms import Geometric
from simulator.mechanisms.base import PlainPair
from simulator.theory import ApproxDP
from tests.helpers.oracle import compose_block

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")
KINDS = ("uniforms", "normals", "laplaces")


def one(noise, kind):
    """A number of a kind, by numpy's methods for a single one."""
    if kind == "uniforms":
        return noise.random()
    if kind == "normals":
        return noise.standard_normal()
    return noise.standard_exponential() * (1.0 if noise.random() < 0.5 else -1.0)


def twins(block):
    return generator(5, 6, Stream.COINS, block), generator(5, 6, Stream.COINS, block)


@pytest.mark.parametrize("n", [1, 2, 3, 64, 511])
def test_many_laplaces_are_single_ones_and_leave_the_generator_there(n):
    """Some 1e5 draws of each length, of which two in a hundred lie near the edge of a layer."""
    for block in range(max(4, 100_000 // (40 * n))):
        ours, theirs = twins(block)
        for _ in range(40):
            drawn = draw_laplaces(ours, n)
            assert drawn
            assert drawn == [one(theirs, "laplaces") for _ in drawn]
            assert record(ours) == record(theirs)


def test_the_layers_are_numpys():
    """No slower way is taken, and all but what is left to numpy is well within its layer."""
    found = ziggurat()
    assert found is not None
    assert found.inside[1] == 0
    assert np.delete(found.inside, 1).min() > 2**52


@pytest.mark.parametrize("width", [1.0 + 2.0**-52, 2.0, 0.5, np.inf, 0.0])
def test_layers_that_are_not_numpys_are_not_used(width, monkeypatch):
    """As after a change of numpy's: it then draws by itself, the same numbers."""
    of = laplace_draws._from_word

    def otherwise(layer, place):
        size, words = of(layer, place)
        return (size * width if place == 1 and layer == 77 else size), words

    monkeypatch.setattr(laplace_draws, "_from_word", otherwise)
    ziggurat.cache_clear()
    try:
        with np.errstate(all="ignore"):
            assert (ziggurat() is None) == (1.0 < width < np.inf)  # else the layer is left out
        ours, theirs = twins(0)
        drawn = draw_laplaces(ours, 300)
        assert drawn == [one(theirs, "laplaces") for _ in drawn]
        assert record(ours) == record(theirs)
    finally:
        ziggurat.cache_clear()


def test_an_edge_told_wrongly_is_found():
    """A word beyond its layer's edge gives another number: hence the layers are checked."""
    layer, steps = 77, int(ziggurat().inside[77])
    beyond = int(steps * (1.0 + 4e-9))
    assert laplace_draws._from_word(layer, steps - 1)[1] == 1
    assert laplace_draws._from_word(layer, beyond)[1] > 1


@pytest.mark.parametrize("longest", [1, 3 * PATIENCE, 4 * MOST])
def test_kinds_that_alternate_draw_as_one_by_one(longest):
    """Runs of one kind, of lengths up to below, at and beyond what is drawn at once."""
    ours, theirs = twins(longest)
    source, chooses = NoiseSource(ours), np.random.default_rng(longest)
    for _ in range(20_000 // longest + 20):
        kind = KINDS[chooses.integers(3)]
        ahead = getattr(source, kind)
        for _ in range(chooses.integers(1, longest + 1)):
            assert (ahead.left.pop() if ahead.left else ahead.more()) == one(theirs, kind)
        if chooses.random() < 0.3:
            source.put_back()
            assert record(ours) == record(theirs)


def test_nothing_is_drawn_ahead_of_somebody_who_holds_the_generator():
    ours, theirs = twins(0)
    source = NoiseSource(ours)
    for _ in range(10 * PATIENCE):
        ahead = source.laplaces
        assert (ahead.left.pop() if ahead.left else ahead.more()) == one(theirs, "laplaces")
    assert record(ours) != record(theirs)  # it is ahead
    assert source.lend() is ours
    for _ in range(10 * PATIENCE):
        assert record(ours) == record(theirs)
        assert source.laplaces.more() == one(theirs, "laplaces")


class Keeper(Laplace):
    """One that draws from the generator itself, and remembers where it stood."""

    stood: ClassVar = []

    def pair(self, database_0, database_1, relation=ADD_REMOVE):
        return PlainPair(self, database_0, database_1, relation)

    def sample(self, database, noise, relation=ADD_REMOVE):
        self.stood.append(record(noise))
        return self.query(database) + noise.laplace(scale=1.0 / self.epsilon)

    def log_likelihood_ratio(self, answer, database_0, database_1, relation=ADD_REMOVE):
        distances = [abs(answer - self.query(database)) for database in (database_1, database_0)]
        return self.epsilon * (distances[0] - distances[1])


ASKS = (
    Laplace(ALICE, 0.2), RandomizedResponse(ALICE, 0.2), Geometric(ALICE, 0.2),
    Laplace(ALICE, 0.1), Gaussian(ALICE, 20.0),
)  # fmt: skip


def several_kinds(coins):
    """Long runs of each kind, then all of them as the answers have it."""
    for asked in ASKS:
        for _ in range(3 * PATIENCE):
            answer = yield WITHOUT, EVERYONE, asked
    while True:
        answer = yield WITHOUT, EVERYONE, ASKS[int(abs(answer)) % len(ASKS)]


def keeper_in_between(coins):
    """Somebody else's mechanism after a long run of one kind, and again now and then."""
    while True:
        for _ in range(3 * PATIENCE):
            yield WITHOUT, EVERYONE, ASKS[0]
        yield WITHOUT, EVERYONE, Keeper(ALICE, 0.2)


@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("adversary", [several_kinds, keeper_in_between])
def test_a_play_is_that_of_algorithm_1(adversary, b):
    family = ApproxDP(2.0, 0.5)
    s = Specification(adversary, family, 1500, 4, block_size=4, keep_views=4)
    Keeper.stood.clear()
    outcome = play_interpreted(s, b, 0)
    stood = list(Keeper.stood)
    Keeper.stood.clear()
    plays = compose_block(s, b, 0)
    assert outcome.losses.tolist() == [play.loss for play in plays]
    assert [view.answers for view in outcome.views] == [tuple(play.answers) for play in plays]
    assert stood == Keeper.stood
    assert bool(stood) == (adversary is keeper_in_between)


@pytest.mark.parametrize("forgetful", [Ahead, NoiseSource])
def test_a_play_that_puts_nothing_back_is_found_out(forgetful, monkeypatch):
    monkeypatch.setattr(forgetful, "put_back", lambda self: None)
    s = Specification(several_kinds, ApproxDP(2.0, 0.5), 1500, 2, block_size=2)
    plays = compose_block(s, 0, 0)
    assert play_interpreted(s, 0, 0).losses.tolist() != [play.loss for play in plays]
