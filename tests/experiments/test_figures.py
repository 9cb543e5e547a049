"""Every figure plays, computes and draws; and its committed data agree with another witness."""

import json
import math

import numpy as np
import pytest
from matplotlib.text import Text
from scipy.integrate import quad
from scipy.stats import binom, norm

from experiments import stages
from experiments.figures import (
    epsilon_by_rounds,
    loss_along_rounds,
    shuffling,
    subsampling,
    tails,
    trade_off,
)
from experiments.studies import curve
from simulator import PureDP
from simulator.analysis.plots import paper_figure
from simulator.analysis.plots.named import plot_named
from simulator.studies import Study
from simulator.theory import (
    Composition,
    GaussianLaw,
    PoissonSubsampledLaw,
    bound,
    compose_laws,
)

# Figures that take long to simulate whole have an entry here, or a test of their own.
SMALLER = {
    "one_trial": {"rounds": 5},
    "odometers": {"rounds": 32, "places": 6, "ends": [16, 32]},
    "tails": {"rounds": 10, "trials": {"fixed-worst-case": 500}},
    "divergence": {"rounds": 10, "trials": {"fixed-worst-case": 500}},
    "loss_along_rounds": {
        "rounds": 10,
        "trials": {"budget-splitter": 300},
        "followed": "budget-splitter",
        "keep_views": 2,
    },
    "trade_off": {"rounds": 10, "trials": {"fixed-worst-case": 500}},
    "epsilon_by_rounds": {"largest": 50, "points": 4},
    "delta_over_decades": {"rounds": 20, "points": 4},
    "dp_sgd": {
        "rounds": 4,
        "trials": {"mislabelled canary": 130, "median patient": 130},
        "step": 1.0,
        "audited_deltas": [0.01],
    },
    "per_round_ladder": {"rounds": 50},
    "posterior_odds": {"rounds": 5, "plays": 3},
    "shuffled_loaders": {
        "batches": 20,
        "epochs": 2,
        "coordinates": 100,
        "steps": 2,
        "trials": 60,
        "sigmas": [1.0],
    },
    "private_kmeans": {"epsilons": [20.0], "plays": 3},
    "randomized_response": {"people": [100], "surveys_of": 50, "surveys": 2, "points": 5},
    "reconstruction": {
        "exhaustive": {"rows": 4, "largest": 0.3, "points": 4, "databases": 3, "every": 1},
        "linear_program": {"databases": {"8": 3}, "errors": [0.1, 1.0]},
    },
    "smooth_sensitivity": {"values": 11, "points": 4},
    "worst_exponential": {"widths": [1.0], "rounds": [2, 6], "deltas": [1e-1, 1e-2]},
    "worst_filters": {
        "menu": [0.1, 0.2],
        "log10_deltas": {"renyi": [-9], "zcdp": [-8], "whitehouse": [-2], "rogers": [-1]},
        "budget_log10_deltas": [-4, -6],
        "budget_unit": 0.05,
    },
    "tuning": {"runs": [1, 4], "cells": 2000},
    "worst_natural": {
        "top": 4,
        "sizes": [1, 2, 3],
        "finer_units": [0.05],
        "log10_deltas": [-3],
        "unit": 0.05,
    },
    "worst_policy": {"unit": 0.05},
    "rare_bob": {"databases": 30, "trials": 500, "measured_at": [0.01], "decades": 3, "points": 3},
    "rare_tails": {
        "rounds": 10,
        "trials": 500,
        "largest": {"fixed-worst-case": 1.0},
        "points": 2,
    },
    "subsampling": {"smallest": 0.05, "points": 3, "rounds": [1, 5]},
    "shuffling": {
        "largest": 100,
        "per_decade": 2,
        "blankets_at": [[10, 10], 9],
        "rounds": 2,
        "reports": 10,
        "points": 3,
        "responses": {"trials": 100, "at": [0.2]},
        "noise": {"trials": 30, "at": [0.1]},
    },
}


def committed(name):
    return json.loads(stages.data_path(name).read_text(encoding="utf-8"))["data"]


def table(name):
    """The study of a figure, None where it is none."""
    path = stages.table_path(name)
    return Study.load(path) if path.exists() else None


