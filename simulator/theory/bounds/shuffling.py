"""Bounds on shuffled reports: above by hiding among clones, below by randomized response.

Why the clones dominate, and where the ends differ: simulator/theory/lemmas/shuffling-clones.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.foundations.validation import nonnegative, open_probability
from simulator.theory.bounds.base import Bound, largest_loss, needs_reach
from simulator.theory.bounds.composition import Composition
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.shuffled import ShuffledDP
from simulator.theory.laws import clones, shuffled_responses
from simulator.theory.laws.clones import ClonePair
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.shuffled_blanket import ShuffledBlanket
from simulator.theory.laws.shuffled_responses import response_delta, response_epsilon
from simulator.theory.laws.ternary_responses import LARGEST_LOCAL, TernaryResponses
from simulator.theory.outward import UNIT
from simulator.theory.parameters import SMALLEST_DELTA
from simulator.theory.pld.distribution import PLD, compose_laws

_TOLERANCE = 1e-5
_SMALLEST = 1e-9  # for a smaller epsilon the losses lose digits
_CELLS = 1000  # most cells of a law to compose: adjacent counts are merged


def _shuffles(core: Composition) -> list[tuple[ShuffledDP, int]]:
    """The rounds that are not harmless."""
    return [(g, n) for g, n in core if isinstance(g, ShuffledDP) and g.epsilon > 0.0]


def _why_not_shuffles(core: Composition, most: int) -> str | None:
    if not core.consists_of(ShuffledDP):
        return "every round must be reports in random order, shuffled:EPSILON,REPORTS"
    shuffles = _shuffles(core)
    if any(shuffle.reports > most for shuffle, _ in shuffles):
        return f"more than {most:g} reports are too many to count exactly"
    if any(not _SMALLEST <= shuffle.epsilon <= clones.LARGEST_LOCAL for shuffle, _ in shuffles):
        return f"every epsilon must be 0, or in [{_SMALLEST:g}, {clones.LARGEST_LOCAL:g}]"
    return None if core.rounds == 1 else needs_reach(core)


@dataclass(frozen=True)
class ShuffledRounds:
    """Shuffled rounds of an adaptive adversary: pairs that dominate one each, and how many.

    Raises NotApplicable where a pair has no law to compose, or their laws are too wide.

    >>> from simulator.theory import LaplaceLaw, ShuffledBlanket, ShuffledRounds
    >>> noise = ShuffledBlanket(LaplaceLaw(1.0), 100)
    >>> round(ShuffledRounds(((noise, 20),)).epsilon(1e-6), 2)
    2.25
    """

    rounds: tuple[tuple[ClonePair | ShuffledBlanket, int], ...]

    @cached_property
    def _composed(self) -> tuple[PLD, float]:
        """The dominating laws composed, and a bound on the total error of their log masses.

        A loss is off by twice that, so the curve lies below exp(wrong) times the curve of the laws
        moved by 2 wrong.
        """
        found = [(*pair.dominating, times) for pair, times in self.rounds]
        wrong = math.fsum(error * times for _, error, times in found)
        return compose_laws([(law, times) for law, _, times in found], _TOLERANCE), wrong

    def delta(self, epsilon: float) -> float:
        """Upper end of the curve at epsilon >= 0."""
        composed, wrong = self._composed
        moved = composed.delta(max(0.0, nonnegative("epsilon", epsilon) - 2.0 * wrong)).upper
        return min(1.0, moved * math.exp(wrong))

    def epsilon(self, delta: float) -> float:
        """Upper end of the least epsilon whose delta is at most 0 < delta < 1, or infinite."""
        composed, wrong = self._composed
        moved = max(open_probability("delta", delta) * math.exp(-wrong), SMALLEST_DELTA)
        return composed.epsilon(moved).upper + 2.0 * wrong if moved < delta else math.inf


class ClonesClosedForm(Bound):
    """ln(1 + tanh(e/2) (8 sqrt(exp(e) ln(4/delta)/n) + 8 exp(e)/n)), for one round."""

    name = "clones-closed-form"
    source = "Feldman, McMillan and Talwar 2021, Theorem 3.1"

    def _why_not(self, core: Composition) -> str | None:
        if not core.consists_of(ShuffledDP):
            return "every round must be reports in random order, shuffled:EPSILON,REPORTS"
        if core.rounds > 1:
            return "the closed form is for one round"
        if not _shuffles(core):
            return "epsilon must be above 0"
        return None

    def _delta(self, core: Composition, epsilon: float) -> float:
        shuffle = _shuffles(core)[0][0]
        return clones.closed_form_delta(shuffle.epsilon, shuffle.reports, epsilon)

    def _epsilon(self, core: Composition, delta: float) -> float:
        shuffle = _shuffles(core)[0][0]
        return clones.closed_form_epsilon(shuffle.epsilon, shuffle.reports, delta)


class ClonesNumerical(Bound):
    """The curve of C ~ Bin(n - 1, 2/(1 + exp(e))) clones; over several rounds, its law composed."""

    name = "clones-numerical"
    source = (
        "the clones of Feldman, McMillan and Talwar 2023 by the blanket of Balle, Bell, Gascon and "
        "Nissim 2019 in convex order; Zhu, Dong and Wang 2022, Theorem 10, for several rounds"
    )
    costly = True

    def _why_not(self, core: Composition) -> str | None:
        return _why_not_shuffles(core, clones.MOST_REPORTS)

    def _delta_answer(self, core: Composition, epsilon: float) -> Bracket:
        rounds = _shuffles(core)
        if epsilon >= largest_loss(core).upper:
            return Bracket(0.0, 0.0)
        if core.rounds == 1:
            upper = rounds[0][0].pair.delta(epsilon)
        else:
            upper = _dominating(rounds).delta(epsilon)
        return Bracket(0.0, upper)

    def _epsilon_answer(self, core: Composition, delta: float) -> Bracket:
        rounds, largest = _shuffles(core), largest_loss(core).upper
        if largest == 0.0:
            return Bracket(0.0, 0.0)
        if core.rounds == 1:
            upper = rounds[0][0].pair.epsilon_bracket(delta).upper
        else:
            upper = _dominating(rounds).epsilon(delta)
        return Bracket(0.0, min(upper, largest))


class ShuffledResponses(Bound):
    """The larger curve of shuffled responses over two and over three values.

    Both keep the guarantee.
    """

    name = "shuffled-randomized-response"
    source = "the histogram of shuffled responses over two or three values, counted exactly"
    kind = "lower"
    adversary = "one with randomized response"
    costly = True

    def _why_not(self, core: Composition) -> str | None:
        return _why_not_shuffles(core, shuffled_responses.MOST_REPORTS)

    def _delta_answer(self, core: Composition, epsilon: float) -> Bracket:
        rounds = _shuffles(core)
        if not rounds or epsilon >= largest_loss(core).lower:
            return Bracket(0.0, 1.0, 0.0)
        if core.rounds == 1:
            (shuffle, _) = rounds[0]
            lower = response_delta(shuffle.epsilon, shuffle.reports, epsilon).lower
            if (three := _ternary(shuffle)) is not None:
                lower = max(lower, three.delta_bracket(epsilon).lower)
        else:
            composed, wrong = _revealed(rounds)
            moved = epsilon + 2.0 * wrong
            lower = max(
                one.delta(moved).lower * math.exp(-wrong) for one in (composed, composed.reversed())
            )
        return Bracket(lower, 1.0, lower)

    def _epsilon_answer(self, core: Composition, delta: float) -> Bracket:
        rounds = _shuffles(core)
        if not rounds:
            return Bracket(0.0, math.inf, 0.0)
        if core.rounds == 1:
            (shuffle, _) = rounds[0]
            lower = response_epsilon(shuffle.epsilon, shuffle.reports, delta).lower
            if (three := _ternary(shuffle)) is not None:
                lower = max(lower, three.epsilon_bracket(delta).lower)
        else:
            composed, wrong = _revealed(rounds)
            moved = min(delta * math.exp(wrong), 1.0 - UNIT)
            found = (one.epsilon(moved).lower for one in (composed, composed.reversed()))
            lower = max(0.0, max(found) - 2.0 * wrong)
        return Bracket(lower, math.inf, lower)


def _ternary(shuffle: ShuffledDP) -> TernaryResponses | None:
    """The responses over three values, unless the two values' are known to lose more."""
    if shuffle.epsilon > LARGEST_LOCAL:
        return None
    return TernaryResponses(shuffle.epsilon, shuffle.reports)


def _dominating(rounds: list[tuple[ShuffledDP, int]]) -> ShuffledRounds:
    return ShuffledRounds(tuple((shuffle.pair, times) for shuffle, times in rounds))


def _revealed(rounds: list[tuple[ShuffledDP, int]]) -> tuple[PLD, float]:
    """The laws of shuffled responses where all other records are 0, and the error of log masses.

    Merging counts is post-processing, so it cannot reveal more.
    """
    laws, wrong = [], 0.0
    for shuffle, times in rounds:
        (without, with_record), error = shuffled_responses.counts(
            shuffle.epsilon, shuffle.reports, 0
        )
        starts = np.arange(0, without.size, math.ceil(without.size / _CELLS))
        pair = (np.add.reduceat(masses, starts) for masses in (without, with_record))
        laws.append((FiniteLaw.from_probabilities(*pair), times))
        wrong += times * (error + UNIT * 256.0)
    return compose_laws(laws, _TOLERANCE), wrong
