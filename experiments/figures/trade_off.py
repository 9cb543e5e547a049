"""Trade-off functions: errors of the best test on the view, against what guarantees allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import norm

from experiments.drawing.titles import game_with_bands
from experiments.play import label_of, played
from simulator.analysis.plots import Band, legend, paper_figure, plot_trade_off
from simulator.theory import BoundOnComposition, Composition, bound, parse_guarantee

TITLE = "trade-off functions of three adversaries, with simultaneous 95% bands"

SPECIFICATION: dict[str, Any] = {
    "family": "pure:0.1",
    "rounds": 100,
    "seed": 1933,
    "trials": {"fixed-worst-case": 100_000, "mechanism-switcher": 100_000, "patient-hunter": 4_000},
    "confidence": 0.95,
    "points": 101,
    "bounds": ["basic", "advanced", "kairouz-oh-viswanath-3.3"],
}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Empirical trade-off functions on a grid of type I errors, and those of the bounds."""
    errors = np.linspace(0.0, 1.0, specification["points"])
    measured = {}
    for name, result in played(specification):
        found = result.trade_off(specification["confidence"])
        measured[name] = {
            "value": np.interp(
                errors, np.r_[0.0, found.type_one, 1.0], np.r_[1.0, found.type_two, 0.0]
            ),
            "lower": found.lower(errors),
            "upper": found.upper(errors),
        }
    family, rounds = parse_guarantee(specification["family"]), specification["rounds"]
    composition = Composition.repeat(family, rounds)
    allowed = {
        name: allowed_by(bound(name).on(composition), errors) for name in specification["bounds"]
    }
    mu = family.pure_epsilon * rounds**0.5
    allowed["gaussian"] = norm.cdf(norm.isf(errors) - mu)
    return {"type_one": errors, "measured": measured, "allowed": allowed, "mu": mu}


def allowed_by(applied: BoundOnComposition, errors: np.ndarray) -> np.ndarray:
    """Least type II error under a whole curve delta(epsilon).

    The greatest of the functions of (epsilon, delta)-DP along the curve: Dong, Roth and Su 2022,
    Propositions 3 and 6.
    """
    epsilons = np.linspace(0.0, applied.epsilon(0.0).value, 401)
    deltas = applied.delta(epsilons).value
    first = 1.0 - deltas - np.exp(epsilons) * errors[:, None]
    second = np.exp(-epsilons) * (1.0 - deltas - errors[:, None])
    return np.maximum(np.maximum(first, second).max(axis=1), 0.0)


LABELS = {
    "basic": "basic",
    "advanced": "advanced (Theorem 3.20)",
    "kairouz-oh-viswanath-3.3": "exact for the family",
    "gaussian": r"Gaussian, $\mu = \sqrt{k}\,\varepsilon$",
}


def draw(data: Mapping[str, Any]) -> Figure:
    """The optimal tests' errors; nearer to the diagonal is more private."""
    errors = data["type_one"]
    allowed = {LABELS[name]: (errors, values) for name, values in data["allowed"].items()}
    tests = {label_of(name): (errors, Band(**found)) for name, found in data["measured"].items()}
    with paper_figure(height=4.15) as (figure, axes):
        plot_trade_off(axes, tests, allowed)
        figure.suptitle(game_with_bands(data["specification"], "simultaneous"), fontsize="medium")
        legend(figure, columns=2)
    return figure
