"""Adversaries that hide their large losses: the truth, or a refusal, and no measure runs away.

Statistical tests have fixed seeds; their intervals have confidence 1 - ALARM.
"""

import numpy as np
import pytest

from simulator import Laplace, PureDP, RandomizedResponse, simulate
from simulator.adversaries import Rule
from simulator.adversaries.registry import make
from simulator.analysis import Tilted
from simulator.analysis.rare.rehearsal import Rehearsals, plain
from simulator.analysis.rare.steering import MOST_TILT, steer
from simulator.engine.sampling import Covering, Guarded, Steered
from simulator.engine.specification import Specification
from simulator.errors import DpcomposeError, InvalidInput, NotApplicable, Refusal
from tests.helpers.rare_cases import ALARM, FEIGNING, estimated, graph_of
from tests.helpers.small_games import ALICE, WITH_ALICE, on_alice


def feint(state, i, answer, _coins):
    """Lose eight times in a row, only then be bold."""
    if 0 < i <= 8 and answer < 0.5:
        state = 1
    return state, 1 if i >= 8 and state == 0 else 0


def two_thetas(state, i, _answer, coins):
    """One play in a thousand has large losses, early; the others small ones, late."""
    if i == 0 and coins.random() < 1e-3:
        state = 1
    return state, 0 if state == 0 else (1 if i < 6 else 2)


NOTHING = (WITH_ALICE, WITH_ALICE, RandomizedResponse(ALICE, 0.1))
FEINT = Rule(feint, on_alice(RandomizedResponse(ALICE, 0.25), RandomizedResponse(ALICE, 1.5)), 0)
TWO_THETAS = Rule(
    two_thetas,
    (*on_alice(RandomizedResponse(ALICE, 0.1), RandomizedResponse(ALICE, 2.0)), NOTHING),
    0,
)
FEINT_GAME = {"rounds": 40, "family": PureDP(1.5)}
TWO_GAME = {"rounds": 150, "family": PureDP(2.0)}
EPSILON, DELTA = 11.999786, 9.9913e-8


def test_feint_by_auto():
    event = estimated(FEINT, None, 2000, "auto", delta=1e-12, **FEINT_GAME)
    assert event.at_delta.lower <= 46.0 <= event.at_delta.upper + 1e-6
    assert event.epsilon == pytest.approx(46.0, abs=1e-5)
    covered = estimated(FEINT, None, 4000, "covering", delta=1e-12, **FEINT_GAME)
    assert covered.at_delta.lower <= event.epsilon <= covered.at_delta.upper
    assert covered.at_delta.upper - covered.at_delta.lower < 0.1


@pytest.mark.parametrize("b", [0, 1])
def test_two_thetas_by_auto(b):
    event = estimated(TWO_THETAS, EPSILON, 4000, "auto", experiment=b, **TWO_GAME)
    assert event.delta.value == pytest.approx(DELTA, rel=1e-4)
    assert event.delta.lower <= event.delta.value <= event.delta.upper
    covered = estimated(TWO_THETAS, EPSILON, 4000, "covering", experiment=b, **TWO_GAME)
    for one, exact in ((covered.delta, event.delta), (covered.tail, event.tail)):
        assert not one.no_value
        assert one.lower <= exact.value <= one.upper
        assert one.upper < 1.5 * one.lower


@pytest.mark.sampled
@pytest.mark.parametrize("method", ["plain", "tilted", "steered", "guarded", "splitting"])
def test_two_thetas_in_experiment_1_is_true_or_refused(method):
    try:
        event = estimated(TWO_THETAS, EPSILON, 2000, method, experiment=1, **TWO_GAME)
    except (Refusal, NotApplicable):
        return
    exact = graph_of(TWO_THETAS, 1, 150, PureDP(2.0))
    for found, truth in (
        (event.delta, exact.delta(EPSILON)),
        (event.tail, exact.tail(EPSILON)),
    ):
        assert found.lower <= truth <= found.upper


# --- no runaway ------------------------------------------------------------------------------


@pytest.mark.sampled
@pytest.mark.parametrize("theta", [1e12, 1e17])
@pytest.mark.parametrize("adversary", [TWO_THETAS, lambda coins: TWO_THETAS(coins)])
def test_a_theta_that_leaves_no_digits_is_refused(adversary, theta):
    for ask in (
        lambda: estimated(adversary, EPSILON, 100, Tilted(theta), experiment=1, **TWO_GAME),
        lambda: simulate(
            adversary, PureDP(2.0), 10, 20, sampling=Guarded(Tilted(1.0), theta, 0.2), jobs=1,
            progress=False,
        ),
    ):  # fmt: skip
        with pytest.raises(InvalidInput, match=r"theta .* digits") as refused:
            ask()
        assert "\n" not in str(refused.value)


