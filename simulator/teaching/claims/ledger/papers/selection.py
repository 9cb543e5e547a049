"""Private selection: the worst runs for the best of several, against the published bounds."""

from __future__ import annotations

import math
from typing import Annotated

from simulator import PureDP
from simulator.foundations.knobs import Within
from simulator.teaching.claims.findings import upper_bound
from simulator.teaching.claims.ledger.shared.parameters import Epsilon, Factor
from simulator.teaching.claims.model import Finding, Verdict
from simulator.teaching.claims.registry import claim
from simulator.teaching.score_orders import largest_loss, renyi_terms, worst_order
from simulator.theory.events import promise, select
from simulator.theory.events.units import ONE_RECORD
from simulator.theory.guarantees.run_counts import FixedRuns, NegativeBinomialRuns, PoissonRuns

MeanRuns = Annotated[float, "mean number of runs", Within(1.0, 10000.0)]
Shape = Annotated[float, "shape of the law of the number of runs", Within(-0.9, 100.0)]
Order = Annotated[float, "order of a Rényi divergence", Within(1.001, 1000.0)]
Number = Annotated[int, "how many runs there are", Within(1, 1000)]


@claim(
    "liu2019-random-stopping",
    "theorem on random stopping",
    "The best of a geometric number of ε-DP runs is 3ε-DP, whatever its mean.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
    given={"shape": 1.0},
)
@claim(
    "papernot2022-corollary-3",
    "Corollary 3",
    "The best of a truncated negative binomial number of ε-DP runs is (2+η)ε-DP; ours: η = 0.",
    Verdict.HOLDS,
    wrong={"share": 0.9},
    given={"shape": 0.0},
)
def pure_selection(
    *, epsilon: Epsilon = 0.5, mean: MeanRuns = 1000.0, shape: Shape = 1.0, share: Factor = 1.0
) -> Finding:
    """The worst runs for the largest loss, where the number of runs is random."""
    return upper_bound(
        largest_loss(epsilon, NegativeBinomialRuns.of_mean(mean, shape)),
        share * (2.0 + shape) * epsilon,
        f"largest loss of the best of {mean:g} runs in the mean",
        note="randomized response, whose true answer scores low in 2000 slices",
    )


@claim(
    "papernot2022-theorem-2",
    "Theorem 2",
    "The best of a truncated negative binomial number of runs has the stated Rényi curve; ours: "
    "ε-DP runs, η = 1, order 4.",
    Verdict.NOT_TIGHT,
    wrong={"share": 0.2},
)
def renyi_selection(
    *,
    epsilon: Epsilon = 0.5,
    mean: MeanRuns = 10.0,
    shape: Shape = 1.0,
    order: Order = 4.0,
    share: Factor = 1.0,
) -> Finding:
    """The worst order of scores for the Renyi divergence; Poisson for an infinite shape."""
    poisson = math.isinf(shape)
    runs = PoissonRuns(mean) if poisson else NegativeBinomialRuns.of_mean(mean, shape)
    found = worst_order(epsilon, runs, renyi_terms(order))
    event = select(promise(PureDP(epsilon)), mean, shape)
    (part,) = event.resolved(ONE_RECORD)
    return upper_bound(
        math.log(found.value) / (order - 1.0),
        share * part.guarantees[-1].renyi(order),
        f"Renyi divergence of order {order:g} of the best of {mean:g} runs in the mean",
        note="the worst of all orders of 40 slices of each answer of randomized response",
    )


@claim(
    "papernot2022-theorem-6",
    "Theorem 6",
    "The best of a Poisson number of runs has the stated Rényi curve; ours: ε-DP runs, order 4.",
    Verdict.NOT_TIGHT,
    wrong={"share": 0.2},
)
def poisson_selection(
    *, epsilon: Epsilon = 0.5, mean: MeanRuns = 10.0, order: Order = 4.0, share: Factor = 1.0
) -> Finding:
    """As :func:`renyi_selection`, for a Poisson number of runs."""
    return renyi_selection(epsilon=epsilon, mean=mean, shape=math.inf, order=order, share=share)


@claim(
    "papernot2022-fixed-number",
    "on point masses",
    "A fixed number of runs is naive repetition: the best of n runs costs what n runs do, nε.",
    Verdict.HOLDS,
    wrong={"share": 0.3},
)
def fixed_selection(*, epsilon: Epsilon = 0.5, number: Number = 10, share: Factor = 1.0) -> Finding:
    """The worst runs for the largest loss, where the number of runs is fixed."""
    return upper_bound(
        largest_loss(epsilon, FixedRuns(number)),
        share * number * epsilon,
        f"largest loss of the best of {number} runs",
    )
