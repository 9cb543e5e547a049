"""DP-Auditorium's testers that need no TensorFlow.

It is in no registry: a checkout of google/differential-privacy can be on the path, with its folder
``python/dp_auditorium``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.auditors_on_trial.games import Scores
from experiments.auditors_on_trial.inverting import largest_rejected
from experiments.auditors_on_trial.subjects import AuditorUnderTest

BINS, LOW, HIGH = 20, -6.0, 7.0
BANDWIDTH = 1.0


def _by_histogram(promise: Any) -> Any:
    from dp_auditorium.configs.property_tester_config import HistogramPropertyTesterConfig
    from dp_auditorium.testers.histogram_tester import HistogramTester

    return HistogramTester(HistogramPropertyTesterConfig(False, BINS, LOW, HIGH, promise))


def _by_discrepancy(promise: Any) -> Any:
    from dp_auditorium.configs.property_tester_config import Kernel, MMDPropertyTesterConfig
    from dp_auditorium.testers.mmd_tester import MMDPropertyTester

    kernel = Kernel.KERNEL_RBF
    return MMDPropertyTester(MMDPropertyTesterConfig(kernel, BANDWIDTH, promise))


def _auditor(name: str, make: Any, claims: str, imports: str, code: str) -> AuditorUnderTest:
    def bound(scores: Scores, level: float, delta: float, seed: int) -> float:
        from dp_auditorium.configs.privacy_property import ApproximateDp

        def rejects(epsilon: float) -> bool:
            tester = make(ApproximateDp(epsilon, delta))
            found = tester.estimate_lower_bound(np.array(scores.inside), scores.outside, level)
            return bool(tester.reject_property(found))

        return largest_rejected(rejects)

    return AuditorUnderTest(
        name=name,
        runs=("many runs",),
        bound=bound,
        claims=claims + "; the bound is the largest of 0, 0.1, ... up to which all are rejected",
        imports="from dp_auditorium.configs.privacy_property import ApproximateDp\n" + imports,
        code=code + "found = tester.estimate_lower_bound(inside * 1.0, outside * 1.0, {level})\n"
        "bound = 1e-4 if tester.reject_property(found) else 0.0",
    )


def auditors() -> list[AuditorUnderTest]:
    """Two testers of approximate DP; the other two import TensorFlow."""
    import dp_auditorium.testers.histogram_tester
    import dp_auditorium.testers.mmd_tester  # noqa: F401

    configs = "from dp_auditorium.configs.property_tester_config import "
    return [
        _auditor(
            "HistogramTester", _by_histogram,
            "whether a lower bound on delta at an epsilon exceeds that of the promise",
            configs + "HistogramPropertyTesterConfig\n"
            "from dp_auditorium.testers.histogram_tester import HistogramTester",
            "config = HistogramPropertyTesterConfig(\n"
            f"    False, {BINS}, {LOW}, {HIGH}, ApproximateDp(0.0, {{delta}}))\n"
            "tester = HistogramTester(config)\n",
        ),
        _auditor(
            "MMDPropertyTester", _by_discrepancy,
            "whether a lower bound on delta at an epsilon, by the mean discrepancy, exceeds that "
            "of the promise",
            configs + "Kernel, MMDPropertyTesterConfig\n"
            "from dp_auditorium.testers.mmd_tester import MMDPropertyTester",
            "config = MMDPropertyTesterConfig(\n"
            f"    Kernel.KERNEL_RBF, {BANDWIDTH}, ApproximateDp(0.0, {{delta}}))\n"
            "tester = MMDPropertyTester(config)\n",
        ),
    ]  # fmt: skip
