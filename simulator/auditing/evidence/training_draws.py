"""Draws that events are learned from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simulator.auditing.evidence.answers import Answers, joined
from simulator.auditing.evidence.columns import AnswerReader
from simulator.auditing.evidence.events import Candidates, Event
from simulator.auditing.evidence.scores import Score

ReaderOf = Callable[[Answers, Answers], AnswerReader]
Learn = Callable[[AnswerReader, Answers, Answers], list[Score]]
"""Makes scores from answers on both inputs."""


class Pool:
    """The draws of one pair that events are learned from: one half to learn from, one held out.

    Parameters
    ----------
    reader_of : makes a reader of the answers to learn from.
    learn : makes scores of them.
    """

    def __init__(self, reader_of: ReaderOf, learn: Learn) -> None:
        self.reader_of, self.learn = reader_of, learn
        self.learned: tuple[list[Answers], list[Answers]] = ([], [])
        self.held_out: tuple[list[Answers], list[Answers]] = ([], [])
        self.size = 0

    def add(self, answers: tuple[Answers, Answers]) -> None:
        """Add the draws of one batch, the same number of both inputs."""
        half = (len(answers[0]) + self.size % 2) // 2  # batches of one are dealt in turn
        for b in (0, 1):
            for part, some in (
                (self.learned, answers[b][:half]),
                (self.held_out, answers[b][half:]),
            ):
                if len(some):
                    part[b].append(some)
        self.size += len(answers[0])

    def example(self, event: Event) -> list[Any]:
        """The first answer in an event, on the input that it favours: a list of at most one."""
        b = event.favours
        for answers in (*self.learned[b], *self.held_out[b]):
            held = event.holds(answers)
            if held.any():
                return [answers[int(np.argmax(held))]]
        return []

    def halves(self) -> tuple[tuple[Answers, Answers], tuple[Answers, Answers]]:
        """The draws of both inputs to learn from, and those to hold out."""
        first, second = self.learned, self.held_out
        return (joined(first[0]), joined(first[1])), (joined(second[0]), joined(second[1]))

    def candidates(self) -> Candidates:
        """Events learned from one half of the draws and counted on the other."""
        learned, held_out = self.halves()
        reader = self.reader_of(*learned)
        return Candidates(reader, self.learn(reader, *learned)).measure(learned, held_out)
