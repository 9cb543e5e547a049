r"""The division of a false-alarm budget among an unknown number of assertions.

The n-th assertion (n = 1, 2, ...) has the share

    a(n) = S(n) - S(n + 1),    S(n) = 3 / log2(n + 7).

S(1) = 1, S decreases, and S is positive; so for every N the shares a(1) + ... + a(N) add up to
1 - S(N + 1) < 1, with no constant to compute, and so do the shares of any set of ordinals. By the
union bound, without an assumption of independence, the probability that any of them raises a false
alarm is at most the budget. An unknown N costs a few nats of evidence: a(n) is about
2.1 / (n ln(n)^2), and ln(1/(n a(n))) is 2.9 at n = 1, 1.9 at 10, 2.4 at 100, 3.1 at 1000.

Processes without communication take a part of the budget each, see :func:`part`, and
divide it in the same way; the sum over (process, ordinal) is then at most the sum over processes.

Source: alpha-spending as in Foster and Stine, "alpha-investing", 2008, without earning.
"""

from __future__ import annotations

import math
import os
import threading
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context

from simulator.foundations.errors import Refusal

REPLACEMENTS = 0.1
"""The part of the budget for processes that replace others."""

LEAST = 2.0**-52
"""The least false-alarm probability: below it 1 - alpha is 1 in doubles."""

_OFFSET = 7
_DIGITS = Context(prec=3, rounding=ROUND_FLOOR)
_DOWN = 1.0 - 1e-12
"""A factor that covers the rounding of the shares and of their sums."""


def share(ordinal: int) -> float:
    """a(ordinal), ordinal >= 1, rounded down; any distinct ordinals add up to less than 1."""
    low, high = math.log2(ordinal + _OFFSET), math.log2(ordinal + _OFFSET + 1)
    return 3.0 * math.log1p(1.0 / (ordinal + _OFFSET)) / (math.log(2.0) * low * high) * _DOWN


def part(number: int, planned: int) -> float:
    """The part of the budget of process ``number`` (from 0) of ``planned`` processes.

    These have equal parts of all but :data:`REPLACEMENTS`; those that replace them, numbered from
    ``planned`` on, have a(1), a(2), ... of the rest. The parts of any processes with distinct
    numbers add up to at most (1 - REPLACEMENTS) + REPLACEMENTS.
    """
    if number < planned:
        return (1.0 - REPLACEMENTS) / planned * _DOWN
    return REPLACEMENTS * share(number - planned + 1)


def three_digits(alpha: float) -> float:
    """``alpha`` rounded down to three digits, so that the printed value is the one used."""
    return float(_DIGITS.create_decimal_from_float(alpha))


def confidence(alpha: float) -> float:
    """The least double with 1 - confidence <= alpha, for LEAST <= alpha < 1."""
    level = 1.0 - alpha
    return level if 1.0 - level <= alpha else math.nextafter(level, 1.0)


class Spending:
    """A budget in use by one process: each call of :meth:`spend` takes the next share of it.

    Calls from several threads are serialised. A forked process is refused, because it would spend
    the same shares as its siblings. ``process`` is the id of the process that may spend, by default
    this one; give it if a fork may happen before this object is made.
    """

    def __init__(self, budget: float, process: int | None = None) -> None:
        self.budget = budget
        self._ordinal = 0
        self._lock = threading.Lock()
        self._process = os.getpid() if process is None else process

    def spend(self) -> float:
        """The false-alarm probability of the next assertion; all of them add up to the budget.

        Raises Refusal in a forked process, and if the share is below :data:`LEAST`.
        """
        if os.getpid() != self._process:
            raise Refusal(
                "a forked process cannot divide the false-alarm budget of its parent; run the "
                "tests in one process or by pytest-xdist"
            )
        with self._lock:
            self._ordinal += 1
            alpha = three_digits(self.budget * share(self._ordinal))
        if alpha < LEAST:
            raise Refusal(
                f"assertion {self._ordinal} would be left a false-alarm probability of {alpha:.2g},"
                f" below the least, {LEAST:.2g}; state a larger budget"
            )
        return alpha


@dataclass(frozen=True)
class FixedSpending:
    """The same false-alarm probability for every assertion, for a replay."""

    alpha: float

    def spend(self) -> float:
        """The false-alarm probability."""
        return self.alpha
