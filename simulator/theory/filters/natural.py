"""The natural filter: admit while the exact delta of the admitted rounds is within the budget.

It is *not sound in general*: it composes the rounds as if they were fixed in advance, while an
adversary chooses the next round from the answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.foundations.errors import InvalidInput, NotApplicable
from simulator.theory.bracket import Bracket
from simulator.theory.filters.interface import Accounted, Filter, OverMenu, Price, State
from simulator.theory.filters.rules import AS_STORED
from simulator.theory.guarantees.gaussian import GaussianDP
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.inverse import first_without
from simulator.theory.laws.base import PrivacyLossLaw
from simulator.theory.laws.extremal import randomized_response
from simulator.theory.laws.finite import FiniteLaw
from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.laws.gaussian_curve import gaussian_delta_bracket
from simulator.theory.laws.laplace import LaplaceLaw
from simulator.theory.outward import sum_bracket
from simulator.theory.pld.distribution import compose_laws
from simulator.theory.pld.response_atoms import mixed_atoms, repeated_atoms

Parts = tuple[tuple[PrivacyLossLaw, int], ...]
"""Laws of one round, and in how many rounds each."""

AS_COMPUTED = 1.0 + 1e-12
"""Margin for the rounding of a certified end: a round of exactly (epsilon, delta) fits the
budget."""

TOLERANCES = (1e-4, 1e-9)
"""Relative widths of a numerically composed delta; the finer one is used where the coarser bracket
contains the budget."""

MOST_ATOMS = 8_000
"""Most atoms of composed randomized responses to enumerate; beyond, composing numerically is
faster."""

MOST_STATES = 1 << 20
"""Most combinations of counts of a menu's entries; a table of them takes a minute at most."""


class Kind(IntEnum):
    """Kinds of dominating pairs."""

    LAPLACE = 0
    GAUSSIAN = 1
    RESPONSE = 2


class DominatingPair(NamedTuple):
    """The pair that a round is accounted for by: the price of a round under the natural filter.

    Attributes
    ----------
    parameter : mu of a Gaussian pair, else epsilon.
    kind : ``RESPONSE`` is the pair of (epsilon, delta)-DP.
    delta : 0 of the other kinds.
    """

    parameter: float
    kind: Kind
    delta: float = 0.0

    @property
    def harmless(self) -> bool:
        """Whether the pair is two equal distributions."""
        return self.parameter == 0.0 and self.delta == 0.0


def natural_step(state: State, parameter: float, kind: Kind, delta: float) -> tuple[bool, State]:
    """State: the budget's epsilon and delta, then (pair, number of admitted rounds) of each pair.

    For prices that are not known beforehand. The state grows, so numba does not compile it.
    """
    after = _after(state, DominatingPair(parameter, kind, delta))
    return (False, state) if after is None else (True, after)


