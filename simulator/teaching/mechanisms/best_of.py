"""Private selection: the best of several runs of a mechanism is released, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.mechanisms.base import ScalarMechanism
from simulator.mechanisms.post_processed import TableMechanism
from simulator.mechanisms.tilted import outcomes_of
from simulator.theory.events import promise, select
from simulator.theory.events.units import ONE_RECORD
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from simulator.theory.guarantees.run_counts import (
    FixedRuns,
    NegativeBinomialRuns,
    PoissonRuns,
    RunCount,
)

Vector = NDArray[np.float64]

_UP = 1.0 + 2.0**-34


@dataclass(frozen=True, slots=True)
class BestOf(TableMechanism):
    """Run a mechanism a number of times and release the run of the best score.

    Parameters
    ----------
    mechanism : with finitely many outcomes, such as a :class:`Table`, or the :class:`Cells` of a
        continuous answer.
    runs : the law of the number of runs, which stays secret: ``NegativeBinomialRuns.of_mean(10)``,
        ``PoissonRuns(10)``, ``FixedRuns(10)``.
    scores : one for each outcome; by default the outcomes are in ascending order of their scores.

    The answer is the outcome of the best run, as a float. Of several runs with the best score the
    first is released. Where there was no run, the answer is the number of outcomes.

    The law is exact: a run has the best score s with probability f(F(s)) - f(F(s-)), where F is the
    distribution function of one score and f the generating function of the number of runs.

    Source: Liu and Talwar 2019, "Private Selection from Private Candidates"; Papernot and
    Steinke 2022, "Hyperparameter Tuning with Renyi Differential Privacy".
    """

    mechanism: ScalarMechanism
    runs: RunCount
    scores: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.runs, RunCount):
            raise InvalidInput(f"runs must be a law such as FixedRuns(10), not {self.runs!r:.80}")
        if self.scores is not None:
            scores = tuple(map(float, self.scores))
            if not all(map(math.isfinite, scores)):
                raise InvalidInput(f"scores must be finite, not {self.scores!r:.80}")
            object.__setattr__(self, "scores", scores)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> Guarantee:
        """What :func:`best_of_guarantee` gives for the guarantee of one run."""
        return best_of_guarantee(self.mechanism.guarantee(relation), self.runs)

    def table(
        self, database_0: Database, database_1: Database, relation: Relation
    ) -> tuple[Vector, Vector]:
        """The probabilities of the outcome that is released, on each database."""
        pair = self.mechanism.pair(database_0, database_1, relation)
        try:
            answers, *laws = outcomes_of(pair)
        except NotApplicable:
            raise NotApplicable(
                f"{type(self.mechanism).__name__} has no table of outcomes to select from; "
                "cut it into Cells"
            ) from None
        scores = range(len(answers)) if self.scores is None else self.scores
        if len(scores) != len(answers):
            raise InvalidInput(
                f"the mechanism has {len(answers)} outcomes, and there are {len(scores)} scores"
            )
        first, second = (best_of_law(law, scores, self.runs) for law in laws)
        return first, second


def best_of_law(law: ArrayLike, scores: Sequence[float], runs: RunCount) -> Vector:
    """The law of the best run's outcome, from that of one run; no run is a last outcome.

    Shapes (outcomes,) each; the last outcome is there where the number of runs may be 0.
    """
    masses = np.asarray(law, dtype=float)
    _, places = np.unique(np.asarray(scores, dtype=float), return_inverse=True)
    tied = np.bincount(places, weights=masses)
    upto, beyond = np.cumsum(tied), np.cumsum(tied[::-1])[::-1]
    below, above = np.r_[0.0, upto[:-1]], np.r_[beyond[1:], 0.0]
    best = runs.between(below, tied, above)
    share = np.divide(masses, tied[places], out=np.zeros_like(masses), where=masses > 0.0)
    found = np.r_[best[places] * share, *([runs.none] if runs.none > 0.0 else [])]
    return np.asarray(found / math.fsum(found))


def best_of_guarantee(guarantee: Guarantee, runs: RunCount) -> Guarantee:
    """The guarantee of the best run, where one run has ``guarantee``.

    Pure for pure runs, and (epsilon, delta) for (epsilon, delta), by
    :mod:`simulator.theory.guarantees.run_counts`; otherwise a Renyi curve (Papernot and Steinke
    2022, Theorems 2 and 6). Raises NotApplicable where neither gives one.
    """
    pure = guarantee.pure_epsilon
    if math.isfinite(pure):
        return PureDP((pure + runs.growth(pure)) * _UP)
    if isinstance(guarantee, ApproxDP) and isinstance(runs, FixedRuns):  # all runs, composed
        delta = -math.expm1(runs.number * math.log1p(-guarantee.delta)) * _UP
        if delta < 1.0:
            return ApproxDP(runs.number * guarantee.epsilon * _UP, delta)
    elif isinstance(guarantee, ApproxDP):
        growth = runs.growth(guarantee.epsilon, guarantee.delta)
        delta = runs.mean * guarantee.delta * _UP
        if math.isfinite(growth) and delta < 1.0:
            return ApproxDP((guarantee.epsilon + growth) * _UP, delta)
    elif isinstance(runs, NegativeBinomialRuns | PoissonRuns) and runs.mean >= 1.0:
        shape = runs.shape if isinstance(runs, NegativeBinomialRuns) else math.inf
        (found,) = select(promise(guarantee), runs.mean, shape).resolved(ONE_RECORD)
        return found.guarantees[-1]
    elif isinstance(runs, FixedRuns) and runs.number == 1:
        return guarantee
    raise NotApplicable(f"no guarantee is stated here for the best of {runs} of {guarantee}")


__all__ = [
    "BestOf",
    "FixedRuns",
    "NegativeBinomialRuns",
    "PoissonRuns",
    "best_of_guarantee",
    "best_of_law",
]
