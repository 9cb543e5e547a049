"""A play that is not to trust its mechanisms examines every challenge that it has met."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from simulator import (
    Composition,
    Database,
    Laplace,
    PureDP,
    bounds_for,
    counting_query,
    simulate,
    verify,
)
from simulator.adversaries import Rule
from simulator.auditing.declared import FalseLikelihood
from simulator.data import ADD_REMOVE
from simulator.engine import block
from simulator.engine.block import is_compiled_for, play_block
from simulator.engine.compiled import worth
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput
from simulator.mechanisms import Mechanism, RandomizedResponse

pytestmark = pytest.mark.usefixtures("few_draws")

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")
FAMILY = PureDP(0.2)


@dataclass(frozen=True)
class ConstantLaplace(Mechanism):
    """The textbook likelihood of Laplace noise over a sampler that answers a constant."""

    epsilon: float = 0.2

    def guarantee(self, relation=ADD_REMOVE):
        return PureDP(self.epsilon)

    def sample(self, database, noise, relation=ADD_REMOVE):
        return 7.0

    def log_likelihood_ratio(self, answer, database_0, database_1, relation=ADD_REMOVE):
        first, second = (d.count_of("alice") for d in (database_0, database_1))
        return self.epsilon * (abs(answer - second) - abs(answer - first))


class Softened(Laplace):
    """Compiles, and draws with half the noise that its likelihood has."""

    scalars = Laplace.scalars.__class__(
        "softened", Laplace.scalars.width, Laplace.scalars.prepare,
        lambda params, b, noise: Laplace.scalars.sample(params, b, noise) / 2,
        Laplace.scalars.loss,
    )  # fmt: skip


def always(mechanism):
    def adversary(coins):
        while True:
            yield WITHOUT, EVERYONE, mechanism

    return adversary


def rarely_false(coins):
    """Asks the false mechanism in the last round of some trials."""
    while True:
        for _ in range(4):
            yield WITHOUT, EVERYONE, Laplace(ALICE, 0.1)
        false = coins.random() < 0.1
        yield WITHOUT, EVERYONE, ConstantLaplace(0.1) if false else Laplace(ALICE, 0.2)


def step(state, i, answer, coins):
    return state, 0


def play(adversary, **others):
    return simulate(adversary, FAMILY, 5, 40, **({"seed": 2, "jobs": 1, "trust": False} | others))


def test_a_false_likelihood_is_believed_unless_trust_is_withdrawn():
    assert play(always(ConstantLaplace()), trust=True).losses(0)[0] == pytest.approx(-1.0)
    with pytest.raises(FalseLikelihood, match=r"^ConstantLaplace\(.*does not draw from"):
        play(always(ConstantLaplace()))


@pytest.mark.sampled
@pytest.mark.parametrize("jobs", [1, 2])
def test_every_challenge_that_was_met_is_examined(jobs):
    with pytest.raises(FalseLikelihood, match="ConstantLaplace"):
        play(rarely_false, jobs=jobs, block_size=8)


@pytest.mark.nightly
def test_every_entry_of_a_menu_is_examined():
    menu = tuple((WITHOUT, EVERYONE, m) for m in (Laplace(ALICE, 0.1), Softened(ALICE, 0.2)))
    with pytest.raises(FalseLikelihood, match="Softened"):
        play(Rule(step, menu))


def test_numbers_do_not_depend_on_trust():
    assert (play(rarely_true).losses(0) == play(rarely_true, trust=True).losses(0)).all()


def rarely_true(coins):
    while True:
        yield WITHOUT, EVERYONE, Laplace(ALICE, 0.2 if coins.random() < 0.1 else 0.1)


@pytest.mark.nightly
def test_the_distinct_challenges_are_in_the_result_in_one_order():
    found = [play(rarely_true, jobs=jobs, block_size=8).challenges for jobs in (1, 2)]
    assert found[0] == found[1]
    assert {challenge.mechanism.epsilon for challenge in found[0]} == {0.1, 0.2}
    assert play(rarely_true, trust=True).challenges == ()


def continuous(coins):
    """Its menu has an interval of parameters, of which a play meets a few."""
    while True:
        yield WITHOUT, EVERYONE, Laplace(ALICE, 0.1 + 0.1 * coins.random())


@pytest.mark.nightly
def test_a_folder_does_not_know_what_was_met(tmp_path):
    play(continuous, out=tmp_path / "met")
    with pytest.raises(InvalidInput, match="the challenges that were met"):
        play(continuous, out=tmp_path / "met")
    assert play(continuous, out=tmp_path / "met", trust=True).rounds_played == 0
    play(rarely_true, out=tmp_path / "menu")
    assert play(rarely_true, out=tmp_path / "menu").rounds_played == 0


@pytest.mark.nightly
def test_what_is_met_of_an_interval_is_examined_and_nothing_else():
    found = play(continuous).challenges
    assert all(0.1 <= challenge.mechanism.epsilon <= 0.2 for challenge in found)
    assert len(found) > 100


def mostly_weak(coins):
    """A number of its own in every round, and a mechanism that is false in few trials."""
    while True:
        if coins.random() < 1e-4:
            yield WITHOUT, EVERYONE, RandomizedResponse(ALICE, 0.2)
        else:
            yield WITHOUT, EVERYONE, Laplace(ALICE, 0.1 + 0.1 * coins.random())


def rarely_free(coins):
    """Its second number is met in none of the first trials."""
    i = 0
    while True:
        i += 1
        if i == 5 and coins.random() > 0.99:
            yield WITHOUT, EVERYONE, RandomizedResponse(ALICE, 0.1 + 0.1 * coins.random())
        else:
            yield WITHOUT, EVERYONE, Laplace(ALICE, 0.1)


def recorded(adversary, rounds_recorded, monkeypatch):
    monkeypatch.setattr(block, "RECORDED", rounds_recorded)
    s = Specification(adversary, FAMILY, 5, 1000, block_size=1000, trust=False)
    assert s.is_read, s.program
    assert not s.has_whole_menu
    return block.met_at_first(s, 0, 0)


def test_of_a_compiled_play_the_first_challenges_are_recorded(monkeypatch):
    large = Specification(continuous, FAMILY, 5, 10**6, block_size=10**6, trust=False)
    assert is_compiled_for(large)
    found = recorded(continuous, 200, monkeypatch)
    assert len(found) == 200
    assert all(0.1 <= challenge.mechanism.epsilon <= 0.2 for challenge in found)
    assert recorded(continuous, 5000, monkeypatch) is None  # the whole block


def test_what_the_first_trials_do_not_meet_is_recorded_all_the_same(monkeypatch):
    """A fixed entry of the menu as it stands, and all of the play where one is free."""
    found = recorded(mostly_weak, 100, monkeypatch)
    assert [each.mechanism for each in found if type(each.mechanism) is RandomizedResponse]
    assert recorded(rarely_free, 100, monkeypatch) is None
    assert recorded(rarely_free, 4000, monkeypatch) is not None


@pytest.mark.nightly
def test_a_compiled_play_has_the_losses_of_one_that_trusts_and_the_challenges(monkeypatch):
    monkeypatch.setattr(worth, "WORTH_COMPILING", 100)
    monkeypatch.setattr(worth, "WORTH_A_LOOK", 100)
    monkeypatch.setattr(block, "RECORDED", 200)
    s = Specification(continuous, FAMILY, 5, 300, block_size=300, trust=False)
    found, trusting = play_block(s, 0, 0), play_block(replace(s, trust=True), 0, 0)
    assert (found.losses == trusting.losses).all()
    assert (len(found.challenges), len(trusting.challenges)) == (200, 0)


@pytest.mark.nightly
def test_verify_blames_the_mechanism_and_not_a_theorem():
    bounds = [b for b in bounds_for(Composition.repeat(FAMILY, 5)) if b.name == "basic"]
    settings = {"family": FAMILY, "rounds": 5, "trials": 200, "jobs": 1, "bounds": bounds}
    true = {"true": rarely_true}
    assert not any(check.violated for check in verify(true, **settings))
    for mechanism in (ConstantLaplace(), LowDigits()):
        with pytest.raises(FalseLikelihood, match=type(mechanism).__name__):
            verify(true | {"false": always(mechanism)}, **settings)


class OneWay(Laplace):
    """Its loss is wrong where the second database lacks Alice's record."""

    def pair(self, database_0, database_1, relation=ADD_REMOVE):
        if database_1.count_of("alice"):
            return super().pair(database_0, database_1, relation)
        return replace(self, epsilon=self.epsilon / 4.0).pair(database_1, database_0, relation)


