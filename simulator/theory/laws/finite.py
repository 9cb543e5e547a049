"""Laws with finitely many losses."""
# ruff: noqa: D102  (overrides inherit the docstring of PrivacyLossLaw)

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import instance
from simulator.theory.laws.base import Floats, PrivacyLossLaw, RealOrComplex, log_mean_exp


@dataclass(frozen=True, eq=False)
class FiniteLaw(PrivacyLossLaw):
    """Finitely many losses. Masses are kept as logarithms, so 1e-400 is not zero.

    ``losses`` ascend strictly; ``log_masses`` are ln P0-probabilities of the same shape (m,).
    ``loss_error`` bounds the error of each in nats, beyond a few roundings.

    >>> from simulator.theory import FiniteLaw
    >>> law = FiniteLaw.from_probabilities([0.75, 0.25], [0.25, 0.75])
    >>> law.atom_losses.round(6).tolist(), round(law.delta(0.0), 6)
    ([-1.098612, 1.098612], 0.5)
    """

    losses: Floats
    log_masses: Floats
    infinite_mass: float = 0.0
    dual_infinite_mass: float = 0.0
    loss_error: float = 0.0
    has_accurate_cells = True

    def __post_init__(self) -> None:
        for name in ("losses", "log_masses"):
            instance(name, getattr(self, name), np.ndarray, "an array")
        if self.losses.shape != self.log_masses.shape or self.losses.ndim != 1:
            raise InvalidInput("losses and log_masses must be one-dimensional of equal length")
        if not (np.isfinite(self.losses).all() and np.isfinite(self.log_masses).all()):
            raise InvalidInput("losses and log_masses must be finite; name infinite_mass instead")
        if (np.diff(self.losses) <= 0).any():
            raise InvalidInput("losses must ascend strictly; merge equal losses first")
        for array in (self.losses, self.log_masses):
            array.setflags(write=False)

    @classmethod
    def from_probabilities(cls, p0: ArrayLike, p1: ArrayLike) -> FiniteLaw:
        """Law of the loss of a finite pair: p0[v], p1[v] are the probabilities of answer v.

        Raises InvalidInput unless both are probability vectors of one length (sum within 1e-9).
        """
        first, second = np.asarray(p0, dtype=float), np.asarray(p1, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            return cls.from_log_probabilities(np.log(first), np.log(second))

    @classmethod
    def from_log_probabilities(cls, log_p0: ArrayLike, log_p1: ArrayLike) -> FiniteLaw:
        """As from_probabilities, from logarithms (-inf for an impossible answer)."""
        first, second = np.asarray(log_p0, dtype=float), np.asarray(log_p1, dtype=float)
        if first.ndim != 1 or first.shape != second.shape or first.size == 0:
            raise InvalidInput("p0 and p1 must be one-dimensional, non-empty, of equal length")
        for name, logs in (("p0", first), ("p1", second)):
            if not (logs < np.inf).all() or abs(scipy.special.logsumexp(logs)) > 1e-9:
                raise InvalidInput(f"{name} must be non-negative and sum to 1")
        first, second = (
            first - scipy.special.logsumexp(first),
            second - scipy.special.logsumexp(second),
        )
        both = np.isfinite(first) & np.isfinite(second)
        losses, log_masses = merge_losses(first[both] - second[both], first[both])
        return cls(
            losses,
            log_masses,
            infinite_mass=float(np.exp(first[~np.isfinite(second)]).sum()),
            dual_infinite_mass=float(np.exp(second[~np.isfinite(first)]).sum()),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FiniteLaw) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[bytes, bytes, float, float, float]:
        rest = (self.infinite_mass, self.dual_infinite_mass, self.loss_error)
        return (self.losses.tobytes(), self.log_masses.tobytes(), *rest)

    @property
    def atom_losses(self) -> Floats:
        return self.losses

    @property
    def atom_log_masses(self) -> Floats:
        return self.log_masses

    @property
    def support(self) -> tuple[float, float]:
        if self.losses.size == 0:
            return 0.0, 0.0
        return float(self.losses[0]), float(self.losses[-1])

    @property
    def is_discrete(self) -> bool:
        return True

    @property
    def mean(self) -> float:
        if self.infinite_mass > 0:
            return float("inf")
        return float(np.exp(self.log_masses) @ self.losses)

    @property
    def variance(self) -> float:
        if self.infinite_mass > 0:
            return float("inf")
        return float(np.exp(self.log_masses) @ (self.losses - self.mean) ** 2)

    def log_mgf(self, theta: ArrayLike) -> RealOrComplex:
        return log_mean_exp(theta, self.losses, self.log_masses)

    def delta(self, epsilon: float) -> float:
        over = self.losses > epsilon
        gains = -np.expm1(epsilon - self.losses[over])
        return float(self.infinite_mass + np.exp(self.log_masses[over]) @ gains)

    def reversed(self) -> FiniteLaw:
        return FiniteLaw(
            np.ascontiguousarray(0.0 - self.losses[::-1]),
            np.ascontiguousarray((self.log_masses - self.losses)[::-1]),
            infinite_mass=self.dual_infinite_mass,
            dual_infinite_mass=self.infinite_mass,
            loss_error=self.loss_error,
        )


def merge_losses(
    losses: Floats, log_masses: Floats, within: float | None = None
) -> tuple[Floats, Floats]:
    """Sorted losses and their masses, those that agree up to ``within`` merged.

    By default ``within`` is the rounding of a difference of logarithms.
    """
    order = np.argsort(losses, kind="stable")
    losses, log_masses = losses[order], log_masses[order]
    if losses.size == 0:
        return losses, log_masses
    rounding = 8 * np.finfo(float).eps * (1.0 + np.abs(losses) + np.abs(log_masses))[1:]
    apart = np.diff(losses) > (rounding if within is None else within)
    starts = np.flatnonzero(np.r_[True, apart])
    return losses[starts], np.logaddexp.reduceat(log_masses, starts)
