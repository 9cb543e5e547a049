"""DP-SGD on real patients: privacy losses of canaries, the certified curve, audits of weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.play import columns
from simulator import Result
from simulator import simulate as play
from simulator.analysis.plots import Band, DivergenceCurve, legend, paper_figure, plot_divergence
from simulator.analysis.plots.style import measured
from simulator.auditing import audit_answers
from simulator.theory import GaussianLaw, PoissonSubsampledLaw, compose_laws, parse_guarantee
from simulator.training.adversaries.canaries import (
    Row,
    Training,
    accuracy,
    logit,
    mislabelled,
    patient,
    train_with,
    tumours,
)

TITLE = "DP-SGD on real patients: losses of canaries against the certified curve"

SPECIFICATION: dict[str, Any] = {
    "sigma": 1.0,
    "rate": 0.1,
    "rounds": 40,
    "seed": 2016,
    "trials": {"mislabelled canary": 1200, "hardest patient": 1200, "median patient": 400},
    "confidence": 0.95,
    "largest": 3.0,
    "step": 0.1,
    "tolerance": 1e-4,
    "audited_deltas": [0.1, 0.05, 0.02, 0.01],
}

CANARIES: dict[str, Callable[[], Row]] = {
    "mislabelled canary": mislabelled,
    "hardest patient": lambda: patient(0.0),
    "median patient": lambda: patient(0.5),
}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Train with each canary and without; estimate delta(epsilon); audit the last weights."""
    sigma, rate, rounds = (specification[key] for key in ("sigma", "rate", "rounds"))
    epsilons = np.arange(0.0, specification["largest"] + 1e-9, specification["step"])
    family = parse_guarantee(f"subsampled-gaussian:{sigma},{rate}")
    law = PoissonSubsampledLaw(GaussianLaw(1.0 / sigma), rate)
    certified = compose_laws([(law, rounds)], specification["tolerance"])
    found: dict[str, Any] = {}
    for name, trials in specification["trials"].items():
        canary = CANARIES[name]()
        training = train_with(canary, sigma, rate, f"dp-sgd, {name}")  # the name enters the seeds
        result = play(
            training, family=family, rounds=rounds, trials=trials, seed=specification["seed"],
            keep_views=trials, progress=False,
        )  # fmt: skip
        found[name] = {
            str(b): columns(
                result.delta(float(e), b, specification["confidence"]) for e in epsilons
            )
            for b in (0, 1)
        } | of_last_weights(training, canary, result, specification)
    return {
        "epsilons": epsilons,
        "measured": found,
        "certified": {
            str(b): columns((composed.delta(float(e)) for e in epsilons), ("lower", "upper"))
            for b, composed in enumerate((certified, certified.reversed()))
        },
    }


def of_last_weights(
    training: Training, canary: Row, result: Result, specification: Mapping[str, Any]
) -> dict[str, Any]:
    """Accuracy of the models, and lower bounds on epsilon from the last weights alone.

    The attacker scores the canary by the model's logit and picks events by an audit.
    """
    models = [training.weights_after(view.answers) for view in result.views]
    half = len(models) // 2  # views come by experiment
    scores = np.array([logit(weights, canary) for weights in models])
    bounds = []
    for delta in specification["audited_deltas"]:
        audit = audit_answers(
            scores[:half], scores[half:], claimed=result.specification.family, delta=delta,
            confidence=specification["confidence"], bits=False, stop_early=False,
        )  # fmt: skip
        favours = 0 if audit.event is None else audit.event.favours
        bounds.append({"delta": delta, "epsilon": audit.epsilon, "direction": favours})
    shares = [accuracy(weights, tumours()) for weights in models]
    return {"accuracy": float(np.mean(shares)), "black_box": bounds}


def draw(data: Mapping[str, Any]) -> Figure:
    """One panel a direction, on one scale; the black box where its event points."""
    with paper_figure(2, height=3.4) as (figure, panels):
        for experiment, axes in enumerate(panels):
            bands = {
                name: Band(**found[str(experiment)]) for name, found in data["measured"].items()
            }
            certified = data["certified"][str(experiment)]["upper"]
            exact = DivergenceCurve(data["epsilons"], certified)
            plot_divergence(axes, data["epsilons"], bands, {"certified, exact": exact}, floor=3e-4)
            for index, (name, found) in enumerate(data["measured"].items()):
                points = [
                    (one["epsilon"], one["delta"])
                    for one in found["black_box"]
                    if one["direction"] == experiment and one["epsilon"] > 0.0
                ]
                if points:
                    look = measured(index)
                    look |= {"linestyle": "none", "markerfacecolor": look["color"], "zorder": 4}
                    label = f"{name}, last weights alone: at least"
                    axes.plot(*zip(*points), **look, markersize=4.5, label=label)
        panels[0].set_title("views without her from those with her")
        panels[1].set_title("views with her from those without her")
        game = data["specification"]
        figure.suptitle(
            rf"{game['rounds']} steps, $\sigma = {game['sigma']:g}$, "
            rf"$q = {game['rate']:g}$; shaded: pointwise {100 * game['confidence']:g}% intervals",
            fontsize="medium",
        )
        legend(figure, columns=2)
    return figure
