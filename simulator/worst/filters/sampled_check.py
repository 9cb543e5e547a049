"""Checks the certificate of a filter of Gaussians on a Poisson sample.

Imports numpy, the standard library and :mod:`simulator.worst.filters.certificate_check` only,
whose notation and lemmas 2 and 7 it uses. A round has Gaussian noise of ``sigma`` at sensitivity 1
on a Poisson sample of ``rate``; both, and which of the neighbours holds the record, are chosen
after every answer. A round costs costs[j], the least with rates[i][j] >= rate, where sigmas[i] is
the largest that is not above sigma; rounds run while their costs add up to at most ``units``. The
claim: the whole interaction is (epsilon, delta)-DP.

1. With Q = N(0, sigma^2) and P = (1 - q) Q + q N(1, sigma^2), the pair (P, Q) dominates the removal
   of a record and (Q, P) its addition, also where the round is chosen adaptively (Zhu, Dong and
   Wang 2022). A larger sigma is a post-processing. For a smaller rate, P is a mixture of Q and of
   the P of the larger one, and the divergence is convex in the pair: it is no larger, both ways.
2. With G the Gaussian's divergence of mu = 1/sigma as a function of u, that of (P, Q) is 1 - u for
   u <= 1 - q and q G((u - 1 + q)/q) above; that of (Q, P) is 0 for s = 1 - u (1 - q) <= 0, and
   else u q (G(k) + k - 1) with k = s/(u q).
3. Rows W_0, ..., W_N >= (1 - u)_+, convex in u, with W_n >= W_(n-1) and W_n >= A W_(n-c) for each
   listed (sigma, rate) of cost c <= n and both pairs A. Then a round never raises the mean of the
   row of what is left, which is at least the payoff: no adversary exceeds W_N(e^epsilon). The menu
   with its pairs exchanged is itself, so both experiments are covered.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from simulator.worst.filters.certificate_check import (
    DIGITS,
    MOST,
    MOST_VALUES,
    ProofRows,
    gaussian_delta,
    number,
    numbers,
    read,
    require,
    spread_outward,
    whole,
)
from simulator.worst.filters.certificate_check import Refused as Refused

NAME = "certificate of a filter of sampled Gaussians"


def check(text: str) -> float:
    """Return the proved delta of a certificate's text; raise Refused where it proves nothing."""
    document = read(text, NAME)
    try:
        with localcontext(Context(prec=DIGITS)):
            rules = SampledRules(document)
            proved = rules.start()
    except ArithmeticError:
        raise Refused("its numbers are out of the range of this check") from None
    goal = Fraction(rules.delta)
    require(Fraction(proved) <= goal, f"the rows reach {proved:.6g}, above delta")
    return proved


class SampledRules:
    """The numbers of a certificate, each of its type and in its range."""

    def __init__(self, document: dict[str, Any]) -> None:
        grid: Any = document.get("grid")
        rates: Any = document.get("rates")
        nodes: Any = grid.get("nodes") if isinstance(grid, dict) else None
        costs: Any = document.get("costs")
        lists = (rates, nodes, costs)
        require(all(isinstance(each, list) and 0 < len(each) <= MOST for each in lists), "no lists")
        self.epsilon, self.delta = (number(document, name) for name in ("epsilon", "delta"))
        self.step = number(grid, "step")
        self.units = whole(document, "units", 1)
        self.first, self.at, self.last = (whole(grid, n) for n in ("first", "start", "last"))
        self.points = self.last - self.first + 1
        require(self.points <= MOST, f"grid: more than {MOST} points")
        require(self.first <= -1 and 0 <= self.at <= self.last, "grid: the start is outside")
        start = Fraction(self.step) * self.at
        require(start <= Fraction(self.epsilon), "grid: the start is beyond epsilon")
        self.nodes = [whole({"nodes": k}, "nodes") for k in nodes]
        self.costs = [whole({"costs": c}, "costs", 1) for c in costs]
        self.sigmas = numbers(document, "sigmas")
        self.rates = [numbers({"rates": row}, "rates") for row in rates]
        for name in ("nodes", "costs", "sigmas"):
            ascending = getattr(self, name)
            require(ascending == sorted(set(ascending)), f"{name}: order")
        require(len(self.rates) == len(self.sigmas), "rates: a row for each sigma is needed")
        for row in self.rates:
            require(len(row) == len(self.costs), "rates: a rate for each cost is needed")
            require(row == sorted(row) and row[-1] <= 1.0, "rates: order, or above 1")

    def start(self) -> float:
        """An upper end of W_N(e^epsilon), by the recursion of lemma 3, rounded up."""
        pad = max(-self.nodes[0], self.nodes[-1]) + 1
        require(
            self.units * (self.points + 2 * pad) <= MOST_VALUES, "grid: too many rows or points"
        )
        rows = ProofRows(self.units, self.step, (self.first, self.last), pad)
        options = list(self.options())
        inside = slice(pad, pad + self.points)
        for n in range(1, self.units + 1):
            best = rows.values[n - 1, inside].copy()
            for cost, weights, infinite in options:
                if cost > n:
                    break
                row = rows.values[n - cost]
                mean = np.full(self.points, infinite)
                for k, weight in weights:
                    mean += weight * row[pad - k : pad - k + self.points]
                mean *= 1.0 + (len(weights) + 8) * 2.0**-52
                np.maximum(best, mean, out=best)
            rows.store(n, best)
        return float(rows.values[self.units, inside][self.at - self.first])

    def options(self) -> Any:
        """Yield (cost, weights of losses, of an infinite one) by cost, in both directions."""
        step = Decimal(self.step)
        u = [(k * step).exp() for k in self.nodes]
        for place, cost in enumerate(self.costs):
            for sigma, row in zip(self.sigmas, self.rates):
                if place and row[place] == row[place - 1]:
                    continue  # costs more than the same rate
                square, rate = 1 / Decimal(sigma) ** 2, Decimal(row[place])
                for divergence in (removal, addition):
                    heights = [divergence(each, square, rate) for each in u]
                    weights, infinite = spread_outward(u, heights)
                    pairs = zip(self.nodes, weights.tolist())
                    yield cost, [(k, w) for k, w in pairs if w > 0.0], infinite


def removal(u: Decimal, square: Decimal, rate: Decimal) -> Decimal:
    """The divergence of (P, Q) at u; see lemma 2."""
    rest = u - 1 + rate
    return 1 - u if rest <= 0 else rate * gaussian_delta((rest / rate).ln(), square)


def addition(u: Decimal, square: Decimal, rate: Decimal) -> Decimal:
    """The divergence of (Q, P) at u; see lemma 2."""
    rest = 1 - u * (1 - rate)
    if rest <= 0:
        return Decimal(0)
    ratio = rest / (u * rate)
    return u * rate * (gaussian_delta(ratio.ln(), square) + ratio - 1)
