"""Play a block of a generator adversary, round by round in Python."""

from __future__ import annotations

from collections.abc import Callable, Generator
from math import inf, nan
from typing import Any

import numpy as np

from simulator.engine.interpreted.ahead import Ahead
from simulator.engine.interpreted.prepared import LossUnknown, Prepared
from simulator.engine.interpreted.ready import Ready
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.promises import at
from simulator.engine.sampling import Guarded, RoundByRound, level_chooser
from simulator.engine.specification import Specification
from simulator.engine.views.views import View, leave
from simulator.foundations.errors import Breach, DpcomposeError, NotApplicable
from simulator.foundations.seeds import Stream, generator, record
from simulator.mechanisms import Pair
from simulator.mechanisms.copies import own_copy


class Trial:
    """One play of Algorithm 1: its running loss and weight, and the answers that are kept.

    Attributes
    ----------
    loss : the privacy loss so far; in tilted play of experiment 1 its negative.
    log_weight : ln dP_b/dQ so far.
    log_guard : the same for the guard of a guarded measure; ``guards`` is whether it draws.
    answers, path : the answers and the running losses, where these are kept.
    keeps : whether any of them are.
    """

    __slots__ = ("answers", "guards", "keeps", "log_guard", "log_weight", "loss", "path")

    def __init__(self, keep_answers: bool, keep_path: bool) -> None:
        self.loss = 0.0
        self.log_weight = 0.0
        self.log_guard = 0.0
        self.guards = False
        self.answers: list[Any] | None = [] if keep_answers else None
        self.path: list[float] | None = [] if keep_path else None
        self.keeps = keep_answers or keep_path

    def keep(self, answer: Any) -> None:
        """Append a round's answer and running loss, where they are kept."""
        if self.answers is not None:
            self.answers.append(answer)
        if self.path is not None:
            self.path.append(self.loss)


Draw = Callable[[Ready, Trial, int], Any]
"""``draw(ready, trial, i)`` answers round ``i``."""


Plain = tuple[int, Ahead]
"""Database b, and its noise."""

Observe = Callable[[Pair, int, int, float], None]
"""``observe(pair, i, level, loss)`` is called for every tilted answer, with its signed loss."""


def tilted_draw(
    prepared: Prepared,
    noise: np.random.Generator,
    observe: Observe | None = None,
    ahead: Ahead | None = None,
) -> Draw:
    """Answer from the tilted law, and keep the weight; ``ahead`` holds the noise drawn ahead."""
    sampling = prepared.specification.sampling
    assert isinstance(sampling, RoundByRound)
    level_of = level_chooser(sampling, prepared.specification.rounds)
    thetas = sampling.levels.tolist()
    guard = len(thetas) - 1 if isinstance(sampling, Guarded) else -1
    rounds = prepared.specification.rounds

    def draw(ready: Ready, trial: Trial, i: int) -> Any:
        level = level_of(i, trial.loss)
        law = drawn = ready.laws.get(level) or prepared.law_of(ready, level)
        if guard >= 0:
            guarding = ready.laws.get(guard) or prepared.law_of(ready, guard)
            if trial.guards:
                drawn = guarding
        source = noise if ahead is None else ahead.source(drawn.draws, rounds - i)
        answer = drawn.draw(source)
        loss = ready.loss(ready.terms, answer)
        if loss < inf:  # an infinite loss is drawn untilted: no weight
            trial.log_weight += law.psi - thetas[level] * loss
            if guard >= 0:
                trial.log_guard += guarding.psi - thetas[guard] * loss
        if observe is not None:
            observe(ready.pair, i, level, loss)
        return answer

    return draw


def play_interpreted(specification: Specification, b: int, block: int) -> Outcome:
    """Play one block of experiment ``b`` round by round in Python.

    A block with a mechanism without likelihood is replayed with every view kept, as no losses are
    known.
    """
    s = specification
    try:
        return play_keeping(s, b, block, s.views_in(block))
    except LossUnknown:
        if s.filter is not None and s.filter.observes:
            raise NotApplicable(
                f"the {s.filter.name} filter depends on the realised losses: it needs mechanisms "
                "with a likelihood"
            ) from None
        if s.sampling is not None:
            raise
    return play_keeping(s, b, block, s.trials_in(block))


