"""What is known of one menu: the values of its places, by the certified search where it applies."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from simulator.attacks.claims import AttackedClaim, BoundClaim, OdometerClaim
from simulator.attacks.filter_claims import FilterClaim
from simulator.attacks.spaces import Menu
from simulator.attacks.teachers import NothingToWin, PolicyTeacher, Teacher, by_size, point_teacher
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory.bracket import Bracket
from simulator.worst.game import Game
from simulator.worst.odometers import worst_odometer
from simulator.worst.policy import Policy
from simulator.worst.search import worst_case

MANY_ROUNDS = 64
"""Rounds where nothing else ends the game."""
_READINGS = 2000
"""About so many readings of an odometer are searched, one for each count of each option."""
_COARSE = 0.02
"""Relative distance of the ends in a first search of a menu."""


@dataclass(frozen=True, kw_only=True)
class Lead:
    """A searched menu: its values, and what is known of it.

    Attributes
    ----------
    delta : ends of the largest delta of the menu in this experiment; the lower one may be an
        approximation, the upper one is certified, and 1 where nothing is known.
    """

    menu: Menu
    experiment: int
    rounds: int
    teacher: Teacher
    delta: Bracket

    @property
    def policy(self) -> Policy | None:
        """The table of an exact search; None where the values are approximate."""
        return self.teacher.policy if isinstance(self.teacher, PolicyTeacher) else None


def lead_of(
    claim: AttackedClaim, menu: Menu, experiment: int, seconds: float, rounds: int | None = None
) -> Lead:
    """The values of a menu: by the certified search where it applies, else approximately."""
    most = claim.rounds if rounds is None else rounds
    deadline = time.process_time() + max(10.0 * seconds, 5.0)
    try:
        return _certified(claim, menu, experiment, seconds, most)
    except (NotApplicable, InvalidInput) as error:
        refused = error
    if most is None:  # nothing ends the game, or only after very many rounds
        try:
            found = _certified(claim, menu, experiment, seconds, MANY_ROUNDS)
            return replace(found, delta=Bracket(found.delta.lower, 1.0))
        except (NotApplicable, InvalidInput):
            pass
    rounds = most or MANY_ROUNDS
    options = Game(menu, rounds, None, experiment, claim.relation).options(1.0)
    try:
        teacher = point_teacher(claim, options, rounds, experiment, deadline=deadline)
    except NotApplicable:
        raise refused from None
    value = min(teacher.value(teacher.start), 1.0)
    return Lead(
        menu=menu,
        experiment=experiment,
        rounds=rounds,
        teacher=teacher,
        delta=Bracket(value, 1.0),
    )


def _certified(
    claim: AttackedClaim, menu: Menu, experiment: int, seconds: float, rounds: int | None
) -> Lead:
    whole = True
    options: dict[str, Any] = {
        "experiment": experiment,
        "relation": claim.relation,
        "tolerance": _COARSE,
        "seconds": seconds,
    }
    if isinstance(claim, OdometerClaim):
        few = max(int(_READINGS ** (1.0 / len(menu))), 1)  # its nodes are counts of the options
        if not hasattr(claim.odometer.fresh(), "delta"):
            raise NotApplicable("the odometer announces no delta")
        played = min(rounds or MANY_ROUNDS, few)
        found: Any = worst_odometer(menu, claim.odometer, played, **options)
        if abs(found.announced - claim.delta) > 1e-12:
            raise NotApplicable("the odometer announces another delta")
        whole = rounds is not None and played == rounds
    elif isinstance(claim, FilterClaim):
        found = worst_case(
            menu, epsilon=claim.promised, rounds=rounds, filter=claim.timed(10.0 * seconds),
            patience=max(seconds, 1.0), **options,
        )  # fmt: skip
    elif isinstance(claim, BoundClaim):
        found = worst_case(
            menu, epsilon=claim.promised, rounds=rounds, patience=max(seconds, 1.0), **options
        )
    else:
        raise NotApplicable(f"{claim} has no certified search")
    ends = found.delta if whole else Bracket(found.delta.lower, 1.0)
    policy = found.policy
    if policy.menu:
        teacher: Teacher = PolicyTeacher(policy)
    else:
        game = Game(menu, rounds or MANY_ROUNDS, None, experiment, claim.relation)
        teacher = NothingToWin(by_size(game.options(1.0)))
    return Lead(menu=menu, experiment=experiment, rounds=policy.rounds, teacher=teacher, delta=ends)
