"""The truth that claims are held against: certified ends, from this package's theory."""

from __future__ import annotations

from collections.abc import Sequence

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
from simulator.errors import NotApplicable
from simulator.theory import (
    ApproxDP,
    Bracket,
    Composition,
    GaussianLaw,
    LaplaceLaw,
    PoissonSubsampledLaw,
    PrivacyLossLaw,
    PureDP,
    bounds_for,
    compose_laws,
    randomized_response,
)

TOLERANCE = 1e-6
_RESPONSES = (PURE, APPROX, RANDOMIZED_RESPONSE)


def law_of(event: PrivacyEvent) -> PrivacyLossLaw:
    """The worst-case law of one round; of a subsampled Gaussian that of the record's addition."""
    if event.kind == GAUSSIAN:
        return GaussianLaw(event.parameter)
    if event.kind == LAPLACE:
        return LaplaceLaw(event.parameter)
    if event.kind in _RESPONSES:
        return randomized_response(event.parameter, event.delta)
    if event.kind == SUBSAMPLED_GAUSSIAN:
        return PoissonSubsampledLaw(GaussianLaw(event.parameter), event.rate)
    raise NotApplicable(f"{event.kind} has no law")


class Truth:
    """Certified ends of epsilon(delta) and delta(epsilon) of a composition."""

    def __init__(self, events: Sequence[PrivacyEvent]) -> None:
        self.events: Events = merged(events)
        self._pld = compose_laws([(law_of(e), e.count) for e in self.events], TOLERANCE)

    def epsilon(self, delta: float) -> Bracket:
        """Ends of the least epsilon at ``delta``. Raises NotApplicable."""
        found = self._of(lambda pld: pld.epsilon(delta))
        for answer in self._exact(lambda bound: bound.epsilon(delta)):
            found = found.meet(answer)
        return found

    def delta(self, epsilon: float) -> Bracket:
        """Ends of delta at ``epsilon``. Raises NotApplicable."""
        found = self._of(lambda pld: pld.delta(epsilon))
        for answer in self._exact(lambda bound: bound.delta(epsilon)):
            found = found.meet(answer)
        return found

    def _of(self, ask) -> Bracket:  # type: ignore[no-untyped-def]
        """The larger of the two directions, which differ only where a Gaussian is subsampled."""
        found: list[Bracket] = [ask(self._pld)]
        if any(event.kind == SUBSAMPLED_GAUSSIAN for event in self.events):
            found.append(ask(self._pld.reversed()))
        return Bracket(max(one.lower for one in found), max(one.upper for one in found))

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
