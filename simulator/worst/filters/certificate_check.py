"""Checks the certificate of a privacy filter; imports numpy and the standard library only.

The filter charges cost(eps) for an eps-DP round and mu^2 for a mu-GDP one, and admits rounds while
the costs add up to at most ``budget``. The claim: then the whole interaction is
(epsilon, delta - rounds_delta)-DP for every adaptive adversary.

Notation. u = e^(epsilon - loss), so a game starts at u = e^epsilon and pays (1 - u)_+ at its end.
A pair of laws acts on functions f of u by its mean in experiment 0: (Pf)(u) = E f(u e^(-L)). R_e is
the pair of randomized response, N_t the Gaussian pair of mu^2 = t, h the unit, N the units.

Lemmas
1. Any eps-DP mechanism is a post-processing of R_e with e >= eps (Kairouz, Oh and Viswanath 2015),
   any mu-GDP one of N_(mu^2) (Dong, Roth and Su 2022), and then its mean of a convex f is at most
   that of R_e or N. All these pairs are equal to their exchanged pairs: both directions hold.
2. All P commute, keep convexity, and N_s N_t = N_(s+t). For convex f, f <= P f.
3. Spread: if tanh(e/2) = (1-w) tanh(a/2) + w tanh(b/2), then R_e f <= (1-w) R_a f + w R_b f. (The
   posterior of R_e is (1 +- tanh(e/2))/2; it is spread with its mean kept.)
4. Small rounds: R_e N_t f <= N_(t + k e^2) f if r = e^2/t <= 2, g = (r + sqrt(r^2 + 4))/2,
   g e^2 <= 1 and k = g (1 + g e^2/2). (At f = (1 - u)_+ divide both gains over N_t f by the density
   of N_t. Both are power series in x^2, x = ln u, with terms at most e^(2m+2)/(2m+2)! and at least
   k^(m+1) e^(2m+2) (1 + k r)^(-m-1/2) e^(-k e^2/8) / (2^(m+1) (m+1)!); k is chosen for m = 0, and
   1 + k r <= 3 k settles the others. Every convex f is a mixture of these and a line.)
5. Rows W_0, ..., W_N >= (1 - u)_+, convex in u, and V(b) linear in b between V(n) = W_n. Let
   0 < e_1 < e_2 < ... be the ends of cells and A(j, n) = R_(e_j) W_(n-j). If for all n
     (a) W_n >= N_h W_(n-1),
     (b) for a cell from j to j+1: W_n >= M and (M + (A(j, n-1) + A(j+1, n+1))/2)/2, where
         M = max(A(j, n), A(j+1, n)), and where n = j: W_n >= A(j, n),
     (c) for a coarse cell from j to i > j: W_n >= A(i, n + i - j),
   then a round with e in the cell, e_j < e <= e_(j+1) or e_i, and cost c h = (j + w) h, w as in 3,
   has R_e V(b - c) <= V(b) for all b >= c; below e_1 so has the cost h. In (b) both sides are
   piecewise linear in b, and b = m + c follows from M; at b = n the left side is below a quadratic
   in w with the control values A(j, n), (A(j, n-1) + A(j+1, n+1))/2, A(j+1, n). In (c) it is
   R_(e_i) V(b - j) at most.
6. The filter. With s the cost of rounds of lemma 4 and Gaussian ones, and r that of the others,
   U = N_(reserve + h ceil(s/h) - s) V(N - ceil(s/h) - r/h) never increases on average while
   s + r <= (N - 1) h, is at least (1 - u)_+, and begins with N_reserve W_N(e^epsilon).
7. On the lattice u = e^(i step), u = 0 and constant beyond the largest u, the chord is above a
   convex decreasing function, and means of it are exact sums of weights >= 0. So rounding weights
   and sums up gives values above those of exact rows with the properties of lemma 5.
8. A round with a delta_i of its own adds at most delta_i; a play whose eps_i add up to at most
   epsilon pays 0, so a filter may admit it whatever it costs.
"""

from __future__ import annotations

