"""The audit of this package itself."""

from __future__ import annotations

from simulator.trials.auditing import audit_answers
from simulator.trials.auditors.games import Scores
from simulator.trials.auditors.subjects import AuditorUnderTest


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
            imports="from simulator.trials import audit_answers",
            code='bound = audit_answers(inside, outside, claimed="pure:0", delta={delta}, '
            "confidence=1 - {level}, stop_early=False).epsilon",
        ),
    ]
