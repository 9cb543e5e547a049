"""The interface of a composition bound: its condition, delta(epsilon) and epsilon(delta)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from operator import attrgetter
from typing import Any, ClassVar, overload

from simulator.foundations.curves import Several
from simulator.foundations.errors import Breach, InvalidInput, NotApplicable
from simulator.foundations.validation import nonnegative
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.round_deltas import ONE_LEAK, LeakRule
from simulator.theory.bracket import Bracket, Kind
from simulator.theory.brackets import Brackets, brackets_at
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.outward import below, sum_bracket
from simulator.theory.parameters import SMALLEST_DELTA, delta_of_question

_UP = 1.0 + 2.0**-48
_DELTA_UP = 1.0 + 2.0**-38  # exp amplifies the rounding of an exponent up to a thousandfold
_UNDERFLOW = 1e-307
_MOST_COMPOSED, _LARGEST_SPREAD = 10**6, 6e4
_SMALLEST_SQUARED = 1e-145  # the square of a smaller number loses digits

ANY = "any adversary"
SAME_PAIR = "the same pair in every round"
"""Who plays: an adversary free to choose anew in every round, or one who keeps to one pair."""


class Bound(ABC):
    """One theorem on adaptive composition.

    A subclass gives ``name``, ``source`` (the paper and the theorem), and

    - ``_why_not(self, core) -> str | None``, the condition that a composition fails, in words;
    - ``_delta(self, core, epsilon) -> float`` and ``_epsilon(self, core, delta) -> float``, the
      formulas; or ``_delta_answer`` and ``_epsilon_answer``, with these arguments, their brackets.

    ``core`` is a Composition whose rounds have no delta of their own: it yields (guarantee, count).
    This class adds the rounds' own deltas. The ends of a bracket are certain: ``_delta_ends`` and
    ``_epsilon_ends`` add a margin above the rounding error of any formula here; an exact formula
    overrides both with tighter ends. ``kind`` is "upper", "exact", "lower" or "approximation".

    >>> from simulator import Composition, PureDP
    >>> from simulator.theory import bound
    >>> on = bound("basic").on(Composition.repeat(PureDP(0.1), 10))
    >>> on.source, round(on.epsilon(0.0).value, 6)
    ('Roth 2011, Lecture 4, Theorem 1; Dwork and Roth 2014, Theorem 3.16', 1.0)
    """

    name: ClassVar[str]
    source: ClassVar[str]
    kind: ClassVar[Kind] = "upper"
    adversary: ClassVar[str] = ANY
    """Whose game the number is about."""
    costly: ClassVar[bool] = False  # takes a tenth of a second or more per evaluation
    leak_rule: ClassVar[LeakRule] = ONE_LEAK
    of_tail: ClassVar[bool] = False
    """Whether delta(t) also bounds Pr[L > t], where every round's own delta is 0."""

    def why_not(self, composition: Composition) -> str | None:
        """The condition that ``composition`` fails; None where the bound applies."""
        return self._why_not(composition.core)

    def on(self, composition: Composition) -> BoundOnComposition:
        """Return the bound applied to one composition, or raise NotApplicable with the reason."""
        reason = self.why_not(composition)
        if reason is not None:
            raise NotApplicable(f"{self.name}: {reason}")
        self._require_formulas()
        return BoundOnComposition(self, composition)

    def _require_formulas(self) -> None:
        """Raise InvalidInput where a subclass has neither a formula nor its bracket."""
        for name, point in (("_delta", "epsilon"), ("_epsilon", "delta")):
            if all(getattr(type(self), n) is getattr(Bound, n) for n in (name, f"{name}_answer")):
                raise InvalidInput(
                    f"the bound {self.name} needs a formula {name}(self, core, {point}), "
                    f"or {name}_answer"
                )

    def _number(self, formula: Callable[[Composition, float], float], *at: Any) -> float:
        """The value of a formula. Raises Breach for what is no number."""
        value = formula(*at)
        if not isinstance(value, Real):
            raise Breach(
                f"{formula.__name__} of the bound {self.name} returned {value!r:.80}, no number"
            )
        return value

    @abstractmethod
    def _why_not(self, core: Composition) -> str | None: ...

    def _delta(self, core: Composition, epsilon: float) -> float:
        return self._delta_answer(core, epsilon).value

    def _epsilon(self, core: Composition, delta: float) -> float:
        return self._epsilon_answer(core, delta).value

    def _delta_answer(self, core: Composition, epsilon: float) -> Bracket:
        value = min(1.0, max(0.0, self._number(self._delta, core, epsilon)))
        if self.kind == "approximation":
            return Bracket(0.0, 1.0, value)
        lower, upper = self._delta_ends(core, epsilon)
        largest = largest_loss(core).upper
        if value == 0.0 and math.isfinite(largest):  # delta(E) <= 1 - e^(E - largest loss)
            upper = min(upper, max(0.0, -math.expm1(min(0.0, epsilon - largest)) * _UP))
        return Bracket.stated(self.kind, value, (lower, upper), ceiling=1.0)

    def _epsilon_answer(self, core: Composition, delta: float) -> Bracket:
        value = max(0.0, self._number(self._epsilon, core, delta))
        if self.kind == "approximation":
            return Bracket(0.0, math.inf, value)
        ends = self._epsilon_ends(core, delta)
        return Bracket.stated(self.kind, value, ends, ceiling=math.inf)

    def _delta_ends(self, core: Composition, epsilon: float) -> Bracket:
        """Ends of delta: the formula at an epsilon moved by more than its rounding error."""
        wider, narrower = epsilon / _UP, epsilon * _UP
        upper = self._delta(core, wider) * _DELTA_UP + _UNDERFLOW
        return Bracket(self._delta(core, narrower) / _DELTA_UP - _UNDERFLOW, upper)

    def _epsilon_ends(self, core: Composition, delta: float) -> Bracket:
        """Ends around the formula's epsilon."""
        value = self._epsilon(core, delta)
        return Bracket(value / _UP, value * _UP)


