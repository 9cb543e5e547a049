"""Every bound beside the truth, for a composition of one named mechanism.

A theorem on a family (every epsilon-DP mechanism, say) is exact for the mechanism that attains
the family's worst case and only an upper bound for the others; the privacy loss distribution of
the mechanism itself is the truth for both.
"""

from __future__ import annotations

import difflib
import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from simulator.errors import InvalidInput, NotApplicable
from simulator.theory.answers import Answer, Kind
from simulator.theory.bounds import Bound, BoundOnComposition, all_bounds
from simulator.theory.composition import Composition
from simulator.theory.guarantees import (
    ApproxDP,
    BoundedRange,
    GaussianDP,
    Guarantee,
    PureDP,
    SubsampledGaussianDP,
)
from simulator.theory.laws import (
    GaussianLaw,
    LaplaceLaw,
    PoissonSubsampledLaw,
    PrivacyLossLaw,
    randomized_response,
)
from simulator.theory.parameters import delta_of_question
from simulator.theory.pld import Bracket, compose_laws
from simulator.validation import finite, nonnegative

TOLERANCE = 1e-8
"""Relative width that the exact rows aim at: some seconds at most, whatever the rounds."""

GRID_TOLERANCE = 1e-6
"""The same where the loss must be put on a grid."""

Laws = Sequence[tuple[PrivacyLossLaw, int]]

LARGEST_PARAMETER = 1e4
"""An epsilon or mu beyond it is no privacy, and its exponentials leave the floats."""

TRUTH = "privacy-loss-distribution"
TRUTH_SMALLEST = 1e-9
TRUTH_SPREAD = 6e4
"""Where composing the loss numerically stays within seconds and floats: parameters from the first
on, and a root of the sum of their squares up to the second."""
_TRUTH_SOURCE = "the mechanism's own privacy loss, composed numerically with certified round-off"


@dataclass(frozen=True)
class NamedMechanism:
    """A mechanism as the theory sees it, made from (parameter, delta of the round or rate).

    Attributes
    ----------
    guarantee : the family that its rounds belong to.
    law : its worst-case privacy-loss law; None where no single law is the worst.
    attains : whether it is the worst case of its family, so that "exact" means it too.
    leaks : whether the delta of a round means anything to it.
    sampled : whether it runs on a sample of the records: its parameter is sigma, a noise, beside a
        rate, and its two directions differ.
    """

    guarantee: Callable[[float, float], Guarantee]
    law: Callable[[float, float], PrivacyLossLaw] | None
    attains: bool
    leaks: bool = False
    sampled: bool = False


def _leakless(
    guarantee: Callable[[float], Guarantee],
    law: Callable[[float], PrivacyLossLaw] | None,
    attains: bool,
) -> NamedMechanism:
    """A mechanism with a privacy parameter only."""
    return NamedMechanism(
        lambda parameter, leak: guarantee(parameter),
        None if law is None else lambda parameter, leak: law(parameter),
        attains,
    )


MECHANISMS: dict[str, NamedMechanism] = {
    "pure": _leakless(PureDP, randomized_response, True),
    "randomized-response": _leakless(PureDP, randomized_response, True),
    "geometric": _leakless(PureDP, randomized_response, True),
    "laplace": _leakless(PureDP, LaplaceLaw, False),
    "gaussian": _leakless(GaussianDP, GaussianLaw, True),
    "exponential": _leakless(BoundedRange, None, True),
    "approx": NamedMechanism(ApproxDP, randomized_response, True, leaks=True),
    "subsampled-gaussian": NamedMechanism(
        SubsampledGaussianDP,
        lambda sigma, rate: PoissonSubsampledLaw(GaussianLaw(1.0 / sigma), rate),
        False,
        sampled=True,
    ),
}
"""By name. The parameter is epsilon, for ``gaussian`` mu = sensitivity/sigma; ``geometric`` is at
sensitivity 1, where its loss is that of randomized response. ``exponential`` has no single worst
pair (Dong, Durfee and Rogers 2020): its exact answer is that of the bounded-range bounds. Of
``subsampled-gaussian`` the parameter is sigma, at sensitivity 1 under add-or-remove-one."""


