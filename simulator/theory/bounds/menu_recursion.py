"""The best adaptive choice among several pairs in every round, by backward recursion, enclosed.

With t rounds left and e of the budget epsilon to go, an adversary who may pick any pair of the
round's menu reaches at most

    V_t(e) = max over the menu of E[V_{t-1}(e - L)],   V_0(e) = (1 - exp(e))_+,

where L is the pair's privacy loss under P0: delta(epsilon) of the menus is V_k(epsilon). Families
in which each pair is below one of the menu, in the order of hockey-stick curves, have the same
value: V_{t-1} is convex and falls in x = e^e, and so a mixture of the curves' kinks. Rounds of
several menus are played in a fixed order, on which the value depends.

- Upper end: between lattice points V is below its chord in x, so each cell's mass goes to the
  cell's ends, keeping its masses under P0 and P1 (:mod:`simulator.theory.pld.grid_laws`).
- Lower end: the adversary who remembers the nearest lattice point alone. It wins with probabilities
  a and b in experiments 0 and 1, and its value a - x b has no error of the grid.

Both err by the square of the step. Values are carried times exp(theta e), which is level where the
answer is, so that an FFT's absolute error is relative to it there. As in
:mod:`simulator.theory.pld.loss_lattice` this error is bounded in the 2-norm and added to the ends.
To the right of the lattice Chernoff's bound stands for V, to the left the chord to 1 at -infinity;
the adversary of the lower end gives up there, or stops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import lru_cache
from typing import TypeVar

import numpy as np
import scipy

from simulator.foundations.errors import NotApplicable
from simulator.foundations.stages import in_stages
from simulator.theory.bounds.range_recursion import UNDERFLOW, EnclosedCurve
from simulator.theory.bracket import Bracket
from simulator.theory.laws.base import Floats, PrivacyLossLaw, RealOrComplex
from simulator.theory.laws.quantile import loss_range
from simulator.theory.outward import UNIT
from simulator.theory.pld.grid_laws import Points, enclosing_grid_laws, losses_at, round_step
from simulator.theory.pld.smoothed_tail import log_chernoff_constant

T = TypeVar("T")
Menu = tuple[PrivacyLossLaw, ...]
"""The laws of the pairs that the adversary may choose from in a round."""
Stages = tuple[tuple[Menu, int], ...]
"""Menus with their numbers of rounds, in the order of play."""

WORK = 4e7
"""Rounds times points: about five seconds."""
LEAST_POINTS = 1 << 10
"""A lattice of fewer is too coarse."""
_MOST_POINTS = 1 << 19
_TOLERANCE = 1e-5  # relative, of delta, where the work allows it
_MISSED = 1e-9  # relative, of delta: what the lattice's ends and the laws' tails may hide
_LOWEST = -600.0  # logarithm of the least delta: its multiples by exp(theta e) are doubles
_LEAST_MASS = 1e-290  # a mass below it has lost digits
_THETAS = np.geomspace(1e-4, 1e4, 241)
_FIRST_ANCHOR, _APART = 1e-3, 1e-4  # the deltas at which lattices are centred, and their ratio


def menu_delta(stages: Stages, epsilon: float, work: float = WORK) -> Bracket:
    """Ends of delta at ``epsilon`` >= 0 of any adaptive choice from the menus.

    ``work`` is rounds times points of the lattice, at most. Raises NotApplicable where the lattice
    would be too coarse for the rounds, or would not hold their losses.
    """
    if epsilon >= math.fsum(rounds * max(map(_largest, menu)) for menu, rounds in stages):
        return Bracket(0.0, 0.0)
    lattice = Lattice.at_epsilon(stages, epsilon, work)
    curve = enclosed_value(stages, lattice)
    here = round((epsilon - lattice.offset) / lattice.step) - lattice.first
    return Bracket(float(curve.lower[here]), float(curve.upper[here]))


def menu_epsilon(stages: Stages, delta: float, work: float = WORK) -> Bracket:
    """Ends of the least epsilon >= 0 at ``delta`` > 0; see :func:`menu_delta`.

    Deltas within two decades of each other share a lattice, hence a recursion: a lattice serves
    them as well as one of their own.
    """
    if delta < math.exp(_LOWEST):
        raise NotApplicable(f"a delta of {delta!r} is below the recursion's reach")
    anchor = max(0, round(math.log(delta / _FIRST_ANCHOR) / math.log(_APART)))
    centre = max(_FIRST_ANCHOR * _APART**anchor, math.exp(_LOWEST))
    lattice = Lattice.at_delta(stages, centre, work)
    low, high = enclosed_value(stages, lattice).invert(delta)
    return Bracket(max(0.0, low), max(0.0, high))


@dataclass(frozen=True)
class Lattice:
    """Budgets offset + step (first + j) for j = 0 .. points - 1, the tilt, and the losses kept.

    Attributes
    ----------
    theta : values are carried times exp(theta (e - centre)).
    reach : losses above it are infinite to the upper end, and lost to the lower one.
    """

    _: KW_ONLY
    step: float
    first: int
    points: int
    offset: float = 0.0
    theta: float
    centre: float
    reach: tuple[float, float]

    @classmethod
    def at_epsilon(cls, stages: Stages, epsilon: float, work: float) -> Lattice:
        """Return a lattice through ``epsilon``."""
        exponents = _most_log_mgf(stages, _THETAS) - _THETAS * epsilon + _log_weights()
        best = int(np.argmin(np.where(exponents < _LOWEST, 0.0, exponents)))
        theta, log_delta = float(_THETAS[best]), min(float(exponents[best]), 0.0)
        place = cls._around(stages, epsilon=epsilon, theta=theta, log_delta=log_delta, work=work)
        return replace(place, offset=epsilon - place.step * round(epsilon / place.step))

    @classmethod
    def at_delta(cls, stages: Stages, delta: float, work: float) -> Lattice:
        """Return a lattice around the epsilon of ``delta``."""
        log_delta = math.log(delta)
        ends = (_most_log_mgf(stages, _THETAS) + _log_weights() - log_delta) / _THETAS
        best = int(np.argmin(ends))
        epsilon = max(float(ends[best]), 0.0)
        theta = float(_THETAS[best])
        return cls._around(stages, epsilon=epsilon, theta=theta, log_delta=log_delta, work=work)

    @classmethod
    def _around(
        cls, stages: Stages, *, epsilon: float, theta: float, log_delta: float, work: float
    ) -> Lattice:
        missed, rounds = math.log(_MISSED), sum(count for _, count in stages)
        # Chernoff's bound on plays that go so far beyond either end and still decide anything
        back = _most_log_mgf(stages, -_THETAS, least=0.0) - missed
        beyond = float((back / (_THETAS + theta)).min())
        tail = max(math.exp(log_delta + missed) / rounds, 1e-300)
        ends = [loss_range(law, tail) for menu, _ in stages for law in menu]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        length = epsilon + 2.0 * beyond + high - low
        wanted = math.sqrt(8.0 * _TOLERANCE / rounds) / theta
        points = min(max(length / wanted, LEAST_POINTS), work / rounds, _MOST_POINTS)
        if points < LEAST_POINTS:
            raise NotApplicable(f"{rounds} rounds are too many for the recursion's lattice")
        step = round_step(length / points)
        if not 1e-12 < step < 1.0:
            raise NotApplicable("the losses are too small, or too far apart, for one lattice")
        first = math.floor(-beyond / step)
        size = math.ceil((epsilon + beyond) / step) - first + 1
        return cls(
            step=step,
            first=first,
            points=size,
            theta=min(theta, -_LOWEST / length),
            centre=epsilon,
            reach=(low, high),
        )

    def budgets(self, first: int, size: int) -> Floats:
        """The budgets from one place on, places counted from that of ``offset``."""
        return losses_at(np.arange(first, first + size), self.step, self.offset)


def _largest(law: PrivacyLossLaw) -> float:
    """The largest loss, rounded up."""
    if law.infinite_mass > 0.0:
        return math.inf
    return law.support[1] + law.loss_error + 1e-12 * abs(law.support[1])


def _most_log_mgf(stages: Stages, thetas: Floats, least: float = -math.inf) -> Floats:
    """Bound on ln E[exp(theta L)] of all rounds: the largest of each menu, at least ``least``."""
    total = np.zeros(thetas.shape)
    with np.errstate(over="ignore"):
        for menu, rounds in stages:
            most = np.max([law.log_mgf(thetas).real for law in menu], axis=0)
            total += rounds * np.maximum(most, least)
    return total


def _log_weights() -> Floats:
    return np.array([log_chernoff_constant(float(theta)) for theta in _THETAS])


@lru_cache(maxsize=16)
def enclosed_value(stages: Stages, lattice: Lattice) -> EnclosedCurve:
    """Lower and upper ends on the lattice of the value of all rounds."""
    line = _Line(lattice)
    upper = _upper(stages, line)
    lower = _lower(stages, line)
    # V falls: no end is worse than one further on. Far from the centre noise hides V.
    upper = np.minimum.accumulate(upper)
    lower = np.maximum.accumulate(lower[::-1])[::-1]
    return EnclosedCurve(line.inner, np.minimum(lower, upper), upper)


class _Line:
    """The lattice with its margins, into which a round's losses reach."""

    def __init__(self, lattice: Lattice) -> None:
        low, high = lattice.reach
        self.lattice = lattice
        self.step, self.theta = lattice.step, lattice.theta
        self.down, self.up = max(-math.floor(low / self.step), 0) + 2, math.ceil(high / self.step)
        self.up = max(self.up, 0) + 2
        whole = self.up + lattice.points + self.down
        self.length = scipy.fft.next_fast_len(whole, real=True)
        self.budgets = lattice.budgets(lattice.first - self.up, whole)
        self.inside = slice(self.up, self.up + lattice.points)
        self.inner = self.budgets[self.inside]
        self.tilt = self.tilted(self.budgets - lattice.centre)
        # of exponents, and of budgets that are no doubles
        far = float(np.abs(self.budgets).max()) + abs(lattice.centre)
        self.rounding = 16.0 * UNIT * (8.0 + (1.0 + self.theta) * far)
        self.unsure = 16.0 * UNIT * math.log2(self.length)

    def tilted(self, budgets: Floats) -> Floats:
        return np.asarray(np.exp(self.theta * budgets))

    def norm(self, values: Floats) -> float:
        # not values @ values: on a busy machine the threads of BLAS wait for each other
        return math.sqrt(float(np.einsum("i,i", values, values))) * (1.0 + 1e-9)


