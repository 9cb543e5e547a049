"""The sources of an audit's answers: a callable, or recorded answers."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from simulator.auditing.audits.call_thread import CallClock, CallThread
from simulator.auditing.audits.repeats import surprise
from simulator.auditing.evidence.answers import (
    Answers,
    as_records,
    categories,
    category,
    settled,
    settled_one,
    shown,
)
from simulator.auditing.evidence.contents import raised
from simulator.foundations.errors import InvalidInput
from simulator.foundations.seeds import Stream, generator

TASK = 12
"""The task of an audit's generators, see :mod:`simulator.foundations.seeds`."""

_GENERATORS = ("rng", "generator", "coins", "random_state")
_COUNTS = ("n", "size", "count", "samples", "num_samples", "number")
_HEAD = 256
"""The number of first answers of a batch that are compared with another batch."""
_MOST_CHECKS = 3
_LEAST_CHECKED = 16
_TOO_SURPRISING = 50.0
"""-ln of the largest probability of equal batches that is taken for chance."""


class AnswerSource(Protocol):
    """Answers by pair of inputs and by input.

    A source of long answers also has a method ``transcript(answer)``, which returns the lines of
    one.
    """

    @property
    def names(self) -> Sequence[str]:
        """Each pair of inputs in words."""

    def inputs(self, pair: int) -> tuple[Any, Any] | None:
        """The two inputs, if they are known."""

    def draw(self, pair: int, b: int, n: int) -> Answers:
        """The next ``n`` answers on input ``b`` of a pair."""

    def require_answers(self) -> None:
        """Raise InvalidInput if there are no answers to use."""

    def require_fresh(self, pair: int) -> None:
        """Raise InvalidInput if later draws of a pair repeat the first ones."""

    def reproducible(self, pair: int) -> bool:
        """Whether the seed replays the draws."""

    def warnings(self, pair: int) -> Sequence[str]:
        """Lines on defects of the source, such as answers that never vary."""

    def unaudited(self, pair: int) -> str:
        """Why nothing was audited: every answer is the same on both inputs; or ""."""


WITH_NOISE = "a mechanism with noise answers differently at every call"


class Steady:
    """Whether all answers to one input are the same; ``only`` is the category of that one."""

    def __init__(self) -> None:
        self.only: Hashable | None = None
        self.varied = False

    def add(self, answers: Iterable[Any]) -> None:
        """Compare new answers with the first one, until one differs."""
        for answer in () if self.varied else answers:
            kind = category(answer)
            self.only = kind if self.only is None else self.only
            if kind != self.only:
                self.only, self.varied = None, True
                return


def unaudited(both: Sequence[Steady]) -> str:
    """Why nothing was audited on two inputs, or ""."""
    if both[0].only is None or both[0].only != both[1].only:
        return ""
    return (
        f"every answer is the same, on both inputs: nothing was audited; {WITH_NOISE}: choose "
        "inputs on which it answers, or test what draws the noise"
    )


@dataclass
class Recorded:
    """Recorded answers, such as the views that a simulation kept."""

    answers: tuple[Answers, Answers]
    name: str = "the recorded answers"

    def __post_init__(self) -> None:
        self.used = [0, 0]
        self.steady = Steady(), Steady()

    @property
    def names(self) -> Sequence[str]:
        """A single pair."""
        return [self.name]

    def inputs(self, pair: int) -> tuple[Any, Any] | None:
        """None: the inputs are not known."""
        return None

    def draw(self, pair: int, b: int, n: int) -> Answers:
        """The next ``n`` answers."""
        start = self.used[b]
        self.used[b] = start + n
        answers = self.answers[b][start : start + n]
        self.steady[b].add(answers)
        return answers

    def require_answers(self) -> None:
        """Do nothing: recorded answers exist."""

    def require_fresh(self, pair: int) -> None:
        """Do nothing: recorded answers are drawn once."""

    def reproducible(self, pair: int) -> bool:
        """True: recorded answers do not change."""
        return True

    def warnings(self, pair: int) -> Sequence[str]:
        """None, but that nothing was audited."""
        reason = self.unaudited(pair)
        return [reason] if reason else []

    def unaudited(self, pair: int) -> str:
        """Why nothing was audited: every answer is the same on both inputs; or ""."""
        return unaudited(self.steady)