def play_keeping(specification: Specification, b: int, block: int, kept: int) -> Outcome:
    """Play one block and keep the views of its first ``kept`` trials.

    Raises LossUnknown where losses are needed and a mechanism has none: where not all views are
    kept, or where the answers are tilted by them.
    """
    s = specification
    coins = generator(s.seed, s.task, Stream.COINS, block)
    noise = generator(s.seed, s.task, Stream.mechanism(b), block)
    needed = s.sampling is not None or kept < s.trials_in(block) or s.observes
    prepared = Prepared(s, b, losses_needed=needed)
    ahead = Ahead(noise, s.trials * s.rounds)
    tilted = None if s.sampling is None else tilted_draw(prepared, noise, ahead=ahead)
    losses = np.empty(s.trials_in(block))
    log_weights = np.empty_like(losses) if s.sampling is not None else None
    trace = np.zeros((3, s.rounds)) if s.trace else None
    views = []
    for t in range(len(losses)):
        number = block * s.block_size + t
        trial = Trial(t < kept, s.trace)
        stood = record(coins) if trial.answers is not None else ()
        if isinstance(s.sampling, Guarded):
            ahead.put_back()
            trial.guards = noise.random() < s.sampling.share
        play_trial(prepared, number, coins, tilted or (b, ahead), trial)
        losses[t] = -trial.loss if prepared.exchanged else trial.loss
        if log_weights is not None:
            log_weights[t] = trial.log_weight
            if isinstance(s.sampling, Guarded):
                log_weights[t] = s.sampling.log_weight(trial.log_weight, trial.log_guard)
        if trial.answers is not None:
            views.append(View(b, number, stood, tuple(trial.answers)))
        if trace is not None:
            add_path(trace, np.array(trial.path))
    return Outcome(
        b, block, losses, trace, tuple(views),
        log_weights=log_weights, challenges=tuple(prepared.met.values()),
    )  # fmt: skip


def add_path(trace: np.ndarray, path: np.ndarray) -> None:
    """Add one trial's running losses, shape (rounds,), to the sums of a trace."""
    usable = np.isfinite(path)
    trace[0, usable] += path[usable]
    trace[1, usable] += path[usable] ** 2
    trace[2] += usable


def play_trial(
    prepared: Prepared, number: int, coins: np.random.Generator, draw: Draw | Plain, trial: Trial
) -> None:
    """Play Algorithm 1 once; a Breach names the round and the trial.

    Answers come from a ``Draw``, or from the mechanisms on database b for ``Plain`` play.
    """
    s = prepared.specification
    prepared.begin_trial()
    spent = None if s.filter is None else s.filter.initial
    observes, sign = s.observes, -1.0 if prepared.exchanged else 1.0
    by_draw = None if isinstance(draw, tuple) else draw
    b, ahead = draw if isinstance(draw, tuple) else (0, Ahead(coins, 0))
    left, tape, pattern, noise = ahead.left, ahead.tape, ahead.pattern, ahead.noise
    handed, i = None, 0
    try:
        adversary = begin(s, coins)
        send, prepare, filter_, keeps = adversary.send, prepared.ready, s.filter, trial.keeps
        for i in range(s.rounds):
            try:
                challenge = send(handed)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                raise adversary_raised(error) from error
            ready = prepare(challenge)
            admitted = True
            if filter_ is not None:
                admitted, spent = filter_.step(spent, *ready.price)
            if not admitted:
                answer = handed = nan
            else:
                if left and ready.draws == pattern:
                    answer = ready.sample(ready.terms, b, tape)
                elif by_draw is not None:
                    answer = by_draw(ready, trial, i)
                elif pattern is None:
                    answer = ready.sample(ready.terms, b, noise)
                else:
                    answer = ready.sample(ready.terms, b, ahead.source(ready.draws))
                    pattern = ahead.pattern
                loss = ready.loss(ready.terms, answer)
                if (
                    type(answer) is float
                    and ready.least <= loss <= ready.most
                    and -inf < answer < inf
                ):
                    handed = answer
                else:
                    answer = prepared.checked(ready, answer, loss)
                    handed = own_copy(answer)
                trial.loss += loss
                if observes:
                    spent = filter_.observe(spent, sign * loss)  # type: ignore[union-attr]
            if keeps:
                trial.keep(answer)
        leave(adversary)
    except DpcomposeError as error:
        raise type(error)(at(i, number, str(error))) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if is_internal(error):
            raise
        complaint = f"the mechanism raised {type(error).__name__}: {error}"
        raise Breach(at(i, number, complaint)) from error


def begin(specification: Specification, coins: np.random.Generator) -> Generator[Any, Any, None]:
    """Start the adversary; raises Breach unless it is a generator function that can be started."""
    try:
        playing = specification.adversary(coins)
    except (DpcomposeError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise Breach(f"the adversary raised {type(error).__name__}: {error}") from error
    if not hasattr(playing, "send"):
        raise Breach(f"the adversary must be a generator function, it returned {playing!r}")
    return playing


def adversary_raised(error: BaseException) -> DpcomposeError:
    """The error to raise for an error of the adversary."""
    if isinstance(error, DpcomposeError):
        return error
    if isinstance(error, StopIteration):
        return Breach("the adversary stopped, but must yield in every round")
    if isinstance(error, AttributeError) and error.name == "ask" and isinstance(error.obj, float):
        return Breach(
            f"the adversary sent a message by {error.obj!r}, which is no handle: a filter that "
            "refuses an opening answers NaN, so test isinstance(answer, Handle)"
        )
    return Breach(f"the adversary raised {type(error).__name__}: {error}")


def is_internal(error: BaseException) -> bool:
    """Whether an error was raised by the engine itself, and not by a mechanism or its query.

    The scalar functions of a mechanism are called from this module.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    module = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__"))
    return module.startswith("simulator.engine.") and module != __name__