class _Kernel:
    """The masses of one law at these whole steps, tilted, ready to be a round's mean."""

    def __init__(self, line: _Line, points: Points, masses: Floats) -> None:
        self.line = line
        weights = masses * line.tilted(losses_at(points, line.step, 0.0))
        self.total = float(weights.sum()) * (1.0 + 1e-12)
        circle = np.zeros(line.length)
        circle[points % line.length] = weights
        self.transform = scipy.fft.rfft(circle)
        self.unsure = math.sqrt(line.length) * line.norm(weights) + 3.0 * self.total

    def mean(self, transform: RealOrComplex) -> Floats:
        """The means of the values with this transform, on the lattice."""
        found = scipy.fft.irfft(transform * self.transform, n=self.line.length)
        return np.asarray(found[self.line.inside])


def _noise(line: _Line, before: float, size: float, kernels: Sequence[_Kernel]) -> float:
    """Bound on the error of every mean, from that of the values and their 2-norm."""
    kept = before * max(kernel.total for kernel in kernels)
    return kept + line.unsure * size * max(kernel.unsure for kernel in kernels)


def _upper(stages: Stages, line: _Line) -> Floats:
    menus: list[list[_Kernel]] = []
    slack, infinite = 0.0, 0.0
    for menu, count in stages:
        kernels, most_slack, most_infinite = [], 0.0, 0.0
        for law in menu:
            _, above = enclosing_grid_laws(
                law, line.step, line.lattice.reach, theta=line.theta, offset=0.0
            )
            masses = (above.masses + above.error) * (1.0 + line.rounding)
            kernels.append(_Kernel(line, above.points, masses))
            most_slack = max(most_slack, above.slack)
            most_infinite = max(most_infinite, above.infinite_mass)
        menus.append(kernels)
        slack += count * most_slack
        infinite += count * most_infinite
    slack += line.rounding
    rounds = sum(count for _, count in stages)
    tilt, inside = line.tilt, line.inside
    left, right = slice(0, line.up), slice(line.up + line.lattice.points, None)
    nearness = np.exp(-line.step * np.arange(line.up, 0, -1))  # of x to its value at the left end
    most = math.exp(log_chernoff_constant(line.theta) - line.theta * line.lattice.centre)
    most *= 1.0 + line.rounding
    noise, values = 0.0, np.zeros(tilt.size)
    values[inside] = tilt[inside] * _payoff(line.inner)
    for kernels in in_stages(_last_first(menus, stages), "upper end"):
        at_left = min(values[line.up] / tilt[line.up], 1.0)
        values[left] = tilt[left] * (1.0 - (1.0 - at_left) * nearness)
        values[right] = most
        noise = _noise(line, noise, line.norm(values), kernels)
        transform = scipy.fft.rfft(values, n=line.length)
        best = kernels[0].mean(transform)
        for kernel in kernels[1:]:
            np.maximum(best, kernel.mean(transform), out=best)
        values[inside] = np.clip(best, 0.0, tilt[inside])
        most *= max(kernel.total for kernel in kernels)
    relative = (1.0 + line.rounding) * (1.0 + 16.0 * UNIT * rounds)
    found = (values[inside] + noise) / tilt[inside] * relative + UNDERFLOW
    found = np.minimum(found + infinite, 1.0)
    # every loss may be larger by the slack: V there is below its chord
    share = -math.expm1(-slack) / -math.expm1(-line.step)
    found[1:] += np.maximum(found[:-1] - found[1:], 0.0) * share
    found[0] = 1.0
    return found


