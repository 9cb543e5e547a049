"""Counterexamples to the last iterate's advantage: losses that forget, and losses that remember."""

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
from simulator.teaching.games.library.hidden_state import contracted
from simulator.teaching.games.model import game
from simulator.teaching.games.rows import GameRow, bound, exact, played, reached, wrong
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.gaussian_curve import gaussian_epsilon_bracket
from simulator.theory.laws.gaussian_mixture import GaussianMixtureLaw
from simulator.theory.laws.subsampled import PoissonSubsampledLaw
from simulator.theory.pld.distribution import PLD

EVERYONE = Database({"alice": 1, "others": 99})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")

# params: as of the Gaussian mechanism, for the sum that is made of the last iterate; then the
# gradients, the steps, the magnification, and the noise of a step


def _prepare(row: Numbers, sigma: float, params: Any) -> None:
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
    params[5] = row[0]
    params[6] = row[1]
    params[7] = row[2]
    params[8] = magnified
    params[9] = sigma


def _trained(params: Numbers, gradient: float, noise: np.random.Generator) -> float:
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


def _sample(params: Numbers, b: int, noise: np.random.Generator) -> float:
    return _trained(params, params[6] if b else params[5], noise)


def _tilt(params: Numbers, theta: float, tilted: Any) -> None:
    mu = (params[0] - params[1]) / params[2]
    tilted[0] = 0.5 * theta * (1.0 + theta) * mu * mu
    tilted[1] = params[5] + theta * (params[5] - params[6])


def _sample_tilted(params: Numbers, tilted: Numbers, noise: np.random.Generator) -> float:
    return _trained(params, tilted[1], noise)


REMEMBERING = Scalars(
    name="remembering descent",
    width=lambda row: 10,
    prepare=_prepare,
    sample=_sample,
    loss=GAUSSIAN.loss,
    tilt_width=lambda params: 2,
    tilt=_tilt,
    sample_tilted=_sample_tilted,
)


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

    scalars: ClassVar[Scalars] = REMEMBERING
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


@game(
    "last-iterate",
    "The last iterate's advantage, and losses that do not have it",
    sources=(
        "Steinke and others 2025, arXiv 2410.06186",
        "Annamalai 2024, arXiv 2407.06496",
    ),
    ranges={
        "steps": ("of gradient descent", 1, 64),
        "sigma": ("noise of a step, in Alice's gradient", 0.5, 10.0),
        "rate": ("the probability that Alice is in the batch of a step", 0.01, 0.9),
        "contraction": ("of the convex loss whose analysis is borrowed", 0.0, 0.99),
        "magnified": ("by how much the loss magnifies what it keeps", 1.0, 1e6),
        "delta": ("where epsilon is taken", 1e-9, 0.01),
        "trials": ("plays of each experiment", 100, 1_000_000),
        "seed": ("of the plays", 0, 2**31),
    },
    sweep=("steps", (1, 2, 4, 8, 16, 32)),
)
def last_iterate(
    *,
    steps: int = 16,
    sigma: float = 0.7,
    rate: float = 0.03,
    contraction: float = 0.7,
    magnified: float = 1000.0,
    delta: float = 1e-5,
    trials: int = 4000,
    seed: int = 1,
) -> Iterator[GameRow]:
    """Claim an epsilon because only the last iterate is published, and meet a loss that refutes it.

    Training with random batches is usually analysed as if every iterate were published. A heuristic
    assumes a linear loss instead: then the last iterate is the sum of all noisy gradients, and what
    it shows of Alice is how often she was drawn, under the noise of all steps. The epsilon of that
    is much smaller. It often agrees with attacks on trained networks; it is no bound.

    A strong regulariser refutes it with a convex loss. It pulls every iterate back to 0, so the
    last iterate is the last noisy gradient alone: the earlier steps add no information, and no
    noise either. Where Alice is rarely drawn, one step under its own noise tells more than the sum
    of many steps under the noise of all.

    A loss that is not convex can keep everything. In the model it moves each noisy gradient to a
    coordinate of its own and magnifies it, so that later noise does not matter. Alice's own part of
    the loss is linear; the rest belongs to the others. The last iterate then reveals as much as all
    iterates, and the bound that counts every step is exact. The second table is the same without
    sampling, where the formula for strongly convex losses is borrowed for this loss.
    """
    quantity = "epsilon, random batches"
    dilation = math.sqrt(1.0 + (steps - 1) / magnified**2)
    kept, all_seen = (
        _epsilon(PoissonSubsampledLaw(GaussianLaw(1.0 / noise), rate), steps, delta)
        for noise in (sigma * dilation, sigma)
    )
    yield reached(
        quantity,
        "a loss that keeps every step",
        Bracket(min(kept.lower, all_seen.upper), all_seen.upper),
    )
    one = _epsilon(PoissonSubsampledLaw(GaussianLaw(1.0 / sigma), rate), 1, delta)
    yield reached(quantity, "a regulariser that forgets all but the last step", one)
    yield bound(quantity, "all iterates are counted", all_seen.upper)
    yield wrong(
        quantity, "the heuristic of a linear loss", heuristic(steps, sigma, rate, delta).upper,
        source="Steinke and others 2025, who show that it can fail",
    )  # fmt: skip

    quantity = "epsilon, full batches"
    mu = remembered(steps, magnified) / sigma
    yield exact(quantity, "a loss that keeps every step", gaussian_epsilon_bracket(mu, delta))
    yield _played(
        quantity, Remembering(ALICE, sigma, steps, magnified), mu, delta, trials=trials, seed=seed
    )
    counted = gaussian_epsilon_bracket(math.sqrt(steps) / sigma, delta)
    yield bound(quantity, "all iterates are counted", counted.upper)
    borrowed = gaussian_epsilon_bracket(contracted(contraction, steps) / sigma, delta)
    yield wrong(
        quantity, "as if the loss were strongly convex", borrowed.upper,
        source="Bok, Su and Altschuler 2024, without its condition",
    )  # fmt: skip


def heuristic(steps: int, sigma: float, rate: float, delta: float) -> Bracket:
    """The epsilon of Binomial(steps, rate) + N(0, sigma^2 steps) against N(0, sigma^2 steps)."""
    counts = range(steps + 1)
    weights = [float(scipy.stats.binom.pmf(count, steps, rate)) for count in counts]
    likely = [(count, w) for count, w in zip(counts, weights) if w > 1e-30]
    law = GaussianMixtureLaw(
        sigma * math.sqrt(steps), tuple(float(c) for c, _ in likely), tuple(w for _, w in likely)
    )
    return _epsilon(law, 1, delta)


def _epsilon(law: PrivacyLossLaw, rounds: int, delta: float) -> Bracket:
    """The larger of both directions: Alice is added, or removed."""
    either = PLD.from_law(law), PLD.from_law(law.reversed())
    return Bracket.largest(pld.self_compose(rounds).epsilon(delta) for pld in either)


def _played(
    quantity: str, mechanism: Remembering, mu: float, delta: float, *, trials: int, seed: int
) -> GameRow:
    def train(coins: np.random.Generator) -> Any:
        yield WITHOUT, EVERYONE, mechanism

    theta = gaussian_epsilon_bracket(mu, delta).upper / mu**2 - 0.5  # its mean loss is epsilon
    result = simulate(
        train, family=mechanism.guarantee(), rounds=1, trials=trials, seed=seed,
        sampling=Tilted(max(0.0, theta)),
    )  # fmt: skip
    return played(quantity, "its steps, played", result.epsilon(delta, confidence=0.999))
