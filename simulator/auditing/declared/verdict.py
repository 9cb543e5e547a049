"""What a test of a declared likelihood finds: a contradiction, or nothing up to some error."""

from __future__ import annotations

import math
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


@dataclass(frozen=True, kw_only=True)
class Examined:
    """Likelihoods that no draws contradicted.

    Attributes
    ----------
    mechanisms : how many.
    met : of how many, where those that differ in numbers alone have few that stand for them.
    draws : of each database, the fewest of a mechanism.
    error : a true loss larger or smaller than the declared one by this share of the declared one
        would have been contradicted in about 95% of tests; the largest of the mechanisms, infinite
        where all declared losses are constant. From 1 on only a larger one would.
    share : a declared loss that is wrong by 1 or more on an event alone would have been, too, if
        the event has this share of min(P0, P1); the largest of the mechanisms.
    """

    mechanisms: int
    met: int
    draws: int
    error: float
    share: float

    def __str__(self) -> str:
        throughout = (
            f"wrong by {100.0 * self.error:.2g}% throughout"
            if self.error < 1.0
            else f"too small by a factor of {1.0 + self.error:.2g} throughout"
        )
        wrong = [throughout] if math.isfinite(self.error) else []
        if self.share < 1.0:
            on_part = f"by 1 on {100.0 * self.share:.2g}% of the answers"
            wrong.append(on_part if self.error < 1.0 else f"wrong {on_part}")
        seen = (
            f"a loss that is {' or '.join(wrong)} would have stopped the play, mostly"
            if wrong
            else "too few answers are possible on both databases for a wrong loss to show"
        )
        each = "" if self.mechanisms == 1 else f"{self.mechanisms} mechanisms, "
        if self.mechanisms < self.met:
            each = f"{self.mechanisms} of {self.met} mechanisms examined, "
        return f"tested with {each}{self.draws} draws on each database: {seen}"
