"""Checks the certificate of a privacy filter.

Imports numpy, the standard library and :mod:`simulator.worst.filters.certificate_format` only.
The filter's state is a row number n, first ``rows``. A round has a kind and a size. It takes the
move of its kind with the least listed size that is not below its own, and leads from row n to row
next(n) < n; it is refused where there is no such move or row. The claim: the whole interaction is
(epsilon, delta - rounds_delta)-DP for every adaptive adversary. Kinds and sizes: ``pure``, eps of
any eps-DP mechanism; ``laplace``, shift over scale of Laplace noise on one number; ``range``, eps
of an eps-bounded-range mechanism; ``gdp``, mu of a mu-GDP one; ``subsampled-gaussian:SIGMA``,
rate of a Poisson sample with Gaussian noise of SIGMA or more (sensitivity 1, one record added or
removed, and in each round the neighbour that holds it is chosen, too).

Notation. u = e^(epsilon - loss): a game starts at u = e^epsilon and pays (1 - u)_+ at its end. A
pair of laws acts on functions f of u by its mean in experiment 0: (Pf)(u) = E f(u e^(-L)). R_e is
the pair of randomized response, N_t the Gaussian pair of mu^2 = t. D(u) is a pair's divergence.

Lemmas
1. Any eps-DP mechanism is a post-processing of R_e with e >= eps (Kairouz, Oh and Viswanath 2015),
   any mu-GDP one of N_(mu^2) (Dong, Roth and Su 2022), and then its mean of a convex f is at most
   that of R_e or N. These pairs are equal to their exchanged pairs: both directions hold.
2. Laplace noise of scale b' > b is that of scale b plus independent noise (0 with probability
   (b/b')^2, else Laplace of scale b'). So a smaller shift over scale is a post-processing, and the
   pair of the full shift has D(u) = 1 - u below e^-eps, 1 - sqrt(u e^-eps) up to e^eps, then 0; it
   equals its exchanged pair.
3. An eps-bounded-range round has one of the pairs P_t, 0 <= t <= eps: loss t with probability
   p_t = (1 - e^(t-eps)) / (1 - e^-eps), else t - eps, or a post-processing (Dong, Durfee and Rogers
   2020). Exchanging P_t gives P_(eps-t). A smaller range is in a larger one. Let f be convex and
   linear between lattice points h apart in ln u, and eps = K h. As a function of x = e^t between
   lattice points, P_t f(u) is c0 + c1 x + c2/x with c2 <= 0, so it is at most its chord and |c2|
   times the largest gap of 1/x below its own chord: with d(v) the fall of f from v e^-h to v, that
   is tanh(h/4) / (1 - e^-eps) (d(u e^-t) - e^-eps d(u e^(eps-t))), t = k h.
4. With Q = N(0, sigma^2) and P = (1 - q) Q + q N(1, sigma^2), the pair (P, Q) dominates the removal
   of a record and (Q, P) its addition, also where the round is chosen adaptively (Zhu, Dong and
   Wang 2022). A larger sigma is a post-processing. For a smaller rate q, P is a mixture of Q and of
   the P of the larger one, and D is convex in the pair: it is no larger, both ways. With G the D of
   N_(1/sigma^2), that of (P, Q) is 1 - u for u <= 1 - q and q G((u - 1 + q)/q) above; that of
   (Q, P) is 0 for s = 1 - u (1 - q) <= 0, and else u q (G(k) + k - 1) with k = s/(u q).
5. Rows W_0, ..., W_N, with W_0 = (1 - u)_+ and W_n the maximum of W_(n-1) and of A W_next(n) over
   the moves and their pairs A, are convex and decreasing in u, and A W <= W_n for every round that
   is admitted at n. So the mean of the row in force never increases, and it is at least the payoff.
6. The pool. All A commute with Gaussian pairs, N_s N_t = N_(s+t) and f <= N_t f for convex f. So
   N_t W_n, with t what is left of the pool plus its floor, never increases either, where a Gaussian
   round takes mu^2 from the pool, or a pure one k e^2, and leaves the row. Here R_e N_t f <=
   N_(t + k e^2) f if r = e^2/t <= 2, g = (r + sqrt(r^2 + 4))/2, g e^2 <= 1, k = g (1 + g e^2/2).
   (At f = (1 - u)_+ divide both gains over N_t f by the density of N_t. Both are power series in
   x^2, x = ln u, with terms at most e^(2m+2)/(2m+2)! and at least
   k^(m+1) e^(2m+2) (1 + k r)^(-m-1/2) e^(-k e^2/8) / (2^(m+1) (m+1)!); k is chosen for m = 0, and
   1 + k r <= 3 k settles the others. Every convex f is a mixture of these and a line.)
7. On the lattice u = e^(i step), u = 0 and constant beyond the largest u, the chord is above a
   convex decreasing function, and means of it are exact sums of weights >= 0. So rounding weights
   and sums up gives values above those of exact rows with the properties of lemma 5.
8. A play whose eps add up to at most epsilon pays 0, and so may leave the rows; all its later
   rounds must keep that sum. A round with a delta_i of its own adds at most delta_i.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from simulator.worst.filters.certificate_format import (
    MOST,
    PARAMETERS,
    Certificate,
    Move,
    Refused,
    read,
    require,
)

DIGITS = 60
UP = 1.0 + 2.0**-50  # above the relative error of the few operations after which it is used
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620900")
MOST_VALUES = 10**8  # of all rows, which are kept
MOST_WORK = 10**12  # products of a weight and a value
MOST_WEIGHTS = 5 * 10**5  # of all moves: four minutes, in so many digits


@dataclass(frozen=True)
class Proved:
    """What a certificate proves, in numbers that were checked.

    Attributes
    ----------
    certificate : what stands in it.
    reached : an upper end of delta(epsilon) without the rounds' own deltas.
    admits : (kind, size, rounds): of three sizes of each kind, how many run without the pool.
    """

    certificate: Certificate
    reached: float
    admits: tuple[tuple[str, float, int], ...]

    def plain(self) -> dict[str, Any]:
        """The same as plain values, with ``lines`` and cells (kind, low, high, fall) from 0 on.

        A round of a size above low, up to high, falls so far from the first row, by the inequality
        W_n >= A W_(n - fall) of lemma 5 that is the cell's own; 0 refuses.
        """
        names = ("epsilon", "delta", "rounds_delta", "digest", "rows", "squares")
        found = {name: getattr(self.certificate, name) for name in names} | {"says": self.lines()}
        cells = [(m.kind, m.low, m.size, m.falls[-1][1]) for m in self.certificate.moves]
        return {"reached": self.reached, **found, "cells": cells, "admits": self.admits}

    def lines(self) -> list[str]:
        """The sentences to print."""
        own = self.certificate
        leaks = f" and {own.rounds_delta!r} of the rounds' own" if own.rounds_delta else ""
        at = f"{self.reached!r}{leaks} at epsilon = {own.epsilon!r}, within {own.delta!r}"
        found = [f"proved: delta is at most {at}, for every adaptive choice of these rounds:"]
        for kind, same in groupby(self.admits, key=lambda each: each[0]):
            *_, (_, largest, _) = rounds = list(same)
            counts = ", ".join(f"{count} of {size!r}" for _, size, count in rounds)
            upper = f"{PARAMETERS.get(kind, 'rate')} up to {largest!r}"
            found.append(f"  {kind}: {upper}; admits {'at least ' * bool(own.squares)}{counts}")
        if own.squares:
            found.append(f"  and a pool of {own.squares!r} of squares for smaller rounds")
        found.append(f"  and refused rounds, while all eps add up to at most {own.epsilon!r}")
        return [*found, f"digest: {own.digest}"]


def check(text: str) -> Proved:
    """Return what a certificate's text proves; raise Refused where it proves nothing."""
    read_ = read(text)
    follow(read_)
    epsilon, leaks = Fraction(read_.epsilon), Fraction(read_.rounds_delta)
    up = 1 + Fraction(1, 2**50)  # of sums of both, which are compared in floats
    try:
        with localcontext(Context(prec=DIGITS)):
            reached = delta_of(read_)
    except (ArithmeticError, MemoryError):
        raise Refused("its numbers are out of the range of this check") from None
    if Fraction(reached) + leaks * up + epsilon * (up - 1) > Fraction(read_.delta):
        raise Refused(f"the rows reach {reached:.6g}, above delta less rounding", reached)
    admits = []
    for kind, same in groupby(read_.moves, key=lambda move: move.kind):
        own = list(same)
        for move in dict.fromkeys((own[0], own[len(own) // 2], own[-1])):
            rounds = in_turn(move.following(read_.rows), read_.rows, read_.rows)[1]
            if kind in ("pure", "laplace", "range"):  # lemma 8
                rounds = max(rounds, epsilon * up // Fraction(move.size))
            admits.append((kind, move.size, rounds))
    return Proved(read_, reached, tuple(admits))


def in_turn(following: Sequence[int], row: int, most: int) -> tuple[int, int]:
    """The row after at most so many rounds of one move, and how many of them are admitted."""
    for count in range(most):
        if row == 0 or following[row] < 0:
            return row, count
        row = following[row]
    return row, most


def follow(read_: Certificate) -> None:
    """Raise Refused unless the rounds of the plan are admitted, in its order."""
    row = read_.rows
    for kind, size, rounds in read_.plan:
        row, count = in_turn(read_.covering(kind, size).following(read_.rows), row, rounds)
        require(count == rounds, "plan: a round of it is refused")


def delta_of(read_: Certificate) -> float:
    """An upper end of N_t W_N(e^epsilon), t = squares + floor, by lemma 5, rounded up."""
    step, points = Decimal(read_.step), read_.last - read_.first + 1
    pool = Decimal(read_.squares) + Decimal(read_.floor)
    wide = [gaussian(pool, step)] if pool else []
    moves: list[tuple[Sequence[int], Mean]] = []
    for m in read_.moves:
        moves += [(m.following(read_.rows), mean) for mean in means(m, step)]
        require(sum(mean.work for _, mean in moves) <= MOST_WEIGHTS, "grid: too fine for all moves")
    every = [mean for _, mean in moves] + wide
    pad = max(mean.reach for mean in every) + 2
    require((read_.rows + 1) * (points + 2 * pad) <= MOST_VALUES, "grid: too many rows or points")
    work = sum(mean.work for mean in every) * read_.rows * points
    require(work <= MOST_WORK, "moves: too many for the rows and points")
    rows = ProofRows(read_.rows, read_.step, (read_.first, read_.last), pad)
    for n in range(1, read_.rows + 1):
        best = rows.inside(n - 1).copy()
        for following, mean in moves:
            if following[n] >= 0:
                np.maximum(best, mean.of_row(rows, following[n]), out=best)
        rows.store(n, best)
    top = wide[0].of_row(rows, read_.rows) if wide else rows.inside(read_.rows)
    low, high = (Decimal(float(v)) for v in top[read_.start - read_.first :][:2])
    # the chord between two lattice points is above a convex function
    u = [Decimal(read_.epsilon).exp(), *((step * (read_.start + i)).exp() for i in (0, 1))]
    share = min(max((u[0] - u[1]) / (u[2] - u[1]), Decimal(0)), Decimal(1))
    return rounded_up((1 - share) * low + share * high)


class ProofRows:
    """The rows on the lattice, extended to both sides: to 1 at u = 0, and constant."""

    def __init__(self, rows: int, step: float, ends: tuple[int, int], pad: int) -> None:
        self.pad, self.points, exact = pad, ends[1] - ends[0] + 1, Decimal(step)
        self.values = np.empty((rows + 1, pad + self.points + pad))
        self.toward_zero = np.array([rounded_down((-exact * k).exp()) for k in range(pad, 0, -1)])
        payoff = [1 - (exact * i).exp() for i in range(ends[0], ends[1] + 1)]
        self.store(0, np.array([rounded_up(v) if v > 0 else 0.0 for v in payoff]))

    def inside(self, n: int) -> np.ndarray:
        """The values of a row on the lattice."""
        return self.values[n, self.pad : self.pad + self.points]

    def store(self, n: int, values: np.ndarray) -> None:
        """Store a row, at most 1."""
        row = self.values[n]
        np.minimum(values, 1.0, out=self.inside(n))
        row[self.pad + self.points :] = row[self.pad + self.points - 1]
        row[: self.pad] = 1.0 - (1.0 - row[self.pad]) * self.toward_zero + 2.0**-50


class KernelMean:
    """The mean over listed losses, in steps, and an infinite one; rounded up."""

    def __init__(self, losses: Iterable[int], weights: list[float], infinite: float) -> None:
        self.pairs = pairs = [(k, w) for k, w in zip(losses, weights, strict=True) if w > 0.0]
        self.infinite, self.work = infinite, len(pairs)
        self.reach = max(max(abs(k) for k, _ in pairs), 1)
        self.rounding = 1.0 + (len(pairs) + 8) * 2.0**-52
        self.kernel = np.zeros(0)
        if len(pairs) > self.reach:  # dense: one convolution
            self.kernel = np.zeros(2 * self.reach + 1)
            for k, w in pairs:
                self.kernel[k + self.reach] += w

    def of_row(self, rows: ProofRows, n: int) -> np.ndarray:
        """The mean of row n, rounded up."""
        row, pad, points = rows.values[n], rows.pad, rows.points
        if len(self.kernel):  # the loss k moves u to u e^(-k step): np.convolve reverses
            inner = row[pad - self.reach : pad + points + self.reach]
            return (np.convolve(inner, self.kernel, mode="valid") + self.infinite) * self.rounding
        mean = np.full(points, self.infinite)
        for k, weight in self.pairs:
            mean += weight * row[pad - k : pad - k + points]
        return mean * self.rounding


class RangeMean:
    """The upper end of the maximum of P_t over t of lemma 3, eps rounded up to K steps."""

    def __init__(self, epsilon: Decimal, step: Decimal) -> None:
        self.reach = int((epsilon / step).to_integral_value("ROUND_CEILING"))
        self.work = 4 * self.reach
        require(self.reach <= MOST, "grid: the step is too small")
        width = self.reach * step
        whole_ = 1 - (-width).exp()
        heights = [(1 - (k * step - width).exp()) / whole_ for k in range(self.reach + 1)]
        self.weights = [(rounded_up(p), rounded_up(1 - p)) for p in heights]
        slope = (step / 4).exp()
        self.gap = rounded_up((slope * slope - 1) / (slope * slope + 1) / whole_)
        self.less = rounded_down((-width).exp())

    def of_row(self, rows: ProofRows, n: int) -> np.ndarray:
        """The mean of row n, rounded up."""
        row, pad, points, width = rows.values[n], rows.pad, rows.points, self.reach
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


Mean = KernelMean | RangeMean


def means(move: Move, step: Decimal) -> list[Mean]:
    """The means over the pairs of a round of the move's size."""
    size = Decimal(move.size)
    if move.kind == "pure":
        return [response(size, step)]
    if move.kind == "range":
        return [RangeMean(size, step)]
    if move.kind == "gdp":
        return [gaussian(size * size, step)]
    if move.kind == "laplace":
        return [spread(range_to(size / step), step, lambda u: laplace_delta(u, size))]
    square = 1 / Decimal(move.sigma) ** 2  # losses up to ten deviations of the shifted noise
    places = sparse_to((1 + size * ((10 * square.sqrt() + square / 2).exp() - 1)).ln() / step)
    pairs = [partial(each, square=square, rate=size) for each in (removal, addition)]
    return [spread(places, step, pair) for pair in pairs]


def response(epsilon: Decimal, step: Decimal) -> KernelMean:
    """The mean over R_e: each of its two losses is spread on the lattice points beside it."""
    k = int(epsilon / step)
    require(k < MOST, "grid: the step is too small")
    rest = epsilon - k * step
    worse = 1 / (1 + epsilon.exp())
    beyond = (rest.exp() - 1) / (step.exp() - 1)
    before = (1 - (-rest).exp()) / (1 - (-step).exp())
    weights = [worse * beyond, worse * (1 - beyond)]
    weights += [(1 - worse) * (1 - before), (1 - worse) * before]
    return KernelMean((-k - 1, -k, k, k + 1), [rounded_up(w) for w in weights], 0.0)


def gaussian(square: Decimal, step: Decimal) -> KernelMean:
    """The mean over a pair above N_square, with losses up to ten deviations."""
    places = range_to(10 * square.sqrt() / step + 1)
    return spread(places, step, lambda u: gaussian_delta(u.ln(), square))


def range_to(most: Decimal) -> range:
    """All losses of at most so many steps, and the next."""
    require(most < MOST, "grid: the step is too small")
    return range(-int(most) - 1, int(most) + 2)


def sparse_to(most: Decimal) -> list[int]:
    """Losses of at most so many steps: all up to 20, and beyond some 12% apart; and the next."""
    require(most < MOST, "grid: the step is too small")
    ends = list(range(21))
    while ends[-1] < most:
        ends.append(math.ceil(ends[-1] * 1.12))
    return [-k for k in reversed(ends[1:])] + ends


def spread(
    losses: Iterable[int], step: Decimal, divergence: Callable[[Decimal], Decimal]
) -> KernelMean:
    """The mean over a pair above the one whose D is given, with losses on these lattice points.

    Its D is the chord of the given one, begins with 1 at u = 0 and is constant beyond the last u.
    """
    u = [(k * step).exp() for k in losses]
    height = [divergence(each) for each in u]
    heights, places = [Decimal(1), *height, height[-1]], [Decimal(0), *u, 2 * u[-1]]
    slopes = [(b - a) / (q - p) for a, b, p, q in zip(heights, heights[1:], places, places[1:])]
    bends = [(b - a) * at for a, b, at in zip(slopes, slopes[1:], u)]
    require(min(bends) > -(Decimal(10) ** -40), "grid: the step is too small for the digits used")
    return KernelMean(losses, [rounded_up(w) for w in bends], rounded_up(height[-1]))


def gaussian_delta(epsilon: Decimal, square: Decimal) -> Decimal:
    """delta(epsilon) of the Gaussian pair (Balle and Wang 2018), in ``DIGITS`` digits."""
    mu = square.sqrt()
    return _below(mu / 2 - epsilon / mu) - epsilon.exp() * _below(-mu / 2 - epsilon / mu)


def _below(z: Decimal) -> Decimal:
    """Phi(z), by the series of erf with terms of one sign, some z^2 of them."""
    require(abs(z) <= 60, "grid: a Gaussian is too wide, or too narrow for the step")
    square, term = z * z, z / (2 * PI).sqrt() * (-z * z / 2).exp()
    total, odd = Decimal(0), 1
    while abs(term) > Decimal(10) ** (-DIGITS - 20) or odd < square:
        total, odd = total + term, odd + 2
        term *= square / odd
    return Decimal(1) / 2 + total


def laplace_delta(u: Decimal, epsilon: Decimal) -> Decimal:
    """The divergence of lemma 2."""
    x = u.ln()
    if x >= epsilon:
        return Decimal(0)
    return 1 - (u if x <= -epsilon else ((x - epsilon) / 2).exp())


def removal(u: Decimal, square: Decimal, rate: Decimal) -> Decimal:
    """The divergence of (P, Q) of lemma 4."""
    rest = u - 1 + rate
    return 1 - u if rest <= 0 else rate * gaussian_delta((rest / rate).ln(), square)


def addition(u: Decimal, square: Decimal, rate: Decimal) -> Decimal:
    """The divergence of (Q, P) of lemma 4."""
    rest = 1 - u * (1 - rate)
    if rest <= 0:
        return Decimal(0)
    ratio = rest / (u * rate)
    return u * rate * (gaussian_delta(ratio.ln(), square) + ratio - 1)


def rounded_up(value: Decimal) -> float:
    """A float above a number >= 0 that is known in nearly all digits."""
    return math.nextafter(max(float(value), 0.0) * UP, math.inf)


def rounded_down(value: Decimal) -> float:
    """A float below a number > 0 that is known in nearly all digits."""
    return float(value) / UP
