"""The audit of this package itself."""

from __future__ import annotations

from experiments.auditors_on_trial.games import Scores
from experiments.auditors_on_trial.subjects import AuditorUnderTest
from simulator.auditing.audits import audit_answers


def _audited(scores: Scores, level: float, delta: float, seed: int) -> float:
    return audit_answers(
        scores.inside,
        scores.outside,
        claimed="pure:0",
        delta=delta,
        confidence=1.0 - level,
        stop_early=False,
    ).epsilon


def auditors() -> list[AuditorUnderTest]:
    """The audit of recorded answers."""
    return [
        AuditorUnderTest(
            name="audit_answers",
            runs=("many runs",),
            bound=_audited,
            claims="a lower bound on epsilon with the stated confidence, for independent draws",
            imports="from simulator.auditing import audit_answers",
            code='bound = audit_answers(inside, outside, claimed="pure:0", delta={delta}, '
            "confidence=1 - {level}, stop_early=False).epsilon",
        ),
    ]