@pytest.mark.sampled(n=2)
@pytest.mark.parametrize("name", SMALLER)
def test_a_small_one_is_played_and_drawn(name):
    script = stages.script(name)
    specification = script.SPECIFICATION | SMALLER[name]
    figure = script.draw(stages.drawable(*stages.made(name, script, specification)))
    drawn = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    assert all(axes.get_xlabel() and axes.has_data() for axes in drawn)


@pytest.mark.parametrize("name", stages.names())
def test_committed_data_are_of_the_present_specification_and_can_be_drawn(name):
    script = stages.script(name)
    stored = json.loads(stages.data_path(name).read_text(encoding="utf-8"))
    assert stored["specification"] == json.loads(json.dumps(script.SPECIFICATION))
    assert script.draw(stages.drawable(stored, table(name))).axes


def test_one_trial_is_that_of_the_readme_round_by_round():
    """The README's own generator makes the same choices, and the loss is Laplace's by hand."""
    readme = (stages.ROOT / "README.md").read_text(encoding="utf-8")
    program = {"__name__": "readme"}
    exec(readme.split("```python")[1].split("```")[0], program)
    data = committed("one_trial")
    for trial in data["experiments"]:
        adversary, loss = program["press_when_ahead"](coins=None), 0.0
        challenge = next(adversary)
        for answer, epsilon, so_far in zip(trial["answers"], trial["epsilons"], trial["losses"]):
            assert challenge[2].epsilon == epsilon
            loss += epsilon * (abs(answer - 1.0) - abs(answer))
            assert so_far == pytest.approx(loss, abs=1e-8)
            challenge = adversary.send(answer)
    # the same noise: Alice alone moves the first answer
    first = [trial["answers"][0] for trial in data["experiments"]]
    assert first[1] - first[0] == pytest.approx(1.0, abs=1e-8)


def test_measured_tails_hold_the_binomial_and_stay_below_azuma():
    data, specification = committed("tails"), tails.SPECIFICATION
    epsilon, rounds = 0.2, specification["rounds"]
    thresholds = np.array(data["thresholds"])
    # L = (2 S - k) epsilon with S binomial, so L > t exactly when S > (t / epsilon + k) / 2
    law = binom(rounds, 1.0 / (1.0 + math.exp(-epsilon)))
    exact = law.sf(np.floor((thresholds / epsilon + rounds) / 2.0))
    drawn = np.array(data["bounds"]["randomized response, exact"])
    np.testing.assert_allclose(drawn, exact, rtol=1e-8)
    for b in "01":
        band = data["tails"]["fixed-worst-case"][b]
        # both hold together with probability 0.95 each; the seed is fixed
        assert np.all(np.array(band["lower"]) <= exact)
        assert np.all(exact <= np.array(band["upper"]))
        for measured in data["tails"].values():
            assert np.all(np.array(measured[b]["lower"]) <= data["bounds"]["Azuma, tight drift"])


def test_the_exact_tail_and_azumas_are_what_is_seen_first():
    """Rows of arrows where nothing was seen hid the curves of the theorems."""
    figure = tails.draw(committed("tails") | {"specification": tails.SPECIFICATION})
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names[:2] == ["exact, randomized response", "Azuma, tight drift"]
    for axes in figure.axes:
        arrows = [line for line in axes.lines if line.get_label().startswith("_")]
        assert sum(line.get_xdata().size for line in arrows) == len(tails.SPECIFICATION["trials"])
        heaviest = sorted(axes.lines, key=lambda line: -line.get_linewidth())
        assert [line.get_label() for line in heaviest[:2]] == names[:2]


def test_root_k_wins_where_the_formula_says():
    specification = epsilon_by_rounds.SPECIFICATION
    epsilon, delta = specification["epsilon"], specification["delta"]
    k = np.arange(1, 100)
    advanced = np.sqrt(2 * k * math.log(1 / delta)) * epsilon + k * epsilon * math.expm1(epsilon)
    assert committed("epsilon_by_rounds")["crossover"] == k[advanced < k * epsilon][0]