class Sampler:
    """A callable: ``sample(input, n, rng)``, ``sample(input, rng)`` or ``sample(input)``.

    It is called on a separate thread, so that a call that does not return ends the audit with an
    error.

    Parameters
    ----------
    sample : the mechanism. A second parameter named n, size, count or samples is the number of
        answers; any other is a generator.
    pairs : pairs of inputs.
    seed : of the generators that it receives.
    time_limit : seconds that one call may take.
    """

    def __init__(
        self,
        sample: Callable[..., Any],
        pairs: Sequence[tuple[Any, Any]],
        seed: int,
        time_limit: float,
    ) -> None:
        self.sample = sample
        self.all_inputs = [(a, b) for a, b in pairs]
        self.seed = seed
        self.time_limit = time_limit
        self.batched, self.seeded = shape_of(sample)
        self.batches: dict[tuple[int, int], int] = {}
        self.first: dict[tuple[int, int], list[Any]] = {}
        self.first_count: dict[tuple[int, int], int] = {}
        self.repeats: dict[tuple[int, int], float] = {}
        self.steady: dict[tuple[int, int], Steady] = {}
        self.seen = _Seen()
        self._calls = CallThread()

    @property
    def names(self) -> Sequence[str]:
        """Each pair of inputs in words."""
        return [f"{shown(a)} and {shown(b)}" for a, b in self.all_inputs]

    def inputs(self, pair: int) -> tuple[Any, Any] | None:
        """The two inputs of a pair."""
        return self.all_inputs[pair]

    def draw(self, pair: int, b: int, n: int) -> Answers:
        """The next ``n`` answers; raises InvalidInput if they repeat or cannot be used."""
        key = pair, b
        batch = self.batches.get(key, 0)
        self.batches[key] = batch + 1
        answers = self._answers(pair, b, n, batch)
        self.steady.setdefault(key, Steady()).add(answers)
        if self.repeats.get(key, 0.0) > -math.inf:
            self._compare(key, answers, batch)
        return answers

    def _compare(self, key: tuple[int, int], answers: Answers, batch: int) -> None:
        """Compare how a call begins with the first call, until they differ."""
        head = categories(answers[:_HEAD])
        earlier = self.first.setdefault(key, head)
        self.first_count.setdefault(key, len(answers) if self.batched else len(head))
        if batch and type(head[0]) is type(earlier[0]):  # both by bits, or both by category
            self.repeats[key] = self.repeats.get(key, 0.0) + surprise(head, earlier)
            if self.repeats[key] > _TOO_SURPRISING:
                raise InvalidInput(
                    "sample gives the same answers at every call: it fixes its own seed, and draws "
                    "that repeat are no evidence; let it draw from the generator that it receives"
                )

    def require_fresh(self, pair: int) -> None:
        """Draw more where every call began as the first, until that is chance or an error."""
        for _ in range(_MOST_CHECKS):
            for b in (0, 1):
                if self.repeats.get((pair, b), 0.0) > 0.0:
                    self.draw(pair, b, max(len(self.first[pair, b]), _LEAST_CHECKED))

    def reproducible(self, pair: int) -> bool:
        """Whether the same seed gives the first answers again.

        The number of answers of the call is the same, because the draws may depend on it.
        """
        return all(self._again(key) == self.first[key] for key in self.first if key[0] == pair)

    def _again(self, key: tuple[int, int]) -> list[Any]:
        """The first answers, drawn again."""
        answers = self._answers(*key, self.first_count[key], 0)
        return categories(answers[: len(self.first[key])])

    def _answers(self, pair: int, b: int, n: int, batch: int) -> Answers:
        rng = generator(self.seed, TASK + pair, Stream.mechanism(b), batch)
        given = self.all_inputs[pair][b]
        calls = self._batch if self.batched else self._one_by_one
        before = "" if self.seen.drew_from_rng else repr(rng.bit_generator.state)
        answers = self._calls.run(lambda clock: calls(given, n, rng, clock), self.time_limit)
        if before:
            self.seen.drew_from_rng = repr(rng.bit_generator.state) != before
        return answers

    def warnings(self, pair: int) -> Sequence[str]:
        """Lines on answers that do not depend on the generator, or do not vary."""
        if reason := self.unaudited(pair):
            return [reason]
        if all(self.steady[pair, b].only is not None for b in (0, 1)):
            return [f"every answer is the same on each input; {WITH_NOISE}"]
        if self.seeded and not self.seen.drew_from_rng:
            return [
                "sample never draws from the generator that it receives: its noise, if it has "
                "any, is not set by seed="
            ]
        return []

    def unaudited(self, pair: int) -> str:
        """Why nothing was audited: every answer is the same on both inputs; or ""."""
        return unaudited([self.steady[pair, b] for b in (0, 1)])

    def _batch(self, given: Any, n: int, rng: np.random.Generator, clock: CallClock) -> Answers:
        rest = (rng,) if self.seeded else ()
        try:
            answers = self.sample(given, n, *rest)
        except KeyboardInterrupt:
            raise
        except BaseException:  # the user's code may call sys.exit
            return self._singly(given, n, rng, clock)
        if inspect.isgenerator(answers):
            answers = list(answers)
        if not isinstance(answers, np.ndarray | list):
            try:
                answers = list(answers)
            except TypeError:
                raise InvalidInput(
                    f"sample(input, n, rng) must return n answers, it returned {shown(answers)}"
                ) from None
        count = 0 if isinstance(answers, np.ndarray) and answers.ndim == 0 else len(answers)
        if count != n:
            raise InvalidInput(
                f"sample(input, n, rng) must return n answers, it returned {count} for n = {n}"
            )
        self.seen.answered = True
        return settled(answers)

    def _singly(self, given: Any, n: int, rng: np.random.Generator, clock: CallClock) -> Answers:
        """One answer per call, so that an exception is the answer of one draw."""
        rest = (rng,) if self.seeded else ()

        def one() -> Any:
            answers = self.sample(given, 1, *rest)
            return settled_one(settled(answers)[0])

        return self._collect(one, n, clock)

    def _one_by_one(
        self, given: Any, n: int, rng: np.random.Generator, clock: CallClock
    ) -> Answers:
        rest = (rng,) if self.seeded else ()
        return self._collect(lambda: settled_one(self.sample(given, *rest)), n, clock)

    def _collect(self, one: Callable[[], Any], n: int, clock: CallClock) -> Answers:
        answers: list[Any] = []
        for _ in range(n):
            clock.begin()
            try:
                answers.append(one())
                self.seen.answered = True
            except (InvalidInput, KeyboardInterrupt):
                raise
            except BaseException as error:
                self.seen.note(error)
                answers.append(raised(error))
            if clock.abandoned:
                break
        return as_records(answers)

    def require_answers(self) -> None:
        """Raise InvalidInput if every call so far has raised the same error."""
        if not self.seen.answered and len(self.seen.kinds) == 1 and self.seen.error is not None:
            error = self.seen.error
            try:
                why = " ".join(str(error).split())[:200]
            except Exception:
                why = "its message cannot be read"
            raise InvalidInput(
                f"sample raised {type(error).__name__} at every call on both inputs: {why}"
            )

    def close(self) -> None:
        """End the thread of the calls."""
        self._calls.close()


