"""Counterexamples to the last iterate's advantage: losses that forget, and losses that remember."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

import scipy

from simulator.foundations.knobs import Within
from simulator.teaching.games.descents import ALICE, steps_played
from simulator.teaching.games.model import game
from simulator.teaching.games.rows import GameRow, bound, exact, reached, wrong
from simulator.teaching.mechanisms.descents import Remembering, contracted, remembered
from simulator.theory.bracket import Bracket
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.gaussian_curve import gaussian_epsilon_bracket
from simulator.theory.laws.gaussian_mixture import GaussianMixtureLaw
from simulator.theory.laws.subsampled import PoissonSubsampledLaw
from simulator.theory.pld.distribution import PLD


@game(
    "last-iterate",
    "The last iterate's advantage, and losses that do not have it",
    sources=(
        "Steinke and others 2025, arXiv 2410.06186",
        "Annamalai 2024, arXiv 2407.06496",
    ),
    sweep=("steps", (1, 2, 4, 8, 16, 32)),
)
def last_iterate(
    *,
    steps: Annotated[int, "of gradient descent", Within(1, 64)] = 16,
    sigma: Annotated[float, "noise of a step, in Alice's gradient", Within(0.5, 10.0)] = 0.7,
    rate: Annotated[
        float, "the probability that Alice is in the batch of a step", Within(0.01, 0.9)
    ] = 0.03,
    contraction: Annotated[
        float, "of the convex loss whose analysis is borrowed", Within(0.0, 0.99)
    ] = 0.7,
    magnified: Annotated[
        float, "by how much the loss magnifies what it keeps", Within(1.0, 1e6)
    ] = 1000.0,
    delta: Annotated[float, "where epsilon is taken", Within(1e-9, 0.01)] = 1e-5,
    trials: Annotated[int, "plays of each experiment", Within(100, 1_000_000)] = 4000,
    seed: Annotated[int, "of the plays", Within(0, 2**31)] = 1,
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
    mechanism = Remembering(ALICE, sigma, steps, magnified)
    yield steps_played(quantity, mechanism, mu, delta, trials=trials, seed=seed)
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
