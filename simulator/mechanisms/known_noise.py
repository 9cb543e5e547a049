"""The noise that a mechanism adds to its query's value, as a :class:`Noise`."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from simulator.data.databases import Relation
from simulator.foundations.errors import NotApplicable
from simulator.mechanisms.additive_noise import AdditiveNoise
from simulator.mechanisms.base import ScalarMechanism
from simulator.mechanisms.gaussian import Gaussian
from simulator.mechanisms.geometric import Geometric
from simulator.mechanisms.laplace import Laplace
from simulator.mechanisms.noise_mixture import GEOMETRIC, LAPLACE, NORMAL, Noise
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.discrete import discrete_laplace
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.laplace import LaplaceLaw


def has_noise(mechanism: ScalarMechanism) -> bool:
    """Whether the mechanism adds noise of a known shape."""
    return isinstance(mechanism, Gaussian | Laplace | Geometric | AdditiveNoise)


@singledispatch
def noise_of(mechanism: Any, relation: Relation) -> Noise:
    """The noise that a mechanism adds; raises NotApplicable where its shape is not known."""
    raise NotApplicable(f"{type(mechanism).__name__} adds no noise of a known shape")


@noise_of.register
def _(mechanism: Gaussian, relation: Relation) -> Noise:
    return Noise(NORMAL, mechanism.fixed_parameter())


@noise_of.register
def _(mechanism: Laplace, relation: Relation) -> Noise:
    return Noise(LAPLACE, mechanism.query.sensitivity(relation) / mechanism.fixed_parameter())


@noise_of.register
def _(mechanism: Geometric, relation: Relation) -> Noise:
    return Noise(GEOMETRIC, mechanism.query.sensitivity(relation) / mechanism.fixed_parameter())


@noise_of.register
def _(mechanism: AdditiveNoise, relation: Relation) -> Noise:
    return mechanism.noise(relation)


def shift_law(mechanism: ScalarMechanism, shift: float, relation: Relation) -> PrivacyLossLaw:
    """The law of a mechanism's loss where two values differ by ``shift`` > 0."""
    noise = noise_of(mechanism, relation)
    if isinstance(mechanism, AdditiveNoise):
        return mechanism.law_of_shift(shift, relation)
    if noise.shape == NORMAL:
        return GaussianLaw(shift / noise.scale)
    if noise.shape == LAPLACE:
        return LaplaceLaw(shift / noise.scale)
    return discrete_laplace(1.0 / noise.scale, round(shift))
