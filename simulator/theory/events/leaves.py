"""Events of one round: mechanisms with their laws, and guarantees."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite, flag
from simulator.theory.events.tree import EventRounds, Leaf, ratio_up
from simulator.theory.guarantees.bounded_range import BoundedRange
from simulator.theory.guarantees.dominated import DominatedDP
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.named import parse_guarantee
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.outward import above
from simulator.theory.parameters import count, nonnegative, positive, several

ROUNDED_UP = 1.0 + 2.0**-46
"""Above the rounding error of any parameter here."""

_HARMLESS = PureDP(0.0)
NOTHING_LOST = EventRounds(randomized_response(0.0), (_HARMLESS,), exact=True, attained=_HARMLESS)
"""A round whose answer does not depend on the database."""


def keeping(guarantee: Guarantee) -> EventRounds:
    """Any mechanism that keeps a guarantee: the worst law of its family, or a law above it.

    Where no law is that in either order of the databases, it is that of adding a record.
    """
    if guarantee.adding_law is not None:
        return EventRounds(guarantee.adding_law, (guarantee,), exact=True)
    if isinstance(guarantee, BoundedRange):
        return in_range(guarantee)
    law, exact = guarantee.worst_law, True
    if law is None:
        law, exact = guarantee.dominating_law, False
    return EventRounds(law, (guarantee,), exact=exact and law is not None, attained=guarantee)


def in_range(guarantee: BoundedRange) -> EventRounds:
    """Any mechanism whose loss has a range of that width.

    The least Gaussian above the family composes to less in many rounds, randomized response, as a
    loss in the range is at most its width, in few.
    """
    pure = PureDP(guarantee.pure_epsilon).worst_law
    if guarantee.epsilon == 0.0:
        return EventRounds(NOTHING_LOST.law, (guarantee,), exact=True, attained=guarantee)
    law = GaussianLaw(above(guarantee.gdp_mu * ROUNDED_UP))
    return EventRounds(law, (guarantee,), others=(pure,), attained=guarantee)


def times_up(number: float, size: int) -> float:
    """The product, rounded up where it may not be exact."""
    product = number * size
    return product if size & (size - 1) == 0 else above(product)


def rounded_up(found: Guarantee) -> Guarantee:
    """The guarantee with each parameter raised by more than its rounding error."""
    values = (float(getattr(found, each.name)) for each in fields(found))
    return type(found)(*(value * ROUNDED_UP for value in values))


@dataclass(frozen=True)
class NothingEvent(Leaf):
    """An answer that does not depend on the database.

    >>> from simulator import Account
    >>> from simulator.theory.events import nothing
    >>> Account(nothing()).delta(0.0).value
    0.0
    """

    kind: ClassVar[str] = "nothing"

    def once(self) -> EventRounds:
        """A round that loses nothing."""
        return NOTHING_LOST

    def in_group(self, size: int) -> EventRounds:
        """A round that loses nothing."""
        return NOTHING_LOST


@dataclass(frozen=True)
class GaussianEvent(Leaf):
    """Noise N(0, sigma^2) on an answer of that L2 sensitivity.

    >>> from simulator import Account
    >>> from simulator.theory.events import gaussian
    >>> gaussian(4.0, sensitivity=2.0).mu, round(Account(gaussian(4.0)).delta(0.5).upper, 6)
    (0.5, 0.002709)
    """

    sigma: float
    sensitivity: float = 1.0
    kind: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        positive("sigma", self.sigma)
        positive("sensitivity", self.sensitivity)
        positive("sensitivity / sigma", self.mu)

    @property
    def mu(self) -> float:
        """Sensitivity over deviation, rounded up."""
        return ratio_up(self.sensitivity, self.sigma)

    def once(self) -> EventRounds:
        """The Gaussian pair at mu."""
        return keeping(GaussianDP(self.mu))

    def in_group(self, size: int) -> EventRounds:
        """The pair of a sum that the records of the group move together."""
        return replace(self, sensitivity=times_up(self.sensitivity, size)).once()


@dataclass(frozen=True)
class LaplaceEvent(Leaf):
    """Laplace noise of that scale on a real answer of that sensitivity.

    >>> from simulator import Account
    >>> from simulator.theory.events import laplace
    >>> round(Account().then(laplace(10.0), 100).epsilon(1e-6).upper, 4)
    4.6927
    """

    scale: float
    sensitivity: float = 1.0
    kind: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        positive("scale", self.scale)
        positive("sensitivity", self.sensitivity)
        positive("sensitivity / scale", self.epsilon)

    @property
    def epsilon(self) -> float:
        """Sensitivity over scale, rounded up."""
        return ratio_up(self.sensitivity, self.scale)

    def once(self) -> EventRounds:
        """The Laplace pair at epsilon."""
        law = LaplaceLaw(self.epsilon)
        return EventRounds(law, (PureDP(self.epsilon), DominatedDP(law)), exact=True)

    def in_group(self, size: int) -> EventRounds:
        """The pair of a sum that the records of the group move together."""
        return replace(self, sensitivity=times_up(self.sensitivity, size)).once()


@dataclass(frozen=True)
class RandomizedResponseEvent(Leaf):
    """Randomized response: the true bucket with odds e^epsilon : 1 against each other one.

    The pair is that of two different truths: the answer must be about one record, which is
    replaced, or a bit that says whether Alice is there.

    >>> from simulator import Account
    >>> from simulator.theory.events import randomized_response
    >>> round(Account(randomized_response(1.0, buckets=4)).delta(0.5).upper, 6)
    0.187042
    """

    epsilon: float
    buckets: int = 2
    kind: ClassVar[str] = "randomized_response"

    def __post_init__(self) -> None:
        nonnegative("epsilon", self.epsilon)
        object.__setattr__(self, "buckets", count("buckets", self.buckets, 2))

    def once(self) -> EventRounds:
        """The pair of two truths among ``buckets`` answers."""
        if self.buckets == 2 or self.epsilon == 0.0:
            return keeping(PureDP(self.epsilon))
        others = math.log(self.buckets - 2)
        logs = np.array([self.epsilon, 0.0, others])
        logs -= np.logaddexp.reduce(logs)
        law = FiniteLaw(np.array([-self.epsilon, 0.0, self.epsilon]), logs[[1, 2, 0]])
        return EventRounds(law, (PureDP(self.epsilon),), exact=True)


@dataclass(frozen=True)
class DiscreteEvent(Leaf):
    """A finite mechanism by the probabilities of its answers on its worst pair of databases.

    ``p0`` without Alice and ``p1`` with her, or with one record and with another. Condition: the
    pair dominates every other one.

    >>> from simulator import Account
    >>> from simulator.theory.events import discrete
    >>> round(Account(discrete((0.75, 0.25), (0.25, 0.75))).delta(0.5).upper, 6)
    0.33782
    """

    p0: tuple[float, ...]
    p1: tuple[float, ...]
    kind: ClassVar[str] = "discrete"

    def __post_init__(self) -> None:
        for name in ("p0", "p1"):
            masses = several(name, getattr(self, name))
            kept = tuple(finite(f"a probability of {name}", mass) for mass in masses)
            object.__setattr__(self, name, kept)
        if FiniteLaw.from_probabilities(self.p0, self.p1).losses.size == 0:
            raise InvalidInput(
                "p0 and p1 have no answer in common, so an answer reveals the database"
            )
        self.once()

    def once(self) -> EventRounds:
        """The pair of the two stated laws, with the pure or approximate guarantee that it keeps."""
        law = FiniteLaw.from_probabilities(self.p0, self.p1)
        leak = max(law.infinite_mass, law.dual_infinite_mass)
        largest = max(map(abs, law.support)) * ROUNDED_UP
        promise = (
            ApproxDP(largest, min(leak * ROUNDED_UP, 1.0 - 2.0**-53)) if leak else PureDP(largest)
        )
        return EventRounds(law, (promise,), exact=True)


@dataclass(frozen=True)
class PromiseEvent(Leaf):
    """Any mechanism that keeps a guarantee, given as such or as text: ``PromiseEvent("pure:0.1")``.

    A document holds the text, such as ``pure:0.1`` or ``renyi:2.0,0.1,8.0,0.5`` (orders and
    divergences).

    >>> from simulator import Account
    >>> from simulator.theory.events import promise
    >>> round(Account(promise("pure:0.1")).delta(0.05).upper, 6)
    0.025604
    """

    guarantee: Guarantee
    kind: ClassVar[str] = "promise"

    def __post_init__(self) -> None:
        if isinstance(self.guarantee, str):
            object.__setattr__(self, "guarantee", parse_guarantee(self.guarantee))
        if not isinstance(self.guarantee, Guarantee):
            raise InvalidInput(
                f"guarantee must be a guarantee such as PureDP(0.1), not {self.guarantee!r:.80}"
            )

    def once(self) -> EventRounds:
        """A round that keeps the stated guarantee."""
        return keeping(self.guarantee)


@dataclass(frozen=True)
class AboveThresholdEvent(Leaf):
    """The sparse vector technique with Laplace noise, stopped after ``positives`` answers "above".

    The threshold's noise is drawn once, the noise of each query anew; each answer is one bit. With
    threshold_scale b and query_scale b' it is epsilon-DP for epsilon = sensitivity/b + 2 positives
    sensitivity/b', and with one positives in place of two where ``monotonic``: all queries move in
    the same direction between neighbours.

    Proof: raising the threshold by the sensitivity keeps every "below"; raising a query's noise by
    twice the sensitivity then keeps its "above".

    Source: Lyu, Su and Li 2017, "Understanding the Sparse Vector Technique for Differential
    Privacy", Algorithm 7 without its last step; with one positive, b = 2/epsilon and
    b' = 4/epsilon it is Dwork and Roth 2014, Theorem 3.23.

    >>> from simulator import Account
    >>> from simulator.theory.events import above_threshold
    >>> event = above_threshold(threshold_scale=20.0, query_scale=40.0)
    >>> round(Account(event).epsilon(0.0).upper, 4)
    0.1
    """

    threshold_scale: float
    query_scale: float
    sensitivity: float = 1.0
    positives: int = 1
    monotonic: bool = False
    kind: ClassVar[str] = "above_threshold"

    def __post_init__(self) -> None:
        positive("threshold_scale", self.threshold_scale)
        positive("query_scale", self.query_scale)
        positive("sensitivity", self.sensitivity)
        object.__setattr__(self, "positives", count("positives", self.positives))
        flag("monotonic", self.monotonic)

    @property
    def epsilon(self) -> float:
        """The theorem's epsilon, rounded up."""
        factor = self.positives * (1 if self.monotonic else 2)
        once = ratio_up(self.sensitivity, self.threshold_scale)
        return (once + factor * ratio_up(self.sensitivity, self.query_scale)) * ROUNDED_UP

    def once(self) -> EventRounds:
        """The pair of randomized response of that epsilon: an upper end."""
        guarantee = PureDP(self.epsilon)
        return EventRounds(guarantee.worst_law, (guarantee,))


