"""Continual observation: a count after every element of a stream that adapts to the counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from typing import Annotated, Any

import numpy as np

from simulator.analysis.searches import worst_conversation
from simulator.analysis.simulate import simulate
from simulator.data.databases import Database
from simulator.data.queries import counting_query
from simulator.foundations.knobs import Within
from simulator.mechanisms import Node, ResponseTree, Update
from simulator.teaching.games.model import game
from simulator.teaching.games.rows import GameRow, bound, exact, played, worst, wrong
from simulator.teaching.mechanisms import ContinualCounter
from simulator.teaching.mechanisms.continual_counter import (
    changes,
    prefix_factor,
    square_root_factor,
    tree_factor,
)
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bound as bound_named
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.gaussian_curve import gaussian_delta
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.pld.distribution import compose_laws

NOTHING = Database({})
TREE = "Dwork and others 2010; Chan, Shi and Song 2011"
ADAPTIVE = "Denisov and others 2022"


@game(
    "continual",
    "Counting under continual observation",
    sources=(
        f"{TREE}: the binary tree",
        "Jain and others 2023 (arXiv 2112.00828): streams that adapt",
        f"{ADAPTIVE}: factors and streams that adapt",
        "Fichtenberger, Henzinger and Upadhyay 2023: the square root",
    ),
    sweep=("steps", (2, 4, 8, 16, 32)),
)
def continual(
    *,
    steps: Annotated[int, "the length of the stream", Within(1, 64)] = 8,
    epsilon: Annotated[float, "of the tree with Laplace noise", Within(0.01, 5.0)] = 1.0,
    mu: Annotated[
        float, "of the counters with Gaussian noise, at event level", Within(0.01, 5.0)
    ] = 1.0,
    at: Annotated[float, "the epsilon at which delta is taken", Within(0.0, 5.0)] = 0.2,
    times: Annotated[int, "the elements of a user", Within(1, 4)] = 2,
    trials: Annotated[int, "plays of each experiment", Within(100, 10_000)] = 500,
    seed: Annotated[int, "of the plays", Within(0, 2**31)] = 1,
) -> Iterator[GameRow]:
    """Elements from 0 to 1 arrive one by one, and each is answered with a noisy count of all.

    Two streams are neighbours at event level where one element differs, and at user level where
    those of one user do. The adversary chooses each element after it has seen the counts, in both
    experiments: Jain and others made this the definition.

    A counter is a factor C of the matrix of prefix sums. The counts reveal Cx + z with independent
    noise z and no more, so the loss of each step is that of one noisy number, and a stream that
    adapts gains nothing: compare the plays with the worst case. What counts is how far one element
    moves Cx. In the binary tree it is in log2 T + 1 blocks. In the square root it moves all later
    numbers a little, and less in all.

    The counts have errors B z, with B C the prefix sums. At the same mu the square root errs less
    than the tree, whose error is that of the blocks in a count.

    Six accounts are wrong here. The blocks of a level are disjoint, so one block is charged; or
    log2 T blocks, without the one more. An element changes a count by one, so one is taken for the
    sensitivity of all counts. Every count has noise of its own, and one of them is charged. A
    user who comes more than once is charged as an event. Last, epsilon is claimed where a neighbour
    has one element more: there is one count more, which no noise hides.
    """
    yield from of_laplace_tree(steps, epsilon, at, trials, seed)
    yield from of_square_root(steps, mu, at, trials, seed)
    yield from of_fresh_noise(steps, mu, at)
    yield from of_users(steps, mu, at, min(times, steps), trials=trials, seed=seed)
    yield from of_private_length(epsilon, at)
    yield from of_errors(steps, mu)


def of_laplace_tree(
    steps: int, epsilon: float, at: float, trials: int, seed: int
) -> Iterator[GameRow]:
    """Rows about the tree with Laplace noise."""
    quantity = "delta, tree with Laplace noise"
    blocks = steps.bit_length()
    counter = ContinualCounter(tree_factor(steps), blocks / epsilon, "laplace")
    part = LaplaceLaw(epsilon / blocks)
    yield worst(quantity, "the first element differs", compose_laws([(part, blocks)]).delta(at))
    yield played_stream(quantity, counter, 1, at, trials=trials, seed=seed)
    yield bound(quantity, "epsilon-DP", PureDP(epsilon).hockey_stick(at), source=TREE)
    optimal = bound_named("kairouz-oh-viswanath-3.3")
    composition = Composition.repeat(PureDP(epsilon / blocks), blocks)
    yield bound(
        quantity, "optimal composition of the blocks", optimal.on(composition).delta(at).upper,
        source="Kairouz, Oh and Viswanath 2015, Theorem 3.3",
    )  # fmt: skip
    if blocks > 1:
        yield wrong(quantity, "one block", part.delta(at))
    if blocks > 2:
        fewer = compose_laws([(part, blocks - 1)]).delta(at).lower
        yield wrong(quantity, "log2 T blocks", fewer)


def of_square_root(steps: int, mu: float, at: float, trials: int, seed: int) -> Iterator[GameRow]:
    """Rows about the square root with Gaussian noise."""
    quantity = "delta, square root with Gaussian noise"
    counter = calibrated(square_root_factor, steps, mu)
    largest = float(counter.sensitivities.max())
    yield worst(quantity, "norm of a column", gaussian_delta(largest / counter.scale, at))
    moved = changes(counter.factor, [0]) / counter.scale
    step_by_step = compose_laws([(GaussianLaw(float(move)), 1) for move in moved]).delta(at)
    yield worst(quantity, "step by step", step_by_step)
    yield played_stream(quantity, counter, 1, at, trials=trials, seed=seed)
    yield bound(quantity, "mu-GDP", GaussianDP(mu).hockey_stick(at), source=ADAPTIVE)
    if steps > 1:
        yield wrong(quantity, "sensitivity 1", gaussian_delta(1.0 / counter.scale, at))


def of_fresh_noise(steps: int, mu: float, at: float) -> Iterator[GameRow]:
    """Rows about counts with noise of their own."""
    quantity = "delta, fresh noise for every count"
    counter = ContinualCounter(prefix_factor(steps), 1.0 / mu)
    largest = float(counter.sensitivities.max())
    yield worst(quantity, "norm of a column", gaussian_delta(largest / counter.scale, at))
    composed = GaussianDP(math.sqrt(steps) * mu).hockey_stick(at)
    yield bound(quantity, "composition of all counts", composed, source="Dong, Roth and Su 2022")
    if steps > 1:
        yield wrong(quantity, "one count", GaussianDP(mu).hockey_stick(at))


def of_users(
    steps: int, mu: float, at: float, times: int, *, trials: int, seed: int
) -> Iterator[GameRow]:
    """Rows about a user whose elements differ, in the square root.

    The worst are the first elements: two columns overlap the more, the earlier and the closer they
    are, as the entries of the factor fall from the diagonal on.
    """
    quantity = "delta, all elements of a user"
    counter = calibrated(square_root_factor, steps, mu, times)
    shift = math.hypot(*changes(counter.factor, range(times))) / counter.scale
    yield worst(quantity, "norm of a sum of columns", gaussian_delta(shift, at))
    yield played_stream(quantity, counter, times, at, trials=trials, seed=seed)
    yield bound(
        quantity, "group privacy", gaussian_delta(times * mu, at), source="Dong, Roth and Su 2022"
    )
    if times > 1:
        yield wrong(quantity, "event level", gaussian_delta(mu, at))


def of_private_length(epsilon: float, at: float) -> Iterator[GameRow]:
    """Rows about streams of which one has an element more, and so a count more."""
    quantity = "delta, one element more or less"
    there, over = (1.0, 0.0), (0.0, 1.0)
    end = ResponseTree(
        counting_query("alice"), Node.of({"next": (over, there)}), ApproxDP(0.0, 0.9)
    )
    alice = Database({"alice": 1})
    yield worst(
        quantity, "count the counts", worst_conversation(end, NOTHING, alice, epsilon=at).delta
    )
    yield bound(quantity, "no delta is larger", 1.0)
    yield wrong(quantity, "epsilon-DP as before", PureDP(epsilon).hockey_stick(at))


def of_errors(steps: int, mu: float) -> Iterator[GameRow]:
    """Rows about the mean squared errors of the counts, at the same mu."""
    blocks = steps.bit_length()
    quantity = "mean squared error, tree"
    counter = calibrated(tree_factor, steps, mu)
    yield exact(quantity, "rows of B", float(counter.mean_squared_errors.mean()))
    ones = sum(t.bit_count() for t in range(1, steps + 1)) / steps
    yield exact(quantity, "blocks in a count", ones * blocks / mu**2)
    yield bound(quantity, "(log2 T + 1)^2 / mu^2", blocks**2 / mu**2, source=TREE)
    quantity = "mean squared error, square root"
    counter = calibrated(square_root_factor, steps, mu)
    yield exact(quantity, "rows of B", float(counter.mean_squared_errors.mean()))
    logarithmic = 1.0 + (1.0 + math.log(steps)) / math.pi
    yield bound(
        quantity, "(1 + (1 + ln T)/pi)^2 / mu^2", (logarithmic / mu) ** 2,
        source="binomial(2k, k)/4^k <= 1/sqrt(pi k)",
    )  # fmt: skip
    if steps > 1:
        yield wrong(quantity, "as for one count", 1.0 / mu**2)


def calibrated(
    factor: Callable[[int], tuple[tuple[float, ...], ...]], steps: int, mu: float, times: int = 1
) -> ContinualCounter:
    """The counter with Gaussian noise that is mu-GDP at event level."""
    largest = float(ContinualCounter(factor(steps), 1.0).sensitivities.max())
    return ContinualCounter(factor(steps), largest / mu, times=times)


def played_stream(
    quantity: str, counter: ContinualCounter, times: int, at: float, *, trials: int, seed: int
) -> GameRow:
    """Delta of an adversary whose elements follow the counts; the first ones differ."""

    def following(coins: np.random.Generator) -> Generator[Any, Any, None]:
        opened = yield NOTHING, NOTHING, counter
        count = 0.0
        for t in range(counter.steps):
            element = 1.0 if count < t / 2 else 0.0
            count = yield opened.ask(Update(1.0, 0.0) if t < times else element)

    result = simulate(
        following, family=counter.kept(), rounds=1 + counter.steps, trials=trials, seed=seed
    )
    return played(quantity, "a stream that follows the counts", result.delta(at, confidence=0.999))
