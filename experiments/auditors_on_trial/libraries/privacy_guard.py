"""PrivacyGuard's analysis of membership inference."""

from __future__ import annotations

import numpy as np

from experiments.auditors_on_trial.games import Scores
from experiments.auditors_on_trial.subjects import AuditorUnderTest

CONFIDENCE = 0.95
"""That of its Clopper-Pearson limits, which is fixed."""


def _by_thresholds(scores: Scores, level: float, delta: float, seed: int) -> float:
    import torch
    from privacy_guard.analysis.mia.mia_results import MIAResults

    inside, outside = map(torch.from_numpy, scores)
    with np.errstate(all="ignore"):
        return float(MIAResults(inside, outside).compute_acc_auc_ci_epsilon(delta)[2])


CANARIES = 100
"""Of a play of FDPAnalysisNode: with 1,000 it takes more than a minute."""


def _by_guesses(scores: Scores, level: float, delta: float, seed: int) -> float:
    from privacy_guard.analysis.mia.fdp_analysis_node import FDPAnalysisNode

    half = CANARIES // 2
    inside, outside = (np.asarray(each)[:half] for each in scores)
    cut = np.mean([inside, outside])
    right = int(np.sum(inside > cut) + np.sum(outside <= cut))
    node = FDPAnalysisNode(m=CANARIES, c=right, c_cap=CANARIES, threshold=level, delta=delta)
    return float(node.run_analysis().eps)


def auditors() -> list[AuditorUnderTest]:
    """Epsilon by Clopper-Pearson limits."""
    import privacy_guard.analysis.mia.mia_results  # noqa: F401

    half = CANARIES // 2

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
        AuditorUnderTest(
            name=f"FDPAnalysisNode, {CANARIES} canaries",
            runs=("one run",),
            bound=_by_guesses,
            claims="empirical epsilon by f-DP in one run (arXiv 2410.22235), probability "
            "threshold for auditing",
            remark="it rejects Gaussian trade-off functions, a bound for Gaussian mechanisms "
            "alone, which its documentation does not say; and it gives the epsilon of the last "
            "one tried, which is not rejected",
            takes=lambda game: not game.dependent and not game.name.startswith("Laplace"),
            imports="from privacy_guard.analysis.mia.fdp_analysis_node import FDPAnalysisNode",
            code=f"a, b = inside[:{half}], outside[:{half}]\ncut = np.mean([a, b])\n"
            "right = int(np.sum(a > cut) + np.sum(b <= cut))\n"
            f"node = FDPAnalysisNode(m={CANARIES}, c=right, c_cap={CANARIES}, threshold={{level}}, "
            "delta={delta})\nbound = node.run_analysis().eps",
            share=0.05,
            shown=5,
        ),
    ]
