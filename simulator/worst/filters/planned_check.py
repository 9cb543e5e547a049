"""Checks the certificate of a filter with a plan.

Imports numpy, the standard library and :mod:`simulator.worst.filters.certificate_check` only,
whose notation and lemmas it uses. The filter's state is a row number n, first ``rows``. A round is
a move of a kind, of the least listed size that is not below its own; it leads from row n to row
next(n) < n, and is refused where the move has none. Kinds and sizes: ``pure``, eps of any eps-DP
mechanism; ``laplace``, shift over scale of Laplace noise on one number; ``range``, eps of an
eps-bounded-range mechanism; ``gaussian``, mu of a mu-GDP one. The claim: the whole interaction is
(epsilon, delta - rounds_delta)-DP for every adaptive adversary. Lemmas:

1. Laplace noise of scale b' > b is that of scale b plus independent noise (0 with probability
   (b/b')^2, else Laplace of scale b'). So a smaller shift over scale is a post-processing, and the
   pair of the full shift has D(u) = 1 - u below e^-eps, 1 - sqrt(u e^-eps) up to e^eps, then 0; it
   equals its exchanged pair.
2. An eps-bounded-range round has one of the pairs P_t, 0 <= t <= eps: loss t with probability
   p_t = (1 - e^(t-eps)) / (1 - e^-eps), else t - eps, or a post-processing (Dong, Durfee and Rogers
   2020). Exchanging P_t gives P_(eps-t). A smaller range is in a larger one.
3. Let f be convex and linear between lattice points h apart in ln u, and eps = K h. As a function
   of x = e^t between lattice points, P_t f(u) is c0 + c1 x + c2/x with c2 <= 0, so it is at most
   its chord and |c2| times the largest gap of 1/x below its own chord: with d(v) the fall of f from
   v e^-h to v, that is tanh(h/4) / (1 - e^-eps) (d(u e^-t) - e^-eps d(u e^(eps-t))), t = k h.
4. Rows W_0, ..., W_N, with W_0 = (1 - u)_+ and W_n the maximum of W_(n-1) and of A W_next(n) over
   the moves, are convex and decreasing in u, and A W <= W_n for every round that is admitted at n.
   So the mean of the row in force never increases, and it is at least the payoff.
5. The pool. All A commute with Gaussian pairs, and f <= N_t f. So N_t W_n, with t what is left of
   the pool plus its floor, never increases either, where a pure round may take lemma 4's cost at
   the floor, or a Gaussian one mu^2, from the pool, and leave the row.
6. A play whose eps add up to at most epsilon pays 0, and so may leave the rows; all its later
   rounds must keep that sum. A round with a delta_i of its own adds at most delta_i.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from simulator.worst.filters.certificate_check import (
    DIGITS,
    MOST,
    MOST_VALUES,
    UP,
    ProofRows,
    gaussian_kernel,
    number,
    read,
    require,
    response_taps,
    rounded_down,
    rounded_up,
    spread_outward,
    whole,
)
from simulator.worst.filters.certificate_check import Refused as Refused

NAME = "certificate of a planned filter"
KINDS = ("pure", "laplace", "range", "gaussian")
MOST_MOVES = 2000
MOST_WORK = 10**12
"""Most products of a weight and a value."""


def check(text: str) -> float:
    """Return the proved delta of a certificate's text; raise Refused where it proves nothing."""
    document = read(text, NAME)
    try:
        with localcontext(Context(prec=DIGITS)):
            rules = PlannedRules(document)
            rules.follow_plan()
            proved = rules.start()
    except (ArithmeticError, MemoryError):
        raise Refused("its numbers are out of the range of this check") from None
    margin = Fraction(rules.epsilon) / 2**50  # of sums of epsilons, compared in floats
    goal = Fraction(rules.delta) - Fraction(rules.leaks)
    require(
        Fraction(proved) + margin <= goal, f"the rows reach {proved:.6g}, above delta less rounding"
    )
    return proved


