"""The decisions of one run of a step, and the enumeration of all runs.

A step that compares an unknown number is run once for each result of the comparison. A
:class:`Script` holds the results for one run.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from simulator.foundations.errors import NotApplicable

MOST_DECISIONS, MOST_RUNS = 200, 20_000
"""Most decisions in one run of a step, and most runs of a step."""


class RoundMatters(Exception):
    """The step computes with the number of the round, so it must be traced round by round."""


class Script:
    """The decisions of one run: those given are repeated, further ones take their first option."""

    def __init__(self, given: Sequence[int]) -> None:
        self.given = given
        self.taken: list[int] = []
        self.options: list[int] = []
        self.refused: Exception | None = None  # raised even if the step catches it

    def choose(self, options: int) -> int:
        """The index of the chosen option, from 0."""
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
        """Store the first error, as a step may catch it; return ``error``."""
        self.refused = self.refused or error
        return error

    def others(self) -> Iterator[list[int]]:
        """The scripts of the runs that differ from this one after the given decisions."""
        for place in range(len(self.given), len(self.taken)):
            for option in range(1, self.options[place]):
                yield [*self.taken[:place], option]


def every_run(run: Callable[[Script], Any]) -> Iterator[Any]:
    """Yield what ``run`` returns for every script, in any order."""
    pending: list[list[int]] = [[]]
    for runs in itertools.count():
        if not pending:
            return
        if runs >= MOST_RUNS:
            raise NotApplicable(f"one step of the rule has more than {MOST_RUNS} runs")
        script = Script(pending.pop())
        yield run(script)
        pending.extend(script.others())
