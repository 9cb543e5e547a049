"""The outcome of one block; outcomes add up in any order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge
from simulator.engine.views.views import View
from simulator.foundations.errors import InvalidInput
from simulator.mechanisms import Handle


@dataclass(frozen=True)
class Outcome:
    """The outcome of one block.

    Attributes
    ----------
    losses : float64, shape (trials of the block,), the privacy losses of the views; NaN where a
        mechanism has no likelihood, and then every view of the block is kept.
    trace : float64, shape (3, rounds), or None: per round the sum over the trials of the finite
        running losses, of their squares, and their number.
    views : the kept views.
    log_weights : float64, shape (trials of the block,), ln dP_b/dQ of the views where they were
        drawn from another measure Q, or None.
    doubt : a line on why the block may not be reproducible, or "". Not stored.
    challenges : those that a generator sent, where the specification records them. Not stored.
    """

    experiment: int
    block: int
    losses: np.ndarray
    trace: np.ndarray | None = None
    views: tuple[View, ...] = ()
    _: KW_ONLY
    log_weights: np.ndarray | None = None
    doubt: str = ""
    challenges: tuple[Challenge, ...] = ()

    @property
    def trials(self) -> int:
        """How many trials were played."""
        return len(self.losses)

    @property
    def blocks(self) -> int:
        """The number of blocks, 1."""
        return 1

    def arrays(self) -> dict[str, np.ndarray]:
        """The outcome as named arrays, for storage."""
        named = {"losses": self.losses}
        if self.trace is not None:
            named["trace"] = self.trace
        if self.log_weights is not None:
            named["log_weights"] = self.log_weights
        if self.views:
            named["trials"] = np.array([view.trial for view in self.views])
            named["coins"] = np.array([view.coins for view in self.views], dtype=np.uint64)
            named["answers"] = same_shape([view.answers for view in self.views])
        return named

    @classmethod
    def of_arrays(cls, experiment: int, block: int, named: Mapping[str, np.ndarray]) -> Outcome:
        """Inverse of ``arrays``."""
        views = tuple(
            View(experiment, int(trial), tuple(map(int, coins)), plain(answers))
            for trial, coins, answers in zip(
                named.get("trials", ()), named.get("coins", ()), named.get("answers", ())
            )
        )
        log_weights = named.get("log_weights")
        return cls(
            experiment, block, named["losses"], named.get("trace"), views, log_weights=log_weights
        )


_HANDLE = 0x7FF84841 << 32
"""A handle is stored as a NaN with these upper bits, and its number in the lower ones."""


def plain(answers: np.ndarray) -> tuple[Any, ...]:
    """The answers of a view as Python's numbers and handles, or as arrays."""
    if answers.ndim > 1:
        return tuple(answers)
    listed = answers.tolist()
    if answers.dtype == np.float64:
        bits = np.ascontiguousarray(answers).view(np.uint64)
        for place in np.flatnonzero((bits >> np.uint64(32)) == _HANDLE >> 32):
            listed[place] = Handle(int(bits[place]) & 0xFFFFFFFF)
    return tuple(listed)


def stored_handle(number: int) -> np.float64:
    """The NaN as which a handle is stored."""
    found: np.float64 = np.uint64(_HANDLE + number).view(np.float64)
    return found


def same_shape(answers: list[tuple[Any, ...]]) -> np.ndarray:
    """The answers as one array; raises InvalidInput where they are not numbers of one shape."""
    answers = [
        tuple(stored_handle(one.number) if isinstance(one, Handle) else one for one in view)
        for view in answers
    ]
    try:
        array = np.array(answers)
    except ValueError:
        array = np.array(None)
    if array.dtype.kind not in "fiub":
        raise InvalidInput(
            "views with answers of different shapes, or that are not numbers, cannot be stored: "
            "play without a folder"
        )
    return array
