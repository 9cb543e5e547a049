"""A task of a cluster: some blocks that a worker plays one after the other."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from simulator.engine.block import Outcome, plays_without_lock
from simulator.engine.outcomes.tally import Tally
from simulator.foundations.errors import InvalidInput
from simulator.runner.gathering import Key
from simulator.runner.store.provenance import differences, fingerprint_of_program
from simulator.runner.worker import Player, Received

_INTERPRETING = threading.Lock()
"""Held while a block is interpreted: a user's code need not be thread-safe, and with the
interpreter lock threads would not be faster."""


@dataclass(frozen=True)
class TaskOutcome:
    """The outcome of a task.

    Attributes
    ----------
    outcomes : of the blocks that were played, in the order of the task.
    seconds : the time of playing them, without compilation.
    error : the error that stopped the task, or None.
    """

    outcomes: tuple[Outcome | Tally, ...]
    seconds: float
    error: Exception | None = None


def play_blocks(
    play: Player | Received, keys: tuple[Key, ...], program: Mapping[str, str]
) -> TaskOutcome:
    """Play some blocks in a worker, whose versions must be those of the parent, ``program``.

    An error is returned, with the blocks played before it: clusters would wrap it differently.
    """
    outcomes: list[Outcome | Tally] = []
    start = time.perf_counter()
    try:
        require_program(program)
        compiled = plays_without_lock(play.specification)
        with contextlib.nullcontext() if compiled else _INTERPRETING:
            start = time.perf_counter()
            for key in keys:
                outcomes.append(play(*key))
    except Exception as error:
        return TaskOutcome(tuple(outcomes), time.perf_counter() - start, error)
    return TaskOutcome(tuple(outcomes), time.perf_counter() - start)


def require_program(program: Mapping[str, str]) -> None:
    """Raise InvalidInput if this worker has other code or libraries than the parent."""
    if others := differences(program, fingerprint_of_program()):
        raise InvalidInput(
            f"a worker of the cluster has other versions ({others}), and draws depend on them: "
            "give every worker the environment of this process"
        )
