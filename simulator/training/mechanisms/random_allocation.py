"""Random allocation: every record takes part in a few steps of an epoch, chosen at random."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator.data.databases import ADD_REMOVE, Relation
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import whole
from simulator.foundations.wording import count_of
from simulator.mechanisms.gaussian import Gaussian
from simulator.mechanisms.sampled import PoissonSubsampled, require_relation
from simulator.training.families import RandomAllocationDP
from simulator.training.gradients import Floats
from simulator.training.mechanisms.epochs import Bits, Epoch, log_mean_exp
from simulator.training.mechanisms.gradient_step import GradientStep


@dataclass(frozen=True, slots=True)
class RandomAllocation(Epoch):
    """An epoch in which each record takes part in ``selected`` of the steps, all sets alike likely.

    Parameters
    ----------
    step, step_size : as of :class:`simulator.training.mechanisms.epochs.Epoch`.
    steps : of the epoch.
    selected : from 1 to ``steps``.

    With a_i the loss of step i if the record is in it, the loss of the epoch is ln of the mean over
    all sets S of exp(sum of a_i over S), with the sign of the experiment.

    Source: Feldman and Shenfeld, "Privacy amplification by random allocation", 2025; Chua and
    others, "Balls-and-Bins Sampling for DP-SGD", 2025, for one step of each record.

    >>> from simulator import Gaussian
    >>> from simulator.data import clipped_sum
    >>> from simulator.training import RandomAllocation
    >>> RandomAllocation(Gaussian(clipped_sum(float, 0, 1), sigma=2.0), steps=8).guarantee()
    RandomAllocationDP(sigma=2.0, steps=8, selected=1)
    """

    step: GradientStep | Gaussian
    steps: int
    selected: int = 1
    step_size: float = 0.0

    def __post_init__(self) -> None:
        self.check()
        if whole("selected", self.selected) > whole("steps", self.steps):
            raise InvalidInput(
                f"a record cannot take part in {self.selected} of {count_of(self.steps, 'step')}"
            )

    @property
    def length(self) -> int:
        """The number of steps."""
        return self.steps

    def guarantee(self, relation: Relation = ADD_REMOVE) -> RandomAllocationDP:
        """The family of this noise and these steps; raises NotApplicable under replace-one."""
        require_relation(relation, PoissonSubsampled)
        return RandomAllocationDP(self.noise_multiplier, self.steps, self.selected)

    def dealt(self, records: int, noise: np.random.Generator) -> Bits:
        """Draw the steps of each record, shape (records, steps)."""
        if self.selected == 1:
            places = noise.integers(self.steps, size=records)
            one: Bits = places[:, None] == np.arange(self.steps)
            return one
        order = noise.random((records, self.steps)).argsort(axis=1)
        few: Bits = order < self.selected
        return few

    def log_mean_ratio(self, seen: Floats, terms: Floats) -> float:
        """Ln of the mean over all sets of steps; see the base class."""
        losses = np.einsum("id,id->i", seen - 0.5 * terms, terms)
        if self.selected == 1:
            return log_mean_exp(losses)
        return log_mean_of_sets(losses, self.selected)


def log_mean_of_sets(losses: Floats, size: int) -> float:
    """Ln of the mean of exp(sum over S) over the subsets S of this size, by recursion.

    The sums are those of elementary symmetric polynomials, term by term, without cancellation.
    """
    sums = np.full(size + 1, -math.inf)
    sums[0] = 0.0
    for loss in losses:
        sums[1:] = np.logaddexp(sums[1:], sums[:-1] + loss)
    many = math.comb(len(losses), size)
    return float(sums[size]) - math.log(many)