@dataclass(frozen=True)
class BoundOnComposition:
    """A bound applied to a composition that meets its conditions.

    >>> from simulator import Composition, PureDP
    >>> from simulator.theory import bound
    >>> advanced = bound("advanced").on(Composition.repeat(PureDP(0.1), 100))
    >>> advanced.kind, advanced.epsilon([1e-6, 1e-9]).value.round(4).tolist()
    ('upper', [6.3082, 7.4896])
    """

    bound: Bound
    composition: Composition

    def __post_init__(self) -> None:
        if not isinstance(self.bound, Bound):
            raise InvalidInput(f"bound must be a Bound, not {self.bound!r:.80}")

    def __repr__(self) -> str:
        return f"<{self.name} of {self.composition}>"

    @property
    def name(self) -> str:
        """Short name, as in :func:`simulator.theory.bound`."""
        return self.bound.name

    @property
    def kind(self) -> Kind:
        """``upper``, ``exact``, ``lower`` or ``approximation``."""
        return self.bound.kind

    @property
    def source(self) -> str:
        """Paper and theorem."""
        return self.bound.source

    @overload
    def delta(self, epsilon: float) -> Bracket: ...
    @overload
    def delta(self, epsilon: Several) -> Brackets: ...
    def delta(self, epsilon: float | Several) -> Bracket | Brackets:
        """The delta at an epsilon >= 0 (infinity allowed), or Brackets at several.

        Raises InvalidInput otherwise.

        >>> from simulator.theory import Composition, bound
        >>> advanced = bound("advanced").on(Composition.repeat("pure:0.1", 100))
        >>> print(advanced.delta(6.0))
        at most 4.8197379e-06
        """
        return brackets_at("epsilon", epsilon, self._delta, "delta of epsilon")

    def _delta(self, epsilon: float) -> Bracket:
        epsilon = nonnegative("epsilon", epsilon)
        core = self.bound._delta_answer(self.composition.core, epsilon)
        join = self.bound.leak_rule.join
        value = min(1.0, join(self.composition, core.value))
        lower, upper = join(self.composition, core.lower), join(self.composition, core.upper)
        if self.composition.leaks > 0.0:
            lower, upper = lower / _UP, upper * _UP
        if core.lower <= 0.0:
            lower = 0.0
        return Bracket(min(lower, value), min(1.0, max(upper, value)), value)

    @overload
    def epsilon(self, delta: float) -> Bracket: ...
    @overload
    def epsilon(self, delta: Several) -> Brackets: ...
    def epsilon(self, delta: float | Several) -> Bracket | Brackets:
        """Least epsilon >= 0 at a delta in [0, 1), or Brackets at several.

        Raises InvalidInput for any other delta and for one in (0, 1e-300), and NotApplicable where
        no epsilon is enough or where the rounds' own deltas leave less than 1e-300.

        >>> from simulator.theory import Composition, bound
        >>> advanced = bound("advanced").on(Composition.repeat("pure:0.1", 100))
        >>> print(advanced.epsilon(1e-6))
        at most 6.308231
        """
        return brackets_at("delta", delta, self._epsilon, "epsilon of delta")

    def _epsilon(self, delta: float) -> Bracket:
        delta = delta_of_question(delta)
        core, leaks = self.composition.core, self.composition.leaks
        allowed = self.bound.leak_rule.split(self.composition, delta)
        if 0.0 < allowed < SMALLEST_DELTA:
            raise NotApplicable(
                f"{self.name}: the rounds' own deltas leave only {allowed!r} of delta {delta!r}, "
                f"and at least {SMALLEST_DELTA:g} is needed"
            )
        if allowed > 0.0 and leaks == 0.0:
            return self.bound._epsilon_answer(core, allowed)
        if allowed > 0.0:  # the rounding error of ``allowed`` is relative to delta
            answer, margin = (
                self.bound._epsilon_answer(core, allowed),
                (delta + leaks) * (_UP - 1.0),
            )
            less, more = allowed - margin, min(allowed + margin, below(1.0))
            upper = largest_loss(core).upper
            if less >= SMALLEST_DELTA:
                upper = self.bound._epsilon_answer(core, less).upper
            else:
                self._require_room(delta)
            lower = self.bound._epsilon_answer(core, more).lower
            return Bracket(min(lower, answer.lower), max(upper, answer.upper), answer.value)
        largest = largest_loss(core)
        if self.bound.kind == "approximation" or not math.isfinite(largest.upper):
            raise NotApplicable(f"{self.name}: no finite epsilon holds at delta {delta!r}")
        self._require_room(delta)
        return Bracket.stated(self.kind, core.total(pure_epsilon), largest, ceiling=math.inf)

    def _require_room(self, delta: float) -> None:
        """Raise NotApplicable where the rounds' own deltas are ``delta`` only to rounding."""
        leak = -math.expm1(self.composition.log_kept) * _UP
        if min(leak, self.composition.largest_leak) > delta:
            raise NotApplicable(
                f"{self.name}: within rounding, the rounds' own deltas may exceed {delta!r}"
            )


