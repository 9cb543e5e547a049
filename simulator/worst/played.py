"""The simulation of a policy, and its comparison with the certified bracket."""

from __future__ import annotations

from simulator.analysis.estimation import Estimate
from simulator.analysis.rare import Setting, estimate_rare
from simulator.theory.bracket import Bracket
from simulator.worst.policy import Policy


def played(
    policy: Policy, trials: int, *, seed: int = 0, jobs: int | None = None, confidence: float = 0.95
) -> Estimate:
    """Estimate the delta(epsilon) of a policy by simulation.

    The parameters and errors are those of ``estimate_rare``.
    """
    return estimate_rare(
        policy.adversary, policy.family, policy.rounds, trials, epsilon=policy.epsilon,
        experiment=policy.experiment, confidence=confidence, seed=seed,
        setting=Setting(relation=policy.relation, jobs=jobs),
    ).delta  # fmt: skip


def agrees(estimate: Estimate, bracket: Bracket) -> bool:
    """Whether the interval of an estimate meets a certified bracket."""
    return estimate.lower <= bracket.upper and bracket.lower <= estimate.upper
