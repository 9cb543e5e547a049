"""The ways through one step of a rule, from any state."""

from simulator.adversaries import Rule
from simulator.adversaries.program.forms import Slot
from simulator.adversaries.program.machine import machine_of
from simulator.adversaries.program.reading import read
from simulator.engine.enumerated.programs import FollowedProgram
from tests.helpers.games import PRESS


def ways(step, state, rounds, answer):
    """The ways of a step that keeps numbers; ``state`` of a way are the numbers that it keeps.

    A step that keeps one number has that as its state.
    """
    machine = machine_of(read(Rule(step, PRESS.menu, state, "stepping")))
    first = machine.segments[0]
    assert isinstance(first.end, int), "the step keeps an object"
    known = {do.target: do.operands[0] for do in first.does}
    slot = Slot("answer", "float")
    for way in FollowedProgram(machine).ways_on(first.end, known, slot, rounds, answer):
        kept = way.state[1:]
        yield way._replace(state=kept[0] if len(kept) == 1 else kept)
