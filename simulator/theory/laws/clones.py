"""The pair of laws that dominates n shuffled reports, by hiding among clones, and its curve.

Let every report come from an epsilon_0-DP randomizer R, and let the databases differ in x and x'.
R(x) and R(x') are two responses of one randomized response, w Q + (1 - w) Q' and (1 - w) Q + w Q'
with w = 1/(1 + e^-epsilon_0) (Kairouz, Oh and Viswanath 2015, Theorem 3.1). Every other report has
a law of at least e^-epsilon_0 (R(x) + R(x'))/2 = e^-epsilon_0 (Q + Q')/2, so with probability
e^-epsilon_0 it is a clone, drawn from Q or Q' by a fair coin. The shuffled reports are a function
of the reports that are not clones, the number C ~ Bin(n - 1, e^-epsilon_0) of clones, and the
number X of the M = C + 1 other reports that come from Q: a fair binomial of the clones, plus the
differing report with probability w or 1 - w.

The loss at (M, X) is 2 artanh((2 X/M - 1) tanh(epsilon_0/2)). Hence the curve is, for both
directions alike,

    delta(E) = (1 + e^E) tanh(epsilon_0/2) E[(Y/M - tau)_+],   tau = tanh(E/2)/tanh(epsilon_0/2),

Y being the sum of M fair signs. As Y/M is a reversed martingale in M, each summand falls with M.

Source: Feldman, McMillan, Talwar, "Hiding Among the Clones: A Simple and Nearly Optimal Analysis of
Privacy Amplification by Shuffling", FOCS 2021, Theorem 3.1 and Section 3. The larger probability
2/(1 + e^epsilon_0) of their "Stronger Privacy Amplification by Shuffling for Renyi and Approximate
Differential Privacy", SODA 2023, is not used: by its errata it holds of some randomizers only,
such as binary randomized response, where Q and Q' exclude each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np

from simulator.foundations.errors import NotApplicable
from simulator.foundations.validation import nonnegative
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.pure import pure_delta
from simulator.theory.inverse import falling_root, walk_outward
from simulator.theory.laws.binomial import log_binomial, log_binomial_error
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.outward import UNIT
from simulator.theory.parameters import count, positive
from simulator.theory.pld.response_atoms import Floats

MOST_REPORTS = 10**8
LARGEST_LOCAL = 500.0
"""The largest epsilon of a report; beyond it clones have probability below e^-500."""

_ALL = 4096  # up to this many, all numbers of clones are summed
_LOG_CUT = 95.0  # beyond, those in a window that misses e^-95 on either side
_CUT = 2.0 * math.exp(-_LOG_CUT)
_WORK = 1e7  # multiply-adds per value: a tenth of a second
_EVERY = 16  # terms between two bounds on the rest
_UNDERFLOW = 1e-300
_REACH, _CELLS = 20.0, 1000  # of a dominating lattice, either side: deviations, and points
_FEW = 1000.0  # below this mean number of clones the lattice has no cut
_HAIR = 1e-9  # of a cell: tolerance for the rounding of the largest loss
_HALF = -math.log(2.0)


@dataclass(frozen=True)
class ClonePair:
    """The pair that dominates ``reports`` shuffled reports of ``epsilon``-DP randomizers.

    ``clones`` is the probability that another report is a clone, e^-epsilon by default; the
    theorem is about that one. Raises InvalidInput for invalid parameters, NotApplicable
    for more than 10^8 reports or an epsilon above 500.
    """

    epsilon: float
    reports: int
    clones: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive("epsilon", self.epsilon))
        object.__setattr__(self, "reports", count("reports", self.reports))
        if self.epsilon > LARGEST_LOCAL:
            raise NotApplicable(f"shuffling has no effect where epsilon is above {LARGEST_LOCAL:g}")
        if self.reports > MOST_REPORTS:
            raise NotApplicable(f"more than {MOST_REPORTS:g} reports are too many to count exactly")

    @property
    def _log_share(self) -> tuple[float, float]:
        """Logarithms of the probabilities that another report is, and is not, a clone."""
        if self.clones is None:
            return -self.epsilon, math.log(-math.expm1(-self.epsilon))
        return math.log(self.clones), math.log1p(-self.clones)

    def delta_bracket(self, epsilon: float) -> Bracket:
        """Bracket of the curve at epsilon >= 0."""
        epsilon = nonnegative("epsilon", epsilon)
        if epsilon >= self.epsilon:
            return Bracket(0.0, 0.0)
        tau = math.tanh(epsilon / 2.0) / math.tanh(self.epsilon / 2.0)
        factor = (1.0 + math.exp(epsilon)) * math.tanh(self.epsilon / 2.0)
        first, weights, errors, whole = _clones(self.reports - 1, *self._log_share)
        stride = _stride(weights.size, first, tau)
        starts = np.arange(0, weights.size, stride)
        lower, upper = _excess(np.asarray(first + 1.0 + starts, dtype=np.float64), tau)
        if stride > 1:  # summands decrease: a block is between its first and last one
            ends = np.minimum(starts + stride, weights.size) - 1.0
            lower, _ = _excess(first + 1.0 + ends, tau)
        low = np.add.reduceat(weights * np.exp(-errors), starts)
        high = np.add.reduceat(weights * np.exp(errors), starts)
        slack = UNIT * (64.0 + weights.size)
        below = factor * math.fsum(low * lower) * (1.0 - slack)
        above = factor * math.fsum(high * upper) * (1.0 + slack)
        above += 0.0 if whole else _CUT * factor
        alone = pure_delta(self.epsilon, epsilon) * (1.0 + slack)  # without any clone
        return Bracket(max(0.0, below - _UNDERFLOW), min(alone, above) + _UNDERFLOW)

    def delta(self, epsilon: float) -> float:
        """Upper end of the curve at epsilon >= 0."""
        return self.delta_bracket(epsilon).upper

    def epsilon_bracket(self, delta: float) -> Bracket:
        """Bracket of the least epsilon whose delta is at most 0 < delta < 1."""
        ends, top = partial(_cached_bracket, self), self.epsilon
        inside = top * (1.0 - 1e-12)
        low = falling_root(lambda e: ends(e).lower, delta, inside)
        high = falling_root(lambda e: ends(e).upper, delta, inside)
        high = walk_outward(high, +1, 0.0, top, certified=lambda e: ends(e).upper <= delta)
        low = walk_outward(low, -1, 0.0, top, certified=lambda e: ends(e).lower > delta)
        return Bracket(low, max(low, high))

    @cached_property
    def dominating(self) -> tuple[FiniteLaw, float]:
        """A law on a lattice that dominates the pair, and the relative error of its masses.

        Every loss is split onto its neighbours in the lattice so that both masses are kept, which
        spreads the likelihood ratio and so dominates (Doroshenko et al. 2022, Theorem 3.1). The far
        tail becomes an infinite loss.
        """
        first, weights, errors, whole = _clones(self.reports - 1, *self._log_share)
        fade, slope = math.exp(-self.epsilon), math.tanh(self.epsilon / 2.0)
        mean = (self.reports - 1) * math.exp(self._log_share[0])
        wide = _REACH * 2.0 * slope / math.sqrt(1.0 + mean)
        if mean < _FEW or wide > self.epsilon:
            cells = math.ceil(_CELLS * max(1.0, self.epsilon / wide))
            grid = _Lattice(self.epsilon, cells)
        else:
            grid = _Lattice(wide, _CELLS)
        reach = math.sqrt(_LOG_CUT / 2.0)
        stride = math.ceil(weights.size * 2.0 * reach * math.sqrt(first + weights.size) / _WORK)
        wrong, lost = 0.0, 0.0 if whole else _CUT
        for start in range(0, weights.size, stride):  # fewer clones dominate more
            block = slice(start, start + stride)
            m = first + start + 1
            low = max(0, math.floor(m / 2.0 - reach * math.sqrt(m)))
            wins = np.arange(low, m - low + 1, dtype=np.float64)
            if low > 0:  # by Hoeffding's inequality, e^-95 on either side, at most doubled
                lost += 3.0 * _CUT * float(weights[block].sum())
            logs = log_binomial(m, wins, _HALF, _HALF)
            off = log_binomial_error(m, wins, _HALF, _HALF) + 4.0 * UNIT * np.abs(logs)
            for_one, for_other = wins + (m - wins) * fade, wins * fade + (m - wins)
            mass = float(weights[block].sum()) * np.exp(logs) * 2.0 * for_one / (m * (1.0 + fade))
            grid.add(np.log(for_one) - np.log(for_other), mass)
            seen = mass > _UNDERFLOW
            if seen.any():
                wrong = max(wrong, float(off[seen].max()) + float(errors[block].max()))
        return grid.law(lost), wrong + _HAIR * grid.step + UNIT * (64.0 + weights.size)


@lru_cache(maxsize=256)
def _cached_bracket(pair: ClonePair, epsilon: float) -> Bracket:
    return pair.delta_bracket(epsilon)


@lru_cache(maxsize=8)
def _clones(others: int, log_p: float, log_q: float) -> tuple[int, Floats, Floats, bool]:
    """(First number of clones in the window, probabilities, errors of their logarithms, whole).

    Bernstein's inequality bounds what the window cuts off; ``whole`` is whether it cuts off
    nothing.
    """
    if others == 0:
        return 0, np.ones(1), np.zeros(1), True
    mean = others * math.exp(log_p)
    variance = mean * math.exp(log_q)
    reach = _LOG_CUT / 3.0 + math.sqrt(_LOG_CUT**2 / 9.0 + 2.0 * _LOG_CUT * variance)
    first, last = max(0, math.floor(mean - reach)), min(others, math.ceil(mean + reach))
    if others <= _ALL:
        first, last = 0, others
    clones = np.arange(first, last + 1, dtype=np.float64)
    logs = log_binomial(others, clones, log_p, log_q)
    errors = log_binomial_error(others, clones, log_p, log_q) + 4.0 * UNIT * np.abs(logs)
    return first, np.exp(logs), errors, first == 0 and last == others


def _stride(size: int, first: int, tau: float) -> int:
    """How many numbers of clones are summed as one block, so that the work stays within _WORK."""
    root = math.sqrt(first + size)
    start = tau * root
    terms = 1.0 + root * (math.sqrt(start**2 + 80.0) - start) / 2.0
    return math.ceil(size * terms / _WORK)


def _excess(m: Floats, tau: float) -> tuple[Floats, Floats]:
    """Ends of E[(Y/m - tau)_+], Y the sum of m fair signs, elementwise.

    With k the least number of signs +1 that counts, the sum is Pr[X = k] times a series of positive
    terms with decreasing ratios, so a geometric series bounds its rest. tau and Y - tau m are off
    by a few units of m, which moves the sum by that times the mass of its terms.
    """
    wrong = 16.0 * UNIT * m
    least = np.minimum(np.floor((m + tau * m - wrong) / 2.0) + 1.0, m)
    gap = 2.0 * least - m - tau * m
    ratio, gains, masses, term = np.zeros_like(m), np.zeros_like(m), np.zeros_like(m), 0.0
    mass = np.ones_like(m)
    while True:
        for _ in range(_EVERY):
            gains += mass * np.maximum(gap + 2.0 * term, 0.0)
            masses += mass
            ratio = (m - least - term) / (least + 1.0 + term)
            mass = mass * np.maximum(ratio, 0.0)
            term += 1.0
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


class _Lattice:
    """Losses step * i, |i| <= cells, and the mass that was split onto them."""

    def __init__(self, reach: float, cells: int) -> None:
        self.step, self.cells, self.beyond = reach / cells, cells, 0.0
        self.masses = np.zeros(2 * cells + 1)

    def add(self, losses: Floats, masses: Floats) -> None:
        """Split each mass under P0 between the two points around its loss."""
        place = losses / self.step + self.cells
        inside = (place > -_HAIR) & (place < 2 * self.cells + _HAIR)
        self.beyond += float(masses[~inside].sum())
        place = np.clip(place, 0.0, 2.0 * self.cells)
        below = np.minimum(np.floor(place[inside]), 2.0 * self.cells - 1.0)
        rise = (place[inside] - below) * self.step
        upward = masses[inside] * np.expm1(-rise) / math.expm1(-self.step)
        index = below.astype(np.int64)
        self.masses += np.bincount(index, masses[inside] - upward, self.masses.size)
        self.masses += np.bincount(index + 1, upward, self.masses.size)

    def law(self, lost: float) -> FiniteLaw:
        """The law, with ``lost`` and what lay beyond the lattice as infinite loss."""
        losses = self.step * np.arange(-self.cells, self.cells + 1, dtype=np.float64)
        kept = self.masses > 0.0
        revealed = self.beyond + lost
        return FiniteLaw(losses[kept], np.log(self.masses[kept]), revealed, revealed)


def closed_form_epsilon(epsilon: float, reports: int, delta: float) -> float:
    """Theorem 3.1: ln(1 + tanh(epsilon/2) (8 sqrt(e^epsilon ln(4/delta)/n) + 8 e^epsilon/n)).

    Raises NotApplicable unless epsilon <= ln(n/(16 ln(2/delta))), its condition. Proof, up to
    constants: with probability 1 - delta/2 there are c >= n e^-epsilon/2 clones (Chernoff, hence
    ln(2/delta) in the condition), and with probability 1 - delta/2 those from Q are within
    sqrt(c ln(4/delta)/2) of c/2 on either side (Hoeffding, hence ln(4/delta) in the formula).
    Without the response's own noise the likelihood ratio then exceeds 1 by at most the bracket;
    that noise scales the excess by tanh(epsilon/2). Of the two sides one alone can raise the ratio,
    so ln(2/delta) is sound in the formula too: at epsilon 1, 10,000 reports and delta 1e-6 it
    gives .2096, the theorem .2140, and the clones summed exactly .0530.

    Source: Feldman, McMillan and Talwar 2021, Theorem 3.1.
    """
    growth = math.exp(min(epsilon, LARGEST_LOCAL))
    if 16.0 * growth * math.log(2.0 / delta) > reports:
        raise NotApplicable(
            f"the closed form needs e^epsilon at most n/(16 ln(2/delta)), and e^{epsilon:g} is "
            f"more than {reports / (16.0 * math.log(2.0 / delta)):.4g}"
        )
    bracket = 8.0 * math.sqrt(growth * math.log(4.0 / delta) / reports) + 8.0 * growth / reports
    return math.log1p(math.tanh(epsilon / 2.0) * bracket)


def closed_form_delta(local: float, reports: int, epsilon: float) -> float:
    """The least delta at which :func:`closed_form_epsilon` is at most ``epsilon``; 1 if none is."""
    growth = math.exp(min(local, LARGEST_LOCAL))
    bracket = math.expm1(min(epsilon, 700.0)) / math.tanh(local / 2.0) - 8.0 * growth / reports
    if bracket <= 0.0:
        return 1.0
    log_inverse = (bracket / 8.0) ** 2 * reports / growth
    least = 2.0 * math.exp(-reports / (16.0 * growth))
    return min(1.0, max(4.0 * math.exp(-log_inverse), least))
