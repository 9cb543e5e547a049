"""The transcript of a view: the question, answer and privacy loss of each round."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

from simulator.adversaries.contract import Challenge
from simulator.data.databases import Database, count_changes
from simulator.engine.views.views import Replay, View
from simulator.mechanisms import Ask

FIRST, LAST = 12, 8
"""Rounds of a long play that are shown at its start and at its end."""
REFUSED = "refused"
_WIDEST, _QUERY = 56, 44
"""Most characters of a question, and of a query's name in it."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One round of a transcript.

    Attributes
    ----------
    round : from 1.
    question : the mechanism, its query and parameters; the query's values on both databases where
        they are numbers.
    answer : a number, or a short text; "refused" where a filter refused the query.
    loss : of the answer, ln Pr0/Pr1; NaN where it is not known.
    total : the losses so far.
    odds : of b = 1 against b = 0 after this round, from even ones: e^{-total}.
    """

    round: int
    question: str
    answer: float | str
    loss: float
    total: float
    odds: float


@dataclass(frozen=True)
class Transcript:
    """A view as text: its experiment and trial, the difference of the databases, and its rounds."""

    experiment: int
    trial: int
    pairs: str
    turns: tuple[Turn, ...]

    def __str__(self) -> str:
        title = f"Trial {self.trial} of experiment {self.experiment}; {self.pairs}"
        header = ("round", "asks", "answer", "loss", "so far", "odds of b = 1")
        rows = [header, *_rows(self.turns)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
        lines = [
            "  ".join(
                cell.ljust(width) if i == 1 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([title, *(f"  {line}" for line in lines)])


def transcript(view: View, replayed: Replay) -> Transcript:
    """The transcript of a view and its :func:`simulator.engine.views.views.replay`."""
    turns, total = [], 0.0
    for i, (challenge, answer, loss) in enumerate(
        zip(replayed.challenges, view.answers, replayed.round_losses)
    ):
        total += loss
        odds = math.exp(-total) if not total < -700.0 else math.inf
        turns.append(
            Turn(
                round=i + 1,
                question=question(challenge),
                answer=shown_answer(answer),
                loss=loss,
                total=total,
                odds=odds,
            )
        )
    return Transcript(view.experiment, view.trial, _pairs(replayed.challenges), tuple(turns))


def question(challenge: Challenge | Ask) -> str:
    """A challenge as text, such as ``Laplace(count('alice'), epsilon=0.1): 0 or 1``."""
    if isinstance(challenge, Ask):
        return f"asks again: {_short(repr(challenge.message))}"
    mechanism = challenge.mechanism
    query = getattr(mechanism, "query", None)
    values = [] if query is None else [query(database) for database in challenge[:2]]
    plain = values and all(isinstance(value, int | float) for value in values)
    about = f": {values[0]:g} or {values[1]:g}" if plain else ""
    return f"{described(mechanism)}{about}"


def described(mechanism: Any) -> str:
    """A mechanism's kind, its query's name and its parameters, in one short line."""
    try:
        named = {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}
    except TypeError:  # no dataclass
        return _short(repr(mechanism))
    parts = []
    for name, value in named.items():
        if name == "query":
            parts.append(_short(str(getattr(value, "name", value)), _QUERY))
        elif isinstance(value, int | float | str) and value != "":
            parts.append(f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}")
    return f"{type(mechanism).__name__}({', '.join(parts)})"


def shown_answer(answer: Any) -> float | str:
    """A number, or a short text; "refused" for NaN, the answer to a refused query."""
    if isinstance(answer, Real):  # numpy's numbers too
        return REFUSED if answer != answer else float(answer)
    return _short(repr(answer), 24)


def signed(loss: float) -> str:
    """A loss with its sign and four places; -0.0000 becomes +0.0000."""
    return f"{round(loss, 4) + 0.0:+.4f}"


def _pairs(challenges: Sequence[Any]) -> str:
    """The difference of the databases of the rounds, as text."""
    pairs = list(
        dict.fromkeys(challenge[:2] for challenge in challenges if not isinstance(challenge, Ask))
    )
    if not pairs:
        return "no databases"
    differences = list(dict.fromkeys(_difference(*pair) for pair in pairs))
    if len(differences) == 1:
        return differences[0]
    return f"{len(pairs)} pairs of databases; at first, {differences[0]}"


def _difference(database_0: Database, database_1: Database) -> str:
    """``database 1 has 1 × 'alice' more``: neighbours differ in one record or two."""
    changes = [
        f"{abs(n)} × {_short(repr(record), _QUERY)} {'more' if n > 0 else 'less'}"
        for record, n in count_changes(database_0, database_1).items()
    ]
    return f"database 1 has {' and '.join(changes)}" if changes else "the databases are equal"


def _rows(turns: Sequence[Turn]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each line; the middle of a long play is one line."""
    short = len(turns) <= FIRST + LAST + 1
    for i, turn in enumerate(turns):
        if not short and FIRST <= i < len(turns) - LAST:
            if i == FIRST:
                yield _between(turns[FIRST : len(turns) - LAST])
            continue
        unknown = math.isnan(turn.loss)
        yield (
            str(turn.round),
            turn.question,
            turn.answer if isinstance(turn.answer, str) else f"{turn.answer:.5g}",
            "unknown" if unknown else signed(turn.loss),
            "unknown" if math.isnan(turn.total) else signed(turn.total),
            "" if math.isnan(turn.total) else f"{turn.odds:.4g}",
        )


def _between(turns: Sequence[Turn]) -> tuple[str, ...]:
    totals = [turn.total for turn in turns]
    kinds = len({turn.question for turn in turns})
    about = "the same question" if kinds == 1 else f"{kinds} different questions"
    if refused := sum(turn.answer == REFUSED for turn in turns):
        about += f", {refused} of them refused"
    spread = f"so far between {signed(min(totals))} and {signed(max(totals))}"
    summary = about if any(map(math.isnan, totals)) else f"{about}, {spread}"
    return ("...", f"rounds {turns[0].round} to {turns[-1].round}: {summary}", "", "", "", "")


def _short(text: str, width: int = _WIDEST) -> str:
    """One line of at most ``width`` characters, without addresses of objects."""
    line = re.sub(r" at 0x[0-9a-f]+", "", " ".join(text.split()))
    return line if len(line) <= width else f"{line[: width - 3]}..."
