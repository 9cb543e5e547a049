"""What is refused rather than estimated, and the one line that says what to try."""

import math

import pytest

from simulator import GaussianDP, InvalidInput, NotApplicable, PureDP, Refusal, Rule
from simulator.adversaries.registry import make
from simulator.play.specification import Specification
from simulator.rare import METHODS, enumerate_states
from tests.helpers.rare_cases import FAMILY, ROUNDS, WORST, estimated, graph_of
from tests.helpers.small_games import unlisted


@pytest.mark.parametrize("method", METHODS)
def test_beyond_the_largest_loss_nothing_is_estimated(method):
    with pytest.raises((Refusal, NotApplicable)) as refused:
        estimated(WORST, 10.5, 400, method)
    assert any(hint in str(refused.value) for hint in ("try", "smaller", "no play"))


SMALL = PureDP(0.1)
THREE = make("fixed-worst-case", SMALL, 3)


@pytest.mark.parametrize("method", METHODS)
def test_at_the_largest_loss_itself_nothing_is_above(method):
    with pytest.raises((Refusal, NotApplicable)):  # 3 * 0.1 > 0.3 in floats
        estimated(THREE, 0.3, 400, method, rounds=3, family=SMALL)


def test_too_few_hits_are_refused_with_what_to_try():
    with pytest.raises(Refusal, match=r'of 1000 plain trials .* method="tilted", "steered"'):
        estimated(WORST, 9.1, 1000, "plain")
    with pytest.raises(Refusal, match=r"of 1000 trials hit .* try more trials"):
        estimated(WORST, 9.1, 1000, "tilted", theta=0.0)


def test_a_dominating_weight_is_refused():
    """Tilted the other way a Gaussian's weights e^{-theta L} have no bound on the event."""
    family = GaussianDP(1.0)
    adversary = make("fixed-worst-case", family, ROUNDS)
    with pytest.raises(Refusal, match=r"one trial carries .* try another theta"):
        estimated(adversary, 0.0, 3000, "tilted", theta=-1.0, family=family)


@pytest.mark.parametrize(("epsilon", "theta"), [(0.1, 6.0), (0.1, 40.0), (6.2, 20.0)])
def test_a_measure_tilted_too_far_is_contradicted(epsilon, theta):
    """Every trial takes the one path of the largest loss: equal weights, and no visible error."""
    with pytest.raises(Refusal, match=r"its paths are not those that count; try a theta between"):
        estimated(WORST, epsilon, 3000, "tilted", theta=theta)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"delta": -1e-9}, "delta"),
        ({"delta": math.nan}, "delta"),
        ({}, "give the epsilon"),
        ({"epsilon": 1.0, "delta": 0.1}, "give the epsilon"),
        ({"epsilon": 1.0, "method": "magic"}, "magic"),
        ({"epsilon": 1.0, "experiment": 2}, "experiment"),
        ({"epsilon": 1.0, "theta": math.nan}, "theta"),
        ({"epsilon": 1.0, "theta": math.inf}, "theta"),
        ({"epsilon": 1.0, "theta": 1.0, "method": "doob"}, "theta"),
        ({"epsilon": 1.0, "trials": 0}, "trials"),
        ({"epsilon": 1.0, "rounds": 0}, "rounds"),
    ],
)
def test_bad_input_is_one_line(given, complaint):
    with pytest.raises(InvalidInput, match=complaint) as error:
        estimated(WORST, **({"method": "tilted"} | given))
    assert "\n" not in str(error.value)


def test_splitting_finds_no_epsilon_of_delta():
    with pytest.raises(NotApplicable, match="give epsilon="):
        estimated(WORST, None, 400, "splitting", delta=1e-4)


def tossing(state, _i, _answer, coins):
    return state, 1 if coins.random() < 0.5 else 0


def forever(state, i, answer, _coins):
    """Remember every answer: no two paths lead to one state."""
    return state + (answer if i > 0 else 0.0) / (i + 1.3), 0


def test_doobs_transform_says_what_it_needs():
    menu = WORST.menu
    for adversary, complaint in (
        (Rule(tossing, menu * 2), "tosses coins"),
        (unlisted, "a rule over a menu"),
        (make("press-when-ahead", FAMILY, ROUNDS), "infinitely many answers"),
    ):
        with pytest.raises(NotApplicable, match=complaint):
            graph_of(adversary, 0)
    with pytest.raises(NotApplicable, match="too many"):
        enumerate_states(Specification(Rule(forever, menu), FAMILY, ROUNDS, 10), 0, nodes=500)
