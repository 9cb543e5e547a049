"""Estimates for one experiment, read from a sample of the other as ``Result`` allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator import simulate
from simulator.analysis import Tilted
from simulator.analysis.rare import RareEvent
from simulator.theory.filters.interface import Filter
from simulator.theory.guarantees.interface import Guarantee

MEASURES = ("plain", "tilted", "steered")


def estimate_exchanged(
    adversary: Callable[..., Any],
    family: Guarantee,
    rounds: int,
    trials: int,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    experiment: int = 0,
    seed: int = 0,
    filter: Filter | None = None,
    confidence: float = 0.95,
    jobs: int | None = None,
    **_rest: Any,
) -> RareEvent:
    """Play the other experiment alone, by a measure that ``seed`` chooses, and read this one off.

    Arguments, answer and errors are those of ``estimate_rare``.
    """
    measure, other = MEASURES[seed % len(MEASURES)], 1 - experiment
    sampling = None
    if measure != "plain":
        sampling = Tilted.pilot(
            adversary, family, rounds, epsilon=epsilon, delta=delta, experiment=other,
            steered=measure == "steered", seed=seed, filter=filter,
        )  # fmt: skip
    result = simulate(
        adversary, family=family, rounds=rounds, trials=trials, seed=seed, sampling=sampling,
        experiments=[other], filter=filter, jobs=jobs, progress=False,
    )  # fmt: skip
    at_delta = None if delta is None else result.epsilon(delta, experiment, confidence)
    point = epsilon if at_delta is None else at_delta.value
    assert point is not None
    return RareEvent(
        epsilon=point,
        tail=result.tail(point, experiment, confidence),
        delta=result.delta(point, experiment, confidence),
        at_delta=at_delta,
        method=f"sample of the other experiment, {measure}",
        theta=None,
        trials=trials,
        seconds=0.0,
        pilot_seconds=0.0,
    )