def test_the_ladder_says_what_is_known_of_the_ten_thousand_databases():
    rungs = {rung["name"]: rung["epsilon"] for rung in committed("per_round_ladder")["rungs"]}
    claimed = 1.0 / 801.0
    assert rungs["advanced"] < claimed < rungs["kairouz-oh-viswanath-3.3"] < rungs["laplace"]
    assert rungs["basic"] == pytest.approx(1e-4, rel=1e-9)


def test_drift_of_randomized_response_is_inside_its_band():
    data = committed("loss_along_rounds")
    found = data["moments"]["fixed-worst-case"]
    truth = 0.2 * math.tanh(0.1)
    assert np.all(np.abs(np.array(found["drift"]) - truth) <= found["drift_half_width"])
    half = loss_along_rounds.half_width({"family": "pure:1", "confidence": 0.9, "rounds": 5}, 100)
    # Hoeffding for a mean of 100 in [-1, 1]: 2 exp(-100 h^2 / 2) is the error of each round
    assert 2.0 * math.exp(-50.0 * half**2) == pytest.approx(0.02)


def test_tails_far_below_counting_hold_the_binomial():
    """26 intervals of 95%, each of its own sample: fewer than 20 hold with probability 3e-4."""
    found = table("rare_tails").filter(adversary="fixed-worst-case")
    assert min(point.value for point in found) < 1e-15
    law = binom(100, 1.0 / (1.0 + math.exp(-0.2)))
    held = 0
    for point in found:
        exact = law.sf(math.floor((point.at / 0.2 + 100) / 2.0))
        if point.quantity.startswith("exact"):
            assert point.value == pytest.approx(exact, rel=1e-8)
        else:
            held += point.lower <= exact <= point.upper
    assert held >= 20


def test_a_pure_guarantee_allows_its_two_line_trade_off():
    errors = np.linspace(0.0, 1.0, 11)
    allowed = trade_off.allowed_by(bound("basic").on(Composition.repeat(PureDP(0.5), 2)), errors)
    expected = np.maximum.reduce([1 - math.e * errors, (1 - errors) / math.e, 0 * errors])
    np.testing.assert_allclose(allowed, expected, atol=1e-12)


def test_a_sampled_round_attains_the_theorem_and_none_passes_it():
    data, epsilon = committed("subsampling"), subsampling.SPECIFICATION["epsilon"]
    rates, (one, many) = np.array(data["rates"]), data["panels"]
    theorem = np.log1p(rates * math.expm1(epsilon))
    np.testing.assert_allclose(one["amplified"], theorem, rtol=1e-9)
    assert all(np.all(np.array(exact) <= theorem) for exact in one["exact"].values())
    # sampled randomized response: Pr_0 - e^E Pr_1 of its likelier answer is q (w - e^E' (1 - w))
    inner = epsilon + np.log1p(-data["delta"] / rates * (1 + math.exp(-epsilon)))
    attained = np.log1p(rates * np.expm1(inner))
    np.testing.assert_allclose(one["exact"]["randomized response"], attained, rtol=1e-3)
    amplified, dominating = (np.array(many["bounds"][name]) for name in subsampling.BOUNDS)
    assert np.all(np.array(many["exact"]["randomized response"]) <= dominating * (1 + 1e-3))
    assert np.all(dominating <= amplified * (1 + 1e-9))


def test_tuned_runs_lose_what_an_integral_says():
    """delta of the best of 16 normal answers at the stored epsilon, by quadrature."""
    stored = committed("tuning")
    mu, at = stored["mu"], stored["runs"].index(16)
    epsilon = stored["gaussian"]["fixed"][at]

    def best(x, mean):
        return 16.0 * norm.cdf(x - mean) ** 15 * norm.pdf(x - mean)

    deltas = [
        quad(lambda x, a, b: max(0.0, best(x, a) - math.exp(epsilon) * best(x, b)), -10, 10,
             args=pair, limit=500)[0]
        for pair in ((0.0, mu), (mu, 0.0))
    ]  # fmt: skip
    assert max(deltas) == pytest.approx(1e-5, rel=1e-3)


def test_the_clones_are_above_every_exact_shuffle():
    study = table("shuffling")
    curves = {name: np.array(values) for name, values in shuffling.by_reports(study)[1].items()}
    summed, closed = curves["clones-numerical"], curves["clones-closed-form"]
    assert np.all(curves["shuffled-randomized-response"] <= summed * (1 + 1e-9))
    said = np.isfinite(closed)
    assert said.any()
    assert np.all(summed[said] < closed[said])


