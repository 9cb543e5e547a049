"""Group privacy: a person with several records against noise for one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any

import numpy as np
from scipy.optimize import minimize_scalar

from simulator.analysis.result import Result
from simulator.analysis.simulate import simulate
from simulator.data.databases import ADD_REMOVE, Database, Group
from simulator.data.queries import counting_query
from simulator.foundations.errors import NotApplicable
from simulator.foundations.knobs import Within, one_of
from simulator.mechanisms import Gaussian, Laplace, RandomizedResponse, RecordLevel
from simulator.teaching.games.model import game
from simulator.teaching.games.rows import GameRow, bound, exact, played, worst, wrong
from simulator.theory import compose_laws
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from simulator.theory.guarantees.renyi import ZCDP
from simulator.theory.guarantees.transforms import group
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.laplace import LaplaceLaw

OTHERS = Database({"others": 5})
SOURCES = {
    PureDP: "Dwork and Roth 2014, Theorem 2.2",
    ZCDP: "Bun and Steinke 2016, Proposition 1.9",
    GaussianDP: "Dong, Roth and Su 2022, Theorem 2.14",
    ApproxDP: "Vadhan 2017, Lemma 2.2",
}
NAMES = {
    PureDP: "k epsilon",
    ZCDP: "k^2 rho",
    GaussianDP: "k mu",
    ApproxDP: "(k epsilon, delta (e^(k epsilon) - 1)/(e^epsilon - 1))",
}


@game(
    "group",
    "Group privacy: a person with several records",
    sources=tuple(SOURCES.values()),
    sweep=("size", (1, 2, 3, 4, 6, 8, 12)),
)
def group_game(
    *,
    mechanism: Annotated[
        str, "what is released", one_of("laplace", "gaussian", "randomized-response")
    ] = "gaussian",
    size: Annotated[int, "records of the person, k", Within(1, 30)] = 4,
    epsilon: Annotated[
        float, "of one record; the mu of one record for Gaussian noise", Within(0.01, 2.0)
    ] = 0.3,
    at: Annotated[
        float, "the epsilon at which delta is taken, as a share of k epsilon", Within(0.0, 3.0)
    ] = 0.8,
    delta: Annotated[float, "of one record, in the second table", Within(1e-12, 0.01)] = 1e-5,
    trials: Annotated[int, "plays of each experiment", Within(100, 1_000_000)] = 4000,
    seed: Annotated[int, "of the plays", Within(0, 2**31)] = 1,
) -> Iterator[GameRow]:
    """Give one person k records, and noise that hides one.

    The adversary's databases differ in all the records of a person; the noise is that for a single
    record, and the account is kept for a single record. This is what "user-level" privacy is about.
    A count with Laplace noise moves by k, so its loss reaches k epsilon; with Gaussian noise mu
    becomes k mu, and rho becomes k^2 rho. With randomized response on each record the person plays
    k rounds, and the loss is that of a composition: k rho, and not k^2 rho.

    An (epsilon, delta) promise gets worse than k times in delta: it becomes
    delta (e^(k epsilon) - 1)/(e^epsilon - 1) at k epsilon. The second table has the worst of all
    (epsilon, delta)-DP mechanisms, and it attains that formula.

    Look at the wrong claims: the curve of one record reported for a person, k delta in place of the
    formula, and k rho in place of k^2 rho.
    """
    point = at * size * epsilon
    relation = Group(ADD_REMOVE, size)
    plays = partial(simulate, trials=trials, seed=seed, relation=relation)
    yield from _curve(mechanism, size, epsilon, point, plays)
    yield from _any_mechanism(ApproxDP(epsilon, delta), size)
    yield from _concentrated(mechanism, size, epsilon)


def _law(mechanism: str, epsilon: float) -> PrivacyLossLaw:
    """The law of the loss where the count moves by one record; for k records it has k epsilon."""
    laws = {"laplace": LaplaceLaw, "gaussian": GaussianLaw}
    return laws.get(mechanism, randomized_response)(epsilon)


def _curve(
    mechanism: str, size: int, epsilon: float, point: float, plays: Callable[..., Result]
) -> Iterator[GameRow]:
    """Delta of this mechanism."""
    quantity = f"delta of {mechanism}, k records"
    one = _law(mechanism, epsilon)
    if mechanism == "randomized-response":
        yield exact(quantity, "k rounds", compose_laws([(one, size)], 1e-9).delta(point))
    else:
        yield exact(quantity, "a shift by k", _law(mechanism, size * epsilon).delta(point))
    adversary, family, rounds = _adversary(mechanism, size, epsilon)
    result = plays(adversary, family, rounds)
    yield played(quantity, "the same, played", result.delta(point, confidence=0.999))
    for guarantee in _promised(mechanism, epsilon):
        stated = group(guarantee, size).hockey_stick(point)
        kind = type(guarantee)
        yield bound(quantity, NAMES[kind], stated, source=SOURCES[kind])
    stated = _by_formula(one, size, point)
    yield bound(quantity, NAMES[ApproxDP], stated, source=SOURCES[ApproxDP])
    yield wrong(quantity, "the curve of one record", one.delta(point))


def _promised(mechanism: str, epsilon: float) -> list[Guarantee]:
    """What one record is promised."""
    if mechanism == "gaussian":
        return [GaussianDP(epsilon), ZCDP(epsilon**2 / 2.0)]
    return [PureDP(epsilon), ZCDP(PureDP(epsilon).zcdp_rho)]


def _by_formula(one: PrivacyLossLaw, size: int, point: float) -> float:
    """The formula at the point (point / k, delta) of the curve of one record."""
    share = point / size
    try:
        return group(ApproxDP(share, one.delta(share)), size).leak
    except NotApplicable:  # it reaches 1
        return 1.0


def _adversary(mechanism: str, size: int, epsilon: float) -> tuple[Any, Guarantee, int]:
    """The adversary, the family and the rounds."""
    if mechanism == "randomized-response":
        hers = OTHERS
        for i in range(size):
            hers = hers.add(("hers", i))
        answers = [RandomizedResponse(counting_query(("hers", i)), epsilon) for i in range(size)]

        def ask_each(coins: np.random.Generator) -> Any:
            for each in answers:
                yield OTHERS, hers, each

        return ask_each, PureDP(epsilon), size
    count = counting_query("hers")
    noisy = Laplace(count, epsilon) if mechanism == "laplace" else Gaussian(count, 1.0 / epsilon)
    release = RecordLevel(noisy)
    hers = OTHERS.add("hers", size)

    def ask_once(coins: np.random.Generator) -> Any:
        yield OTHERS, hers, release

    return ask_once, release.guarantee(Group(ADD_REMOVE, size)), 1


def worst_chain(epsilon: float, delta: float, size: int, at: float) -> float:
    """Largest delta(at) between databases ``size`` steps apart, of any (epsilon, delta)-DP one.

    Two outcomes are enough: whether the event that attains it occurs. Given its probability on one
    database, the largest on the next is a concave function, the least of two lines and 1. From the
    last database to the first it is composed ``size`` times, and delta(at) is the largest distance
    of that from a line: at 0, at 1 or in a corner.
    """
    grow = math.exp(epsilon)

    def rise(p: float) -> float:
        return min(grow * p + delta, 1.0 - max(1.0 - p - delta, 0.0) / grow)

    def before(p: float) -> float:
        return max((p - delta) / grow, 1.0 - delta - grow * (1.0 - p))

    points = [0.0, 1.0]
    for corner in ((1.0 - delta) / (1.0 + grow), 1.0 - delta):
        for _ in range(size):
            points.append(corner)
            corner = before(corner)
    if at >= size * epsilon:  # the line is steeper everywhere: a corner adds rounding only
        points = [0.0]
    best = 0.0
    for point in points:
        if 0.0 <= point <= 1.0:
            first = point
            for _ in range(size):
                first = rise(first)
            best = max(best, first - math.exp(at) * point)
    return best


def _any_mechanism(promise: ApproxDP, size: int) -> Iterator[GameRow]:
    """Delta at k epsilon of any mechanism that keeps the promise for one record."""
    quantity = "delta(k epsilon) of any (epsilon, delta)-DP mechanism"
    found = worst_chain(promise.epsilon, promise.delta, size, size * promise.epsilon)
    yield worst(quantity, "any mechanism", found)
    try:
        stated = group(promise, size).leak
    except NotApplicable:  # it reaches 1
        stated = 1.0
    yield bound(quantity, NAMES[ApproxDP], stated, source=SOURCES[ApproxDP])
    yield wrong(quantity, "(k epsilon, k delta)", size * promise.delta)


def _concentrated(mechanism: str, size: int, epsilon: float) -> Iterator[GameRow]:
    """Rho of a person: the largest Renyi divergence over its order."""
    quantity = f"rho of {mechanism}, k records"
    rho = _promised(mechanism, epsilon)[1].zcdp_rho
    rounds = mechanism == "randomized-response"
    if rounds:
        yield exact(quantity, "k rounds", size * _rho(_law(mechanism, epsilon)))
        yield bound(quantity, "k rho, for k rounds", size * rho)
    else:
        yield exact(quantity, "a shift by k", _rho(_law(mechanism, size * epsilon)))
        yield wrong(quantity, "k rho", size * rho)
    yield bound(quantity, NAMES[ZCDP], group(ZCDP(rho), size).zcdp_rho, source=SOURCES[ZCDP])


def _rho(law: PrivacyLossLaw) -> float:
    """Sup over orders a > 1 of D_a / a: D_1 is the mean loss, the others are from its transform."""

    def ratio(log: float) -> float:
        theta = math.exp(log)
        return float(law.log_mgf(theta)) / (theta * (1.0 + theta))

    found = minimize_scalar(lambda log: -ratio(log), bounds=(-4.0, 6.0), method="bounded")
    return max(law.mean, ratio(float(found.x)))
