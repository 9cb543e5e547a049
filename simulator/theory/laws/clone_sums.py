"""Sums over the number of clones: its window of probabilities, and the excess of fair signs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import lru_cache, partial

import numpy as np

from simulator.theory.bracket import Bracket
from simulator.theory.inverse import certain_inverse, falling_root
from simulator.theory.laws.binomial import log_binomial, log_binomial_error
from simulator.theory.outward import UNIT
from simulator.theory.pld.response_atoms import Floats

LOG_CUT = 95.0
"""Windows miss e^-95 on either side."""
WORK = 1e6
"""Multiply-adds per value of a curve: some hundredths of a second."""
UNDERFLOW = 1e-300
_ALL = 4096  # up to this many, all numbers of clones are summed
_EVERY, _CHUNK = 16, 1 << 17  # least terms between two bounds on the rest; numbers at a time
_HALF = -math.log(2.0)


class ShuffledCurve(ABC):
    """A curve of shuffled reports: 0 from the epsilon of one report on. A frozen dataclass."""

    epsilon: float

    @abstractmethod
    def delta_bracket(self, epsilon: float) -> Bracket:
        """Bracket of the curve at epsilon >= 0."""

    def delta(self, epsilon: float) -> float:
        """Upper end of the curve at epsilon >= 0."""
        return self.delta_bracket(epsilon).upper

    def epsilon_bracket(self, delta: float) -> Bracket:
        """Bracket of the least epsilon whose delta is at most 0 < delta < 1."""
        ends = partial(_cached_bracket, self)
        start = falling_root(lambda e: ends(e).upper, delta, self.epsilon * (1.0 - 1e-12))
        return certain_inverse(ends, delta, start=start, top=self.epsilon)


@lru_cache(maxsize=256)
def _cached_bracket(curve: ShuffledCurve, epsilon: float) -> Bracket:
    return curve.delta_bracket(epsilon)


@lru_cache(maxsize=8)
def clone_window(others: int, log_p: float, log_q: float) -> tuple[int, Floats, Floats, bool]:
    """(First number of clones in the window, probabilities, errors of their logarithms, whole).

    Bernstein's inequality bounds what the window cuts off; ``whole`` is whether it cuts off
    nothing.
    """
    if others == 0:
        return 0, np.ones(1), np.zeros(1), True
    mean = others * math.exp(log_p)
    variance = mean * math.exp(log_q)
    reach = LOG_CUT / 3.0 + math.sqrt(LOG_CUT**2 / 9.0 + 2.0 * LOG_CUT * variance)
    first, last = max(0, math.floor(mean - reach)), min(others, math.ceil(mean + reach))
    if others <= _ALL:
        first, last = 0, others
    clones = np.arange(first, last + 1, dtype=np.float64)
    logs = log_binomial(others, clones, log_p, log_q)
    errors = log_binomial_error(others, clones, log_p, log_q) + 4.0 * UNIT * np.abs(logs)
    return first, np.exp(logs), errors, first == 0 and last == others


def block_length(size: int, first: int, tau: float) -> int:
    """How many numbers of clones are summed as one block, so that the work stays within WORK."""
    root = math.sqrt(first + size)
    start = tau * root
    terms = 1.0 + root * (math.sqrt(start**2 + 80.0) - start) / 2.0
    return math.ceil(size * terms / WORK)


def excess(m: Floats, tau: Floats | float) -> tuple[Floats, Floats]:
    """Ends of E[(Y/m - tau)_+], Y the sum of m fair signs, elementwise.

    With k the least number of signs +1 that counts, the sum is Pr[X = k] times a series of positive
    terms with decreasing ratios, so a geometric series bounds its rest. tau and Y - tau m are off
    by a few units of m, which moves the sum by that times the mass of its terms.
    """
    wrong = 16.0 * UNIT * m
    least = np.minimum(np.floor((m + tau * m - wrong) / 2.0) + 1.0, m)
    gap = 2.0 * least - m - tau * m
    gains, masses, mass, term = np.zeros_like(m), np.zeros_like(m), np.ones_like(m), 0.0
    many = min(max(_EVERY, _CHUNK // m.size), math.ceil(float(m[-1] - least.min()) + 1.0))
    steps = np.arange(many, dtype=np.float64)[:, None]
    while True:
        here = term + steps
        ratios = np.maximum(m - least - here, 0.0) / (least + 1.0 + here)
        after = mass * np.cumprod(ratios, axis=0)
        before = np.concatenate((mass[None], after[:-1]))
        gains += (before * np.maximum(gap + 2.0 * here, 0.0)).sum(axis=0)
        masses += before.sum(axis=0)
        mass, term = after[-1], term + many
        ratio = np.maximum(m - least - term, 0.0) / (least + 1.0 + term)
        rest = mass * (np.maximum(gap + 2.0 * term, 0.0) + 2.0 * ratio / (1.0 - ratio))
        rest = rest / (1.0 - ratio)
        if np.all(rest <= UNIT * gains):
            break
    masses += mass / (1.0 - ratio)
    logs = log_binomial(m, least, _HALF, _HALF)
    relative = log_binomial_error(m, least, _HALF, _HALF) + UNIT * (
        4.0 * np.abs(logs) + 4.0 * term + 64.0
    )
    scale = np.exp(logs) / m
    lower = scale * (gains - wrong * masses) * (1.0 - relative)
    upper = scale * (gains + rest + wrong * masses) * (1.0 + 2.0 * relative)
    return np.maximum(lower, 0.0), upper
