"""PrivacyGuard's analysis of membership inference.

Its ``FDPAnalysisNode`` is not tried: a play of 1,000 canaries takes more than a minute.
"""

from __future__ import annotations

import numpy as np

from simulator.trials.auditors.games import Scores
from simulator.trials.auditors.subjects import AuditorUnderTest

CONFIDENCE = 0.95
"""That of its Clopper-Pearson limits, which is fixed."""


def _by_thresholds(scores: Scores, level: float, delta: float, seed: int) -> float:
    import torch
    from privacy_guard.analysis.mia.mia_results import MIAResults

    inside, outside = map(torch.from_numpy, scores)
    with np.errstate(all="ignore"):
        return float(MIAResults(inside, outside).compute_acc_auc_ci_epsilon(delta)[2])


def auditors() -> list[AuditorUnderTest]:
    """Epsilon by Clopper-Pearson limits."""
    import privacy_guard.analysis.mia.mia_results  # noqa: F401

    return [
        AuditorUnderTest(
            name="MIAResults.compute_acc_auc_ci_epsilon",
            runs=("one run", "many runs"),
            bound=_by_thresholds,
            claims="eps_cp, epsilon calculated via Clopper-Pearson confidence interval",
            remark="the largest of the bounds at all thresholds, each with 95% limits",
            imports="import torch\nfrom privacy_guard.analysis.mia.mia_results import MIAResults",
            code="results = MIAResults(*map(torch.from_numpy, (inside * 1.0, outside * 1.0)))\n"
            "bound = results.compute_acc_auc_ci_epsilon({delta})[2]",
            share=0.25,
        ),
    ]
