"""A second computation of delta(epsilon), for every defect.

It shares nothing with :mod:`simulator.theory`: closed forms and sums in arithmetic of sixty digits
if there are any, and otherwise the integral

    delta(E) = 1/(2 pi i) int_{c - i oo}^{c + i oo} M(z) e^(-z E) / (z (z + 1)) dz,   c > 0,

with M(z) = E0[e^(z L)], summed by the trapezium rule on a line through the saddle point. (The
residues at 0 and -1 are 1 and -e^(E - L), which is (1 - e^(E - L))_+ for each loss L.) Accurate to
some six digits, three where a Gaussian is subsampled, which its own refinement checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import scipy

from simulator.auditing.conformance.events import (
    APPROX,
    GAUSSIAN,
    LAPLACE,
    PURE,
    RANDOMIZED_RESPONSE,
    SUBSAMPLED_GAUSSIAN,
    PrivacyEvent,
    merged,
)
from simulator.foundations.errors import NotApplicable
from simulator.theory.events.units import REPLACE_ONE

_RESPONSES = (PURE, APPROX, RANDOMIZED_RESPONSE)
_DIGITS = 60
_MOST_TERMS = 60_000
_MOST_POINTS = 1_500_000
_MOST_ATOMS = 200_000


@dataclass(frozen=True)
class Second:
    """A number, its method, and its largest relative error."""

    value: float
    method: str
    error: float = 1e-12


def delta_at(events: Sequence[PrivacyEvent], epsilon: float) -> Second:
    """Delta of the composition at ``epsilon`` >= 0, the larger of both directions.

    Raises NotApplicable without a second computation.
    """
    rounds = tuple(map(_moved, merged(events)))
    if not rounds:
        return Second(0.0, "nothing is released")
    if epsilon == math.inf:
        return Second(-math.expm1(_log_kept(rounds)), "sum of the leaks")
    kinds = {event.kind for event in rounds}
    if kinds == {GAUSSIAN}:
        return _gaussian(rounds, epsilon)
    terms = math.prod(event.count + 1 for event in rounds)
    if kinds <= set(_RESPONSES) and terms <= _MOST_TERMS:
        return _responses(rounds, epsilon)
    if kinds <= set(_RESPONSES):
        core = _convolved(rounds, epsilon)
        value = -math.expm1(_log_kept(rounds)) + math.exp(_log_kept(rounds)) * core
        method = "direct convolution of randomized responses, losses rounded down: a lower end"
        return Second(value, method)
    if kinds == {SUBSAMPLED_GAUSSIAN} and terms == 2 and rounds[0].relation != REPLACE_ONE:
        return _sampled_once(rounds[0], epsilon)
    return _contour(rounds, epsilon)


def _moved(event: PrivacyEvent) -> PrivacyEvent:
    """The event with what a replaced record moves, from -C to C, as its parameter."""
    if event.relation != REPLACE_ONE or event.kind not in (GAUSSIAN, LAPLACE):
        return event
    return replace(event, parameter=2.0 * event.parameter)


def epsilon_at(events: Sequence[PrivacyEvent], delta: float, near: float) -> Second:
    """The least epsilon with ``delta_at`` at most ``delta``, by bisection around ``near``."""
    low, high = 0.0, max(near, 1e-12)
    if delta_at(events, low).value <= delta:
        return Second(0.0, delta_at(events, low).method)
    while delta_at(events, high).value > delta:
        low, high = high, 2.0 * high
        if high > 1e6:
            return Second(math.inf, delta_at(events, high).method)
    while high - low > 1e-9 * high:
        middle = (low + high) / 2.0
        if delta_at(events, middle).value > delta:
            low = middle
        else:
            high = middle
    return Second(high, delta_at(events, high).method)


def _log_kept(rounds: Sequence[PrivacyEvent]) -> float:
    return math.fsum(event.count * math.log1p(-event.delta) for event in rounds)


def _gaussian(rounds: Sequence[PrivacyEvent], epsilon: float) -> Second:
    import mpmath

    with mpmath.workdps(_DIGITS):
        squares = mpmath.fsum(mpmath.mpf(e.parameter) ** 2 * e.count for e in rounds)
        mu, at = mpmath.sqrt(squares), mpmath.mpf(epsilon)

        def below(x: Any) -> Any:
            return mpmath.erfc(-x / mpmath.sqrt(2)) / 2

        value = below(mu / 2 - at / mu) - mpmath.exp(at) * below(-mu / 2 - at / mu)
    return Second(float(value), "closed form of Balle and Wang 2018 in 60 digits (mpmath)")


def _atoms(event: PrivacyEvent) -> tuple[float, float]:
    """P0-masses of the losses +parameter and -parameter of one round without a leak."""
    truthful = 1.0 if event.kind == LAPLACE else 2.0 / (1.0 + math.exp(-event.parameter))
    return truthful / 2.0, truthful / 2.0 * math.exp(-event.parameter)


def _responses(rounds: Sequence[PrivacyEvent], epsilon: float) -> Second:
    """The sum over the number of true answers of each mechanism."""
    import mpmath

    with mpmath.workdps(_DIGITS):
        at, total = mpmath.mpf(epsilon), mpmath.mpf(0)
        tables = []
        for event in rounds:
            e, k = mpmath.mpf(event.parameter), event.count
            scale = (1 + mpmath.exp(-e)) ** k
            tables.append(
                [
                    ((k - 2 * lies) * e, mpmath.binomial(k, lies) * mpmath.exp(-lies * e) / scale)
                    for lies in range(k + 1)
                ]
            )
        for choice in product(*tables):
            loss = mpmath.fsum(loss for loss, _ in choice)
            if loss > at:
                mass = mpmath.fprod(mass for _, mass in choice)
                total += mass * (1 - mpmath.exp(at - loss))
        kept = mpmath.fprod((1 - mpmath.mpf(e.delta)) ** e.count for e in rounds)
        value = 1 - kept * (1 - total)
    return Second(
        float(value), "sum over all outcomes of randomized response in 60 digits (mpmath)"
    )


def _convolved(rounds: Sequence[PrivacyEvent], epsilon: float) -> float:
    """Sum over the atoms of all rounds, losses rounded down if there are many: a lower end."""
    losses: np.ndarray = np.zeros(1)
    masses: np.ndarray = np.ones(1)
    for event in rounds:
        lies = np.arange(event.count + 1.0)
        up, down = _atoms(event)
        logs = (
            scipy.special.gammaln(event.count + 1.0)
            - scipy.special.gammaln(lies + 1.0)
            - scipy.special.gammaln(event.count - lies + 1.0)
        )
        logs += (event.count - lies) * math.log(up) + lies * math.log(down)
        more = (event.count - 2.0 * lies) * event.parameter
        losses = np.add.outer(losses, more).ravel()
        masses = np.multiply.outer(masses, np.exp(logs)).ravel()
        if losses.size > _MOST_ATOMS:
            low = float(losses.min())
            cell = (float(losses.max()) - low) / _MOST_ATOMS
            index = np.floor((losses - low) / cell).astype(int)
            masses = np.bincount(index, weights=masses)
            losses = low + cell * np.arange(masses.size)
    over = losses > epsilon
    return float(masses[over] @ -np.expm1(epsilon - losses[over]))


def _sampled_once(event: PrivacyEvent, epsilon: float) -> Second:
    """One round, both directions, the threshold on the answer in closed form."""
    import mpmath

    with mpmath.workdps(_DIGITS):
        mu, rate = mpmath.mpf(event.parameter), mpmath.mpf(event.rate)

        def tail(x: Any) -> Any:
            return mpmath.erfc(x / mpmath.sqrt(2)) / 2

        def answer_of(loss: Any) -> Any:
            return mpmath.log((mpmath.exp(loss) - 1 + rate) / rate) / mu + mu / 2

        at = answer_of(mpmath.mpf(epsilon))
        present = (1 - rate) * tail(at) + rate * tail(at - mu)
        value = present - mpmath.exp(epsilon) * tail(at)
        if mpmath.exp(-mpmath.mpf(epsilon)) > 1 - rate:
            at = answer_of(-mpmath.mpf(epsilon))
            present = (1 - rate) * tail(-at) + rate * tail(mu - at)
            value = max(value, tail(-at) - mpmath.exp(epsilon) * present)
    return Second(float(value), "tails of the normal law in 60 digits (mpmath)")


def _contour(rounds: Sequence[PrivacyEvent], epsilon: float) -> Second:
    found = max(_one_direction(rounds, epsilon, sign) for sign in _signs(rounds))
    value = -math.expm1(_log_kept(rounds)) + math.exp(_log_kept(rounds)) * found
    sampled = any(event.kind == SUBSAMPLED_GAUSSIAN for event in rounds)
    method = "contour integral of the moment-generating function, trapezium rule"
    return Second(value, method, 1e-3 if sampled else 1e-5)


def _signs(rounds: Sequence[PrivacyEvent]) -> tuple[int, ...]:
    """The directions: only subsampled mechanisms have different losses in both."""
    return (1, -1) if any(e.kind == SUBSAMPLED_GAUSSIAN for e in rounds) else (1,)


def _log_transform(event: PrivacyEvent, sign: int) -> Callable[[np.ndarray], np.ndarray]:
    """Ln E0[e^(z L)] of one round, for complex z with a real part >= 0."""
    p = event.parameter
    if event.kind == GAUSSIAN:
        return lambda z: z * (z + 1.0) * p * p / 2.0
    if event.kind in _RESPONSES:
        return lambda z: z * p + np.log1p(np.exp(-p - 2.0 * p * z)) - np.log1p(np.exp(-p))
    if event.kind == LAPLACE:
        # 1/2 e^(zp) + 1/2 e^(-(1+z)p) and a density 1/4 e^((l-p)/2) between, taken times e^(-zp)
        return lambda z: (
            z * p
            + np.log(
                0.5
                + 0.5 * np.exp(-(1.0 + 2.0 * z) * p)
                - 0.5 * np.expm1(-(1.0 + 2.0 * z) * p) / (1.0 + 2.0 * z)
            )
        )
    y = np.linspace(-12.0, 12.0 + p, 1600)
    log_absent = -y * y / 2.0 - math.log(math.sqrt(2.0 * math.pi)) + math.log(y[1] - y[0])

    def mixed(at: np.ndarray) -> np.ndarray:
        logs = math.log1p(-event.rate), math.log(event.rate) + p * at - p * p / 2.0
        return np.asarray(np.logaddexp(*logs))

    loss = mixed(y)
    if event.relation == REPLACE_ONE:  # p against -p: one loss in both directions
        start, loss = log_absent + loss, loss - mixed(-y)
    else:
        start, loss = (log_absent + loss, loss) if sign > 0 else (log_absent, -loss)

    def by_quadrature(z: np.ndarray) -> np.ndarray:
        parts = [
            np.log(
                np.exp(np.multiply.outer(block, loss) + start - block.real[:, None] * top).sum(1)
            )
            + block.real * top
            for block in np.array_split(z, max(1, z.size // 500))
            for top in (float(loss.max()),)
        ]
        return np.concatenate(parts)

    return by_quadrature


def _one_direction(rounds: Sequence[PrivacyEvent], epsilon: float, sign: int) -> float:
    transforms = [(_log_transform(event, sign), event.count) for event in rounds]
    atoms = _only_atoms(rounds)

    def log_moment(z: np.ndarray) -> np.ndarray:
        return sum((count * log(z) for log, count in transforms), np.zeros_like(z))

    def log_atoms(z: np.ndarray) -> np.ndarray:
        logs = [(event.count, event.parameter, *_atoms(event)) for event in atoms]
        return sum(
            (k * (z * p + np.log(up + down * np.exp(-2.0 * z * p))) for k, p, up, down in logs),
            np.zeros_like(z),
        )

    grid = np.geomspace(1e-3, 1e10, 3000).astype(complex)
    height = (log_moment(grid) - grid * epsilon - np.log(grid) - np.log1p(grid)).real
    c = float(grid[int(np.nanargmin(height))].real)
    spread = math.sqrt(sum(_variance(event) * event.count for event in rounds))
    reach = min(60.0 * spread + 4.0 * epsilon, max(_largest(rounds) - epsilon, 0.0))
    step = 2.0 * math.pi / (reach + 60.0 / c)
    top, last = float(height.min()), math.nan
    slow = any(e.kind == SUBSAMPLED_GAUSSIAN for e in rounds)
    points, most, close = (4000, 64_000, 1e-4) if slow else (20_000, _MOST_POINTS, 1e-7)
    while points <= most:
        z = c + 1j * (np.arange(points) + 0.5) * step
        rest = -z * epsilon - np.log(z) - np.log1p(z) - top
        values = np.exp(log_moment(z) + rest)
        if atoms:
            values -= np.exp(log_atoms(z) + rest)
        value = float(values.real.sum()) * step / math.pi * math.exp(top)
        value += _convolved(atoms, epsilon) if atoms else 0.0
        if abs(value - last) <= close * abs(value):
            return max(value, 0.0)
        last, points = value, points * 4
    raise NotApplicable("the contour integral has not settled")


def _only_atoms(rounds: Sequence[PrivacyEvent]) -> Sequence[PrivacyEvent]:
    """The rounds whose atoms are summed separately, as their transform does not decay; or none.

    The probability that every round of many is at an atom is negligible.
    """
    if any(event.kind in (GAUSSIAN, SUBSAMPLED_GAUSSIAN) for event in rounds):
        return ()
    laplace = sum(event.count for event in rounds if event.kind == LAPLACE)
    return () if laplace > 200 else rounds


def _largest(rounds: Sequence[PrivacyEvent]) -> float:
    """The largest loss."""
    if any(event.kind in (GAUSSIAN, SUBSAMPLED_GAUSSIAN) for event in rounds):
        return math.inf
    return math.fsum(event.parameter * event.count for event in rounds)


def _variance(event: PrivacyEvent) -> float:
    """An approximate variance of one round's loss, for the step of the sum."""
    return event.parameter**2 * (event.rate if event.rate < 1.0 else 1.0)
