"""A table of bounds beside the exact privacy loss distribution.

A theorem on a family (such as every epsilon-DP mechanism) is exact for the mechanism that attains
the family's worst case and only an upper bound for the others. The privacy loss distribution of the
mechanism itself is exact for both.
"""

from __future__ import annotations

import difflib
import math
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.frames import Tabular
from simulator.foundations.stages import in_stages
from simulator.foundations.validation import finite, nonnegative
from simulator.theory.bounds.base import ANY, SAME_PAIR, Bound, BoundOnComposition
from simulator.theory.bounds.composition import Composition
from simulator.theory.bracket import Bracket, Kind
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.subsampled import SampledLaw
from simulator.theory.parameters import delta_of_question
from simulator.theory.pld.distribution import compose_laws, grid_tolerance

TOLERANCE = 1e-8
"""Relative width that the exact rows aim at where no grid is needed."""

Laws = Sequence[tuple[PrivacyLossLaw, int]]

TRUTH = "privacy-loss-distribution"
TRUTH_SMALLEST = 1e-9
TRUTH_SPREAD = 6e4
"""The range in which composing the loss takes seconds and does not overflow: every parameter at
least TRUTH_SMALLEST, and the root of the sum of their squares at most TRUTH_SPREAD."""
SAMPLED_SPREAD = 2000.0
"""TRUTH_SPREAD for a mechanism on a sample, whose loss is put on a grid."""
_TRUTH_SOURCE = "the mechanism's own privacy loss, composed numerically with certified round-off"

_EXACT_WITHIN = 1e-3
"""Relative distance of certified ends above which a row is called an upper bound, not exact."""

_ROUNDING = 1e-12
"""The relative rounding of the mass at infinite loss, of all rounds."""
_SAME_NUMBER = 1e-9
"""Relative distance of two bounds that are one formula, evaluated in two ways."""


@dataclass(frozen=True)
class Row:
    """The bracket of one bound: the epsilon at a delta, or the delta at an epsilon.

    ``adversary`` is the one whose game the number is about. A row is ``exact`` for any adversary
    of the mechanism, and for nothing less.
    """

    name: str
    kind: Kind
    answer: Bracket
    source: str
    _: KW_ONLY
    seconds: float
    adversary: str = ANY


