"""Hidden state: noisy gradient descent on convex losses, of which only the last iterate is seen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy

from simulator.analysis.simulate import simulate
from simulator.data.databases import ADD_REMOVE, Database, Relation
from simulator.data.queries import Query, counting_query
from simulator.engine.sampling import Tilted
from simulator.mechanisms import ScalarMechanism, Scalars
from simulator.mechanisms.base import Numbers
from simulator.mechanisms.gaussian import GAUSSIAN
from simulator.teaching.games.model import game
from simulator.teaching.games.rows import GameRow, bound, exact, played, reached, wrong
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bound as bound_named
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.renyi import ZCDP
from simulator.theory.laws.gaussian_curve import gaussian_epsilon_bracket

EVERYONE = Database({"alice": 1, "others": 99})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")
CELLS = 400
"""Cells of the interval of a projected iterate."""

# params: as of the Gaussian mechanism, for the last iterate; then gradients, contraction, steps,
# noise of a step


def _prepare(row: Numbers, sigma: float, params: Any) -> None:
    contraction, steps = row[2], row[3]
    reach, variance = 0.0, 0.0
    for _ in range(int(steps)):
        reach, variance = contraction * reach + 1.0, contraction**2 * variance + sigma**2
    params[0] = row[0] * reach
    params[1] = row[1] * reach
    params[2] = math.sqrt(variance)
    params[3] = 0.5 * (params[0] + params[1])
    params[4] = (params[0] - params[1]) / variance
    params[5] = row[0]
    params[6] = row[1]
    params[7] = contraction
    params[8] = steps
    params[9] = sigma


def _descended(params: Numbers, gradient: float, noise: np.random.Generator) -> float:
    iterate = 0.0
    for _ in range(int(params[8])):
        iterate = params[7] * iterate + gradient + params[9] * noise.standard_normal()
    return iterate


def _sample(params: Numbers, b: int, noise: np.random.Generator) -> float:
    return _descended(params, params[6] if b else params[5], noise)


def _tilt(params: Numbers, theta: float, tilted: Any) -> None:
    mu = (params[0] - params[1]) / params[2]
    tilted[0] = 0.5 * theta * (1.0 + theta) * mu * mu
    tilted[1] = params[5] + theta * (params[5] - params[6])


def _sample_tilted(params: Numbers, tilted: Numbers, noise: np.random.Generator) -> float:
    return _descended(params, tilted[1], noise)


DESCENT = Scalars(
    name="noisy gradient descent",
    width=lambda row: 10,
    prepare=_prepare,
    sample=_sample,
    loss=GAUSSIAN.loss,
    tilt_width=lambda params: 2,
    tilt=_tilt,
    sample_tilted=_sample_tilted,
)


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

    scalars: ClassVar[Scalars] = DESCENT
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


def projected_epsilon(step: float, sigma: float, radius: float, steps: int, delta: float) -> float:
    """A certified lower end of the epsilon of projected descent on a linear loss.

    The gradient is -step/2 on one database and step/2 on the other; after each step the iterate is
    moved into [-radius, radius]. Every step is increasing in the iterate, so rounding all iterates
    up, or all down, to a grid bounds the probability of {x >= t} from either side. The event of the
    best t then has P1 - e^epsilon P0 >= delta.
    """
    grid = np.linspace(-radius, radius, CELLS + 1)
    drifts = (grid[:, None] - grid[None, :]) / sigma  # from column to row
    ends = []
    for drift, up in ((-step / 2, True), (step / 2, False)):
        below = scipy.special.ndtr(drifts - drift / sigma)  # Pr[next <= row], before projection
        below[-1] = 1.0
        if up:  # to the grid point above: mass between two points goes to the upper one
            moves = np.diff(below, axis=0, prepend=0.0)
        else:
            moves = np.diff(below, axis=0, append=1.0)
            moves[0] += below[0]
            moves[-1] = scipy.special.ndtr(drift / sigma - drifts[-1])
            moves[-2] = 1.0 - below[-2] - moves[-1]
        law = np.zeros(CELLS + 1)
        law[CELLS // 2] = 1.0
        for _ in range(steps):
            law = moves @ law
        ends.append(np.cumsum(law[::-1])[::-1])
    rounding = 1e-12
    ratio = (ends[1] - rounding - delta) / (ends[0] + rounding)
    return max(0.0, math.log(max(float(ratio.max()), 1.0)))


@game(
    "hidden-state",
    "Hidden state: convex losses, and only the last iterate is seen",
    sources=(
        "Bok, Su and Altschuler 2024, arXiv 2403.00278",
        "Feldman, Mironov, Talwar and Thakurta 2018, Theorem 22",
        "Chourasia, Ye and Shokri 2021, arXiv 2102.05855",
        "Altschuler and Talwar 2022",
    ),
    ranges={
        "steps": ("of gradient descent", 1, 256),
        "sigma": ("noise of a step, in Alice's gradient", 0.3, 20.0),
        "contraction": ("of a step; 1 - learning rate x strong convexity", 0.0, 0.999),
        "radius": ("of the interval of projection, in Alice's gradient", 0.5, 20.0),
        "delta": ("where epsilon is taken", 1e-9, 0.1),
        "trials": ("plays of each experiment", 100, 1_000_000),
        "seed": ("of the plays", 0, 2**31),
    },
    sweep=("steps", (1, 2, 4, 8, 16, 32, 64)),
)
def hidden_state(
    *,
    steps: int = 32,
    sigma: float = 2.0,
    contraction: float = 0.9,
    radius: float = 2.0,
    delta: float = 1e-5,
    trials: int = 4000,
    seed: int = 1,
) -> Iterator[GameRow]:
    """Take noisy gradient steps on all data, and publish the last iterate alone.

    The usual analysis counts every step, as if all iterates were published. If the loss is convex
    and smooth, a step moves two iterates no farther apart, and the noise of later steps hides what
    earlier ones have taken in. The loss of the last iterate then stays bounded, however many steps
    are taken. The noise and Alice's gradient are those of one step; the learning rate is in both.

    With a strongly convex loss the bound by Bok, Su and Altschuler is attained by a quadratic one:
    the last iterate is Gaussian, and the rows agree. The bound by Chourasia, Ye and Shokri was the
    first of this kind. It is for a random start, which helps, and costs a factor of about two in
    the Rényi divergence. That one step is all that is seen is wrong: the earlier ones fade, but
    they are not gone.

    If Alice is used in the first step only, the later steps amplify her privacy: look along the
    number of steps. For linear losses the theorem of Feldman and others is exact in Rényi
    divergence. In the last table iterates are projected to an interval, and the loss is convex
    but not strongly. The lower end is certified: it is the probability of one event, with all
    rounding to one side.
    """
    quantity = "epsilon, a strongly convex loss"
    powers = [contraction**j for j in range(steps)]
    shift = math.fsum(powers) / (sigma * math.sqrt(math.fsum(power**2 for power in powers)))
    yield exact(quantity, "a quadratic loss", gaussian_epsilon_bracket(shift, delta))
    yield _played(quantity, LastIterate(ALICE, sigma, contraction, steps), delta, trials, seed)
    theorem = gaussian_epsilon_bracket(contracted(contraction, steps) / sigma, delta)
    yield bound(quantity, "Bok, Su and Altschuler", theorem.upper)
    fading = -math.expm1(-0.5 * (1.0 - contraction) * steps)
    rho = 2.0 * fading / ((1.0 - contraction) * sigma**2)
    yield bound(quantity, "Chourasia, Ye and Shokri", _renyi(rho, delta))
    counted = gaussian_epsilon_bracket(math.sqrt(steps) / sigma, delta)
    yield bound(quantity, "all iterates are counted", counted.upper)
    yield wrong(
        quantity, "the last step is all that is seen",
        gaussian_epsilon_bracket(1.0 / sigma, delta).upper,
    )  # fmt: skip

    quantity = "epsilon, Alice is used in the first step"
    first = gaussian_epsilon_bracket(1.0 / (sigma * math.sqrt(steps)), delta)
    yield exact(quantity, "a linear loss", first)
    rho = 0.5 / (sigma**2 * steps)
    yield bound(quantity, "Feldman and others", _renyi(rho, delta))
    single = gaussian_epsilon_bracket(1.0 / sigma, delta)
    yield bound(quantity, "the first iterate is seen", single.upper)

    quantity = "epsilon, projected to an interval"
    lower = projected_epsilon(1.0, sigma, radius, steps, delta)
    yield reached(quantity, "a linear loss: no less than", Bracket(lower, math.inf))
    yield bound(quantity, "all iterates are counted", counted.upper)
    reach = math.ceil(2.0 * radius)
    if steps >= reach:
        projected = math.sqrt(3.0 * 2.0 * radius + reach) / sigma
        limit = gaussian_epsilon_bracket(projected, delta).upper
        yield bound(quantity, "Bok, Su and Altschuler", limit)


def _played(quantity: str, mechanism: LastIterate, delta: float, trials: int, seed: int) -> GameRow:
    def train(coins: np.random.Generator) -> Any:
        yield WITHOUT, EVERYONE, mechanism

    mu = mechanism.guarantee().mu
    theta = gaussian_epsilon_bracket(mu, delta).upper / mu**2 - 0.5  # its mean loss is epsilon
    result = simulate(
        train, family=mechanism.guarantee(), rounds=1, trials=trials, seed=seed,
        sampling=Tilted(max(0.0, theta)),
    )  # fmt: skip
    return played(quantity, "its steps, played", result.epsilon(delta, confidence=0.999))


def _renyi(rho: float, delta: float) -> float:
    """The epsilon of a Rényi divergence of at most alpha rho at every alpha > 1."""
    conversion = bound_named("zcdp-canonne-kamath-steinke")
    return conversion.on(Composition.of((ZCDP(rho), 1))).epsilon(delta).upper
