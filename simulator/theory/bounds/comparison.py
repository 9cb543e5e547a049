"""Every bound beside the truth, for a composition of one named mechanism.

A theorem on a family (every epsilon-DP mechanism, say) is exact for the mechanism that attains
the family's worst case and only an upper bound for the others; the privacy loss distribution of
the mechanism itself is the truth for both.
"""

from __future__ import annotations

import difflib
import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.stages import in_stages
from simulator.foundations.validation import finite, nonnegative
from simulator.theory.bounds.base import Bound, BoundOnComposition
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import all_bounds
from simulator.theory.bracket import Bracket, Kind
from simulator.theory.guarantees.families import (
    ApproxDP,
    BoundedRange,
    GaussianDP,
    Guarantee,
    PureDP,
    ShuffledDP,
    SubsampledDP,
    SubsampledGaussianDP,
)
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.laws.subsampled import PoissonSubsampledLaw
from simulator.theory.parameters import delta_of_question
from simulator.theory.pld.distribution import PLD, compose_laws

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
SAMPLED_SPREAD = 2000.0
"""The same for a mechanism on a sample, whose loss is put on a grid."""
_TRUTH_SOURCE = "the mechanism's own privacy loss, composed numerically with certified round-off"


@dataclass(frozen=True)
class NamedMechanism:
    """A mechanism as the theory sees it, made from its parameter and a second number.

    The second is the delta of a round, the rate of a sample, or the number of reports.

    Attributes
    ----------
    guarantee : the family that its rounds belong to.
    law : its worst-case privacy-loss law; None where no single law is the worst.
    attains : whether it is the worst case of its family, so that "exact" means it too.
    leaks : whether the delta of a round means anything to it.
    sampled : whether it runs on a sample of the records, of some rate: its two directions differ.
    noisy : whether its parameter is sigma, a noise.
    shuffled : whether it is the reports of many people in random order.
    """

    guarantee: Callable[[float, float], Guarantee]
    law: Callable[[float, float], PrivacyLossLaw] | None
    attains: bool
    _: KW_ONLY
    leaks: bool = False
    sampled: bool = False
    noisy: bool = False
    shuffled: bool = False


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
        True,
        sampled=True,
        noisy=True,
    ),
    "subsampled-randomized-response": NamedMechanism(
        lambda epsilon, rate: SubsampledDP(epsilon, 0.0, rate),
        lambda epsilon, rate: PoissonSubsampledLaw(randomized_response(epsilon), rate),
        True,
        sampled=True,
    ),
    "subsampled-laplace": NamedMechanism(
        lambda epsilon, rate: SubsampledDP(epsilon, 0.0, rate),
        lambda epsilon, rate: PoissonSubsampledLaw(LaplaceLaw(epsilon), rate),
        False,
        sampled=True,
    ),
    "shuffled": NamedMechanism(
        lambda epsilon, reports: ShuffledDP(epsilon, int(reports)), None, True, shuffled=True
    ),
}
"""By name. The parameter is epsilon, for ``gaussian`` mu = sensitivity/sigma; ``geometric`` is at
sensitivity 1, where its loss is that of randomized response. ``exponential`` has no single worst
pair (Dong, Durfee and Rogers 2020): its exact answer is that of the bounded-range bounds. Of
``subsampled-gaussian`` the parameter is sigma, at sensitivity 1 under add-or-remove-one; of the
others on a sample it is the epsilon without it. ``shuffled`` is any local randomizer of that
epsilon: its exact rows are the bound ``shuffled-randomized-response``."""


@dataclass(frozen=True)
class Row:
    """One bound's answer: an epsilon at the asked delta, or a delta at the asked epsilon."""

    name: str
    kind: Kind
    answer: Bracket
    source: str
    seconds: float


Ask = Callable[[], Row]
"""One row, computed when it is called; raises NotApplicable."""


