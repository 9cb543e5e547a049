"""A second checker of filter certificates, written from the lemmas without reading the first.

It has its own reader of the format. The laws of rounds are integrals in 40 digits of mpmath, by one
formula for all kinds: the mean of a function that is linear between the points of the lattice needs
no more than what both laws weigh between them. For bounded range the largest pair between two
points is found as the maximum of a parabola. Rows are binary64 sums of products of numbers that are
not negative, each enlarged by more than what rounding takes.

The lemmas. For u >= 0 let V_n(u) be the largest P(E) - u Q(E) over events E of what an adversary in
row n still sees, P and Q its laws in the two experiments. V_n is convex, falls, V_n(0) = 1.

1. A round with the pair (P, Q) that leads to row m has the value E_P[V_m(u Q/P)], and the value of
   a row is the largest over its rounds and (1 - u)+, for stopping.
2. V_m is convex: a pair that another dominates has no larger value, and a function that is linear
   between points where it is at least V_m is at least V_m. Below the first point it is linear from
   the value 1 at u = 0; beyond the last it is constant.
3. pure:eps is dominated by randomized response, laplace:s by Laplace noise of that shift over
   scale, gdp:mu by a Gaussian pair, each in both directions; a Gaussian on a Poisson sample by that
   of the larger rate and the smaller sigma, in the direction of the round.
4. Bounded range: losses are in [t - eps, t] for a t in [0, eps], and with E_P[Q/P] = 1 the value
   is at most that of two losses, t and t - eps.
5. A play beyond the rows has spent at most epsilon in all: (1 - e^(epsilon - loss))+ is 0 there.
   Deltas of rounds add up. Both sums are compared in binary64, see ``SUMS``.
6. Rounds of the pool take from a Gaussian pair of mu^2 = squares + floor, which is composed with
   row n; a small pure round takes what :func:`small_round_fits` bounds.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import mpmath
import numpy as np

MP = mpmath.MPContext()
MP.dps = 40
UNIT = 2.0**-52
LIMIT = 20_000
BEYOND = 11
"""Normal deviations, beyond which a loss counts as infinite."""
FINE, WIDER = 60, 1.06
"""Losses of sampled Gaussians beyond so many steps are spread to points farther apart."""


SUMS = Fraction(1, 2**51)
"""Relative rounding of a filter's sums of epsilons and of deltas, and of its comparisons."""


class NotProved(Exception):
    """A certificate that this checker does not accept, with one line that says why.

    ``reached`` is the delta of its rows, where only that is too large.
    """

    def __init__(self, why: str, reached: float | None = None) -> None:
        super().__init__(why)
        self.reached = reached


def proved_delta(text: str) -> float:
    """The delta at epsilon, without rounds' own, that no adversary exceeds; or NotProved."""
    stored = _read(text)
    row = _values(stored)[stored["rows"]]
    pool = Fraction(stored["pool"]["squares"]) + Fraction(stored["pool"]["floor"])
    grid = stored["grid"]
    if pool:
        mu = _up(MP.sqrt(_mp(pool)))
        row = _means(("gdp", mu), grid["step"])[0](row, grid["step"])
    at = grid["start"] - grid["first"]
    low, high = (Fraction(float(row[i])) for i in (at, at + 1))
    step, epsilon = _mp(grid["step"]), _mp(stored["epsilon"])
    share = MP.expm1(epsilon - grid["start"] * step) / MP.expm1(step)
    share = min(max(Fraction(_down(share)), Fraction(0)), Fraction(1))
    found = low - share * (low - high) if high <= low else high
    own, epsilon_, delta = (Fraction(stored[n]) for n in ("rounds_delta", "epsilon", "delta"))
    if found + own + SUMS * (own + epsilon_) > delta:
        raise NotProved("the rows reach more than delta", float(found))
    return float(found)


def _say(holds: bool, why: str) -> None:
    if not holds:
        raise NotProved(why)


def _mp(number: float | Fraction) -> Any:
    exact = Fraction(number)
    return MP.mpf(exact.numerator) / exact.denominator


def _up(number: Any) -> float:
    """A float that is not below a number of 40 digits."""
    return math.nextafter(float(number), math.inf)


def _down(number: Any) -> float:
    return math.nextafter(float(number), -math.inf)


# the reader