@dataclass(frozen=True)
class Row:
    """One bound's answer: an epsilon at the asked delta, or a delta at the asked epsilon."""

    name: str
    kind: Kind
    answer: Answer
    source: str
    seconds: float


@dataclass(frozen=True)
class EpsilonAt:
    """Ask for the epsilon at a delta in [0, 1)."""

    delta: float

    def __post_init__(self) -> None:
        delta_of_question(self.delta)

    def theorem(self, bound: BoundOnComposition) -> Answer:
        """What a bound says."""
        return bound.epsilon(self.delta)

    def truth(self, rounds: Laws) -> Bracket:
        """What the composed privacy loss says; at delta = 0 all rounds are at their largest."""
        if self.delta == 0.0:
            largest = math.fsum(count * law.support[1] for law, count in rounds)
            found = Bracket(largest, math.inf if _infinite_mass(rounds) else largest)
        else:
            found = compose_laws(rounds, _tolerance(rounds)).epsilon(self.delta)
        if math.isinf(found.upper) and self.delta > 0.0 and _infinite_mass(rounds) < self.delta:
            raise NotApplicable(f"{TRUTH}: the loss cannot be composed numerically that far out")
        if math.isinf(found.upper):
            lost = _infinite_mass(rounds)
            why = f"is infinite with probability {lost:.3g}" if lost else "has no largest value"
            raise NotApplicable(f"no finite epsilon holds at delta {self.delta!r}: the loss {why}")
        return found


@dataclass(frozen=True)
class DeltaAt:
    """Ask for the delta at a finite epsilon >= 0."""

    epsilon: float

    def __post_init__(self) -> None:
        nonnegative("epsilon", finite("epsilon", self.epsilon))

    def theorem(self, bound: BoundOnComposition) -> Answer:
        """What a bound says."""
        return bound.delta(self.epsilon)

    def truth(self, rounds: Laws) -> Bracket:
        """What the composed privacy loss says."""
        return compose_laws(rounds, _tolerance(rounds)).delta(self.epsilon)


Question = EpsilonAt | DeltaAt


def _tolerance(rounds: Laws) -> float:
    exact = all(law.simplest.has_exact_transform for law, _ in rounds)
    return TOLERANCE if exact else GRID_TOLERANCE


def _infinite_mass(rounds: Laws) -> float:
    """The probability that the loss of some round is infinite."""
    return -math.expm1(math.fsum(n * math.log1p(-law.infinite_mass) for law, n in rounds))


def _question(delta: float | None, epsilon: float | None) -> Question:
    if delta is not None and epsilon is None:
        return EpsilonAt(delta)
    if epsilon is not None and delta is None:
        return DeltaAt(epsilon)
    raise InvalidInput("ask for the epsilon at a delta, or for the delta at an epsilon")


def _theorem_row(question: Question, bound: Bound, composition: Composition, attained: bool) -> Row:
    """Where a theorem's worst case is not attained, "exact" is only an upper bound."""
    start = time.perf_counter()
    answer, kind = question.theorem(bound.on(composition)), bound.kind
    if kind == "exact" and not attained:
        kind, answer = "upper", Answer(answer.upper, 0.0, answer.upper)
    return Row(bound.name, kind, answer, bound.source, time.perf_counter() - start)


def _true_row(question: Question, rounds: Laws, both: bool) -> Row:
    """The worse of both directions, where they differ."""
    start = time.perf_counter()
    found = [question.truth(rounds)]
    if both:
        found.append(question.truth([(law.reversed(), count) for law, count in rounds]))
    upper = max(bracket.upper for bracket in found)
    answer = Answer(upper, max(bracket.lower for bracket in found), upper)
    return Row(TRUTH, "exact", answer, _TRUTH_SOURCE, time.perf_counter() - start)


