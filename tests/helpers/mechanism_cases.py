"""Mechanisms on pairs of databases, each beside the law it should have, made another way.

The witnesses are scipy's distributions and hand-written probability vectors; integrals over them
are Gauss-Legendre sums between the kinks of the integrand.
"""

import itertools
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit, logsumexp, softmax

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import clipped_sum, counting_query, counting_scores, function_query
from simulator.mechanisms import (
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    LeakyRandomizedResponse,
    RandomizedResponse,
    ReportNoisyMax,
)


class Continuous:
    """Two densities with the same kinks, ``reach`` noise scales of which hold all that matters."""

    def __init__(self, first: Any, second: Any) -> None:
        self.laws = first, second
        self.scale = min(law.kwds["scale"] for law in self.laws)
        self.kinks = sorted({float(law.kwds["loc"]) for law in self.laws})

    def loss(self, answers):
        return self.laws[0].logpdf(answers) - self.laws[1].logpdf(answers)

    def log_density(self, y, b: int):
        """As scipy's logpdf, which underflows where a tilt by 60 has its mass."""
        z = (y - self.laws[b].kwds["loc"]) / self.scale
        exponent, at_zero = {
            "laplace": (-np.abs(z), 0.5),
            "norm": (-z * z / 2, 0.3989422804014327),
        }[self.laws[b].dist.name]
        return exponent + np.log(at_zero / self.scale)

    def nodes(self, theta: float):
        """Edges of panels, nodes of shape (20, panels), and log-weights of p0 e^{theta L} there."""
        spread = (1 + abs(theta)) * (self.kinks[-1] - self.kinks[0]) + 42 * self.scale
        low, high = self.kinks[0] - spread, self.kinks[-1] + spread
        width = self.scale / 4
        edges = np.unique(np.r_[np.arange(low, high, width), high, self.kinks])
        x, w = np.polynomial.legendre.leggauss(20)
        half = np.diff(edges) / 2
        y = edges[:-1] + half * (1 + x[:, None])
        logs = self.log_density(y, 0) * (1 + theta) - self.log_density(y, 1) * theta
        return edges, y, logs + np.log(half * w[:, None])

    def psi(self, theta: float) -> float:
        return float(logsumexp(self.nodes(theta)[2]))

    def p_value(self, draws, b: int = 0) -> float:
        return float(stats.kstest(draws, self.laws[b].cdf).pvalue)

    def tilted_p_value(self, draws, theta: float) -> float:
        edges, _, logs = self.nodes(theta)
        masses = np.exp(logsumexp(logs, axis=0) - logsumexp(logs))
        assert edges[0] < min(draws)
        assert max(draws) < edges[-1]
        return chi_square(np.histogram(draws, edges)[0], masses)


class Discrete:
    """Two probability vectors over the answers 0, 1, ... or any other ``answers``."""

    def __init__(self, log_p0, log_p1, answers=None) -> None:
        self.logs = np.asarray(log_p0, dtype=float), np.asarray(log_p1, dtype=float)
        self.answers = np.arange(len(log_p0)) if answers is None else answers

    def loss(self, answers):
        places = np.searchsorted(self.answers, answers)
        return self.logs[0][places] - self.logs[1][places]

    def tilted(self, theta: float):
        first, second = self.logs
        finite = np.isfinite(first) & np.isfinite(second)
        return finite, (1 + theta) * first[finite] - theta * second[finite]

    def psi(self, theta: float) -> float:
        finite, logs = self.tilted(theta)
        return float(logsumexp(logs) - logsumexp(self.logs[0][finite]))

    def p_value(self, draws, b: int = 0) -> float:
        return chi_square(self.counts(draws), np.exp(self.logs[b]))

    def tilted_p_value(self, draws, theta: float) -> float:
        finite, logs = self.tilted(theta)
        masses = np.exp(self.logs[0])
        masses[finite] = masses[finite].sum() * softmax(logs)
        return chi_square(self.counts(draws), masses)

    def counts(self, draws):
        places = np.searchsorted(self.answers, draws)
        assert (self.answers[places] == draws).all()
        return np.bincount(places, minlength=len(self.answers))


