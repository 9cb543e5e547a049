"""What bad input gets from ``simulate``: one line that says what is wrong, and where."""

import math
import re
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from simulator import Database, Gaussian, Laplace, PureDP, simulate
from simulator.adversaries import Rule
from simulator.data import REPLACE_ONE, function_query
from simulator.errors import Breach, InvalidInput
from simulator.foundations.errors import DpcomposeError
from simulator.mechanisms import Mechanism, Scalars
from simulator.runner.store.log import OPENING_SIZE
from simulator.theory import DominatedFamily, Filter
from tests.helpers.games import (
    ALICE,
    FREE,
    KINDS,
    PRESS,
    WITH_ALICE,
    WITHOUT_ALICE,
    always,
    on_alice,
    press,
)

compiled = pytest.mark.usefixtures("compiles")

FAMILY = PureDP(0.2)
SMALL = Laplace(ALICE, 0.1)
GOOD = (WITHOUT_ALICE, WITH_ALICE, SMALL)


def refused(adversary=PRESS, error=DpcomposeError, **others):
    """Play, expect an error of one line, and return the line."""
    settings = {"family": FAMILY, "rounds": 5, "trials": 4, "seed": 1, "jobs": 1}
    with pytest.raises(error) as caught:
        simulate(adversary, **(settings | others))
    assert caught.value.exit_code == 2
    line = str(caught.value)
    assert line
    assert "\n" not in line
    return line


def in_round_three(challenge):
    """An adversary that sends one odd challenge, in round 3 of every trial."""

    def adversary(coins):
        for i in range(5):
            yield challenge if i == 2 else GOOD

    return adversary


def test_a_filter_of_another_kind_is_named_with_what_a_play_needs():
    class Own:
        initial = 0.0

        def admit(self, state, guarantee):
            return True, state

    line = refused(filter=Own())
    assert "of a subclass of Filter with name, initial and step" in line
    assert "worst_case searches one with admit()" in line
    assert "worst_case" not in refused(filter=3)
    assert "a filter is not loaded from a file (mine.py)" in refused(filter="mine.py:Own:1")


# --- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("others", "named"),
    [
        ({"rounds": 0}, "rounds must be at least 1, not 0"),
        ({"rounds": 2.5}, "rounds must be a whole number, not 2.5"),
        ({"trials": 0}, "trials must be at least 1, not 0"),
        ({"trials": "many"}, "trials must be a whole number, not 'many'"),
        ({"trials": 10**17}, "do not fit into memory"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
        ({"seed": None}, "seed must be a whole number, not None"),
        ({"jobs": 0}, "jobs must be at least 1, not 0"),
        ({"jobs": -2}, "jobs must be at least 1, not -2"),
        ({"jobs": 1.5}, "jobs must be a whole number, not 1.5"),
        ({"keep_views": -1}, "keep_views must be at least 0"),
        ({"block_size": -1}, "block_size must be at least 0"),
        ({"experiments": ()}, "experiments must be some of 0 and 1"),
        ({"experiments": (0, 2)}, "experiments must be some of 0 and 1"),
        ({"experiments": 1}, "experiments must be some of 0 and 1"),
        ({"experiments": "01"}, "experiments must be some of 0 and 1"),
        ({"family": 0.2}, "the family must be a guarantee such as PureDP(0.2), not 0.2"),
        ({"relation": "add/remove-one"}, "the relation must be ADD_REMOVE or REPLACE_ONE"),
        ({"adversary": "press"}, "did you mean press-when-ahead"),
    ],
)
def test_a_parameter_that_makes_no_sense(others, named):
    assert named in refused(error=InvalidInput, **others)


def test_experiments_in_any_order_and_form_are_the_same():
    settings = {"family": FAMILY, "rounds": 2, "trials": 3, "jobs": 1}
    for experiments in ([1, 0], np.array([0, 1]), {0, 1}, (0, 1, 1), range(2)):
        result = simulate(in_turn, experiments=experiments, **settings)
        assert list(result.samples) == [0, 1]


def in_turn(coins):
    while True:
        yield GOOD


@compiled
@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf])
def test_an_adversary_that_makes_an_impossible_mechanism(epsilon):
    def adversary(coins):
        yield GOOD
        yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, epsilon)

    line = refused(adversary, InvalidInput)
    assert line.startswith("round 2, trial 0 of experiment 0: epsilon must be")


# --- challenges ---------------------------------------------------------------------------------


