"""What is refused rather than estimated, and the one line that says what to try."""

import math
import re

import pytest
from scipy.special import ndtr

from simulator import PureDP, RandomizedResponse
from simulator.adversaries import Rule
from simulator.adversaries.registry import make
from simulator.analysis import Tilted
from simulator.analysis.estimation.weighted import HIDDEN, MOST_ADVISED
from simulator.analysis.rare import METHODS, Setting, enumerate_states, estimate_rare
from simulator.analysis.rare.advice import estimates_of
from simulator.analysis.rare.drawing import plain_trials
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.engine.specification import Specification
from simulator.errors import InvalidInput, NotApplicable, Refusal
from simulator.theory import ApproxDP, GaussianDP
from tests.helpers.rare_cases import FAMILY, ROUNDS, WORST, estimated, graph_of
from tests.helpers.small_games import unlisted

EXACT = ("auto", "doob")
DRAWN = [method for method in METHODS if method not in (*EXACT, "covering")]


@pytest.mark.parametrize("method", DRAWN)
def test_beyond_the_largest_loss_nothing_is_estimated(method):
    with pytest.raises((Refusal, NotApplicable)) as refused:
        estimated(WORST, 10.5, 400, method)
    assert any(hint in str(refused.value) for hint in ("try", "smaller", "applies"))


@pytest.mark.parametrize("method", EXACT)
def test_beyond_the_largest_loss_the_recursion_gives_zero(method):
    for epsilon in (10.0, 10.5):  # 10 is the largest loss itself
        event = estimated(WORST, epsilon, 400, method)
        assert event.method == "doob"
        for found in (event.tail, event.delta):
            assert found.lower == found.value == 0.0
            assert found.upper < 1e-9


def test_beyond_the_largest_loss_a_covering_measure_has_valid_ends():
    for epsilon in (10.0, 10.5):
        event = estimated(WORST, epsilon, 400, "covering")
        assert event.tail.value == event.tail.upper == 0.0
        assert event.delta.lower == 0.0 <= event.delta.upper < 1e-5


SMALL = PureDP(0.1)
THREE = make("fixed-worst-case", SMALL, 3)


@pytest.mark.parametrize("method", DRAWN)
def test_at_the_largest_loss_itself_nothing_is_above(method):
    try:  # 3 * 0.1 > 0.3 in floats
        event = estimated(THREE, 0.3, 400, method, rounds=3, family=SMALL)
    except (Refusal, NotApplicable):
        return
    assert event.tail.value == event.tail.upper == 0.0


def test_too_few_hits_are_refused_with_what_to_try():
    with pytest.raises(Refusal, match=r'of 1000 plain trials .*; the method "auto" applies'):
        estimated(WORST, 9.1, 1000, "plain")
    none = estimated(WORST, 9.1, 1000, Tilted(0.0)).tail
    assert re.match(
        r"0 of 1000 trials hit .* try more trials.*; the method \"auto\"", none.no_value
    )
    assert 0.0 == none.lower < graph_of(WORST, 0).tail(9.1) < none.upper < 1.0


def test_a_dominating_weight_leaves_the_valid_ends():
    """Tilted the other way a Gaussian's weights e^{-theta L} have no bound on the event."""
    family = GaussianDP(1.0)
    adversary = make("fixed-worst-case", family, ROUNDS)
    event = estimated(adversary, 0.0, 3000, "tilted:-1", family=family, seed=1)
    mu = math.sqrt(ROUNDS)
    for found, truth in (
        (event.tail, ndtr(0.5 * mu)),
        (event.delta, ndtr(0.5 * mu) - ndtr(-0.5 * mu)),
    ):
        assert found.no_value.startswith(HIDDEN)
        assert 0.0 <= found.lower <= truth <= found.upper <= 1.0


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"delta": -1e-9}, "delta"),
        ({"delta": math.nan}, "delta"),
        ({}, "give either the epsilon"),
        ({"epsilon": 1.0, "delta": 0.1}, "give either the epsilon"),
        ({"epsilon": 1.0, "method": "magic"}, "magic"),
        ({"epsilon": 1.0, "experiment": 2}, "experiment"),
        ({"epsilon": 1.0, "method": "tilted:nan"}, "tilted:nan"),
        ({"epsilon": 1.0, "method": "tilted:inf"}, "tilted:inf"),
        ({"epsilon": 1.0, "method": "doob:1"}, "doob:1"),
        ({"epsilon": 1.0, "method": None}, "no method None"),
        ({"epsilon": 1.0, "trials": 0}, "trials"),
        ({"epsilon": 1.0, "rounds": 0}, "rounds"),
    ],
)
def test_bad_input_is_one_line(given, complaint):
    with pytest.raises(InvalidInput, match=complaint) as error:
        estimated(WORST, **({"method": "tilted"} | given))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("given", [{"jobs": 0}, {"out": 5}, {"out": ""}])