@dataclass(frozen=True)
class EpsilonAt:
    """Ask for the epsilon at a delta in [0, 1)."""

    delta: float

    def __post_init__(self) -> None:
        delta_of_question(self.delta)

    def theorem(self, bound: BoundOnComposition) -> Bracket:
        """What a bound says."""
        return bound.epsilon(self.delta)

    def truth(self, rounds: Laws, tolerance: float) -> Bracket:
        """What the composed privacy loss says; at delta = 0 all rounds are at their largest."""
        if self.delta == 0.0:
            largest = math.fsum(count * law.support[1] for law, count in rounds)
            found = Bracket(largest, math.inf if _infinite_mass(rounds) else largest)
        else:
            found = compose_laws(rounds, tolerance).epsilon(self.delta)
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

    def theorem(self, bound: BoundOnComposition) -> Bracket:
        """What a bound says."""
        return bound.delta(self.epsilon)

    def truth(self, rounds: Laws, tolerance: float) -> Bracket:
        """What the composed privacy loss says."""
        return compose_laws(rounds, tolerance).delta(self.epsilon)


Question = EpsilonAt | DeltaAt


def _tolerance(rounds: Laws) -> float:
    exact = all(law.simplest.has_exact_transform for law, _ in rounds)
    return TOLERANCE if exact else GRID_TOLERANCE


def _infinite_mass(rounds: Laws) -> float:
    """The probability that the loss of some round is infinite."""
    return -math.expm1(math.fsum(n * math.log1p(-law.infinite_mass) for law, n in rounds))


def question_of(delta: float | None, epsilon: float | None) -> Question:
    """The one of both questions that is asked; raises InvalidInput for none or both."""
    if delta is not None and epsilon is None:
        return EpsilonAt(delta)
    if epsilon is not None and delta is None:
        return DeltaAt(epsilon)
    raise InvalidInput("ask for the epsilon at a delta, or for the delta at an epsilon")


def theorem_row(question: Question, bound: Bound, composition: Composition, attained: bool) -> Row:
    """Where a theorem's worst case is not attained, "exact" is only an upper bound."""
    start = time.perf_counter()
    if bound.kind == "lower" and not attained:
        raise NotApplicable(f"{bound.name}: the mechanism is not the worst of its family")
    answer, kind = question.theorem(bound.on(composition)), bound.kind
    if kind in ("exact", "upper") and not attained:
        kind, answer = "upper", Bracket(0.0, answer.upper)
    return Row(bound.name, kind, answer, bound.source, time.perf_counter() - start)