def both_ways(coins):
    while True:
        yield WITHOUT, EVERYONE, OneWay(ALICE, 0.2)
        yield EVERYONE, WITHOUT, OneWay(ALICE, 0.2)


def test_verify_tests_a_mechanism_in_both_directions():
    """The first one that is met used to stand for both."""
    with pytest.raises(FalseLikelihood, match="OneWay"):
        verify({"both": both_ways}, FAMILY, 2, 50, jobs=1)


def test_verify_says_what_error_of_a_loss_would_have_been_found():
    found = verify({"true": always(Laplace(ALICE, 0.2))}, FAMILY, 2, 50, jobs=1)
    assert "a loss that is wrong by " in found.likelihoods
    assert "draws on each database" in found.likelihoods


class LowDigits(ConstantLaplace):
    """Honest noise, but for Alice's bit in the eighth decimal."""

    def sample(self, database, noise, relation=ADD_REMOVE):
        bit = database.count_of("alice")
        return round(bit + noise.laplace(scale=1 / self.epsilon), 7) + 1e-8 * bit


def test_a_loss_beyond_the_promise_stops_the_play_first():
    class Greedy(ConstantLaplace):
        def guarantee(self, relation=ADD_REMOVE):
            return FAMILY

    with pytest.raises(Exception, match=r"the mechanism promised 0\.2, a round lost 0\.5"):
        play(always(Greedy(0.5)))
    assert math.isfinite(np.max(play(rarely_true).losses(0)))