def chi_square(counts, masses) -> float:
    """p-value of the chi-square test, cells pooled from the left until each expects 20.

    An answer so rare that it should not have been seen once in 1e20 trials has p-value 0.
    """
    expected = masses * counts.sum()
    if (counts[masses < 1e-20] > 0).any():
        return 0.0
    total, ends = 0.0, []
    for place, mass in enumerate(expected):
        total += mass
        if total >= 20:
            ends.append(place + 1)
            total = 0.0
    starts = [0, *ends[:-1]]  # what is left over joins the last cell
    if len(starts) == 1:
        return 1.0
    seen, hoped = np.add.reduceat(counts, starts), np.add.reduceat(expected, starts)
    return float(stats.chisquare(seen, hoped * seen.sum() / hoped.sum()).pvalue)


@dataclass(frozen=True, eq=False)
class Case:
    name: str
    mechanism: Any
    database_0: Database
    database_1: Database
    witness: Any
    largest_loss: float
    relation: Relation = ADD_REMOVE

    def __str__(self) -> str:
        return self.name

    @property
    def pair(self):
        return self.mechanism.pair(self.database_0, self.database_1, self.relation)


@lru_cache(maxsize=256)
def case_draws(case: Case, b: int) -> np.ndarray:
    """The draws of ``case`` that several tests share."""
    return draws(case.pair, b)


def draws(pair, b: int = 0, n: int = 20_000, seed: int = 20240229) -> np.ndarray:
    noise = np.random.default_rng(seed)
    return np.array([pair.sample(b, noise) for _ in range(n)])


OTHERS = Database({"bob": 1, "others": 398})
EVERYONE = OTHERS.add("alice")
ALICE = counting_query("alice")
BOB = counting_query("bob")


def itself(record):
    return record


PART = clipped_sum(itself, 0.0, 1.0)  # a record moves it by as much as it holds


def thrice(database):
    return 3 * database.count_of("alice") + 7


def laplace(name, query, epsilon, first, second, *, sensitivity=1.0):
    values = float(query(first)), float(query(second))
    laws = (stats.laplace(loc=v, scale=sensitivity / epsilon) for v in values)
    largest = abs(values[0] - values[1]) * epsilon / sensitivity
    return Case(name, Laplace(query, epsilon), first, second, Continuous(*laws), largest)


def gaussian(name, query, sigma, first, second):
    laws = (stats.norm(loc=float(query(d)), scale=sigma) for d in (first, second))
    return Case(name, Gaussian(query, sigma), first, second, Continuous(*laws), np.inf)


def geometric(name, query, epsilon, first, second, *, sensitivity=1):
    rate = epsilon / sensitivity
    values = query(first), query(second)
    reach = int(60 / rate) + 20
    answers = np.arange(min(values) - reach, max(values) + reach + 1)
    # scipy's dlaplace.logpmf takes the logarithm of a rounded probability, and underflows
    logs = (np.log(np.tanh(rate / 2)) - rate * np.abs(answers - v) for v in values)
    largest = abs(values[0] - values[1]) * rate
    return Case(name, Geometric(query, epsilon), first, second, Discrete(*logs, answers), largest)


def randomized_response(name, query, epsilon, first, second):
    sides = (2 * query(d) - 1 for d in (first, second))
    logs = [np.log(expit(np.array([-epsilon, epsilon]) * side)) for side in sides]
    largest = epsilon * abs(query(first) - query(second))
    return Case(name, RandomizedResponse(query, epsilon), first, second, Discrete(*logs), largest)


def exponential(name, query, epsilon, first, second):
    scores = (np.array([d.count_of(c) for c in query.candidates]) for d in (first, second))
    logs = [(s * epsilon / 2) - logsumexp(s * epsilon / 2) for s in scores]
    return Case(name, Exponential(query, epsilon), first, second, Discrete(*logs), epsilon)


def leaky(epsilon, delta, first, second):
    truth, lie = (1 - delta) * expit(epsilon), (1 - delta) * expit(-epsilon)
    vector = np.array([delta, truth, lie, 0.0])
    with np.errstate(divide="ignore"):
        logs = [np.log(vector[::-1] if ALICE(d) else vector) for d in (first, second)]
    mechanism = LeakyRandomizedResponse(ALICE, epsilon, delta)
    largest = np.inf if delta else epsilon
    return Case(f"leaky {epsilon}, {delta}", mechanism, first, second, Discrete(*logs), largest)


