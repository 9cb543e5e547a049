"""The audit of a mechanism on two inputs: a verdict on its claim, with the evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from simulator.auditing.audits.defaults import CONFIDENCE, SAMPLES
from simulator.auditing.audits.patterns import Neighbours, patterns
from simulator.auditing.audits.result import AuditResult
from simulator.auditing.audits.searching import Search
from simulator.auditing.audits.sources import AnswerSource, Recorded, Sampler
from simulator.auditing.evidence.answers import Answers, settled, shown
from simulator.auditing.evidence.columns import read
from simulator.auditing.evidence.float_features import bit_features, digit_features
from simulator.auditing.evidence.training_draws import ReaderOf
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import (
    nonnegative,
    open_probability,
    point,
    positive,
    probability_below_one,
    whole,
)
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.named import parse_guarantee

CURVE_DELTA = 1e-5
"""The default delta of the bound on epsilon, for a claim that is a curve."""
LEAST_SAMPLES = 64
"""The least number of draws per pair."""
BEYOND_BITS = 1 << 16
"""The largest number of draws per input of a second audit, without the bits of floats."""
MOST_EPSILON = 100.0
"""No number of draws shows a larger epsilon."""
MOST_COORDINATES = 100_000


def audit(
    sample: Callable[..., Any],
    input_0: Any = None,
    input_1: Any = None,
    *,
    claimed: Guarantee | str,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    length: int | None = None,
    neighbours: Neighbours = "all coordinates",
    delta: float | None = None,
    epsilon: float | None = None,
    bits: bool = True,
    time_limit: float = 60.0,
    seconds: float = math.inf,
    stop_early: bool = True,
) -> AuditResult:
    """Audit the guarantee that a black box claims on these inputs.

    Answers on both inputs are drawn in batches. Events that distinguish the inputs are learned from
    earlier batches, and are bet on against the claim on each new batch. So no draw is used before
    it is bet on, and the evidence is valid after every batch.

    Parameters
    ----------
    sample : ``sample(input, n, rng)`` returns n answers, ``sample(input, rng)`` or
        ``sample(input)`` one. An answer may be any object; an exception is an answer.
    input_0, input_1 : neighbouring inputs of ``sample``.
    claimed : the guarantee, in both directions, or its text such as "pure:0.1".
    samples : at most so many draws per input, over all pairs, are evidence. Beyond these, those of
        the first call are drawn again, 16 for one pair, to see whether the seed replays them; and a
        violation by the bits of floats is audited again, see ``AuditResult.beyond_bits``.
    confidence : a verdict "violated" is false with probability at most 1 - confidence, and each
        bound holds with probability confidence, whenever the audit stops.
    seed : of the generators that are passed to ``sample``.
    pairs : several pairs of inputs to search among; ``length`` stands for the standard patterns
        of vectors of that length, see :func:`simulator.auditing.audits.patterns.patterns`.
    neighbours : whether one coordinate or all coordinates of those may differ, by 1 each.
    delta : of the lower bound on epsilon; by default the claimed one.
    epsilon : of the lower bound on delta; by default the claimed one.
    bits : whether to use every bit of a float. Noise added in floating point leaks there (Mironov
        2012); without, answers have twelve significant digits.
    time_limit : seconds that one call of ``sample`` may take.
    seconds : the time after which no more is drawn.
    stop_early : whether to stop when the verdict is clear. More draws give larger bounds.

    Raises
    ------
    InvalidInput : a parameter is invalid, or there are no answers; the message has the reason.

    >>> from simulator.auditing import audit
    >>> def too_little_noise(value, rng):
    ...     return value + rng.laplace(scale=0.1)
    >>> result = audit(too_little_noise, 0, 1, claimed="pure:1", samples=4000, bits=False)
    >>> result.verdict, result.epsilon > 1
    ('violated', True)
    """
    if not isinstance(bits, bool):
        raise InvalidInput(f"bits must be True or False, not {bits!r}")
    given = chosen_pairs(input_0, input_1, pairs, length, neighbours)
    source = Sampler(sample, given, whole("seed", seed, 0), positive("time_limit", time_limit))
    search = partial(
        prepared,
        source,
        claimed,
        confidence=confidence,
        delta=delta,
        epsilon=epsilon,
        seconds=point("seconds", seconds),
        stop_early=stop_early,
    )
    try:
        found = search(samples=samples, reader_of=reader_for(bits)).run(seed)
        if not found.by_bits:
            return found
        more = max(min(samples, BEYOND_BITS), LEAST_SAMPLES * len(given))
        return replace(
            found, beyond_bits=search(samples=more, reader_of=reader_for(False)).run(seed)
        )
    finally:
        source.close()


def audit_answers(
    answers_0: Answers,
    answers_1: Answers,
    *,
    claimed: Guarantee | str,
    confidence: float = CONFIDENCE,
    delta: float | None = None,
    epsilon: float | None = None,
    bits: bool = True,
    reader_of: ReaderOf | None = None,
    stop_early: bool = True,
) -> AuditResult:
    """Audit recorded answers: independent draws on each of two inputs.

    >>> import numpy as np
    >>> from simulator.auditing import audit_answers
    >>> noise = np.random.default_rng(0).laplace(scale=0.1, size=(2, 4000))
    >>> audit_answers(noise[0], 1 + noise[1], claimed="pure:1", bits=False).verdict
    'violated'
    """
    for answers in (answers_0, answers_1):
        if not isinstance(answers, np.ndarray | list) or np.ndim(answers) == 0:
            raise InvalidInput(f"answers must be a list or an array of them, not {shown(answers)}")
    if reader_of is None:
        answers_0, answers_1 = settled(answers_0), settled(answers_1)

    def search(reader_of: ReaderOf) -> Search:
        return prepared(
            Recorded((answers_0, answers_1)),
            claimed,
            samples=min(len(answers_0), len(answers_1)),
            confidence=confidence,
            delta=delta,
            epsilon=epsilon,
            seconds=math.inf,
            reader_of=reader_of,
            stop_early=stop_early,
        )

    found = search(reader_of=reader_of or reader_for(bits)).run(0)
    if not found.by_bits or reader_of is not None:
        return found
    return replace(found, beyond_bits=search(reader_of=reader_for(False)).run(0))


def reader_for(bits: bool) -> ReaderOf:
    """A function that makes readers of every bit of a float, or of twelve significant digits."""
    return partial(read, features=bit_features if bits else digit_features)


def prepared(
    source: AnswerSource,
    claimed: Guarantee | str,
    *,
    samples: int,
    confidence: float,
    delta: float | None,
    epsilon: float | None,
    seconds: float,
    reader_of: ReaderOf,
    stop_early: bool,
    learn_first: int = 0,
) -> Search:
    """The search with all its parameters checked."""
    if isinstance(claimed, str):
        claimed = parse_guarantee(claimed)
    if not isinstance(claimed, Guarantee):
        raise InvalidInput(f"claimed must be a guarantee such as PureDP(0.1), not {claimed!r}")
    confidence = open_probability("confidence", confidence)
    samples = whole("samples", samples, LEAST_SAMPLES * len(source.names))
    if not seconds > 0.0:
        raise InvalidInput(f"seconds must be above 0, not {seconds!r}")
    if not isinstance(stop_early, bool):
        raise InvalidInput(f"stop_early must be True or False, not {stop_early!r}")
    at_delta, at_epsilon = corner(claimed, delta, epsilon)
    return Search(
        source,
        claimed,
        samples=samples,
        confidence=confidence,
        delta=at_delta,
        epsilon=at_epsilon,
        seconds=seconds,
        reader_of=reader_of,
        stop_early=stop_early,
        learn_first=learn_first,
    )


def corner(claimed: Guarantee, delta: float | None, epsilon: float | None) -> tuple[float, float]:
    """The delta at which epsilon is bounded, and the epsilon at which delta is."""
    if delta is None:
        delta = claimed.leak if math.isfinite(claimed.core.pure_epsilon) else CURVE_DELTA
    delta = probability_below_one("delta", delta)
    if epsilon is None:
        epsilon = claimed.core.pure_epsilon
        if not math.isfinite(epsilon):
            epsilon = epsilon_at(claimed, delta)
    epsilon = nonnegative("epsilon", epsilon)
    if epsilon > MOST_EPSILON:
        raise InvalidInput(f"epsilon must be at most {MOST_EPSILON:g} here, not {epsilon:g}")
    return delta, epsilon


def epsilon_at(claimed: Guarantee, delta: float) -> float:
    """The epsilon that a claim allows at a delta > 0."""
    high = 1.0
    while claimed.hockey_stick(high) > delta:
        high *= 2.0
        if high > 1e4:
            raise InvalidInput(f"{claimed} allows every epsilon at delta={delta:g}")
    low = 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if claimed.hockey_stick(middle) > delta else (low, middle)
    return high


def chosen_pairs(
    input_0: Any,
    input_1: Any,
    pairs: Sequence[tuple[Any, Any]] | None,
    length: int | None,
    neighbours: Neighbours = "all coordinates",
) -> list[tuple[Any, Any]]:
    """The pairs of inputs, each checked."""
    named = input_0 is not None or input_1 is not None
    if named and (input_0 is None or input_1 is None):
        raise InvalidInput("there must be two inputs; pass pairs=[(None, ...)] if one is None")
    if named + (pairs is not None) + (length is not None) != 1:
        raise InvalidInput("give either input_0 and input_1, or pairs, or a length")
    if length is not None:
        if whole("length", length) > MOST_COORDINATES:
            raise InvalidInput(f"length must be at most {MOST_COORDINATES}, not {length}")
        return list(patterns(length, neighbours))
    if pairs is not None and not isinstance(pairs, Sequence):
        raise InvalidInput(f"pairs must be a list of pairs of inputs, not {shown(pairs)}")
    chosen = [(input_0, input_1)] if pairs is None else list(pairs)
    if not chosen:
        raise InvalidInput("there are no pairs")
    for place, pair in enumerate(chosen):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidInput(f"pairs[{place}] is not a pair of inputs: {shown(pair)}")
        if same(pair[0], pair[1]):
            raise InvalidInput(f"both inputs are {shown(pair[0])}: there is nothing to tell apart")
    return [(pair[0], pair[1]) for pair in chosen]


def same(a: Any, b: Any) -> bool:
    """Whether two inputs are equal, by ``==``."""
    if a is b:
        return True
    try:
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            return np.shape(a) == np.shape(b) and bool(np.all(np.asarray(a) == np.asarray(b)))
        return type(a) is type(b) and bool(a == b)
    except Exception:
        return False