def test_databases_that_are_not_neighbours_are_told_by_round_trial_and_difference():
    far = WITH_ALICE.add("carol", 2)
    line = refused(in_round_three((WITHOUT_ALICE, far, SMALL)), Breach)
    assert line.startswith(
        "round 3, trial 0 of experiment 0: the databases are not neighbours under add/remove"
    )
    assert "+1 × 'alice'" in line
    assert "+2 × 'carol'" in line


def test_neighbours_under_one_relation_are_none_under_the_other():
    line = refused(in_round_three(GOOD), Breach, relation=REPLACE_ONE)
    assert "round 1, trial 0 of experiment 0" in line
    assert "replace-one" in line


@pytest.mark.nightly
def test_the_trial_of_a_breach_is_named():
    def adversary(coins):
        answer = yield GOOD
        while answer < 40.0:
            answer = yield GOOD
        yield WITH_ALICE, Database({}), SMALL

    settings = {"rounds": 6, "trials": 90, "experiments": (0,)}
    line = refused(adversary, Breach, block_size=7, **settings)
    place, _, _ = line.partition(":")
    trial = int(place.rpartition(" ")[2])
    assert trial > 0
    quiet = simulate(in_turn, FAMILY, 6, trial + 1, seed=1, jobs=1, experiments=(0,))
    assert len(quiet.losses()) == trial + 1
    assert refused(adversary, Breach, block_size=7, jobs=2, **settings).startswith("round ")


def test_a_mechanism_outside_the_family():
    line = refused(in_round_three((WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 0.3))), Breach)
    assert line.startswith("round 3, trial 0 of experiment 0:")
    assert "outside the family" in line
    line = refused(in_round_three((WITHOUT_ALICE, WITH_ALICE, Gaussian(ALICE, 50.0))), Breach)
    assert "outside the family" in line


def weight(database):
    return 3.0 * database.count_of("alice")


def test_a_query_whose_stated_sensitivity_this_pair_exceeds():
    heavy = function_query(weight, 1.0)
    line = refused(in_round_three((WITHOUT_ALICE, WITH_ALICE, Laplace(heavy, 0.1))), Breach)
    assert line.startswith("round 3, trial 0 of experiment 0: weight states L1 sensitivity 1")
    assert "moves it by 3" in line
    rule = Rule(always, on_alice(Laplace(heavy, 0.1)))
    assert "menu entry 0 of always: weight states L1 sensitivity" in refused(rule, Breach)


@pytest.mark.parametrize(
    "junk", [None, 3, "abc", (1, 2), (WITHOUT_ALICE, WITH_ALICE, "laplace"), (0, 1, SMALL), [SMALL]]
)
def test_a_challenge_that_is_none(junk):
    line = refused(in_round_three(junk), Breach)
    assert line.startswith("round 3, trial 0 of experiment 0: the adversary")


def test_an_adversary_that_raises():
    def adversary(coins):
        yield GOOD
        raise KeyError("where")

    line = refused(adversary, Breach)
    at = f"test_engine_bad_input.py, line {adversary.__code__.co_firstlineno + 2}"
    assert (
        line == f"round 2, trial 0 of experiment 0: the adversary raised KeyError: 'where' ({at})"
    )


@compiled
def test_an_adversary_that_stops_early():
    def adversary(coins):
        yield GOOD
        yield GOOD

    line = refused(adversary, Breach)
    assert (
        line
        == "round 3, trial 0 of experiment 0: the adversary stopped, but must yield in every round"
    )


@pytest.mark.parametrize("adversary", [lambda coins: GOOD, lambda coins: None])
def test_a_function_that_is_no_generator(adversary):
    line = refused(adversary, Breach)
    assert line.startswith(
        "round 1, trial 0 of experiment 0: the adversary must be a generator function"
    )


# --- mechanisms of a user -----------------------------------------------------------------------


@dataclass(frozen=True)
class Says(Mechanism):
    """Says what it is told to, with the loss that it is told."""

    answer: object
    loss: object = 0.0

    def guarantee(self, relation=None):
        return PureDP(0.1)

    def sample(self, database, noise, relation=None):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def log_likelihood_ratio(self, answer, database_0, database_1, relation=None):
        return self.loss


