"""Figures fit for a paper, from plain data.

Measured series have a colour, a marker and a band; bounds of theorems are dark with different
dashes. Both can be distinguished in grey, too.

    with paper_figure() as (figure, axes):
        plot_tails(axes, thresholds, {"press when ahead": band}, {"Azuma": TailCurve(t, p)})
        legend(figure)
        save(figure, "results/tails")
"""

from simulator.analysis.plots.bounds import plot_bounds
from simulator.analysis.plots.drift import plot_drift
from simulator.analysis.plots.losses import DivergenceCurve, TailCurve, plot_divergence, plot_tails
from simulator.analysis.plots.named import plot_named
from simulator.analysis.plots.rare import plot_rare
from simulator.analysis.plots.rounds import plot_epsilon_against_rounds
from simulator.analysis.plots.style import Band, BandLike, legend, paper_figure, save
from simulator.analysis.plots.trade_off import plot_trade_off

__all__ = [
    "Band",
    "BandLike",
    "DivergenceCurve",
    "TailCurve",
    "legend",
    "paper_figure",
    "plot_bounds",
    "plot_divergence",
    "plot_drift",
    "plot_epsilon_against_rounds",
    "plot_named",
    "plot_rare",
    "plot_tails",
    "plot_trade_off",
    "save",
]
