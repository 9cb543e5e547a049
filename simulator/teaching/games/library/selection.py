"""Private selection: the best of several runs is released, and what that costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.analysis.result import Result
from simulator.analysis.searches import worst_case
from simulator.analysis.simulate import simulate
from simulator.data.databases import Database
from simulator.data.queries import counting_query
from simulator.foundations.errors import InvalidInput
from simulator.foundations.knobs import Within, one_of
from simulator.mechanisms import Table
from simulator.mechanisms.tilted import outcomes_of
from simulator.teaching.games.model import game
from simulator.teaching.games.rows import GameRow, bound, exact, played, reached, worst, wrong
from simulator.teaching.mechanisms import BestOf, FixedRuns, NegativeBinomialRuns, PoissonRuns
from simulator.teaching.mechanisms.best_of import best_of_law
from simulator.teaching.score_orders import (
    WorstOrder,
    hockey_stick_terms,
    largest_loss,
    worst_order,
)
from simulator.theory import compose_laws
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bound as bound_named
from simulator.theory.bracket import Bracket
from simulator.theory.events import Account, promise, select
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.guarantees.run_counts import RunCount
from simulator.theory.laws.finite import FiniteLaw

ALICE = counting_query("alice")
WITH = Database({"alice": 1, "others": 3})
WITHOUT = WITH.remove("alice")

Plays = Callable[..., Result]
"""``simulate`` with its trials and its seed."""

PUBLISHED = "Papernot and Steinke 2022"
OURS = "ours: the density f'(q) of the best run, f the generating function of the number"
KOV = "Kairouz, Oh and Viswanath 2015, Theorem 3.3"
SLICES = 40
"""Slices of each answer, where the order of scores is searched."""
MENU = (-0.5, 0.0, 0.25, 0.5, 1.0)
"""Shares of epsilon: for each, the order that is worst for one selection is on the menu."""


class OneMore(RunCount):
    """One run more than another number of runs."""

    def __init__(self, runs: RunCount) -> None:
        self.runs = runs

    @property
    def mean(self) -> float:
        """One more than that of ``runs``."""
        return 1.0 + self.runs.mean

    def between(self, below: ArrayLike, mass: ArrayLike, above: ArrayLike) -> NDArray[np.float64]:
        """By x f(x), which grows by mass f(end) + below (f(end) - f(below))."""
        low, cell = np.asarray(below, dtype=float), np.asarray(mass, dtype=float)
        upto = self.runs.none + self.runs.between(np.zeros_like(low), low + cell, above)
        return np.asarray(cell * upto + low * self.runs.between(low, cell, above))

    def growth(self, epsilon: float, delta: float = 0.0) -> float:
        """Epsilon more than that of ``runs``, an upper end; infinite where delta is above 0.

        (x f)' = f + x f'. With q <= e^epsilon t, x f' grows by e^epsilon times what f' does, and so
        does f(q) = (q/t) times the integral of f'(u q/t) over u < t: each (u q/t, u) is possible.
        """
        return self.runs.growth(epsilon) + epsilon if delta == 0.0 else math.inf


def _fixed(mean: float) -> FixedRuns:
    if not float(mean).is_integer():
        raise InvalidInput(f"a fixed number of runs is whole: set mean to one, not {mean!r}")
    return FixedRuns(int(mean))


NUMBERS: dict[str, Callable[[float], RunCount]] = {
    "geometric": lambda mean: NegativeBinomialRuns.of_mean(mean, 1.0),
    "logarithmic": lambda mean: NegativeBinomialRuns.of_mean(mean, 0.0),
    "poisson": PoissonRuns,
    "fixed": _fixed,
    "one-more-than-geometric": lambda mean: OneMore(NegativeBinomialRuns.of_mean(mean, 1.0)),
    "one-more-than-poisson": lambda mean: OneMore(PoissonRuns(mean)),
}


@game(
    "selection",
    "Private selection: the best of a secret number of runs",
    sources=(
        "Liu and Talwar 2019, Private Selection from Private Candidates",
        "Papernot and Steinke 2022, Theorems 2 and 6, Corollary 3",
        "Koskela, Redberg and Wang 2024, Privacy Profiles for Private Selection",
    ),
    sweep=("mean", (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)),
)
def selection(
    *,
    runs: Annotated[str, "the law of the number of runs", one_of(*NUMBERS)] = "geometric",
    epsilon: Annotated[float, "of one run", Within(0.01, 3.0)] = 0.5,
    mean: Annotated[
        float,
        "the mean number of runs, or the number, whole, where it is fixed",
        Within(1.0, 200.0),
    ] = 10.0,
    at: Annotated[float, "the epsilon at which delta is taken", Within(0.0, 10.0)] = 0.9,
    leak: Annotated[
        float, "probability with which a run reveals the bit, where it may", Within(1e-7, 0.01)
    ] = 1e-5,
    selections: Annotated[int, "how many selections follow each other", Within(1, 4)] = 2,
    trials: Annotated[int, "plays of each experiment", Within(100, 1_000_000)] = 4000,
    seed: Annotated[int, "of the plays", Within(0, 2**31)] = 1,
) -> Iterator[GameRow]:
    """Train with several hyperparameters, and publish the best model only.

    Every run is epsilon-DP. If the number of runs is fixed, the selection can lose epsilon for each
    of them: that no run scored high says something about every run. If the number is random and
    secret, it may also mean that there were few runs, and the loss stays bounded: by 3 epsilon for
    a geometric number (Liu and Talwar), by 2 epsilon for a logarithmic one (Papernot and Steinke).
    For a Poisson number it is at most epsilon + mean tanh(epsilon/2).

    One run may be any epsilon-DP mechanism with scores. The worst is a randomized response in fine
    slices, and the order of the slices is all that the adversary chooses; the search finds the best
    order for each delta (beyond 40 slices it gains less than a percent). With several selections in
    a row the order may depend on what was selected before: the last table compares choosing among
    five orders each time with keeping the best of them. Other orders may reach more.

    A run that reveals everything with probability delta is run often: the selection reveals it with
    mean times delta, which some implementations count as 3 e^epsilon delta.

    Look at the wrong claims. To count the winning run only is what happens where tuning is left out
    of the account. A fixed number charged as if it were random is a common shortcut. And one run
    more, as by adding 1 to a sampler that begins at 1, or to a Poisson number, breaks the proof:
    set runs=one-more-than-geometric or runs=one-more-than-poisson.
    """
    number = NUMBERS[runs](mean)
    one_run = PureDP(epsilon)
    yield from _largest_loss(runs, number, epsilon)
    if runs != "fixed" and float(mean).is_integer():
        yield from _largest_loss("fixed", NUMBERS["fixed"](mean), epsilon)
    plays = partial(simulate, trials=trials, seed=seed)
    yield from _delta(runs, number, one_run, at, plays)
    if not isinstance(number, OneMore):
        yield from _revealing(number, epsilon, leak)
    if selections > 1:
        yield from _in_a_row(number, one_run, at, selections, plays)


def _largest_loss(runs: str, number: RunCount, epsilon: float) -> Iterator[GameRow]:
    """The largest loss of one selection: pure privacy."""
    quantity = f"largest loss, {runs} number of runs"
    attained, limit = largest_loss(epsilon, number), epsilon + number.growth(epsilon)
    yield worst(quantity, "any runs and scores", Bracket(attained, max(attained, limit)))
    if isinstance(number, NegativeBinomialRuns):
        theorem = f"{2.0 + number.shape:g} epsilon"
        source = f"{PUBLISHED}, Corollary 3"
        yield bound(quantity, theorem, (2.0 + number.shape) * epsilon, source=source)
    elif isinstance(number, FixedRuns):
        yield bound(quantity, "all runs are charged", number.number * epsilon, source="basic")
    else:
        yield bound(quantity, "the growth of f'", limit, source=OURS)
    yield wrong(quantity, "only the winner is charged", epsilon)
    if isinstance(number, FixedRuns | OneMore):
        yield wrong(quantity, "charged as if it were geometric", 3.0 * epsilon)


def _delta(
    runs: str, number: RunCount, one_run: PureDP, at: float, plays: Plays
) -> Iterator[GameRow]:
    """Delta of one selection, at the order of scores that is the worst for it."""
    quantity = f"delta({at:g}) of one selection"
    found = worst_order(one_run.epsilon, number, hockey_stick_terms(at), slices=SLICES)
    yield reached(quantity, f"the worst scores ({SLICES} slices)", found.value)
    best = _selected(number, found)
    yield exact(quantity, "that worst order", best.law(WITHOUT, WITH).delta(at))
    truth = 1.0 / (1.0 + math.exp(-one_run.epsilon))
    plain = _law(number, [truth, 1.0 - truth], [1.0 - truth, truth])
    yield reached(quantity, "randomized response, the truth scores less", plain.delta(at))

    def select_once(coins: np.random.Generator) -> Any:
        yield WITHOUT, WITH, best

    result = plays(select_once, best.guarantee(), rounds=1)
    yield played(quantity, "that worst order, played", result.delta(at, confidence=0.999))
    if runs == "fixed":
        composed = _of_pure(one_run, round(number.mean), at)
        yield bound(quantity, "all runs are charged", composed, source=KOV)
    elif not isinstance(number, OneMore):
        shape = number.shape if isinstance(number, NegativeBinomialRuns) else math.inf
        theorem = "Theorem 2" if math.isfinite(shape) else "Theorem 6"
        account = Account(select(promise(one_run), number.mean, shape))
        source = f"{PUBLISHED}, {theorem}"
        yield bound(quantity, "the Renyi curve", account.delta(at).upper, source=source)
    growth = number.growth(one_run.epsilon)
    ours = min(
        PureDP(one_run.epsilon + growth).hockey_stick(at),
        number.mean * one_run.hockey_stick(at - growth),
    )
    yield bound(quantity, "the growth of f'", ours, source=OURS)
    yield wrong(quantity, "only the winner is charged", one_run.hockey_stick(at))


def _revealing(number: RunCount, epsilon: float, leak: float) -> Iterator[GameRow]:
    """Delta where a run may reveal the bit, at an epsilon that no other outcome passes."""
    quantity = "delta of one selection, of runs that may reveal the bit"
    if isinstance(number, FixedRuns):
        point, stated = number.number * epsilon, -math.expm1(number.number * math.log1p(-leak))
        yield bound(quantity, "all runs are charged", stated, source="basic")
    else:
        point = epsilon + number.growth(epsilon, leak)
        yield bound(quantity, "mean times delta", min(1.0, number.mean * leak), source=OURS)
    found = worst_order(epsilon, number, hockey_stick_terms(point), slices=SLICES, delta=leak)
    yield reached(quantity, f"the worst scores ({SLICES} slices)", found.value)
    yield wrong(quantity, "only the winner is charged", leak)
    yield wrong(quantity, "3 e^epsilon delta", 3.0 * math.exp(epsilon) * leak)


def _in_a_row(
    number: RunCount, one_run: PureDP, at: float, selections: int, plays: Plays
) -> Iterator[GameRow]:
    """Delta of several selections, where the order of scores may depend on earlier ones.

    Only orders of the menu are searched, so an order that is not on it may reach more.
    """
    quantity = f"delta({at:g}) of {selections} selections"
    aims = [at * share for share in MENU]
    orders = [
        worst_order(one_run.epsilon, number, hockey_stick_terms(aim), slices=SLICES) for aim in aims
    ]
    menu = [_law(number, order.on_0, order.on_1) for order in orders]
    searched = worst_case(
        list(dict.fromkeys(menu)), epsilon=at, rounds=selections, tolerance=3e-3, seconds=2.0
    )
    yield reached(quantity, "one of five orders, by what was selected", searched.delta)
    kept = [compose_laws([(law, selections)], 1e-6).delta(at).lower for law in menu]
    yield reached(quantity, "the best of these five orders, kept", max(kept))
    candidates = [_selected(number, order) for order in orders]
    pairs = [each.pair(WITHOUT, WITH) for each in candidates]
    losses = [[pair.loss(answer) for answer in outcomes_of(pair)[0]] for pair in pairs]

    def adapt(coins: np.random.Generator) -> Any:
        lost = 0.0
        for left in range(selections, 0, -1):
            wanted = (at - lost) / left
            place = min(range(len(aims)), key=lambda i: abs(aims[i] - wanted))
            answer = yield WITHOUT, WITH, candidates[place]
            lost += losses[place][int(answer)]

    family = candidates[0].guarantee()
    result = plays(adapt, family, rounds=selections)
    yield played(quantity, "order chosen by the loss so far", result.delta(at, confidence=0.999))
    limit = PureDP(one_run.epsilon + number.growth(one_run.epsilon))
    composed = _of_pure(limit, selections, at)
    yield bound(quantity, "optimal composition of selections", composed, source=KOV)
    claimed = _of_pure(one_run, selections, at)
    yield wrong(quantity, "only the winners are charged", claimed)


def _selected(number: RunCount, order: WorstOrder) -> BestOf:
    return BestOf(Table(ALICE, order.on_0, order.on_1), number)


def _law(number: RunCount, on_0: Sequence[float], on_1: Sequence[float]) -> FiniteLaw:
    """The law of the loss of the best run, whose outcomes have ascending scores."""
    best = [best_of_law(law, range(len(law)), number) for law in (on_0, on_1)]
    return FiniteLaw.from_probabilities(*best)


def _of_pure(each: PureDP, many: int, at: float) -> float:
    """The optimal composition of so many pure mechanisms."""
    composition = Composition.repeat(each, many)
    return bound_named("kairouz-oh-viswanath-3.3").on(composition).delta(at).upper
