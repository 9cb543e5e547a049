"""A run as text, and as a table for a notebook."""

from __future__ import annotations

from html import escape

from simulator.runner.measured import Measured

_QUANTILES = (0.5, 0.9, 0.99)
"""The quantiles of the losses in the table of a notebook."""


def facts(run: Measured) -> dict[str, str]:
    """What was played, by name."""
    s = run.specification
    played = {
        "adversary": s.name, "family": s.family, "rounds": s.rounds,
        "trials": f"{s.trials} of experiment {' and '.join(map(str, sorted(run.sample)))}",
        "seed": s.seed, "filter": s.filter, "sampling": s.sampling,
    }  # fmt: skip
    return {name: str(value) for name, value in played.items() if value is not None}


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


def as_table(run: Measured) -> str:
    """What was played, and quantiles of the losses, as HTML."""
    cells = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
        for name, value in (facts(run) | losses(run)).items()
    )
    return f"<table><tbody>{cells}</tbody></table>"