import hashlib
import json
import math
from bisect import bisect_left
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

DIGITS = 60
UP = 1.0 + 2.0**-50
"""Above the relative error of the few operations after which it is used."""
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620900")
NAME = "certificate of a privacy filter"
MOST = 20_000
"""Most units, lattice points, cells and rows of a table."""
MOST_VALUES = 10**8
"""Most values of all rows, which are kept."""


class Refused(ValueError):
    """A certificate that proves nothing; one line says where it fails."""


def require(holds: bool, message: str) -> None:
    """Raise Refused unless the condition holds."""
    if not holds:
        raise Refused(message)


def digest_of(document: dict[str, Any]) -> str:
    """SHA-256 of the members but ``digest``, as JSON with sorted keys and without spaces."""
    rest = {name: value for name, value in document.items() if name != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def check(text: str) -> float:
    """Return the proved delta of a certificate's text; raise Refused where it proves nothing."""
    document = read(text, NAME)
    try:
        with localcontext(Context(prec=DIGITS)):
            rules = Rules(document)
            rules.check_table()
            proved = rules.start()
    except ArithmeticError:
        raise Refused("its numbers are out of the range of this check") from None
    margin = Fraction(rules.epsilon) / 2**50  # of sums of epsilons, compared in floats
    goal = Fraction(rules.delta) - Fraction(rules.leaks)
    require(
        Fraction(proved) + margin <= goal, f"the rows reach {proved:.6g}, above delta less rounding"
    )
    return proved


def read(text: str, name: str) -> dict[str, Any]:
    """The members of a certificate of that name, with its own digest; raise Refused."""
    try:
        document = json.loads(text, object_pairs_hook=members)
    except (ValueError, RecursionError) as error:
        raise Refused(f"it is not JSON: {error}") from None
    require(isinstance(document, dict), "it is not an object")
    require(document.get("dpcompose") == name, f"it is not a {name}")
    require(document.get("version") == 1, "its version is not 1")
    require(document.get("digest") == digest_of(document), "it was changed: wrong digest")
    return dict(document)


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object; other readers may take another one of two with one name."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("two members of an object have one name")
    return dict(pairs)


class Rules:
    """The numbers of a certificate, each of its type and in its range."""

    def __init__(self, document: dict[str, Any]) -> None:
        grid: Any = document.get("grid")
        table: Any = document.get("table")
        require(isinstance(grid, dict) and isinstance(table, dict), "no grid or no table")
        self.epsilon, self.delta = number(document, "epsilon"), number(document, "delta")
        self.unit, self.reserve = number(document, "unit"), number(document, "reserve")
        self.leaks = number(document, "rounds_delta", zero=True)
        self.step = number(grid, "step")
        largest, budget = number(document, "largest"), number(document, "budget")
        self.units = whole(document, "units", 1)
        self.first, self.at, self.last = (whole(grid, n) for n in ("first", "start", "last"))
        self.points = self.last - self.first + 1
        require(self.points <= MOST, f"grid: more than {MOST} points")
        require(self.first <= -1 and 0 <= self.at <= self.last, "grid: the start is outside")
        start = Fraction(self.step) * self.at
        require(start <= Fraction(self.epsilon), "grid: the start is beyond epsilon")
        room = (self.units - 1) * Fraction(self.unit)
        require(Fraction(budget) <= room, "the budget is above units - 1 times the unit")
        self.cells = self._cells(grid)
        self.x, self.cost = (numbers(table, name) for name in ("x", "cost"))
        require(len(self.x) == len(self.cost) > 0, "table: the columns differ in length")
        require(all(a < b for a, b in pairwise(self.x)) and self.x[-1] < 1, "table: order")
        end = self.epsilon_of(Decimal(self.x[-1]))  # it may end before: such rounds are refused
        beyond = end > Decimal(largest) * (1 + Decimal(2) ** -45)
        require(not beyond, "table: it goes beyond the largest epsilon")

    def _cells(self, grid: dict[str, Any]) -> list[tuple[int, int]]:
        """The pairs (j, next j), where those of successive numbers are linear cells."""
        self.ends = numbers(grid, "ends")
        require(all(a < b for a, b in pairwise(self.ends)), "grid: ends: order")
        ends = grid.get("cells")
        require(
            isinstance(ends, list) and len(ends) <= MOST and all(type(j) is int for j in ends),
            "grid: cells must be whole numbers",
        )
        require((ends or [0])[-1] == len(self.ends), "grid: as many ends as the last cell needs")
        if not ends:
            return []
        require(ends[0] == 1 and all(a < b for a, b in pairwise(ends)), "grid: cells: order")
        require(ends[-1] <= self.units + 1, "grid: a cell costs more than all units")
        return list(pairwise(ends))

    # the cost

    def epsilon_of(self, x: Decimal) -> Decimal:
        """The eps with tanh(eps/2) = x."""
        return ((1 + x) / (1 - x)).ln()

    def small_cost(self, epsilon: Decimal) -> Decimal:
        """The cost k e^2 of lemma 4; infinite where it does not apply."""
        square = epsilon * epsilon
        ratio = square / Decimal(self.reserve)
        gain = (ratio + (ratio * ratio + 4).sqrt()) / 2
        if ratio > 2 or gain * square > 1:
            return Decimal("inf")
        return square * gain * (1 + gain * square / 2)

    def check_table(self) -> None:
        """Raise Refused unless linear interpolation in x = tanh(eps/2) is above a proved cost.

        Below the first row the cost is that row's times the square of x over its x. In x a cell of
        lemma 5 has a linear cost, and that of lemma 4 is below its chord for a fixed k.
        """
        x, cost = [Decimal(v) for v in self.x], [Decimal(v) for v in self.cost]
        least = self.small_cost(self.epsilon_of(x[0]))
        require(cost[0] >= least, "table: row 1 costs less than is proved")
        unit = Decimal(self.unit)
        powers = [Decimal(end).exp() for end in self.ends]
        cells = [((power - 1) / (power + 1), j * unit) for j, power in enumerate(powers, 1)]
        for i, low, high in zip(range(2, len(x) + 1), zip(x, cost), zip(x[1:], cost[1:])):
            require(
                self._is_small(low, high) or _above_cells(cells, low, high),
                f"table: row {i} costs less than is proved",
            )

    def _is_small(self, low: Point, high: Point) -> bool:
        """Whether the chord is above the cost of lemma 4 at the interval's largest factor k."""
        bottom, top = self.epsilon_of(low[0]), self.epsilon_of(high[0])
        most = self.small_cost(top)
        return high[1] >= most and low[1] >= most * bottom * bottom / (top * top)

    # the rows

    def start(self) -> float:
        """An upper end of N_reserve W_N(e^epsilon), by the recursion of lemma 5, rounded up."""
        step = Decimal(self.step)
        needed = sorted({j for pair in self.cells for j in pair})
        taps = {j: response_taps(Decimal(self.ends[j - 1]), step) for j in needed}
        reach, kernel, lost = gaussian_kernel(Decimal(self.unit), step)
        far, wide, wide_lost = gaussian_kernel(Decimal(self.reserve), step)
        pad = max([reach, far, *(tap[0] + 1 for tap in taps.values())]) + 1
        require(
            self.units * (self.points + 2 * pad) <= MOST_VALUES, "grid: too many rows or points"
        )
        rows = ProofRows(self.units, self.step, (self.first, self.last), pad)
        scratch = np.empty((3, self.points))
        earlier: dict[int, np.ndarray] = {}
        for n in range(1, self.units + 1):
            best = rows.mean_over(n - 1, reach, kernel, lost)
            for j, i in self.cells:
                if j > n:
                    break
                upper = rows.response(n - j, taps[i], scratch[0])
                if i > j + 1:
                    np.maximum(best, upper, out=best)
                    continue
                lower = rows.response(n - j, taps[j], scratch[1])
                np.maximum(best, lower, out=best)
                if n > j:
                    _linear_cell(best, lower, upper, earlier[j], scratch[2])
                else:
                    earlier[j] = np.empty((2, self.points))
                earlier[j][0], earlier[j][1] = lower, upper
            rows.store(n, best)
        return float(rows.mean_over(self.units, far, wide, wide_lost)[self.at - self.first])


def _linear_cell(
    best: np.ndarray, lower: np.ndarray, upper: np.ndarray, earlier: np.ndarray, free: np.ndarray
) -> None:
    """Raise ``best`` to the values of lemma 5 (b); ``earlier`` are A(j, n-1) and A(j+1, n)."""
    np.maximum(lower, earlier[1], out=free)
    np.maximum(best, free, out=best)
    free *= 2.0
    free += earlier[0]
    free += upper
    free *= 0.25 * UP
    np.maximum(best, free, out=best)


class ProofRows:
    """The rows on the lattice, extended to both sides: to 1 at u = 0, and constant."""

    def __init__(self, units: int, step: float, ends: tuple[int, int], pad: int) -> None:
        self.pad, self.points, exact = pad, ends[1] - ends[0] + 1, Decimal(step)
        self.values = np.empty((units + 1, pad + self.points + pad))
        self.toward_zero = np.array([rounded_down((-exact * k).exp()) for k in range(pad, 0, -1)])
        payoff = [1 - (exact * i).exp() for i in range(ends[0], ends[1] + 1)]
        self.store(0, np.array([rounded_up(v) if v > 0 else 0.0 for v in payoff]))

    def store(self, n: int, values: np.ndarray) -> None:
        """Store a row, at most 1."""
        row, inside = self.values[n], slice(self.pad, self.pad + self.points)
        np.minimum(values, 1.0, out=row[inside])
        row[inside.stop :] = row[inside.stop - 1]
        row[: self.pad] = 1.0 - (1.0 - row[self.pad]) * self.toward_zero + 2.0**-50

    def response(self, n: int, taps: Taps, out: np.ndarray) -> np.ndarray:
        """R_e of a row, rounded up, in ``out``."""
        shift, up, farther_up, down, farther_down = taps
        row, pad, points = self.values[n], self.pad, self.points
        np.multiply(row[pad + shift : pad + shift + points], up, out=out)
        for place, weight in ((shift + 1, farther_up), (-shift, down), (-shift - 1, farther_down)):
            out += weight * row[pad + place : pad + place + points]
        out *= UP
        return out

    def mean_over(self, n: int, reach: int, kernel: np.ndarray, lost: float) -> np.ndarray:
        """The mean of a row over a kernel's losses, rounded up."""
        row = self.values[n, self.pad - reach : self.pad + self.points + reach]
        rounding = 1.0 + (len(kernel) + 8) * 2.0**-52
        return (np.convolve(row, kernel, mode="valid") + lost) * rounding


Taps = tuple[int, float, float, float, float]
Point = tuple[Decimal, Decimal]


def response_taps(epsilon: Decimal, step: Decimal) -> Taps:
    """The shift k and the weights of R_e at i + k, i + k + 1, i - k and i - k - 1, rounded up."""
    shift = int(epsilon / step)
    rest = epsilon - shift * step
    one = 1 / (1 + epsilon.exp())
    beyond = (rest.exp() - 1) / (step.exp() - 1)
    before = (1 - (-rest).exp()) / (1 - (-step).exp())
    weights = one * (1 - beyond), one * beyond, (1 - one) * (1 - before), (1 - one) * before
    return shift, *(rounded_up(w) for w in weights)  # type: ignore[return-value]


def gaussian_kernel(square: Decimal, step: Decimal) -> tuple[int, np.ndarray, float]:
    """Weights of losses k step, |k| <= reach, and of an infinite loss, of a pair above N_square.

    The pair's hockey-stick divergence, as a function of u, is the chord of the Gaussian's between
    lattice points and u = 0, and constant beyond them.
    """
    reach = int(10 * square.sqrt() / step) + 2
    require(reach <= MOST, "grid: the step is too small")
    u = [(k * step).exp() for k in range(-reach, reach + 1)]
    height = [gaussian_delta(k * step, square) for k in range(-reach, reach + 1)]
    # the loss k step moves u to u e^(-k step): np.convolve reverses its second argument
    return reach, *spread_outward(u, height)


def spread_outward(u: list[Decimal], height: list[Decimal]) -> tuple[np.ndarray, float]:
    """Weights of the losses ln u and of an infinite one, from heights of the divergence's chord.

    The chord begins with 1 at u = 0 and is constant beyond the last u.
    """
    heights, places = [Decimal(1), *height, height[-1]], [Decimal(0), *u, 2 * u[-1]]
    slopes = [(b - a) / (q - p) for a, b, p, q in zip(heights, heights[1:], places, places[1:])]
    bends = [(b - a) * at for a, b, at in zip(slopes, slopes[1:], u)]
    require(min(bends) > -(Decimal(10) ** -40), "grid: the step is too small for the digits used")
    return np.array([rounded_up(w) for w in bends]), rounded_up(height[-1])


def gaussian_delta(epsilon: Decimal, square: Decimal) -> Decimal:
    """delta(epsilon) of the Gaussian pair (Balle and Wang 2018), in ``DIGITS`` digits."""
    mu = square.sqrt()
    return _below(mu / 2 - epsilon / mu) - epsilon.exp() * _below(-mu / 2 - epsilon / mu)


def _below(z: Decimal) -> Decimal:
    """Phi(z), by the series of erf with terms of one sign."""
    square, term = z * z, z / (2 * PI).sqrt() * (-z * z / 2).exp()
    total, odd = Decimal(0), 1
    while abs(term) > Decimal(10) ** (-DIGITS - 20) or odd < square:
        total += term
        odd += 2
        term *= square / odd
    return Decimal(1) / 2 + total


def _above_cells(cells: list[Point], low: Point, high: Point) -> bool:
    """Whether a chord is above the linear interpolation of ``cells``, constant to their left."""
    if not cells or high[0] > cells[-1][0]:
        return False
    ends = [bisect_left(cells, point[0], key=lambda cell: cell[0]) for point in (low, high)]
    return (
        low[1] >= _interpolated(cells, low[0])
        and high[1] >= _interpolated(cells, high[0])
        and all(_interpolated([low, high], x) >= cost for x, cost in cells[slice(*ends)])
    )


def _interpolated(points: list[Point], x: Decimal) -> Decimal:
    """The value at x of the piecewise linear function, constant to the left of the points."""
    after = bisect_left(points, x, key=lambda point: point[0])
    if after == 0:
        return points[0][1]
    (x0, y0), (x1, y1) = points[after - 1 : after + 1]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def rounded_up(value: Decimal) -> float:
    """A float above a number >= 0 that is known in nearly all digits."""
    return math.nextafter(max(float(value), 0.0) * UP, math.inf)


def rounded_down(value: Decimal) -> float:
    """A float below a number > 0 that is known in nearly all digits."""
    return float(value) / UP


def number(document: dict[str, Any], name: str, *, zero: bool = False) -> float:
    """A float from 1e-99 to 1e9, or 0 if that may be."""
    found: Any = document.get(name)
    good = type(found) in (int, float) and 0 <= found <= 1e9 and (zero or found >= 1e-99)
    require(good, f"{name}: must be a number above 0")
    return float(found)


def numbers(document: dict[str, Any], name: str) -> list[float]:
    """Floats from 1e-99 to 1e9."""
    found = document.get(name)
    require(isinstance(found, list) and len(found) <= MOST, f"{name}: must be a list of numbers")
    return [number({name: value}, name) for value in found]  # type: ignore[union-attr]


def whole(document: dict[str, Any], name: str, least: int = -MOST) -> int:
    """An integer from ``least`` to MOST."""
    found = document.get(name)
    require(type(found) is int and least <= found <= MOST, f"{name}: must be a whole number")
    return int(found)  # type: ignore[arg-type]
