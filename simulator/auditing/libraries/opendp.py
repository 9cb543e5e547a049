"""OpenDP: compositions, the conversion from zCDP, the fully adaptive odometer and its filter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from simulator.auditing.conformance.events import (
    APPROX,
    GAUSSIAN,
    LAPLACE,
    PURE,
    RANDOMIZED_RESPONSE,
    PrivacyEvent,
)
from simulator.auditing.conformance.protocol import Library, Question, Reading, Spend, Subject
from simulator.foundations.errors import NotApplicable

_VOUCHED = (
    "the losses here are those of user measurements, for whose privacy maps the caller vouches: "
    'make_user_measurement "only returns a valid measurement if" its map is one (feature '
    '"honest-but-curious")'
)


def _opendp() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")
    return dp


def _measurement(measure: str, loss: Any, ran: list[int]) -> Any:
    """A measurement of a bit that states ``loss`` and counts its runs in ``ran``."""
    dp = _opendp()

    def run(_: bool) -> float:
        ran.append(1)
        return 0.0

    measures = {
        "pure": dp.max_divergence(),
        "approx": dp.approximate(dp.max_divergence()),
        "zcdp": dp.zero_concentrated_divergence(),
    }
    return dp.m.make_user_measurement(
        dp.atom_domain(T=bool),
        dp.discrete_distance(),
        measures[measure],
        run,
        lambda _: loss,
    )


class BasicComposition:
    """``make_composition`` over max-divergence, approximate where a round has a delta."""

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """The sum of the epsilons; infinite where the deltas sum to more than ``delta``."""
        dp = _opendp()
        leaks = any(event.delta > 0.0 for event in events)
        parts: list[Any] = []
        for e in events:
            loss = (e.parameter, e.delta) if leaks else e.parameter
            parts += [_measurement("approx" if leaks else "pure", loss, [])] * e.count
        found = dp.c.make_composition(parts).map(1)
        epsilon, spent = found if leaks else (found, 0.0)
        return float(epsilon) if spent <= delta else math.inf

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """Not offered."""
        raise NotApplicable("a composition states one pair")


class ByZCDP:
    """``make_composition`` of rounds in zCDP, then ``make_zCDP_to_approxDP``."""

    def _profile(self, events: Sequence[PrivacyEvent]) -> Any:
        dp = _opendp()
        parts: list[Any] = []
        for e in events:
            if e.kind == GAUSSIAN:
                part = _measurement("zcdp", e.parameter**2 / 2.0, [])
            else:
                part = dp.c.make_pureDP_to_zCDP(_measurement("pure", e.parameter, []))
            parts += [part] * e.count
        return dp.c.make_zCDP_to_approxDP(dp.c.make_composition(parts)).map(1)

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """Epsilon of the privacy profile."""
        return float(self._profile(events).epsilon(delta))

    def delta(self, events: Sequence[PrivacyEvent], epsilon: float) -> float:
        """Delta of the privacy profile."""
        return float(self._profile(events).delta(epsilon))


def _odometer(dp: Any) -> Any:
    return dp.c.make_fully_adaptive_composition(
        dp.atom_domain(T=bool), dp.discrete_distance(), dp.approximate(dp.max_divergence())
    )


class FullyAdaptive:
    """``make_fully_adaptive_composition`` over approximate max-divergence: an odometer."""

    def __init__(self, delta: float) -> None:
        self.queryable = _odometer(_opendp())(True)
        self.ran: list[int] = []

    def spend(self, spend: Spend) -> None:
        """Run one measurement."""
        self.queryable(_measurement("approx", tuple(spend), self.ran))

    def reading(self) -> Reading:
        """The queryable's privacy loss at distance 1."""
        return Reading(*map(float, self.queryable.privacy_loss(1)))


class PrivacyFilter:
    """``make_privacy_filter`` of the fully adaptive odometer."""

    def __init__(self, epsilon: float, delta: float) -> None:
        dp = _opendp()
        self.queryable = dp.c.make_privacy_filter(_odometer(dp), 1, (epsilon, delta))(True)
        self.ran: list[int] = []

    def ask(self, spend: Spend) -> bool:
        """Run one measurement; the library refuses by an exception."""
        from opendp.mod import OpenDPException

        try:
            self.queryable(_measurement("approx", tuple(spend), self.ran))
        except OpenDPException as refusal:
            if "panic" in str(refusal).lower():
                raise
            return False
        return True

    def charged(self) -> None:
        """None: the filter does not report it."""

    def runs(self) -> int | None:
        """None: an answer may be computed and never released."""
        return None


