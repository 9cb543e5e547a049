"""Privacy amplification by sampling: epsilon against its rate, the theorems beside exact laws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter
from numpy.typing import NDArray
from scipy.optimize import brentq

from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.names import label
from simulator.analysis.plots.style import measured, promises, spaced_marks
from simulator.theory import (
    Composition,
    GaussianDP,
    GaussianLaw,
    LaplaceLaw,
    PoissonSubsampledLaw,
    PrivacyLossLaw,
    SubsampledDP,
    bound,
    compose_laws,
    randomized_response,
)

TITLE = "epsilon against the rate of a sample: amplification and the exact laws"

SPECIFICATION: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-5,
    "smallest": 1e-4,
    "points": 25,
    "rounds": [1, 100],
    "tolerance": 1e-4,
}

BOUNDS = ("amplified-by-sampling", "dominating-both-directions")
RESPONSE = "randomized response"
Floats = NDArray[np.float64]


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Evaluate the bounds, and the laws in their worse direction, at every rate.

    The Gaussian is (epsilon, delta)-DP without sampling: both theorems apply with the same epsilon.
    """
    epsilon, delta = specification["epsilon"], specification["delta"]
    rates = np.geomspace(specification["smallest"], 1.0, specification["points"])
    mu = brentq(lambda m: GaussianDP(m).hockey_stick(epsilon) - delta, 1e-3, 10.0)
    laws = {
        RESPONSE: randomized_response(epsilon),
        "Laplace": LaplaceLaw(epsilon),
        "Gaussian": GaussianLaw(float(mu)),
    }

    def promise(name: str, rate: float, rounds: int) -> float:
        composition = Composition.repeat(SubsampledDP(epsilon, 0.0, rate), rounds)
        return bound(name).on(composition).epsilon(delta).upper

    def truth(law: PrivacyLossLaw, rate: float, rounds: int) -> float:
        sampled = PoissonSubsampledLaw(law, rate)
        composed = compose_laws([(sampled, rounds)], specification["tolerance"])
        return max(one.epsilon(delta).upper for one in (composed, composed.reversed()))

    panels = []
    for rounds in specification["rounds"]:
        amplified = [rounds * SubsampledDP(epsilon, 0.0, float(q)).pure_epsilon for q in rates]
        bounds = {name: [promise(name, float(q), rounds) for q in rates] for name in BOUNDS}
        exact = {name: [truth(law, float(q), rounds) for q in rates] for name, law in laws.items()}
        panels.append({"rounds": rounds, "amplified": amplified, "bounds": bounds, "exact": exact})
    return {"rates": rates, "delta": delta, "mu": mu, "panels": panels}


def draw(data: Mapping[str, Any]) -> Figure:
    """Left epsilon of one round, right that of many over the exact one of randomized response."""
    one, many = data["panels"]
    rates, power = np.array(data["rates"]), round(float(np.log10(data["delta"])))
    with paper_figure(2, width=7.2, height=3.4) as (figure, (left, right)):
        _draw_panel(left, rates, one | {"bounds": {}}, np.ones(rates.size))
        left.set_ylabel(rf"$\varepsilon$ of a round at $\delta = 10^{{{power}}}$")
        _draw_panel(right, rates, many, np.array(many["exact"][RESPONSE]))
        right.yaxis.set_major_locator(FixedLocator([0.2, 0.5, 1.0, 2.0, 5.0]))
        right.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        right.yaxis.set_minor_locator(NullLocator())
        epsilon = data["specification"]["epsilon"]
        left.set_title(rf"one round of $\varepsilon_0 = {epsilon:g}$ on a sample")
        right.set_title(rf"{many['rounds']} rounds of $\varepsilon_0 = {epsilon:g}$ on samples")
        right.set_ylabel(
            rf"$\varepsilon$ of {many['rounds']} rounds over that of {RESPONSE}", fontsize=8
        )
        legend(figure, columns=3)
    return figure


def _draw_panel(axes: Axes, rates: Floats, panel: Mapping[str, Any], unit: Floats) -> None:
    """Draw the curves of a panel over ``unit``, without zeros."""
    formula = r"$k\,\ln(1 + q(e^{\varepsilon}-1))$"
    styles = promises((formula, *BOUNDS))
    axes.plot(rates, np.array(panel["amplified"]) / unit, label=formula, **styles[formula])
    for name, values in panel["bounds"].items():
        axes.plot(rates, np.array(values) / unit, label=label(name), **styles[name])
    for index, (name, values) in enumerate(panel["exact"].items()):
        marks = spaced_marks(rates, index, logarithmic=True)
        shown = np.where(np.array(values) > 0.0, values, np.nan) / unit
        axes.plot(rates, shown, label=f"exact, {name}", markevery=marks, **measured(index))
    axes.set(xscale="log", yscale="log", xlim=(rates[0], rates[-1]))
    axes.set_xlabel(r"rate $q$ of the sample")