@dataclass(frozen=True)
class TreeAggregationEvent(Leaf):
    """Running sums from binary trees with noise N(0, sigma^2) on every node.

    ``steps`` are the numbers of leaves of the trees; a record is in at most one leaf of one tree
    (use one event per epoch). It affects the nodes above its leaf, so the release is one Gaussian
    of sensitivity ``sensitivity`` * sqrt(height of the tallest tree). The height is floor(log2
    steps) + 1 where a node is released once its steps are complete, and ceil(log2 steps) + 1 where
    ``padded``: unfinished nodes are released too.

    Source: Kairouz, McMahan, Song, Thakkar, Thakurta and Xu 2021, "Practical and Private (Deep)
    Learning without Sampling or Shuffling", Theorem 4.1 and Appendix D.

    >>> from simulator import Account
    >>> from simulator.theory.events import tree_aggregation
    >>> round(Account(tree_aggregation(10.0, steps=(8,))).epsilon(1e-6).upper, 4)
    0.8341
    """

    sigma: float
    steps: tuple[int, ...]
    sensitivity: float = 1.0
    padded: bool = False
    kind: ClassVar[str] = "tree_aggregation"

    def __post_init__(self) -> None:
        steps = (self.steps,) if isinstance(self.steps, int | float) else self.steps
        steps = several("steps", steps)
        flag("padded", self.padded)
        if not steps:
            raise InvalidInput("steps must name at least one tree")
        object.__setattr__(self, "steps", tuple(count("steps", each) for each in steps))
        GaussianEvent(self.sigma, self.sensitivity)

    @property
    def height(self) -> int:
        """The largest number of nodes that a record affects."""
        most = max(self.steps)
        return (most - 1).bit_length() + 1 if self.padded else most.bit_length()

    def once(self) -> EventRounds:
        """The Gaussian pair of the nodes above the first leaf, which is exact."""
        root = math.sqrt(self.height)
        mu = ratio_up(self.sensitivity, self.sigma)
        if root * root != self.height:
            mu = above(mu * above(root))
        elif root > 1.0:
            mu = above(mu * root)
        return keeping(GaussianDP(mu))

    def in_group(self, size: int) -> EventRounds:
        """The pair of records that are all in the first leaf."""
        return replace(self, sensitivity=times_up(self.sensitivity, size)).once()
