"""Privacy amplification by shuffling: clones, blankets, exact ends, and adversaries who play."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.studies import curve, curves_of_bounds
from simulator import Database, counting_query
from simulator.adversaries.contract import Playing
from simulator.analysis.plots import legend, paper_figure
from simulator.analysis.plots.names import label
from simulator.analysis.plots.style import measured, promised, spaced_marks
from simulator.data import ADD_REMOVE, Relation
from simulator.data.queries import Query
from simulator.mechanisms import Mechanism
from simulator.studies import Study, Task, collect
from simulator.teaching.mechanisms import ShuffledResponse
from simulator.theory import (
    LaplaceLaw,
    ShuffledBlanket,
    ShuffledDP,
    ShuffledRounds,
)
from simulator.theory.laws.clones import ClonePair

TITLE = "shuffled reports: clones, the blanket of Laplace noise, exact ends, played rounds"

SPECIFICATION: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "largest": 10**6,
    "per_decade": 5,
    "blankets_at": [[10, 250], 4],
    "rounds": 50,
    "reports": 1000,
    "points": 17,
    "widest": 1.6,
    "seed": 46,
    "responses": {"trials": 5000, "at": [0.2, 0.45, 0.7, 0.95, 1.2, 1.45]},
    "noise": {"trials": 500, "at": [0.1, 0.25, 0.4]},
}

CLOSED, SUMMED, RESPONSE = "clones-closed-form", "clones-numerical", "shuffled-randomized-response"
PLAYED = {"responses": "rare:tilted delta", "noise": "delta"}


def simulate(specification: Mapping[str, Any]) -> dict[str, Any]:
    """The bounds on one round by the number of reports; those on many rounds, which are played."""
    epsilon, delta, rounds = (specification[key] for key in ("epsilon", "delta", "rounds"))
    decades = math.log10(specification["largest"])
    count = round(specification["per_decade"] * decades) + 1
    reports = np.unique(np.round(10.0 ** np.linspace(0.0, decades, count)).astype(int)).tolist()
    many = [f"bound:{name} epsilon(delta={delta})" for name in (CLOSED, SUMMED, RESPONSE)]
    tasks = [Task(None, ShuffledDP(epsilon, n), 1, many, metadata={"reports": n}) for n in reports]
    family = ShuffledDP(epsilon, specification["reports"])
    grid = np.linspace(0.0, specification["widest"], specification["points"]).tolist()
    composed = [f"bound:{name} delta(epsilon={e!r})" for name in (SUMMED, RESPONSE) for e in grid]
    tasks.append(Task(None, family, rounds, composed))
    study = Study.of([*collect(tasks, jobs=1), *_plays(specification, family)])
    fewer = [ClonePair(epsilon, n, math.exp(-epsilon)).epsilon_bracket(delta) for n in reports]
    few, every = specification["blankets_at"]  # a line in logarithms beyond a few reports
    some = [n for n in reports if few[0] <= n <= few[1] or n in reports[::-every]]
    blanket = [ShuffledBlanket(LaplaceLaw(epsilon), n).epsilon_bracket(delta) for n in some]
    pairs: dict[str, ClonePair | ShuffledBlanket] = {
        "fewer": ClonePair(epsilon, family.reports, math.exp(-epsilon)),
        "blanket": ShuffledBlanket(LaplaceLaw(epsilon), family.reports),
    }
    composed_pairs = {name: ShuffledRounds(((pair, rounds),)) for name, pair in pairs.items()}
    return {
        "study": study,
        "fewer": [one.upper for one in fewer],
        "blanket": {
            "reports": some,
            "upper": [one.upper for one in blanket],
            "lower": [one.lower for one in blanket],
        },
        "composed": {name: [pair.delta(e) for e in grid] for name, pair in composed_pairs.items()},
    }


def _plays(game: Mapping[str, Any], family: ShuffledDP) -> Study:
    """delta(epsilon) of two adversaries by play, with intervals."""
    adversaries = {
        "responses": turning_responses(family.epsilon, family.reports),
        "noise": turning_noise(family.epsilon, family.reports),
    }
    tasks = {
        name: Task(
            adversary, family, game["rounds"],
            [f"{PLAYED[name]}(epsilon={e!r})" for e in game[name]["at"]],
            seed=game["seed"], relation="replace-one", experiments=[0], metadata={"played": name},
        )
        for name, adversary in adversaries.items()
    }  # fmt: skip
    return Study.of(
        point
        for name, task in tasks.items()
        for point in collect([task], trials=game[name]["trials"], jobs=1)
    )


def turning_responses(epsilon: float, reports: int) -> Callable[..., Playing]:
    """All others have "no" while the evidence is for experiment 0, and "yes" while it is not."""
    mechanism = ShuffledResponse(counting_query("yes"), epsilon, reports)
    no, yes = Database({"no": reports}), Database({"yes": reports})
    one_yes, one_no = no.replace("no", "yes"), yes.replace("yes", "no")
    middle = float(mechanism.middle)

    def turning_responses(coins: np.random.Generator) -> Playing:
        lead = 0.0
        while True:
            if lead < 0.0:
                answer = yield one_no, yes, mechanism
            else:
                answer = yield no, one_yes, mechanism
            lead += middle - answer

    return turning_responses


def turning_noise(epsilon: float, reports: int) -> Callable[..., Playing]:
    """All others have 0 while the reports are low on the whole, and 1 while they are not."""
    mechanism = ShuffledNoise(counting_query(1.0), epsilon, reports)
    zeros, ones = Database({0.0: reports}), Database({1.0: reports})
    pairs = (zeros, zeros.replace(0.0, 1.0)), (ones.replace(1.0, 0.0), ones)

    def turning_noise(coins: np.random.Generator) -> Playing:
        lead = 0.0
        while True:
            others = float(lead < 0.0)
            answer = yield *pairs[int(others)], mechanism
            lead += others - float(answer.mean())

    return turning_noise


@dataclass(frozen=True)
class ShuffledNoise(Mechanism):
    """A record is 0 or 1, to which Laplace noise is added; all reports are seen in random order.

    The likelihood is known where all records of one database are equal: it is the mean of the
    likelihood ratios of the reports.
    """

    query: Query
    epsilon: float
    reports: int

    def guarantee(self, relation: Relation = ADD_REMOVE) -> ShuffledDP:
        """So many shuffled reports."""
        return ShuffledDP(self.epsilon, self.reports)

    def sample(
        self, database: Database, noise: np.random.Generator, relation: Relation = ADD_REMOVE
    ) -> np.ndarray:
        """The reports, shape (reports,)."""
        records = np.fromiter(database, dtype=float, count=self.reports)
        return noise.permutation(records + noise.laplace(0.0, 1.0 / self.epsilon, records.size))

    def log_likelihood_ratio(
        self,
        answer: np.ndarray,
        database_0: Database,
        database_1: Database,
        relation: Relation = ADD_REMOVE,
    ) -> float:
        """Of the reports, on database 0 over database 1."""
        inputs = [dict(database.records()) for database in (database_0, database_1)]
        sign = 1.0 if len(inputs[1]) == 1 else -1.0
        equal, changed = inputs[::-1] if sign > 0.0 else inputs
        (value,) = equal
        (other,) = (record for record in changed if record != value)
        ratios = np.exp(self.epsilon * (np.abs(answer - value) - np.abs(answer - other)))
        return float(sign * np.log(ratios.mean()))


def draw(data: Mapping[str, Any]) -> Figure:
    """Left epsilon of one round by the number of reports, right the curve of many rounds."""
    with paper_figure(2, width=7.2, height=3.7) as (figure, (many, composed)):
        _draw_many(many, data)
        _draw_rounds(composed, data)
        legend(figure, columns=3)
    return figure


def by_reports(study: Study) -> tuple[list[int], dict[str, list[float]]]:
    """The numbers of reports, and the epsilon of each bound; NaN where it does not apply."""
    found = study.filter(lambda point: "epsilon(" in point.quantity)
    reports = sorted({json.loads(point.metadata)["reports"] for point in found})
    return reports, curves_of_bounds(found)


def _draw_many(axes: Axes, data: Mapping[str, Any]) -> None:
    (reports, curves), game = by_reports(data["study"]), data["specification"]
    axes.plot(reports, curves[CLOSED], label=label(CLOSED), **promised(0, CLOSED))
    _draw_bounds(axes, reports, (data["fewer"], curves[SUMMED], curves[RESPONSE]), True)
    ends = data["blanket"]
    some = ends["reports"]
    axes.plot(some, ends["upper"], **BLANKET)
    axes.fill_between(some, ends["lower"], ends["upper"], color="0.6", alpha=0.35, linewidth=0,
                      label="Laplace noise, down to equal others")  # fmt: skip
    axes.axhline(game["epsilon"], color="0.6", linewidth=0.6, zorder=0)
    own = rf"$\varepsilon_0 = {game['epsilon']:g}$ of a report"
    axes.text(reports[-1], 0.94 * game["epsilon"], own,
              ha="right", va="top", fontsize="small", color="0.35")  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(reports[0], reports[-1]), title="one round")
    axes.set_xlabel(r"shuffled reports $n$")
    power = round(math.log10(game["delta"]))
    axes.set_ylabel(rf"$\varepsilon$ at $\delta = 10^{{{power}}}$")


BLANKET: dict[str, Any] = {"color": "0.45", "linewidth": 1.0, "label": "blanket of Laplace noise"}


def _draw_bounds(axes: Axes, at: Sequence[float], ends: tuple[Any, ...], logarithmic: bool) -> None:
    fewer, clones, response = ends
    axes.plot(at, fewer, color="0.5", linewidth=0.8, linestyle=(0, (4, 2)),
              label=r"clones of 2021, share $e^{-\varepsilon_0}$")  # fmt: skip
    axes.plot(at, clones, label=r"clones, share $2/(e^{\varepsilon_0} + 1)$",
              **promised(0, SUMMED))  # fmt: skip
    marks = spaced_marks(np.array(at), 0, logarithmic=logarithmic)
    axes.plot(at, response, label="exact, shuffled responses", markevery=marks,
              **measured(2))  # fmt: skip


def _draw_rounds(axes: Axes, data: Mapping[str, Any]) -> None:
    game = data["specification"]
    found = data["study"].filter(lambda point: "delta(" in point.quantity)
    bounds = {
        name: curve(found.filter(lambda point, name=name: f":{name} " in point.quantity))
        for name in (SUMMED, RESPONSE)
    }
    at, composed = bounds[SUMMED].at, data["composed"]
    ends = composed["fewer"], bounds[SUMMED].value, bounds[RESPONSE].value
    _draw_bounds(axes, at, ends, False)
    axes.plot(at, composed["blanket"], **BLANKET)
    for index, (name, text) in enumerate(
        (("responses", "played, responses"), ("noise", "played, Laplace noise"))
    ):
        seen = curve(found.filter(lambda point, name=name: f'"{name}"' in point.metadata))
        spread = np.abs(np.array([seen.lower, seen.upper]) - seen.value)
        axes.errorbar(seen.at, seen.value, spread, capsize=2.5, label=text,
                      **measured(index) | {"linestyle": "none", "zorder": 4})  # fmt: skip
    axes.set(yscale="log", xlim=(at[0], at[-1]), xlabel=r"$\varepsilon$")
    axes.set_title(f"{game['rounds']} adaptive rounds of {game['reports']:,} reports")
    axes.set_ylabel(r"$\delta(\varepsilon)$")
