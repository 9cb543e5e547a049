"""A search for an adversary that breaks a claim; what it finds is a program."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np

from simulator.attacks.claims import (
    BoundClaim,
    Claim,
    FilterClaim,
    OdometerClaim,
    PromiseClaim,
)
from simulator.attacks.fitting import Pupil, constant_rules, tidied, with_one_more
from simulator.attacks.measuring import Measured, measure
from simulator.attacks.plans import Feature, Plan, PlanRule
from simulator.attacks.programs import Program, program_of
from simulator.attacks.shrinking import shortest_of
from simulator.attacks.spaces import Menu, default_menus, experiments_of, menus_of
from simulator.attacks.teachers import NothingToWin, PolicyTeacher, Teacher, by_size, point_teacher
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.facts import ShownByFacts
from simulator.foundations.seeds import named_seed
from simulator.foundations.validation import open_probability, positive, whole
from simulator.foundations.wording import count_of
from simulator.mechanisms.interactive_mechanism import InteractiveMechanism
from simulator.theory.bracket import Bracket
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.named import parse_filter
from simulator.worst.game import Game
from simulator.worst.menu_parsing import entries
from simulator.worst.odometers import worst_odometer
from simulator.worst.policy import Policy
from simulator.worst.own_filter import OwnFilter, promise_of
from simulator.worst.search import worst_case

KEEP = 0.9
"""The share of what the search has found that a program keeps."""
MOST_RULES = 12
PLAYS = 20_000
"""Fresh plays of a program whose states are too many to enumerate."""
_WORK = 2e6
"""About so many rounds of fresh plays at most."""
_ROUNDS = 64
"""Rounds where nothing else ends the game."""
_READINGS = 2000
"""About so many readings of an odometer are searched, one for each count of each option."""
_COARSE = 0.02
"""Relative distance of the ends in a first search of a menu."""
_MINUTE = 60.0
"""The least seconds in which fine menus are tried."""
_ADVANCED = 3
"""Menus of which programs are made."""


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

    claim: Claim
    program: Program
    measured: Measured
    shortest: Program | None = None
    shortest_measured: Measured | None = None
    policy: Policy | None = None
    searched: Bracket | None = None
    upper: float | None = None
    tried: int = 1
    seconds: float = 0.0
    interrupted: bool = field(default=False)

    @property
    def verdict(self) -> str:
        """``broken``, ``sound`` for the menu that was given, or ``undecided``."""
        if self.best > self.claim.delta:
            return "broken"
        if self.upper is not None and self.upper <= self.claim.delta:
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


def claim_of(
    claim: Any,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    rounds: int | None = None,
    relation: Relation = ADD_REMOVE,
) -> Claim:
    """The claim of a filter, an odometer, a pair (epsilon, delta), or a function of views.

    Raises InvalidInput for anything else.
    """
    if isinstance(claim, Claim):
        return claim
    if rounds is not None:
        rounds = whole("rounds", rounds)
    if isinstance(claim, str):
        claim = parse_filter(claim)
    if isinstance(claim, Filter):
        return FilterClaim(
            filter=claim, promised=claim.epsilon, delta=claim.delta, rounds=rounds,
            relation=relation,
        )  # fmt: skip
    if isinstance(claim, OwnFilter):
        promise = promise_of(claim)
        if promise is None and (epsilon is None or delta is None):
            raise InvalidInput(
                f"the filter {type(claim).__name__} states no promise; give epsilon and delta, or "
                "its attributes epsilon and delta"
            )
        own = promise if promise is not None else (0.0, 0.0)
        return FilterClaim(
            filter=claim,
            promised=own[0] if epsilon is None else epsilon,
            delta=own[1] if delta is None else delta,
            rounds=rounds, relation=relation,
        )  # fmt: skip
    if isinstance(claim, InteractiveMechanism):
        raise InvalidInput(
            "an interactive mechanism is attacked by simulator.attacks.find_conversation, on "
            "neighbouring databases"
        )
    if hasattr(claim, "fresh"):
        announced = getattr(claim.fresh(), "delta", None) if delta is None else delta
        if announced is None:
            raise InvalidInput("the odometer announces no delta: give delta")
        return OdometerClaim(
            odometer=claim, delta=float(announced), rounds=rounds or _ROUNDS, relation=relation
        )
    if isinstance(claim, tuple) and len(claim) == 2:
        return BoundClaim(
            promised=claim[0], delta=claim[1], rounds=rounds, relation=relation
        )
    if callable(claim):
        if delta is None:
            raise InvalidInput("a promise holds up to a delta: give delta")
        return PromiseClaim(
            promise=claim, delta=delta, rounds=rounds or _ROUNDS, relation=relation
        )
    raise InvalidInput(
        "a claim is a filter, an odometer, a pair (epsilon, delta) with rounds, or a function of "
        f"a view, not {claim!r:.80}"
    )


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
        function from the rounds so far (:class:`~simulator.attacks.claims.Turn`) to an epsilon, or
        a :class:`~simulator.attacks.claims.Claim`.
    menu : what may be asked, as for :func:`~simulator.worst.search.worst_case`; by default menus
        in the scale of the claim are tried.
    epsilon, delta : the promise, where the claim does not state it.
    rounds : the most rounds, where the claim does not end the game.
    seconds : of processor time for the search, about.
    confidence : of the ends of a program that is measured by plays.
    report : receives a line for each program that is better than those before.

    Raises
    ------
    InvalidInput : no claim, or nothing that may be asked.
    NotApplicable : nothing of the menu can be searched.

    >>> from simulator.attacks import find_adversary
    >>> find_adversary((0.9, 0.0), "randomized-response:0.5", rounds=2, seconds=5).verdict
    'broken'
    """
    goal = claim_of(claim, epsilon=epsilon, delta=delta, rounds=rounds, relation=relation)
    seconds = positive("seconds", seconds)
    confidence = open_probability("confidence", confidence)
    whole("seed", seed, 0)
    search = AdversarySearch(goal, seconds, seed, confidence, report or (lambda line: None))
    return search.run(menu)


