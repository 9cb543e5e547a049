"""Generators that a pipeline seeds by a number of its own: their noise is known, or leaks."""

from __future__ import annotations

from typing import Any

from simulator.auditing.pipelines.report import PipelineFinding


def seeds_found(trial: Any) -> list[PipelineFinding]:
    """A seed that differs between the databases, which is certain, or one that is always the same.

    The second may be there for a test alone, so it is left undecided. Seeds that follow secret
    coins, or randomness that is not recorded, are neither.
    """
    first, second = trial.first.tape.seeded, trial.second.tape.seeded
    if not first or any(run.tape.seeded != first for run in trial.other_coins()):
        return []
    for one, other in zip(first, second):
        if one.seed != other.seed:
            text = f"the seed is {one.seed} on one database and {other.seed} on the other"
            return [_finding(True, text, one)]
    text = f"the seed is always {first[0].seed}: whoever reads the code knows the noise"
    return [_finding(False, text, first[0])]


def _finding(certain: bool, text: str, seed: Any) -> PipelineFinding:
    return PipelineFinding(
        "argument", certain, text, call=seed.number, name="seed", where=seed.where
    )
