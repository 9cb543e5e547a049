"""Mechanisms by name: what ``dpcompose bounds`` and ``dpcompose calibrate`` compute of them.

A mechanism is written as ``laplace:0.1``, ``subsampled-gaussian:sigma=1,rate=0.01`` or, for many
rounds, ``laplace:0.1*500``, see :mod:`simulator.foundations.grammar`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import Any, ClassVar

from simulator.foundations import grammar
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.extensions import added, load_added, refuse_file
from simulator.foundations.wording import did_you_mean
from simulator.theory.bounds.certified_calibration import (
    Rounds,
    calibrate_certified,
)
from simulator.theory.bounds.comparison import Rows
from simulator.theory.events.accounting import LARGEST_PARAMETER, Account
from simulator.theory.events.leaves import (
    GaussianEvent,
    LaplaceEvent,
    PromiseEvent,
    RandomizedResponseEvent,
)
from simulator.theory.events.open_account import scale_of
from simulator.theory.events.sampling import SubsampledEvent
from simulator.theory.events.targets import FoundParameter, Target, stated
from simulator.theory.events.tree import EventTree, RepeatedEvent, compose
from simulator.theory.guarantees.bounded_range import BoundedRange
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from simulator.theory.guarantees.shuffled import ShuffledDP
from simulator.theory.parameters import count, positive

ROUNDS = "rounds"
"""The name of the number of rounds, where that is calibrated."""


class NamedMechanism(ABC):
    """What a name stands for.

    Attributes
    ----------
    about : its line of help.
    estimated : whether its rows are estimates from draws.
    inexact : whether laws that only dominate it, of which upper ends alone are certain, are shown
        and calibrated by.
    """

    about: str
    estimated: ClassVar[bool] = False
    inexact: ClassVar[bool] = False

    @property
    @abstractmethod
    def parameters(self) -> tuple[grammar.Parameter, ...]:
        """Those of its text."""

    def missing(self, values: Mapping[str, Any]) -> list[str]:
        """The parameters that must be given and are not."""
        return [p.keyword for p in self.parameters if p.required and p.keyword not in values]

    @abstractmethod
    def event(self, term: grammar.Term, values: Mapping[str, Any]) -> EventTree:
        """The event of one round. Raises NotApplicable where none is known."""

    @abstractmethod
    def compare(self, rounds: NamedRounds, **question: Any) -> Rows:
        """The rows of rounds of this mechanism alone; see :func:`compare` for the arguments."""

    @abstractmethod
    def calibrate(
        self, term: grammar.Term, values: Mapping[str, Any], rounds: int | None, target: Target
    ) -> FoundParameter:
        """The parameter that is not among ``values``. Raises InvalidInput and NotApplicable."""


@dataclass(frozen=True)
class NamedRounds:
    """So many rounds of one mechanism."""

    term: grammar.Term
    mechanism: NamedMechanism
    values: Mapping[str, Any]
    count: int = 1

    @cached_property
    def event(self) -> EventTree:
        """The event of all of them."""
        return RepeatedEvent(self.mechanism.event(self.term, self.values), self.count)


@dataclass(frozen=True)
class EventMechanism(NamedMechanism):
    """A mechanism whose round is an event, which ``make`` makes of the values of its text."""

    make: Callable[..., EventTree]
    about: str

    @property
    def parameters(self) -> tuple[grammar.Parameter, ...]:
        """Those of ``make``."""
        return grammar.parameters_of(self.make)

    def event(self, term: grammar.Term, values: Mapping[str, Any]) -> EventTree:
        """The event of one round, made of the values. Raises NotApplicable where none is known."""
        return grammar.calling(term, self.make, dict(values))

    def compare(self, rounds: NamedRounds, **question: Any) -> Rows:
        """Every bound on the rounds, and their composed loss."""
        return Account(rounds.event).compare(**question, exact_only=not self.inexact)

    def calibrate(
        self, term: grammar.Term, values: Mapping[str, Any], rounds: int | None, target: Target
    ) -> FoundParameter:
        """The parameter that is not among ``values``, found by the certified privacy loss.

        Where all parameters are given, it finds the number of rounds.
        """
        free = self._free(term, values, rounds)
        try:
            scale = scale_of("count" if free == ROUNDS else free, target.digits)
        except InvalidInput:
            takes = grammar.form(term.name, self.parameters)
            raise InvalidInput(
                f"{term.name} needs {free}, which is not calibrated: write {takes}"
            ) from None

        def account(value: float) -> Account:
            known, times = dict(values), rounds or 1
            if free == ROUNDS:
                times = int(value)
            else:
                known[free] = value
            return Account(RepeatedEvent(self.event(term, known), count(ROUNDS, times)))

        start = account(scale.start)  # checks the other values before any work
        if not (start.exact or self.inexact):
            raise NotApplicable(f"{term.name} has no dominating pair of laws to calibrate by")

        def laws(value: float) -> Rounds:
            try:
                return account(value).laws
            except InvalidInput as error:  # this number is invalid; the others are not
                raise NotApplicable(str(error)) from None

        named = replace(scale, name=free)
        found = calibrate_certified(
            laws, target.epsilon, target.delta, named, any_direction=target.any_direction
        )
        return stated(found, named, target, exact=start.exact)

    def _free(self, term: grammar.Term, values: Mapping[str, Any], rounds: int | None) -> str:
        """The name of the parameter to find."""
        missing = self.missing(values)
        takes = grammar.form(term.name, self.parameters)
        if len(missing) > 1:
            raise InvalidInput(
                f"{term.name} needs {' and '.join(missing)}: leave out one alone, to be "
                f"calibrated, of {takes}"
            )
        if missing:
            return missing[0]
        if rounds is not None:
            raise InvalidInput(
                f"{term}: nothing is left out to be calibrated; leave out a parameter of {takes}, "
                "or the number of rounds"
            )
        return ROUNDS


def _epsilon(value: float) -> float:
    if not 0.0 < value <= LARGEST_PARAMETER:
        raise InvalidInput(
            f"epsilon must be above 0 and at most {LARGEST_PARAMETER:g}, not {value!r}"
        )
    return value


def _sigma(value: float) -> float:
    if not positive("sigma", value) >= 1.0 / LARGEST_PARAMETER:
        raise InvalidInput(f"sigma must be at least {1.0 / LARGEST_PARAMETER:g}, not {value!r}")
    return value


def _pure(epsilon: float) -> EventTree:
    return PromiseEvent(PureDP(_epsilon(epsilon)))


def _approx(epsilon: float, delta: float) -> EventTree:
    return PromiseEvent(ApproxDP(_epsilon(epsilon), delta))


def _exponential(epsilon: float) -> EventTree:
    return PromiseEvent(BoundedRange(_epsilon(epsilon)))


def _response(epsilon: float) -> EventTree:
    return RandomizedResponseEvent(_epsilon(epsilon))


def _laplace(epsilon: float) -> EventTree:
    return LaplaceEvent(1.0, _epsilon(epsilon))


def _gaussian(sigma: float) -> EventTree:
    return GaussianEvent(_sigma(sigma))


def _subsampled_gaussian(sigma: float, rate: float) -> EventTree:
    return SubsampledEvent(_gaussian(sigma), rate)


def _subsampled_response(epsilon: float, rate: float) -> EventTree:
    return SubsampledEvent(_response(epsilon), rate)


def _subsampled_laplace(epsilon: float, rate: float) -> EventTree:
    return SubsampledEvent(_laplace(epsilon), rate)


def _shuffled(epsilon: float, reports: int) -> EventTree:
    return PromiseEvent(ShuffledDP(_epsilon(epsilon), reports))


MECHANISMS: dict[str, NamedMechanism] = {
    "pure": EventMechanism(_pure, "Any mechanism that is epsilon-DP."),
    "approx": EventMechanism(_approx, "Any mechanism that is (epsilon, delta)-DP."),
    "randomized-response": EventMechanism(_response, "Of one bit."),
    "laplace": EventMechanism(_laplace, "Noise of scale 1/epsilon at sensitivity 1."),
    "geometric": EventMechanism(
        _response, "Whole Laplace noise at sensitivity 1: the loss is of randomized response."
    ),
    "gaussian": EventMechanism(_gaussian, "Noise of deviation sigma at sensitivity 1."),
    "exponential": EventMechanism(_exponential, "Any mechanism of bounded range epsilon."),
    "subsampled-gaussian": EventMechanism(
        _subsampled_gaussian,
        "On a Poisson sample of that rate, add or remove one; so the next two.",
    ),
    "subsampled-laplace": EventMechanism(
        _subsampled_laplace, "The epsilon is that without sampling."
    ),
    "subsampled-randomized-response": EventMechanism(
        _subsampled_response, "The epsilon is that without sampling."
    ),
    "shuffled": EventMechanism(
        _shuffled,
        "One report per person in random order; no person has an own epsilon-DP randomizer.",
    ),
}
"""By name. ``exponential`` has no single worst pair (Dong, Durfee and Rogers 2020): the
bounded-range bounds give its exact row. The lower bound of ``shuffled`` is that of randomized
response, ``shuffled-randomized-response``. Other packages add mechanisms, and so do the shelves of
this one: an entry point of the group ``dpcompose.mechanisms`` names a :class:`NamedMechanism`, or a
class or a function that makes a mechanism of its parameters, which then counts by its guarantee."""


def mechanism_names() -> list[str]:
    """The names that a text can begin with."""
    return [*MECHANISMS, *(name for name in added("mechanisms") if name not in MECHANISMS)]


def named_mechanism(name: str) -> NamedMechanism:
    """The mechanism of that name; raises InvalidInput for another name."""
    if name in MECHANISMS:
        return MECHANISMS[name]
    if name not in added("mechanisms"):
        refuse_file("mechanisms", name, "put its guarantee into a Composition for bounds_for")
        known = mechanism_names()
        near = did_you_mean(name, known) or f"; there are {', '.join(known)}"
        raise InvalidInput(f"no mechanism {name!r}{near}")
    found = load_added("mechanisms", name)
    if isinstance(found, NamedMechanism):
        return found
    if not callable(found):
        raise InvalidInput(
            f"the entry point {name!r} must be a NamedMechanism, or make a mechanism, not "
            f"{found!r:.80}"
        )
    return _by_guarantee(found)


def _by_guarantee(make: Callable[..., Any]) -> EventMechanism:
    """A mechanism of another package, which counts by its guarantee under add-or-remove-one."""

    @wraps(make)
    def event(*arguments: Any, **values: Any) -> EventTree:
        return PromiseEvent(make(*arguments, **values).guarantee())

    return EventMechanism(event, "Of another package, by its guarantee.")


def read_rounds(text: str, rounds: int | None = None) -> NamedRounds:
    """The rounds of a text such as ``laplace:0.1*500``.

    Without a count there is one round, or as many as ``rounds``. Raises InvalidInput for an invalid
    text, and for ``rounds`` that are not those of the text.
    """
    term = grammar.read(text)
    mechanism = named_mechanism(term.name)
    values = grammar.bind(term, mechanism.parameters)
    if rounds is not None and term.count not in (None, rounds):
        raise InvalidInput(f"rounds is {rounds}, but {text} has {term.count}", argument="rounds")
    times = term.count or count(ROUNDS, 1 if rounds is None else rounds)
    return NamedRounds(replace(term, count=None), mechanism, values, times)


def compare(
    *rounds: NamedRounds | str,
    delta: float | None = None,
    epsilon: float | None = None,
    names: Collection[str] = (),
    tolerance: float | None = None,
) -> Rows:
    """Every bound on the epsilon at ``delta``, or on the delta at ``epsilon``, and the exact value.

    ``compare("laplace:0.1*500", "gaussian:sigma=5", delta=1e-6)`` is of 501 rounds.

    Parameters
    ----------
    rounds : read, or as texts.
    names, tolerance : as for :meth:`Account.compare`.

    Returns the rows sorted by tightness. Bounds that do not apply are left out; where they are
    among ``names``, ``refused`` has the reasons.

    Raises
    ------
    InvalidInput : an unknown name, a number out of its range, or a tolerance that is not reached.
    NotApplicable : no bound applies, or none of those that are named.
    """
    played = [read_rounds(each) if isinstance(each, str) else each for each in rounds]
    question: dict[str, Any] = {
        "delta": delta, "epsilon": epsilon, "names": names, "tolerance": tolerance
    }  # fmt: skip
    if len(played) == 1:
        return played[0].mechanism.compare(played[0], **question)
    exact_only = not any(each.mechanism.inexact for each in played)
    together = Account(compose(*(each.event for each in played)))
    return together.compare(**question, exact_only=exact_only)
