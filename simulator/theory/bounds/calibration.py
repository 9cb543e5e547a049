"""Calibration by formulas: the largest per-round guarantee that meets a target over all rounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from simulator.foundations.errors import NotApplicable
from simulator.foundations.validation import open_probability, whole
from simulator.theory.bounds.base import Bound
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import all_bounds, bound
from simulator.theory.bracket import Kind
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.parameters import positive

_RELATIVE = 1e-12
_SMALLEST = 1e-100


@dataclass(frozen=True)
class Rung:
    """The largest per-round guarantee that one bound admits; ``value`` is its parameter.

    ``noise`` is the least noise that keeps it, in units of the query's sensitivity: the scale
    1/epsilon of Laplace noise for pure guarantees, the deviation 1/mu for Gaussian ones.

    >>> from simulator.theory import bound, calibrate
    >>> rung, = calibrate(1.0, 1e-6, 100, bounds=[bound("basic")])
    >>> rung.name, round(rung.value, 6), round(rung.noise, 4)
    ('basic', 0.01, 100.0)
    """

    name: str
    kind: Kind
    guarantee: Guarantee
    value: float
    source: str

    @property
    def noise(self) -> float:
        """Least noise in units of the sensitivity; infinite where ``value`` is 0."""
        return 1.0 / self.value if self.value > 0.0 else math.inf


def calibrate(
    target_epsilon: float,
    target_delta: float,
    rounds: int,
    bounds: Iterable[Bound] | None = None,
    *,
    family: Callable[[float], Guarantee] = PureDP,
) -> list[Rung]:
    """For every bound the largest per-round parameter that meets the target.

    ``family`` makes the guarantee of a round from its one parameter (PureDP, GaussianDP, ZCDP,
    BoundedRange; for approximate privacy ``lambda e: ApproxDP(e, 1e-9)``). Rungs are sorted from
    the smallest parameter to the largest. By default all bounds but the costly ones are used. A
    rung of kind ``lower`` or ``approximation`` does not guarantee the target.

    Raises InvalidInput for a target outside epsilon > 0, 0 < delta < 1, rounds >= 1.

    >>> from simulator.theory import bound, calibrate
    >>> rungs = calibrate(1.0, 1e-6, 100, bounds=[bound("basic"), bound("advanced")])
    >>> [(rung.name, round(rung.value, 6)) for rung in rungs]
    [('basic', 0.01), ('advanced', 0.018376)]
    """
    target_epsilon = positive("target epsilon", target_epsilon)
    target_delta = open_probability("target delta", target_delta)
    Composition.repeat(family(1.0), rounds)  # checks the arguments before any work
    rungs = []
    quick = (entry for entry in all_bounds() if not entry.costly)
    for entry in quick if bounds is None else bounds:
        value = _largest(entry, target_epsilon, target_delta, rounds, family)
        if value is not None:
            rungs.append(Rung(entry.name, entry.kind, family(value), value, entry.source))
    if bounds is None and isinstance(family(1.0), PureDP):
        rungs.extend(_corollary_3_21(target_epsilon, target_delta, rounds))
    return sorted(rungs, key=lambda rung: rung.value)


def _largest(
    entry: Bound, epsilon: float, delta: float, rounds: int, family: Callable[[float], Guarantee]
) -> float | None:
    """The largest parameter that meets the target, by bisection; None where there is none."""

    def fits(value: float) -> bool:
        granted = entry.on(Composition.repeat(family(value), rounds))
        return granted.delta(epsilon).value <= delta

    try:
        low = max(_SMALLEST, epsilon / rounds)  # the least floats over rounds are 0
        if not fits(_SMALLEST):
            return None  # the rounds' own deltas exceed the target already
        while not fits(low):
            low = max(_SMALLEST, low / 4.0)
        high = 2.0 * low
        while fits(high):
            low, high = high, 2.0 * high
            if high > 1e6 * max(1.0, epsilon):
                return None  # delta alone admits everything
        while high - low > _RELATIVE * high:
            middle = math.sqrt(low * high) if high > 1.5 * low else 0.5 * (low + high)
            low, high = (middle, high) if fits(middle) else (low, middle)
    except NotApplicable:
        return None
    return low


def _corollary_3_21(epsilon: float, delta: float, rounds: int) -> list[Rung]:
    """The rung of epsilon' / (2 sqrt(2 k ln(1/delta'))), where Theorem 3.20 confirms it.

    The corollary is printed for 0 < epsilon' < 1 and any delta' > 0. For delta' close to 1 the
    drift term that it drops is not small, and Theorem 3.20 gives more than epsilon'.
    """
    value = corollary_3_21(epsilon, delta, rounds)
    claimed = Composition.repeat(PureDP(value), rounds)
    if epsilon > 1.0 or bound("advanced").on(claimed).epsilon(delta).value > epsilon:
        return []
    source = "Dwork and Roth 2014, Corollary 3.21"
    return [Rung("corollary-3.21", "upper", PureDP(value), value, source)]


def corollary_3_21(epsilon: float, delta: float, rounds: int) -> float:
    """Per-round epsilon for a target (epsilon, delta) over ``rounds``, by the printed formula.

    Source: Dwork and Roth 2014, Corollary 3.21.

    >>> from simulator.theory import corollary_3_21
    >>> round(corollary_3_21(1.0, 1e-6, rounds=100), 6)
    0.009512
    """
    epsilon, delta = positive("epsilon", epsilon), open_probability("delta", delta)
    return epsilon / (2.0 * math.sqrt(2.0 * whole("rounds", rounds) * -math.log(delta)))
