"""Figures fit for a paper, from plain data.

What was measured is drawn in colour, with a marker of its own and a band for its uncertainty; what
a theorem promises is drawn in black, each with dashes of its own. So both read in grey, too.

    with paper_figure() as (figure, axes):
        plot_tails(axes, thresholds, {"press when ahead": band}, {"basic": (epsilons, deltas)})
        legend(figure)
        save(figure, "results/tails")
"""

from simulator.plots.losses import plot_drift, plot_tails
from simulator.plots.rounds import plot_epsilon_against_rounds
from simulator.plots.style import Band, BandLike, legend, paper_figure, save
from simulator.plots.trade_off import plot_trade_off

__all__ = [
    "Band",
    "BandLike",
    "legend",
    "paper_figure",
    "plot_drift",
    "plot_epsilon_against_rounds",
    "plot_tails",
    "plot_trade_off",
    "save",
]
