"""A search in progress: it looks at menus, makes plans of what it has seen, and measures them."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from operator import itemgetter

import numpy as np

from simulator.attacks.claim_parsing import FARTHEST
from simulator.attacks.claims import AttackedClaim, BoundClaim
from simulator.attacks.filter_claims import FilterClaim
from simulator.attacks.fitting import Pupil, constant_rules, tidied, with_one_more
from simulator.attacks.leads import Lead, lead_of
from simulator.attacks.measuring import MeasuredDelta, in_arrays, measure
from simulator.attacks.plans import AttackPlan, Feature, PlanRule, When, without_unused
from simulator.attacks.programs import NAME, Program, program_of
from simulator.attacks.spaces import Menu
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.seeds import named_seed
from simulator.foundations.wording import count_of
from simulator.theory.filters.interface import Filter
from simulator.worst.policy import family_of

KEEP = 0.9
"""The share of what the search has found that a program keeps."""
MOST_RULES = 12
PLAYS = 20_000
"""Fresh plays of a program whose states are too many to enumerate."""
_WORK = 2e7
"""About so many rounds of fresh plays in a search of a minute; a tenth where answers are drawn one
by one."""
_MINUTE = 60.0
_FEW_OPTIONS = 3
"""Most options of a menu of which every two are tried in turn."""


@dataclass(eq=False)
class AdversarySearch:
    """A search in progress: the claim, the time left, and the menus searched so far."""

    claim: AttackedClaim
    seconds: float
    seed: int
    _: KW_ONLY
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

    def look(
        self, menu: Menu, experiment: int, seconds: float, rounds: int | None = None
    ) -> Lead | None:
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

    def plan_of(self, lead: Lead, enough: float | None = None) -> AttackPlan:
        """The shortest plan that keeps a share of the lead's value, or reaches ``enough``."""
        draws = np.random.default_rng(named_seed(self.seed, "lessons", len(self.leads)))
        pupil = Pupil(lead.teacher, lead.rounds, draws)
        features: list[Feature] = ["loss", "played"]
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

    def settled(self, plan: AttackPlan, name: str) -> tuple[AttackPlan, MeasuredDelta]:
        """The plan and what it gets, without the options of no rule where that costs little."""
        whole = self.measured(plan, name)
        shorter = without_unused(plan)
        if len(shorter.options) == len(plan.options):
            return plan, whole
        if not isinstance(self.claim, BoundClaim):  # a refusal may lead to such options
            less = self.measured(shorter, name)
            breaks = self.claim.delta < whole.delta.lower
            enough = 0.98 * whole.value if whole.exact == less.exact else whole.value
            if less.value < enough or (breaks and less.delta.lower <= self.claim.delta):
                return plan, whole
            whole = less
        return shorter, whole

    def _plan(self, lead: Lead, rules: tuple[PlanRule, ...]) -> AttackPlan:
        options, rounds = lead.teacher.options, lead.rounds
        if not isinstance(self.claim, BoundClaim):  # a refusal takes a round
            rounds = min(rounds * len(options), FARTHEST)
        return AttackPlan(options, rules, rounds=rounds, experiment=lead.experiment)

    def turning(self, lead: Lead) -> list[AttackPlan]:
        """Plans that play one option below the promised epsilon, and another from it on.

        They are strong where two mechanisms are each other's exchange, as both directions of a
        sampled Gaussian, and an exact search is too coarse to see it.
        """
        moves = range(len(lead.teacher.options))
        if not isinstance(self.claim, BoundClaim) or not 1 < len(moves) <= _FEW_OPTIONS:
            return []
        below = When("loss", -math.inf, self.claim.promised)
        return [
            self._plan(lead, (PlanRule(first, (below,)), PlanRule(then)))
            for first, then in itertools.permutations(moves, 2)
        ]

    def plainest(self, lead: Lead) -> AttackPlan:
        """The plan that plays the largest option."""
        return self._plan(lead, (PlanRule(len(lead.teacher.options) - 1),))

    def measured(self, plan: AttackPlan, name: str, trials: int | None = None) -> MeasuredDelta:
        """What a plan gets, in plays of its own seed."""
        if trials is None:
            work = _WORK * min(self.seconds / _MINUTE, 1.0)
            if not all(in_arrays(option) for option in plan.options):
                work *= 0.1
            trials = int(min(PLAYS, max(work / max(plan.rounds, 1), 1000)))
        seed = named_seed(self.seed, name, 0)
        return measure(plan, self.claim, trials=trials, seed=seed, confidence=self.confidence)

    def program(self, plan: AttackPlan, measured: MeasuredDelta) -> Program:
        """The program of a plan."""
        refuses = not isinstance(self.claim, BoundClaim)
        rounds = count_of(plan.rounds, "round")
        header = [
            f"Against {self.claim}: delta is {measured},",
            f"where {self.claim.delta:g} is promised. It takes at most {rounds}.",
        ]
        if plan.experiment:
            header.append("delta is that of the exchanged experiments: of b = 1 against b = 0.")
        if isinstance(self.claim, FilterClaim) and isinstance(self.claim.filter, Filter):
            family = family_of([o.challenge for o in plan.options], self.claim.relation)
            header += [
                f"Play it: dpcompose simulate FILE.py:{NAME} --family {family}",
                f"    --rounds {plan.rounds} --filter {self.claim.filter} --trials 100000",
            ]
        return program_of(plan, header, self.claim.relation, refuses=refuses)
