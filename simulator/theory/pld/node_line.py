"""The transform of a composition on a line Re z = theta, by weighted losses of each round's law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from simulator.theory.laws.base import Floats, PrivacyLossLaw, RealOrComplex
from simulator.theory.outward import UNIT
from simulator.theory.pld.smoothed_tail import (
    Folding,
    SmoothedTail,
    Window,
    log_chernoff_constant,
)

_ROOM = 1 + 1e-9


class Ratios(Protocol):
    """M(z)/M(theta) of one law on a line."""

    def on_line(self, spacing: float, count: int) -> tuple[RealOrComplex, float]:
        """The values at Im z = 0, spacing, ... (count,), and a bound on the error of every one."""
        ...


class LineTransform(Protocol):
    """The transform of one law with proven errors."""

    def log_value(self, theta: float) -> tuple[float, float]:
        """Ln M(theta), and a bound on its error."""
        ...

    def nodes(self, theta: float, omega: float = 0.0) -> Ratios:
        """The ratios for Re z = theta and all abs(Im z) <= omega."""
        ...


@dataclass(frozen=True)
class ClosedTransform:
    """That of a law whose ``log_mgf`` is exact to rounding."""

    law: PrivacyLossLaw

    def log_value(self, theta: float) -> tuple[float, float]:
        """Ln M(theta), and a bound on its error."""
        psi = self.law.log_mgf(np.array([theta]))
        return float(psi[0]), float(self.law.log_mgf_error(np.array([theta]), psi, theta)[0])

    def nodes(self, theta: float, omega: float = 0.0) -> ClosedRatios:
        """The ratios on the whole line."""
        return ClosedRatios(self.law, theta, *self.log_value(theta))


@dataclass(frozen=True)
class ClosedRatios:
    """Those of a :class:`ClosedTransform`."""

    law: PrivacyLossLaw
    theta: float
    log_total: float
    wrong: float

    def on_line(self, spacing: float, count: int) -> tuple[RealOrComplex, float]:
        """The ratios at Im z = 0, spacing, ... (count,), and a bound on the error of every one."""
        z = self.theta + 1j * (spacing * np.arange(count))
        ratios = np.asarray(np.exp(self.law.log_mgf(z) - self.log_total))
        # A value whose modulus is that of the real axis has the largest absolute error.
        end = np.array([self.theta + 1j * spacing * count])
        psi = np.array([self.log_total + 0j])
        return ratios, self.wrong + float(self.law.log_mgf_error(end, psi, self.theta)[0])


@dataclass(frozen=True)
class NodeLine:
    """The transforms of a composition's rounds, with their numbers, at one tilt ``theta``."""

    items: tuple[tuple[LineTransform, int], ...]
    theta: float

    def log_value(self, theta: float) -> tuple[float, float]:
        """Ln M(theta), and a bound on its error."""
        found = [(count, *one.log_value(theta)) for one, count in self.items]
        total = math.fsum(count * log for count, log, _ in found)
        wrong = math.fsum(count * (off + 2 * UNIT * abs(log)) for count, log, off in found)
        return total, wrong + 4 * UNIT * abs(total)

    @cached_property
    def log_scale(self) -> tuple[float, float]:
        """The same at the line's own tilt."""
        return self.log_value(self.theta)

    def ratios(self, spacing: float, points: int) -> tuple[RealOrComplex, Floats]:
        """M(z)/M(theta) at Im z = 0, spacing, ..., (points,), and bounds on the errors."""
        log, error = np.zeros(points, dtype=complex), np.zeros(points)
        omega = spacing * points
        for one, count in self.items:
            nodes = one.nodes(self.theta, omega)
            ratio, wrong = nodes.on_line(spacing, points)
            size = np.maximum(np.abs(ratio), 1e-300)
            logs = np.log(np.where(size > 1e-300, ratio, 1e-300))
            log += count * logs
            off = np.log1p(wrong / size)
            error += count * (off + 4 * UNIT * (4 + np.abs(logs))) + 4 * UNIT * np.abs(log)
        known = error < 1.0
        found = np.where(known, np.exp(log), 0.0)
        most = np.exp(np.minimum(log.real + error, 0.0))
        return found, np.where(known, np.abs(found) * np.expm1(np.minimum(error, 1.0)), most)

    def folding(
        self, window: Window, epsilon: float, log_folded: float, smoothing: float = 0.0
    ) -> Folding:
        """A period so long that about exp(log_folded) is folded in, by bounds on M itself."""
        logs, period = [], 0.0
        for other in (window.theta_above, window.theta_below):
            log, off = self.log_value(other)
            log += smoothing**2 * other * (1 + other) / 2 * _ROOM
            logs.append((other, log + off + log_chernoff_constant(other)))
            log_ratio = max(logs[-1][1] - other * epsilon - log_folded, 1.0)
            period = max(period, log_ratio / abs(other - self.theta))
        return Folding(self.theta, period, tuple(logs))


def make_tail(
    line: NodeLine,
    epsilon: float,
    folding: Folding,
    *,
    points: int,
    log_rest: float = 0.0,
    smoothing: float = 0.0,
    lost: float = 0.0,
) -> SmoothedTail:
    """The line of so many points, for use near ``epsilon``.

    ``log_rest`` is at least ln abs(M(z)/M(theta)) everywhere beyond it; ``lost`` the mass at
    infinite loss.
    """
    theta, spacing = line.theta, 2 * np.pi / folding.period
    omega = spacing * np.arange(points + 1, dtype=np.float64)
    ratio, wrong = line.ratios(spacing, omega.size)
    z = theta + 1j * omega
    wrong = wrong + np.abs(ratio) * 8 * UNIT * (4 + omega * abs(epsilon))
    turns = -1j * omega * epsilon
    rest = math.exp(log_rest) / (np.pi * float(omega[-1]))
    whole_rest = 0.0
    if smoothing:
        turns += smoothing**2 * (1j * omega * (theta + 0.5) - omega**2 / 2)
        shrink = np.exp(-((smoothing * omega) ** 2) / 2)
        wrong = (wrong + np.abs(ratio) * 8 * UNIT * smoothing**2 * omega * abs(z)) * shrink
        whole_rest = math.erfc(smoothing * float(omega[-1]) / math.sqrt(2)) * math.exp(log_rest)
        whole_rest /= math.sqrt(2 * math.pi) * smoothing
        rest = min(rest, whole_rest / float(omega[-1]) ** 2)
    terms = ratio * np.exp(turns) * (spacing / np.pi)
    terms[0] /= 2
    slopes = terms / (1 + z)
    log_total, slack = line.log_scale
    log_total += smoothing**2 * theta * (1 + theta) / 2
    noise = float((wrong / np.abs(z * (1 + z))).sum()) * spacing / np.pi + rest
    density_noise = float(wrong.sum()) * spacing / np.pi + whole_rest if smoothing else 0.0
    return SmoothedTail(
        lost,
        theta,
        smoothing=smoothing,
        folding=folding,
        centre=epsilon,
        omega=omega,
        values=slopes / z,
        slopes=slopes,
        densities=terms,
        log_scale=log_total - theta * epsilon,
        scale_slack=slack + 8 * UNIT * abs(log_total),
        value_noise=noise * _ROOM,
        density_noise=density_noise * _ROOM,
    )
