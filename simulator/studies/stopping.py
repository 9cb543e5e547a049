"""When to stop playing a task, with intervals that stay valid however often one looks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import open_probability, positive, whole
from simulator.foundations.wording import did_you_mean

FIRST_TRIALS = 1000
"""The trials at the first look; each further look has twice as many."""
DECIDES = ("order", "bounds")
SURE = 1e-6
"""The probability that the wide ends of a point miss, kept to compare studies."""
NARROW = 1e-3
"""The relative width of a search for the worst adversary where none is wanted."""


def relative_width(lower: float, upper: float) -> float:
    """(upper - lower)/upper, for a quantity that is not negative; NaN without an interval."""
    if upper == lower:
        return 0.0
    if not math.isfinite(upper):
        return math.nan
    return (upper - lower) / upper if upper > 0.0 else math.inf


@dataclass(frozen=True)
class StoppingRule:
    """Stop a quantity at the first of these; with valid intervals.

    The sample is looked at after 1,000, 2,000, 4,000, ... trials. Look j (from 0) has the share
    1/((j+1)(j+2)) of the error 1 - confidence: the shares add up to 1, so the interval at the look
    where it stops has its confidence, by the union bound. With ``trials`` alone there is one look.

    Attributes
    ----------
    trials : at most so many of each experiment.
    width : the relative width (upper - lower)/upper at which an interval is narrow enough, and a
        search for the worst adversary ends.
    hits : the number of trials that contribute to the estimate.
    decide : ``order`` to stop where an interval has no number in common with those of the other
        adversaries, ``bounds`` where it is on one side of each bound that the task has; see
        :mod:`simulator.studies.deciding`.
    confidence : of each interval.

    >>> from simulator.studies import StoppingRule
    >>> StoppingRule(trials=10_000, width=0.1).width
    0.1
    """

    trials: int = 100_000
    width: float | None = None
    hits: int | None = None
    confidence: float = 0.95
    decide: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "trials", whole("trials", self.trials))
        if self.width is not None:
            positive("width", self.width)
        if self.hits is not None:
            whole("hits", self.hits)
        open_probability("confidence", self.confidence)
        if self.decide not in ("", *DECIDES):
            raise InvalidInput(
                f"a study decides {' or '.join(DECIDES)}, not {self.decide!r}"
                f"{did_you_mean(self.decide, DECIDES)}"
            )

    @property
    def looks_early(self) -> bool:
        """Whether there is more than one look."""
        return self.width is not None or self.hits is not None or self.decide != ""

    def trials_at(self, look: int) -> int:
        """The trials of each experiment at a look."""
        return min(FIRST_TRIALS << look, self.trials) if self.looks_early else self.trials

    def is_last(self, look: int) -> bool:
        """Whether no look follows."""
        return self.trials_at(look) == self.trials

    def error_at(self, look: int, error: float) -> float:
        """The share of an error that a look has."""
        return error / ((look + 1) * (look + 2)) if self.looks_early else error

    def reason(self, look: int, lower: float, upper: float, hits: int | None) -> str:
        """Why to stop at this look: ``width``, ``hits`` or ``trials``; "" to go on."""
        if self.width is not None and relative_width(lower, upper) <= self.width:
            return "width"
        if self.hits is not None and hits is not None and hits >= self.hits:
            return "hits"
        return "trials" if self.is_last(look) else ""
