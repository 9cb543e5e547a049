"""Every method against the exact recursion.

Statistical tests have fixed seeds; their intervals have confidence 1 - ALARM.
"""

from dataclasses import replace

import pytest

from simulator import Laplace, PureDP, simulate
from simulator.adversaries.registry import make
from simulator.analysis.loading import load_measured
from simulator.analysis.rare import METHODS, Setting, choosing, estimate_rare
from simulator.analysis.rare.choosing import TABLE, choose
from simulator.analysis.rare.question import Question
from simulator.engine.sampling import Covering, Guarded, Steered, Tilted
from simulator.engine.specification import Specification
from simulator.errors import NotApplicable, Refusal
from tests.helpers.rare_cases import (
    ALARM,
    FAMILY,
    FEIGNING,
    ROUNDS,
    WORST,
    assert_holds,
    estimated,
    graph_of,
    unread,
)
from tests.helpers.small_games import ALICE, WITH_ALICE, WITHOUT_ALICE, Survey, survey, unlisted
from tests.helpers.trees import expectation, hockey_stick, leaves


@pytest.mark.sampled
@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize(
    "method", ["plain", "tilted", "steered", "guarded", "covering", "doob", "splitting"]
)
def test_the_methods_agree_with_the_exact_answer(method, b):
    exact = graph_of(WORST, b)
    event = estimated(WORST, 4.3, 20_000 if method == "plain" else 6000, method, experiment=b)
    assert event.method == method
    assert_holds(event.tail, exact.tail(4.3))
    assert_holds(event.delta, exact.delta(4.3))


@pytest.mark.nightly
def test_a_probability_is_at_most_one_though_a_mean_of_weights_may_pass_it():
    family, rounds = PureDP(0.2), 20
    adversary = make("double-when-behind", family, rounds)
    found = estimated(adversary, -6.0, 500, "guarded", family=family, rounds=rounds, seed=0)
    assert found.tail.lower <= found.tail.value <= found.tail.upper <= 1.0


@pytest.mark.nightly
@pytest.mark.sampled
@pytest.mark.parametrize("b", [0, 1])
def test_the_methods_agree_on_an_adversary_that_retreats_first(b):
    exact = graph_of(FEIGNING, b)
    for method in ("guarded", "doob", "auto", "steered", "covering")[: 5 if b else 3]:
        event = estimated(FEIGNING, 6.1, 20_000, method, experiment=b)
        assert_holds(event.delta, exact.delta(6.1))


@pytest.mark.sampled(n=4)
@pytest.mark.parametrize("method", ["doob", "auto", "covering", "tilted", "steered", "guarded"])
def test_epsilon_of_delta(method):
    exact = graph_of(WORST, 0)
    target = exact.delta(6.2)
    assert exact.epsilon(target) == pytest.approx(6.2, rel=1e-9)
    event = estimated(WORST, None, 10_000, method, delta=target)
    assert event.at_delta.lower <= 6.2 <= event.at_delta.upper
    assert event.at_delta.no_value or event.at_delta.upper - event.at_delta.lower < 0.3
    assert event.at_delta.no_value or event.epsilon == event.at_delta.value
    assert event.epsilon == pytest.approx(6.2, abs=0.3)


def test_epsilon_of_delta_by_plain_play():
    event = estimated(WORST, None, 20_000, "plain", delta=graph_of(WORST, 0).delta(3.2))
    assert event.at_delta.lower <= 3.2 <= event.at_delta.upper


@pytest.mark.parametrize("theta", [-0.5, 0.5])
def test_one_sample_serves_both_directions(theta):
    """From experiment 0 alone, against the exact answers of both."""
    result = simulate(
        FEIGNING, FAMILY, ROUNDS, 40_000, seed=5, experiments=(0,), sampling=Tilted(theta), jobs=1
    )
    for b in (0, 1) if theta > 0 else (1,):  # the other is tilted away from large losses
        exact, found = graph_of(FEIGNING, b), result.delta(1.05, b, 1 - ALARM)
        assert found.lower <= exact.delta(1.05) <= found.upper
        tail = result.tail(1.05, b, 1 - ALARM)
        assert tail.lower <= exact.tail(1.05) <= tail.upper


class Untilted(Laplace):
    """A scalar mechanism that states no tilted law."""

    scalars = replace(Laplace.scalars, tilt_width=None, tilt=None, sample_tilted=None)


def untilted(coins):
    while True:
        yield WITHOUT_ALICE, WITH_ALICE, Untilted(ALICE, 0.4)


@pytest.mark.parametrize("method", ["tilted", "steered"])
@pytest.mark.parametrize("adversary", [untilted, unlisted])
def test_a_mechanism_without_a_tilted_law_is_refused(adversary, method):
    with pytest.raises(NotApplicable, match=r'nor a list .* "auto" applies$') as refused:
        estimated(adversary, 0.5, 500, method, rounds=3)
    assert " object at " not in str(refused.value)


