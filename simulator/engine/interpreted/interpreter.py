"""Play a block of a generator adversary, round by round in Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from simulator.adversaries.contract import Challenge, admit, triple
from simulator.engine.interpreted.drawn_ahead import NoiseSource
from simulator.engine.interpreted.fused import fused
from simulator.engine.interpreted.recognising import MAX_PREPARED, AtHand, Ready, Recognised
from simulator.engine.outcomes.outcome import Outcome
from simulator.engine.promises import allowed_losses, at, fault
from simulator.engine.sampling import Guarded, RoundByRound, level_at, phase_of, require_digits
from simulator.engine.specification import Specification
from simulator.engine.views.views import View, leave
from simulator.foundations.errors import Breach, DpcomposeError, NotApplicable
from simulator.foundations.seeds import Stream, generator, record
from simulator.identity.changes import NOTHING, changed, watch
from simulator.mechanisms import Ask, Pair
from simulator.mechanisms.base import ScalarPair
from simulator.mechanisms.copies import own_copy
from simulator.mechanisms.interactive import Conversation, Conversations
from simulator.mechanisms.tilted import TiltedLaw, tilted_law

MOST_MET = 1024
"""Challenges recorded in a block, where they are."""


class LossUnknown(NotApplicable):
    """A play that needs losses has met a mechanism that has no likelihood."""


class Prepared:
    """Challenges that repeat are checked and prepared once.

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
        self.recognised = Recognised()
        self.laws: dict[tuple[int, int], tuple[Pair, TiltedLaw]] = {}
        self.conversations: Conversations | None = None
        self.met: dict[Any, Challenge] = {}

    def ready(self, challenge: Any) -> Ready:
        """A challenge that is not among the objects met before, or a message. Raises Breach."""
        if isinstance(challenge, Ask):
            return self.asked(challenge)
        return self.recognised.get(triple(challenge), self.prepare)

    def prepare(self, challenge: tuple[Any, Any, Any]) -> Ready:
        """Check and prepare a challenge that was not recognised; raises Breach."""
        s = self.specification
        pair = admit(challenge, s.family, s.relation)
        checked = Challenge(*challenge)
        guarantee = checked.mechanism.guarantee(s.relation)
        allowed = allowed_losses(guarantee, self.impossible)
        if not checked.mechanism.has_likelihood:
            if self.losses_needed:
                raise LossUnknown(
                    f"{checked.mechanism!r} has no likelihood, so no loss is known: play it by "
                    "simulate without sampling, and audit the views"
                )
            allowed = math.nan, math.nan
        price = (0.0, 0.0) if s.filter is None else s.filter.price_of(checked.mechanism, s.relation)
        if not s.trust and len(self.met) < MOST_MET:
            self.met.setdefault(key_of(checked), checked)
        if self.exchanged:
            pair = admit((checked[1], checked[0], checked[2]), s.family, s.relation)
        # a black box is called anew each time, so nothing that it reads can be stale
        watched = watch(tuple(checked)) if checked.mechanism.has_likelihood else NOTHING
        if watched is None:
            return Ready(pair, price, allowed)
        return Ready(pair, price, allowed, (checked[0], checked[1], checked[2]), watched)

    def asked(self, ask: Ask) -> Ready:
        """A message to what this trial has opened; it costs nothing more. Raises Breach."""
        conversations = self.conversations or Conversations()
        return Ready(conversations.asked(ask), (0.0, 0.0), (math.nan, math.nan))

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


class PlainDraw:
    """Answer from the mechanism on database ``b``."""

    def __init__(self, b: int, noise: np.random.Generator) -> None:
        self.b = b
        self.noise = NoiseSource(noise)

    def takes(self, ready: Ready) -> bool:
        """Whether a challenge is played by scalar functions; they draw from here from now on."""
        if ready.scalar:
            assert isinstance(ready.pair, ScalarPair)
            scalars, params = ready.pair.scalars, ready.pair.params
            ready.play, ready.terms = fused(scalars, params, self.b, self.noise)
            ready.plays_for = self
        return ready.scalar

    def __call__(self, pair: Pair, trial: Trial, i: int) -> Any:
        """Draw from the pair."""
        return pair.sample(self.b, self.noise.lend())


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
    draw = PlainDraw(b, noise) if s.sampling is None else tilted_draw(prepared, noise)
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
    at_hand, by_id = prepared.recognised.by_mechanism, prepared.recognised.by_id
    nothing = tuple(AtHand())
    # scalar functions that answer as they are need no detour
    plain = draw if isinstance(draw, PlainDraw) else None
    answers, path = trial.answers, trial.path
    if not prepared.losses_needed:
        prepared.conversations = Conversations(prepared.conversations)
    admits = type(specification.filter).step if specification.filter is not None else None
    purse = specification.filter.initial if specification.filter is not None else None
    admitted = True
    i, total, handed = 0, trial.loss, None
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
            ready = None
            kind = type(challenge)
            if kind is tuple or kind is Challenge:
                try:
                    database_0, database_1, mechanism = challenge
                    found = at_hand.get(id(mechanism))
                    if found is not None:
                        if found[0] is not database_0 or found[1] is not database_1:
                            ids = id(database_0), id(database_1), id(mechanism)
                            found = by_id.get(ids, nothing)
                        # what AtHand says is to be looked at, here without a call
                        (
                            _, _, known, query, mechanism_kind, name, parameter, query_kind,
                            attribute, content,
                        ) = found  # fmt: skip
                        if query is None:
                            if known is not None and not changed(known.watched):
                                ready = known
                        elif type(mechanism) is mechanism_kind and type(query) is query_kind:
                            outside, inside = mechanism.__dict__, query.__dict__
                            if (
                                outside["query"] is query and outside[name] is parameter
                                and inside[attribute] is content
                                and len(outside) == 2 and len(inside) == 1
                            ):  # fmt: skip
                                ready = known
                except (ValueError, KeyError):  # no triple; an attribute was deleted
                    pass
            if ready is None:
                ready = prepared.ready(challenge)
            if admits is not None:
                admitted, purse = admits(purse, *ready.price)
            if admitted:
                if ready.plays_for is plain or (plain is not None and plain.takes(ready)):
                    answer, loss = ready.play(ready.terms)
                    handed = answer
                    finite = answer - answer == 0.0
                else:
                    trial.loss = total
                    answer = draw(ready.pair, trial, i)
                    loss = ready.pair.loss(answer)
                    handed = None
                    finite = True  # or its pair has said that it is not
                if not (finite and ready.least <= loss <= ready.most):
                    if ready.least == ready.least:
                        checked = Challenge(*challenge)
                        raise fault(
                            checked, specification.relation, answer, loss, prepared.impossible
                        )
                    answer = prepared.answered(answer)
                total += loss
                if handed is None:
                    handed = own_copy(answer)
            else:
                answer = handed = float("nan")
            if answers is not None:
                answers.append(answer)
            if path is not None:
                path.append(total)
        trial.loss = total
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
