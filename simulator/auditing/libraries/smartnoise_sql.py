"""smartnoise-sql's odometers, by Theorems 3.4 and 3.5 of Kairouz, Oh and Viswanath."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulator.auditing.conformance.events import APPROX, PURE
from simulator.auditing.conformance.protocol import Library, Reading, Spend, Subject
from simulator.foundations.errors import NotApplicable


class Homogeneous:
    """``Odometer``: every round at one (epsilon, delta), counted.

    Made for the first spend. The delta that is to be announced is not for the caller to choose: the
    odometer sets aside half of a round's delta.
    """

    def __init__(self, delta: float) -> None:
        self.odometer: Any = None
        self.each: Spend | None = None

    def spend(self, spend: Spend) -> None:
        """Spend one round; raises NotApplicable for one unlike the first."""
        from snsql.sql.odometer import Odometer
        from snsql.sql.privacy import Privacy

        if self.odometer is None:
            self.each = spend
            self.odometer = Odometer(Privacy(epsilon=spend.epsilon, delta=spend.delta))
        if spend != self.each:
            raise NotApplicable("the odometer counts rounds of one kind")
        self.odometer.spend()

    def reading(self) -> Reading:
        """What the odometer reports as spent."""
        return Reading(*self.odometer.spent) if self.odometer is not None else Reading(0.0, 0.0)


class Heterogeneous:
    """``OdometerHeterogeneous``, made for rounds like the first, with its usual tolerance."""

    def __init__(self, delta: float) -> None:
        from snsql.sql.odometer import OdometerHeterogeneous
        from snsql.sql.privacy import Privacy

        self.odometer = OdometerHeterogeneous(Privacy(epsilon=1.0, delta=2.0 * delta))

    def spend(self, spend: Spend) -> None:
        """Spend one round."""
        from snsql.sql.privacy import Privacy

        self.odometer.spend(Privacy(epsilon=spend.epsilon, delta=spend.delta))

    def reading(self) -> Reading:
        """What the odometer reports as spent."""
        return Reading(*map(float, self.odometer.spent))


def _play_homogeneous(spends: Sequence[Spend], opened: tuple[float, ...]) -> str:
    return (
        "from snsql.sql.odometer import Odometer\n"
        "from snsql.sql.privacy import Privacy\n"
        f"odometer = Odometer(Privacy(epsilon={spends[0].epsilon!r}, delta={spends[0].delta!r}))\n"
        f"odometer.spend({len(spends)})\n"
        "print(odometer.spent)\n"
    )


def _play_heterogeneous(spends: Sequence[Spend], opened: tuple[float, ...]) -> str:
    return (
        "from math import inf, nan\n"
        "from snsql.sql.odometer import OdometerHeterogeneous\n"
        "from snsql.sql.privacy import Privacy\n"
        "odometer = OdometerHeterogeneous("
        f"Privacy(epsilon=1.0, delta={2.0 * opened[0]!r}))\n"
        f"for epsilon, delta in {[tuple(spend) for spend in spends]!r}:\n"
        "    odometer.spend(Privacy(epsilon=epsilon, delta=delta))\n"
        "print(odometer.spent)\n"
    )


def load() -> list[Subject]:
    """Import the library and list what it offers."""
    from snsql.sql import odometer  # noqa: F401

    return [
        Subject(
            name="Odometer",
            role="odometer",
            make=Homogeneous,
            claims="Theorem 3.4 of Kairouz, Oh and Viswanath (class documentation)",
            kinds=(PURE, APPROX),
            remark="spent announces d (1 - d) + tol with d = 1 - (1 - delta)^k, where the theorem "
            "has 1 - (1 - delta)^k (1 - tol); and ln(epsilon + ...) where it has ln(e + ...)",
            play=_play_homogeneous,
        ),
        Subject(
            name="OdometerHeterogeneous",
            role="odometer",
            make=Heterogeneous,
            claims="Theorem 3.5 of Kairouz, Oh and Viswanath (class documentation)",
            kinds=(PURE, APPROX),
            play=_play_heterogeneous,
        ),
    ]


LIBRARY = Library(
    name="smartnoise-sql",
    distribution="smartnoise-sql",
    packages=("snsql",),
    load=load,
    least="1.0.10",
    extra="conform-smartnoise",
)