class _Seen:
    """What all calls so far have done."""

    def __init__(self) -> None:
        self.answered = False
        self.drew_from_rng = False
        self.error: BaseException | None = None
        self.kinds: set[str] = set()

    def note(self, error: BaseException) -> None:
        """Keep the first exception, and every kind."""
        self.kinds.add(type(error).__name__)
        if self.error is None:
            self.error = error


def shape_of(sample: Callable[..., Any]) -> tuple[bool, bool]:
    """Whether a sampler takes a number of answers, and whether it takes a generator."""
    if not callable(sample):
        raise InvalidInput(f"sample must be callable, not {sample!r}")
    try:
        parameters = inspect.signature(sample).parameters.values()
    except (TypeError, ValueError):  # built-in functions have no signature
        return False, False
    plain = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names = [p.name for p in plain if p.default is p.empty]
    optional = [p.name for p in plain if p.default is not p.empty]
    if len(names) == 2 and names[1] in _COUNTS and optional:
        return True, optional[0] in _GENERATORS
    if not names and any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return False, False
    if len(names) == 1 or (not names and optional):
        return False, False
    if len(names) == 2:
        counts = names[1] in _COUNTS
        return counts, not counts
    if len(names) == 3:
        return True, True
    raise InvalidInput(
        "sample must be sample(input, n, rng), sample(input, rng) or sample(input); "
        f"this one takes {len(names)} arguments"
    )
