"""Play one block of one experiment. Pure: (specification, b, block) gives the outcome.

This is Algorithm 1 of Roth 2011 (Lecture 4), Compose(A, M, k, b), played trial after trial. A
generator adversary is interpreted here; a :class:`~simulator.adversaries.contract.Rule` is handed
to the compiled kernel of :mod:`simulator.kernels`.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from simulator.adversaries.contract import Rule, admit
from simulator.adversaries.fingerprint import fingerprint
from simulator.databases import ADD_REMOVE, Relation
from simulator.errors import Breach, DpcomposeError, InvalidInput
from simulator.kernels import Engine
from simulator.mechanisms import Pair
from simulator.seeds import Stream, generator, record
from simulator.theory.guarantees import Guarantee
from simulator.validation import whole
from simulator.views import View

GENERATOR_BLOCK_ROUNDS = 1 << 17
RULE_BLOCK_ROUNDS = 1 << 22
"""Rounds in a block: some tenths of a second each, so that Ctrl-C loses little."""

MAX_PREPARED = 4096
"""Prepared challenges kept at once; an adversary with ever new ones must not fill the memory."""


@dataclass(frozen=True)
class Specification:
    """Everything that a result depends on, besides the version of the code.

    Attributes
    ----------
    adversary : a generator function or a Rule.
    family : the class M that the mechanisms must belong to.
    rounds : k, at least 1.
    trials : how often each experiment is played.
    seed : the root seed.
    relation : when two databases are neighbours.
    block_size : trials that share one seed; 0 chooses it from the number of rounds.
    keep_views : the views of the first so many trials are kept.
    trace : whether to record the moments of the loss along the rounds.
    """

    adversary: Callable[..., Any]
    family: Guarantee
    rounds: int
    trials: int
    seed: int = 0
    relation: Relation = ADD_REMOVE
    block_size: int = 0
    keep_views: int = 0
    trace: bool = False
    task: int = field(init=False, repr=False, default=0)

    def __post_init__(self) -> None:
        if not callable(self.adversary):
            raise InvalidInput(
                f"the adversary must be a generator function or a Rule, not {self.adversary!r}"
            )
        if not isinstance(self.family, Guarantee):
            raise InvalidInput(
                f"the family must be a guarantee such as PureDP(0.2), not {self.family!r}"
            )
        whole("rounds", self.rounds)
        whole("trials", self.trials)
        whole("seed", self.seed, least=0)
        whole("keep_views", self.keep_views, least=0)
        if whole("block_size", self.block_size, least=0) == 0:
            budget = RULE_BLOCK_ROUNDS if self.is_rule else GENERATOR_BLOCK_ROUNDS
            object.__setattr__(self, "block_size", max(1, min(1 << 16, budget // self.rounds)))
        text = repr(sorted((k, v) for k, v in self.describe().items() if k != "trials"))
        digest = hashlib.sha256(text.encode()).digest()
        object.__setattr__(self, "task", int.from_bytes(digest[:8], "big"))

    @property
    def is_rule(self) -> bool:
        """Whether the adversary is a rule over a menu."""
        return isinstance(self.adversary, Rule)

    @property
    def blocks(self) -> int:
        """How many blocks each experiment has."""
        return -(-self.trials // self.block_size)

    def trials_in(self, block: int) -> int:
        """How many trials block number ``block`` plays."""
        return min(self.block_size, self.trials - block * self.block_size)

    def views_in(self, block: int) -> int:
        """How many of the block's first trials keep their views."""
        return max(0, min(self.trials_in(block), self.keep_views - block * self.block_size))

    @property
    def name(self) -> str:
        """The adversary's name."""
        for attribute in ("name", "__name__"):
            if named := getattr(self.adversary, attribute, ""):
                return str(named)
        return type(self.adversary).__name__

    def describe(self) -> dict[str, Any]:
        """What seeds the draws, in words and numbers: equal descriptions draw equal numbers."""
        return {
            "adversary": self.name,
            "family": str(self.family),
            "rounds": self.rounds,
            "trials": self.trials,
            "seed": self.seed,
            "relation": str(self.relation),
            "block_size": self.block_size,
        }

    def identity(self) -> dict[str, Any]:
        """The description, with all else that the recorded result depends on."""
        return self.describe() | {
            "keep_views": self.keep_views,
            "trace": self.trace,
            "code": fingerprint(self.adversary),
        }


@dataclass(frozen=True)
class Outcome:
    """What one block measured.

    Attributes
    ----------
    losses : float64, shape (trials of the block,), the privacy losses of the views.
    trace : float64, shape (3, rounds), or None: sums over the trials of the finite losses so
        far, of their squares, and the number of them.
    views : the kept views.
    """

    experiment: int
    block: int
    losses: np.ndarray
    trace: np.ndarray | None = None
    views: tuple[View, ...] = ()

    def arrays(self) -> dict[str, np.ndarray]:
        """The outcome as named arrays, fit for storage."""
        named = {"losses": self.losses}
        if self.trace is not None:
            named["trace"] = self.trace
        if self.views:
            named["trials"] = np.array([view.trial for view in self.views])
            named["coins"] = np.array([view.coins for view in self.views], dtype=np.uint64)
            named["answers"] = np.array([view.answers for view in self.views])
        return named

    @classmethod
    def of_arrays(cls, experiment: int, block: int, named: Mapping[str, np.ndarray]) -> Outcome:
        """Inverse of ``arrays``."""
        views = tuple(
            View(experiment, int(trial), tuple(map(int, coins)), tuple(answers))
            for trial, coins, answers in zip(
                named.get("trials", ()), named.get("coins", ()), named.get("answers", ())
            )
        )
        return cls(experiment, block, named["losses"], named.get("trace"), views)


