"""Rehearsals: held-out plays from which a measure is chosen, within a budget of rounds.

A measure is played once. All rehearsals together have at most as many rounds as the final sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from simulator.adversaries.contract import Rule
from simulator.engine.algorithm_1 import play_trial
from simulator.engine.block import count_as_interpreted, is_worth_compiling, tilted_engine_for
from simulator.engine.challenges import Challenges, CheckedPair
from simulator.engine.compiled.menu import Menu
from simulator.engine.compiled.tilted_kernel import psi_of, slopes_of_psi
from simulator.engine.sampling import RoundByRound, Tilted
from simulator.engine.specification import Specification
from simulator.engine.trials import TiltedTrial, Tilting
from simulator.foundations.errors import DpcomposeError, Refusal
from simulator.foundations.seeds import Pilot, pilot_generators
from simulator.mechanisms import Pair
from simulator.mechanisms.tilted import tilted_law

STEP = 1e-3
"""Step of the numerical derivatives of psi in theta."""
MOST_LAWS = 200
"""The largest number of distinct laws whose psi is used; of more, evenly spaced ones."""
PLAYS = 12
"""The number of rehearsals that the budget is divided into."""
FEW_TRIALS, MOST_TRIALS = 50, 4000
"""The least and the largest number of trials of a rehearsal."""
MOST_COMPILED, MOST_INTERPRETED = 2_000_000, 300_000
"""The largest number of rounds of a rehearsal: a tenth of a second, and a few seconds."""
LIKELY = 300
"""Trials that show a measure's error; a rehearsal may have so many at any number of rounds."""

Psi = Callable[[float], float]
"""psi(theta) of one law."""


@dataclass(frozen=True)
class Rounds:
    """The rounds of some trials, each array of shape (trials, rounds); infinite losses are 0.

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

    def __post_init__(self) -> None:
        self.losses[~np.isfinite(self.losses)] = 0.0

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
    rounds_of : returns the rounds of the trials with these numbers.
    laws_of : returns psi of every law that the trials with these numbers drew from, with its mean
        count per trial.
    """

    signed: np.ndarray
    log_weights: np.ndarray
    rounds_of: Callable[[np.ndarray], Rounds]
    laws_of: Callable[[np.ndarray], list[tuple[Psi, float]]]


Generators = tuple[np.random.Generator, np.random.Generator]
"""Those of the coins and of the noise."""


def _rehearse_program(
    s: Specification, sampling: RoundByRound, b: int, trials: int, draws: Generators
) -> Rehearsal:
    """Rehearse an adversary that is read; raises DpcomposeError where its program stops."""
    coins, noise = draws
    compiled = is_worth_compiling(s, trials * s.rounds, plain=False)
    engine = tilted_engine_for(s, compiled)
    signed, log_weights = np.empty(trials), np.empty(trials)
    path = np.zeros((trials, s.rounds, 4))
    engine.play(
        b, sampling, s.rounds, coins, noise, losses=signed, log_weights=log_weights, path=path
    )
    if not engine.compiled:
        count_as_interpreted(s, trials * s.rounds)
    menu = engine.menus[b]

    def rounds_of(chosen: np.ndarray) -> Rounds:
        entries, levels = path[chosen, :, 0].astype(np.intp), path[chosen, :, 1].astype(np.intp)
        slopes, curvatures = np.zeros((2, *entries.shape))
        many = len(sampling.levels)
        laws = np.where(entries < 0, -1, entries * many + levels)  # a refused round has no law
        for law in np.flatnonzero(np.bincount(laws[laws >= 0])).tolist():
            here = laws == law
            entry, theta = law // many, float(sampling.levels[law % many])
            slopes[here], curvatures[here] = _along(menu, entry, theta, path[chosen, :, 3][here])
        return Rounds(path[chosen, :, 2], sampling.levels[levels], slopes, curvatures)

    def laws_of(chosen: np.ndarray) -> list[tuple[Psi, float]]:
        drawn = np.empty((len(chosen), s.rounds), complex)  # one number a pair is sorted faster
        drawn.real = path[chosen, :, 0]
        drawn.imag = np.nan_to_num(path[chosen, :, 3])  # NaN: the entry has no free parameter
        laws, counts = np.unique(drawn[drawn.real >= 0], return_counts=True)
        return evenly_spaced(
            [
                (partial(psi_of, menu, int(law.real), parameter=law.imag), n / len(chosen))
                for law, n in zip(laws.tolist(), counts.tolist())
            ]
        )

    return Rehearsal(signed, log_weights, rounds_of, laws_of)