def _read(text: str) -> dict[str, Any]:
    """The members of a certificate whose shape is right."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        _say(len(names) == len(set(names)), "a member twice")
        return dict(pairs)

    def never(word: str) -> Any:
        raise NotProved(f"{word} is not a number")

    try:
        found = json.loads(text, object_pairs_hook=once, parse_constant=never)
    except (ValueError, RecursionError):
        raise NotProved("not JSON") from None
    members = {
        "dpcompose": str, "version": int, "epsilon": float, "delta": float, "rounds_delta": float,
        "rows": int, "plan": list, "moves": list, "pool": dict, "grid": dict, "digest": str,
    }  # fmt: skip
    _shape(found, members)
    _say(found["dpcompose"] == "certificate of a privacy filter", "another document")
    _say(found["version"] == 1, "another version")
    rest = {name: value for name, value in found.items() if name != "digest"}
    written = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    _say(hashlib.sha256(written.encode()).hexdigest() == found["digest"], "another digest")
    _shape(found["pool"], {"squares": float, "floor": float})
    _shape(found["grid"], {"step": float, "first": int, "start": int, "last": int})
    squares, floor = found["pool"]["squares"], found["pool"]["floor"]
    for number in (found["epsilon"], found["delta"], found["grid"]["step"]):
        _positive(number)
    _say(found["delta"] < 1, "a delta that promises nothing")
    for number in (found["rounds_delta"], squares, floor):
        _say(number == 0 or _positive(number), "a negative number")
    _say((squares == 0) == (floor == 0), "half a pool")
    first, start, last = (found["grid"][name] for name in ("first", "start", "last"))
    _say(-LIMIT <= first < 0 <= start < last <= LIMIT, "no lattice")
    _say(last - first < LIMIT, "a lattice too large")
    step, epsilon = Fraction(found["grid"]["step"]), Fraction(found["epsilon"])
    _say(start * step <= epsilon <= (start + 1) * step, "the start is not at epsilon")
    found["moves"] = [_move(each) for each in found["moves"]]
    _say(found["moves"] == sorted(found["moves"]), "moves out of order")
    names = [(kind, size) for kind, size, _ in found["moves"]]
    _say(0 < len(names) <= 2000 and len(set(names)) == len(names), "no moves, or one twice")
    _say(0 < found["rows"] <= LIMIT, "too few or many rows")
    _say(
        all(falls[-1][0] <= found["rows"] for *_, falls in found["moves"]), "a fall above the rows"
    )
    _follow(found)
    return found


def _shape(value: Any, members: dict[str, type]) -> None:
    _say(isinstance(value, dict) and value.keys() == members.keys(), "other members")
    for name, kind in members.items():
        allowed = (int, float) if kind is float else (kind,)
        _say(type(value[name]) in allowed, f"{name} is of another type")


def _positive(value: Any) -> bool:
    _say(type(value) in (int, float) and 1e-99 <= value <= 1e9, "a number out of range")
    return True


def _kind(value: Any) -> str:
    if value not in ("pure", "laplace", "range", "gdp"):
        _say(isinstance(value, str) and value.startswith("subsampled-gaussian:"), "another kind")
        try:
            sigma = float(value[20:])
        except ValueError:
            raise NotProved("a sigma that is no number") from None
        _say(_positive(sigma) and value[20:] == repr(sigma), "a sigma in another form")
    return str(value)


def _move(value: Any) -> tuple[str, float, list[tuple[int, int]]]:
    _shape(value, {"kind": str, "size": float, "falls": list})
    kind, falls = _kind(value["kind"]), value["falls"]
    _positive(value["size"])
    _say(":" not in kind or value["size"] <= 1, "a rate above 1")
    _say(0 < len(falls) <= LIMIT, "no falls")
    before = 0
    for pair in falls:
        _say(isinstance(pair, list) and len(pair) == 2, "a fall is a pair")
        _say(all(type(number) is int for number in pair), "a fall is of whole numbers")
        _say(before < pair[0] and 0 <= pair[1] <= pair[0], "falls out of order, or below row 0")
        before = pair[0]
    return kind, float(value["size"]), [tuple(pair) for pair in falls]


def _follow(found: dict[str, Any]) -> None:
    """Raise NotProved unless the whole plan is admitted and ends in row 0."""
    row = found["rows"]
    _say(0 < len(found["plan"]) <= LIMIT, "no plan")
    for entry in found["plan"]:
        _say(isinstance(entry, list) and len(entry) == 3, "a plan is of kind, size, rounds")
        kind, size, rounds = _kind(entry[0]), entry[1], entry[2]
        _positive(size)
        _say(type(rounds) is int and 0 < rounds <= LIMIT, "rounds out of range")
        fit = next((m for m in found["moves"] if m[0] == kind and m[1] >= size), None)
        _say(fit is not None, "a planned round without a move")
        for _ in range(rounds):
            fall = _fall(fit[2], row)
            _say(0 < fall <= row, "a planned round is refused")
            row -= fall
    _say(row == 0, "rows that the plan does not use")


def _fall(falls: list[tuple[int, int]], row: int) -> int:
    return next((fall for first, fall in reversed(falls) if first <= row), 0)


# the rows


def _values(stored: dict[str, Any]) -> list[np.ndarray]:
    """Numbers that no row's value exceeds, at the lattice's points."""
    grid, total = stored["grid"], stored["rows"]
    step = grid["step"]
    stop = np.array([_stopped(step, i) for i in range(grid["first"], grid["last"] + 1)])
    following = []
    for kind, size, falls in stored["moves"]:
        down = np.zeros(total + 1, dtype=int)
        for first, fall in falls:
            down[first:] = fall
        if down.any():
            following.append((_means((kind, size), step), down))
    rows, kept = [stop], {}
    for row in range(1, total + 1):
        best = stop.copy()
        for place, (means, down) in enumerate(following):
            if not down[row]:
                continue
            to = row - down[row]
            if kept.get(place, (-1,))[0] != to:
                found = means[0](rows[to], step)
                for mean in means[1:]:
                    found = np.maximum(found, mean(rows[to], step))
                kept[place] = to, found
            best = np.maximum(best, kept[place][1])
        rows.append(np.minimum(best, 1.0))
    return rows


@lru_cache(maxsize=100_000)
def _stopped(step: float, i: int) -> float:
    return _up(-MP.expm1(i * _mp(step))) if i < 0 else 0.0


def _extended(row: np.ndarray, step: float, more: int) -> np.ndarray:
    """A row with ``more`` points on both sides, by lemma 2."""
    rising = _rising(step, more)
    left = (row[0] + (1.0 - row[0]) * rising) * (1.0 + 8 * UNIT)
    return np.concatenate([left, row, np.full(more, row[-1])])


@lru_cache(maxsize=1000)
def _rising(step: float, more: int) -> np.ndarray:
    """1 - u/first point, upward, of the points before the first one."""
    return np.array([_up(-MP.expm1(-k * _mp(step))) for k in range(more, 0, -1)])


class Mean(NamedTuple):
    """The mean of a row over one pair: weights of losses of whole steps, and of u = 0."""

    shifts: np.ndarray
    weights: np.ndarray
    at_zero: float

    def __call__(self, row: np.ndarray, step: float) -> np.ndarray:
        more = int(np.abs(self.shifts).max())
        wide, points = _extended(row, step, more), len(row)
        if len(self.shifts) > 8 and len(self.shifts) > more:  # a loss of k steps leads to i - k
            kernel = np.zeros(2 * more + 1)
            kernel[more + self.shifts] = self.weights
            found = np.convolve(wide, kernel, mode="valid")
        else:
            found = np.zeros(points)
            for shift, weight in zip(self.shifts, self.weights):
                found += weight * wide[more - shift : more - shift + points]
        return (found + self.at_zero) * (1.0 + (len(self.shifts) + 8) * UNIT)


class RangeMean(NamedTuple):
    """The largest mean of a row over the pairs of bounded range of so many steps, by lemma 4."""

    steps: int

    def __call__(self, row: np.ndarray, step: float) -> np.ndarray:
        wide, points, size = _extended(row, step, self.steps), len(row), self.steps
        high = _high_shares(size, step)
        growth, rest, highest = _range_constants(size, step)
        best = before = down_before = up_before = np.zeros(points)
        for k in range(size + 1):
            down = wide[size - k : size - k + points]  # after the larger loss, of k steps
            up = wide[2 * size - k : 2 * size - k + points]
            now = (high[k][0] * down + high[k][1] * up) * (1.0 + 8 * UNIT)
            best = np.maximum(best, now)
            if k:  # between k - 1 and k steps: an arc above the chord, of this height times 4
                fall = (down - down_before) * (1.0 + UNIT) + UNIT * down
                less = np.maximum((up - up_before) * (1.0 - UNIT) - UNIT * up, 0.0)
                arc = np.maximum(fall * growth - less * rest, 0.0) * (1.0 + 8 * UNIT)
                tilt = np.abs(now - before) * (1.0 - UNIT) - 16 * UNIT * np.maximum(now, before)
                over = np.maximum(arc - np.maximum(tilt, 0.0), 0.0)
                top = np.divide(over * over, 4.0 * arc, out=np.zeros(points), where=arc > 0.0)
                top = np.minimum(top, arc * highest)
                best = np.maximum(best, (np.maximum(now, before) + top) * (1.0 + 32 * UNIT))
            before, down_before, up_before = now, down, up
        return best


@lru_cache(maxsize=1000)
def _high_shares(size: int, step: float) -> list[tuple[float, float]]:
    """The shares of a loss of k steps and of one of k - size, upward, for k = 0, ..., size."""
    h, found = _mp(step), []
    for k in range(size + 1):
        share = MP.expm1((k - size) * h) / MP.expm1(-size * h)
        found.append((_up(share), _up(1 - share)))
    return found


@lru_cache(maxsize=1000)
def _range_constants(size: int, step: float) -> tuple[float, float, float]:
    """What multiplies the falls of both ends in the arc between two points, and its greatest share.

    With z = e^-loss from a to b and weights p(z) = (E - 1/z)/(E - 1) on the larger loss, where
    E = e^range, the value times z is a parabola: over the chord it has the height
    (E F - G)/(E - 1) (z - a)(b - z)/((b - a) z), F and G the falls of the row at both losses. With
    the share w = (z - a) b/((b - a) z) of b, the last factor is w (1 - w)(b - a)/(b - w (b - a)),
    at most w (1 - w)(b - a)/a = w (1 - w)(e^step - 1), and nowhere above tanh(step/4).
    """
    h = _mp(step)
    arc = MP.expm1(h) / MP.expm1(size * h)
    highest = MP.tanh(h / 4) / MP.expm1(h)
    return _up(arc * MP.exp(size * h)), max(_down(arc), 0.0), _up(highest)


@lru_cache(maxsize=20_000)
def _means(round_: tuple[str, float], step: float) -> list[Callable[..., np.ndarray]]:
    """The means over the pairs that together dominate a round."""
    kind, size = round_
    h = Fraction(step)
    name, _, sigma = kind.partition(":")
    if name == "range":
        steps = math.ceil(Fraction(size) / h)
        _say(steps <= LIMIT, "a loss of too many steps")
        return [RangeMean(steps)]
    if name == "subsampled-gaussian":
        return [_mean(*_sampled(float(sigma), size, sign), step, True) for sign in (1, -1)]
    law = {"pure": _response, "laplace": _laplace, "gdp": _gaussian}[name](size)
    return [_mean(*law, step, False)]


# laws: the tails P(loss > l) and Q(loss > l), and the range of losses

Tails = Callable[[Any], tuple[Any, Any]]


def _response(size: float) -> tuple[Tails, Any, Any]:
    e = _mp(size)
    likely = 1 / (1 + MP.exp(-e))

    def tails(loss: Any) -> tuple[Any, Any]:
        if loss >= e:
            return MP.zero, MP.zero
        return (likely, 1 - likely) if loss >= -e else (MP.one, MP.one)

    return tails, -e, e


def _laplace(size: float) -> tuple[Tails, Any, Any]:
    s = _mp(size)

    def tails(loss: Any) -> tuple[Any, Any]:
        if loss >= s:
            return MP.zero, MP.zero
        if loss < -s:
            return MP.one, MP.one
        # P = Lap(0), Q = Lap(s): the loss is above l where the answer is below (s - l)/2
        at = (s - loss) / 2
        return 1 - MP.exp(-at) / 2, MP.exp(at - s) / 2

    return tails, -s, s


def _gaussian(size: float) -> tuple[Tails, Any, Any]:
    mu = _mp(size)

    def tails(loss: Any) -> tuple[Any, Any]:
        return _above((loss - mu * mu / 2) / mu), _above((loss + mu * mu / 2) / mu)

    return tails, -mu * mu / 2 - BEYOND * mu, mu * mu / 2 + BEYOND * mu


def _sampled(sigma: float, rate: float, sign: int) -> tuple[Tails, Any, Any]:
    """Of P the mixture and Q the plain noise; for sign -1 of P the plain one."""
    s, q = _mp(sigma), _mp(rate)

    def answer(loss: Any) -> Any:
        inside = (MP.expm1(loss) + q) / q
        return s * s * MP.log(inside) + MP.mpf(1) / 2 if inside > 0 else -MP.inf

    def tails(loss: Any) -> tuple[Any, Any]:
        x = answer(sign * loss)
        plain, other = (_above(sign * (x - centre) / s) for centre in (0, 1))
        mixed = (1 - q) * plain + q * other
        return (mixed, plain) if sign > 0 else (plain, mixed)

    top = MP.log1p(q * MP.expm1((2 * (1 + BEYOND * s) - 1) / (2 * s * s)))
    bottom = MP.log1p(q * MP.expm1((-2 * BEYOND * s - 1) / (2 * s * s)))
    return (tails, bottom, top) if sign > 0 else (tails, -top, -bottom)


def _above(x: Any) -> Any:
    """The mass of a standard normal law above x."""
    return MP.erfc(x / MP.sqrt(2)) / 2


def _mean(tails: Tails, low: Any, high: Any, step: float, sparse: bool) -> Mean:
    """The weights of losses of whole steps by which the mean of a row is not below its mean.

    Between the neighbouring points e^-(k' h) < e^-(k h) a row is linear in x = e^-loss, and the
    mean of x over P is the mass of Q.
    """
    h = _mp(step)
    ends = [Fraction(int(MP.floor(low / h))), Fraction(int(MP.ceil(high / h)))]
    _say(max(map(abs, ends)) <= LIMIT, "a loss of too many steps")
    nodes = list(_nodes(int(ends[0]), int(ends[1]), sparse))
    if not sparse and tails.__qualname__.startswith("_response"):
        inner = int(MP.floor(high / h))
        nodes = sorted({int(ends[0]), -inner, inner, int(ends[1])})
    found: dict[int, Any] = dict.fromkeys(nodes, MP.zero)
    masses = [tails(k * h) for k in nodes]
    found[nodes[0]] += 1 - masses[0][0]
    for k, after, (p, q), (p_after, q_after) in zip(nodes, nodes[1:], masses, masses[1:]):
        large, small = MP.exp(-k * h), MP.exp(-after * h)
        inside, other = p - p_after, q - q_after
        found[after] += max((large * inside - other) / (large - small), 0)
        found[k] += max((other - small * inside) / (large - small), 0)
    p, q = masses[-1]
    weight = min(q * MP.exp(nodes[-1] * h), p)
    found[nodes[-1]] += weight
    kept = {k: _up(weight + MP.mpf(10) ** -32) for k, weight in found.items() if weight > 1e-31}
    lost = sum(weight for weight in found.values() if weight <= 1e-31)
    at_zero = p - weight + lost
    return Mean(
        np.array(list(kept)), np.array(list(kept.values())), _up(at_zero) if at_zero > 0 else 0.0
    )


def _nodes(low: int, high: int, sparse: bool) -> Iterator[int]:
    if not sparse:
        yield from range(low, high + 1)
        return
    far = [0]
    while far[-1] < max(high, -low):
        far.append(far[-1] + 1 if far[-1] < FINE else math.ceil(far[-1] * WIDER))
    found = {min(k, high) for k in far} | {max(-k, low) for k in far}
    yield from sorted(k for k in found if low <= k <= high)


# what a small pure round takes from the pool


def small_round_fits(epsilon: float, floor: float, cost: float) -> bool:
    """Whether randomized response and a Gaussian pair of ``floor`` are within one of their sum.

    ``cost`` is what the round takes. Composed with a Gaussian pair, randomized response is below a
    Gaussian pair at every epsilon as soon as it is at epsilon 0, in total variation. The check is
    of pairs of ``floor`` to 1,000 times that, in 40 digits.
    """
    e = _mp(epsilon)
    for times in (1, 1.01, 1.1, 1.5, 2, 5, 10, 100, 1000):
        left = _mp(floor) * _mp(times)
        mu, whole = MP.sqrt(left), MP.sqrt(left + _mp(cost))
        p = 1 / (1 + MP.exp(-e))
        # TV of the pair: half the sum over both answers of a hockey stick of the Gaussian
        both = p * _stick(mu, -e) + (1 - p) * _stick(mu, e)
        if both > _stick(whole, MP.zero) + MP.mpf(10) ** -35:
            return False
    return True


def _stick(mu: Any, epsilon: Any) -> Any:
    """The hockey stick of a Gaussian pair at e^epsilon."""
    return _above(epsilon / mu - mu / 2) - MP.exp(epsilon) * _above(epsilon / mu + mu / 2)
