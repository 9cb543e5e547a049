"""Hidden state: noisy gradient descent on convex losses, of which only the last iterate is seen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np
import scipy

from simulator.foundations.knobs import Within
from simulator.teaching.games.descents import ALICE, steps_played
from simulator.teaching.games.model import game
from simulator.teaching.games.rows import GameRow, bound, exact, reached, wrong
from simulator.teaching.mechanisms.descents import LastIterate, contracted
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bound as bound_named
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.renyi import ZCDP
from simulator.theory.laws.gaussian_curve import gaussian_epsilon_bracket

CELLS = 400
"""Cells of the interval of a projected iterate."""


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
    sweep=("steps", (1, 2, 4, 8, 16, 32, 64)),
)
def hidden_state(
    *,
    steps: Annotated[int, "of gradient descent", Within(1, 256)] = 32,
    sigma: Annotated[float, "noise of a step, in Alice's gradient", Within(0.3, 20.0)] = 2.0,
    contraction: Annotated[
        float, "of a step; 1 - learning rate x strong convexity", Within(0.0, 0.999)
    ] = 0.9,
    radius: Annotated[
        float, "of the interval of projection, in Alice's gradient", Within(0.5, 20.0)
    ] = 2.0,
    delta: Annotated[float, "where epsilon is taken", Within(1e-9, 0.1)] = 1e-5,
    trials: Annotated[int, "plays of each experiment", Within(100, 1_000_000)] = 4000,
    seed: Annotated[int, "of the plays", Within(0, 2**31)] = 1,
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
    mechanism = LastIterate(ALICE, sigma, contraction, steps)
    mu = mechanism.guarantee().mu
    yield steps_played(quantity, mechanism, mu, delta, trials=trials, seed=seed)
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


def _renyi(rho: float, delta: float) -> float:
    """The epsilon of a Rényi divergence of at most alpha rho at every alpha > 1."""
    conversion = bound_named("zcdp-canonne-kamath-steinke")
    return conversion.on(Composition.of((ZCDP(rho), 1))).epsilon(delta).upper
