"""The median with noise scaled to the database, by local and by smooth sensitivity.

Nissim, Raskhodnikova and Smith 2007, sections 2 and 3.1; Zhang 2020 (lecture 7). The median of n
values is the ceil(n/2)-th smallest; of none, the lower end of the range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import Column
from simulator.data.queries.arguments import interval
from simulator.foundations.errors import NotApplicable
from simulator.foundations.validation import open_probability, positive
from simulator.teaching.mechanisms.scaled_laplace import ScaledLaplace, clipped_values
from simulator.theory.guarantees.pure import ApproxDP, PureDP


@dataclass(frozen=True, slots=True)
class LocalSensitivityMedian(ScaledLaplace):
    """Broken on purpose: the median plus Lap(local sensitivity/epsilon).

    Parameters
    ----------
    epsilon : > 0.
    lower, upper : the range that values are clipped to.
    column : of the record; by default the record itself is the number.

    It claims to be epsilon-DP and is not: neighbours can have different local sensitivities, so the
    size of the noise distinguishes them; where one of these is 0 and the other is not, every answer
    does (Zhang 2020, lecture 7, local sensitivity).
    """

    epsilon: float
    lower: float
    upper: float
    column: Column | None = None

    def __post_init__(self) -> None:
        positive("epsilon", self.epsilon)
        interval(self.lower, self.upper)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> PureDP:
        """The false claim of epsilon-DP."""
        return PureDP(self.epsilon)

    def centre_and_scale(self, database: Database, relation: Relation) -> tuple[float, float]:
        """The median, and its local sensitivity over epsilon."""
        values = clipped_values(database, self.column, self.lower, self.upper)
        sensitivity = smooth_sensitivity(values, self.lower, self.upper, math.inf, relation)
        return median(values, self.lower), sensitivity / self.epsilon


@dataclass(frozen=True, slots=True)
class SmoothSensitivityMedian(ScaledLaplace):
    """The median plus Laplace noise of scale 2/epsilon times its smooth sensitivity.

    Parameters
    ----------
    epsilon : > 0.
    delta : in (0, 1).
    lower, upper : the range that values are clipped to.
    column : of the record; by default the record itself is the number.

    (epsilon, delta)-DP: Lap(1) is admissible with alpha = epsilon/2 and
    beta = epsilon/(2 ln(1/delta)) (Nissim, Raskhodnikova and Smith 2007, Lemma 2.9, which has
    ln(2/delta); Zhang 2020, lecture 7, prints this beta). Raises NotApplicable for the few
    (epsilon, delta), both large, at which that beta is not admissible.
    """

    epsilon: float
    delta: float
    lower: float
    upper: float
    column: Column | None = None

    def __post_init__(self) -> None:
        interval(self.lower, self.upper)
        admissible_beta(self.epsilon, self.delta)

    def guarantee(self, relation: Relation = ADD_REMOVE) -> ApproxDP:
        """(epsilon, delta)-DP."""
        return ApproxDP(self.epsilon, self.delta)

    def centre_and_scale(self, database: Database, relation: Relation) -> tuple[float, float]:
        """The median, and its smooth sensitivity over alpha."""
        values = clipped_values(database, self.column, self.lower, self.upper)
        beta = admissible_beta(self.epsilon, self.delta)
        smooth = smooth_sensitivity(values, self.lower, self.upper, beta, relation)
        return median(values, self.lower), 2.0 * smooth / self.epsilon


def admissible_beta(epsilon: float, delta: float) -> float:
    """Beta = epsilon/(2 ln(1/delta)), checked to be admissible for Lap(1).

    Stretching Lap(1) by e^beta has hockey-stick divergence e^-t (1 - e^-beta) at epsilon/2, with
    t = (epsilon/2 + beta)/(e^beta - 1); shrinking it has none while beta <= epsilon/2. Sliding by
    epsilon/2 multiplies by e^{epsilon/2} and adds nothing.

    Raises InvalidInput for parameters out of range, NotApplicable where beta is too large.
    """
    half = positive("epsilon", epsilon) / 2.0
    beta = half / -math.log(open_probability("delta", delta))
    stretched = -math.expm1(-beta) * math.exp(-(half + beta) / math.expm1(min(beta, 700.0)))
    if beta > half or stretched > delta:
        raise NotApplicable(
            f"Laplace noise is not admissible with beta = {beta:.4g} for epsilon = {epsilon:g}, "
            f"delta = {delta:g}; lower either of them"
        )
    return beta


def median(values: NDArray[np.float64], lower: float) -> float:
    """The ceil(n/2)-th smallest of ascending ``values``, shape (n,); ``lower`` of none."""
    return float(values[(len(values) - 1) // 2]) if len(values) else lower


def smooth_sensitivity(
    values: NDArray[np.float64], lower: float, upper: float, beta: float, relation: Relation
) -> float:
    """The beta-smooth sensitivity of the median, exactly; for infinite beta the local one.

    max over databases x' of LS(x') e^{-beta distance(x, x')} (Nissim, Raskhodnikova and Smith 2007,
    Definition 2.2). Every local sensitivity of a database some steps away is a gap x_j - x_i of
    this one, with x_0 = lower and x_{n+1} = upper, once the values between are removed and the
    median has moved there; ``relation`` determines the number of steps. Memory O(n), time O(n) for
    each step that still matters.

    Parameters
    ----------
    values : ascending, within [lower, upper], shape (n,).

    Raises NotApplicable for a relation other than add/remove-one and replace-one.
    """
    if relation.records_touched not in EXTRA_STEPS:
        raise NotApplicable(f"the median's sensitivity is not known under {relation}")
    extra = EXTRA_STEPS[relation.records_touched]
    beta = min(beta, _STEEPEST)
    x = np.concatenate(([lower], values, [upper]))
    best = 0.0
    for width in range(1, len(x)):  # j - i; all but one of the values between must go
        if (upper - lower) * math.exp(-beta * (width - 1)) <= best:
            break
        i = np.arange(len(x) - width)
        decay = np.exp(-beta * (width - 1 + extra(i, i + width, len(values))))
        best = max(best, float(np.max((x[width:] - x[:-width]) * decay)))
    return best


_STEEPEST = 1e300
"""In place of an infinite beta, so that its product with 0 steps is 0."""


def _balance(i: NDArray[np.intp], j: NDArray[np.intp], n: int) -> NDArray[np.float64]:
    # Add or remove at an end until the values above the gap are as many as those below, or one
    # more; then one further step moves the median across it.
    excess = (n + 1 - j) - i
    return np.where(excess > 0, excess - 1.0, -excess)


def _hold_the_median(i: NDArray[np.intp], j: NDArray[np.intp], n: int) -> NDArray[np.float64]:
    # The values between move to either side as needed; the median must be in the gap.
    middle = (n + 1) // 2
    return np.where((i <= middle) & (middle <= j), 0.0, math.inf)


EXTRA_STEPS = {1: _balance, 2: _hold_the_median}
"""Steps until the median jumps from x_i to x_j, besides one for each value between them, by
``records_touched``."""