_MAKE = (
    "import opendp.prelude as dp\n"
    "from math import inf, nan\n"
    'dp.enable_features("contrib", "honest-but-curious")\n'
    "\n"
    "def measurement(measure, loss):\n"
    "    return dp.m.make_user_measurement(dp.atom_domain(T=bool), dp.discrete_distance(),\n"
    "                                      measure, lambda _: 0.0, lambda _: loss)\n"
    "\n"
)


def _basic_snippet(events: Sequence[PrivacyEvent], question: Question, at: float) -> str:
    leaks = any(event.delta > 0.0 for event in events)
    measure = "dp.approximate(dp.max_divergence())" if leaks else "dp.max_divergence()"
    losses = [((e.parameter, e.delta) if leaks else e.parameter, e.count) for e in events]
    return (
        f"{_MAKE}parts = []\n"
        f"for loss, count in {losses!r}:\n"
        f"    parts += [measurement({measure}, loss)] * count\n"
        "print(dp.c.make_composition(parts).map(1))\n"
    )


def _zcdp_snippet(events: Sequence[PrivacyEvent], question: Question, at: float) -> str:
    gaussian = [(e.parameter**2 / 2.0, e.count) for e in events if e.kind == GAUSSIAN]
    pure = [(e.parameter, e.count) for e in events if e.kind != GAUSSIAN]
    return (
        f"{_MAKE}parts = []\n"
        f"for rho, count in {gaussian!r}:\n"
        "    parts += [measurement(dp.zero_concentrated_divergence(), rho)] * count\n"
        f"for epsilon, count in {pure!r}:\n"
        "    one = dp.c.make_pureDP_to_zCDP(measurement(dp.max_divergence(), epsilon))\n"
        "    parts += [one] * count\n"
        "profile = dp.c.make_zCDP_to_approxDP(dp.c.make_composition(parts)).map(1)\n"
        f"print(profile.{question}({at!r}))\n"
    )


_ODOMETER = (
    "measure = dp.approximate(dp.max_divergence())\n"
    "odometer = dp.c.make_fully_adaptive_composition(\n"
    "    dp.atom_domain(T=bool), dp.discrete_distance(), measure)\n"
)


def _play_filter(spends: Sequence[Spend], opened: tuple[float, ...]) -> str:
    return (
        f"{_MAKE}{_ODOMETER}"
        f"ask = dp.c.make_privacy_filter(odometer, 1, {opened!r})(True)\n"
        f"for loss in {[tuple(spend) for spend in spends]!r}:\n"
        "    try:\n"
        "        ask(measurement(measure, loss))\n"
        "        print('admitted', loss)\n"
        "    except dp.OpenDPException as refusal:\n"
        "        print('refused', loss, refusal)\n"
    )


def _play_odometer(spends: Sequence[Spend], opened: tuple[float, ...]) -> str:
    return (
        f"{_MAKE}{_ODOMETER}queryable = odometer(True)\n"
        f"for loss in {[tuple(spend) for spend in spends]!r}:\n"
        "    queryable(measurement(measure, loss))\n"
        "print(queryable.privacy_loss(1))\n"
    )


def load() -> list[Subject]:
    """Import the library and list what it offers."""
    _opendp()
    return [
        Subject(
            name="make_composition",
            role="accountant",
            make=BasicComposition,
            claims="the privacy map of the composition, never less than the loss",
            kinds=(PURE, APPROX, RANDOMIZED_RESPONSE, LAPLACE),
            snippet=_basic_snippet,
        ),
        Subject(
            name="make_zCDP_to_approxDP",
            role="accountant",
            make=ByZCDP,
            claims="a privacy profile by Canonne, Kamath and Steinke 2020",
            kinds=(GAUSSIAN, PURE, RANDOMIZED_RESPONSE, LAPLACE),
            snippet=_zcdp_snippet,
        ),
        Subject(
            name="make_privacy_filter",
            role="filter",
            make=PrivacyFilter,
            claims="rejects a query that would take the loss above the promise (its documentation)",
            kinds=(PURE, APPROX),
            documented=_VOUCHED,
            play=_play_filter,
        ),
        Subject(
            name="make_fully_adaptive_composition",
            role="odometer",
            make=FullyAdaptive,
            claims="the loss of all queries so far (its documentation)",
            kinds=(PURE, APPROX),
            documented=_VOUCHED,
            play=_play_odometer,
        ),
    ]


LIBRARY = Library(
    name="opendp", distribution="opendp", packages=("opendp",), load=load, least="0.16"
)
