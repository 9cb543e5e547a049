"""Events that release the best of a random number of runs: private selection."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite, point
from simulator.theory.bounds.composition import Composition
from simulator.theory.events.leaves import NOTHING_LOST
from simulator.theory.events.tree import (
    EventRounds,
    EventTree,
    refuse,
)
from simulator.theory.events.units import Unit
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from simulator.theory.guarantees.renyi import RenyiDP
from simulator.theory.guarantees.renyi_divergence import renyi_to_delta
from simulator.theory.guarantees.run_counts import (
    NegativeBinomialRuns,
    PoissonRuns,
    gamma_of_mean,
)
from simulator.theory.outward import UNIT
from simulator.theory.parameters import LARGEST

_UP = 1.0 + 2.0**-34

ORDERS: tuple[float, ...] = (
    *(1.01, 1.02, 1.05, *(1.0 + tenth / 10.0 for tenth in range(1, 10))),
    *map(float, (*range(2, 65), *range(72, 129, 8), *range(160, 513, 32), 1024)),
)
"""Orders at which a Renyi curve is stated."""


@dataclass(frozen=True)
class SelectedEvent(EventTree):
    """Run an event a random number of times and release the run of the best score.

    ``select(self_compose(subsampled(gaussian(1.0), 0.01), 1000), mean=10)``.

    The number of runs has the given mean. It is geometric for ``shape`` 1, logarithmic for 0,
    truncated negative binomial for any other finite shape > -1, and Poisson (possibly no run) for
    an infinite shape.

    Where a run keeps epsilon(a)-Renyi DP, the selection keeps, for every pair of orders a and b,
    epsilon(a) + (1 + shape)((1 - 1/b) epsilon(b) + ln(1/gamma)/b) + ln(mean)/(a - 1) at order a,
    gamma the parameter that has this mean. For a Poisson number of runs it is epsilon(a) + mean
    delta + ln(mean)/(a - 1), where a run is (ln(1 + 1/(a - 1)), delta)-DP. Where a run keeps
    epsilon-DP, the selection keeps (epsilon + growth(epsilon))-DP, see
    :mod:`simulator.theory.guarantees.run_counts`: it is attained, and below (2 + shape) epsilon
    for finite shapes. Runs that keep (epsilon, delta)-DP give (epsilon + growth(epsilon, delta),
    mean delta)-DP.

    Source: Papernot and Steinke 2022, "Hyperparameter Tuning with Renyi Differential Privacy",
    Theorems 2 and 6; the growth of pure privacy from the density of the best run.

    >>> from simulator import Account
    >>> from simulator.theory.events import gaussian, select
    >>> round(Account(select(gaussian(4.0), mean=10.0)).epsilon(1e-6).upper, 4)
    2.2728
    """

    event: EventTree
    mean: float
    shape: float = 1.0
    kind: ClassVar[str] = "select"

    def __post_init__(self) -> None:
        self._hold((self.event,))
        if finite("mean", self.mean) < 1.0:
            raise InvalidInput(f"the mean number of runs must be at least 1, not {self.mean!r}")
        if not point("shape", self.shape) > -1.0:
            raise InvalidInput(f"shape must be above -1, or inf for Poisson, not {self.shape!r}")
        if math.isfinite(self.shape) and self.mean > 1.0:
            gamma_of_mean(self.mean, self.shape)

    def resolved(self, unit: Unit, path: str = "event") -> Iterator[EventRounds]:
        """The guarantees of the best run, which are upper ends: no law of it is known."""
        parts = list(self.event.resolved(unit, f"{path}.event"))
        where = f"{path} ({self.kind})"
        if self.mean == 1.0 and math.isfinite(self.shape):
            yield from parts  # exactly one run
            return
        pure = math.fsum(part.guarantees[0].pure_epsilon * part.count for part in parts)
        runs = Composition.of(*((part.guarantees[-1], part.count) for part in parts))
        found: list[Guarantee] = []
        if pure == 0.0:
            yield replace(NOTHING_LOST, where=where)
            return
        leak = math.fsum(part.guarantees[0].leak * part.count for part in parts) * _UP
        if leak > 0.0:  # (epsilon, delta)-DP runs: those of one run add up
            pure = math.fsum(part.guarantees[0].core.pure_epsilon * part.count for part in parts)
        if math.isfinite(pure) and self.mean * leak * _UP < 1.0:
            epsilon = self._epsilon(pure, leak)
            found.append(ApproxDP(epsilon, self.mean * leak * _UP) if leak else PureDP(epsilon))
        curve = self._curve(runs)
        if curve is not None:
            found.append(curve)
        if not found:
            raise refuse(
                path, self, "its runs keep neither pure, approximate nor Renyi differential privacy"
            )
        yield EventRounds(found[0].worst_law, tuple(found), where=where)

    def _epsilon(self, epsilon: float, delta: float) -> float:
        """The epsilon of the selection where a run is (epsilon, delta)-DP, rounded up."""
        if math.isinf(self.shape):
            return (epsilon + PoissonRuns(self.mean).growth(epsilon, delta)) * _UP
        runs = NegativeBinomialRuns.of_mean(self.mean, self.shape)
        lost = 16.0 * UNIT * (1.0 + self.shape)  # by the logarithm of a number near 1
        growth = runs.growth(epsilon, delta) + lost
        if delta == 0.0:
            growth = min(growth, (1.0 + self.shape) * epsilon)
        return (epsilon + growth) * _UP

    def _curve(self, runs: Composition) -> RenyiDP | None:
        """The Renyi guarantee of the selection; None where the runs have none."""
        known = [(order, runs.renyi(order)) for order in ORDERS]
        known = [(order, value) for order, value in known if math.isfinite(value)]
        if not known:
            return None
        log_mean = math.log(self.mean)
        if math.isinf(self.shape):
            stated = [each.renyi_orders for each, _ in runs if each.renyi_orders]
            orders = tuple(sorted({order for each in stated for order in each}))
            extra = [
                self.mean
                * renyi_to_delta(
                    runs.renyi, -math.log1p(-1.0 / order) * (1.0 - 1e-15), orders=orders
                )
                for order, _ in known
            ]
        else:
            log_inverse = -math.log(gamma_of_mean(self.mean, self.shape))
            least = min((1 - 1 / order) * value + log_inverse / order for order, value in known)
            extra = [(1.0 + self.shape) * least] * len(known)
        curve = [
            (order, (value + more + log_mean / (order - 1.0)) * _UP)
            for (order, value), more in zip(known, extra)
        ]
        kept = [(order, value) for order, value in curve if value <= LARGEST]
        return RenyiDP(*zip(*kept)) if kept else None