class NaturalFilter(Filter):
    """Admit while the composed delta(``epsilon``) of all admitted rounds is at most ``delta``.

    Not sound in general: rounds are composed as if they did not depend on the answers. With
    randomized responses of 0.025 and 0.2 at (1, 1e-5) an adaptive adversary reaches 2.81e-5. Sound
    where of any two compositions of the rounds one dominates the other at every epsilon: rounds of
    one law, or any Gaussians. So ``proved`` is False.

    A round is accounted for by its mechanism's worst law where it states one (Laplace noise on one
    number), else by the dominating pair of its guarantee: randomized response of an epsilon-DP one,
    bounded range included; the four-outcome pair of an (epsilon, delta)-DP one; a Gaussian pair of
    a Gaussian-DP one. Others raise NotApplicable. The composed delta is the certified upper end, so
    rounding never admits a round that does not fit.

    ``delta`` must be above 0 and ``rounds_delta`` 0, as the rounds' own deltas are composed too.
    Raises InvalidInput.

    >>> from simulator import PureDP
    >>> from simulator.theory import NaturalFilter
    >>> running = NaturalFilter(1.0, 1e-6).fresh()
    >>> running.admits(PureDP(0.5)), NaturalFilter.proved
    (True, False)
    """

    name = "natural"
    source = "arXiv 2602.15815 and 2602.06756, 2026 (not sound in general)"
    proved = False
    prices_vary = False
    step = staticmethod(natural_step)

    def _check(self) -> None:
        if self.rounds_delta != 0.0:
            raise InvalidInput(
                "the natural filter composes the rounds' own deltas too and takes no "
                f"rounds_delta = {self.rounds_delta!r}; leave it out"
            )
        if not self.delta > 0.0:
            raise InvalidInput(f"the natural filter needs delta above 0, not {self.delta!r}")

    def __str__(self) -> str:
        return f"{self.name}:{self.epsilon!r},{self.delta!r}"

    @property
    def initial(self) -> State:
        """The whole epsilon and delta, all of which is left."""
        return (self.epsilon, self.delta)

    def admits_composition(self, parts: Parts) -> bool:
        """Whether these rounds, composed without adaptivity, keep (epsilon, delta) both ways.

        ``parts`` are pairs (law of one round, number of rounds >= 0). Recent results are cached.
        """
        return _keeps(parts, self.epsilon, self.delta)

    def price(self, guarantee: Guarantee) -> DominatingPair:
        """The dominating pair of the guarantee."""
        if isinstance(guarantee, GaussianDP) and guarantee.mu > 0.0:
            return DominatingPair(guarantee.mu, Kind.GAUSSIAN)
        epsilon, delta = super().price(guarantee)
        return DominatingPair(epsilon, Kind.RESPONSE, delta)

    def price_of(self, mechanism: Accounted, relation: Any) -> Price:
        """The Laplace pair where that is the mechanism's worst law, else the guarantee's price."""
        law = mechanism.worst_law(relation)
        if isinstance(law, LaplaceLaw):
            return DominatingPair(law.epsilon, Kind.LAPLACE)
        return super().price_of(mechanism, relation)

    def over_menu(self, prices: Sequence[Price]) -> OverMenu:
        """A step over a table of the counts that fit together; its state is an index.

        A round's first number is what it adds to the state. Raises NotApplicable where the table is
        too large.
        """
        pairs = [DominatingPair(*price) for price in prices]
        needed = tuple(sorted({pair for pair in pairs if not pair.harmless}))
        strides, most = _staircase(needed, self.epsilon, self.delta)
        return OverMenu(
            _table_step(most), (0.0,), [(strides.get(pair, 0.0), 0.0) for pair in pairs]
        )


@lru_cache(maxsize=4096)
def _law_of(pair: DominatingPair) -> PrivacyLossLaw:
    if pair.kind is Kind.RESPONSE:
        return randomized_response(pair.parameter, pair.delta)
    return (GaussianLaw if pair.kind is Kind.GAUSSIAN else LaplaceLaw)(pair.parameter)


@lru_cache(maxsize=1 << 14)
def _after(state: State, pair: DominatingPair) -> State | None:
    """The state after one more round of a pair; None where it does not fit."""
    if pair.harmless:
        return state
    epsilon, delta, *spent = state
    counts = dict(spent)
    counts[pair] = counts.get(pair, 0) + 1
    after = tuple(sorted(counts.items()))
    return (epsilon, delta, *after) if _fits(after, epsilon, delta) else None


def _fits(spent: Sequence[tuple[DominatingPair, int]], epsilon: float, delta: float) -> bool:
    return _keeps(tuple((_law_of(pair), count) for pair, count in spent), epsilon, delta)


@lru_cache(maxsize=1 << 15)
def _keeps(parts: Parts, epsilon: float, delta: float) -> bool:
    limit = delta * AS_COMPUTED
    used = tuple((law, count) for law, count in parts if count and not _harmless(law))
    exchanged = _reversed(used)
    return _keeps_one_way(used, epsilon, limit) and (
        exchanged is used or _keeps_one_way(exchanged, epsilon, limit)
    )


def _keeps_one_way(parts: Parts, epsilon: float, limit: float) -> bool:
    """Whether the composed delta(epsilon) is certainly at most the limit."""
    responses = [(_response(law), count) for law, count in parts]
    if all(pair is not None for pair, _ in responses):
        listed = [(pair, count) for pair, count in responses if pair is not None]
        if len(parts) == 1 or math.prod(count + 1 for _, count in parts) <= MOST_ATOMS:
            return _responses_delta(listed, epsilon) <= limit
    if all(isinstance(law, GaussianLaw) for law, _ in parts):
        mu = math.sqrt(math.fsum(n * law.variance for law, n in parts))
        return gaussian_delta_bracket(mu, epsilon).upper <= limit
    found = Bracket(0.0, 1.0)
    for tolerance in TOLERANCES:
        found = found.meet(compose_laws(parts, tolerance).delta(epsilon))
        if found.upper <= limit or found.lower > limit:
            break
    return found.upper <= limit


