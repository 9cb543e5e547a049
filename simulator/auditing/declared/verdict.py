"""The contradiction of a declared likelihood by draws."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.foundations.errors import Breach


class FalseLikelihood(Breach):
    """A mechanism does not draw from the likelihood that it declares."""

    exit_code = 1


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """An event whose probability by a declared likelihood is not that of the draws.

    Attributes
    ----------
    mechanism : its repr.
    pair : how its two databases differ.
    event : the event, as text.
    numbers : a text with two numbers, which a true likelihood makes equal or keeps in order.
    first, second : these numbers.
    draws : of each database.
    false_alarm : the probability with which a true likelihood is contradicted.
    """

    mechanism: str
    pair: str
    event: str
    numbers: str
    first: float
    second: float
    draws: int
    false_alarm: float

    def __str__(self) -> str:
        numbers = self.numbers.format(first=f"{self.first:.4g}", second=f"{self.second:.4g}")
        return (
            f"{self.mechanism} does not draw from the likelihood that it declares: on its pair of "
            f"databases, {self.pair}, {self.event}: {numbers} ({self.draws} draws of each; false "
            f"alarm {self.false_alarm:.1g})"
        )
