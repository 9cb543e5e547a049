"""Estimates of a tail and a hockey-stick divergence that are too rare to count."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from simulator.adversaries.loading import game_of
from simulator.analysis.ceilings import delta_ceiling, tail_ceiling
from simulator.analysis.estimation import Estimate, delta_log_bound, tail_log_bound
from simulator.analysis.rare.doob import NODES, enumerate_states
from simulator.analysis.rare.methods import METHODS
from simulator.analysis.rare.rehearsal import plain
from simulator.analysis.rare.rehearsals import Rehearsals
from simulator.analysis.rare.selection import Question, chosen, name_of
from simulator.analysis.rare.splitting import split
from simulator.analysis.rare.witness import (
    ERROR,
    held_delta,
    held_epsilon,
    held_tail,
    refuse_above,
    refuse_if_contradicted,
)
from simulator.analysis.result import Result
from simulator.data.databases import ADD_REMOVE, Relation
from simulator.engine.outcomes.log_mean import MINIMUM_HITS
from simulator.engine.sampling import Covering, Tilted
from simulator.engine.specification import Specification
from simulator.foundations.errors import InvalidInput, NotApplicable, Refusal
from simulator.foundations.files import folder_path
from simulator.foundations.stages import stage
from simulator.foundations.ties import beyond, require_distinguishable, tolerance
from simulator.foundations.validation import experiment_number, finite, open_probability, whole
from simulator.foundations.wording import count_of
from simulator.runner.play import opened, run
from simulator.runner.progress import Progress
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.named import parse_filter
from simulator.theory.guarantees.interface import Guarantee

NODES_OF_AUTO = 500_000
"""The largest number of states and losses that ``auto`` enumerates, in about a second."""
HIDDEN = (
    "these trials may miss the large losses of an adversary that has them on rare paths; "
    'the method "guarded" makes a guess'
)
"""Why ``auto`` makes no guess where no weight is bounded in advance."""
SECOND_SAMPLE = 1 << 96
"""Added to the seed for a second sample of the same play."""


@dataclass(frozen=True, kw_only=True)
class RareEvent:
    """A tail and a divergence at one epsilon.

    Attributes
    ----------
    epsilon : the point; the estimated epsilon(delta) if a delta was given.
    tail : Pr[L > epsilon], or of -L in experiment 1.
    delta : the hockey-stick divergence.
    at_delta : the interval of epsilon(delta), if a delta was given.
    method : how the final sample was drawn.
    theta : its fixed theta; None for the other methods.
    trials : the trials of the final sample.
    seconds, pilot_seconds : wall time of the final sample, and of choosing its measure.
    pilot_rounds : rounds that were played to choose it.
    curve : the same at further points.
    also : the same at a second confidence, from the same sample; None without one, or where exact.
    """

    epsilon: float
    tail: Estimate
    delta: Estimate
    at_delta: Estimate | None
    method: str
    theta: float | None
    trials: int
    seconds: float
    pilot_seconds: float
    curve: tuple[RareEvent, ...] = ()
    pilot_rounds: int = 0
    also: RareEvent | None = None


def estimate_rare(
    adversary: Callable[..., Any] | str,
    family: Guarantee | str,
    rounds: int,
    trials: int,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    experiment: int = 0,
    method: str = "auto",
    theta: float | None = None,
    seed: int = 0,
    relation: Relation = ADD_REMOVE,
    filter: Filter | str | None = None,
    confidence: float = 0.95,
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    curve: int = 0,
    also: float | None = None,
    progress: bool | None = None,
) -> RareEvent:
    """Estimate Pr[L > epsilon] and delta(epsilon) of an adversary.

    Parameters
    ----------
    adversary, family, rounds, trials, seed, relation, filter, jobs : as for ``simulate``.
    epsilon : the point; or give ``delta`` to estimate epsilon(delta).
    experiment : 0, or 1 for the exchanged direction.
    out : a folder for the finished blocks of the sample, to resume from; the pilot that chooses
        the measure is played again, and ``doob`` and ``splitting`` store nothing.
    curve : how many points around epsilon are estimated too, from the same sample; the intervals
        are not simultaneous. Points that the sample does not reach are left out.
    also : a second confidence, at which the same sample gives intervals.
    method : ``doob`` (exact, by recursion over the states and losses of a rule), ``covering`` (a
        measure that covers every path of a rule whose states can be enumerated), ``plain``,
        ``tilted`` (one theta, from a pilot unless ``theta`` is given), ``steered`` (theta by round
        and loss, learnt by cross-entropy), ``guarded`` (that, mixed with a measure that bounds its
        weights), ``splitting``. ``auto`` takes the first that applies of: doob; covering; plain if
        it suffices; one theta whose weights are bounded in advance; guarded.

    The ends of every interval are valid at every number of trials; for the guess see
    :class:`Estimate`. If a delta is given, tail and divergence at the estimated epsilon are
    measured on a second sample.

    Raises
    ------
    Refusal : too few trials reach the event, one weight dominates, or a second sample contradicts
        a guess; the message has a remedy.
    NotApplicable : the method does not fit the adversary.
    """
    if method not in METHODS:
        raise InvalidInput(f"no method {method!r}; there are {', '.join(METHODS)}")
    if (epsilon is None) == (delta is None):
        raise InvalidInput("give the epsilon to estimate at, or the delta to find epsilon(delta)")
    experiment = experiment_number(experiment)
    open_probability("confidence", confidence)
    if also is not None:
        open_probability("also", also)
    if delta is not None:
        open_probability("delta", delta)
    if theta is not None and method not in ("auto", "tilted"):
        raise InvalidInput(f"theta is for the method 'tilted'; {method!r} takes none")
    start = time.perf_counter()
    adversary, family = game_of(adversary, family, rounds)
    if isinstance(filter, str):
        filter = parse_filter(filter)
    s = Specification(
        adversary, family, rounds, trials, seed, relation=relation, filter=filter, sampling=plain()
    )
    if epsilon is not None:
        finite("epsilon", epsilon)
    require_distinguishable(family.core.pure_epsilon, s.rounds)
    question = Question(s, experiment, epsilon, delta, confidence)
    if whole("curve", curve, 0) and method == "splitting":
        raise InvalidInput("the method 'splitting' estimates at one point: leave out the curve")
    if out is not None and method in ("doob", "splitting"):
        raise InvalidInput(f"a folder keeps blocks of trials, and the method {method!r} plays none")
    if out is not None:
        folder_path(out)  # before a pilot plays
    if method == "doob":
        return by_doob(question, start, curve=curve)
    if method == "splitting":
        return replace(
            by_splitting(question, start),
            also=None if also is None else by_splitting(replace(question, confidence=also), start),
        )
    if method == "auto" and theta is None and out is None:
        with contextlib.suppress(NotApplicable):
            return by_doob(question, start, nodes=NODES_OF_AUTO, curve=curve)
    if method == "auto" and epsilon is not None and tail_ceiling(s, epsilon) == 0.0:
        return impossible(epsilon, trials, confidence)
    rehearsals = Rehearsals.of(s, experiment)
    with Progress(False) as bar, stage("choosing the measure", rehearsals.budget) as advance:
        rehearsals.advance = advance
        sampling = chosen(question, method, theta, bar.notice, rehearsals)
    pilot_seconds = time.perf_counter() - start
    final = replace(s, sampling=sampling)
    if out is None:
        result = Result.of(run(final, (experiment,), jobs, None, progress))
    else:
        with opened(out, final) as store:
            result = Result.of(run(final, (experiment,), jobs, store, progress))
    result.known(experiment)  # raises Refusal if a mechanism has no likelihood
    first, seconds = result, result.seconds
    at_delta = None if delta is None else first.epsilon(delta, experiment, confidence)
    point = epsilon if at_delta is None else at_delta.value
    assert point is not None
    if point == math.inf:
        raise Refusal(
            f"infinite losses alone are more probable than delta = {delta:g} in "
            f"{count_of(trials, 'trial')}: no epsilon is finite there"
        )
    if at_delta is not None:  # the first sample chose the point: its interval would not be valid
        result = Result.of(
            run(replace(final, seed=s.seed + SECOND_SAMPLE), (experiment,), jobs, None, progress)
        )
        seconds += result.seconds
    tail, at_point = measured_at(result, point, experiment, confidence, method)
    if sampling is None and tail.hits < MINIMUM_HITS:  # a weighted sample was refused above
        raise Refusal(
            f"{tail.hits} of {count_of(trials, 'plain trial')} lost more than {point:g}, "
            f"{MINIMUM_HITS} are "
            'needed: try more trials, or the method "covering", "tilted", "steered" or "splitting"'
        )
    if method == "auto":
        tail, at_point = (one.without_guess(HIDDEN) for one in (tail, at_point))
        at_delta = None if at_delta is None else at_delta.without_guess(HIDDEN)
    guesses = [*held_delta(point, at_point), *held_tail(beyond(point, rounds), tail)]
    if at_delta is not None and delta is not None:
        for held in held_epsilon(delta, at_delta):
            assert at_delta.guess is not None
            again = result.delta(at_delta.guess[1], experiment, 1.0 - 2.0 * ERROR)
            refuse_above(held, again.lower, "a second sample")
            guesses.append(held)
    refuse_if_contradicted(final, experiment, guesses)
    event = RareEvent(
        epsilon=point,
        tail=tail,
        delta=at_point,
        at_delta=at_delta,
        method=name_of(sampling),
        theta=sampling.theta if isinstance(sampling, Tilted | Covering) else None,
        trials=trials,
        seconds=seconds,
        pilot_seconds=pilot_seconds,
        pilot_rounds=rehearsals.spent,
    )

    if also is not None:
        tail, at_point = measured_at(result, point, experiment, also, method)
        at_delta = None if delta is None else first.epsilon(delta, experiment, also)
        wider = replace(event, tail=tail, delta=at_point, at_delta=at_delta)
        event = replace(event, also=without_guesses(wider) if method == "auto" else wider)

    def measured(epsilon: float) -> RareEvent:
        tail, delta = (of(epsilon, experiment, confidence) for of in (result.tail, result.delta))
        found = replace(event, epsilon=epsilon, tail=tail, delta=delta, at_delta=None, also=None)
        return without_guesses(found) if method == "auto" else found

    return replace(event, curve=tuple(reached(measured, around(point, curve))))


def without_guesses(event: RareEvent) -> RareEvent:
    """The event with the intervals that ``auto`` has: without guesses."""
    tail, delta = (one.without_guess(HIDDEN) for one in (event.tail, event.delta))
    at_delta = None if event.at_delta is None else event.at_delta.without_guess(HIDDEN)
    return replace(event, tail=tail, delta=delta, at_delta=at_delta)


def impossible(epsilon: float, trials: int, confidence: float) -> RareEvent:
    """The result if the family allows no loss above ``epsilon``."""
    zero = replace(exact(0.0, (0.0, 0.0), confidence), method="the family allows no such loss")
    return RareEvent(
        epsilon=epsilon, tail=zero, delta=zero, at_delta=None, method="exact", theta=None,
        trials=trials, seconds=0.0, pilot_seconds=0.0,
    )  # fmt: skip


def measured_at(
    result: Result, point: float, experiment: int, confidence: float, method: str
) -> tuple[Estimate, Estimate]:
    """The tail and the divergence at a point.

    If no trial reached it, ``auto`` has valid ends, and other methods raise Refusal.
    """
    try:
        return (
            result.tail(point, experiment, confidence),
            result.delta(point, experiment, confidence),
        )
    except Refusal as error:
        if method != "auto":
            raise
        s = result.specification
        found = []
        for of, ceiling in (
            (tail_log_bound, tail_ceiling(s, point)), (delta_log_bound, delta_ceiling(s, point)),
        ):  # fmt: skip
            bound = result.log_bound(of, experiment, point)
            most = (
                ceiling
                if bound is None
                else min(ceiling, upper_limit_without_hits(bound, s.trials, confidence))
            )
            leak = result.unseen_leak(experiment)[0]
            found.append(Estimate.refused(str(error), (0.0, min(1.0, most + leak)), confidence))
        return found[0], found[1]


def upper_limit_without_hits(log_bound: float, trials: int, confidence: float) -> float:
    """Upper limit of a mean of variables in [0, e^log_bound] all of which were 0."""
    alpha = (1.0 - confidence) / 2.0
    return -math.expm1(math.log(alpha) / trials) * math.exp(min(log_bound, 700.0))


def around(epsilon: float, points: int) -> list[float]:
    """So many points about ``epsilon``, from somewhat below to a little above."""
    reach = max(abs(epsilon), 1e-3)
    return [epsilon + reach * float(part) for part in np.linspace(-0.4, 0.15, points)]


def reached(measured: Callable[[float], RareEvent], points: Iterable[float]) -> Iterator[RareEvent]:
    """The events at those points that are not refused."""
    for point in points:
        with contextlib.suppress(Refusal):
            yield measured(point)


def by_doob(question: Question, start: float, nodes: int = NODES, curve: int = 0) -> RareEvent:
    """Exact values by recursion over all plays, without draws."""
    s, b, confidence = question.specification, question.experiment, question.confidence
    graph = enumerate_states(s, b, nodes)
    share = graph.rounding
    at_delta = None
    if question.delta is not None:
        ends = [
            graph.epsilon(question.delta * (1.0 + share)) - graph.spread,
            graph.epsilon(question.delta * (1.0 - share)) + graph.spread,
        ]
        slack = tolerance(ends[1], s.rounds) + 1e-12
        value = graph.epsilon(question.delta)
        at_delta = exact(value, (max(0.0, ends[0] - slack), ends[1] + slack), confidence)
    point = question.epsilon if at_delta is None else at_delta.value
    assert point is not None

    def recalled(epsilon: float) -> RareEvent:
        tail = graph.tail(epsilon)
        return RareEvent(
            epsilon=epsilon,
            tail=exact(tail, graph.tail_ends(epsilon), confidence),
            delta=exact(graph.delta(epsilon), graph.delta_ends(epsilon), confidence),
            at_delta=None,
            method="doob",
            theta=None,
            trials=0,
            seconds=0.0,
            pilot_seconds=time.perf_counter() - start,
        )

    points = tuple(recalled(epsilon) for epsilon in around(point, curve))
    return replace(recalled(point), at_delta=at_delta, curve=points)


def exact(value: float, ends: tuple[float, float], confidence: float) -> Estimate:
    """The estimate of a value that was computed by recursion, with certified ends."""
    return Estimate(
        value=value,
        lower=min(ends[0], value),
        upper=max(ends[1], value),
        confidence=confidence,
        method="exact, recursion over everything that can happen",
        hits=0,
        effective_sample_size=0.0,
        largest_weight_share=0.0,
        relative_standard_error=0.0,
    )


def by_splitting(question: Question, start: float) -> RareEvent:
    """Multilevel splitting."""
    if question.epsilon is None:
        raise NotApplicable(
            "splitting estimates at an epsilon: give an epsilon, or find epsilon(delta) by "
            'the method "plain", "tilted", "steered" or "doob"'
        )
    s, epsilon = question.specification, question.epsilon
    tail, delta = split(s, question.experiment, epsilon, s.trials, question.confidence)
    seconds = time.perf_counter() - start
    return RareEvent(
        epsilon=epsilon,
        tail=tail,
        delta=delta,
        at_delta=None,
        method="splitting",
        theta=None,
        trials=s.trials,
        seconds=seconds,
        pilot_seconds=0.0,
    )
