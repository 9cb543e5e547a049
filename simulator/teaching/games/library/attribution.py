"""The W3C Attribution API: many sites, each with its own budget on one device."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from simulator.analysis.simulate import simulate
from simulator.data.databases import Database
from simulator.data.queries import counting_query
from simulator.engine.sampling import Tilted
from simulator.foundations.knobs import Within
from simulator.mechanisms import Laplace, RandomizedResponse
from simulator.teaching.games.model import game
from simulator.teaching.games.rows import GameRow, bound, exact, played, worst, wrong
from simulator.teaching.mechanisms.reaction import Reaction, echo
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bound as bound_named
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.pld.distribution import PLD

DEVICE = "the device"
SHOWN, OTHER = "ads on site 0", "ads on site 1"
WHOLE = Database([DEVICE, SHOWN, OTHER])
ON_IT = counting_query(DEVICE)
NO_DEVICE, NOTHING_SHOWN = WHOLE.remove(DEVICE), WHOLE.remove(SHOWN)


@game(
    "attribution",
    "Many budgets: the W3C Attribution API with sites that adapt and share",
    sources=(
        "Tholoniat and others 2025, arXiv 2506.05290 (Big Bird)",
        "W3C Attribution, draft of May 2026, section on formal analysis",
    ),
    sweep=("sites", (1, 2, 4, 8, 16, 32)),
)
def attribution(
    *,
    epsilon: Annotated[float, "the budget of one site", Within(0.1, 5.0)] = 1.0,
    sites: Annotated[int, "how many sites there are", Within(1, 128)] = 8,
    delta: Annotated[float, "where epsilon is taken", Within(1e-12, 0.01)] = 1e-6,
    total: Annotated[int, "the budget of the device, in budgets of one site", Within(1, 128)] = 4,
    buyers: Annotated[
        int, "devices that react to what another site has learned", Within(1, 50)
    ] = 5,
    trials: Annotated[int, "plays of each experiment", Within(100, 1_000_000)] = 4000,
    seed: Annotated[int, "of the plays", Within(0, 2**31)] = 1,
) -> Iterator[GameRow]:
    """Count conversions for many sites, each of which has its own budget on a person's device.

    A browser keeps the ads that a person saw in a week. When the person buys, the seller's site
    receives a noisy report, and the browser takes its epsilon from that site's budget. The claim
    under test: what a site learns about the device is epsilon-DP with that site's epsilon, whatever
    other sites do. It needs two assumptions, that no site's data depend on what other sites have
    learned, and that no shared limit couples them. Neither holds: ads are shown, and people buy, by
    what was learned before.

    The first table is for sites that share their answers: by composition, the epsilon of all
    together grows with their number. The second is for one site that is given nothing by the
    others. People on other devices buy at it, or not, by what the other sites have learned; or a
    site that has learned something uses up a shared limit on those devices, or leaves it. Its
    reports on those devices repeat the others' answers, and its budget on this device is charged
    for none of that. With many such devices it learns as much as all sites together, so no rule
    that looks at one site's queries can bound what that site learns.

    The third table adds a budget of the device for all sites together. However sites adapt, this
    epsilon is not exceeded. Look along the number of sites: the budget of the device has to be a
    multiple of a site's budget if many sites are to measure, and then its epsilon is large.
    """
    yield from _together(epsilon, sites, delta, trials=trials, seed=seed)
    yield from _alone(epsilon, sites, delta, buyers, trials=trials, seed=seed)
    quantity = "epsilon, all sites, with a budget of the device"
    spending = _epsilon(_response(epsilon), min(sites, total), delta)
    yield exact(quantity, "sites that spend all, one after the other", spending)
    yield bound(quantity, "the device's budget, a pure filter", total * epsilon)
    yield wrong(quantity, "the budget of each site", epsilon)


def _together(
    epsilon: float, sites: int, delta: float, *, trials: int, seed: int
) -> Iterator[GameRow]:
    quantity = "epsilon, all sites"
    rounds = Composition.repeat(PureDP(epsilon), sites)
    yield worst(quantity, "any reports", _epsilon(_response(epsilon), sites, delta))
    laplace = PLD.from_law(LaplaceLaw(epsilon)).self_compose(sites)
    yield exact(quantity, "a Laplace report each", laplace.epsilon(delta))
    report = Laplace(ON_IT, epsilon)

    def collude(coins: np.random.Generator) -> Any:
        for _ in range(sites):
            yield NO_DEVICE, WHOLE, report

    result = simulate(
        collude, family=PureDP(epsilon), rounds=sites, trials=trials, seed=seed,
        sampling=Tilted(1.0),
    )  # fmt: skip
    yield played(quantity, "Laplace reports, played", result.epsilon(delta, confidence=0.999))
    for name, what in (
        ("basic", "the sum of the budgets"),
        ("kairouz-oh-viswanath-3.3", "optimal composition"),
    ):
        yield bound(quantity, what, bound_named(name).on(rounds).epsilon(delta).upper)
    yield wrong(quantity, "the budget of each site", epsilon)


def _alone(
    epsilon: float, sites: int, delta: float, buyers: int, *, trials: int, seed: int
) -> Iterator[GameRow]:
    quantity = "epsilon, one site that sees reactions"
    law = PLD.from_law(FiniteLaw.from_probabilities(*echo(epsilon, buyers)))
    own = PLD.from_law(_response(epsilon))
    yield exact(
        quantity, "its own reports", law.self_compose(sites - 1).compose(own).epsilon(delta)
    )
    report, seen = RandomizedResponse(ON_IT, epsilon), Reaction(ON_IT, epsilon, buyers)

    def look(coins: np.random.Generator) -> Any:
        yield NO_DEVICE, WHOLE, report
        for _ in range(sites - 1):
            yield NO_DEVICE, WHOLE, seen

    result = simulate(
        look, family=PureDP(epsilon), rounds=sites, trials=trials, seed=seed, sampling=Tilted(1.0)
    )
    yield played(quantity, "its reports, played", result.epsilon(delta, confidence=0.999))
    yield bound(
        quantity, "all sites together", _epsilon(_response(epsilon), sites, delta).upper,
        source="post-processing",
    )  # fmt: skip
    yield wrong(quantity, "its own budget", epsilon, source="refuted by Tholoniat and others 2025")


def _response(epsilon: float) -> FiniteLaw:
    kept = 1.0 / (1.0 + math.exp(-epsilon))
    return FiniteLaw.from_probabilities((kept, 1.0 - kept), (1.0 - kept, kept))


def _epsilon(law: FiniteLaw, rounds: int, delta: float) -> Any:
    return PLD.from_law(law).self_compose(rounds).epsilon(delta)
