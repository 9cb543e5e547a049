"""A step of DP-SGD whose noisy sum is divided by a size that the record may change."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries.sums import ClippedSum
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import whole
from simulator.mechanisms.base import Pair, PairMechanism
from simulator.mechanisms.gaussian import Gaussian
from simulator.mechanisms.sampled import PoissonSubsampled, require_relation
from simulator.mechanisms.values import real
from simulator.theory.guarantees.subsampled import SubsampledGaussianDP
from simulator.theory.laws.subsampled import check_rate
from simulator.training.gradients import Floats
from simulator.training.mechanisms.epochs import log_mean_exp
from simulator.training.mechanisms.gradient_step import differing_record

DIVISORS = ("public", "floor", "sample")


@dataclass(frozen=True, slots=True)
class DividedStep(PairMechanism):
    """The noisy sum over a Poisson sample, divided by a size; it claims what the sum keeps.

    Parameters
    ----------
    step : noise on a clipped sum: the first coordinate. The others have noise alone.
    rate : in [0, 1], of the sample.
    coordinates : at least 2.
    divisor : "public", the same number in both experiments; "floor", the expected size of the
        sample rounded down, floor(rate * n), from the database's own n; "sample", how many records
        the sample holds. A divisor is at least 1.

    The noise is divided too. So with "floor" and "sample" its scale depends on the record, and
    every coordinate shows that scale: the claim, that of the undivided sum, is false.

    The answer is four numbers: how many of the other records are in the sample and their sum, which
    are public; the first coordinate; and the sum of the squares of the others. The likelihood is
    exact.

    >>> from simulator import Gaussian
    >>> from simulator.data import clipped_sum
    >>> from simulator.training import DividedStep
    >>> step = Gaussian(clipped_sum(float, 0, 1), sigma=2.0)
    >>> DividedStep(step, rate=0.1, coordinates=5, divisor="sample").guarantee()
    SubsampledGaussianDP(sigma=2.0, rate=0.1)
    """

    step: Gaussian
    rate: float
    coordinates: int
    divisor: str = "public"

    def __post_init__(self) -> None:
        if not isinstance(self.step, Gaussian) or not isinstance(self.step.query, ClippedSum):
            raise InvalidInput(f"a step is Gaussian noise on a clipped sum, not {self.step!r}")
        check_rate(self.rate)
        whole("coordinates", self.coordinates, least=2)
        if self.divisor not in DIVISORS:
            raise InvalidInput(f"a divisor is one of {', '.join(DIVISORS)}, not {self.divisor!r}")

    def guarantee(self, relation: Relation = ADD_REMOVE) -> SubsampledGaussianDP:
        """What is claimed: the guarantee of the undivided sum."""
        require_relation(relation, PoissonSubsampled)
        scale = self.step.query.sensitivity(ADD_REMOVE)
        return SubsampledGaussianDP(self.step.fixed_parameter() / scale, self.rate)

    def pair(
        self, database_0: Database, database_1: Database, relation: Relation = ADD_REMOVE
    ) -> Pair:
        """The step on two databases; raises Breach unless they are neighbours."""
        require_relation(relation, PoissonSubsampled)
        common, record, holder = differing_record(database_0, database_1)
        values = np.array([real("a step", self.step.query(Database([r]))) for r in common])
        value = 0.0 if record is None else real("a step", self.step.query(Database([record])))
        return DividedPair(self, values, value, holder)


class DividedPair:
    """A divided step on two databases."""

    __slots__ = ("holder", "kind", "sigma", "value", "values")

    def __init__(self, kind: DividedStep, values: Floats, value: float, holder: int) -> None:
        self.kind, self.values, self.value, self.holder = kind, values, value, holder
        self.sigma = kind.step.fixed_parameter()

    def size(self, b: int, others: int, held: bool) -> float:
        """What the noisy sum is divided by on database ``b``."""
        if self.kind.divisor == "sample":
            return max(others + held, 1)
        expected = self.kind.rate * (len(self.values) + (b == self.holder))
        if self.kind.divisor == "floor":
            return max(math.floor(expected), 1)
        return max(self.kind.rate * len(self.values), 1.0)

    def sample(self, b: int, noise: np.random.Generator) -> Floats:
        """Draw the answer on database ``b``, shape (4,): see :class:`DividedStep`."""
        taken = noise.random(len(self.values)) < self.kind.rate
        held = bool(noise.random() < self.kind.rate) and b == self.holder
        others, public = int(taken.sum()), float(self.values[taken].sum())
        size = self.size(b, others, held)
        total = public + (self.value if held else 0.0)
        first = (total + self.sigma * noise.standard_normal()) / size
        squares = (self.sigma / size) ** 2 * noise.chisquare(self.kind.coordinates - 1)
        return np.array([others, public, first, squares])

    def loss(self, answer: Floats) -> float:
        """Privacy loss, a ratio of mixtures over whether the record is in the sample."""
        zero, one = (self._log_density(b, answer) for b in (0, 1))
        return zero - one

    def _log_density(self, b: int, answer: Floats) -> float:
        """Up to a term that both databases share."""
        others, public, first, squares = answer.tolist()
        rate = self.kind.rate if b == self.holder else 0.0
        logs = []
        for held, weight in ((False, 1.0 - rate), (True, rate)):
            if weight > 0.0:
                size = self.size(b, round(others), held)
                mean = (public + (self.value if held else 0.0)) / size
                spread = 0.5 * ((first - mean) ** 2 + squares) * (size / self.sigma) ** 2
                logs.append(math.log(weight) + self.kind.coordinates * math.log(size) - spread)
        return log_mean_exp(np.array(logs)) + math.log(len(logs))