def compare(
    mechanism: str,
    rounds: Sequence[tuple[float, int]],
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    leak: float = 0.0,
    rate: float = 1.0,
    names: Collection[str] = (),
) -> list[Row]:
    """Ask every bound for the epsilon at ``delta``, or for the delta at ``epsilon``.

    Parameters
    ----------
    mechanism : a name in MECHANISMS.
    rounds : pairs (privacy parameter > 0, number of rounds with it).
    leak : the delta of each round in [0, 1), for ``approx``.
    rate : the probability in [0, 1] that a record is sampled, for ``subsampled-gaussian``.
    names : ask only these bounds, or ``privacy-loss-distribution``; all by default.

    Returns the rows sorted by tightness. Of all bounds, those that do not apply are left out.

    Raises
    ------
    InvalidInput : an unknown name, or a number out of its range.
    NotApplicable : a bound asked by name whose conditions are not met, and which; or no bound at
        all grants anything.
    """
    named = _named(mechanism)
    if leak and not named.leaks:
        raise InvalidInput(f"a round of {mechanism} has no delta; that is for the mechanism approx")
    if rate != 1.0 and not named.sampled:
        raise InvalidInput(f"{mechanism} runs on all records; a rate is for subsampled-gaussian")
    what = "sigma" if named.sampled else "the privacy parameter"
    least = 1.0 / LARGEST_PARAMETER if named.sampled else 0.0
    for parameter, _ in rounds:
        if not (least <= parameter <= LARGEST_PARAMETER and parameter > 0.0):
            above = f"at least {least:g}" if least else "above 0"
            raise InvalidInput(
                f"{what} of a round must be {above} and at most {LARGEST_PARAMETER:g}, "
                f"not {parameter!r}"
            )
    question = _question(delta, epsilon)
    second = rate if named.sampled else leak
    composition = Composition.of(*((named.guarantee(value, second), n) for value, n in rounds))
    rows, refusals = [], []
    asks = _questions(question, named, composition, rounds=rounds, second=second, names=names)
    for ask in asks:
        try:
            rows.append(ask())
        except NotApplicable as error:
            if names:
                raise
            refusals.append(error)
    if not rows:
        raise refusals[-1]  # the mechanism's own loss was asked last
    return sorted(rows, key=lambda row: row.answer.value)


def _check_reach(rounds: Sequence[tuple[float, int]]) -> None:
    """Raise NotApplicable where the numerical composition would be slow or overflow."""
    smallest = min(parameter for parameter, _ in rounds)
    if smallest < TRUTH_SMALLEST:
        raise NotApplicable(
            f"{TRUTH}: every privacy parameter must be at least {TRUTH_SMALLEST:g}, "
            f"and {smallest:g} is not"
        )
    spread = math.hypot(*(parameter * math.sqrt(count) for parameter, count in rounds))
    if spread > TRUTH_SPREAD:
        raise NotApplicable(
            f"{TRUTH}: the root of the sum of the squared privacy parameters must be at most "
            f"{TRUTH_SPREAD:g}, and it is {spread:.3g}"
        )


def _named(mechanism: str) -> NamedMechanism:
    if mechanism not in MECHANISMS:
        raise InvalidInput(f"no mechanism {mechanism!r}; there are {', '.join(MECHANISMS)}")
    return MECHANISMS[mechanism]


def _questions(
    question: Question,
    named: NamedMechanism,
    composition: Composition,
    *,
    rounds: Sequence[tuple[float, int]],
    second: float,
    names: Collection[str],
) -> Iterator[Callable[[], Row]]:
    """What to ask, one call a row."""

    def theorem(bound: Bound) -> Callable[[], Row]:
        return lambda: _theorem_row(question, bound, composition, named.attains)

    def truth() -> Row:
        if named.law is None:
            raise NotApplicable(f"{TRUTH}: no single pair of laws is this mechanism's worst case")
        if not named.sampled:
            _check_reach(rounds)
        laws = [(named.law(value, second), count) for value, count in rounds]
        return _true_row(question, laws, named.sampled)

    known = {bound.name: theorem(bound) for bound in all_bounds()} | {TRUTH: truth}
    for name in names or known:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.3) or list(known)
            raise InvalidInput(f"no bound {name!r}; did you mean {' or '.join(near)}?")
        yield known[name]