class Move:
    """A kind and a size of rounds, and the row that follows each row, or -1."""

    def __init__(self, stored: Any, rows: int) -> None:
        require(isinstance(stored, dict), "moves: each must be an object")
        self.kind, self.size = stored.get("kind"), number(stored, "size")
        require(self.kind in KINDS, "moves: kind: must be pure, laplace, range or gaussian")
        runs: Any = stored.get("falls")
        require(isinstance(runs, list) and len(runs) <= MOST, "moves: falls: must be a list")
        self.next = np.full(rows + 1, -1)
        last = 0
        for run in runs:
            require(isinstance(run, list) and len(run) == 2, "moves: falls: must be pairs")
            row, fall = whole({"row": run[0]}, "row", 1), whole({"fall": run[1]}, "fall", 0)
            require(last < row <= rows and fall <= row, "moves: falls: order, or below row 0")
            self.next[row:] = np.arange(row, rows + 1) - fall if fall else -1
            last = row


class PlannedRules:
    """The numbers of a certificate, each of its type and in its range."""

    def __init__(self, document: dict[str, Any]) -> None:
        grid: Any = document.get("grid")
        pool: Any = document.get("pool")
        moves: Any = document.get("moves")
        self.plan: Any = document.get("plan")
        require(isinstance(grid, dict) and isinstance(pool, dict), "no grid or no pool")
        require(isinstance(moves, list) and 0 < len(moves) <= MOST_MOVES, "moves: must be a list")
        self.epsilon, self.delta = (number(document, name) for name in ("epsilon", "delta"))
        self.leaks = number(document, "rounds_delta", zero=True)
        self.squares = number(pool, "squares", zero=True)
        self.floor = number(pool, "floor", zero=True)
        require((self.floor > 0.0) == (self.squares > 0.0), "pool: squares and floor, or neither")
        self.step = number(grid, "step")
        self.rows = whole(document, "rows", 0)
        self.first, self.at, self.last = (whole(grid, n) for n in ("first", "start", "last"))
        self.points = self.last - self.first + 1
        require(self.points <= MOST, f"grid: more than {MOST} points")
        require(self.first <= -1 and 0 <= self.at < self.last, "grid: the start is outside")
        low, high = (Fraction(self.step) * i for i in (self.at, self.at + 1))
        require(low <= Fraction(self.epsilon) <= high, "grid: epsilon is not beside the start")
        self.moves = [Move(each, self.rows) for each in moves]
        keys = [(move.kind, move.size) for move in self.moves]
        require(all(a < b for a, b in pairwise(keys)), "moves: order")

    def follow_plan(self) -> None:
        """Raise Refused unless the rounds of the plan are admitted, in its order."""
        good = isinstance(self.plan, list) and 0 < len(self.plan) <= MOST
        require(good, "plan: must be a list")
        row = self.rows
        for entry in self.plan:
            require(isinstance(entry, list) and len(entry) == 3, "plan: kind, size and rounds")
            size, rounds = number({"size": entry[1]}, "size"), whole({"n": entry[2]}, "n", 1)
            fit = [m for m in self.moves if m.kind == entry[0] and m.size >= size]
            require(bool(fit), "plan: a round that no move covers")
            for _ in range(rounds):
                row = int(fit[0].next[row]) if row > 0 else -1
                require(row >= 0, "plan: a round of it is refused")

    def start(self) -> float:
        """An upper end of N_t W_N(e^epsilon), t = squares + floor, rounded up."""
        step = Decimal(self.step)
        means = [mean_of(move, step) for move in self.moves]
        pool = Decimal(self.squares) + Decimal(self.floor)
        wide = gaussian_kernel(pool, step) if pool else None
        pad = max([m.reach for m in means] + ([wide[0]] if wide else [])) + 2
        require(
            (self.rows + 1) * (self.points + 2 * pad) <= MOST_VALUES,
            "grid: too many rows or points",
        )
        work = sum(min(4 * m.reach, m.most) for m in means) * self.rows * self.points
        require(work <= MOST_WORK, "moves: too many for the rows and points")
        rows = ProofRows(self.rows, self.step, (self.first, self.last), pad)
        inside = slice(pad, pad + self.points)
        for n in range(1, self.rows + 1):
            best = rows.values[n - 1, inside].copy()
            for move, mean in zip(self.moves, means):
                if move.next[n] >= 0:
                    np.maximum(best, mean.of_row(rows, int(move.next[n])), out=best)
            rows.store(n, best)
        top = rows.mean_over(self.rows, *wide) if wide else rows.values[self.rows, inside]
        low, high = (float(v) for v in top[self.at - self.first :][:2])
        # the chord between two lattice points is above a convex function
        u = [Decimal(self.epsilon).exp(), *((step * i).exp() for i in (self.at, self.at + 1))]
        share = min(max((u[0] - u[1]) / (u[2] - u[1]), Decimal(0)), Decimal(1))
        return rounded_up((1 - share) * Decimal(low) + share * Decimal(high))


