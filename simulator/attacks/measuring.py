"""What a plan gets of a claim: by enumeration, or from fresh plays with ends valid at every n.

Plays are drawn from a mixture of tilted laws, one of which is the experiment itself, and weighted
by the ratio of the experiment to the mixture (the balance heuristic of Veach and Guibas 1995). The
weight is at most the inverse of the experiment's share, so a win counts at most as much, and the
ends are those of a mean of bounded numbers (betting; Waudby-Smith and Ramdas 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from simulator.analysis.estimation.betting import betting_lower, betting_upper
from simulator.attacks.claims import AttackedClaim
from simulator.attacks.plans import AttackPlan, Seen, exact_delta, moves_of
from simulator.foundations.errors import NotApplicable
from simulator.foundations.seeds import Pilot, Stream, generator
from simulator.mechanisms import PoissonSubsampled, ScalarMechanism
from simulator.mechanisms.base import ScalarPair
from simulator.theory.bracket import Bracket
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.subsampled import PoissonSubsampledLaw
from simulator.worst.menu import Option

SHARE = 0.25
"""The share of the plays that are drawn from the experiment itself."""
_CELLS = 400
"""Cells of the answers of a sampled Gaussian."""
_PILOT = 10
"""One of so many plays only chooses the cap of the others, for the lower end."""
_TILTS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""The other tilts: the mixture is within a factor of their number of the best of them."""


@dataclass(frozen=True, kw_only=True)
class MeasuredDelta:
    """What a plan gets: E[(1 - e^(epsilon - loss))_+] where it stops.

    Attributes
    ----------
    delta : its ends.
    value : the estimate, or the middle of the ends.
    exact : whether the ends are certain; else they hold with ``confidence``.
    trials : how many plays were drawn; 0 for an exact value.

    >>> from simulator.attacks import find_adversary
    >>> found = find_adversary((0.9, 0.0), "randomized-response:0.5", rounds=2, seconds=5)
    >>> found.measured.exact, round(found.measured.value, 4)
    (True, 0.0369)
    """

    delta: Bracket
    value: float
    exact: bool
    confidence: float
    trials: int

    def __str__(self) -> str:
        if self.exact and self.delta.upper - self.delta.lower > 1e-4 * self.delta.upper:
            return str(self.delta)
        if self.exact:
            return f"exactly {self.value:.4g}"
        ends = f"[{self.delta.lower:.4g}, {self.delta.upper:.4g}]"
        return f"{self.value:.4g} {ends} ({100 * self.confidence:g}%, {self.trials} plays)"


def measure(
    plan: AttackPlan, claim: AttackedClaim, *, trials: int, seed: int, confidence: float
) -> MeasuredDelta:
    """What a plan gets of a claim, exactly where its states are few."""
    try:
        found = exact_delta(plan, claim)
    except NotApplicable:
        return drawn(plan, claim, trials=trials, seed=seed, confidence=confidence)
    middle = 0.5 * (found.lower + found.upper)
    return MeasuredDelta(delta=found, value=middle, exact=True, confidence=1.0, trials=0)


