"""Bounds on mechanisms that run on a random sample of the records."""

from __future__ import annotations

from simulator.theory.bounds.base import Bound
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.optimal import (
    OptimalHeterogeneous,
    OptimalHomogeneous,
    RoundedHeterogeneous,
)
from simulator.theory.bracket import Bracket
from simulator.theory.guarantees.pure import PureDP
from simulator.theory.guarantees.subsampled import SubsampledDP


class AmplifiedBySampling(Bound):
    """The optimal composition of (ln(1 + q (e^epsilon - 1)), q delta)-DP rounds."""

    name = "amplified-by-sampling"
    source = (
        "Balle, Barthe and Gaboardi 2018, Theorems 8 and 9; composed by Kairouz, Oh and Viswanath "
        "2017, Theorem 3.3, or Murtagh and Vadhan 2016"
    )

    def _amplified(self, core: Composition) -> tuple[Bound | None, Composition]:
        """The bound that composes the amplified rounds, and those rounds."""
        rounds = Composition.of(*((PureDP(g.pure_epsilon), n) for g, n in core))
        optimal = (OptimalHomogeneous(), OptimalHeterogeneous(), RoundedHeterogeneous())
        return next((one for one in optimal if one.why_not(rounds) is None), None), rounds

    def _why_not(self, core: Composition) -> str | None:
        if not core.consists_of(SubsampledDP):
            return "every round must run on a sample, subsampled:EPSILON,DELTA,RATE"
        if self._amplified(core)[0] is None:
            return f"{core.rounds} rounds are too many to compose"
        return None

    def _delta_answer(self, core: Composition, epsilon: float) -> Bracket:
        optimal, rounds = self._amplified(core)
        assert optimal is not None  # the condition was checked
        answer = optimal._delta_answer(rounds, epsilon)
        return Bracket(0.0, answer.upper, answer.value)

    def _epsilon_answer(self, core: Composition, delta: float) -> Bracket:
        optimal, rounds = self._amplified(core)
        assert optimal is not None  # the condition was checked
        answer = optimal._epsilon_answer(rounds, delta)
        return Bracket(0.0, answer.upper, answer.value)
