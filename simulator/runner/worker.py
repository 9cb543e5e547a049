"""Play blocks of one specification, in this process or in a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import cloudpickle

from simulator.engine.algorithm_1 import play_as_generator
from simulator.engine.block import Outcome, Specification, play_block
from simulator.engine.outcomes.tally import Tally
from simulator.engine.reproducibility import doubt
from simulator.foundations.errors import Breach, DpcomposeError, InvalidInput, message_of
from simulator.foundations.single_flight import made_once


class Player:
    """Plays blocks of one specification.

    It is pickled once, and unpickled once in each worker, so that a rule is one object for all
    blocks of a worker, and compiled once.
    """

    def __init__(self, specification: Specification) -> None:
        self.specification = specification

    def __call__(self, b: int, block: int) -> Outcome | Tally:
        """Play one block of experiment ``b``."""
        return play(self.specification, b, block)

    @cached_property
    def pickled(self) -> bytes:
        """The pickled specification; raises InvalidInput if it cannot be pickled."""
        try:
            return cloudpickle.dumps(self.specification)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # pickling runs the user's code
            raise InvalidInput(
                f"the adversary {self.specification.name} cannot be sent to a worker process "
                f"({one_line(error)}); play it with one job"
            ) from None

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[bytes]]:
        return Received, (self.pickled,)


class Received:
    """A Player in a worker. It unpickles when it plays, so that the parent receives an error."""

    def __init__(self, pickled: bytes) -> None:
        self.pickled = pickled

    @property
    def specification(self) -> Specification:
        """The specification; raises InvalidInput if it cannot be unpickled."""
        return unpickled(self.pickled)

    def __call__(self, b: int, block: int) -> Outcome | Tally:
        """Play one block of experiment ``b``."""
        return play(self.specification, b, block)


@made_once(maxsize=2)
def unpickled(pickled: bytes) -> Specification:
    """Unpickle a specification, once in each worker.

    A module that can be imported is not sent, but imported again. Raises InvalidInput if it differs
    in the worker: an edited file, or a global variable that the parent has set.
    """
    try:
        specification = cloudpickle.loads(pickled)
        same = specification.code_now().parts == specification.code.parts
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InvalidInput(
            f"a worker process cannot load the adversary ({one_line(error)}); play it with "
            "one job, or define it in a module that can be imported"
        ) from None
    if not same:
        raise InvalidInput(
            f"{specification.name} differs in a worker process (its file was edited after it was "
            "imported, or a global variable that it reads was set here); play it with one job, "
            "or start again"
        )
    return specification


def play(specification: Specification, b: int, block: int) -> Outcome | Tally:
    """Play one block; an error of a rule's step becomes a Breach with the round and the trial.

    The first trials of block 0 are played twice, see :mod:`simulator.engine.reproducibility`.

    A kernel that raised does not report the round and the trial. The block is then played again,
    interpreted, with the same seeds, which raises at the same place.
    """
    try:
        outcome = play_block(specification, b, block)
    except (DpcomposeError, KeyboardInterrupt):
        raise
    except BaseException as error:
        play_as_generator(specification, b, block)
        raise Breach(
            f"{specification.name} raised {one_line(error)} in experiment {b}, block {block}, "
            "but only when compiled"
        ) from error
    return kept(specification, replace(outcome, doubt=doubt(specification, outcome)))


def kept(specification: Specification, outcome: Outcome) -> Outcome | Tally:
    """The outcome of a block as a run keeps it: with every loss, or with counts.

    Block 0 keeps every loss, because the bets on a sample need the order of the first trials; so do
    blocks with kept views.
    """
    if not specification.summarises or outcome.block == 0 or outcome.views:
        return outcome
    return Tally.of(outcome)


def one_line(error: BaseException) -> str:
    """An error's kind and the first line of its message."""
    lines = message_of(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
