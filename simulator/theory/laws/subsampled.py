"""Laws of mechanisms that run on a random sample of the records."""
# ruff: noqa: D102  (overrides inherit the docstring of PrivacyLossLaw)

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite
from simulator.theory.laws.base import LEAST_MASS, Floats, PrivacyLossLaw, mass_errors
from simulator.theory.laws.finite import FiniteLaw, merge_losses
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.quadrature import QuadratureLaw, points_of_cells
from simulator.theory.outward import UNIT

_NO_LOSS = FiniteLaw(np.zeros(1), np.zeros(1))
_FINER = 16


class SampledLaw(QuadratureLaw):
    """The common part of sampled laws: the base's accuracy, and simpler laws at rates 0 and 1.

    A subclass is a frozen dataclass with ``base`` and ``rate``; it defines its atoms and masses.
    """

    base: PrivacyLossLaw
    rate: float

    def __post_init__(self) -> None:
        check_rate(self.rate)

    @property
    def has_accurate_cells(self) -> bool:  # type: ignore[override]
        return self.base.has_accurate_cells

    @property
    def loss_error(self) -> float:  # type: ignore[override]
        return self.base.loss_error

    @cached_property
    def simplest(self) -> PrivacyLossLaw:
        if self.rate == 0.0:
            return _NO_LOSS
        base = self.base.simplest
        if self.rate == 1.0:
            return self._whole(base)
        if not base.is_discrete:
            return self
        return FiniteLaw(
            *merge_losses(self.atom_losses, self.atom_log_masses, within=0.0),
            infinite_mass=self.infinite_mass,
            dual_infinite_mass=self.dual_infinite_mass,
            loss_error=base.loss_error + _rounding(self.atom_losses),
        )

    def _whole(self, base: PrivacyLossLaw) -> PrivacyLossLaw:
        """The law at rate 1."""
        return base

    @cached_property
    @abstractmethod
    def _atoms(self) -> tuple[Floats, Floats]:
        """Losses and log masses of the atoms."""

    @property
    def atom_losses(self) -> Floats:
        return self._atoms[0]

    @property
    def atom_log_masses(self) -> Floats:
        return self._atoms[1]

    @property
    def is_discrete(self) -> bool:
        return self.rate == 0.0 or self.base.is_discrete


