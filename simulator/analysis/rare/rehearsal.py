"""Rehearsals: held-out plays from which a measure is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from simulator.adversaries.contract import Rule
from simulator.engine.algorithm_1 import play_trial
from simulator.engine.block import tilted_engine_for
from simulator.engine.challenges import Challenges, CheckedPair
from simulator.engine.compiled.menu import Menu
from simulator.engine.compiled.tilted_kernel import psi_of, slopes_of_psi
from simulator.engine.sampling import RoundByRound, Tilted
from simulator.engine.specification import Specification
from simulator.engine.trials import TiltedTrial, Tilting
from simulator.foundations.seeds import pilot_generators
from simulator.mechanisms import Pair
from simulator.mechanisms.tilted import tilted_law

STEP = 1e-3
"""Step of the numerical derivatives of psi in theta."""
MOST_LAWS = 200
"""The largest number of distinct laws whose psi is used; of more, evenly spaced ones."""

Psi = Callable[[float], float]
"""psi(theta) of one law."""


@dataclass(frozen=True)
class Rounds:
    """The rounds of some trials, each array of shape (trials, rounds).

    Attributes
    ----------
    losses : the signed loss of every round.
    thetas : the theta that it was tilted with.
    slopes, curvatures : the first two derivatives of psi at that theta.
    """

    losses: np.ndarray
    thetas: np.ndarray
    slopes: np.ndarray
    curvatures: np.ndarray

    def so_far(self) -> np.ndarray:
        """The signed loss before each round."""
        return np.cumsum(self.losses, axis=1) - self.losses


@dataclass(frozen=True)
class Rehearsal:
    """Some trials under a measure.

    Attributes
    ----------
    signed : the signed losses, shape (trials,): large ones are rare.
    log_weights : ln dP_b/dQ, shape (trials,).
    rounds_of : returns the rounds of the trials with these numbers; infinite losses count as 0.
    laws_of : returns psi of every law that the trials with these numbers drew from, with its mean
        count per trial.
    """

    signed: np.ndarray
    log_weights: np.ndarray
    rounds_of: Callable[[np.ndarray], Rounds]
    laws_of: Callable[[np.ndarray], list[tuple[Psi, float]]]


def rehearse(
    specification: Specification,
    b: int,
    sampling: RoundByRound,
    trials: int,
    *,
    number: int,
    keep_rounds: bool = False,
) -> Rehearsal:
    """Play ``trials`` trials of experiment ``b`` on draws that no result uses.

    ``number`` counts from a ``Pilot``: equal numbers have equal coins and noise. ``rounds_of`` and
    ``laws_of`` need ``keep_rounds``.
    """
    s = replace(specification, sampling=sampling, trace=False, keep_views=0)
    draws = pilot_generators(s.seed, specification.task, number)
    play = _rehearse_rule if isinstance(s.adversary, Rule) else _rehearse_generator
    return play(s, b, trials, draws, keep_rounds)


def _rehearse_rule(
    s: Specification,
    b: int,
    trials: int,
    draws: tuple[np.random.Generator, np.random.Generator],
    keep_rounds: bool,
) -> Rehearsal:
    coins, noise = draws
    assert isinstance(s.adversary, Rule)
    sampling = s.sampling
    assert isinstance(sampling, RoundByRound)
    engine = tilted_engine_for(s)
    signed, log_weights = np.empty(trials), np.empty(trials)
    path = np.zeros((trials if keep_rounds else 0, s.rounds, 4))
    engine.play(
        b, sampling, s.rounds, coins, noise, losses=signed, log_weights=log_weights, path=path
    )
    menu = engine.menus[b]

    def rounds_of(chosen: np.ndarray) -> Rounds:
        entries, levels = path[chosen, :, 0].astype(np.intp), path[chosen, :, 1].astype(np.intp)
        slopes, curvatures = np.zeros((2, *entries.shape))
        for entry, level in np.unique(np.stack((entries.ravel(), levels.ravel()), axis=1), axis=0):
            if entry >= 0:  # a refused round has no law
                here = (entries == entry) & (levels == level)
                theta, given = float(sampling.levels[level]), path[chosen, :, 3][here]
                slopes[here], curvatures[here] = _along(menu, int(entry), theta, given)
        return Rounds(
            _finite(path[chosen, :, 2]), np.asarray(sampling.levels)[levels], slopes, curvatures
        )

    def laws_of(chosen: np.ndarray) -> list[tuple[Psi, float]]:
        drawn = path[chosen][:, :, (0, 3)].reshape(-1, 2)
        drawn = drawn[drawn[:, 0] >= 0]
        laws, counts = np.unique(drawn, axis=0, return_counts=True)
        return evenly_spaced(
            [
                (partial(psi_of, menu, int(entry), parameter=float(parameter)), n / len(chosen))
                for (entry, parameter), n in zip(laws, counts.tolist())
            ]
        )

    return Rehearsal(signed, log_weights, rounds_of, laws_of)


def evenly_spaced(laws: list[tuple[Psi, float]]) -> list[tuple[Psi, float]]:
    """Some of the laws, with counts that represent all: those of large counts, and some others."""
    if len(laws) <= MOST_LAWS:
        return laws
    large = sum(often for _, often in laws) / MOST_LAWS
    kept: list[tuple[Psi, float]] = []
    rare: list[tuple[Psi, float]] = []
    for law in laws:
        (kept if law[1] >= large else rare).append(law)
    some = [rare[i] for i in np.linspace(0, len(rare) - 1, min(MOST_LAWS, len(rare))).astype(int)]
    more = sum(often for _, often in rare) / sum(often for _, often in some)
    return kept + [(psi, often * more) for psi, often in some]


def _finite(losses: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(losses), losses, 0.0)


def _along(
    menu: Menu, entry: int, theta: float, parameters: np.ndarray
) -> tuple[np.ndarray | float, np.ndarray | float]:
    """The derivatives of psi for an entry, at its free parameters if it has any."""
    low, high = float(menu.low[entry]), float(menu.high[entry])
    if not low < high:
        return slopes_of_psi(menu, entry, theta, STEP, low)
    knots = np.geomspace(low, high, 33)
    values = np.array([slopes_of_psi(menu, entry, theta, STEP, float(x)) for x in knots])
    return np.interp(parameters, knots, values[:, 0]), np.interp(parameters, knots, values[:, 1])


def _rehearse_generator(
    s: Specification,
    b: int,
    trials: int,
    draws: tuple[np.random.Generator, np.random.Generator],
    keep_rounds: bool,
) -> Rehearsal:
    coins, noise = draws
    family, tilting = Challenges(s, b), Tilting.of(s, b)
    kept = np.zeros((4, trials if keep_rounds else 0, s.rounds))
    met: dict[int, tuple[int, Pair]] = {}
    pair_met = np.full(kept.shape[1:], -1)
    signed, log_weights = np.empty(trials), np.empty(trials)
    derivatives: dict[tuple[int, float], tuple[float, float]] = {}

    def slopes(pair: Pair, theta: float) -> tuple[float, float]:
        key = id(pair), theta
        if key not in derivatives:
            low, mid, high = (tilted_law(pair, theta + h).psi for h in (-STEP, 0.0, STEP))
            derivatives[key] = (high - low) / (2 * STEP), (high - 2 * mid + low) / STEP**2
        return derivatives[key]

    def write(trial: Rehearsed, loss: float) -> None:
        pair, place = trial.pair, (trial.number, trial.round)
        kept[:, *place] = loss, trial.theta, *slopes(pair, trial.theta)
        pair_met[place] = met.setdefault(id(pair), (len(met), pair))[0]

    def laws_of(chosen: np.ndarray) -> list[tuple[Psi, float]]:
        counts = np.bincount(pair_met[chosen][pair_met[chosen] >= 0], minlength=len(met))
        return evenly_spaced(
            [
                (partial(psi_of_pair, pair), n / len(chosen))
                for (_, pair), n in zip(met.values(), counts.tolist())
                if n
            ]
        )

    for number in range(trials):
        terms = tilting, number, coins, noise, s.filter
        trial = Rehearsed(write, *terms) if keep_rounds else TiltedTrial(*terms)
        play_trial(family, trial)
        signed[number], log_weights[number] = trial.loss, trial.log_weight
    return Rehearsal(
        signed,
        log_weights,
        lambda chosen: Rounds(_finite(kept[0, chosen]), *(part[chosen] for part in kept[1:])),
        laws_of,
    )


class Rehearsed(TiltedTrial):
    """A tilted trial whose rounds are written down: ``write(trial, loss)``.

    Attributes
    ----------
    pair : the two output distributions of the round.
    """

    __slots__ = ("pair", "write")
    pair: Pair

    def __init__(self, write: Callable[[Rehearsed, float], None], *terms: Any) -> None:
        super().__init__(*terms)
        self.write = write

    def draw(self, pair: CheckedPair, b: int) -> Any:
        """An answer from the tilted law, whose pair is kept."""
        self.pair = pair.pair
        return super().draw(pair, b)

    def account(self, loss: float) -> None:
        """Add the loss and the weight of the round's answer, and write them down."""
        super().account(loss)
        self.write(self, loss)


def psi_of_pair(pair: Pair, theta: float) -> float:
    """psi(theta) of a pair; raises NotApplicable if it has no tilted law."""
    return tilted_law(pair, theta).psi


def plain() -> Tilted:
    """The measure of the experiment itself."""
    return Tilted(0.0)