class Prepared:
    """Challenges that repeat are checked and prepared once: a mapping that fills itself."""

    def __init__(self, family: Guarantee, relation: Relation) -> None:
        self.family, self.relation = family, relation
        self.pairs: dict[Any, Pair] = {}

    def admit(self, challenge: Any) -> Pair:
        """Check and prepare a challenge that was not seen lately; raises Breach."""
        pair = admit(challenge, self.family, self.relation)
        if len(self.pairs) >= MAX_PREPARED:
            self.pairs.clear()
        with contextlib.suppress(TypeError):  # not hashable: prepared anew each time
            self.pairs[challenge] = pair
        return pair

    def find(self, challenge: Any) -> Pair:
        """The prepared pair of a challenge."""
        try:
            return self.pairs[challenge]
        except (KeyError, TypeError):
            return self.admit(challenge)


def play_block(specification: Specification, b: int, block: int) -> Outcome:
    """Play one block of experiment ``b``, by the compiled kernel where the adversary is a rule."""
    if isinstance(specification.adversary, Rule):
        return play_rule(specification, b, block)
    return play_interpreted(specification, b, block)


@lru_cache(maxsize=32)
def engine_for(rule: Rule, family: Guarantee, relation: Relation) -> Engine:
    """The rule's kernel, compiled once in each process."""
    return Engine.build(rule, family, relation)


def play_rule(specification: Specification, b: int, block: int) -> Outcome:
    """Play one block of experiment ``b`` with the kernel of a rule."""
    s = specification
    engine = engine_for(s.adversary, s.family, s.relation)
    coins = generator(s.seed, s.task, Stream.COINS, block)
    noise = generator(s.seed, s.task, Stream.mechanism(b), block)
    first = block * s.block_size
    losses = np.empty(s.trials_in(block))
    trace = np.zeros((3, s.rounds)) if s.trace else None
    views = []
    kept = s.views_in(block)
    for t in range(kept):  # one at a time, to record where the coins stood
        state = record(coins)
        answers = np.empty((1, s.rounds))
        engine.play(b, coins, noise, losses[t : t + 1], s.rounds, trace, answers, first + t)
        views.append(View(b, first + t, state, tuple(answers[0].tolist())))
    engine.play(b, coins, noise, losses[kept:], s.rounds, trace, None, first + kept)
    return Outcome(b, block, losses, trace, tuple(views))


def play_interpreted(specification: Specification, b: int, block: int) -> Outcome:
    """Play one block of experiment ``b`` round by round in Python."""
    s = specification
    coins = generator(s.seed, s.task, Stream.COINS, block)
    noise = generator(s.seed, s.task, Stream.mechanism(b), block)
    prepared = Prepared(s.family, s.relation)
    losses = np.empty(s.trials_in(block))
    trace = np.zeros((3, s.rounds)) if s.trace else None
    views = []
    for t in range(len(losses)):
        trial = block * s.block_size + t
        kept: list[Any] | None = [] if t < s.views_in(block) else None
        path: list[float] | None = [] if trace is not None else None
        state = record(coins) if kept is not None else ()
        losses[t] = play_trial(s, b, trial, coins, noise, prepared, kept, path)
        if kept is not None:
            views.append(View(b, trial, state, tuple(kept)))
        if trace is not None:
            add_path(trace, np.array(path))
    return Outcome(b, block, losses, trace, tuple(views))


def add_path(trace: np.ndarray, path: np.ndarray) -> None:
    """Add one trial's running losses, shape (rounds,), to the sums of a trace."""
    usable = np.isfinite(path)
    trace[0, usable] += path[usable]
    trace[1, usable] += path[usable] ** 2
    trace[2] += usable


def play_trial(
    specification: Specification,
    b: int,
    trial: int,
    coins: np.random.Generator,
    noise: np.random.Generator,
    prepared: Prepared,
    kept: list[Any] | None,
    path: list[float] | None,
) -> float:
    """Play Algorithm 1 once and return the view's privacy loss.

    Appends the answers to ``kept`` and the running losses to ``path`` where these are given.
    """
    pairs, find = prepared.pairs, prepared.find
    loss = 0.0
    i = 0
    answer = None
    try:
        playing = specification.adversary(coins)
        if not hasattr(playing, "send"):
            raise Breach(f"the adversary must be a generator function, it returned {playing!r}")
        send = playing.send
        for i in range(specification.rounds):  # noqa: B007 (a breach names it)
            try:
                challenge = send(answer)
            except StopIteration:
                raise Breach("the adversary stopped, but must yield in every round") from None
            except DpcomposeError:
                raise
            except Exception as error:
                raise Breach(f"the adversary raised {type(error).__name__}: {error}") from error
            try:
                pair = pairs[challenge]
            except (KeyError, TypeError):
                pair = find(challenge)
            answer = pair.sample(b, noise)
            loss += pair.loss(answer)
            if kept is not None:
                kept.append(answer)
            if path is not None:
                path.append(loss)
            if loss != loss:
                raise Breach(f"the loss of answer {answer!r} is not a number")
        playing.close()
    except DpcomposeError as error:
        raise type(error)(at(i, trial, str(error))) from error
    except Exception as error:
        complaint = f"the mechanism raised {type(error).__name__}: {error}"
        raise Breach(at(i, trial, complaint)) from error
    return loss


def at(i: int, trial: int, complaint: str) -> str:
    """Say where a breach happened; rounds are counted from 1, trials from 0."""
    return f"round {i + 1}, trial {trial}: {complaint}"
