"""What an adversary of this suite may send, each with its exact law stated from first principles.

Alice is missing from database 0. An entry's pieces divide the answers so that the adversaries of
the suite treat all answers of a piece alike; their probabilities in both experiments are written
down here by hand, not computed by the mechanism.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from simulator import Gaussian, Laplace, PureDP, RandomizedResponse
from simulator.adversaries import Challenge
from simulator.data import ADD_REMOVE
from simulator.data.alice import ALICE, EVERYONE, WITHOUT_ALICE
from simulator.data.databases import Relation
from simulator.data.queries import Query, counting_scores
from simulator.mechanisms import (
    Cells,
    Exponential,
    FiniteMechanism,
    Geometric,
    LeakyRandomizedResponse,
)

Vector = Any


class Atom(NamedTuple):
    """Answers of one privacy loss: a representative, and their probability in each experiment."""

    answer: float
    mass_0: float
    mass_1: float

    @property
    def loss(self) -> float:
        """ln(mass_0 / mass_1)."""
        if self.mass_1 == 0.0:
            return math.inf
        return math.log(self.mass_0 / self.mass_1) if self.mass_0 > 0.0 else -math.inf


class Interval(NamedTuple):
    """Answers of a continuous mechanism between two comparisons, and a representative."""

    answer: float
    low: float
    high: float


@dataclass(frozen=True)
class Noise:
    """A real answer, 0 or 1 plus noise, whose loss falls with the answer.

    Attributes
    ----------
    below : ``below(z)``, the probability of noise below z; the noise is symmetric.
    answer_at : ``answer_at(losses)``, the least answer whose loss is at most that.
    scale : what the grid's step is measured by: epsilon, or the loss's standard deviation.
    reach : the largest absolute loss, of all but 1e-20 of the probability.
    """

    below: Callable[[Vector], Vector]
    answer_at: Callable[[Vector], Vector]
    scale: float
    reach: float

    def between(self, low: Vector, high: Vector, b: int) -> Vector:
        """Probability of answers in [low, high], each from the tail in which it keeps digits."""
        first, last = np.asarray(low) - b, np.asarray(high) - b
        right = first > 0.0
        return np.where(
            right, self.below(-first) - self.below(-last), self.below(last) - self.below(first)
        )


@dataclass(frozen=True)
class Entry:
    """One challenge, with its law.

    Attributes
    ----------
    challenge : what is sent.
    atoms : the law of a mechanism with finitely many losses; empty for a continuous one.
    intervals, noise : the law of a continuous one.
    price : the epsilon that a filter accounts for.
    """

    challenge: Challenge
    atoms: tuple[Atom, ...] = ()
    intervals: tuple[Interval, ...] = ()
    noise: Noise | None = None
    price: float = 0.0


def about_alice(mechanism: Any, **law: Any) -> Entry:
    """The mechanism on the two databases that differ in Alice."""
    return Entry(Challenge(WITHOUT_ALICE, EVERYONE, mechanism), **law)


def truth_and_lie(epsilon: float) -> tuple[float, float]:
    """Probabilities of the two answers of randomized response."""
    odds = math.exp(-epsilon)
    return 1.0 / (1.0 + odds), odds / (1.0 + odds)


def rr(epsilon: float) -> Entry:
    """Randomized response about Alice: the answer 0 is the truth on database 0."""
    truth, lie = truth_and_lie(epsilon)
    atoms = (Atom(0.0, truth, lie), Atom(1.0, lie, truth))
    return about_alice(RandomizedResponse(ALICE, epsilon), atoms=atoms, price=epsilon)


def flipped(epsilon: float) -> Entry:
    """Randomized response with the databases exchanged."""
    first, second = rr(epsilon).atoms
    challenge = Challenge(EVERYONE, WITHOUT_ALICE, RandomizedResponse(ALICE, epsilon))
    atoms = (Atom(0.0, second[1], first[1]), Atom(1.0, first[1], second[1]))
    return Entry(challenge, atoms, price=epsilon)


def blank(epsilon: float) -> Entry:
    """Randomized response on two equal databases: answers without any loss."""
    truth, lie = truth_and_lie(epsilon)
    challenge = Challenge(WITHOUT_ALICE, WITHOUT_ALICE, RandomizedResponse(ALICE, epsilon))
    return Entry(challenge, (Atom(0.0, truth, truth), Atom(1.0, lie, lie)), price=epsilon)


def leaky(epsilon: float, delta: float) -> Entry:
    """Leaky randomized response: the answers 0 and 3 reveal the bit."""
    truth, lie = ((1.0 - delta) * p for p in truth_and_lie(epsilon))
    on_zero = (delta, truth, lie, 0.0)
    atoms = tuple(Atom(float(i), on_zero[i], on_zero[3 - i]) for i in range(4))
    return about_alice(LeakyRandomizedResponse(ALICE, epsilon, delta), atoms=atoms, price=epsilon)


def geometric(epsilon: float, cut: int) -> Entry:
    """The geometric mechanism, seen through "at most 0" and "above ``cut``", cut >= 1."""
    odds = math.exp(-epsilon)
    total, far = 1.0 + odds, math.exp(-epsilon * cut)
    atoms = (
        Atom(0.0, 1.0 / total, odds / total),
        Atom(1.0, odds * -math.expm1(-epsilon * cut) / total, -math.expm1(-epsilon * cut) / total),
        Atom(cut + 1.0, odds * far / total, far / total),
    )
    return about_alice(Geometric(ALICE, epsilon), atoms=atoms, price=epsilon)


def exponential(epsilon: float) -> Entry:
    """The exponential mechanism between Alice and Bob: Alice scores 0 or 1, Bob 1."""
    raised = math.exp(0.5 * epsilon)
    atoms = (Atom(0.0, 1.0 / (1.0 + raised), 0.5), Atom(1.0, raised / (1.0 + raised), 0.5))
    mechanism = Exponential(counting_scores(("alice", "bob")), epsilon)
    return about_alice(mechanism, atoms=atoms, price=epsilon)


def cells(epsilon: float, cuts: tuple[float, ...]) -> Entry:
    """The cell between ``cuts`` in which a Laplace answer lies."""
    noise, edges = laplace_noise(epsilon), (-math.inf, *cuts, math.inf)
    masses = [noise.between(np.array(edges[:-1]), np.array(edges[1:]), b) for b in (0, 1)]
    atoms = tuple(Atom(float(i), float(p), float(q)) for i, (p, q) in enumerate(zip(*masses)))
    return about_alice(Cells(Laplace(ALICE, epsilon), cuts), atoms=atoms, price=epsilon)


@dataclass(frozen=True)
class Table(FiniteMechanism):
    """A mechanism by its two rows: the answers' probabilities without Alice, and with her."""

    query: Query
    without: tuple[float, ...]
    present: tuple[float, ...]
    epsilon: float

    def guarantee(self, relation: Relation = ADD_REMOVE) -> PureDP:
        """The largest ratio of the two rows, as stated by ``table``."""
        return PureDP(self.epsilon)

    def probabilities(
        self, value_0: Any, value_1: Any, relation: Relation
    ) -> tuple[np.ndarray, np.ndarray]:
        """The row of each of the two values."""
        rows = (np.array(self.without), np.array(self.present))
        return rows[int(value_0)], rows[int(value_1)]


