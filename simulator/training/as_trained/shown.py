"""What a one-run audit of a training shows: at best, and in a play with the best scores.

Canaries whose gradients are orthogonal do not interfere: each has its own coordinate of the noisy
sums, and the best score is the log-likelihood ratio of what is seen there. So a play draws one
number for each canary and step, and no training runs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from simulator.auditing.audits.one_run import MOST_CANARIES, OneRunAudit, audit_one_run
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.seeds import Stream, generator, named_seed
from simulator.foundations.validation import whole
from simulator.training.as_trained.described import TrainingRun
from simulator.training.as_trained.rows import ALLOCATED, FIXED, POISSON

Floats = NDArray[np.float64]
Scores = Callable[[TrainingRun, NDArray[np.bool_], np.random.Generator], Floats]

MOST_DRAWS = 300_000_000
"""Draws of a play, some ten seconds."""
_AT_ONCE = 1 << 20


def shown_at_best(canaries: int, delta: float, confidence: float = 0.95) -> OneRunAudit:
    """What an audit shows if every guess is right: no training of any noise shows more."""
    coins = np.arange(_number(canaries)) >= canaries // 2
    return audit_one_run(np.arange(canaries), coins, delta=delta, confidence=confidence)


def shown_by_play(
    run: TrainingRun, loader: str, canaries: int, *, seed: int = 0, confidence: float = 0.95
) -> OneRunAudit:
    """What an audit shows in one play of a training with the canaries' best scores.

    Raises NotApplicable for a loader without such scores, and for more than MOST_DRAWS draws.

    >>> from simulator.training.as_trained.described import TrainingRun
    >>> from simulator.training.as_trained.shown import shown_by_play
    >>> run = TrainingRun(noise=1.0, records=1000, batch=100, steps=100, delta=1e-5)
    >>> shown_by_play(run, "fixed batches", canaries=100).canaries
    100
    """
    rng = generator(seed, named_seed(0, loader, _number(canaries)), Stream.MECHANISM_1, 0)
    included = rng.random(canaries) < 0.5
    scores = best_scores(run, loader, included, rng)
    return audit_one_run(scores, included, delta=run.delta, confidence=confidence)


def best_scores(
    run: TrainingRun, loader: str, included: NDArray[np.bool_], rng: np.random.Generator
) -> Floats:
    """The log-likelihood ratios of the canaries' coins in one play, shape as ``included``.

    Raises NotApplicable as :func:`shown_by_play`.
    """
    if loader not in _SCORES:
        raise NotApplicable(f"no best score of a canary is known for {loader}")
    if len(included) * run.steps > MOST_DRAWS:
        raise NotApplicable(f"{len(included)} canaries in {run.steps} steps are too many draws")
    return _SCORES[loader](run, included, rng)


def _number(canaries: int) -> int:
    if not 2 <= whole("canaries", canaries, 1) <= MOST_CANARIES:
        raise InvalidInput(
            f"canaries must be in [2, {MOST_CANARIES}], not {canaries}", argument="canaries"
        )
    return canaries


def _of_noise(run: TrainingRun, included: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    """Of sums over the steps of the canary, one for each epoch."""
    mu = run.begun_epochs**0.5 / run.noise
    return mu * (mu * included + rng.normal(size=len(included))) - mu**2 / 2.0


def _poisson(run: TrainingRun, included: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    found = np.zeros(len(included))
    for steps in _pieces(run.steps, len(included)):
        shape = (steps, len(included))
        seen = rng.normal(scale=run.noise, size=shape)
        seen += included & (rng.random(shape) < run.rate)
        found += np.log1p(run.rate * np.expm1(_loss(seen, run.noise))).sum(axis=0)
    return found


def _allocated(run: TrainingRun, included: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    """The last epoch may end before the canary's step."""
    found = np.zeros(len(included))
    for epoch in range(run.begun_epochs):
        first = epoch * run.per_epoch
        last = min(first + run.per_epoch, run.steps)
        place = rng.integers(run.per_epoch, size=len(included))
        ratio = np.full(len(included), 1.0 - (last - first) / run.per_epoch)
        at = 0
        for steps in _pieces(last - first, len(included)):
            seen = rng.normal(scale=run.noise, size=(steps, len(included)))
            seen += included & (np.arange(at, at + steps)[:, None] == place)
            ratio += np.exp(_loss(seen, run.noise)).sum(axis=0) / run.per_epoch
            at += steps
        found += np.log(ratio)
    return found


def _loss(seen: Floats, sigma: float) -> Floats:
    return (seen - 0.5) / sigma**2


def _pieces(steps: int, canaries: int) -> list[int]:
    """The steps in pieces of few draws."""
    most = max(1, _AT_ONCE // canaries)
    return [min(most, steps - begun) for begun in range(0, steps, most)]


_SCORES: dict[str, Scores] = {POISSON: _poisson, ALLOCATED: _allocated, FIXED: _of_noise}
