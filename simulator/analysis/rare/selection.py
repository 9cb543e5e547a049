"""Which measure the final sample is drawn from: in the order of what can be promised of it."""

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
from simulator.analysis.rare.pilot import TRIALS, log_weighted_mean, pilot_tilt, relative_error
from simulator.analysis.rare.rehearsal import plain, rehearse
from simulator.analysis.rare.steering import aim, steer
from simulator.engine.sampling import Covering, Guarded, RoundByRound, Sampling, Steered, Tilted
from simulator.engine.specification import Specification
from simulator.engine.weight_bounds import psi_bound_at, total_psi_bound
from simulator.foundations.errors import NotApplicable, Refusal
from simulator.foundations.seeds import Pilot

PLAIN_ENOUGH = 30.0
"""Relative error of one plain trial up to which ``auto`` samples the experiment itself."""
GOOD = 4.0
"""Relative error of one tilted trial with which ``auto`` is content: 1.3% with 100,000."""
GUARD = 0.2
"""Share of the trials that a guard takes."""


@dataclass(frozen=True)
class Question:
    """What is to be estimated.

    Attributes
    ----------
    specification : of the play, under the measure of the experiment itself.
    experiment : 0 or 1.
    epsilon : where; None when the epsilon of ``delta`` is to be found.
    """

    specification: Specification
    experiment: int
    epsilon: float | None
    delta: float | None
    confidence: float

    def aimed(self) -> tuple[float, RoundByRound | None]:
        """The epsilon, or a guess at it; and a measure under which it is typical, if known."""
        if self.epsilon is not None:
            return self.epsilon, None
        assert self.delta is not None
        return aim(self.specification, self.experiment, self.delta)


def name_of(sampling: Sampling | None) -> str:
    """The method that a measure belongs to."""
    return "plain" if sampling is None else NAMES[type(sampling)]


NAMES: dict[type, str] = {
    Tilted: "tilted",
    Steered: "steered",
    Guarded: "guarded",
    Covering: "covering",
}


def chosen(
    question: Question, method: str, theta: float | None, notice: Callable[[str], None]
) -> Sampling | None:
    """The measure to draw the final sample from; None for the experiment itself.

    ``notice`` takes a line that says why ``auto`` could not enumerate a rule.
    """
    if method == "plain":
        return None
    if theta is not None:
        return Tilted(theta)
    s, b = question.specification, question.experiment
    if method in ("auto", "covering"):
        try:
            return covering(question)
        except NotApplicable as error:
            if method == "covering":
                raise
            if isinstance(s.adversary, Rule) and not s.adversary.of_library:
                notice(f"{s.adversary.name} cannot be enumerated: {error}")
    try:
        epsilon, start = question.aimed()
        if method == "tilted":
            return pilot_tilt(s, b, epsilon)[0]
        if method == "steered":
            return steer(s, b, epsilon, start=start)[0]
        if method == "guarded":
            return guarded(s, b, epsilon, steer(s, b, epsilon, start=start)[0])
        return most_trustworthy(s, b, epsilon, start)
    except NotApplicable:
        if method == "auto":  # no tilted law: plain sampling, which refuses if it is not enough
            return None
        raise


def covering(question: Question) -> Covering:
    """The covering measure; raises NotApplicable where the states cannot be enumerated."""
    if question.epsilon is not None:
        return cover(question.specification, question.experiment, question.epsilon)
    assert question.delta is not None
    return cover_delta(question.specification, question.experiment, question.delta)


def most_trustworthy(
    s: Specification, b: int, epsilon: float, start: RoundByRound | None = None
) -> Sampling | None:
    """Plain play where it suffices, a theta bounded in advance, else the best one, guarded.

    A rehearsal cannot see the paths that a measure never takes; a bound known in advance covers
    them.
    """
    rehearsed = rehearse(s, b, plain(), 2 * TRIALS, number=Pilot.PLAIN_ERROR)
    if relative_error(rehearsed, epsilon) <= PLAIN_ENOUGH:
        return None
    tilted: Tilted | None = None
    error = math.inf
    with contextlib.suppress(Refusal):
        tilted, error = pilot_tilt(s, b, epsilon)
    if tilted is not None and error <= GOOD and bounded_in_advance(s, b, tilted, epsilon):
        return tilted
    try:
        steered, error_steered = steer(s, b, epsilon, start=start)
    except Refusal:
        if tilted is None:
            raise
        return guarded(s, b, epsilon, tilted)
    best = steered if tilted is None or error_steered <= error else tilted
    return guarded(s, b, epsilon, best)


def guarded(s: Specification, b: int, epsilon: float, beside: RoundByRound) -> Sampling:
    """The measure with a guard beside it, at the theta that bounds its weights best.

    The measure itself where no bound is known in advance.
    """

    def log_bound(theta: float) -> float:
        return delta_log_bound(theta, psi_bound_at(s, b, theta), epsilon)

    if isinstance(beside, Guarded) or not math.isfinite(psi_bound_at(s, b, 1e-3)):
        return beside
    high = 1.0
    while log_bound(2.0 * high) < log_bound(high) and high < 1e5:
        high *= 2.0
    found = scipy.optimize.minimize_scalar(log_bound, bounds=(0.0, 2.0 * high), method="bounded")
    return Guarded(beside, float(found.x), GUARD)


def bounded_in_advance(s: Specification, b: int, tilted: Tilted, epsilon: float) -> bool:
    """Whether the bound on the weighted variable is of use for as many trials as will be played."""
    psi = total_psi_bound(replace(s, sampling=tilted), b)
    if not math.isfinite(psi):
        return False
    played = rehearse(s, b, tilted, 2 * TRIALS, number=Pilot.WEIGHT_BOUND)
    value = log_weighted_mean(played, epsilon)
    return useful(delta_log_bound(tilted.theta, psi, epsilon), value, s.trials)
