"""What a run shows of itself."""

from __future__ import annotations

from simulator.runner.measured import Measured

_QUANTILES = (0.5, 0.9, 0.99)
"""The quantiles of the losses in the table of a notebook."""


def played(run: Measured) -> dict[str, str]:
    """What was played, by name."""
    s = run.specification
    named = {
        "adversary": s.name, "family": s.family, "rounds": s.rounds,
        "trials": f"{s.trials} of experiment {' and '.join(map(str, sorted(run.sample)))}",
        "seed": s.seed, "filter": s.filter, "sampling": s.sampling,
    }  # fmt: skip
    return {name: str(value) for name, value in named.items() if value is not None}


def losses(run: Measured) -> dict[str, str]:
    """Quantiles of the losses of each experiment."""
    rows = {}
    for b, sample in sorted(run.sample.items()):
        name = f"loss in experiment {b}"
        if sample.unknown:
            rows[name] = "unknown"
        elif b in run.weights:
            rows[name] = "weighted: see tail and delta"
        elif (found := sample.finite_quantiles(_QUANTILES)).size:
            percents = ", ".join(f"{100 * share:g}%" for share in _QUANTILES)
            rows[name] = f"{', '.join(f'{q:.4g}' for q in found)} ({percents} quantiles)"
    return rows
