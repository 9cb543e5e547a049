"""The truth that claims are held against: certified ends, from this package's theory."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from simulator.conformance.events import (
    APPROX,
    GAUSSIAN,
    LAPLACE,
    PURE,
    RANDOMIZED_RESPONSE,
    SUBSAMPLED_GAUSSIAN,
    Events,
    PrivacyEvent,
    merged,
)
from simulator.deferred import log_ndtr
from simulator.errors import NotApplicable
from simulator.theory import (
    PLD,
    ApproxDP,
    Bracket,
    Composition,
    FiniteLaw,
    LaplaceLaw,
    PrivacyLossLaw,
    PureDP,
    bounds_for,
    compose_laws,
    randomized_response,
)
from simulator.theory.laws import GaussianLaw

TOLERANCE = 1e-6
_SAMPLED_TOLERANCE = 1e-3  # a law of many losses composes slowly
_CELLS = 1200
_RESPONSES = (PURE, APPROX, RANDOMIZED_RESPONSE)


def law_of(event: PrivacyEvent) -> PrivacyLossLaw:
    """The worst-case law of one round; of a subsampled Gaussian one that is no worse than it."""
    if event.kind == GAUSSIAN:
        return GaussianLaw(event.parameter)
    if event.kind == LAPLACE:
        return LaplaceLaw(event.parameter)
    if event.kind in _RESPONSES:
        return randomized_response(event.parameter, event.delta)
    if event.kind == SUBSAMPLED_GAUSSIAN:
        return _coarse_sampled(event.parameter, event.rate)
    raise NotApplicable(f"{event.kind} has no law")


def _coarse_sampled(mu: float, rate: float) -> FiniteLaw:
    """Loss of (1 - q) N(0, 1) + q N(mu, 1) against N(0, 1), the answer known to a cell only.

    Rounding an answer is post-processing: the pair is no easier to tell apart than the mechanism's.
    """
    edges = np.linspace(-9.0, 9.0 + mu, _CELLS + 1)
    edges[0], edges[-1] = -np.inf, np.inf
    absent, shifted = _log_cells(edges), _log_cells(edges - mu)
    present = np.logaddexp(math.log1p(-rate) + absent, math.log(rate) + shifted)
    return FiniteLaw.from_log_probabilities(present, absent)


def _log_cells(edges: np.ndarray) -> np.ndarray:
    """Ln of the normal probability of each cell, from whichever tail is the smaller."""
    left, right = edges[:-1], edges[1:]
    upper = left + right > 0
    high, low = log_ndtr(np.where(upper, -left, right)), log_ndtr(np.where(upper, -right, left))
    return high + np.log1p(-np.exp(low - high))


class Truth:
    """Certified ends of epsilon(delta) and delta(epsilon) of a composition.

    Where a Gaussian is subsampled only the lower ends say anything.
    """

    def __init__(self, events: Sequence[PrivacyEvent]) -> None:
        self.events: Events = merged(events)
        self.one_sided = any(e.kind == SUBSAMPLED_GAUSSIAN for e in self.events)
        tolerance = _SAMPLED_TOLERANCE if self.one_sided else TOLERANCE
        self._pld = compose_laws([(law_of(e), e.count) for e in self.events], tolerance)

    def epsilon(self, delta: float) -> Bracket:
        """Ends of the least epsilon at ``delta``. Raises NotApplicable."""
        found = self._of(lambda pld: pld.epsilon(delta))
        for answer in self._exact(lambda bound: bound.epsilon(delta)):
            found = found.meet(answer)
        return Bracket(found.lower, math.inf) if self.one_sided else found

    def delta(self, epsilon: float) -> Bracket:
        """Ends of delta at ``epsilon``. Raises NotApplicable."""
        found = self._of(lambda pld: pld.delta(epsilon))
        for answer in self._exact(lambda bound: bound.delta(epsilon)):
            found = found.meet(answer)
        return Bracket(found.lower, 1.0) if self.one_sided else found

    def _of(self, ask) -> Bracket:  # type: ignore[no-untyped-def]
        """The larger of the two directions, which differ only where a Gaussian is subsampled."""
        found: list[Bracket] = [ask(self._pld)]
        if self.one_sided:
            found.append(ask(self._reversed()))
        return max(found, key=lambda bracket: bracket.lower)

    def _reversed(self) -> PLD:
        return self._pld.reversed()

    def _exact(self, ask):  # type: ignore[no-untyped-def]
        """What the exact theorems say, where every round is of a family they cover."""
        if not self.events or not all(e.kind in _RESPONSES for e in self.events):
            return
        rounds = Composition.of(
            *(
                (ApproxDP(e.parameter, e.delta) if e.delta else PureDP(e.parameter), e.count)
                for e in self.events
            )
        )
        for bound in bounds_for(rounds):
            if bound.kind == "exact" and not bound.bound.costly:
                try:
                    answer = ask(bound)
                except NotApplicable:
                    continue
                yield Bracket(answer.lower, answer.upper)
