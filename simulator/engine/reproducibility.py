"""The check that a trial is a function of its seeds: the first trials of a run are played twice.

Numbers cannot be reproduced if an adversary or a mechanism draws from the global ``random`` or
``numpy.random``, or from the operating system, or keeps state from trial to trial. A compiled rule
is repeated uncompiled, which also shows where machine code computes something else: an index out of
bounds in a mechanism, ``numpy.random``.
"""

from __future__ import annotations

import random
import sys
from types import FrameType
from typing import Any

import numpy as np

from simulator.adversaries.contract import is_of_library
from simulator.engine.algorithm_1 import play_as_generator
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.sampling import Covering
from simulator.engine.specification import Specification
from simulator.identity.fingerprint import same

MOST_TRIALS = 16
MOST_ROUNDS = 1 << 12
"""Most rounds repeated, some ten milliseconds; at least one trial is, except a longer compiled
one."""
LONGEST_OF_A_PROGRAM = 1 << 17


def repeated_trials(specification: Specification) -> int:
    """The number of first trials to repeat; 0 for programs of this package and for long trials."""
    s = specification
    if isinstance(s.sampling, Covering):
        return 0  # the enumeration of the rule is repeated instead
    if (is_of_library(s.adversary) or s.rounds > LONGEST_OF_A_PROGRAM) and s.is_read:
        return 0
    return min(s.trials_in(0), MOST_TRIALS, max(1, MOST_ROUNDS // s.rounds))


def doubt(specification: Specification, outcome: Outcome) -> str:
    """A line on what differs when the first trials of an outcome of block 0 are repeated, or "".

    The states of the global generators are restored. Raises Breach where the repetition does: then
    a compiled rule did something that Python refuses, such as reading beyond an array.
    """
    s = specification
    count = repeated_trials(s)
    if outcome.block or not count:
        return ""
    few = s.beginning(count)
    again, consumed = watched(few, outcome.experiment)
    if "random" in consumed and not calls_random(few, outcome.experiment):
        consumed.remove("random")
    if consumed:
        return (
            f"{s.name} is not reproducible: it or a mechanism draws from the global "
            f"{' and '.join(sorted(consumed))}; draw from the generator that it receives"
        )
    differ = np.flatnonzero(outcome.losses[:count] != again.losses)
    known = ~np.isnan(outcome.losses[differ]) | ~np.isnan(again.losses[differ])
    differ = differ[known]
    if not differ.size:
        return answers_differ(s, outcome, again)
    trial = int(differ[0])
    losses = float(outcome.losses[trial]), float(again.losses[trial])
    before, after = (f"{loss:.6g}" for loss in losses)
    if before == after:  # the same losses in another order
        before, after = map(repr, losses)
    return (
        f"{s.name} is not reproducible: trial {trial} of experiment {outcome.experiment} has a "
        f"loss of {before} and, played again, of {after}; {likely_cause(s)}"
    )


def watched(few: Specification, b: int) -> tuple[Outcome, set[str]]:
    """(Outcome of block 0 played in Python, names of the global generators that changed).

    Their states are restored.
    """
    before = global_states()
    try:
        outcome = play_as_generator(few, b, 0)
        after = global_states()
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
    return outcome, {
        name
        for name, first, second in zip(("random", "numpy.random"), before, after)
        if comparable(first) != comparable(second)
    }


def calls_random(few: Specification, b: int) -> bool:
    """Whether playing block 0 calls the global ``random`` in this thread.

    Other threads may draw from it: those of a Dask worker do so twice per second.
    """
    shared, called = getattr(random.random, "__self__", None), set()

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call" and getattr(argument, "__self__", None) is shared:
            called.add(argument.__name__)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        watched(few, b)
    finally:
        sys.setprofile(before)
    return not called <= {"getstate", "setstate"}  # called by ``watched`` itself


def answers_differ(specification: Specification, outcome: Outcome, again: Outcome) -> str:
    """A line on the first repeated view of unknown loss whose answers differ, or ""."""
    for loss, view, second in zip(outcome.losses, outcome.views, again.views):
        if np.isnan(loss) and not same(view.answers, second.answers):
            return (
                f"{specification.name} is not reproducible: trial {view.trial} of experiment "
                f"{outcome.experiment} has other answers when it is played again; "
                f"{likely_cause(specification)}"
            )
    return ""


def likely_cause(specification: Specification) -> str:
    """The likely cause of a differing trial where no global generator was used."""
    kept = (
        "it or a mechanism keeps something from trial to trial (in a module, a closure, a copy of "
        "its coins), or draws from another source (a generator of its own, os.urandom)"
    )
    if specification.is_read:
        return (
            "compiled, it computes something else than in Python (an index out of bounds, "
            f"numpy.random), or {kept}"
        )
    return kept


def global_states() -> tuple[Any, Any]:
    """The states of the global generators, which a play must not change."""
    return random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002 (to watch it)


def comparable(state: object) -> object:
    """A state with its arrays as bytes, which can be compared."""
    if isinstance(state, dict):
        return {name: comparable(part) for name, part in state.items()}
    return state.tobytes() if isinstance(state, np.ndarray) else state
