"""Old names of functions, classes and modules: they work until 0.3, with a warning."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

NAMES = {
    "simulator.adversaries": "Challenge Rule",
    "simulator.analysis": "Check Covering Estimate Guarded RareEvent Steered Tilted",
    "simulator.data": (
        "ADD_REMOVE LogisticGradient REPLACE_ONE Relation clipped_mean clipped_sum counting_scores "
        "function_query histogram_query score_query"
    ),
    "simulator.engine.views": "Replay View replay",
    "simulator.errors": "Breach DpcomposeError InvalidInput NotApplicable Refusal",
    "simulator.mechanisms": (
        "AboveThreshold Ask BlackBox Cells DiscreteGaussian Exponential FiniteMechanism Free "
        "Geometric GradientStep Handle Interactive JustAFew LeakyRandomizedResponse LloydStep "
        "LocalSensitivityMedian Mechanism NameAndShame PoissonSubsampled PostProcessed Raised "
        "Recoded ReportNoisyMax SampleAndAggregate SampledWithoutReplacement ScalarMechanism "
        "Scalars SmoothSensitivityMedian Staircase Table TruncatedNoise TwoPartyCount"
    ),
    "simulator.runner": "ClusterLost Merged StoredPart WorkerLost merge_folders simulate_part",
    "simulator.theory": (
        "ApproxDP BoundOnComposition BoundedRange DiscreteGaussianDP DominatedDP Filter GaussianDP "
        "Guarantee NaturalFilter RenyiDP RenyiFilter RogersFilter ShuffledDP SubsampledDP "
        "SubsampledGaussianDP SumFilter WhitehouseFilter ZCDP ZCDPFilter bound parse_filter "
        "parse_guarantee"
    ),
    "simulator.trials": "AuditResult audit_answers audit_composition audit_views",
    "simulator.worst": "WorstCase worst_odometer",
}
"""Names that were in ``simulator`` in version 0.1, by their namespace now."""

_HOMES = {name: home for home, names in NAMES.items() for name in names.split()}


def moved_name(name: str) -> Any:
    """The value of a name of version 0.1, with a DeprecationWarning that has its new place.

    Raises AttributeError for any other name.
    """
    if name not in _HOMES:
        raise AttributeError(f"module 'simulator' has no attribute {name!r}")
    return _found(_HOMES[name], name, f"simulator.{name}", stacklevel=4)


def moved_module(old: str, new: str) -> Callable[[str], Any]:
    """A ``__getattr__`` for module ``old``: the public names of ``new``, with a warning."""

    def find(name: str) -> Any:
        module = importlib.import_module(new)
        if name == "__all__":
            return module.__all__
        if name not in module.__all__:
            raise AttributeError(f"module {old!r} has no attribute {name!r}")
        return _found(new, name, f"{old}.{name}", stacklevel=3)

    return find


def _found(home: str, name: str, old: str, stacklevel: int) -> Any:
    warnings.warn(
        f"{old} has moved to {home}.{name}; the old name goes in version 0.3",
        DeprecationWarning,
        stacklevel,
    )
    return getattr(importlib.import_module(home), name)
