"""Values of a game at every place, from which short plans are learned.

A teacher's values need not be exact: what a plan gets is measured afterwards.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from simulator.attacks.claims import AttackedClaim
from simulator.attacks.plans import STOP
from simulator.foundations.errors import NotApplicable
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.quantile import loss_range
from simulator.worst.game_graph import GameGraph
from simulator.worst.menu import Option
from simulator.worst.policy import Policy
from simulator.worst.recursion import lower_sweep

Place = Any
"""Where a game stands, as a teacher keeps it."""


class Ahead(NamedTuple):
    """What may follow a question: shape (answers,) each.

    Attributes
    ----------
    gained : the loss of an answer; infinite where the other experiment cannot give it.
    chance : its probability.
    value : of the place that it leads to.
    places : these places.
    """

    gained: np.ndarray
    chance: np.ndarray
    value: np.ndarray
    places: Sequence[Place]

    @property
    def mean(self) -> float:
        """The value of the question."""
        return float(self.chance @ self.value)


class Teacher(Protocol):
    """The values of a game."""

    @property
    def options(self) -> tuple[Option, ...]:
        """What may be played, the smallest first."""

    @property
    def start(self) -> Place:
        """The place before the first round."""

    def stopped(self, place: Place) -> float:
        """The value of stopping."""

    def ahead(self, place: Place, option: int) -> Ahead | None:
        """What may follow a question; None where it is refused."""


def by_size(options: Sequence[Option]) -> tuple[Option, ...]:
    """The options, the one with the least mean loss first."""
    return tuple(sorted(options, key=lambda option: float(option.law.mean)))


def options_of(policy: Policy) -> tuple[Option, ...]:
    """The options that a policy plays, in its own order."""
    found = []
    for number, (challenge, label) in enumerate(zip(policy.menu, policy.labels)):
        guarantee = challenge.mechanism.guarantee(policy.relation)
        law = policy.law(number)
        found.append(
            Option(
                label=label,
                entry=number,
                law=law,
                guarantee=guarantee,
                least=guarantee,
                challenge=challenge,
            )
        )
    return tuple(found)


@dataclass(frozen=True)
class NothingToWin:
    """The teacher of a game that no play wins."""

    options: tuple[Option, ...]
    start: Place = 0

    def stopped(self, place: Place) -> float:
        """Nothing."""
        return 0.0

    def ahead(self, place: Place, option: int) -> Ahead | None:
        """Nothing."""
        return None


MOST_VALUES = 4e8
"""Bytes of the values of a policy's places."""


class _PointsOfNode(Sequence[Place]):
    """Points of one node, and None beyond the last of them: an infinite loss."""

    def __init__(self, node: int, points: np.ndarray) -> None:
        self.node, self.points = node, points

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, number: Any) -> Place:
        return None if number == len(self.points) else (self.node, int(self.points[number]))


class PolicyTeacher:
    """The values of a searched game, on the grid of its policy."""

    def __init__(self, policy: Policy) -> None:
        """Raises NotApplicable where the values do not fit into memory."""
        nodes, points = policy.table.shape
        if 8.0 * nodes * points > MOST_VALUES:
            raise NotApplicable("the policy has too many states to be simplified")
        own = options_of(policy)
        self.options = by_size(own)
        self.numbers = [own.index(option) for option in self.options]
        self.policy = policy
        self.start = policy.start
        sweep = lower_sweep(
            GameGraph(policy.follow), policy.grid, policy.layouts, thresholds=policy.thresholds
        )
        self.values = np.array([value for value, _ in sweep])
        self._shifts = []
        for number in self.numbers:
            law = policy.layouts[number].law
            kept = np.flatnonzero(law.weights)
            chance = np.asarray(law.weights, dtype=float)[kept]
            self._shifts.append((kept + law.first, chance, law.infinite))

    def stopped(self, place: Place) -> float:
        """The value of stopping."""
        node, point = place
        policy = self.policy
        if not 0 <= point < policy.grid.points:
            return float(point > 0)
        over = policy.thresholds[node] - float(policy.grid.z[point])
        return max(0.0, -math.expm1(min(over, 700.0)))

    def ahead(self, place: Place, option: int) -> Ahead | None:
        """What may follow a question; None where it is refused, or beyond the grid."""
        node, point = place
        points = self.policy.grid.points
        if not 0 <= point < points:
            return None
        after = int(self.policy.follow[node, self.numbers[option]])
        if after < 0:
            return None
        shifts, chance, infinite = self._shifts[option]
        reached = point + shifts
        value = self.values[after][np.clip(reached, 0, points - 1)]
        value = np.where(reached >= points, 1.0, value)
        gained = shifts * self.policy.grid.step
        if infinite > 0.0:
            gained, chance = np.append(gained, math.inf), np.append(chance, infinite)
            value = np.append(value, 1.0)
        return Ahead(gained, chance, value, _PointsOfNode(after, reached))


MOST_PLACES = 60_000
_ATOMS = 9
"""Losses that stand for a law with infinitely many."""