def largest_of(counts, scale):
    """Pr[i has the largest noisy count], by the expansion of a product of Laplace laws in scipy."""
    from scipy.integrate import quad

    def mass(i):
        def density(y):
            others = [stats.laplace.cdf(y, c, scale) for j, c in enumerate(counts) if j != i]
            return stats.laplace.pdf(y, counts[i], scale) * np.prod(others)

        kinks = [-np.inf, *sorted(set(counts)), np.inf]
        return sum(quad(density, a, b, epsabs=1e-13)[0] for a, b in itertools.pairwise(kinks))

    return np.log([mass(i) for i in range(len(counts))])


class LargestOf(Discrete):
    """Computed at the first use: the quadrature would double the time of collection."""

    def __init__(self, scores, scale: float) -> None:
        self.scores, self.scale = scores, scale
        self.answers = np.arange(len(scores[0]))

    @cached_property
    def logs(self):
        return tuple(largest_of(one, self.scale) for one in self.scores)


def noisy_max(epsilon, first, second):
    query = counting_scores(["alice", "bob", "carol"])
    witness = LargestOf([query(d).tolist() for d in (first, second)], 1 / epsilon)
    mechanism = ReportNoisyMax(query, epsilon)
    return Case(f"noisy max {epsilon}", mechanism, first, second, witness, epsilon)


POPULAR = counting_scores(["alice", "bob", "others", "nobody"])
FEW = Database({"bob": 2, "carol": 1})
THREE = function_query(thrice, 4)

CASES = [
    laplace("Laplace up", ALICE, 0.5, OTHERS, EVERYONE),
    laplace("Laplace down", ALICE, 0.5, EVERYONE, OTHERS),
    laplace("Laplace level", BOB, 0.5, OTHERS, EVERYONE),
    laplace("Laplace fraction", PART, 0.9, Database([0.9]), Database([0.9, 0.3])),
    laplace("Laplace small", ALICE, 1e-4, OTHERS, EVERYONE),
    laplace("Laplace large", ALICE, 12.0, OTHERS, EVERYONE),
    gaussian("Gaussian up", ALICE, 1.5, OTHERS, EVERYONE),
    gaussian("Gaussian down", ALICE, 1.5, EVERYONE, OTHERS),
    gaussian("Gaussian level", BOB, 1.5, OTHERS, EVERYONE),
    gaussian("Gaussian small noise", ALICE, 0.4, OTHERS, EVERYONE),
    gaussian("Gaussian large noise", ALICE, 1e4, OTHERS, EVERYONE),
    geometric("geometric up", ALICE, 0.5, OTHERS, EVERYONE),
    geometric("geometric down", ALICE, 0.5, EVERYONE, OTHERS),
    geometric("geometric level", BOB, 0.5, OTHERS, EVERYONE),
    geometric("geometric three up", THREE, 0.8, OTHERS, EVERYONE, sensitivity=4),
    geometric("geometric three down", THREE, 0.8, EVERYONE, OTHERS, sensitivity=4),
    geometric("geometric small", ALICE, 1e-3, OTHERS, EVERYONE),
    geometric("geometric large", THREE, 30.0, OTHERS, EVERYONE, sensitivity=4),
    randomized_response("randomized response up", ALICE, 0.7, OTHERS, EVERYONE),
    randomized_response("randomized response down", ALICE, 0.7, EVERYONE, OTHERS),
    randomized_response("randomized response level", BOB, 0.7, OTHERS, EVERYONE),
    randomized_response("randomized response small", ALICE, 1e-5, OTHERS, EVERYONE),
    randomized_response("randomized response large", ALICE, 45.0, OTHERS, EVERYONE),
    exponential("exponential", counting_scores(["alice", "bob"]), 1.0, OTHERS, EVERYONE),
    exponential("exponential of four", POPULAR, 0.02, EVERYONE, OTHERS),
    exponential("exponential large", counting_scores(["alice", "bob"]), 25.0, OTHERS, EVERYONE),
    leaky(0.7, 0.01, OTHERS, EVERYONE),
    leaky(0.7, 0.0, EVERYONE, OTHERS),
    leaky(0.3, 0.2, OTHERS, OTHERS),
    noisy_max(0.8, FEW, FEW.add("alice")),
    noisy_max(3.0, FEW.add("carol"), FEW),
]
