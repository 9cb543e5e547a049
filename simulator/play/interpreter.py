"""Play a block of a generator adversary, round by round in Python."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np

from simulator.adversaries.contract import Challenge, admit
from simulator.errors import Breach, DpcomposeError, NotApplicable
from simulator.mechanisms import Ask, Pair
from simulator.mechanisms.copies import own_copy
from simulator.mechanisms.interactive import Conversation, Conversations
from simulator.mechanisms.tilted import TiltedLaw, tilted_law
from simulator.play.changing import Watched, changed, watch
from simulator.play.faults import at, fault, limit_of
from simulator.play.outcome import Outcome
from simulator.play.sampling import Guarded, RoundByRound, level_at, phase_of, require_digits
from simulator.play.specification import Specification
from simulator.play.views import View, leave
from simulator.seeds import Stream, generator, record

MOST_MET = 1024
"""Challenges recorded in a block, where they are."""

MAX_PREPARED = 4096
"""Prepared challenges kept at once; an adversary with ever new ones must not fill the memory."""


class LossUnknown(NotApplicable):
    """A play that needs losses has met a mechanism that has no likelihood."""


class Ready(NamedTuple):
    """A challenge checked and prepared.

    Attributes
    ----------
    pair : its two output distributions.
    price : what a filter charges for it.
    limit : the largest absolute loss that its mechanism's promise allows; NaN where the mechanism
        has no likelihood, so that every loss is looked at.
    watched : the variables that it rests on, see :mod:`simulator.play.changing`.
    """

    pair: Pair
    price: tuple[float, float]
    limit: float
    watched: Watched


class Prepared:
    """Challenges that repeat are checked and prepared once: a mapping that fills itself.

    Where the sampling is tilted for experiment 1 the two databases change places, so that large
    losses of the pair are always the rare ones. Where no losses are needed, because every view is
    kept, mechanisms without a likelihood may be played.
    """

    def __init__(self, specification: Specification, b: int, *, losses_needed: bool = True) -> None:
        self.specification = specification
        self.losses_needed = losses_needed
        self.exchanged = bool(b) and specification.sampling is not None
        # an answer with this loss has probability 0 where it was drawn
        self.impossible = math.inf if b and not self.exchanged else -math.inf
        self.known: dict[Any, Ready] = {}
        self.laws: dict[tuple[int, int], tuple[Pair, TiltedLaw]] = {}
        self.conversations: Conversations | None = None
        self.met: dict[Any, Challenge] = {}

    def prepare(self, challenge: Any) -> Ready:
        """Check and prepare a challenge that was not seen lately; raises Breach."""
        s = self.specification
        pair = admit(challenge, s.family, s.relation)
        checked = Challenge(*challenge)
        guarantee = checked.mechanism.guarantee(s.relation)
        limit = limit_of(guarantee).constant
        if not checked.mechanism.has_likelihood:
            if self.losses_needed:
                raise LossUnknown(
                    f"{checked.mechanism!r} has no likelihood, so no loss is known: play it by "
                    "simulate without sampling, and audit the views"
                )
            limit = math.nan
        price = (0.0, 0.0) if s.filter is None else s.filter.price_of(checked.mechanism, s.relation)
        if not s.trust and len(self.met) < MOST_MET:
            self.met.setdefault(key_of(checked), checked)
        if self.exchanged:
            pair = admit((checked[1], checked[0], checked[2]), s.family, s.relation)
        if len(self.known) >= MAX_PREPARED:
            self.known.clear()
            self.laws.clear()
        # a black box is called anew each time, so nothing that it reads can be stale
        watched = watch(tuple(checked)) if checked.mechanism.has_likelihood else ()
        ready = Ready(pair, price, limit, watched or ())
        if watched is not None:
            with contextlib.suppress(TypeError):  # not hashable: prepared anew each time
                self.known[challenge] = ready
        return ready

    def asked(self, ask: Ask) -> Ready:
        """A message to what this trial has opened; it costs nothing more. Raises Breach."""
        conversations = self.conversations or Conversations()
        return Ready(conversations.asked(ask), (0.0, 0.0), math.nan, ())

    def answered(self, answer: Any) -> Any:
        """The answer of a mechanism without likelihood, with a handle for what it has opened."""
        if not isinstance(answer, Conversation):
            return answer
        assert self.conversations is not None
        return self.conversations.open(answer)

    def law(self, pair: Pair, level: int) -> TiltedLaw:
        """The pair's tilted law at a level of the sampling."""
        key = id(pair), level
        if key not in self.laws:
            if len(self.laws) >= MAX_PREPARED:
                self.laws.clear()
            assert isinstance(self.specification.sampling, RoundByRound)
            theta = float(self.specification.sampling.levels[level])
            law = tilted_law(pair, theta)
            require_digits("this mechanism", theta, law.psi)
            self.laws[key] = pair, law  # the pair is kept: its id stays its own
        return self.laws[key][1]


def key_of(value: Any) -> Any:
    """Something hashable that is equal for equal challenges, or for equal mechanisms."""
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value


