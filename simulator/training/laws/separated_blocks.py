"""The law of a few rounds of b-min-sep sampling, of which a record is in one at most.

A record that may take part does so in the next round with probability p. In B <= b rounds, with
X_j the ratio of round j, the ratio is U = 1 + sum_j w_j (X_j - 1), w_j = p (1 - p)^j. Why blocks of
this law dominate is ``simulator/theory/lemmas/b-min-sep.md``. A vector of weights that majorises
another of the same sum gives a larger U in convex order. In runs of neighbouring weights the
largest such vector has the run's ends alone, but for one weight; the smallest has their mean.
"""
# ruff: noqa: D102  (overrides inherit the docstring of PrivacyLossLaw)

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.subsampled import PoissonSubsampledLaw, check_rate
from simulator.training.laws.allocation import TAIL, AllocationLaw, loss_of
from simulator.training.laws.convex_sums import Resolution
from simulator.training.laws.ratio_ends import ratio_end

_RUNS = 3
_SAME = 2.0**-50
"""By which 1/p may be below a whole number: the rates are then lowered, and the losses moved."""
_UP = 2.0**-40
"""By which weights are moved outward, relatively."""


@dataclass(frozen=True)
class SeparatedBlockLaw(AllocationLaw):
    """A mechanism that runs ``steps`` times, a record in one run at most: the first with ``rate``.

    In each further one with probability ``rate``, given that it was in none before.

    >>> from simulator.theory import GaussianLaw
    >>> from simulator.training.laws.separated_blocks import SeparatedBlockLaw
    >>> round(SeparatedBlockLaw(GaussianLaw(0.5), steps=4, rate=0.1).delta(0.1), 3)
    0.004
    """

    rate: float = 1.0
    least_tolerance = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self.rate)

    def ends(self, share: float, tail: float = TAIL) -> tuple[FiniteLaw, FiniteLaw]:
        resolution = Resolution(share, tail)
        lower, upper = (
            _end(self.base, self.steps, self.rate, resolution, larger=larger)
            for larger in (False, True)
        )
        return (lower.reversed(), upper.reversed()) if self.exchanged else (lower, upper)

    @property
    def simplest(self) -> PrivacyLossLaw:
        if self.steps > 1:
            return self
        once = PoissonSubsampledLaw(self.base, self.rate).simplest
        return once.reversed() if self.exchanged else once


def weights_of(rate: float, steps: int, *, larger: bool) -> list[tuple[float, int]]:
    """Weights, with how many there are, that majorise w_j = p (1 - p)^j, or that w majorises.

    There are at most 1/p of them, so that the terms of a mean have weights of at most 1. Others go
    to the front where a larger vector is wanted, and are left out else: these runs are not seen.
    """
    w = rate * (1.0 - rate) ** np.arange(steps)
    most = steps if rate * steps <= 1.0 else max(int((1.0 + _SAME) / rate), 1)
    w, rest = w[:most], float(w[most:].sum())
    if larger and rest > 0.0:
        room = rate - w
        raised = np.clip(rest - (np.cumsum(room) - room), 0.0, room)
        w = w + raised + max(rest - float(raised.sum()), 0.0) / w.size
    found = []
    for run in np.array_split(w, min(_RUNS, w.size)):
        high, low, total = float(run[0]), float(run[-1]), float(run.sum())
        if not larger or high - low <= _UP * high:
            found.append((high * (1.0 + _UP) if larger else total / run.size * (1 - _UP), run.size))
            continue
        high, low = high * (1.0 + _UP), low * (1.0 - _UP)
        highs = int((total - run.size * low) / (high - low))
        last = total * (1.0 + _UP) - highs * high - (run.size - highs - 1) * low
        found += [(high, highs), (max(last, low), 1), (low, run.size - highs - 1)]
    return [each for each in found if each[1]]


@lru_cache(maxsize=16)
def _end(
    base: PrivacyLossLaw, steps: int, rate: float, resolution: Resolution, *, larger: bool
) -> FiniteLaw:
    """One end of the loss of adding the record; the last few are kept."""
    total = None
    weights = weights_of(rate, steps, larger=larger)
    terms_of_mean = sum(count for _, count in weights)
    for weight, count in weights:
        once = PoissonSubsampledLaw(base, min(weight * terms_of_mean, 1.0))
        terms = ratio_end(once, resolution, larger=larger).sum_of(count, resolution)
        total = terms if total is None else total.plus(terms).regridded(resolution)
    assert total is not None
    law = loss_of(total)
    return replace(law, loss_error=law.loss_error + 4 * _SAME * (1.0 + steps * rate))
