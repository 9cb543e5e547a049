"""Mechanisms without a likelihood: played, kept in views, and refused where a loss is needed."""

import math
import secrets
from dataclasses import dataclass

import numpy as np
import pytest

from simulator import Laplace, PureDP, counting_query, estimate_rare
from simulator.analysis import Setting, Tilted
from simulator.errors import InvalidInput, Refusal
from simulator.foundations.errors import Breach, NotApplicable
from simulator.mechanisms import BlackBox, Interactive, Raised
from simulator.theory import ApproxDP, SumFilter
from tests.helpers.black_boxes import EVERYONE, FAMILY, WITHOUT, always, noisy, play

ALICE = counting_query("alice")


# --- what is answered, and what is kept -------------------------------------------------------


@pytest.mark.parametrize(
    "answer", [1, 2.5, "text", None, (1, "a"), [1, 2], {"a": 1}, math.nan, math.inf, True]
)
def test_any_answer_is_one_and_every_view_is_kept(answer):
    result = play(always(BlackBox(lambda database: answer, FAMILY)))
    assert len(result.views) == 2 * 20
    assert {repr(view.answers) for view in result.views} == {repr((answer,) * 4)}


def test_an_exception_on_one_database_is_an_answer():
    def fails(database):
        if "alice" in database:
            raise KeyError("alice")
        return 0

    result = play(always(BlackBox(fails, FAMILY)), rounds=1)
    assert {view.answers for view in result.views if view.experiment == 0} == {(0,)}
    assert {view.answers for view in result.views if view.experiment == 1} == {
        (Raised("KeyError"),)
    }


def test_the_numbers_are_those_of_the_mechanism_with_a_likelihood():
    """A black box over the library's own sampler draws what the library draws."""
    own = Laplace(ALICE, 0.5)
    black = BlackBox(lambda database, rng: own.sample(database, rng), PureDP(0.5))
    known = play(always(own), keep_views=20)
    unknown = play(always(black), keep_views=0)
    assert [view.answers for view in known.views] == [view.answers for view in unknown.views]


def test_the_adversary_adapts_to_a_black_box_and_mixes_it_with_others():
    def adversary(coins):
        answer = yield WITHOUT, EVERYONE, Laplace(ALICE, 0.5)
        while True:
            kind = noisy if answer > 0 else (lambda database: "low")
            answer = yield WITHOUT, EVERYONE, BlackBox(kind, FAMILY, "either")
            answer = len(answer) - 4 if isinstance(answer, str) else answer

    for view in play(adversary).views:
        first, second, *_ = view.answers
        assert (second == "low") == (first <= 0)


@pytest.mark.parametrize(
    "question",
    [
        lambda r: r.tail(1.0),
        lambda r: r.delta(1.0),
        lambda r: r.epsilon(0.1),
        lambda r: r.losses(),
        lambda r: r.trade_off(),
        lambda r: r.tail_band([1.0]),
        lambda r: r.moments(),
    ],
)
def test_every_estimate_of_unknown_losses_is_refused_in_one_line(question):
    result = play(always(BlackBox(noisy, FAMILY)), trace=True)
    with pytest.raises(Refusal, match="audit the views") as caught:
        question(result)
    assert "\n" not in str(caught.value)


def test_one_black_box_in_one_trial_makes_the_loss_unknown():
    def adversary(coins):
        rare = coins.random() < 0.2
        while True:
            yield WITHOUT, EVERYONE, BlackBox(noisy, FAMILY) if rare else Laplace(ALICE, 0.5)

    result = play(adversary, trials=40)
    known = ~np.isnan(result.samples[0])
    assert 0 < known.sum() < 40
    assert (known == ~np.isnan(result.samples[1])).all()  # the coins are the same
    with pytest.raises(Refusal):
        result.delta(1.0)


def test_tilted_play_and_rare_events_name_the_reason():
    adversary = always(BlackBox(noisy, FAMILY))
    with pytest.raises(NotApplicable, match=r"round 1, trial 0 of experiment 0: .*no likelihood"):
        play(adversary, sampling=Tilted(1.0))
    for method in ("auto", "plain", "splitting", "tilted", "steered", "guarded"):
        with pytest.raises((NotApplicable, Refusal), match="no likelihood") as refused:
            estimate_rare(
                adversary, FAMILY, 4, trials=20, epsilon=1.0, method=method,
                setting=Setting(jobs=1),
            )  # fmt: skip
        assert "applies" not in str(refused.value)


def test_what_cannot_be_copied_or_asked_is_named():
    with pytest.raises(Breach, match="cannot be copied"):
        play(always(BlackBox(lambda database: (i for i in range(3)), FAMILY)))
    with pytest.raises(Breach, match="takes no messages"):
        play(always(Interactive(lambda database: 3, FAMILY)))


# --- generators, samplers and claims that make no sense ---------------------------------------


def test_which_samplers_are_handed_the_generator():
    def optional(database, scale=2.0):
        return scale

    def named(database, rng=None):
        return rng is not None

    @dataclass
    class Randomiser:
        scale: float

        def randomise(self, database):
            return self.scale

    for sampler, answer in ((optional, 2.0), (named, True), (Randomiser(3.0).randomise, 3.0)):
        assert play(always(BlackBox(sampler, FAMILY))).views[0].answers[0] == answer


@pytest.mark.parametrize("made", [BlackBox, Interactive])
def test_a_black_box_needs_a_function_and_a_claim(made):
    with pytest.raises(InvalidInput, match="a function of a database"):
        made(3, FAMILY)
    with pytest.raises(InvalidInput, match="the guarantee that it claims"):
        made(noisy, 0.1)


def test_a_claim_outside_the_family_is_refused():
    with pytest.raises(Breach, match="outside the family"):
        play(always(BlackBox(noisy, ApproxDP(1.0, 0.1))))


# --- reproducible, on disk --------------------------------------------------------------------


def test_a_black_box_that_draws_elsewhere_is_played_and_said_to_be_irreproducible(capsys):
    def elsewhere(database):
        return secrets.randbelow(2**40)

    result = play(always(BlackBox(elsewhere, FAMILY)), trials=4)
    assert len(result.views) == 8
    line = capsys.readouterr().err
    assert line.count("is not reproducible: trial 0 of experiment 0 has other answers") == 1


def test_one_that_draws_from_its_generator_repeats_itself(capsys):
    first, second = (play(always(BlackBox(noisy, FAMILY))) for _ in range(2))
    assert first.views == second.views
    assert capsys.readouterr().err == ""


def test_a_folder_keeps_numbers_and_is_resumed(tmp_path):
    adversary = always(BlackBox(noisy, FAMILY))
    play(adversary, trials=12, out=tmp_path)
    resumed = play(adversary, trials=30, out=tmp_path)
    assert resumed.rounds_played < 2 * 4 * 30
    assert resumed.views == play(adversary, trials=30).views
    assert play(adversary, trials=30, out=tmp_path).rounds_played == 0


def test_a_folder_refuses_answers_that_it_cannot_hold(tmp_path):
    with pytest.raises(InvalidInput, match="play without a folder"):
        play(always(BlackBox(lambda database: "text", FAMILY)), out=tmp_path)


def test_the_sum_filter_stops_black_boxes_by_their_claims():
    result = play(always(BlackBox(noisy, FAMILY)), filter=SumFilter(2.0))
    for view in result.views:
        assert [math.isnan(answer) for answer in view.answers] == [False, False, True, True]
