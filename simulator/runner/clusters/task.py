"""A task of a cluster: some blocks, played one after the other in a worker on another machine."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from simulator.engine.block import Outcome, prepared_engine
from simulator.engine.outcomes.tally import Tally
from simulator.foundations.errors import InvalidInput
from simulator.runner.gathering import Key
from simulator.runner.store.provenance import differences, fingerprint_of_program
from simulator.runner.worker import Player, Received

_INTERPRETING = threading.Lock()
"""A worker of several threads interprets one block at a time: user code need not be made for more,
and under the interpreter lock it would be no faster."""


@dataclass(frozen=True)
class TaskOutcome:
    """What a task sends back.

    Attributes
    ----------
    outcomes : of the blocks that were played, in the order in which they were asked for.
    seconds : how long playing them took, compilation apart.
    error : what stopped the task before its end, or None.
    """

    outcomes: tuple[Outcome | Tally, ...]
    seconds: float
    error: Exception | None = None


def play_blocks(
    play: Player | Received, keys: tuple[Key, ...], program: Mapping[str, str]
) -> TaskOutcome:
    """Play some blocks in a worker whose program is ``program``, that of the parent.

    An error is returned, with the blocks played before it: each cluster would wrap it differently.
    """
    outcomes: list[Outcome | Tally] = []
    start = time.perf_counter()
    try:
        require_program(program)
        engine = prepared_engine(play.specification)
        compiled = engine is not None and not engine.complaint
        with contextlib.nullcontext() if compiled else _INTERPRETING:
            start = time.perf_counter()
            for key in keys:
                outcomes.append(play(*key))
    except Exception as error:
        return TaskOutcome(tuple(outcomes), time.perf_counter() - start, error)
    return TaskOutcome(tuple(outcomes), time.perf_counter() - start)


def require_program(program: Mapping[str, str]) -> None:
    """Raise InvalidInput where this worker would draw with other code or libraries."""
    if others := differences(program, fingerprint_of_program()):
        raise InvalidInput(
            f"a worker of the cluster has other versions ({others}), and draws depend on them: "
            "give every worker the environment of this process"
        )
