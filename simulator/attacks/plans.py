"""A plan: an adversary as a short list of conditions on what it has seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property

import numpy as np

from simulator.attacks.claims import AttackedClaim
from simulator.foundations.errors import NotApplicable
from simulator.theory.bracket import Bracket
from simulator.theory.laws.finite import FiniteLaw
from simulator.worst.menu import Option

STOP = -1
"""The move that ends a play."""
MOST_MOVES = 400_000
"""Most transitions of an exact value."""
_DIGITS = 11
"""Losses that agree to so many digits after the point are one."""
_NEAR = 1e-9
"""Least distance of a loss from a threshold at which rounding cannot change the side."""


Feature = str | int
"""``loss`` (of all rounds so far), ``played`` (how many rounds have run), or the index of an option
(how often it has run)."""


@dataclass(frozen=True)
class When:
    """``low <= feature < high``; either end may be infinite."""

    feature: Feature
    low: float
    high: float


@dataclass(frozen=True)
class PlanRule:
    """A move, where all conditions hold."""

    move: int
    conditions: tuple[When, ...] = ()


@dataclass(frozen=True)
class Seen:
    """What plans see of n plays: ``loss`` and ``played``, shape (n,); ``counts`` (n, options)."""

    loss: np.ndarray
    played: np.ndarray
    counts: np.ndarray

    def column(self, feature: Feature) -> np.ndarray:
        """The values of a feature, shape (n,)."""
        if feature == "loss":
            return self.loss
        return self.played if feature == "played" else self.counts[:, feature]  # type: ignore[index]

    def meeting(self, conditions: tuple[When, ...]) -> np.ndarray:
        """Which plays meet all conditions, shape (n,)."""
        found = np.ones(len(self.loss), dtype=bool)
        for each in conditions:
            values = self.column(each.feature)
            found &= (values >= each.low) & (values < each.high)
        return found


def moves_of(rules: tuple[PlanRule, ...], seen: Seen) -> np.ndarray:
    """The move of the first rule that each play meets, shape (n,)."""
    found = np.full(len(seen.loss), STOP)
    for rule in reversed(rules):
        found[seen.meeting(rule.conditions)] = rule.move
    return found


def move_of(rules: tuple[PlanRule, ...], loss: float, counts: Sequence[int]) -> int:
    """The move of the first rule that one play meets."""
    for rule in rules:
        for when in rule.conditions:
            if when.feature == "loss":
                value: float = loss
            else:
                value = sum(counts) if when.feature == "played" else counts[int(when.feature)]
            if not when.low <= value < when.high:
                break
        else:
            return rule.move
    return STOP


@dataclass(frozen=True)
class AttackPlan:
    """An adversary that asks what its first rule says that holds, until that is ``STOP``.

    Where an option is refused the next smaller one is sent, until one is admitted.

    Attributes
    ----------
    options : what is played, the smallest first.
    rules : their moves are indices of options, or STOP; the last one has no condition.
    rounds : the most questions, also those that are refused.
    experiment : 0 where the loss is ln(p0/p1), 1 where it is ln(p1/p0).
    """

    options: tuple[Option, ...]
    rules: tuple[PlanRule, ...]
    _: KW_ONLY
    rounds: int
    experiment: int = 0

    @cached_property
    def features(self) -> frozenset[Feature]:
        """On what its conditions are."""
        return frozenset(when.feature for rule in self.rules for when in rule.conditions)

    @property
    def remembers_counts(self) -> bool:
        """Whether a condition is on rounds, not on the loss."""
        return bool(self.features - {"loss"})

    @cached_property
    def thresholds(self) -> list[float]:
        """The thresholds on the loss."""
        conditions = [when for rule in self.rules for when in rule.conditions]
        ends = [end for w in conditions if w.feature == "loss" for end in (w.low, w.high)]
        return sorted({end for end in ends if math.isfinite(end)})

    def move(self, loss: float, counts: tuple[int, ...]) -> int:
        """The move at a loss, after these counts of options."""
        return move_of(self.rules, loss, counts)


def without_unused(plan: AttackPlan) -> AttackPlan:
    """The plan without the options of no rule: another plan where a refusal leads to them."""
    used = sorted({rule.move for rule in plan.rules if rule.move != STOP})
    if not used:
        used = [0]
    place = {old: new for new, old in enumerate(used)} | {STOP: STOP}

    def moved(feature: Feature) -> Feature:
        return place.get(feature, STOP) if isinstance(feature, int) else feature

    rules = []
    for rule in plan.rules:
        kept, possible = [], True
        for when in rule.conditions:
            feature = moved(when.feature)
            if feature == STOP:  # a count that is always 0
                possible = possible and when.low <= 0 < when.high
            else:
                kept.append(When(feature, when.low, when.high))
        if possible:
            rules.append(PlanRule(place[rule.move], tuple(kept)))
    options = tuple(plan.options[old] for old in used)
    return AttackPlan(options, tuple(rules), rounds=plan.rounds, experiment=plan.experiment)


def exact_delta(plan: AttackPlan, claim: AttackedClaim) -> Bracket:
    """Ends of what a plan gets of a claim, by enumeration of its states.

    Raises NotApplicable where a law has infinitely many losses, where a loss lies on a threshold,
    or where there are too many states.
    """
    outcomes = [_outcomes(option, plan) for option in plan.options]
    sign = -1.0 if plan.experiment else 1.0
    none = (0,) * len(plan.options)
    kept: dict[tuple[object, float, tuple[int, ...], int], float]
    kept = {(claim.initial, 0.0, none, len(plan.options) - 1): 1.0}
    refusing, thresholds = claim.after, plan.thresholds
    lower = upper = 0.0
    done, moved = 0, 0
    error = 1e-10 * (plan.rounds + 1)
    for _played in range(plan.rounds + 1):
        following: dict[tuple[object, float, tuple[int, ...], int], float] = {}
        for (state, loss, counts, limit), mass in kept.items():
            for threshold in thresholds:
                if abs(threshold - loss) < _NEAR:
                    raise NotApplicable("a loss lies on a threshold of the plan")
            move = min(plan.move(loss, counts), limit)
            if move < 0 or done == plan.rounds:
                over = claim.epsilon(state) - loss
                lower += mass * max(0.0, -math.expm1(min(over + error, 700.0)))
                upper += mass * max(0.0, -math.expm1(min(over - error, 700.0)))
                continue
            option = plan.options[move]
            then = _counted(counts, move) if plan.remembers_counts else counts
            before: dict[object, object] = {}
            for gained, chance in outcomes[move]:
                seen_as = gained if claim.observes else 0.0
                if seen_as not in before:
                    before[seen_as] = refusing(state, option.challenge, sign * gained)
                after = before[seen_as]
                moved += 1
                if after is None:
                    place = (state, loss, counts, move - 1)
                    following[place] = following.get(place, 0.0) + mass * chance
                    continue
                if gained == math.inf:
                    lower += mass * chance
                    upper += mass * chance
                    continue
                place = (after, round(loss + gained, _DIGITS), then, len(plan.options) - 1)
                following[place] = following.get(place, 0.0) + mass * chance
        if moved > MOST_MOVES:
            raise NotApplicable("the plan has too many states to enumerate")
        kept, done = following, done + 1
        if not kept:
            break
    rounding = 1e-13 * (plan.rounds + 10)
    return Bracket(lower * (1.0 - rounding), min(upper * (1.0 + rounding), 1.0))


def _counted(counts: tuple[int, ...], move: int) -> tuple[int, ...]:
    return (*counts[:move], counts[move] + 1, *counts[move + 1 :])


def _outcomes(option: Option, plan: AttackPlan) -> list[tuple[float, float]]:
    """(loss, probability) of an option in the plan's experiment; infinite losses last."""
    law = option.law
    if not isinstance(law, FiniteLaw):
        raise NotApplicable(f"{option.label} has infinitely many losses")
    pairs = zip(law.atom_losses, law.atom_log_masses)
    found = [(float(loss), math.exp(log_mass)) for loss, log_mass in pairs]
    if law.infinite_mass > 0.0:
        found.append((math.inf, law.infinite_mass))
    return found