@dataclass(eq=False)
class AdversarySearch:
    """A search in progress: the claim, the time left, and the menus searched so far."""

    claim: Claim
    seconds: float
    seed: int
    confidence: float
    report: Callable[[str], None]
    tried: int = 0
    leads: list[Lead] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    begun: float = field(default_factory=time.process_time)

    @property
    def left(self) -> float:
        """The processor time that is left, in seconds."""
        return self.seconds - (time.process_time() - self.begun)

    def run(self, menu: Any) -> FoundAdversary:
        """The best program, over a menu or over those that are tried by default."""
        interrupted = False
        upper: float | None = None
        try:
            upper = self._explore(menu)
        except KeyboardInterrupt:
            interrupted = True
            if not self.leads:
                raise
        if not self.leads:
            why = self.refusals[0] if self.refusals else "no menu was given"
            raise NotApplicable(f"nothing could be searched: {why}")
        leads = sorted(self.leads, key=lambda lead: lead.delta.lower, reverse=True)
        best: tuple[Plan, Measured, Lead] | None = None
        for lead in leads[:_ADVANCED]:
            if best is not None and (self.left < 0.25 * self.seconds or interrupted):
                break
            try:
                plan = self.plan_of(lead)
            except KeyboardInterrupt:
                interrupted = True
                plan = Plan(lead.teacher.options, (PlanRule(0),), rounds=lead.rounds,
                            experiment=lead.experiment)  # fmt: skip
            measured = self.measured(plan, f"plan {leads.index(lead)}")
            if best is None or measured.delta.lower > best[1].delta.lower:
                best = plan, measured, lead
                self.report(f"{measured} in {len(plan.rules)} rules")
        assert best is not None
        plan, measured, lead = best
        if not measured.exact:  # of several programs one was chosen: it plays once more
            measured = self.measured(plan, "final")
        program = self.program(plan, measured)
        exact = max(
            (each for each in leads if each.policy is not None),
            key=lambda each: each.delta.lower, default=None,
        )  # fmt: skip
        found = FoundAdversary(
            claim=self.claim, program=program, measured=measured,
            policy=None if exact is None else exact.policy,
            searched=None if exact is None else exact.delta,
            upper=upper, tried=self.tried, interrupted=interrupted,
        )  # fmt: skip
        if found.verdict == "broken" and not interrupted:
            try:
                small = shortest_of(self, plan, lead)
            except KeyboardInterrupt:
                small = None
            if small is not None:
                measured = self.measured(small, "shortest")
                if measured.delta.lower > self.claim.delta:
                    found = replace(
                        found,
                        shortest=self.program(small, measured),
                        shortest_measured=measured,
                    )
        return replace(found, seconds=time.process_time() - self.begun)

    def _explore(self, menu: Any) -> float | None:
        """Search the menus; an upper end over a menu that was given."""
        relation = self.claim.relation
        if menu is None:
            for text in default_menus(self.claim, fine=self.seconds >= _MINUTE):
                if self.leads and self.left < 0.5 * self.seconds:
                    break
                for experiment in experiments_of(entries(text, relation)):
                    self.look(entries(text, relation), experiment, 0.1 * self.seconds)
            return None
        menus = menus_of(menu, relation)
        uppers: list[float] = []
        for one in menus:
            for experiment in experiments_of(one):
                share = 0.4 * self.seconds / len(menus)
                lead = self.look(one, experiment, max(share, 1.0))
                if one is menus[-1]:
                    uppers.append(1.0 if lead is None else lead.delta.upper)
        upper = max(uppers, default=1.0)
        return upper if upper < 1.0 else None

    def look(self, menu: Menu, experiment: int, seconds: float, rounds: int | None = None) -> Lead | None:
        """Search one menu; None where it cannot be searched."""
        self.tried += 1
        try:
            lead = lead_of(self.claim, menu, experiment, seconds, rounds)
        except (NotApplicable, InvalidInput) as error:
            self.refusals.append(str(error))
            return None
        if rounds is None:
            self.leads.append(lead)
        return lead

    def wanted(self, lead: Lead) -> float:
        """What a plan is to get: a share of the lead's value, and clearly more than is promised."""
        value, promised = lead.delta.lower, self.claim.delta
        return max(KEEP * value, promised + 0.5 * (value - promised))

    def plan_of(self, lead: Lead, enough: float | None = None) -> Plan:
        """The shortest plan that keeps a share of the lead's value, or reaches ``enough``."""
        draws = np.random.default_rng(named_seed(self.seed, "lessons", len(self.leads)))
        pupil = Pupil(lead.teacher, lead.rounds, draws)
        features: list[Feature] = ["loss", "asked"]
        options = len(lead.teacher.options)
        if 1 < options <= 4:
            features += range(options)
        wanted = self.wanted(lead) if enough is None else enough
        rules = constant_rules(pupil)
        best = pupil.value(rules), rules
        met, idle = pupil.lessons(), 0
        while best[0] < wanted and len(rules) < MOST_RULES and idle < 2:
            if self.left < 0.15 * self.seconds and len(rules) > 3:
                break
            value, rules = with_one_more(rules, pupil, met, tuple(features))
            idle = 0 if value > best[0] else idle + 1
            best = max(best, (value, rules), key=itemgetter(0))
        rules = tidied(
            best[1],
            pupil.value,
            least=wanted if best[0] >= wanted else 0.995 * best[0],
            in_time=lambda: self.left > 0.1 * self.seconds,
        )
        return self._plan(lead, rules)

    def _plan(self, lead: Lead, rules: tuple[PlanRule, ...]) -> Plan:
        options = lead.teacher.options
        return Plan(
            options, rules, rounds=lead.rounds + len(options) - 1, experiment=lead.experiment
        )

    def measured(self, plan: Plan, name: str) -> Measured:
        """What a plan gets, in plays of its own seed."""
        trials = int(min(PLAYS, max(_WORK / max(plan.rounds, 1), 1000)))
        seed = named_seed(self.seed, name, 0)
        return measure(plan, self.claim, trials=trials, seed=seed, confidence=self.confidence)

    def program(self, plan: Plan, measured: Measured) -> Program:
        """The program of a plan."""
        refuses = not isinstance(self.claim, BoundClaim)
        rounds = count_of(plan.rounds, "round")
        header = [
            f"Against {self.claim}: delta is {measured},",
            f"where {self.claim.delta:g} is promised. It takes at most {rounds}.",
        ]
        if plan.experiment:
            header.append("delta is that of the exchanged experiments: of b = 1 against b = 0.")
        return program_of(plan, header, self.claim.relation, refuses=refuses)


