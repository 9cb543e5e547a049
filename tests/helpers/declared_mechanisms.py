"""Mechanisms as users write them, with true losses and with wrong ones.

Each is on a value that is 0 on the first database and 1 on the second.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.data.databases import ADD_REMOVE
from simulator.mechanisms import Mechanism
from simulator.theory.guarantees.pure import ApproxDP


@dataclass(frozen=True)
class Own(Mechanism):
    """``drawn(value, noise)`` answers; ``declared(answer)`` is ln of P0 over P1."""

    name: str
    drawn: Callable[[int, np.random.Generator], Any]
    declared: Callable[[Any], float]

    def __str__(self):
        return self.name

    def guarantee(self, relation=ADD_REMOVE):
        return ApproxDP(50.0, 0.9)

    def sample(self, database, noise, relation=ADD_REMOVE):
        return self.drawn(database.count_of("alice"), noise)

    def log_likelihood_ratio(self, answer, database_0, database_1, relation=ADD_REMOVE):
        first, second = (d.count_of("alice") for d in (database_0, database_1))
        return (second - first) * self.declared(answer) if first != second else 0.0


def laplace_loss(x, epsilon):
    """Of noise of scale 1/epsilon on 0 and on 1."""
    return epsilon * (abs(x - 1.0) - abs(x))


def ratio(p, q):
    """Ln of p over q, of which one may be 0."""
    if p == 0.0 or q == 0.0:
        return math.inf if p > 0.0 else -math.inf if q > 0.0 else math.nan
    return math.log(p) - math.log(q)


def below(x, centre, scale):
    """The mass of Laplace noise below x."""
    z = (x - centre) / scale
    return 0.5 * math.exp(z) if z < 0.0 else 1.0 - 0.5 * math.exp(-z)


def cell(low, high, centre, scale):
    """The mass of Laplace noise between two numbers, without cancellation."""
    if low > centre:
        low, high = 2.0 * centre - high, 2.0 * centre - low
    return below(high, centre, scale) - below(low, centre, scale)


def clamped_loss(x):
    """Of Laplace noise of scale 2, clamped to [0, 1]: atoms at both ends."""
    if x <= 0.0:
        return math.log(below(0.0, 0.0, 2.0)) - math.log(below(0.0, 1.0, 2.0))
    if x >= 1.0:
        return math.log(below(0.0, 1.0, 2.0)) - math.log(below(0.0, 0.0, 2.0))
    return laplace_loss(x, 0.5)


def rounded_loss(x, digits, scale):
    """Of Laplace noise that is rounded to so many decimals."""
    half = 0.5 * 10.0**-digits
    masses = [cell(x - half, x + half, float(v), scale) for v in (0, 1)]
    return ratio(*masses)


def truncated(value, noise):
    """Laplace noise of scale 1 on the value, drawn until it is in [-2, 2]."""
    while True:
        x = value + noise.laplace()
        if -2.0 <= x <= 2.0:
            return x


TRUNCATED = math.log(cell(-2.0, 2.0, 1.0, 1.0)) - math.log(cell(-2.0, 2.0, 0.0, 1.0))
"""What the constants of both laws add to its loss."""


def bits_of(value, noise, chances=(0.6, 0.3, 0.5, 0.2)):
    """A set of numbers: 0 by a biased answer, others by chance alone."""
    p = [0.7 if value else 0.3, *chances]
    return frozenset(int(i) for i in np.flatnonzero(noise.random(len(p)) < p))


RARE = ((0.7, 0.299, 0.001), (0.5, 0.5, 0.0))
"""The masses of three answers on both databases, one of which only the first can give."""


def one_of(masses, noise, answers):
    """An answer with its mass."""
    return answers[int(np.searchsorted(np.cumsum(masses), noise.random(), side="right"))]


def sided(value, noise):
    """With a chance of 0.3 an answer that says nothing, else noise on the value."""
    return 0.0 if noise.random() < 0.3 else value + noise.laplace(0.0, 2.0)


HONEST = [
    Own("far from 0", lambda v, r: 1e9 + v + r.laplace(0.0, 2.0),
        lambda a: laplace_loss(a - 1e9, 0.5)),
    Own("about a power of two", lambda v, r: 1023.5 + v + r.laplace(0.0, 0.5),
        lambda a: laplace_loss(a - 1023.5, 2.0)),
    Own("tiny", lambda v, r: 1e-12 * (v + r.laplace(0.0, 2.0)),
        lambda a: laplace_loss(1e12 * a, 0.5)),
    Own("bounded", lambda v, r: 0.4 * v + r.uniform(-1.0, 1.0),
        lambda a: ratio(float(abs(a) <= 1.0), float(abs(a - 0.4) <= 1.0))),
    Own("one-sided", lambda v, r: v + r.exponential(2.0), lambda a: -0.5 if a >= 1.0 else math.inf),
    Own("clamped", lambda v, r: min(max(v + r.laplace(0.0, 2.0), 0.0), 1.0), clamped_loss),
    Own("rounded to whole", lambda v, r: round(v + r.laplace(0.0, 1.5)),
        lambda a: rounded_loss(a, 0, 1.5)),
    Own("rounded to tenths", lambda v, r: round(v + r.laplace(0.0, 1.5), 1),
        lambda a: rounded_loss(a, 1, 1.5)),
    Own("truncated", truncated, lambda a: laplace_loss(a, 1.0) + TRUNCATED),
    Own("heavy-tailed", lambda v, r: v + 2.0 * r.standard_cauchy(),
        lambda a: math.log1p((a - 1.0) ** 2 / 4.0) - math.log1p(a * a / 4.0)),
    Own("vector", lambda v, r: tuple(v + r.normal(0.0, 2.0, 3)),
        lambda a: sum((x - 1.0) ** 2 - x * x for x in a) / 8.0),
    Own("set", bits_of, lambda a: math.log(3.0 / 7.0) if 0 in a else math.log(7.0 / 3.0)),
    Own("rare words", lambda v, r: one_of(RARE[v], r, ("no", "yes", "rather")),
        lambda a: ratio(*(RARE[v][("no", "yes", "rather").index(a)] for v in (0, 1)))),
    Own("an atom and a density", sided, lambda a: 0.0 if a == 0.0 else laplace_loss(a, 0.5)),
    Own("ties", lambda v, r: max(int(r.random() < (0.6 if v else 0.4)), int(r.random() < 0.1)),
        lambda a: math.log(0.46 / 0.64) if a else math.log(0.9 * 0.6) - math.log(0.9 * 0.4)),
    Own("large loss", lambda v, r: v + r.laplace(0.0, 0.02), lambda a: laplace_loss(a, 50.0)),
    Own("single precision", lambda v, r: np.float32(v + r.laplace(0.0, 2.0)),
        lambda a: laplace_loss(float(a), 0.5)),
    Own("a record", lambda v, r: {"count": v + r.normal(0.0, 3.0), "seen": bool(r.random() < 0.5)},
        lambda a: ((a["count"] - 1.0) ** 2 - a["count"] ** 2) / 18.0),
    Own("nothing", lambda v, r: r.normal(), lambda a: 0.0),
    Own("zeros of both signs",
        lambda v, r: (1.0 if r.random() < 0.5 else -1.0) * (r.random() < (0.6 if v else 0.5)),
        lambda a: math.log(0.5 / 0.6) if a else math.log(0.5 / 0.4)),
]  # fmt: skip
"""True losses: noise at the edges of floats, atoms, ties, bounded support, infinite on one side."""


def by_answer(p, q, declared):
    """An answer of several with these masses, and a declared loss for each."""
    masses = p, q
    return (
        lambda v, r: one_of(masses[v], r, range(len(p))),
        lambda a: declared[a],
    )


FIVE = ((0.4, 0.15, 0.15, 0.15, 0.15), (0.15, 0.4, 0.15, 0.15, 0.15))
FIVE_LOSSES = [ratio(p, q) for p, q in zip(*FIVE)]
TAIL = 6.0
"""Beyond so far from the middle a loss is wrong."""


def clamped_normal(value, noise):
    """Gaussian noise of deviation 2, clamped to [0, 1]."""
    return min(max(value + noise.normal(0.0, 2.0), 0.0), 1.0)


BROKEN = [
    (Own("off by 3% at epsilon 2", lambda v, r: v + r.laplace(0.0, 0.5),
         lambda a: 1.03 * laplace_loss(a, 2.0)), 0.03, 0.0),
    (Own("off by 15%", lambda v, r: v + r.laplace(), lambda a: 0.85 * laplace_loss(a, 1.0)),
     0.17, 0.0),
    (Own("in bits", lambda v, r: v + r.laplace(), lambda a: laplace_loss(a, 1.0) / math.log(2.0)),
     0.3, 0.0),
    (Own("without its constant", truncated, lambda a: laplace_loss(a, 1.0)), math.inf, 0.0),
    (Own("wrong sign in a tail", lambda v, r: v + r.laplace(),
         lambda a: laplace_loss(a, 1.0) * (1.0 if abs(a - 0.5) < TAIL else -1.0)), 0.0,
     2.0 * 0.5 * math.exp(-TAIL - 0.5) / (2.0 * below(0.5, 1.0, 1.0))),
    (Own("wrong sign on one of five answers",
         *by_answer(*FIVE, [FIVE_LOSSES[0], -FIVE_LOSSES[1], *FIVE_LOSSES[2:]])), math.inf, 0.0),
    (Own("wrong on a rare answer", *by_answer((0.999, 0.001), (0.9997, 0.0003),
         [ratio(0.999, 0.9997), -ratio(0.001, 0.0003)])), 0.0, 0.0003),
    (Own("the wrong scale", lambda v, r: v + 2.0 * r.standard_cauchy(),
         lambda a: math.log1p((a - 1.0) ** 2) - math.log1p(a * a)), math.inf, 0.0),
    (Own("one coordinate of three", lambda v, r: tuple(v + r.normal(0.0, 2.0, 3)),
         lambda a: ((a[0] - 1.0) ** 2 - a[0] ** 2) / 8.0), math.inf, 0.0),
    (Own("a tenth too much noise", lambda v, r: v + r.normal(0.0, 1.1),
         lambda a: 0.5 - a), 0.17, 0.0),
    (Own("another member of the set", bits_of,
         lambda a: math.log(3.0 / 7.0) if 1 in a else math.log(7.0 / 3.0)), math.inf, 0.0),
    (Own("an atom for a density", sided, lambda a: laplace_loss(a, 0.5)), math.inf, 0.0),
    (Own("the density for an atom", clamped_normal, lambda a: (1.0 - 2.0 * a) / 8.0),
     math.inf, 0.0),
]  # fmt: skip
"""Wrong losses: the mechanism, the true loss over the declared one less 1, and the share of
min(P0, P1) on which alone it is wrong by 1 or more; an infinite error shows in any case."""
