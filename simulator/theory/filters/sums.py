"""The filter of basic composition."""

from __future__ import annotations

from simulator.theory.filters.interface import Filter, State
from simulator.theory.filters.rules import sum_step


class SumFilter(Filter):
    """Basic composition: refuse a round whose epsilon or delta exceeds what is left of the sums.

    >>> from simulator.theory import ApproxDP, SumFilter
    >>> running = SumFilter(1.0, 1e-6).fresh()
    >>> running.admits(ApproxDP(0.5, 1e-7)), running.admits(ApproxDP(0.5, 1e-5))
    (True, False)
    """

    name = "sum"
    sums = True
    source = "Rogers, Roth, Ullman and Vadhan 2016, Theorem 3.6"
    step = staticmethod(sum_step)

    def _check(self) -> None:
        self._fixes_rounds_delta(self.delta)

    @property
    def initial(self) -> State:
        """No sums, and the budgets: all of delta is for the rounds."""
        return (0.0, 0.0, 0.0, 0.0, self.epsilon, self.delta)
