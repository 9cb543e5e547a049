"""How much wider than a filter an odometer must be: the least sound multiple of a filter's epsilon.

After rounds that were fixed in advance, the loss has an exact epsilon at delta; an odometer that
read less would be wrong for that play alone. Reading just that is not sound either, as the
adversary stops when its loss happens to be large. The least sound factor on all readings is found
here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from simulator.foundations.errors import NotApplicable
from simulator.foundations.facts import ShownByFacts
from simulator.foundations.validation import open_probability, whole
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bound
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.interface import Guarantee
from simulator.theory.guarantees.pure import PureDP
from simulator.worst.odometers import WorstOdometer, worst_odometer

Counts = tuple[int, ...]
WIDEST = 64.0
MOST_READINGS = 3_000
"""Most readings of the table, one for each way to spend the rounds."""


@dataclass(frozen=True)
class TableOdometer:
    """An odometer that reads a function of how often each epsilon was spent.

    Attributes
    ----------
    epsilons : of the pure rounds.
    delta : the delta that it announces.
    reading : ``reading(counts)``, in the order of ``epsilons``.
    """

    epsilons: tuple[float, ...]
    delta: float
    reading: Callable[[Counts], float]

    def fresh(self) -> RunningTable:
        """An odometer at zero."""
        return RunningTable(self)


class RunningTable:
    """A table's odometer in use."""

    def __init__(self, spec: TableOdometer) -> None:
        self.spec = spec
        self.counts: Counter[float] = Counter()

    def spend(self, guarantee: Guarantee) -> None:
        """Account for a pure round of a listed epsilon; raises NotApplicable for another."""
        epsilon = guarantee.core.pure_epsilon
        if epsilon not in self.spec.epsilons or guarantee.leak:
            raise NotApplicable(f"the odometer has no row for {guarantee}")
        self.counts[epsilon] += 1

    @property
    def epsilon(self) -> float:
        """The reading."""
        return self.spec.reading(tuple(self.counts[e] for e in self.spec.epsilons))

    @property
    def delta(self) -> float:
        """The delta that is announced."""
        return self.spec.delta


@dataclass(frozen=True, kw_only=True, repr=False)
class LeastOdometer(ShownByFacts):
    """The least sound multiple of exact epsilons.

    Attributes
    ----------
    factor : ends of the least factor: with the lower an adversary is known that breaks the
        odometer, the upper is sound. Both are 1 where the exact epsilons themselves are sound.
    exact : the exact epsilon of the play with most rounds of the largest epsilon.
    at_once : the worst adversary of the exact epsilons themselves; its ratio is what a stopping
        time costs in delta.

    >>> from simulator.worst import least_odometer
    >>> found = least_odometer([0.5], rounds=3, delta=0.05)
    >>> print(found.factor)
    between 1 and 1
    """

    factor: Bracket
    exact: float
    at_once: WorstOdometer

    def facts(self) -> dict[str, str]:
        """The factor, and the exact epsilon that it multiplies."""
        return {"factor": str(self.factor), "exact epsilon": f"{self.exact:.6g}"}


def exact_epsilons(epsilons: Sequence[float], rounds: int, delta: float) -> Mapping[Counts, float]:
    """The epsilon at delta of every composition of at most ``rounds`` rounds fixed in advance.

    Rounded up. For one or two epsilons.
    """
    found: dict[Counts, float] = {}
    alone = len(epsilons) == 1
    how = [bound("kairouz-oh-viswanath-3.3"), bound("murtagh-vadhan")]
    for first in range(rounds + 1):
        for second in range(1 if alone else rounds - first + 1):
            counts: Counts = (first,) if alone else (first, second)
            parts = [(PureDP(e), n) for e, n in zip(epsilons, counts) if n]
            exact = (
                how[len(parts) - 1].on(Composition.of(*parts)).epsilon(delta).upper
                if parts
                else 0.0
            )
            found[counts] = exact
    return found


def least_odometer(
    epsilons: Sequence[float], rounds: int, delta: float, *, width: float = 2e-3
) -> LeastOdometer:
    """The least factor with which exact epsilons at ``delta`` are a sound odometer.

    Parameters
    ----------
    epsilons : of the randomized responses that the adversary may choose, one or two.
    rounds : after how many it stops at the latest.
    width : of the bracket of the factor.

    Raises NotApplicable where no factor up to 64 is sound, or where the rounds can be spent in too
    many ways.

    >>> from simulator.worst import least_odometer
    >>> found = least_odometer([0.5], rounds=3, delta=0.05)
    >>> round(found.exact, 4), found.factor.upper >= 1
    (1.2677, True)
    """
    delta, rounds = open_probability("delta", delta), whole("rounds", rounds)
    if not 1 <= len(epsilons) <= 2:
        raise NotApplicable("the least odometer is found for one or two epsilons")
    readings = math.comb(rounds + len(epsilons), len(epsilons))
    if readings > MOST_READINGS:
        raise NotApplicable(
            f"{rounds} rounds of {len(epsilons)} epsilons have {readings} readings, where "
            f"{MOST_READINGS} are computed at most; take fewer rounds"
        )
    table = exact_epsilons(epsilons, rounds, delta)
    menu = ",".join(f"randomized-response:{each!r}" for each in epsilons)

    def worst(factor: float) -> WorstOdometer:
        made = TableOdometer(tuple(epsilons), delta, lambda counts: factor * table[counts])
        return worst_odometer(menu, made, rounds, tolerance=1e-4)

    at_once = worst(1.0)
    largest = max(range(len(epsilons)), key=lambda place: epsilons[place])
    most = tuple(rounds if place == largest else 0 for place in range(len(epsilons)))
    # the exact delta at an epsilon that was rounded up may equal delta to the last digits
    sound_at = delta * (1.0 + 1e-9)
    low = high = 1.0
    if at_once.delta.upper > sound_at:
        while worst(high).delta.upper > sound_at:
            low, high = high, high * 1.25
            if high > WIDEST:
                raise NotApplicable(f"no factor up to {WIDEST:g} makes the odometer sound")
        while high - low > width:
            middle = (low + high) / 2.0
            found = worst(middle).delta
            if found.upper <= sound_at:
                high = middle
            elif found.lower > sound_at:
                low = middle
            else:
                break
    return LeastOdometer(factor=Bracket(low, high), exact=table[most], at_once=at_once)
