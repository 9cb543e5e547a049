"""Generators that a pipeline seeds by a number of its own: their noise is known, or leaks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from simulator.auditing.pipelines.costs import answers_of
from simulator.auditing.pipelines.generators import DRAWS
from simulator.auditing.pipelines.report import PipelineFinding
from simulator.auditing.pipelines.visibility import visible_elements


def seeds_found(trial: Any) -> list[PipelineFinding]:
    """A seed that differs between the databases, which is certain, or one that is always the same.

    The second is certain where the output depends on data under that noise alone, and is left
    undecided elsewhere. Seeds that follow secret
    coins, or randomness that is not recorded, are neither.
    """
    first, second = trial.first.tape.seeded, trial.second.tape.seeded
    if not first or any(run.tape.seeded != first for _, run in trial.other_coins()):
        return []
    for one, other in zip(first, second):
        if one.seed != other.seed:
            text = f"the seed is {one.seed} on one database and {other.seed} on the other"
            return [_finding(True, text, one)]
    text = f"the seed is always {first[0].seed}: whoever reads the code knows the noise"
    if _bare(trial):
        text += ", and the answer is a function of the data"
        return [_finding(True, text, first[0])]
    return [_finding(False, text, first[0])]


def _bare(trial: Any) -> bool:
    """Whether the output depends on an answer that moved and has no other noise."""
    fixed = {event.number for event in trial.first.tape.events if event.fixed}
    answers = answers_of(trial.pairs)
    numbers = frozenset(each.one.number for each in answers)
    for answer in answers:
        bare = [e for e in answer.moved if {draw // DRAWS for draw in e.draws} <= fixed]
        if bare and visible_elements(replace(answer, moved=bare), numbers, trial.visible):
            return True
    return False


def _finding(certain: bool, text: str, seed: Any) -> PipelineFinding:
    return PipelineFinding(
        "argument", certain, text, call=seed.number, name="seed", where=seed.where
    )