class Trial:
    """One play of Algorithm 1, and what it leaves behind.

    Attributes
    ----------
    loss : the privacy loss so far; of tilted play for experiment 1 its negative.
    log_weight : ln dP_b/dQ so far.
    log_guard : the same for the guard of a guarded measure, and whether it is what ``guards``.
    answers, path : the answers and the running losses, where these are kept.
    """

    def __init__(self, keep_answers: bool, keep_path: bool) -> None:
        self.loss = 0.0
        self.log_weight = 0.0
        self.log_guard = 0.0
        self.guards = False
        self.answers: list[Any] | None = [] if keep_answers else None
        self.path: list[float] | None = [] if keep_path else None


Draw = Callable[[Pair, Trial, int], Any]
"""``draw(pair, trial, i)`` answers round ``i``."""


def plain_draw(b: int, noise: np.random.Generator) -> Draw:
    """Answer from the mechanism on database ``b``."""
    return lambda pair, trial, i: pair.sample(b, noise)


Observe = Callable[[Pair, int, int, float], None]
"""``observe(pair, i, level, loss)`` is called for every tilted answer, with its signed loss."""


def tilted_draw(
    prepared: Prepared, noise: np.random.Generator, observe: Observe | None = None
) -> Draw:
    """Answer from the tilted law, and keep the weight."""
    sampling = prepared.specification.sampling
    assert isinstance(sampling, RoundByRound)
    phases = phase_of(prepared.specification.rounds, sampling.grid.shape[0])
    guard = len(sampling.levels) - 1 if isinstance(sampling, Guarded) else -1

    def draw(pair: Pair, trial: Trial, i: int) -> Any:
        level = level_at(sampling, phases[i], trial.loss)
        law = prepared.law(pair, level)
        answer = (prepared.law(pair, guard) if trial.guards else law).draw(noise)
        loss = pair.loss(answer)
        if loss < np.inf:  # an infinite loss is drawn untilted: no weight
            trial.log_weight += law.psi - float(sampling.levels[level]) * loss
            if guard >= 0:
                trial.log_guard += prepared.law(pair, guard).psi - sampling.levels[-1] * loss
        if observe is not None:
            observe(pair, i, level, loss)
        return answer

    return draw


def play_interpreted(specification: Specification, b: int, block: int) -> Outcome:
    """Play one block of experiment ``b`` round by round in Python.

    A block that meets a mechanism without likelihood begins anew and keeps every view: they are
    all there is to know.
    """
    s = specification
    try:
        return play_keeping(s, b, block, s.views_in(block))
    except LossUnknown:
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
    needed = s.sampling is not None or kept < s.trials_in(block)
    prepared = Prepared(s, b, losses_needed=needed)
    draw = plain_draw(b, noise) if s.sampling is None else tilted_draw(prepared, noise)
    losses = np.empty(s.trials_in(block))
    log_weights = np.empty_like(losses) if s.sampling is not None else None
    trace = np.zeros((3, s.rounds)) if s.trace else None
    views = []
    for t in range(len(losses)):
        number = block * s.block_size + t
        trial = Trial(t < kept, s.trace)
        stood = record(coins) if trial.answers is not None else ()
        if isinstance(s.sampling, Guarded):
            trial.guards = noise.random() < s.sampling.share
        play_trial(prepared, number, coins, draw, trial)
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
    prepared: Prepared, number: int, coins: np.random.Generator, draw: Draw, trial: Trial
) -> None:
    """Play Algorithm 1 once; raises Breach, naming the round and the trial."""
    specification = prepared.specification
    known, prepare, impossible = prepared.known, prepared.prepare, prepared.impossible
    answers, path = trial.answers, trial.path
    if not prepared.losses_needed:
        prepared.conversations = Conversations(prepared.conversations)
    admits = type(specification.filter).step if specification.filter is not None else None
    purse = specification.filter.initial if specification.filter is not None else None
    i = 0
    handed = None
    try:
        playing = begin(specification, coins)
        send = playing.send
        for i in range(specification.rounds):
            try:
                challenge = send(handed)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                raise blamed(error) from error
            try:
                pair, price, limit, watched = known[challenge]
                if watched and changed(watched):
                    pair, price, limit, _ = prepare(challenge)
            except (KeyError, TypeError):
                ready = prepared.asked if isinstance(challenge, Ask) else prepare
                pair, price, limit, _ = ready(challenge)
            admitted = True
            if admits is not None:
                admitted, purse = admits(purse, *price)
            if admitted:
                answer = draw(pair, trial, i)
                loss = pair.loss(answer)
                if not abs(loss) <= limit or loss == impossible:  # NaN is not
                    if limit == limit:
                        checked = Challenge(*challenge)
                        raise fault(checked, specification.relation, answer, loss, impossible)
                    answer = prepared.answered(answer)
                trial.loss += loss
                handed = answer if type(answer) is float else own_copy(answer)
            else:
                answer = handed = float("nan")
            if answers is not None:
                answers.append(answer)
            if path is not None:
                path.append(trial.loss)
        leave(playing)
    except DpcomposeError as error:
        raise type(error)(at(i, number, str(error))) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
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


def blamed(error: BaseException) -> DpcomposeError:
    """The error to raise for what the adversary raised when it was handed an answer."""
    if isinstance(error, DpcomposeError):
        return error
    if isinstance(error, StopIteration):
        return Breach("the adversary stopped, but must yield in every round")
    return Breach(f"the adversary raised {type(error).__name__}: {error}")
