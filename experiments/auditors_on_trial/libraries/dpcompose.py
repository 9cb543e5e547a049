"""The audits of this package itself."""

from __future__ import annotations

import numpy as np

from experiments.auditors_on_trial.games import Scores
from experiments.auditors_on_trial.subjects import AuditorUnderTest
from simulator.auditing.audits import audit_answers, audit_one_run


def _audited(scores: Scores, level: float, delta: float, seed: int) -> float:
    return audit_answers(
        scores.inside,
        scores.outside,
        claimed="pure:0",
        delta=delta,
        confidence=1.0 - level,
        stop_early=False,
    ).epsilon


def _one_run(scores: Scores, level: float, delta: float, seed: int) -> float:
    included = np.repeat((True, False), (len(scores.inside), len(scores.outside)))
    order = np.random.default_rng(seed).permutation(len(included))  # of canaries with equal scores
    shown = np.concatenate(scores)[order]
    return audit_one_run(shown, included[order], delta=delta, confidence=1.0 - level).epsilon


def auditors() -> list[AuditorUnderTest]:
    """The audit of recorded answers, and that of one run."""
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
        AuditorUnderTest(
            name="audit_one_run",
            runs=("one run",),
            bound=_one_run,
            claims="a lower bound on epsilon with the stated confidence, from one run, however "
            "canaries interfere",
            remark="no bound from right guesses can show the joint leak: that one run in four "
            "reveals 118 coins is within its delta",
            imports="from simulator.auditing import audit_one_run",
            code="order = rng.permutation(len(S))\n"
            "bound = audit_one_run(y[order], S[order], delta={delta}, "
            "confidence=1 - {level}).epsilon",
            share=0.25,
        ),
    ]