def table(without: tuple[float, ...], present: tuple[float, ...]) -> Entry:
    """A finite table; each row is scaled to add up to 1."""
    p, q = (tuple(x / math.fsum(row) for x in row) for row in (without, present))
    epsilon = max(abs(math.log(x / y)) for x, y in zip(p, q)) * (1.0 + 1e-12)
    atoms = tuple(Atom(float(i), x, y) for i, (x, y) in enumerate(zip(p, q)))
    return about_alice(Table(ALICE, p, q, epsilon), atoms=atoms, price=epsilon)


def laplace_noise(epsilon: float) -> Noise:
    """Laplace noise of scale 1/epsilon: the loss is epsilon(1 - 2y) between 0 and 1."""

    def below(z: Vector) -> Vector:
        tail = 0.5 * np.exp(-epsilon * np.abs(z))
        return np.where(np.asarray(z) < 0.0, tail, 1.0 - tail)

    def answer_at(losses: Vector) -> Vector:
        inside = 0.5 * (1.0 - losses / epsilon)
        return np.where(losses >= epsilon, -math.inf, np.where(losses < -epsilon, math.inf, inside))

    return Noise(below, answer_at, epsilon, epsilon)


def gaussian_noise(sigma: float) -> Noise:
    """Gaussian noise: the loss is (1 - 2y)/(2 sigma^2)."""
    mu = 1.0 / sigma
    return Noise(
        lambda z: ndtr(np.asarray(z) * mu),
        lambda losses: 0.5 - losses * sigma * sigma,
        mu,
        0.5 * mu * mu + 10.0 * mu,
    )


def between(cuts: tuple[float, ...]) -> tuple[Interval, ...]:
    """The intervals between comparisons of the answer with ``cuts``, and a number in each."""
    edges = (-math.inf, *cuts, math.inf)
    inner = (0.5 * (x + y) for x, y in itertools.pairwise(cuts))
    answers = (cuts[0] - 1.0, *inner, cuts[-1] + 1.0)
    return tuple(Interval(*three) for three in zip(answers, edges, edges[1:]))


def laplace(epsilon: float, *cuts: float) -> Entry:
    """Laplace noise on Alice's count, of which only comparisons with ``cuts`` are used."""
    law = {"intervals": between(cuts), "noise": laplace_noise(epsilon), "price": epsilon}
    return about_alice(Laplace(ALICE, epsilon), **law)


def gaussian(sigma: float, *cuts: float) -> Entry:
    """Gaussian noise on Alice's count, of which only comparisons with ``cuts`` are used."""
    return about_alice(Gaussian(ALICE, sigma), intervals=between(cuts), noise=gaussian_noise(sigma))
