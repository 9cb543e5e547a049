"""A rule's first state is the same in every trial."""

import numpy as np
import pytest

from simulator.adversaries import Rule, rule
from simulator.errors import InvalidInput
from tests.helpers.games import PRESS, always

MENU = PRESS.menu


@pytest.mark.parametrize("state", [np.zeros(2), [0.0], {"sum": 0.0}, (0.0, [1.0])])
def test_a_state_that_a_step_can_alter_is_refused(state):
    with pytest.raises(InvalidInput, match=r"the state of always is .* from trial to trial"):
        Rule(always, MENU, state=state)
    with pytest.raises(InvalidInput, match="start from a number or a tuple"):
        rule(MENU, state=state)(always)


@pytest.mark.parametrize("state", [0, 1.5, True, (0, 1.0), (0, (1, 2)), np.float64(1.0), "a", None])
def test_other_states_are_taken(state):
    assert Rule(always, MENU, state=state).state == state


def test_the_docstring_of_rule_says_what_the_first_answer_is():
    assert "NaN" in rule.__doc__
    assert "state :" in rule.__doc__
