"""``make truths``: true answers about compositions and games, into results/truths/."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import TypeVar

from joblib import Parallel, delayed

from experiments.stages import RESULTS, write_texts
from simulator.auditing.conformance.events import KINDS
from simulator.auditing.truths import documents, questions
from simulator.runner.store.provenance import provenance

GAME_MECHANISMS = {
    "finite": "answers 0, 1, ... with probabilities `p0` in experiment 0 and `p1` in experiment 1",
    "exponential": "any mechanism whose loss lies in a range of width `parameter` (bounded range)",
}

DIGITS = 12
"""Significant digits of a stored end."""
Answered = TypeVar("Answered", questions.TrueComposition, questions.TrueGame)


def shown(items: Iterable[questions.TrueGame], of: str) -> Iterator[questions.TrueGame]:
    """The items; the names go to standard error as they come."""
    for item in items:
        print(f"answered    {of} {item.name}", file=sys.stderr)
        yield item


def outward(answer: questions.TrueAnswer) -> questions.TrueAnswer:
    """The answer with ends of twelve digits outside its own: more differ between machines.

    Ends that are one number are left as they are.
    """
    if answer.lower == answer.upper:
        return answer
    below, above = (Context(prec=DIGITS, rounding=way) for way in (ROUND_FLOOR, ROUND_CEILING))
    return replace(
        answer,
        lower=float(below.create_decimal_from_float(answer.lower)),
        upper=float(above.create_decimal_from_float(answer.upper)),
    )


def settled(item: Answered) -> Answered:
    """A composition or game with answers of so many digits."""
    return replace(item, answers=tuple(map(outward, item.answers)))


def main() -> None:
    """Answer every question, and write the documents and their schema."""
    cases = questions.composition_cases()
    jobs = (delayed(questions.answered)(case) for case in cases)
    compositions = map(settled, Parallel(n_jobs=-1, verbose=5)(jobs))
    games = map(settled, shown(questions.games(), "game"))
    made = provenance()
    texts = {
        documents.COMPOSITIONS: documents.document(compositions, KINDS, made),
        documents.GAMES: documents.document(games, KINDS | GAME_MECHANISMS, made),
        documents.SCHEMA: json.dumps(documents.SCHEMA_DOCUMENT, indent=1) + "\n",
    }
    for path in write_texts(texts, RESULTS / "truths"):
        print(f"written     {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
