"""Rules whose states do not close, and moves off the menu: found by the enumeration, and soon."""

import math
import time

import pytest

from simulator import PureDP, RandomizedResponse
from simulator.adversaries import Rule
from simulator.engine.block import covering_engine
from simulator.engine.compiled.plain_kernel import Engine
from simulator.engine.compiled.tilted_kernel import TiltedEngine
from simulator.engine.specification import Specification
from simulator.errors import Breach, NotApplicable
from simulator.mechanisms import Free
from tests.helpers.rare_cases import estimated
from tests.helpers.small_games import ALICE, on_alice


def growing(state, i, answer, _coins):
    return state * 1.1 + (answer if i > 0 else 0.0), 0


@pytest.mark.nightly
def test_auto_says_that_states_do_not_close_and_uses_the_bound_of_the_family(capsys):
    """A state that grows without end is given up within four seconds, found once, and said."""
    rule = Rule(growing, on_alice(RandomizedResponse(ALICE, 0.1)), 0.0)
    start = time.process_time()
    s = Specification(rule, PureDP(0.1), 200, 1000)
    for _ in range(2):
        with pytest.raises(NotApplicable, match=r"20000 states .* within 1\d of 200 rounds"):
            covering_engine(s, 0)
    assert time.process_time() - start < 4.0
    event = estimated(rule, 0.5, 20_000, "auto", rounds=200, family=PureDP(0.1))
    assert event.method in ("guarded", "plain")
    line = capsys.readouterr().err
    assert "do not close" in line
    assert "bound of the family instead" in line
    assert line.count("\n") == 1


@pytest.mark.parametrize(("step", "complaint"), [
    (lambda s, i, a, c: (s, 2 if i == 3 else 0), "round 4: sly made the move 2, which is not"),
    (lambda s, i, a, c: (s + (a if i else 0), int(s == 2)), "round 4: .* state 2.0 after 0"),
    (lambda s, i, a, c: (s, 0.5 if i > 0 and a > 0.5 else 0), "round 2: .* move 0.5, .* after 1"),
    (lambda s, i, a, c: (s, -1 if c.random() < 1e-9 else 0), "round 1: sly made the move -1"),
    (lambda s, i, a, c: (s, math.inf), "round 1: sly made the move inf"),
])  # fmt: skip
@pytest.mark.parametrize("computes", [False, True])
def test_a_move_off_the_menu_is_found_before_anything_is_compiled(
    step, complaint, computes, monkeypatch
):
    """Also where the step computes with the number of the round: then it is traced by rounds."""

    def sly(state, i, answer, coins):
        return step(state, i % 100 if computes else i, answer, coins)

    for engine in (Engine, TiltedEngine):
        monkeypatch.setattr(engine, "build", None)
    rule = Rule(sly, on_alice(RandomizedResponse(ALICE, 0.1)), 0)
    for method in ("auto", "covering", "doob"):
        with pytest.raises(Breach, match=complaint):
            estimated(rule, 0.5, 100, method, rounds=6, family=PureDP(0.1))


def test_a_free_parameter_outside_its_entry_is_found_before_anything_is_compiled(monkeypatch):
    monkeypatch.setattr(Engine, "build", None)
    rule = Rule(lambda s, i, a, c: (s, 0, 0.1 if i < 2 else 0.3),
                on_alice(RandomizedResponse(ALICE, Free(0.05, 0.2))), 0, "bold")  # fmt: skip
    with pytest.raises(Breach, match=r"round 3: bold chose the parameter 0.3, outside"):
        estimated(rule, 0.5, 100, "auto", rounds=6, family=PureDP(0.2))


def test_a_move_off_the_menu_that_no_play_makes_is_no_breach():
    """In state 0 of round 4 only, which is state 1 by then."""

    def step(state, i, answer, coins):
        return 1, 7 if state == 0 and i > 2 else 0

    rule = Rule(step, on_alice(RandomizedResponse(ALICE, 0.5)), 0, "harmless")
    event = estimated(rule, 1.5, 4000, "auto", rounds=6, family=PureDP(0.5))
    assert event.delta.lower <= event.delta.value <= event.delta.upper
