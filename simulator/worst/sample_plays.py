"""Single plays of a policy, drawn from its own probabilities: any play, or a play that wins.

A play that wins is drawn by the probability of winning from each state, so it takes the same time
where one play in 1e12 wins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator.foundations.errors import NotApplicable
from simulator.foundations.seeds import Pilot, Stream, generator
from simulator.foundations.validation import whole
from simulator.foundations.wording import count_of
from simulator.worst.game_graph import CLOSED
from simulator.worst.grid import nearest_place
from simulator.worst.policy import Policy


@dataclass(frozen=True)
class Round:
    """One round of a play.

    Attributes
    ----------
    loss : so far, before the round.
    left : before the round, as in :class:`Remaining`.
    option : the option played, an index in the policy's menu.
    gained : the loss of the answer; infinite where the other experiment cannot give it.
    """

    loss: float
    left: float
    option: int
    gained: float


@dataclass(frozen=True)
class Play:
    """One play: its rounds, and how it ended.

    Attributes
    ----------
    loss : in the end.
    left : in the end.
    threshold : with which the loss is compared: epsilon, or the reading of an odometer.
    won : whether the loss is above it.
    """

    rounds: tuple[Round, ...]
    loss: float
    left: float
    threshold: float
    won: bool


@dataclass(frozen=True, eq=False)
class Remaining:
    """The rounds, or the share of a budget, that a policy has left.

    Attributes
    ----------
    name : "rounds left", or "budget left".
    left : shape (nodes,): rounds as their number, a budget as a share of the whole.
    """

    name: str
    left: np.ndarray

    @classmethod
    def of(cls, policy: Policy) -> Remaining:
        """A budget where every option always takes the same number of nodes, else rounds."""
        follow = policy.follow
        nodes = np.arange(len(follow))[:, None]
        paid = np.where(follow >= 0, nodes - follow, 0)
        least = np.where(follow >= 0, paid, np.iinfo(np.int64).max).min(axis=0, initial=1 << 60)
        if ((follow < 0) | (paid == least)).all() and (least > 1).any() and len(follow) > 1:
            return cls("budget left", nodes[:, 0] / (len(follow) - 1))
        return cls("rounds left", policy.depth.astype(float))

    def words(self, left: float) -> str:
        """``7 rounds left``, or ``12% of the budget left``."""
        if self.name == "rounds left":
            return f"{count_of(round(left), 'round')} left"
        return f"{100 * left:.3g}% of the budget left"


def play(policy: Policy, *, seed: int = 0, winning: bool = False) -> Play:
    """One drawn play of the experiment that was searched.

    Raises NotApplicable where no play wins, or where the probabilities do not fit into memory.
    """
    probabilities = policy.probabilities
    node, place = policy.start
    if winning and not probabilities.win(node, place) > 0.0:
        raise NotApplicable("no play of this policy wins, so there is none to show")
    draws = generator(whole("seed", seed, 0), 0, Stream.PILOT, Pilot.SHOWN + winning)
    remaining = Remaining.of(policy)
    answers = [_answers(policy, option) for option in range(len(policy.menu))]
    loss, rounds = 0.0, []
    points = policy.grid.points
    while 0 <= place < points and policy.table[node, place] != CLOSED:
        option = int(policy.table[node, place])
        after = int(policy.follow[node, option])
        gains, shifts, weights = answers[option]
        if winning:
            weights = weights * [
                1.0 if math.isinf(gain) else probabilities.win(after, place + shift)
                for gain, shift in zip(gains, shifts)
            ]
        weights = weights / weights.sum()
        drawn = int(draws.choice(len(weights), p=weights))
        rounds.append(Round(loss, float(remaining.left[node]), option, gains[drawn]))
        loss += gains[drawn]
        if math.isinf(loss):
            left = float(remaining.left[after])
            return Play(tuple(rounds), loss, left, policy.epsilon + policy.thresholds[after], True)
        node, place = after, place + shifts[drawn]
    beyond = float(policy.thresholds[node])
    won = place >= points or (place >= 0 and float(policy.grid.z[place]) > beyond)
    return Play(tuple(rounds), loss, float(remaining.left[node]), policy.epsilon + beyond, won)


def _answers(policy: Policy, option: int) -> tuple[list[float], list[int], np.ndarray]:
    """The losses of an option's answers: (losses, steps on the grid, probabilities).

    Infinitely many losses are grouped by grid point.
    """
    layout, step = policy.layouts[option], policy.grid.step
    law = policy.law(option)
    if law.is_discrete:
        gains = [float(loss) for loss in law.atom_losses]
        shifts = [nearest_place(loss, step) for loss in gains]
        weights = [math.exp(log_mass) for log_mass in law.atom_log_masses]
    else:
        shifts = [layout.law.first + i for i in range(len(layout.law.weights))]
        gains = [shift * step for shift in shifts]
        weights = [float(weight) for weight in layout.law.weights]
    if layout.law.infinite > 0.0:
        gains, shifts = [*gains, math.inf], [*shifts, 0]
        weights = [*weights, layout.law.infinite]
    return gains, shifts, np.array(weights)