@pytest.mark.parametrize("answer", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_an_answer_that_is_not_finite(answer):
    line = refused(in_round_three((WITHOUT_ALICE, WITH_ALICE, Says(answer))), Breach)
    assert line.startswith("round 3, trial 0 of experiment 0:")
    assert "which is not finite" in line


def test_a_loss_that_is_not_a_number():
    line = refused(in_round_three((WITHOUT_ALICE, WITH_ALICE, Says(1.0, math.nan))), Breach)
    said = "Says(answer=1.0, loss=nan) answered 1.0, whose loss is not a number"
    assert line == f"round 3, trial 0 of experiment 0: {said}"


@pytest.mark.parametrize("loss", [None, "0.1"])
def test_a_loss_of_ones_own_mechanism_that_is_no_number(loss):
    @dataclass(frozen=True)
    class Odd(Laplace):
        scalars: ClassVar[Scalars] = replace(Laplace.scalars, loss=lambda params, answer: loss)

    line = refused(in_round_three((WITHOUT_ALICE, WITH_ALICE, Odd(ALICE, 0.1))), Breach)
    said = f"has a loss of {loss!r} at .*, which is no number"
    assert re.fullmatch(f"round 3, trial 0 of experiment 0: .*Odd.* {said}", line)


def test_a_mechanism_that_raises():
    line = refused(in_round_three((WITHOUT_ALICE, WITH_ALICE, Says(OSError("gone")))), Breach)
    at = f"test_engine_bad_input.py, line {Says.sample.__code__.co_firstlineno + 2}"
    assert line == f"round 3, trial 0 of experiment 0: the mechanism raised OSError: gone ({at})"


def test_answers_of_any_kind_are_handed_back():
    heard = []

    def adversary(coins):
        heard.append((yield WITHOUT_ALICE, WITH_ALICE, Says("a word")))

    simulate(adversary, FAMILY, 1, 1, jobs=1, experiments=(0,))
    assert heard == []  # a trial ends with its last answer, which no further round could use
    result = simulate(
        in_round_three((WITHOUT_ALICE, WITH_ALICE, Says(7))), FAMILY, 3, 1, jobs=1, keep_views=1
    )
    assert result.views[0].answers[2] == 7


class Stepping(Filter):
    """A filter with a step or an observation that is broken."""

    name, source, proved, sums = "mine", "none", False, True
    step = staticmethod(lambda state, epsilon, delta: (True, state))

    @property
    def initial(self):
        return (0.0,)


class NoPair(Stepping):
    step = staticmethod(lambda state, epsilon, delta: True)


class Raising(Stepping):
    step = staticmethod(lambda state, epsilon, delta: {}["gone"])


class Blind(Stepping):
    observe = staticmethod(lambda state, loss: {}["gone"])


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (NoPair, "the step of the mine filter returned True, which is not (admitted, new_state)"),
        (Raising, "the step of the mine filter raised KeyError: 'gone'"),
    ],
)
def test_a_filter_that_raises_is_named(broken, words):
    line = refused(in_round_three(GOOD), Breach, filter=broken(8.0, 0.3))
    assert line.startswith(f"round 1, trial 0 of experiment 0: {words}")
    with pytest.raises(Breach, match="observe of the mine filter raised KeyError: 'gone'"):
        Blind(8.0, 0.3).fresh().observe(0.1)


@dataclass(frozen=True)
class WrongLaw(DominatedFamily):
    """A family whose law is a number."""

    kind: ClassVar[str] = "wrong"
    dominating_law = attained_law = 0.1

    def admits(self, other):
        return True


@dataclass(frozen=True)
class OfWrongLaw(Says):
    def guarantee(self, relation=None):
        return WrongLaw()


def test_a_family_without_a_law_is_named():
    challenge = WITHOUT_ALICE, WITH_ALICE, OfWrongLaw(1.0)

    def adversary(coins):
        while True:
            yield challenge

    line = refused(adversary, InvalidInput, family=WrongLaw())
    assert "the dominating_law of WrongLaw must be a privacy-loss law" in line


# --- rules --------------------------------------------------------------------------------------


def test_a_rule_with_an_empty_menu():
    with pytest.raises(InvalidInput, match="the rule press has an empty menu"):
        Rule(press, ())


def test_a_rule_over_a_mechanism_that_is_not_scalar():
    with pytest.raises(InvalidInput, match="menu entry 0 of press is not a scalar mechanism"):
        Rule(press, ((WITHOUT_ALICE, WITH_ALICE, Says(1.0)),))


def test_a_menu_entry_outside_the_family_is_named_by_its_place():
    line = refused(Rule(press, on_alice(SMALL, Laplace(ALICE, 0.3))), Breach)
    assert line.startswith("menu entry 1 of press:")


def two_ahead(_state, i, _answer, _coins):
    return 0.0, 2 if i == 3 else 0


def below_the_menu(_state, i, _answer, _coins):
    return 0.0, -1 if i == 3 else 0


