"""The package's own bounds, filters and odometers, tried like those of the others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from simulator.auditing.conformance.events import (
    APPROX,
    GAUSSIAN,
    LAPLACE,
    NOTHING,
    PURE,
    RANDOMIZED_RESPONSE,
    SUBSAMPLED_GAUSSIAN,
    PrivacyEvent,
)
from simulator.auditing.conformance.protocol import Library, Reading, Spend, Subject
from simulator.auditing.conformance.truth import account
from simulator.foundations.errors import DpcomposeError
from simulator.theory import (
    ApproxDP,
    BoundOnComposition,
    MixtureOdometer,
    bound,
    parse_filter,
)
from simulator.theory.events.units import ADD_REMOVE, REPLACE_ONE

_RESPONSES = (PURE, APPROX, RANDOMIZED_RESPONSE, NOTHING)
_BOUNDS = ("advanced-tight-mean", "kairouz-oh-viswanath-3.5", "zcdp-canonne-kamath-steinke")


class ComposedLoss:
    """The upper ends of a composed privacy loss distribution."""

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """Certified upper end of epsilon, by composed laws."""
        return account(events).epsilon(delta).upper

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """Certified upper end of delta, by composed laws."""
        return account(events).delta(epsilon).upper


class ByBound:
    """One of the bounds on a composition of guarantees."""

    def __init__(self, name: str) -> None:
        self.name = name

    def _bound(self, events: Sequence[PrivacyEvent]) -> BoundOnComposition:
        return bound(self.name).on(account(events).composition())

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """Upper end of epsilon, by the bound."""
        return float(self._bound(events).epsilon(delta).upper)

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """Upper end of delta, by the bound."""
        return float(self._bound(events).delta(epsilon).upper)


class OwnRunningFilter:
    """A filter of this package in use."""

    def __init__(self, kind: str, epsilon: float, delta: float) -> None:
        self.running = parse_filter(f"{kind}:{epsilon!r},{delta!r}").fresh()
        self.ran = 0

    def ask(self, spend: Spend) -> bool:
        """Request a round of the running filter."""
        try:
            self.running.spend(ApproxDP(*spend))
        except DpcomposeError:
            return False
        self.ran += 1
        return True

    def charged(self) -> None:
        """None: the state of a filter here is in its own units."""

    def runs(self) -> int:
        """How many rounds were admitted."""
        return self.ran


class OwnMixture:
    """The mixture odometer."""

    def __init__(self, delta: float) -> None:
        self.running = MixtureOdometer(delta).fresh()

    def spend(self, spend: Spend) -> None:
        """Spend one round."""
        self.running.spend(ApproxDP(*spend))

    def reading(self) -> Reading:
        """The epsilon and delta of the running odometer."""
        return Reading(self.running.epsilon, self.running.delta)


def load() -> list[Subject]:
    """List what is tried."""
    found = [
        Subject(
            name="privacy-loss-distribution",
            role="accountant",
            make=ComposedLoss,
            claims="a certified upper end (Account)",
            kinds=(GAUSSIAN, LAPLACE, SUBSAMPLED_GAUSSIAN, *_RESPONSES[:3]),
            relations=(ADD_REMOVE, REPLACE_ONE),
        )
    ]
    for name in _BOUNDS:
        gaussian = (GAUSSIAN,) if name.startswith("zcdp") else ()
        found.append(
            Subject(
                name=name,
                role="accountant",
                make=partial(ByBound, name),
                claims="a certified upper end (bound)",
                kinds=(*_RESPONSES[:3], *gaussian),
                relations=(ADD_REMOVE, REPLACE_ONE),
            )
        )
    for kind in ("sum", "rogers", "whitehouse", "zcdp", "renyi"):
        found.append(
            Subject(
                name=kind,
                role="filter",
                make=partial(OwnRunningFilter, kind),
                claims="keeps the promise against every adaptive adversary",
                kinds=(PURE, APPROX),
            )
        )
    found.append(
        Subject(
            name="mixture",
            role="odometer",
            make=OwnMixture,
            claims="holds whenever the adversary stops",
            kinds=(PURE, APPROX),
        )
    )
    return found


LIBRARY = Library(
    name="dpcompose", distribution="dpcompose", packages=("simulator",), load=load, extra=""
)