class KernelMean:
    """The mean over a listed law of losses, rounded up."""

    most = MOST

    def __init__(self, reach: int, weights: np.ndarray, infinite: float) -> None:
        self.reach, self.weights, self.infinite = reach, weights, infinite

    def of_row(self, rows: ProofRows, n: int) -> np.ndarray:
        """The mean of row n, rounded up."""
        return rows.mean_over(n, self.reach, self.weights, self.infinite)


class ResponseMean:
    """R_e, rounded up."""

    most = 4

    def __init__(self, epsilon: Decimal, step: Decimal) -> None:
        self.taps = response_taps(epsilon, step)
        self.reach = self.taps[0] + 1

    def of_row(self, rows: ProofRows, n: int) -> np.ndarray:
        """The mean of row n, rounded up."""
        return rows.response(n, self.taps, np.empty(rows.points))


class RangeMean:
    """The upper end of the maximum of P_t over t of lemma 3, eps rounded up to K steps."""

    most = 4 * MOST

    def __init__(self, epsilon: Decimal, step: Decimal) -> None:
        self.width = int((epsilon / step).to_integral_value("ROUND_CEILING"))
        self.reach = self.width
        require(self.width <= MOST, "grid: the step is too small")
        width = self.width * step
        whole_ = 1 - (-width).exp()
        heights = [(1 - (k * step - width).exp()) / whole_ for k in range(self.width + 1)]
        self.weights = [(rounded_up(p), rounded_up(1 - p)) for p in heights]
        slope = (step / 4).exp()
        self.gap = rounded_up((slope * slope - 1) / (slope * slope + 1) / whole_)
        self.less = rounded_down((-width).exp())

    def of_row(self, rows: ProofRows, n: int) -> np.ndarray:
        """The mean of row n, rounded up."""
        row, pad, points, width = rows.values[n], rows.pad, rows.points, self.width
        fall = row[:-1] - row[1:]  # fall[j - 1] is that from j - 1 to j
        best = before = np.zeros(points)
        for k, (high, low) in enumerate(self.weights):
            at = pad - k
            now = high * row[at : at + points]
            now += low * row[at + width : at + width + points]
            if k:  # the cell from k - 1 to k
                f = fall[at : at + points] - self.less * fall[at + width : at + width + points]
                f *= self.gap
                f += 2.0**-50 * row[at : at + points]
                cell = np.maximum(before, now)
                cell += np.maximum(f, 0.0)
                best = np.maximum(best, cell)
            before = now
        return best * UP


def mean_of(move: Move, step: Decimal) -> KernelMean | ResponseMean | RangeMean:
    """The mean over a move's pair, or the maximum over its pairs."""
    size = Decimal(move.size)
    if move.kind == "pure":
        return ResponseMean(size, step)
    if move.kind == "range":
        return RangeMean(size, step)
    if move.kind == "gaussian":
        return KernelMean(*gaussian_kernel(size * size, step))
    reach = int(size / step) + 1
    require(reach <= MOST, "grid: the step is too small")
    nodes = [k * step for k in range(-reach, reach + 1)]
    heights = [laplace_delta(x, size) for x in nodes]
    return KernelMean(reach, *spread_outward([x.exp() for x in nodes], heights))


def laplace_delta(x: Decimal, epsilon: Decimal) -> Decimal:
    """The divergence of lemma 1 at u = e^x."""
    if x >= epsilon:
        return Decimal(0)
    return 1 - (x.exp() if x <= -epsilon else ((x - epsilon) / 2).exp())
