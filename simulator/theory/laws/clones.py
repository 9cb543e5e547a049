"""The pair of laws that dominates n shuffled reports, by hiding among clones, and its curve.

Let every report come from an epsilon_0-DP randomizer, which may depend on the reports before it,
and let the databases differ in one record. The pair: C ~ Bin(n - 1, 2/(1 + e^epsilon_0)) clones
show 0 or 1 by a fair coin each; the differing report shows 0 with probability w or 1 - w,
w = 1/(1 + e^-epsilon_0). What is seen are C and the number X of the M = C + 1 reports that show 0.
Why it dominates is ``simulator/theory/lemmas/shuffling-clones.md``: by the privacy blanket and an
induction in convex order, not by a decomposition of the randomizers, which does not exist for all
of them.

The loss at (M, X) is 2 artanh((2 X/M - 1) tanh(epsilon_0/2)). Hence the curve is, for both
directions alike,

    delta(E) = (1 + e^E) tanh(epsilon_0/2) E[(Y/M - tau)_+],   tau = tanh(E/2)/tanh(epsilon_0/2),

Y being the sum of M fair signs. As Y/M is a reversed martingale in M, each summand falls with M.

Source: the pair is that of Feldman, McMillan and Talwar, "Stronger Privacy Amplification by
Shuffling for Renyi and Approximate Differential Privacy", SODA 2023, whose errata leave it to
randomizers such as binary randomized response; for all of them their "Hiding Among the Clones",
FOCS 2021, has the share e^-epsilon_0, half as much for a large epsilon_0. The blanket is that of
Balle, Bell, Gascon and Nissim, "The Privacy Blanket of the Shuffle Model", CRYPTO 2019.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.foundations.errors import NotApplicable
from simulator.foundations.validation import nonnegative
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.pure import pure_delta
from simulator.theory.laws.binomial import log_binomial, log_binomial_error
from simulator.theory.laws.clone_sums import (
    LOG_CUT,
    UNDERFLOW,
    ShuffledCurve,
    block_length,
    clone_window,
    excess,
)
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.outward import UNIT
from simulator.theory.parameters import count, positive
from simulator.theory.pld.response_atoms import Floats

MOST_REPORTS = 10**8
LARGEST_LOCAL = 500.0
"""The largest epsilon of a report; beyond it clones have probability below e^-500."""

_CUT = 2.0 * math.exp(-LOG_CUT)
_LATTICE_WORK = 1e7  # atoms that are split onto the lattice: a second
_REACH, _CELLS = 20.0, 1000  # of a dominating lattice, either side: deviations, and points
_FEW = 1000.0  # below this mean number of clones the lattice has no cut
_HAIR = 1e-9  # of a cell: tolerance for the rounding of the largest loss
_HALF = -math.log(2.0)


@dataclass(frozen=True)
class ClonePair(ShuffledCurve):
    """The pair that dominates ``reports`` shuffled reports of ``epsilon``-DP randomizers.

    ``clones`` is the probability that another report is a clone, 2/(1 + e^epsilon) by default; the
    lemma is about that one, and a smaller one dominates too. Raises InvalidInput for invalid
    parameters, NotApplicable for more than 10^8 reports or an epsilon above 500.
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
            rest = math.log1p(math.exp(-self.epsilon))
            return math.log(2.0) - self.epsilon - rest, math.log(math.tanh(self.epsilon / 2.0))
        return math.log(self.clones), math.log1p(-self.clones)

    def delta_bracket(self, epsilon: float) -> Bracket:
        """Bracket of the curve at epsilon >= 0."""
        epsilon = nonnegative("epsilon", epsilon)
        if epsilon >= self.epsilon:
            return Bracket(0.0, 0.0)
        tau = math.tanh(epsilon / 2.0) / math.tanh(self.epsilon / 2.0)
        factor = (1.0 + math.exp(epsilon)) * math.tanh(self.epsilon / 2.0)
        first, weights, errors, whole = clone_window(self.reports - 1, *self._log_share)
        stride = block_length(weights.size, first, tau)
        starts = np.arange(0, weights.size, stride)
        lower, upper = excess(np.asarray(first + 1.0 + starts, dtype=np.float64), tau)
        if stride > 1:  # summands decrease: a block is between its first and last one
            ends = np.minimum(starts + stride, weights.size) - 1.0
            lower, _ = excess(first + 1.0 + ends, tau)
        low = np.add.reduceat(weights * np.exp(-errors), starts)
        high = np.add.reduceat(weights * np.exp(errors), starts)
        slack = UNIT * (64.0 + weights.size)
        below = factor * math.fsum(low * lower) * (1.0 - slack)
        above = factor * math.fsum(high * upper) * (1.0 + slack)
        above += 0.0 if whole else _CUT * factor
        alone = pure_delta(self.epsilon, epsilon) * (1.0 + slack)  # without any clone
        return Bracket(max(0.0, below - UNDERFLOW), min(alone, above) + UNDERFLOW)

    @cached_property
    def dominating(self) -> tuple[FiniteLaw, float]:
        """A law on a lattice that dominates the pair, and the relative error of its masses.

        Every loss is split onto its neighbours in the lattice so that both masses are kept, which
        spreads the likelihood ratio and so dominates (Doroshenko et al. 2022, Theorem 3.1). The far
        tail becomes an infinite loss.
        """
        first, weights, errors, whole = clone_window(self.reports - 1, *self._log_share)
        fade, slope = math.exp(-self.epsilon), math.tanh(self.epsilon / 2.0)
        mean = (self.reports - 1) * math.exp(self._log_share[0])
        wide = _REACH * 2.0 * slope / math.sqrt(1.0 + mean)
        if mean < _FEW or wide > self.epsilon:
            cells = math.ceil(_CELLS * max(1.0, self.epsilon / wide))
            grid = _Lattice(self.epsilon, cells)
        else:
            grid = _Lattice(wide, _CELLS)
        reach = math.sqrt(LOG_CUT / 2.0)
        stride = math.ceil(
            weights.size * 2.0 * reach * math.sqrt(first + weights.size) / _LATTICE_WORK
        )
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
            seen = mass > UNDERFLOW
            if seen.any():
                wrong = max(wrong, float(off[seen].max()) + float(errors[block].max()))
        return grid.law(lost), wrong + _HAIR * grid.step + UNIT * (64.0 + weights.size)


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
    gives .2096, the theorem .2140, and the clones summed exactly .0432.

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
