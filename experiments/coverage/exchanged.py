"""Estimates for one experiment, read from a sample of the other as ``Result`` allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator import simulate
from simulator.analysis import Setting
from simulator.analysis.rare import RareEvent
from simulator.analysis.rare.choosing import TABLE
from simulator.analysis.rare.drawing import FromMeasure
from simulator.analysis.rare.question import Question
from simulator.analysis.rare.rehearsal import Rehearsals
from simulator.engine.sampling import Sampling
from simulator.theory.guarantees.interface import Guarantee

MEASURES = ("plain", "tilted", "steered")
PILOT = 1_000_000
"""The rounds of the pilot, at most."""


def estimate_exchanged(
    adversary: Callable[..., Any],
    family: Guarantee,
    rounds: int,
    trials: int,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    experiment: int = 0,
    confidence: float = 0.95,
    seed: int = 0,
    setting: Setting,
    **_rest: Any,
) -> RareEvent:
    """Play the other experiment alone, by a measure that ``seed`` chooses, and read this one off.

    Arguments, answer and errors are those of ``estimate_rare``.
    """
    measure, other = MEASURES[seed % len(MEASURES)], 1 - experiment
    sampling: Sampling | None = None
    if measure != "plain":
        question = Question.of(
            adversary, family, rounds, 1, epsilon=epsilon, delta=delta, experiment=other, seed=seed,
            setting=setting,
        )  # fmt: skip
        way = TABLE[measure](question, Rehearsals(question.specification, other, PILOT))
        assert isinstance(way, FromMeasure)
        sampling = way.sampling
    result = simulate(
        adversary, family=family, rounds=rounds, trials=trials, seed=seed, sampling=sampling,
        experiments=[other], filter=setting.filter, jobs=setting.jobs, progress=False,
    )  # fmt: skip
    at_delta = None if delta is None else result.epsilon(delta, experiment, confidence)
    point = epsilon
    if at_delta is not None:
        point = at_delta.lower if at_delta.no_value else at_delta.value
    assert point is not None
    return RareEvent(
        epsilon=point,
        tail=result.tail(point, experiment, confidence),
        delta=result.delta(point, experiment, confidence),
        at_delta=at_delta,
        method=f"sample of the other experiment, {measure}",
        measure=sampling,
        trials=trials,
        seconds=0.0,
        pilot_seconds=0.0,
    )
