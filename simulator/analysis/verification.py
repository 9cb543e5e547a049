"""Check bounds against adversaries, in both experiments, at a stated false-alarm probability.

All true bounds pass with probability at least 1 - false_alarm: the error is divided among all
comparisons of a call, and each share among the looks at it (Bonferroni). So an adversary may be
left as soon as every bound is decided.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from simulator.adversaries.contract import Challenge
from simulator.adversaries.loading import game_of
from simulator.adversaries.registry import entries
from simulator.analysis.estimation import BoundVerdict, violation
from simulator.analysis.likelihoods import require_likelihoods_if_possible
from simulator.analysis.result import Result
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.engine.specification import Specification
from simulator.foundations.errors import DpcomposeError, InvalidInput, NotApplicable
from simulator.foundations.stages import in_stages
from simulator.foundations.validation import false_alarm_of
from simulator.identity.keys import key_of
from simulator.runner.play import checked_jobs, run
from simulator.theory import BoundOnComposition, Composition, bound, bounds_for
from simulator.theory.bounds.usual_bounds import BOUNDS
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.named import parse_guarantee

GROWTH = 4
"""The trials of a look over those of the look before: all play a third more than the last."""

PROMISES = ("upper", "exact")
"""The kinds of bound that measurements can contradict."""

DELTAS = (0.1, 1e-2, 1e-3)
"""Each bound is tested at the epsilons that it grants for these deltas."""

EXAMINED = 1 << 13
"""Draws of each challenge for bets on events: there may be many challenges."""
MOST_EXAMINED = 64
"""The most challenges with mechanisms of one class that are tested per adversary: training has one
per round."""


class Checks(list["Check"]):
    """The claims of a call, and what a test of the declared likelihoods would have found.

    Attributes
    ----------
    likelihoods : a text; empty where they were not tested, or where no mechanism has one.
    """

    likelihoods: str = ""


@dataclass(frozen=True)
class Check:
    """One claim: this adversary, in this experiment, stays within this bound.

    ``epsilon`` is the tested point with the least slack, ``verdict`` the outcome there, after so
    many ``trials``.

    >>> from simulator.analysis import Check
    >>> from simulator.analysis.estimation import violation
    >>> verdict = violation([1.0] * 100, epsilon=0.5, bound_delta=0.01)
    >>> Check("ours", 0, "basic", 0.5, verdict, trials=100).violated
    True
    """

    adversary: str
    experiment: int
    bound: str
    epsilon: float
    verdict: BoundVerdict
    _: KW_ONLY
    trials: int

    @property
    def decided(self) -> bool:
        """Whether more trials are not needed; no sample confirms a bound of 0."""
        return self.verdict.outcome != "undecided" or self.verdict.bound == 0.0

    @property
    def violated(self) -> bool:
        """Whether the lower limit of the measured divergence exceeds the bound."""
        return self.verdict.outcome == "violated"


def library_adversaries(family: Guarantee, rounds: int) -> dict[str, Callable[..., Any]]:
    """Every adversary of the library that plays in a family, made for it.

    Raises InvalidInput if none does.
    """
    playing = [entry for entry in entries() if entry.plays_in(family)]
    if not playing:
        raise InvalidInput(
            f"no adversary of the library plays in {family}; give one of your own, as "
            "path/to/file.py:function"
        )
    return {entry.name: entry.make(family, rounds) for entry in playing}


def usual_bounds(composition: Composition) -> list[BoundOnComposition]:
    """Those of BOUNDS that apply; raises InvalidInput if there are none."""
    usual = [bound for bound in bounds_for(composition) if bound.name in BOUNDS]
    if not usual:
        raise InvalidInput(f"none of the bounds {', '.join(BOUNDS)} applies to {composition}")
    return usual


def named_bounds(composition: Composition, names: Iterable[str]) -> list[BoundOnComposition]:
    """The bounds of these names; ``all`` is every one that applies and is quick to evaluate.

    Raises InvalidInput for an unknown name or an approximation, and NotApplicable if a bound's
    conditions are not met.
    """
    chosen: dict[str, BoundOnComposition] = {}
    for name in names:
        ready = (
            [b for b in bounds_for(composition) if b.kind in PROMISES and not b.bound.costly]
            if name == "all"
            else [bound(name).on(composition)]
        )
        chosen |= {b.name: b for b in ready}
    for b in chosen.values():
        if b.kind not in PROMISES:
            raise InvalidInput(f"{b.name} is of kind {b.kind}: it promises nothing to check")
    return list(chosen.values())


def verify(
    adversaries: Mapping[str, Callable[..., Any] | str] | str,
    family: Guarantee | str,
    rounds: int,
    trials: int,
    *,
    seed: int = 0,
    jobs: int | None = None,
    relation: Relation = ADD_REMOVE,
    false_alarm: float = 1e-6,
    bounds: Sequence[BoundOnComposition] | None = None,
    progress: bool | None = None,
) -> Checks:
    """Play every adversary and test every bound on its measured hockey-stick divergence.

    An adversary is looked at after more and more trials (:func:`looks`), and left when each of its
    claims is decided: violated, or the interval is within the bound. A bound of 0, which no
    sample confirms, does not keep it; a violation at any look counts.

    The measurements use the likelihoods that the mechanisms declare, so these are tested too, for
    the first MOST_EXAMINED challenges with each kind of mechanism that an adversary plays
    (by :mod:`simulator.auditing.declared`; with a warning where that is not installed).

    Parameters
    ----------
    trials : at most so many of each experiment.
    adversaries : by name, or the text of one; each must keep to ``family``. Either may be a text,
        as for ``simulate``.
    false_alarm : the largest probability that any true bound is reported as violated, and the
        largest probability that any correct likelihood fails.
    bounds : to test; by default :func:`usual_bounds`.

    Returns one Check for each adversary, experiment and bound, at the point with the least slack;
    their ``likelihoods`` say what error of a declared loss would have been found.
    Raises InvalidInput if no bound can be tested, FalseLikelihood if a mechanism does not draw as
    it declares, and the errors of :func:`simulate` with the adversary's name.

    >>> from simulator import Composition, verify
    >>> from simulator.theory import bound
    >>> bounds = [bound("basic").on(Composition.repeat("pure:0.2", 5))]
    >>> checks = verify(
    ...     "fixed-worst-case", "pure:0.2", 5, 100, bounds=bounds, jobs=1, progress=False
    ... )
    >>> [(check.bound, check.experiment, check.violated) for check in checks]
    [('basic', 0, False), ('basic', 1, False)]
    """
    false_alarm_of(false_alarm)
    if isinstance(adversaries, str):
        adversaries = {adversaries: adversaries}
    if isinstance(family, str):
        family = parse_guarantee(family)
    if bounds is None:
        bounds = usual_bounds(Composition.repeat(family, rounds))
    probes = [(bound, *probe) for bound in bounds for probe in probed(bound)]
    if not probes:
        raise InvalidInput(f"no bound grants a finite epsilon at any delta of {DELTAS}")
    each = false_alarm / max(1, len(adversaries) * 2 * len(probes))
    checked_jobs(jobs)
    checks = Checks()
    met: dict[Any, Challenge] = {}
    for name, adversary in in_stages(list(adversaries.items()), "adversaries"):
        try:
            game = Specification(
                *game_of(adversary, family, rounds), rounds, trials, seed,
                relation=relation, trust=False,
            )  # fmt: skip
            found, result = decided(name, game, probes, each, jobs=jobs, progress=progress)
        except DpcomposeError as error:
            raise type(error)(f"{name}: {error}") from error
        for experiment in (0, 1):
            checks += least_slack([check for check in found if check.experiment == experiment])
        kinds: Counter[type] = Counter()
        for challenge in result.challenges:
            kind, key = type(challenge.mechanism), key_of(challenge)  # either direction is one
            if key not in met and kinds[kind] < MOST_EXAMINED:
                kinds[kind] += 1
                met[key] = challenge
    if any(challenge.mechanism.has_likelihood for challenge in met.values()):
        checks.likelihoods = require_likelihoods_if_possible(
            met.values(), relation, seed, events=EXAMINED, false_alarm=false_alarm
        )
    return checks


Probe = tuple[BoundOnComposition, float, float]
"""A bound, an epsilon, and the delta that it grants there."""


def decided(
    name: str,
    game: Specification,
    probes: Sequence[Probe],
    false_alarm: float,
    *,
    jobs: int | None,
    progress: bool | None,
) -> tuple[list[Check], Result]:
    """Test each probe in both experiments until all are decided; return also the last sample.

    ``false_alarm`` is of each comparison; its looks share it equally. A claim keeps the verdict of
    the look that decided it.
    """
    found: dict[tuple[int, int], Check] = {}
    planned = looks(game.trials, [delta for _, _, delta in probes], false_alarm)
    for trials in planned:
        result = Result.of(run(replace(game, trials=trials), (0, 1), jobs, progress=progress))
        for b, place in itertools.product((0, 1), range(len(probes))):
            if (b, place) not in found or not found[b, place].decided:
                bound, epsilon, delta = probes[place]
                verdict = violation(
                    result.known(b), epsilon, delta,
                    experiment=b, false_alarm=false_alarm / len(planned),
                )  # fmt: skip
                found[b, place] = Check(name, b, bound.name, epsilon, verdict, trials=trials)
        if all(check.decided for check in found.values()):
            break
    return list(found.values()), result


def looks(trials: int, deltas: Sequence[float], false_alarm: float) -> list[int]:
    """The trials of each look, fixed in advance; the last look has ``trials``.

    No look before the one at which the smallest positive delta can be confirmed by trials
    without a hit, some ln(1/false_alarm)/delta of them, nor after a quarter of the trials.
    """
    least = min((delta for delta in deltas if delta > 0.0), default=0.0)
    due = math.inf if least == 0.0 else math.ceil(1.25 * math.log(8.0 / false_alarm) / least)
    found = []
    while due <= trials / GROWTH:
        found.append(int(due))
        due *= GROWTH
    return [*found, trials]


def probed(bound: BoundOnComposition) -> list[tuple[float, float]]:
    """The points (epsilon, delta) at which a bound is tested: what it grants at each of DELTAS."""
    points: dict[float, float] = {}
    for delta in DELTAS:
        try:
            epsilon = bound.epsilon(delta).upper
        except NotApplicable:
            continue
        if math.isfinite(epsilon):
            points[epsilon] = min(delta, bound.delta(epsilon).upper)
    return list(points.items())


def closest(checks: Sequence[Check]) -> list[Check]:
    """For each adversary and experiment the violated claims, or the one with the least slack."""
    groups: dict[tuple[str, int], list[Check]] = {}
    for check in checks:
        groups.setdefault((check.adversary, check.experiment), []).append(check)
    return [
        check
        for group in groups.values()
        for check in [c for c in group if c.violated] or [min(group, key=rank)]
    ]


def least_slack(found: Sequence[Check]) -> list[Check]:
    """For each bound the violated point, or the one with the least slack."""
    best: dict[str, Check] = {}
    for check in found:
        known = best.get(check.bound)
        if known is None or rank(check) < rank(known):
            best[check.bound] = check
    return list(best.values())


def rank(check: Check) -> tuple[bool, float, float]:
    """The sorting key: violations first, then by slack, then by epsilon."""
    return not check.violated, check.verdict.slack, check.epsilon
