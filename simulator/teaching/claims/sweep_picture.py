"""A picture of a sweep: the measured and the claimed value along a knob of a claim."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.sweeps import plot_sweep
from simulator.teaching.claims.model import Claim
from simulator.teaching.claims.sweeps import Stretch


def sweep_picture(claim: Claim, knob: str, stretches: Sequence[Stretch]) -> Figure:
    """Draw the stretches that :func:`simulator.teaching.claims.sweep` returned.

    A check that compares no two numbers, as one that lists cases, shows its verdicts alone.
    """
    tried = [each for stretch in stretches for each in stretch.tried]
    with paper_figure(width=4.6) as (figure, axes):
        plot_sweep(
            axes,
            [value for value, _ in tried],
            [_number(finding.attained) for _, finding in tried],
            [_number(finding.claimed) for _, finding in tried],
            [(s.first, s.last, str(s.finding.verdict)) for s in stretches],
            knob=knob,
        )
        figure.suptitle(claim.id, fontsize="medium")
        legend(figure)
    return figure


def _number(value: float | None) -> float:
    return math.nan if value is None else value
