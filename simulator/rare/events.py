"""Estimate a tail and a hockey-stick divergence that no counting can reach."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from simulator.data.databases import ADD_REMOVE, Relation
from simulator.errors import InvalidInput, NotApplicable, Refusal
from simulator.estimation import Estimate, delta_log_bound, weighted_delta, weighted_tail
from simulator.estimation.log_mean import MINIMUM_HITS
from simulator.estimation.weighted import useful
from simulator.play.block import total_psi_bound
from simulator.play.sampling import RoundByRound, Sampling, Tilted
from simulator.play.specification import Specification
from simulator.rare.doob import enumerate_states
from simulator.rare.pilot import TRIALS, log_weighted_mean, pilot_tilt, relative_error
from simulator.rare.rehearsal import plain, rehearse
from simulator.rare.splitting import split
from simulator.rare.steering import aim, steer
from simulator.rare.witness import refuse_if_contradicted
from simulator.run.simulate import run
from simulator.seeds import Pilot, Stream, generator
from simulator.store import RunStore
from simulator.theory.filters import Filter
from simulator.theory.guarantees import Guarantee
from simulator.validation import experiment_number, finite, open_probability

METHODS = ("auto", "plain", "tilted", "steered", "doob", "splitting")
PLAIN_ENOUGH = 30.0
"""Relative error of one plain trial up to which ``auto`` samples the experiment itself."""
GOOD = 4.0
"""Relative error of one tilted trial with which ``auto`` is content: 1.3% with 100,000."""


@dataclass(frozen=True, kw_only=True)
class RareEvent:
    """A tail and a divergence at one epsilon.

    Attributes
    ----------
    epsilon : where they are; the estimated epsilon(delta) when a delta was asked.
    tail : Pr[L > epsilon], or of -L in experiment 1.
    delta : the hockey-stick divergence.
    at_delta : the interval of epsilon(delta), when a delta was asked.
    method : how the final sample was drawn.
    theta : its fixed theta; None for the other methods.
    trials : how many trials it has.
    seconds : wall time of the final sample, and of choosing its measure.
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


