"""Google's dp_accounting: accountants by privacy loss distribution and by Renyi divergence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from simulator.auditing.conformance.events import (
    APPROX,
    GAUSSIAN,
    LAPLACE,
    NOTHING,
    PURE,
    RANDOMIZED_RESPONSE,
    SUBSAMPLED_GAUSSIAN,
    PrivacyEvent,
    relation_of,
)
from simulator.auditing.conformance.protocol import Library, Question, Subject
from simulator.foundations.errors import NotApplicable
from simulator.theory.events.units import ADD_REMOVE, REPLACE_ONE

_RELATIONS = (ADD_REMOVE, REPLACE_ONE)
_DECLINES = ("neighboring_relation must be",)
_EVENTS = (GAUSSIAN, LAPLACE, RANDOMIZED_RESPONSE, SUBSAMPLED_GAUSSIAN, NOTHING)


def _relation(events: Sequence[PrivacyEvent]) -> str:
    """The neighbouring relation under which the library takes these events.

    Randomized response is defined for replacing a record. Raises NotApplicable for a composition
    with others that are stated for adding or removing one.
    """
    kinds = {event.kind for event in events} - {NOTHING}
    if relation_of(events) == REPLACE_ONE or kinds == {RANDOMIZED_RESPONSE}:
        return "REPLACE_ONE"
    if RANDOMIZED_RESPONSE in kinds:
        raise NotApplicable("randomized response is accounted for under replace-one alone")
    return "ADD_OR_REMOVE_ONE"


def noise_parameter(epsilon: float) -> float:
    """Of two buckets: the chance p that the answer is drawn at random, ln((2 - p) / p) = epsilon.

    In decimal digits this is 2 / (1 + e^epsilon); rounded down, so that the mechanism that
    the library accounts for is no more private than the one of the question.
    """
    p = 2.0 / (1.0 + math.exp(epsilon))
    while math.log1p(1.0 - p) - math.log(p) < epsilon:
        p = math.nextafter(p, 0.0)
    return p


def _written(event: PrivacyEvent) -> str:
    """The event as the library's own constructor."""
    if event.kind == GAUSSIAN:
        inner = f"GaussianDpEvent({1.0 / event.parameter!r})"
    elif event.kind == LAPLACE:
        inner = f"LaplaceDpEvent({1.0 / event.parameter!r})"
    elif event.kind == RANDOMIZED_RESPONSE:
        inner = f"RandomizedResponseDpEvent({noise_parameter(event.parameter)!r}, 2)"
    elif event.kind == SUBSAMPLED_GAUSSIAN:
        gaussian = f"GaussianDpEvent({1.0 / event.parameter!r})"
        inner = f"PoissonSampledDpEvent({event.rate!r}, {gaussian})"
    else:
        inner = "NoOpDpEvent()"
    return inner if event.count == 1 else f"SelfComposedDpEvent({inner}, {event.count})"


def _program(
    kind: str, name: str, events: Sequence[PrivacyEvent], question: Question, at: float
) -> str:
    return (
        "from dp_accounting.dp_event import *\n"
        "from dp_accounting.privacy_accountant import NeighboringRelation\n"
        f"from dp_accounting.{kind}.{kind}_privacy_accountant import {name}\n"
        f"accountant = {name}(neighboring_relation=NeighboringRelation.{_relation(events)})\n"
        f"for event in [{', '.join(map(_written, events))}]:\n"
        "    accountant.compose(event)\n"
        f"print(accountant.get_{question}({at!r}))\n"
    )