def test_played_shuffles_are_between_the_exact_law_of_equal_others_and_the_bounds():
    """Nine intervals of 95% that are wide for it: a false alarm at a fixed seed is below 5%."""
    game, study, blanket = (
        shuffling.SPECIFICATION,
        table("shuffling"),
        committed("shuffling")["composed"]["blanket"],
    )
    played = {
        name: curve(study.filter(lambda point, name=name: f'"{name}"' in point.metadata))
        for name in ("responses", "noise")
    }
    grid = np.linspace(0.0, game["widest"], game["points"])
    for name, bounds in (("responses", curve(_composed(study, "clones-numerical")).value),
                         ("noise", blanket)):  # fmt: skip
        seen = played[name]
        above = np.exp(np.interp(seen.at, grid, np.log(bounds)))
        assert np.all(np.array(seen.upper) > 0.0)
        assert np.all(np.array(seen.lower) <= above)
    # The others' inputs alter the skewness of a loss alone: turning them gains or loses little.
    # Others that all have 0 in every round: scipy's binomials, composed on a grid.
    truth = _composed_counts(game["epsilon"], game["reports"], game["rounds"])
    for at, lower, upper in zip(
        played["responses"].at, played["responses"].lower, played["responses"].upper
    ):
        assert 0.95 * lower <= truth(at) <= 1.05 * upper


def _composed(study, name):
    return study.filter(lambda point: point.quantity.startswith(f"bound:{name} d"))


def _composed_counts(epsilon, reports, rounds):
    """The function delta(epsilon) of rounds in which all others have 0, on a grid of losses."""
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    others = binom.pmf(np.arange(reports), reports - 1, 1.0 - truth)
    zero = np.convolve(others, [truth, 1.0 - truth])
    one = np.convolve(others, [1.0 - truth, truth])
    seen = (zero > 1e-25) & (one > 1e-25)
    loss, step = np.log(zero[seen] / one[seen]), 1e-3
    places = np.round(loss / step).astype(int)
    law = np.bincount(places - places.min(), weights=zero[seen])
    size = rounds * (law.size - 1) + 1
    total = np.fft.irfft(np.fft.rfft(law, size) ** rounds, size)
    losses = step * (rounds * places.min() + np.arange(total.size))

    def delta(at):
        above = losses > at
        return float(total[above] @ -np.expm1(at - losses[above]))

    return delta


@pytest.mark.nightly
def test_canaries_of_dp_sgd_lose_what_is_certified_and_the_last_weights_tell_less():
    """The intervals are at 95% each, the draws of both canaries their own; the seed is fixed."""
    data = committed("dp_sgd")
    for name in ("mislabelled canary", "hardest patient"):
        for b in "01":
            band, truth = data["measured"][name][b], data["certified"][b]
            held = (np.array(band["lower"]) <= truth["upper"]) & (
                np.array(truth["lower"]) <= band["upper"]
            )
            assert held.mean() > 0.9
    usual = data["measured"]["median patient"]
    assert all(np.array(usual[b]["upper"])[2] < data["certified"][b]["lower"][2] for b in "01")
    law = PoissonSubsampledLaw(GaussianLaw(1.0), 0.1)
    composed = compose_laws([(law, 40)])
    for found in data["measured"].values():
        assert found["accuracy"] > 0.95
        for one in found["black_box"]:
            certified = composed.reversed().epsilon(one["delta"]).lower
            assert one["epsilon"] < 0.5 * certified


def test_names_of_curves_that_end_together_do_not_meet():
    with paper_figure() as (figure, axes):
        axes.set_ylim(0.0, 1.0)
        plot_named(axes, [0.0, 1.0], {f"curve {i}": [0.0, 0.5 + 1e-4 * i] for i in range(6)})
        figure.canvas.draw()
        boxes = [Text.get_window_extent(text) for text in axes.texts]  # without the leader
    lowest = sorted(box.y0 for box in boxes)
    assert np.diff(lowest).min() > 0.6 * max(box.height for box in boxes)