def estimate_rare(
    adversary: Callable[..., Any],
    family: Guarantee,
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
    filter: Filter | None = None,
    confidence: float = 0.95,
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> RareEvent:
    """Estimate Pr[L > epsilon] and delta(epsilon) of an adversary, however small.

    Parameters
    ----------
    adversary, family, rounds, trials, seed, relation, filter, jobs : as for ``simulate``.
    epsilon : where to estimate; or give ``delta`` to find epsilon(delta).
    experiment : 0, or 1 for the exchanged direction.
    out : a folder to keep the finished blocks of the sample in, and to resume from; the pilot
        that chooses the measure is played again, and ``doob`` and ``splitting`` store nothing.
    method : ``plain``, ``tilted`` (one theta, from a pilot unless ``theta`` is given),
        ``steered`` (theta by round and loss, learnt by cross-entropy), ``doob`` (the
        zero-variance measure, for rules with few states), ``splitting``; ``auto`` rehearses
        plain, tilted and steered sampling on held-out draws and takes the best.

    Raises
    ------
    Refusal : too few trials reach the event, or one weight dominates; says what to try.
    NotApplicable : the method does not fit the adversary.
    """
    if method not in METHODS:
        raise InvalidInput(f"no method {method!r}; there are {', '.join(METHODS)}")
    if (epsilon is None) == (delta is None):
        raise InvalidInput("give the epsilon to estimate at, or the delta to find epsilon(delta)")
    experiment = experiment_number(experiment)
    open_probability("confidence", confidence)
    if delta is not None:
        open_probability("delta", delta)
    if theta is not None and method not in ("auto", "tilted"):
        raise InvalidInput(f'theta is for method="tilted"; method="{method}" takes none')
    start = time.perf_counter()
    s = Specification(
        adversary, family, rounds, trials, seed, relation=relation, filter=filter, sampling=plain()
    )
    if epsilon is not None:
        finite("epsilon", epsilon)
    question = Question(s, experiment, epsilon, delta, confidence)
    if out is not None and method in ("doob", "splitting"):
        raise InvalidInput(f"out= stores blocks of trials, and method={method!r} plays none")
    if method == "doob":
        return by_doob(question, start)
    if method == "splitting":
        return by_splitting(question, start)
    sampling = chosen(question, method, theta)
    pilot_seconds = time.perf_counter() - start
    final = replace(s, sampling=sampling)
    if out is None:
        result = run(final, (experiment,), jobs, None, progress)
    else:
        with RunStore.open(out, final.identity()) as store:
            result = run(final, (experiment,), jobs, store, progress)
    at_delta = None if delta is None else result.epsilon(delta, experiment, confidence)
    point = epsilon if at_delta is None else at_delta.value
    assert point is not None
    tail = result.tail(point, experiment, confidence)
    if tail.hits < MINIMUM_HITS:  # a weighted sample has refused by itself
        raise Refusal(
            f"{tail.hits} of {trials} plain trials lost more than {point:g}, {MINIMUM_HITS} are "
            'needed: try more trials, or method="tilted", "steered", "doob" or "splitting"'
        )
    at_point = result.delta(point, experiment, confidence)
    if isinstance(sampling, Tilted):
        refuse_if_contradicted(s, experiment, point, sampling, at_point)
    return RareEvent(
        epsilon=point,
        tail=tail,
        delta=at_point,
        at_delta=at_delta,
        method=name_of(sampling),
        theta=sampling.theta if isinstance(sampling, Tilted) else None,
        trials=trials,
        seconds=result.seconds,
        pilot_seconds=pilot_seconds,
    )


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
    if sampling is None:
        return "plain"
    return "tilted" if isinstance(sampling, Tilted) else "steered"


def chosen(question: Question, method: str, theta: float | None) -> Sampling | None:
    """The measure to draw the final sample from; None for the experiment itself."""
    if method == "plain":
        return None
    if theta is not None:
        return Tilted(theta)
    s, b = question.specification, question.experiment
    try:
        epsilon, start = question.aimed()
        if method == "tilted":
            return pilot_tilt(s, b, epsilon)[0]
        if method == "steered":
            return steer(s, b, epsilon, start=start)[0]
        return best_of_all(s, b, epsilon, start)
    except NotApplicable:
        if method == "auto":  # no tilted law: plain sampling, which refuses if it is not enough
            return None
        raise


def best_of_all(
    s: Specification, b: int, epsilon: float, start: RoundByRound | None = None
) -> Sampling | None:
    """The measure to trust most, by its relative error per trial on held-out draws.

    A good fixed theta whose interval needs no asymptotics comes before all else: a rehearsal
    cannot see the paths that a measure never takes, a bound known in advance covers them.
    """
    if (
        relative_error(rehearse(s, b, plain(), 2 * TRIALS, number=Pilot.PLAIN_ERROR), epsilon)
        <= PLAIN_ENOUGH
    ):
        return None
    try:
        tilted, error = pilot_tilt(s, b, epsilon)
    except Refusal:
        return steer(s, b, epsilon, start=start)[0]
    if error <= GOOD and bounded_in_advance(s, b, tilted, epsilon):
        return tilted
    try:
        steered, error_steered = steer(s, b, epsilon, start=start)
    except Refusal:
        return tilted
    return steered if error_steered <= error else tilted


def bounded_in_advance(s: Specification, b: int, tilted: Tilted, epsilon: float) -> bool:
    """Whether the bound on the weighted variable is of use for as many trials as will be played."""
    psi = total_psi_bound(replace(s, sampling=tilted), b)
    if not math.isfinite(psi):
        return False
    played = rehearse(s, b, tilted, 2 * TRIALS, number=Pilot.WEIGHT_BOUND)
    value = log_weighted_mean(played, epsilon)
    return useful(delta_log_bound(tilted.theta, psi, epsilon), value, s.trials)


def by_doob(question: Question, start: float) -> RareEvent:
    """Exact recursion, then a sample from the zero-variance measure."""
    s, b, confidence = question.specification, question.experiment, question.confidence
    graph = enumerate_states(s, b)
    at_delta = None
    if question.delta is not None:
        at_delta = exact(graph.epsilon(question.delta), confidence, s.trials)
    epsilon = question.epsilon if at_delta is None else at_delta.value
    assert epsilon is not None
    pilot_seconds = time.perf_counter() - start
    start = time.perf_counter()
    noise = generator(s.seed, s.task, Stream.mechanism(b), 0)
    signed, log_weights = graph.sample(epsilon, s.trials, noise)
    losses = -signed if b else signed
    return RareEvent(
        epsilon=epsilon,
        tail=weighted_tail(losses, log_weights, epsilon, b, confidence, rounds=s.rounds),
        delta=weighted_delta(losses, log_weights, epsilon, b, confidence),
        at_delta=at_delta,
        method="doob",
        theta=None,
        trials=s.trials,
        seconds=time.perf_counter() - start,
        pilot_seconds=pilot_seconds,
    )


def exact(value: float, confidence: float, trials: int) -> Estimate:
    """A value that a recursion gave, exact but for rounding."""
    slack = 1e-9 * abs(value)
    method = "exact, recursion over everything that can happen"
    return Estimate(
        value=value,
        lower=value - slack,
        upper=value + slack,
        confidence=confidence,
        method=method,
        hits=trials,
        effective_sample_size=trials,
        largest_weight_share=1.0 / trials,
        relative_standard_error=0.0,
    )


def by_splitting(question: Question, start: float) -> RareEvent:
    """Multilevel splitting."""
    if question.epsilon is None:
        raise NotApplicable(
            "splitting estimates at an epsilon: give epsilon=, or find epsilon(delta) by "
            'method="plain", "tilted", "steered" or "doob"'
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