def lead_of(
    claim: Claim, menu: Menu, experiment: int, seconds: float, rounds: int | None = None
) -> Lead:
    """The values of a menu: by the certified search where it applies, else approximately."""
    most = claim.rounds if rounds is None else rounds
    try:
        return _certified(claim, menu, experiment, seconds, most)
    except (NotApplicable, InvalidInput) as error:
        if most is None and "ends the game" not in str(error) and "end" not in str(error):
            raise
        refused = error
    rounds = most or _ROUNDS
    options = Game(menu, rounds, None, experiment, claim.relation).options(1.0)
    try:
        teacher = point_teacher(claim, options, rounds, experiment)
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
    claim: Claim, menu: Menu, experiment: int, seconds: float, rounds: int | None
) -> Lead:
    options: dict[str, Any] = {
        "experiment": experiment,
        "relation": claim.relation,
        "tolerance": _COARSE,
        "seconds": seconds,
    }
    if isinstance(claim, OdometerClaim):
        few = int(_READINGS ** (1.0 / len(menu)))
        rounds = min(rounds or _ROUNDS, max(few, 1))  # its nodes are the counts of the options
        found: Any = worst_odometer(menu, claim.odometer, rounds, **options)
        if abs(found.announced - claim.delta) > 1e-12:
            raise NotApplicable("the odometer announces another delta")
    elif isinstance(claim, FilterClaim):
        found = worst_case(
            menu, epsilon=claim.promised, rounds=rounds, filter=claim.filter,
            patience=max(seconds, 1.0), **options,
        )  # fmt: skip
    elif isinstance(claim, BoundClaim):
        found = worst_case(
            menu, epsilon=claim.promised, rounds=rounds, patience=max(seconds, 1.0), **options
        )
    else:
        raise NotApplicable(f"{claim} has no certified search")
    policy = found.policy
    if policy.menu:
        teacher: Teacher = PolicyTeacher(policy)
    else:
        game = Game(menu, rounds or _ROUNDS, None, experiment, claim.relation)
        teacher = NothingToWin(by_size(game.options(1.0)))
    return Lead(
        menu=menu, experiment=experiment, rounds=policy.rounds, teacher=teacher, delta=found.delta
    )
