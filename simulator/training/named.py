"""Random allocation and balls in bins, for ``dpcompose bounds`` and ``dpcompose calibrate``."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.foundations import grammar
from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.foundations.strangers import read_array
from simulator.foundations.wording import did_you_mean
from simulator.theory.bounds.base import SAME_PAIR
from simulator.theory.bounds.comparison import TRUTH, Row, Rows
from simulator.theory.bracket import Bracket
from simulator.theory.events.accounting import Account
from simulator.theory.events.leaves import GaussianEvent
from simulator.theory.events.named import EventMechanism, NamedMechanism, NamedRounds
from simulator.theory.events.targets import FoundParameter, FoundValue, Target
from simulator.theory.events.tree import EventTree
from simulator.training.events import RandomAllocationEvent

if TYPE_CHECKING:
    from simulator.analysis.estimation import Estimate
    from simulator.training.laws.subset_test import ParticipationTest
    from simulator.training.matrices import BinnedPair, SubsetPair

ROWS = ("bands", "either-direction", "removal", "addition", "public-bin")
"""The names of the rows of matrix-factorisation."""
DRAWS, CONFIDENCE = 100_000, 0.95
DRAWN = ("draws", "seed", "confidence")
"""The parameters of draws."""

_BLOCKS = (
    "upper bound: as many allocations of one step, each in its block of the steps "
    "(Feldman and Shenfeld 2025)"
)


@dataclass(frozen=True)
class Draws:
    """How many draws, from which seed, and the confidence of all intervals of a table together."""

    draws: int = DRAWS
    seed: int = 0
    confidence: float | None = None

    def rows(
        self, pair: BinnedPair | SubsetPair, delta: float | None, epsilon: float | None
    ) -> list[Row]:
        """Estimates in either direction, and in each of them."""
        from simulator.training.matrices import estimate_allocation

        start = time.perf_counter()
        confidence = CONFIDENCE if self.confidence is None else self.confidence
        found = estimate_allocation(
            pair, epsilon=epsilon, delta=delta, confidence=confidence, draws=self.draws,
            seed=self.seed,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        draws = f"{self.draws} draws, {100 * confidence:.10g}% for all; {found.theorem}"
        ceiling = 1.0 if delta is None else math.inf
        rest: dict[str, Any] = {"seconds": seconds, "adversary": SAME_PAIR}
        return [
            Row(name, "estimate", _bracket(estimate, ceiling), draws, **rest)
            for name, estimate in zip(ROWS[1:], (found.worst, found.removal, found.addition))
            if estimate is not None
        ]


def _bracket(estimate: Estimate, ceiling: float = math.inf) -> Bracket:
    return Bracket(estimate.lower, min(estimate.upper, ceiling), estimate.value)


def _allocation(
    sigma: float,
    steps: int,
    selected: int = 1,
    epochs: int = 1,
    *,
    draws: int = 0,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> EventTree:
    """Epochs of Gaussian sums; the draws are of estimates beside the certified law."""
    return RandomAllocationEvent(GaussianEvent(sigma), steps, selected, epochs)


@dataclass(frozen=True)
class NamedAllocation(EventMechanism):
    """Each record in a few steps of every epoch, at random."""

    inexact = True

    def event(self, term: grammar.Term, values: Mapping[str, Any]) -> EventTree:
        """The event of one round. Raises InvalidInput where there are draws."""
        drawn = [name for name in DRAWN if name in values]
        if drawn:
            raise InvalidInput(f"{term}: {drawn[0]} is of estimates of one epoch alone, with draws")
        return super().event(term, values)

    def compare(self, rounds: NamedRounds, **question: Any) -> Rows:
        """Every bound and the composed loss; with draws, estimates of the exact law of an epoch."""
        given, drawn = dict(rounds.values), {}
        if given.get("draws"):
            drawn = {name: given.pop(name) for name in DRAWN if name in given}
        certain = replace(rounds, values=given)
        rows = self._certified(certain, given, question)
        if not Account(certain.event).exact:
            named = (
                replace(row, source=_BLOCKS, adversary=SAME_PAIR) if row.name == TRUTH else row
                for row in rows
            )
            rows = Rows(named, rows.refused)
        if not drawn:
            return rows
        if rounds.count != 1 or given.get("epochs", 1) != 1:
            raise InvalidInput(f"{rounds.term}: draws are of one epoch; leave out the others")
        from simulator.training.matrices import random_subset

        pair = random_subset(given["sigma"], given["steps"], given.get("selected", 1))
        drawn_rows = Draws(**drawn).rows(pair, question["delta"], question["epsilon"])
        return Rows([*rows, *drawn_rows], rows.refused)

    def _certified(
        self, rounds: NamedRounds, given: Mapping[str, Any], question: dict[str, Any]
    ) -> Rows:
        """Every bound and the composed loss; beside an upper bound of one epoch, a lower end."""
        several = given.get("selected", 1) > 1
        if not several or rounds.count != 1 or given.get("epochs", 1) != 1:
            if question["names"] and TESTED in question["names"]:
                raise NotApplicable(f"{TESTED} is of several steps of one epoch: selected above 1")
            return super().compare(rounds, **question)

        def test() -> ParticipationTest:
            from simulator.training.laws.subset_test import SubsetTest

            return SubsetTest(given["sigma"], int(given["steps"]), int(given["selected"]))

        return beside_test(super().compare, rounds, question, test)


TESTED = "subset-test"
"""The name of the row of a test."""


def beside_test(
    compare: Callable[..., Rows],
    rounds: NamedRounds,
    question: dict[str, Any],
    test: Callable[[], ParticipationTest],
) -> Rows:
    """Every bound and the composed loss, and the lower end that a test reaches."""
    names = question["names"]
    if names and TESTED not in names:
        return compare(rounds, **question)
    others = [name for name in names if name != TESTED]
    rows = Rows()
    if others or not names:
        rows = compare(rounds, **question | {"names": others})
    try:
        row = _tested(test, question["delta"], question["epsilon"])
    except NotApplicable as error:
        if not rows:
            raise
        return Rows(rows, (*rows.refused, f"{TESTED}: {error}") if names else rows.refused)
    return Rows(sorted([row, *rows], key=lambda row: row.answer.value), rows.refused)


def _tested(
    make: Callable[[], ParticipationTest], delta: float | None, epsilon: float | None
) -> Row:
    start = time.perf_counter()
    test = make()
    if delta is None:
        assert epsilon is not None
        found, ceiling = test.delta(epsilon), 1.0
    else:
        found, ceiling = test.epsilon(delta) if delta > 0.0 else 0.0, math.inf
    source = "certified: a test of the sum of ln(1 - q + q X) over the steps"
    seconds = time.perf_counter() - start
    return Row(TESTED, "lower", Bracket(found, ceiling, found), source, seconds=seconds)


RANDOM_ALLOCATION = NamedAllocation(
    _allocation,
    "Each record in SELECTED of the STEPS steps of every epoch, at random. With draws, estimates "
    "of the exact law of an epoch too.",
)


def _pair(
    sigma: float,
    bins: int,
    rounds: int,
    coefficients: tuple[float, ...] = (1.0,),
    *,
    matrix: str | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    confidence: float | None = None,
) -> BinnedPair:
    """Balls in bins with the noise C^-1 z, where C_il = c_(i-l), or the matrix of a file."""
    from simulator.training.matrices import balls_in_bins

    c = None if matrix is None else matrix_of(matrix)
    if c is not None and coefficients != (1.0,):
        raise InvalidInput("give coefficients or a matrix, not both")
    return balls_in_bins(sigma, bins, rounds, coefficients, matrix=c)


@dataclass(frozen=True)
class NamedFactorisation(NamedMechanism):
    """Gaussian noise of several rounds that is correlated: by draws, and for bands certified."""

    about: str
    estimated = True

    @property
    def parameters(self) -> tuple[grammar.Parameter, ...]:
        """Those of a pair of balls in bins, and of its draws."""
        return grammar.parameters_of(_pair)

    def event(self, term: grammar.Term, values: Mapping[str, Any]) -> EventTree:
        """Raises NotApplicable: no event is known."""
        raise NotApplicable(f"{term.name} is known by draws alone, and stands alone")

    def compare(self, rounds: NamedRounds, **question: Any) -> Rows:
        """Certified ends, estimates in both directions, and the Gaussian of a public bin."""
        name, names = rounds.term.name, question["names"]
        delta, epsilon = question["delta"], question["epsilon"]
        if question["tolerance"] is not None:
            raise InvalidInput(f"tolerance is of a certified row, and {name} has none")
        if rounds.count != 1:
            raise InvalidInput(f"{rounds.term}: the rounds are a parameter of {name}")
        unknown = [each for each in names if each not in ROWS]
        if unknown:
            near = did_you_mean(unknown[0], ROWS)
            raise InvalidInput(
                f"no bound {unknown[0]!r} of {name}; there are {', '.join(ROWS)}{near}"
            )
        pair = grammar.calling(rounds.term, _pair, dict(rounds.values))
        drawn = [name for name in ROWS[1:-1] if name in (names or ROWS)]
        bands = _certified(pair, delta, epsilon) if ROWS[0] in (names or ROWS) else Rows()
        rows = list(bands)
        rows += _draws(rounds.values).rows(pair, delta, epsilon) if drawn else []
        longest = math.sqrt(float(np.max(np.diagonal(pair.gram))))
        public = Account(GaussianEvent(1.0, longest)).compare(delta=delta, epsilon=epsilon)
        exact = next(row for row in public if row.kind == "exact")
        source = "Gaussian of the bin of the longest mean, were it public"
        upper = Bracket(0.0, exact.answer.upper)
        rows.append(Row(ROWS[-1], "upper", upper, source, seconds=exact.seconds))
        found = [row for row in rows if not names or row.name in names]
        if not found:
            raise NotApplicable(bands.refused[0])
        return Rows(found, bands.refused if names else ())

    def calibrate(
        self, term: grammar.Term, values: Mapping[str, Any], rounds: int | None, target: Target
    ) -> FoundParameter:
        """The least sigma that meets the target, and the next smaller one, by draws."""
        from simulator.training.matrices.calibrating import ERROR, calibrate_noise

        if rounds is not None or self.missing(values) != ["sigma"]:
            needed = (each.name for each in self.parameters[1:] if each.required)
            named = ",".join(f"{name}={name.upper()}" for name in needed)
            raise InvalidInput(
                f"{term}: sigma alone is left out, to be calibrated, and is the first of values in "
                f"order: write the others by name, as {term.name}:{named}, without --rounds"
            )
        if target.any_direction:
            raise InvalidInput(f"{term.name} is calibrated in both directions, each for all rounds")
        draws = _draws(values)
        found = calibrate_noise(
            lambda sigma: grammar.calling(term, _pair, {"sigma": sigma, **values}),
            target.epsilon,
            target.delta,
            digits=target.digits,
            error=ERROR if draws.confidence is None else 1.0 - draws.confidence,
            draws=draws.draws,
            seed=draws.seed,
        )
        return FoundParameter(
            "sigma",
            f"by draws, wrong with probability {found.error:g} at most",
            tuple(
                FoundValue(key, label, sigma, _bracket(delta), str(delta), "delta")
                for key, label, sigma, delta in (
                    ("meets", "meets the target", found.sigma, found.delta),
                    ("next", "the next smaller one", found.beyond, found.beyond_delta),
                )
            ),
            quantity=f"delta at epsilon = {target.epsilon:g}",
            facts={"error": found.error, "tried": found.tried},
        )


def _certified(pair: BinnedPair, delta: float | None, epsilon: float | None) -> Rows:
    """The bracket without draws, in either direction, or why no theorem has one."""
    from simulator.training.matrices.certified import BandedEnds

    start = time.perf_counter()
    ends = BandedEnds(pair)
    try:
        if delta is None:
            assert epsilon is not None
            found = ends.delta(epsilon)
        elif 0.0 < delta < 1.0:
            found = ends.epsilon(delta)
        else:
            raise NotApplicable(f"delta must be strictly between 0 and 1, not {delta:g}")
    except NotApplicable as error:
        return Rows(refused=[f"{ROWS[0]}: {error}"])
    # where the pair is not known to be reached the lower end is of nothing that is played
    found = Bracket(found.lower if pair.played is None else 0.0, found.upper, found.upper)
    seconds = time.perf_counter() - start
    source = f"certified, without draws: neighbouring bins in convex order; {pair.theorem}"
    return Rows([Row(ROWS[0], "upper", found, source, seconds=seconds, adversary=SAME_PAIR)])


def _draws(values: Mapping[str, Any]) -> Draws:
    return Draws(**{name: values[name] for name in DRAWN if name in values})


def matrix_of(path: str) -> np.ndarray:
    """The array of a file of numpy; raises InvalidInput."""
    found = read_array(path)
    if found.dtype.kind not in "fiu":
        raise InvalidInput(f"{path}: has entries that are not real numbers")
    return found


MATRIX_FACTORISATION = NamedFactorisation(
    "Gaussian noise C^-1 z, C_il = c_(i-l) or the matrix of a .npy file; each record in one bin, "
    "round i is of bin i mod BINS. Estimates by draws; certified ends for bands of up to 4 bins."
)