def _last_first(menus: Sequence[T], stages: Stages) -> list[T]:
    """What belongs to the menu of each round, from the last round to the first."""
    return [each for each, (_, count) in zip(menus[::-1], stages[::-1]) for _ in range(count)]


def _lower(stages: Stages, line: _Line) -> Floats:
    menus = []
    for menu, _ in stages:
        wins, gains, infinite = [], [], []
        for law in menu:
            points, won, gained = _nearest(law, line)
            wins.append(_Kernel(line, points, won))
            gains.append(_Kernel(line, points, gained))
            infinite.append(law.infinite_mass * (1.0 - line.rounding))
        menus.append((wins, gains, infinite))
    tilt, inside = line.tilt, line.inside
    a = np.where(line.budgets < 0.0, tilt, 0.0)
    b = a * np.exp(np.minimum(line.budgets, 0.0))
    noise_a = noise_b = 0.0
    for wins, gains, infinite in in_stages(_last_first(menus, stages), "lower end"):
        noise_a = _noise(line, noise_a, line.norm(a), wins)
        noise_b = _noise(line, noise_b, line.norm(b), gains)
        of_a, of_b = (scipy.fft.rfft(each, n=line.length) for each in (a, b))
        best_a, best_b = wins[0].mean(of_a) + infinite[0] * tilt[inside], gains[0].mean(of_b)
        for win, gain, lost in zip(wins[1:], gains[1:], infinite[1:]):
            other_a, other_b = win.mean(of_a) + lost * tilt[inside], gain.mean(of_b)
            better = other_a - other_b > best_a - best_b
            np.copyto(best_a, other_a, where=better)
            np.copyto(best_b, other_b, where=better)
        a[inside], b[inside] = best_a, best_b
    wrong = line.rounding + 16.0 * UNIT * sum(count for _, count in stages)
    won = a[inside] * (1.0 - wrong) - b[inside] * (1.0 + wrong)
    return np.asarray(np.clip((won - noise_a - noise_b) / tilt[inside], 0.0, 1.0) * (1.0 - wrong))


