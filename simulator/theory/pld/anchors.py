"""Composed laws near one delta, and what is sought of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simulator.theory.bracket import Bracket
from simulator.theory.pld.enclosing_lines import SummedTail
from simulator.theory.pld.smoothed_tail import SmoothedTail


@dataclass(frozen=True)
class Anchor:
    """Tails below and above delta; brackets are narrow around ``centre``.

    ``is_finest`` where more work, or less rounding, would be needed for narrower ones.
    """

    below: SummedTail | SmoothedTail
    above: SummedTail | SmoothedTail
    centre: float
    is_finest: bool = False

    @property
    def is_line(self) -> bool:
        """Whether both tails are that of one line without smoothing."""
        return self.below is self.above

    def delta(self, epsilon: float) -> Bracket:
        """Return a certified bracket of delta at any epsilon."""
        low, high = self.below.at(epsilon).lower, self.above.at(epsilon).upper
        return Bracket(min(low, high), high)


@dataclass(frozen=True)
class Goal:
    """What is sought: ``of`` is an anchor's bracket, ``width`` the width of delta that serves it.

    ``width`` is relative, for an epsilon with its decay rate and spread.
    """

    of: Callable[[Anchor], Bracket]
    width: Callable[[float, float, float], float]
    is_epsilon: bool


@dataclass(frozen=True)
class Aim:
    """Where lines begin: an epsilon, ln delta there, and the relative width of delta.

    ``tolerance`` is that of the answer; ``sought`` whether this is the epsilon.
    """

    centre: float
    log_delta: float
    width: float
    tolerance: float
    sought: bool