def largest_loss(core: Composition) -> Bracket:
    """Bracket of the sum of the pure epsilons, infinite where a loss is unbounded."""
    return sum_bracket((guarantee.pure_epsilon, count) for guarantee, count in core)


pure_epsilon: Callable[[Guarantee], float] = attrgetter("pure_epsilon")
"""The pure epsilon of a guarantee."""


def unlike(core: Composition, keeps: Callable[[Guarantee], bool], why: str) -> str | None:
    """``why``, with the first guarantee that does not keep a condition in it; or None."""
    return next((why.format(guarantee) for guarantee, _ in core if not keeps(guarantee)), None)


def needs_squares(core: Composition) -> str | None:
    """Condition of the bounds that sum squares of bounded losses: why it fails, or None."""
    return unlike(
        core,
        lambda guarantee: not 0.0 < guarantee.pure_epsilon < _SMALLEST_SQUARED,
        f"every epsilon must be 0 or at least {_SMALLEST_SQUARED:g}, unlike {{}}",
    ) or needs_pure(core)


def needs_reach(core: Composition) -> str | None:
    """Condition of the bounds that compose bounded losses numerically: why it fails, or None."""
    if core.rounds > _MOST_COMPOSED:
        return f"more than {_MOST_COMPOSED:g} rounds are not composed numerically"
    spread = math.hypot(*(g.pure_epsilon * math.sqrt(count) for g, count in core))
    if spread > _LARGEST_SPREAD:
        return f"the root of the sum of the squared epsilons must be at most {_LARGEST_SPREAD:g}"
    return None


def needs_pure(core: Composition) -> str | None:
    """Condition of the bounds on bounded losses: why it fails, or None."""
    why = "every round must have a bounded privacy loss, and {} does not"
    return unlike(core, lambda guarantee: math.isfinite(guarantee.pure_epsilon), why)
