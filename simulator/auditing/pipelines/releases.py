"""Noisy answers of a run and of its replay side by side: distances, laws, and losses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from simulator.auditing.pipelines.tape import NoiseTerm, TapeEvent
from simulator.theory.events import (
    EventTree,
    discrete,
    discrete_laplace,
    gaussian,
    laplace,
    promise,
)
from simulator.theory.guarantees.pure import PureDP

NOISY = ("draw", "shift", "scale", "sum")
"""Kinds of events whose answer is an input with noise on it."""

MOVES = ("draw", "shift")
"""Kinds of events that bring data in."""

_ULPS = 64 * np.finfo(float).eps
_TIE = 1e-9
MOST_PER_SCALE = 1e3
"""A distance of more scales than this counts as no noise at all."""


@dataclass(frozen=True)
class Element:
    """One noisy number: whose noise it has, and how far the input moved.

    Attributes
    ----------
    draws : the draws of noise on it, ascending.
    shift : the second input minus the first, 0 where rounding may account for it.
    kinds : the kind of each noise; ``scales`` their scales, and ``signs`` their signs.
    inputs : both inputs.
    answer : with the noise.
    place : of the element in its answer.
    """

    draws: tuple[int, ...]
    shift: float
    kinds: tuple[str, ...]
    scales: tuple[float, ...]
    signs: tuple[int, ...]
    _: KW_ONLY
    inputs: tuple[float, float]
    answer: float
    place: int = 0

    @property
    def relative(self) -> float:
        """The shift in units of the first noise."""
        return self.shift / self.scales[0] * self.signs[0] if self.scales[0] else math.inf


def elements(one: TapeEvent, other: TapeEvent, moved_only: bool = True) -> list[Element]:
    """The elements of a noisy event, in the run and in its replay: by default those that moved."""
    a = np.asarray(one.inputs, dtype=float).ravel()
    b = np.asarray(other.inputs, dtype=float).ravel()
    if moved_only and np.array_equal(a, b):
        return []
    answers = np.asarray(one.answer, dtype=float).ravel()
    size = max(len(a), len(b), len(answers))
    if {len(a), len(b)} - {size, 1}:
        return []
    a, b, answers = (np.broadcast_to(each, size) for each in (a, b, answers))
    with np.errstate(all="ignore"):
        shift = b - a
        shift = np.where(np.abs(shift) <= _ULPS * np.maximum(np.abs(a), np.abs(b)), 0.0, shift)
    shift = np.where(np.isnan(shift), np.where(np.isnan(a) & np.isnan(b), 0.0, np.inf), shift)
    columns = [_columns(each, size) for each in one.noise]
    found = []
    for i in np.flatnonzero(shift).tolist() if moved_only else range(size):
        terms = sorted(
            (draws[i], noise.kind, scale[i], noise.sign) for noise, scale, draws in columns
        )
        draws, kinds, scales, signs = zip(*terms) if terms else ((), (), (), ())
        found.append(
            Element(
                tuple(map(int, draws)),
                float(shift[i]),
                kinds,
                tuple(map(float, scales)),
                signs,
                inputs=(float(a[i]), float(b[i])),
                answer=float(answers[i]),
                place=i,
            )
        )
    return found


def _columns(noise: NoiseTerm, size: int) -> tuple[NoiseTerm, np.ndarray, np.ndarray]:
    scale = np.asarray(noise.scale, dtype=float).ravel()
    return (
        noise,
        np.broadcast_to(scale, size),
        np.broadcast_to(np.asarray(noise.draws).ravel(), size),
    )


@dataclass(frozen=True)
class Law:
    """The event of one element: its law, or an upper bound (``exact`` is False), or nothing known.

    ``event`` is None where the answer reveals the input for certain, or where nothing is known.
    """

    event: EventTree | None
    exact: bool = True
    mu: float = 0.0


def law(element: Element) -> Law:
    """The law of the privacy loss of one noisy number that moved."""
    gap = abs(element.shift)
    kinds, scales = element.kinds, element.scales
    if set(kinds) == {"normal"}:
        sigma = math.sqrt(sum(scale**2 for scale in scales))
        far = not gap < MOST_PER_SCALE * sigma
        return Law(None) if far else Law(None, mu=gap / sigma)
    if any(not math.isfinite(gap) or scale <= 0.0 for scale in scales):
        return Law(None)
    if len(kinds) == 1:
        return _of_one(kinds[0], scales[0], gap)
    opposite = len(kinds) == 2 and kinds[0] == kinds[1] and sum(element.signs) == 0
    if opposite and scales[0] == scales[1] and kinds[0] == "exponential":
        return _of_one("laplace", scales[0], gap)
    if opposite and scales[0] == scales[1] and kinds[0] == "geometric":
        if gap != round(gap):
            return Law(None)
        unit = -math.log1p(-scales[0])
        if gap * unit > MOST_PER_SCALE:
            return Law(None)
        return Law(discrete_laplace(unit, round(gap)))
    bounds = [_of_one(kind, scale, gap) for kind, scale in zip(kinds, scales)]
    pure = [b.event for b in bounds if b.event is not None and hasattr(b.event, "epsilon")]
    least = min((float(each.epsilon) for each in pure), default=None)
    return Law(None if least is None else promise(PureDP(least)), exact=False)


def _of_one(kind: str, scale: float, gap: float) -> Law:
    if kind == "geometric":  # on 1, 2, ...: the answer may lie below one input's range
        unit = -math.log1p(-scale)
        return Law(None) if gap != round(gap) else _one_sided(math.exp(-unit * gap))
    if gap > MOST_PER_SCALE * scale:
        return Law(None)
    if kind == "laplace":
        return Law(laplace(scale, gap))
    if kind == "exponential":
        return _one_sided(math.exp(-gap / scale))
    if kind == "logistic":
        return Law(promise(PureDP(gap / scale)), exact=False)
    return Law(None, exact=False)


def _one_sided(kept: float) -> Law:
    """A noise that is never negative: with probability 1 - kept an answer rules an input out."""
    if not 0.0 < kept < 1.0:
        return Law(None)
    return Law(discrete((1.0 - kept, kept), (0.0, 1.0)))


@dataclass(frozen=True)
class Spent:
    """Events that compose to the cost of some answers.

    Attributes
    ----------
    events : with how often.
    exact : whether these are the laws, or else upper bounds.
    revealed : whether some answer reveals its input.
    unknown : whether nothing is known about some answer.
    """

    events: tuple[tuple[EventTree, int], ...]
    exact: bool = True
    revealed: bool = False
    unknown: bool = False


def spent(moved: Iterable[Element]) -> Spent:
    """The cost of noisy numbers that share no noise."""
    counts: Counter[EventTree] = Counter()
    squares, exact, revealed, unknown = 0.0, True, False, False
    for element in moved:
        found = law(element)
        exact &= found.exact
        if found.mu:
            squares += found.mu**2
        elif found.event is not None:
            counts[found.event] += 1
        else:
            revealed |= found.exact
            unknown |= not found.exact
    events = tuple(counts.items())
    if squares:
        events += ((gaussian(1.0, math.sqrt(squares)), 1),)
    return Spent(events, exact, revealed, unknown)


def choice_event(one: TapeEvent, other: TapeEvent) -> tuple[EventTree | None, bool]:
    """The law of an argmax of noisy numbers, and whether it is exact: else a bound, or None."""
    a, b = (np.asarray(each.inputs, dtype=float).ravel() for each in (one, other))
    if len(one.noise) != 1 or a.shape != b.shape or not np.all(np.isfinite([*a, *b])):
        return None, False
    noise = one.noise[0]
    scales = np.unique(np.asarray(noise.scale, dtype=float))
    if len(scales) != 1 or scales[0] <= 0.0:
        return None, False
    scale = float(scales[0])
    if noise.kind == "gumbel" and noise.sign == 1:
        p, q = (np.exp(x / scale - np.logaddexp.reduce(x / scale)) for x in (a, b))
        possible = p > 0.0  # a score may exclude an element on both databases
        if len(a) <= 1000 and np.array_equal(possible, q > 0.0):
            p, q = p[possible], q[possible]
            return discrete(tuple(p / p.sum()), tuple(q / q.sum())), True
    if noise.kind in ("laplace", "exponential", "gumbel"):
        return promise(PureDP(2.0 * float(np.max(np.abs(a - b))) / scale)), False
    return None, False


def weighted_law(one: Any, other: Any) -> EventTree | None:
    """The event of an element chosen by probabilities; None where they have none in common."""
    p, q = (np.asarray(each, dtype=float) for each in (one, other))
    if not np.any((p > 0.0) & (q > 0.0)):
        return None
    return discrete(tuple(p / p.sum()), tuple(q / q.sum()))


def run_loss(moved: Sequence[Element]) -> float | None:
    """The privacy loss at the answers of the run; None where a density is not known here."""
    total = 0.0
    for element in moved:
        first, second = (abs(element.answer - x) for x in element.inputs)
        scale = element.scales[0]
        if set(element.kinds) == {"normal"}:
            variance = sum(each**2 for each in element.scales)
            total += (second**2 - first**2) / (2.0 * variance) if variance else math.inf
        elif element.kinds == ("laplace",):
            total += (second - first) / scale if scale else math.inf
        elif element.kinds == ("geometric", "geometric") and sum(element.signs) == 0:
            total += -math.log1p(-scale) * (second - first)
        else:
            return None
    return total


def shared(groups: Iterable[Sequence[Any]]) -> bool:
    """Whether some member is in two groups."""
    seen: set[Any] = set()
    for group in groups:
        if seen & set(group):
            return True
        seen |= set(group)
    return False


def same_shift(one: Element, other: Element) -> bool:
    """Whether two numbers with the same noise moved by as much, so that they are one answer."""
    a, b = one.relative, other.relative
    return a == b or abs(a - b) <= _TIE * max(abs(a), abs(b))