@pytest.mark.sampled
@pytest.mark.parametrize("b", [0, 1])
@pytest.mark.parametrize("bad_start", [
    None,
    Tilted(40.0),
    Steered(np.array([-30.0, 14.0]), np.array([[1, 0]]), (-1.0, 1.0)),
], ids=["plain", "tilted too far", "steered astray"])  # fmt: skip
def test_steering_stays_finite_from_a_bad_start(bad_start, b):
    s = Specification(FEINT, PureDP(1.5), 40, 500, seed=3, sampling=plain())
    try:
        found, _ = steer(Rehearsals.of(s, b), 9.0, bad_start)
    except (Refusal, NotApplicable):
        return
    if found is not bad_start:
        assert np.isfinite(found.levels).all()
        assert np.abs(found.levels).max() <= MOST_TILT / 0.25  # 0.25 is its least loss


@pytest.mark.nightly
def test_steering_tilts_by_at_most_30_over_the_largest_loss():
    rule = make("fixed-worst-case", PureDP(0.5), 20)
    s = Specification(rule, PureDP(0.5), 20, 500, seed=3, sampling=plain())
    for start in (None, Tilted(100.0)):
        found, _ = steer(Rehearsals(s, 0, 10**6), 9.1, start)
        if found is not start:
            assert np.abs(found.levels).max() <= 30.0 / 0.5
    assert MOST_TILT == 30.0


# --- one sample for both experiments ---------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize("sampling", [
    Tilted(0.5),
    Guarded(Tilted(0.5), 0.4, 0.2),
    Covering(0.5),
    None,
], ids=["tilted", "guarded", "covering", "plain"])  # fmt: skip
@pytest.mark.parametrize("played", [0, 1])
def test_the_exchanged_sample_has_valid_ends(played, sampling):
    """Of an adversary whose other experiment the sample hardly shows."""
    other, exact = 1 - played, graph_of(FEIGNING, 1 - played)
    for seed in range(3):
        result = simulate(
            FEIGNING, PureDP(0.5), 20, 4000, seed=seed, experiments=(played,), sampling=sampling,
            jobs=1, progress=False,
        )  # fmt: skip
        for epsilon in (0.3, 1.0, 2.05):
            try:
                found = result.delta(epsilon, other, 1 - ALARM)
                tail = result.tail(epsilon, other, 1 - ALARM)
            except DpcomposeError:
                continue
            assert found.lower_valid
            assert found.upper_valid
            assert found.lower <= exact.delta(epsilon) <= found.upper
            assert tail.lower <= exact.tail(epsilon) <= tail.upper


# --- rules that cannot be enumerated ---------------------------------------------------------


def not_closing(state, i, answer, _coins):
    return state * 1.1 + (answer if i > 0 else 0.0), 0


def accumulating(state, i, answer, _coins):
    return state + (answer if i > 0 else 0.0), 0


def keeping_a_coin(state, i, _answer, coins):
    return (coins.random() if i == 0 else state), 0


def threshold_coin(state, i, _answer, coins):
    if i == 0:
        state = 1.0 if coins.random() < 0.25 else 0.0
    return state, 0


@pytest.mark.parametrize(("step", "mechanism", "complaint"), [
    (not_closing, RandomizedResponse(ALICE, 0.1), r"501 states .* do not close: .* family instead"),
    (accumulating, Laplace(ALICE, 0.1), "answer as a number in its state.*: keep what was"),
    (keeping_a_coin, RandomizedResponse(ALICE, 0.1), "as a number in its state.*: keep what was"),
], ids=["not closing", "accumulating", "coin kept"])  # fmt: skip
def test_rules_that_cannot_be_enumerated_say_why_in_one_line(
    step, mechanism, complaint, monkeypatch
):
    monkeypatch.setattr("simulator.engine.enumerated.state_count.MOST_NODES", 500)
    rule = Rule(step, on_alice(mechanism), 0.0)
    with pytest.raises(NotApplicable, match=complaint) as refused:
        estimated(rule, 0.9, 500, "covering", rounds=14, family=PureDP(0.1))
    assert "\n" not in str(refused.value)


def test_a_coin_that_is_compared_is_enumerated():
    rule = Rule(threshold_coin, on_alice(RandomizedResponse(ALICE, 0.5)), 0.0)
    event = estimated(rule, 4.3, 4000, "covering")
    exact = graph_of(make("fixed-worst-case", PureDP(0.5), 20), 0)
    assert event.delta.lower <= exact.delta(4.3) <= event.delta.upper
