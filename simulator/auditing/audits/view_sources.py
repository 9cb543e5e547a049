"""Views of both experiments to audit: played, or kept by a simulation."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from simulator.auditing.audits.sources import Steady, unaudited
from simulator.auditing.audits.view_columns import rounds_type
from simulator.auditing.evidence.answers import category, settled_one, shown
from simulator.engine.specification import Specification
from simulator.engine.views.views import View, challenges_of
from simulator.foundations.errors import InvalidInput
from simulator.foundations.wording import count_of
from simulator.identity.keys import key_of
from simulator.mechanisms import Ask, Handle, Raised
from simulator.runner.pool import outcomes

MOST_ALIKE = 16
"""The largest number of challenges with the same description and different numbers; others share
one. An adversary may make a new function in every round."""
BLOCK_ROUNDS = 1 << 14
"""The number of rounds of a block."""
TRANSCRIBED = 6
"""The number of rounds at either end of a view that a transcript has."""


class ChallengeNumbers:
    """Numbers for challenges, equal for equal challenges, and a text for each."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}
        self.words: list[str] = []
        self.alike: dict[Any, int] = {}

    def number(self, challenge: Any, opened: Sequence[int]) -> int:
        """The number of a challenge; ``opened`` has those of the trial's interactive mechanisms."""
        try:
            return self.numbers[challenge]
        except (KeyError, TypeError):  # new, or not hashable, or a message
            pass
        if isinstance(challenge, Ask):
            place = challenge.handle.number
            first = opened[place] if place < len(opened) else -1
            message = challenge.message
            return self._of((first, category(message)), lambda: f"the message {shown(message, 30)}")
        database_0, database_1, mechanism = challenge
        alike = database_0, database_1, repr(mechanism)
        if self.alike.get(alike, 0) >= MOST_ALIKE:
            return self._of(alike, lambda: f"others like {shown(mechanism)}")
        self.alike[alike] = self.alike.get(alike, 0) + 1
        return self._of(key_of(tuple(challenge)), lambda: shown(mechanism))

    def _of(self, key: Any, words: Callable[[], str]) -> int:
        if key not in self.numbers:
            self.numbers[key] = len(self.words)
            self.words.append(words())
        return self.numbers[key]


def played_views(
    views: Iterable[View], specification: Specification, numbers: ChallengeNumbers
) -> np.ndarray:
    """Views with the challenge of each round, as an array of :func:`rounds_type`.

    The adversary is replayed on its coins and the answers. Raises Breach if the replay differs.
    """
    s = specification
    kept = list(views)
    table = np.empty(len(kept), dtype=rounds_type(s.rounds))
    for i, view in enumerate(kept):
        labels: list[int] = []
        opened: list[int] = []
        for challenge, answer in zip(challenges_of(view, s.adversary), view.answers):
            labels.append(numbers.number(challenge, opened))
            if isinstance(answer, Handle):
                opened.append(labels[-1])
        table["challenge"][i] = labels
        read = map(settled_answer, view.answers)
        table["answer"][i] = np.fromiter(read, dtype=object, count=s.rounds)
    return table


def settled_answer(answer: Any) -> Any:
    """An answer as numbers, texts and tuples; the handle of an interactive mechanism unchanged."""
    return answer if type(answer) in (float, Handle) else settled_one(answer)


class PlayedViews:
    """Plays both experiments block by block, as many trials as needed.

    See :class:`~simulator.auditing.audits.sources.AnswerSource`. ``jobs`` as for simulate.
    """

    def __init__(self, specification: Specification, jobs: int | None) -> None:
        block = max(32, BLOCK_ROUNDS // specification.rounds)
        self.specification = replace(
            specification, block_size=block, keep_views=specification.trials
        )
        self.jobs = jobs
        self.challenges = ChallengeNumbers()
        self.names = [f"experiments 0 and 1 of {specification.name}"]
        self.left: list[list[np.ndarray]] = [[], []]
        self.next_block = [0, 0]
        self.steady = Steady(), Steady()
        self.doubts: list[str] = []
        self.all_raised = True

    def inputs(self, pair: int) -> None:
        """None: an experiment has no input."""

    def draw(self, pair: int, b: int, n: int) -> np.ndarray:
        """The views of the next ``n`` trials of experiment ``b``."""
        s = self.specification
        missing = n - sum(map(len, self.left[b]))
        if missing > 0:
            count = -(-missing // s.block_size)
            first = self.next_block[b]
            last = min(first + count, s.blocks)
            self.next_block[b] = last
            keys = [(b, block) for block in range(first, last)]
            with contextlib.closing(outcomes(s, keys, self.jobs)) as played:
                found = sorted(played, key=lambda outcome: outcome.block)
            for outcome in found:
                self.doubts += [outcome.doubt] if outcome.doubt else []
                self.left[b].append(played_views(outcome.views, s, self.challenges))
        views = np.concatenate(self.left[b])
        self.left[b] = [views[n:]]
        self.steady[b].add(tuple(each) for each in views["answer"][:n])
        if self.all_raised:
            self.all_raised = all(isinstance(a, Raised) for a in views["answer"][:n].ravel())
        return views[:n]

    def transcript(self, view: np.void) -> list[str]:
        """The challenge and the answer of each round; a long view without its middle."""
        lines = [
            f"round {i}: {self.challenges.words[label]} answered {shown(answer)}"
            for i, (label, answer) in enumerate(zip(view["challenge"], view["answer"]), 1)
        ]
        if len(lines) <= 2 * TRANSCRIBED:
            return lines
        left_out = len(lines) - 2 * TRANSCRIBED
        return [
            *lines[:TRANSCRIBED],
            f"({count_of(left_out, 'more round')})",
            *lines[-TRANSCRIBED:],
        ]

    def require_answers(self) -> None:
        """Raise InvalidInput if every answer so far was an exception."""
        if self.all_raised:
            raise InvalidInput(
                f"every mechanism of {self.specification.name} raised an exception in every round: "
                "there are no answers to audit"
            )

    def require_fresh(self, pair: int) -> None:
        """Do nothing: a play has its own generators."""

    def reproducible(self, pair: int) -> bool:
        """Whether the seed replays the draws."""
        return not self.doubts

    def warnings(self, pair: int) -> Sequence[str]:
        """None, but that nothing was audited: a play has its own generators."""
        reason = self.unaudited(pair)
        return [reason] if reason else []

    def unaudited(self, pair: int) -> str:
        """Why nothing was audited: every view has the same answers in both experiments; or ""."""
        return unaudited(self.steady)