def evenly_spaced(laws: list[tuple[Psi, float]]) -> list[tuple[Psi, float]]:
    """Some of the laws, with counts that represent all: those of large counts, and some others."""
    if len(laws) <= MOST_LAWS:
        return laws
    large = sum(often for _, often in laws) / MOST_LAWS
    kept = [law for law in laws if law[1] >= large]
    rare = [law for law in laws if not law[1] >= large]
    some = [rare[i] for i in np.linspace(0, len(rare) - 1, min(MOST_LAWS, len(rare))).astype(int)]
    more = sum(often for _, often in rare) / sum(often for _, often in some)
    return kept + [(psi, often * more) for psi, often in some]


def _along(
    menu: Menu, entry: int, theta: float, parameters: np.ndarray
) -> tuple[np.ndarray | float, np.ndarray | float]:
    """The derivatives of psi for an entry, at its free parameters if it has any."""
    if not menu.is_free(entry):
        return slopes_of_psi(menu, entry, theta, STEP, math.nan)
    # of a program the menu leaves every parameter free that the family allows: a far wider range
    low, high = float(parameters.min()), float(parameters.max())
    if not low < high:
        return slopes_of_psi(menu, entry, theta, STEP, low)
    knots = np.geomspace(low, high, 33)
    values = np.array([slopes_of_psi(menu, entry, theta, STEP, float(x)) for x in knots])
    return np.interp(parameters, knots, values[:, 0]), np.interp(parameters, knots, values[:, 1])


def _rehearse_in_python(
    s: Specification, sampling: RoundByRound, b: int, trials: int, draws: Generators
) -> Rehearsal:
    coins, noise = draws
    family, tilting = Challenges(s, b), Tilting.of(s, b)
    kept = np.zeros((4, trials, s.rounds))
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
        trial = Rehearsed(write, tilting, number, coins, noise, s.filter)
        play_trial(family, trial)
        signed[number], log_weights[number] = trial.loss, trial.log_weight
    return Rehearsal(signed, log_weights, lambda chosen: Rounds(*kept[:, chosen]), laws_of)


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


@dataclass
class Rehearsals:
    """Rehearsals of experiment b.

    Attributes
    ----------
    specification, b : what is played, under any measure.
    budget : the largest number of rounds of all rehearsals.
    spent : the rounds played so far.
    known : the plays so far, by their measures.
    advance : called with the rounds of each play.
    """

    specification: Specification
    b: int
    budget: int
    _: KW_ONLY
    spent: int = 0
    known: dict[RoundByRound, Rehearsal] = field(default_factory=dict)
    advance: Callable[..., None] | None = None

    @classmethod
    def of(cls, specification: Specification, b: int) -> Rehearsals:
        """An empty set, with the budget for the specification's trials."""
        s = specification
        return cls(s, b, s.trials * s.rounds)

    @property
    def fitting(self) -> int:
        """The largest number of trials of a rehearsal, by their rounds."""
        most = MOST_COMPILED if self.specification.is_read else MOST_INTERPRETED
        return max(LIKELY, most // self.specification.rounds)

    @property
    def trials(self) -> int:
        """The number of trials of a rehearsal."""
        share = self.budget // self.specification.rounds // PLAYS
        return max(FEW_TRIALS, min(MOST_TRIALS, self.fitting, share))

    @property
    def left(self) -> int:
        """The number of trials that are left in the budget."""
        return max(0, self.budget - self.spent) // self.specification.rounds

    def play(self, sampling: RoundByRound) -> Rehearsal:
        """The rehearsal of a measure; raises Refusal if the budget is spent."""
        if sampling not in self.known:
            trials = min(self.trials, self.left)
            if trials < FEW_TRIALS and self.known:
                raise Refusal(
                    f"no measure was found within {self.budget} rounds of pilot: try more trials"
                )
            trials = max(trials, 1)
            s = replace(self.specification, sampling=sampling)
            self.known[sampling] = self._played(s, sampling, trials)
            rounds = trials * s.rounds
            self.spent += rounds
            if self.advance is not None:
                self.advance(rounds)
        return self.known[sampling]

    def _played(self, s: Specification, sampling: RoundByRound, trials: int) -> Rehearsal:
        number = Pilot.MEASURES + len(self.known)  # equal numbers have equal draws

        def play(how: Callable[..., Rehearsal]) -> Rehearsal:
            draws = pilot_generators(s.seed, self.specification.task, number)
            return how(s, sampling, self.b, trials, draws)

        if not s.is_read:
            return play(_rehearse_in_python)
        try:
            return play(_rehearse_program)
        except DpcomposeError:
            if isinstance(s.adversary, Rule):
                raise
            return play(_rehearse_in_python)  # which raises where Python does

    def plain(self) -> Rehearsal:
        """The rehearsal of the experiment itself."""
        return self.play(plain())
