"""Mechanisms by name, for the command line and for accountants on trial; each makes an event."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from simulator.foundations.errors import InvalidInput
from simulator.theory.bounds.comparison import Row
from simulator.theory.events.accounting import LARGEST_PARAMETER, Account
from simulator.theory.events.leaves import (
    GaussianEvent,
    LaplaceEvent,
    PromiseEvent,
    RandomizedResponseEvent,
)
from simulator.theory.events.sampling import SubsampledEvent
from simulator.theory.events.tree import EventTree, RepeatedEvent, compose
from simulator.theory.guarantees.bounded_range import BoundedRange
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from simulator.theory.guarantees.shuffled import ShuffledDP
from simulator.theory.parameters import count

Second = Literal["", "delta", "rate", "reports"]


@dataclass(frozen=True)
class NamedMechanism:
    """A mechanism made from its parameter and, for some, a second number.

    Attributes
    ----------
    event : the event of one round, from the parameter and the second number.
    second : the meaning of the second number, empty where there is none.
    parameter : the meaning of the first number.
    """

    event: Callable[[float, float], EventTree]
    second: Second = ""
    parameter: Literal["epsilon", "mu", "sigma"] = "epsilon"

    @property
    def noisy(self) -> bool:
        """Whether the parameter is sigma, a noise scale."""
        return self.parameter == "sigma"

    @property
    def leaks(self) -> bool:
        """Whether a round has a delta."""
        return self.second == "delta"

    @property
    def sampled(self) -> bool:
        """Whether it runs on a random sample of the records."""
        return self.second == "rate"

    @property
    def shuffled(self) -> bool:
        """Whether it is a set of shuffled reports."""
        return self.second == "reports"


def _pure(epsilon: float, _: float) -> EventTree:
    return PromiseEvent(PureDP(epsilon))


def _response(epsilon: float, _: float) -> EventTree:
    return RandomizedResponseEvent(epsilon)


def _laplace(epsilon: float, _: float) -> EventTree:
    return LaplaceEvent(1.0, epsilon)


MECHANISMS: dict[str, NamedMechanism] = {
    "pure": NamedMechanism(_pure),
    "randomized-response": NamedMechanism(_response),
    "geometric": NamedMechanism(_response),
    "laplace": NamedMechanism(_laplace),
    "gaussian": NamedMechanism(lambda mu, _: GaussianEvent(1.0, mu), parameter="mu"),
    "exponential": NamedMechanism(lambda epsilon, _: PromiseEvent(BoundedRange(epsilon))),
    "approx": NamedMechanism(
        lambda epsilon, delta: PromiseEvent(ApproxDP(epsilon, delta)), "delta"
    ),
    "subsampled-gaussian": NamedMechanism(
        lambda sigma, rate: SubsampledEvent(GaussianEvent(sigma), rate), "rate", "sigma"
    ),
    "subsampled-randomized-response": NamedMechanism(
        lambda epsilon, rate: SubsampledEvent(_response(epsilon, 0.0), rate), "rate"
    ),
    "subsampled-laplace": NamedMechanism(
        lambda epsilon, rate: SubsampledEvent(_laplace(epsilon, 0.0), rate), "rate"
    ),
    "shuffled": NamedMechanism(
        lambda epsilon, reports: PromiseEvent(ShuffledDP(epsilon, int(reports))), "reports"
    ),
}
"""By name. ``gaussian`` has mu = sensitivity/sigma; ``geometric`` is at sensitivity 1, where its
loss is that of randomized response. ``exponential`` has no single worst pair (Dong, Durfee and
Rogers 2020): the bounded-range bounds give its exact row. ``subsampled-gaussian`` is at sensitivity
1 under add-or-remove-one; the others on a sample take the epsilon of the mechanism without
sampling. ``shuffled`` is any local randomizer of that epsilon; its lower bound is
``shuffled-randomized-response``."""


def account_of(mechanism: str, rounds: Sequence[tuple[float, int]], second: float = 0.0) -> Account:
    """The account of rounds of one mechanism: pairs (parameter > 0, number of rounds with it).

    Raises InvalidInput for an unknown name, or a number out of its range.
    """
    if mechanism not in MECHANISMS:
        raise InvalidInput(f"no mechanism {mechanism!r}; there are {', '.join(MECHANISMS)}")
    named = MECHANISMS[mechanism]
    what = "sigma" if named.noisy else "the privacy parameter"
    least = 1.0 / LARGEST_PARAMETER if named.noisy else 0.0
    events = []
    for parameter, times in rounds:
        if not (least <= parameter <= LARGEST_PARAMETER and parameter > 0.0):
            above = f"at least {least:g}" if least else "above 0"
            raise InvalidInput(
                f"{what} of a round must be {above} and at most {LARGEST_PARAMETER:g}, "
                f"not {parameter!r}"
            )
        events.append(RepeatedEvent(named.event(parameter, second), count("rounds", times)))
    return Account(compose(*events))


def compare(
    mechanism: str,
    rounds: Sequence[tuple[float, int]],
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    leak: float = 0.0,
    rate: float = 1.0,
    reports: int = 1,
    names: Collection[str] = (),
    tolerance: float | None = None,
) -> list[Row]:
    """Every bound on the epsilon at ``delta``, or on the delta at ``epsilon``, and the exact value.

    Parameters
    ----------
    mechanism : a name in MECHANISMS.
    rounds : pairs (privacy parameter > 0, number of rounds with it).
    leak : the delta of each round in [0, 1), for ``approx``.
    rate : the probability in [0, 1] that a record is sampled, for mechanisms on a sample.
    reports : how many reports are shuffled, for ``shuffled``.
    names, tolerance : as for :meth:`Account.compare`.

    Returns the rows sorted by tightness. Without ``names``, bounds that do not apply are left out.

    Raises
    ------
    InvalidInput : an unknown name, a number out of its range, or a tolerance that is not reached.
    NotApplicable : the conditions of a named bound are not met, or no bound applies.
    """
    second: float = leak
    if (named := MECHANISMS.get(mechanism)) is not None:
        if leak and not named.leaks:
            raise InvalidInput(f"a round of {mechanism} has no delta; only approx takes one")
        if rate != 1.0 and not named.sampled:
            raise InvalidInput(
                f"{mechanism} runs on all records; only the subsampled mechanisms take a rate"
            )
        if reports != 1 and not named.shuffled:
            raise InvalidInput(f"{mechanism} shuffles no reports; only shuffled takes their number")
        second = rate if named.sampled else float(reports) if named.shuffled else leak
    account = account_of(mechanism, rounds, second)
    return account.compare(
        delta=delta, epsilon=epsilon, names=names, tolerance=tolerance, exact_only=True
    )
