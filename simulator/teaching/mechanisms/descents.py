"""Noisy gradient descent of which only the last iterate is seen, played step by step."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from simulator.data.databases import ADD_REMOVE, Relation
from simulator.data.queries import Query
from simulator.mechanisms import ScalarMechanism, Scalars
from simulator.mechanisms.base import Numbers
from simulator.mechanisms.gaussian import GAUSSIAN
from simulator.theory.guarantees.gaussian import GaussianDP

# params: as of the Gaussian mechanism, for what is made of the last iterate; then the gradients on
# either database, and three numbers of the descent


def _tilt(params: Numbers, theta: float, tilted: Any) -> None:
    mu = (params[0] - params[1]) / params[2]
    tilted[0] = 0.5 * theta * (1.0 + theta) * mu * mu
    tilted[1] = params[5] + theta * (params[5] - params[6])


def _step_by_step(
    name: str,
    prepare: Callable[[Numbers, float, Any], None],
    descend: Callable[[Numbers, float, np.random.Generator], float],
) -> Scalars:
    """The functions of a descent whose answer is Gaussian, at any gradient of Alice's loss.

    ``descend(params, gradient, noise)`` takes the steps. A tilted law is that of another gradient.
    """

    def sample(params: Numbers, b: int, noise: np.random.Generator) -> float:
        return descend(params, params[6] if b else params[5], noise)

    def sample_tilted(params: Numbers, tilted: Numbers, noise: np.random.Generator) -> float:
        return descend(params, tilted[1], noise)

    return Scalars(
        name=name,
        width=lambda row: 10,
        prepare=prepare,
        sample=sample,
        loss=GAUSSIAN.loss,
        tilt_width=lambda params: 2,
        tilt=_tilt,
        sample_tilted=sample_tilted,
    )


def _prepare_contracting(row: Numbers, sigma: float, params: Any) -> None:
    contraction, steps = row[2], row[3]
    reach, variance = 0.0, 0.0
    for _ in range(int(steps)):
        reach, variance = contraction * reach + 1.0, contraction**2 * variance + sigma**2
    params[0] = row[0] * reach
    params[1] = row[1] * reach
    params[2] = math.sqrt(variance)
    params[3] = 0.5 * (params[0] + params[1])
    params[4] = (params[0] - params[1]) / variance
    params[5], params[6] = row[0], row[1]
    params[7], params[8], params[9] = contraction, steps, sigma


def _descend_contracting(params: Numbers, gradient: float, noise: np.random.Generator) -> float:
    iterate = 0.0
    for _ in range(int(params[8])):
        iterate = params[7] * iterate + gradient + params[9] * noise.standard_normal()
    return iterate


@dataclass(frozen=True)
class LastIterate(ScalarMechanism):
    """The last iterate of noisy gradient descent on a quadratic loss, from 0.

    A step is x -> contraction x + gradient + sigma N(0, 1), where the query's value is the gradient
    and the steps before the last are hidden. ``sample`` takes the steps; the loss is that of the
    last iterate, which is Gaussian.
    """

    query: Query
    sigma: float
    contraction: float
    steps: int

    scalars: ClassVar[Scalars] = _step_by_step(
        "noisy gradient descent", _prepare_contracting, _descend_contracting
    )
    parameter_name: ClassVar[str] = "sigma"

    def guarantee(self, relation: Relation = ADD_REMOVE) -> GaussianDP:
        """By the theorem of Bok, Su and Altschuler, which is exact here."""
        mu = self.query.sensitivity(relation) / self.sigma
        return GaussianDP(mu * contracted(self.contraction, self.steps))

    def row(self, value_0: Any, value_1: Any, relation: Relation) -> tuple[float, ...]:
        """(gradient on 0, gradient on 1, contraction, steps)."""
        return float(value_0), float(value_1), self.contraction, float(self.steps)


def contracted(c: float, steps: int) -> float:
    """The mu of the last iterate in the mu of one step, for steps that contract by ``c`` <= 1.

    Sqrt((1 - c^t) / (1 + c^t) (1 + c) / (1 - c)): Bok, Su and Altschuler 2024, strongly convex
    losses; the square root of the number of steps where c is 1.
    """
    if c == 1.0:
        return math.sqrt(steps)
    forgotten = -math.expm1(steps * math.log(c)) if c > 0.0 else 1.0
    return math.sqrt(forgotten / (2.0 - forgotten) * (1.0 + c) / (1.0 - c))


def _prepare_remembering(row: Numbers, sigma: float, params: Any) -> None:
    steps, magnified = int(row[2]), row[3]
    # coordinate j is u_j + N(0, sigma^2 (steps - j) / magnified^2), with weight 1 / its variance
    weight = 0.0
    for j in range(1, steps + 1):
        weight += 1.0 / (1.0 + (steps - j) / magnified**2)
    params[0] = row[0] * weight
    params[1] = row[1] * weight
    params[2] = sigma * math.sqrt(weight)
    params[3] = 0.5 * (params[0] + params[1])
    params[4] = (row[0] - row[1]) / sigma**2
    params[5], params[6] = row[0], row[1]
    params[7], params[8], params[9] = row[2], magnified, sigma


def _descend_remembering(params: Numbers, gradient: float, noise: np.random.Generator) -> float:
    steps, magnified, sigma = int(params[7]), params[8], params[9]
    iterate = np.zeros(steps)
    for step in range(steps):
        if step > 0:  # the gradient of the others' loss, which is a quadratic in this region
            iterate[step] = magnified * iterate[0]
            iterate[0] = 0.0
        iterate[0] += gradient
        for place in range(steps):
            iterate[place] += sigma * noise.standard_normal()
    total = iterate[0]
    for place in range(1, steps):
        share = 1.0 + (steps - place) / magnified**2
        total += iterate[place] / magnified / share
    return float(total)


@dataclass(frozen=True)
class Remembering(ScalarMechanism):
    """The last iterate of noisy gradient descent on a loss that is not convex.

    Alice's loss is linear: her gradient is 1 in coordinate 0. The others' loss makes step t move
    coordinate 0 to coordinate t, magnified, and clear coordinate 0. The number t is a further
    coordinate, which their gradient moves by far more than the noise. All coordinates receive noise
    at all steps. The answer is the sum of the last iterate's coordinates, weighted by precision,
    which is sufficient for b.
    """

    query: Query
    sigma: float
    steps: int
    magnified: float

    scalars: ClassVar[Scalars] = _step_by_step(
        "remembering descent", _prepare_remembering, _descend_remembering
    )
    parameter_name: ClassVar[str] = "sigma"

    def guarantee(self, relation: Relation = ADD_REMOVE) -> GaussianDP:
        """That of all iterates together, by composition."""
        return GaussianDP(math.sqrt(self.steps) * self.query.sensitivity(relation) / self.sigma)

    def row(self, value_0: Any, value_1: Any, relation: Relation) -> tuple[float, ...]:
        """(gradient on 0, gradient on 1, steps, magnification)."""
        return float(value_0), float(value_1), float(self.steps), self.magnified


def remembered(steps: int, magnified: float) -> float:
    """The mu of the last iterate of :class:`Remembering`, in the mu of one step."""
    return math.sqrt(math.fsum(1.0 / (1.0 + j / magnified**2) for j in range(steps)))