def test_a_bad_setting_is_one_line(given):
    with pytest.raises(InvalidInput, match=next(iter(given))) as error:
        Setting(**given)
    assert "\n" not in str(error.value)


def test_splitting_finds_no_epsilon_of_delta():
    with pytest.raises(NotApplicable, match="give an epsilon"):
        estimated(WORST, None, 400, "splitting", delta=1e-4)


@pytest.mark.sampled
@pytest.mark.parametrize("adversary", [unlisted, WORST, lambda coins: WORST(coins)])
@pytest.mark.parametrize("point", [{"epsilon": 0.7}, {"delta": 1e-3}])
def test_the_method_that_a_refusal_names_does_not_refuse(adversary, point):
    """But for the plain trials that are too few; where none applies, none is named."""
    game = {"trials": 400, "rounds": 4} | point
    for method in METHODS[1:]:
        try:
            estimated(adversary, method=method, **game)
        except (Refusal, NotApplicable) as refused:
            named = re.findall(ADVICE["the method"], str(refused))
            assert named == ["auto"] or (adversary is unlisted and named in ([], ["splitting"]))
            for name in named:
                estimated(adversary, method=name, **game | {"trials": 400})


def tossing(state, _i, _answer, coins):
    return state, 1 if coins.random() < 0.5 else 0


ON_ALICE = ((WITHOUT_ALICE, EVERYONE, RandomizedResponse(ALICE, 0.5)),)


def forever(state, i, answer, _coins):
    """Remember every answer: no two paths lead to one state."""
    return state + (answer if i > 0 else 0.0) / (i + 1.3), 0


def test_the_recursion_says_what_it_needs():
    for adversary, complaint in (
        (unlisted, "a call of Unlisted"),
        (make("press-when-ahead", FAMILY, ROUNDS), "infinitely many answers"),
    ):
        with pytest.raises(NotApplicable, match=complaint):
            graph_of(adversary, 0)
    s = Specification(Rule(forever, ON_ALICE, 0.0), FAMILY, 9, 10)
    with pytest.raises(NotApplicable, match="too many"):
        enumerate_states(s, 0, nodes=500)


def test_the_recursion_serves_a_rule_that_tosses_coins():
    """Both of its moves ask the same: its law is that of the rule without coins."""
    graph = graph_of(Rule(tossing, ON_ALICE * 2), 0)
    assert graph.delta(4.3) == pytest.approx(graph_of(WORST, 0).delta(4.3), rel=1e-12)


def test_no_epsilon_is_finite_where_leaks_are_more_probable_than_delta():
    family = ApproxDP(0.1, 0.05)
    leaky = make("fixed-worst-case", family, 5)
    with pytest.raises(Refusal, match="infinite losses alone are more probable than delta = 1e-06"):
        estimate_rare(leaky, family, 5, 2000, delta=1e-6, method="plain", seed=1)


def test_a_setting_that_is_none_is_one_line():
    with pytest.raises(InvalidInput, match="setting must be a Setting"):
        estimate_rare("press-when-ahead", "pure:0.2", 3, 10, epsilon=0.1, setting=None)


ADVICE = {
    "the method": r'the method "(\w+)" (?:applies|gives ends alone)',
    "another has a value": r'the method "(\w+)" has one(?: from (\S+) trials on)?',
    "so many trials": r"try (\d\S*) trials",
    "such a delta": r"a delta of at least (\S+?)(?:;|$)",
    "more trials": r"try more trials",
    "a smaller epsilon": r"a smaller epsilon",
    "an epsilon": r"give an epsilon|or an epsilon",
    "another theta": r"another theta|a smaller theta",
}
"""The remedies that refusals and answers without a value name."""
MOST_PLAYED = 20_000
"""More trials than this are not played by a test, though they may be advised."""
GAMES = {
    "rule": (WORST, FAMILY),
    "noise": (make("press-when-ahead", PureDP(0.2), 10), PureDP(0.2)),
    "normal": (make("fixed-worst-case", GaussianDP(1.0), 10), GaussianDP(1.0)),
    "not listed": (unlisted, FAMILY),
}