def _nearest(law: PrivacyLossLaw, line: _Line) -> tuple[Points, Floats, Floats]:
    """The places; P0-masses nearest to each, rounded down; P1-masses times e^loss, up."""
    first = math.floor(line.lattice.reach[0] / line.step)
    last = max(math.ceil(line.lattice.reach[1] / line.step), first + 1)
    points = np.arange(first, last + 1)
    losses = line.step * points
    edges = losses_at(np.append(points, last + 1), line.step, -0.5 * line.step)
    under0, under1 = (np.array(masses) for masses in law.continuous_masses(edges))
    for loss, log_mass in zip(law.atom_losses.tolist(), law.atom_log_masses.tolist()):
        place = round(loss / line.step) - first
        under0[place] += math.exp(log_mass)
        under1[place] += math.exp(log_mass - loss)
    # A cell's P1-mass times e^loss is at most its P0-mass times e^(step/2).
    seen = (under0 > _LEAST_MASS) & (under1 > _LEAST_MASS)
    logs = np.log(np.where(seen, (under0, under1), 1.0))
    wrong = 8.0 * UNIT * (64.0 + np.abs(logs).sum(axis=0)) + 4.0 * law.loss_error + line.rounding
    gained = np.exp(np.where(seen, logs[1] + losses, 0.0))
    gained = np.where(seen, gained, under0 * math.exp(0.5 * line.step))
    return points, under0 * (1.0 - wrong), gained * (1.0 + wrong)


def _payoff(budgets: Floats) -> Floats:
    """(1 - e^E)_+, what is reached without another round."""
    return np.asarray(np.maximum(0.0, -np.expm1(np.minimum(budgets, 0.0))))