class Rows(list[Row], Tabular):
    """The rows of a comparison, with their table; ``refused`` says why named ones are missing."""

    def __init__(self, rows: Iterable[Row] = (), refused: Iterable[str] = ()) -> None:
        super().__init__(rows)
        self.refused = tuple(refused)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The bound, what it is and of whose game, its value, the ends, and the source."""
        return {
            "bound": np.array([row.name for row in self], dtype=np.str_),
            "kind": np.array([row.kind for row in self], dtype=np.str_),
            "adversary": np.array([row.adversary for row in self], dtype=np.str_),
            "value": np.array([row.answer.value for row in self], dtype=np.float64),
            "lower": np.array([row.answer.lower for row in self], dtype=np.float64),
            "upper": np.array([row.answer.upper for row in self], dtype=np.float64),
            "source": np.array([row.source for row in self], dtype=np.str_),
        }

    def joined(self) -> list[list[Row]]:
        """The rows in groups that state one number about one game, the narrowest row first.

        All exact rows are one number. Others are where their values agree to nine digits.
        """
        groups: list[list[Row]] = []
        for row in self:
            for group in groups:
                other = group[0]
                apart = abs(row.answer.value - other.answer.value)
                near = apart <= _SAME_NUMBER * abs(other.answer.value) or row.kind == "exact"
                if near and (row.kind, row.adversary) == (other.kind, other.adversary):
                    group.append(row)
                    break
            else:
                groups.append([row])
        return [sorted(group, key=lambda row: row.answer.width) for group in groups]


Compute = Callable[[], Row]
"""One row, computed when it is called; raises NotApplicable."""


@dataclass(frozen=True)
class EpsilonAt:
    """The question of the epsilon at a delta in [0, 1)."""

    delta: float

    def __post_init__(self) -> None:
        delta_of_question(self.delta)

    def theorem(self, bound: BoundOnComposition) -> Bracket:
        """The bracket of a bound."""
        return bound.epsilon(self.delta)

    def truth(self, rounds: Laws, tolerance: float) -> Bracket:
        """The bracket of the composed loss; at delta = 0 the sum of the largest losses."""
        if self.delta == 0.0:
            largest = math.fsum(count * law.support[1] for law, count in rounds)
            found = Bracket(largest, math.inf if _infinite_mass(rounds) else largest)
        else:
            found = compose_laws(rounds, tolerance).epsilon(self.delta)
        if math.isinf(found.upper):
            raise no_finite_epsilon(_infinite_mass(rounds), self.delta)
        return found


@dataclass(frozen=True)
class DeltaAt:
    """The question of the delta at a finite epsilon >= 0."""

    epsilon: float

    def __post_init__(self) -> None:
        nonnegative("epsilon", finite("epsilon", self.epsilon))

    def theorem(self, bound: BoundOnComposition) -> Bracket:
        """The bracket of a bound."""
        return bound.delta(self.epsilon)

    def truth(self, rounds: Laws, tolerance: float) -> Bracket:
        """The bracket of the composed loss."""
        return compose_laws(rounds, tolerance).delta(self.epsilon)


Question = EpsilonAt | DeltaAt


def _tolerance(rounds: Laws) -> float:
    exact = all(law.simplest.has_exact_transform for law, _ in rounds)
    return TOLERANCE if exact else grid_tolerance(law for law, _ in rounds)


def _infinite_mass(rounds: Laws) -> float:
    """The probability that the loss of some round is infinite."""
    return -math.expm1(math.fsum(n * math.log1p(-law.infinite_mass) for law, n in rounds))


def no_finite_epsilon(lost: float, delta: float) -> NotApplicable:
    """The reason why a loss that is infinite with that probability has no epsilon at ``delta``."""
    if lost and abs(lost - delta) <= _ROUNDING * lost:
        return NotApplicable(
            f"within rounding, delta {delta!r} is the probability of an infinite loss, so that it "
            "is not settled whether a finite epsilon holds; give a delta that is a little larger"
        )
    if lost < delta:
        return NotApplicable(f"{TRUTH}: the loss cannot be composed numerically that far out")
    why = f"is infinite with probability {lost:.3g}" if lost else "has no largest value"
    return NotApplicable(f"no finite epsilon holds at delta {delta!r}: the loss {why}")


def question_of(delta: float | None, epsilon: float | None) -> Question:
    """The question for the one number that is given; raises InvalidInput for none or both."""
    if delta is not None and epsilon is None:
        return EpsilonAt(delta)
    if epsilon is not None and delta is None:
        return DeltaAt(epsilon)
    raise InvalidInput(
        "give a delta, for the epsilon at it, or an epsilon, for the delta at it; not both"
    )


def theorem_row(question: Question, bound: Bound, composition: Composition, attained: bool) -> Row:
    """The row of a bound; an exact bound is only an upper one where it is not attained."""
    start = time.perf_counter()
    if bound.kind == "lower" and not attained:
        raise NotApplicable(f"{bound.name}: the mechanism is not the worst of its family")
    answer, kind = question.theorem(bound.on(composition)), bound.kind
    if kind == "exact" and answer.width > _EXACT_WITHIN * answer.upper:
        kind = "upper"
    if kind in ("exact", "upper") and not attained:
        kind, answer = "upper", Bracket(0.0, answer.upper)
    seconds = time.perf_counter() - start
    return Row(bound.name, kind, answer, bound.source, seconds=seconds, adversary=bound.adversary)


def true_row(question: Question, rounds: Laws, both: bool, tolerance: float | None = None) -> Row:
    """The row of the composed loss, in the worse direction if ``both``.

    That is exact where the databases are the same in every round, and a lower end for an adversary
    who may exchange them. Raises InvalidInput where a given tolerance is not reached.
    """
    start = time.perf_counter()
    aim = _tolerance(rounds) if tolerance is None else tolerance
    found = [question.truth(rounds, aim)]
    if both:
        exchanged = [(law.reversed(), count) for law, count in rounds]
        found.append(question.truth(exchanged, aim))
    answer = Bracket.largest(found)
    if tolerance is not None and answer.width > tolerance * answer.upper:
        raise InvalidInput(
            f"double precision cannot certify a tolerance of {tolerance:g} here, but one of "
            f"{answer.width / answer.upper:.2g}"
        )
    kind: Kind = "fixed-pair" if both else "exact"
    adversary = SAME_PAIR if both else ANY
    source = _TRUTH_SOURCE
    if answer.width > aim * answer.upper:
        source += f"; the ends are {answer.width / answer.upper:.2g} apart, relatively"
    seconds = time.perf_counter() - start
    return Row(TRUTH, kind, answer, source, seconds=seconds, adversary=adversary)


def table(theorems: dict[str, Compute], truth: Compute, names: Collection[str] = ()) -> Rows:
    """The rows of these names, or of all bounds that apply, sorted by tightness.

    Where some of several named ones do not apply, ``refused`` has the reasons. Raises InvalidInput
    for an unknown name, NotApplicable where none of them applies.
    """
    known = theorems | {TRUTH: truth}
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.3) or list(known)
            raise InvalidInput(f"no bound {name!r}; did you mean {' or '.join(near)}?")
    rows, refusals = [], []
    for compute in in_stages([known[name] for name in names or known], "bounds"):
        try:
            rows.append(compute())
        except NotApplicable as error:
            refusals.append(error)
    if not rows:
        raise refusals[-1]  # the truth is the last
    refused = map(str, refusals) if names else ()
    return Rows(sorted(rows, key=lambda row: row.answer.value), refused)


def check_reach(rounds: Laws) -> None:
    """Raise NotApplicable where the numerical composition would be slow or overflow."""
    sizes = [(law, _size(law), count) for law, count in rounds]
    smallest = min((size for law, size, _ in sizes if not _sampled(law) and size), default=1.0)
    if smallest < TRUTH_SMALLEST:
        raise NotApplicable(
            f"{TRUTH}: every privacy parameter must be at least {TRUTH_SMALLEST:g}, "
            f"and {smallest:g} is not"
        )
    gridded = any(not law.simplest.has_exact_transform for law, _ in rounds)
    most = SAMPLED_SPREAD if gridded else TRUTH_SPREAD
    spread = math.hypot(*(size * math.sqrt(count) for _, size, count in sizes))
    if spread > most:
        raise NotApplicable(
            f"{TRUTH}: the root of the sum of the squared privacy parameters must be at most "
            f"{most:g}, and it is {spread:.3g}"
        )


def _sampled(law: PrivacyLossLaw) -> bool:
    return isinstance(law, SampledLaw)


def _size(law: PrivacyLossLaw) -> float:
    """The largest loss, or the deviation where it is unbounded; 0 for a sampled Gaussian."""
    largest = max(map(abs, law.support))
    if math.isfinite(largest):
        return largest
    return 0.0 if _sampled(law) else math.sqrt(law.variance)
