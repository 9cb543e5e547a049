"""The choice of the measure of the final sample."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import scipy

from simulator.adversaries.contract import Rule
from simulator.analysis.estimation import delta_log_bound
from simulator.analysis.estimation.weighted import useful
from simulator.analysis.rare.covering import cover, cover_delta
from simulator.analysis.rare.pilot import (
    always_one_law,
    log_weighted_mean,
    pilot_tilt,
    relative_error,
)
from simulator.analysis.rare.rehearsal import plain
from simulator.analysis.rare.rehearsals import Rehearsals
from simulator.analysis.rare.steering import aim, steer
from simulator.engine.outcomes.log_mean import MINIMUM_HITS
from simulator.engine.sampling import (
    THETA_BITS,
    Covering,
    Guarded,
    RoundByRound,
    Sampling,
    Tilted,
    rounded,
)
from simulator.engine.specification import Specification
from simulator.engine.weight_bounds import psi_bound_at, total_psi_bound
from simulator.foundations.errors import NotApplicable, Refusal

PLAIN_ENOUGH = 30.0
"""The largest relative error of one plain trial for which ``auto`` plays plainly."""
HITS_WANTED = 3.0
"""``auto`` plays plainly if it expects so many times the hits that a plain sample needs."""
GOOD = 4.0
"""The largest relative error of one tilted trial for ``auto``: 1.3% with 100,000."""
GUARD = 0.2
"""The share of the trials that are drawn from a guard."""


@dataclass(frozen=True)
class Question:
    """What is to be estimated.

    Attributes
    ----------
    specification : of the play, under the measure of the experiment itself.
    experiment : 0 or 1.
    epsilon : the point, or None to find the epsilon of ``delta``.
    """

    specification: Specification
    experiment: int
    epsilon: float | None
    delta: float | None
    confidence: float

    def aimed(self, rehearsals: Rehearsals) -> tuple[float, RoundByRound | None]:
        """The epsilon, or an approximation; and a measure under which it is typical, if known."""
        if self.epsilon is not None:
            return self.epsilon, None
        assert self.delta is not None
        return aim(self.specification, self.experiment, self.delta, rehearsals)


def name_of(sampling: Sampling | None) -> str:
    """The method that a measure belongs to."""
    return "plain" if sampling is None else sampling.kind


def chosen(
    question: Question,
    method: str,
    theta: float | None,
    notice: Callable[[str], None],
    rehearsals: Rehearsals | None = None,
) -> Sampling | None:
    """The measure to draw the final sample from; None for the experiment itself.

    ``notice`` is called with the reason why ``auto`` could not enumerate a rule; ``rehearsals`` are
    the plays for the choice.
    """
    if method == "plain":
        return None
    if theta is not None:
        return Tilted(theta)
    s, b = question.specification, question.experiment
    if method == "covering" or (method == "auto" and s.is_rule):
        try:
            return covering(question)
        except NotApplicable as error:
            if method == "covering":
                raise
            if isinstance(s.adversary, Rule) and not s.adversary.of_library:
                notice(f"{s.adversary.name} cannot be enumerated: {error}")
    rehearsals = rehearsals or Rehearsals.of(s, b)
    try:
        epsilon, start = question.aimed(rehearsals)
        if method == "tilted":
            return pilot_tilt(s, b, epsilon, rehearsals)[0]
        if method == "steered":
            return steer(s, b, epsilon, rehearsals, start=start)[0]
        if method == "guarded":
            return guarded(s, b, epsilon, steer(s, b, epsilon, rehearsals, start=start)[0])
        return most_trustworthy(rehearsals, epsilon, start)
    except NotApplicable:
        if method == "auto":  # no tilted law: plain sampling, which refuses if it is not enough
            return None
        raise


def covering(question: Question) -> Covering:
    """The covering measure; raises NotApplicable if the states cannot be enumerated."""
    if question.epsilon is not None:
        return cover(question.specification, question.experiment, question.epsilon)
    assert question.delta is not None
    return cover_delta(question.specification, question.experiment, question.delta)


def most_trustworthy(
    rehearsals: Rehearsals, epsilon: float, start: RoundByRound | None = None
) -> Sampling | None:
    """Plain play if it suffices, a theta with bounded weights, or the best measure, guarded.

    A rehearsal has no information on paths that its measure never takes; a bound known in advance
    includes them.
    """
    s, b = rehearsals.specification, rehearsals.b
    if relative_error(rehearsals.plain(), epsilon) <= plain_enough(s.trials):
        return None
    tilted: Tilted | None = None
    error = math.inf
    with contextlib.suppress(Refusal):
        tilted, error = pilot_tilt(s, b, epsilon, rehearsals)
    if tilted is not None:
        if error <= GOOD and bounded_in_advance(rehearsals, tilted, epsilon):
            return tilted
        if always_one_law(rehearsals):
            return guarded(s, b, epsilon, tilted)
    try:
        steered, error_steered = steer(s, b, epsilon, rehearsals, start=tilted or start)
    except Refusal:  # the valid ends do not need a hit
        return guarded(s, b, epsilon, tilted or start or plain())
    best = steered if tilted is None or error_steered <= error else tilted
    return guarded(s, b, epsilon, best)


def plain_enough(trials: int) -> float:
    """The largest relative error of one plain trial for which ``trials`` are enough."""
    most = trials / (HITS_WANTED * MINIMUM_HITS) - 1.0  # of one over the probability, less one
    return min(PLAIN_ENOUGH, math.sqrt(max(most, 0.0)))


def guarded(s: Specification, b: int, epsilon: float, beside: RoundByRound) -> Sampling:
    """The measure mixed with a guard, at the theta with the best bound on the weights.

    The measure itself if no bound is known in advance.
    """

    def log_bound(theta: float) -> float:
        return delta_log_bound(theta, psi_bound_at(s, b, theta), epsilon)

    if isinstance(beside, Guarded) or not math.isfinite(psi_bound_at(s, b, 1e-3)):
        return beside
    high = 1.0
    while log_bound(2.0 * high) < log_bound(high) and high < 1e5:
        high *= 2.0
    found = scipy.optimize.minimize_scalar(log_bound, bounds=(0.0, 2.0 * high), method="bounded")
    return Guarded(beside, float(rounded(found.x, THETA_BITS)), GUARD)


def bounded_in_advance(rehearsals: Rehearsals, tilted: Tilted, epsilon: float) -> bool:
    """Whether the bound on the weighted variable is useful for the number of trials."""
    s = rehearsals.specification
    psi = total_psi_bound(replace(s, sampling=tilted), rehearsals.b)
    if not math.isfinite(psi):
        return False
    value = log_weighted_mean(rehearsals.play(tilted), epsilon)
    return useful(delta_log_bound(tilted.theta, psi, epsilon), value, s.trials)