@dataclass(frozen=True)
class PoissonSubsampledLaw(SampledLaw):
    """A mechanism run on a sample that holds each record with probability ``rate``.

    ``base`` is the law of a pair (P0, P1) that dominates the mechanism where D0 lacks Alice's
    record and D1 holds it. With the sample the pair is P0 and (1 - rate) P0 + rate P1. It is not
    symmetric: the law is that of adding a record, :meth:`reversed` (``exchanged``) that of removing
    it, and the worse of both counts under add-or-remove-one. With M(m) = ln(1 - rate + rate exp(m))
    of the base's loss m of (P1, P0), the loss is -M, or M if exchanged.

    Source: Zhu, Dong, Wang, "Optimal Accounting of Differential Privacy via Characteristic
    Function", AISTATS 2022, Theorem 11, for both directions, also under composition; for the
    Gaussian Mironov, Talwar, Zhang, "Renyi Differential Privacy of the Sampled Gaussian Mechanism",
    2019. At rate 1 it is the base, at rate 0 the loss is 0.

    Raises InvalidInput unless 0 <= rate <= 1. ``log_mgf``, the mean and the variance are by
    quadrature.

    >>> from simulator.theory import GaussianLaw, PoissonSubsampledLaw
    >>> law = PoissonSubsampledLaw(GaussianLaw(1.0), rate=0.1)
    >>> round(law.delta(0.05), 6), round(law.reversed().delta(0.05), 6)
    (0.010573, 0.026144)
    """

    base: PrivacyLossLaw
    rate: float
    exchanged: bool = False

    def _whole(self, base: PrivacyLossLaw) -> PrivacyLossLaw:
        return base.reversed() if self.exchanged else base

    @property
    def infinite_mass(self) -> float:  # type: ignore[override]
        return self.rate * self.base.dual_infinite_mass if self.exchanged else self._certain[0]

    @property
    def dual_infinite_mass(self) -> float:  # type: ignore[override]
        return self._certain[0] if self.exchanged else self.rate * self.base.dual_infinite_mass

    @property
    def _certain(self) -> tuple[float, float]:
        """P0-mass of answers impossible under the base's P1: at infinite and at finite loss."""
        lost = self.base.infinite_mass
        return (lost, 0.0) if self.rate == 1.0 else (0.0, lost)

    @cached_property
    def _atoms(self) -> tuple[Floats, Floats]:
        # that of the base's infinite mass included
        losses = -mixed_loss(-self.base.atom_losses, self.rate)
        logs = self.base.atom_log_masses
        if self._certain[1]:
            losses = np.r_[losses, -math.log1p(-self.rate)]
            logs = np.r_[logs, math.log(self._certain[1])]
        return (-losses[::-1], (logs - losses)[::-1]) if self.exchanged else (losses, logs)

    @property
    def support(self) -> tuple[float, float]:
        low, high = self.base.support
        if self._certain[1]:
            high = math.inf
        ends = -mixed_loss(-np.array([low, high]), self.rate)
        low, high = (-ends[::-1] if self.exchanged else ends).tolist()
        return low, high

    @property
    def points(self) -> tuple[Floats, Floats]:
        losses, logs = self.base.points
        losses = -mixed_loss(-losses, self.rate)
        if self._certain[1]:
            losses = np.r_[losses, -math.log1p(-self.rate)]
            logs = np.r_[logs, math.log(self._certain[1])]
        return (-losses, logs - losses) if self.exchanged else (losses, logs)

    def delta(self, epsilon: float) -> float:
        # A multiple of the base's own curve, which keeps its digits.
        if self.rate in (0.0, 1.0):
            return self.simplest.delta(epsilon)
        edge = math.log1p(-self.rate)
        if self.exchanged:
            if epsilon <= edge:
                return -math.expm1(epsilon)
            return self.rate * self.base.reversed().delta(self._base_loss_at(epsilon))
        if epsilon >= -edge:
            return 0.0
        share = -math.expm1(epsilon + edge)
        return share * self.base.delta(-self._base_loss_at(-epsilon))

    def _base_loss_at(self, loss: float) -> float:
        return float(unmixed_loss(np.array([loss]), self.rate)[0])

    def reversed(self) -> PoissonSubsampledLaw:
        return replace(self, exchanged=not self.exchanged)

    def continuous_masses(self, edges: Floats) -> tuple[Floats, Floats]:
        if self.rate in (0.0, 1.0):
            return self.simplest.continuous_masses(edges)
        without, mixed = self._mixed_cells(edges)[:2]
        return (mixed, without) if self.exchanged else (without, mixed)

    def _mixed_cells(self, edges: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Masses of the cells without the record, mixed and with it; the base's edges, turned."""
        losses = edges if self.exchanged else -edges[::-1]
        # Ascending losses m of (P1, P0) are descending ones of the base.
        base_edges = -unmixed_loss(losses, self.rate)[::-1]
        without, chosen = self.base.continuous_masses(base_edges)
        mixed = (1 - self.rate) * without + self.rate * chosen
        if self.exchanged:
            return without[::-1], mixed[::-1], chosen[::-1], -base_edges[::-1]
        return without, mixed, chosen, -base_edges

    def gathered_cells(self, edges: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        # ln(1 - q + q t), with t the base's own ratio, is off by the posterior r <= 1 of the record
        # times the relative error of t: where losses are tiny, so is r.
        if self.rate in (0.0, 1.0) or not isinstance(self.base, GaussianLaw):
            return super().gathered_cells(edges)
        without, mixed, chosen, turned = self._mixed_cells(edges)
        logs = np.log(np.maximum((without, chosen), LEAST_MASS))
        with np.errstate(over="ignore"):
            ratio = np.minimum(np.exp(logs[1] - logs[0]), 1e300)
        loss = np.log1p(self.rate * (ratio - 1))
        most, far = (np.maximum(abs(each[:-1]), abs(each[1:])) for each in (edges, turned))
        # An edge of the base's cells is rounded twice, for P0 and for P1: so is a thin cell.
        wrong = mass_errors(logs[0]) + mass_errors(logs[1])
        with np.errstate(invalid="ignore"):  # an infinite edge: the usual error
            apart = np.maximum(np.abs(np.diff(turned)), 1e-300)
            wrong += 16 * UNIT * (far + self.base.mu**2) / apart
        m = edges if self.exchanged else -edges
        record = -np.expm1(math.log1p(-self.rate) - np.maximum(m[:-1], m[1:]))
        record = np.minimum(record * (1 + 2 * np.minimum(wrong, 1.0)) + 4 * UNIT, 1.0)
        error = record * (wrong + 16 * UNIT * (4 + far - math.log(self.rate)))
        error += 16 * UNIT * (most + self.rate)
        usual = (logs.min(axis=0) > math.log(LEAST_MASS)) & (wrong < 0.1)
        if not usual.all():
            *_, plain, more = super().gathered_cells(edges)
            loss, error = np.where(usual, loss, plain), np.where(usual, error, more)
        if self.exchanged:
            return mixed, without, loss, error
        return without, mixed, -loss, error


@dataclass(frozen=True)
class SampledWithoutReplacementLaw(SampledLaw):
    """A mechanism run on a uniform subset of fixed size, ``rate`` of the records, replace-one.

    ``base`` is the law of a pair (P0, P1) that dominates the mechanism on databases of the subset's
    size under replace-one. The hockey-stick divergence of the sampled mechanism is that of ((1 -
    rate) P1 + rate P0, P1) for epsilon >= 0 and that of (P0, (1 - rate) P0 + rate P1) below. Losses
    above 0 are therefore those of the first, losses below 0 those of the second, and the remaining
    mass is an atom at 0.

    Source: Balle, Barthe, Gaboardi, "Privacy Amplification by Subsampling", NeurIPS 2018, Theorem
    9; Zhu, Dong, Wang, AISTATS 2022, Theorem 11, for the pair and its composition.

    Raises InvalidInput unless 0 <= rate <= 1.

    >>> from simulator.theory import GaussianLaw, SampledWithoutReplacementLaw
    >>> round(SampledWithoutReplacementLaw(GaussianLaw(1.0), rate=0.1).delta(0.1), 6)
    0.018472
    """

    base: PrivacyLossLaw
    rate: float

    @cached_property
    def _above(self) -> PoissonSubsampledLaw:
        return PoissonSubsampledLaw(self.base.reversed(), self.rate, exchanged=True)

    @cached_property
    def _below(self) -> PoissonSubsampledLaw:
        return PoissonSubsampledLaw(self.base, self.rate)

    @property
    def infinite_mass(self) -> float:  # type: ignore[override]
        return self._above.infinite_mass

    @property
    def dual_infinite_mass(self) -> float:  # type: ignore[override]
        return self._below.dual_infinite_mass

    @cached_property
    def _atoms(self) -> tuple[Floats, Floats]:
        (low, low_logs), (high, high_logs) = (
            (law.atom_losses[kept], law.atom_log_masses[kept])
            for law, kept in (
                (self._below, self._below.atom_losses < 0.0),
                (self._above, self._above.atom_losses > 0.0),
            )
        )
        middle = np.zeros(1 if self._at_zero > 0.0 else 0)
        logs = np.log(np.full(middle.size, self._at_zero))
        return merge_losses(np.r_[low, middle, high], np.r_[low_logs, logs, high_logs], within=0.0)

    @cached_property
    def _at_zero(self) -> float:
        """P0(L = 0) + (1 - rate) (P0(L > 0) - P1(L > 0)) of the base: the mass at 0."""
        equal = self.base.atom_log_masses[self.base.atom_losses == 0.0]
        return float(np.exp(equal).sum()) + (1 - self.rate) * self.base.delta(0.0)

    @property
    def support(self) -> tuple[float, float]:
        return min(self._below.support[0], 0.0), max(self._above.support[1], 0.0)

    @property
    def points(self) -> tuple[Floats, Floats]:
        if self.rate in (0.0, 1.0):
            return self.simplest.points
        marks = np.sort(np.r_[self._below.points[0], 0.0, self._above.points[0]])
        shares = np.arange(_FINER) / _FINER
        edges = (marks[:-1, None] + np.diff(marks)[:, None] * shares).ravel()
        return points_of_cells(self, np.unique(np.append(edges, marks[-1])))

    def delta(self, epsilon: float) -> float:
        return (self._above if epsilon >= 0.0 else self._below).delta(epsilon)

    def reversed(self) -> SampledWithoutReplacementLaw:
        return replace(self, base=self.base.reversed())

    def continuous_masses(self, edges: Floats) -> tuple[Floats, Floats]:
        if self.rate in (0.0, 1.0):
            return self.simplest.continuous_masses(edges)
        # Of an ascending row the edges up to the first that is at least 0, and from the one before.
        turn = min(int(np.searchsorted(edges, 0.0)), edges.size - 1)
        start = max(turn - 1, 0)
        masses = np.zeros((2, edges.size - 1))
        masses[:, :turn] += self._below.continuous_masses(np.minimum(edges[: turn + 1], 0.0))
        masses[:, start:] += self._above.continuous_masses(np.maximum(edges[start:], 0.0))
        return masses[0], masses[1]


def _rounding(losses: Floats) -> float:
    """A few units in the last place of the largest loss."""
    return 4 * float(np.finfo(float).eps) * float(np.abs(losses).max(initial=0.0))


def check_rate(rate: float) -> None:
    """Raise InvalidInput unless the sampling rate is a probability."""
    if not 0.0 <= finite("rate", rate) <= 1.0:
        raise InvalidInput(f"the sampling rate must be in [0, 1], not {rate!r}")


def mixed_loss(loss: Floats, rate: float) -> Floats:
    """M(m) = ln(1 - rate + rate exp(m)), elementwise; m may be infinite."""
    if rate in (0.0, 1.0):
        return loss * rate
    with np.errstate(over="ignore"):
        near = np.log1p(rate * np.expm1(np.minimum(loss, 1.0)))
        far = np.logaddexp(math.log1p(-rate), math.log(rate) + loss)
    return np.where(np.abs(loss) <= 1.0, near, far)


def unmixed_loss(loss: Floats, rate: float) -> Floats:
    """The m with ln(1 - rate + rate exp(m)) = ``loss``; -infinity where there is none."""
    edge = math.log1p(-rate)
    above = np.maximum(loss - edge, 0.0)
    with np.errstate(divide="ignore"):  # at the edge of the support m = -infinity
        small = np.log(np.expm1(np.minimum(above, 1.0))) + edge - math.log(rate)
        # Near 0 the formula in the loss itself is the more accurate one.
        share = np.maximum(np.expm1(np.minimum(loss, 1.0)) / rate, -1.0)
        middle = np.log1p(share)
    large = loss - math.log(rate) + np.log1p(-np.exp(-np.maximum(above, 0.5)))
    near = (np.abs(loss) <= np.abs(loss - edge)) & (np.abs(loss) <= 1.0)
    return np.where(near, middle, np.where(above > 1.0, large, small))
