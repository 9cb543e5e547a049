"""The search for an adversary that breaks a claim; what it finds is a program."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from simulator.attacks.claim_parsing import claim_of
from simulator.attacks.claims import AttackedClaim
from simulator.attacks.leads import Lead
from simulator.attacks.measuring import MeasuredDelta
from simulator.attacks.plans import AttackPlan
from simulator.attacks.programs import Program
from simulator.attacks.searching import AdversarySearch
from simulator.attacks.shrinking import shortest_of
from simulator.attacks.spaces import default_menus, experiments_of, menus_of
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.foundations.errors import NotApplicable
from simulator.foundations.facts import ShownByFacts
from simulator.foundations.validation import open_probability, positive, whole
from simulator.theory.bracket import Bracket
from simulator.worst.menu_parsing import entries
from simulator.worst.policy import Policy

ROUNDING = 1e-12
"""What a delta may differ from a promise by rounding."""
_MINUTE = 60.0
"""The least seconds in which fine menus are tried."""
_FEW = 1000
"""Plays of a program after an interrupt."""
_ADVANCED = 3
"""Menus of which programs are made."""


@dataclass(frozen=True, kw_only=True, repr=False)
class FoundAdversary(ShownByFacts):
    """The worst adversary that was found, as a program.

    Attributes
    ----------
    claim : what was attacked.
    program : the adversary; it keeps at least a share of what the search has found.
    measured : what it gets, exactly or from plays that the search has not seen.
    shortest : of a broken claim the program with the fewest rounds and the roundest parameters
        that was found to break it, else None.
    shortest_measured : what that one gets.
    policy : of the best menu the table of the exact search, which gets ``searched``: more than the
        program, in as many lines as there are states; None where the search was approximate.
    searched : certified ends of the largest delta of that menu, None where it was approximate.
    upper : an upper end of the largest delta over the menu that was given; None where none is
        known, or where no menu was given.
    tried : how many menus were searched.
    seconds : of processor time.

    >>> from simulator.attacks import find_adversary
    >>> from simulator.theory import parse_filter
    >>> found = find_adversary(
    ...     parse_filter("natural:1,1e-5"), "randomized-response:0.025,randomized-response:0.2",
    ...     seconds=5,
    ... )
    >>> found.verdict
    'broken'
    """

    claim: AttackedClaim
    program: Program
    measured: MeasuredDelta
    shortest: Program | None = None
    shortest_measured: MeasuredDelta | None = None
    policy: Policy | None = None
    searched: Bracket | None = None
    upper: float | None = None
    tried: int = 1
    seconds: float = 0.0
    interrupted: bool = field(default=False)

    @property
    def verdict(self) -> str:
        """``broken``, ``sound`` for the menu that was given, or ``undecided``; up to 1e-12."""
        if self.best > self.claim.delta + ROUNDING:
            return "broken"
        if self.upper is not None and self.upper <= self.claim.delta + ROUNDING:
            return "sound"
        return "undecided"

    @property
    def best(self) -> float:
        """The largest lower end: of the program, or of the policy of an exact search."""
        searched = 0.0 if self.searched is None else self.searched.lower
        return max(self.measured.delta.lower, searched)

    @property
    def ratio(self) -> float | None:
        """The largest lower end over the promised delta; None where that is 0."""
        return self.best / self.claim.delta if self.claim.delta else None

    def facts(self) -> dict[str, str]:
        """What was attacked, and what came of it."""
        found = {
            "claim": str(self.claim),
            "verdict": self.verdict,
            "promised": f"{self.claim.delta:.6g}",
            "found": str(self.measured),
        }
        if self.searched is not None:
            found["best policy"] = str(self.searched)
        if self.upper is not None:
            found["upper end"] = f"{self.upper:.6g}"
        found["program"] = f"{self.program.lines} lines"
        return found


def find_adversary(
    claim: Any,
    menu: str | Iterable[Any] | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    rounds: int | None = None,
    relation: Relation = ADD_REMOVE,
    seconds: float = 60.0,
    seed: int = 0,
    confidence: float = 0.999,
    report: Callable[[str], None] | None = None,
) -> FoundAdversary:
    """The worst adversary of a claim that a search finds, as a program that can be played.

    Parameters
    ----------
    claim : a filter or its text, an odometer, a pair (epsilon, delta) for ``rounds`` rounds, a
        function from the rounds so far (:class:`~simulator.attacks.claims.PastRound`) to an
        epsilon, or a :class:`~simulator.attacks.claims.AttackedClaim`.
    menu : what may be played, as for :func:`~simulator.worst.search.worst_case`; by default menus
        in the scale of the claim are tried.
    epsilon, delta : the promise, where the claim does not state it.
    rounds : the most rounds, where the claim does not end the game.
    seconds : of processor time for the search, about.
    confidence : of the ends of a program that is measured by plays.
    report : receives a line for each program that is better than those before.

    Raises
    ------
    InvalidInput : no claim, or nothing that may be played.
    NotApplicable : nothing of the menu can be searched.

    >>> from simulator.attacks import find_adversary
    >>> find_adversary((0.9, 0.0), "randomized-response:0.5", rounds=2, seconds=5).verdict
    'broken'
    """
    goal = claim_of(claim, epsilon=epsilon, delta=delta, rounds=rounds, relation=relation)
    seconds = positive("seconds", seconds)
    confidence = open_probability("confidence", confidence)
    whole("seed", seed, 0)
    search = AdversarySearch(
        goal, seconds, seed, confidence=confidence, report=report or (lambda line: None)
    )
    return _run(search, menu)


def _run(search: AdversarySearch, menu: Any) -> FoundAdversary:
    """The best program, over a menu or over those that are tried by default."""
    interrupted = False
    upper: float | None = None
    try:
        upper = _explore(search, menu)
    except KeyboardInterrupt:
        interrupted = True
        if not search.leads:
            raise
    if not search.leads:
        why = search.refusals[0] if search.refusals else "no menu was given"
        raise NotApplicable(f"nothing could be searched: {why}")
    leads = sorted(search.leads, key=lambda lead: lead.delta.lower, reverse=True)
    best: tuple[AttackPlan, MeasuredDelta, Lead] | None = None
    for number, lead in enumerate(leads[:_ADVANCED]):
        if best is not None and (search.left < 0.25 * search.seconds or interrupted):
            break
        plan = search.plainest(lead)
        try:
            plan = plan if interrupted else search.plan_of(lead)
            plan, measured = search.settled(plan, f"plan {number}")
            if not measured.exact:
                turns = [(each, search.measured(each, "turning")) for each in search.turning(lead)]
                plan, measured = max([(plan, measured), *turns], key=lambda each: each[1].value)
        except KeyboardInterrupt:
            interrupted = True
            if best is not None:
                break
            measured = search.measured(plan, f"plan {number}", trials=_FEW)
        if best is None or measured.delta.lower > best[1].delta.lower:
            best = plan, measured, lead
            search.report(f"{measured} in {len(plan.rules)} rules")
    assert best is not None
    plan, measured, lead = best
    if not measured.exact:  # of several programs one was chosen: it plays once more
        try:
            measured = search.measured(plan, "final", trials=_FEW if interrupted else None)
        except KeyboardInterrupt:
            interrupted = True
            measured = search.measured(plan, "final", trials=_FEW)
    program = search.program(plan, measured)
    exact = max(
        (each for each in leads if each.policy is not None),
        key=lambda each: each.delta.lower, default=None,
    )  # fmt: skip
    found = FoundAdversary(
        claim=search.claim, program=program, measured=measured,
        policy=None if exact is None else exact.policy,
        searched=None if exact is None else exact.delta,
        upper=upper, tried=search.tried, interrupted=interrupted,
    )  # fmt: skip
    if found.verdict == "broken" and not interrupted:
        try:
            small = shortest_of(search, plan, lead)
        except KeyboardInterrupt:
            small = None
        if small is not None:
            shortest, its = small
            found = replace(found, shortest=search.program(shortest, its), shortest_measured=its)
    return replace(found, seconds=time.process_time() - search.begun)


def _explore(search: AdversarySearch, menu: Any) -> float | None:
    """Search the menus; an upper end over a menu that was given."""
    relation = search.claim.relation
    if menu is None:
        for text in default_menus(search.claim, fine=search.seconds >= _MINUTE):
            if search.leads and search.left < 0.5 * search.seconds:
                break
            for experiment in experiments_of(entries(text, relation)):
                search.look(entries(text, relation), experiment, 0.1 * search.seconds)
        return None
    menus = menus_of(menu, relation, alone=search.claim.observes)
    uppers: list[float] = []
    for one in menus:
        for experiment in experiments_of(one):
            share = 0.4 * search.seconds / len(menus)
            lead = search.look(one, experiment, max(share, 1.0))
            if one is menus[-1]:
                uppers.append(1.0 if lead is None else lead.delta.upper)
    upper = max(uppers, default=1.0)
    return upper if upper < 1.0 else None
