"""The methods, and the choice of one: what is played is fixed on held-out draws."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from functools import partial

from simulator.adversaries.contract import is_of_library
from simulator.analysis.ceilings import tail_ceiling
from simulator.analysis.estimation import delta_log_bound
from simulator.analysis.estimation.weighted import useful
from simulator.analysis.rare.covering import cover, cover_delta
from simulator.analysis.rare.doob import NODES, Recursion, enumerate_states
from simulator.analysis.rare.drawing import HITS_WANTED, FromMeasure
from simulator.analysis.rare.pilot import always_one_law, pilot_tilt, relative_error, summarised
from simulator.analysis.rare.question import Question
from simulator.analysis.rare.reading import Nothing, RareChoice, Way
from simulator.analysis.rare.rehearsal import Rehearsals, plain
from simulator.analysis.rare.splitting import split
from simulator.analysis.rare.steering import aim, steer
from simulator.engine.outcomes.log_mean import MINIMUM_HITS
from simulator.engine.sampling import (
    LARGEST_PSI,
    THETA_BITS,
    Guarded,
    RoundByRound,
    Sampling,
    Tilted,
    parse_sampling,
    rounded,
)
from simulator.engine.weight_bounds import psi_bound_at
from simulator.foundations.errors import InvalidInput, NotApplicable, Refusal
from simulator.foundations.roots import least_point
from simulator.foundations.stages import stage
from simulator.runner.progress import Progress

NODES_OF_AUTO = 500_000
"""The largest number of states and losses that ``auto`` enumerates, in about a second."""
PLAIN_ENOUGH = 30.0
"""The largest relative error of one plain trial for which ``auto`` plays plainly."""
GOOD = 4.0
"""The largest relative error of one tilted trial for ``auto``: 1.3% with 100,000."""
GUARD = 0.2
"""The share of the trials that are drawn from a guard."""


Method = Callable[[Question, Rehearsals], Way]
"""What is played for a question. Raises NotApplicable, with the reason, and Refusal."""


def choose(question: Question, method: str | Sampling) -> RareChoice:
    """What the method plays: one of TABLE by its name, or a measure, or its text.

    Raises InvalidInput for another one, and NotApplicable and Refusal as a method does.
    """
    start = time.perf_counter()
    if isinstance(method, str) and ":" in method:
        method = parse_sampling(method)
    if isinstance(method, Sampling):
        return RareChoice(question, FromMeasure(method), 0, 0.0)
    if not isinstance(method, str) or method not in TABLE:
        raise InvalidInput(f"no method {method!r:.80}; there are {', '.join(TABLE)}")
    if question.setting.out is not None and method in WITHOUT_BLOCKS:
        raise InvalidInput(f"a folder keeps blocks of trials, and the method {method!r} plays none")
    rehearsals = Rehearsals.of(question.specification, question.experiment)
    with stage("choosing the measure", rehearsals.budget) as advance:
        rehearsals.advance = advance
        way = TABLE[method](question, rehearsals)
    return RareChoice(question, way, rehearsals.spent, time.perf_counter() - start)


def auto(question: Question, rehearsals: Rehearsals) -> Way:
    """The first that applies: doob, nothing, covering, or the most trustworthy measure."""
    s, epsilon = question.specification, question.epsilon
    with contextlib.suppress(NotApplicable):
        way: Way = doob(question, rehearsals, NODES_OF_AUTO)
        return without_blocks(way, question)
    if epsilon is not None and tail_ceiling(s, epsilon) == 0.0:
        return without_blocks(Nothing.of, question)
    try:
        return covering(question, rehearsals)
    except NotApplicable as error:
        tried = rehearsals.advance is None  # for a refusal of another method, in silence
        if s.is_read and not is_of_library(s.adversary) and not tried:
            Progress(False).notice(f"{s.name} cannot be enumerated: {error}")
    try:
        return FromMeasure(most_trustworthy(rehearsals, *aimed(question, rehearsals)))
    except NotApplicable as error:  # no tilted law: plain play, which refuses few hits
        return FromMeasure(None, why_plain=str(error))


def without_blocks(way: Way, question: Question) -> Way:
    """A way that plays nothing; a folder for blocks is left as it is, with a line."""
    if (out := question.setting.out) is not None:
        Progress(False).notice(f"the answer is exact, without a trial: nothing is stored in {out}")
    return way


def doob(question: Question, _: Rehearsals, nodes: int = NODES) -> Way:
    """The exact recursion."""
    graph = enumerate_states(question.specification, question.experiment, nodes)
    return partial(Recursion.of, graph)


def covering(question: Question, _: Rehearsals) -> FromMeasure:
    """The covering measure; raises NotApplicable if the states cannot be enumerated."""
    s, b = question.specification, question.experiment
    if question.epsilon is not None:
        return FromMeasure(cover(s, b, question.epsilon))
    assert question.delta is not None
    return FromMeasure(cover_delta(s, b, question.delta))


def as_it_is(question: Question, _: Rehearsals) -> FromMeasure:
    """The experiment itself."""
    return FromMeasure(None)


def tilted(question: Question, rehearsals: Rehearsals) -> FromMeasure:
    """One theta."""
    epsilon, _ = aimed(question, rehearsals)
    return FromMeasure(pilot_tilt(rehearsals, epsilon)[0])


def steered(question: Question, rehearsals: Rehearsals) -> FromMeasure:
    """A table of theta."""
    return FromMeasure(steer(rehearsals, *aimed(question, rehearsals))[0])


def guarded(question: Question, rehearsals: Rehearsals) -> FromMeasure:
    """A table of theta, mixed with a guard."""
    epsilon, start = aimed(question, rehearsals)
    return FromMeasure(guard(rehearsals, epsilon, steer(rehearsals, epsilon, start)[0]))


def splitting(question: Question, _: Rehearsals) -> Way:
    """Multilevel splitting."""
    if question.epsilon is None:
        raise NotApplicable("splitting estimates at an epsilon, not at a delta: give an epsilon")
    return split


def aimed(question: Question, rehearsals: Rehearsals) -> tuple[float, RoundByRound | None]:
    """The epsilon, or an approximation; and a measure under which it is typical, if known."""
    if question.epsilon is not None:
        return question.epsilon, None
    assert question.delta is not None
    return aim(rehearsals, question.delta)


def most_trustworthy(
    rehearsals: Rehearsals, epsilon: float, start: RoundByRound | None = None
) -> Sampling | None:
    """Plain play if it suffices, a theta with bounded weights, or the best measure, guarded.

    A rehearsal has no information on paths that its measure never takes; a bound known in advance
    includes them.
    """
    if relative_error(rehearsals.plain(), epsilon) <= plain_enough(rehearsals.specification.trials):
        return None
    one: Tilted | None = None
    error = math.inf
    with contextlib.suppress(Refusal):
        one, error = pilot_tilt(rehearsals, epsilon)
    if one is not None:
        if error <= GOOD and bounded_in_advance(rehearsals, one, epsilon):
            return one
        if always_one_law(rehearsals):
            return guard(rehearsals, epsilon, one)
    best: RoundByRound = one or start or plain()
    with contextlib.suppress(Refusal):  # the valid ends do not need a hit
        table, error_of_table = steer(rehearsals, epsilon, one or start)
        if one is None or error_of_table <= error:
            best = table
    return guard(rehearsals, epsilon, best)


def plain_enough(trials: int) -> float:
    """The largest relative error of one plain trial for which ``trials`` are enough."""
    most = trials / (HITS_WANTED * MINIMUM_HITS) - 1.0  # of one over the probability, less one
    return min(PLAIN_ENOUGH, math.sqrt(max(most, 0.0)))


def guard(rehearsals: Rehearsals, epsilon: float, beside: RoundByRound) -> Sampling:
    """The measure mixed with a guard, at the theta with the best bound on the weights.

    The measure itself if no bound is known in advance.
    """
    s, b = rehearsals.specification, rehearsals.b

    def log_bound(theta: float) -> float:
        return delta_log_bound(theta, psi_bound_at(s, b, theta), epsilon)

    if isinstance(beside, Guarded) or not math.isfinite(psi_bound_at(s, b, 1e-3)):
        return beside
    high = 1.0
    # where the largest loss is at epsilon the bound falls without end; a weight must keep digits
    while psi_bound_at(s, b, 4.0 * high) < LARGEST_PSI and log_bound(2.0 * high) < log_bound(high):
        high *= 2.0
    theta, _ = least_point(log_bound, 0.0, 2.0 * high)
    return Guarded(beside, float(rounded(theta, THETA_BITS)), GUARD)


def bounded_in_advance(rehearsals: Rehearsals, one: Tilted, epsilon: float) -> bool:
    """Whether the bound on the weighted variable is useful for the number of trials."""
    s = rehearsals.specification
    psi = psi_bound_at(s, rehearsals.b, one.theta)
    if not math.isfinite(psi):
        return False
    value = summarised(rehearsals.play(one), epsilon).log_value
    return useful(delta_log_bound(one.theta, psi, epsilon), value, s.trials)


TABLE: dict[str, Method] = {
    "auto": auto, "doob": doob, "covering": covering, "plain": as_it_is, "tilted": tilted,
    "steered": steered, "guarded": guarded, "splitting": splitting,
}  # fmt: skip
"""The methods by name: those of ``METHODS``."""
WITHOUT_BLOCKS = ("doob", "splitting")
"""The methods whose play a folder does not keep."""
