"""Balls in bins: every record takes part in one step of an epoch, the same in all epochs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from simulator.data.databases import ADD_REMOVE, Relation
from simulator.foundations.validation import whole
from simulator.mechanisms.gaussian import Gaussian
from simulator.mechanisms.sampled import PoissonSubsampled, require_relation
from simulator.training.families import BallsInBinsDP
from simulator.training.gradients import Floats
from simulator.training.mechanisms.epochs import Bits, Epoch, log_mean_exp
from simulator.training.mechanisms.gradient_step import GradientStep


@dataclass(frozen=True, slots=True)
class BallsInBins(Epoch):
    """A whole training: each record is dealt into one bin, and takes part in its bin's steps.

    Step i is of bin i mod ``bins``. The noise may be correlated over the steps: it is C^{-1} z,
    with z independent and C lower triangular and banded, C_il = ``coefficients[i - l]``. Whoever
    sees the noisy sums of all steps sees their noisy prefix sums too, and the reverse.

    Parameters
    ----------
    step, step_size : as of :class:`simulator.training.mechanisms.epochs.Epoch`. The noise
        multiplier is that of z.
    bins : steps of an epoch.
    epochs : at least 1.
    coefficients : one number or more, the first above 0. Those of (1 - x)^(-1/2), which are 1, 1/2,
        3/8, ..., give prefix sums little noise (Fichtenberger, Henzinger and Upadhyay 2023).

    The loss is exact: C times the noisy sums is C times the record's terms in its bin, plus z.

    Source: Chua and others, "Balls-and-Bins Sampling for DP-SGD", 2025; Choquette-Choo and others,
    "Near Exact Privacy Amplification for Matrix Mechanisms", 2025.

    >>> from simulator import Gaussian
    >>> from simulator.data import clipped_sum
    >>> from simulator.training import BallsInBins
    >>> step = Gaussian(clipped_sum(float, 0, 1), sigma=2.0)
    >>> BallsInBins(step, bins=4, epochs=2).length
    8
    """

    step: GradientStep | Gaussian
    bins: int
    epochs: int = 1
    coefficients: tuple[float, ...] = (1.0,)
    step_size: float = 0.0

    def __post_init__(self) -> None:
        self.check()
        promised = self.guarantee()
        object.__setattr__(self, "coefficients", promised.coefficients)

    @property
    def length(self) -> int:
        """The number of steps."""
        return self.bins * self.epochs

    def guarantee(self, relation: Relation = ADD_REMOVE) -> BallsInBinsDP:
        """The family of this noise and these bins; raises NotApplicable under replace-one."""
        require_relation(relation, PoissonSubsampled)
        return BallsInBinsDP(self.noise_multiplier, self.bins, self.epochs, self.coefficients)

    @property
    def _places(self) -> Bits:
        """Which steps are of which bin, shape (bins, steps)."""
        places: Bits = np.arange(self.length) % self.bins == np.arange(self.bins)[:, None]
        return places

    def dealt(self, records: int, noise: np.random.Generator) -> Bits:
        """Draw the bin of each record; its steps, shape (records, steps)."""
        return self._places[noise.integers(self.bins, size=records)]

    def noises(self, draws: Floats) -> Floats:
        """C^{-1} times the draws."""
        noises: Floats = scipy.signal.lfilter([1.0], self.coefficients, draws, axis=0)
        return noises

    def whitened(self, sums: Floats) -> Floats:
        """C times the sums."""
        white: Floats = scipy.signal.lfilter(self.coefficients, [1.0], sums, axis=0)
        return white

    def log_mean_ratio(self, seen: Floats, terms: Floats) -> float:
        """Ln of the mean over the bins; see the base class."""
        held = np.where(self._places[:, :, None], terms, 0.0)
        means = scipy.signal.lfilter(self.coefficients, [1.0], held, axis=1)
        return log_mean_exp(np.einsum("bid,bid->b", seen - 0.5 * means, means))


def square_root_coefficients(many: int) -> tuple[float, ...]:
    """The first coefficients of (1 - x)^(-1/2): 1, 1/2, 3/8, ..."""
    found = [1.0]
    for k in range(1, whole("many", many)):
        found.append(found[-1] * (1.0 - 0.5 / k))
    return tuple(found)
