"""Random games for the search, each with values made another way that its bracket must contain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from simulator.theory import FiniteLaw
from simulator.theory.filters.interface import Filter, State
from simulator.theory.filters.named import parse_filter
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.worst.menu import BoundedRangeEntry, Entry, FixedEntry, FreeEntry
from simulator.worst.menu_parsing import entries

Answers = tuple[tuple[np.longdouble, np.longdouble], ...]
"""The probabilities of each answer in experiment 0 and in experiment 1."""


@dataclass(frozen=True)
class RandomGame:
    """The arguments of a search."""

    menu: tuple[Any, ...]
    epsilon: float
    rounds: int | None
    filter: str | None
    experiment: int

    def __str__(self) -> str:
        names = [e if isinstance(e, str) else f"{np.exp(e.log_masses).round(3)}" for e in self.menu]
        return f"{names} eps={self.epsilon!r} k={self.rounds} {self.filter} b={self.experiment}"


def random_game(seed: int) -> RandomGame:
    """The game of a seed: mechanisms of any size and kind, and a filter that they can pass."""
    rng = np.random.default_rng((41, seed))
    rule = str(rng.choice(["none", "none", "sum", "whitehouse", "rogers", "zcdp", "renyi",
                           "residue", "natural"]))  # fmt: skip
    sizes = rng.choice([0.05, 0.1, 0.3, 0.3, 0.7, 1.0, 2.5, 1 / 3], size=3)
    # a Gaussian curve of the residue filter is known for a mu from 1e-4 on
    sizes *= rng.choice([1.0, 1.0, 1.0, 0.9837, *([] if rule == "residue" else [1e-6, 1e-3]), 30.0])
    menu = [_mechanism(rng, float(size), rule) for size in sizes[: rng.integers(1, 4)]]
    largest = max(entry.guarantee.core.pure_epsilon for entry in entries(menu))
    largest = largest if 0.0 < largest < 50.0 else float(sizes.max())
    rounds = int(rng.integers(1, 6))
    filter_ = None
    if rule != "none":
        budget = float(largest * rng.choice([1.0, 2.0, 3.0, 4.3]))
        if rule not in ("sum",):
            budget *= 3.0
        if rule == "rogers":  # which takes no smaller epsilon
            budget = max(budget, 1e-150)
        delta = "" if rule == "sum" else ",1e-5"
        filter_ = f"{rule}:{budget!r}{delta}"
        epsilon = budget * float(rng.choice([1.0, 1.0, 0.5, 0.1, 1.5]))
    else:
        epsilon = largest * float(rng.choice([0.0, 0.3, 1.0, rounds, rounds, 0.7 * rounds, 40.0]))
    return RandomGame(tuple(menu), epsilon, rounds, filter_, int(rng.integers(0, 2)))


def _mechanism(rng: np.random.Generator, size: float, rule: str) -> Any:
    names = ["randomized-response", "randomized-response", "laplace", "exponential", "geometric",
             "table", "equal"]  # fmt: skip
    if rule not in ("residue", "natural"):  # these have no sum, or count every round
        names += ["free", "tiny"]
    if rule in ("none", "residue"):
        names += ["gdp", "gdp"]
    if rule == "none":
        names += ["approx", "leaky", "subsampled"]
    name = str(rng.choice(names))
    if name == "free":
        return f"randomized-response:{size / 2!r}..{size!r}"
    if name == "tiny":
        return f"randomized-response:{float(rng.choice([5e-324, 1e-300, 1e-20, 1e-9]))!r}"
    if name == "approx":
        return f"approx:{size!r},1e-3"
    if name == "subsampled":
        return "subsampled-gaussian:1.5,0.2"
    if name == "equal":
        row = rng.dirichlet(np.ones(3))
        return FiniteLaw.from_probabilities(row, row)
    if name in ("table", "leaky"):
        first = rng.dirichlet(np.full(3, 4.0))
        second = first * np.exp(rng.uniform(-0.5, 0.5, 3) * min(size, 10.0))
        if name == "leaky":
            second[0] = 0.0
        return FiniteLaw.from_probabilities(first, second / second.sum())
    return f"{name}:{size!r}"


ROUNDING = 64.0 * float(np.finfo(np.longdouble).eps)
"""Bound on the rounding of a witness, a sum of differences of numbers up to 1."""


def witnesses(game: RandomGame) -> tuple[float, float]:
    """(Lower, upper): the largest delta lies between them.

    They are equal where every mechanism has finitely many answers and no parameter is chosen.
    """
    filter_ = None if game.filter is None else parse_filter(game.filter)
    lower: list[tuple[Answers, Guarantee]] = []
    upper: list[tuple[Answers, Guarantee]] | None = []
    for entry in entries(game.menu):
        few, many = _coarse(entry, game)
        lower += few
        upper = None if upper is None or many is None else upper + many
    played = _value(lower, game, filter_)
    return played, 1.0 if upper is None else _value(upper, game, filter_)


Options = list[tuple[Answers, Guarantee]]


def _coarse(entry: Entry, game: RandomGame) -> tuple[Options, Options | None]:
    """Options that win less than the entry, and ones that win more, where some are known."""
    if isinstance(entry, FreeEntry):
        sizes = (entry.low, math.sqrt(entry.low * entry.high), entry.high)
        few = [(_finite(entry.law_of(e)), entry.promise_of(e)) for e in sizes]
        return few, None if game.filter else [few[-1]]
    if isinstance(entry, BoundedRangeEntry):
        width = entry.width
        best = min(max((width + game.epsilon) / 2.0, width / 4.0), width)
        few = [(_range(width, share), entry.guarantee) for share in (0.5, best / width)]
        return few, [(_response(width), entry.guarantee)] if width < 50.0 else None
    assert isinstance(entry, FixedEntry)
    if entry.law.is_discrete:
        exact = [(_finite(entry.law), entry.promise)]
        return exact, exact
    pure = entry.promise.core.pure_epsilon
    more = [(_response(pure), entry.promise)] if pure < 50.0 else None
    return [(_cells(entry.law), entry.promise)], more


def _response(epsilon: float) -> Answers:
    p = 1.0 / (1.0 + np.exp(-np.longdouble(epsilon)))
    return (p, 1 - p), (1 - p, p)


def _range(width: float, share: float) -> Answers:
    """The pair of losses t = ``share`` width and t - width; probabilities from the two sums."""
    wide = np.longdouble(width)
    t = wide * np.longdouble(share)
    p = np.expm1(t - wide) / np.expm1(-wide)
    return (p, p * np.exp(-t)), (1 - p, np.exp(wide - t) * (1 - p))


def _finite(law: PrivacyLossLaw) -> Answers:
    masses = np.exp(np.asarray(law.atom_log_masses, dtype=np.longdouble))
    losses = np.asarray(law.atom_losses, dtype=np.longdouble)
    found = [(p, p * np.exp(-loss)) for p, loss in zip(masses, losses)]
    infinite = np.longdouble(law.infinite_mass), np.longdouble(law.dual_infinite_mass)
    return (*found, (infinite[0], np.longdouble(0)), (np.longdouble(0), infinite[1]))


def _cells(law: PrivacyLossLaw) -> Answers:
    """Four answers made of ranges of the loss: an adversary that reads no more."""
    spread = max(math.sqrt(min(law.variance, 1e4)), 1e-9)
    edges = np.array([-np.inf, -spread, 0.0, spread, np.inf])
    first, second = law.continuous_masses(edges)
    masses = np.exp(law.atom_log_masses)
    smooth = zip(first.astype(np.longdouble), second.astype(np.longdouble))
    atoms = zip(masses.astype(np.longdouble), (masses * np.exp(-law.atom_losses)))
    return (*smooth, *((p, np.longdouble(q)) for p, q in atoms))


def _value(options: Options, game: RandomGame, filter_: Filter | None) -> float:
    """The largest E0[(1 - e^(epsilon - loss))_+] over all plays, in long double.

    A play is known by how often each answer of each option was seen.
    """
    answers = [each for each, _ in options]
    if game.experiment:
        answers = [tuple((q, p) for p, q in each) for each in answers]
    flat = [(o, p, q) for o, each in enumerate(answers) for p, q in each if p > 0 or q > 0]
    prices = [filter_.price(g) if filter_ else (0.0, 0.0) for _, g in options]
    allowance = np.exp(np.longdouble(game.epsilon))
    if not np.isfinite(allowance):
        return 0.0

    @cache
    def value(left: int, seen: tuple[int, ...], state: State) -> np.longdouble:
        under_0 = under_1 = np.longdouble(1.0)
        for times, (_, p, q) in zip(seen, flat):
            if times:
                under_0, under_1 = under_0 * p**times, under_1 * q**times
        best = max(np.longdouble(0.0), under_0 - allowance * under_1)
        for option in range(len(options) if left else 0):
            admitted, after = filter_.step(state, *prices[option]) if filter_ else (True, state)
            if not admitted:
                continue
            total = np.longdouble(0.0)
            for place, (owner, p, _) in enumerate(flat):
                if owner == option and p > 0:
                    now = (*seen[:place], seen[place] + 1, *seen[place + 1 :])
                    total += value(left - 1, now, after)
            best = max(best, total)
        return best

    initial: State = filter_.initial if filter_ else ()
    assert game.rounds is not None
    return float(value(game.rounds, (0,) * len(flat), initial))
