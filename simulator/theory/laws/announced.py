"""The law of a mechanism that is one of several, where the answer says which."""
# ruff: noqa: D102  (overrides inherit the docstring of PrivacyLossLaw)

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from simulator.foundations.errors import InvalidInput
from simulator.theory.laws.base import Floats, PrivacyLossLaw
from simulator.theory.laws.finite import merge_losses
from simulator.theory.laws.quadrature import QuadratureLaw
from simulator.theory.parameters import positive


@dataclass(frozen=True)
class AnnouncedLaw(QuadratureLaw):
    """The pair of ``laws[i]`` with probability ``weights[i]`` in both experiments, and i is public.

    ``weight_error`` bounds the relative error of each weight.

    Raises InvalidInput unless weights are positive, as many as laws, and sum to 1 within 1e-9.
    """

    laws: tuple[PrivacyLossLaw, ...]
    weights: tuple[float, ...]
    weight_error: float = 0.0

    def __post_init__(self) -> None:
        for weight in self.weights:
            positive("a weight", weight)
        if len(self.laws) != len(self.weights) or abs(math.fsum(self.weights) - 1.0) > 1e-9:
            raise InvalidInput("there must be as many weights as laws, with the sum 1")

    @property
    def has_accurate_cells(self) -> bool:  # type: ignore[override]
        return all(law.has_accurate_cells for law in self.laws)

    @property
    def loss_error(self) -> float:  # type: ignore[override]
        return max(law.loss_error for law in self.laws) + self.weight_error

    @property
    def infinite_mass(self) -> float:  # type: ignore[override]
        return math.fsum(w * law.infinite_mass for w, law in zip(self.weights, self.laws))

    @property
    def dual_infinite_mass(self) -> float:  # type: ignore[override]
        return math.fsum(w * law.dual_infinite_mass for w, law in zip(self.weights, self.laws))

    @cached_property
    def _atoms(self) -> tuple[Floats, Floats]:
        parts = [
            (law.atom_losses, law.atom_log_masses + math.log(weight))
            for weight, law in zip(self.weights, self.laws)
        ]
        losses, logs = (np.concatenate(each) for each in zip(*parts))
        return merge_losses(losses, logs, within=0.0)

    @property
    def atom_losses(self) -> Floats:
        return self._atoms[0]

    @property
    def atom_log_masses(self) -> Floats:
        return self._atoms[1]

    @property
    def points(self) -> tuple[Floats, Floats]:
        parts = [law.points for law in self.laws]
        logs = [each + math.log(weight) for weight, (_, each) in zip(self.weights, parts)]
        return np.concatenate([losses for losses, _ in parts]), np.concatenate(logs)

    @property
    def support(self) -> tuple[float, float]:
        lows, highs = zip(*(law.support for law in self.laws))
        return min(lows), max(highs)

    @property
    def is_discrete(self) -> bool:
        return all(law.is_discrete for law in self.laws)

    def delta(self, epsilon: float) -> float:
        return math.fsum(w * law.delta(epsilon) for w, law in zip(self.weights, self.laws))

    def reversed(self) -> AnnouncedLaw:
        return replace(self, laws=tuple(law.reversed() for law in self.laws))

    def continuous_masses(self, edges: Floats) -> tuple[Floats, Floats]:
        under = np.zeros((2, edges.size - 1))
        for weight, law in zip(self.weights, self.laws):
            under += weight * np.array(law.continuous_masses(edges))
        return under[0], under[1]
