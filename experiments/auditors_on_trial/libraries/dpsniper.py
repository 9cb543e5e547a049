"""DP-Sniper: a classifier chooses an event, and other scores bound epsilon by it.

It is in no registry: a checkout of its public repository can be on the path.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.auditors_on_trial.games import Scores
from experiments.auditors_on_trial.subjects import AuditorUnderTest

TRAIN, THRESHOLD, CHECK = 250, 250, 500
"""Scores that train the classifier, set its threshold, and bound epsilon: by default 10.7 million
each, and 200 million for the last bound."""

RAREST = 0.1
"""The least probability of an event, by default 0.01, which 500 scores cannot bound."""


def _mechanism(base: type, scores: Scores) -> Any:
    class Replayed(base):
        """The scores in order, each once."""

        def __init__(self) -> None:
            self.left = {1: list(scores.inside), 0: list(scores.outside)}

        def m(self, a: Sequence[int], n_samples: int = 1) -> np.ndarray:
            rest = self.left[int(a[0])]
            taken, self.left[int(a[0])] = rest[:n_samples], rest[n_samples:]
            return np.array(taken, dtype=float)

    return Replayed()


def _bound(scores: Scores, level: float, delta: float, seed: int) -> float:
    import torch
    from dpsniper.attack.dpsniper import DPSniper
    from dpsniper.classifiers.classifier_factory import LogisticRegressionFactory
    from dpsniper.classifiers.torch_optimizer_factory import SGDOptimizerFactory
    from dpsniper.mechanisms.abstract import Mechanism
    from dpsniper.probability.estimators import EpsEstimator, PrEstimator
    from dpsniper.search.ddconfig import DDConfig
    from dpsniper.utils.torch import torch_initialize

    torch_initialize()
    torch.manual_seed(seed)
    config = DDConfig(
        c=RAREST, n_train=TRAIN, n=THRESHOLD, n_check=CHECK, n_processes=1, confidence=1.0 - level
    )
    mechanism = _mechanism(Mechanism, scores)
    factory = LogisticRegressionFactory(in_dimensions=1, optimizer_factory=SGDOptimizerFactory())
    one, other = np.array([1]), np.array([0])
    attack = DPSniper(mechanism, factory, config).best_attack(one, other)
    estimator = EpsEstimator(PrEstimator(mechanism, CHECK, config))
    return float(max(0.0, estimator.compute_eps_estimate(one, other, attack)[1]))


def auditors() -> list[AuditorUnderTest]:
    """The bound of one attack by logistic regression."""
    import dpsniper.attack.dpsniper  # noqa: F401

    return [
        AuditorUnderTest(
            name="DPSniper.best_attack, EpsEstimator",
            runs=("many runs",),
            bound=_bound,
            claims="a lower confidence bound for a pure epsilon by Clopper and Pearson's limits",
            remark=f"here {TRAIN}, {THRESHOLD} and {CHECK} scores train, set the threshold and "
            f"bound, and the rarest event has probability {RAREST:g}; the defaults are ten million "
            "and more, and 0.01",
            pure=True,
            share=0.5,
        )
    ]