def _responses_delta(parts: list[tuple[tuple[float, float], int]], epsilon: float) -> float:
    """Upper end of delta(epsilon) of randomized responses with their deltas."""
    kept = math.exp(math.fsum(count * math.log1p(-leak) for (_, leak), count in parts))
    lost = -math.expm1(math.fsum(count * math.log1p(-leak) for (_, leak), count in parts))
    counts: dict[float, int] = {}
    for (response, _), count in parts:
        if response > 0.0:
            counts[response] = counts.get(response, 0) + count
    groups = tuple(counts.items())
    if sum_bracket(groups).upper <= epsilon * AS_STORED:  # no finite loss is beyond epsilon
        return lost * (1.0 + 1e-14)
    atoms = repeated_atoms(*groups[0]) if len(groups) == 1 else mixed_atoms(groups)
    return (lost + kept * atoms.delta_bracket(epsilon).upper) * (1.0 + 1e-14)


@lru_cache(maxsize=4096)
def _response(law: PrivacyLossLaw) -> tuple[float, float] | None:
    """The (epsilon, delta) whose dominating pair has this law; None for another law."""
    if not isinstance(law, FiniteLaw):
        return None
    pair = law.support[1], law.infinite_mass
    return pair if pair[0] >= 0.0 and law == randomized_response(*pair) else None


@lru_cache(maxsize=4096)
def _harmless(law: PrivacyLossLaw) -> bool:
    return law.support == (0.0, 0.0) and law.infinite_mass == 0.0 == law.dual_infinite_mass


def _reversed(parts: Parts) -> Parts:
    """The laws of the exchanged pairs; ``parts`` itself where they are equal."""
    if all(_response(law) is not None or law.reversed() == law for law, _ in parts):
        return parts
    return tuple((law.reversed(), count) for law, count in parts)


ADVICE = (
    "write fewer or larger privacy parameters into the menu, give the filter a smaller budget, or "
    "play a generator adversary, which needs no table"
)


@lru_cache(maxsize=8)
def _staircase(
    pairs: tuple[DominatingPair, ...], epsilon: float, delta: float
) -> tuple[dict[DominatingPair, float], NDArray[np.int64]]:
    """The stride of each pair in a state, and the most rounds of the last beside the others.

    A state is the row of the other pairs' counts plus the number of rows times the last count.
    Removing a round from an admitted composition keeps it admitted. Hence every row has a largest
    count of the last pair, which does not increase from row to row. A row that does not fit holds
    -1.
    """
    if not pairs:
        return {}, np.zeros(1, dtype=np.int64)

    def most_of(
        pair: DominatingPair, others: tuple[tuple[DominatingPair, int], ...], near: int, most: int
    ) -> int:
        """The largest count of a pair beside others that fits, found from ``near``; or -1."""

        def fits(count: int) -> bool:
            spent = sorted(part for part in (*others, (pair, count)) if part[1])
            return count < 0 or _fits(spent, epsilon, delta)

        return first_without(fits, near, most + 1) - 1

    alone = {pair: most_of(pair, (), 1, MOST_STATES) for pair in pairs}
    for pair, count in alone.items():
        if count >= MOST_STATES:
            raise NotApplicable(
                f"the natural filter admits {MOST_STATES} rounds or more of the menu's entry of "
                f"privacy parameter {pair.parameter!r}: {ADVICE}"
            )
    *others, last = sorted(pairs, key=lambda pair: (alone[pair], pair))
    shape = tuple(alone[pair] + 2 for pair in others)
    rows = math.prod(shape)
    if (states := rows * (alone[last] + 1)) > MOST_STATES:
        raise NotApplicable(
            f"the natural filter over this menu may need {states} states, more than "
            f"{MOST_STATES}: {ADVICE}"
        )
    most = np.full(shape, -1, dtype=np.int64)
    for row in np.ndindex(*shape):
        below = [
            int(most[(*row[:j], row[j] - 1, *row[j + 1 :])]) for j in range(len(row)) if row[j]
        ]
        top = min(below, default=alone[last])
        most[row] = most_of(last, tuple(zip(others, row)), top, top)
    strides = {pair: float(math.prod(shape[j + 1 :])) for j, pair in enumerate(others)}
    return strides | {last: float(rows)}, most.ravel()


def _table_step(most: NDArray[np.int64]) -> Callable[..., tuple[bool, Any]]:
    rows = len(most)

    def step(state, stride, _):  # type: ignore[no-untyped-def]
        after = int(state[0] + stride)
        if after // rows <= most[after % rows]:
            return True, (float(after),)
        return False, state

    return step
