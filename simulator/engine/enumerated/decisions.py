"""The decisions of one run of a step, and every run that there is.

A step that compares an unknown number is run once for each answer to the comparison. A
:class:`Script` says which answers a run gets.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from simulator.foundations.errors import NotApplicable

MOST_DECISIONS, MOST_RUNS = 200, 20_000
"""Decisions in one run of a step, and runs of it, before it is called not enumerable."""


class RoundMatters(Exception):
    """The step computes with the number of the round: trace it round by round."""


class Script:
    """The decisions of one run: those given are repeated, further ones take their first option."""

    def __init__(self, given: Sequence[int]) -> None:
        self.given = given
        self.taken: list[int] = []
        self.options: list[int] = []
        self.refused: Exception | None = None  # also where the step has caught it

    def choose(self, options: int) -> int:
        """Decide between so many options."""
        place = len(self.taken)
        if place >= MOST_DECISIONS:
            raise self.refusal(
                NotApplicable(
                    f"the rule decides more than {MOST_DECISIONS} times in one step: draws in a "
                    "loop cannot be enumerated"
                )
            )
        choice = self.given[place] if place < len(self.given) else 0
        self.taken.append(choice)
        self.options.append(options)
        return choice

    def refusal(self, error: Exception) -> Exception:
        """Keep an error, for a step may catch it and go on; return it."""
        self.refused = self.refused or error
        return error

    def others(self) -> Iterator[list[int]]:
        """The scripts of the runs that part from this one after the given decisions."""
        for place in range(len(self.given), len(self.taken)):
            for option in range(1, self.options[place]):
                yield [*self.taken[:place], option]


def every_run(run: Callable[[Script], Any]) -> Iterator[Any]:
    """What ``run`` returns for every script, in no particular order."""
    waiting: list[list[int]] = [[]]
    for runs in itertools.count():
        if not waiting:
            return
        if runs >= MOST_RUNS:
            raise NotApplicable(f"one step of the rule goes more than {MOST_RUNS} ways")
        script = Script(waiting.pop())
        yield run(script)
        waiting.extend(script.others())
