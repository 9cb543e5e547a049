"""Filters at the rate of advanced composition."""

from __future__ import annotations

import math

from simulator.foundations.errors import InvalidInput
from simulator.theory.filters.interface import Filter, State
from simulator.theory.filters.rules import rogers_step, whitehouse_step


class RogersFilter(Filter):
    """A filter at the rate of advanced composition. Half of delta is for the rounds' deltas.

    >>> from simulator import PureDP
    >>> from simulator.theory import RogersFilter
    >>> running = RogersFilter(1.0, 1e-6).fresh()
    >>> running.admits(PureDP(0.1)), running.admits(PureDP(0.9))
    (True, False)
    """

    name = "rogers"
    sums = rounds_up = True
    source = "Rogers, Roth, Ullman and Vadhan 2016, Theorem 5.1"
    step = staticmethod(rogers_step)

    def _check(self) -> None:
        if not 0.0 < self.delta < math.exp(-1.0):
            raise InvalidInput(f"the rogers filter needs 0 < delta < 1/e, not {self.delta!r}")
        if self.epsilon < 1e-150:
            raise InvalidInput(
                f"the rogers filter needs an epsilon of at least 1e-150, not {self.epsilon!r}"
            )
        self._fixes_rounds_delta(self.delta / 2.0)

    @property
    def initial(self) -> State:
        """No sums, the budgets, and the constants of the square root."""
        offset = self.epsilon**2 / (28.04 * -math.log(self.delta))
        budgets = (self.epsilon, self.delta / 2.0)
        return (0.0, 0.0, 0.0, 0.0, *budgets, offset, math.log(2.0 / self.delta))


class WhitehouseFilter(Filter):
    """The rate of advanced composition: sqrt(2 Q ln(1/delta')) + Q/2, Q the sum of squares.

    >>> from simulator import PureDP
    >>> from simulator.theory import WhitehouseFilter
    >>> running = WhitehouseFilter(1.0, 1e-6).fresh()
    >>> running.admits(PureDP(0.1)), running.admits(PureDP(0.9))
    (True, False)
    """

    name = "whitehouse"
    sums = rounds_up = True
    source = "Whitehouse, Ramdas, Rogers and Wu 2023, filter for (epsilon, delta)-DP"
    step = staticmethod(whitehouse_step)

    @property
    def initial(self) -> State:
        """No sums, the budgets, and ln(1/delta) of what the rounds leave."""
        log_inverse = -math.log(self.delta - self.rounds_delta)
        return (0.0, 0.0, 0.0, self.epsilon, self.rounds_delta, log_inverse)