def valued(event):
    return not any(found.no_value for found in estimates_of(event))


def remedied(play, words, point, method):
    """Whether one of the remedies that are named, if any is, ends in an answer.

    A method that is named, a number of trials and a delta must do so.
    """

    def works(at, accepted=bool, **change):
        try:
            return accepted(play(at, **({"method": method} | change)))
        except (Refusal, NotApplicable):
            return False

    sure = [works(point, method=name) for name in re.findall(ADVICE["the method"], words)]
    for name, trials in re.findall(ADVICE["another has a value"], words):
        if float(trials or 0) <= MOST_PLAYED:
            more = {"trials": round(float(trials))} if trials else {}
            sure.append(works(point, valued, method=name, **more))
    trials = max(map(float, re.findall(ADVICE["so many trials"], words)), default=0.0)
    # each estimate of an event names its own
    if 0.0 < trials <= MOST_PLAYED and "only if" not in words:
        sure.append(works(point, valued, trials=round(trials)))
    sure += [works({"delta": float(at)}) for at in re.findall(ADVICE["such a delta"], words)]
    assert all(sure), words
    likely = []
    if re.search(ADVICE["more trials"], words):
        likely.append((point, {"trials": 20_000}))
    if re.search(ADVICE["another theta"], words):
        likely.append((point, {"method": "tilted:0.5"}))
    if re.search(ADVICE["a smaller epsilon"], words):
        likely += [({"epsilon": part * point.get("epsilon", 1.0)}, {}) for part in (0.3, 0.1, 0.01)]
    if re.search(ADVICE["an epsilon"], words):
        likely.append(({"epsilon": 0.1}, {}))
    return bool(sure) or not likely or any(works(at, **change) for at, change in likely)


@pytest.mark.nightly
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(
    "point", [{"epsilon": 50.0}, {"epsilon": 1.5}, {"delta": 1e-12}, {"delta": 1e-3}], ids=str
)
def test_what_a_message_advises_works(game, point):
    """All methods, games and points: the advice of refusals and of ends alone is followed."""
    adversary, family = GAMES[game]
    setting = Setting(jobs=1, progress=False)

    def play(point, *, method, trials=400):
        return estimate_rare(adversary, family, 10, trials, method=method, setting=setting, **point)

    bad, advised = [], 0
    for method in (*METHODS, "tilted:3"):
        try:
            words = "; ".join(
                {found.no_value for found in estimates_of(play(point, method=method))}
            )
        except (Refusal, NotApplicable) as refused:
            words = str(refused)
        advised += bool(words)
        if words and not remedied(play, words, point, method):
            bad.append((method, words))
    assert bad == []
    assert advised > 0


def test_advice_that_does_not_work_is_found():
    def play(point, **_):
        raise Refusal("no")

    assert not remedied(play, "try more trials, or a smaller epsilon", {"epsilon": 1.0}, "plain")
    with pytest.raises(AssertionError):
        remedied(play, 'x; the method "auto" applies', {"epsilon": 1.0}, "plain")


def test_plain_trials_are_advised_where_they_are_not_too_many():
    assert plain_trials(0.5) == pytest.approx(3 * 30 / 0.5)
    assert plain_trials(3 * 30 / MOST_ADVISED * 1.01) == pytest.approx(MOST_ADVISED / 1.01)
    assert plain_trials(3 * 30 / MOST_ADVISED * 0.99) == 0.0


def test_a_setting_is_played_with_all_its_terms(monkeypatch):
    monkeypatch.setattr("simulator.analysis.rare.question.run_in", lambda *terms: terms)
    s = Specification(WORST, FAMILY, ROUNDS, 10)
    setting = Setting(jobs=2, out="folder", progress=False)
    assert setting.play(s, 1) == ("folder", s, (1,), 2, False)


@pytest.mark.parametrize("method", ["auto", "covering", "plain"])
def test_losses_that_rounding_hides_are_refused_before_anything_is_played(method):
    reason = (
        "round losses of at most 1e-14 cannot .* the rounding of a sum of 20 rounds: tails need"
    )
    with pytest.raises(NotApplicable, match=reason):
        estimated(WORST, 1e-13, 400, method, family=PureDP(1e-14))