def test_a_refusal_of_plain_play_names_what_the_mechanism_lacks():
    with pytest.raises(Refusal, match=r"played plainly, as .* \(`tilt` and `sample_tilted`\)"):
        estimated(untilted, 2.7, 500, "auto", rounds=7)
    with pytest.raises(Refusal) as chosen:
        estimated(untilted, 2.7, 500, "plain", rounds=7)
    assert "sample_tilted" not in str(chosen.value)


def listed_instead(coins):
    """``unlisted``, by the same mechanism with its answers listed."""
    while True:
        yield WITHOUT_ALICE, WITH_ALICE, Survey(0.4)


@pytest.mark.nightly
def test_without_a_tilted_law_plain_play_and_splitting_remain():
    exact = expectation(leaves(listed_instead, 4, 0, Tilted(0.0)), hockey_stick(0.7))
    for method in ("auto", "plain", "splitting"):
        event = estimated(unlisted, 0.7, 4000, method, rounds=4)
        assert event.method == ("splitting" if method == "splitting" else "plain")
        assert event.delta.lower <= exact <= event.delta.upper


def test_a_listed_mechanism_of_plain_python_is_tilted():
    exact = expectation(leaves(survey, 4, 0, Tilted(0.0)), hockey_stick(1.05))
    event = estimated(survey, 1.05, 12_000, "tilted", rounds=4, family=PureDP(1.0))
    assert event.method == "tilted"
    assert_holds(event.delta, exact)


BEHIND = make("double-when-behind", FAMILY, 40)
"""Its large losses come by a detour."""


def test_auto_trusts_no_single_theta_where_large_losses_come_by_a_detour(monkeypatch):
    monkeypatch.setattr(choosing, "NODES_OF_AUTO", 0)  # no recursion

    def auto(adversary):
        s = Specification(adversary, FAMILY, 40, 2000, sampling=Tilted(0.0))
        return choose(Question(s, 0, 0.72), "auto").way.sampling

    assert isinstance(auto(BEHIND), Covering)
    guarded = auto(unread(BEHIND))
    assert isinstance(guarded, Guarded)
    assert isinstance(guarded.beside, Steered)


def test_what_is_exact_stays_so_with_a_folder(tmp_path, capsys):
    asked = {"epsilon": 1.0}
    free = estimate_rare(WORST, FAMILY, ROUNDS, 1000, **asked)
    kept = estimate_rare(
        WORST, FAMILY, ROUNDS, 1000, **asked, setting=Setting(out=tmp_path / "run")
    )
    assert kept.method == free.method == "doob"
    assert (kept.tail, kept.delta) == (free.tail, free.delta)
    assert not (tmp_path / "run").exists()
    assert "without a trial: nothing is stored in" in capsys.readouterr().err


def test_of_two_samples_a_folder_keeps_the_one_that_finds_the_epsilon(tmp_path):
    asked = {"delta": 0.1, "method": "plain", "seed": 4}
    free, kept = (
        estimate_rare(WORST, FAMILY, ROUNDS, 500, setting=Setting(jobs=1, out=out), **asked)
        for out in (None, tmp_path / "run")
    )
    assert (kept.at_delta, kept.tail, kept.delta) == (free.at_delta, free.tail, free.delta)
    assert load_measured(tmp_path / "run").specification.seed == 4


def test_another_reading_is_that_of_another_call():
    """The same sample gives it: nothing is played twice."""
    game = (WORST, FAMILY, ROUNDS, 1_000)
    for method, question in (
        ("covering", {"epsilon": 1.0}),
        ("tilted", {"delta": 1e-3}),
        ("doob", {"delta": 1e-3}),
        ("splitting", {"epsilon": 4.3}),
    ):
        one, other = (
            estimate_rare(*game, method=method, seed=4, setting=Setting(jobs=1), **question, **more)
            for more in ({}, {"confidence": 0.999})
        )
        assert one != other
        assert one.read(confidence=0.999) == replace(
            other, seconds=one.seconds, pilot_seconds=one.pilot_seconds
        )
        assert one.read() == one


def test_another_point_is_read_from_the_same_play():
    exact = graph_of(WORST, 0)
    for method in ("doob", "covering"):
        found = estimated(WORST, 4.3, 4000, method).read(3.3)
        assert (found.epsilon, found.method) == (3.3, method)
        assert_holds(found.delta, exact.delta(3.3))
    with pytest.raises(Refusal, match=r"has estimated at 4\.3 alone, not at 3\.3"):
        estimated(WORST, 4.3, 4000, "splitting").read(3.3)
    nothing = estimated(unread(WORST), 10.5, 100, "auto")
    assert nothing.read(11.0).delta.upper == 0.0
    with pytest.raises(Refusal, match="losses above 9 may be possible"):
        nothing.read(9.0)


def test_a_measure_of_ones_own_is_a_method():
    """By its value or by its text; the table has a method for each name."""
    by_value, by_text = (estimated(WORST, 4.3, 2000, method) for method in (Tilted(1), "tilted:1"))
    assert by_value.delta == by_text.delta
    assert (by_value.method, by_value.theta, by_value.pilot_rounds) == ("tilted", 1.0, 0)
    assert tuple(TABLE) == METHODS
