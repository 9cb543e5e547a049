"""The truth that claims are compared with: certified ends from this package's theory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from simulator.auditing.conformance.events import (
    APPROX,
    GAUSSIAN,
    LAPLACE,
    NOTHING,
    PURE,
    RANDOMIZED_RESPONSE,
    SUBSAMPLED_GAUSSIAN,
    Events,
    PrivacyEvent,
    merged,
    relation_of,
)
from simulator.foundations.errors import NotApplicable
from simulator.theory import (
    ApproxDP,
    BoundOnComposition,
    Bracket,
    PureDP,
    bounds_for,
    events,
)
from simulator.theory.pld.distribution import largest_delta

TOLERANCE = 1e-6
"""The relative width of the ends."""
_SAMPLED_TOLERANCE = 1e-5
"""The width for a law without a transform, whose composition is slow."""
_RESPONSES = (PURE, APPROX, RANDOMIZED_RESPONSE)
_ONCE: dict[str, Callable[[PrivacyEvent], events.EventTree]] = {
    GAUSSIAN: lambda event: events.gaussian(1.0, unit(event).moves),
    LAPLACE: lambda event: events.laplace(1.0, unit(event).moves),
    RANDOMIZED_RESPONSE: lambda event: events.randomized_response(event.parameter),
    PURE: lambda event: events.promise(PureDP(event.parameter)),
    APPROX: lambda event: events.promise(ApproxDP(event.parameter, event.delta)),
    SUBSAMPLED_GAUSSIAN: lambda event: events.sampled_sum(1.0, event.rate, unit(event).clip),
}
"""The event of one round, by its kind."""


def unit(event: PrivacyEvent) -> events.Unit:
    """What neighbours differ by, with noise of deviation or scale 1."""
    return events.Unit(event.relation, clip=event.parameter)


def tree(event: PrivacyEvent) -> events.EventTree:
    """The event in the theory, with the same numbers."""
    if event.kind == NOTHING:
        return events.nothing()
    once = _ONCE[event.kind](event)
    return once if event.count == 1 else events.self_compose(once, event.count)


def account(rounds: Sequence[PrivacyEvent]) -> events.Account:
    """All of the rounds, under their relation."""
    composed = events.compose(*map(tree, rounds)) if rounds else events.nothing()
    return events.Account(composed, relation_of(rounds))


class Truth:
    """Certified ends of epsilon(delta) and delta(epsilon) of a composition.

    Of a subsampled Gaussian it is the worse of both directions, each for all of the rounds.
    """

    def __init__(
        self,
        rounds: Sequence[PrivacyEvent],
        tolerance: float = TOLERANCE,
        sampled_tolerance: float = _SAMPLED_TOLERANCE,
    ) -> None:
        self.events: Events = merged(rounds)
        self._account = account(self.events)
        sampled = any(event.kind == SUBSAMPLED_GAUSSIAN for event in self.events)
        self._directions = self._account.directions(sampled_tolerance if sampled else tolerance)

    def epsilon(self, delta: float) -> Bracket:
        """Ends of the least epsilon at ``delta``. Raises NotApplicable."""
        sides = [pld.epsilon(delta) for pld in self._directions]
        return self._met(Bracket.largest(sides), lambda bound: bound.epsilon(delta))

    def delta(self, epsilon: float) -> Bracket:
        """Ends of delta at ``epsilon``. Raises NotApplicable."""
        found = largest_delta(self._directions, epsilon)
        return self._met(found, lambda bound: bound.delta(epsilon))

    def _met(self, found: Bracket, theorem: Callable[[BoundOnComposition], Bracket]) -> Bracket:
        """The bracket, intersected with those of the exact theorems."""
        for answer in self._exact(theorem):
            found = found.meet(Bracket(answer.lower, answer.upper))
        return found

    def _exact(self, theorem: Callable[[BoundOnComposition], Bracket]) -> Iterator[Bracket]:
        """The values of the exact theorems, if these apply to every round."""
        if not self.events or not all(e.kind in _RESPONSES for e in self.events):
            return
        for bound in bounds_for(self._account.composition()):
            if bound.kind == "exact" and not bound.bound.costly:
                try:
                    yield theorem(bound)
                except NotApplicable:
                    continue