@dataclass(eq=False)
class PointTeacher:
    """The values of any claim, by recursion over (rounds left, state, loss).

    Losses are rounded to ``step`` and the numbers of a state to ``digits``; None keeps them, and
    the whole of what a claim has seen. ``deadline`` is a processor time.
    Raises NotApplicable where there are too many places.
    """

    claim: AttackedClaim
    options: tuple[Option, ...]
    rounds: int
    experiment: int
    _: KW_ONLY
    step: float
    digits: int | None
    deadline: float = math.inf
    best: dict[Hashable, float] = field(default_factory=dict, repr=False)
    states: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    _follows: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.options = by_size(self.options)
        self.answers = [_answers(option.law) for option in self.options]
        self.sign = -1.0 if self.experiment else 1.0
        self.start = (self.rounds, self._kept(self.claim.initial), 0)
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, 20 * self.rounds + 1000))
        try:
            self.value(self.start)
        finally:
            sys.setrecursionlimit(limit)

    def _kept(self, state: Any) -> Hashable:
        whole = self.claim.observes and self.digits is None
        key = _rounded(state if whole else self.claim.merged(state), self.digits)
        self.states.setdefault(key, state)
        return key

    def stopped(self, place: Place) -> float:
        """The value of stopping."""
        _, key, point = place
        over = self.claim.epsilon(self.states[key]) - point * self.step
        return max(0.0, -math.expm1(min(over, 700.0)))

    def value(self, place: Place) -> float:
        """The largest value from a place."""
        if place is None:
            return 1.0
        if place not in self.best:
            if len(self.best) >= MOST_PLACES or time.process_time() > self.deadline:
                raise NotApplicable("the claim reaches too many states")
            found = self.stopped(place)
            for option in range(len(self.options)):
                ahead = self.ahead(place, option)
                if ahead is not None:
                    found = max(found, ahead.mean)
            self.best[place] = found
        return self.best[place]

    def ahead(self, place: Place, option: int) -> Ahead | None:
        """What may follow a question; None where it is refused."""
        left, key, point = place
        if left == 0:
            return None
        follows = self._after(key, option)
        if follows is None:
            return None
        gained, chance = self.answers[option]
        places: list[Place] = []
        for each, after in zip(gained.tolist(), follows):
            if math.isinf(each):
                places.append(None)
            else:
                places.append((left - 1, after, point + round(each / self.step)))
        value = np.array([self.value(each) for each in places])
        return Ahead(gained, chance, value, places)

    def _after(self, key: Hashable, option: int) -> list[Hashable] | None:
        place = key, option
        if place not in self._follows:
            state, challenge = self.states[key], self.options[option].challenge
            gained = self.answers[option][0].tolist()
            seen = gained if self.claim.observes else gained[:1]
            after = [self.claim.after(state, challenge, self.sign * each) for each in seen]
            if any(each is None for each in after):
                self._follows[place] = None
            else:
                kept = [self._kept(each) for each in after]
                self._follows[place] = kept if self.claim.observes else kept * len(gained)
        found: list[Hashable] | None = self._follows[place]
        return found


def _rounded(state: Any, digits: int | None) -> Hashable:
    if isinstance(state, tuple):
        return tuple(_rounded(each, digits) for each in state)
    if isinstance(state, float) and math.isfinite(state):
        return float(f"{state:.{11 if digits is None else digits}e}") + 0.0
    found: Hashable = state
    return found


def _answers(law: PrivacyLossLaw) -> tuple[np.ndarray, np.ndarray]:
    """(losses, probabilities) of a law, a few of them where it has infinitely many."""
    losses, logs = np.asarray(law.atom_losses), np.asarray(law.atom_log_masses)
    chance = np.exp(logs)
    if not law.is_discrete:
        low, high = loss_range(law, 1e-6)
        edges = np.linspace(low, high, _ATOMS + 1)
        edges[0], edges[-1] = -np.inf, np.inf
        masses = law.continuous_masses(edges)[0]
        middles = np.linspace(low, high, 2 * _ATOMS + 1)[1::2]
        losses, chance = np.append(losses, middles), np.append(chance, masses)
    kept = chance > 0.0
    losses, chance = losses[kept], chance[kept]
    if law.infinite_mass > 0.0:
        losses, chance = np.append(losses, np.inf), np.append(chance, law.infinite_mass)
    return losses, chance


def point_teacher(
    claim: AttackedClaim,
    options: Sequence[Option],
    rounds: int,
    experiment: int,
    *,
    deadline: float = math.inf,
) -> PointTeacher:
    """The values of a claim, as fine as fits."""
    spreads = [
        np.abs(losses[np.isfinite(losses)]).max(initial=0.0)
        for losses, _ in (_answers(option.law) for option in options)
    ]
    finest = max(min((s for s in spreads if s > 0.0), default=1.0), 1e-6)
    for fineness, digits in ((1e-6, None), (0.25, 4), (0.5, 3), (1.0, 2), (1.0, 1), (1.0, 0)):
        try:
            return PointTeacher(
                claim,
                tuple(options),
                rounds,
                experiment,
                step=finest * fineness,
                digits=digits,
                deadline=deadline,
            )
        except (NotApplicable, RecursionError):
            continue
    raise NotApplicable(
        "the claim reaches too many states for this menu; give fewer rounds or mechanisms"
    )


__all__ = ["STOP", "Ahead", "PointTeacher", "PolicyTeacher", "Teacher", "point_teacher"]