@compiled
@pytest.mark.sampled
@pytest.mark.parametrize(("step", "move"), [(two_ahead, "2"), (below_the_menu, "-1")])
def test_a_move_off_the_menu(step, move):
    line = refused(Rule(step, on_alice(SMALL, SMALL)), Breach)
    assert line == (
        f"round 4, trial 0 of experiment 0: {step.__name__} made the move {move}, "
        "which is not on its menu"
    )


def overspend(_state, i, _answer, _coins):
    return 0.0, 0, 1.5 if i == 2 else 0.5


@pytest.mark.nightly
def test_a_parameter_outside_what_the_menu_allows():
    line = refused(Rule(overspend, FREE[:1]), Breach, family=PureDP(1.0))
    assert line.startswith(
        "round 3, trial 0 of experiment 0: overspend chose the parameter 1.5, outside"
    )


def no_parameter(_state, i, _answer, _coins):
    return 0.0, 0


@pytest.mark.nightly
def test_a_free_entry_without_a_parameter():
    line = refused(Rule(no_parameter, FREE[:1]), Breach, family=PureDP(1.0))
    assert line.startswith("round 1, trial 0 of experiment 0:")
    assert "parameter nan" in line


def only_a_move(_state, i, _answer, _coins):
    return 0


def test_a_step_that_returns_no_state():
    line = refused(Rule(only_a_move, on_alice(SMALL)), InvalidInput)
    assert "the step of only_a_move must return (state, move)" in line


def uncompilable(state, i, answer, _coins):
    words = {"ahead": object()}
    return state, 1 if answer > 0.5 and "ahead" in words else 0


@compiled
def test_a_rule_that_is_not_in_the_closed_form_runs_and_says_why_in_one_line(capsys):
    result = simulate(Rule(uncompilable, PRESS.menu, name="press"), FAMILY, 20, 30, jobs=1)
    told = capsys.readouterr().err.strip()
    assert told.startswith("press runs uncompiled, its step is not in the closed form: ")
    assert "\n" not in told
    compiled = simulate(PRESS, FAMILY, 20, 30, jobs=1)
    assert result.specification.task == compiled.specification.task
    assert result.losses(1).tobytes() == compiled.losses(1).tobytes()


def at_once(_state, _i, _answer, _coins):
    raise ValueError("not today")


def late(_state, i, answer, _coins):
    if i == 3 and answer > 20.0:
        raise ValueError("not today")
    return 0.0, 0


def late_uncompiled(state, i, answer, coins):
    assert {"a": object()}
    return late(state, i, answer, coins)


@compiled
def test_a_rule_that_raises_before_its_first_move():
    line = refused(Rule(at_once, on_alice(SMALL)), Breach)
    assert "raised ValueError: not today" in line


@pytest.mark.nightly
@pytest.mark.parametrize("step", [late, late_uncompiled])
def test_a_rule_that_raises_is_told_by_round_and_trial(step):
    settings = {"trials": 40, "block_size": 16, "experiments": (0,)}
    line = refused(Rule(step, on_alice(SMALL), name="late"), Breach, **settings)
    place, _, complaint = line.partition(": ")
    line = late.__code__.co_firstlineno + 2
    assert complaint == (
        f"the adversary raised ValueError: not today (test_engine_bad_input.py, line {line})"
    )
    assert place.startswith("round 4, trial ")
    # the first trial whose third answer was that large
    views = simulate(
        Rule(always, on_alice(SMALL), name="late"),
        FAMILY,
        5,
        seed=1,
        jobs=1,
        keep_views=40,
        **settings,
    ).views
    first = next(view.trial for view in views if view.answers[2] > 20.0)
    assert first > 0
    assert place == f"round 4, trial {first} of experiment 0"


def test_nothing_that_is_refused_leaves_a_block_behind(tmp_path):
    refused(in_round_three(None), Breach, out=tmp_path / "run")
    assert (tmp_path / "run" / "blocks.log").stat().st_size == OPENING_SIZE
    refused(rounds=0, error=InvalidInput, out=tmp_path / "never")
    assert not (tmp_path / "never").exists()


def test_every_kind_of_mechanism_is_within_the_games_reach():
    assert len(KINDS) == 7


def stops_where_alice_is_counted(coins):
    answer = yield WITHOUT_ALICE, WITH_ALICE, Laplace(ALICE, 50.0)
    raise ValueError(f"{answer:.0f} counted")


@pytest.mark.parametrize("b", [0, 1])
def test_an_error_names_its_experiment(b):
    s = {"experiments": (b,), "seed": 1, "jobs": 1}
    with pytest.raises(Breach, match=f"^round 2, trial 0 of experiment {b}: .*{b} counted"):
        simulate(stops_where_alice_is_counted, PureDP(50.0), 2, 1, **s)