class ByEvents:
    """An accountant of the library, given events."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def _composed(self, events: Sequence[PrivacyEvent]) -> Any:
        from dp_accounting import dp_event
        from dp_accounting.privacy_accountant import NeighboringRelation

        relation = NeighboringRelation[_relation(events)]
        if self.kind == "pld":
            from dp_accounting.pld.pld_privacy_accountant import PLDAccountant as Kind
        else:
            from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant as Kind
        accountant = Kind(neighboring_relation=relation)
        names = vars(dp_event)
        for event in events:
            accountant.compose(eval(_written(event), {"__builtins__": {}}, dict(names)))
        return accountant

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """Epsilon of the accountant that has composed the events."""
        found: float = self._composed(events).get_epsilon(delta)
        return found

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """Delta of the accountant that has composed the events."""
        found: float = self._composed(events).get_delta(epsilon)
        return found


class FromPrivacyParameters:
    """``privacy_loss_distribution.from_privacy_parameters``, composed."""

    def _composed(self, events: Sequence[PrivacyEvent]) -> Any:
        from dp_accounting.pld import common, privacy_loss_distribution

        total = privacy_loss_distribution.identity()
        for event in events:
            if event.kind == NOTHING:
                continue
            promise = common.DifferentialPrivacyParameters(event.parameter, event.delta)
            one = privacy_loss_distribution.from_privacy_parameters(promise)
            total = total.compose(one.self_compose(event.count))
        return total

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """Epsilon of the composed privacy-loss distribution."""
        found: float = self._composed(events).get_epsilon_for_delta(delta)
        return found

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """Delta of the composed privacy-loss distribution."""
        found: float = self._composed(events).get_delta_for_epsilon(epsilon)
        return found


class AdvancedComposition:
    """``pld.accountant.advanced_composition``."""

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """Epsilon of one guarantee with itself; the library returns None where it is infinite."""
        from dp_accounting.pld import accountant, common

        if len(events) != 1:
            raise NotApplicable("the helper composes one guarantee with itself")
        promise = common.DifferentialPrivacyParameters(events[0].parameter, events[0].delta)
        found = accountant.advanced_composition(promise, events[0].count, delta)
        return math.inf if found is None else found

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """Not offered."""
        raise NotApplicable("the helper gives an epsilon alone")


def _parameters_snippet(events: Sequence[PrivacyEvent], question: Question, at: float) -> str:
    other = "delta" if question == "epsilon" else "epsilon"
    rounds = [(e.parameter, e.delta, e.count) for e in events if e.kind != NOTHING]
    return (
        "from dp_accounting.pld import common, privacy_loss_distribution as pld\n"
        "total = pld.identity()\n"
        f"for epsilon, delta, count in {rounds!r}:\n"
        "    promise = common.DifferentialPrivacyParameters(epsilon, delta)\n"
        "    total = total.compose(pld.from_privacy_parameters(promise).self_compose(count))\n"
        f"print(total.get_{question}_for_{other}({at!r}))\n"
    )


def _advanced_snippet(events: Sequence[PrivacyEvent], question: Question, at: float) -> str:
    (event,) = events
    return (
        "from dp_accounting.pld import accountant, common\n"
        f"promise = common.DifferentialPrivacyParameters({event.parameter!r}, {event.delta!r})\n"
        f"print(accountant.advanced_composition(promise, {event.count}, {at!r}))\n"
    )


def load() -> list[Subject]:
    """Import the library and list what it offers."""
    import dp_accounting  # noqa: F401

    return [
        Subject(
            name="PLDAccountant",
            role="accountant",
            make=partial(ByEvents, "pld"),
            claims='"an epsilon for which the mechanism is (epsilon, delta)-differentially private"'
            " where rounding is pessimistic, as it is by default"
            " (PrivacyLossDistribution.get_epsilon_for_delta)",
            kinds=_EVENTS,
            relations=_RELATIONS,
            declines=_DECLINES,
            remark="the branch of _maybe_compose for RandomizedResponseDpEvent composes it once, "
            "whatever the count; the branches of the other events apply self_compose(count). "
            "Losses are rounded up, but convolved by Fourier transform in doubles, whose error in "
            "delta is not allowed for: some 1e-13 after ten thousand rounds, of either sign",
            snippet=partial(_program, "pld", "PLDAccountant"),
        ),
        Subject(
            name="RdpAccountant",
            role="accountant",
            make=partial(ByEvents, "rdp"),
            claims="an upper bound by Proposition 12 of Canonne, Kamath and Steinke 2020; its "
            "GaussianDpEvent has the noise over C, the norm of one record's value",
            kinds=_EVENTS,
            relations=_RELATIONS,
            declines=_DECLINES,
            snippet=partial(_program, "rdp", "RdpAccountant"),
        ),
        Subject(
            name="from_privacy_parameters",
            role="accountant",
            make=FromPrivacyParameters,
            claims='"pessimistic PLD from epsilon and delta parameters" (its documentation)',
            kinds=(PURE, APPROX, NOTHING),
            remark="self_compose is a Fourier transform in doubles, whose error in delta is not "
            "allowed for; it matters at small delta alone",
            snippet=_parameters_snippet,
        ),
        Subject(
            name="advanced_composition",
            role="accountant",
            make=AdvancedComposition,
            claims="the optimal Theorem 3.3 of Kairouz, Oh and Viswanath (its documentation)",
            kinds=(PURE, APPROX),
            snippet=_advanced_snippet,
        ),
    ]


LIBRARY = Library(
    name="dp-accounting",
    distribution="dp-accounting",
    packages=("dp_accounting",),
    load=load,
    least="0.6",
)