def drawn(
    plan: AttackPlan, claim: AttackedClaim, *, trials: int, seed: int, confidence: float
) -> MeasuredDelta:
    """What a plan gets of a claim in ``trials`` plays that no search has seen."""
    thetas = _thetas(plan)
    draws = generator(seed, 0, Stream.PILOT, Pilot.SHOWN)
    shares = np.full(len(thetas), (1.0 - SHARE) / max(len(thetas) - 1, 1))
    shares[0] = SHARE if len(thetas) > 1 else 1.0
    gains, weights = _plays(plan, claim, thetas, shares, trials=trials, noise=draws)
    won = gains * weights
    pilot, rest = won[: trials // _PILOT], won[trials // _PILOT :]
    alpha = 1.0 - confidence
    cap = float(pilot.max(initial=0.0)) or float(1.0 / shares[0])
    lower = cap * betting_lower(np.minimum(rest, cap) / cap, alpha / 2)  # a cap lowers the mean
    upper = betting_upper(won * shares[0], alpha / 2)
    scale = 1.0 / float(shares[0])
    value = min(float(won.mean()), 1.0)
    return MeasuredDelta(
        delta=Bracket(min(lower, value), min(max(upper * scale, value), 1.0)),
        value=value,
        exact=False,
        confidence=confidence,
        trials=trials,
    )


def _thetas(plan: AttackPlan) -> list[float]:
    """The tilts: 0, and the others where every option has tilted laws."""
    return [0.0, *_TILTS] if all(_tilts(option) for option in plan.options) else [0.0]


def in_arrays(option: Option) -> bool:
    """Whether the losses of many answers are drawn at once."""
    return isinstance(option.law, FiniteLaw | PoissonSubsampledLaw)


def _tilts(option: Option) -> bool:
    """Whether an option's answers can be drawn from tilted laws."""
    if in_arrays(option):
        return True
    mechanism: Any = option.challenge.mechanism
    return isinstance(mechanism, ScalarMechanism) and mechanism.scalars.tilt is not None


class _Draws:
    """The losses of an option's answers, under each tilt."""

    def __init__(
        self, option: Option, plan: AttackPlan, claim: AttackedClaim, thetas: Sequence[float]
    ) -> None:
        self.law, self.thetas = option.law, np.array(thetas)
        self.finite = isinstance(option.law, FiniteLaw)
        if isinstance(option.law, FiniteLaw):
            losses = np.asarray(option.law.atom_losses, dtype=float)
            mass = np.exp(np.asarray(option.law.atom_log_masses, dtype=float))
            if option.law.infinite_mass > 0.0:
                losses, mass = np.append(losses, np.inf), np.append(mass, option.law.infinite_mass)
            lean = np.where(np.isfinite(losses), losses, 0.0)
            logs = np.outer(self.thetas, lean) + np.log(mass)
            top = logs.max(axis=1, keepdims=True)
            tilted = np.exp(logs - top)
            self.losses, self.lean = losses, lean
            self.psi = np.log(tilted.sum(axis=1) / mass.sum()) + top[:, 0]
            self.edges = np.cumsum(tilted / tilted.sum(axis=1, keepdims=True), axis=1)
            return
        mechanism: Any = option.challenge.mechanism
        pair = mechanism.pair(*option.challenge[:2], claim.relation)
        assert isinstance(pair, ScalarPair)
        self.pair, self.sign, self.b = pair, -1.0 if plan.experiment else 1.0, plan.experiment
        self.psi = np.zeros(len(thetas))
        self.tilted: list[tuple[float, ...] | None] = [None]
        for number, theta in enumerate(thetas):
            if number:
                tilted = pair.tilted(-1.0 - theta if plan.experiment else theta)
                self.tilted.append(tilted)
                self.psi[number] = float(np.real(self.law.log_mgf(theta)))

    def losses_of(
        self, component: np.ndarray, noise: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """(The losses of answers, shape (n,); theta loss - psi of each tilt, shape (n, tilts))."""
        if self.finite:
            uniform = noise.random(len(component))
            place = (uniform[:, None] > self.edges[component]).sum(axis=1)
            place = np.minimum(place, len(self.losses) - 1)
            loss, lean = self.losses[place], self.lean[place]
        else:
            pair, sign = self.pair, self.sign
            found = []
            for each in component.tolist():
                tilted = self.tilted[each]
                if tilted is None:
                    answer = pair.sample(self.b, noise)
                else:
                    answer = pair.sample_tilted(tilted, noise)
                found.append(sign * pair.loss(answer))
            loss = lean = np.array(found)
        return loss, lean[:, None] * self.thetas - self.psi


class _SampledDraws:
    """The losses of a Gaussian on a Poisson sample, under about each tilt.

    A cell of answers is drawn with about its tilted probability, and the answer within it from the
    experiment, so that the ratio of the two measures is that of the cell: exact for any tilt.
    """

    def __init__(self, option: Option, plan: AttackPlan, thetas: Sequence[float]) -> None:
        law, mechanism = option.law, option.challenge.mechanism
        assert isinstance(law, PoissonSubsampledLaw)
        assert isinstance(mechanism, PoissonSubsampled)
        ends = [float(mechanism.query(database)) for database in option.challenge[:2]]
        in_0 = law.exchanged != bool(plan.experiment)  # the law is that of the plan's experiment
        self.known, self.other = ends[::-1] if in_0 else ends
        self.sigma, self.rate = mechanism.mechanism.fixed_parameter(), mechanism.rate
        self.sampled, self.sign = law.exchanged, 1.0 if law.exchanged else -1.0
        low, high = sorted((self.known, self.other))
        inner = np.linspace(low - 9.0 * self.sigma, high + 9.0 * self.sigma, _CELLS)
        self.edges = np.concatenate(([-np.inf], inner, [np.inf]))
        self.without, self.with_ = (
            ndtr((self.edges - end) / self.sigma) for end in (self.known, self.other)
        )
        masses = np.diff(self.without), np.diff(self.with_)
        share = self.rate if self.sampled else 0.0
        chance = np.maximum((1.0 - share) * masses[0] + share * masses[1], 1e-300)
        self.shares = share * masses[1] / chance
        middle = np.concatenate((inner[:1], 0.5 * (inner[1:] + inner[:-1]), inner[-1:]))
        logs = np.log(chance) + np.outer(thetas, self.loss(middle))
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        weights[0] = chance / chance.sum()  # the experiment itself
        self.cumulated = np.cumsum(weights, axis=1)
        with np.errstate(divide="ignore"):
            self.logs = np.log(weights) - np.log(chance)
        self.logs[0] = 0.0

    def loss(self, answers: np.ndarray) -> np.ndarray:
        """The loss of each answer, with the experiment's sign."""
        middle = 0.5 * (self.known + self.other)
        lean = (self.other - self.known) * (answers - middle) / self.sigma**2
        return self.sign * np.log1p(self.rate * np.expm1(np.minimum(lean, 700.0)))

    def losses_of(
        self, component: np.ndarray, noise: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """(The losses of answers, shape (n,); the log of each tilt's ratio, shape (n, tilts))."""
        uniform = noise.random((3, len(component)))
        cell = np.empty(len(component), dtype=np.int64)
        for each in np.unique(component):
            rows = component == each
            cell[rows] = np.searchsorted(self.cumulated[each], uniform[0, rows], side="right")
        cell = np.minimum(cell, len(self.shares) - 1)
        sampled = uniform[1] < self.shares[cell]
        ends = np.where(sampled, self.other, self.known)
        below = np.where(sampled, self.with_[cell], self.without[cell])
        above = np.where(sampled, self.with_[cell + 1], self.without[cell + 1])
        quantile = np.clip(below + uniform[2] * (above - below), 1e-300, 1.0 - 1e-16)
        return self.loss(ends + self.sigma * ndtri(quantile)), self.logs[:, cell].T


def _draws_of(
    option: Option, plan: AttackPlan, claim: AttackedClaim, thetas: Sequence[float]
) -> _Draws | _SampledDraws:
    if isinstance(option.law, PoissonSubsampledLaw):
        return _SampledDraws(option, plan, thetas)
    return _Draws(option, plan, claim, thetas)


def _plays(
    plan: AttackPlan,
    claim: AttackedClaim,
    thetas: Sequence[float],
    shares: np.ndarray,
    *,
    trials: int,
    noise: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """(What each play wins, its weight), shape (trials,) each."""
    draws = [_draws_of(option, plan, claim, thetas) for option in plan.options]
    sign = -1.0 if plan.experiment else 1.0
    component = noise.choice(len(thetas), size=trials, p=shares)
    loss, logs = np.zeros(trials), np.zeros((trials, len(thetas)))
    counts = np.zeros((trials, len(plan.options)))
    limit = np.full(trials, len(plan.options) - 1)
    states: list[Any] = [claim.initial]
    numbers: dict[Any, int] = {claim.initial: 0}
    follows: dict[tuple[int, int], int] = {}
    state = np.zeros(trials, dtype=np.int64)
    going = np.arange(trials)

    def number_of(found: Any) -> int:
        if found is None:
            return -1
        if found not in numbers:
            numbers[found] = len(states)
            states.append(found)
        return numbers[found]

    for _ in range(plan.rounds):
        seen = Seen(loss[going], counts[going].sum(axis=1), counts[going])
        move = np.minimum(moves_of(plan.rules, seen), limit[going])
        going, move = going[move >= 0], move[move >= 0]
        if not going.size:
            break
        still = []
        for option in np.unique(move).tolist():
            rows = going[move == option]
            challenge = plan.options[option].challenge
            gained, leaned = draws[option].losses_of(component[rows], noise)
            if claim.observes:
                after = np.array(
                    [
                        number_of(claim.after(states[number], challenge, sign * each))
                        for number, each in zip(state[rows].tolist(), gained.tolist())
                    ]
                )
            else:
                kinds, back = np.unique(state[rows], return_inverse=True)
                for number in kinds.tolist():
                    if (number, option) not in follows:
                        found = claim.after(states[number], challenge, 0.0)
                        follows[number, option] = number_of(found)
                after = np.array([follows[number, option] for number in kinds.tolist()])[back]
            refused = after < 0
            limit[rows[refused]] = option - 1
            rows, after = rows[~refused], after[~refused]
            gained, leaned = gained[~refused], leaned[~refused]
            state[rows] = after
            loss[rows] += gained
            logs[rows] += leaned
            counts[rows, option] += 1
            limit[rows] = len(plan.options) - 1
            still.append(rows[np.isfinite(gained) | (gained < 0)])
            still.append(going[move == option][refused])
        going = np.sort(np.concatenate(still))
        going = going[limit[going] >= 0]
    epsilons = np.array([claim.epsilon(states[number]) for number in range(len(states))])
    with np.errstate(over="ignore"):
        won = np.maximum(0.0, -np.expm1(np.minimum(epsilons[state] - loss, 700.0)))
    top = logs.max(axis=1)
    ratio = np.exp(logs - top[:, None]) @ shares
    weight = np.exp(-top) / ratio
    return won, np.minimum(weight, 1.0 / shares[0])
