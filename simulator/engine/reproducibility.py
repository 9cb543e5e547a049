"""Play the first trials of a run twice: a trial is a function of its seeds, or a line says why not.

An adversary or a mechanism that draws from the global ``random`` or ``numpy.random``, or from the
operating system, or keeps something from trial to trial gives numbers that cannot be reproduced.
A compiled rule is repeated by its own step uncompiled, which also finds where numba computes
something else: an index out of bounds, a whole number that overflows, ``numpy.random``.
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from types import FrameType
from typing import Any

import numpy as np

from simulator.adversaries.contract import Rule
from simulator.engine.interpreted.interpreter import play_interpreted
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.sampling import Covering
from simulator.engine.specification import Specification
from simulator.identity.fingerprint import same

MOST_TRIALS = 16
MOST_ROUNDS = 1 << 12
"""Some ten milliseconds. One trial is repeated in any case, unless a compiled one is far longer."""
LONGEST_OF_A_RULE = 1 << 17


def repeated_trials(specification: Specification) -> int:
    """How many of the first trials to repeat; 0 for rules of this package, and for long ones."""
    s = specification
    adversary = s.adversary
    if isinstance(s.sampling, Covering):
        return 0  # the rule is enumerated, and that is repeated
    if isinstance(adversary, Rule) and (adversary.of_library or s.rounds > LONGEST_OF_A_RULE):
        return 0
    return min(s.trials_in(0), MOST_TRIALS, max(1, MOST_ROUNDS // s.rounds))


def doubt(specification: Specification, outcome: Outcome) -> str:
    """Repeat the first trials of an outcome of block 0; return "" or a line on what differs.

    The states of the global generators are put back. Raises Breach where the repetition does:
    a compiled rule then did what Python refuses, such as reading beyond an array.
    """
    s = specification
    count = repeated_trials(s)
    if outcome.block or not count:
        return ""
    few = replace(s, trials=count, keep_views=min(count, s.keep_views), trace=False)
    again, consumed = watched(few, outcome.experiment)
    if "random" in consumed and not calls_random(few, outcome.experiment):
        consumed.remove("random")
    if consumed:
        return (
            f"{s.name} is not reproducible: it or a mechanism draws from the global "
            f"{' and '.join(sorted(consumed))}; draw from the generator that is handed over"
        )
    differ = np.flatnonzero(outcome.losses[:count] != again.losses)
    known = ~np.isnan(outcome.losses[differ]) | ~np.isnan(again.losses[differ])
    differ = differ[known]
    if not differ.size:
        return answers_differ(s, outcome, again)
    trial = int(differ[0])
    return (
        f"{s.name} is not reproducible: trial {trial} of experiment {outcome.experiment} has a "
        f"loss of {float(outcome.losses[trial]):.6g} and, played again, of "
        f"{float(again.losses[trial]):.6g}; {likely_cause(s)}"
    )


def watched(few: Specification, b: int) -> tuple[Outcome, set[str]]:
    """Interpret block 0 of experiment ``b``; which global generators changed in the meantime.

    Their states are put back.
    """
    before = global_states()
    try:
        outcome = play_interpreted(few, b, 0)
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

    Another one may draw from it meanwhile: those of a Dask worker do so twice in a second.
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
    return not called <= {"getstate", "setstate"}  # by which we watch it


def answers_differ(specification: Specification, outcome: Outcome, again: Outcome) -> str:
    """A line on the first repeated view of unknown loss that has other answers, or ""."""
    for loss, view, second in zip(outcome.losses, outcome.views, again.views):
        if np.isnan(loss) and not same(view.answers, second.answers):
            return (
                f"{specification.name} is not reproducible: trial {view.trial} of experiment "
                f"{outcome.experiment} has other answers when it is played again; "
                f"{likely_cause(specification)}"
            )
    return ""


def likely_cause(specification: Specification) -> str:
    """What makes a repeated trial differ, when no global generator was touched."""
    kept = (
        "it or a mechanism keeps something from trial to trial (in a module, a closure, a copy of "
        "its coins), or draws from another source (a generator of its own, os.urandom)"
    )
    if isinstance(specification.adversary, Rule):
        return (
            "compiled, its step computes something else than in Python (a whole number that "
            f"overflows, an index out of bounds, numpy.random), or {kept}"
        )
    return kept


def global_states() -> tuple[Any, Any]:
    """The states of the global generators, which nothing that is played may touch."""
    return random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002 (to watch it)


def comparable(state: object) -> object:
    """A state with its arrays as bytes, which can be compared."""
    if isinstance(state, dict):
        return {name: comparable(part) for name, part in state.items()}
    if isinstance(state, tuple):
        return tuple(map(comparable, state))
    return state.tobytes() if isinstance(state, np.ndarray) else state