def true_row(question: Question, rounds: Laws, both: bool, tolerance: float | None = None) -> Row:
    """The worse of both directions, where they differ.

    Raises InvalidInput where a tolerance that was asked for is not kept.
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
            f"doubles do not certify a tolerance of {tolerance:g} here, but a relative width of "
            f"{answer.width / answer.upper:.2g}"
        )
    return Row(TRUTH, "exact", answer, _TRUTH_SOURCE, time.perf_counter() - start)


def compare(
    mechanism: str,
    rounds: Sequence[tuple[float, int]],
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    leak: float = 0.0,
    rate: float = 1.0,
    reports: int = 1,
    names: Collection[str] = (),
    tolerance: float | None = None,
) -> list[Row]:
    """Ask every bound for the epsilon at ``delta``, or for the delta at ``epsilon``.

    Parameters
    ----------
    mechanism : a name in MECHANISMS.
    rounds : pairs (privacy parameter > 0, number of rounds with it).
    leak : the delta of each round in [0, 1), for ``approx``.
    rate : the probability in [0, 1] that a record is sampled, for mechanisms on a sample.
    reports : how many reports are shuffled, for ``shuffled``.
    names : ask only these bounds, or ``privacy-loss-distribution``; all by default.
    tolerance : the relative width in [1e-12, 1] that the exact row must keep; by default it aims
        at ``TOLERANCE`` or ``GRID_TOLERANCE``, and is as wide as it must be.

    Returns the rows sorted by tightness. Of all bounds, those that do not apply are left out.

    Raises
    ------
    InvalidInput : an unknown name, a number out of its range, or a tolerance that is not kept.
    NotApplicable : a bound asked by name whose conditions are not met, and which; or no bound at
        all grants anything.
    """
    named = _named(mechanism)
    if leak and not named.leaks:
        raise InvalidInput(f"a round of {mechanism} has no delta; that is for the mechanism approx")
    if rate != 1.0 and not named.sampled:
        raise InvalidInput(f"{mechanism} runs on all records; a rate is for those named subsampled")
    if reports != 1 and not named.shuffled:
        raise InvalidInput(f"{mechanism} shuffles no reports; their number is for shuffled")
    what = "sigma" if named.noisy else "the privacy parameter"
    least = 1.0 / LARGEST_PARAMETER if named.noisy else 0.0
    for parameter, _ in rounds:
        if not (least <= parameter <= LARGEST_PARAMETER and parameter > 0.0):
            above = f"at least {least:g}" if least else "above 0"
            raise InvalidInput(
                f"{what} of a round must be {above} and at most {LARGEST_PARAMETER:g}, "
                f"not {parameter!r}"
            )
    if tolerance is not None:
        PLD.nothing(tolerance)  # refuses one that is out of range
    question = question_of(delta, epsilon)
    second = rate if named.sampled else float(reports) if named.shuffled else leak
    composition = Composition.of(*((named.guarantee(value, second), n) for value, n in rounds))
    asks = _questions(
        question,
        named,
        composition,
        rounds=rounds,
        second=second,
        names=names,
        tolerance=tolerance,
    )
    return answered(asks, strict=bool(names))


def answered(asks: Iterable[Ask], *, strict: bool) -> list[Row]:
    """The rows that apply, sorted by tightness; where ``strict``, each must.

    Raises NotApplicable where none does.
    """
    rows, refusals = [], []
    for ask in in_stages(list(asks), "bounds"):
        try:
            rows.append(ask())
        except NotApplicable as error:
            if strict:
                raise
            refusals.append(error)
    if not rows:
        raise refusals[-1]  # the mechanism's own loss was asked last
    return sorted(rows, key=lambda row: row.answer.value)


def check_reach(rounds: Sequence[tuple[float, int]], most: float = TRUTH_SPREAD) -> None:
    """Raise NotApplicable where the numerical composition would be slow or overflow."""
    smallest = min(parameter for parameter, _ in rounds)
    if smallest < TRUTH_SMALLEST:
        raise NotApplicable(
            f"{TRUTH}: every privacy parameter must be at least {TRUTH_SMALLEST:g}, "
            f"and {smallest:g} is not"
        )
    spread = math.hypot(*(parameter * math.sqrt(count) for parameter, count in rounds))
    if spread > most:
        raise NotApplicable(
            f"{TRUTH}: the root of the sum of the squared privacy parameters must be at most "
            f"{most:g}, and it is {spread:.3g}"
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
    tolerance: float | None,
) -> Iterator[Ask]:
    """What to ask, one call a row."""

    def theorem(bound: Bound) -> Ask:
        return lambda: theorem_row(question, bound, composition, named.attains)

    def truth() -> Row:
        if named.law is None:
            raise NotApplicable(f"{TRUTH}: no single pair of laws is this mechanism's worst case")
        if not named.noisy:
            check_reach(rounds, SAMPLED_SPREAD if named.sampled else TRUTH_SPREAD)
        laws = [(named.law(value, second), count) for value, count in rounds]
        return true_row(question, laws, named.sampled, tolerance)

    yield from asked_for({bound.name: theorem(bound) for bound in all_bounds()}, truth, names)


def asked_for(theorems: dict[str, Ask], truth: Ask, names: Collection[str]) -> Iterator[Ask]:
    """The rows of those names, or all of them, the truth last. Raises InvalidInput."""
    known = theorems | {TRUTH: truth}
    for name in names or known:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.3) or list(known)
            raise InvalidInput(f"no bound {name!r}; did you mean {' or '.join(near)}?")
        yield known[name]
