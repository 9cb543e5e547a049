r"""Dividing one false-alarm budget over assertions, however many there will be.

The n-th of them (n = 1, 2, ...) is given the share

    a(n) = S(n) - S(n + 1),    S(n) = 3 / log2(n + 7).

S(1) = 1, S decreases, and S is positive; so for every N the shares a(1) + ... + a(N) add up to
1 - S(N + 1) < 1, with no constant to compute, and so do the shares of any set of ordinals. By the
union bound, whatever the assertions have to do with one another, and whether or not the next one
depends on how the last one ended, the probability that any of them raises a false alarm is at most
the budget. What is paid for not knowing N is a few nats of evidence: a(n) is about
2.1 / (n ln(n)^2), and ln(1/(n a(n))) is 2.9 at n = 1, 1.9 at 10, 2.4 at 100, 3.1 at 1000.

Processes without communication take a part of the budget each, see :func:`part`, and
divide it in the same way; the sum over (process, ordinal) is then at most the sum over processes.

Source: alpha-spending as in Foster and Stine, "alpha-investing", 2008, without what is earned back.
"""

from __future__ import annotations

import math
import os
import threading
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context

from simulator.foundations.errors import Refusal

REPLACEMENTS = 0.1
"""The part of the budget kept for processes that replace others."""

LEAST = 2.0**-52
"""No false-alarm probability below it: 1 - alpha would be 1 in doubles."""

_OFFSET = 7
_DIGITS = Context(prec=3, rounding=ROUND_FLOOR)
#: More than the few roundings below lose, and than any sum of the shares gains by rounding.
_DOWN = 1.0 - 1e-12


def share(ordinal: int) -> float:
    """a(ordinal), ordinal >= 1, rounded down; any distinct ordinals add up to less than 1."""
    low, high = math.log2(ordinal + _OFFSET), math.log2(ordinal + _OFFSET + 1)
    return 3.0 * math.log1p(1.0 / (ordinal + _OFFSET)) / (math.log(2.0) * low * high) * _DOWN


def part(number: int, planned: int) -> float:
    """The part of the budget of process ``number`` (from 0) where ``planned`` were to be started.

    These take equal parts of all but :data:`REPLACEMENTS`; those that replace them, numbered on
    from ``planned``, take a(1), a(2), ... of the rest. So the parts of any processes with distinct
    numbers add up to at most (1 - REPLACEMENTS) + REPLACEMENTS.
    """
    if number < planned:
        return (1.0 - REPLACEMENTS) / planned * _DOWN
    return REPLACEMENTS * share(number - planned + 1)


def three_digits(alpha: float) -> float:
    """``alpha`` rounded down to three digits, so that a printed one is the one that was used."""
    return float(_DIGITS.create_decimal_from_float(alpha))


def confidence(alpha: float) -> float:
    """The least double with 1 - confidence <= alpha, for LEAST <= alpha < 1."""
    level = 1.0 - alpha
    return level if 1.0 - level <= alpha else math.nextafter(level, 1.0)


class Spending:
    """A budget in use by one process: each call of :meth:`spend` takes the next share of it.

    Calls from several threads are in turn. A process that was forked off counts on where its parent
    stood, as its siblings do, so it is refused. ``process`` is the id of the one that may spend, by
    default the present one: state it where a fork may come before this object is made.
    """

    def __init__(self, budget: float, process: int | None = None) -> None:
        self.budget = budget
        self._ordinal = 0
        self._turn = threading.Lock()
        self._process = os.getpid() if process is None else process

    def spend(self) -> float:
        """The false-alarm probability of the next assertion; all of them add up to the budget.

        Raises Refusal in a forked process, and where the share is below :data:`LEAST`.
        """
        if os.getpid() != self._process:
            raise Refusal(
                "a forked process cannot divide the false-alarm budget of its parent; run the "
                "tests in one process or by pytest-xdist"
            )
        with self._turn:
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
    """The same false-alarm probability for every assertion, as a replay needs."""

    alpha: float

    def spend(self) -> float:
        """That probability."""
        return self.alpha
